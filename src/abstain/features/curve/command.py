from typing import Any

from abstain.cli import options
from abstain.cli.command import Showing, Words, command, option, shows, working
from abstain.cli.options import Input, reads
from abstain.errors import UsageError, check_name

SHOWN = ("summary", "risk", "measure", "reliability", "decision", "roc", "parts")
COUNTED = SHOWN[:3]


@command
@reads("judged", runs="Runs with a confidence.")
@options.measures(
    "Measures of confidence for the summary: AUROC, ECE, 'risk@coverage(c=0.8)', …; also one "
    "measure of counts, which is followed over the threshold (default: c@1)."
)
@option(
    "--show WHAT",
    "summary, risk (risk and coverage), measure (over the threshold), reliability, "
    "decision, roc or parts (how much of the score is knowing, and how much is choosing when to "
    "answer).",
    type=Words(SHOWN),
    default="summary",
)
@option("--points N", "The maximum number of points of a curve (0: all).", default=21)
@option(
    "--histogram BINS",
    "For runs that do not fit in memory: count confidences in this many bins (a power of two, "
    "such as 1024). Curves are exact at the edges of bins. With --show summary, risk or measure.",
    type=int,
)
@option("--bins N", "Bins of the reliability diagram (ECE has a parameter of its own).", default=10)
@option("--equal-mass", "Bins with equally many answers instead of bins of equal width.")
@option(
    "--decision HOW",
    "Which decision curve: confidence (a run answers where its confidence is high enough; only "
    "runs with a confidence) or given (the answers as they are).",
    type=Words(("confidence", "given")),
)
@options.level("The level of the bands.")
@options.seed("The seed of the bands.")
@shows(chart=True)
def curve(
    inputs: Input,
    measures: tuple[str, ...],
    show: str,
    points: int,
    histogram: int | None,
    decision: Any,
    out: Showing,
    **how: Any,
) -> None:
    """Show how runs score at every threshold of their confidence: when should they abstain?

    \b
    abstain curve gold.csv run1.csv run2.csv
    abstain curve gold.csv run.csv --show measure --chart c1.svg
    abstain curve --judged grades.csv --show decision

    A row needs a confidence from 0 to 1. A threshold treats answers of equal confidence alike, so
    the order of rows never changes a value.
    """
    check_name("view", show, SHOWN)
    if histogram is not None:
        if show not in COUNTED:
            raise UsageError("--histogram needs --show summary, risk or measure")
        if len(measures) > 1:
            raise UsageError("--histogram follows one measure of counts (-m c@1)")
    from abstain.features.curve.analysis import histogram as counted

    result: Any
    with working("sorting…" if histogram is None else "counting…"):
        read = inputs.evaluation()
        if histogram is not None:
            along = measures[0] if measures else "c@1"
            result = counted(read, along, bins=histogram, points=points)
        else:
            decides = decision or show == "decision"
            result = read.curve(measures, points=points, decision=decides, **how)
    out.show(result, show=show, points=points)
