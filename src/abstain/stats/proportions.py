"""Differences of two proportions whose trials are not the same questions: precision, recall, …

Where a run answers few questions, a standard error says little and neither swaps nor resamples hold
their level. Given which questions each run answered, what varies is which answers are right. So the
joint outcomes are fitted to the null, in which both runs have the pooled proportion and hang
together as seen; tables are drawn from that, with the questions that each run answered kept; and a
difference is compared over the standard error that it has under the null (a score statistic).

A table has a row and a column for success, failure and no trial: rows of the other run, columns of
the run itself.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from abstain.errors import UsageError
from abstain.measures import Measure
from abstain.stats.functional import JEFFREYS, beta_limits, cells_of
from abstain.stats.randomisation import PValue

if TYPE_CHECKING:
    from abstain.measures.arrays import Array, IntArray

FEW = 10
"""Trials of a run below which what it shares with another cannot be estimated: there p is at least
Fisher's exact one, which takes both for independent."""
ROUNDS = 60
BLOCK = 1 << 21
LEAST_SPREAD = 0.05
"""Of what independent runs have: what two share is not taken to explain more than that."""
CLOSE = 1e-9
PATTERNS = (tuple(product((0, 1), (0, 1))), ((2, 0), (2, 1)), ((0, 2), (1, 2)))
"""The cells of questions that both runs tried, only the run itself, only the other."""


def table_of(measure: Measure) -> Array:
    """Cells (k) to success, failure and no trial (3): a matrix to multiply counts with."""
    share = measure.definition.proportion
    if share is None:
        raise UsageError(f"{measure} is not a proportion")
    cells = cells_of(measure)
    x, n = share.of(cells.counts(np.eye(len(cells))))
    return np.stack([x, n - x, 1 - n], axis=-1)


def tables(measure: Measure, joint: IntArray | Array) -> Array:
    """Joint counts (…, k, k) of outcomes as tables (…, 3, 3)."""
    into = table_of(measure)
    return np.asarray(into.T @ joint @ into)


def _sides(table: Array) -> tuple[Array, Array, Array, Array]:
    """Successes and trials of the run itself, and of the other."""
    own, other = table.sum(axis=-2), table.sum(axis=-1)
    return own[..., 0], own[..., 0] + own[..., 1], other[..., 0], other[..., 0] + other[..., 1]


def statistic(table: Array) -> Array:
    """The difference over its standard error where both have the pooled proportion.

    ½ an outcome is added, as for other tests; no trials of a run: no value.
    """
    x, n, y, m = _sides(table)
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = (x + y + JEFFREYS) / (n + m + 2 * JEFFREYS)
        off = np.stack([1 - pooled, -pooled, np.zeros_like(pooled)], axis=-1)
        moved = off[..., None, :] / n[..., None, None] - off[..., :, None] / m[..., None, None]
        spread = ((table + JEFFREYS / 3) * moved**2).sum(axis=(-2, -1))
        return np.asarray((x / n - y / m) / np.sqrt(spread))


def alike(table: Array) -> Array:
    """Chances (…, 3, 3) in which both runs have the pooled proportion and share what they share.

    The margins are fitted by turns to the table with 1/6 of a question in each cell.
    """
    x, n, y, m = _sides(table)
    total = table.sum(axis=(-2, -1))
    pooled = (x + y + JEFFREYS) / (n + m + 2 * JEFFREYS)
    own, other = (np.stack([of * pooled, of * (1 - pooled), total - of], axis=-1) for of in (n, m))
    found = table + JEFFREYS / 3
    for _ in range(ROUNDS):
        found = found * (own / found.sum(axis=-2))[..., None, :]
        sums = found.sum(axis=-1)
        found = found * (other / np.where(sums > 0, sums, 1))[..., :, None]
        found += np.finfo(float).tiny
    return np.asarray(found / found.sum(axis=(-2, -1), keepdims=True))


def p_values(
    table: IntArray | Array,
    *,
    trials: int,
    seed: int,
    progress: Callable[[int], None] = lambda _: None,
) -> list[PValue]:
    """Two-sided p of each table (pairs, 3, 3); the draws of a pair do not depend on others.

    >>> bold_and_shy = np.array([[3, 0, 27], [2, 0, 28], [0, 0, 0]])
    >>> round(p_values(bold_and_shy[None], trials=100, seed=0)[0].p, 3)
    0.057
    """
    whole = np.rint(table).astype(np.int64)
    seen, chances = np.abs(statistic(whole.astype(np.float64))), alike(whole.astype(np.float64))
    found = []
    for own, z, chance in zip(whole, seen, chances, strict=True):
        drawn = np.abs(statistic(_drawn(own, chance, trials, np.random.default_rng([seed, 16]))))
        p = float(np.count_nonzero(~(drawn < z - CLOSE)) + 1) / (trials + 1)
        x, n, y, m = (int(of) for of in _sides(own))
        if min(n, m) < FEW:
            p = max(p, fisher(x, n, y, m))
        found.append(PValue(p, exact=False))
        progress(1)
    return found


def _drawn(own: IntArray, chance: Array, trials: int, generator: np.random.Generator) -> Array:
    """Tables (trials, 3, 3) with the trials of each run as they are, drawn from chances."""
    found = np.zeros((trials, 3, 3))
    found[:, 2, 2] = own[2, 2]
    for cells in PATTERNS:
        rows, columns = zip(*cells, strict=True)
        number, shares = int(own[rows, columns].sum()), chance[rows, columns]
        if number:
            found[:, rows, columns] = generator.multinomial(
                number, shares / shares.sum(), size=trials
            )
    return found


def fisher(x: int, n: int, y: int, m: int) -> float:
    """Fisher's exact two-sided p of x successes in n against y in m.

    >>> round(fisher(5, 5, 30, 60), 4)
    0.0566
    """
    from scipy.special import gammaln

    if not n or not m:
        return 1.0
    total = x + y
    k = np.arange(max(0, total - m), min(n, total) + 1)
    parts = ((n, k), (m, total - k))
    logs = sum(gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1) for a, b in parts)
    chances = np.exp(logs - np.max(logs))
    chances /= chances.sum()
    return float(min(1.0, chances[chances <= chances[x - k[0]] * (1 + 1e-7)].sum()))


def all_pairs(tables: Array, pairs: tuple[IntArray, IntArray], *, trials: int, seed: int) -> Array:
    """p of all pairs together: which tables (pairs, 3, 3) have a difference that is too large.

    Tukey's test by standard errors: the largest difference of any two runs over its standard error,
    where all have the proportion of all together and as many trials as they have.
    """
    x, n, y, m = _sides(tables)
    runs = int(max(pairs[0].max(), pairs[1].max())) + 1
    successes, tried = np.zeros(runs), np.zeros(runs)
    successes[pairs[0]], tried[pairs[0]] = x, n
    successes[pairs[1]], tried[pairs[1]] = y, m
    seen = np.abs(_over_pooled(x, n, y, m, _shared(tables)))
    alone = np.abs(_over_pooled(x, n, y, m, np.zeros_like(x)))
    seen = np.where(np.minimum(n, m) < FEW, np.fmin(seen, alone), seen)
    has = tried > 0
    common = (successes.sum() + JEFFREYS) / (tried.sum() + 2 * JEFFREYS)
    generator = np.random.default_rng([seed, 17])
    usable = has[pairs[0]] & has[pairs[1]]
    first, second = pairs[0][usable], pairs[1][usable]
    largest = np.zeros(trials)
    at_once = max(1, BLOCK // max(1, len(first)))
    for start in range(0, trials, at_once):
        some = min(at_once, trials - start)
        counts = generator.binomial(tried.astype(np.int64), common, size=(some, runs))
        drawn = counts.astype(np.float64)
        one, two = drawn[:, first], drawn[:, second]
        apart = np.abs(_over_pooled(one, tried[first], two, tried[second], 0.0))
        largest[start : start + some] = apart.max(axis=1, initial=0)
    above = np.searchsorted(np.sort(largest), seen - CLOSE, side="left")
    return np.where(usable, (trials - above + 1) / (trials + 1), np.nan)


def _shared(table: Array) -> Array:
    """The sum of products of what both runs got above the pooled proportion."""
    x, n, y, m = _sides(table)
    p = (x + y + JEFFREYS) / (n + m + 2 * JEFFREYS)
    right, wrong = table[..., 0, 0], table[..., 1, 1]
    return np.asarray(
        right * (1 - p) ** 2 + wrong * p**2 - (table[..., 0, 1] + table[..., 1, 0]) * p * (1 - p)
    )


def _over_pooled(x: Array, n: Array, y: Array, m: Array, shared: Array | float) -> Array:
    """A difference over its standard error at the pooled proportion."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = (x + y + JEFFREYS) / (n + m + 2 * JEFFREYS)
        spread = p * (1 - p) * (1 / n + 1 / m) - 2 * shared / (n * m)
        least = LEAST_SPREAD * p * (1 - p) * (1 / n + 1 / m)
        return np.asarray((x / n - y / m) / np.sqrt(np.maximum(spread, least)))


def mover(
    table: Array, worth: tuple[Array | float, Array | float], together: Array, *, level: float
) -> tuple[Array, Array]:
    """Intervals of differences from an interval of each proportion (MOVER, Zou and Donner 2008).

    `worth` is what a question of each run counts for where they are clustered, `together` how the
    two proportions vary together.
    """
    x, n, y, m = _sides(table)
    with np.errstate(invalid="ignore"):
        p, q = x / n, y / m
    low, high = beta_limits(x * worth[0], n * worth[0], level=level)
    other_low, other_high = beta_limits(y * worth[1], m * worth[1], level=level)

    def reach(one: Array, two: Array) -> Array:
        return np.sqrt(np.maximum(one**2 + two**2 - 2 * together * one * two, 0))

    return p - q - reach(p - low, other_high - q), p - q + reach(high - p, q - other_low)


def correlation(table: Array, clusters: Array | None = None) -> Array:
    """How two proportions vary together; 0 where one does not vary.

    `clusters` (…, groups, 3, 3) hold the tables of each cluster.
    """
    x, n, y, m = _sides(table)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = x / n, y / m
    one, two = (np.stack([1 - p, -p, np.zeros_like(p)], axis=-1) for p in shares)
    if clusters is None:
        both = (table * one[..., None, :] * two[..., :, None]).sum(axis=(-2, -1))
        squares = (table.sum(axis=-2) * one**2).sum(-1) * (table.sum(axis=-1) * two**2).sum(-1)
    else:
        own = (clusters.sum(axis=-2) * one[..., None, :]).sum(-1)
        other = (clusters.sum(axis=-1) * two[..., None, :]).sum(-1)
        both, squares = (own * other).sum(-1), (own**2).sum(-1) * (other**2).sum(-1)
    return np.where(squares > 0, both / np.sqrt(np.where(squares > 0, squares, 1)), 0.0)
