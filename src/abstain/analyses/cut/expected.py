"""The depth at which a measure is expected to be greatest, given each document's chance.

Which documents are relevant is drawn, again and again: each by its chance, and as many unseen ones
as a Poisson distribution has it. What every depth scores is averaged over the draws, and with what
it scores where nothing is relevant.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.measures.ranked_lists import Prefixes

if TYPE_CHECKING:
    from abstain.measures.ranked_lists import Floats, Ints

MOST_DRAWS, FEWEST_DRAWS = 64, 16
MOST_UNSEEN = 10**6
"""Relevant documents beside those in a list, on average, that can be reckoned with."""
CHUNK = 1 << 17
"""Numbers that are worked on at a time."""
SAME = 1e-9
"""Of depths that are expected to score the same, the smallest is taken."""


def draws_for(width: int) -> int:
    """How many draws lists of so many documents get: long ones fewer, they average themselves."""
    return int(np.clip(6400 // max(width, 1), FEWEST_DRAWS, MOST_DRAWS))


@lru_cache(maxsize=4)
def uniforms(width: int, draws: int) -> Floats:
    """Draws × ranks of numbers between 0 and 1: those of Python's own `random.Random(0)`.

    Every list has the same ones, so that what others are there changes nothing.
    """
    generator = np.random.RandomState([0])
    return np.ascontiguousarray(generator.random_sample((width, draws)).T)


def poisson_counts(mean: float, draws: int) -> Ints:
    """So many evenly spaced quantiles of a Poisson distribution.

    >>> poisson_counts(1.0, 4).tolist()
    [0, 1, 1, 2]
    """
    # far below the mean there is nothing, and e^−mean is 0 where the mean is large
    found, k = [], max(0, int(mean - 20 * math.sqrt(mean)))
    start = k * math.log(mean) - mean - math.lgamma(k + 1) if k else -mean
    weight = reached = math.exp(start)
    for at in range(draws):
        while reached < (at + 0.5) / draws and k < 10 * mean + 50:
            k += 1
            weight *= mean / k
            reached += weight
        found.append(k)
    return np.array(found)


def expected_values(
    chance: Floats,
    nothing: Floats,
    measure: Any,
    *,
    unseen: float,
    gain: float,
    draws: int,
) -> Floats:
    """Queries × depths: the expected measure."""
    queries, width = chance.shape
    by_depth, own = measure.definition.by_depth, measure.arguments
    drawn = uniforms(width, draws)
    more = poisson_counts(unseen, draws)
    none = Prefixes(np.zeros((1, width)), np.zeros(1), np.zeros(1))
    empty = by_depth(none, **own).values
    values = np.empty((queries, width + 1))
    step = max(1, CHUNK // max(width * draws, 1))
    for start in range(0, queries, step):
        some = chance[start : start + step]
        hit = (drawn[:, None, :] < some[None]).astype(np.float64)
        relevant = np.maximum(hit.sum(axis=-1) + more[:, None], 1.0)
        if gain != 1.0:
            hit *= gain
        prefixes = Prefixes(hit, gain * relevant, relevant)
        values[start : start + step] = by_depth(prefixes, **own).mean()
    nil = nothing[:, None]
    return np.asarray((1 - nil) * values + nil * empty)


def best_of(values: Floats, length: Ints, price: float = 0.0) -> Ints:
    """The smallest depth of the greatest value within each list's length."""
    depth = np.arange(values.shape[1])
    worth = np.where(depth <= length[:, None], values - price * depth, -np.inf)
    best = worth.max(axis=1, keepdims=True)
    return np.asarray(np.argmax(worth >= best - SAME, axis=1))


def best_depths(
    chance: Floats,
    nothing: Floats,
    length: Ints,
    measure: Any,
    *,
    unseen: float,
    gain: float,
    draws: int,
    price: float = 0.0,
) -> Ints:
    """The depth of the greatest expected measure of each list."""
    inside = np.arange(chance.shape[1]) < length[:, None]
    values = expected_values(
        np.where(inside, chance, 0.0), nothing, measure, unseen=unseen, gain=gain, draws=draws
    )
    return best_of(values, length, price)
