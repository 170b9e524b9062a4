"""Does a published table agree with itself?

Each printed cell is a range, so a mean of others is a range too; it is wrong only when no numbers
that round to the cells could give it.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from statistics import mean, median
from typing import TypeAlias

from abstain.errors import UnknownNameError, UsageError, check_name, option, plural
from abstain.features.audit import result as facts_of
from abstain.features.audit import table as tables_of
from abstain.features.audit.result import Audit, AuditResult, Cell, Correction
from abstain.features.audit.rows import (
    check_attainable,
    check_rows,
    known_runs,
    number_of_questions,
)
from abstain.features.audit.table import Sheet
from abstain.io.tables import read_table
from abstain.measures import count_measure, list_measures
from abstain.outcomes import Counts
from abstain.runs.counts_table import NUMBERS

Paths: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"


def audit(
    tables: Paths,
    *,
    questions: int | None = None,
    sizes: Mapping[str, int] | None = None,
    companions: Paths = (),
    columns: Sequence[tuple[str, str]] | Mapping[str, str] = (),
    ignore: Sequence[str] = (),
    format: str | None = None,
) -> AuditResult:
    """Check published tables against arithmetic: counts, scores, totals and means.

    Args:
        tables: The files to check.
        questions: How many questions each row is over.
        sizes: How many questions the scores of a column are over: `{"auxiliary": 44}`; c@1 where
            neither its name nor `columns` says a measure.
        companions: Tables with the counts of the same runs.
        columns: Which column holds a count or a measure: `{"right": "R"}`, or pairs, since a
            measure may have several columns.
        ignore: Columns to leave out.
        format: The format of the files where it is not evident.
    """
    if questions is not None and questions < 1:
        raise UsageError(f"{option('questions')} must be 1 or more (got {questions})")
    settings = tables_of.Settings(
        questions=questions,
        sizes=sizes or {},
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
    sheets = [Sheet(read_table(path, format=format), settings) for path in _listed(tables)]
    beside = [Sheet(read_table(path, format=format), settings) for path in _listed(companions)]
    known = {c for sheet in (*sheets, *beside) for c in sheet.table.columns}
    for name in (*(column for _, column in settings.columns), *settings.ignore):
        check_name("column", name, sorted(known))
    report = Audit()
    runs: dict[tuple[str, ...], Counts] = {}
    for sheet in beside:
        runs |= known_runs(sheet, report)
    for sheet in sheets:
        for row, column in product(sheet.rows, sheet.figures):
            missing = tables_of.is_missing(sheet.texts[row][column])
            if not missing and sheet.number((row, column)) is None:
                expected = "expected a number, like the other cells of its column"
                report.check(facts_of.READABLE, sheet, [(row, column)], expected)
        asked = number_of_questions(sheet, report)
        check_rows(sheet, asked, report)
        check_attainable(sheet, asked, runs, report)
        check_summaries(sheet, report)
    return report.result([sheet.name for sheet in sheets])


def _listed(paths: Paths) -> list[str]:
    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return list(dict.fromkeys(os.fspath(path) for path in several))


SUMMARIES: dict[str, Callable[[list[Fraction]], Fraction]] = {
    "mean": mean,
    "median": median,
    "minimum": min,
    "maximum": max,
}
"""Summaries that rise with every row: they lie between that of all low and of all high ends."""


def check_summaries(sheet: Sheet, audit: Audit) -> None:
    summaries = [(row, kind) for row, kind in enumerate(sheet.kinds) if kind]
    for (row, kind), column in product(summaries, sheet.figures):
        groups = [
            cells
            for group in _groups(sheet, row)
            if (cells := [(i, column) for i in group if sheet.number((i, column))])
        ]
        cell = (row, column)
        if sheet.number(cell) is None or not groups:
            continue
        if kind in SUMMARIES:
            wrong, fixes = _not_between(sheet, kind, cell, groups)
        elif kind == "total" and _adds_up(sheet, column, [cell, *groups[0]]):
            wrong, fixes = _no_sum(sheet, cell, groups)
        else:
            continue
        cells = [cell, *sorted(set().union(*groups))]
        audit.check(facts_of.SUMMARIES, sheet, cells, wrong, fixes)


def _not_between(
    sheet: Sheet, kind: str, cell: Cell, groups: Sequence[list[Cell]]
) -> tuple[str, list[Correction]]:
    (printed,), ends = sheet.numbers([cell]), []
    rounded = cell[1] not in sheet.counts.values()
    for numbers in map(sheet.numbers, groups):
        sides = ([n.value + sign * rounded * n.half for n in numbers] for sign in (-1, 1))
        ends.append([SUMMARIES[kind](side) for side in sides])
    if any(printed.meets(*each) for each in ends):
        return "", []
    least, most = (f"{float(end):.{printed.decimals + 2}f}" for end in ends[0])
    value = least if least == most else f"between {least} and {most}"
    middle = sum(ends[0]) / 2
    wrong = f"the {kind} of {plural(len(groups[0]), 'row')} is {value}"
    wrong += "; truncated" * printed.truncates(middle)
    change = facts_of.change_of(sheet, *cell, printed.like(middle))
    return wrong, [Correction((change,), 1)]


def _no_sum(sheet: Sheet, cell: Cell, groups: Sequence[list[Cell]]) -> tuple[str, list[Correction]]:
    """What the parts of a total add up to instead, and the single cells that would mend it."""
    whole, *sums = (sum(int(n.value) for n in sheet.numbers(cells)) for cells in ([cell], *groups))
    if whole in sums:
        return "", []
    lacking = whole - sums[0]
    values = {cell: sums[0]}
    for part in groups[0]:
        values[part] = int(sheet.numbers([part])[0].value) + lacking
    fixes = [(facts_of.change_of(sheet, *at, str(n)),) for at, n in values.items() if n >= 0]
    wrong = f"its {len(groups[0])} parts add up to {sums[0]}"
    return wrong, [Correction(fix, 1) for fix in facts_of.fewest_digits(fixes)]


def _adds_up(sheet: Sheet, column: str, cells: Sequence[Cell]) -> bool:
    """Whether the cells of a column may be summed: not scores, nor the questions of every row."""
    numbers = sheet.numbers(cells)
    same = column == sheet.counts.get("questions") and len({n.text for n in numbers}) == 1
    added = column in (*sheet.plain, *sheet.counts.values())
    return added and not same and all(n.whole for n in numbers)


def _groups(sheet: Sheet, row: int) -> list[list[int]]:
    """The rows that a summary may be over: all of its group, or those since the one before."""
    members = _members(sheet, row)
    above = [i for i in range(row) if sheet.kinds[i] == sheet.kinds[row]]
    last = max((i for i in above if _members(sheet, i) == members), default=-1)
    return [[i for i in members if last < i < row], members]


def _members(sheet: Sheet, row: int) -> list[int]:
    """The rows that share every other label of a summary row, where some row does."""
    members = sheet.body
    for column in sheet.labels:
        text = sheet.texts[row][column]
        if text and not tables_of.summary_kind(text):
            members = [i for i in members if sheet.texts[i][column] == text] or members
    return members
