"""Agreement of the orderings that two measures induce.

Kendall's τ-b and Spearman's ρ weigh all ranks alike; τ_AP (with ties: Urbano and Marrero 2017) and
rank-biased overlap weigh the top of the list more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from abstain.outcomes import Array

COEFFICIENTS = ("tau_b", "tau_ap", "spearman", "rbo")
LABELS = {"tau_b": "Kendall τ-b", "tau_ap": "τ_AP", "spearman": "Spearman ρ", "rbo": "RBO"}
PERSISTENCE = 0.9
DECIMALS = 12
"""Scores that agree so far, as shares of the largest, are equal."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two measures order the runs alike."""

    first: str
    second: str
    runs: int
    """Runs for which both exist."""
    tau_b: float | None
    tau_ap: float | None
    spearman: float | None
    rbo: float | None
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        plain: dict[str, Any] = {"measures": [self.first, self.second], "runs": self.runs}
        plain |= {name: getattr(self, name) for name in COEFFICIENTS}
        return plain | ({"reason": self.reason} if self.reason else {})


def agreements(
    measures: Sequence[str], scores: Array, directions: Sequence[int], *, p: float = PERSISTENCE
) -> list[Agreement]:
    """All pairs of measures; scores are measures × runs."""
    found = []
    for i in range(len(measures)):
        for j in range(i + 1, len(measures)):
            x, y = scores[i] * directions[i], scores[j] * directions[j]
            both = ~np.isnan(x) & ~np.isnan(y)
            found.append(_agreement(measures[i], measures[j], x[both], y[both], p))
    return found


def _agreement(first: str, second: str, x: Array, y: Array, p: float) -> Agreement:
    x, y = (_rounded(v) for v in (x, y))
    flat = [name for name, v in ((first, x), (second, y)) if len(v) < 2 or np.ptp(v) == 0]
    if flat:
        few = f"only {len(x)} of the runs have both scores"
        reason = few if len(x) < 2 else f"all runs have the same {flat[0]}"
        return Agreement(first, second, len(x), None, None, None, None, reason)
    return Agreement(
        first,
        second,
        len(x),
        kendall_tau_b(x, y),
        tau_ap(x, y),
        spearman_rho(x, y),
        rank_biased_overlap(x, y, p=p),
    )


def _rounded(v: Array) -> Array:
    scale = float(np.abs(v).max(initial=0)) or 1.0
    return np.asarray(np.round(v / scale, DECIMALS))


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
