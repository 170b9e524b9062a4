"""Intervals of confidence measures: a bootstrap over questions or clusters, and by influence.

A run's answers are sorted once; a block of resamples holds the multiplicity of each answer.
Intervals by influence are made on the logit scale, since scores vary less near a bound.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from abstain.errors import UsageError
from abstain.measures import Measure
from abstain.measures.answers import Answers, Resamples
from abstain.measures.definition import Array, IntArray
from abstain.outcomes import EMPTY, EXCLUDED
from abstain.stats.delta_method import JEFFREYS
from abstain.stats.intervals import DEFAULT, Interval, between, levels_from_jackknife

METHODS = ("percentile", "bca")
OF_INFLUENCE = "logit"
TRIALS = 1_000
CLOSE = 1e-12
ONE_SIDED = "the score is biased: nearly all resamples lie on one side of it"
BLOCK = 1 << 19
"""Numbers in an array of resamples, which should fit the processor's cache."""
LEFT_OUT = 200
"""The largest number of jackknife replicates; more units are left out in groups."""
TINY = 1e-300
DUST = 1e-14
"""The influence of an answer that is only rounding error."""
UNMOVED = "none of the answers changes either score, so the interval has no width"
TOO_FEW = "a run has answers in fewer than two questions or clusters"


def method_of(measure: Measure, method: str) -> str:
    if method in (DEFAULT, OF_INFLUENCE):
        return "bca"
    if method not in METHODS:
        known = ", ".join((*METHODS, OF_INFLUENCE))
        raise UsageError(f"{method} is for measures of counts; {measure} has {known}")
    return method


@dataclass(frozen=True, slots=True)
class Sample:
    """The answers of one run in one slice, by falling confidence, each with its unit: a question or
    a cluster of them, numbered from 0."""

    answers: Answers
    unit: IntArray
    asked: IntArray
    """The questions of each unit, answered or not."""

    @property
    def size(self) -> int:
        return len(self.asked)

    def resamples(self, times: IntArray) -> Resamples:
        a, asked = self.answers, self.asked @ times
        return Resamples(a.right, a.confidence, asked, a.submitted, numbers=times[self.unit])

    def values(self, measure: Measure, times: IntArray) -> Array:
        score: Callable[..., Array] = measure
        return score(self.resamples(times))


def sample_of(
    outcomes: npt.NDArray[np.integer[Any]], confidence: Array, clusters: IntArray | None = None
) -> Sample:
    usable = (outcomes >= 0) & (outcomes < EXCLUDED)
    outcomes, confidence = outcomes[usable], confidence[usable]
    units = np.arange(len(outcomes))
    if clusters is not None:
        units = np.unique(clusters[usable], return_inverse=True)[1]
    has = np.flatnonzero(outcomes < EMPTY)
    order = has[np.argsort(-confidence[has], kind="stable")]
    ordered = outcomes[order]
    answers = Answers((ordered & 1) == 0, confidence[order] + 0.0, len(outcomes), ordered < 2)
    return Sample(answers, units[order], np.bincount(units))


def blocks_of(trials: int, width: int) -> Iterator[slice]:
    size = max(1, BLOCK // max(width, 1))
    return (slice(start, min(start + size, trials)) for start in range(0, trials, size))


def draws(units: int, *, trials: int, seed: int) -> Iterator[tuple[slice, IntArray]]:
    generator = np.random.default_rng([seed, 11])
    even = np.full(units, 1 / units)
    for some in blocks_of(trials, units):
        drawn = generator.multinomial(units, even, size=some.stop - some.start)
        yield some, np.ascontiguousarray(drawn.T)


def left_out(units: int) -> Iterator[IntArray]:
    """Jackknife replicates (units, parts) without one unit each, or without a group of them."""
    parts = min(units, LEFT_OUT)
    part = np.random.default_rng(0).permutation(units) % parts
    for some in blocks_of(parts, units):
        yield (part[:, None] != np.arange(some.start, some.stop)).astype(np.int64)


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
    method = method_of(measure, method)
    score: Callable[..., float] = measure
    observed = score(sample.answers)
    why = why_none(measure, sample.size, observed, clustered=clustered)
    if why:
        return Interval.none(method, why)
    values, left = np.empty(trials), None
    for some, times in draws(sample.size, trials=trials, seed=seed):
        values[some] = sample.values(measure, times)
    if method == "bca":
        left = np.concatenate([sample.values(measure, times) for times in left_out(sample.size)])
    return resampled_interval(observed, values, left, method=method, level=level)


def why_none(measure: Measure, units: int, observed: float, *, clustered: bool) -> str:
    if units < 2:
        return f"there is only one {'cluster' if clustered else 'question'}"
    if measure.definition.bootstrap_biased:
        return f"{measure.name} is biased upwards in any sample, and a bootstrap adds to the bias"
    return "the value is undefined" if math.isnan(observed) else ""


def resampled_interval(
    observed: float, values: Array, left: Array | None = None, *, method: str, level: float
) -> Interval:
    known = values[~np.isnan(values)]
    if not len(known):
        return Interval.none(method, "no resample has a value")
    tails = (1 - level) / 2, (1 + level) / 2
    below = (known < observed - CLOSE).mean() + (np.abs(known - observed) <= CLOSE).mean() / 2
    if not tails[0] <= below <= tails[1]:
        return Interval.none(method, ONE_SIDED)
    if left is not None:
        tails = levels_from_jackknife(observed, values, left, np.ones(len(left)), level=level)
    return between(values, tails, method, close=CLOSE)


@dataclass(frozen=True, slots=True)
class Scale:
    """The logit between two bounds; with a single one, the logarithm of the distance to it."""

    low: float
    high: float

    def to(self, value: Array | float) -> Array:
        from_low, to_high = self._distances(value, 1.0)
        return np.asarray(np.log(from_low) - np.log(to_high))

    def slope(self, value: Array | float) -> Array:
        from_low, to_high = self._distances(value, math.inf)
        return np.asarray(1 / from_low + 1 / to_high)

    def _distances(self, value: Array | float, absent: float) -> tuple[Array | float, ...]:
        """The distances to both bounds; `absent` stands for that to an infinite one."""
        ends = (value - self.low, self.low), (self.high - value, self.high)
        return tuple(
            np.maximum(distance, TINY) if math.isfinite(end) else absent for distance, end in ends
        )

    def back(self, place: Array | float) -> Array:
        from scipy.special import expit

        if not math.isfinite(self.high):
            return np.asarray(self.low + np.exp(place))
        if not math.isfinite(self.low):
            return np.asarray(self.high - np.exp(-np.asarray(place)))
        return np.asarray(self.low + (self.high - self.low) * expit(place))

    def inside(self, value: float, answers: float) -> float:
        """A value at least half an answer away from the bounds, whose range counts up to 1."""
        step = min(self.high - self.low, 1.0) / (2 * max(answers, 1.0))
        return min(max(value, self.low + step), self.high - step)


def towards(value: Array, middle: float, answers: float) -> Array:
    """Values shrunk by one answer towards the middle, so that none is at a bound."""
    return np.asarray((value * answers + middle) / (answers + 1))


def difference_interval(
    scale: Scale, values: tuple[float, float], moved: Array, units: tuple[int, int], *, level: float
) -> Interval:
    """MOVER (Zou and Donner 2008): an interval of a difference from one of each value.

    `moved` (2, units) are influences on both values, `units` how many have answers of each run; t
    has one degree of freedom less. Half a unit of the pool is added to the variance.
    """
    from scipy.special import stdtrit

    squares, many = (moved**2).sum(axis=1), np.array(units, np.float64)
    apart = values[0] - values[1]
    if not (np.abs(moved) > DUST * (1 + np.abs(values).max())).any():
        return Interval(apart, apart, OF_INFLUENCE, UNMOVED)
    if min(units) < 2:
        return Interval.none(OF_INFLUENCE, TOO_FEW)
    pooled = float((squares * many**2).sum() / many.sum())
    spread = squares * many / (many - 1) + JEFFREYS * pooled / many**2
    centre = np.array([scale.inside(*each) for each in zip(values, units, strict=True)])
    reach = stdtrit(many - 1, (1 + level) / 2) * scale.slope(centre) * np.sqrt(spread)
    low = np.minimum(scale.back(scale.to(centre) - reach), values)
    high = np.maximum(scale.back(scale.to(centre) + reach), values)
    together = 0.0
    if squares.all():
        together = float((moved[0] * moved[1]).sum() / math.sqrt(squares.prod()))
        together = min(max(together, -1.0), 1.0)
    down, up = values - low, high - values
    shared = max(float(np.diff(down)[0] ** 2), float(np.diff(up)[0] ** 2))
    widest = scale.high - scale.low
    return Interval(
        max(apart - _both(float(down[0]), float(up[1]), together, shared), -widest),
        min(apart + _both(float(up[0]), float(down[1]), together, shared), widest),
        OF_INFLUENCE,
    )


def _both(one: float, other: float, together: float, shared: float) -> float:
    if together < 0:
        return math.sqrt(one**2 + other**2 - 2 * together * one * other)
    return math.sqrt((1 - together) * (one**2 + other**2) + together * shared)
