"""What is resampled: runs × questions, re-scored on any draw of the questions.

A source answers four questions: the scores on weighed questions, on subsets that all runs share,
on subsets that every pair of runs draws for itself, and after the runs swapped cells. Here are
those that sum cells of numbers: counts of several responses a question, and ready scores.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from abstain.measures import Measure
from abstain.measures.arrays import Array, BoolArray, IntArray
from abstain.outcomes import CountsArray

Rng: TypeAlias = np.random.Generator
Pairs: TypeAlias = "tuple[IntArray, IntArray]"
Drawn: TypeAlias = "tuple[Array, Array]"
"""The scores of the first and of the second run of each pair: measures × pairs × trials."""


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
        """Scores on weighed questions: trials × questions to measures × runs × trials."""

    def on(self, subsets: BoolArray) -> Array:
        """Scores on subsets that all runs share: measures × runs × trials."""
        return self.weighed(subsets)

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
        """Scores after the runs swapped their cells at random, question by question:
        measures × trials × runs."""

    def full(self) -> Array:
        """Scores on all questions: measures × runs."""
        return self.on(np.ones((1, self.questions), np.bool_))[..., 0]


@dataclass(frozen=True, kw_only=True)
class Weighed(Source):
    """Cells of some numbers each, which are summed over questions and then scored."""

    features: Array
    """Runs × questions × numbers."""
    finish: Callable[[Array], Array]
    """Sums of the numbers (…, numbers + 1; the last is the weight) to scores (measures, …)."""

    @property
    def questions(self) -> int:
        return int(self.features.shape[1])

    def weighed(self, weights: npt.NDArray[Any]) -> Array:
        trials = len(weights)
        flat = self.features.transpose(1, 0, 2).reshape(self.questions, -1)
        sums = (weights.astype(np.float64) @ flat).reshape(trials, len(self.runs), -1)
        size = np.broadcast_to(weights.sum(axis=1)[:, None, None], (*sums.shape[:2], 1))
        return self.finish(np.concatenate([sums, size], axis=-1)).swapaxes(1, 2)

    def cost(self) -> int:
        return self.questions

    def subsets(
        self, rng: Rng, pairs: Pairs, *, trials: int, size: int, disjoint: bool
    ) -> tuple[Drawn, Drawn | None]:
        count = len(pairs[0])
        parts = random_parts(rng, count * trials, self.questions, size, disjoint=disjoint)
        shape = (count, trials, self.questions)
        drawn = [self._of_pairs(part.reshape(shape), pairs) for part in parts]
        return drawn[0], drawn[1] if disjoint else None

    def resamples(self, rng: Rng, pairs: Pairs, *, trials: int) -> Drawn:
        count = len(pairs[0])
        weights = random_multiplicities(rng, count * trials, self.questions)
        return self._of_pairs(weights.reshape(count, trials, self.questions), pairs)

    def permuted(self, rng: Rng, trials: int) -> Array:
        sums = [cells.sum(axis=1) for cells in self.swapped(rng, trials)]
        size = np.full((trials, len(self.runs)), float(self.questions))
        return self.finish(np.stack([*sums, size], axis=-1))

    def swapped(self, rng: Rng, trials: int) -> Iterator[Array]:
        """Each number of the cells after those swaps: trials × questions × runs."""
        order = rng.random((trials, self.questions, len(self.runs))).argsort(axis=2)
        for own in self.features.transpose(2, 1, 0):
            yield np.take_along_axis(own[None], order, axis=2)

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


def described(runs: Sequence[str], measures: Sequence[Measure]) -> dict[str, Any]:
    """What a source says of runs and of measures with bounds."""
    return {
        "runs": list(runs),
        "measures": [str(m) for m in measures],
        "directions": tuple(1 if m.higher_is_better else -1 for m in measures),
        "spans": tuple(m.bounds[1] - m.bounds[0] for m in measures),
    }


def of_counts(runs: Sequence[str], table: Array, measures: Sequence[Measure]) -> Weighed:
    """A source of counts: runs × questions × the six numbers of `Counts`."""

    def finish(sums: Array) -> Array:
        counts = CountsArray(sums[..., :-1])
        return np.stack([m(counts) for m in measures])

    features = np.asarray(table, np.float64)
    return Weighed(**described(runs, measures), features=features, finish=finish)


def of_scores(
    runs: Sequence[str], scores: dict[str, Array], directions: Sequence[int] = ()
) -> Scores:
    """A source of ready scores: for each measure runs × questions; a run's score is their mean.

    More is better unless `directions` say otherwise.
    """

    def finish(sums: Array) -> Array:
        return np.moveaxis(sums[..., :-1] / sums[..., -1:], -1, 0)

    tables = list(scores.values())
    return Scores(
        runs=list(runs),
        measures=list(scores),
        features=np.ascontiguousarray(np.stack(tables, axis=-1), np.float64),
        finish=finish,
        directions=tuple(directions) or (1,) * len(tables),
        spans=tuple(float(np.ptp(table)) for table in tables),
    )


def stream(seed: int, *path: int) -> Rng:
    """The random stream of a place."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=path)))


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
) -> list[BoolArray]:
    """For each row a random subset, and perhaps one that shares nothing with it."""
    labels = np.zeros((rows, questions), np.uint8)
    labels[:, :size] = 1
    if disjoint:
        labels[:, size : 2 * size] = 2
    rng.permuted(labels, axis=1, out=labels)
    return [labels == k for k in ((1, 2) if disjoint else (1,))]


def random_multiplicities(rng: Rng, rows: int, questions: int) -> npt.NDArray[np.float32]:
    """For each row how often each question comes up in as many draws with replacement."""
    drawn = rng.integers(questions, size=(rows, questions))
    drawn += (np.arange(rows) * questions)[:, None]
    return (
        np.bincount(drawn.ravel(), minlength=rows * questions)
        .reshape(rows, questions)
        .astype(np.float32)
    )
