"""Measures of confidence that are a sum over questions by another: Brier, log score, K1, K, MRR.

A resample or a swap of questions is then a product of matrices, for all runs at once. With x and y
what a question adds above and below, swaps need the sums of x, y and of their products alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from abstain.measures import MeanOf, Measure
from abstain.measures.answers import Answers
from abstain.stats.functional import JEFFREYS
from abstain.stats.of_confidence import Sample

if TYPE_CHECKING:
    from abstain.measures.answers import BoolArray
    from abstain.outcomes import Array, IntArray

LEAST_SPREAD = 1e-24


class MeansOfAnswers:
    """What each unit adds above and below (runs, units)."""

    has_influence = True

    def __init__(self, measure: Measure, samples: Sequence[Sample]) -> None:
        mean = measure.definition.mean
        assert mean is not None
        self.studentised = measure.definition.studentised
        terms = [_terms(measure, mean, sample) for sample in samples]
        self.above = np.stack([above for above, _ in terms])
        self.below = np.stack([below for _, below in terms])

    def pair(self, own: int, other: int) -> MeansOfTwo:
        """Two of the runs."""
        return MeansOfTwo(self, own, other)

    def moved(self, run: int) -> Array:
        """How much each unit moves the measure of a run."""
        above, below = self.above[run], self.below[run]
        return np.asarray((above - above.sum() / below.sum() * below) / below.sum())

    def resampled(self, times: IntArray) -> Array:
        """The measure of each run (resamples, runs)."""
        often = times.T.astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((often @ self.above.T) / (often @ self.below.T))


class MeansOfTwo:
    """What swaps need of two runs."""

    def __init__(self, of: MeansOfAnswers, own: int, other: int) -> None:
        self.studentised = of.studentised
        self.x, self.u = of.above[own], of.above[other]
        self.y, self.v = of.below[own], of.below[other]
        x, u, y, v = self.x, self.u, self.y, self.v
        columns = [(x, u), (y, v), (x * x, u * u), (x * y, u * v), (y * y, v * v), (x * v, u * y)]
        columns = columns if self.studentised else columns[:2]
        self.totals = np.array([(a + b).sum() for a, b in columns])
        self.apart = np.stack([a - b for a, b in columns], axis=1)

    def swapped(self, signs: Array) -> Array:
        """The difference, perhaps over its standard error, when units are swapped at −1."""
        first = ((self.totals + signs @ self.apart) / 2).T
        second = self.totals[:, None] - first
        with np.errstate(divide="ignore", invalid="ignore"):
            one, two = first[0] / first[1], second[0] / second[1]
            if not self.studentised:
                return np.asarray(one - two)
            both = (self.x * self.u).sum() + one * two * (self.y * self.v).sum()
            both = both - two * first[5] - one * second[5]
            spread = _squares(first, one) + _squares(second, two)
            spread -= 2 * both / (first[1] * second[1])
            return over_error(one - two, spread, len(self.x), self._pooled())

    def _pooled(self) -> float:
        """What half a unit of both runs adds to the squared standard error."""
        above, below = np.stack([self.x, self.u]), np.stack([self.y, self.v])
        off = (above - above.sum() / below.sum() * below) / (below.sum() / 2)
        return JEFFREYS * float((off**2).sum()) / len(self.x)


def _squares(sums: Array, value: Array) -> Array:
    """Σ (x − M y)² over the square of Σ y."""
    return np.asarray((sums[2] - 2 * value * sums[3] + value**2 * sums[4]) / sums[1] ** 2)


def used_by(measure: Measure, answers: Answers) -> BoolArray:
    """Which answers a measure takes."""
    if measure.definition.uses == "stated":
        return answers.stated
    if measure.definition.uses == "given" and answers.given is not None:
        return answers.given
    return np.ones(answers.size, np.bool_)


def _terms(measure: Measure, mean: MeanOf, sample: Sample) -> tuple[Array, Array]:
    answers, units = sample.answers, sample.size
    used = used_by(measure, answers)
    values = mean.adds(answers)
    above = np.asarray(np.bincount(sample.unit[used], values[used], minlength=units), np.float64)
    if mean.over == "questions":
        return above, sample.asked.astype(np.float64)
    return above, np.bincount(sample.unit[used], minlength=units).astype(np.float64)


def over_error(difference: Array, spread: Array, units: int, pooled: float) -> Array:
    """A difference over its standard error: Σ over units of squared influences, and half a unit.

    The half unit of both runs together is the same for all swaps: it keeps a swap by which two
    runs happen to vary in nothing from counting as infinitely far.
    """
    squared = np.maximum(spread, 0) * units / max(units - 1, 1) + pooled
    return np.asarray(difference / np.sqrt(np.maximum(squared, LEAST_SPREAD)))
