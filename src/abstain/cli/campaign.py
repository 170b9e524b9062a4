"""`abstain campaign`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from abstain.cli import options
from abstain.cli.command import NEW_FILE, SHOWING, command, option
from abstain.cli.reading import Input, keywords, reads
from abstain.cli.showing import Showing, counting, working
from abstain.report.view import FORMATS, Format

if TYPE_CHECKING:
    from abstain.analyses.campaign.campaign import Campaign
    from abstain.analyses.campaign.table import Table


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
    interval: str | bool,
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
    from abstain.analyses.campaign import run_campaign
    from abstain.report.campaign_folder import whole_folder_free, write_campaign

    whole_folder_free(output, force=force)
    own = keywords(given.reading, "policy", "align", "match", "cluster", "engine", "master")
    with counting("judging and comparing…") as progress:
        result = run_campaign(
            given.gold,
            given.runs,
            measure_name=measure,
            by=by or None,
            topic=topic_by,
            test=test_by,
            pass_mark=pass_mark,
            runs_info=runs_info,
            baselines=references,
            seed=seed,
            ci=interval if isinstance(interval, str) else "",
            level=level,
            progress=progress,
            **own,
        )
    with working("writing…"):
        command = f"{context.obj or 'abstain campaign'} -o overview"
        tables = write_campaign(result, output, title=title, command=command, force=force)
    show_campaign(result, tables, output, Showing(format=format))


def show_campaign(result: Campaign, tables: list[Table], output: Path, out: Showing) -> None:
    """The leaderboard and the summary on the terminal, and where the rest is."""
    from abstain.analyses.campaign.headings import explained
    from abstain.analyses.campaign.summary import sentences
    from abstain.analyses.campaign.tables import leaderboard
    from abstain.report.grid import Grid, legend_sentence
    from abstain.report.scores import policy_sentence, sentence

    full = explained(leaderboard(result).grid, "leaderboard", str(result.measure), result.level)
    wanted = (
        *("#", "run", str(result.measure), "low", "high", "group"),
        *("right", "wrong", "unanswered"),
    )
    keep = [i for i, c in enumerate(full.columns) if c.name in wanted or c.kind == "bar"]
    grid = Grid(
        [full.columns[i] for i in keep],
        [[row[i] for i in keep] for row in full.rows],
        notes=[
            legend_sentence([full.columns[i] for i in keep if full.columns[i].kind != "bar"]),
            *sentences(result),
            *(sentence(note) for note in result.notes),
            policy_sentence(result.policy, result.touched),
            f"{output}/index.html shows {len(tables)} tables.",
        ],
        dim=full.dim,
    )
    data = {}
    if out.chosen == "json":
        import msgspec

        data = msgspec.json.decode((output / "results.json").read_bytes())
    out.show_grids([grid], data)
