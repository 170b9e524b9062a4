"""Tuning: a threshold chosen on one part of the questions and judged on another.

The score of the tuned threshold on the questions it was tuned on is never a result: it is the
best of many, picked in hindsight. What is reported comes from questions that had no say, and the
difference is shown as the optimism that was avoided.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.curve.curve import Curve
from abstain.analyses.curve.matrix import ConfidenceMatrix, counted
from abstain.analyses.tune.bounds import Aim, KeepNext, KeepRisk
from abstain.analyses.tune.choose import SHRINK, Maximise, Threshold
from abstain.analyses.tune.split import Split
from abstain.analyses.tune.tuned import Part, Standing, Tuned, TuneResult
from abstain.errors import UsageError, option, plural
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
    next_questions: bool = False,
    split: Split | None = None,
    per: str | None = None,
    shrink: float = SHRINK,
    seed: int = 0,
) -> TuneResult:
    """Tune every run of a matrix."""
    aim = _aim(maximise, risk, delta, next_questions=next_questions)
    if per is not None and isinstance(aim, KeepRisk):
        raise UsageError(
            f"{option('by')} goes with {option('measure')}: a bound for each slice needs its own "
            f"{option('risk')}"
        )
    if shrink < 0 or not math.isfinite(shrink):
        raise UsageError(f"{option('shrink')} is 0 or more questions (got {shrink:g})")
    measure = aim.measure if isinstance(aim, Maximise) else count_measure("c@1")
    chosen = split or Split()
    choosing = _Choosing(matrix, aim, per, _slices(matrix, per), shrink)
    parts = list(chosen.parts(matrix.questions, seed))
    runs = tuple(_tune_run(choosing, n, measure, parts) for n in range(len(matrix.runs)))
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
        (*matrix.notes, *(note for own in runs for note in _notes(own, aim))),
    )


def _aim(
    maximise: str | Measure | None, risk: float | None, delta: float, *, next_questions: bool
) -> Aim:
    if risk is None:
        if next_questions:
            raise UsageError(
                f"{option('next_questions')} goes with {option('risk')}: it is about the share of "
                "wrong answers"
            )
        return Maximise(count_measure(maximise or "c@1"))
    if maximise is not None:
        raise UsageError(f"{option('measure')} and {option('risk')} exclude each other")
    return KeepNext(risk, delta) if next_questions else KeepRisk(risk, delta)


def _notes(own: Tuned, aim: Aim) -> list[str]:
    found = []
    if own.without:
        have = plural(own.without, "answer has", "answers have")
        found.append(
            f"run '{own.run}': {have} no confidence: left blank by any threshold, also by the best "
            "in hindsight"
        )
    if math.isinf(own.threshold.value):
        found.append(_why_silent(own, aim))
    return found


def _why_silent(own: Tuned, aim: Aim) -> str:
    if not isinstance(aim, KeepRisk):
        return f"run '{own.run}': nothing scores better than to answer nothing"
    needed = f" (it takes at least {aim.least} answers, all right)"
    return (
        f"run '{own.run}': no threshold that was tried keeps the risk at {aim.alpha:g} surely "
        f"enough{'' if isinstance(aim, KeepNext) else needed}: it should answer nothing"
    )


def _slices(matrix: ConfidenceMatrix, per: str | None) -> npt.NDArray[np.str_] | None:
    if per is None:
        return None
    return np.array(matrix.questions[per].cast(str).fill_null("").to_list(), dtype=np.str_)


@dataclass(frozen=True, slots=True)
class _Choosing:
    """How thresholds are chosen for the runs of a matrix, and what they make of these."""

    matrix: ConfidenceMatrix
    aim: Aim
    per: str | None
    slices: npt.NDArray[np.str_] | None
    shrink: float

    def threshold(self, run: int, where: BoolArray, ahead: BoolArray | int) -> Threshold:
        """The threshold tuned on some questions for others, or for so many that are to come."""
        name, answers = self.matrix.runs[run], self.matrix.answers(run, where)
        if not answers.stated.any():
            raise UsageError(f"run '{name}' has no confidence in the part to tune on")
        curve = Curve.of(name, answers)
        if not isinstance(self.aim, KeepNext) or isinstance(ahead, int):
            coming: Curve | int = ahead if isinstance(ahead, int) else 0
        else:
            coming = Curve.of(name, self.matrix.answers(run, ahead))
        common = self.aim.choose(curve, coming)
        if self.per is None or self.slices is None or not isinstance(self.aim, Maximise):
            return Threshold(common)
        values = {}
        for value in np.unique(self.slices[where]):
            inside = where & (self.slices == value)
            own = Curve.of(name, self.matrix.answers(run, inside))
            values[str(value)] = self.aim.choose_with(own, curve, self.shrink)
        return Threshold(common, self.per, values)

    def counts(self, run: int, threshold: Threshold, where: BoolArray) -> IntArray:
        """The counts of a run that keeps to a threshold."""
        sure = threshold.answered(self.matrix.confidence[run], self.slices)
        return counted(self.matrix.thresholded(run, sure)[where])

    def everything(self, run: int, where: BoolArray) -> IntArray:
        """The counts of a run that gives every answer and candidate."""
        sure = np.ones(self.matrix.questions.height, bool)
        return counted(self.matrix.thresholded(run, sure)[where])

    def hindsight(self, run: int, measure: Measure, where: BoolArray) -> IntArray:
        """The counts at the best one threshold for these very questions."""
        curve = Curve.of("", self.matrix.answers(run, where))
        if isinstance(self.aim, KeepRisk):
            best = self.aim.hindsight(curve)
        else:
            best = Maximise(measure).choose(curve)
        return self.counts(run, Threshold(best), where)


def _tune_run(
    choosing: _Choosing,
    run: int,
    measure: Measure,
    repeats: Sequence[Sequence[tuple[BoolArray, BoolArray]]],
) -> Tuned:
    matrix, name = choosing.matrix, choosing.matrix.runs[run]
    stated, have = matrix.stated(run)
    if not stated:
        what = "confidence" if have else "answer"
        raise UsageError(f"run '{name}' has no {what}: there is no threshold to tune")
    parts: list[Part] = []
    pooled: list[dict[str, IntArray]] = []
    for pairs in repeats:
        sums: dict[str, IntArray] = {}
        for tune, judge in pairs:
            threshold = choosing.threshold(run, tune, judge)
            own = {
                "tuned": choosing.counts(run, threshold, tune),
                "judged": choosing.counts(run, threshold, judge),
                "everything": choosing.everything(run, judge),
                "submitted": matrix.counts(run, judge),
            }
            stand = {k: _standing(own[k], measure) for k in ("tuned", "judged", "everything")}
            parts.append(Part(threshold, int(tune.sum()), **stand))
            for key, value in own.items():
                sums[key] = sums.get(key, 0) + value
        judged_all = np.any([judge for _, judge in pairs], axis=0)
        sums["hindsight"] = choosing.hindsight(run, measure, judged_all)
        pooled.append(sums)
    mean = {key: _mean_standing([p[key] for p in pooled], measure) for key in pooled[0]}
    return Tuned(
        name,
        _to_use(choosing, run, parts, repeats),
        mean["judged"],
        mean["everything"],
        mean["submitted"],
        mean["hindsight"],
        mean["tuned"].score,
        mean["tuned"].risk,
        tuple(parts),
        have - stated,
        1 if measure.higher_is_better else -1,
    )


def _to_use(
    choosing: _Choosing,
    run: int,
    parts: Sequence[Part],
    repeats: Sequence[Sequence[tuple[BoolArray, BoolArray]]],
) -> Threshold:
    """The threshold to use from now on: the one that was judged, or tuned on every question."""
    if len(parts) == 1:
        return parts[0].threshold
    everything = np.ones(choosing.matrix.questions.height, bool)
    return choosing.threshold(run, everything, int(repeats[0][0][1].sum()))


def _standing(counts: IntArray, measure: Measure) -> Standing:
    own = Counts(*counts.tolist())
    return Standing(own, measure(own))


def _mean_standing(tables: Sequence[IntArray], measure: Measure) -> Standing:
    """Mean counts, with the mean of the scores (a score of mean counts would be another).

    There is no mean where one of the scores does not exist: leaving it out would flatter.
    """
    scores = [measure(Counts(*t.tolist())) for t in tables]
    undefined = next((s for s in scores if math.isnan(s)), None)
    score = sum(scores) / len(scores) if undefined is None else undefined
    if len(tables) == 1:
        return Standing(Counts(*tables[0].tolist()), score)
    return Standing(Counts(*np.mean(tables, axis=0).tolist()), score)
