"""`abstain compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from abstain.cli import options
from abstain.cli.command import Words, command, option
from abstain.cli.reading import Input, keywords, reads
from abstain.cli.showing import Showing, counting, shows
from abstain.errors import UsageError

if TYPE_CHECKING:
    from abstain.analyses.compare import Comparison

WHOLE = "compare needs every outcome, which it reads with polars"


@command
@reads(
    "judged",
    "scores",
    runs="The runs to compare, two or more.",
    without={"master": f"--master: {WHOLE}", "engine": f"--engine: {WHOLE}"},
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
    from abstain.report.compare import compare_chart, compare_grids, pair_grid
    from abstain.report.compare_words import rounded_away

    settings: dict[str, Any] = {
        "reference": against,
        "test": test,
        "correction": correction or "",
        "method": interval if isinstance(interval, str) else "",
        "level": level,
        "trials": trials,
        "seed": seed,
        "detect": detect,
        "power": power,
    }
    if given.kind == "scores" and (judge_error or by):
        raise UsageError("--judge-error and --by do not go with --scores")
    if given.kind != "scores":
        settings |= {"measure_name": measure or "c@1", "by": by, "judge_error": judge_error}
    with counting("comparing…") as progress:
        result = _compared(given, measure, {**settings, "progress": progress})
    if out.chart is not None:
        from abstain.report.charts import write_charts

        write_charts({"compare": compare_chart(result)}, out.chart)
    grids = compare_grids(result)
    grids[-1].notes += rounded_away(result, out.digits)
    whole = pair_grid(result, list(result.pairs), full=True)
    out.show_grids(grids, result.to_dict(), whole=whole)


def _compared(given: Input, measure: str | None, settings: dict[str, Any]) -> Comparison:
    from abstain.analyses.compare import compare, compare_judged
    from abstain.analyses.compare.scores import compare_scores

    if given.kind == "scores":
        if len(given.files) > 1:
            raise UsageError("--scores takes one file")
        own = keywords(given.reading, "cluster")
        return compare_scores(given.gold, measure_name=measure, **own, **settings)
    if given.kind == "judged":
        own = keywords(given.reading, "policy", "cluster", "grades")
        return compare_judged(list(given.files), **own, **settings)
    own = keywords(given.reading, "policy", "cluster", "match", "align")
    return compare(given.gold, given.runs, **own, **settings)
