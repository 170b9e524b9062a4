"""Means of two groups of runs that come in teams: runs of one team are not independent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array


class Difference(Struct, frozen=True):
    """The means of two groups and their difference, with its interval where there is one."""

    with_mean: float
    without_mean: float
    difference: float
    low: float
    high: float


def difference_of_groups(
    scores: Array, inside: npt.NDArray[np.bool_], clusters: Sequence[object], level: float
) -> Difference:
    """The mean score inside less that outside, with a t interval that takes clusters as units.

    Its degrees of freedom are one less than the clusters of the smaller group; a group of fewer
    than two clusters leaves the interval undefined.

    >>> scores = np.array([0.2, 0.4, 0.5, 0.7])
    >>> inside = np.array([False, False, True, True])
    >>> found = difference_of_groups(scores, inside, "abcd", 0.95)
    >>> round(found.difference, 3), round(found.low, 3), round(found.high, 3)
    (0.3, -1.497, 2.097)
    """
    known = ~np.isnan(scores)
    numbers = np.unique(np.array([str(own) for own in clusters]), return_inverse=True)[1]
    groups = [known & inside, known & ~inside]
    means = [float(scores[own].mean()) if own.any() else float("nan") for own in groups]
    one, other = means
    difference = one - other
    counts = [len(np.unique(numbers[own])) for own in groups]
    if min(counts) < 2:
        return Difference(one, other, difference, float("nan"), float("nan"))
    from scipy.special import stdtrit

    variance = 0.0
    for own, mean, count in zip(groups, means, counts, strict=True):
        spread = np.where(own, scores - mean, 0.0) / own.sum()
        sums = np.bincount(numbers, weights=np.nan_to_num(spread))
        variance += count / (count - 1) * float((sums**2).sum())
    reach = float(stdtrit(min(counts) - 1, (1 + level) / 2)) * variance**0.5
    return Difference(one, other, difference, difference - reach, difference + reach)
