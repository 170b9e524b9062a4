"""Sensitivity (Voorhees and Buckley 2002): how large a difference another sample would keep.

Two disjoint subsets: a swap when they order two runs in opposite ways. The swap rate by the size
of the first difference says which difference is needed for a conclusion to hold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.errors import UsageError
from abstain.resample.draws import Block
from abstain.resample.stability import Gap, Ratio, differences

if TYPE_CHECKING:
    from abstain.outcomes import Array, IntArray

WIDTH = 0.01
BINS = 21
EDGE = 1e-9
"""A difference of exactly a bin's edge belongs to that bin, whatever rounding says."""
WIDEST = 1e9
MOST_BINS = 10_000
SLACK = 1e-12
"""1 − 95/100 is not quite 0.05."""


@dataclass(frozen=True, slots=True)
class Swap:
    """One row of the paper's Table 2, and the swap rates that it comes from."""

    measure: str
    size: int
    """Questions in a subset."""
    width: float
    confidence: float
    rates: tuple[float | None, ...]
    """Swap rate by bin of the difference; the last bin is open."""
    rates_se: tuple[float | None, ...]
    counts: tuple[int, ...]
    required: float | None
    """The difference required, or None: `reason` says why."""
    required_range: tuple[float | None, float | None]
    """The same with rates two Monte Carlo errors lower and higher."""
    reason: str
    highest: float | None
    sensitivity: float | None
    comparisons: int
    undefined: int
    needed: float | None
    """The difference required by as many bins as it takes: no last bin stands in the way."""

    @property
    def relative(self) -> float | None:
        """The difference required, over the highest score seen."""
        if self.required is None or not self.highest or self.highest <= 0:
            return None
        return self.required / self.highest

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        bins = [
            {"from": k * self.width, "count": count, "swap_rate": rate, "se": se}
            for k, (count, rate, se) in enumerate(
                zip(self.counts, self.rates, self.rates_se, strict=True)
            )
        ]
        plain: dict[str, Any] = {
            "measure": self.measure,
            "size": self.size,
            "required": self.required,
            "required_range": list(self.required_range),
            "highest": self.highest,
            "relative": self.relative,
            "sensitivity": self.sensitivity,
            "comparisons": self.comparisons,
            "undefined": self.undefined,
            "bins": bins,
        }
        if self.reason:
            plain["reason"] = self.reason
        return plain


@dataclass(frozen=True, slots=True)
class BlockSwaps:
    """What one block says."""

    counts: list[IntArray]
    swaps: list[IntArray]
    """A measure's own bins, as many as its scores can differ by."""
    trial_counts: IntArray
    trial_swaps: IntArray
    """Measures × trials × bins, the last one open."""
    highest: Array
    missing: IntArray
    ties: IntArray
    """Comparisons without any difference: they are in the first bin."""


def block_swaps(
    block: Block,
    *,
    width: float,
    bins: int,
    fine: Sequence[int],
    same: Array,
    gaps: Sequence[Gap],
) -> BlockSwaps:
    """Bin the first difference, and see whether the second has the other sign."""
    assert block.x2 is not None
    assert block.y2 is not None
    measures, pairs, trials = block.x.shape
    counts, swaps = [], []
    trial_counts = np.empty((measures, trials, bins), np.int64)
    trial_swaps = np.empty_like(trial_counts)
    highest = np.full(measures, -np.inf)
    missing = np.zeros(measures, np.int64)
    ties = np.zeros(measures, np.int64)
    of_trial = np.broadcast_to(np.arange(trials)[None, :] * bins, (pairs, trials))
    for m in range(measures):
        first, gone1 = gaps[m]
        second, gone2 = differences(block.x2[m], block.y2[m], same[m])
        bin_of = np.minimum((np.abs(first) / width + EDGE).astype(np.int64), fine[m] - 1)
        swapped = first * second < 0
        equal = first.size - np.count_nonzero(first)
        at = of_trial + np.minimum(bin_of, bins - 1)
        if gone1 is not None or gone2 is not None:
            kept = np.ones(first.shape, np.bool_)
            for gone in (gone1, gone2):
                if gone is not None:
                    kept &= ~gone
            swapped &= kept
            missing[m] = kept.size - np.count_nonzero(kept)
            equal = np.count_nonzero((first == 0) & kept)
            counts.append(np.bincount(bin_of[kept], minlength=fine[m]))
            kept_at = at[kept]
        else:
            counts.append(np.bincount(bin_of.ravel(), minlength=fine[m]))
            kept_at = at.ravel()
        swaps.append(np.bincount(bin_of[swapped], minlength=fine[m]))
        ties[m] = equal
        length = trials * bins
        trial_counts[m] = np.bincount(kept_at, minlength=length).reshape(trials, bins)
        trial_swaps[m] = np.bincount(at[swapped], minlength=length).reshape(trials, bins)
        for scores in (block.x[m], block.y[m], block.x2[m], block.y2[m]):
            top = scores.max()
            highest[m] = max(highest[m], np.nanmax(scores, initial=-np.inf) if top != top else top)
    return BlockSwaps(counts, swaps, trial_counts, trial_swaps, highest, missing, ties)


def fine_bins(spans: Sequence[float], width: float, bins: int) -> list[int]:
    """How many bins hold every difference that a measure can show."""
    for span in spans:
        if not span / width < WIDEST:
            raise UsageError(
                f"scores that span {span:g} do not fit bins of {width:g}; --width names a wider one"
            )
    return [max(bins, min(MOST_BINS, math.ceil(span / width + EDGE) + 1)) for span in spans]


class SwapTally:
    """Adds blocks up."""

    def __init__(
        self, measures: Sequence[str], *, size: int, width: float, bins: int, fine: Sequence[int]
    ) -> None:
        self.measures, self.size, self.width, self.bins = list(measures), size, width, bins
        self.fine = list(fine)
        self.counts = [np.zeros(f, np.int64) for f in fine]
        self.swaps = [np.zeros(f, np.int64) for f in fine]
        self.rate = Ratio((len(measures), bins))
        self.highest = np.full(len(measures), -np.inf)
        self.missing = np.zeros(len(measures), np.int64)
        self.ties = np.zeros(len(measures), np.int64)
        self.chunk: list[IntArray] = []

    def add(self, block: BlockSwaps) -> None:
        """A block of the chunk of trials that is being drawn."""
        for m in range(len(self.measures)):
            self.counts[m] += block.counts[m]
            self.swaps[m] += block.swaps[m]
        self.highest = np.maximum(self.highest, block.highest)
        self.missing += block.missing
        self.ties += block.ties
        own = [block.trial_swaps, block.trial_counts]
        self.chunk = [a + b for a, b in zip(self.chunk, own, strict=True)] if self.chunk else own

    def close(self) -> None:
        """All pairs of the chunk are in."""
        if self.chunk:
            self.rate.add(*self.chunk)
            self.chunk = []

    def results(self, confidence: float) -> list[Swap]:
        """One row a measure."""
        rates, errors = self.rate.values(), self.rate.errors()
        return [self._row(m, confidence, rates[m], errors[m]) for m in range(len(self.measures))]

    def _row(
        self,
        m: int,
        confidence: float,
        rates: list[float | None],
        errors: list[float | None],
    ) -> Swap:
        counts, swaps = self.counts[m], self.swaps[m]
        total = int(counts.sum())
        limit = 1 - confidence / 100
        shown = [int(k) for k in counts[: self.bins - 1]] + [int(counts[self.bins - 1 :].sum())]
        reason, required, needed = "", None, None
        bounds: tuple[float | None, float | None] = (None, None)
        if not total:
            reason = "the measure exists on no pair of subsets"
        elif self.ties[m] == total:
            reason = "no two runs differ on any subset"
        else:
            # Ties cannot swap: that the first bin is full of them makes no difference enough.
            telling = int(counts[0] - self.ties[m])
            start = 0 if telling and int(swaps[0]) / telling <= limit + SLACK else 1
            required = _first(rates, shown, limit, self.width, start)
            low, high = (
                [
                    None if rate is None else rate + sign * 2 * (error or 0)
                    for rate, error in zip(rates, errors, strict=True)
                ]
                for sign in (-1, 1)
            )
            bounds = (
                _first(low, shown, limit, self.width, start),
                _first(high, shown, limit, self.width, start),
            )
            whole = [int(s) / int(c) if c else None for s, c in zip(swaps, counts, strict=True)]
            needed = _first(whole, counts.tolist(), limit, self.width, start)
            if required is None:
                reason = (
                    f"no bin of differences has {math.ceil(1 / limit - EDGE):,} comparisons and at "
                    f"most {100 * limit:.3g} % swaps"
                )
        sensitivity = None
        if required is not None:
            sensitivity = int(counts[round(required / self.width) :].sum()) / total
        return Swap(
            measure=self.measures[m],
            size=self.size,
            width=self.width,
            confidence=confidence,
            rates=tuple(rates),
            rates_se=tuple(errors),
            counts=tuple(shown),
            required=required,
            required_range=bounds,
            reason=reason,
            highest=float(self.highest[m]) if math.isfinite(self.highest[m]) else None,
            sensitivity=sensitivity,
            comparisons=total,
            undefined=int(self.missing[m]),
            needed=needed,
        )


def _first(
    rates: Sequence[float | None],
    counts: Sequence[int],
    limit: float,
    width: float,
    start: int,
) -> float | None:
    """The lower edge of the first bin (from `start` on) whose swap rate is within the limit.

    A rate of 5 % takes 20 comparisons to show; bins with fewer are passed over.
    """
    enough = math.ceil(1 / limit - EDGE)
    for k, (rate, count) in enumerate(zip(rates, counts, strict=True)):
        if k >= start and rate is not None and count >= enough and rate <= limit + SLACK:
            return round(k * width, 12)
    return None
