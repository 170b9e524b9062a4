"""Sensitivity (Voorhees and Buckley 2002): how large a difference another sample would keep.

Two disjoint subsets: a swap when they order two runs in opposite ways. The swap rate by the size
of the first difference says which difference is needed for a conclusion to hold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from abstain.errors import UsageError, option
from abstain.measures.arrays import Array, BoolArray, Codes, IntArray
from abstain.stats.resampling.draws import Gap, Ratio, histogram

KEPT, SWAPPED, TIED_ELSEWHERE, TIED = range(4)
"""What becomes of a comparison: the order is the same on the other subset, or the opposite one, or
the runs tie there; or they tie in the first place."""
STATES = 4
ROOM = 1 << 12
"""Counts that the batches of a measure may take, a state: few enough to be added up in no time."""
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


def swaps_of(
    gap: Gap, elsewhere: Gap, *, width: float, bins: int, batch: npt.NDArray[np.int32]
) -> tuple[IntArray, int]:
    """Bin the first difference, and see what the disjoint subset says.

    Comparisons by batch, state and bin, as many bins as the measure's scores can differ by; and
    how many were left out for want of a score.
    """
    place = (gap.size / width + EDGE).astype(np.int32)
    np.minimum(place, bins - 1, out=place)
    keys = _states(gap, elsewhere) * np.int32(bins)
    keys += place
    keys += batch * np.int32(STATES * bins)
    missing = _either(gap.missing, elsewhere.missing)
    if missing is not None:
        keys = keys[~missing]
    table = histogram(keys, int(batch[-1]) + 1, STATES, bins)
    return table, place.size - keys.size


def _states(gap: Gap, elsewhere: Gap) -> Codes:
    swapped = (gap.ahead & elsewhere.behind) | (gap.behind & elsewhere.ahead)
    states = np.where(elsewhere.differs, swapped, np.uint8(TIED_ELSEWHERE))
    states[~gap.differs] = TIED
    return states


def _either(one: BoolArray | None, other: BoolArray | None) -> BoolArray | None:
    if one is None or other is None:
        return one if other is None else other
    return one | other


class SwapCounts:
    """Adds up what the pairs of one measure say; `limit` is the largest swap rate to accept."""

    def __init__(self, *, width: float, bins: int, listed: int, limit: float) -> None:
        self.width, self.listed, self.limit = width, listed, limit
        self.table = np.zeros((STATES, bins), np.int64)
        self.rate, self.tail = Ratio((bins,)), Ratio((bins,))
        self.highest = -np.inf
        """The best score that was seen."""
        self.left_out = 0
        """Comparisons without a score of one of the runs."""
        self.chunk: IntArray | None = None

    def add(self, table: IntArray, left_out: int, highest: float) -> None:
        """Some pairs of the chunk of trials that is being drawn, and the best score in it."""
        self.chunk = table if self.chunk is None else self.chunk + table
        self.highest = np.fmax(self.highest, highest)
        self.left_out += left_out

    def close(self) -> None:
        """All pairs of the chunk are in: its batches say how much trials differ."""
        if self.chunk is not None:
            counts, swapped = self.chunk.sum(axis=1), self.chunk[:, SWAPPED]
            self.table += self.chunk.sum(axis=0)
            self.rate.add(swapped, counts)
            self.tail.add(_from_here_on(swapped), _from_here_on(counts - self.chunk[:, TIED]))
            self.chunk = None

    @property
    def counts(self) -> IntArray:
        """Comparisons by listed bin, of which the last is open."""
        every = self.table.sum(axis=0)
        return np.asarray(self._open(every, _from_here_on(every)))

    @property
    def rates(self) -> Array:
        """Swap rates by listed bin; those of the papers, which count ties too."""
        return np.asarray(self._open(self.rate.values(), self.tail.values()))

    @property
    def rates_se(self) -> Array:
        """Their Monte Carlo errors."""
        return np.asarray(self._open(self.rate.errors(), self.tail.errors()))

    def _open(self, closed: Any, from_here_on: Any) -> Any:
        """Values of the listed bins, of which the last is open."""
        return np.append(closed[: self.listed - 1], from_here_on[self.listed - 1])

    @property
    def differing(self) -> IntArray:
        """Comparisons by bin that differ in the first place: a tie cannot swap."""
        return np.asarray(self.table[:TIED].sum(axis=0))

    @property
    def telling(self) -> IntArray:
        """Those that differ on both subsets: the others can neither be kept nor be reversed."""
        return np.asarray(self.table[KEPT] + self.table[SWAPPED])

    def required(self) -> int | None:
        """The bin of the difference required."""
        return required_bin(*self._rates(), self.telling, self.limit)

    def why_not(self) -> str:
        """Why no difference is enough, where none is."""
        total, telling = int(self.table.sum()), int(self.telling.sum())
        percent = f"{100 * self.limit:.3g} %"
        enough = np.ceil(1 / self.limit - EDGE)
        if not total:
            return "the measure is undefined on every pair of subsets"
        if not self.differing.any():
            return "no two runs differ on any subset"
        if telling < enough:
            few = f"only {telling:,} of {total:,} comparisons differ on both subsets"
            return f"{few}; at least {enough:,.0f} are needed to see a swap rate of {percent}"
        return (
            f"no difference is large enough: however large, more than {percent} of comparisons swap"
        )

    def required_range(self) -> tuple[int | None, int | None]:
        """As `required`, with rates two Monte Carlo errors lower and higher."""
        if self.rate.batches < 2:
            return None, None
        rates, tails = self._rates()
        error, tail_error = (np.nan_to_num(own.errors()) for own in (self.rate, self.tail))
        error = error * self.table.sum(axis=0) / np.maximum(1, self.differing)
        error = _at_least_three(error, rates, self.differing)
        tail_error = _at_least_three(tail_error, tails, _from_here_on(self.differing))
        low, high = (
            required_bin(
                rates + sign * 2 * error, tails + sign * 2 * tail_error, self.telling, self.limit
            )
            for sign in (-1, 1)
        )
        return low, high

    def within_bins(self) -> int | None:
        """As `required`, by the listed bins alone."""
        rates, tails = self._rates()
        telling = self.telling
        return required_bin(
            self._open(rates, tails),
            tails[: self.listed],
            self._open(telling, _from_here_on(telling)),
            self.limit,
        )

    def reaching(self, at: int) -> tuple[int, int]:
        """Comparisons that differ by a bin or more, and those of them that tie elsewhere."""
        from_here_on = self.table[:, at:].sum(axis=1)
        return int(from_here_on[:TIED].sum()), int(from_here_on[TIED_ELSEWHERE])

    def edge(self, at: int | None) -> float | None:
        """Where a bin begins."""
        return None if at is None else edge(at, self.width)

    def _rates(self) -> tuple[Array, Array]:
        """Swap rates by bin, ties aside, and from each bin on."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.table[SWAPPED] / self.differing, self.tail.values()


def _at_least_three(error: Array, rates: Array, counts: IntArray) -> Array:
    """No swap among n comparisons is no rate of 0: two errors are 3/n, the rule of three."""
    return np.where(rates == 0, 1.5 / np.maximum(1, counts), error)


def _from_here_on(counts: IntArray) -> IntArray:
    """Sums over each bin and those above it."""
    return counts[..., ::-1].cumsum(axis=-1)[..., ::-1]


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
                f"scores that span {span:g} need more than {MOST_BINS:,} bins of width {width:g}; "
                f"set a larger width with {option('width')}"
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
