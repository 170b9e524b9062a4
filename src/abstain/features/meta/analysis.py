"""`meta`: judge measures by what other samples of the questions would show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from msgspec import structs

from abstain.errors import InputError, UsageError, check_name, option, plural
from abstain.features.meta.parts import (
    TWO_MEASURES,
    agreements,
    needs_of,
    powers,
    sensitivity_of,
    stability_of,
)
from abstain.features.meta.result import (
    PARTS,
    MetaResult,
    Part,
    Requirement,
    Sensitivity,
    Stability,
)
from abstain.io.frames import require_all
from abstain.measures import Measure, count_measure
from abstain.measures.definition import Array
from abstain.outcomes import EXCLUDED, Why, blanks_by_reason
from abstain.rankings.rankings import Rankings
from abstain.rankings.scores import ScoreMatrix
from abstain.report.result import number, read_as
from abstain.report.view import first_few
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
RANGES = (("subsets", 1, MOST_DRAWN), ("resamples", 1, MOST_DRAWN), ("bins", 2, 1000))


def meta(
    asked: Evaluation | Rankings | ScoreMatrix,
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
    options = {name: value for name, value in locals().items() if name in Settings.__annotations__}
    settings = Settings(**options)
    if isinstance(asked, Rankings):
        asked, measures = asked.scores(measures), ()
    source, notes = source_of(asked, measures)
    facts = read_as(asked, *notes, clusters=False)
    if isinstance(asked, Evaluation) and asked.data.kind != "counts":
        facts |= {"policy": asked.policy.to_dict(), "touched": asked.data.touched}
    return structs.replace(judged(source, settings), **facts)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The options of `meta`, which has their meaning and defaults."""

    parts: Sequence[Part] | Part
    subsets: int
    size: int | None
    fuzziness: Sequence[float]
    draws: Draws
    level: float
    width: float | None
    bins: int
    sizes: Sequence[int] | None
    resamples: int
    difference: float | None
    seed: int
    threads: int
    progress: ResamplingProgress | None

    @classmethod
    def of(cls, **options: Any) -> Settings:
        """Some options, with the defaults of `meta` for the others."""
        return cls(**((meta.__kwdefaults__ or {}) | options))

    @property
    def chosen(self) -> tuple[Part, ...]:
        """The parts to compute, in order: all unless some were named."""
        named = (self.parts,) if isinstance(self.parts, str) else tuple(self.parts)
        for part in named:
            check_name("part", part, PARTS)
        return tuple(part for part in PARTS if part in named or not named)

    @property
    def levels(self) -> tuple[float, ...]:
        """The fuzziness values, ascending."""
        return tuple(sorted({float(f) for f in self.fuzziness}))

    def plan(self, source: Source) -> Plan:
        """How to draw."""
        return Plan(
            trials=int(self.subsets),
            size=source.questions // 2 if self.size is None else int(self.size),
            draws=self.draws,
            seed=int(self.seed),
            threads=int(self.threads),
            progress=self.progress,
        )

    def curve_sizes(self, source: Source) -> list[int]:
        """Sizes for the curve of required differences: up to half the questions, evenly spread."""
        if self.sizes is not None:
            return sorted({int(size) for size in self.sizes})
        half = source.questions // 2
        even = {max(1, round(half * k / CURVE_POINTS)) for k in range(1, CURVE_POINTS + 1)}
        return sorted(even | {self.plan(source).size})

    def check(self, source: Source) -> None:
        """Refuse options out of range, too few runs, measures or questions."""
        check_level(self.level)
        check_name("draws", self.draws, get_args(Draws))
        for name, low, high in RANGES:
            _check_count(name, getattr(self, name), low, high)
        for name in ("width", "difference"):
            if (value := getattr(self, name)) is not None and not 0 < value < math.inf:
                raise UsageError(f"{name} must be above 0 (got {value:g})")
        if not self.levels or not all(0 <= f <= 1 for f in self.levels):
            raise UsageError("a fuzziness is a share from 0 to 1, such as 0.05")
        if len(source.runs) < 2:
            raise UsageError(f"expected at least 2 runs, to compare (got {len(source.runs)})")
        parts, half = self.chosen, source.questions // 2
        if parts == ("agreement",):
            if len(source.measures) < 2:
                raise UsageError(TWO_MEASURES)
            return
        if source.questions < 2:
            raise UsageError(
                "stability, sensitivity and power need at least 2 questions "
                f"(got {source.questions}); take {option('parts', 'agreement')}"
            )
        # a subset leaves room for a second, disjoint one, unless only stability is computed
        most = half if "sensitivity" in parts else source.questions
        if {"stability", "sensitivity"} & set(parts):
            _check_count("the size of a subset", self.plan(source).size, 1, most)
            for size in () if self.sizes is None else self.sizes:
                _check_count("a size of the curve", size, 1, half)


def _check_count(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise UsageError(f"{name} must be from {low} to {high:,} (got {value:,})")


def judged(source: Source, settings: Settings) -> MetaResult:
    """Judge the measures of a source."""
    settings.check(source)
    parts, plan, full = settings.chosen, settings.plan(source), source.full()
    alpha = round(1 - float(settings.level), 12)
    stability, sensitivity, curve = _compared(source, full, settings, plan)
    again = replace(plan, trials=int(settings.resamples))
    power = powers(source, again, full, alpha=alpha) if "power" in parts else ()
    agree = "agreement" in parts
    agreement = agreements(source.measures, full, source.directions) if agree else ()
    return MetaResult(
        questions=source.questions,
        runs=tuple(source.runs),
        measures=tuple(source.measures),
        parts=parts,
        subsets=plan.trials,
        size=plan.size,
        draws=plan.draws,
        resamples=int(settings.resamples),
        level=float(settings.level),
        seed=plan.seed,
        width=None if settings.width is None else float(settings.width),
        given_scores=isinstance(source, Scores),
        spans={
            name: float(span)
            for name, span in zip(source.measures, source.spans, strict=True)
            if math.isfinite(span)
        },
        scores={
            name: dict(zip(source.runs, map(number, scores), strict=True))
            for name, scores in zip(source.measures, full, strict=True)
        },
        stability=tuple(stability),
        sensitivity=tuple(sensitivity),
        required_by_questions=tuple(curve),
        questions_needed=tuple(needs_of(sensitivity, curve, settings.difference)),
        power=tuple(power),
        agreement=tuple(agreement),
    )


def _compared(
    source: Source, full: Array, settings: Settings, plan: Plan
) -> tuple[list[Stability], list[Sensitivity], list[Requirement]]:
    """Stability, sensitivity, and the difference required by the number of questions."""
    stable, swapping = (part in settings.chosen for part in ("stability", "sensitivity"))
    if not stable and not swapping:
        return [], [], []
    comparing = Comparing(
        source,
        full,
        fuzziness=settings.levels,
        widths=[settings.width or natural_width(span) for span in source.spans],
        listed=settings.bins,
        limit=1 - float(settings.level),
    )
    names = source.measures
    wins, swaps = comparing.drawn(plan, path=0, stable=stable, swapping=swapping)
    stability = [stability_of(*item) for item in zip(names, wins, strict=True)] if stable else []
    if not swapping:
        return stability, [], []
    sensitivity = [sensitivity_of(m, plan.size, k) for m, k in zip(names, swaps, strict=True)]
    curve = []
    for path, size in enumerate(settings.curve_sizes(source), CURVE):
        if size != plan.size:
            smaller = replace(plan, size=size)
            _, at_size = comparing.drawn(smaller, path=path, stable=False, swapping=True)
        else:
            at_size = swaps
        curve += [
            Requirement(measure=measure, questions=size, required=counts.edge(counts.required()))
            for measure, counts in zip(names, at_size, strict=True)
        ]
    return stability, sensitivity, curve


def source_of(
    asked: Evaluation | ScoreMatrix, measures: Sequence[str | Measure] | str | Measure
) -> tuple[Source, tuple[str, ...]]:
    """What can be scored on any draw of the questions, and notes on it."""
    listed = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    if isinstance(asked, ScoreMatrix):
        some = asked.only(measures=[str(name) for name in listed]) if listed else asked
        matrix = some.complete()
        scores = dict(zip(matrix.measures, matrix.values, strict=True))
        directions = [1 if higher else -1 for higher in matrix.higher_is_better]
        return of_scores(matrix.runs, scores, directions), matrix.notes[len(asked.notes) :]
    chosen = list(dict.fromkeys(count_measure(name) for name in listed or DEFAULT_MEASURES))
    if asked.data.kind == "counts":
        return _of_counts(asked, chosen)
    return of_outcomes(asked.runs, asked.data.codes, chosen), tuple(_missing_note(asked))


def _of_counts(
    evaluation: Evaluation, measures: Sequence[Measure]
) -> tuple[Source, tuple[str, ...]]:
    """Counts per question: a question may have been asked several times."""
    counts = evaluation.data.source
    assert isinstance(counts, CountsTable)
    if counts.table is None:
        raise UsageError(
            "`meta` draws samples of questions, but counts by name have no questions: "
            "expected a table of counts with a row for each run and question"
        )
    require_all(counts.table, {"question": "from which `meta` draws samples"})
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


def _missing_note(evaluation: Evaluation) -> list[str]:
    kinds = evaluation.data.kind_counts(())
    missing = blanks_by_reason(kinds.table)[:, list(Why).index(Why.MISSING)]
    short = [run for run, count in zip(kinds.runs, missing, strict=True) if count]
    if not short:
        return []
    return [
        f"{plural(int(missing.sum()), 'response is', 'responses are')} missing in "
        f"{plural(len(short), 'run')} ({first_few(short)}): the runs do not cover the same "
        "questions"
    ]
