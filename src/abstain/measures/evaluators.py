"""Figures of other tasks' evaluators over their files: PAN's authorship verification, SQuAD 2.

They need more of a response than its outcome: columns of the gold and of the run, a row a question.
The sets `pan` and `squad` (measures/registry.py) name those that an evaluator prints.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from abstain.measures.answers import Answers
from abstain.measures.confidence import auroc
from abstain.measures.definition import Array, BoolArray, Parameter, Undefinedness, np
from abstain.measures.kinds import columnar


@dataclass(frozen=True)
class Columns:
    """The responses of one run, a row a question."""

    right: BoolArray
    blank: BoolArray
    texts: Mapping[str, Any]
    """Columns by name, as arrays of text; None where a response or its cell is missing."""

    def numbers(self, name: str, missing: float = math.nan) -> Array:
        return np.array([missing if x is None else float(x) for x in self.texts[name]], np.float64)


YEAR = Parameter("year", "the evaluator's year", low=2020, high=2023, whole=True, default=2023)
of_pan = partial(
    columnar,
    columns=("same", "value"),
    source="PAN 2023's evaluator of authorship verification",
    convention="v is PAN's value, read as PAN's format; 0.5 and a missing problem are no answer",
)


def _verified(a: Columns) -> tuple[BoolArray, Array]:
    return np.asarray(a.texts["same"] == "yes"), a.numbers("value", missing=0.5)


def _confusion(a: Columns) -> tuple[int, ...]:
    """True and false positives, false negatives and blanks, which are neither."""
    same, value = _verified(a)
    yes, no = value > 0.5, value < 0.5
    return tuple(int(x.sum()) for x in (same & yes, ~same & yes, same & no, value == 0.5))


def _f(a: Columns, weight: float, missed: int = 0) -> float:
    """F of the class "same", β² the weight of what was missed."""
    tp, fp, fn, _ = _confusion(a)
    return (1 + weight) * tp / ((1 + weight) * tp + weight * (fn + missed) + fp)


def _brier(a: Columns) -> float:
    same, value = _verified(a)
    return 1 - float(np.mean((value - same) ** 2))


def _no_positive(a: Columns) -> bool:
    """Whether neither an answer nor the truth of an answered problem is "same"."""
    return not any(_confusion(a)[:3])


ONE_TRUTH = Undefinedness(
    lambda a: len(set(a.texts["same"])) < 2, "all problems have the same truth"
)
NONE_ANSWERED = Undefinedness(lambda a: _confusion(a)[3] == len(a.right), "no problem was answered")
NO_SAME = Undefinedness(
    _no_positive,
    "of the answered problems, none has the answer 'same' and none has the truth 'same'",
)
NEVER_SAME = Undefinedness(
    lambda a: _no_positive(a) and "yes" not in a.texts["same"],
    "no problem has the answer 'same' and none has the truth 'same'",
)


@of_pan(
    "PAN-AUC",
    formula="P(v same > v different) + P(equal)/2",
    undefined=(ONE_TRUTH,),
    gaming="One value for every problem gives 0.5.",
)
def pan_auc(a: Columns) -> float:
    """How often a pair of texts by one author has a higher value than a pair by two."""
    return float(auroc(Answers.of(*_verified(a))))


of_pan(
    "PAN-F1",
    'F1 of the class "same", over the answered problems.',
    lambda a: _f(a, 1),
    formula="2·TP/(2·TP + FP + FN) of the answered problems",
    undefined=(NONE_ANSWERED, NO_SAME),
    gaming="Answer only the problems that are surest to be 'same'.",
)


@of_pan(
    "F0.5u",
    formula="1.25·TP/(1.25·TP + 0.25·(FN + blank) + FP)",
    undefined=(NEVER_SAME,),
    gaming="Where the truth is 'different', that answer costs less than a blank.",
)
def pan_f05u(a: Columns) -> float:
    """F0.5 of the class "same"; a blank counts as a missed positive, whatever the truth."""
    return _f(a, 0.25, missed=_confusion(a)[3])


of_pan(
    "PAN-Brier",
    "1 minus the mean squared distance of the value from the truth (1 same, 0 different).",
    _brier,
    formula="1 − (1/n) Σ (v − same)²",
    gaming="Values of 0.5 throughout give 0.75.",
)


@of_pan(
    "PAN-overall",
    formula="mean of PAN-AUC, c@1, PAN-F1, F0.5u and (since 2021) PAN-Brier",
    undefined=(ONE_TRUTH, NONE_ANSWERED, NO_SAME, NEVER_SAME),
    parameters=(YEAR,),
    gaming="Blanks raise PAN-F1 and c@1 at little cost in the others.",
)
def pan_overall(a: Columns, *, year: float) -> float:
    """PAN's overall score, by which it ranks systems: the mean of its measures."""
    (_, fp, fn, blank), n = _confusion(a), len(a.right)
    c_at_1 = (n - blank - fp - fn) / n * (1 + blank / n)
    scores = [pan_auc(a), c_at_1, _f(a, 1), pan_f05u(a), *([_brier(a)] if year > 2020 else [])]
    return float(np.mean(scores))


READ_SQUAD = "texts as SQuAD normalises them, read as format squad with its gold"
of_squad = partial(
    columnar,
    source="Rajpurkar, Jia & Liang 2018, Know What You Don't Know; as in the official script",
    convention=READ_SQUAD,
)


def _scored(a: Columns, score: str) -> Array:
    """Each question's score, 1 or 0 for an answer that a threshold held back."""
    raw = a.numbers(score)
    held_back = np.where(a.blank, 0.0, raw)
    return np.where(a.texts["kind"] == "HasAns", held_back, np.maximum(raw, a.right))


def best_threshold(
    scores: Array, answered: BoolArray, has: BoolArray, chances: Array
) -> tuple[float, float]:
    """The best mean score over all thresholds, and the smallest threshold that reaches it.

    An answer is held back where its no-answer probability is above the threshold: equal
    probabilities change sides together. −1 as a threshold: nothing is answered.
    """
    gain = np.where(has, scores, -1.0 * answered)
    order = np.argsort(chances, kind="stable")
    placed = chances[order]
    ends = np.append(np.flatnonzero(placed[1:] != placed[:-1]), len(order) - 1)
    nothing = np.count_nonzero(~has)
    totals = np.append(nothing, nothing + np.cumsum(gain[order])[ends])
    at = int(np.argmax(np.round(totals, 9)))
    return float(totals[at]) / len(order), -1.0 if at == 0 else float(placed[ends[at - 1]])


def _best(a: Columns, score: str) -> tuple[float, float]:
    answered = np.array([text is not None for text in a.texts["response"]])
    has = a.texts["kind"] == "HasAns"
    return best_threshold(a.numbers(score), answered, has, a.numbers("na_prob"))


def _declare_squad(short: str, score: str, what: str) -> None:
    """The measures of one score: of all questions, of each kind, and with the best threshold."""
    plain = partial(of_squad, columns=("kind", score), formula=f"mean of the {what}")
    plain(
        f"SQuAD-{short}",
        f"SQuAD 2's {what}, over all questions.",
        lambda a: float(_scored(a, score).mean()),
        gaming="Answering nothing scores the share of questions without an answer.",
    )
    for kind, which, gaming, reason in (
        ("HasAns", "with", "Answer every question.", "every question is without an answer"),
        ("NoAns", "without", "Answer nothing.", "every question has an answer"),
    ):
        plain(
            f"{kind}-{short}",
            f"SQuAD 2's {what}, over the questions {which} an answer.",
            lambda a, kind=kind: float(_scored(a, score)[a.texts["kind"] == kind].mean()),
            undefined=(Undefinedness(lambda a, kind=kind: kind not in a.texts["kind"], reason),),
            gaming=gaming,
        )
    tuned = partial(
        of_squad,
        columns=("kind", score, "response", "na_prob"),
        convention=f"{READ_SQUAD} and no-answer probabilities",
        note="Best thresholds are tuned on the questions that they are scored on: do not report "
        "them.",
    )
    best = f"best-{short}"
    tuned(
        best,
        f"The best {what} over all thresholds.",
        lambda a: _best(a, score)[0],
        formula=f"mean of the {what} at the best threshold of the no-answer probability",
    )
    tuned(
        f"{best}-at",
        f"The smallest threshold with the best {what}; −1: nothing is answered.",
        lambda a: _best(a, score)[1],
        formula=f"the smallest threshold that gives {best}",
        bounds=(-math.inf, math.inf),
    )


_declare_squad("exact", "exact", "exact match")
_declare_squad("F1", "f1", "F1 of words")
