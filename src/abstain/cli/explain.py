"""`abstain measures` and `abstain explain`."""

from __future__ import annotations

from typing import Annotated

import typer

from abstain.cli import showing
from abstain.cli.options import FormatOption, OutputOption


def measures(format: FormatOption = None, output: OutputOption = None) -> None:
    """List the measures: formula, what a blank is credited, when answering pays."""
    from abstain.report.cards import measures_data, measures_grid

    showing.show(measures_grid(), {"measures": measures_data()}, format=format, output=output)


def explain(
    measure: Annotated[str, typer.Argument(metavar="MEASURE", help="c@1, F, 'credit(t=0.25)', …")],
) -> None:
    """Tell the story of one measure: formula, reading, how to game it, an example.

    \b
    abstain explain c@1
    abstain explain 'credit(t=0.25)'
    """
    from shutil import get_terminal_size

    from abstain.report.cards import card

    typer.echo(card(measure, width=min(80, get_terminal_size().columns)), nl=False)
