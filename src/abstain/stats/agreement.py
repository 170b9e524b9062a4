"""Agreement of the orderings that two measures induce.

Kendall's τ-b and Spearman's ρ weigh all ranks alike; τ_AP (with ties: Urbano and Marrero 2017) and
rank-biased overlap weigh the top of the list more.
"""

from __future__ import annotations

import numpy as np

from abstain.measures.arrays import Array

PERSISTENCE = 0.9
DECIMALS = 12
"""Scores that agree so far, as shares of the largest, are equal."""


def rounded(scores: Array, decimals: int = DECIMALS) -> Array:
    """Scores as shares of the largest, in which ties are equal: 0.7 − 0.5 and 0.3 − 0.1."""
    scale = float(np.abs(scores).max(initial=0)) or 1.0
    return np.asarray(np.round(scores / scale, decimals))


def kendall_tau_b(x: Array, y: Array) -> float:
    """(concordant − discordant) / sqrt(pairs not tied in x · pairs not tied in y).

    >>> kendall_tau_b(np.array([3, 2, 1]), np.array([3, 1, 2]))
    0.3333333333333333
    """
    a, b = _signs(x), _signs(y)
    below = np.sqrt(float(np.abs(a).sum()) * float(np.abs(b).sum()))
    return float((a * b).sum() / below)


def tau_ap(x: Array, y: Array) -> float:
    """AP correlation of two orderings with ties, the mean of both directions.

    For each item below the first group of ties of one ordering, the share of the items above its
    own group that the other ordering puts above it too; 2·mean − 1.
    """
    return (_ap_given(x, y) + _ap_given(y, x)) / 2


def _ap_given(x: Array, y: Array) -> float:
    """With y as the list that is read from the top."""
    above = y[None, :] > y[:, None]
    concordant = (above & (x[None, :] > x[:, None])).sum(axis=1)
    higher = above.sum(axis=1)
    below = higher > 0
    return float(2 * (concordant[below] / higher[below]).mean() - 1)


def spearman_rho(x: Array, y: Array) -> float:
    """Pearson's correlation of the ranks, ties at the mean of theirs."""
    a, b = (_mean_ranks(v) for v in (x, y))
    a, b = a - a.mean(), b - b.mean()
    return float((a @ b) / np.sqrt((a @ a) * (b @ b)))


def rank_biased_overlap(x: Array, y: Array, *, p: float = PERSISTENCE) -> float:
    """Rank-biased overlap (Webber, Moffat and Zobel 2010), extrapolated from the whole lists.

    Tied items stand at the same rank: the agreement at depth d is 2·overlap / (items of one list
    down to d + items of the other).
    """
    n = len(x)
    ranks = [(v[None, :] > v[:, None]).sum(axis=1) for v in (x, y)]
    depth = np.arange(n)
    seen = [r[None, :] <= depth[:, None] for r in ranks]
    overlap = (seen[0] & seen[1]).sum(axis=1)
    agreement = 2 * overlap / (seen[0].sum(axis=1) + seen[1].sum(axis=1))
    weights = (1 - p) * p**depth
    return float((weights * agreement).sum() + agreement[-1] * p**n)


def _signs(v: Array) -> Array:
    upper = np.triu_indices(len(v), 1)
    return np.sign(v[upper[0]] - v[upper[1]])


def _mean_ranks(v: Array) -> Array:
    less = (v[None, :] < v[:, None]).sum(axis=1)
    equal = (v[None, :] == v[:, None]).sum(axis=1)
    return np.asarray(less + (equal + 1) / 2)


COEFFICIENTS = {
    "tau_b": kendall_tau_b,
    "tau_ap": tau_ap,
    "spearman": spearman_rho,
    "rbo": rank_biased_overlap,
}
