"""List the measures."""

from __future__ import annotations

from abstain.cli.command import command
from abstain.cli.showing import Showing, shows


@command
@shows(digits=False, page=False)
def measures(out: Showing) -> None:
    """List the measures: formula, the credit for a blank, when answering pays."""
    from abstain.report.cards import measures_data, measures_grid

    out.show_grid(measures_grid(), {"measures": measures_data()})
