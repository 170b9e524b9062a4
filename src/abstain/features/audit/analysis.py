"""Does a published table agree with itself, and with its neighbours?"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from abstain.errors import UnknownNameError, UsageError, option
from abstain.features.audit.result import READABLE, TABLES, Audit, AuditResult
from abstain.features.audit.rows import (
    check_attainable,
    check_rows,
    known_runs,
    number_of_questions,
)
from abstain.features.audit.sums import check_percentages, check_sums
from abstain.features.audit.table import Printed, Settings, Sheet, is_missing, read_sizes
from abstain.io.tables import read_table
from abstain.measures import Measure, count_measure, list_measures
from abstain.measures import measure as measure_of
from abstain.runs.counts_table import NUMBERS

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
    for role, _ in settings.columns:
        try:
            if role not in (*NUMBERS, "run"):
                count_measure(role)
        except UnknownNameError:
            roles = (*NUMBERS, "run", *list_measures("counts"))
            raise UnknownNameError("count or measure", role, roles) from None
    sheets = [Sheet(read_table(path, format=format), settings) for path in paths]
    beside = [Sheet(read_table(path, format=format), settings) for path in _listed(companions)]
    known = {c for sheet in (*sheets, *beside) for c in sheet.table.columns}
    for name in (*(column for _, column in settings.columns), *settings.ignore):
        if name not in known:
            raise UnknownNameError("column", name, sorted(known))
    report = Audit()
    runs = known_runs({sheet: number_of_questions(sheet, report) for sheet in beside}, report)
    for sheet in sheets:
        _check_readable(sheet, report)
        asked = number_of_questions(sheet, report)
        check_rows(sheet, asked, report)
        check_attainable(sheet, asked, runs, report)
        check_sums(sheet, report)
        check_percentages(sheet, report)
    _check_across(sheets, report)
    return report.result(paths)


def _listed(paths: Paths) -> list[str]:
    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [os.fspath(path) for path in several]


def _check_readable(sheet: Sheet, audit: Audit) -> None:
    for row, texts in enumerate(sheet.texts):
        for column in sheet.figures:
            if sheet.number(row, column) is None and not is_missing(texts[column]):
                expected = "expected a number, like the other cells of its column"
                audit.find(READABLE, sheet, row, column, expected)


Value: TypeAlias = tuple[Sheet, int, str, Printed]
"""A table, a row and a column of it, and the number there."""


def _check_across(sheets: Sequence[Sheet], audit: Audit) -> None:
    """Compare every value with the first table that has it, row by row of the same name."""
    first: dict[tuple[object, ...], Value] = {}
    for sheet in sheets:
        times = Counter(map(sheet.key, sheet.rows))
        here: dict[tuple[object, ...], Value] = {}
        for column in sheet.figures:
            quantity = _quantity(sheet, column)
            pairs: dict[str, list[tuple[Value, Value]]] = defaultdict(list)
            for row in sheet.rows:
                key, number = sheet.key(row), sheet.number(row, column)
                if number is not None and times[key] == 1:
                    value, name = (sheet, row, column, number), (sheet.key_columns, key, *quantity)
                    here.setdefault(name, value)
                    if (other := first.get(name)) is not None:
                        pairs[f"{other[2]} of {other[0].name}"].append((other, value))
            for other_column, some in pairs.items():
                _compare(some, other_column, audit)
        first = here | first


def _quantity(sheet: Sheet, column: str) -> tuple[str, ...]:
    for score in sheet.scores:
        if score.name == column:
            return ("score", str(score.measure), score.slice, str(score.scale))
    roles = [role for role, name in sheet.counts.items() if name == column]
    return ("count", roles[0]) if roles else ("column", column)


def _compare(pairs: Sequence[tuple[Value, Value]], other: str, audit: Audit) -> None:
    """Compare two columns; where most rows differ, they hold different things after all."""
    differ = sum(not _agree(a[3], b[3]) for a, b in pairs)
    if len(pairs) > 2 and 2 * differ > len(pairs):
        sheet, _, column, _ = pairs[0][1]
        audit.note(
            f"{sheet.name}: {column} is not compared with {other}, because most rows differ."
        )
        return
    for (first, at, its_column, number), (sheet, row, column, here) in pairs:
        audit.check(TABLES, sheet, [(row, column)])
        if not _agree(number, here):
            follows = f"{its_column} is {number.text} in {first.places[at]}"
            audit.find(TABLES, sheet, row, column, follows)


def _agree(a: Printed, b: Printed) -> Any:
    return a.value == b.value if a.decimals == b.decimals else a.meets(*b.ends)
