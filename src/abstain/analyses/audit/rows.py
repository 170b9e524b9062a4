"""Counts and scores of each row against each other, and the smallest correction of a row.

A correction changes one cell if it can, two if it must; of those, the fewest digits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from abstain.analyses.audit.constraints import Score, Sum, complete, counts_of, sums_of
from abstain.analyses.audit.findings import COUNTS, SCORES, Audit
from abstain.analyses.audit.printed import Printed, edits
from abstain.analyses.audit.result import Change, Correction
from abstain.analyses.audit.sheet import ALL, Sheet
from abstain.measures.definition import SPLIT_UNKNOWN

LARGEST = 2**53
CORRECTED = 200
"""Rows for which a correction is looked for."""
GRID = 1_000_000
"""A pair of cells is tried in full up to so many pairs of values; beyond, near misprints."""
MOST = 100
"""Corrections that are kept; a row that has more says too little to be corrected."""


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

    def change(self, column: str, new: str) -> Change:
        """A cell of the row that would read otherwise."""
        sheet, row = self.sheet, self.row
        return Change(sheet.row_name(row), column, sheet.texts[row][column], new)


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
            f"{sheet.name}: {common} questions, as {rows} of {everything} rows add up to that "
            "(another number of questions can be given)."
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
        scores = _scores(sheet, row, counts, audit) if kind is None else []
        own = Figures(sheet, row, printed, counts, sums_of(list(counts)), scores)
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
            follows += f": truncated, rounded it is {score.printed.like(value)}"
        audit.find(SCORES, sheet, row, score.column, follows, fixes)
    return bool(sums or scores)


def _check_whole(sheet: Sheet, row: int, audit: Audit) -> None:
    for column in sheet.counts.values():
        number = sheet.number(row, column)
        if number is not None and not _is_count(number):
            audit.find(COUNTS, sheet, row, column, "a count is a whole number, 0 or more")


def _is_count(number: Printed) -> bool:
    return number.value.denominator == 1 and 0 <= number.value <= LARGEST


def _scores(sheet: Sheet, row: int, counts: Mapping[str, int], audit: Audit) -> list[Score]:
    """The scores of a row that its counts determine."""
    found: list[Score] = []
    for column in sheet.of(ALL):
        number = sheet.number(row, column.column)
        needs = column.measure.definition.needs_candidates
        tally = counts_of(counts, candidates=needs)
        if number is None or tally is None:
            continue
        reason = column.measure.why_undefined(tally)
        if reason == SPLIT_UNKNOWN.reason:
            continue
        if reason is not None:
            audit.find(SCORES, sheet, row, column.column, f"undefined: {reason}")
            continue
        found.append(Score(column, number))
    return found


def _total(counts: Mapping[str, int]) -> int | None:
    """What a row's outcomes add up to."""
    table = complete(counts, candidates=False)
    if "answered" in counts and table is not None:
        return int(counts["answered"] + table[5])
    return None if table is None else int(table.sum())


# -------------------------------------------------------------------------------- corrections


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
    import numpy as np

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
        changes = [own.change(own.sheet.counts[r], str(here[r])) for r in roles]
        for score in free:
            value = float(score.values_of(here))
            if value != value or score.printed.rounds(value):
                break
            changes.append(own.change(score.column, score.printed.like(value)))
        else:
            found.append((sum(edits(c.old, c.new) for c in changes), tuple(changes)))
    return found


def _implied(role: str, counts: Mapping[str, int], sums: Sequence[Sum]) -> Any:
    """The values near a misprint, and those that one of the sums asks for."""
    import numpy as np

    asked = {int(number) for number in _near(counts[role])}
    for total in sums:
        gap = sum(counts[part] for part in total.parts) - counts[total.whole]
        if role in (*total.parts, total.whole):
            asked.add(max(0, counts[role] + (gap if role == total.whole else -gap)))
    return np.array(sorted(asked))


def _near(number: int) -> Any:
    """The numbers that one wrong, lost or added digit, or two swapped ones, could have been."""
    import numpy as np

    text = str(number)
    near = {text[:i] + d + text[i + 1 :] for i in range(len(text)) for d in "0123456789"}
    near |= {text[:i] + d + text[i:] for i in range(len(text) + 1) for d in "0123456789"}
    near |= {text[:i] + text[i + 1 :] for i in range(len(text))}
    near |= {text[:i] + text[i + 1] + text[i] + text[i + 2 :] for i in range(len(text) - 1)}
    return np.array(sorted({int(t) for t in near if t}))
