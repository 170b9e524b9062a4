"""Measures of confidence: what swapping units makes of two runs.

Most go by the order of answers. Those of both runs are sorted once, together. A swap says to which
of the two an answer belongs, so a block of swaps is a block of resamples in which an answer is
there once or not. Differences are taken on a scale without bounds, where a run of few answers does
not seem to be far from another more often than the level says.

Some are a sum over questions by another: Brier, log score, K1, K, MRR. A resample or a swap of
questions is then a product of matrices, for all runs at once. With x and y what a question adds
above and below, swaps need the sums of x, y and of their products alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from abstain.measures import MeanOf, Measure
from abstain.measures.answers import Answers, Resamples
from abstain.measures.arrays import Array, BoolArray, IntArray
from abstain.measures.influence import influence_of
from abstain.stats.functional import JEFFREYS
from abstain.stats.of_confidence import Sample, Scale, blocks_of, towards

LEAST_SPREAD = 1e-24
SHARE = 1 / 8
"""Of the answers of both runs: a value weighs as much against one answer of both together. More
would leave a run of few answers, all in the best order, at a bound and so farther than it is."""


def answers_of(measure: Measure, samples: Sequence[Sample]) -> MeansOfAnswers | SortedAnswers:
    """The answers of several runs as a measure sees them: as sums, or in their order."""
    is_sum = measure.definition.mean is not None
    return MeansOfAnswers(measure, samples) if is_sum else SortedAnswers(measure, samples)


class SortedAnswers:
    """The answers of several runs, each sorted."""

    def __init__(self, measure: Measure, samples: Sequence[Sample]) -> None:
        self.measure, self.samples = measure, samples
        self.studentised = measure.definition.studentised
        self.has_influence = measure.definition.influence is not None

    def moved(self, run: int) -> Array:
        """How much each unit moves the measure of a run."""
        own = self.samples[run]
        there = own.resamples(np.ones((own.size, 1), np.int64))
        score: Any = self.measure
        by_answer, by_question = influence_of(self.measure, there, score(there))
        return _by_unit(by_answer, own.unit, own.size)[:, 0] + own.asked * by_question

    def resampled(self, times: IntArray) -> Array:
        """The measure of each run (resamples, runs)."""
        return np.stack([own.values(self.measure, times) for own in self.samples], axis=1)

    def pair(self, own: int, other: int) -> TwoRuns:
        """Two of the runs."""
        return TwoRuns(self.measure, self.samples[own], self.samples[other])


class TwoRuns:
    """The answers of two runs in one order."""

    def __init__(self, measure: Measure, own: Sample, other: Sample) -> None:
        self.measure, self.asked = measure, own.asked
        pieces = own.answers, other.answers
        confidence = np.concatenate([a.confidence for a in pieces])
        order = np.argsort(-confidence, kind="stable")
        self.confidence = confidence[order]
        self.right = np.concatenate([a.right for a in pieces])[order]
        self.given = np.concatenate([a.given for a in pieces if a.given is not None])[order]
        self.unit = np.concatenate([own.unit, other.unit])[order]
        self.is_own = order < len(own.unit)
        self.scale = Scale.of(measure)
        self.middle, self.pooled = 0.0, None
        if measure.definition.studentised:
            self.middle, self.pooled = self._pooled()

    def swapped(self, signs: Array) -> Array:
        """The difference, perhaps over its standard error, when units are swapped at −1."""
        parts = blocks_of(len(signs), len(self.unit))
        return np.concatenate([self._block((signs[some] > 0).T) for some in parts])

    def _block(self, stays: BoolArray) -> Array:
        first = np.ascontiguousarray(stays)[self.unit] == self.is_own[:, None]
        asked = np.full(stays.shape[1], int(self.asked.sum()))
        sides = [self._side(where.astype(np.int64), asked) for where in (first, ~first)]
        score: Any = self.measure
        one, two = (score(side) for side in sides)
        if self.pooled is None:
            return np.asarray(one - two)
        (by_one, question_one), (by_two, question_two) = (
            influence_of(self.measure, side, value)
            for side, value in zip(sides, (one, two), strict=True)
        )
        answers = SHARE * len(self.unit)
        one, two = (towards(value, self.middle, answers) for value in (one, two))
        steep_one, steep_two = (self.scale.slope(value) for value in (one, two))
        by_answer = np.where(first, by_one * steep_one, -by_two * steep_two)
        moved = _by_unit(by_answer, self.unit, len(self.asked))
        moved += self.asked[:, None] * (question_one * steep_one - question_two * steep_two)
        spread = (moved**2).sum(axis=0)
        apart = self.scale.to(one) - self.scale.to(two)
        return over_error(apart, spread, len(self.asked), self.pooled)

    def _side(self, numbers: IntArray, asked: IntArray) -> Resamples:
        return Resamples(self.right, self.confidence, asked, self.given, numbers=numbers)

    def _pooled(self) -> tuple[float, float]:
        """The value of both runs together, and what half a unit adds to the squared error."""
        units = len(self.asked)
        ones = np.ones((len(self.unit), 1), np.int64)
        pool = self._side(ones, np.array([2 * int(self.asked.sum())]))
        score: Any = self.measure
        value = score(pool)
        by_answer, by_question = influence_of(self.measure, pool, value)
        middle = self.scale.inside(float(value[0]), len(self.unit))
        whose = self.unit + np.where(self.is_own, 0, units)
        moved = _by_unit(by_answer, whose, 2 * units)
        moved += np.tile(self.asked, 2)[:, None] * by_question
        moved *= self.scale.slope(middle)
        return middle, JEFFREYS * float(((2 * moved) ** 2).sum()) / units


def _by_unit(values: Array, unit: IntArray, units: int) -> Array:
    from scipy.sparse import csr_array

    at = np.arange(len(unit))
    sums = csr_array((np.ones(len(unit)), (unit, at)), shape=(units, len(unit)))
    return np.asarray(sums @ values)


def over_error(difference: Array, spread: Array, units: int, pooled: float) -> Array:
    """A difference over its standard error: Σ over units of squared influences, and half a unit.

    The half unit of both runs together is the same for all swaps: it keeps a swap by which two
    runs happen to vary in nothing from counting as infinitely far.
    """
    squared = np.maximum(spread, 0) * units / max(units - 1, 1) + pooled
    return np.asarray(difference / np.sqrt(np.maximum(squared, LEAST_SPREAD)))


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
