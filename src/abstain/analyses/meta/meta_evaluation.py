"""`meta`: judge measures by what other samples of the questions would have said."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from msgspec import structs

from abstain.analyses.meta.parts import agreements, needs_of, powers, sensitivity_of, stability_of
from abstain.analyses.meta.result import (
    MetaResult,
    Part,
    Power,
    Requirement,
    Sensitivity,
    Stability,
)
from abstain.analyses.meta.settings import Settings
from abstain.analyses.result import number, read_as
from abstain.errors import InputError, UsageError, plural
from abstain.io.columns import require_all
from abstain.judging.evaluation import Evaluation
from abstain.judging.given_counts import GivenCounts
from abstain.measures import Measure, count_measure
from abstain.measures.arrays import Array
from abstain.outcomes import EXCLUDED, OUTCOMES, Why, blanks_by_reason
from abstain.rankings.rankings import Rankings
from abstain.rankings.scores import ScoreMatrix
from abstain.stats.resampling.cells import BLANK, of_outcomes
from abstain.stats.resampling.comparing import FUZZINESS, Comparing
from abstain.stats.resampling.draws import Draws, Plan, ResamplingProgress
from abstain.stats.resampling.power import RESAMPLES
from abstain.stats.resampling.sensitivity import BINS, SwapCounts, natural_width
from abstain.stats.resampling.sources import Scores, Source, of_counts, of_scores

DEFAULT_MEASURES = ("c@1", "accuracy", "UF")
CURVE = 10
"""Where the random streams of the curve begin; those before it belong to the other parts."""


def meta(
    asked: Evaluation | Rankings | ScoreMatrix,
    measures: Sequence[str | Measure] | str | Measure = (),
    *,
    parts: Sequence[Part] | Part = (),
    trials: int = 100,
    size: int | None = None,
    fuzziness: Sequence[float] | None = None,
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
        measures: Measures of counts (c@1, accuracy and UF unless said) or of rankings; of ready
            scores, some of them.
        parts: What to find out: stability, sensitivity, power, agreement; all unless said.
        trials: Random subsets for each pair of runs.
        size: Questions in a subset; half of them unless said.
        fuzziness: Scores that differ by less than such a share of the larger one tie; ten, up to
            0.1, unless said.
        draws: Whether each pair draws its own subsets, as in the papers, or all share them.
        level: How sure a conclusion has to be.
        width: Of a bin of differences; 0.01 unless said, or by what the scores span if that is
            another scale.
        bins: How many are listed, the last of them open.
        sizes: For the curve of required differences; six, up to half the questions, unless said.
        resamples: Resamples and permutations of the tests of power.
        difference: To say how many questions it needs; five bins unless said.
        seed: For all draws.
        threads: As many as there are processors unless said; they change no number.
        progress: Told what is being done and which share of it is.
    """
    settings = Settings(
        parts=(parts,) if isinstance(parts, str) else parts,
        trials=trials,
        size=size,
        fuzziness=FUZZINESS if fuzziness is None else fuzziness,
        draws=draws,
        level=level,
        width=width,
        bins=bins,
        sizes=sizes,
        resamples=resamples,
        difference=difference,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    if isinstance(asked, Rankings):
        asked, measures = asked.scores(measures), ()
    source, notes = source_of(asked, measures)
    found = structs.replace(judged(source, settings), **read_as(asked, *notes, clusters=False))
    if isinstance(asked, ScoreMatrix):
        return found
    of_responses = asked.kind != "counts"
    return structs.replace(
        found,
        policy=asked.policy.to_dict() if of_responses else {},
        touched=asked.touched if of_responses else {},
    )


def judged(source: Source, settings: Settings) -> MetaResult:
    """Judge the measures of a source."""
    settings.check(source)
    parts = settings.chosen
    plan = settings.plan(source)
    full = source.full()
    limit = 1 - float(settings.level)
    stability: list[Stability] = []
    sensitivity: list[Sensitivity] = []
    curve: list[Requirement] = []
    if "stability" in parts or "sensitivity" in parts:
        stability, sensitivity, curve = _compared(source, full, settings, plan, limit)
    power: list[Power] = []
    if "power" in parts:
        power = powers(
            source, replace(plan, trials=int(settings.resamples)), full, alpha=round(limit, 12)
        )
    return MetaResult(
        questions=source.questions,
        runs=tuple(source.runs),
        measures=tuple(source.measures),
        parts=parts,
        trials=plan.trials,
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
            name: dict(zip(source.runs, map(number, own), strict=True))
            for name, own in zip(source.measures, full, strict=True)
        },
        stability=tuple(stability),
        sensitivity=tuple(sensitivity),
        required_by_questions=tuple(curve),
        questions_needed=tuple(needs_of(sensitivity, curve, settings.difference)),
        power=tuple(power),
        agreement=tuple(
            agreements(source.measures, full, source.directions) if "agreement" in parts else ()
        ),
    )


def _compared(
    source: Source, full: Array, settings: Settings, plan: Plan, limit: float
) -> tuple[list[Stability], list[Sensitivity], list[Requirement]]:
    """Stability, sensitivity, and the difference required by the number of questions."""
    comparing = Comparing(
        source,
        full,
        fuzziness=settings.levels,
        widths=[settings.width or natural_width(span) for span in source.spans],
        listed=settings.bins,
        limit=limit,
    )
    stable, swapping = (part in settings.chosen for part in ("stability", "sensitivity"))

    def rows(counts: list[SwapCounts], size: int) -> list[Sensitivity]:
        pairs = zip(source.measures, counts, strict=True)
        return [sensitivity_of(name, size, counts) for name, counts in pairs]

    wins, swaps = comparing.drawn(plan, path=0, stable=stable, swapping=swapping)
    stability = [stability_of(*own) for own in zip(source.measures, wins, strict=False)]
    if not swapping:
        return stability, [], []
    sensitivity = rows(swaps, plan.size)
    curve = []
    for path, size in enumerate(settings.curve_sizes(source), CURVE):
        own = sensitivity
        if size != plan.size:
            again = replace(plan, size=size)
            _, swaps = comparing.drawn(again, path=path, stable=False, swapping=True)
            own = rows(swaps, size)
        curve += [
            Requirement(measure=row.measure, questions=size, required=row.required) for row in own
        ]
    return stability, sensitivity, curve


def source_of(
    asked: Evaluation | ScoreMatrix, measures: Sequence[str | Measure] | str | Measure
) -> tuple[Source, tuple[str, ...]]:
    """What can be scored on any draw of the questions, and what else is to be said of it."""
    listed = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    if isinstance(asked, ScoreMatrix):
        found = (
            asked.only(measures=[str(name) for name in listed]) if listed else asked
        ).complete()
        scores = dict(zip(found.measures, found.values, strict=True))
        directions = [1 if higher else -1 for higher in found.higher_is_better]
        return of_scores(found.runs, scores, directions), found.notes[len(asked.notes) :]
    chosen = list(dict.fromkeys(count_measure(name) for name in listed or DEFAULT_MEASURES))
    if asked.kind == "counts":
        return _of_counts(asked, chosen)
    codes = asked.codes
    return of_outcomes(asked.runs, codes, chosen), tuple(_missing_note(asked))


def _of_counts(
    evaluation: Evaluation, measures: Sequence[Measure]
) -> tuple[Source, tuple[str, ...]]:
    """Counts per question: a question may have been asked several times."""
    given = evaluation.source
    assert isinstance(given, GivenCounts)
    if given.table is None:
        raise UsageError(
            "`meta` draws samples of questions, but counts given by name have no questions: "
            "expected a table of counts with a row for each run and question"
        )
    require_all(given.table, {"question": "from which `meta` draws samples"})
    found, notes = evaluation.counted(["question"]), list[str]()
    runs = sorted(set(found.runs))
    cells = {
        (run, str(question)): found.counts[i]
        for i, (run, (question,)) in enumerate(zip(found.runs, found.slices, strict=True))
    }
    asked = sorted({question for _, question in cells})
    shared = [q for q in asked if all((run, q) in cells for run in runs)]
    if not shared:
        raise InputError(f"no question is common to the {plural(len(runs), 'run')}")
    if len(shared) < len(asked):
        notes.append(
            f"left out: {len(asked) - len(shared):,} of {plural(len(asked), 'question')}, not "
            "asked of every run"
        )
    names = (*OUTCOMES, "unsplit")
    table = np.array([[[getattr(cells[r, q], n) for n in names] for q in shared] for r in runs])
    unsplit = table[..., -1].any()
    fine = any(m.definition.needs_candidates for m in measures)
    source: Source = of_counts(runs, table, measures)
    if (table.sum(axis=-1) == 1).all() and not (unsplit and fine):
        # counts of one outcome a question are outcomes, which are quicker
        outcomes = table.argmax(axis=-1).astype(np.uint8)
        source = of_outcomes(runs, np.where(outcomes == EXCLUDED, BLANK, outcomes), measures)
    return source, tuple(notes)


def _missing_note(evaluation: Evaluation) -> list[str]:
    found = evaluation.kind_counts(())
    missing = blanks_by_reason(found.table)[:, list(Why).index(Why.MISSING)]
    short = [found.runs[int(k)] for k in np.flatnonzero(missing)]
    if not short:
        return []
    some = ", ".join(short[:3]) + (f" and {len(short) - 3} more" if len(short) > 3 else "")
    return [
        f"{plural(int(missing.sum()), 'response is', 'responses are')} missing in "
        f"{plural(len(short), 'run')} ({some}): the runs do not cover the same questions"
    ]
