"""Does a published table agree with itself, and with its neighbours?"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from abstain.analyses.audit.attainable import check_attainable, known_runs
from abstain.analyses.audit.columns import check_linear, check_percentages, column_sums
from abstain.analyses.audit.printed import Printed, is_missing
from abstain.analyses.audit.result import READABLE, TABLES, Audit, AuditResult
from abstain.analyses.audit.rows import check_rows
from abstain.analyses.audit.sheet import Settings, Sheet, read_sizes
from abstain.analyses.audit.summaries import check_summaries
from abstain.errors import UsageError, checked, option
from abstain.io.tables import read_table
from abstain.measures import Measure
from abstain.measures import measure as measure_of

Paths: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"
Value: TypeAlias = tuple[Sheet, int, str, Printed]


@checked
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
    files, beside_files = _listed(tables), _listed(companions)
    if not files:
        raise UsageError("name at least one table")
    if questions is not None and questions < 1:
        raise UsageError(f"{option('questions')} must be 1 or more (got {questions})")
    known = dict(sizes) if isinstance(sizes, Mapping) else read_sizes(sizes)
    pairs = tuple(columns.items() if isinstance(columns, Mapping) else columns)
    settings = Settings(questions, str(measure_of(measure)), known, pairs, tuple(ignore))
    paths = list(dict.fromkeys(files))
    sheets = [Sheet(read_table(path, format=format), settings) for path in paths]
    beside = [Sheet(read_table(path, format=format), settings) for path in beside_files]
    settings.check([*sheets, *beside])
    found = Audit(tuple(paths))
    runs = known_runs(beside, found)
    for sheet in sheets:
        _check_readable(sheet, found)
        check_rows(sheet, found)
        check_attainable(sheet, runs, found)
        check_linear(sheet, [*check_summaries(sheet, found), *column_sums(sheet, found)], found)
        check_percentages(sheet, found)
    _check_across(sheets, found)
    return found.result()


def _listed(paths: Paths) -> list[str]:
    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [os.fspath(path) for path in several]


def _check_readable(sheet: Sheet, audit: Audit) -> None:
    for row, texts in enumerate(sheet.texts):
        for column in sheet.figures:
            if sheet.number(row, column) is None and not is_missing(texts[column]):
                audit.find(
                    READABLE,
                    sheet,
                    row,
                    column,
                    "expected a number, like the other cells of its column",
                )


def _check_across(sheets: Sequence[Sheet], audit: Audit) -> None:
    """Compare every value with the first table that has it, row by row of the same name."""
    first: dict[tuple[object, ...], Value] = {}
    for sheet in sheets:
        pairs: dict[tuple[str, str, str], list[tuple[Value, Value]]] = {}
        here: dict[tuple[object, ...], Value] = {}
        times = Counter(sheet.key(row) for row in range(len(sheet.texts)))
        for row in range(len(sheet.texts)):
            if times[sheet.key(row)] > 1:
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
            f"{sheet.name}: {column} is not compared with {its_column} of {other.name}, because "
            "most rows differ."
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
