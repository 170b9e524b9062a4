"""Scores of systems on common topics: intervals of means, flips and resamples for all at once.

A mean of paired differences is the difference of two means, under any flip or resample: they are
made once for all systems, and each pair reads two columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.compare.result import Settings
from abstain.errors import UsageError, option
from abstain.stats.bootstrap import levels_from_jackknife, resampled
from abstain.stats.intervals import NO_WIDTH, Interval
from abstain.stats.swaps import Flips

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array

    Contrast = tuple[int, int | None]

MOST_DRAWN = 50_000_000
"""Means held at once, in trials times systems."""


class ScoreSample:
    """Scores (systems, topics), summed by cluster where there are some."""

    def __init__(
        self, scores: Array, clusters: npt.NDArray[np.int64] | None, settings: Settings
    ) -> None:
        self.settings = settings
        self.clustered = clusters is not None
        if clusters is None:
            self.totals, self.sizes = scores, np.ones(scores.shape[1])
        else:
            self.sizes = np.bincount(clusters).astype(np.float64)
            self.totals = np.stack([np.bincount(clusters, own) for own in scores])
        self.groups = len(self.sizes)
        self.flips = Flips(self.groups, trials=settings.trials, seed=settings.seed)
        most = MOST_DRAWN // len(scores)
        if settings.trials > most:
            raise UsageError(
                f"{settings.trials:,} trials of {len(scores):,} systems are too many to hold; take "
                f"{option('trials', most)} or fewer"
            )

    @cached_property
    def flipped(self) -> Array:
        """Sums of all systems (trials, systems) under each row of signs."""
        return self.flips @ self.totals.T

    @cached_property
    def resampled(self) -> Array:
        """Means of all systems (trials, systems) in each resample of topics or clusters."""
        table = np.vstack([self.totals, self.sizes]).T
        return resampled(
            lambda sums: sums[:, :-1] / sums[:, -1:],
            table.sum(axis=0),
            table,
            trials=self.settings.trials,
            generator=np.random.default_rng(self.settings.seed),
        )

    def intervals(self, wanted: Sequence[Contrast]) -> tuple[list[Interval], Array]:
        """An interval and a standard error for each mean, or difference of two."""
        found = [self._interval(i, j) for i, j in wanted]
        return [span for span, _ in found], np.array([error for _, error in found])

    def _interval(self, i: int, j: int | None) -> tuple[Interval, float]:
        method, level = self.settings.method, self.settings.level
        if self.groups < 2:
            what = "cluster" if self.clustered else "topic"
            return Interval(math.nan, math.nan, method, f"there is only one {what}"), math.nan
        totals = self.totals[i] if j is None else self.totals[i] - self.totals[j]
        n = self.sizes.sum()
        mean = float(totals.sum() / n)
        error = _error(totals - mean * self.sizes, n)
        if method == "delta":
            low, high = _by_t(mean, error, self.groups, level)
            return Interval(low, high, method), error
        drawn = self.resampled
        values = drawn[:, i] if j is None else drawn[:, i] - drawn[:, j]
        tails = (1 - level) / 2, (1 + level) / 2
        if method == "bca":
            left = (totals.sum() - totals) / (n - self.sizes)
            tails = levels_from_jackknife(mean, values, left, np.ones(self.groups), level=level)
        low, high = np.quantile(values, tails)
        why = NO_WIDTH if math.isclose(low, high, rel_tol=1e-12) else ""
        return Interval(float(low), float(high), method, why), error


def _error(sums: Array, n: float) -> float:
    """SE² = G/(G−1) Σ_g (Σ_{i∈g} (x_i − mean))² / n²."""
    groups = len(sums)
    return math.sqrt(groups / (groups - 1) * float((sums**2).sum())) / n


def _by_t(mean: float, error: float, groups: int, level: float) -> tuple[float, float]:
    from scipy.special import stdtrit

    reach = float(stdtrit(groups - 1, (1 + level) / 2)) * error
    return mean - reach, mean + reach
