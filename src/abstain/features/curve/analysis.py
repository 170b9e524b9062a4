"""`curve`: runs over all thresholds of their confidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from abstain.errors import UsageError, option
from abstain.features.curve.decision import decision as decision_curves
from abstain.features.curve.result import (
    PENALISED_AT,
    Bin,
    Blanks,
    CurveResult,
    Parts,
    Points,
    RunCurve,
    Way,
    Where,
)
from abstain.measures import Measure, measure
from abstain.measures.definition import Array, BoolArray, Codes
from abstain.outcomes import EXCLUDED, OUTCOMES, Counts, blanked_at_best, blanked_at_random
from abstain.report.result import defined, finite, number, read_as
from abstain.runs.judge import NO, YES
from abstain.runs.matrix import EMPTY, answers_of
from abstain.stats.curves import Curve, evenly, top
from abstain.stats.intervals import check_level

if TYPE_CHECKING:
    from abstain.measures.answers import Answers
    from abstain.runs.evaluation import Evaluation

DEFAULT_MEASURES = ("AUROC", "AURC", "E-AURC", "ECE", "Brier")
WITHOUT_ANSWER = "questions without a right answer"
SHOWN = (21, 101, 500)
"""Points that tables, pages and charts show: a result holds these, whatever else it holds."""


def curve(
    evaluation: Evaluation,
    measures: Sequence[str | Measure] | str | Measure = (),
    *,
    should_abstain: str | None = None,
    bins: int = 10,
    equal_mass: bool = False,
    decision: Way | bool = False,
    level: float = 0.95,
    points: int = 500,
    seed: int = 0,
) -> CurveResult:
    """Follow every run over all its thresholds.

    Args:
        evaluation: What was read.
        measures: Those of confidence to sum up, and one of counts to follow along the curve (c@1).
        should_abstain: An attribute that says yes where a question should be left blank; the
            quality of blanks is judged against it (default: questions without a right answer).
        bins: Bins of the reliability diagrams.
        equal_mass: Whether these are equally full instead of equally wide.
        decision: Whether to make decision curves, and how runs act in them.
        level: Of the bands of decision curves.
        points: So many points of each curve are in the result, evenly over coverage, besides those
            that tables and charts show; 0: all.
        seed: For the draws behind the bands.
    """
    if not 1 <= bins <= 10_000:
        raise UsageError(f"{option('bins')} is from 1 to 10,000 (got {bins})")
    check_points(points)
    check_level(level)
    summed, along = split_measures([measures] if isinstance(measures, (str, Measure)) else measures)
    evaluation.data.require_confidence()
    confidence, codes = evaluation.data.confidence, evaluation.data.codes
    should, label = evaluation.data.nothing_right, WITHOUT_ANSWER
    if should_abstain is not None:
        should, label = _should_abstain(evaluation, should_abstain), should_abstain
    asked = Asked(summed, along, bins, equal_mass, points, should, label)
    runs = [asked.of(*run) for run in zip(evaluation.runs, codes, confidence, strict=True)]
    sign = -1 if along.higher_is_better else 1
    curves = None
    if decision is not False:
        way = None if decision is True else decision
        curves = decision_curves(evaluation, way, level=level, seed=seed)
    return CurveResult(
        **read_as(evaluation, clusters=False),
        policy=evaluation.policy.to_dict(),
        touched=evaluation.data.touched,
        questions=len(evaluation),
        measures=tuple(str(item) for item in summed),
        along=str(along),
        conventions={str(item): item.definition.convention for item in summed},
        bins=bins,
        equal_mass=equal_mass,
        runs=tuple(sorted(runs, key=lambda run: (run.best is None, sign * (run.best or 0.0)))),
        decision=curves,
    )


def split_measures(measures: Sequence[str | Measure]) -> tuple[tuple[Measure, ...], Measure]:
    """Measures of confidence, and the one measure of counts to follow along the curve."""
    chosen = list(dict.fromkeys(measure(item) for item in measures))
    of_counts = [m for m in chosen if m.definition.takes == "counts"]
    others = [m for m in chosen if m.definition.takes != "counts"]
    for item in others:
        if item.definition.takes != "confidence":
            raise UsageError(
                f"{item} is a measure of rankings, expected one of counts or confidence"
            )
    if len(of_counts) > 1:
        raise UsageError(
            f"only one measure of counts can be followed along the curve (got {of_counts[0]} and "
            f"{of_counts[1]})"
        )
    summed = others or [measure(name) for name in DEFAULT_MEASURES]
    return tuple(summed), of_counts[0] if of_counts else measure("c@1")


def _should_abstain(evaluation: Evaluation, attribute: str) -> BoolArray:
    """Where an attribute says that a question should be left blank: it says yes or no."""
    values = evaluation.data.with_attributes([attribute])[attribute].cast(pl.String).fill_null("")
    answers = values.str.strip_chars().str.to_lowercase()
    strange = values.filter(~answers.is_in([*YES, *NO, ""]))
    if len(strange):
        raise UsageError(
            f"{option('should_abstain')} needs yes or no in the attribute '{attribute}' "
            f"(got '{strange[0]}')"
        )
    return answers.is_in(YES).to_numpy()


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of every run."""

    measures: tuple[Measure, ...]
    along: Measure
    bins: int
    equal_mass: bool
    points: int
    should_abstain: BoolArray | None
    label: str
    """What says that a question should be left blank."""

    def of(self, run: str, codes: Codes, confidence: Array) -> RunCurve:
        """A run's curve and what there is to say of it: one sort of its answers."""
        answers = answers_of(codes, confidence)
        numbers = np.bincount(codes, minlength=EXCLUDED + 1)[:EXCLUDED].tolist()
        system = Counts(*numbers)
        scores, undefined = defined({str(item): item(answers) for item in self.measures})
        parts = [decompose("as submitted", system, self.along)]
        best = even = threshold = coverage = points = None
        penalised: tuple[float, ...] = ()
        stated = int(np.count_nonzero(answers.stated))
        if stated:
            curve = Curve.of(answers)
            counts = curve.counts
            along = self.along(counts)
            points = held_points(curve, along, self.points)
            penalised = tuple(curve.penalised(np.array(PENALISED_AT)).tolist())
            if (at := top(along, self.along)) is not None:
                best, coverage = float(along[at]), float(curve.coverage[at])
                threshold = finite(curve.thresholds[at])
                even = math.isnan(curve.thresholds[at])
                parts.append(decompose("best in hindsight", counts[at], self.along))
        return RunCurve(
            run=run,
            numbers=dict(zip(OUTCOMES, numbers, strict=True)),
            answers=int(answers.size),
            stated=stated,
            scores=scores,
            undefined=undefined,
            best=best,
            threshold=threshold,
            coverage=coverage,
            even_without_confidence=bool(even),
            as_submitted=number(self.along(system)),
            points=points,
            penalised=penalised,
            reliability=tuple(reliability(answers, self.bins, mass=self.equal_mass)),
            parts=tuple(parts),
            blanks=tuple(self._blanks(codes)),
        )

    def _blanks(self, codes: Codes) -> list[Blanks]:
        """The quality of a run's blanks, against its candidates and against a label."""
        kept = codes < EXCLUDED
        blank = kept & (codes >= 2)
        hopeless = kept & ((codes & 1 == 1) | (codes == EMPTY))
        quality = [blank_quality("its own candidates", blank, hopeless, kept)]
        if self.should_abstain is not None:
            quality.append(blank_quality(self.label, blank, kept & self.should_abstain, kept))
        return quality


def check_points(points: int) -> None:
    """Refuse fewer points than none."""
    if points < 0:
        raise UsageError(f"{option('points')} is 0 or more (got {points})")


def held_points(curve: Curve, scores: Array, points: int) -> Points:
    """Points enough to show and to draw, and so many evenly over coverage; 0: all."""
    at = np.unique(np.concatenate([evenly(curve.answered, size) for size in (*SHOWN, points)]))
    return Points(
        threshold=tuple(finite(value) for value in curve.thresholds[at].tolist()),
        answered=tuple(curve.answered[at].tolist()),
        right=tuple(curve.right[at].tolist()),
        score=tuple(number(value) for value in scores[at].tolist()),
        even_without_confidence=math.isnan(curve.thresholds[-1]),
    )


def decompose(where: Where, k: Counts, measure: Measure) -> Parts:
    """How much of a score is knowing, how much is choosing well when to answer.

        score = knowing + silence + choosing,   oracle = score + left

    knowing: the score if every answer and candidate were given; silence: what leaving as many blank
    as the run did, but blindly, changes; choosing: what choosing them as the run did adds; left:
    what answering exactly what it gets right would add. Questions without answer or candidate are
    blank in every part.

    >>> counts = Counts(right=3, unanswered_right=1, unanswered_wrong=1)
    >>> parts = decompose("as submitted", counts, measure("c@1"))
    >>> parts.knowing, round(parts.silence, 3), round(parts.choosing, 3)
    (0.8, -0.128, 0.168)
    """
    right, wrong = k.right + k.unanswered_right, k.wrong + k.unanswered_wrong
    forced = measure(Counts(right=right, wrong=wrong, unanswered_empty=k.unanswered_empty))
    blind = measure(blanked_at_random(k))
    score = measure(k)
    left = measure(blanked_at_best(k)) - score
    return Parts(
        where=where,
        coverage=k.answered / max(k.n, 1),
        score=number(score),
        knowing=number(forced),
        silence=number(blind - forced),
        choosing=number(score - blind),
        left=number(left),
        oracle=number(score + left),
    )


def blank_quality(against: str, blank: BoolArray, should: BoolArray, kept: BoolArray) -> Blanks:
    """How well blanks hit the questions that should be left blank."""
    silent, due, both = int(blank.sum()), int(should.sum()), int((blank & should).sum())
    answerable = int((kept & ~should).sum())

    def share(part: int, whole: int) -> float | None:
        return part / whole if whole else None

    return Blanks(
        judged_against=against,
        blanks=silent,
        precision=share(both, silent),
        recall=share(both, due),
        f1=share(2 * both, silent + due),
        over_abstention=share(silent - both, answerable),
        under_abstention=share(due - both, due),
    )


def reliability(answers: Answers, bins: int = 10, *, mass: bool = False) -> list[Bin]:
    """The bins of a reliability diagram, the empty ones left out."""
    from abstain.measures.confidence import mass_bins, width_bins

    rated = answers.calibrated
    if not rated.size:
        return []
    place = mass_bins(rated.confidence, bins) if mass else width_bins(rated.confidence, bins)
    sizes = np.bincount(place, minlength=bins)
    confidence = np.bincount(place, rated.confidence, minlength=bins)
    right = np.bincount(place, rated.right, minlength=bins)
    full = []
    for b in np.flatnonzero(sizes).tolist():
        low, high = b / bins, (b + 1) / bins
        if mass:
            inside = rated.confidence[place == b]
            low, high = float(inside.min()), float(inside.max())
        size = int(sizes[b])
        mean, share = float(confidence[b] / size), float(right[b] / size)
        full.append(Bin(low=low, high=high, answers=size, confidence=mean, accuracy=share))
    return full
