"""Values that stand in several tables must be the same in all of them."""

from __future__ import annotations

from collections.abc import Sequence

from abstain.audit.findings import TABLES, Audit
from abstain.audit.printed import Printed
from abstain.audit.sheet import Sheet


def check_across(sheets: Sequence[Sheet], audit: Audit) -> None:
    """Compare every value with the first table that has it, row by row of the same name."""
    first: dict[tuple[object, ...], tuple[Sheet, int, str, Printed]] = {}
    for sheet in sheets:
        repeated = _repeated(sheet)
        here: dict[tuple[object, ...], tuple[Sheet, int, str, Printed]] = {}
        for row in range(len(sheet.texts)):
            if sheet.key(row) in repeated:
                continue
            for column in sheet.figures:
                number = sheet.number(row, column)
                if number is None:
                    continue
                name = (sheet.key_columns, sheet.key(row), *_identity(sheet, column))
                if name in first:
                    _compare(first[name], (sheet, row, column, number), audit)
                else:
                    here.setdefault(name, (sheet, row, column, number))
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


def _compare(
    known: tuple[Sheet, int, str, Printed], found: tuple[Sheet, int, str, Printed], audit: Audit
) -> None:
    (other, its_row, its_column, theirs), (sheet, row, column, ours) = known, found
    audit.check(TABLES, sheet, [(row, column)])
    same = (
        ours.value == theirs.value
        if ours.decimals == theirs.decimals
        else ours.meets(theirs.low, theirs.high)
    )
    if not same:
        follows = f"{its_column} is {theirs.text} in {other.place(its_row)}"
        audit.find(TABLES, sheet, row, column, follows)


def _repeated(sheet: Sheet) -> set[tuple[str, ...]]:
    seen: set[tuple[str, ...]] = set()
    return {key for i in range(len(sheet.texts)) if (key := sheet.key(i)) in seen or seen.add(key)}  # type: ignore[func-returns-value]
