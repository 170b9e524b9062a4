"""A difference over its standard error, for measures whose denominator varies from run to run.

Swapping questions makes two runs alike in everything. Where one run answers all and the other one
in ten, the precision of mixtures of both is far less uncertain than that of the shy run: the plain
difference would be called extreme although the precisions are equal. Divided by its own standard
error, a difference is compared with what is like it (Janssen 1997; Chung and Romano 2013).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from abstain.measures import Measure
from abstain.stats.functional import JEFFREYS, cells_of, influence, one_run

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array, IntArray

CLOSE = 1e-6
"""Statistics hold numerical derivatives: nearer than this they are equal."""
LEAST_SPREAD = 1e-12
AT_ONCE = 1 << 16
MOST_LISTED = 600
"""Questions up to which all counts of right and blank are computed beforehand."""


def statistic(measure: Measure, joint: Array) -> Array:
    """The difference over its standard error, of joint counts (…, k, k): rows the other run's.

    The standard error is that of the delta method with ½ an outcome of each kind added to each
    run: one right answer of one is not sure to be right again.
    """
    if joint.ndim == 3 and len(joint) > AT_ONCE:
        parts = range(0, len(joint), AT_ONCE)
        return np.concatenate([statistic(measure, joint[at : at + AT_ONCE]) for at in parts])
    other, own = joint.sum(axis=-1), joint.sum(axis=-2)
    value_other, psi_other = _looked_up(measure, other)
    value_own, psi_own = _looked_up(measure, own)
    both = ((joint + JEFFREYS / joint.shape[-1]) @ psi_own[..., None])[..., 0]
    spread = (
        ((own + JEFFREYS) * psi_own**2).sum(axis=-1)
        + ((other + JEFFREYS) * psi_other**2).sum(axis=-1)
        - 2 * (psi_other * both).sum(axis=-1)
    )
    return _over(value_own - value_other, spread, own)


def of_clusters(measure: Measure, own: Array, other: Array, signs: Array) -> Array:
    """The same with whole clusters swapped: cell counts (groups, k), signs (trials, groups)."""
    total = own.sum(axis=0) + other.sum(axis=0)
    first = (total + signs @ (own - other)) / 2
    second = total - first
    value_second, psi_second = _looked_up(measure, second)
    value_first, psi_first = _looked_up(measure, first)
    straight = psi_first @ own.T - psi_second @ other.T
    swapped = psi_first @ other.T - psi_second @ own.T
    sums = np.where(signs > 0, straight, swapped)
    groups = len(own)
    spread = groups / max(groups - 1, 1) * (sums**2).sum(axis=-1)
    apart = psi_first[..., None, :] - psi_second[..., :, None]
    spread += JEFFREYS / own.shape[-1] * (apart**2).sum(axis=(-2, -1))
    return _over(value_first - value_second, spread, first)


def _over(value: Array, spread: Array, counts: Array) -> Array:
    return np.asarray(value * counts.sum(axis=-1) / np.sqrt(np.maximum(spread, LEAST_SPREAD)))


def _computed(measure: Measure, counts: Array) -> tuple[Array, Array]:
    """The scores of cell counts (…, k), and the influence of each cell with ½ more in each."""
    scores = np.asarray(measure(cells_of(measure).counts(counts)))
    return scores, influence(one_run(measure), counts + JEFFREYS)


def _looked_up(measure: Measure, counts: Array) -> tuple[Array, Array]:
    """The same, from a table of all counts where there are three cells and not too many questions.

    All trials of all pairs have the same number of questions, and meet the same counts again.
    """
    n = round(float(counts[(0,) * (counts.ndim - 1)].sum()))
    few = counts.shape[-1] == 3 and n <= MOST_LISTED and counts.ndim > 1
    if not few or not np.all(counts.sum(axis=-1) == n):
        return _computed(measure, counts)
    scores, psi = _listed(measure, n)
    at = np.rint(counts[..., 0] * (n + 1) + counts[..., 2]).astype(np.int64)
    return scores[at], psi[at]


@lru_cache(maxsize=8)
def _listed(measure: Measure, n: int) -> tuple[Array, Array]:
    """Scores and influences of r right and b blank of n, at r (n + 1) + b."""
    right, blank = (a.ravel() for a in np.meshgrid(*[np.arange(n + 1)] * 2, indexing="ij"))
    there = right + blank <= n
    counts = np.column_stack([right, n - right - blank, blank])[there].astype(np.float64)
    scores, psi = np.full(len(there), np.nan), np.full((len(there), 3), np.nan)
    scores[there], psi[there] = _computed(measure, counts)
    return scores, psi


def swappable(joint: IntArray | Array) -> Array:
    """How many questions of each kind of disagreement two runs have."""
    first, second = np.triu_indices(len(joint), 1)
    return np.asarray(joint[first, second] + joint[second, first])


def swapped_tables(
    own: npt.NDArray[np.uint8], other: npt.NDArray[np.uint8], size: int
) -> tuple[Array, Array]:
    """What common swaps need of two runs: ±1 for each question and kind of disagreement, and the
    joint counts.

    Swapping the questions at −1 of a row of signs, half of how many disagree so in either way plus
    half of signs @ kinds stay as they are.
    """
    pairs = list(combinations(range(size), 2))
    one_way = [(other == a) & (own == b) for a, b in pairs]
    back = [(other == b) & (own == a) for a, b in pairs]
    kinds = np.stack(one_way, axis=1).astype(np.float64) - np.stack(back, axis=1)
    joint = np.zeros((size, size))
    np.add.at(joint, (other, own), 1)
    return kinds, joint


def after_swaps(joint: IntArray | Array, stay: Sequence[Array | IntArray] | Array) -> Array:
    """Joint tables (trials, k, k) when so many of each kind of disagreement stay as they are."""
    found = np.empty((len(stay[0]), *joint.shape))
    found[:] = np.diag(np.diag(joint))
    for (a, b), x in zip(combinations(range(len(joint)), 2), stay, strict=True):
        found[:, a, b] = x
        found[:, b, a] = joint[a, b] + joint[b, a] - x
    return found
