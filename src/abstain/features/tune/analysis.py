"""`tune`: a threshold chosen on one part of the questions and judged on another.

What is reported comes from questions that had no say; the rest is optimism, picked in hindsight.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from abstain.errors import UnknownNameError, UsageError, option
from abstain.features.tune.choose import (
    SHRINK,
    Clustered,
    KeepClusters,
    KeepNext,
    KeepRisk,
    Maximise,
    Threshold,
)
from abstain.features.tune.result import FOLDS, Aim, Kept, Part, Split, Standing, Tuned, TuneResult
from abstain.io.tables import cells
from abstain.measures import Measure, count_measure
from abstain.measures.definition import Array, BoolArray, Codes, IntArray
from abstain.outcomes import EXCLUDED, UNSPLIT
from abstain.report.result import number, read_as
from abstain.runs.evaluation import Evaluation, RunData
from abstain.runs.gold import GOLD
from abstain.runs.sources import answers_of, count_stated, has_answer
from abstain.stats.curves import WIDTH, Curve
from abstain.stats.delta_method import cells_of, difference, few_clusters
from abstain.stats.intervals import cell_interval, check_level, check_repeats, error_of

Chooser = Maximise | KeepRisk
Halves: TypeAlias = Sequence[tuple[BoolArray, BoolArray]]
GAIN_LEVEL = 0.95


def tune(
    evaluation: Evaluation,
    *,
    maximise: str | Measure | None = None,
    risk: float | None = None,
    next: bool = False,
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
        next: With `risk`, whether to bound the observed share of wrong answers on the
            next questions (as many as each threshold is judged on), not only the expected share.
        level: With `risk`, the probability that the bound holds.
        tune_on: Attribute to value: tune on questions that have it, judge on the others.
        folds: Otherwise: judge each of so many parts with what the others say (5).
        repeats: Cross-fit so many times, with new random folds each time.
        by: An attribute whose values get separate thresholds.
        shrink: As many questions' worth of the whole are added to each slice.
        run: Only this run.
        seed: The seed of the random folds.
    """
    check_level(level)
    check_repeats(repeats)
    if shrink < 0 or not math.isfinite(shrink):
        raise UsageError(f"{option('shrink')} is 0 or more questions (got {shrink:g})")
    data = evaluation.data
    measure = count_measure((risk is None and maximise) or "c@1")
    chooser: Chooser = Maximise(measure)
    aim = Aim(maximise=str(measure))
    if risk is not None:
        exclude("risk", maximise=maximise, by=by)
        if next and evaluation.reading.cluster is not None:
            raise UsageError(f"{option('next')} and {option('cluster')} exclude each other")
        keep = KeepNext if next else KeepRisk if data.cluster is None else KeepClusters
        chooser = keep(risk, error_of(level))
        aim = Aim(risk=risk, level=level, next_questions=next)
    elif next:
        raise UsageError(f"{option('next')} needs {option('risk')}: it bounds that share")
    golds = () if data.source.gold is None else data.source.gold.golds
    data.require_confidence()
    if run is not None:
        evaluation = evaluation.only(runs=[run])
        data = evaluation.data
    confidence = data.confidence  # first: kinds come with it, and nothing is read twice
    clusters = data.clusters()
    split = divide(data, dict(tune_on or {}), folds, repeats)
    questions = data.with_attributes(list(dict.fromkeys([*split.tuned_on, *filter(None, [by])])))
    slices = None
    if by is not None:
        slices = np.array(cells(questions, by).cast(str).fill_null("").to_list(), dtype=np.str_)
    parts = list(halves_of(split, questions, seed, clusters))
    runs: list[Tuned] = []
    notes: list[str] = []
    for name, codes, sure in zip(evaluation.runs, data.codes, confidence, strict=True):
        one = Run(name, codes, sure, chooser, measure, by, slices, shrink, clusters)
        try:
            runs.append(tuned(one, parts))
        except UntunableError as error:
            notes.append(str(error))
    if not runs:
        raise UntunableError(notes[0])
    if isinstance(chooser, Maximise):
        notes += few_clusters(clusters)
    return TuneResult(
        **read_as(evaluation, *notes, clusters=not next),
        policy=evaluation.policy.to_dict(),
        touched=data.touched,
        questions=questions.height,
        aim=aim,
        fewest=chooser.least if isinstance(chooser, KeepRisk) else None,
        cluster=None if next else data.cluster,
        measure=str(measure),
        split=split,
        seed=seed,
        by=by,
        shrink=shrink if by is not None else None,
        sources=(*golds, *(source.table.name for source in data.source.responses)),
        runs=tuple(runs),
    )


def exclude(name: str, **others: Any) -> None:
    for other, value in others.items():
        if value is not None:
            raise UsageError(f"{option(other)} and {option(name)} exclude each other")


def divide(data: RunData, tune_on: dict[str, str], folds: int | None, repeats: int) -> Split:
    gold, clusters = data.source.gold, data.clusters()
    golds = () if gold is None else gold.golds
    judged_on = None
    if not tune_on and folds is None and len(golds) > 1:
        tune_on, judged_on = {GOLD: golds[0]}, ", ".join(golds[1:])
    if tune_on:
        name = "tune_on" if judged_on is None else "test_gold"
        exclude(name, folds=folds, repeats=repeats if repeats > 1 else None)
        return Split(tuned_on=tune_on, judged_on=judged_on)
    if folds is not None and folds < 2:
        raise UsageError(f"{option('folds')} must be 2 or more (got {folds})")
    most = FOLDS if clusters is None else max(2, min(FOLDS, len(np.unique(clusters))))
    return Split(folds=folds or most, repeats=repeats)


def halves_of(
    split: Split, questions: pl.DataFrame, seed: int, clusters: IntArray | None = None
) -> Iterator[list[tuple[BoolArray, BoolArray]]]:
    """For each repeat the pairs of masks: tune on, judge on. Folds keep clusters whole."""
    if split.tuned_on:
        tune = np.ones(questions.height, bool)
        for attribute, value in split.tuned_on.items():
            values = cells(questions, attribute).cast(str)
            if value not in (known := values.drop_nulls().unique().to_list()):
                raise UnknownNameError(f"question with {attribute}", value, known)
            tune &= (values == value).fill_null(value=False).to_numpy()
        for half, purpose in ((tune, "tune on"), (~tune, "judge on")):
            if not half.any():
                label = ", ".join(f"{name}={value}" for name, value in split.tuned_on.items())
                raise UsageError(f"the split {label} leaves no question to {purpose}")
        yield [(tune, ~tune)]
        return
    folds, unit = split.folds or FOLDS, units_by_id(questions, clusters)
    size = int(unit.max(initial=-1)) + 1
    if folds > size:
        what = "question" if clusters is None else "cluster"
        raise UsageError(f"{folds} folds need at least as many {what}s (got {size})")
    for repeat in range(split.repeats or 1):
        draw = np.random.default_rng([seed, repeat]).permutation(size)
        fold = draw[unit] % folds
        yield [(fold != f, fold == f) for f in range(folds)]


def units_by_id(questions: pl.DataFrame, clusters: IntArray | None) -> IntArray:
    """The number of each question, or of its cluster, whatever the order of rows."""
    units = questions.select(unit=pl.col("question").rank("ordinal").cast(pl.Int64))
    if clusters is not None:
        first = units.select(pl.col("unit").min().over(pl.lit(pl.Series(clusters))))
        units = first.select(pl.col("unit").rank("dense").cast(pl.Int64))
    return units["unit"].to_numpy() - 1


class UntunableError(UsageError):
    """A run says nowhere how sure it is, so that no threshold can be chosen for it."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run to choose thresholds for: what became of every response, and how sure it was."""

    name: str
    codes: Codes
    confidence: Array
    chooser: Chooser
    measure: Measure
    by: str | None = None
    slices: npt.NDArray[np.str_] | None = None
    shrink: float = SHRINK
    clusters: IntArray | None = None

    def curve(self, where: BoolArray) -> Curve:
        answers = answers_of(self.codes, self.confidence, where)
        return Curve.of(answers, int(np.count_nonzero(self.codes[where] == UNSPLIT)))

    def clustered(self, where: BoolArray) -> Clustered:
        assert self.clusters is not None
        some = where & has_answer(self.codes) & ~np.isnan(self.confidence)
        wrong = (self.codes[some] & 1) == 1
        return Clustered.of(self.confidence[some], wrong, self.clusters[some])

    def threshold(self, where: BoolArray, ahead: BoolArray | int) -> Threshold:
        if not count_stated(self.codes[where], self.confidence[where])[0]:
            raise UntunableError(f"run '{self.name}' has no confidence in the part to tune on")
        chooser, curve = self.chooser, self.curve(where)
        if isinstance(chooser, KeepClusters):
            return Threshold(chooser.choose(curve, self.clustered(where)))
        if isinstance(chooser, KeepNext):
            coming = ahead if isinstance(ahead, int) else self.curve(ahead)
            return Threshold(chooser.choose(curve, coming))
        common = chooser.choose(curve)
        if self.slices is None or isinstance(chooser, KeepRisk):
            return Threshold(common)
        values = {}
        for value in np.unique(self.slices[where]):
            inside = self.curve(where & (self.slices == value))
            values[str(value)] = chooser.choose_with(inside, curve, self.shrink)
        return Threshold(common, self.by, values)

    def decided(self, threshold: Threshold) -> Codes:
        return thresholded(self.codes, threshold.answered(self.confidence, self.slices))


def tuned(run: Run, repeats: Sequence[Halves]) -> Tuned:
    codes, measure, chooser = run.codes, run.measure, run.chooser
    some, have = count_stated(codes, run.confidence)
    if not some:
        what = "confidence" if have else "answer"
        raise UntunableError(f"run '{run.name}' has no {what}: there is no threshold to tune")
    everything = thresholded(codes, np.ones(len(codes), bool))
    parts: list[Part] = []
    pooled: list[list[IntArray]] = []
    paired: list[Array] = []
    against: list[bool] = []
    for halves in repeats:
        sums = np.zeros((4, WIDTH), np.int64)  # tuned, and judged: now, everything, as submitted
        for tune, judge in halves:
            threshold = run.threshold(tune, judge)
            decided = run.decided(threshold)
            taken = (decided[tune], decided[judge], everything[judge], codes[judge])
            counts = np.stack([counted(each) for each in taken])
            sums += counts
            right, wrong = (counts[0] + counts[1])[:2].tolist()
            parts.append(
                Part(
                    **threshold.facts,
                    tuned_on=int(tune.sum()),
                    judged=Standing.mean([counts[1]], measure),
                    answer_everything=Standing.mean([counts[2]], measure),
                    risk_over_all=wrong / (right + wrong) if right + wrong else 0.0,
                )
            )
            before, after = (np.where(judge, each, EXCLUDED) for each in (everything, decided))
            paired.append(joint_counts(before, after, measure, run.clusters))
            if isinstance(chooser, KeepClusters):
                against.append(chooser.spoken_against(run.clustered(judge), threshold.value))
        judged = np.any([judge for _, judge in halves], axis=0)
        best = Threshold(chooser.hindsight(run.curve(judged)))
        pooled.append([*sums, counted(run.decided(best)[judged])])
    if len(parts) > 1:  # to use from now on: tuned on every question, for as many as a part judges
        threshold = run.threshold(np.ones(len(codes), bool), int(repeats[0][0][1].sum()))
    tuned_on, now, before_it, submitted, hindsight = (
        Standing.mean(tables, measure) for tables in zip(*pooled, strict=True)
    )
    sign = 1 if measure.higher_is_better else -1
    gain = _above(now.score, before_it.score, sign)
    joint = np.add.reduce(paired) / len(repeats)
    return Tuned(
        run=run.name,
        **threshold.facts,
        judged=now,
        answer_everything=before_it,
        as_submitted=submitted,
        best_in_hindsight=hindsight,
        gain=gain,
        gain_interval=gain_interval(measure, joint, gain, clustered=run.clusters is not None),
        optimism_avoided=_above(tuned_on.score, now.score, sign),
        risk_optimism_avoided=_above(now.risk, tuned_on.risk),
        parts=tuple(parts),
        without_confidence=have - some,
        kept=kept(parts, chooser, against) if isinstance(chooser, KeepRisk) else None,
    )


def joint_counts(before: Codes, after: Codes, measure: Measure, clusters: IntArray | None) -> Array:
    """Joint counts of the outcomes that a measure tells apart, of each cluster or of all."""
    kinds = cells_of(measure)
    size = len(kinds) ** 2
    usable = (before < EXCLUDED) & (after < EXCLUDED)
    one, two = (kinds.of(codes[usable]).astype(np.int64) for codes in (before, after))
    both, groups = one * len(kinds) + two, 1
    if clusters is not None:
        both, groups = both + clusters[usable] * size, int(clusters.max()) + 1
    return np.bincount(both, minlength=groups * size).reshape(groups, size).astype(np.float64)


def gain_interval(
    measure: Measure, paired: Array, gain: float | None, *, clustered: bool
) -> tuple[float | None, float | None]:
    """An interval of the gain from the joint counts of one repeat, or of the mean of several."""
    clusters = paired[paired.any(axis=1)] if clustered else None
    whole = paired.sum(axis=0)
    interval = cell_interval(difference(measure), whole, clusters=clusters, level=GAIN_LEVEL)
    if gain is None or math.isnan(interval.low):
        return None, None
    sign = 1 if measure.higher_is_better else -1
    low, high = sorted((sign * interval.low, sign * interval.high))
    return number(min(low, gain)), number(max(high, gain))


def thresholded(codes: Codes, answered: BoolArray) -> Codes:
    decided = (codes & 1) + np.where(answered, 0, 2).astype(np.uint8)
    return np.where(has_answer(codes), decided, codes).astype(np.uint8)


def counted(codes: Codes) -> IntArray:
    return np.bincount(codes[codes < EXCLUDED], minlength=WIDTH)


def kept(parts: Sequence[Part], aim: KeepRisk, against: Sequence[bool] = ()) -> Kept:
    """In how many parts the bound held. Answering nothing, nothing is wrong.

    `against`: the parts whose judged clusters speak against it, where questions are clustered.
    """
    judged = [part.judged.counts for part in parts]
    alone = len(parts) == 1 and not against
    return Kept(
        parts=len(parts),
        silent=sum(part.threshold is None for part in parts),
        seen=sum(k.wrong <= aim.alpha * k.answered + 1e-9 for k in judged),
        over_all=sum(part.risk_over_all <= aim.alpha + 1e-12 for part in parts),
        refuted=sum(against or (aim.refuted(k.wrong, k.answered) for k in judged)),
        chance=aim.chance(judged[0].wrong, judged[0].answered) if alone else None,
    )


def _above(one: float | None, other: float | None, sign: int = 1) -> float | None:
    return None if one is None or other is None else number(sign * (one - other))
