"""Does a published table agree with itself, and with its neighbours?"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from abstain.errors import UnknownNameError, UsageError, option
from abstain.features.audit.findings import READABLE, TABLES, Audit
from abstain.features.audit.result import AuditResult
from abstain.features.audit.rows import (
    check_attainable,
    check_rows,
    known_runs,
    number_of_questions,
)
from abstain.features.audit.sums import check_percentages, check_sums
from abstain.features.audit.table import Printed, Settings, Sheet, is_missing, read_sizes
from abstain.io.tables import read_table
from abstain.measures import Measure
from abstain.measures import measure as measure_of

Paths: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"


def audit(
    tables: Paths,
    *,
    questions: int | None = None,
    sizes: Iterable[str] | Mapping[str, int] = (),
    measure: str | Measure = "c@1",
    companions: Paths = (),
    columns: Sequence[tuple[str, str]] | Mapping[str, str] = (),
    ignore: Sequence[str] = (),
    format: str | None = None,
) -> AuditResult:
    """Check published tables against arithmetic: counts, scores, sums, summaries, each other.

    Args:
        tables: The files to check.
        questions: How many questions each row is over.
        sizes: How many questions the scores of a column are over: `{"auxiliary": 44}`; or texts
            such as `auxiliary=44`, and files with the column questions.
        measure: What columns hold that are named only by their questions.
        companions: Tables with the counts of the same runs.
        columns: Which column holds a count or a measure: `{"right": "R"}`, or pairs, since a
            measure may have several columns.
        ignore: Columns to leave out.
        format: The format of the files where it is not evident.
    """
    paths = list(dict.fromkeys(_listed(tables)))
    if not paths:
        raise UsageError("name at least one table")
    if questions is not None and questions < 1:
        raise UsageError(f"{option('questions')} must be 1 or more (got {questions})")
    settings = Settings(
        questions=questions,
        measure=str(measure_of(measure)),
        sizes=dict(sizes) if isinstance(sizes, Mapping) else read_sizes(sizes),
        columns=tuple(columns.items() if isinstance(columns, Mapping) else columns),
        ignore=tuple(ignore),
    )
    sheets = [Sheet(read_table(path, format=format), settings) for path in paths]
    beside = [Sheet(read_table(path, format=format), settings) for path in _listed(companions)]
    known = {c for sheet in (*sheets, *beside) for c in sheet.table.columns}
    for name in (*(column for _, column in settings.columns), *settings.ignore):
        if name not in known:
            raise UnknownNameError("column", name, sorted(known))
    report = Audit(tuple(paths))
    runs = known_runs({sheet: number_of_questions(sheet, report) for sheet in beside}, report)
    for sheet in sheets:
        _check_readable(sheet, report)
        asked = number_of_questions(sheet, report)
        check_rows(sheet, asked, report)
        check_attainable(sheet, asked, runs, report)
        check_sums(sheet, report)
        check_percentages(sheet, report)
    _check_across(sheets, report)
    return report.result()


def _listed(paths: Paths) -> list[str]:
    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [os.fspath(path) for path in several]


def _check_readable(sheet: Sheet, audit: Audit) -> None:
    for row, texts in enumerate(sheet.texts):
        for column in sheet.figures:
            if sheet.number(row, column) is None and not is_missing(texts[column]):
                expected = "expected a number, like the other cells of its column"
                audit.find(READABLE, sheet, row, column, expected)


# ------------------------------------------------------------------- tables against each other


class Value(NamedTuple):
    """A number and the cell that shows it."""

    sheet: Sheet
    row: int
    column: str
    number: Printed

    def agrees(self, other: Value) -> bool:
        """Whether both may show the same number."""
        a, b = self.number, other.number
        return a.value == b.value if a.decimals == b.decimals else a.meets(b.low, b.high)


def _check_across(sheets: Sequence[Sheet], audit: Audit) -> None:
    """Compare every value with the first table that has it, row by row of the same name."""
    first: dict[tuple[object, ...], Value] = {}
    for sheet in sheets:
        times = Counter(map(sheet.key, range(len(sheet.texts))))
        here: dict[tuple[object, ...], Value] = {}
        for column in sheet.figures:
            quantity = _quantity(sheet, column)
            pairs: dict[tuple[str, str], list[tuple[Value, Value]]] = {}
            for row in range(len(sheet.texts)):
                key, number = sheet.key(row), sheet.number(row, column)
                if number is None or times[key] > 1:
                    continue
                value, name = Value(sheet, row, column, number), (sheet.key_columns, key, *quantity)
                if (other := first.get(name)) is None:
                    here.setdefault(name, value)
                else:
                    pairs.setdefault((other.sheet.name, other.column), []).append((other, value))
            for some in pairs.values():
                _compare(some, audit)
        first |= here


def _quantity(sheet: Sheet, column: str) -> tuple[str, ...]:
    """What a column holds, whatever it is called."""
    for score in sheet.scores:
        if score.name == column:
            return ("score", str(score.measure), score.slice, str(score.scale))
    for role, name in sheet.counts.items():
        if name == column:
            return ("count", role)
    return ("column", column)


def _compare(pairs: Sequence[tuple[Value, Value]], audit: Audit) -> None:
    """Compare two columns; where most rows differ, they hold different things after all."""
    differ = [(other, value) for other, value in pairs if not value.agrees(other)]
    if len(pairs) > 2 and 2 * len(differ) > len(pairs):
        other, value = pairs[0]
        audit.note(
            f"{value.sheet.name}: {value.column} is not compared with {other.column} of "
            f"{other.sheet.name}, because most rows differ."
        )
        return
    for _, value in pairs:
        audit.check(TABLES, value.sheet, [(value.row, value.column)])
    for other, value in differ:
        place = other.sheet.places[other.row]
        follows = f"{other.column} is {other.number.text} in {place}"
        audit.find(TABLES, value.sheet, value.row, value.column, follows)
