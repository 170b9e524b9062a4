"""One run over all thresholds: what it would answer, and how well."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.analyses.curve.matrix import WIDTH, ConfidenceMatrix
from abstain.measures.answers import Answers, Groups
from abstain.outcomes import Counts, CountsArray

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.measures import Measure
    from abstain.outcomes import Array, IntArray


@dataclass(frozen=True, eq=False)
class Curve:
    """The points of a run: nothing answered, then one more for each distinct confidence.

    >>> curve = Curve.of("a", Answers.of([1, 0, 1], [0.9, 0.5, 0.5]))
    >>> curve.thresholds.tolist(), curve.answered.tolist(), curve.right.tolist()
    ([inf, 0.9, 0.5], [0, 1, 3], [0, 1, 2])
    """

    run: str
    questions: int
    thresholds: Array
    """Falling; ∞ answers nothing, NaN answers even what has no confidence."""
    answered: IntArray
    right: IntArray
    system: Counts | None = None
    """The run as it was handed in."""

    @classmethod
    def of(cls, run: str, answers: Answers, system: Counts | None = None) -> Curve:
        """The curve of a run's answers."""
        return cls.from_groups(run, answers.groups, answers.questions, system)

    @classmethod
    def from_groups(
        cls, run: str, groups: Groups, questions: int, system: Counts | None = None
    ) -> Curve:
        """The curve of answers that were sorted and grouped."""
        return cls(
            run,
            questions,
            np.concatenate([[np.inf], groups.level]),
            np.concatenate([[0], groups.answered]),
            np.concatenate([[0], groups.right]),
            system,
        )

    @property
    def wrong(self) -> IntArray:
        """Wrong answers at each point."""
        return self.answered - self.right

    @property
    def coverage(self) -> Array:
        """The share of the questions answered at each point."""
        return self.answered / self.questions

    @property
    def risk(self) -> Array:
        """The share wrong of what is answered; NaN where nothing is."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.wrong / self.answered

    @property
    def counts(self) -> CountsArray:
        """The counts of the run at each threshold."""
        table = np.zeros((WIDTH, len(self.answered)), np.int64).T  # each column in one piece
        right, wrong = self._there
        table[:, 0], table[:, 1] = self.right, self.wrong
        table[:, 2], table[:, 3] = right - self.right, wrong - self.wrong
        table[:, 4] = self.questions - right - wrong
        return CountsArray(table)

    @property
    def _there(self) -> tuple[int, int]:
        """How many right and wrong answers there are, given or behind blanks."""
        return int(self.right[-1]), int(self.wrong[-1])

    def along(self, measure: Measure) -> Array:
        """A measure of counts at each point."""
        return measure(self.counts)

    def best(self, measure: Measure) -> int | None:
        """The point with the best score; of several the one that answers most."""
        scores = self.along(measure) * (1 if measure.higher_is_better else -1)
        if np.isnan(scores).all():
            return None
        top = np.nanmax(scores)
        return int(np.flatnonzero(scores >= top - 1e-12 * max(1.0, abs(top)))[-1])

    def points_at(self, levels: Array) -> npt.NDArray[np.int64]:
        """The point that each threshold, of this curve or not, leads to."""
        return np.searchsorted(-self.thresholds, -levels, side="right") - 1

    def answered_at(self, levels: Array) -> IntArray:
        """How many answers are at least so sure."""
        return self.answered[self.points_at(levels)]

    def reached(self) -> Curve:
        """Without the point that answers even what has no confidence: no threshold reaches it."""
        if not math.isnan(self.thresholds[-1]):
            return self
        return _Reached(
            self.run,
            self.questions,
            self.thresholds[:-1],
            self.answered[:-1],
            self.right[:-1],
            self.system,
            there=self._there,
        )

    def penalised(self, t: Array) -> Array:
        """S = c − t/(1−t)·w of the run that answers where it is at least t sure.

        >>> Curve.of("a", Answers.of([1, 0], [0.9, 0.5])).penalised(np.array([0.5, 0.8]))
        array([0. , 0.5])
        """
        at = self.reached().points_at(t)
        return (self.right[at] - t / (1 - t) * self.wrong[at]) / self.questions

    @property
    def columns(self) -> dict[str, Array | IntArray]:
        """What is said of every point."""
        return {
            "threshold": self.thresholds,
            "coverage": self.coverage,
            "answered": self.answered,
            "right": self.right,
            "wrong": self.wrong,
        }

    def rows(
        self, points: int, columns: Mapping[str, Array | IntArray]
    ) -> Iterator[dict[str, Any]]:
        """Points as plain data: the run, and columns of numbers that every point has."""
        at = self.thin(points)
        for values in zip(*(column[at].tolist() for column in columns.values()), strict=True):
            yield {"run": self.run, **dict(zip(columns, values, strict=True))}

    def thin(self, points: int) -> npt.NDArray[np.int64]:
        """The numbers of at most so many points, evenly over coverage; 0: all."""
        size = len(self.answered)
        if not points or size <= points:
            return np.arange(size)
        wanted = np.linspace(0, self.answered[-1], points)
        return np.unique(np.searchsorted(self.answered, wanted).clip(0, size - 1))


@dataclass(frozen=True, eq=False)
class _Reached(Curve):
    """A curve some of whose answers no threshold reaches: they count as blanks."""

    there: tuple[int, int] = (0, 0)

    @property
    def _there(self) -> tuple[int, int]:
        return self.there


def curves(matrix: ConfidenceMatrix) -> list[Curve]:
    """The curve of every run: one sort each."""
    return [
        Curve.of(run, matrix.answers(number), Counts(*matrix.counts(number).tolist()))
        for number, run in enumerate(matrix.runs)
    ]


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of about the same confidence: what was promised, what came true."""

    low: float
    high: float
    answers: int
    confidence: float
    accuracy: float


def reliability(answers: Answers, bins: int = 10, *, mass: bool = False) -> list[Bin]:
    """The bins of a reliability diagram, the empty ones left out."""
    from abstain.measures.families.calibration import mass_bins, width_bins

    own = answers.calibrated
    if not own.size:
        return []
    place = mass_bins(own.confidence, bins) if mass else width_bins(own.confidence, bins)
    sizes = np.bincount(place, minlength=bins)
    sure = np.bincount(place, own.confidence, minlength=bins)
    right = np.bincount(place, own.right, minlength=bins)
    found = []
    for b in np.flatnonzero(sizes):
        inside = own.confidence[place == b]
        low, high = (
            (float(inside.min()), float(inside.max())) if mass else (b / bins, (b + 1) / bins)
        )
        size = int(sizes[b])
        found.append(
            Bin(float(low), float(high), size, float(sure[b] / size), float(right[b] / size))
        )
    return found
