"""What must hold within a row: counts that add up, scores that follow from them.

Values are whole arrays, so that a search for a correction tries every value of a cell at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from abstain.analyses.audit.printed import TOLERANCE, Printed
from abstain.analyses.audit.sheet import ScoreColumn
from abstain.judging.given_counts import SPLIT
from abstain.outcomes import Counts, CountsArray

Values: TypeAlias = Mapping[str, Any]
"""Counts by role (right, wrong, …, questions): whole numbers or arrays of them."""


@dataclass(frozen=True, slots=True)
class Sum:
    """Some counts together are another one (or, where some are not printed, at most that)."""

    parts: tuple[str, ...]
    whole: str
    exact: bool = True

    def holds(self, values: Values) -> Any:
        """Whether it holds."""
        total = sum(values[part] for part in self.parts)
        return total == values[self.whole] if self.exact else total <= values[self.whole]

    def text(self, values: Values) -> str:
        """What the parts make instead."""
        total = sum(values[part] for part in self.parts)
        parts = " + ".join(f"{values[part]} {_spoken(part)}" for part in self.parts)
        made = f" = {total}" if len(self.parts) > 1 else ""
        verb = "not" if self.exact else "more than"
        return f"{parts}{made}, {verb} {values[self.whole]} {_spoken(self.whole)}"


@dataclass(frozen=True, slots=True)
class Score:
    """A printed score is its measure of the counts, rounded."""

    of: ScoreColumn
    printed: Printed

    @property
    def column(self) -> str:
        """The column that shows it."""
        return self.of.column

    @property
    def candidates(self) -> bool:
        """Whether its measure asks for the candidates behind blanks."""
        return self.of.measure.definition.needs_candidates

    def values_of(self, values: Values) -> Any:
        """The scores of arrays of counts, as they would be printed."""
        import numpy as np

        table = complete(values, candidates=self.candidates)
        assert table is not None
        scores = self.of.measure(CountsArray(np.maximum(table, 0))) * self.of.scale
        return np.where((table >= 0).all(axis=-1), scores, np.nan)

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest score that rounds to it."""
        low, high = (float(end / self.of.scale) for end in (self.printed.low, self.printed.high))
        return low - TOLERANCE, high + TOLERANCE

    def holds(self, values: Values) -> Any:
        """Whether it holds."""
        low, high = self.range
        scores = self.values_of(values) / self.of.scale
        return (low <= scores) & (scores <= high)


def sums_of(roles: Sequence[str]) -> list[Sum]:
    """Every sum that the printed counts of a row must keep."""
    has = set(roles)
    parts = tuple(p for p in SPLIT if p in has)
    found: list[Sum] = []
    answers = tuple(r for r in ("right", "wrong") if r in has)
    if "answered" in has and answers:
        found.append(Sum(answers, "answered", exact=len(answers) == 2))
    if "unanswered" in has and parts:
        found.append(Sum(parts, "unanswered", exact=len(parts) == len(SPLIT)))
    if "questions" in has:
        blanks = ("unanswered",) if "unanswered" in has else parts
        known = "unanswered" in has or len(parts) == len(SPLIT)
        if "answered" in has:
            found.append(Sum(("answered", *blanks), "questions", exact=known))
        if answers:
            exact = known and len(answers) == 2
            found.append(Sum((*answers, *blanks), "questions", exact=exact))
        if blanks and not answers and "answered" not in has:
            found.append(Sum(blanks, "questions", exact=False))
    return found


def complete(values: Values, *, candidates: bool) -> Any:
    """The six counts of a row as the last axis of an array, or None where they are not known.

    Of two ways to the same number, the one that is printed is taken.
    """
    import numpy as np

    has = values.keys()
    split = [values[p] for p in SPLIT if p in has]
    questions, answered = values.get("questions"), values.get("answered")
    unanswered = values.get("unanswered")
    if unanswered is None and len(split) == len(SPLIT):
        unanswered = sum(split)
    if answered is None and "right" in has and "wrong" in has:
        answered = values["right"] + values["wrong"]
    if unanswered is None and questions is not None and answered is not None:
        unanswered = questions - answered
    if answered is None and questions is not None and unanswered is not None:
        answered = questions - unanswered
    right, wrong = values.get("right"), values.get("wrong")
    if right is None and wrong is not None and answered is not None:
        right = answered - wrong
    if wrong is None and right is not None and answered is not None:
        wrong = answered - right
    if right is None or wrong is None or unanswered is None:
        return None
    if candidates and len(split) == len(SPLIT):
        blanks = [*split, 0]
    elif candidates and "unanswered_right" in has:  # no measure tells UW from UE
        blanks = [values["unanswered_right"], unanswered - values["unanswered_right"], 0, 0]
    else:
        blanks = [0, 0, 0, unanswered]
    six = np.broadcast_arrays(*(np.asarray(v) for v in (right, wrong, *blanks)))
    return np.stack(six, axis=-1)


def counts_of(values: Values, *, candidates: bool) -> Counts | None:
    """The counts of one row, if they are all known and none is negative."""
    table = complete(values, candidates=candidates)
    if table is None or (table < 0).any():
        return None
    return Counts(*(int(number) for number in table))


def _spoken(role: str) -> str:
    return role.replace("_", " ")
