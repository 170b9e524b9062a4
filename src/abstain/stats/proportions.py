"""Differences of two proportions with different trials: precision, recall, …

Where a run answers few questions, neither permutation tests nor the bootstrap keep their level. So
the test is conditional on which questions each run answered: a parametric bootstrap of the score
statistic, in which both runs have the pooled proportion and the observed association. A table has
a row (the other run) and a column (the run) for success, failure and no trial.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from abstain.measures import Measure
from abstain.measures.definition import Array, IntArray
from abstain.outcomes import CountsArray
from abstain.stats.delta_method import JEFFREYS, beta_limits, cells_of
from abstain.stats.randomisation import PValue

FEW = 10
"""Trials of a run below which p is at least Fisher's, which assumes independent runs."""
ROUNDS = 60
BLOCK = 1 << 21
LEAST_SPREAD = 0.05
"""The smallest variance of a difference, as a share of that of independent runs."""
CLOSE = 1e-9
PATTERNS = (tuple(product((0, 1), (0, 1))), ((2, 0), (2, 1)), ((0, 2), (1, 2)))
"""The cells of questions with a trial of both runs, of the run alone, of the other alone."""


def table_of(measure: Measure) -> Array:
    cells = cells_of(measure)
    return successes(measure, cells.counts(np.eye(len(cells))))


def successes(measure: Measure, counts: CountsArray) -> Array:
    """Counts of a proportion as success, failure and no trial, for one question each."""
    share = measure.definition.proportion
    assert share is not None
    x, n = share.of(counts)
    return np.stack([x, n - x, 1 - n], axis=-1)


def tables(measure: Measure, joint: IntArray | Array) -> Array:
    """Joint counts (…, k, k) of outcomes as tables (…, 3, 3)."""
    into = table_of(measure)
    return np.asarray(into.T @ joint @ into)


def _sides(table: Array) -> tuple[Array, Array, Array, Array]:
    run, other = table.sum(axis=-2), table.sum(axis=-1)
    return run[..., 0], run[..., 0] + run[..., 1], other[..., 0], other[..., 0] + other[..., 1]


def statistic(table: Array) -> Array:
    """The score statistic; NaN where a run has no trials. ½ an outcome is added to the pool."""
    x, n, y, m = _sides(table)
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = (x + y + JEFFREYS) / (n + m + 2 * JEFFREYS)
        off = _residuals(pooled)
        moved = off[..., None, :] / n[..., None, None] - off[..., :, None] / m[..., None, None]
        spread = ((table + JEFFREYS / 3) * moved**2).sum(axis=(-2, -1))
        return np.asarray((x / n - y / m) / np.sqrt(spread))


def _residuals(p: Array) -> Array:
    return np.stack([1 - p, -p, np.zeros_like(p)], axis=-1)


def alike(table: Array) -> Array:
    """Probabilities (…, 3, 3) under the null: the pooled proportion, the observed association.

    Iterative proportional fitting of the margins to the table with 1/6 of a question per cell.
    """
    x, n, y, m = _sides(table)
    total = table.sum(axis=(-2, -1))
    pooled = (x + y + JEFFREYS) / (n + m + 2 * JEFFREYS)
    run, other = (np.stack([of * pooled, of * (1 - pooled), total - of], axis=-1) for of in (n, m))
    fitted = table + JEFFREYS / 3
    for _ in range(ROUNDS):
        fitted = fitted * (run / fitted.sum(axis=-2))[..., None, :]
        sums = fitted.sum(axis=-1)
        fitted = fitted * (other / np.where(sums > 0, sums, 1))[..., :, None]
        fitted += np.finfo(float).tiny
    return np.asarray(fitted / fitted.sum(axis=(-2, -1), keepdims=True))


def p_values(
    table: IntArray | Array,
    *,
    trials: int,
    seed: int,
    progress: Callable[[int], None] = lambda _: None,
) -> list[PValue]:
    """Two-sided p of each table (pairs, 3, 3); the draws of a pair do not depend on others."""
    from scipy.stats import fisher_exact

    whole = np.rint(table).astype(np.int64)
    observed = np.abs(statistic(whole.astype(np.float64)))
    results = []
    for counts, z, chance in zip(whole, observed, alike(whole.astype(np.float64)), strict=True):
        drawn = np.abs(statistic(_drawn(counts, chance, trials, np.random.default_rng([seed, 16]))))
        p = float(np.count_nonzero(~(drawn < z - CLOSE)) + 1) / (trials + 1)
        x, n, y, m = (int(of) for of in _sides(counts))
        if min(n, m) < FEW:
            p = max(p, float(fisher_exact([[x, n - x], [y, m - y]]).pvalue))
        results.append(PValue(p, exact=False))
        progress(1)
    return results


def _drawn(counts: IntArray, chance: Array, trials: int, generator: np.random.Generator) -> Array:
    """Tables (trials, 3, 3) with the trials of each run as they are, drawn from chances."""
    drawn = np.zeros((trials, 3, 3))
    drawn[:, 2, 2] = counts[2, 2]
    for cells in PATTERNS:
        rows, columns = zip(*cells, strict=True)
        number, shares = int(counts[rows, columns].sum()), chance[rows, columns]
        if number:
            drawn[:, rows, columns] = generator.multinomial(
                number, shares / shares.sum(), size=trials
            )
    return drawn


def all_pairs(tables: Array, pairs: tuple[IntArray, IntArray], *, trials: int, seed: int) -> Array:
    """p of each pair (pairs, 3, 3), adjusted for all pairs together.

    Tukey's test: the largest studentised difference of any two runs with the pooled proportion.
    """
    x, n, y, m = _sides(tables)
    runs = int(max(pairs[0].max(), pairs[1].max())) + 1
    successes, tried = np.zeros(runs), np.zeros(runs)
    for run, of, out_of in ((pairs[0], x, n), (pairs[1], y, m)):
        successes[run], tried[run] = of, out_of
    observed = np.abs(_over_pooled(x, n, y, m, _covariance(tables)))
    independent = np.abs(_over_pooled(x, n, y, m, 0.0))
    observed = np.where(np.minimum(n, m) < FEW, np.fmin(observed, independent), observed)
    common = (successes.sum() + JEFFREYS) / (tried.sum() + 2 * JEFFREYS)
    generator = np.random.default_rng([seed, 17])
    usable = (tried[pairs[0]] > 0) & (tried[pairs[1]] > 0)
    first, second = pairs[0][usable], pairs[1][usable]
    largest = np.zeros(trials)
    at_once = max(1, BLOCK // max(1, len(first)))
    for start in range(0, trials, at_once):
        size = min(at_once, trials - start), runs
        drawn = generator.binomial(tried.astype(np.int64), common, size=size).astype(np.float64)
        t = _over_pooled(drawn[:, first], tried[first], drawn[:, second], tried[second], 0.0)
        largest[start : start + len(t)] = np.abs(t).max(axis=1, initial=0)
    above = np.searchsorted(np.sort(largest), observed - CLOSE, side="left")
    return np.where(usable, (trials - above + 1) / (trials + 1), np.nan)


def _covariance(table: Array) -> Array:
    x, n, y, m = _sides(table)
    p = (x + y + JEFFREYS) / (n + m + 2 * JEFFREYS)
    right, wrong = table[..., 0, 0], table[..., 1, 1]
    return np.asarray(
        right * (1 - p) ** 2 + wrong * p**2 - (table[..., 0, 1] + table[..., 1, 0]) * p * (1 - p)
    )


def _over_pooled(x: Array, n: Array, y: Array, m: Array, covariance: Array | float) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        p = (x + y + JEFFREYS) / (n + m + 2 * JEFFREYS)
        independent = p * (1 - p) * (1 / n + 1 / m)
        spread = np.maximum(independent - 2 * covariance / (n * m), LEAST_SPREAD * independent)
        return np.asarray((x / n - y / m) / np.sqrt(spread))


def mover(
    table: Array, worth: tuple[Array | float, Array | float], together: Array, *, level: float
) -> tuple[Array, Array]:
    """Intervals of differences from one of each proportion (MOVER, Zou and Donner 2008).

    `worth` is each run's effective sample size over its size, `together` their correlation.
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
    """The correlation of two proportions; 0 where one does not vary.

    `clusters` (…, groups, 3, 3) hold the tables of each cluster.
    """
    x, n, y, m = _sides(table)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = x / n, y / m
    one, two = map(_residuals, shares)
    if clusters is None:
        both = (table * one[..., None, :] * two[..., :, None]).sum(axis=(-2, -1))
        squares = (table.sum(axis=-2) * one**2).sum(-1) * (table.sum(axis=-1) * two**2).sum(-1)
    else:
        run = (clusters.sum(axis=-2) * one[..., None, :]).sum(-1)
        other = (clusters.sum(axis=-1) * two[..., None, :]).sum(-1)
        both, squares = (run * other).sum(-1), (run**2).sum(-1) * (other**2).sum(-1)
    return np.where(squares > 0, both / np.sqrt(np.where(squares > 0, squares, 1)), 0.0)
