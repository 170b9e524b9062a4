"""How often the intervals of differences of confidence measures cover the true difference.

    python benchmarks/confident_coverage.py [--samples N] [--seed N] [--measure M]…
                                            [--method bca --trials N]

Two runs answer the same questions, some of which are harder than others for both. They are alike;
or one knows more and says better what it knows; or they are alike and one of them leaves four
questions in five blank, whichever they are. Questions stand alone, or in clusters of five that are
hard together. The true difference is that of a very large sample. The default of differences draws
nothing at random; `--method bca` takes the bootstrap of as many trials in its place.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import abstain as ab
from abstain.measures import measure
from abstain.measures.answers import Answers
from abstain.outcomes import OUTCOMES
from abstain.stats.intervals import IntervalMethod

Array = npt.NDArray[np.float64]

MEASURES = ("Brier", "AUROC", "AURC", "E-AURC")
SIZES = (100, 400)
TOGETHER, CLUSTER = 0.4, 5
"""The share of a question's difficulty that its cluster has in common, and questions a cluster."""
LARGE = 1_000_000


@dataclass(frozen=True)
class Kind:
    """A system: what it knows, how well its confidence says so, how much it leaves blank."""

    knows: float = 0.3
    noise: float = 1.0
    blank: float = 0.1


PAIRS = {
    "alike": (Kind(), Kind()),
    "different": (Kind(), Kind(knows=0.8, noise=0.5)),
    "one blank": (Kind(blank=0.0), Kind(blank=0.8)),
}


def difficulties(generator: np.random.Generator, size: int, *, clustered: bool) -> Array:
    """How hard each question is, in standard deviations; neighbours may share a part of it."""
    own = generator.normal(size=size)
    if not clustered:
        return own
    common = np.repeat(generator.normal(size=size // CLUSTER), CLUSTER)
    return math.sqrt(TOGETHER) * common + math.sqrt(1 - TOGETHER) * own


def responses(generator: np.random.Generator, hard: Array, kind: Kind) -> tuple[Array, Array]:
    """The outcome (a position in `OUTCOMES`) and the confidence of each response."""
    size = len(hard)
    known = kind.knows + (generator.normal(size=size) - hard) / math.sqrt(2)
    sure = 1 / (1 + np.exp(-(known + kind.noise * generator.normal(size=size))))
    blank = generator.random(size) < kind.blank
    return np.where(blank, 4, np.where(known > 0, 0, 1)), np.where(blank, np.nan, sure)


def true_difference(name: str, kinds: Sequence[Kind], generator: np.random.Generator) -> float:
    """The second's score less the first's in a very large sample; nothing where they are alike."""
    item: Any = measure(name)
    scores = []
    for kind in kinds:
        all_answered = Kind(kind.knows, kind.noise, 0.0)
        outcomes, sure = responses(generator, generator.normal(size=LARGE), all_answered)
        scores.append(item(Answers(outcomes == 0, sure, LARGE)))
    alike = (kinds[0].knows, kinds[0].noise) == (kinds[1].knows, kinds[1].noise)
    return 0.0 if alike else float(scores[1] - scores[0])


def evaluation(
    generator: np.random.Generator, kinds: Sequence[Kind], size: int, *, clustered: bool
) -> ab.Evaluation:
    """Two runs on the same questions."""
    hard = difficulties(generator, size, clustered=clustered)
    both = [responses(generator, hard, kind) for kind in kinds]
    words = pl.Series(OUTCOMES)
    rows = pl.DataFrame(
        {
            "run": ["one"] * size + ["two"] * size,
            "question": np.tile(np.arange(size), 2),
            "document": np.tile(np.arange(size) // CLUSTER, 2),
            "outcome": words.gather(np.concatenate([own for own, _ in both])),
            "confidence": np.concatenate([sure for _, sure in both]),
        }
    ).with_columns(pl.col("confidence").fill_nan(None))
    return ab.read_judged(rows, cluster="document" if clustered else None)


def missed(
    name: str,
    kinds: Sequence[Kind],
    size: int,
    *,
    clustered: bool,
    samples: int,
    trials: int,
    seed: int,
    method: IntervalMethod = "logit",
) -> tuple[float, float, float, int]:
    """Shares of samples whose interval lies below and above the truth, their mean width, and how
    many samples had no interval at all."""
    generator = np.random.default_rng(seed)
    true = true_difference(name, kinds, generator)
    ends = []
    for number in range(samples):
        own = evaluation(generator, kinds, size, clustered=clustered)
        found = own.compare(name, test="bootstrap", interval=method, resamples=trials, seed=number)
        ends.append(found.pairs[0].interval)
    low, high = np.array(ends, np.float64).T
    there = ~np.isnan(low)
    low, high = low[there], high[there]
    return (
        float((high < true).mean()),
        float((low > true).mean()),
        float((high - low).mean()),
        samples - int(there.sum()),
    )


def main() -> None:
    """Print a row for each measure and cell."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--samples", type=int, default=1000)
    arguments.add_argument("--trials", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=2013)
    arguments.add_argument("--measure", action="append")
    arguments.add_argument("--method", default="logit")
    given = arguments.parse_args()
    print("| measure | runs | questions | clusters | covers | below | above | width | none |")
    print("| --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    cells = itertools.product(given.measure or MEASURES, PAIRS.items(), SIZES, (False, True))
    for name, (runs, kinds), size, clustered in cells:
        below, above, width, none = missed(
            name,
            kinds,
            size,
            clustered=clustered,
            samples=given.samples,
            trials=given.trials,
            seed=given.seed,
            method=given.method,
        )
        of = f"of {CLUSTER}" if clustered else "none"
        print(
            f"| {name} | {runs} | {size} | {of} | {1 - below - above:.1%} | {below:.1%} | "
            f"{above:.1%} | {width:.3f} | {none} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
