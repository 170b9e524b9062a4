"""What all comparisons do with their pairs: which there are, what comes out, groups, a plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.compare.options import Options
from abstain.analyses.compare.result import Pair, Plan, ends, number
from abstain.errors import UnknownNameError, UsageError, option
from abstain.stats.intervals import Interval
from abstain.stats.letters import letter_groups, letters
from abstain.stats.multiplicity import adjust
from abstain.stats.planning import plan
from abstain.stats.randomisation import PValue

if TYPE_CHECKING:
    from abstain.outcomes import Array, IntArray

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
    runs: Sequence[str], order: Sequence[int], against: str | None
) -> list[tuple[int, int]]:
    """The pairs (run, against): all of them, the better first; or each against the one named."""
    if against is not None:
        if against not in runs:
            more = ", …" if len(runs) > MOST_NAMED else ""
            there_are = f"there are {', '.join(runs[:MOST_NAMED])}{more}"
            raise UnknownNameError("run", against, runs, hint=there_are)
        at = runs.index(against)
        return [(i, at) for i in order if i != at]
    if len(runs) == 2:
        return [(1, 0)]
    if len(runs) * (len(runs) - 1) // 2 > MOST_PAIRS:
        raise UsageError(
            f"{len(runs):,} runs make more than {MOST_PAIRS:,} pairs; compare them with one: "
            f"{option('against', 'RUN')}"
        )
    return [(i, j) for at, i in enumerate(order) for j in order[at + 1 :]]


def adjusted_pairs(differences: Array, tested: Sequence[PValue], options: Options) -> Array:
    """The p-values of all pairs, corrected; a pair without a difference is not one of them."""
    p = np.where(np.isnan(differences), np.nan, [t.p for t in tested])
    return adjust(p, options.corrected_by)


def made_pairs(
    names: Sequence[str],
    wanted: Sequence[tuple[int, int]],
    options: Options,
    *,
    differences: Array,
    spans: Sequence[Interval],
    errors: Array,
    tested: Sequence[PValue],
    adjusted: Array,
    questions: int,
    undefined_swaps: Sequence[int] | IntArray | None = None,
) -> tuple[Pair, ...]:
    """Pairs from what was found of each; where there is no difference there is no p."""
    found = []
    for k, (i, j) in enumerate(wanted):
        corrected = number(adjusted[k])
        found.append(
            Pair(
                run=names[i],
                against=names[j],
                difference=number(differences[k]),
                interval=ends(spans[k]),
                no_interval="" if math.isnan(differences[k]) else spans[k].why_not,
                standard_error=number(errors[k]),
                p=None if math.isnan(differences[k]) else number(tested[k].p),
                p_adjusted=corrected,
                differs=None if corrected is None else options.finds(corrected),
                exact=bool(tested[k].exact),
                questions=questions,
                undefined_swaps=0 if undefined_swaps is None else int(undefined_swaps[k]),
            )
        )
    return tuple(found)


def bootstrap_p(values: Array) -> float:
    """Twice the smaller share of resamples on either side of no difference."""
    low = int(np.count_nonzero(~(values > 0)))
    high = int(np.count_nonzero(~(values < 0)))
    return min(1.0, 2 * (min(low, high) + 1) / (len(values) + 1))


def letters_of(
    pairs: Sequence[Pair], ordered: Sequence[str], options: Options
) -> dict[str, str] | None:
    """The letters of runs, by the pairs found different; None: none to show."""
    if options.against is not None or len(ordered) < 3:
        return None
    place = {run: i for i, run in enumerate(ordered)}
    different = [(place[p.run], place[p.against]) for p in pairs if p.differs]
    groups = letter_groups(len(ordered), different)
    if groups is None:
        return None
    return dict(zip(ordered, letters(len(ordered), groups), strict=True))


def least_units(alpha: float) -> int:
    """The questions or clusters with which a test by signs can have a p of alpha: 2^(1 − G)."""
    return max(2, math.ceil(1 - math.log2(alpha) - 1e-9))


def plan_of(
    errors: Array, questions: int, options: Options, clusters: int | None = None
) -> Plan | None:
    """A plan from the middle standard error of all pairs."""
    known = errors[~np.isnan(errors) & (errors > 0)]
    if options.detect is not None and len(known):
        error = float(np.median(known))
        if options.detect < error * LEAST_DETECTED:
            raise UsageError(
                f"a difference of {options.detect:g} is too small to plan for, beside a standard "
                f"error of {error:.2g}"
            )
    found = plan(
        float(np.median(known)) if len(known) else math.nan,
        questions,
        units=clusters,
        least_units=2 if options.test == "bootstrap" else least_units(options.alpha),
        detect=options.detect,
        power=options.power,
        level=options.level,
    )
    if found is None:
        return None
    return Plan(
        visible=found.visible,
        power_asked=found.power_asked,
        detect=found.detect,
        power=found.power,
        needed=found.needed,
    )
