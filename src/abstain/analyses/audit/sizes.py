"""How many questions the columns of a table are over: said one by one, or read from a table."""

from __future__ import annotations

from collections.abc import Iterable

from abstain.analyses.audit.printed import read_or_none
from abstain.analyses.audit.sheet import ALL, Settings, Sheet
from abstain.errors import InputError, UsageError, option
from abstain.io.tables import read_table
from abstain.judging.given_counts import TOTALS


def read_sizes(texts: Iterable[str]) -> dict[str, int]:
    """Sizes from `NAME=N` texts and from files of sizes; what is said by name wins."""
    said: dict[str, int] = {}
    found: dict[str, int] = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        if not equals:
            found |= _file(text)
            continue
        size = read_or_none(number)
        if not name.strip() or size is None or not size.whole or size.value < 1:
            raise UsageError(
                f"{option('sizes')} reads NAME=N, such as auxiliary=44, or a file (got '{text}')"
            )
        if said.setdefault(name.strip(), int(size.value)) != size.value:
            raise UsageError(f"{option('sizes')} '{name.strip()}' is given twice")
    return found | said


def _file(path: str) -> dict[str, int]:
    """Sizes by every name that a column may go by.

    A table with `questions` gives the questions of each value of each label (`test_1`, or the
    value itself, or its place in the order of appearance) and of all; other whole numbers
    (`main`, `auxiliary`) give the sum of their column.
    """
    sheet = Sheet(read_table(path), Settings())
    folded = {c.strip().casefold(): c for c in sheet.figures}
    questions = next((folded[t] for t in TOTALS if t in folded), None)
    if questions is None:
        raise InputError(f"has no column of sizes (expected {', '.join(TOTALS)})", path)
    found: dict[str, int] = {ALL: _sum(sheet, questions, sheet.body)}
    for column in sheet.figures:
        if column != questions:
            found[column] = _sum(sheet, column, sheet.body)
    for label in sheet.labels:
        values = dict.fromkeys(sheet.texts[i][label] for i in sheet.body)
        for place, value in enumerate(values, 1):
            rows = [i for i in sheet.body if sheet.texts[i][label] == value]
            size = _sum(sheet, questions, rows)
            for name in (f"{label}_{value}", value, f"{label}_{place}"):
                found.setdefault(name, size)
    return {name: size for name, size in found.items() if size > 0 and name}


def _sum(sheet: Sheet, column: str, rows: Iterable[int]) -> int:
    numbers = [n for i in rows if (n := sheet.number(i, column)) is not None and n.whole]
    return int(sum(n.value for n in numbers))
