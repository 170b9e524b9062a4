"""Stability and sensitivity in one pass: the first subset of a swap is a subset too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from abstain.stats.comparisons import SAME, gap_of
from abstain.stats.resampling.draws import Block, Plan, all_pairs, batches, subsets
from abstain.stats.resampling.sensitivity import ROOM, SwapTally, bins_for, swaps_of
from abstain.stats.resampling.sources import Source
from abstain.stats.resampling.stability import StabilityTally, Wins, wins_of

if TYPE_CHECKING:
    from abstain.outcomes import Array, IntArray

Compared: TypeAlias = "tuple[Wins | None, tuple[IntArray, int] | None, float]"
"""What a block says of a measure, with its highest score."""
Use: TypeAlias = "Callable[[Block], list[Compared]]"
Tallies: TypeAlias = tuple[list[StabilityTally], list[SwapTally]]


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

    def drawn(self, plan: Plan, *, path: int, stable: bool, swapping: bool) -> Tallies:
        """All trials of all pairs, a tally a measure; `path` names the random stream."""

        def chunks(use: Use) -> Iterable[Iterable[list[Compared]]]:
            return subsets(self.source, plan, use, part=path, disjoint=swapping)

        return self.tallied(chunks, stable=stable, swapping=swapping)

    def tallied(
        self,
        chunks: Callable[[Use], Iterable[Iterable[list[Compared]]]],
        *,
        stable: bool,
        swapping: bool,
    ) -> Tallies:
        """Chunks of trials of all pairs, each in blocks, added up."""
        measures = range(len(self.source.measures))
        wins = [StabilityTally(self.pairs, self.levels.tolist()) for _ in measures]
        swaps = [
            SwapTally(width=width, bins=bins, listed=self.listed, limit=self.limit)
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
        """One measure on a block."""
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
