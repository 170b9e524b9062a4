"""Outcomes, resampled without touching a question.

What two runs got right, wrong and left blank together makes (at most) nine cells: a random subset
is a draw from them, and a disjoint second subset a draw from what remains. A subset that all runs
share is a string of bits, and so are the questions that a run got right: what they have in common
is counted a word of 64 questions at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from abstain.measures import Measure
from abstain.measures.arrays import Array, BoolArray, Codes, IntArray, Words
from abstain.outcomes import EXCLUDED, CountsArray
from abstain.stats.resampling.sources import Drawn, Pairs, Rng, Source, described, random_cells

BLANK = 4
EXACT = 1 << 24
"""Whole numbers below it are exact in single precision."""
WORD = 64
ROOM = 1 << 15
"""Counts that are worked on at once: what stays in a processor's cache."""


@dataclass(frozen=True, kw_only=True)
class Outcomes(Source):
    """Runs × questions of outcomes: counted, and scored by the counts."""

    codes: Codes
    """Runs × questions: the class of each outcome."""
    places: tuple[int, ...]
    """Where a class stands among the counts; `EXCLUDED` for those that do not count."""
    formulas: tuple[Measure, ...]

    @property
    def questions(self) -> int:
        return int(self.codes.shape[1])

    @property
    def hot(self) -> BoolArray:
        """(Classes × runs) × questions: who ended in which class on which question."""
        classes = np.arange(len(self.places), dtype=np.uint8)[:, None, None]
        return np.asarray((self.codes == classes).reshape(-1, self.questions))

    @cached_property
    def members(self) -> Words:
        """The questions of each class and run, as words."""
        return packed(self.hot)

    @cached_property
    def one_hot(self) -> npt.NDArray[Any]:
        """Questions × (classes × runs), to be multiplied by weights."""
        kind = np.float32 if self.questions < EXACT else np.float64
        return np.ascontiguousarray(self.hot.T, dtype=kind)

    @cached_property
    def joint(self) -> IntArray:
        """Classes × runs × classes × runs: how many questions a pair of runs ended in a cell."""
        size, classes = len(self.runs), len(self.places)
        both = in_common(self.members, self.members)
        return both.reshape(classes, size, classes, size)

    def scored(self, counts: npt.NDArray[Any]) -> Array:
        """Counts (classes, …) to scores (measures, …)."""
        table = np.zeros((EXCLUDED + 1, *counts.shape[1:]))
        for place, own in zip(self.places, counts, strict=True):
            table[place] = own
        table[EXCLUDED] = 0
        every = CountsArray(np.moveaxis(table, 0, -1))
        return np.stack([formula(every) for formula in self.formulas])

    def weighed(self, weights: npt.NDArray[Any]) -> Array:
        """Scores on weighed questions: one product of the weights with one-hot outcomes."""
        sums = weights.astype(self.one_hot.dtype, copy=False) @ self.one_hot
        return self.scored(sums.T.reshape(len(self.places), len(self.runs), -1))

    def on(self, subsets: BoolArray) -> Array:
        """Scores on subsets: what they have in common with the questions of each class."""
        shared = in_common(self.members, packed(subsets))
        return self.scored(shared.reshape(len(self.places), len(self.runs), -1))

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
        moved = np.repeat(self.codes.T[None], trials, axis=0)
        rng.permuted(moved, axis=2, out=moved)
        counts = np.stack(
            [np.count_nonzero(moved == code, axis=1) for code in range(len(self.places))]
        )
        return self.scored(counts)

    def trials(self, pairs: Pairs, formula: Measure) -> Array:
        """Tables (pairs, 3, 3) of success, failure and no trial of a proportion."""
        share = formula.definition.proportion
        assert share is not None
        units = np.eye(EXCLUDED + 1)[list(self.places)]
        units[:, EXCLUDED] = 0
        x, n = share.of(CountsArray(units))
        into = np.stack([x, n - x, 1 - n], axis=-1)
        return np.asarray(into.T @ self.joint[:, pairs[0], :, pairs[1]].swapaxes(1, 2) @ into)

    def _cells(self, pairs: Pairs) -> IntArray:
        """Cells × pairs."""
        first, second = pairs
        own = self.joint[:, first, :, second]
        return own.reshape(len(first), -1).T

    def _of_cells(self, cells: IntArray) -> Drawn:
        classes = len(self.places)
        square = cells.reshape(classes, classes, *cells.shape[1:])
        return self.scored(square.sum(axis=1)), self.scored(square.sum(axis=0))


def of_outcomes(runs: Sequence[str], outcomes: Codes, measures: Sequence[Measure]) -> Outcomes:
    """A source of outcomes: positions in `OUTCOMES`, or `EXCLUDED`.

    The three kinds of blank are one class unless a measure looks at their candidates.
    """
    fine = any(m.definition.needs_candidates for m in measures)
    becomes = np.arange(EXCLUDED + 1, dtype=np.uint8)
    if not fine:
        becomes[2:EXCLUDED] = BLANK
    coarse = becomes[outcomes]
    places = np.flatnonzero(np.bincount(coarse.ravel(), minlength=EXCLUDED + 1))
    codes = np.zeros(EXCLUDED + 1, np.uint8)
    codes[places] = np.arange(len(places))
    return Outcomes(
        **described(runs, measures),
        codes=codes[coarse],
        places=tuple(places.tolist()),
        formulas=tuple(measures),
    )


def packed(members: BoolArray) -> Words:
    """Sets (sets × questions) as words (words × sets).

    >>> packed(np.array([[True, False, True]]))
    array([[160]], dtype=uint64)
    """
    tight = np.packbits(members, axis=-1)
    words = -(-members.shape[-1] // WORD)
    wide = np.zeros((len(members), words * WORD // 8), np.uint8)
    wide[:, : tight.shape[-1]] = tight
    whole: Any = wide.view(np.uint64).astype(np.uint64, copy=False)
    return np.ascontiguousarray(whole.T)


def in_common(ours: Words, theirs: Words) -> IntArray:
    """How many questions each of our sets shares with each of theirs: ours × theirs.

    >>> sets = packed(np.array([[True, True, False], [False, True, True]]))
    >>> in_common(sets, sets)
    array([[2, 1],
           [1, 2]])
    """
    rows, columns = ours.shape[1], theirs.shape[1]
    found = np.zeros((rows, columns), np.int64)
    step = max(1, ROOM // max(1, columns))
    for start in range(0, rows, step):
        own = found[start : start + step]
        for a, b in zip(ours[:, start : start + step], theirs, strict=True):
            own += np.bitwise_count(a[:, None] & b)
    return found
