"""What has to be said beside the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.meta.bins import WIDTH, edge
from abstain.analyses.meta.power import Power
from abstain.analyses.meta.settings import Settings, one_measure
from abstain.analyses.meta.sources import Source
from abstain.analyses.meta.stability import Stability
from abstain.analyses.meta.swap import Swap
from abstain.errors import plural
from abstain.stats.comparisons import SAME

if TYPE_CHECKING:
    from abstain.analyses.meta.result import Requirement
    from abstain.outcomes import Array


def notes_of(
    source: Source,
    full: Array,
    settings: Settings,
    stability: Sequence[Stability],
    swap: Sequence[Swap],
    requirements: Sequence[Requirement],
    power: Sequence[Power],
) -> list[str]:
    """Every note, in the order of the parts."""
    found = [*_undefined_on_all(source, full), *_left_out(stability, swap)]
    if settings.trials == 1 and stability:
        found.append("a single trial cannot contradict itself: its error rate is 0 whatever it is")
    if settings.trials == 1 and swap:
        found.append("a single trial has no Monte Carlo error: take more trials")
    if settings.width is None:
        found += _widths(source, swap)
    found += [*_beyond(swap), *_tied_elsewhere(swap), *_rising(source, requirements)]
    found += _not_resampled(power)
    if "agreement" in settings.parts and len(source.measures) < 2:
        found.append(one_measure(source))
    return found


def _undefined_on_all(source: Source, full: Array) -> list[str]:
    found = []
    for m, name in enumerate(source.measures):
        gone = [source.runs[i] for i in np.flatnonzero(np.isnan(full[m]))]
        if gone:
            some = ", ".join(gone[:3]) + (f" and {len(gone) - 3} more" if len(gone) > 3 else "")
            found.append(f"{name} does not exist for {some}, on all questions")
        elif np.ptp(full[m]) <= SAME * np.abs(full[m]).max():
            found.append(f"all runs have the same {name}")
    return found


def _left_out(stability: Sequence[Stability], swap: Sequence[Swap]) -> list[str]:
    """How many comparisons a measure could not make."""
    found = []
    for item in swap or stability:
        if item.undefined:
            total = item.comparisons + item.undefined
            found.append(
                f"{item.measure} did not exist for one of two runs in {item.undefined:,} of "
                f"{total:,} comparisons; they are left out"
            )
    return found


def _not_resampled(power: Sequence[Power]) -> list[str]:
    """Where the tests of power had less to go by."""
    found = []
    for item in power:
        if item.undefined_resamples:
            found.append(
                f"{item.measure} did not exist for one of two runs in "
                f"{item.undefined_resamples:,} of {item.resamples:,} resamples of pairs; they are "
                "left out of the bootstrap"
            )
        if item.undefined:
            found.append(
                f"{plural(item.undefined, 'pair is', 'pairs are')} not tested by {item.measure}, "
                "which exists for both runs on too few resamples, or not at all"
            )
        if item.undefined_permutations:
            found.append(
                f"{item.measure} did not exist for some run in "
                f"{plural(item.undefined_permutations, 'permutation')} of Tukey's test, which "
                "takes the others"
            )
    return found


def _widths(source: Source, swap: Sequence[Swap]) -> list[str]:
    """Scores on another scale than the papers' have bins on theirs."""
    return [
        f"{row.measure} spans {span:g}, so its bins are {row.width:g} wide (the width can be set)"
        for row, span in zip(swap, source.spans, strict=False)
        if row.width != WIDTH
    ]


def _beyond(swap: Sequence[Swap]) -> list[str]:
    """Where the required difference lies beyond the bins that are listed."""
    found = []
    for row in swap:
        last = edge(len(row.counts) - 1, row.width)
        if row.required is not None and row.required > last:
            alone = "would not do" if row.within_bins is None else f"would say {row.within_bins:g}"
            found.append(
                f"{row.measure} requires {row.required:g}, which further bins of the same width "
                f"tell: the {len(row.counts):,} that are listed, the last open from {last:g} on, "
                f"{alone} (a larger number of bins lists more)"
            )
    return found


def _tied_elsewhere(swap: Sequence[Swap]) -> list[str]:
    """A difference that other questions do not show is not reversed, but not kept either."""
    return [
        f"{row.measure}: {100 * row.tied_elsewhere:.0f} % of the differences that are large enough "
        "are ties on the other questions, which are no swaps"
        for row in swap
        if row.tied_elsewhere is not None and row.tied_elsewhere > 1 - row.confidence / 100
    ]


def _rising(source: Source, requirements: Sequence[Requirement]) -> list[str]:
    """More questions cannot require more: where they seem to, it is chance."""
    found = []
    for name in source.measures:
        own = [p for p in requirements if p.measure == name and p.required is not None]
        for fewer, more in pairwise(own):
            if (more.required or 0) > (fewer.required or 0):
                found.append(
                    f"{name} seems to require more on {more.questions:,} questions than on "
                    f"{fewer.questions:,}: that is chance, which more trials make smaller"
                )
                break
    return found
