"""`abstain campaign`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from abstain.cli import again, options, showing
from abstain.cli.options import (
    AlignOption,
    CiOption,
    ClusterOption,
    ColumnOption,
    DetectOption,
    EngineOption,
    FormatOption,
    FromOption,
    MasterOption,
    MatchOption,
    PolicyOption,
)


def campaign(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The gold standard.")],
    runs: Annotated[list[str], typer.Argument(metavar="RUN", help="The runs.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="The folder to write, whole or not."),
    ],
    measure: Annotated[
        str, typer.Option("--measure", "-m", metavar="MEASURE", help="What runs are ranked by.")
    ] = "c@1",
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by", metavar="ATTR", help="Break down by these attributes (default: all there are)."
        ),
    ] = None,
    topic: Annotated[str, typer.Option(metavar="ATTR", help="The attribute of topics.")] = "topic",
    test: Annotated[
        str, typer.Option(metavar="ATTR", help="The attribute of reading tests.")
    ] = "test",
    pass_mark: Annotated[
        float, typer.Option(min=0, max=1, help="A reading test is passed with this score.")
    ] = 0.5,
    runs_info: Annotated[
        str | None,
        typer.Option(
            "--runs-info", metavar="FILE", help="A table of run, team, language, … to group by."
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="The title of the page.")] = "Campaign",
    baselines: Annotated[
        bool, typer.Option(help="Draw reference runs into the leaderboard.")
    ] = True,
    ci: CiOption = "",
    cluster: ClusterOption = None,
    policy: PolicyOption = None,
    align: AlignOption = "id",
    match: MatchOption = "id",
    column: ColumnOption = None,
    from_format: FromOption = None,
    detect_refusals: DetectOption = None,
    engine: EngineOption = None,
    master: MasterOption = None,
    format: FormatOption = None,
    seed: Annotated[int, typer.Option(help="For the random reference run.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace the folder.")] = False,
) -> None:
    """Everything an overview paper needs, in a folder: tables, summary, results, a page.

    \b
    abstain campaign gold.xml runs/*.xml -o overview --runs-info runs.csv
    """
    from_format = options.reading(from_format, detect_refusals)
    from abstain.analyses.campaign import run_campaign
    from abstain.report.campaign.folder import whole_folder_free, write_campaign

    whole_folder_free(output, force=force)
    with showing.counting("judging and comparing…") as progress:
        result = run_campaign(
            gold,
            runs,
            measure_name=measure,
            by=by,
            topic=topic,
            test=test,
            pass_mark=pass_mark,
            runs_info=runs_info,
            policy=policy,
            align=align,
            match=match,
            columns=options.known_columns(column),
            format=from_format,
            baselines=baselines,
            seed=seed,
            ci=ci,
            cluster=cluster,
            engine=engine,
            master=master,
            progress=progress,
        )
    with showing.working("writing…"):
        tables = write_campaign(
            result, output, title=title, command=f"{again.command()} -o overview", force=force
        )
    show_campaign(result, tables, output, format)


def show_campaign(
    result: object, tables: object, output: Path, format: options.Format | None = None
) -> None:
    """The leaderboard and the summary on the terminal, and where the rest is."""
    from abstain.analyses.campaign.campaign import Campaign
    from abstain.report.campaign.headings import explained
    from abstain.report.campaign.summary import sentences
    from abstain.report.campaign.tables import leaderboard
    from abstain.report.grid import Grid, legend_sentence
    from abstain.report.scores import policy_sentence, sentence

    assert isinstance(result, Campaign)
    assert isinstance(tables, list)
    full = explained(leaderboard(result).grid, "leaderboard", str(result.measure))
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
    if format is options.Format.json:
        import msgspec

        data = msgspec.json.decode((output / "results.json").read_bytes())
    showing.show(grid, data, format=format, output=None)
