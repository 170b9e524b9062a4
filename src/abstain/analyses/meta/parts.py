"""What draws and tests say of each measure, as facts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, takewhile
from typing import NamedTuple

import numpy as np

from abstain.analyses.meta.result import (
    Agreement,
    Need,
    Power,
    Requirement,
    Sensitivity,
    Stability,
    StabilityPoint,
    SwapBin,
)
from abstain.analyses.result import number
from abstain.measures import Measure, count_measure
from abstain.measures.arrays import Array
from abstain.stats.agreement import COEFFICIENTS, rounded
from abstain.stats.proportions import all_pairs as all_pairs_p
from abstain.stats.resampling.cells import Outcomes
from abstain.stats.resampling.comparing import StabilityCounts
from abstain.stats.resampling.draws import SAME, Plan, all_pairs
from abstain.stats.resampling.power import (
    exceeding,
    honest_difference,
    honest_ranges,
    significance,
    thinned,
)
from abstain.stats.resampling.sensitivity import EDGE, TIED, SwapCounts, edge
from abstain.stats.resampling.sources import Pairs, Scores, Source
from abstain.stats.resampling.tukey import LEAST_TOPICS
from abstain.stats.resampling.tukey import all_pairs_p as of_means

FIVE = 5
"""Bins that make the difference to advise on, unless one is given."""
FEW_TOPICS = (
    f"Tukey's test of mean scores needs {LEAST_TOPICS} topics or more (there are {{:,}}): fewer do "
    "not show whether scores are skewed, and where they are it finds differences too often"
)
MANY = 10**15
"""Questions beyond which nobody counts."""


def stability_of(measure: str, counts: StabilityCounts) -> Stability:
    """The curve of one measure."""
    columns = (
        counts.fuzziness,
        map(number, counts.error),
        map(number, counts.upsets.errors()),
        map(number, counts.ties.values()),
        map(number, counts.ties.errors()),
    )
    return Stability(
        measure=measure,
        comparisons=counts.comparisons,
        undefined=counts.left_out,
        curve=tuple(
            StabilityPoint(fuzziness=level, error=error, error_se=se, ties=ties, ties_se=ties_se)
            for level, error, se, ties, ties_se in zip(*columns, strict=True)
        ),
    )


def sensitivity_of(measure: str, size: int, counts: SwapCounts) -> Sensitivity:
    """One row of the paper's Table 2, and the swap rates that it comes from."""
    at = counts.required()
    required = counts.edge(at)
    total = int(counts.table.sum())
    reaching, tied = (0, 0) if at is None else counts.reaching(at)
    highest = float(counts.highest) if np.isfinite(counts.highest) else None
    low, high = (None, None) if at is None else counts.required_range()
    bins = zip(
        counts.counts.tolist(), map(number, counts.rates), map(number, counts.rates_se), strict=True
    )
    comparable = required is not None and highest is not None and highest > 0
    return Sensitivity(
        measure=measure,
        size=size,
        width=counts.width,
        required=required,
        within_bins=counts.edge(counts.within_bins()),
        highest=highest,
        relative=required / highest if comparable else None,  # type: ignore[operator]
        sensitivity=None if at is None else reaching / total,
        tied_elsewhere=None if at is None else tied / max(1, reaching),
        comparisons=total,
        ties=int(counts.table[TIED].sum()),
        undefined=counts.left_out,
        required_range=(counts.edge(low), counts.edge(high)),
        bins=tuple(
            SwapBin(start=edge(k, counts.width), count=count, swap_rate=rate, se=se)
            for k, (count, rate, se) in enumerate(bins)
        ),
        reason=counts.why_not() if at is None else "",
    )


def needs_of(
    rows: Sequence[Sensitivity], curve: Sequence[Requirement], difference: float | None
) -> list[Need]:
    """How many questions each measure needs for a difference; five of its bins unless one is given.

    The size of its row is on the curve of a measure too.
    """
    found = []
    for row in rows:
        asked = difference or edge(FIVE, row.width)
        tried = {p.questions: p.required for p in curve if p.measure == row.measure}
        needed = questions_needed(tried | {row.size: row.required}, asked)
        if needed is not None:
            found.append(Need(measure=row.measure, difference=asked, questions=needed))
    return found


def questions_needed(required: dict[int, float | None], difference: float) -> int | None:
    """How many questions make a difference hold, by what each size that was tried requires.

    Where the sizes that were tried reach it, the smallest from which on all do. Beyond them by
    required = a/√questions, as chance differences shrink, with a from the larger half of the sizes.
    Nothing is said where the largest size tells no difference: what smaller ones did was chance.
    More than `MANY` are as many as that.
    """
    if not required or required[max(required)] is None:
        return None
    known = sorted((size, own) for size, own in required.items() if own is not None)
    reached = list(takewhile(lambda tried: tried[1] <= difference, reversed(known)))
    if reached:
        return reached[-1][0]
    upper = [(n, own) for n, own in known if 2 * n >= known[-1][0]]
    a = sum(own * math.sqrt(n) for n, own in upper) / len(upper)
    return math.ceil(min(a / difference, math.sqrt(MANY)) ** 2 - 1e-9)


def powers(source: Source, plan: Plan, full: Array, *, alpha: float) -> list[Power]:
    """Both tests, all pairs, all measures; `full` are the scores on all questions.

    A level of 5 % takes 20 resamples to show, and as many permutations.
    """
    first, second = all_pairs(len(source.runs))
    gaps = np.abs(full[:, first] - full[:, second])
    levels, resampled = significance(source, plan, full)
    enough = math.ceil(1 / alpha - EDGE)
    together = _together(source, plan, gaps, alpha, enough)
    shows = plan.trials >= enough
    few = f"at least {enough:,} resamples are needed for a level of {100 * alpha:.3g} %"
    found = []
    for m, (name, tukey) in enumerate(zip(source.measures, together, strict=True)):
        gap, defined = gaps[m], resampled[m]
        exists = ~np.isnan(gap)
        tested = exists & (defined >= min(enough, plan.trials))
        pairs = int(tested.sum())
        asl = np.sort(levels[m][tested])
        below = int(np.count_nonzero(asl < alpha))
        found.append(
            Power(
                measure=name,
                pairs=pairs,
                alpha=alpha,
                discriminative_power=below / pairs if pairs and shows else None,
                bootstrap=below if shows else None,
                tukey=None if tukey.p is None else int(np.count_nonzero(tukey.p[tested] < alpha)),
                honest_difference=tukey.honest,
                undefined=len(gap) - pairs,
                resamples=int(exists.sum()) * plan.trials,
                undefined_resamples=int((plan.trials - defined[exists]).sum()),
                undefined_permutations=tukey.incomplete,
                asl=tuple(float(v) for v in thinned(asl)),
                reason=tukey.why_not if shows else few,
            )
        )
    return found


class _Tukey(NamedTuple):
    """What Tukey's test finds by one measure."""

    p: Array | None
    """Of all pairs; None: there is no verdict."""
    honest: float | None = None
    incomplete: int = 0
    why_not: str = ""


def _together(
    source: Source, plan: Plan, gaps: Array, alpha: float, enough: int
) -> Iterator[_Tukey]:
    """Tukey's test by each measure: of means by t, of ratios by standard errors, else by gaps."""
    pairs = all_pairs(len(source.runs))
    if isinstance(source, Scores):
        few = source.questions < LEAST_TOPICS
        why = FEW_TOPICS.format(source.questions) if few else ""
        none = few or plan.trials < enough
        rows = [None] * len(gaps) if none else of_means(source, plan, pairs)
        yield from (_Tukey(p, why_not=why) for p in rows)
        return
    ranges, incomplete = honest_ranges(source, plan)
    for m, largest in enumerate(ranges):
        separable, varies = np.count_nonzero(~np.isnan(largest)) >= enough, _varying(source, m)
        p: Array | None
        if varies is None:
            p, why = exceeding(largest, gaps[m], slack=SAME * source.spans[m]), ""
        else:
            p, why = _over_errors(source, varies, pairs, plan)
        honest = honest_difference(largest, alpha) if separable and varies is None else None
        yield _Tukey(p if separable else None, honest, int(incomplete[m]), why)


def _varying(source: Source, number: int) -> Measure | None:
    """The measure, where what it divides by varies from run to run."""
    formula = count_measure(source.measures[number])
    return formula if formula.definition.studentised else None


def _over_errors(
    source: Source, formula: Measure, pairs: Pairs, plan: Plan
) -> tuple[Array | None, str]:
    """p of all pairs by differences over their standard errors; or why there is none.

    Permuted cells would make all runs alike in what they answer.
    """
    if not isinstance(source, Outcomes) or formula.definition.proportion is None:
        return None, (
            f"the denominator of {formula} varies from run to run: all pairs can then be tested "
            "together only if the measure is a proportion and the outcome of each question is known"
        )
    tables = source.trials(pairs, formula)
    return all_pairs_p(tables, pairs, trials=plan.trials, seed=plan.seed), ""


def agreements(
    measures: Sequence[str], scores: Array, directions: Sequence[int]
) -> list[Agreement]:
    """All pairs of measures; scores are measures × runs."""
    found = []
    for i, j in combinations(range(len(measures)), 2):
        x, y = scores[i] * directions[i], scores[j] * directions[j]
        both = ~np.isnan(x) & ~np.isnan(y)
        found.append(_agreement((measures[i], measures[j]), x[both], y[both]))
    return found


def _agreement(measures: tuple[str, str], x: Array, y: Array) -> Agreement:
    x, y = rounded(x), rounded(y)
    flat = [m for m, v in zip(measures, (x, y), strict=True) if len(v) < 2 or np.ptp(v) == 0]
    reason = ""
    if flat:
        few = f"only {len(x)} of the runs have both scores"
        reason = few if len(x) < 2 else f"all runs have the same {flat[0]}"
    values = {name: None if flat else of(x, y) for name, of in COEFFICIENTS.items()}
    return Agreement(measures=measures, runs=len(x), reason=reason, **values)
