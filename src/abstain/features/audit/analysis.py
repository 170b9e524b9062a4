"""Does a published table agree with itself, and with its neighbours?"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

from abstain.errors import UnknownNameError, UsageError, check_name, option
from abstain.features.audit.result import READABLE, TABLES, Audit, AuditResult, Cell
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
from abstain.outcomes import Counts
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
        check_name("column", name, sorted(known))
    report = Audit()
    runs: dict[tuple[str, ...], Counts] = {}
    for sheet in beside:
        runs |= known_runs(sheet, report)
    for sheet in sheets:
        for cell in product(sheet.rows, sheet.figures):
            if sheet.number(*cell) is None and not is_missing(sheet.texts[cell[0]][cell[1]]):
                expected = "expected a number, like the other cells of its column"
                report.check(READABLE, sheet, [cell], expected)
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


Value: TypeAlias = tuple[Sheet, Cell]


def _check_across(sheets: Sequence[Sheet], audit: Audit) -> None:
    """Compare every value with the first table that has it, row by row of the same name."""
    first: dict[tuple[object, ...], Value] = {}
    for sheet in sheets:
        times = Counter(map(sheet.key, sheet.rows))
        here = [
            ((sheet.key_columns, sheet.key(row), *sheet.quantities[column]), (row, column))
            for column, row in product(sheet.figures, sheet.rows)
            if times[sheet.key(row)] == 1 and sheet.number(row, column)
        ]
        pairs: dict[tuple[str, str], list[tuple[Value, Cell]]] = defaultdict(list)
        for name, cell in here:
            if other := first.get(name):
                pairs[cell[1], f"{other[1][1]} of {other[0].name}"].append((other, cell))
        for (column, its_column), some in pairs.items():
            agree = [_agree(sheet.numbers([cell])[0], o.numbers([at])[0]) for (o, at), cell in some]
            if len(some) > 2 and 2 * sum(agree) < len(some):  # they hold different things
                which = f"{sheet.name}: {column} is not compared with {its_column}"
                audit.note(f"{which}, because most rows differ.")
                continue
            for ((o, at), cell), agrees in zip(some, agree, strict=True):
                follows = f"{at[1]} is {o.numbers([at])[0].text} in {o.places[at[0]]}"
                audit.check(TABLES, sheet, [cell], "" if agrees else follows)
        first = {name: (sheet, cell) for name, cell in reversed(here)} | first


def _agree(a: Printed, b: Printed) -> Any:
    return a.value == b.value if a.decimals == b.decimals else a.meets(*b.ends)
