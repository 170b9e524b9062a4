"""Does a published table agree with itself, and with its neighbours?

Each printed cell is a range, so what follows from others (a mean, a deviation, a percentage) is a
range too; it is wrong only when no numbers that round to the cells could give it. Whole numbers
that must add up are checked together: of the single cells that would mend a sum, those that mend
most sums are named.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product
from statistics import mean, median
from typing import NamedTuple, TypeAlias

import numpy as np

from abstain.errors import UnknownNameError, UsageError, check_name, option, plural
from abstain.features.audit import result as facts_of
from abstain.features.audit import table as tables_of
from abstain.features.audit.result import Audit, AuditResult, Cell, Correction, Range
from abstain.features.audit.rows import (
    check_attainable,
    check_rows,
    known_runs,
    number_of_questions,
)
from abstain.features.audit.table import Printed, Sheet
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
    sizes: Mapping[str, int] | None = None,
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
        sizes: How many questions the scores of a column are over: `{"auxiliary": 44}`.
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
    settings = tables_of.Settings(
        questions=questions,
        measure=str(measure_of(measure)),
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
            if sheet.number(cell) is None and not tables_of.is_missing(
                sheet.texts[cell[0]][cell[1]]
            ):
                expected = "expected a number, like the other cells of its column"
                report.check(facts_of.READABLE, sheet, [cell], expected)
        asked = number_of_questions(sheet, report)
        check_rows(sheet, asked, report)
        check_attainable(sheet, asked, runs, report)
        check_sums(sheet, report)
        check_percentages(sheet, report)
    _check_across(sheets, report)
    return report.result([sheet.name for sheet in sheets])


def _listed(paths: Paths) -> list[str]:
    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [os.fspath(path) for path in several]


WHOLES = ("all", "total", "sum", "overall")


class Total(NamedTuple):
    """A cell that is the sum of other cells, all of them whole numbers."""

    rule: str
    cells: list[Cell]
    """The sum, then its parts."""
    gap: int
    """How much the parts are beyond the sum."""


def _total(rule: str, sheet: Sheet, cells: list[Cell]) -> Total:
    whole, *parts = (int(n.value) for n in sheet.numbers(cells))
    return Total(rule, cells, sum(parts) - whole)


def check_sums(sheet: Sheet, audit: Audit) -> None:
    """Check all sums of a table together: a cell in a row's sum and a column's mends both."""
    by_cell: dict[Cell, list[Total]] = defaultdict(list)
    totals = [*_check_summaries(sheet, audit), *_column_sums(sheet, audit)]
    for total in totals:
        for cell in total.cells:
            by_cell[cell].append(total)
    for total in totals:
        added = int(sheet.numbers(total.cells)[0].value) + total.gap
        wrong = f"its {len(total.cells) - 1} parts add up to {added}" if total.gap else ""
        fixes = _corrections(sheet, total, by_cell) if total.gap else []
        audit.check(total.rule, sheet, total.cells, wrong, fixes)


def _corrections(
    sheet: Sheet, failed: Total, by_cell: Mapping[Cell, Sequence[Total]]
) -> list[Correction]:
    """The single cells that mend a total and all others that they take part in, if some do."""
    fixes: dict[int, list[tuple[facts_of.Change, ...]]] = defaultdict(list)
    for cell in failed.cells:
        shifts = {t.gap if cell == t.cells[0] else -t.gap for t in by_cell[cell]}
        value = int(sheet.numbers([cell])[0].value) + next(iter(shifts))
        if len(shifts) == 1 and value >= 0:
            fixes[len(by_cell[cell])].append((facts_of.change_of(sheet, *cell, str(value)),))
    most = max(fixes, default=0)
    return [Correction(fix, most) for fix in facts_of.fewest_digits(fixes[most])]


def _column_sums(sheet: Sheet, audit: Audit) -> Iterator[Total]:
    """Sums of columns by their names (all_x = a_x + b_x + …), where most rows keep them."""
    numbers = {c: sheet.column(c, sheet.rows) for c in sheet.plain}
    columns = [c for c, cells in numbers.items() if cells and all(n.whole for n in cells)]
    for whole in columns:
        head, _, tail = whole.partition("_")
        others = [c for c in columns if c != whole]
        parts = [c for c in others if (c.endswith(f"_{tail}") if tail else "_" not in c)]
        if head.casefold() not in WHOLES or len(parts) < 2:
            continue
        cells = [[(row, c) for c in (whole, *parts)] for row in sheet.rows]
        totals = [
            _total(facts_of.SUMS, sheet, some) for some in cells if all(map(sheet.number, some))
        ]
        if 2 * sum(not total.gap for total in totals) > len(totals):
            yield from totals
            audit.note(f"{sheet.name}: {whole} = {' + '.join(parts)}, as most rows confirm.")


def _check_summaries(sheet: Sheet, audit: Audit) -> Iterator[Total]:
    """Check every summary row; whole totals are yielded, to be corrected with other sums."""
    summaries = [(row, kind) for row, kind in enumerate(sheet.kinds) if kind]
    for (row, kind), column in product(summaries, sheet.figures):
        groups = [
            cells
            for group in _groups(sheet, row)
            if (cells := [(i, column) for i in group if sheet.number((i, column))])
        ]
        summary = (row, column)
        if sheet.number(summary) is None or not groups:
            continue
        if kind == "total":
            if _adds_up(sheet, column, [summary, *groups[0]]):
                totals = [_total(facts_of.SUMMARIES, sheet, [summary, *group]) for group in groups]
                yield min(totals, key=lambda total: total.gap != 0)
            continue
        ranges = [r for group in groups for r in _ranges(kind, sheet.numbers(group))]
        cells = [summary, *sorted(set().union(*groups))]
        audit.check_ranges(facts_of.SUMMARIES, sheet, cells, ranges)


def _adds_up(sheet: Sheet, column: str, cells: Sequence[Cell]) -> bool:
    """Whether the cells of a column may be summed: not scores, nor the questions of every row."""
    numbers = sheet.numbers(cells)
    same = column == sheet.counts.get("questions") and len({n.text for n in numbers}) == 1
    added = column in (*sheet.plain, *sheet.counts.values())
    return added and not same and all(n.whole for n in numbers)


def _groups(sheet: Sheet, row: int) -> list[list[int]]:
    """The rows that a summary may be over: its group; where that has several, its block."""
    members = _members(sheet, row)
    alike = [i for i, kind in enumerate(sheet.kinds) if kind == sheet.kinds[row] and i != row]
    rivals = [i for i in alike if _members(sheet, i) == members]
    if not rivals:
        return [members]
    above = max((i for i in rivals if i < row), default=-1)
    return [[i for i in members if above < i < row], members]


def _members(sheet: Sheet, row: int) -> list[int]:
    """The rows that share every other label of a summary row, where some row does."""
    members = sheet.body
    for column in sheet.labels:
        text = sheet.texts[row][column]
        if text and not tables_of.summary_kind(text):
            members = [i for i in members if sheet.texts[i][column] == text] or members
    return members


RISING: dict[str, Callable[[list[Fraction]], Fraction]] = {
    "mean": mean,
    "median": median,
    "minimum": min,
    "maximum": max,
}
"""Summaries that rise with every row: they lie between that of all low and of all high ends."""


def _ranges(kind: str, rows: Sequence[Printed]) -> Iterator[Range]:
    count, over = len(rows), f" of {plural(len(rows), 'row')}"
    if kind in RISING:
        low, high = zip(*(n.ends for n in rows), strict=True)
        yield Range(kind, RISING[kind](list(low)), RISING[kind](list(high)), over)
    elif count > 1:
        for name, size in (("sample", count - 1), ("population", count)):
            least, most = (math.sqrt(end / size) for end in spread(rows))
            yield Range(f"{name} standard deviation", least, most, over)


def spread(rows: Sequence[Printed]) -> tuple[float, float]:
    """The least and the greatest sum of squares about the mean.

    The least is that of numbers pulled towards one middle m: Σ distance(m, range)², convex in m.
    The greatest lies at a corner: the upper ends of the largest numbers, the lower of the rest
    (exact where all show the same decimals; otherwise the widest range stands for all).
    """
    from scipy.optimize import minimize_scalar

    low, high = np.array([n.ends for n in rows], np.float64).T

    def pulled(m: float) -> float:
        return float(((np.clip(m, low, high) - m) ** 2).sum())

    ends = (low.min(), high.max())
    least = minimize_scalar(pulled, bounds=ends, method="bounded", options={"xatol": 1e-12}).fun
    half = (high - low).max() / 2
    centre = np.sort((low + high) / 2)
    lower = np.tri(len(rows) + 1, len(rows), -1, dtype=bool)  # a corner a row
    corners = np.var(np.where(lower, centre - half, centre + half), axis=1) * len(rows)
    return float(least), float(corners.max())


Percent: TypeAlias = Callable[[Fraction, Fraction], Fraction]
READINGS: tuple[tuple[str, Percent, int], ...] = (
    ("change from {a} to {b} in percent", lambda a, b: 100 * (b - a) / a, 0),
    ("percentage that {a} is of {b}", lambda a, b: 100 * a / b, 1),
)
"""Readings of a percentage of columns a and b: in words, as a function, which of them is 100 %."""


def check_percentages(sheet: Sheet, audit: Audit) -> None:
    """Check percentages of two columns, read in the way that most rows bear out."""
    for column in sheet.percents:
        best, meaning, rows = 1, "", []
        for (a, b), reading in product(_pairs(sheet, column), READINGS):
            tried = list(_percentages(sheet, (column, a, b), *reading))
            numbers = sheet.numbers(cells[0] for cells, _ in tried)
            held = sum(n.meets(r.low, r.high) for n, (_, r) in zip(numbers, tried, strict=True))
            if held > best and 2 * held > len(tried):
                best, meaning, rows = held, reading[0].format(a=a, b=b), tried
        if meaning:
            audit.note(f"{sheet.name}: {column} is the {meaning}, as most rows confirm.")
        for cells, between in rows:
            audit.check_ranges(facts_of.PERCENTAGES, sheet, cells, [between])


def _pairs(sheet: Sheet, column: str) -> list[tuple[str, str]]:
    """The columns that a percentage may be of: those with its stem, or the only two others."""
    stem = re.sub(r"[_\s%]+", "_", tables_of.PERCENT_WORDS.sub("_", column.casefold())).strip("_")
    others = [c for c in sheet.figures if c not in sheet.percents]
    near = [c for c in others if stem and c.casefold().startswith(f"{stem}_")]
    chosen = near if len(near) == 2 else others if len(others) == 2 else []
    return list(permutations(chosen, 2))


def _percentages(
    sheet: Sheet, columns: Sequence[str], words: str, percent: Percent, base: int
) -> Iterator[tuple[list[Cell], Range]]:
    """Rows with all three numbers: their cells, and what the other two give for the first.

    A whole number is itself, a rounded one is a range.
    """
    for row in sheet.rows:
        cells = [(row, column) for column in columns]
        numbers = sheet.numbers(cells)
        ends = [(n.value,) if n.decimals == 0 else n.ends for n in numbers[1:]]
        if len(numbers) == 3 and min(ends[base]) > 0:
            values = [percent(a, b) for a, b in product(*ends)]
            a, b = (f"{c} {n.text}" for c, n in zip(columns[1:], numbers[1:], strict=True))
            yield cells, Range(words.format(a=a, b=b), min(values), max(values))


def _check_across(sheets: Sequence[Sheet], audit: Audit) -> None:
    """Compare every value with the first table that has it, row by row of the same name."""
    first: dict[tuple[object, ...], tuple[Sheet, Cell]] = {}
    for sheet in sheets:
        times = Counter(map(sheet.key, sheet.rows))
        here = [
            ((sheet.key_columns, sheet.key(row), *sheet.quantities[column]), (row, column))
            for column, row in product(sheet.figures, sheet.rows)
            if times[sheet.key(row)] == 1 and sheet.number((row, column))
        ]
        pairs: dict[tuple[str, str], list[tuple[Cell, str, bool]]] = defaultdict(list)
        for name, cell in here:
            if name in first:
                other, at = first[name]
                (a,), (b,) = sheet.numbers([cell]), other.numbers([at])
                agree = a.value == b.value if a.decimals == b.decimals else a.meets(*b.ends)
                follows = f"{at[1]} is {b.text} in {other.places[at[0]]}"
                pairs[cell[1], f"{at[1]} of {other.name}"].append((cell, follows, agree))
        for (column, its_column), compared in pairs.items():
            if len(compared) > 2 and 2 * sum(agree for *_, agree in compared) < len(compared):
                which = f"{sheet.name}: {column} is not compared with {its_column}"
                audit.note(f"{which}, because most rows differ.")  # they hold different things
                continue
            for cell, follows, agree in compared:
                audit.check(facts_of.TABLES, sheet, [cell], "" if agree else follows)
        first = {name: (sheet, cell) for name, cell in reversed(here)} | first
