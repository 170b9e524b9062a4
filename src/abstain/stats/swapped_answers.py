"""Measures of confidence by the order of answers: what swapping units makes of two runs.

The answers of both runs are sorted once, together. A swap says to which of the two an answer
belongs, so a block of swaps is a block of resamples in which an answer is there once or not.
Differences are taken on a scale without bounds, where a run of few answers does not seem to be far
from another more often than the level says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.measures import Measure
from abstain.measures.answers import Resamples
from abstain.measures.influence import influence_of
from abstain.stats.functional import JEFFREYS
from abstain.stats.means_of_answers import MeansOfAnswers, over_error
from abstain.stats.of_confidence import Sample, blocks_of
from abstain.stats.unbounded import Scale, towards

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array, IntArray

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

    def _block(self, stays: npt.NDArray[np.bool_]) -> Array:
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
    """The sums of each unit (units, some)."""
    from scipy.sparse import csr_array

    at = np.arange(len(unit))
    sums = csr_array((np.ones(len(unit)), (unit, at)), shape=(units, len(unit)))
    return np.asarray(sums @ values)
