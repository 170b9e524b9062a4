"""Classical paired tests, and p-values of many comparisons adjusted.

McNemar for right against not right, Wilcoxon for scores; Holm, or Benjamini and Hochberg.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from abstain.stats.agreement import rounded
from abstain.stats.randomisation import PValue
from abstain.stats.swaps import EXACT_UNITS, Flips, randomise_scores

if TYPE_CHECKING:
    from abstain.outcomes import Array

DECIMALS = 9
MOST_EXACT = 50
CORRECTIONS = {
    "holm": "corrected by Holm",
    "bh": "corrected by Benjamini and Hochberg",
    "none": "not corrected",
}


def mcnemar(only_one: int, only_other: int) -> float:
    """McNemar's exact p: are the questions that just one run got right split evenly?

    >>> mcnemar(0, 5)
    0.0625
    """
    from scipy.special import bdtr

    total = only_one + only_other
    if total == 0:
        return 1.0
    return min(1.0, 2 * float(bdtr(min(only_one, only_other), total, 0.5)))


def wilcoxon(differences: Array) -> PValue:
    """Wilcoxon's signed-rank p; zeros are dropped, ties share their ranks.

    Exact for up to 16 differences, and for up to 50 without ties; normal beyond.
    """
    from scipy.stats import rankdata
    from scipy.stats import wilcoxon as signed_rank

    known = rounded(differences[~np.isnan(differences)], DECIMALS)
    known = known[known != 0]
    if not len(known):
        return PValue(1.0, exact=True)
    if len(known) <= EXACT_UNITS:
        ranks = np.sign(known) * rankdata(np.abs(known))
        return randomise_scores(ranks, Flips(len(ranks), trials=0, seed=0))
    size = np.abs(known)
    untied = len(np.unique(size)) == len(size)
    exact = untied and len(known) <= MOST_EXACT
    found = signed_rank(known, method="exact" if exact else "asymptotic")
    return PValue(float(found.pvalue), exact=exact)


def bootstrap_p(values: Array) -> float:
    """Twice the smaller share of resamples on either side of no difference."""
    low = int(np.count_nonzero(~(values > 0)))
    high = int(np.count_nonzero(~(values < 0)))
    return min(1.0, 2 * (min(low, high) + 1) / (len(values) + 1))


def holm(p: Array) -> Array:
    """Holm's step-down: the i-th smallest times (m − i + 1), never falling.

    >>> [float(x) for x in holm(np.array([0.01, 0.04, 0.03])).round(4)]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    scaled = p[order] * np.arange(len(p), 0, -1)
    found = np.empty(len(p))
    found[order] = np.minimum(np.maximum.accumulate(scaled), 1)
    return found


def benjamini_hochberg(p: Array) -> Array:
    """Benjamini and Hochberg's step-up: the i-th smallest times m/i, never falling.

    >>> [float(x) for x in benjamini_hochberg(np.array([0.01, 0.04, 0.03])).round(4)]
    [0.03, 0.04, 0.04]
    """
    order = np.argsort(p, kind="stable")
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    found = np.empty(len(p))
    found[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1)
    return found


ADJUSTED: dict[str, Callable[[Array], Array]] = {
    "holm": holm,
    "bh": benjamini_hochberg,
    "none": np.copy,
}


def adjust(p: Array, correction: str) -> Array:
    """Adjusted p-values; what is NaN stays so and is not counted among the comparisons."""
    found = np.array(p, np.float64)
    known = ~np.isnan(found)
    found[known] = ADJUSTED[correction](found[known])
    return found
