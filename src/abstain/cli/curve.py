"""`abstain curve`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from abstain.cli import options, showing
from abstain.cli.options import (
    AlignOption,
    ChartOption,
    ColumnOption,
    DetectOption,
    DigitsOption,
    EngineOption,
    FormatOption,
    FromOption,
    GradeOption,
    JudgedOption,
    MasterOption,
    MatchOption,
    OutputOption,
    PolicyOption,
)
from abstain.errors import UsageError


def curve(
    gold: Annotated[
        str,
        typer.Argument(metavar="GOLD", help="The gold standard; with --judged the first file."),
    ],
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="RUN", help="Runs with a confidence.")
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="Of confidence, for the summary: AUROC, ECE, 'risk@coverage(c=0.8)', … "
            "Repeatable. And one of counts to follow over the threshold (default: c@1).",
        ),
    ] = None,
    show: Annotated[
        str,
        typer.Option(
            "--show",
            metavar="WHAT",
            help="summary, risk (risk and coverage), measure (over the threshold), reliability, "
            "decision, roc, parts (knowing and choosing) or blanks (their quality).",
        ),
    ] = "summary",
    chart: ChartOption = None,
    points: Annotated[
        int, typer.Option(min=0, help="At most so many points of a curve; 0: all.")
    ] = 21,
    histogram: Annotated[
        int | None,
        typer.Option(
            "--histogram",
            metavar="BINS",
            help="For runs that no memory holds: confidences counted in bins (a power of two, "
            "such as 1024), exact at their edges. With --show summary, risk or measure.",
        ),
    ] = None,
    bins: Annotated[
        int, typer.Option(help="Bins of the reliability diagram (an ECE names its own).")
    ] = 10,
    equal_mass: Annotated[
        bool, typer.Option("--equal-mass", help="Equally full bins instead of equally wide ones.")
    ] = False,
    decision: Annotated[
        str | None,
        typer.Option(
            metavar="HOW",
            help="Decision curve: runs act on their confidence (confidence, where they have one) "
            "or stay as they are (given).",
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="Confidence of the bands.")] = 0.95,
    should_abstain: Annotated[
        str | None,
        typer.Option(
            metavar="ATTR",
            help="An attribute that says yes where a question should be left blank, for --show "
            "blanks (default: questions without a right answer).",
        ),
    ] = None,
    judged: JudgedOption = False,
    grade: GradeOption = None,
    policy: PolicyOption = None,
    align: AlignOption = "id",
    match: MatchOption = "id",
    seed: Annotated[int, typer.Option(min=0, help="For the draws behind the bands.")] = 0,
    column: ColumnOption = None,
    from_format: FromOption = None,
    detect_refusals: DetectOption = None,
    engine: EngineOption = None,
    master: MasterOption = None,
    format: FormatOption = None,
    output: OutputOption = None,
    digits: DigitsOption = 4,
) -> None:
    """When should it have stayed silent? Runs over all thresholds of their confidence.

    \b
    abstain curve gold.csv run1.csv run2.csv
    abstain curve gold.csv run.csv --show measure --chart c1.svg
    abstain curve --judged grades.csv --show decision

    A row needs a confidence from 0 to 1. Answers of one confidence are answered together, so the
    order of rows never changes a value.
    """
    from_format = options.reading(from_format, detect_refusals)
    from msgspec import structs

    from abstain.errors import UnknownNameError
    from abstain.judging.opening import old_reading
    from abstain.judging.reading import said_policy
    from abstain.judging.sources import evaluate, evaluate_judged
    from abstain.report.views.curve import SHOWN

    if show not in SHOWN:
        raise UnknownNameError("view", show, SHOWN, hint=f"there are {', '.join(SHOWN)}")
    if grade and not judged:
        raise UsageError("--grade goes with --judged")
    files = [gold, *(runs or ())]
    reading = structs.replace(
        old_reading(options.known_columns(column), from_format, engine, master),
        policy=said_policy(policy),
        match=match,
        align=align,
        grades=options.pairs(grade, "--grade", "meh=wrong"),
    )
    if histogram is not None and (show not in ("summary", "risk", "measure")):
        raise UsageError("--histogram goes with --show summary, risk or measure")
    if histogram is None and engine:
        raise UsageError("--engine goes with --histogram: other curves need every confidence")
    if not judged and len(files) < 2:
        raise UsageError("name the gold and at least one run, or say --judged")
    result: Any
    with showing.working("sorting…"):
        if judged:
            read = evaluate_judged(files, reading)
        else:
            read = evaluate(files[0], files[1:], reading)
        if histogram is not None:
            if measures and len(measures) > 1:
                raise UsageError("--histogram follows one measure of counts (-m c@1)")
            result = read.histogram((measures or ["c@1"])[0], bins=histogram, points=points)
        else:
            how: Any = decision or show == "decision"
            result = read.curve(
                measures or (),
                should_abstain=should_abstain,
                bins=bins,
                equal_mass=equal_mass,
                decision=how,
                level=level,
                points=max(points, 500) if points else 0,
                seed=seed,
            )
    if chart is not None:
        from abstain.report.view import view_of

        view_of(result).draw(chart, show=show)
    showing.show_result(
        result, format=format, output=output, digits=digits, show=show, points=points
    )
