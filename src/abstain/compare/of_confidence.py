"""Intervals of confidence measures: a bootstrap over questions, or over clusters of them.

Such a measure takes a sequence of answers, not counts: there is no delta method for it, and each
resample is scored by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.compare.bootstrap import levels_from_jackknife
from abstain.compare.intervals import DEFAULT, Interval
from abstain.errors import UsageError
from abstain.measures import Measure

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array, IntArray

METHODS = ("percentile", "bca")
TRIALS = 1_000
CLOSE = 1e-12
BIASED = ("ECE", "ECE-mass")
"""Too large in every sample, and more so in a resample: no bootstrap covers the true value."""
ONE_SIDED = "nearly all resamples lie on one side of the score, which is biased"
LEFT_OUT = 200
"""Parts that the jackknife leaves out in turn: units, or groups of them where there are more."""


def method_of(measure: Measure, method: str) -> str:
    """The bootstrap that a method stands for; the default of counts stands for BCa."""
    if method == DEFAULT:
        return "bca"
    if method not in METHODS:
        raise UsageError(
            f"{method} is for measures of counts, and {measure} is one of confidence; there are "
            f"{', '.join(METHODS)}"
        )
    return method


@dataclass(frozen=True, slots=True)
class Sample:
    """The questions of one run in one slice, each with the number of its unit."""

    answers: Callable[[IntArray], Any]
    """The answers to the questions at some positions."""
    positions: IntArray
    units: IntArray
    """A question's cluster, or the question itself, numbered from 0."""

    @property
    def size(self) -> int:
        return int(self.units.max(initial=-1)) + 1

    def value(self, measure: Callable[..., float], times: IntArray) -> float:
        """The measure when each unit is there so many times."""
        return float(measure(self.answers(np.repeat(self.positions, times[self.units]))))


def sample_of(
    answers: Callable[[IntArray], Any],
    usable: npt.NDArray[np.bool_],
    clusters: IntArray | None,
) -> Sample:
    """The usable questions; those of one cluster stay together."""
    positions = np.flatnonzero(usable)
    if clusters is None:
        return Sample(answers, positions, np.arange(len(positions)))
    return Sample(answers, positions, np.unique(clusters[positions], return_inverse=True)[1])


def confidence_interval(
    measure: Measure,
    sample: Sample,
    *,
    clustered: bool,
    method: str,
    level: float = 0.95,
    trials: int = TRIALS,
    seed: int = 0,
) -> Interval:
    """An interval for a measure of confidence."""
    method = method_of(measure, method)
    if sample.size < 2:
        what = "cluster" if clustered else "question"
        return Interval(math.nan, math.nan, method, f"there is only one {what}")
    if measure.name in BIASED:
        why = f"{measure.name} is too large in any sample, and a bootstrap adds to that"
        return Interval(math.nan, math.nan, method, why)
    observed = sample.value(measure, np.ones(sample.size, np.int64))
    if math.isnan(observed):
        return Interval(math.nan, math.nan, method, "the value is undefined")
    generator = np.random.default_rng([seed, 11])
    even = np.full(sample.size, 1 / sample.size)
    values = np.array(
        [sample.value(measure, generator.multinomial(sample.size, even)) for _ in range(trials)]
    )
    known = values[~np.isnan(values)]
    if not len(known):
        return Interval(math.nan, math.nan, method, "no resample has a value")
    tails = (1 - level) / 2, (1 + level) / 2
    below = (known < observed - CLOSE).mean() + (np.abs(known - observed) <= CLOSE).mean() / 2
    if not tails[0] <= below <= tails[1]:
        return Interval(math.nan, math.nan, method, ONE_SIDED)
    if method == "bca":
        left = _jackknife(measure, sample)
        tails = levels_from_jackknife(observed, values, left, np.ones(len(left)), level=level)
    low, high = np.quantile(known, tails)
    lost = trials - len(known)
    why = f"{lost} of {trials} resamples had no value" if lost else ""
    return Interval(float(low), float(high), method, why)


def _jackknife(measure: Measure, sample: Sample) -> Array:
    """The measure without each part in turn; many units are left out by the group."""
    parts = min(sample.size, LEFT_OUT)
    part = np.random.default_rng(0).permutation(sample.size) % parts
    return np.array([sample.value(measure, (part != out).astype(np.int64)) for out in range(parts)])
