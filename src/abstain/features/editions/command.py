"""Compare this year's campaign with earlier ones."""

from typing import Any

from abstain.cli import options
from abstain.cli.command import Showing, argument, command, option, shows
from abstain.cli.options import pairs


@command
@argument(
    "campaigns",
    nargs=-1,
    required=True,
    metavar="NAME=RESULT",
    help="An edition (or a task) and its folder, a season, a result that `campaign` or `score` "
    "saved, or a table of printed figures.",
)
@options.measure("A measure of counts (default: that of the first edition).")
@option("--on ATTR=VALUE", "Count these questions only: role=main.")
@options.by("Break down by these attributes (default: type).")
@option(
    "--registrations FILE",
    "A table of edition, registered, downloaded, … to show next to the results.",
)
@options.level()
@shows()
def editions(
    campaigns: tuple[str, ...], on: str | None, by: tuple[str, ...], out: Showing, **how: Any
) -> None:
    """Put editions of a campaign side by side: means, baselines, and whether they differ.

    \b
    abstain editions 2012=2012/results.json 2013=overview --on role=main
    abstain editions 2011=printed.csv 2013=overview
    abstain editions main=main biomedical=bio --registrations registered.csv
    """
    from abstain.features.editions.analysis import editions as compared

    saved = pairs(campaigns, "an edition", "2013=overview")
    chosen = pairs([on], "--on", "role=main") if on else None
    out.show(compared(saved, on=chosen, by=by or None, **how))
