"""A run's lists with what each depth is worth: all that rules are tuned and judged on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from abstain.features.cut.distributions import fit_mixture
from abstain.features.cut.result import Bin, Point
from abstain.features.cut.scores import Scores
from abstain.measures.ranked_lists import Prefixes, spread
from abstain.measures.ranking import gains

if TYPE_CHECKING:
    from abstain.measures.measure_types import RankingMeasure
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
        return len(self.values)

    @cached_property
    def nil(self) -> Bools:
        """Queries for which nothing is relevant."""
        return np.equal(self.there, 0)

    @cached_property
    def hits(self) -> Ints:
        """Queries × depths: how many relevant documents are kept."""
        none = np.zeros((self.size, 1), np.int64)
        return np.concatenate([none, np.cumsum(self.relevant, axis=1)], axis=1)

    @cached_property
    def sample(self) -> tuple[Ints, Ints, Floats]:
        """The documents to learn from: query, place and how many each stands for.

        All that are relevant, all of the first ranks, and of those behind one in so many.
        """
        place = np.arange(self.relevant.shape[1])
        deep = int(np.clip(LEARNT // (6 * max(self.size, 1)), 8, 64))
        step = np.maximum(place // deep, 1)
        taken = (place % step == step // 2) & self.scores.inside
        query, at = np.nonzero(taken | self.relevant)
        return query, at, np.where(self.relevant[query, at], 1.0, step[at])

    @cached_property
    def known(self) -> Floats:
        return self.scores.at(*self.sample[:2])

    def only(self, some: Ints) -> Lists:
        """The lists of some queries, in this order."""
        parts = self.relevant[some], self.there[some], self.values[some]
        return Lists(self.scores.only(some), *parts, self.gain)

    def at(self, depth: Ints, where: Ints | slice = slice(None)) -> Floats:
        """What the lists of some queries score at some depths."""
        rows = np.arange(self.size)[where]
        return np.asarray(self.values[rows, depth])


def of_run(lists: RankedLists, table: Floats, measure: RankingMeasure, origin: float) -> Lists:
    """The lists of a run, and what they are worth by a measure at each depth."""
    queries, width = table.shape
    pool = lists.pool
    arguments = {p.name: p.default for p in measure.definition.parameters} | measure.arguments
    ideal = gains(pool.grade, pool, arguments.get("rel"))
    gain = np.zeros((queries, width))
    gain[lists.row, lists.rank - 1] = gains(lists.grade, pool, arguments.get("rel"))
    there = pool.count(ideal > 0)
    by_depth = measure.definition.by_depth
    values = np.empty((queries, width + 1))
    if by_depth is None:
        for depth in range(width + 1):
            values[:, depth] = measure.values(lists.first(np.full(queries, depth)))
    else:
        total, lengths = pool.total(ideal), np.diff(pool.offsets)
        best = np.zeros((queries, int(lengths.max(initial=0))))
        best[spread(lengths)] = ideal  # the gains of each pool, the largest first
        step = max(1, CHUNK // (width + 1))
        for start in range(0, queries, step):
            some = slice(start, start + step)
            part = Prefixes(gain[some], total[some], there[some].astype(np.float64), best[some])
            values[some] = by_depth(part, **measure.arguments).values
    whole = measure.values(lists)  # a list that reaches the limit was not ended
    ended = np.arange(width + 1) >= lists.depth[:, None]
    values = np.where(ended, whole[:, None], values)
    positive = ideal[ideal > 0]
    mean_gain = float(positive.mean()) if len(positive) else 1.0
    return Lists(Scores(table, origin), gain > 0, there, values, mean_gain)


DEPTHS = 120
"""Depths that a chart shows at most: all of the first, ever fewer then."""
BINS = 40
POOLED = 4000
"""Scores that a mixture is fitted to at most."""


def points_of(lists: Lists) -> tuple[Point, ...]:
    """What cutting every list at one depth scores and keeps."""
    most = lists.values.shape[1] - 1
    depths = np.unique(np.geomspace(1, most + 1, DEPTHS).astype(np.int64) - 1)
    if most < DEPTHS:
        depths = np.arange(most + 1)
    reached = np.searchsorted(np.sort(lists.values.argmax(axis=1)), depths, side="right")
    has = lists.hits[:, -1] > 0
    return tuple(
        Point(
            depth=int(depth),
            score=float(lists.values[:, depth].mean()),
            kept=float(np.minimum(lists.scores.length, depth).mean()),
            recall=float((lists.hits[has, depth] / lists.hits[has, -1]).mean())
            if has.any()
            else None,
            best_for=int(count),
        )
        for depth, count in zip(depths, np.diff(reached, prepend=0), strict=True)
    )


def bins_of(lists: Lists) -> tuple[Bin, ...]:
    """How many documents have which score, relevant or not, and what a mixture makes of them."""
    from scipy.special import ndtr

    scores = lists.scores.table[lists.scores.inside]
    relevant = lists.relevant[lists.scores.inside]
    if not len(scores) or scores.min() == scores.max():
        return ()
    edges = np.linspace(scores.min(), scores.max(), BINS + 1)
    some = np.sort(scores)[:: max(1, len(scores) // POOLED)] - edges[0]
    share, mean, deviation, scale = (float(part[0]) for part in fit_mixture(some[None]))
    at = (edges[:-1] + edges[1:]) / 2 - edges[0]
    normal = np.exp(-0.5 * ((at - mean) / deviation) ** 2) / (deviation * np.sqrt(2 * np.pi))
    every = len(scores) * (edges[1] - edges[0])
    columns = {
        "low": edges[:-1],
        "high": edges[1:],
        "relevant": np.histogram(scores[relevant], edges)[0],
        "others": np.histogram(scores[~relevant], edges)[0],
        "fitted_relevant": every * share * normal / ndtr(mean / deviation),
        "fitted_others": every * (1 - share) * np.exp(-at / scale) / scale,
    }
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return tuple(Bin(**dict(zip(columns, row, strict=True))) for row in rows)
