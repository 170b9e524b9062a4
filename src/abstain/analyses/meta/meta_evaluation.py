"""`meta`: judge measures by what other samples of the questions would have said."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from abstain.analyses.meta.inputs import source_of
from abstain.analyses.meta.parts import (
    agreements,
    needs_of,
    powers,
    sensitivity_of,
    stability_of,
)
from abstain.analyses.meta.result import (
    MetaResult,
    Part,
    Power,
    Requirement,
    Sensitivity,
    Stability,
)
from abstain.analyses.meta.settings import Settings
from abstain.rankings.rankings import Rankings
from abstain.rankings.scores import ScoreMatrix
from abstain.stats.comparisons import plain
from abstain.stats.resampling.bins import BINS, natural_width
from abstain.stats.resampling.comparing import Comparing
from abstain.stats.resampling.draws import Draws, Plan, ResamplingProgress
from abstain.stats.resampling.power import RESAMPLES
from abstain.stats.resampling.sensitivity import SwapTally
from abstain.stats.resampling.sources import Scores, Source
from abstain.stats.resampling.stability import FUZZINESS

if TYPE_CHECKING:
    from abstain.judging.evaluation import Evaluation
    from abstain.measures import Measure
    from abstain.outcomes import Array

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
    found = judged(source, settings, notes=notes)
    if isinstance(asked, ScoreMatrix):
        return found
    of_responses = asked.kind != "counts"
    return structs.replace(
        found,
        reading=asked.reading,
        policy=asked.policy.to_dict() if of_responses else {},
        touched=asked.touched if of_responses else {},
    )


def judged(source: Source, settings: Settings, *, notes: Sequence[str] = ()) -> MetaResult:
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
    return MetaResult(
        notes=tuple(notes),
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
            name: dict(zip(source.runs, plain(own), strict=True))
            for name, own in zip(source.measures, full, strict=True)
        },
        stability=tuple(stability),
        sensitivity=tuple(sensitivity),
        required_by_questions=tuple(curve),
        questions_needed=tuple(needs_of(sensitivity, curve, settings.difference)),
        power=tuple(_power(source, full, settings, limit) if "power" in parts else ()),
        agreement=tuple(
            agreements(source.measures, full, source.directions) if "agreement" in parts else ()
        ),
    )


def _power(source: Source, full: Array, settings: Settings, limit: float) -> list[Power]:
    plan = settings.plan(source, trials=settings.resamples)
    return powers(source, plan, full, alpha=round(limit, 12))


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

    def rows(tallies: list[SwapTally], size: int) -> list[Sensitivity]:
        pairs = zip(source.measures, tallies, strict=True)
        return [sensitivity_of(name, size, tally) for name, tally in pairs]

    wins, swaps = comparing.drawn(plan, path=0, stable=stable, swapping=swapping)
    stability = [stability_of(*own) for own in zip(source.measures, wins, strict=False)]
    if not swapping:
        return stability, [], []
    sensitivity = rows(swaps, plan.size)
    curve = []
    for number, size in enumerate(settings.curve_sizes(source)):
        own = sensitivity
        if size != plan.size:
            again = plan.of_size(size)
            _, swaps = comparing.drawn(again, path=CURVE + number, stable=False, swapping=True)
            own = rows(swaps, size)
        curve += [
            Requirement(measure=row.measure, questions=size, required=row.required) for row in own
        ]
    return stability, sensitivity, curve
