"""`abstain compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain.cli import options, showing
from abstain.cli.options import (
    AlignOption,
    ChartOption,
    CiOption,
    ClusterOption,
    ColumnOption,
    DetectOption,
    DigitsOption,
    FormatOption,
    FromOption,
    GradeOption,
    JudgedOption,
    LevelOption,
    MatchOption,
    OutputOption,
)
from abstain.errors import UsageError

if TYPE_CHECKING:
    from abstain.analyses.compare import Comparison

DEFAULT_MEASURE = "c@1"


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
        str | None,
        typer.Option(
            "--measure", "-m", metavar="MEASURE", help="What runs are compared by; c@1 if not said."
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Compare each run with this one, corrected by max-T."),
    ] = None,
    test: Annotated[
        str, typer.Option(metavar="TEST", help="randomisation, bootstrap, mcnemar or wilcoxon.")
    ] = "randomisation",
    correction: Annotated[
        str | None,
        typer.Option(metavar="HOW", help="For many pairs: holm (if not said), bh or none."),
    ] = None,
    ci: CiOption = "",
    level: LevelOption = 0.95,
    cluster: ClusterOption = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by", metavar="ATTR", help="For two runs: which slices carry the difference."
        ),
    ] = None,
    trials: Annotated[
        int, typer.Option(min=100, max=1_000_000, help="Random trials, where a test is not exact.")
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
    judged: JudgedOption = False,
    scores: Annotated[
        bool,
        typer.Option(
            "--scores",
            help="The file holds scores: a column a system, or rows as `rank --per-query` writes.",
        ),
    ] = False,
    grade: GradeOption = None,
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
    chart: ChartOption = None,
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
    from abstain.report.compare_words import rounded_away

    settings: dict[str, Any] = {
        "columns": options.known_columns(column),
        "format": from_format,
        "reference": reference,
        "test": test,
        "correction": correction or "",
        "method": ci,
        "level": level,
        "trials": trials,
        "seed": seed,
        "detect": detect,
        "power": power,
        "cluster": cluster,
    }
    files = [gold, *(runs or ())]
    grades = options.pairs(grade, "--grade", "meh=wrong")
    if judged and scores:
        raise UsageError("--judged and --scores exclude each other")
    if grades and not judged:
        raise UsageError("--grade goes with --judged")
    if scores and (judge_error or by or policy):
        raise UsageError("--judge-error, --by and --policy do not go with --scores")
    outcomes = {
        "measure_name": measure or DEFAULT_MEASURE,
        "by": by or (),
        "policy": policy,
        "judge_error": judge_error,
    }
    with showing.counting("comparing…") as progress:
        settings["progress"] = progress
        if scores:
            result = _of_scores(files, measure, settings)
        elif judged:
            result = _of_judged(files, grades, settings | outcomes)
        else:
            result = _of_gold(files, settings | outcomes | {"align": align, "match": match})
    if chart is not None:
        from abstain.report.charts import write_chart

        write_chart(compare_chart(result), chart)
    grids = compare_grids(result)
    grids[-1].notes += rounded_away(result, digits)
    showing.show_all(
        grids,
        result.to_dict(),
        format=format,
        output=output,
        digits=digits,
        whole=pair_grid(result, list(result.pairs), full=True),
    )


def _of_scores(files: list[str], measure: str | None, settings: dict[str, Any]) -> Comparison:
    from abstain.analyses.compare.scores import compare_scores

    if len(files) > 1:
        raise UsageError("--scores takes one file")
    return compare_scores(files[0], measure_name=measure, **settings)


def _of_judged(files: list[str], grades: dict[str, str], settings: dict[str, Any]) -> Comparison:
    from abstain.analyses.compare import compare_judged

    return compare_judged(files, grades=grades, **settings)


def _of_gold(files: list[str], settings: dict[str, Any]) -> Comparison:
    from abstain.analyses.compare import compare

    if len(files) < 2:
        raise UsageError("name the gold and the runs, or say --judged or --scores")
    return compare(files[0], files[1:], **settings)
