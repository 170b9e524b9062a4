"""SQuAD 2's scores: exact match and F1 of words, over questions with and without an answer.

With a no-answer probability a threshold decides what is answered: an answer whose probability is
at most the threshold. The best one is found with equal probabilities taken together, so that it
exists as a rule; it is tuned on the very questions it is scored on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain import __version__
from abstain.errors import UsageError, option
from abstain.io.normalise import squad
from abstain.outcomes import Undefined

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array


def exact_match(said: str, golds: Sequence[str]) -> float:
    """1 where a prediction is one of the answers; with none, where it is empty.

    >>> exact_match("The Nile", ["Nile"]), exact_match("", []), exact_match("Rhine", [])
    (1.0, 1.0, 0.0)
    """
    return max(float(squad(said) == squad(gold)) for gold in golds or ("",))


def f1_of_words(said: str, golds: Sequence[str]) -> float:
    """The best F1 of a prediction's words with those of an answer.

    >>> f1_of_words("the river Nile", ["Nile"]), f1_of_words("", [])
    (0.6666666666666666, 1.0)
    """
    return max(_f1(squad(said).split(), squad(gold).split()) for gold in golds or ("",))


def _f1(said: list[str], gold: list[str]) -> float:
    if not said or not gold:
        return float(said == gold)
    common = sum((Counter(said) & Counter(gold)).values())
    return 2 * common / (len(said) + len(gold))


def best_threshold(
    scores: npt.ArrayLike, answered: npt.ArrayLike, has: npt.ArrayLike, chances: npt.ArrayLike
) -> tuple[float, float]:
    """The best mean score over all thresholds, and the smallest threshold that reaches it.

    `scores` are those of the predictions as they are. Equal probabilities change sides together.
    −1 as a threshold: nothing is answered.
    """
    has = np.asarray(has, bool)
    gain = np.where(has, np.asarray(scores, np.float64), -np.asarray(answered, np.float64))
    chances = np.asarray(chances, np.float64)
    order = np.argsort(chances, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(chances[order])), len(order) - 1)
    totals = np.append((~has).sum(), (~has).sum() + np.cumsum(gain[order])[ends])
    at = int(np.argmax(np.round(totals, 9)))
    return float(totals[at]) / len(order), -1.0 if at == 0 else float(chances[order][ends[at - 1]])


@dataclass(frozen=True, slots=True)
class Read:
    """One run's scores, as shares."""

    run: str
    scores: dict[str, float]


@dataclass(frozen=True, slots=True)
class ReadingResult:
    """Runs in the order they were given."""

    questions: int
    with_answer: int
    threshold: float | None
    missing: dict[str, int]
    runs: tuple[Read, ...]

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data; a score that does not exist is None."""
        return {
            "abstain": __version__,
            "questions": self.questions,
            "with_answer": self.with_answer,
            "threshold": self.threshold,
            "missing": self.missing,
            "tuned_on_test": [n for n in self.runs[0].scores if n.startswith("best")],
            "results": [
                {
                    "run": own.run,
                    "scores": {k: None if np.isnan(v) else v for k, v in own.scores.items()},
                }
                for own in self.runs
            ],
        }


def read_answers(
    gold: str,
    predictions: Sequence[str],
    *,
    na_prob: Sequence[str] = (),
    threshold: float | None = None,
) -> ReadingResult:
    """SQuAD 2's table for one or more files of predictions."""
    from abstain.io.files import bare_name, open_plain
    from abstain.io.logs.squad import read_chances, read_data, read_predictions

    if na_prob and len(na_prob) != len(predictions):
        raise UsageError(f"name one {option('na_prob')} for each file of predictions")
    if threshold is not None and not na_prob:
        raise UsageError(f"{option('threshold')} needs {option('na_prob')}")
    questions = read_data(open_plain(gold))
    has = np.array([bool(own.golds) for own in questions])
    runs, missing = [], {}
    for number, path in enumerate(predictions):
        said = read_predictions(open_plain(path), questions)
        chances = read_chances(open_plain(na_prob[number]), questions) if na_prob else None
        texts = [said.get(own.id, "") for own in questions]
        exact = np.array([exact_match(t, q.golds) for t, q in zip(texts, questions, strict=True)])
        f1 = np.array([f1_of_words(t, q.golds) for t, q in zip(texts, questions, strict=True)])
        given = np.array([bool(t) for t in texts])
        sure = np.array([chances[own.id] for own in questions]) if chances else None
        run = bare_name(path)
        runs.append(Read(run, _scores(exact, f1, given, has, sure, threshold)))
        missing[run] = sum(own.id not in said for own in questions)
    return ReadingResult(len(questions), int(has.sum()), threshold, missing, tuple(runs))


def _scores(
    exact: Array,
    f1: Array,
    given: npt.NDArray[np.bool_],
    has: npt.NDArray[np.bool_],
    chances: Array | None,
    threshold: float | None,
) -> dict[str, float]:
    held = np.zeros(len(has), bool)
    if chances is not None and threshold is not None:
        held = chances > threshold
    found: dict[str, float] = {}
    for name, own in (("exact", exact), ("F1", f1)):
        seen = np.where(held, ~has, own)
        found[name] = float(seen.mean())
        found[f"HasAns {name}"] = _mean(seen[has], "every question is without an answer")
        found[f"NoAns {name}"] = _mean(seen[~has], "every question has an answer")
        if chances is not None:
            found[f"best {name}"], found[f"best {name} at"] = best_threshold(
                own, given, has, chances
            )
    return found


def _mean(values: Array, reason: str) -> float:
    return float(values.mean()) if len(values) else Undefined(reason)
