"""Values that stand in several tables must be the same in all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from abstain.analyses.audit.findings import TABLES, Audit
from abstain.analyses.audit.printed import Printed
from abstain.analyses.audit.sheet import Sheet

Value: TypeAlias = tuple[Sheet, int, str, Printed]


def check_across(sheets: Sequence[Sheet], audit: Audit) -> None:
    """Compare every value with the first table that has it, row by row of the same name."""
    first: dict[tuple[object, ...], Value] = {}
    for sheet in sheets:
        pairs: dict[tuple[str, str, str], list[tuple[Value, Value]]] = {}
        here: dict[tuple[object, ...], Value] = {}
        repeated = _repeated(sheet)
        for row in range(len(sheet.texts)):
            if sheet.key(row) in repeated:
                continue
            for column in sheet.figures:
                number = sheet.number(row, column)
                if number is None:
                    continue
                name = (sheet.key_columns, sheet.key(row), *_identity(sheet, column))
                value = (sheet, row, column, number)
                if name in first:
                    known = first[name]
                    pairs.setdefault((column, known[0].name, known[2]), []).append((known, value))
                else:
                    here.setdefault(name, value)
        for found in pairs.values():
            _compare(found, audit)
        first |= here


def _identity(sheet: Sheet, column: str) -> tuple[str, ...]:
    """What a column holds, whatever it is called."""
    for score in sheet.scores:
        if score.column == column:
            return ("score", str(score.measure), score.slice, str(score.scale))
    for role, name in sheet.counts.items():
        if name == column:
            return ("count", role)
    return ("column", column)


def _compare(pairs: Sequence[tuple[Value, Value]], audit: Audit) -> None:
    """Compare two columns; where most rows differ, they hold different things after all."""
    differ = [(known, found) for known, found in pairs if not _same(known[3], found[3])]
    (other, _, its_column, _), (sheet, _, column, _) = pairs[0]
    if len(pairs) > 2 and 2 * len(differ) > len(pairs):
        audit.note(
            f"{sheet.name}: {column} is taken for something else than {its_column} of "
            f"{other.name}, as most rows differ."
        )
        return
    for _, (_, row, _, _) in pairs:
        audit.check(TABLES, sheet, [(row, column)])
    for (_, its_row, _, theirs), (_, row, _, _) in differ:
        follows = f"{its_column} is {theirs.text} in {other.place(its_row)}"
        audit.find(TABLES, sheet, row, column, follows)


def _same(theirs: Printed, ours: Printed) -> bool:
    if ours.decimals == theirs.decimals:
        return ours.value == theirs.value
    return ours.meets(theirs.low, theirs.high)


def _repeated(sheet: Sheet) -> set[tuple[str, ...]]:
    keys = Counter(sheet.key(row) for row in range(len(sheet.texts)))
    return {key for key, times in keys.items() if times > 1}
