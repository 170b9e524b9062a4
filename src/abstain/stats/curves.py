"""A run over all thresholds: what it would answer, and how well."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from abstain.measures import Measure
from abstain.measures.answers import Answers, Groups
from abstain.measures.definition import Array, IntArray
from abstain.outcomes import COUNTED, UNSPLIT, CountsArray

WIDTH = len(COUNTED)


@dataclass(frozen=True, eq=False)
class Curve:
    """The points of a run: nothing answered, then one more for each distinct confidence."""

    questions: int
    thresholds: Array
    """Falling; ∞ answers nothing, NaN answers even what has no confidence."""
    answered: IntArray
    right: IntArray
    beyond: tuple[int, int] = (0, 0)
    """Right and wrong answers that no threshold reaches: they count as blanks."""
    unknown: int = 0

    @classmethod
    def of(cls, answers: Answers, unknown: int = 0) -> Curve:
        return cls.from_groups(answers.groups, answers.questions, unknown)

    @classmethod
    def from_groups(cls, groups: Groups, questions: int, unknown: int = 0) -> Curve:
        return cls(
            questions,
            np.concatenate([[np.inf], groups.level]),
            np.concatenate([[0], groups.answered]),
            np.concatenate([[0], groups.right]),
            unknown=unknown,
        )

    @property
    def wrong(self) -> IntArray:
        return self.answered - self.right

    @property
    def coverage(self) -> Array:
        return self.answered / self.questions

    @property
    def counts(self) -> CountsArray:
        table = np.zeros((WIDTH, len(self.answered)), np.int64).T  # each column in one piece
        right, wrong = self.right[-1] + self.beyond[0], self.wrong[-1] + self.beyond[1]
        table[:, 0], table[:, 1] = self.right, self.wrong
        table[:, 2], table[:, 3] = right - self.right, wrong - self.wrong
        table[:, 4] = self.questions - right - wrong - self.unknown
        table[:, UNSPLIT] = self.unknown
        return CountsArray(table)

    def points_at(self, levels: Array) -> IntArray:
        return np.searchsorted(-self.thresholds, -levels, side="right") - 1

    def reached(self) -> Curve:
        """Without the point that answers even without confidence: no threshold reaches it."""
        if not math.isnan(self.thresholds[-1]):
            return self
        right, wrong = (int(counts[-1] - counts[-2]) for counts in (self.right, self.wrong))
        thresholds, answered = self.thresholds[:-1], self.answered[:-1]
        right_here = self.right[:-1]
        return replace(
            self, thresholds=thresholds, answered=answered, right=right_here, beyond=(right, wrong)
        )

    def penalised(self, t: Array) -> Array:
        """S = c − t/(1−t)·w of the run that answers where it is at least t sure."""
        at = self.reached().points_at(t)
        return (self.right[at] - t / (1 - t) * self.wrong[at]) / self.questions


def top(scores: Array, measure: Measure) -> int | None:
    """The last place of the best score, which answers most; None where there is none."""
    ordered = scores * (1 if measure.higher_is_better else -1)
    if np.isnan(ordered).all():
        return None
    best = np.nanmax(ordered)
    return int(np.flatnonzero(ordered >= best - 1e-12 * max(1.0, abs(best)))[-1])


def evenly(answered: IntArray, points: int) -> IntArray:
    """The positions of at most so many points, evenly spaced by how much they answer; 0: all.

    Each is the first that answers at least so much, so thinning twice changes nothing.
    """
    size = len(answered)
    if not points or size <= points:
        return np.arange(size)
    wanted = np.linspace(0, answered[-1], points)
    return np.unique(np.searchsorted(answered, wanted).clip(0, size - 1))
