"""What all comparisons do with their pairs: which there are, what comes out, groups, a plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.compare.result import Pair, Settings
from abstain.errors import UnknownNameError, UsageError, option
from abstain.stats.intervals import Interval
from abstain.stats.letters import letter_groups, letters
from abstain.stats.multiplicity import adjust
from abstain.stats.planning import Plan, plan
from abstain.stats.randomisation import PValue

if TYPE_CHECKING:
    from abstain.outcomes import Array

MOST_PAIRS = 20_000
MOST_NAMED = 6
LEAST_DETECTED = 1e-6


def best_first(scores: Sequence[float] | Array, runs: Sequence[str], *, higher: bool) -> list[int]:
    """Runs from the best to the worst, the undefined last."""
    sign = -1 if higher else 1
    return sorted(
        range(len(scores)),
        key=lambda i: (
            bool(np.isnan(scores[i])),
            sign * float(np.nan_to_num(scores[i])),
            runs[i],
        ),
    )


def wanted_pairs(
    runs: Sequence[str], order: Sequence[int], reference: str | None
) -> list[tuple[int, int]]:
    """The pairs (run, against): all of them, the better first; or each against a reference."""
    if reference is not None:
        if reference not in runs:
            more = ", …" if len(runs) > MOST_NAMED else ""
            there_are = f"there are {', '.join(runs[:MOST_NAMED])}{more}"
            raise UnknownNameError("run", reference, runs, hint=there_are)
        at = runs.index(reference)
        return [(i, at) for i in order if i != at]
    if len(runs) == 2:
        return [(1, 0)]
    if len(runs) * (len(runs) - 1) // 2 > MOST_PAIRS:
        raise UsageError(
            f"{len(runs):,} runs make more than {MOST_PAIRS:,} pairs; compare them with one: "
            f"{option('against', 'RUN')}"
        )
    return [(i, j) for at, i in enumerate(order) for j in order[at + 1 :]]


def adjusted_pairs(differences: Array, tested: Sequence[PValue], settings: Settings) -> Array:
    """The p-values of all pairs, corrected; a pair without a difference is not one of them."""
    p = np.where(np.isnan(differences), np.nan, [t.p for t in tested])
    return adjust(p, settings.correction)


def made_pairs(
    names: Sequence[str],
    wanted: Sequence[tuple[int, int]],
    *,
    differences: Array,
    spans: Sequence[Interval],
    errors: Array,
    tested: Sequence[PValue],
    adjusted: Array,
    questions: int,
) -> tuple[Pair, ...]:
    """Pairs from what was found of each; where there is no difference there is no p."""
    return tuple(
        Pair(
            names[i],
            names[j],
            float(differences[k]),
            spans[k],
            float(errors[k]),
            math.nan if math.isnan(differences[k]) else tested[k].p,
            float(adjusted[k]),
            tested[k].exact,
            questions,
        )
        for k, (i, j) in enumerate(wanted)
    )


def bootstrap_p(values: Array) -> float:
    """Twice the smaller share of resamples on either side of no difference."""
    low = int(np.count_nonzero(~(values > 0)))
    high = int(np.count_nonzero(~(values < 0)))
    return min(1.0, 2 * (min(low, high) + 1) / (len(values) + 1))


def letters_of(
    pairs: Sequence[Pair], ordered: Sequence[str], settings: Settings
) -> list[str] | None:
    """The letters of runs, the best first, by the pairs found different; None: none to show."""
    if settings.reference is not None or len(ordered) < 3:
        return None
    place = {run: i for i, run in enumerate(ordered)}
    different = [(place[p.run], place[p.against]) for p in pairs if settings.finds(p.adjusted)]
    groups = letter_groups(len(ordered), different)
    return None if groups is None else letters(len(ordered), groups)


def least_units(alpha: float) -> int:
    """The questions or clusters with which a test by signs can have a p of alpha: 2^(1 − G)."""
    return max(2, math.ceil(1 - math.log2(alpha) - 1e-9))


def plan_of(
    errors: Array, questions: int, settings: Settings, clusters: int | None = None
) -> Plan | None:
    """A plan from the middle standard error of all pairs."""
    known = errors[~np.isnan(errors) & (errors > 0)]
    if settings.detect is not None and len(known):
        error = float(np.median(known))
        if settings.detect < error * LEAST_DETECTED:
            raise UsageError(
                f"a difference of {settings.detect:g} is too small to plan for, beside a standard "
                f"error of {error:.2g}"
            )
    return plan(
        float(np.median(known)) if len(known) else math.nan,
        questions,
        units=clusters,
        least_units=2 if settings.test == "bootstrap" else least_units(settings.alpha),
        detect=settings.detect,
        power=settings.power,
        level=settings.level,
    )
