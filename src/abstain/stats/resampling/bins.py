"""Bins of differences: how wide, how many, and which is the first that is large enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from abstain.errors import UsageError, option

if TYPE_CHECKING:
    from abstain.outcomes import Array, IntArray

WIDTH = 0.01
BINS = 21
EDGE = 1e-9
"""A difference of exactly a bin's edge belongs to that bin, whatever rounding says."""
MOST_BINS = 20_000
"""Percent in bins of 0.01, twice."""
SLACK = 1e-12
"""1 − 95/100 is not quite 0.05."""
ORDINARY = (0.1, 2.0)
"""Scores that span so much are on the papers' scale."""


def natural_width(span: float) -> float:
    """The papers' 0.01 for scores on their scale; else a round hundredth of what scores span.

    >>> natural_width(1), natural_width(2), natural_width(100), natural_width(4)
    (0.01, 0.01, 1.0, 0.05)
    """
    low, high = ORDINARY
    if not span or low <= span <= high or not math.isfinite(span):
        return WIDTH
    power = math.floor(math.log10(span / 100 * (1 + EDGE)))
    return next(
        width
        for width in (float(f"{digit}e{power}") for digit in (1, 2, 5, 10))
        if width >= span / 100 * (1 - EDGE)
    )


def bins_for(spans: Sequence[float], widths: Sequence[float], listed: int) -> list[int]:
    """How many bins hold every difference that a measure can show: none of them is open."""
    for span, width in zip(spans, widths, strict=True):
        if not span / width < MOST_BINS:
            raise UsageError(
                f"scores that span {span:g} do not fit {MOST_BINS:,} bins of {width:g}; "
                f"{option('width')} names a wider one"
            )
    return [
        max(listed, math.ceil(span / width + EDGE) + 1)
        for span, width in zip(spans, widths, strict=True)
    ]


def edge(at: int, width: float) -> float:
    """Where a bin begins, without what is only rounding.

    >>> edge(3, 0.1), 3 * 0.1
    (0.3, 0.30000000000000004)
    """
    return float(f"{at * width:.12g}")


def required_bin(rates: Array, tails: Array, counts: IntArray, limit: float) -> int | None:
    """The first bin whose swap rate is within the limit, as is that of all bins from it on.

    A rate of 5 % takes 20 comparisons to show, so bins with fewer are passed over; where no larger
    bin has as many, a bin is open: it stands for all that is above it too. `counts` are of the
    comparisons that differ on both subsets.
    """
    enough = math.ceil(1 / limit - EDGE)
    full = counts >= enough
    thin_from = int(full.nonzero()[0][-1]) + 1 if full.any() else 0
    at = np.arange(len(counts))
    together = counts[::-1].cumsum()[::-1] >= enough
    open_ended = (at >= thin_from) & (counts > 0) & together
    own = np.where(open_ended, tails, rates)
    with np.errstate(invalid="ignore"):
        within = (own <= limit + SLACK) & (tails <= limit + SLACK)
    passing = (full | open_ended) & within
    return int(passing.argmax()) if passing.any() else None
