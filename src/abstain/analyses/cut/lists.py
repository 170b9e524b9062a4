"""A run's lists with what each depth is worth: all that rules are tuned and judged on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.cut.shapes import Scores
from abstain.measures.families.ranking import gains
from abstain.measures.ranked_lists import Prefixes, spread

if TYPE_CHECKING:
    from abstain.measures.kinds import RankingMeasure
    from abstain.measures.ranked_lists import Bools, Floats, Ints, RankedLists

CHUNK = 1 << 21
"""Numbers that are worked on at a time."""
LEARNT = 30_000
"""Documents that a model is learnt from, about: of long lists ever fewer behind the first ranks."""


@dataclass(frozen=True)
class Lists:
    """The lists of one run."""

    scores: Scores
    relevant: Bools
    """Queries × ranks: which documents are relevant."""
    there: Ints
    """How many relevant documents each query has, listed or not."""
    values: Floats
    """Queries × depths: what a list cut there scores; behind its end, what the whole scores."""
    gain: float = 1.0
    """The mean gain of a relevant document."""

    @property
    def size(self) -> int:
        """How many queries."""
        return len(self.values)

    @cached_property
    def nil(self) -> Bools:
        """Queries for which nothing is relevant."""
        return np.equal(self.there, 0)

    @cached_property
    def found(self) -> Ints:
        """Queries × depths: how many relevant documents are kept."""
        none = np.zeros((self.size, 1), np.int64)
        return np.concatenate([none, np.cumsum(self.relevant, axis=1)], axis=1)

    @cached_property
    def sample(self) -> tuple[Ints, Ints, Floats]:
        """The documents to learn from: query, place and how many each stands for.

        All that are relevant, all of the first ranks, and of those behind one in so many.
        """
        width = self.scores.table.shape[1]
        place = np.arange(width)
        deep = int(np.clip(LEARNT // (6 * max(self.size, 1)), 8, 64))
        step = np.maximum(place // deep, 1)
        taken = (place % step == step // 2) & self.scores.inside
        weight = np.broadcast_to(step.astype(np.float64), taken.shape)
        chosen = taken | self.relevant
        query, at = np.nonzero(chosen)
        return query, at, np.where(self.relevant[query, at], 1.0, weight[query, at])

    @cached_property
    def known(self) -> Floats:
        """What is known of each document of the sample."""
        return self.scores.at(*self.sample[:2])

    def only(self, some: Ints) -> Lists:
        """The lists of some queries, in this order."""
        return Lists(
            Scores(self.scores.table[some], self.scores.origin),
            self.relevant[some],
            self.there[some],
            self.values[some],
            self.gain,
        )

    def at(self, depth: Ints, where: Ints | slice = slice(None)) -> Floats:
        """What the lists of some queries score at given depths."""
        rows = np.arange(self.size)[where]
        return np.asarray(self.values[rows, depth])

    def scored(self, table: Ints) -> Floats:
        """What queries × choices of depths score."""
        return np.take_along_axis(self.values, table, axis=1)


def of_run(lists: RankedLists, table: Floats, measure: RankingMeasure, origin: float) -> Lists:
    """The lists of a run, and what they are worth by a measure at each depth."""
    queries, width = table.shape
    pool = lists.pool
    own = {p.name: p.default for p in measure.definition.parameters} | measure.arguments
    rel = own.get("rel")
    worth, ideal = gains(lists.grade, pool, rel), gains(pool.grade, pool, rel)
    gain = np.zeros((queries, width))
    gain[lists.row, lists.rank - 1] = worth
    there = pool.count(ideal > 0)
    if measure.definition.by_depth is None:
        values = _slowly(lists, measure, width)
    else:
        total = pool.total(ideal)
        best = _best(pool.offsets, ideal)
        values = np.empty((queries, width + 1))
        step = max(1, CHUNK // (width + 1))
        for start in range(0, queries, step):
            some = slice(start, start + step)
            part = Prefixes(gain[some], total[some], there[some].astype(np.float64), best[some])
            values[some] = measure.definition.by_depth(part, **measure.arguments).values
    whole = measure.values(lists)  # a list that reaches the limit was not ended
    length = lists.depth
    values[np.arange(queries), length] = whole
    behind = np.arange(width + 1) > length[:, None]
    values = np.where(behind, whole[:, None], values)
    positive = ideal[ideal > 0]
    return Lists(
        Scores(table, origin),
        gain > 0,
        there,
        values,
        float(positive.mean()) if len(positive) else 1.0,
    )


def _best(offsets: Ints, ideal: Floats) -> Floats:
    """Queries × places: the gains of each pool, the largest first."""
    lengths = np.diff(offsets)
    row, place = spread(lengths)
    best = np.zeros((len(lengths), int(lengths.max(initial=0))))
    best[row, place] = ideal
    return best


def _slowly(lists: RankedLists, measure: RankingMeasure, width: int) -> Floats:
    """The same for a measure that says nothing of depths: one depth at a time."""
    values = np.empty((lists.size, width + 1))
    for depth in range(width + 1):
        values[:, depth] = measure.values(lists.first(np.full(lists.size, depth)))
    return values
