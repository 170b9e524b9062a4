"""`abstain compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from abstain.cli import options
from abstain.cli.command import Words, command, option
from abstain.cli.reading import Input, reads
from abstain.cli.showing import Showing, counting, shows
from abstain.errors import UsageError

if TYPE_CHECKING:
    from abstain.analyses.compare.result import CompareResult


@command
@reads(
    "judged",
    "scores",
    runs="The runs to compare, two or more.",
)
@options.measure("What runs are compared by (default: c@1).")
@option("--against", metavar="RUN", help="Compare each run with this one, corrected by max-T.")
@option(
    "--test",
    type=Words(("randomisation", "bootstrap", "mcnemar", "wilcoxon")),
    default="randomisation",
    metavar="TEST",
    help="randomisation, bootstrap, mcnemar or wilcoxon.",
)
@option(
    "--correction",
    type=Words(("holm", "bh", "none")),
    metavar="HOW",
    help="For many pairs: holm (the default), bh or none.",
)
@options.interval
@options.level()
@options.by("For two runs: which slices carry the difference.")
@option(
    "--trials",
    type=click.IntRange(100, 1_000_000),
    default=10_000,
    metavar="N",
    help="Random trials, where a test is not exact.",
)
@options.seed("The seed of the trials.")
@option(
    "--detect",
    type=float,
    metavar="X",
    help="Plan for a difference of X: power, questions needed.",
)
@option("--power", type=float, default=0.8, metavar="P", help="The power that a plan asks for.")
@option(
    "--judge-error",
    metavar="TABLE",
    help="A judge's verdicts on a hand-checked sample: true, right, wrong, blank.",
)
@shows(chart=True)
def compare(
    given: Input,
    measure: str | None,
    against: str | None,
    test: str,
    correction: str | None,
    interval: str | bool,
    level: float,
    by: tuple[str, ...],
    trials: int,
    seed: int,
    detect: float | None,
    power: float,
    judge_error: str | None,
    out: Showing,
) -> None:
    """Is the difference between runs real? Intervals, tests, where it comes from, what it takes.

    \b
    abstain compare gold.csv a.csv b.csv
    abstain compare gold.xml runs/*.xml --cluster test --correction bh
    abstain compare --judged graded.csv -m F --against baseline
    abstain compare --scores ap.csv --test wilcoxon

    Runs are paired by question, on the questions that all of them have: a missing response is
    excluded unless --policy says otherwise.
    """
    if given.kind == "scores" and len(given.files) > 1:
        raise UsageError("--scores takes one file")
    with counting("comparing…") as progress:
        settings = {
            "against": against,
            "test": test,
            "correction": correction,
            "interval": interval if isinstance(interval, str) else None,
            "level": level,
            "trials": trials,
            "seed": seed,
            "detect": detect,
            "power": power,
            "progress": progress,
        }
        result = _compared(given, measure, by, judge_error, settings)
    out.show(result)


def _compared(
    given: Input,
    measure: str | None,
    by: tuple[str, ...],
    judge_error: str | None,
    settings: dict[str, Any],
) -> CompareResult:
    if given.kind == "scores":
        if by or judge_error:
            raise UsageError("--judge-error and --by do not go with --scores")
        return given.scores().compare(measure, **settings)
    asked = measure or "c@1"
    return given.evaluation().compare(asked, by=by, judge_error=judge_error, **settings)
