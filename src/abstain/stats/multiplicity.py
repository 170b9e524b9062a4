"""Many comparisons at once: p-values adjusted by Holm, or by Benjamini and Hochberg."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from abstain.errors import UnknownNameError

if TYPE_CHECKING:
    from abstain.outcomes import Array

CORRECTIONS = {
    "holm": "corrected by Holm",
    "bh": "corrected by Benjamini and Hochberg",
    "none": "not corrected",
}


def adjust(p: Array, correction: str) -> Array:
    """Adjusted p-values; what is NaN stays so and is not counted among the comparisons."""
    if correction not in CORRECTIONS:
        raise UnknownNameError(
            "correction", correction, CORRECTIONS, hint=f"there are {', '.join(CORRECTIONS)}"
        )
    p = np.asarray(p, np.float64)
    found = np.full(p.shape, np.nan)
    known = ~np.isnan(p)
    if known.any():
        match correction:
            case "holm":
                found[known] = holm(p[known])
            case "bh":
                found[known] = benjamini_hochberg(p[known])
            case _:
                found[known] = p[known]
    return found


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
