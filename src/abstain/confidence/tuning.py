"""Tuning: a threshold chosen on one part of the questions and judged on another.

The score of the tuned threshold on the questions it was tuned on is never a result: it is the
best of many, picked in hindsight. What is reported comes from questions that had no say, and the
difference is shown as the optimism that was avoided.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain import __version__
from abstain.confidence.choose import SHRINK, Aim, KeepRisk, Maximise, Threshold
from abstain.confidence.curve import Curve
from abstain.confidence.matrix import ConfidenceMatrix, counted
from abstain.errors import UsageError, nearest, plural
from abstain.measures import Measure, count_measure
from abstain.outcomes import Counts, Undefined

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from abstain.outcomes import IntArray

    BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Split:
    """How the questions are parted: by folds, by an attribute's value, or as a mask says."""

    folds: int = 5
    repeats: int = 1
    attribute: str | None = None
    value: str | None = None
    tune_on: Any = None
    """A mask over the questions, where a gold of its own is judged on."""
    label: str = ""

    def parts(self, questions: pl.DataFrame, seed: int) -> Iterator[list[tuple[Any, Any]]]:
        """For each repeat the pairs of masks: tune on, judge on."""
        if self.tune_on is not None:
            yield [_checked(self.tune_on, ~self.tune_on, self.label)]
            return
        if self.attribute is not None:
            yield [self._named(questions)]
            return
        size = questions.height
        if self.folds < 2:
            raise UsageError(
                "tuned and judged on the same questions a threshold flatters itself: --folds is 2 "
                f"or more (got {self.folds})"
            )
        if self.folds > size:
            raise UsageError(f"{self.folds} folds of {plural(size, 'question')} leave one empty")
        # By the order of ids, so that the order of rows changes nothing.
        by_id = questions["question"].arg_sort().to_numpy()
        for repeat in range(self.repeats):
            draw = np.random.default_rng([seed, repeat]).permutation(size)
            fold = np.empty(size, np.int64)
            fold[by_id] = draw % self.folds
            yield [(fold != f, fold == f) for f in range(self.folds)]

    def _named(self, questions: pl.DataFrame) -> tuple[Any, Any]:
        values = questions[self.attribute or ""].cast(str)
        tune = (values == self.value).fill_null(value=False).to_numpy()
        if not tune.any():
            near = nearest(self.value or "", values.drop_nulls().unique().to_list())
            hint = f" (nearest: {', '.join(near)})" if near else ""
            raise UsageError(
                f"no question has {self.attribute} '{self.value}'{hint}: nothing to tune on"
            )
        return _checked(tune, ~tune, f"{self.attribute}={self.value}")

    def to_dict(self) -> dict[str, Any]:
        """How the questions were parted."""
        if self.tune_on is not None:
            return {"judged_on": self.label}
        if self.attribute is not None:
            return {"tuned_on": {self.attribute: self.value}}
        return {"folds": self.folds, "repeats": self.repeats}


def _checked(tune: BoolArray, judge: BoolArray, label: str) -> tuple[BoolArray, BoolArray]:
    if not tune.any():
        raise UsageError(f"the split {label} leaves no question to tune on")
    if not judge.any():
        raise UsageError(f"the split {label} leaves no question to judge on")
    return tune, judge


@dataclass(frozen=True, slots=True)
class Standing:
    """Counts with the score, the risk and the coverage that they mean."""

    counts: Counts
    score: float

    @property
    def risk(self) -> float:
        """The share wrong of what was answered."""
        k = self.counts
        return k.wrong / k.answered if k.answered else Undefined("no question was answered")

    @property
    def coverage(self) -> float:
        """The share answered."""
        return self.counts.answered / self.counts.n if self.counts.n else math.nan

    def to_dict(self) -> dict[str, Any]:
        """As plain data; null where undefined."""
        return {
            "score": _plain(self.score),
            "risk": _plain(self.risk),
            "coverage": _plain(self.coverage),
            "counts": self.counts.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Part:
    """One tuning and one judging."""

    threshold: Threshold
    tuned_on: int
    tuned: Standing
    """On the questions it was tuned on: no result."""
    judged: Standing
    everything: Standing


@dataclass(frozen=True, slots=True)
class Tuned:
    """A run with its threshold, judged on questions that had no say in it.

    Scores are means over repeats of the score over all questions judged in one.
    """

    run: str
    threshold: Threshold
    """To use from now on: tuned on every question that may be tuned on."""
    judged: Standing
    everything: Standing
    submitted: Standing
    hindsight: Standing
    """The best one threshold for the judged questions themselves: out of reach."""
    tuned: float
    """The mean score on the questions tuned on: no result."""
    parts: tuple[Part, ...]
    without: int = 0
    """Answers that have no confidence and so are left blank."""
    direction: int = 1
    """−1 where a lower score is better: a gain is a gain."""

    @property
    def optimism(self) -> float:
        """How much the score on the tuning questions would have flattered."""
        return self.direction * (self.tuned - self.judged.score)

    @property
    def gain(self) -> float:
        """Against answering everything, on the same questions."""
        return self.direction * (self.judged.score - self.everything.score)

    def held(self, alpha: float) -> float:
        """The share of parts whose judged risk is at most α; answering nothing has none."""
        risks = [p.judged.risk for p in self.parts]
        return sum(not r > alpha for r in risks) / len(risks)

    def to_dict(self) -> dict[str, Any]:
        """As plain data. The score of the tuning questions appears as optimism alone."""
        thresholds = [p.threshold.value for p in self.parts]
        finite = [t for t in thresholds if math.isfinite(t)]
        return {
            "run": self.run,
            **self.threshold.to_dict(),
            "judged": self.judged.to_dict(),
            "answer_everything": self.everything.to_dict(),
            "as_submitted": self.submitted.to_dict(),
            "best_in_hindsight": self.hindsight.to_dict(),
            "gain": _plain(self.gain),
            "optimism_avoided": _plain(self.optimism),
            "parts": len(self.parts),
            "thresholds_of_parts": {
                "lowest": min(finite) if finite else None,
                "highest": max(finite) if finite else None,
                "answer_nothing": len(thresholds) - len(finite),
            },
            "without_confidence": self.without,
        }


@dataclass(frozen=True, slots=True)
class TuneResult:
    """Thresholds of runs, with all that it takes to trust them."""

    aim: Aim
    measure: Measure
    split: Split
    seed: int
    runs: tuple[Tuned, ...]
    questions: int
    matrix: ConfidenceMatrix = field(repr=False)
    per: str | None = None
    shrink: float = SHRINK
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data: what `--format json` prints."""
        plain = self.provenance()
        plain["results"] = [run.to_dict() for run in self.runs]
        if isinstance(self.aim, KeepRisk):
            for own, run in zip(plain["results"], self.runs, strict=True):
                own["held"] = run.held(self.aim.alpha)
        return plain

    def provenance(self) -> dict[str, Any]:
        """What was done to what."""
        plain: dict[str, Any] = {
            "abstain": __version__,
            "questions": self.questions,
            "policy": self.matrix.policy.to_dict(),
            "aim": self.aim.to_dict(),
            "measure": str(self.measure),
            "split": self.split.to_dict(),
            "seed": self.seed,
            "sources": list(self.matrix.sources),
        }
        if self.per is not None:
            plain |= {"per": self.per, "shrink": self.shrink}
        if self.notes:
            plain["notes"] = list(self.notes)
        return plain

    def threshold_data(self) -> dict[str, Any]:
        """Thresholds with their provenance, ready to apply."""
        thresholds = []
        for run in self.runs:
            judged = {k: v for k, v in run.judged.to_dict().items() if k != "counts"}
            thresholds.append({"run": run.run, **run.threshold.to_dict(), "judged": judged})
        return {"kind": "abstain thresholds", **self.provenance(), "thresholds": thresholds}

    def to_frame(self) -> pl.DataFrame:
        """One row a run (polars)."""
        import polars as pl

        return pl.DataFrame(
            [
                {
                    "run": r.run,
                    "threshold": None if math.isinf(r.threshold.value) else r.threshold.value,
                    f"{self.measure}": _plain(r.judged.score),
                    "answer everything": _plain(r.everything.score),
                    "gain": _plain(r.gain),
                    "optimism": _plain(r.optimism),
                    "risk": _plain(r.judged.risk),
                    "coverage": _plain(r.judged.coverage),
                }
                for r in self.runs
            ]
        )


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


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
