"""`meta`: judge measures by what other samples of the questions would show."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, takewhile
from typing import Any, get_args

import numpy as np

from abstain.errors import InputError, UsageError, check_name, option, plural
from abstain.features.meta import result as facts_of
from abstain.features.meta.result import PARTS, TWO_MEASURES, MetaResult, Part, Requirement
from abstain.io.frames import require
from abstain.measures import Measure, count_measure, swept
from abstain.measures.definition import Array
from abstain.outcomes import EXCLUDED
from abstain.rankings.rankings import Rankings
from abstain.rankings.scores import ScoreMatrix
from abstain.report.result import finite, number, read_as
from abstain.runs.counts_table import CountsTable
from abstain.runs.evaluation import Evaluation
from abstain.stats.intervals import check_level
from abstain.stats.orderings import COEFFICIENTS, rounded
from abstain.stats.resampling import power, reversals, samplers
from abstain.stats.resampling.draws import Draws, Plan, ResamplingProgress, all_pairs
from abstain.stats.resampling.power import RESAMPLES
from abstain.stats.resampling.reversals import Comparing, StabilityCounts, SwapCounts, edge
from abstain.stats.resampling.samplers import BLANK, Scores, Source, of_outcomes

DEFAULT_BINS = 5
DEFAULT_MEASURES = ("c@1", "accuracy", "UF")
CURVE = 10
"""Where the random streams of the curve begin; those before it belong to the other parts."""
MOST_DRAWN = 100_000
CURVE_POINTS = 6


def meta(
    asked: Evaluation | Rankings | ScoreMatrix | Source,
    measures: Sequence[str | Measure] | str | Measure = (),
    *,
    parts: Sequence[Part] | Part = (),
    subsets: int = 100,
    size: int | None = None,
    fuzziness: Sequence[float] = reversals.FUZZINESS,
    draws: Draws = "paired",
    level: float = 0.95,
    width: float | None = None,
    bins: int = reversals.BINS,
    sizes: Sequence[int] | None = None,
    resamples: int = RESAMPLES,
    difference: float | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: ResamplingProgress | None = None,
) -> MetaResult:
    """Judge measures by how they order the runs.

    Args:
        asked: Runs with outcomes or counts per question, rankings, or ready scores.
        measures: Of counts (by default c@1, accuracy and UF) or of rankings; of ready scores, some.
        parts: stability, sensitivity, power, agreement; by default all.
        subsets: Random subsets of the questions for each pair of runs, without replacement.
        size: Questions in a subset; by default half of them.
        fuzziness: Scores that differ by less than such a share of the larger one tie.
        draws: Whether subsets are drawn for each pair, as in the papers, or shared by all.
        level: The confidence level of conclusions.
        width: Of a bin of differences; by default 0.01, or a hundredth of another scale.
        bins: How many are listed, the last of them open.
        sizes: For the curve of required differences; by default six, up to half the questions.
        resamples: Resamples with replacement, and permutations, of the tests of power.
        difference: To report how many questions it needs; by default five bins.
        seed: Of all draws.
        threads: By default as many as there are processors; they change no number.
        progress: Called with the current task and the share of it that is done.
    """
    source, facts = _source(asked, measures)
    named = (parts,) if isinstance(parts, str) else tuple(parts)
    for part in named:
        check_name("part", part, PARTS)
    chosen = tuple(part for part in PARTS if part in named or not named)
    levels = sorted({float(f) for f in fuzziness})
    half = source.questions // 2
    drawn = half if size is None else int(size)
    plan = Plan(int(subsets), drawn, draws, int(seed), int(threads), progress)
    even = {max(1, round(half * k / CURVE_POINTS)) for k in range(1, CURVE_POINTS + 1)}
    tried = sorted({plan.size, *even} if sizes is None else {int(each) for each in sizes})
    check_level(level)
    check_name("draws", draws, get_args(Draws))
    _check_count("subsets", subsets, 1, MOST_DRAWN)
    _check_count("resamples", resamples, 1, MOST_DRAWN)
    _check_count("bins", bins, 2, 1000)
    for name, value in (("width", width), ("difference", difference)):
        if value is not None and not 0 < value < math.inf:
            raise UsageError(f"{name} must be above 0 (got {value:g})")
    if not levels or not all(0 <= f <= 1 for f in levels):
        raise UsageError("a fuzziness is a share from 0 to 1, such as 0.05")
    _check_source(source, chosen, plan.size, tried)

    full, limit = source.full(), 1 - float(level)
    if {"stability", "sensitivity"} & set(chosen):
        widths = [width or reversals.natural_width(span) for span in source.spans]
        comparing = Comparing(
            source, full, fuzziness=levels, widths=widths, listed=bins, limit=limit
        )
        facts |= _compared(comparing, chosen, plan, tried, difference)
    if "power" in chosen:
        again = replace(plan, trials=int(resamples))
        facts["power"] = tuple(powers(source, again, full, alpha=round(limit, 12)))
    if "agreement" in chosen:
        facts["agreement"] = tuple(agreements(source.measures, full, source.directions))
    spans = zip(source.measures, map(float, source.spans), strict=True)
    return MetaResult(
        **facts,
        questions=source.questions,
        runs=tuple(source.runs),
        measures=tuple(source.measures),
        parts=chosen,
        subsets=plan.trials,
        size=plan.size,
        draws=plan.draws,
        resamples=int(resamples),
        level=float(level),
        seed=plan.seed,
        width=None if width is None else float(width),
        given_scores=isinstance(source, Scores),
        spans={name: span for name, span in spans if math.isfinite(span)},
        scores={
            name: dict(zip(source.runs, map(number, scores), strict=True))
            for name, scores in zip(source.measures, full, strict=True)
        },
    )


def _check_source(source: Source, parts: Sequence[Part], size: int, sizes: Sequence[int]) -> None:
    if len(source.runs) < 2:
        raise UsageError(f"expected at least 2 runs, to compare (got {len(source.runs)})")
    if parts == ("agreement",):
        if len(source.measures) < 2:
            raise UsageError(TWO_MEASURES)
    elif source.questions < 2:
        raise UsageError(
            "stability, sensitivity and power need at least 2 questions "
            f"(got {source.questions}); take {option('parts', 'agreement')}"
        )
    elif {"stability", "sensitivity"} & set(parts):
        half = source.questions // 2
        most = half if "sensitivity" in parts else source.questions
        _check_count("the size of a subset", size, 1, most)
        for each in sizes if "sensitivity" in parts else ():
            _check_count("a size of the curve", each, 1, half)


def _check_count(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise UsageError(f"{name} must be from {low} to {high:,} (got {value:,})")


def _compared(
    comparing: Comparing,
    parts: Sequence[Part],
    plan: Plan,
    sizes: Sequence[int],
    difference: float | None,
) -> dict[str, Any]:
    stable, swapping = (part in parts for part in ("stability", "sensitivity"))
    names = comparing.source.measures
    wins, swaps = comparing.drawn(plan, path=0, stable=stable, swapping=swapping)
    facts: dict[str, Any] = {}
    if stable:
        facts["stability"] = tuple(map(stability_of, names, wins))
    if not swapping:
        return facts
    sensitivity = [sensitivity_of(m, plan.size, k) for m, k in zip(names, swaps, strict=True)]
    curve = []
    for path, size in enumerate(sizes, CURVE):
        at_size = swaps
        if size != plan.size:
            smaller = replace(plan, size=size)
            _, at_size = comparing.drawn(smaller, path=path, stable=False, swapping=True)
        curve += [
            Requirement(measure=measure, questions=size, required=counts.edge(counts.required()))
            for measure, counts in zip(names, at_size, strict=True)
        ]
    return facts | {
        "sensitivity": tuple(sensitivity),
        "required_by_questions": tuple(curve),
        "questions_needed": tuple(needs_of(sensitivity, curve, difference)),
    }


def _source(
    asked: Evaluation | Rankings | ScoreMatrix | Source,
    measures: Sequence[str | Measure] | str | Measure,
) -> tuple[Source, dict[str, Any]]:
    if isinstance(asked, Source):
        return asked, {}
    if isinstance(asked, Rankings):
        asked, measures = asked.scores(measures), ()
    listed = swept(measures)
    if isinstance(asked, ScoreMatrix):
        some = asked.only(measures=[str(name) for name in listed]) if listed else asked
        matrix = some.complete(by_measure=True)
        scores = dict(zip(matrix.measures, matrix.values, strict=True))
        directions = [1 if higher else -1 for higher in matrix.higher_is_better]
        notes = matrix.notes[len(asked.notes) :]
        facts = read_as(asked, *notes, clusters=False)
        return samplers.of_scores(matrix.runs, scores, directions), facts
    chosen = list(dict.fromkeys(count_measure(name) for name in listed or DEFAULT_MEASURES))
    data = asked.data
    if data.kind == "counts":
        source, notes = _of_counts(asked, chosen)
        return source, read_as(asked, *notes, clusters=False)
    facts = read_as(asked, clusters=False)
    facts |= {"policy": asked.policy.to_dict(), "touched": data.touched}
    return of_outcomes(asked.runs, data.codes, chosen), facts


def _of_counts(
    evaluation: Evaluation, measures: Sequence[Measure]
) -> tuple[Source, tuple[str, ...]]:
    counts = evaluation.data.source
    assert isinstance(counts, CountsTable)
    if counts.table is None:
        raise UsageError(
            "`meta` draws samples of questions, but counts by name have no questions: "
            "expected a table of counts with a row for each run and question"
        )
    require(counts.table, {"question": "from which `meta` draws samples"})
    rows = evaluation.data.counted(["question"])
    runs, run = np.unique(rows.runs, return_inverse=True)
    questions, question = np.unique([str(q) for (q,) in rows.slices], return_inverse=True)
    table = np.full((len(runs), len(questions), rows.counts.table.shape[-1]), np.nan)
    table[run, question] = rows.counts.table
    shared = ~np.isnan(table).any(axis=(0, 2))
    if not shared.any():
        raise InputError(f"no question is common to the {plural(len(runs), 'run')}")
    lost, table = int((~shared).sum()), table[:, shared]
    of_all = plural(len(questions), "question")
    notes = (f"left out: {lost:,} of {of_all}, not asked of every run",) if lost else ()
    fine = any(m.definition.needs_candidates for m in measures)
    if (table.sum(axis=-1) != 1).any() or (table[..., -1].any() and fine):
        return samplers.of_counts(runs.tolist(), table, measures), notes
    outcomes = table.argmax(axis=-1).astype(np.uint8)  # resampled quicker than counts
    outcomes[outcomes == EXCLUDED] = BLANK
    return of_outcomes(runs.tolist(), outcomes, measures), notes


def stability_of(measure: str, counts: StabilityCounts) -> facts_of.Stability:
    ties, upsets = counts.ties, counts.upsets
    names = ("fuzziness", "error", "error_se", "ties", "ties_se")
    columns = (counts.fuzziness, counts.error, upsets.errors(), ties.values(), ties.errors())
    points = zip(*(map(number, column) for column in columns), strict=True)
    return facts_of.Stability(
        measure=measure,
        comparisons=counts.comparisons,
        undefined=counts.undefined,
        curve=tuple(facts_of.StabilityPoint(**dict(zip(names, p, strict=True))) for p in points),
    )


def sensitivity_of(measure: str, size: int, counts: SwapCounts) -> facts_of.Sensitivity:
    at = counts.required()
    required, total = counts.edge(at), int(counts.table.sum())
    reaching, tied = (0, 0) if at is None else counts.reaching(at)
    low, high = (None, None) if at is None else counts.required_range()
    highest = finite(counts.highest)
    listed, *rates = counts.by_listed_bin()
    bins = enumerate(zip(listed.tolist(), *(map(number, each) for each in rates), strict=True))
    return facts_of.Sensitivity(
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
        ties=int(counts.table[reversals.TIED].sum()),
        undefined=counts.undefined,
        required_range=(counts.edge(low), counts.edge(high)),
        bins=tuple(
            facts_of.SwapBin(start=edge(k, counts.width), count=count, swap_rate=rate, se=se)
            for k, (count, rate, se) in bins
        ),
        reason=counts.why_not() if at is None else "",
    )


def needs_of(
    rows: Sequence[facts_of.Sensitivity], curve: Sequence[Requirement], difference: float | None
) -> list[facts_of.Need]:
    needs = []
    for row in rows:
        goal = difference or edge(DEFAULT_BINS, row.width)
        required = {p.questions: p.required for p in curve if p.measure == row.measure}
        needed = questions_needed(required | {row.size: row.required}, goal)
        if needed is not None:
            needs.append(facts_of.Need(measure=row.measure, difference=goal, questions=needed))
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
    return math.ceil(min(a / difference, math.sqrt(facts_of.MANY)) ** 2 - 1e-9)


def powers(source: Source, plan: Plan, full: Array, *, alpha: float) -> list[facts_of.Power]:
    """Both tests, all pairs, all measures; `full` are the scores on all questions.

    A level of 5 % takes 20 resamples to show, and as many permutations.
    """
    first, second = all_pairs(len(source.runs))
    gaps = np.abs(full[:, first] - full[:, second])
    levels, resampled = power.significance(source, plan, full)
    enough = math.ceil(1 / alpha - reversals.EDGE)
    shows = plan.trials >= enough
    few = f"at least {enough:,} resamples are needed for a level of {100 * alpha:.3g} %"
    tests = power.tukey_tests(source, plan, gaps, alpha, enough)
    rows = []
    every = zip(source.measures, tests, gaps, levels, resampled, strict=True)
    for name, (p, honest, lost, reason), gap, asl, defined in every:
        exists = ~np.isnan(gap)
        tested = exists & (defined >= min(enough, plan.trials))
        pairs, sorted_asl = int(tested.sum()), np.sort(asl[tested])
        below = int(np.count_nonzero(sorted_asl < alpha))
        kept = np.linspace(0, max(0, pairs - 1), min(pairs, power.POINTS)).round().astype(int)
        rows.append(
            facts_of.Power(
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
                asl=tuple(sorted_asl[kept].tolist()),
                reason=reason if shows else few,
            )
        )
    return rows


def agreements(
    measures: Sequence[str], scores: Array, directions: Sequence[int]
) -> list[facts_of.Agreement]:
    rows = []
    for i, j in combinations(range(len(measures)), 2):
        both = ~np.isnan(scores[i]) & ~np.isnan(scores[j])
        x, y = (rounded(scores[m][both] * directions[m]) for m in (i, j))
        flat = [measures[m] for m, v in ((i, x), (j, y)) if len(v) < 2 or np.ptp(v) == 0]
        reason = f"all runs have the same {flat[0]}" if flat else ""
        if len(x) < 2:
            reason = f"only {len(x)} of the runs have both scores"
        values = {name: None if flat else of(x, y) for name, of in COEFFICIENTS.items()}
        both_names = measures[i], measures[j]
        rows.append(facts_of.Agreement(measures=both_names, runs=len(x), reason=reason, **values))
    return rows
