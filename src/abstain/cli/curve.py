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
    from abstain.analyses.curve import api
    from abstain.analyses.curve.result import VIEWS
    from abstain.errors import UnknownNameError
    from abstain.report.charts import write_chart
    from abstain.report.curves import curve_chart, curve_grid

    if show not in VIEWS:
        raise UnknownNameError("view", show, VIEWS, hint=f"there are {', '.join(VIEWS)}")
    if grade and not judged:
        raise UsageError("--grade goes with --judged")
    files = [gold, *(runs or ())]
    columns = options.known_columns(column)
    if histogram is not None:
        if judged or show not in ("summary", "risk", "measure") or chart is not None:
            raise UsageError(
                "--histogram needs a gold and goes with --show summary, risk or measure"
            )
        reading = {"policy": policy, "align": align, "match": match, "columns": columns}
        reading |= {"format": from_format, "engine": engine, "master": master}
        _show_histogram(
            files,
            histogram,
            measures,
            reading,
            show=show,
            points=points,
            looks={"format": format, "output": output, "digits": digits},
        )
        return
    if engine or master:
        raise UsageError("--engine goes with --histogram: other curves need every confidence")
    shared: dict[str, Any] = {
        "measures": measures or (),
        "should_abstain": should_abstain,
        "bins": bins,
        "equal_mass": equal_mass,
        "decision": decision,
        "level": level,
        "seed": seed,
        "policy": policy,
        "columns": columns,
        "format": from_format,
    }
    with showing.working("sorting…"):
        if judged:
            grades = options.pairs(grade, "--grade", "meh=wrong")
            result = api.curve_judged(files, grades=grades, **shared)
        else:
            if len(files) < 2:
                raise UsageError("name the gold and at least one run, or say --judged")
            result = api.curve(files[0], files[1:], align=align, match=match, **shared)
        grid = curve_grid(result, show, most=points)
        data = result.to_dict(show, points=points)
    if chart is not None:
        write_chart(curve_chart(result, show), chart)
    showing.show(grid, data, format=format, output=output, digits=digits)


def _show_histogram(
    files: list[str],
    bins: int,
    measures: list[str] | None,
    reading: dict[str, Any],
    *,
    show: str,
    points: int,
    looks: dict[str, Any],
) -> None:
    from abstain.analyses.curve.histogram import curve_histogram
    from abstain.report.curves import histogram_grid

    if len(files) < 2:
        raise UsageError("name the gold and at least one run")
    if measures and len(measures) > 1:
        raise UsageError("--histogram follows one measure of counts (-m c@1)")
    with showing.working("counting…"):
        result = curve_histogram(
            files[0], files[1:], bins=bins, measure_name=(measures or ["c@1"])[0], **reading
        )
    grid = histogram_grid(result, show, most=points)
    showing.show(grid, result.to_dict(points=points), **looks)
