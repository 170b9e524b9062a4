"""Samplers: runs × questions that are re-scored on any draw of the questions.

The outcomes of two runs make at most nine cells (25 with candidates): a random subset is a draw
from them, a disjoint one a draw from the rest. A subset that all runs share is a bit set, like the
questions that a run got right: intersections are counted 64 questions at a time.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from abstain.measures import Measure
from abstain.measures.definition import Array, BoolArray, Codes, IntArray, Words
from abstain.outcomes import EXCLUDED, CountsArray

Rng: TypeAlias = np.random.Generator
Pairs: TypeAlias = "tuple[IntArray, IntArray]"
Weights: TypeAlias = "npt.NDArray[Any]"
Drawn: TypeAlias = "tuple[Array, Array]"
"""The scores of the first and of the second run of each pair: measures × pairs × trials."""

BLANK = 4
EXACT = 1 << 24
"""Integers below it are exact in single precision."""
WORD = 64
ROOM = 1 << 15
"""Counts in a block, which should fit the processor's cache."""


@dataclass(frozen=True, kw_only=True)
class Scored:
    runs: list[str]
    measures: list[str]
    directions: tuple[int, ...]
    """1 where more is better, −1 where less is."""
    spans: tuple[float, ...]
    """The largest difference that two runs can have, by measure."""

    def full(self) -> Array:
        """Scores on all questions: measures × runs."""
        source: Any = self
        scores: Array = source.on(np.ones((1, source.questions), np.bool_))
        return scores[..., 0]


@dataclass(frozen=True, kw_only=True)
class Weighed(Scored):
    features: Array
    finish: Callable[[Array], Array]
    """Sums of the numbers, followed by what `sizes` gives, to scores (measures, …)."""

    @property
    def questions(self) -> int:
        return int(self.features.shape[1])

    @property
    def cost(self) -> int:
        return self.questions

    def sizes(self, weights: Weights) -> Array:
        """How many questions (… × questions) stand for, which `finish` divides by."""
        return np.asarray(weights.sum(axis=-1)[..., None])

    def weighed(self, weights: Weights) -> Array:
        trials, size = len(weights), self.sizes(weights)[:, None]
        flat = self.features.transpose(1, 0, 2).reshape(self.questions, -1)
        sums = (weights.astype(np.float64) @ flat).reshape(trials, len(self.runs), -1)
        size = np.broadcast_to(size, (*sums.shape[:2], size.shape[-1]))
        return self.finish(np.concatenate([sums, size], axis=-1)).swapaxes(1, 2)

    on = weighed

    def subsets(
        self, rng: Rng, pairs: Pairs, *, trials: int, size: int, disjoint: bool
    ) -> tuple[Array, ...]:
        rows = len(pairs[0]) * trials
        parts = random_parts(rng, rows, self.questions, size, disjoint=disjoint)
        return tuple(scores for part in parts for scores in self._of_pairs(part, pairs))

    def resamples(self, rng: Rng, pairs: Pairs, *, trials: int) -> Drawn:
        weights = random_multiplicities(rng, len(pairs[0]) * trials, self.questions)
        return self._of_pairs(weights, pairs)

    def permuted(self, rng: Rng, trials: int) -> Array:
        """Scores after runs are permuted within each question: measures × trials × runs."""
        sums = [numbers.sum(axis=1) for numbers in self.swapped(rng, trials)]
        size = np.full((trials, len(self.runs)), float(self.questions))
        return self.finish(np.stack([*sums, size], axis=-1))

    def swapped(self, rng: Rng, trials: int) -> Iterator[Array]:
        order = rng.random((trials, self.questions, len(self.runs))).argsort(axis=2)
        for numbers in self.features.transpose(2, 1, 0):
            yield np.take_along_axis(numbers[None], order, axis=2)

    def _of_pairs(self, weights: Weights, pairs: Pairs) -> Drawn:
        wide = weights.reshape(len(pairs[0]), -1, self.questions).astype(np.float64)
        size = self.sizes(wide)
        first, second = (
            self.finish(np.concatenate([np.matmul(wide, self.features[of]), size], axis=-1))
            for of in pairs
        )
        return first, second


@dataclass(frozen=True, kw_only=True)
class Scores(Weighed):
    """Ready scores: each measure is the mean of the number in its place, where it has one."""

    known: BoolArray
    """Questions × measures: where there is a score, of all runs or of none."""

    def sizes(self, weights: Weights) -> Array:
        return np.asarray(weights.astype(np.float64) @ self.known)


def described(runs: Sequence[str], measures: Sequence[Measure]) -> dict[str, Any]:
    return {
        "runs": list(runs),
        "measures": [str(m) for m in measures],
        "directions": tuple(1 if m.higher_is_better else -1 for m in measures),
        "spans": tuple(m.bounds[1] - m.bounds[0] for m in measures),
    }


def of_counts(runs: Sequence[str], table: Array, measures: Sequence[Measure]) -> Weighed:
    def finish(sums: Array) -> Array:
        counts = CountsArray(sums[..., :-1])
        return np.stack([m(counts) for m in measures])

    features = np.asarray(table, np.float64)
    return Weighed(**described(runs, measures), features=features, finish=finish)


def of_scores(
    runs: Sequence[str], scores: dict[str, Array], directions: Sequence[int] = ()
) -> Scores:
    """A source of ready scores: for each measure runs × questions; a run's score is their mean.

    A question may be NaN for all runs: the means of that measure leave it out.
    """

    def finish(sums: Array) -> Array:
        total, size = np.split(sums, 2, axis=-1)
        with np.errstate(invalid="ignore"):
            return np.moveaxis(total / size, -1, 0)

    tables = list(scores.values())
    features = np.stack(tables, axis=-1).astype(np.float64)
    return Scores(
        runs=list(runs),
        measures=list(scores),
        features=np.nan_to_num(features, nan=0.0),
        known=~np.isnan(features[0]),
        finish=finish,
        directions=tuple(directions) or (1,) * len(tables),
        spans=tuple(float(np.nanmax(table) - np.nanmin(table)) for table in tables),
    )


def stream(seed: int, *path: int) -> Rng:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=path)))


def random_cells(rng: Rng, cells: IntArray, size: int, trials: int) -> IntArray:
    """Multivariate hypergeometric draws from cells (cells × pairs × 1 or trials), cell by cell."""
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
    labels = np.zeros((rows, questions), np.uint8)
    labels[:, :size] = 1
    if disjoint:
        labels[:, size : 2 * size] = 2
    rng.permuted(labels, axis=1, out=labels)
    return [labels == k for k in ((1, 2) if disjoint else (1,))]


def random_multiplicities(rng: Rng, rows: int, questions: int) -> npt.NDArray[np.float32]:
    drawn = rng.integers(questions, size=(rows, questions))
    drawn += (np.arange(rows) * questions)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=rows * questions)
    return counts.reshape(rows, questions).astype(np.float32)


@dataclass(frozen=True, kw_only=True)
class Outcomes(Scored):
    """Runs × questions of outcomes: counted, and scored by the counts."""

    codes: Codes
    places: tuple[int, ...]
    """The position of each class among the counts; `EXCLUDED` for those that do not count."""
    formulas: tuple[Measure, ...]

    @property
    def questions(self) -> int:
        return int(self.codes.shape[1])

    @property
    def cost(self) -> int:
        return len(self.places) ** 2

    @property
    def hot(self) -> BoolArray:
        """(Classes × runs) × questions: the outcomes, one-hot."""
        classes = np.arange(len(self.places), dtype=np.uint8)[:, None, None]
        return np.asarray((self.codes == classes).reshape(-1, self.questions))

    @cached_property
    def members(self) -> Words:
        return packed(self.hot)

    @cached_property
    def one_hot(self) -> Weights:
        kind = np.float32 if self.questions < EXACT else np.float64
        return np.ascontiguousarray(self.hot.T, dtype=kind)

    @cached_property
    def joint(self) -> IntArray:
        size, classes = len(self.runs), len(self.places)
        both = in_common(self.members, self.members)
        return both.reshape(classes, size, classes, size)

    def scored(self, counts: Weights) -> Array:
        table = np.zeros((EXCLUDED + 1, *counts.shape[1:]))
        table[list(self.places)] = counts
        every = CountsArray(np.moveaxis(table[:EXCLUDED], 0, -1))
        return np.stack([formula(every) for formula in self.formulas])

    def weighed(self, weights: Weights) -> Array:
        sums = weights.astype(self.one_hot.dtype, copy=False) @ self.one_hot
        return self.scored(sums.T.reshape(len(self.places), len(self.runs), -1))

    def on(self, subsets: BoolArray) -> Array:
        shared = in_common(self.members, packed(subsets))
        return self.scored(shared.reshape(len(self.places), len(self.runs), -1))

    def subsets(
        self, rng: Rng, pairs: Pairs, *, trials: int, size: int, disjoint: bool
    ) -> tuple[Array, ...]:
        cells = self._cells(pairs)[..., None]
        first = random_cells(rng, cells, size, trials)
        scores = self.of_cells(first)
        if not disjoint:
            return scores
        rest = cells - first
        whole = 2 * size == self.questions
        return *scores, *self.of_cells(rest if whole else random_cells(rng, rest, size, trials))

    def resamples(self, rng: Rng, pairs: Pairs, *, trials: int) -> Drawn:
        cells = self._cells(pairs)
        shares = cells.T[:, None, :] / self.questions
        drawn = rng.multinomial(self.questions, shares, size=(cells.shape[1], trials))
        return self.of_cells(np.moveaxis(drawn, -1, 0))

    def permuted(self, rng: Rng, trials: int) -> Array:
        moved = np.repeat(self.codes.T[None], trials, axis=0)
        rng.permuted(moved, axis=2, out=moved)
        classes = range(len(self.places))
        return self.scored(np.stack([np.count_nonzero(moved == k, axis=1) for k in classes]))

    def _cells(self, pairs: Pairs) -> IntArray:
        return self.joint[:, pairs[0], :, pairs[1]].reshape(len(pairs[0]), -1).T

    def of_cells(self, cells: IntArray) -> Drawn:
        classes = len(self.places)
        square = cells.reshape(classes, classes, *cells.shape[1:])
        return self.scored(square.sum(axis=1)), self.scored(square.sum(axis=0))


Source: TypeAlias = Weighed | Outcomes


def of_outcomes(runs: Sequence[str], outcomes: Codes, measures: Sequence[Measure]) -> Outcomes:
    """A source of outcomes: positions in `COUNTED`, or `EXCLUDED`.

    The kinds of blank are one class unless a measure looks at their candidates.
    """
    becomes = np.arange(EXCLUDED + 1, dtype=np.uint8)
    if not any(m.definition.needs_candidates for m in measures):
        becomes[2:EXCLUDED] = BLANK
    coarse = becomes[outcomes]
    places = np.flatnonzero(np.bincount(coarse.ravel()))
    code_of = np.zeros(EXCLUDED + 1, np.uint8)
    code_of[places] = np.arange(len(places))
    return Outcomes(
        **described(runs, measures),
        codes=code_of[coarse],
        places=tuple(places.tolist()),
        formulas=tuple(measures),
    )


def packed(members: BoolArray) -> Words:
    """Sets (sets × questions) as words (words × sets)."""
    padding = -members.shape[-1] % WORD
    bits: Any = np.packbits(np.pad(members, ((0, 0), (0, padding))), axis=-1)
    return np.ascontiguousarray(bits.view(np.uint64).T)


def in_common(left: Words, right: Words) -> IntArray:
    """The sizes of all intersections: left sets × right sets."""
    rows, columns = left.shape[1], right.shape[1]
    shared = np.zeros((rows, columns), np.int64)
    step = max(1, ROOM // max(1, columns))
    for start in range(0, rows, step):
        block = shared[start : start + step]
        for a, b in zip(left[:, start : start + step], right, strict=True):
            block += np.bitwise_count(a[:, None] & b)
    return shared
