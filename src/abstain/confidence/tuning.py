"""Tuning: a threshold chosen on one part of the questions and judged on another.

The score of the tuned threshold on the questions it was tuned on is never a result: it is the
best of many, picked in hindsight. What is reported comes from questions that had no say, and the
difference is shown as the optimism that was avoided.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from abstain.confidence.choose import SHRINK, Aim, KeepRisk, Maximise, Threshold
from abstain.confidence.curve import Curve
from abstain.confidence.matrix import ConfidenceMatrix, counted
from abstain.confidence.split import Split
from abstain.confidence.tuned import Part, Standing, Tuned, TuneResult
from abstain.errors import UsageError, plural
from abstain.measures import Measure, count_measure
from abstain.outcomes import Counts

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import IntArray

    BoolArray = npt.NDArray[np.bool_]


def tune_matrix(
    matrix: ConfidenceMatrix,
    *,
    maximise: str | Measure | None = None,
    risk: float | None = None,
    delta: float = 0.1,
    split: Split | None = None,
    per: str | None = None,
    shrink: float = SHRINK,
    seed: int = 0,
) -> TuneResult:
    """Tune every run of a matrix."""
    if risk is not None and maximise is not None:
        raise UsageError("--maximise and --risk exclude each other")
    aim: Aim = Maximise(count_measure(maximise or "c@1")) if risk is None else KeepRisk(risk, delta)
    if per is not None and isinstance(aim, KeepRisk):
        raise UsageError("--per goes with --maximise: a bound for each slice needs its own --risk")
    if shrink < 0 or not math.isfinite(shrink):
        raise UsageError(f"--shrink is 0 or more questions (got {shrink:g})")
    measure = aim.measure if isinstance(aim, Maximise) else count_measure("c@1")
    chosen = split or Split()
    slices = _slices(matrix, per)
    parts = list(chosen.parts(matrix.questions, seed))
    runs = tuple(
        _tune_run(matrix, n, aim, measure, parts, per, slices, shrink)
        for n in range(len(matrix.runs))
    )
    notes = [*matrix.notes]
    for own in runs:
        if own.without:
            notes.append(
                f"run '{own.run}': {plural(own.without, 'answer has', 'answers have')} no "
                "confidence: left blank by any threshold"
            )
        if math.isinf(own.threshold.value):
            notes.append(_why_silent(own, aim))
    return TuneResult(
        aim,
        measure,
        chosen,
        seed,
        runs,
        matrix.questions.height,
        matrix,
        per,
        shrink,
        tuple(notes),
    )


def _why_silent(own: Tuned, aim: Aim) -> str:
    if isinstance(aim, KeepRisk):
        return (
            f"run '{own.run}': no threshold keeps the risk at {aim.alpha:g} surely enough (at "
            f"least {aim.least} right answers in a row are needed): it should answer nothing"
        )
    return f"run '{own.run}': nothing scores better than to answer nothing"


def _slices(matrix: ConfidenceMatrix, per: str | None) -> npt.NDArray[np.str_] | None:
    if per is None:
        return None
    return np.array(matrix.questions[per].cast(str).fill_null("").to_list(), dtype=np.str_)


def _tune_run(
    matrix: ConfidenceMatrix,
    run: int,
    aim: Aim,
    measure: Measure,
    repeats: Sequence[Sequence[tuple[BoolArray, BoolArray]]],
    per: str | None,
    slices: npt.NDArray[np.str_] | None,
    shrink: float,
) -> Tuned:
    name = matrix.runs[run]
    stated, have = matrix.stated(run)
    if not stated:
        raise UsageError(f"run '{name}' has no confidence: there is no threshold to tune")
    everything = np.ones(matrix.questions.height, bool)
    parts: list[Part] = []
    pooled: list[dict[str, IntArray]] = []
    for pairs in repeats:
        sums: dict[str, IntArray] = {}
        for tune, judge in pairs:
            threshold = _choose(matrix, run, aim, tune, per, slices, shrink)
            own = {
                "judged": _at_threshold(matrix, run, threshold, slices, judge),
                "everything": _answering(matrix, run, everything, judge),
                "submitted": matrix.counts(run, judge),
            }
            tuned = _at_threshold(matrix, run, threshold, slices, tune)
            stand = {k: _standing(v, measure) for k, v in own.items()}
            parts.append(
                Part(
                    threshold,
                    int(tune.sum()),
                    _standing(tuned, measure),
                    stand["judged"],
                    stand["everything"],
                )
            )
            for key, value in {**own, "tuned": tuned}.items():
                sums[key] = sums.get(key, 0) + value
        judged_all = np.any([judge for _, judge in pairs], axis=0)
        sums["hindsight"] = _hindsight(matrix, run, measure, judged_all)
        pooled.append(sums)
    may_tune = repeats[0][0][0] if len(repeats) == 1 and len(repeats[0]) == 1 else everything
    final = _choose(matrix, run, aim, may_tune, per, slices, shrink)
    mean = {key: _mean_standing([p[key] for p in pooled], measure) for key in pooled[0]}
    return Tuned(
        name,
        final,
        mean["judged"],
        mean["everything"],
        mean["submitted"],
        mean["hindsight"],
        mean["tuned"].score,
        tuple(parts),
        have - stated,
        1 if measure.higher_is_better else -1,
    )


def _choose(
    matrix: ConfidenceMatrix,
    run: int,
    aim: Aim,
    where: BoolArray,
    per: str | None,
    slices: npt.NDArray[np.str_] | None,
    shrink: float,
) -> Threshold:
    answers = matrix.answers(run, where)
    if not answers.stated.any():
        raise UsageError(f"run '{matrix.runs[run]}' has no confidence in the part to tune on")
    curve = Curve.of(matrix.runs[run], answers)
    common = aim.choose(curve)
    if per is None or slices is None or not isinstance(aim, Maximise):
        return Threshold(common)
    values = {}
    for value in np.unique(slices[where]):
        inside = where & (slices == value)
        own = Curve.of(matrix.runs[run], matrix.answers(run, inside))
        values[str(value)] = aim.choose_with(own, curve, shrink)
    return Threshold(common, per, values)


def _at_threshold(
    matrix: ConfidenceMatrix,
    run: int,
    threshold: Threshold,
    slices: npt.NDArray[np.str_] | None,
    where: BoolArray,
) -> IntArray:
    return _answering(matrix, run, threshold.answered(matrix.confidence[run], slices), where)


def _answering(
    matrix: ConfidenceMatrix, run: int, answered: BoolArray, where: BoolArray
) -> IntArray:
    return counted(matrix.thresholded(run, answered)[where])


def _hindsight(matrix: ConfidenceMatrix, run: int, measure: Measure, where: BoolArray) -> IntArray:
    best = Maximise(measure).choose(Curve.of("", matrix.answers(run, where)))
    return _at_threshold(matrix, run, Threshold(best), None, where)


def _standing(counts: IntArray, measure: Measure) -> Standing:
    own = Counts(*counts.tolist())
    return Standing(own, measure(own))


def _mean_standing(tables: Sequence[IntArray], measure: Measure) -> Standing:
    """Mean counts, with the mean of the scores (a score of mean counts would be another)."""
    scores = [measure(Counts(*t.tolist())) for t in tables]
    defined = [s for s in scores if not math.isnan(s)]
    score = sum(defined) / len(defined) if defined else scores[0]
    if len(tables) == 1:
        return Standing(Counts(*tables[0].tolist()), score)
    return Standing(Counts(*np.mean(tables, axis=0).tolist()), score)
