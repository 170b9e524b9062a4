"""Judge the measures of a source: every part, from the draws to the advice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from abstain.analyses.meta.advice import advice_of
from abstain.analyses.meta.agreement import agreements
from abstain.analyses.meta.bins import bins_for, natural_width
from abstain.analyses.meta.draws import Block, Plan, all_pairs, batches, subsets
from abstain.analyses.meta.notes import notes_of
from abstain.analyses.meta.power import Power, discriminative_power
from abstain.analyses.meta.result import MetaResult, Requirement
from abstain.analyses.meta.settings import Settings
from abstain.analyses.meta.sources import Source
from abstain.analyses.meta.stability import Stability, StabilityTally, Wins, wins_of
from abstain.analyses.meta.swap import ROOM, Swap, Swaps, SwapTally, swaps_of
from abstain.stats.comparisons import SAME, gap_of

if TYPE_CHECKING:
    from abstain.outcomes import Array

Compared: TypeAlias = tuple[Wins | None, Swaps | None, float]
"""What a block says of a measure, with its highest score."""
Use: TypeAlias = Callable[[Block], list[Compared]]
CURVE = 10
"""Where the random streams of the curve begin; those before it belong to the other parts."""


def evaluate(
    source: Source,
    *,
    notes: Sequence[str] = (),
    policy: Mapping[str, str] | None = None,
    touched: Mapping[str, int] | None = None,
    **options: Any,
) -> MetaResult:
    """Judge the measures of a source; `options` are those of `Settings`."""
    settings = Settings(**options)
    settings.check(source)
    parts = settings.parts
    plan = settings.plan(source)
    full = source.full()
    widths = [settings.width or natural_width(span) for span in source.spans]
    stability: list[Stability] = []
    swap: list[Swap] = []
    requirements: list[Requirement] = []
    if "stability" in parts or "sensitivity" in parts:
        comparing = Comparing(source, full, settings, widths)
        stability, swap = comparing.drawn(plan, parts=parts, path=0)
        if "sensitivity" in parts:
            requirements = comparing.curve(plan, swap)
    power: list[Power] = []
    if "power" in parts:
        drawing = settings.plan(source, trials=settings.resamples)
        alpha = round(1 - settings.confidence / 100, 12)
        power = discriminative_power(source, drawing, full, alpha=alpha)
    agreement = agreements(source.measures, full, source.directions) if "agreement" in parts else []
    said = notes_of(source, full, settings, stability, swap, requirements, power)
    return MetaResult(
        runs=tuple(source.runs),
        questions=source.questions,
        measures=tuple(source.measures),
        scores=tuple(tuple(None if v != v else float(v) for v in own) for own in full),
        plan=plan,
        resamples=int(settings.resamples),
        confidence=float(settings.confidence),
        parts=parts,
        stability=tuple(stability),
        swap=tuple(swap),
        requirements=tuple(requirements),
        power=tuple(power),
        agreement=tuple(agreement),
        advice=advice_of(swap, requirements, source, settings.difference) if swap else "",
        notes=(*notes, *said),
        policy=policy,
        touched=touched,
    )


class Comparing:
    """Stability and swap in one pass: the first subset of a swap is a subset too."""

    def __init__(
        self, source: Source, full: Array, settings: Settings, widths: Sequence[float]
    ) -> None:
        self.source, self.settings, self.widths = source, settings, widths
        first, second = all_pairs(len(source.runs))
        self.pairs = len(first)
        self.leads = full[:, first] >= full[:, second]
        highest = np.nanmax(np.abs(full), axis=1, initial=0.0)
        self.same = (SAME * np.maximum(highest, source.spans)).tolist()
        self.bins = bins_for(source.spans, widths, settings.bins)
        self.levels = np.array(settings.levels)

    def drawn(
        self, plan: Plan, *, parts: Sequence[str], path: int
    ) -> tuple[list[Stability], list[Swap]]:
        """All trials of all pairs; `path` names the random stream."""
        disjoint = "sensitivity" in parts

        def chunks(use: Use) -> Iterable[Iterable[list[Compared]]]:
            return subsets(self.source, plan, use, part=path, disjoint=disjoint)

        return self.tallied(chunks, size=plan.size, parts=parts)

    def tallied(
        self,
        chunks: Callable[[Use], Iterable[Iterable[list[Compared]]]],
        *,
        size: int,
        parts: Sequence[str],
    ) -> tuple[list[Stability], list[Swap]]:
        """Chunks of trials of all pairs, each in blocks, added up."""
        names = self.source.measures
        wins = [StabilityTally(name, self.pairs, self.levels.tolist()) for name in names]
        swaps = [
            SwapTally(name, size=size, width=width, bins=bins, listed=self.settings.bins)
            for name, width, bins in zip(names, self.widths, self.bins, strict=True)
        ]
        stable, swapping = "stability" in parts, "sensitivity" in parts

        def use(block: Block) -> list[Compared]:
            return [
                self._compared(block, m, stable=stable, swapping=swapping)
                for m in range(len(names))
            ]

        for blocks in chunks(use):
            for block in blocks:
                for m, (won, swapped, highest) in enumerate(block):
                    if won is not None:
                        wins[m].add(won)
                    if swapped is not None:
                        swaps[m].add(swapped, highest)
            for m in range(len(names)):
                wins[m].close()
                swaps[m].close()
        return (
            [tally.result() for tally in wins] if stable else [],
            [tally.result(float(self.settings.confidence)) for tally in swaps] if swapping else [],
        )

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

    def curve(self, plan: Plan, swap: Sequence[Swap]) -> list[Requirement]:
        """The difference required by the number of questions; `swap` is one point of it."""
        found = []
        for number, size in enumerate(self.settings.curve_sizes(self.source)):
            rows = swap
            if size != plan.size:
                again = plan.of_size(size)
                _, rows = self.drawn(again, parts=["sensitivity"], path=CURVE + number)
            found += [Requirement(row.measure, size, row.required) for row in rows]
        return found
