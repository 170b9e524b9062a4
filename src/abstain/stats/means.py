"""Means of scores or of paired differences, alone or summed by cluster: errors, limits, p.

Student's t assumes that a mean is normal, which it is not with few skewed values. Hall (1992) maps
t to a statistic from which the skewness is removed, and back. Both are used together: the farther
of two limits, the larger of two p.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from msgspec import Struct

from abstain.stats.functional import effective_clusters
from abstain.stats.hypotheses import CLOSE_SCORES, student

if TYPE_CHECKING:
    from abstain.measures.arrays import Array, BoolArray

Number = TypeVar("Number", float, "Array")

LEAST_DIFFERING = 30
"""Topics, or clusters of equal size, that a test of a mean difference needs (benchmarks/errors.py).

With fewer nobody sees whether differences are skewed, and where they are it errs too often."""


def without_skewness(t: Number, k: Number) -> Number:
    """Hall's statistic: t of a mean of skewness k, mapped to what is nearly Student's again.

    >>> without_skewness(2.0, 0.0), round(without_skewness(2.0, 0.3), 4)
    (2.0, 2.4767)
    """
    return t + k * t**2 / 3 + k**2 * t**3 / 27 + k / 6


class Mean(Struct, frozen=True):
    """A mean with what is known of its distribution."""

    value: float
    error: float
    skewness: float
    """Of the mean: Σ r³ / (Σ r²)^1.5 of deviations r."""
    degrees: float

    @classmethod
    def of(cls, totals: Array, sizes: Array) -> Mean:
        """The mean of what was summed in clusters of some sizes; of single values the sizes are 1.

        SE² = Σ_g r_g² / (1 − 2 w_g + Σ w²) / n² of sums r_g over clusters with shares w_g: unbiased
        where clusters vary by their size (CR2: Bell and McCaffrey 2002); of equal ones it is the
        usual G/(G−1) Σ_g r_g² / n².
        """
        n = float(sizes.sum())
        value = float(totals.sum() / n) if n else math.nan
        if len(totals) < 2:
            return cls(value, math.nan, 0.0, 1.0)
        off, share = totals - value * sizes, sizes / n
        size = float(np.abs(off).max()) or 1.0
        scaled = off / size  # powers of very small or very large scores leave the range of numbers
        error = size * math.sqrt((scaled**2 / (1 - 2 * share + (share**2).sum())).sum()) / n
        square = float((scaled**2).sum())
        skewness = float((scaled**3).sum()) / square**1.5 if square else 0.0
        return cls(value, error, skewness, max(float(effective_clusters(sizes)) - 1, 1.0))

    @property
    def varies(self) -> bool:
        """Whether there is a spread beyond rounding."""
        return self.error > CLOSE_SCORES * abs(self.value)

    def p(self) -> float:
        """Student's p of a mean of 0."""
        return student(self.value, self.error, self.degrees)

    def p_of_skewed(self) -> float:
        """The same by Hall's statistic; NaN where there is no spread."""
        from scipy.special import stdtr

        if not self.varies:
            return math.nan
        t = without_skewness(self.value / self.error, self.skewness)
        return 2 * float(stdtr(self.degrees, -abs(t)))

    def limits(self, level: float) -> tuple[float, float]:
        """Student's."""
        reach = self._quantile(level) * self.error
        return self.value - reach, self.value + reach

    def limits_of_skewed(self, level: float) -> tuple[float, float]:
        """Hall's; NaN where there is no spread.

        >>> even = Mean(0.0, 1.0, 0.0, 9.0)
        >>> even.limits_of_skewed(0.95) == even.limits(0.95)
        True
        >>> tuple(round(end, 2) for end in Mean(0.0, 1.0, 0.3, 9.0).limits_of_skewed(0.95))
        (-1.85, 3.26)
        """
        if not self.varies:
            return math.nan, math.nan
        quantile, k = self._quantile(level), self.skewness
        ends = (quantile, -quantile)
        if abs(k) > CLOSE_SCORES:
            low, high = (3 / k * (math.cbrt(1 + k * (end - k / 6)) - 1) for end in ends)
            ends = low, high
        return self.value - self.error * ends[0], self.value - self.error * ends[1]

    def _quantile(self, level: float) -> float:
        from scipy.special import stdtrit

        return float(stdtrit(self.degrees, (1 + level) / 2))


class Paired(Struct, frozen=True):
    """A mean of paired differences: over all topics, and over those on which there is one.

    Topics that tie say nothing of skewness, and would hide it.
    """

    whole: Mean
    part: Mean
    share: float
    """Of topics that differ."""
    differing: float
    """How many topics differ; of clusters, how many of equal size those that do are worth."""

    @classmethod
    def of(cls, totals: Array, sizes: Array, differs: BoolArray) -> Paired:
        """From differences that are summed by cluster, and which of those have one."""
        whole = Mean.of(totals, sizes)
        if differs.all():
            return cls(whole, whole, 1.0, float(effective_clusters(sizes)))
        some = sizes[differs]
        worth = float(effective_clusters(some)) if len(some) else 0.0
        return cls(whole, Mean.of(totals[differs], some), float(some.sum() / sizes.sum()), worth)

    def p(self) -> float:
        """Of no difference; NaN where differences do not vary, 1 where there are none."""
        return _larger(self.whole.p(), self.part.p_of_skewed(), max)

    def limits(self, level: float) -> tuple[float, float]:
        """Of the mean difference: they leave out 0 where p is not above 1 − level."""
        low, high = self.whole.limits(level)
        lower, higher = (self.share * end for end in self.part.limits_of_skewed(level))
        return _larger(low, lower, min), _larger(high, higher, max)


def _larger(known: float, other: float, choose: Callable[[float, float], float]) -> float:
    return known if math.isnan(other) or math.isnan(known) else choose(known, other)
