"""`abstain curve`."""

from __future__ import annotations

from typing import Any

import click

from abstain.cli import options
from abstain.cli.command import Words, command, option
from abstain.cli.reading import Input, keywords, reads
from abstain.cli.showing import Showing, shows, working
from abstain.errors import UnknownNameError, UsageError

SHOWN = ("summary", "risk", "measure", "reliability", "decision", "roc", "parts", "blanks")


@command
@reads(
    "judged",
    runs="Runs with a confidence.",
    without={"cluster": "--cluster: the bands of curves are of questions, not of clusters"},
)
@options.measures(
    "Of confidence, for the summary: AUROC, ECE, 'risk@coverage(c=0.8)', …; and one of counts to "
    "follow over the threshold (default: c@1)."
)
@option(
    "--show",
    type=Words(SHOWN),
    default="summary",
    metavar="WHAT",
    help="summary, risk (risk and coverage), measure (over the threshold), reliability, "
    "decision, roc, parts (knowing and choosing) or blanks (their quality).",
)
@option(
    "--points",
    type=click.IntRange(min=0),
    default=21,
    metavar="N",
    help="At most so many points of a curve; 0: all.",
)
@option(
    "--histogram",
    type=int,
    metavar="BINS",
    help="For runs that no memory holds: confidences counted in bins (a power of two, such as "
    "1024), exact at their edges. With --show summary, risk or measure.",
)
@option(
    "--bins",
    type=int,
    default=10,
    metavar="N",
    help="Bins of the reliability diagram (an ECE names its own).",
)
@option("--equal-mass", is_flag=True, help="Equally full bins instead of equally wide ones.")
@option(
    "--decision",
    type=Words(("confidence", "given")),
    metavar="HOW",
    help="Decision curve: runs act on their confidence (confidence, where they have one) or stay "
    "as they are (given).",
)
@option(
    "--should-abstain",
    metavar="ATTR",
    help="An attribute that says yes where a question should be left blank, for --show blanks "
    "(default: questions without a right answer).",
)
@options.level("The level of the bands.")
@options.seed("For the draws behind the bands.")
@shows(chart=True)
def curve(
    given: Input,
    measures: tuple[str, ...],
    show: str,
    points: int,
    histogram: int | None,
    bins: int,
    equal_mass: bool,
    decision: str | None,
    should_abstain: str | None,
    level: float,
    seed: int,
    out: Showing,
) -> None:
    """When should it have stayed silent? Runs over all thresholds of their confidence.

    \b
    abstain curve gold.csv run1.csv run2.csv
    abstain curve gold.csv run.csv --show measure --chart c1.svg
    abstain curve --judged grades.csv --show decision

    A row needs a confidence from 0 to 1. Answers of one confidence are answered together, so the
    order of rows never changes a value.
    """
    from abstain.analyses.curve import api
    from abstain.report.curves import curve_chart, curve_grid

    if show not in SHOWN:
        raise UnknownNameError("view", show, SHOWN, hint=f"there are {', '.join(SHOWN)}")
    if histogram is not None:
        counted = given.kind == "gold" and show in ("summary", "risk", "measure")
        if not counted or out.chart is not None:
            raise UsageError(
                "--histogram needs a gold and goes with --show summary, risk or measure"
            )
        _show_histogram(given, histogram, measures, out, show=show, points=points)
        return
    if given.reading.engine:
        raise UsageError("--engine goes with --histogram: other curves need every confidence")
    shared: dict[str, Any] = {
        "measures": measures,
        "should_abstain": should_abstain,
        "bins": bins,
        "equal_mass": equal_mass,
        "decision": decision,
        "level": level,
        "seed": seed,
    }
    with working("sorting…"):
        if given.kind == "judged":
            own = keywords(given.reading, "policy", "grades")
            result = api.curve_judged(list(given.files), **own, **shared)
        else:
            own = keywords(given.reading, "policy", "match", "align")
            result = api.curve(given.gold, given.runs, **own, **shared)
        grid = curve_grid(result, show, most=points)
        data = result.to_dict(show, points=points)
    if out.chart is not None:
        from abstain.report.charts import write_charts

        write_charts({show: curve_chart(result, show)}, out.chart)
    out.show_grids([grid], data)


def _show_histogram(
    given: Input, bins: int, measures: tuple[str, ...], out: Showing, *, show: str, points: int
) -> None:
    from abstain.analyses.curve.histogram import curve_histogram
    from abstain.report.curves import histogram_grid

    if len(measures) > 1:
        raise UsageError("--histogram follows one measure of counts (-m c@1)")
    own = keywords(given.reading, "policy", "match", "align", "engine", "master")
    with working("counting…"):
        result = curve_histogram(
            given.gold, given.runs, bins=bins, measure_name=(measures or ("c@1",))[0], **own
        )
    out.show_grids([histogram_grid(result, show, most=points)], result.to_dict(points=points))
