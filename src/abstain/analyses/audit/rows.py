"""Counts and scores of each row against each other, and the smallest correction of a row.

A correction changes one cell if it can, two if it must; of those, the fewest digits. Values are
whole arrays, so that the search for it tries every value of a cell at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from abstain.analyses.audit.printed import TOLERANCE, Printed, edits
from abstain.analyses.audit.result import COUNTS, SCORES, Audit, Change, Correction
from abstain.analyses.audit.sheet import ALL, ScoreColumn, Sheet
from abstain.judging.given_counts import SPLIT
from abstain.measures.definition import SPLIT_UNKNOWN
from abstain.outcomes import MOST as LARGEST
from abstain.outcomes import Counts, CountsArray

OPEN = SPLIT_UNKNOWN.reason
"""Why a score that asks for more counts than a row prints is not known."""

CORRECTED = 200
"""Rows for which a correction is looked for."""
GRID = 1_000_000
"""A pair of cells is tried in full up to so many pairs of values; beyond, near misprints."""
MOST = 100
"""Corrections that are kept; a row that has more says too little to be corrected."""


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


@dataclass(frozen=True, slots=True)
class Figures:
    """What a row says, and what must hold between its counts and its scores."""

    sheet: Sheet
    row: int
    printed: Mapping[str, int]
    """The counts that it shows, by role: they may be misprints."""
    counts: Mapping[str, int]
    """With the number of questions, where that is known otherwise."""
    sums: Sequence[Sum]
    scores: Sequence[Score]


def number_of_questions(sheet: Sheet, audit: Audit) -> int | None:
    """How many questions each row is over: as said, or as most rows agree."""
    if sheet.settings.questions is not None:
        return sheet.settings.questions
    said = sheet.settings.sizes.get(ALL)
    if "questions" in sheet.counts or not sheet.counts:
        return said
    totals = Counter(
        total for i in sheet.body if (total := _total(row_counts(sheet, i))) is not None
    )
    if not totals:
        return said
    (common, rows), everything = totals.most_common(1)[0], sum(totals.values())
    if everything < 3 or 3 * rows < 2 * everything:
        return said
    if common != said:
        audit.note(
            f"{sheet.name}: taken to have {common} questions, because {rows} of {everything} rows "
            "add up to that (another number can be given)."
        )
    return common


def row_counts(sheet: Sheet, row: int) -> dict[str, int]:
    """The counts that a row prints, as far as they are whole numbers."""
    found: dict[str, int] = {}
    for role, column in sheet.counts.items():
        number = sheet.number(row, column)
        if number is not None and _is_count(number):
            found[role] = int(number.value)
    return found


def check_rows(sheet: Sheet, audit: Audit) -> None:
    """Check the counts and the scores of every row; a total's row must add up as well."""
    questions = number_of_questions(sheet, audit)
    corrected = 0
    for row, kind in enumerate(sheet.kinds):
        if not sheet.counts or kind not in (None, "total"):
            continue
        _check_whole(sheet, row, audit)
        printed = row_counts(sheet, row)
        if kind == "total":  # it sums runs or parts; who knows over which questions
            printed.pop("questions", None)
        counts = dict(printed)
        if questions is not None and kind is None:
            counts.setdefault("questions", questions)
        if not counts:
            continue
        scores = scores_of(sheet, row, ALL, counts) if kind is None else []
        for score, reason in scores:
            if reason not in (None, OPEN):
                audit.find(SCORES, sheet, row, score.column, f"undefined: {reason}")
        given = [score for score, reason in scores if reason is None]
        own = Figures(sheet, row, printed, counts, sums_of(list(counts)), given)
        corrected += _check(own, audit, correct=corrected < CORRECTED)


def _check(own: Figures, audit: Audit, *, correct: bool) -> bool:
    """Check one row; whether something in it does not hold."""
    sheet, row, counts = own.sheet, own.row, own.counts
    for total in own.sums:
        names = [sheet.counts[r] for r in (*total.parts, total.whole) if r in own.printed]
        audit.check(COUNTS, sheet, [(row, name) for name in names])
    for score in own.scores:
        audit.check(SCORES, sheet, [(row, score.column)])
    sums = [s for s in own.sums if not s.holds(counts)]
    scores = [s for s in own.scores if not s.holds(counts)]
    fixes = corrections(own) if correct and (sums or scores) else []
    for total in sums:
        column = sheet.counts.get(total.whole) or sheet.counts.get(total.parts[0]) or total.whole
        audit.find(COUNTS, sheet, row, column, total.text(counts), fixes)
    for score in scores:
        value = float(score.values_of(counts))
        follows = f"the counts give {value:.6g}"
        if score.printed.truncates(value):
            rounded = score.printed.like(value)
            follows += f": the printed score is truncated; rounded, it would be {rounded}"
        audit.find(SCORES, sheet, row, score.column, follows, fixes)
    return bool(sums or scores)


def _check_whole(sheet: Sheet, row: int, audit: Audit) -> None:
    for column in sheet.counts.values():
        number = sheet.number(row, column)
        if number is not None and not _is_count(number):
            audit.find(COUNTS, sheet, row, column, "a count is a whole number, 0 or more")


def _is_count(number: Printed) -> bool:
    return number.value.denominator == 1 and 0 <= number.value <= LARGEST


def scores_of(
    sheet: Sheet, row: int, slice: str, counts: Mapping[str, int]
) -> list[tuple[Score, str | None]]:
    """The scores of a row, each with why its counts do not give it: None where they do."""
    found: list[tuple[Score, str | None]] = []
    for column in sheet.of(slice):
        number = sheet.number(row, column.column)
        if number is not None:
            score = Score(column, number)
            known = counts_of(counts, candidates=score.candidates)
            found.append((score, OPEN if known is None else column.measure.why_undefined(known)))
    return found


def _total(counts: Mapping[str, int]) -> int | None:
    table = complete(counts, candidates=False)
    if "answered" in counts and table is not None:
        return int(counts["answered"] + table[5])
    return None if table is None else int(table.sum())


def corrections(own: Figures) -> list[Correction]:
    """Every minimal change of printed cells after which all sums and scores of a row hold."""
    cells = [*own.printed, *(score.column for score in own.scores)]
    for size in (1, 2):
        found: list[tuple[int, tuple[Change, ...]]] = []
        for chosen in combinations(cells, size):
            found += _try(own, chosen)
        if found:
            fewest = min(cost for cost, _ in found)
            checks = len(own.sums) + len(own.scores)
            best = [changes for cost, changes in found if cost == fewest]
            return [Correction(changes, checks) for changes in best[:MOST]]
    return []


def _try(own: Figures, chosen: Sequence[str]) -> list[tuple[int, tuple[Change, ...]]]:
    """What the chosen cells would have to say: counts are tried, scores then follow."""
    counts = own.counts
    roles = [c for c in chosen if c in own.printed]
    free = [s for s in own.scores if s.column in chosen]
    kept = [s for s in own.scores if s.column not in chosen]
    top = max(counts.get("questions", 0), 2 * max(counts.values()), 9)
    domains = [np.arange(top + 1) if top < GRID else _implied(r, counts, own.sums) for r in roles]
    if len(roles) == 2 and (top + 1) ** 2 > GRID:
        domains = [_near(counts[role]) for role in roles]
    grid = np.meshgrid(*domains, indexing="ij") if roles else [np.zeros(1, dtype=np.int64)]
    values: dict[str, Any] = dict(counts) | {
        r: g.ravel() for r, g in zip(roles, grid, strict=False)
    }
    good = np.ones(grid[0].size, dtype=np.bool_)
    for role in roles:
        good &= values[role] != counts[role]
    for total in own.sums:
        good &= total.holds(values)
    for score in kept:
        good &= score.holds(values)
    hits = np.flatnonzero(good)
    found: list[tuple[int, tuple[Change, ...]]] = []
    for hit in hits[: 10 * MOST]:
        here = dict(counts) | {role: int(values[role][hit]) for role in roles}
        changes = [own.sheet.change(own.row, own.sheet.counts[r], str(here[r])) for r in roles]
        for score in free:
            value = float(score.values_of(here))
            if value != value or score.printed.meets(value, value):
                break
            new = score.printed.like(value)
            changes.append(own.sheet.change(own.row, score.column, new))
        else:
            found.append((sum(edits(c.old, c.new) for c in changes), tuple(changes)))
    return found


def _implied(role: str, counts: Mapping[str, int], sums: Sequence[Sum]) -> Any:
    """The values near a misprint, and those that one of the sums asks for."""
    asked = {int(number) for number in _near(counts[role])}
    for total in sums:
        gap = sum(counts[part] for part in total.parts) - counts[total.whole]
        if role in (*total.parts, total.whole):
            asked.add(max(0, counts[role] + (gap if role == total.whole else -gap)))
    return np.array(sorted(asked))


def _near(number: int) -> Any:
    """The numbers that one wrong, lost or added digit, or two swapped ones, could have been."""
    text = str(number)
    near = {text[:i] + d + text[i + 1 :] for i in range(len(text)) for d in "0123456789"}
    near |= {text[:i] + d + text[i:] for i in range(len(text) + 1) for d in "0123456789"}
    near |= {text[:i] + text[i + 1 :] for i in range(len(text))}
    near |= {text[:i] + text[i + 1] + text[i] + text[i + 2 :] for i in range(len(text) - 1)}
    return np.array(sorted({int(t) for t in near if t}))
