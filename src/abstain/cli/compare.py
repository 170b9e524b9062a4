"""`abstain compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from abstain.cli import options
from abstain.cli.options import (
    AlignOption,
    ClusterOption,
    ColumnOption,
    DetectOption,
    DigitsOption,
    FormatOption,
    FromOption,
    LevelOption,
    MatchOption,
    OutputOption,
)
from abstain.cli.score import COLUMNS
from abstain.errors import UsageError


def compare(
    gold: Annotated[
        str,
        typer.Argument(
            metavar="GOLD", help="The gold standard; with --judged or --scores the first file."
        ),
    ],
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN", help="The runs to compare, two or more.")
    ] = None,
    measure: Annotated[
        str, typer.Option("--measure", "-m", metavar="MEASURE", help="What runs are compared by.")
    ] = "c@1",
    reference: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Compare each run with this one, corrected by max-T."),
    ] = None,
    test: Annotated[
        str, typer.Option(metavar="TEST", help="randomisation, bootstrap, mcnemar or wilcoxon.")
    ] = "randomisation",
    correction: Annotated[
        str, typer.Option(metavar="HOW", help="For many pairs: holm, bh or none.")
    ] = "holm",
    ci: Annotated[str, typer.Option("--ci", metavar="[METHOD]", help=options.CI_HELP)] = "",
    level: LevelOption = 0.95,
    cluster: ClusterOption = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by", metavar="ATTR", help="For two runs: which slices carry the difference."
        ),
    ] = None,
    trials: Annotated[
        int, typer.Option(min=100, help="Random trials, where a test is not exact.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the trials.")] = 0,
    detect: Annotated[
        float | None,
        typer.Option(metavar="X", help="Plan for a difference of X: power, questions needed."),
    ] = None,
    power: Annotated[float, typer.Option(help="The power that a plan asks for.")] = 0.8,
    judge_error: Annotated[
        str | None,
        typer.Option(
            "--judge-error",
            metavar="TABLE",
            help="A judge's verdicts on a hand-checked sample: true, right, wrong, blank.",
        ),
    ] = None,
    judged: Annotated[
        bool,
        typer.Option("--judged", help="The files carry their outcome or grade; there is no gold."),
    ] = False,
    scores: Annotated[
        bool,
        typer.Option("--scores", help="The file holds scores: a row a topic, a column a system."),
    ] = False,
    grade: Annotated[
        list[str] | None,
        typer.Option("--grade", metavar="WORD=OUTCOME", help="As in `abstain score`."),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            metavar="KIND=EFFECT",
            help="As in `abstain score`; but missing is excluded unless said otherwise.",
        ),
    ] = None,
    align: AlignOption = "id",
    match: MatchOption = "id",
    column: ColumnOption = None,
    from_format: FromOption = None,
    detect_refusals: DetectOption = None,
    chart: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the intervals: .svg, .png, .html or .json."),
    ] = None,
    format: FormatOption = None,
    output: OutputOption = None,
    digits: DigitsOption = 4,
) -> None:
    """Is the difference between runs real? Intervals, tests, where it comes from, what it takes.

    \b
    abstain compare gold.csv a.csv b.csv
    abstain compare gold.xml runs/*.xml --cluster test --correction bh
    abstain compare --judged graded.csv -m F --reference baseline
    abstain compare --scores ap.csv --test wilcoxon

    Runs are paired by question, on the questions that all of them have.
    """
    from_format = options.reading(from_format, detect_refusals)
    from abstain.report.compare import compare_chart, compare_grids, pair_grid

    settings: dict[str, Any] = {
        "reference": reference,
        "test": test,
        "correction": correction,
        "method": ci,
        "level": level,
        "trials": trials,
        "seed": seed,
        "detect": detect,
        "power": power,
        "cluster": cluster,
    }
    columns = options.known_columns(column, COLUMNS)
    files = [gold, *(runs or ())]
    with options.counting("comparing…") as progress:
        result = _compared(
            files,
            {**settings, "progress": progress, "columns": columns, "format": from_format},
            judged=judged,
            scores=scores,
            more={
                "measure_name": measure,
                "judge_error": judge_error,
                "by": by or (),
                "policy": policy,
            },
            grades=options.pairs(grade, "--grade", "meh=wrong"),
            match={"align": align, "match": match},
        )
    if chart is not None:
        from abstain.report.charts import write_chart

        write_chart(compare_chart(result), chart)
    options.show_all(
        compare_grids(result),
        result.to_dict(),
        format=format,
        output=output,
        digits=digits,
        whole=pair_grid(result, list(result.pairs), full=True),
    )


def _compared(
    files: list[str],
    settings: dict[str, Any],
    *,
    judged: bool,
    scores: bool,
    more: dict[str, Any],
    grades: dict[str, str],
    match: dict[str, Any],
) -> Any:
    from abstain.compare import compare as with_gold
    from abstain.compare import compare_judged
    from abstain.compare.scores import compare_scores

    if judged and scores:
        raise UsageError("--judged and --scores exclude each other")
    if grades and not judged:
        raise UsageError("--grade goes with --judged")
    if scores:
        if len(files) > 1:
            raise UsageError("--scores takes one file")
        if more["judge_error"] or more["by"] or more["policy"]:
            raise UsageError("--judge-error, --by and --policy do not go with --scores")
        return compare_scores(files[0], **settings)
    if judged:
        return compare_judged(files, grades=grades, **settings, **more)
    if len(files) < 2:
        raise UsageError("name the gold and the runs, or say --judged or --scores")
    return with_gold(files[0], files[1:], **settings, **more, **match)
