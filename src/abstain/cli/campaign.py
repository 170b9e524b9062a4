"""`abstain campaign`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import structs

from abstain.cli import options
from abstain.cli.command import NEW_FILE, SHOWING, command, option
from abstain.cli.reading import Input, reads
from abstain.cli.showing import Showing, counting, working
from abstain.report.view import FORMATS, Format

if TYPE_CHECKING:
    from abstain.analyses.campaign.result import CampaignResult
    from abstain.stats.intervals import IntervalMethod


@command
@reads()
@options.measure("What runs are ranked by.", default="c@1")
@options.by("Break down by these attributes (default: all there are).")
@option("--topic-by", metavar="ATTR", default="topic", help="The attribute of topics.")
@option("--test-by", metavar="ATTR", default="test", help="The attribute of reading tests.")
@option(
    "--pass-mark",
    type=click.FloatRange(0, 1),
    default=0.5,
    metavar="X",
    help="A reading test is passed with this score.",
)
@option("--runs-info", metavar="FILE", help="A table of run, team, language, … to group by.")
@option(
    "--references/--no-references",
    default=True,
    help="Draw reference runs into the leaderboard.",
)
@options.interval
@options.level()
@options.seed("For the random reference run.")
@option(
    "-o",
    "--output",
    type=NEW_FILE,
    required=True,
    metavar="DIR",
    section=SHOWING,
    help="The folder to write, whole or not.",
)
@option("--force", is_flag=True, section=SHOWING, help="Replace the folder.")
@option("--title", default="Campaign", section=SHOWING, help="The title of the page.")
@option(
    "-f",
    "--format",
    type=click.Choice([name for name in FORMATS if name != "html"]),
    section=SHOWING,
    help="How to show the leaderboard on the terminal.",
)
@click.pass_context
def campaign(
    context: click.Context,
    given: Input,
    measure: str,
    by: tuple[str, ...],
    topic_by: str,
    test_by: str,
    pass_mark: float,
    runs_info: str | None,
    references: bool,
    interval: IntervalMethod | bool,
    level: float,
    seed: int,
    output: Path,
    force: bool,
    title: str,
    format: Format | None,
) -> None:
    """Everything an overview paper needs, in a folder: tables, summary, results, a page.

    \b
    abstain campaign gold.xml runs/*.xml -o overview --runs-info runs.csv
    """
    from abstain.report.campaign.folder import whole_folder_free

    whole_folder_free(output, force=force)
    with counting("judging and comparing…") as progress:
        result = given.evaluation().campaign(
            measure=measure,
            by=by or None,
            topic_by=topic_by,
            test_by=test_by,
            pass_mark=pass_mark,
            runs_info=runs_info,
            references=references,
            interval=interval if isinstance(interval, str) else None,
            level=level,
            seed=seed,
            title=title,
            progress=progress,
        )
    command = f"{context.obj or 'abstain campaign'} -o overview"
    write(result, output, Showing(format=format, command=command), force=force)


def write(result: CampaignResult, output: Path, out: Showing, *, force: bool) -> None:
    """The folder; on the terminal the leaderboard and the summary, and where the rest is."""
    from abstain.report.campaign.folder import write_campaign

    with working("writing…"):
        told = structs.replace(result, command=out.command)
        tables = write_campaign(told, output, force=force)
    out.show(result, written=f"{output}/index.html shows {len(tables)} tables.")
