"""`meta`: judge measures by what other samples of the questions would show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from abstain.errors import InputError, UsageError, check_name, option, plural
from abstain.features.meta.parts import (
    TWO_MEASURES,
    agreements,
    needs_of,
    powers,
    sensitivity_of,
    stability_of,
)
from abstain.features.meta.result import PARTS, MetaResult, Part, Requirement
from abstain.io.frames import require
from abstain.measures import Measure, count_measure, swept
from abstain.outcomes import EXCLUDED
from abstain.rankings.rankings import Rankings
from abstain.rankings.scores import ScoreMatrix
from abstain.report.result import number, read_as
from abstain.runs.counts_table import CountsTable
from abstain.runs.evaluation import Evaluation
from abstain.stats.intervals import check_level
from abstain.stats.resampling.draws import Draws, Plan, ResamplingProgress
from abstain.stats.resampling.power import RESAMPLES
from abstain.stats.resampling.reversals import BINS, FUZZINESS, Comparing, natural_width
from abstain.stats.resampling.samplers import (
    BLANK,
    Scores,
    Source,
    of_counts,
    of_outcomes,
    of_scores,
)

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
    fuzziness: Sequence[float] = FUZZINESS,
    draws: Draws = "paired",
    level: float = 0.95,
    width: float | None = None,
    bins: int = BINS,
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
        widths = [width or natural_width(span) for span in source.spans]
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
    """What can be scored on any draw of the questions, and what the result says of its input."""
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
        return of_scores(matrix.runs, scores, directions), facts
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
        return of_counts(runs.tolist(), table, measures), notes
    outcomes = table.argmax(axis=-1).astype(np.uint8)  # resampled quicker than counts
    outcomes[outcomes == EXCLUDED] = BLANK
    return of_outcomes(runs.tolist(), outcomes, measures), notes
