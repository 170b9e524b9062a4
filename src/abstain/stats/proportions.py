"""Differences of two proportions with different trials: precision, recall, …

Where a run answers few questions, neither permutation tests nor the bootstrap keep their level. So
the test is conditional on which questions each run answered: a parametric bootstrap of the score
statistic, in which both runs have the pooled proportion and the observed association. A table has
a row (the other run) and a column (the run) for success, failure and no trial.
"""

from collections.abc import Callable
from itertools import product

import numpy as np

from abstain.measures import Measure
from abstain.measures.definition import Array, IntArray
from abstain.stats.delta_method import JEFFREYS, beta_limits, cells_of
from abstain.stats.randomisation import PValue

FEW = 10
"""Trials of a run below which p is at least Fisher's, which assumes independent runs."""
ROUNDS = 60
CLOSE = 1e-9
PATTERNS = (tuple(product((0, 1), (0, 1))), ((2, 0), (2, 1)), ((0, 2), (1, 2)))
"""The cells of questions with a trial of both runs, of the run alone, of the other alone."""


def tables(measure: Measure, joint: IntArray | Array) -> Array:
    """Joint counts (…, k, k) of outcomes as tables (…, 3, 3)."""
    cells, share = cells_of(measure), measure.definition.proportion
    assert share is not None
    x, n = share.of(cells.counts(np.eye(len(cells))))
    into = np.stack([x, n - x, 1 - n], axis=-1)  # cells to success, failure and no trial
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
