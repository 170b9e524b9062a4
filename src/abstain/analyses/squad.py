"""SQuAD 2's scores: exact match and F1 of words, over questions with and without an answer.

With a no-answer probability a threshold decides what is answered: an answer whose probability is
at most the threshold. The best one is found with equal probabilities taken together, so that it
exists as a rule; it is tuned on the very questions it is scored on.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np

from abstain.analyses.result import Facts, Result, defined
from abstain.errors import UsageError, checked, option
from abstain.io.normalise import squad as normal
from abstain.measures.arrays import Array, BoolArray
from abstain.outcomes import Undefined

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

Path: TypeAlias = "str | os.PathLike[str]"
Paths: TypeAlias = "Path | Sequence[Path]"


def exact_match(said: str, golds: Sequence[str]) -> float:
    """1 where a prediction is one of the answers; with none, where it is empty.

    >>> exact_match("The Nile", ["Nile"]), exact_match("", []), exact_match("Rhine", [])
    (1.0, 1.0, 0.0)
    """
    return max(float(normal(said) == normal(gold)) for gold in golds or ("",))


def f1_of_words(said: str, golds: Sequence[str]) -> float:
    """The best F1 of a prediction's words with those of an answer.

    >>> f1_of_words("the river Nile", ["Nile"]), f1_of_words("", [])
    (0.6666666666666666, 1.0)
    """
    return max(_f1(normal(said).split(), normal(gold).split()) for gold in golds or ("",))


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
    ranked = chances[order]
    ends = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(order) - 1)
    totals = np.append((~has).sum(), (~has).sum() + np.cumsum(gain[order])[ends])
    at = int(np.argmax(np.round(totals, 9)))
    return float(totals[at]) / len(order), -1.0 if at == 0 else float(ranked[ends[at - 1]])


SCORES = ("exact", "F1")


def kinds_of(name: str, tuned: bool) -> list[str]:
    """The names of a score over all questions, with and without an answer, and of the best."""
    best = [f"best {name}", f"best {name} at"] if tuned else []
    return [name, f"HasAns {name}", f"NoAns {name}", *best]


class SquadRow(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One run's scores, as shares."""

    run: str
    scores: dict[str, float | None]
    undefined: dict[str, str] = {}
    """Why the scores that do not exist do not."""
    missing: int
    """Questions without a prediction: each counts as an empty one."""


class SquadResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="squad"):
    """Runs in the order they were given."""

    questions: int
    with_answer: int
    threshold: float | None
    """An answer is held back where its no-answer probability is above it."""
    tuned_on_test: tuple[str, ...]
    """Scores that are tuned on the questions that they are of."""
    rows: tuple[SquadRow, ...] = msgspec.field(name="results")

    def check(self) -> None:
        """Every row has SQuAD's scores, and the best ones where they are said to be tuned."""
        if not self.rows:
            raise ValueError("has no results, expected at least one run")
        expected = [own for name in SCORES for own in kinds_of(name, bool(self.tuned_on_test))]
        for number, row in enumerate(self.rows, 1):
            if list(row.scores) != expected:
                raise ValueError(f"the scores of result {number} are not SQuAD's")

    def _frame(self, table: str) -> pl.DataFrame:
        import polars as pl

        schema: dict[str, Any] = {"run": pl.String}
        schema |= dict.fromkeys(self.rows[0].scores, pl.Float64) | {"missing": pl.Int64}
        rows = [(row.run, *row.scores.values(), row.missing) for row in self.rows]
        return pl.DataFrame(rows, schema=schema, orient="row")


@checked
def squad(
    gold: Path, predictions: Paths, *, na_prob: Paths = (), threshold: float | None = None
) -> SquadResult:
    """SQuAD 2's scores of one or more files of predictions.

    Args:
        gold: The data set, as dev-v2.0.json.
        predictions: Files of predictions, {question: text}.
        na_prob: A file of no-answer probabilities for each, {question: probability}.
        threshold: Hold an answer back where its no-answer probability is above this.
    """
    from abstain.io.files import bare_name, open_plain
    from abstain.io.logs.squad import read_chances, read_data, read_predictions

    files, chance_files = _listed(predictions), _listed(na_prob)
    if not files:
        raise UsageError("there are no predictions to score")
    if chance_files and len(chance_files) != len(files):
        raise UsageError(f"name one {option('na_prob')} for each file of predictions")
    if threshold is not None and not chance_files:
        raise UsageError(f"{option('threshold')} needs {option('na_prob')}")
    questions = read_data(open_plain(gold))
    has = np.array([bool(own.golds) for own in questions])
    rows = []
    for number, path in enumerate(files):
        said = read_predictions(open_plain(path), questions)
        own = chance_files[number] if chance_files else None
        chances = None if own is None else read_chances(open_plain(own), questions)
        texts = [said.get(own.id, "") for own in questions]
        exact = np.array([exact_match(t, q.golds) for t, q in zip(texts, questions, strict=True)])
        f1 = np.array([f1_of_words(t, q.golds) for t, q in zip(texts, questions, strict=True)])
        given = np.array([bool(t) for t in texts])
        sure = np.array([chances[own.id] for own in questions]) if chances else None
        found = _scores(exact, f1, given, has, sure, threshold)
        scores, undefined = defined(found)
        rows.append(
            SquadRow(
                run=bare_name(path),
                scores=scores,
                undefined=undefined,
                missing=sum(own.id not in said for own in questions),
            )
        )
    return SquadResult(
        questions=len(questions),
        with_answer=int(has.sum()),
        threshold=threshold,
        tuned_on_test=tuple(name for name in rows[0].scores if name.startswith("best")),
        rows=tuple(rows),
    )


def _listed(given: Paths) -> list[Path]:
    return [given] if isinstance(given, (str, os.PathLike)) else list(given)


def _scores(
    exact: Array,
    f1: Array,
    given: BoolArray,
    has: BoolArray,
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
