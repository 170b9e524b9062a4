"""Sensitivity (Voorhees and Buckley 2002): how large a difference another sample would keep.

Two disjoint subsets: a swap when they order two runs in opposite ways. The swap rate by the size
of the first difference says which difference is needed for a conclusion to hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.analyses.meta.bins import EDGE, edge, required_bin
from abstain.stats.comparisons import Gap, Ratio, histogram, plain

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array, IntArray

KEPT, SWAPPED, TIED_ELSEWHERE, TIED = range(4)
"""What becomes of a comparison: the order is the same on the other subset, or the opposite one, or
the runs tie there; or they tie in the first place."""
STATES = 4
ROOM = 1 << 12
"""Counts that the batches of a measure may take, a state: few enough to be added up in no time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """One row of the paper's Table 2, and the swap rates that it comes from."""

    measure: str
    size: int
    """Questions in a subset."""
    width: float
    confidence: float
    rates: tuple[float | None, ...]
    """Swap rate by listed bin of the difference; the last of them is open."""
    rates_se: tuple[float | None, ...]
    counts: tuple[int, ...]
    required: float | None
    """The difference required, or None: `reason` says why."""
    required_range: tuple[float | None, float | None]
    """The same with rates two Monte Carlo errors lower and higher."""
    within_bins: float | None
    """The same by the listed bins alone, of which the last is open."""
    reason: str
    highest: float | None
    sensitivity: float | None
    """The share of the comparisons that differ by as much as is required."""
    comparisons: int
    undefined: int
    ties: int
    """Comparisons without any difference: they are in the first bin."""
    tied_elsewhere: float | None
    """Of the differences that reach what is required, the share that is none elsewhere."""

    @property
    def questions(self) -> int:
        """Those in a subset: a row is a point of the curve of required differences."""
        return self.size

    @property
    def relative(self) -> float | None:
        """The difference required, over the highest score seen."""
        if self.required is None or not self.highest or self.highest <= 0:
            return None
        return self.required / self.highest

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        bins = [
            {"from": edge(k, self.width), "count": count, "swap_rate": rate, "se": se}
            for k, (count, rate, se) in enumerate(
                zip(self.counts, self.rates, self.rates_se, strict=True)
            )
        ]
        names = ("measure", "size", "width", "required", "within_bins", "highest", "relative")
        more = ("sensitivity", "tied_elsewhere", "comparisons", "ties", "undefined")
        plain: dict[str, Any] = {name: getattr(self, name) for name in (*names, *more)}
        plain |= {"required_range": list(self.required_range), "bins": bins}
        return plain | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True, slots=True)
class Swaps:
    """What some pairs of one measure say."""

    table: IntArray
    """Batches × states × bins, as many bins as the measure's scores can differ by."""
    left_out: int


def swaps_of(
    gap: Gap, elsewhere: Gap, *, width: float, bins: int, batch: npt.NDArray[np.int32]
) -> Swaps:
    """Bin the first difference, and see what the disjoint subset says."""
    place = (gap.size / width + EDGE).astype(np.int32)
    np.minimum(place, bins - 1, out=place)
    keys = _states(gap, elsewhere) * np.int32(bins)
    keys += place
    keys += batch * np.int32(STATES * bins)
    missing = _either(gap.missing, elsewhere.missing)
    if missing is not None:
        keys = keys[~missing]
    table = histogram(keys, int(batch[-1]) + 1, STATES, bins)
    return Swaps(table, place.size - keys.size)


def _states(gap: Gap, elsewhere: Gap) -> npt.NDArray[np.uint8]:
    swapped = (gap.ahead & elsewhere.behind) | (gap.behind & elsewhere.ahead)
    states = np.where(elsewhere.differs, swapped, np.uint8(TIED_ELSEWHERE))
    states[~gap.differs] = TIED
    return states


def _either(
    one: npt.NDArray[np.bool_] | None, other: npt.NDArray[np.bool_] | None
) -> npt.NDArray[np.bool_] | None:
    if one is None or other is None:
        return one if other is None else other
    return one | other


class SwapTally:
    """Adds up what the pairs of one measure say."""

    def __init__(self, measure: str, *, size: int, width: float, bins: int, listed: int) -> None:
        self.measure, self.size, self.width = measure, size, width
        self.listed = listed
        self.table = np.zeros((STATES, bins), np.int64)
        self.rate, self.tail = Ratio((bins,)), Ratio((bins,))
        self.highest = -np.inf
        self.left_out = 0
        self.chunk: IntArray | None = None

    def add(self, swaps: Swaps, highest: float) -> None:
        """Some pairs of the chunk of trials that is being drawn, and the best score in it."""
        self.chunk = swaps.table if self.chunk is None else self.chunk + swaps.table
        self.highest = np.fmax(self.highest, highest)
        self.left_out += swaps.left_out

    def close(self) -> None:
        """All pairs of the chunk are in: its batches say how much trials differ."""
        if self.chunk is not None:
            counts, swapped = self.chunk.sum(axis=1), self.chunk[:, SWAPPED]
            self.table += self.chunk.sum(axis=0)
            self.rate.add(swapped, counts)
            self.tail.add(_from_here_on(swapped), _from_here_on(counts - self.chunk[:, TIED]))
            self.chunk = None

    def result(self, confidence: float) -> Swap:
        """The row."""
        counts = self.table.sum(axis=0)
        ties = int(self.table[TIED].sum())
        total = int(counts.sum())
        limit = 1 - confidence / 100
        at, reason = self._required(limit)
        reaching = self.table[:, at:].sum(axis=1) if at is not None else None
        differing = None if reaching is None else int(reaching[:TIED].sum())
        return Swap(
            measure=self.measure,
            size=self.size,
            width=self.width,
            confidence=confidence,
            rates=plain(self._listed(self.rate.values(), self.tail.values())),
            rates_se=plain(self._listed(self.rate.errors(), self.tail.errors())),
            counts=tuple(self._listed(counts, _from_here_on(counts)).tolist()),
            required=self._edge(at),
            required_range=self._range(limit) if at is not None else (None, None),
            within_bins=self._edge(self._within(limit)),
            reason=reason,
            highest=float(self.highest) if np.isfinite(self.highest) else None,
            sensitivity=None if differing is None else differing / total,
            comparisons=total,
            undefined=self.left_out,
            ties=ties,
            tied_elsewhere=(
                None if reaching is None else int(reaching[TIED_ELSEWHERE]) / max(1, differing or 0)
            ),
        )

    @property
    def differing(self) -> IntArray:
        """Comparisons by bin that differ in the first place: a tie cannot swap."""
        return np.asarray(self.table[:TIED].sum(axis=0))

    @property
    def telling(self) -> IntArray:
        """Those that differ on both subsets: the others can neither be kept nor be reversed."""
        return np.asarray(self.table[KEPT] + self.table[SWAPPED])

    def _required(self, limit: float) -> tuple[int | None, str]:
        """The bin of the required difference, or why there is none."""
        telling = self.telling
        total, differing = int(self.table.sum()), int(self.differing.sum())
        at = required_bin(*self._rates(), telling, limit)
        if at is not None:
            return at, ""
        if not total:
            return None, "the measure exists on no pair of subsets"
        if not differing:
            return None, "no two runs differ on any subset"
        enough = np.ceil(1 / limit - EDGE)
        if telling.sum() < enough:
            few = f"only {telling.sum():,} of {total:,} comparisons differ on both subsets"
            return None, f"{few}, and {100 * limit:.3g} % swaps take {enough:,.0f} to show"
        return None, f"at no difference do at most {100 * limit:.3g} % of the comparisons swap"

    def _rates(self) -> tuple[Array, Array]:
        """Swap rates by bin, ties aside, and from each bin on."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.table[SWAPPED] / self.differing, self.tail.values()

    def _range(self, limit: float) -> tuple[float | None, float | None]:
        if self.rate.batches < 2:
            return None, None
        rates, tails = self._rates()
        error, tail_error = (np.nan_to_num(own.errors()) for own in (self.rate, self.tail))
        error = error * self.table.sum(axis=0) / np.maximum(1, self.differing)
        error = _at_least_three(error, rates, self.differing)
        tail_error = _at_least_three(tail_error, tails, _from_here_on(self.differing))
        low, high = (
            required_bin(
                rates + sign * 2 * error, tails + sign * 2 * tail_error, self.telling, limit
            )
            for sign in (-1, 1)
        )
        return self._edge(low), self._edge(high)

    def _within(self, limit: float) -> int | None:
        """As `_required` by the listed bins alone."""
        rates, tails = self._rates()
        telling = self.telling
        return required_bin(
            self._listed(rates, tails),
            tails[: self.listed],
            self._listed(telling, _from_here_on(telling)),
            limit,
        )

    def _listed(self, closed: Any, from_here_on: Any) -> Any:
        """Values of the listed bins, of which the last is open."""
        return np.append(closed[: self.listed - 1], from_here_on[self.listed - 1])

    def _edge(self, at: int | None) -> float | None:
        return None if at is None else edge(at, self.width)


def _at_least_three(error: Array, rates: Array, counts: IntArray) -> Array:
    """No swap among n comparisons is no rate of 0: two errors are 3/n, the rule of three."""
    return np.where(rates == 0, 1.5 / np.maximum(1, counts), error)


def _from_here_on(counts: IntArray) -> IntArray:
    """Sums over each bin and those above it."""
    return counts[..., ::-1].cumsum(axis=-1)[..., ::-1]
