"""`abstain compare`."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from msgspec import structs

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
from abstain.judging.reading import said_policy

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
    from abstain.judging.opening import old_reading
    from abstain.judging.sources import evaluate, evaluate_judged

    columns = options.known_columns(column)
    how: Any = None if ci in ("", "default") else ci
    settings: dict[str, Any] = {
        "against": reference,
        "test": test,
        "correction": correction,
        "interval": how,
        "level": level,
        "trials": trials,
        "seed": seed,
        "detect": detect,
        "power": power,
    }
    files = [gold, *(runs or ())]
    grades = options.pairs(grade, "--grade", "meh=wrong")
    if judged and scores:
        raise UsageError("--judged and --scores exclude each other")
    if grades and not judged:
        raise UsageError("--grade goes with --judged")
    if scores and (judge_error or by or policy):
        raise UsageError("--judge-error, --by and --policy do not go with --scores")
    reading = structs.replace(
        old_reading(columns, from_format),
        policy=said_policy(policy),
        match=match,
        align=align,
        cluster=cluster,
        grades=grades,
    )
    outcomes: dict[str, Any] = {"by": by or (), "judge_error": judge_error}
    with showing.counting("comparing…") as progress:
        settings["progress"] = progress
        if scores:
            from abstain.rankings.scores import read_scores

            if len(files) > 1:
                raise UsageError("--scores takes one file")
            table = read_scores(files[0], columns=columns, format=from_format, cluster=cluster)
            result = table.compare(measure, **settings)
        else:
            if not judged and len(files) < 2:
                raise UsageError("name the gold and the runs, or say --judged or --scores")
            read = (
                evaluate_judged(files, reading)
                if judged
                else evaluate(files[0], files[1:], reading)
            )
            result = read.compare(measure or DEFAULT_MEASURE, **settings, **outcomes)
    if chart is not None:
        from abstain.report.view import view_of

        view_of(result).draw(chart)
    showing.show_result(result, format=format, output=output, digits=digits)
