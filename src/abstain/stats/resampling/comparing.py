"""Stability and sensitivity in one pass: the first subset of a swap is a subset too.

Stability (Buckley and Voorhees 2000): how often another sample reverses two runs.

For every pair of runs and every trial, a random subset of the questions: the runs tie when they
differ by less than `fuzziness` times the larger score, else the larger one wins. The error rate is
the share of comparisons that the minority direction of each pair wins; ties are counted apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from abstain.measures.arrays import Array, BoolArray, IntArray
from abstain.stats.resampling.draws import (
    SAME,
    Block,
    Gap,
    Plan,
    Ratio,
    all_pairs,
    batches,
    gap_of,
    histogram,
    subsets,
)
from abstain.stats.resampling.sensitivity import ROOM, SwapCounts, bins_for, swaps_of
from abstain.stats.resampling.sources import Source

FUZZINESS = tuple(round(0.01 * k, 2) for k in range(1, 11))

Wins: TypeAlias = "tuple[slice, IntArray, IntArray, IntArray, int]"
"""Some pairs; how often either run wins, by pair and by batch (each × directions × fuzziness; the
second direction is an upset, a win of the run that is behind on all questions); how many
comparisons exist in each batch, and how many do not."""
Compared: TypeAlias = "tuple[Wins | None, tuple[IntArray, int] | None, float]"
"""What a block says of a measure, with its highest score."""
Use: TypeAlias = "Callable[[Block], list[Compared]]"
Found: TypeAlias = "tuple[list[StabilityCounts], list[SwapCounts]]"


class Comparing:
    """Compares all pairs of runs on random subsets of the questions."""

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

    def drawn(self, plan: Plan, *, path: int, stable: bool, swapping: bool) -> Found:
        """All trials of all pairs, counts for each measure; `path` names the random stream."""

        def chunks(use: Use) -> Iterable[Iterable[list[Compared]]]:
            return subsets(self.source, plan, use, part=path, disjoint=swapping)

        return self.counted(chunks, stable=stable, swapping=swapping)

    def counted(
        self,
        chunks: Callable[[Use], Iterable[Iterable[list[Compared]]]],
        *,
        stable: bool,
        swapping: bool,
    ) -> Found:
        """Chunks of trials of all pairs, each in blocks, added up."""
        measures = range(len(self.source.measures))
        wins = [StabilityCounts(self.pairs, self.levels.tolist()) for _ in measures]
        swaps = [
            SwapCounts(width=width, bins=bins, listed=self.listed, limit=self.limit)
            for width, bins in zip(self.widths, self.bins, strict=True)
        ]

        def use(block: Block) -> list[Compared]:
            return [self._compared(block, m, stable=stable, swapping=swapping) for m in measures]

        for blocks in chunks(use):
            for block in blocks:
                for m, (won, swapped, highest) in enumerate(block):
                    if won is not None:
                        wins[m].add(won)
                    if swapped is not None:
                        swaps[m].add(*swapped, highest)
            for m in measures:
                wins[m].close()
                swaps[m].close()
        return wins if stable else [], swaps if swapping else []

    def _compared(self, block: Block, m: int, *, stable: bool, swapping: bool) -> Compared:
        x, y, *elsewhere = block.of(m)
        same, trials = self.same[m], x.shape[1]
        gap = gap_of(x, y, same)
        won = swapped = None
        if stable:
            won = wins_of(
                x,
                y,
                gap,
                pairs=block.pairs,
                levels=self.levels,
                leads=self.leads[m, block.pairs],
                same=same,
                batch=batches(trials),
            )
        if swapping:
            swapped = swaps_of(
                gap,
                gap_of(elsewhere[0], elsewhere[1], same),
                width=self.widths[m],
                bins=self.bins[m],
                batch=batches(trials, ROOM // self.bins[m]),
            )
        highest = np.fmax.reduce([np.fmax.reduce(own[m], axis=None) for own in block.scores])
        return won, swapped, float(highest)


def wins_of(
    x: Array,
    y: Array,
    gap: Gap,
    *,
    pairs: slice,
    levels: Array,
    leads: BoolArray,
    same: float,
    batch: npt.NDArray[np.int32],
) -> Wins:
    """Count wins for all fuzziness values in one pass.

    A comparison is won at a fuzziness f iff |difference| ≥ f·|larger score|, so one number says
    at how many of the (ascending) values it is. `leads` says of each pair whether its first run
    is ahead on all questions.
    """
    won = _reached(x, y, gap, levels, same)
    steps = len(levels) + 1
    upset = gap.behind == leads[:, None]
    won += upset * won.dtype.type(steps)
    count, batched = len(x), int(batch[-1]) + 1
    of_pair = np.arange(count, dtype=np.int32)[:, None] * (2 * steps)
    by_pair = histogram(of_pair + won, count, 2, steps)
    by_batch = histogram(batch * np.int32(2 * steps) + won, batched, 2, steps)
    defined = np.bincount(batch) * count
    if gap.missing is not None:
        gone = np.bincount(batch, weights=gap.missing.sum(axis=0)).astype(np.int64)
        defined = defined - gone
    left_out = x.size - int(defined.sum())
    return pairs, _at_least(by_pair), _at_least(by_batch), defined, left_out


def _reached(
    x: Array, y: Array, gap: Gap, levels: Array, same: float
) -> npt.NDArray[np.unsignedinteger]:
    """How many of a few levels each comparison reaches: quicker than a search in them."""
    larger = np.maximum(x, y)
    np.abs(larger, out=larger)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.divide(gap.size + same, larger, out=larger)
    won = np.zeros(ratio.shape, np.uint8 if 2 * len(levels) < 250 else np.uint32)
    reached = np.empty(ratio.shape, np.bool_)
    for level in levels:
        np.greater_equal(ratio, level, out=reached)
        won += reached
    won *= gap.differs
    return won


def _at_least(counts: IntArray) -> IntArray:
    """From how many were won at exactly k values to how many at the k-th value."""
    return counts[..., :0:-1].cumsum(axis=-1)[..., ::-1]


class StabilityCounts:
    """Adds up what the pairs of one measure say."""

    def __init__(self, pairs: int, fuzziness: Sequence[float]) -> None:
        self.fuzziness = tuple(fuzziness)
        self.by_pair = np.zeros((pairs, 2, len(fuzziness)), np.int64)
        self.upsets, self.ties = Ratio((len(fuzziness),)), Ratio((len(fuzziness),))
        self.left_out = 0
        """Comparisons without a score of one of the runs."""
        self.chunk: tuple[IntArray, IntArray] | None = None

    def add(self, wins: Wins) -> None:
        """Some pairs of the chunk of trials that is being drawn."""
        pairs, by_pair, by_batch, defined, left_out = wins
        self.by_pair[pairs] += by_pair
        before = self.chunk or (0, 0)
        self.chunk = before[0] + by_batch, before[1] + defined
        self.left_out += left_out

    def close(self) -> None:
        """All pairs of the chunk are in: its batches say how much trials differ."""
        if self.chunk:
            by_batch, defined = self.chunk
            self.upsets.add(by_batch[:, 1], defined[:, None])
            self.ties.add(defined[:, None] - by_batch.sum(axis=1), defined[:, None])
            self.chunk = None

    @property
    def comparisons(self) -> int:
        """Comparisons that exist."""
        return int(self.ties.below[0])

    @property
    def error(self) -> Array:
        """The error rate at each fuzziness; its Monte Carlo error is that of the upsets."""
        minority = self.by_pair.min(axis=1).sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(minority / self.ties.below)
