"""Write every table of an overview paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from abstain.cli import options
from abstain.cli.command import SHOWING, command, option
from abstain.cli.reading import Input, reads
from abstain.cli.showing import Showing, working
from abstain.report.view import FORMATS, Format

if TYPE_CHECKING:
    from abstain.analyses.campaign.result import CampaignResult


@command
@reads(without={"grades": "--grade is for judged rows; campaign reads a gold and runs"})
@options.measure("The measure that ranks the runs.", default="c@1")
@options.by("Break down by these attributes (default: all there are).")
@option("--topic-by ATTR", "The attribute that names the topic.", default="topic")
@option("--test-by ATTR", "The attribute that names the reading test.", default="test")
@option(
    "--pass-mark X",
    "The score that passes a reading test.",
    type=click.FloatRange(0, 1),
    default=0.5,
)
@option("--runs-info FILE", "A table of run, team, language, … to group by.")
@option("--references/--no-references", "Show reference runs in the leaderboard.", default=True)
@options.interval
@options.level()
@options.seed("The seed of the random reference run.")
@options.output("The folder to write, whole or not at all.", "DIR", writes=False, required=True)
@options.force("Replace the folder.")
@option("--title TEXT", "The title of the page.", default="Campaign", section=SHOWING)
@option(
    "-f --format",
    "How to show the leaderboard on the terminal.",
    type=click.Choice([name for name in FORMATS if name != "html"]),
    section=SHOWING,
)
@click.pass_context
def campaign(
    context: click.Context,
    /,
    given: Input,
    by: tuple[str, ...],
    interval: str | bool,
    output: Path,
    force: bool,
    format: Format | None,
    **how: Any,
) -> None:
    """Write what an overview paper needs to a folder: tables, a summary, results, a page.

    \b
    abstain campaign gold.xml runs/*.xml -o overview --runs-info runs.csv
    """
    from abstain.report.views.campaign import whole_folder_free

    whole_folder_free(output, force=force)
    with working("judging and comparing…") as progress:
        how["interval"] = interval if isinstance(interval, str) else None
        result = given.evaluation().campaign(by=by or None, progress=progress, **how)
    command = f"{context.obj or 'abstain campaign'} -o overview"
    write(result, output, Showing(format=format, command=command), force=force)


def write(result: CampaignResult, output: Path, out: Showing, *, force: bool) -> None:
    """The folder; on the terminal the leaderboard and the summary, and where the rest is."""
    from abstain.report.views.campaign import write_campaign

    with working("writing…"):
        told = structs.replace(result, command=out.command)
        tables = write_campaign(told, output, force=force)
    out.show(result, written=f"{output}/index.html shows {len(tables)} tables.")
