"""PAN's measures of authorship verification: AUC, c@1, F1, F0.5u, Brier, and their mean.

With y 1 where both texts have one author and v the system's value: an answer is v ≠ 0.5, a
missing one counts as 0.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain import __version__
from abstain.errors import InputError, UsageError, nearest, plural, shown
from abstain.judging.opening import old_reading
from abstain.outcomes import Undefined

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array

YEARS = (2020, 2021, 2022, 2023)
MEASURES = ("AUC", "c@1", "F1", "F0.5u", "Brier")


def pan_measures(same: npt.ArrayLike, value: npt.ArrayLike) -> dict[str, float]:
    """The five measures of one system.

    >>> pan_measures([1, 1, 0, 0], [0.9, 0.5, 0.2, 0.6])["F0.5u"]
    0.5
    """
    y, v = np.asarray(same, bool), np.asarray(value, np.float64)
    if y.shape != v.shape or y.ndim != 1 or not len(y):
        raise UsageError("truth and values must be two sequences of one length")
    answered = v != 0.5
    says = v > 0.5
    right = int(((says == y) & answered).sum())
    n, blank = len(y), int((~answered).sum())
    tp = int((says & y).sum())
    fp = int((says & ~y).sum())
    fn = int((~says & answered & y).sum())
    return {
        "AUC": _auc(y, v),
        "c@1": right / n * (1 + blank / n),
        "F1": _ratio(2 * tp, 2 * tp + fp + fn, _no_f1(bool(answered.any()))),
        "F0.5u": _ratio(
            1.25 * tp, 1.25 * tp + 0.25 * (fn + blank) + fp, "no answer and no truth is 'same'"
        ),
        "Brier": 1 - float(np.mean((v - y) ** 2)),
    }


def _no_f1(answered: bool) -> str:
    if not answered:
        return "no problem was answered"
    return "of the problems answered, no answer and no truth is 'same'"


def overall(scores: dict[str, float], year: int) -> float:
    """The mean that ranks systems: of four measures in 2020, with Brier since 2021."""
    if year not in YEARS:
        raise UsageError(f"PAN's years are {YEARS[0]} to {YEARS[-1]} (got {year})")
    names = [m for m in MEASURES if m != "Brier" or year > 2020]
    values = [scores[name] for name in names]
    undefined = next((s for s in values if isinstance(s, Undefined)), None)
    return Undefined(undefined.reason) if undefined is not None else float(np.mean(values))


def _auc(y: npt.NDArray[np.bool_], v: Array) -> float:
    """The chance that a pair of one author has the larger value; a tie counts a half."""
    positive = int(y.sum())
    negative = len(y) - positive
    if not positive or not negative:
        return Undefined("all problems have the same truth")
    _, group, counts = np.unique(v, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks = (ends - (counts - 1) / 2)[group]
    won = float(ranks[y].sum()) - positive * (positive + 1) / 2
    return won / (positive * negative)


def _ratio(above: float, below: float, reason: str) -> float:
    return above / below if below else Undefined(reason)


# --------------------------------------------------------------------------------------- files


@dataclass(frozen=True, slots=True)
class Verified:
    """One system's measures."""

    run: str
    scores: dict[str, float]
    blank: int
    missing: int


@dataclass(frozen=True, slots=True)
class VerificationResult:
    """Systems by their overall score."""

    year: int
    problems: int
    runs: tuple[Verified, ...]

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data; a score that does not exist is None."""
        results = []
        for own in self.runs:
            undefined = {k: v.reason for k, v in own.scores.items() if isinstance(v, Undefined)}
            scores = {k: None if k in undefined else v for k, v in own.scores.items()}
            results.append(
                {
                    "run": own.run,
                    "scores": scores,
                    "undefined": undefined,
                    "blank": own.blank,
                    "missing": own.missing,
                }
            )
        return {
            "abstain": __version__,
            "year": self.year,
            "problems": self.problems,
            "results": results,
        }


def verify(truth: str, answers: Sequence[str], *, year: int = 2023) -> VerificationResult:
    """Score PAN's answers by its truth."""
    from abstain.io.tables import read_table
    from abstain.judging.responses import read_responses
    from abstain.judging.run_names import name_runs

    gold = read_table(truth, format="pan")
    if "correct" not in gold.columns:
        raise InputError("has values, expected PAN's truth (id, same)", truth)
    frame = gold.frame.select("question", "same").collect()
    if frame["question"].n_unique() < frame.height:
        twice = frame.filter(frame["question"].is_duplicated())["question"][0]
        raise InputError(f"problem {shown(twice)} stands twice", truth)
    same = (frame["same"] == "yes").to_numpy()
    runs = []
    for source in name_runs([read_responses(path, old_reading(None, "pan")) for path in answers]):
        if "value" not in source.table.columns:
            raise InputError("is a truth, expected answers (id, value)", source.table.name)
        given = source.table.frame.select("question", "value").collect()
        _refuse_strange(given, frame, source.table.name)
        joined = frame.join(given, on="question", how="left", maintain_order="left")
        missing = int(joined["value"].null_count())
        value = joined["value"].fill_null(0.5).to_numpy()
        scores = pan_measures(same, value)
        scores["overall"] = overall(scores, year)
        name = source.run or source.table.name
        runs.append(Verified(name, scores, int((value == 0.5).sum()), missing))
    runs.sort(key=lambda own: (-np.nan_to_num(own.scores["overall"], nan=-1.0), own.run))
    return VerificationResult(year, frame.height, tuple(runs))


def _refuse_strange(given: Any, truth: Any, name: str) -> None:
    unknown = given.join(truth, on="question", how="anti")
    if unknown.height:
        strange = str(unknown["question"][0])
        near = nearest(strange, truth["question"].head(5000).to_list())
        hint = f" (nearest: {shown(near[0])})" if near else ""
        raise InputError(f"problem {shown(strange)} is not in the truth{hint}", name)
    if given["question"].n_unique() < given.height:
        twice = given.filter(given["question"].is_duplicated())
        raise InputError(
            f"problem {shown(str(twice['question'][0]))} is answered twice "
            f"({plural(twice.height, 'line')})",
            name,
        )
