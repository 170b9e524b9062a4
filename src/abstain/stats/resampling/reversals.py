"""Stability and sensitivity: how often another sample of the questions reverses two runs.

Stability (Buckley and Voorhees 2000): on a random subset of the questions two runs tie when they
differ by less than `fuzziness` times the larger score, else the larger one wins. The error rate is
the share of comparisons that the minority direction of each pair wins.

Sensitivity (Voorhees and Buckley 2002): two disjoint subsets swap two runs when they order them in
opposite ways. The swap rate by the size of the first difference says which difference is required.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from abstain.errors import UsageError, option
from abstain.measures.definition import Array, BoolArray, IntArray
from abstain.stats.resampling.draws import SAME, Plan, Ratio, all_pairs, batches, subsets
from abstain.stats.resampling.samplers import Source

FUZZINESS = tuple(round(0.01 * k, 2) for k in range(1, 11))
KEPT, TIED_ON_OTHER, SWAPPED, TIED = range(4)
"""The order on the other subset: the same, a tie, the opposite; or a tie in the first place."""
STATES = 4
ROOM = 1 << 12
WIDTH = 0.01
BINS = 21
EDGE = 1e-9
"""A difference of exactly a bin's edge belongs to that bin, whatever rounding says."""
MOST_BINS = 20_000
"""Percent in bins of 0.01, twice."""
SLACK = 1e-12
ORDINARY = (0.1, 2.0)
"""Score ranges that are on the scale of the papers."""

Batch: TypeAlias = "npt.NDArray[np.int32]"
Compared: TypeAlias = "tuple[Wins | None, Swaps | None]"
Counted: TypeAlias = "tuple[list[StabilityCounts], list[SwapCounts]]"


class Gap(NamedTuple):
    """The difference of two runs in some comparisons (pairs × trials)."""

    size: Array
    sign: npt.NDArray[np.int8]
    missing: BoolArray | None
    """Where a score is undefined, if anywhere; the size and the sign are 0 there."""

    @classmethod
    def of(cls, x: Array, y: Array, same: float) -> Gap:
        size = x - y
        sign = (size > same).view(np.int8) - (size < -same).view(np.int8)
        np.abs(size, out=size)
        missing = np.isnan(size)
        if not missing.any():
            return cls(size, sign, None)
        size[missing] = 0
        return cls(size, sign, missing)


class Wins(NamedTuple):
    pairs: slice
    by_pair: IntArray
    """Pairs × directions × fuzziness; second an upset, a win of the run behind on all questions."""
    by_batch: IntArray
    defined: IntArray
    undefined: int


class Swaps(NamedTuple):
    by_batch: IntArray
    undefined: int
    highest: float


class Comparing:
    def __init__(
        self,
        source: Source,
        full: Array,
        *,
        fuzziness: Sequence[float],
        widths: Sequence[float],
        listed: int,
        limit: float,
    ) -> None:
        self.source, self.widths = source, widths
        self.listed, self.limit = listed, limit
        first, second = all_pairs(len(source.runs))
        self.pairs = len(first)
        self.leads = full[:, first] >= full[:, second]
        highest = np.nanmax(np.abs(full), axis=1, initial=0.0)
        self.same = (SAME * np.maximum(highest, source.spans)).tolist()
        self.bins = bins_for(source.spans, widths, listed)
        self.levels = np.array(fuzziness)

    def drawn(self, plan: Plan, *, path: int, stable: bool, swapping: bool) -> Counted:
        use = partial(self.compared, stable=stable, swapping=swapping)
        return self.counted(subsets(self.source, plan, use, part=path, disjoint=swapping))

    def counted(self, chunks: Iterable[Iterable[list[Compared]]]) -> Counted:
        wins = [StabilityCounts(self.pairs, self.levels.tolist()) for _ in self.widths]
        swaps = [
            SwapCounts(width=width, bins=bins, listed=self.listed, limit=self.limit)
            for width, bins in zip(self.widths, self.bins, strict=True)
        ]
        for blocks in chunks:
            for block in blocks:
                for m, (won, swapped) in enumerate(block):
                    if won is not None:
                        wins[m].add(won)
                    if swapped is not None:
                        swaps[m].add(swapped)
            for one, two in zip(wins, swaps, strict=True):
                for ratio in (one.upsets, one.ties, two.rate, two.tail):
                    ratio.close()
        return wins, swaps

    def compared(
        self, pairs: slice, scores: tuple[Array, ...], *, stable: bool, swapping: bool
    ) -> list[Compared]:
        results: list[Compared] = []
        for m, same in enumerate(self.same):
            x, y, *disjoint = (part[m] for part in scores)
            gap, won, swapped = Gap.of(x, y, same), None, None
            if stable:
                reached = _reached(x, y, gap, self.levels, same)
                upset = (gap.sign < 0) == self.leads[m, pairs][:, None]
                won = _wins(pairs, reached, upset, gap.missing, len(self.levels) + 1)
            if swapping:
                other = Gap.of(disjoint[0], disjoint[1], same)
                highest = np.fmax.reduce([np.fmax.reduce(part[m], axis=None) for part in scores])
                swapped = _swaps(gap, other, self.widths[m], self.bins[m], float(highest))
            results.append((won, swapped))
        return results


def _reached(x: Array, y: Array, gap: Gap, levels: Array, same: float) -> npt.NDArray[Any]:
    """How many of the (ascending) levels of fuzziness each comparison reaches.

    A comparison is won at f iff |difference| ≥ f·|larger score|.
    """
    larger = np.maximum(x, y)
    np.abs(larger, out=larger)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.divide(gap.size + same, larger, out=larger)
    reached = np.zeros(ratio.shape, np.min_scalar_type(2 * len(levels) + 1))
    for level in levels:  # quicker than a binary search in a few
        reached += (ratio >= level).view(np.uint8)
    reached *= gap.sign != 0
    return reached


def _wins(
    pairs: slice, reached: npt.NDArray[Any], upset: BoolArray, missing: BoolArray | None, steps: int
) -> Wins:
    count, trials = reached.shape
    batch = batches(trials)
    keys = reached + upset * reached.dtype.type(steps)
    of_pair = np.arange(count, dtype=np.int32)[:, None] * (2 * steps)
    by_pair = _histogram(of_pair + keys, count, 2, steps)
    by_batch = _histogram(batch * np.int32(2 * steps) + keys, int(batch[-1]) + 1, 2, steps)
    defined, undefined = np.bincount(batch) * count, 0
    if missing is not None:
        defined -= np.bincount(batch, weights=missing.sum(axis=0)).astype(np.int64)
        undefined = int(missing.sum())
    # from counts that reach exactly k levels to those that reach the k-th
    both = _cumulated(by_pair[..., 1:]), _cumulated(by_batch[..., 1:])
    return Wins(pairs, *both, defined, undefined)


def _swaps(gap: Gap, other: Gap, width: float, bins: int, highest: float) -> Swaps:
    batch = batches(gap.size.shape[1], ROOM // bins)
    state = np.where(gap.sign == 0, np.int8(TIED), 1 - gap.sign * other.sign)
    keys = (gap.size / width + EDGE).astype(np.int32)
    np.minimum(keys, bins - 1, out=keys)
    keys += state * np.int32(bins)
    keys += batch * np.int32(STATES * bins)
    missing = [each.missing for each in (gap, other) if each.missing is not None]
    known = keys[~np.logical_or.reduce(missing)] if missing else keys
    counts = _histogram(known, int(batch[-1]) + 1, STATES, bins)
    return Swaps(counts, keys.size - known.size, highest)


def _histogram(keys: npt.NDArray[Any], *shape: int) -> IntArray:
    return np.bincount(keys.ravel(), minlength=math.prod(shape)).reshape(shape)


class StabilityCounts:
    def __init__(self, pairs: int, fuzziness: Sequence[float]) -> None:
        self.fuzziness = tuple(fuzziness)
        self.by_pair = np.zeros((pairs, 2, len(fuzziness)), np.int64)
        self.upsets, self.ties = Ratio((len(fuzziness),)), Ratio((len(fuzziness),))
        self.undefined = 0

    def add(self, wins: Wins) -> None:
        defined = wins.defined[:, None]
        self.by_pair[wins.pairs] += wins.by_pair
        self.upsets.add(wins.by_batch[:, 1], defined)
        self.ties.add(defined - wins.by_batch.sum(axis=1), defined)
        self.undefined += wins.undefined

    @property
    def comparisons(self) -> int:
        return int(self.ties.below[0])

    @property
    def error(self) -> Array:
        """The error rate at each fuzziness; its Monte Carlo error is that of the upsets."""
        minority = self.by_pair.min(axis=1).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(minority / self.ties.below)


class SwapCounts:
    """As `StabilityCounts`; `limit` is the largest acceptable swap rate."""

    def __init__(self, *, width: float, bins: int, listed: int, limit: float) -> None:
        self.width, self.listed, self.limit = width, listed, limit
        self.table = np.zeros((STATES, bins), np.int64)
        self.rate, self.tail = Ratio((bins,)), Ratio((bins,))
        self.highest = -np.inf
        self.undefined = 0

    def add(self, swaps: Swaps) -> None:
        counts, swapped = swaps.by_batch.sum(axis=1), swaps.by_batch[:, SWAPPED]
        self.table += swaps.by_batch.sum(axis=0)
        self.rate.add(swapped, counts)
        self.tail.add(_cumulated(swapped), _cumulated(counts - swaps.by_batch[:, TIED]))
        self.undefined += swaps.undefined
        self.highest = np.fmax(self.highest, swaps.highest)

    def by_listed_bin(self) -> tuple[IntArray, Array, Array]:
        """Comparisons, swap rates and their Monte Carlo errors by listed bin; the last is open.

        The rates are those of the papers, which count ties too.
        """
        counts, (rate, tail) = self.table.sum(axis=0), (self.rate, self.tail)
        rates = self._open(rate.values(), tail.values())
        errors = self._open(rate.errors(), tail.errors())
        return self._open(counts, _cumulated(counts)), rates, errors

    def _open(self, closed: Any, cumulated: Any) -> Any:
        return np.append(closed[: self.listed - 1], cumulated[self.listed - 1])

    @property
    def differing(self) -> IntArray:
        return np.asarray(self.table[:TIED].sum(axis=0))

    @property
    def conclusive(self) -> IntArray:
        """Comparisons by bin that differ on both subsets."""
        return np.asarray(self.table[KEPT] + self.table[SWAPPED])

    def required(self) -> int | None:
        return required_bin(*self._rates(), self.conclusive, self.limit)

    def why_not(self) -> str:
        total, conclusive = int(self.table.sum()), int(self.conclusive.sum())
        enough = np.ceil(1 / self.limit - EDGE)
        if not total:
            return "the measure is undefined on every pair of subsets"
        if conclusive < enough:
            few = f"only {conclusive:,} of {total:,} comparisons differ on both subsets"
            return f"{few}; at least {enough:,.0f} are needed"
        percent = f"{100 * self.limit:.3g} %"
        return f"however large the difference, more than {percent} of comparisons swap"

    def required_range(self) -> tuple[int | None, int | None]:
        """As `required`, with rates two Monte Carlo errors lower and higher.

        No swap among n comparisons is no rate of 0: two errors are 3/n, the rule of three.
        """
        if self.rate.batches < 2:
            return None, None
        rates, tails = self._rates()
        error, tail_error = (np.nan_to_num(ratio.errors()) for ratio in (self.rate, self.tail))
        counts = np.maximum(1, self.differing)
        error = np.where(rates == 0, 1.5 / counts, error * self.table.sum(axis=0) / counts)
        above = np.maximum(1, _cumulated(self.differing))
        tail_error = np.where(tails == 0, 1.5 / above, tail_error)
        low, high = (
            required_bin(rates + k * error, tails + k * tail_error, self.conclusive, self.limit)
            for k in (-2, 2)
        )
        return low, high

    def within_bins(self) -> int | None:
        """As `required`, by the listed bins alone."""
        rates, tails = self._rates()
        conclusive = self._open(self.conclusive, _cumulated(self.conclusive))
        return required_bin(self._open(rates, tails), tails[: self.listed], conclusive, self.limit)

    def reaching(self, at: int) -> tuple[int, int]:
        above = self.table[:, at:].sum(axis=1)
        return int(above[:TIED].sum()), int(above[TIED_ON_OTHER])

    def edge(self, at: int | None) -> float | None:
        return None if at is None else edge(at, self.width)

    def _rates(self) -> tuple[Array, Array]:
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.table[SWAPPED] / self.differing, self.tail.values()


def _cumulated(counts: IntArray) -> IntArray:
    return counts[..., ::-1].cumsum(axis=-1)[..., ::-1]


def natural_width(span: float) -> float:
    """The papers' 0.01 for scores on their scale; else a round hundredth of what scores span."""
    low, high = ORDINARY
    if not span or low <= span <= high or not math.isfinite(span):
        return WIDTH
    power = math.floor(math.log10(span / 100 * (1 + EDGE)))
    widths = [float(f"{digit}e{power}") for digit in (1, 2, 5, 10)]
    return next(width for width in widths if width >= span / 100 * (1 - EDGE))


def bins_for(spans: Sequence[float], widths: Sequence[float], listed: int) -> list[int]:
    bins = []
    for span, width in zip(spans, widths, strict=True):
        if not span / width < MOST_BINS:
            many = f"scores that span {span:g} need more than {MOST_BINS:,} bins of width {width:g}"
            raise UsageError(f"{many}; set a larger width with {option('width')}")
        bins.append(max(listed, math.ceil(span / width + EDGE) + 1))
    return bins


def edge(at: int, width: float) -> float:
    """The lower edge of a bin, without rounding error."""
    return float(f"{at * width:.12g}")


def required_bin(rates: Array, tails: Array, counts: IntArray, limit: float) -> int | None:
    """The first bin whose swap rate is within the limit, as is that of all bins from it on.

    A rate of 5 % takes 20 comparisons to show: bins with fewer are passed over, or where no larger
    bin has as many stand for all above them too. `counts` differ on both subsets.
    """
    enough = math.ceil(1 / limit - EDGE)
    full = counts >= enough
    thin_from = int(full.nonzero()[0][-1]) + 1 if full.any() else 0
    open_ended = (np.arange(len(counts)) >= thin_from) & (counts > 0)
    open_ended &= _cumulated(counts) >= enough
    rate = np.where(open_ended, tails, rates)
    passing = (full | open_ended) & (rate <= limit + SLACK) & (tails <= limit + SLACK)
    return int(passing.argmax()) if passing.any() else None
