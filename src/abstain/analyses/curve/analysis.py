"""`curve`: runs over all thresholds of their confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from abstain.analyses.curve.decision import decision as decision_curves
from abstain.analyses.curve.result import CurveResult, Way
from abstain.analyses.curve.runs import Asked, best_first
from abstain.errors import UsageError, option
from abstain.judging.judge import NO, YES
from abstain.measures import Measure, measure
from abstain.stats.intervals import check_level

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from abstain.judging.evaluation import Evaluation

DEFAULT_MEASURES = ("AUROC", "AURC", "E-AURC", "ECE", "Brier")
WITHOUT_ANSWER = "questions without a right answer"


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
    if points < 0:
        raise UsageError(f"{option('points')} is 0 or more (got {points})")
    check_level(level)
    given = [measures] if isinstance(measures, (str, Measure)) else measures
    summed, along = split_measures(given)
    confidence, codes = evaluation.confidence, evaluation.codes
    should, label = evaluation.nothing_right, WITHOUT_ANSWER
    if should_abstain is not None:
        should, label = _should_abstain(evaluation, should_abstain), should_abstain
    asked = Asked(summed, along, bins, equal_mass, points, should, label)
    runs = [
        asked.of(run, *own) for run, *own in zip(evaluation.runs, codes, confidence, strict=True)
    ]
    way = None if isinstance(decision, bool) else decision
    return CurveResult(
        reading=evaluation.reading,
        notes=evaluation.notes,
        policy=evaluation.policy.to_dict(),
        touched=evaluation.touched,
        questions=len(evaluation),
        measures=tuple(str(item) for item in summed),
        along=str(along),
        conventions={str(item): item.definition.convention for item in summed},
        bins=bins,
        equal_mass=equal_mass,
        runs=tuple(best_first(runs, along)),
        decision=(
            decision_curves(evaluation, way, level=level, seed=seed)
            if decision is not False
            else None
        ),
    )


def split_measures(given: Sequence[str | Measure]) -> tuple[tuple[Measure, ...], Measure]:
    """Measures of confidence, and the one measure of counts to follow along the curve."""
    chosen = list(dict.fromkeys(measure(item) for item in given))
    of_counts = [m for m in chosen if m.definition.takes == "counts"]
    others = [m for m in chosen if m.definition.takes != "counts"]
    for item in others:
        if item.definition.takes != "confidence":
            raise UsageError(f"{item} takes {item.definition.takes}, expected counts or confidence")
    if len(of_counts) > 1:
        raise UsageError(
            f"one measure of counts is followed along the curve (got {of_counts[0]} and "
            f"{of_counts[1]})"
        )
    summed = others or [measure(name) for name in DEFAULT_MEASURES]
    return tuple(summed), of_counts[0] if of_counts else measure("c@1")


def _should_abstain(evaluation: Evaluation, attribute: str) -> npt.NDArray[np.bool_]:
    """Where an attribute says that a question should be left blank: it says yes or no."""
    values = evaluation.with_attributes([attribute])[attribute].cast(pl.String).fill_null("")
    said = values.str.strip_chars().str.to_lowercase()
    strange = values.filter(~said.is_in([*YES, *NO, ""]))
    if len(strange):
        raise UsageError(
            f"{option('should_abstain')} reads yes or no in '{attribute}' (got '{strange[0]}')"
        )
    return said.is_in(YES).to_numpy()
