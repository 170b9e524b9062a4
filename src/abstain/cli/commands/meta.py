"""Judge the measures: stability, sensitivity, power, agreement."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from abstain.cli import options
from abstain.cli.command import Words, command, option
from abstain.cli.reading import Input, reads
from abstain.cli.showing import Showing, shows


@command
@reads(
    *("judged", "counts", "scores"),
    runs="The runs, or the other files.",
)
@options.measures("A measure to judge (default: c@1, accuracy, UF).")
@option(
    "--part PART",
    "stability, sensitivity, power or agreement (default: all). Repeatable.",
    to="parts",
    type=Words(("stability", "sensitivity", "power", "agreement")),
    multiple=True,
)
@option("--trials N", "Random subsets for each pair of runs, up to 100,000.", default=100)
@option("--size C", "Questions in a subset (default: half of them).", type=int)
@option(
    "--fuzziness F",
    "Scores that differ by less than this share of the larger one tie (its absolute value; "
    "default: 0.01 to 0.1). Repeatable.",
    type=float,
    multiple=True,
)
@option(
    "--draws HOW",
    "paired: each pair of runs draws its own subsets, as in the papers; shared: one for all "
    "pairs, much quicker.",
    type=Words(("paired", "shared")),
    default="paired",
)
@options.level("How sure a conclusion has to be.")
@option("--bins N", "Bins of the difference to list; the last one is open.", default=21)
@option(
    "--width W",
    "The width of a bin (default: 0.01; a hundredth of what the scores span if they are on "
    "another scale).",
    type=float,
)
@option(
    "--sizes C",
    "Sizes for the curve of required differences. Repeatable.",
    type=int,
    multiple=True,
)
@option(
    "--difference X",
    "The difference to advise on: how many questions it needs (default: 5 bins).",
    type=float,
)
@option("--resamples N", "Resamples and permutations of the tests of power.", default=1000)
@options.seed("For all draws.")
@option(
    "--threads N",
    "0: one a processor. Results do not depend on it.",
    type=click.IntRange(min=0),
    default=0,
)
@shows(chart=True)
def meta(
    given: Input,
    measures: tuple[str, ...],
    fuzziness: tuple[float, ...],
    sizes: tuple[int, ...],
    out: Showing,
    **how: Any,
) -> None:
    """Judge the judges: would another sample of questions have said the same?

    \b
    abstain meta gold.csv runs/*.csv -m c@1 -m accuracy -m UF
    abstain meta --scores ap.csv p10.csv ndcg.csv --part sensitivity
    abstain meta --judged grades.csv --draws shared --trials 10000 --chart meta.svg

    Stability: error rate and ties (Buckley and Voorhees 2000). Sensitivity: the difference that
    other questions do not reverse (Voorhees and Buckley 2002). Power: pairs that a bootstrap
    (Sakai 2006) and Tukey's HSD (Carterette 2012) tell apart. Agreement: Kendall's and AP
    correlation, Spearman, rank-biased overlap. And advice from all that.
    """
    how |= {"sizes": sizes or None, "fuzziness": fuzziness or None}
    with _progress() as progress:
        asked = given.scores() if given.kind == "scores" else given.evaluation()
        result = asked.meta(measures, progress=progress, **how)
    out.show(result)


@contextmanager
def _progress() -> Iterator[Callable[[str, float], None] | None]:
    """A bar on a terminal's stderr, once it has taken over a second."""
    if not sys.stderr.isatty():
        yield None
        return
    import time

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    begun = time.monotonic()
    tasks: dict[str, Any] = {}

    def report(what: str, share: float) -> None:
        if time.monotonic() - begun < 1:
            return
        if not tasks:
            bar.start()
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=1.0)
        bar.update(tasks[what], completed=share)

    try:
        yield report
    finally:
        if tasks:
            bar.stop()
