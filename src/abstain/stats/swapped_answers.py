"""Randomisation tests of measures of confidence: units are swapped between two runs.

Most measures depend on the order of answers: those of both runs are sorted together, and swaps are
resamples with multiplicities of 0 and 1, with differences on the logit scale. Others are ratios of
sums over questions (Brier, log score, K1, K, MRR): matrix products.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from abstain.measures import MeanOf, Measure
from abstain.measures.answers import Answers, Resamples
from abstain.measures.definition import Array, BoolArray, IntArray
from abstain.measures.influence import influence_of
from abstain.stats.confidence_intervals import Sample, Scale, blocks_of, towards
from abstain.stats.delta_method import JEFFREYS

LEAST_SPREAD = 1e-24
SHARE = 1 / 8
"""The weight of a value, as a share of both runs' answers, against one answer of the pooled value:
with more, a run of few well-ordered answers would stay at a bound."""


def answers_of(measure: Measure, samples: Sequence[Sample]) -> MeansOfAnswers | SortedAnswers:
    is_sum = measure.definition.mean is not None
    return MeansOfAnswers(measure, samples) if is_sum else SortedAnswers(measure, samples)


class SortedAnswers:
    def __init__(self, measure: Measure, samples: Sequence[Sample]) -> None:
        self.measure, self.samples = measure, samples
        self.studentised = measure.definition.studentised
        self.has_influence = measure.definition.influence is not None

    def moved(self, run: int) -> Array:
        sample = self.samples[run]
        there = sample.resamples(np.ones((sample.size, 1), np.int64))
        score: Any = self.measure
        by_answer, by_question = influence_of(self.measure, there, score(there))
        return _by_unit(by_answer, sample.unit, sample.size)[:, 0] + sample.asked * by_question

    def resampled(self, times: IntArray) -> Array:
        return np.stack([sample.values(self.measure, times) for sample in self.samples], axis=1)

    def pair(self, run: int, other: int) -> TwoRuns:
        return TwoRuns(self.measure, self.samples[run], self.samples[other])


class TwoRuns:
    """The answers of two runs in one order."""

    def __init__(self, measure: Measure, run: Sample, other: Sample) -> None:
        self.measure, self.asked = measure, run.asked
        pieces = run.answers, other.answers
        confidence = np.concatenate([a.confidence for a in pieces])
        order = np.argsort(-confidence, kind="stable")
        self.confidence = confidence[order]
        self.right = np.concatenate([a.right for a in pieces])[order]
        submitted = [a.submitted for a in pieces if a.submitted is not None]
        self.submitted = np.concatenate(submitted)[order]
        self.unit = np.concatenate([run.unit, other.unit])[order]
        self.is_first = order < len(run.unit)
        self.scale = Scale(*measure.bounds)
        self.middle, self.pooled = 0.0, None
        if measure.definition.studentised:
            self.middle, self.pooled = self._pooled()

    def swapped(self, signs: Array) -> Array:
        parts = blocks_of(len(signs), len(self.unit))
        return np.concatenate([self._block((signs[some] > 0).T) for some in parts])

    def _block(self, stays: BoolArray) -> Array:
        first = np.ascontiguousarray(stays)[self.unit] == self.is_first[:, None]
        asked = np.full(stays.shape[1], int(self.asked.sum()))
        sides = [self._side(where.astype(np.int64), asked) for where in (first, ~first)]
        score: Any = self.measure
        values = [score(side) for side in sides]
        if self.pooled is None:
            return np.asarray(values[0] - values[1])
        moves = map(influence_of, [self.measure] * 2, sides, values)
        (by_one, question_one), (by_two, question_two) = moves
        one, two = (towards(value, self.middle, SHARE * len(self.unit)) for value in values)
        slope_one, slope_two = self.scale.slope(one), self.scale.slope(two)
        by_answer = np.where(first, by_one * slope_one, -by_two * slope_two)
        moved = _by_unit(by_answer, self.unit, len(self.asked))
        moved += self.asked[:, None] * (question_one * slope_one - question_two * slope_two)
        difference = self.scale.to(one) - self.scale.to(two)
        return over_error(difference, (moved**2).sum(axis=0), len(self.asked), self.pooled)

    def _side(self, numbers: IntArray, asked: IntArray) -> Resamples:
        return Resamples(self.right, self.confidence, asked, self.submitted, numbers=numbers)

    def _pooled(self) -> tuple[float, float]:
        units = len(self.asked)
        ones = np.ones((len(self.unit), 1), np.int64)
        pool = self._side(ones, np.array([2 * int(self.asked.sum())]))
        score: Any = self.measure
        value = score(pool)
        by_answer, by_question = influence_of(self.measure, pool, value)
        middle = self.scale.inside(float(value[0]), len(self.unit))
        whose = self.unit + np.where(self.is_first, 0, units)
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
    """A studentised difference; its variance is the sum of squared influences of units and half a
    unit of the pool, which keeps the statistic finite."""
    squared = np.maximum(spread, 0) * units / max(units - 1, 1) + pooled
    return np.asarray(difference / np.sqrt(np.maximum(squared, LEAST_SPREAD)))


class MeansOfAnswers:
    """The terms of each unit in numerator and denominator (runs, units)."""

    has_influence = True

    def __init__(self, measure: Measure, samples: Sequence[Sample]) -> None:
        mean = measure.definition.mean
        assert mean is not None
        self.studentised = measure.definition.studentised
        terms = [_terms(measure, mean, sample) for sample in samples]
        self.above = np.stack([above for above, _ in terms])
        self.below = np.stack([below for _, below in terms])

    def pair(self, run: int, other: int) -> MeansOfTwo:
        return MeansOfTwo(self, run, other)

    def moved(self, run: int) -> Array:
        above, below = self.above[run], self.below[run]
        return np.asarray((above - above.sum() / below.sum() * below) / below.sum())

    def resampled(self, times: IntArray) -> Array:
        often = times.T.astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((often @ self.above.T) / (often @ self.below.T))


class MeansOfTwo:
    def __init__(self, of: MeansOfAnswers, run: int, other: int) -> None:
        self.studentised = of.studentised
        self.x, self.u = of.above[run], of.above[other]
        self.y, self.v = of.below[run], of.below[other]
        x, u, y, v = self.x, self.u, self.y, self.v
        columns = [(x, u), (y, v), (x * x, u * u), (x * y, u * v), (y * y, v * v), (x * v, u * y)]
        columns = columns if self.studentised else columns[:2]
        self.totals = np.array([(a + b).sum() for a, b in columns])
        self.apart = np.stack([a - b for a, b in columns], axis=1)

    def swapped(self, signs: Array) -> Array:
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
        above, below = np.stack([self.x, self.u]), np.stack([self.y, self.v])
        off = (above - above.sum() / below.sum() * below) / (below.sum() / 2)
        return JEFFREYS * float((off**2).sum()) / len(self.x)


def _squares(sums: Array, value: Array) -> Array:
    """Σ (x − M y)² over the square of Σ y."""
    return np.asarray((sums[2] - 2 * value * sums[3] + value**2 * sums[4]) / sums[1] ** 2)


def used_by(measure: Measure, answers: Answers) -> BoolArray:
    if measure.definition.uses == "stated":
        return answers.stated
    if measure.definition.uses == "submitted" and answers.submitted is not None:
        return answers.submitted
    return np.ones(answers.size, np.bool_)


def _terms(measure: Measure, mean: MeanOf, sample: Sample) -> tuple[Array, Array]:
    answers, units = sample.answers, sample.size
    used = used_by(measure, answers)
    values = mean.adds(answers)
    above = np.asarray(np.bincount(sample.unit[used], values[used], minlength=units), np.float64)
    if mean.over == "questions":
        return above, sample.asked.astype(np.float64)
    return above, np.bincount(sample.unit[used], minlength=units).astype(np.float64)
