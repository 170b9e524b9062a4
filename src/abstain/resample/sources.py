"""What is resampled: runs × questions, re-scored on any weights of the questions.

A source answers three questions: the scores on all questions, on weights that all runs share, and
on subsets that every pair of runs draws for itself. Outcomes answer the last one without touching
a question: what a pair got right, wrong and left blank together makes (at most) nine cells, a
random subset is a draw from them, and a disjoint second subset a draw from what remains.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from abstain.measures import Measure
from abstain.outcomes import OUTCOMES, CountsArray

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array, IntArray

Rng: TypeAlias = np.random.Generator
Pairs: TypeAlias = "tuple[IntArray, IntArray]"
Drawn: TypeAlias = "tuple[Array, Array]"
"""The scores of the first and of the second run of each pair: measures × pairs × trials."""

EXCLUDED = len(OUTCOMES)
BLANK = 4
EXACT = 1 << 24
"""Whole numbers below it are exact in single precision."""


@dataclass(frozen=True, kw_only=True)
class Source(ABC):
    """Runs × questions that can be scored on any draw of the questions."""

    runs: list[str]
    measures: list[str]
    directions: tuple[int, ...]
    """1 where more is better, −1 where less is."""
    spans: tuple[float, ...]
    """The largest difference that two runs can have, a measure."""

    @property
    @abstractmethod
    def questions(self) -> int:
        """How many there are."""

    @abstractmethod
    def weighed(self, weights: npt.NDArray[Any]) -> Array:
        """Scores on weighed questions: trials × questions to measures × trials × runs."""

    @abstractmethod
    def cost(self) -> int:
        """What a trial of a pair takes, in numbers held: blocks are cut by it."""

    @abstractmethod
    def subsets(
        self, rng: Rng, pairs: Pairs, *, trials: int, size: int, disjoint: bool
    ) -> tuple[Drawn, Drawn | None]:
        """Every pair's own random subsets, and disjoint ones of the same size."""

    @abstractmethod
    def resamples(self, rng: Rng, pairs: Pairs, *, trials: int) -> Drawn:
        """Every pair's own draws with replacement, as many as there are questions."""

    @abstractmethod
    def permuted(self, rng: Rng, trials: int) -> Array:
        """Scores after the runs swapped their cells at random, question by question."""

    def full(self) -> Array:
        """Scores on all questions: measures × runs."""
        return self.weighed(np.ones((1, self.questions), np.float32))[:, 0]


@dataclass(frozen=True, kw_only=True)
class Weighed(Source):
    """Cells of some numbers each, which are summed over questions and then scored."""

    features: Array
    """Runs × questions × numbers."""
    finish: Callable[[Array], Array]
    """Sums of the numbers (…, numbers + 1; the last is the weight) to scores (measures, …)."""

    @property
    def questions(self) -> int:
        """How many there are."""
        return int(self.features.shape[1])

    def weighed(self, weights: npt.NDArray[Any]) -> Array:
        """Scores on weighed questions: trials × questions to measures × trials × runs."""
        trials = len(weights)
        flat = self.features.transpose(1, 0, 2).reshape(self.questions, -1)
        sums = (weights.astype(np.float64) @ flat).reshape(trials, len(self.runs), -1)
        size = np.broadcast_to(weights.sum(axis=1)[:, None, None], (*sums.shape[:2], 1))
        return self.finish(np.concatenate([sums, size], axis=-1))

    def cost(self) -> int:
        """What a trial of a pair takes, in numbers held: blocks are cut by it."""
        return self.questions

    def subsets(
        self, rng: Rng, pairs: Pairs, *, trials: int, size: int, disjoint: bool
    ) -> tuple[Drawn, Drawn | None]:
        """Every pair's own random subsets, and disjoint ones of the same size."""
        count = len(pairs[0])
        parts = random_parts(rng, count * trials, self.questions, size, disjoint=disjoint)
        shape = (count, trials, self.questions)
        drawn = [self._of_pairs(part.reshape(shape), pairs) for part in parts]
        return drawn[0], drawn[1] if disjoint else None

    def resamples(self, rng: Rng, pairs: Pairs, *, trials: int) -> Drawn:
        """Every pair's own draws with replacement, as many as there are questions."""
        count = len(pairs[0])
        weights = random_multiplicities(rng, count * trials, self.questions)
        return self._of_pairs(weights.reshape(count, trials, self.questions), pairs)

    def permuted(self, rng: Rng, trials: int) -> Array:
        """Scores after the runs swapped their cells at random, question by question."""
        found = []
        for _ in range(trials):
            order = rng.random((self.questions, len(self.runs))).argsort(axis=1)
            moved = np.take_along_axis(self.features, order.T[..., None], axis=0)
            sums = moved.sum(axis=1)
            size = np.full((len(self.runs), 1), float(self.questions))
            found.append(self.finish(np.concatenate([sums, size], axis=-1)))
        return np.stack(found, axis=1)

    def _of_pairs(self, weights: npt.NDArray[Any], pairs: Pairs) -> Drawn:
        size = weights.sum(axis=-1, dtype=np.float64)[..., None]
        wide = weights.astype(np.float64)
        first, second = (
            self.finish(np.concatenate([np.matmul(wide, self.features[of]), size], axis=-1))
            for of in pairs
        )
        return first, second


@dataclass(frozen=True, kw_only=True)
class Scores(Weighed):
    """Ready scores: each measure is the mean over questions of the number in its place."""


@dataclass(frozen=True, kw_only=True)
class Outcomes(Source):
    """Runs × questions of outcomes: counted, and scored by the counts."""

    codes: npt.NDArray[np.uint8]
    """Runs × questions: the class of each outcome."""
    places: tuple[int, ...]
    """Where a class stands among the counts; `EXCLUDED` for those that do not count."""
    formulas: tuple[Measure, ...]

    @property
    def questions(self) -> int:
        """How many there are."""
        return int(self.codes.shape[1])

    @cached_property
    def one_hot(self) -> npt.NDArray[Any]:
        """Questions × (runs × classes)."""
        kind = np.float32 if self.questions < EXACT else np.float64
        classes = np.arange(len(self.places), dtype=np.uint8)
        hot = self.codes.T[:, :, None] == classes
        return np.ascontiguousarray(hot.reshape(self.questions, -1), dtype=kind)

    @cached_property
    def joint(self) -> IntArray:
        """Runs × classes × runs × classes: how many questions a pair of runs ended in a cell."""
        size, classes = len(self.runs), len(self.places)
        both = (self.one_hot.T @ self.one_hot).astype(np.int64)
        return np.asarray(both.reshape(size, classes, size, classes))

    def scored(self, tallies: npt.NDArray[Any]) -> Array:
        """Tallies (classes, …) to scores (measures, …)."""
        table = np.zeros((EXCLUDED + 1, *tallies.shape[1:]))
        for place, own in zip(self.places, tallies, strict=True):
            table[place] = own
        table[EXCLUDED] = 0
        counts = CountsArray(np.moveaxis(table, 0, -1))
        return np.stack([formula(counts) for formula in self.formulas])

    def weighed(self, weights: npt.NDArray[Any]) -> Array:
        """Scores on weighed questions: one product of the weights with one-hot outcomes."""
        sums = weights.astype(self.one_hot.dtype, copy=False) @ self.one_hot
        shape = (len(weights), len(self.runs), len(self.places))
        return self.scored(np.moveaxis(sums.reshape(shape), -1, 0).astype(np.float64))

    def cost(self) -> int:
        """A trial of a pair is its cells."""
        return len(self.places) ** 2

    def subsets(
        self, rng: Rng, pairs: Pairs, *, trials: int, size: int, disjoint: bool
    ) -> tuple[Drawn, Drawn | None]:
        """Draws from the cells of each pair, and from what remains of them."""
        cells = self._cells(pairs)[..., None]
        first = random_cells(rng, cells, size, trials)
        scores = self._of_cells(first)
        if not disjoint:
            return scores, None
        rest = cells - first
        whole = 2 * size == self.questions
        return scores, self._of_cells(rest if whole else random_cells(rng, rest, size, trials))

    def resamples(self, rng: Rng, pairs: Pairs, *, trials: int) -> Drawn:
        """Draws with replacement are multinomial over the cells of each pair."""
        cells = self._cells(pairs)
        shares = cells.T[:, None, :] / self.questions
        drawn = rng.multinomial(self.questions, shares, size=(cells.shape[1], trials))
        return self._of_cells(np.moveaxis(drawn, -1, 0))

    def permuted(self, rng: Rng, trials: int) -> Array:
        """Scores after the runs swapped their outcomes at random, question by question."""
        by_question = np.ascontiguousarray(self.codes.T)
        tallies = np.empty((len(self.places), trials, len(self.runs)))
        for trial in range(trials):
            moved = rng.permuted(by_question, axis=1)
            for code in range(len(self.places)):
                tallies[code, trial] = np.count_nonzero(moved == code, axis=0)
        return self.scored(tallies)

    def _cells(self, pairs: Pairs) -> IntArray:
        """Cells × pairs."""
        first, second = pairs
        own = self.joint[first, :, second, :]
        return own.reshape(len(first), -1).T

    def _of_cells(self, cells: IntArray) -> Drawn:
        classes = len(self.places)
        square = cells.reshape(classes, classes, *cells.shape[1:])
        return self.scored(square.sum(axis=1)), self.scored(square.sum(axis=0))


def of_outcomes(
    runs: Sequence[str], outcomes: npt.NDArray[np.uint8], measures: Sequence[Measure]
) -> Outcomes:
    """A source of outcomes: positions in `OUTCOMES`, or one past them for what is excluded.

    The three kinds of blank are one class unless a measure looks at their candidates.
    """
    fine = any(m.definition.needs_candidates for m in measures)
    coarse = (
        outcomes if fine else np.where((outcomes >= 2) & (outcomes < EXCLUDED), BLANK, outcomes)
    )
    places, codes = np.unique(coarse, return_inverse=True)
    return Outcomes(
        runs=list(runs),
        measures=[str(m) for m in measures],
        directions=tuple(1 if m.higher_is_better else -1 for m in measures),
        spans=tuple(m.bounds[1] - m.bounds[0] for m in measures),
        codes=codes.reshape(outcomes.shape).astype(np.uint8),
        places=tuple(int(p) for p in places),
        formulas=tuple(measures),
    )


def of_counts(runs: Sequence[str], table: Array, measures: Sequence[Measure]) -> Weighed:
    """A source of counts: runs × questions × the six numbers of `Counts`."""

    def finish(sums: Array) -> Array:
        counts = CountsArray(sums[..., :-1])
        return np.stack([m(counts) for m in measures])

    return Weighed(
        runs=list(runs),
        measures=[str(m) for m in measures],
        features=np.asarray(table, np.float64),
        finish=finish,
        directions=tuple(1 if m.higher_is_better else -1 for m in measures),
        spans=tuple(m.bounds[1] - m.bounds[0] for m in measures),
    )


def of_scores(runs: Sequence[str], scores: dict[str, Array]) -> Scores:
    """A source of ready scores: for each measure runs × questions; a run's score is their mean."""

    def finish(sums: Array) -> Array:
        return np.moveaxis(sums[..., :-1] / sums[..., -1:], -1, 0)

    tables = list(scores.values())
    return Scores(
        runs=list(runs),
        measures=list(scores),
        features=np.stack(tables, axis=-1).astype(np.float64),
        finish=finish,
        directions=(1,) * len(tables),
        spans=tuple(float(np.ptp(table)) for table in tables),
    )


# ---------------------------------------------------------------------------- single draws


def random_cells(rng: Rng, cells: IntArray, size: int, trials: int) -> IntArray:
    """Draws without replacement from cells (cells × pairs × 1 or trials): the multivariate
    hypergeometric, cell by cell, each given what the ones before it took."""
    left = np.full((cells.shape[1], trials), size, np.int64)
    rest = cells.sum(axis=0)
    drawn = np.zeros((len(cells), *left.shape), np.int64)
    present = [k for k in range(len(cells)) if cells[k].any()]
    for k in present[:-1]:
        rest = rest - cells[k]
        drawn[k] = rng.hypergeometric(cells[k], rest, left)
        left = left - drawn[k]
    drawn[present[-1]] = left
    return drawn


def random_parts(
    rng: Rng, rows: int, questions: int, size: int, *, disjoint: bool
) -> list[npt.NDArray[np.float32]]:
    """For each row a random subset as zeros and ones, and perhaps one that shares nothing."""
    labels = np.zeros((rows, questions), np.uint8)
    labels[:, :size] = 1
    if disjoint:
        labels[:, size : 2 * size] = 2
    rng.permuted(labels, axis=1, out=labels)
    return [(labels == k).astype(np.float32) for k in ((1, 2) if disjoint else (1,))]


def random_multiplicities(rng: Rng, rows: int, questions: int) -> npt.NDArray[np.float32]:
    """For each row how often each question comes up in as many draws with replacement."""
    drawn = rng.integers(questions, size=(rows, questions))
    drawn += (np.arange(rows) * questions)[:, None]
    return (
        np.bincount(drawn.ravel(), minlength=rows * questions)
        .reshape(rows, questions)
        .astype(np.float32)
    )
