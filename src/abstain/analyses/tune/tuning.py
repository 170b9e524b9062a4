"""`tune`: a threshold chosen on one part of the questions and judged on another.

The score of the tuned threshold on the questions it was tuned on is never a result: it is the
best of many, picked in hindsight. What is reported comes from questions that had no say, and the
difference is shown as the optimism that was avoided.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from abstain.analyses.curve.curves import WIDTH, Curve
from abstain.analyses.result import number, read_as
from abstain.analyses.tune.choose import SHRINK, KeepNext, KeepRisk, Maximise, Threshold
from abstain.analyses.tune.clusters import Clustered, KeepClusters
from abstain.analyses.tune.result import (
    FOLDS,
    Aim,
    Kept,
    Part,
    Split,
    Standing,
    Tuned,
    TuneResult,
)
from abstain.errors import UsageError, option
from abstain.io.names import cells
from abstain.judging.answers import answers_of, has_answer, stated
from abstain.judging.gold import GOLD
from abstain.measures import Measure, count_measure
from abstain.measures.arrays import Array, BoolArray, Codes, IntArray
from abstain.outcomes import EXCLUDED, Counts
from abstain.stats.functional import cells_of, difference, few_clusters
from abstain.stats.intervals import cell_interval, check_level, check_repeats

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.judging.evaluation import Evaluation
    from abstain.measures.answers import Answers

    Halves = Sequence[tuple[BoolArray, BoolArray]]

Chooser = Maximise | KeepRisk
GAIN_LEVEL = 0.95


def tune(
    evaluation: Evaluation,
    *,
    maximise: str | Measure | None = None,
    risk: float | None = None,
    next_questions: bool = False,
    level: float = 0.9,
    tune_on: Mapping[str, str] | None = None,
    folds: int | None = None,
    repeats: int = 1,
    by: str | None = None,
    shrink: float = SHRINK,
    run: str | None = None,
    seed: int = 0,
) -> TuneResult:
    """Choose the threshold to abstain at on some questions and judge it on others.

    Args:
        evaluation: What was read. Of several golds the first is tuned on, the others are judged
            on, unless something else is asked for.
        maximise: The measure of counts to tune for (c@1).
        risk: Or the share of wrong answers to stay below, answering as much as that allows.
        next_questions: With `risk`, whether to bound the observed share of wrong answers on the
            next questions (as many as each threshold is judged on), not only the expected share.
        level: With `risk`, the probability that the bound holds.
        tune_on: Attribute to value: tune on questions that have it, judge on the others.
        folds: Otherwise: judge each of so many parts with what the others say (5).
        repeats: Cross-fit so many times, with new random folds each time.
        by: An attribute whose values get thresholds of their own.
        shrink: As many questions' worth of the whole are added to each slice.
        run: Only this run.
        seed: The seed of the random folds.
    """
    clustered = evaluation.cluster is not None
    if next_questions and evaluation.reading.cluster is not None:
        raise UsageError(
            f"{option('next_questions')} and {option('cluster')} exclude each other: for "
            "clustered questions only the expected risk can be bounded, not the share of wrong "
            "answers on the next questions"
        )
    chooser, aim = _aim(maximise, risk, level, next_questions=next_questions, clustered=clustered)
    if by is not None and isinstance(chooser, KeepRisk):
        raise UsageError(
            f"{option('by')} cannot be combined with {option('risk')}: to bound the risk of each "
            "slice, tune each slice separately"
        )
    if shrink < 0 or not math.isfinite(shrink):
        raise UsageError(f"{option('shrink')} is 0 or more questions (got {shrink:g})")
    gold = evaluation.source.gold
    golds = () if gold is None else gold.golds
    chosen, judged_on = dict(tune_on or {}), None
    if not chosen and folds is None and len(golds) > 1:
        chosen, judged_on = {GOLD: golds[0]}, ", ".join(golds[1:])
    split = _split(chosen, folds, repeats, judged_on)
    evaluation.require_confidence()
    confidence = evaluation.confidence  # first: kinds come with it, and nothing is read twice
    own = evaluation if run is None else evaluation.only(runs=[run])
    if own is not evaluation:
        confidence = own.confidence
    attributes = dict.fromkeys((*chosen, *([by] if by else [])))
    questions = own.with_attributes(list(attributes))
    measure = chooser.measure if isinstance(chooser, Maximise) else count_measure("c@1")
    slices = None
    if by is not None:
        slices = np.array(cells(questions, by).cast(str).fill_null("").to_list(), dtype=np.str_)
    clusters = own.clusters()
    if clusters is not None and folds is None and split.folds is not None:
        most = len(np.unique(clusters))
        split = msgspec.structs.replace(split, folds=max(2, min(split.folds, most)))
    parts = list(split.parts(questions, seed, clusters))
    alone = clustered and next_questions
    choosing = Choosing(chooser, measure, by, slices, shrink, clusters)
    found: list[Tuned] = []
    untuned: list[UntunableError] = []
    for one in zip(own.runs, own.codes, confidence, strict=True):
        try:
            found.append(tuned(Run(choosing, *one), parts))
        except UntunableError as error:
            untuned.append(error)
    if not found:
        raise untuned[0]
    left_out = [str(error) for error in untuned]
    if clusters is not None and isinstance(chooser, Maximise):
        left_out += filter(None, [few_clusters(np.bincount(clusters).astype(np.float64))])
    return TuneResult(
        **read_as(own, *left_out, clusters=not alone),
        policy=own.policy.to_dict(),
        touched=own.touched,
        questions=questions.height,
        aim=aim,
        fewest=chooser.least if isinstance(chooser, KeepRisk) else None,
        cluster=None if alone else own.cluster,
        measure=str(measure),
        split=split,
        seed=seed,
        by=by,
        shrink=shrink if by is not None else None,
        sources=(*golds, *(source.table.name for source in own.source.responses)),
        runs=tuple(found),
    )


def _aim(
    maximise: str | Measure | None,
    risk: float | None,
    level: float,
    *,
    next_questions: bool,
    clustered: bool,
) -> tuple[Chooser, Aim]:
    check_level(level)
    if risk is None:
        if next_questions:
            raise UsageError(
                f"{option('next_questions')} needs {option('risk')}: it is about the share of "
                "wrong answers"
            )
        measure = count_measure(maximise or "c@1")
        return Maximise(measure), Aim(maximise=str(measure))
    if maximise is not None:
        raise UsageError(f"{option('maximise')} and {option('risk')} exclude each other")
    delta = round(1 - level, 12)  # 1 − 0.9 is 0.1
    keep = KeepClusters if clustered else KeepRisk
    if next_questions:
        keep = KeepNext
    return keep(risk, delta), Aim(risk=risk, level=level, next_questions=next_questions)


def _split(
    tune_on: dict[str, str], folds: int | None, repeats: int, judged_on: str | None
) -> Split:
    said = option("tune_on" if judged_on is None else "test_gold")
    if tune_on and folds is not None:
        raise UsageError(f"{said} and {option('folds')} exclude each other")
    if tune_on and repeats > 1:
        raise UsageError(
            f"{said} splits the questions in only one way: {option('repeats')} needs "
            f"{option('folds')}"
        )
    check_repeats(repeats)
    if folds is not None and folds < 2:
        raise UsageError(
            f"{option('folds')} must be 2 or more (got {folds}): a threshold looks too good on the "
            "questions it was tuned on"
        )
    if tune_on:
        return Split(tuned_on=tune_on, judged_on=judged_on)
    return Split(folds=folds or FOLDS, repeats=repeats)


class UntunableError(UsageError):
    """A run says nowhere how sure it is, so that no threshold can be chosen for it."""


@dataclass(frozen=True, slots=True)
class Choosing:
    """How thresholds are chosen."""

    chooser: Chooser
    measure: Measure
    by: str | None = None
    slices: npt.NDArray[np.str_] | None = None
    """The slice of every question, where slices have thresholds of their own."""
    shrink: float = SHRINK
    clusters: IntArray | None = None
    """The cluster of every question, where they are clustered."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run to choose thresholds for: what became of every response, and how sure it was."""

    choosing: Choosing
    name: str
    codes: Codes
    confidence: Array

    def answers(self, where: BoolArray) -> Answers:
        """Its answers and candidates to some of the questions."""
        return answers_of(self.codes, self.confidence, where)

    def clustered(self, where: BoolArray, clusters: IntArray) -> Clustered:
        """Those that have a confidence, each with its cluster."""
        some = where & has_answer(self.codes) & ~np.isnan(self.confidence)
        return Clustered.of(self.confidence[some], (self.codes[some] & 1) == 1, clusters[some])

    def threshold(self, where: BoolArray, ahead: BoolArray | int) -> Threshold:
        """The threshold tuned on some questions for others, or for so many that are to come."""
        answers, how = self.answers(where), self.choosing
        if not answers.stated.any():
            raise UntunableError(f"run '{self.name}' has no confidence in the part to tune on")
        curve = Curve.of(answers)
        if how.clusters is not None and isinstance(how.chooser, KeepClusters):
            grouped = self.clustered(where, how.clusters)
            return Threshold(how.chooser.choose_by_clusters(curve, grouped))
        coming: Curve | int = ahead if isinstance(ahead, int) else 0
        if isinstance(how.chooser, KeepNext) and not isinstance(ahead, int):
            coming = Curve.of(self.answers(ahead))
        common = how.chooser.choose(curve, coming)
        if how.slices is None or not isinstance(how.chooser, Maximise):
            return Threshold(common)
        values = {}
        for value in np.unique(how.slices[where]):
            inside = Curve.of(self.answers(where & (how.slices == value)))
            values[str(value)] = how.chooser.choose_with(inside, curve, how.shrink)
        return Threshold(common, how.by, values)

    def decided(self, threshold: Threshold) -> Codes:
        """The codes of the run if it keeps to a threshold."""
        return thresholded(self.codes, threshold.answered(self.confidence, self.choosing.slices))

    def hindsight(self, where: BoolArray) -> IntArray:
        """The counts at the best one threshold for these very questions."""
        best = self.choosing.chooser.hindsight(Curve.of(self.answers(where)))
        return counted(self.decided(Threshold(best))[where])


def tuned(run: Run, repeats: Sequence[Halves]) -> Tuned:
    """A run, tuned and judged part by part."""
    codes, measure, chooser = run.codes, run.choosing.measure, run.choosing.chooser
    some, have = stated(codes, run.confidence)
    if not some:
        what = "confidence" if have else "answer"
        raise UntunableError(f"run '{run.name}' has no {what}: there is no threshold to tune")
    everything = thresholded(codes, np.ones(len(codes), bool))
    parts: list[Part] = []
    pooled: list[dict[str, IntArray]] = []
    clusters = run.choosing.clusters
    paired: list[Array] = []
    against: list[bool] = []
    for halves in repeats:
        sums: dict[str, IntArray] = {}
        for tune, judge in halves:
            threshold = run.threshold(tune, judge)
            decided = run.decided(threshold)
            own = {
                "tuned": counted(decided[tune]),
                "judged": counted(decided[judge]),
                "everything": counted(everything[judge]),
                "submitted": counted(codes[judge]),
            }
            parts.append(_part(threshold, own, int(tune.sum()), measure))
            own_clusters = None if clusters is None else (clusters[judge], int(clusters.max()) + 1)
            paired.append(_paired(everything[judge], decided[judge], measure, own_clusters))
            if clusters is not None and isinstance(chooser, KeepClusters):
                judged_on = run.clustered(judge, clusters)
                against.append(chooser.spoken_against(judged_on, threshold.value))
            for key, value in own.items():
                sums[key] = sums.get(key, 0) + value
        sums["hindsight"] = run.hindsight(np.any([judge for _, judge in halves], axis=0))
        pooled.append(sums)
    if len(parts) > 1:  # to use from now on: tuned on every question, for as many as a part judges
        threshold = run.threshold(np.ones(len(codes), bool), int(repeats[0][0][1].sum()))
    mean = {key: mean_standing([p[key] for p in pooled], measure) for key in pooled[0]}
    sign = 1 if measure.higher_is_better else -1
    gain = _above(mean["judged"].score, mean["everything"].score, sign)
    return Tuned(
        run=run.name,
        **threshold.facts,
        judged=mean["judged"],
        answer_everything=mean["everything"],
        as_submitted=mean["submitted"],
        best_in_hindsight=mean["hindsight"],
        gain=gain,
        gain_interval=_gain_interval(
            measure, np.add.reduce(paired) / len(repeats), gain, clustered=clusters is not None
        ),
        optimism_avoided=_above(mean["tuned"].score, mean["judged"].score, sign),
        risk_optimism_avoided=_above(mean["judged"].risk, mean["tuned"].risk),
        parts=tuple(parts),
        without_confidence=have - some,
        kept=kept(parts, chooser, against) if isinstance(chooser, KeepRisk) else None,
    )


def _part(
    threshold: Threshold, own: Mapping[str, IntArray], tuned_on: int, measure: Measure
) -> Part:
    both = own["tuned"] + own["judged"]
    answered = int(both[0] + both[1])
    return Part(
        **threshold.facts,
        tuned_on=tuned_on,
        judged=mean_standing([own["judged"]], measure),
        answer_everything=mean_standing([own["everything"]], measure),
        risk_over_all=int(both[1]) / answered if answered else 0.0,
    )


def _paired(
    before: Codes, after: Codes, measure: Measure, clusters: tuple[IntArray, int] | None
) -> Array:
    """Joint counts of the outcomes that a measure tells apart, of each cluster or of all."""
    cells = cells_of(measure)
    size = len(cells) ** 2
    usable = (before < EXCLUDED) & (after < EXCLUDED)
    one, two = (cells.of(codes[usable]).astype(np.int64) for codes in (before, after))
    both, groups = one * len(cells) + two, 1
    if clusters is not None:
        numbers, groups = clusters
        both += numbers[usable] * size
    return np.bincount(both, minlength=groups * size).reshape(groups, size).astype(np.float64)


def _gain_interval(
    measure: Measure, paired: Array, gain: float | None, *, clustered: bool
) -> tuple[float | None, float | None]:
    """An interval of the gain from the joint counts of one repeat, or of the mean of several."""
    clusters = paired[paired.any(axis=1)] if clustered else None
    whole = paired.sum(axis=0)
    found = cell_interval(difference(measure), whole, clusters=clusters, level=GAIN_LEVEL)
    if gain is None or math.isnan(found.low):
        return None, None
    low, high = found.low, found.high
    if not measure.higher_is_better:
        low, high = -high, -low
    return number(min(low, gain)), number(max(high, gain))


def thresholded(codes: Codes, answered: BoolArray) -> Codes:
    """The codes of a run that answers exactly these of the questions it has answers to."""
    decided = (codes & 1) + np.where(answered, 0, 2).astype(np.uint8)
    return np.where(has_answer(codes), decided, codes).astype(np.uint8)


def counted(codes: Codes) -> IntArray:
    """Codes to the six numbers of `Counts`."""
    return np.bincount(codes[codes < EXCLUDED], minlength=WIDTH)


def mean_standing(tables: Sequence[IntArray], measure: Measure) -> Standing:
    """Mean counts, with the mean of the scores (a score of mean counts would be another).

    There is no mean where one of the scores does not exist: leaving it out would flatter.
    """
    scores = [measure(Counts(*t.tolist())) for t in tables]
    mean = tables[0] if len(tables) == 1 else np.mean(tables, axis=0)  # counts of one stay whole
    counts = Counts(*mean.tolist())
    return Standing(
        score=number(sum(scores) / len(scores)),
        risk=counts.wrong / counts.answered if counts.answered else None,
        coverage=counts.answered / counts.n if counts.n else None,
        numbers={name: value or 0 for name, value in counts.to_dict().items()},
    )


def kept(parts: Sequence[Part], aim: KeepRisk, against: Sequence[bool] = ()) -> Kept:
    """In how many parts the bound held. Answering nothing, nothing is wrong.

    `against`: the parts whose judged clusters speak against it, where questions are clustered.
    """
    judged = [part.judged.counts for part in parts]
    return Kept(
        parts=len(parts),
        silent=sum(part.threshold is None for part in parts),
        seen=sum(k.wrong <= aim.alpha * k.answered + 1e-9 for k in judged),
        over_all=sum(part.risk_over_all <= aim.alpha + 1e-12 for part in parts),
        refuted=sum(against or (aim.refuted(k.wrong, k.answered) for k in judged)),
        chance=(
            aim.chance(judged[0].wrong, judged[0].answered)
            if len(parts) == 1 and not against
            else None
        ),
    )


def _above(one: float | None, other: float | None, sign: int = 1) -> float | None:
    """By how much one number is above another; none where one does not exist."""
    return None if one is None or other is None else number(sign * (one - other))
