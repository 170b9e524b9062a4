"""What a rule sees of lists: their scores alone, as numbers that a model can weigh."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from abstain.analyses.cut.models import Model
    from abstain.measures.ranked_lists import Bools, Floats, Ints

DOCUMENT = ("score", "share", "z", "log rank", "top", "spread", "gap")
"""What is known of each document."""
LIST = ("top", "spread", "length", "drop", "mean")
"""What is known of each list; `drop` is how far the tenth score lies below the first."""
TINY, LEAST = 1e-12, 1e-300
"""A spread below this part of the largest score is rounding; and what is never divided by less."""
LARGEST = 1e100
"""A score beyond is taken as infinite: its square would be."""


@dataclass(frozen=True)
class Scores:
    """Lists of scores in falling order, side by side: queries × ranks, NaN behind a list's end."""

    table: Floats
    origin: float = 0.0
    """What counts as no score at all where shares are taken."""

    @cached_property
    def inside(self) -> Bools:
        """Where there is a document."""
        return ~np.isnan(self.table)

    @cached_property
    def length(self) -> Ints:
        """How many documents each list has."""
        return np.asarray(self.inside.sum(axis=1))

    @cached_property
    def filled(self) -> Floats:
        """The scores, with 0 behind a list's end."""
        return np.where(self.inside, self.table, 0.0)

    @cached_property
    def top(self) -> Floats:
        """The first score of each list; 0 of an empty one."""
        return self.filled[:, 0] if self.table.shape[1] else np.zeros(len(self.table))

    @cached_property
    def lowest(self) -> Floats:
        """The last score of each list; 0 of an empty one."""
        if not self.table.shape[1]:
            return np.zeros(len(self.table))
        return self.filled[np.arange(len(self.table)), np.maximum(self.length - 1, 0)]

    @cached_property
    def mean(self) -> Floats:
        """The mean score of each list."""
        return np.asarray(self.filled.sum(axis=1) / np.maximum(self.length, 1))

    @cached_property
    def spread(self) -> Floats:
        """The standard deviation of each list's scores."""
        away = np.where(self.inside, self.table - self.mean[:, None], 0.0)
        spread = np.sqrt((away**2).sum(axis=1) / np.maximum(self.length, 1))
        largest = np.abs(self.filled).max(axis=1, initial=0.0)
        return np.asarray(spread + TINY * largest + LEAST)

    @cached_property
    def share(self) -> Floats:
        """Each score as a share of its list's first, both counted from the origin."""
        rows = np.broadcast_to(np.arange(len(self.table))[:, None], self.table.shape)
        return np.where(self.inside, self.share_of(self.table, rows), np.nan)

    def share_of(self, scores: Floats, query: Ints) -> Floats:
        """Scores as shares of the first of their lists; 1 where that counts for nothing."""
        top = (self.top - self.origin)[query]
        return np.where(top > 0, (scores - self.origin) / np.where(top > 0, top, 1.0), 1.0)

    def at(self, query: Ints, place: Ints) -> Floats:
        """Documents × what is known of each, of documents given by query and place."""
        table, spread = self.table, self.spread[query]
        own = table[query, place]
        last = place + 1 >= self.length[query]
        after = table[query, np.where(last, place, place + 1)]
        return np.column_stack(
            [
                own,
                self.share_of(own, query),
                (own - self.mean[query]) / spread,
                np.log(place + 1.0),
                self.top[query],
                spread,
                np.where(last, 0.0, own - after) / spread,
            ]
        )

    def logits(self, model: Model, some: Ints | slice = slice(None)) -> Floats:
        """The log odds that a model gives each document of some lists; −∞ behind a list's end.

        All that is known of a document is linear in its score, the next one and its log rank.
        """
        table, inside = self.table[some], self.inside[some]
        if not model.weights:
            return np.where(inside, model.bias, -np.inf)
        slope = np.array(model.weights) / np.array(model.scale)
        score, share, z, rank, top, wide, gap = slope.tolist()
        spread, mean, away = self.spread[some], self.mean[some], self.top[some] - self.origin
        whole = np.where(away > 0, away, 1.0)
        start = model.bias - float(slope @ np.array(model.middle))
        start = start + score * mean + top * self.top[some] + wide * spread
        start = start + share * np.where(away > 0, (mean - self.origin) / whole, 1.0)
        odds = table - mean[:, None]
        odds *= (score + np.where(away > 0, share / whole, 0.0) + z / spread)[:, None]
        odds += start[:, None] + rank * np.log(np.arange(1.0, table.shape[1] + 1))
        drop = table[:, :-1] - table[:, 1:]
        drop *= (gap / spread)[:, None]
        odds[:, :-1] += np.where(np.isnan(drop), 0.0, drop)
        return np.where(inside, odds, -np.inf)

    @cached_property
    def lists(self) -> Floats:
        """Queries × what is known of each list; an empty list is all zeros."""
        if not self.table.shape[1]:
            return np.zeros((len(self.table), len(LIST)))
        tenth = self.filled[np.arange(len(self.table)), np.clip(self.length - 1, 0, 9)]
        away = self.top - self.origin
        drop = np.where(away > 0, (self.top - tenth) / np.where(away > 0, away, 1.0), 0.0)
        made = np.column_stack([self.top, self.spread, self.length, drop, self.mean])
        return np.where(self.length[:, None] > 0, made, 0.0)


def finite(table: Floats) -> tuple[Floats, int]:
    """Infinite scores as the largest or smallest there is, and how many there were.

    >>> finite(np.array([[np.inf, 2.0, 1e300], [1.0, -np.inf, np.nan]]))
    (array([[ 2.,  2.,  2.],
           [ 1.,  1., nan]]), 3)
    """
    infinite = np.abs(table) > LARGEST
    if not infinite.any():
        return table, 0
    known = table[np.abs(table) <= LARGEST]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    return np.clip(table, low, high), int(infinite.sum())


def origin_of(table: Floats) -> float:
    """Where shares are counted from: 0, or the lowest score where some are negative.

    >>> origin_of(np.array([[3.0, 1.0]])), origin_of(np.array([[-1.0, -4.0]]))
    (0.0, -4.0)
    """
    return min(0.0, float(np.nanmin(table, initial=0.0)))
