"""Inspect: metrics and scorers by the entry point `abstain`, such as `abstain/c_at_1`.

    inspect score log.eval --scorer abstain/match_or_refusal --metric abstain/c_at_1 --action append

Metrics take every epoch (in reduced scores, N is 0 already), and the epochs of a sample are a
cluster of their standard errors. C is right and I wrong; N is a blank, and so is an answer without
a text. P is wrong unless `partial="right"`, a number is right from `right_at` on. The metadata of a
sample may say that it cannot be answered (`answerable`: no): there, N is right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from inspect_ai import scorer as host
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState

from abstain.measures import measure
from abstain.outcomes import UNSPLIT
from abstain.runs.judge import NO, YES
from abstain.runs.refusals import refuses
from abstain.runs.usual_names import MEANS_ANSWERABLE, plain
from abstain.stats.delta_method import cells_of, one_run, standard_error

WIDTH = 6
RIGHT, WRONG, BLANK = range(3)
COUNTED = np.array([[0, 1, UNSPLIT], [0, 1, 0]])
"""The places of right, wrong and blank in counts, where a sample can be answered or cannot."""
DECIDED = np.array([[0, 1, 2], [4, 3, 4]])
"""The same in `DECISIONS`."""


def verdict(score: Score, *, partial: str = "wrong", right_at: float = 1.0) -> int:
    """Right, wrong or blank by the value of a score."""
    text = str(score.value).strip()
    if text == host.NOANSWER:
        return BLANK
    if text == host.PARTIAL:
        return RIGHT if partial == "right" else WRONG
    if host.value_to_float()(score.value) >= right_at:
        return RIGHT
    silent = score.reason == "no_response" or (score.answer == "" and not score.explanation)
    return BLANK if silent else WRONG


def cannot_be_answered(sample: SampleScore) -> bool | None:
    """What a sample's metadata say; None where they say nothing."""
    for name, value in (sample.sample_metadata or {}).items():
        means, text = MEANS_ANSWERABLE.get(plain(name)), str(value).strip().lower()
        if means is not None and text in (*YES, *NO):
            return (text in YES) != means
    return None


def _declare(name: str, text: str, **defaults: float) -> Callable[..., Metric]:
    def factory(partial: str = "wrong", right_at: float = 1.0, **parameters: float) -> Metric:
        values = ", ".join(f"{k}={v!r}" for k, v in {**defaults, **parameters}.items())
        item = measure(f"{text}({values})" if values else text)
        cells, functional = cells_of(item), one_run(item)
        decides = item.definition.takes == "decisions"

        def compute(scores: list[SampleScore]) -> Value:
            kinds = [verdict(s.score, partial=partial, right_at=right_at) for s in scores]
            sides = [cannot_be_answered(s) for s in scores]
            unit = np.unique([str(s.sample_id) for s in scores], return_inverse=True)[1]
            codes = (DECIDED if decides else COUNTED)[np.array(sides, bool) * 1, kinds]
            table = np.zeros((int(unit.max(initial=-1)) + 1, WIDTH))
            np.add.at(table, (unit, codes), 1)
            whole, error = table.sum(axis=0), float("nan")
            unmarked = decides and True not in sides
            value = float("nan") if unmarked else float(item(cells.many(whole[None]))[0])
            if len(table) > 1 and value == value:
                groups = cells.merge(table) if len(table) < len(codes) else None
                error = float(standard_error(functional, cells.merge(whole), groups))
            return {name: value, f"{name}_stderr": error}

        return compute

    factory.__name__ = factory.__qualname__ = name
    declared: Callable[..., Metric] = metric(name=name, scores="unreduced")(factory)
    return declared


c_at_1 = _declare("c_at_1", "c@1")
f = _declare("f", "F")
s = _declare("s", "S", t=0.5)
credit = _declare("credit", "credit", t=0.5)
coverage = _declare("coverage", "coverage")
precision = _declare("precision", "precision")
over_refusal = _declare("over_refusal", "over-refusal")
under_refusal = _declare("under_refusal", "under-refusal")
grounded_refusal_f1 = _declare("grounded_refusal_f1", "grounded-refusal-F1")
METRICS = [c_at_1(), coverage(), precision()]


def _or_refusal(graded: Scorer, languages: str) -> Scorer:
    """A scorer whose wrong scores are N where the response declines or has no text."""

    async def score(state: TaskState, target: Target) -> Score | None:
        return declining(await graded(state, target), state.output.completion, languages)

    return score


def declining(score: Score | None, text: str, languages: str) -> Score | None:
    """A score, or N with the rule by which the text declines, if it was not right."""
    if score is None or verdict(score) == RIGHT:
        return score
    rule = refuses(text, languages) if text.strip() else "no text"
    if rule is None:
        return score
    reason = "refusal" if text.strip() else "no_response"
    metadata = {**(score.metadata or {}), "rule": rule, "graded": score.value}
    changes: dict[str, Any] = {"value": host.NOANSWER, "reason": reason, "metadata": metadata}
    return score.model_copy(update=changes)


@scorer(metrics=METRICS)
def match_or_refusal(languages: str = "all", **options: Any) -> Scorer:
    """Inspect's `match`, with N for a refusal by the rules of these languages."""
    return _or_refusal(host.match(**options), languages)


@scorer(metrics=METRICS)
def choice_or_refusal(languages: str = "all") -> Scorer:
    """Inspect's `choice`, with N for a refusal by the rules of these languages."""
    return _or_refusal(host.choice(), languages)


@scorer(metrics=METRICS)
def as_scored(name: str = "", languages: str = "all") -> Scorer:
    """The score that a log has already, with N for a refusal: no model grades anything again."""

    async def score(state: TaskState, target: Target) -> Score | None:
        scores = state.scores or {}
        if name not in scores and (name or len(scores) != 1):
            known = ", ".join(scores) or "none"
            raise ValueError(f"as_scored needs the name of a score, such as -S name=… ({known})")
        graded = scores[name or next(iter(scores))]
        return declining(graded, state.output.completion, languages)

    return score
