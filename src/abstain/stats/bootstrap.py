"""The bootstrap on counts: a resample of questions is a draw of cell counts, no question touched.

Resampling questions with replacement makes the cell counts multinomial; resampling clusters is
one matrix product of their multiplicities with their counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from abstain.errors import UsageError

if TYPE_CHECKING:
    from abstain.outcomes import Array

BLOCK = 1 << 22
"""Numbers held at once."""


def resampled(
    value: Callable[[Array], Array],
    cells: Array,
    clusters: Array | None,
    *,
    trials: int,
    generator: np.random.Generator,
) -> Array:
    """The value of each of `trials` resamples of questions, or of clusters where there are some."""
    if clusters is None:
        n = round(float(cells.sum()))
        if not np.allclose(cells, np.round(cells)):
            raise UsageError("a bootstrap needs whole numbers of questions; take logit or delta")
        shares = cells / cells.sum()
        return value(generator.multinomial(n, shares, size=trials).astype(np.float64))
    groups = len(clusters)
    size = max(1, BLOCK // max(groups, 1))
    parts = []
    for start in range(0, trials, size):
        weights = generator.multinomial(
            groups, np.full(groups, 1 / groups), size=min(size, trials - start)
        )
        parts.append(value(weights.astype(np.float64) @ clusters))
    return np.concatenate(parts)


def bca_levels(
    value: Callable[[Array], Array],
    cells: Array,
    clusters: Array | None,
    values: Array,
    *,
    level: float,
) -> tuple[float, float]:
    """The quantiles that BCa reads (Efron 1987): corrected for bias and acceleration.

    Leaving out one question changes one cell: the jackknife has as many values as cells.
    """
    if clusters is None:
        left = cells - np.eye(len(cells))
        weights = cells
    else:
        left = cells - clusters
        weights = np.ones(len(clusters))
    used = weights > 0
    jackknife, weights = value(left[used]), weights[used]
    return levels_from_jackknife(float(value(cells)), values, jackknife, weights, level=level)


def levels_from_jackknife(
    observed: float, values: Array, jackknife: Array, weights: Array, *, level: float
) -> tuple[float, float]:
    """BCa's quantiles from resamples and leave-one-out values with their multiplicities."""
    from scipy.special import ndtr, ndtri

    plain = ((1 - level) / 2, (1 + level) / 2)
    known = values[~np.isnan(values)]
    keep = ~np.isnan(jackknife)
    jackknife, weights = jackknife[keep], weights[keep]
    if not len(known) or not len(jackknife):
        return plain
    close = 1e-12 * max(float(np.abs(known).max()), abs(observed))
    below = (known < observed - close).mean()
    equal = (np.abs(known - observed) <= close).mean()
    share = below + equal / 2
    if share <= 0 or share >= 1:
        return plain
    bias = float(ndtri(share))
    off = (weights * jackknife).sum() / weights.sum() - jackknife
    second = float((weights * off**2).sum())
    acceleration = float((weights * off**3).sum()) / (6 * second**1.5) if second > close**2 else 0.0
    found = []
    for tail in plain:
        reach = bias + float(ndtri(tail))
        found.append(float(ndtr(bias + reach / (1 - acceleration * reach))))
    return found[0], found[1]
