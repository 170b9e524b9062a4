"""Intervals of confidence measures: a bootstrap over questions, or over clusters of them.

Such a measure takes a sequence of answers, not counts: there is no delta method for it. A run is
sorted once; a block of resamples says how often each answer is there, and is scored at once.

Differences have one from the influence of each answer too, on a scale without bounds. The nearer a
score is to a bound, the less it varies, so that a difference that is large by chance has a small
standard error as often as not. On the scale of log((x − low)/(high − x)) it has not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from abstain.errors import UsageError
from abstain.measures import Measure
from abstain.measures.answers import Answers, Resamples
from abstain.measures.arrays import Array, IntArray
from abstain.outcomes import OUTCOMES
from abstain.stats.functional import JEFFREYS
from abstain.stats.intervals import DEFAULT, Interval, between, levels_from_jackknife

METHODS = ("percentile", "bca")
OF_INFLUENCE = "logit"
"""How intervals of differences are made unless a bootstrap is asked for."""
TRIALS = 1_000
CLOSE = 1e-12
ONE_SIDED = "the score is biased: nearly all resamples lie on one side of it"
BLOCK = 1 << 19
"""Numbers in an array of resamples: few enough to stay near the processor."""
LEFT_OUT = 200
"""Parts that the jackknife leaves out in turn: units, or groups of them where there are more."""
TINY = 1e-300
DUST = 1e-14
"""What an answer seems to move a score by where sums were taken in another order."""
UNMOVED = "none of the answers changes either score, so the interval has no width"
TOO_FEW = "a run has answers in fewer than two questions or clusters"


def method_of(measure: Measure, method: str) -> str:
    """The bootstrap that a method stands for; the default of counts stands for BCa."""
    if method in (DEFAULT, OF_INFLUENCE):
        return "bca"
    if method not in METHODS:
        raise UsageError(
            f"{method} works only for measures of counts, and {measure} is a measure of "
            f"confidence; use one of {', '.join((*METHODS, OF_INFLUENCE))}"
        )
    return method


@dataclass(frozen=True, slots=True)
class Sample:
    """The answers of one run in one slice, the surest first, each with the number of its unit.

    A unit is a question or a cluster of them, numbered from 0.
    """

    answers: Answers
    unit: IntArray
    asked: IntArray
    """The questions of each unit, answered or not."""

    @property
    def size(self) -> int:
        return len(self.asked)

    def resamples(self, times: IntArray) -> Resamples:
        """The answers when the units are there so many times (units, resamples)."""
        own = self.answers
        return Resamples(
            own.right, own.confidence, self.asked @ times, own.given, numbers=times[self.unit]
        )

    def values(self, measure: Measure, times: IntArray) -> Array:
        """The measure of each resample."""
        score: Callable[..., Array] = measure
        return score(self.resamples(times))


def sample_of(
    outcomes: npt.NDArray[np.integer[Any]], confidence: Array, clusters: IntArray | None = None
) -> Sample:
    """A run's answers by its outcomes, without those that are excluded (no outcome's position)."""
    usable = (outcomes >= 0) & (outcomes < len(OUTCOMES))
    outcomes, confidence = outcomes[usable], confidence[usable]
    units = np.arange(len(outcomes))
    if clusters is not None:
        units = np.unique(clusters[usable], return_inverse=True)[1]
    has = np.flatnonzero(outcomes < 4)
    order = has[np.argsort(-confidence[has], kind="stable")]
    own = outcomes[order]
    answers = Answers((own & 1) == 0, confidence[order] + 0.0, len(outcomes), own < 2)
    return Sample(answers, units[order], np.bincount(units))


def blocks_of(trials: int, width: int) -> Iterator[slice]:
    """Trials in blocks of which each takes an array of bounded size."""
    size = max(1, BLOCK // max(width, 1))
    return (slice(start, min(start + size, trials)) for start in range(0, trials, size))


def draws(units: int, *, trials: int, width: int, seed: int) -> Iterator[tuple[slice, IntArray]]:
    """Resamples with replacement, block by block: how often each unit is there (units, some)."""
    generator = np.random.default_rng([seed, 11])
    even = np.full(units, 1 / units)
    for some in blocks_of(trials, width):
        drawn = generator.multinomial(units, even, size=some.stop - some.start)
        yield some, np.ascontiguousarray(drawn.T)


def left_out(units: int, *, width: int) -> Iterator[IntArray]:
    """All units but one part in turn (units, some parts); many are left out by the group."""
    parts = min(units, LEFT_OUT)
    part = np.random.default_rng(0).permutation(units) % parts
    for some in blocks_of(parts, width):
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
    """An interval for a measure of confidence."""
    method = method_of(measure, method)
    score: Callable[..., float] = measure
    observed = score(sample.answers)
    why = why_none(measure, sample.size, observed, clustered=clustered)
    if why:
        return Interval.none(method, why)
    values, left, width = np.empty(trials), None, sample.size
    for some, times in draws(sample.size, trials=trials, width=width, seed=seed):
        values[some] = sample.values(measure, times)
    if method == "bca":
        parts = left_out(sample.size, width=width)
        left = np.concatenate([sample.values(measure, times) for times in parts])
    return resampled_interval(observed, values, left, method=method, level=level)


def why_none(measure: Measure, units: int, observed: float, *, clustered: bool) -> str:
    """Why there can be no interval; nothing where there can."""
    if units < 2:
        return f"there is only one {'cluster' if clustered else 'question'}"
    if measure.definition.bootstrap_biased:
        return f"{measure.name} is biased upwards in any sample, and a bootstrap adds to the bias"
    return "the value is undefined" if math.isnan(observed) else ""


def resampled_interval(
    observed: float, values: Array, left: Array | None, *, method: str, level: float
) -> Interval:
    """An interval from resamples, and for BCa from the values without each part in turn."""
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
    """The logit between two bounds; beside a single one, the logarithm of how far away it is.

    >>> scale = Scale(0.0, 1.0)
    >>> float(scale.to(np.array(0.5))), float(scale.back(np.array(0.0))), float(scale.slope(0.5))
    (0.0, 0.5, 4.0)
    >>> float(Scale(-math.inf, 1.0).back(Scale(-math.inf, 1.0).to(np.array(-3.0))))
    -3.0
    """

    low: float
    high: float

    @classmethod
    def of(cls, measure: Measure) -> Scale:
        """The scale of a measure's values."""
        return cls(*measure.bounds)

    def to(self, value: Array | float) -> Array:
        """Values within the bounds, on the scale."""
        found = np.zeros(np.shape(value))
        if math.isfinite(self.low):
            found = found + np.log(np.maximum(value - self.low, TINY))
        if math.isfinite(self.high):
            found = found - np.log(np.maximum(self.high - value, TINY))
        return np.asarray(found)

    def slope(self, value: Array | float) -> Array:
        """How much the scale moves for a little more of the value."""
        found = np.zeros(np.shape(value))
        if math.isfinite(self.low):
            found = found + 1 / np.maximum(value - self.low, TINY)
        if math.isfinite(self.high):
            found = found + 1 / np.maximum(self.high - value, TINY)
        return np.asarray(found)

    def back(self, place: Array | float) -> Array:
        """Values from places on the scale."""
        from scipy.special import expit

        if not math.isfinite(self.high):
            return np.asarray(self.low + np.exp(place))
        if not math.isfinite(self.low):
            return np.asarray(self.high - np.exp(-np.asarray(place)))
        return np.asarray(self.low + (self.high - self.low) * expit(place))

    def inside(self, value: float, answers: float) -> float:
        """A value at least half an answer of so many away from the bounds.

        A range as wide as that of the log score is hardly used: beyond 1 its width does not count.
        """
        step = min(self.high - self.low, 1.0) / (2 * max(answers, 1.0))
        return min(max(value, self.low + step), self.high - step)


def towards(value: Array, middle: float, answers: float) -> Array:
    """Values as if one more answer had the middle's: none is at a bound."""
    return np.asarray((value * answers + middle) / (answers + 1))


def difference_interval(
    scale: Scale, values: tuple[float, float], moved: Array, units: tuple[int, int], *, level: float
) -> Interval:
    """An interval for the first value less the second, from an interval of each on its scale and
    how they vary together (Zou and Donner 2008; but what they share moves both to one side).

    `moved` (2, units) is how much each unit moves each value, `units` how many of them each run
    has something in: t has one degree of freedom less. Half a unit of both together is added.
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
    centre = np.array([scale.inside(*own) for own in zip(values, units, strict=True)])
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
    """How far a difference reaches to one side where its two values reach so far."""
    if together < 0:
        return math.sqrt(one**2 + other**2 - 2 * together * one * other)
    return math.sqrt((1 - together) * (one**2 + other**2) + together * shared)
