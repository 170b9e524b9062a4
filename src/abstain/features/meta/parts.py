"""The facts of each part of `meta`: stability, sensitivity, power, agreement."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, takewhile

import numpy as np
from msgspec import convert

from abstain.features.meta.result import (
    Agreement,
    Need,
    Power,
    Requirement,
    Sensitivity,
    Stability,
    StabilityPoint,
    SwapBin,
)
from abstain.measures import count_measure
from abstain.measures.definition import Array
from abstain.report.result import finite, number
from abstain.stats.orderings import COEFFICIENTS, rounded
from abstain.stats.resampling.draws import SAME, Plan, all_pairs
from abstain.stats.resampling.power import (
    LEAST_TOPICS,
    all_pairs_p,
    exceeding,
    honest_difference,
    honest_ranges,
    significance,
    thinned,
)
from abstain.stats.resampling.reversals import EDGE, TIED, StabilityCounts, SwapCounts, edge
from abstain.stats.resampling.samplers import Scores, Source

DEFAULT_BINS = 5
"""Bins that make the default difference to advise on."""
TWO_MEASURES = "agreement needs at least two measures"
MANY = 10**15
"""The largest number of questions that is reported."""


def stability_of(measure: str, counts: StabilityCounts) -> Stability:
    ties, upsets = counts.ties, counts.upsets
    names = ("fuzziness", "error", "error_se", "ties", "ties_se")
    columns = (counts.fuzziness, counts.error, upsets.errors(), ties.values(), ties.errors())
    points = zip(*(map(number, column) for column in columns), strict=True)
    return Stability(
        measure=measure,
        comparisons=counts.comparisons,
        undefined=counts.undefined,
        curve=tuple(convert(dict(zip(names, p, strict=True)), StabilityPoint) for p in points),
    )


def sensitivity_of(measure: str, size: int, counts: SwapCounts) -> Sensitivity:
    """One row of the paper's Table 2, and the swap rates that it comes from."""
    at = counts.required()
    required, total = counts.edge(at), int(counts.table.sum())
    reaching, tied = (0, 0) if at is None else counts.reaching(at)
    low, high = (None, None) if at is None else counts.required_range()
    highest = finite(counts.highest)
    listed, *rates = counts.by_listed_bin()
    bins = enumerate(zip(listed.tolist(), *(map(number, each) for each in rates), strict=True))
    return Sensitivity(
        measure=measure,
        size=size,
        width=counts.width,
        required=required,
        within_bins=counts.edge(counts.within_bins()),
        highest=highest,
        relative=None if required is None or not (highest or 0) > 0 else required / (highest or 1),
        sensitivity=None if at is None else reaching / total,
        tied_elsewhere=None if at is None else tied / max(1, reaching),
        comparisons=total,
        ties=int(counts.table[TIED].sum()),
        undefined=counts.undefined,
        required_range=(counts.edge(low), counts.edge(high)),
        bins=tuple(
            SwapBin(start=edge(k, counts.width), count=count, swap_rate=rate, se=se)
            for k, (count, rate, se) in bins
        ),
        reason=counts.why_not() if at is None else "",
    )


def needs_of(
    rows: Sequence[Sensitivity], curve: Sequence[Requirement], difference: float | None
) -> list[Need]:
    """How many questions each measure needs for a difference; by default of five of its bins."""
    needs = []
    for row in rows:
        goal = difference or edge(DEFAULT_BINS, row.width)
        required = {p.questions: p.required for p in curve if p.measure == row.measure}
        needed = questions_needed(required | {row.size: row.required}, goal)
        if needed is not None:
            needs.append(Need(measure=row.measure, difference=goal, questions=needed))
    return needs


def questions_needed(required: dict[int, float | None], difference: float) -> int | None:
    """How many questions make a difference hold, from the difference required by size.

    The smallest size from which on all reach it; beyond the sizes tried, required = a/√questions
    with a from the larger half of them. None where the largest size has no required difference:
    smaller ones had theirs by chance. At most `MANY`.
    """
    if not required or required[max(required)] is None:
        return None
    known = sorted((size, gap) for size, gap in required.items() if gap is not None)
    reached = list(takewhile(lambda tried: tried[1] <= difference, reversed(known)))
    if reached:
        return reached[-1][0]
    upper = [(n, gap) for n, gap in known if 2 * n >= known[-1][0]]
    a = sum(gap * math.sqrt(n) for n, gap in upper) / len(upper)
    return math.ceil(min(a / difference, math.sqrt(MANY)) ** 2 - 1e-9)


def powers(source: Source, plan: Plan, full: Array, *, alpha: float) -> list[Power]:
    """Both tests, all pairs, all measures; `full` are the scores on all questions.

    A level of 5 % takes 20 resamples to show, and as many permutations.
    """
    first, second = all_pairs(len(source.runs))
    gaps = np.abs(full[:, first] - full[:, second])
    levels, resampled = significance(source, plan, full)
    enough = math.ceil(1 / alpha - EDGE)
    shows = plan.trials >= enough
    few = f"at least {enough:,} resamples are needed for a level of {100 * alpha:.3g} %"
    tests = _tukey_tests(source, plan, gaps, alpha, enough)
    rows = []
    every = zip(source.measures, tests, gaps, levels, resampled, strict=True)
    for name, (p, honest, lost, reason), gap, asl, defined in every:
        exists = ~np.isnan(gap)
        tested = exists & (defined >= min(enough, plan.trials))
        pairs, sorted_asl = int(tested.sum()), np.sort(asl[tested])
        below = int(np.count_nonzero(sorted_asl < alpha))
        rows.append(
            Power(
                measure=name,
                pairs=pairs,
                alpha=alpha,
                discriminative_power=below / pairs if pairs and shows else None,
                bootstrap=below if shows else None,
                tukey=None if p is None else int(np.count_nonzero(p[tested] < alpha)),
                honest_difference=honest,
                undefined=len(gap) - pairs,
                resamples=int(exists.sum()) * plan.trials,
                undefined_resamples=int((plan.trials - defined[exists]).sum()),
                undefined_permutations=lost,
                asl=tuple(thinned(sorted_asl).tolist()),
                reason=reason if shows else few,
            )
        )
    return rows


def _tukey_tests(
    source: Source, plan: Plan, gaps: Array, alpha: float, enough: int
) -> list[tuple[Array | None, float | None, int, str]]:
    """p of all pairs, the honest difference, undefined permutations, why there is no p; by measure.

    Of means by t, of measures of counts by their ranges.
    """
    pairs = all_pairs(len(source.runs))
    if isinstance(source, Scores):
        topics = source.known.sum(axis=0).tolist()
        why = f"Tukey's test of mean scores needs {LEAST_TOPICS} topics or more (there are {{:,}})"
        reasons = [why.format(n) if n < LEAST_TOPICS else "" for n in topics]
        if all(reasons) or plan.trials < enough:
            return [(None, None, 0, reason) for reason in reasons]
        both = zip(all_pairs_p(source, plan, pairs), reasons, strict=True)
        return [(None if reason else p, None, 0, reason) for p, reason in both]
    tests = []
    ranges, undefined = honest_ranges(source, plan)
    for m, (largest, lost) in enumerate(zip(ranges, undefined.tolist(), strict=True)):
        formula, p, honest, reason = count_measure(source.measures[m]), None, None, ""
        shows = np.count_nonzero(~np.isnan(largest)) >= enough
        if formula.definition.studentised:
            reason = f"there is no Tukey's test of ratios such as {formula}"
        elif shows:
            p = exceeding(largest, gaps[m], slack=SAME * source.spans[m])
            honest = honest_difference(largest, alpha)
        tests.append((p, honest, lost, reason))
    return tests


def agreements(
    measures: Sequence[str], scores: Array, directions: Sequence[int]
) -> list[Agreement]:
    rows = []
    for i, j in combinations(range(len(measures)), 2):
        both = ~np.isnan(scores[i]) & ~np.isnan(scores[j])
        x, y = (rounded(scores[m][both] * directions[m]) for m in (i, j))
        flat = [measures[m] for m, v in ((i, x), (j, y)) if len(v) < 2 or np.ptp(v) == 0]
        reason = f"all runs have the same {flat[0]}" if flat else ""
        if len(x) < 2:
            reason = f"only {len(x)} of the runs have both scores"
        values = {name: None if flat else of(x, y) for name, of in COEFFICIENTS.items()}
        row = Agreement(measures=(measures[i], measures[j]), runs=len(x), reason=reason, **values)
        rows.append(row)
    return rows
