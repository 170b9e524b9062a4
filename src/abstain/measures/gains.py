"""Gains, ideal lists and logarithms, bit for bit as trec_eval computes them.

A grade is the gain unless another is set, as in `ndcg.1=3,2=9`. The ideal list of trec_eval is then
not always the best one, because it orders gains by the whole part of their differences.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from abstain.measures.definition import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from abstain.measures.ranked_lists import Floats, Ints, Pool, RankedLists


def listed_and_ideal(
    rankings: RankedLists, gains: Mapping[int, float] | None = None
) -> tuple[Floats, Pool]:
    """The gain of each listed document, and the gains above 0 of each query's ideal list."""
    pool = rankings.pool
    if gains is None:
        kept = pool.grade > 0
        return rankings.grade, replace(
            pool, offsets=pool.offsets_with(kept), grade=pool.grade[kept]
        )
    order = _ideal_order(pool, gains)
    best = _gains_of(pool.grade[order], gains)
    # the ideal ends at its first gain that is not above 0
    ended = pool.running(best <= 0) > 0
    levels = [_sorted_levels(top, gains) for top in _tops(pool).tolist()]
    starts_with = np.array([rising[-1][1] if rising else 0.0 for rising in levels])
    kept = ~ended & (starts_with > 0)[pool.row]
    ideal = replace(pool, offsets=pool.offsets_with(kept), grade=best[kept])
    return _gains_of(rankings.grade, gains), ideal


def _gains_of(grades: Floats, gains: Mapping[int, float]) -> Floats:
    values = grades.copy()
    for level, gain in gains.items():
        values[grades == level] = gain
    return values


def _tops(pool: Pool) -> Ints:
    """The highest grade of each query, which stands first; −1 without a judged document."""
    tops = np.full(pool.size, -1, np.int64)
    there = np.diff(pool.offsets) > 0
    tops[there] = pool.grade[pool.offsets[:-1][there]]
    return tops


def _ideal_order(pool: Pool, gains: Mapping[int, float]) -> Ints:
    """Each query's documents in the order of its ideal list."""
    places = np.zeros(len(pool.grade))
    tops = _tops(pool)
    for top in np.unique(tops[tops >= 0]).tolist():
        rows = tops[pool.row] == top
        placed = {level: -i for i, (level, _) in enumerate(_sorted_levels(top, gains))}
        grades, back = np.unique(pool.grade[rows], return_inverse=True)
        places[rows] = np.array([placed[int(g)] for g in grades.tolist()])[back]
    return np.lexsort((places, pool.row))


def _sorted_levels(top: int, gains: Mapping[int, float]) -> list[tuple[int, float]]:
    """Grades and gains, by rising gain as trec_eval sorts them."""
    others = ((level, float(level)) for level in range(top + 1) if level not in gains)
    return _merge_sorted([*gains.items(), *others])


def _merge_sorted(items: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """C's merge sort, by the whole part of the difference of two gains."""
    if len(items) < 2:
        return items
    left, right = _merge_sorted(items[: len(items) // 2]), _merge_sorted(items[len(items) // 2 :])
    merged = []
    while left and right:
        before = int(left[0][1] - right[0][1]) <= 0
        merged.append((left if before else right).pop(0))
    return merged + left + right


# -------------------------------------------------------------------------------- logarithms


def log2(values: Any) -> Floats:
    """Logarithms to the base 2, as C's library has them.

    Those of numpy differ in the last bit for a few numbers, which can change a printed digit.
    """
    return _of_each(math.log2, values)


def log(values: Any) -> Floats:
    """Natural logarithms, as C's library has them."""
    return _of_each(math.log, values)


def _of_each(function: Callable[[float], float], values: Any) -> Floats:
    """The function of each number; 0 and below as in IEEE 754."""
    distinct, inverse = np.unique(values, return_inverse=True)
    logs = [
        function(number) if number > 0 else -math.inf if number == 0 else math.nan
        for number in distinct.tolist()
    ]
    return np.array(logs, np.float64)[inverse].reshape(np.shape(values))
