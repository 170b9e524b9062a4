"""Responses that cannot be judged: kinds of their own beyond those that are counted, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl
from msgspec import Struct

from abstain.errors import InputError, Place, nearest, plural, shown
from abstain.outcomes import KINDS, Why

if TYPE_CHECKING:
    from abstain.judging.gold import Gold

UNKNOWN_QUESTION, NO_QUESTION, NO_RUN, BAD_ANSWERED, BAD_WHY, CONFLICT, BAD_CONFIDENCE = range(
    KINDS, KINDS + 7
)
LACKS = {NO_QUESTION: "no question id", NO_RUN: "no run name"}
FAULTS = {
    UNKNOWN_QUESTION: "unknown question",
    **LACKS,
    BAD_ANSWERED: "unreadable 'answered'",
    BAD_WHY: "unknown reason",
    CONFLICT: "contradiction",
    BAD_CONFIDENCE: "bad confidence",
}

UNREAD = "__unread"
"""The column with the text of a confidence that is no number."""


class Problem(Struct, frozen=True):
    """Something wrong with a submission, with its place."""

    kind: str
    place: Place
    message: str
    run: str | None = None
    question: str | None = None
    details: tuple[Problem, ...] = ()
    """The problems that this one explains."""
    typed: str = ""
    """The message as the command line words it, where it advises an option."""

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"

    def error(self, others: int, *, listed: bool = True) -> InputError:
        """The problem as an error that says how many more there are, and what lists them."""
        how = "; `abstain validate` lists them" if listed else ""
        tail = f" (and {others:,} more{how})" if others else ""
        return InputError(self.message + tail, self.place)


def fault_problem(
    fault: int, row: Mapping[str, Any], place: Place, gold: Gold, *, hints: bool = True
) -> Problem:
    """The problem that a faulty row is; `hints` names the nearest ids, which takes its time."""
    question = row.get("question")
    match fault:
        case code if code == UNKNOWN_QUESTION and question is None:
            message = (
                f"this row is beyond the gold's {plural(len(gold), 'question')}: the run has too "
                "many rows"
            )
        case code if code == UNKNOWN_QUESTION:
            near = nearest(question or "", _alike(question or "", gold)) if hints else []
            hint = f" (nearest: {', '.join(shown(n) for n in near)})" if near else ""
            message = f"question {shown(question or '')} is not in the gold{hint}"
        case code if code in LACKS:
            message = f"the row has {LACKS[code]}"
        case code if code == BAD_ANSWERED:
            message = f"'answered' is {shown(row['answered'])}, expected yes or no"
        case code if code == BAD_WHY:
            near = nearest(row["why"], tuple(Why))
            hint = f" (nearest: {near[0]})" if near else ""
            message = f"'why' is {shown(row['why'])}, expected one of {', '.join(Why)}{hint}"
        case code if code == CONFLICT:
            names = ("grade", "answer", "answered", "candidate", "why")
            said = [f"{name} {shown(row[name])}" for name in names if row.get(name)]
            message = f"the row contradicts itself: {', '.join(said)}"
        case _:
            message = bad_confidence(row.get(UNREAD) or row["confidence"])
    return Problem(FAULTS[fault], place, message, row.get("run"), question)


def no_confidence(dtype: object, label: str) -> InputError:
    """What is said of a column of confidences that holds no numbers."""
    return InputError(f"column 'confidence' holds {dtype}, expected one number per row", label)


def bad_confidence(value: float | str) -> str:
    """What is wrong with a confidence: a number, or a text that is none.

    >>> bad_confidence("0,9")
    "confidence is '0,9', expected a number from 0 to 1, with a decimal point"
    """
    if not isinstance(value, str):
        return f"confidence is {value:g}, expected 0 to 1"
    point = ", with a decimal point" if "," in value else ""
    return f"confidence is {shown(value)}, expected a number from 0 to 1{point}"


def _alike(question: str, gold: Gold) -> list[str]:
    """Ids of about the same length, few enough to compare one by one."""
    ids = gold.frame["question"]
    lengths = ids.str.len_chars().cast(pl.Int64)
    return ids.filter((lengths - len(question)).abs() <= 2).head(5_000).to_list()
