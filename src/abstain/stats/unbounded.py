"""Scores on a scale without bounds, where few answers err as much to one side as to the other.

The nearer a score is to a bound, the less it varies, so that a difference that is large by chance
has a small standard error as often as not. On the scale of log((x − low)/(high − x)) it has not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from abstain.measures import Measure
from abstain.stats.functional import JEFFREYS
from abstain.stats.intervals import Interval

if TYPE_CHECKING:
    from abstain.outcomes import Array

TINY = 1e-300
DUST = 1e-14
"""What an answer seems to move a score by where sums were taken in another order."""
UNMOVED = "no answer moves either score, so an interval shows no width"
TOO_FEW = "a run has answers in fewer than two questions or clusters"


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
        return Interval(apart, apart, "logit", UNMOVED)
    if min(units) < 2:
        return Interval.none("logit", TOO_FEW)
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
        "logit",
    )


def _both(one: float, other: float, together: float, shared: float) -> float:
    """How far a difference reaches to one side where its two values reach so far."""
    if together < 0:
        return math.sqrt(one**2 + other**2 - 2 * together * one * other)
    return math.sqrt((1 - together) * (one**2 + other**2) + together * shared)
