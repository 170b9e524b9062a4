"""Sums across a table, and percentages of two columns.

Whole numbers that must add up are checked together: the one cell that would mend them all is found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import TypeAlias

from abstain.analyses.audit.printed import Printed, edits
from abstain.analyses.audit.result import PERCENTAGES, SUMS, Audit, Correction
from abstain.analyses.audit.sheet import PERCENT_WORDS, Sheet

WHOLES = ("all", "total", "sum", "overall")
Cell: TypeAlias = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Linear:
    """A cell that is the sum of other cells."""

    rule: str
    whole: Cell
    parts: tuple[Cell, ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All cells that take part."""
        return (self.whole, *self.parts)

    def gap(self, sheet: Sheet) -> int:
        """How much the parts make beyond the whole."""
        return sum(_value(sheet, p) for p in self.parts) - _value(sheet, self.whole)

    def holds(self, sheet: Sheet) -> bool:
        """Whether it holds."""
        return self.gap(sheet) == 0


def check_linear(sheet: Sheet, sums: Sequence[Linear], audit: Audit) -> None:
    """Check all sums of a table together: a cell in a row's sum and a column's mends both."""
    for total in sums:
        audit.check(total.rule, sheet, total.cells)
    failed = [s for s in sums if not s.holds(sheet)]
    for group in _connected(failed):
        fixes = _corrections(sheet, group, sums)
        for total in group:
            row, column = total.whole
            made = total.gap(sheet) + _value(sheet, total.whole)
            follows = f"its {len(total.parts)} parts add up to {made}"
            audit.find(total.rule, sheet, row, column, follows, fixes)


def _corrections(
    sheet: Sheet, failed: Sequence[Linear], sums: Sequence[Linear]
) -> list[Correction]:
    shared = set.intersection(*(set(s.cells) for s in failed))
    found: list[tuple[int, Correction]] = []
    for cell in sorted(shared):
        shifts = {s.gap(sheet) if cell == s.whole else -s.gap(sheet) for s in failed}
        involved = [s for s in sums if cell in s.cells]
        value = _value(sheet, cell) + next(iter(shifts))
        if len(shifts) > 1 or len(involved) > len(failed) or value < 0:
            continue
        change = sheet.change(*cell, str(value))
        found.append((edits(change.old, change.new), Correction((change,), len(involved))))
    fewest = min((cost for cost, _ in found), default=0)
    most = max((fix.checks for cost, fix in found if cost == fewest), default=0)
    return [fix for cost, fix in found if cost == fewest and fix.checks == most]


def _connected(sums: Iterable[Linear]) -> list[list[Linear]]:
    """Sums that share a cell stand together."""
    groups: list[list[Linear]] = []
    for total in sums:
        near = [g for g in groups if any(set(s.cells) & set(total.cells) for s in g)]
        groups = [g for g in groups if g not in near]
        groups.append([*(s for g in near for s in g), total])
    return groups


def _value(sheet: Sheet, cell: Cell) -> int:
    number = sheet.number(*cell)
    assert number is not None
    return int(number.value)


def column_sums(sheet: Sheet, audit: Audit) -> list[Linear]:
    """Sums of columns by their names (all_x = a_x + b_x + …), where most rows keep them."""
    skip = {*sheet.percents, *sheet.counts.values(), *(s.column for s in sheet.scores)}
    plain = [c for c in sheet.figures if c not in skip and _whole(sheet, c)]
    found: list[Linear] = []
    said: list[str] = []
    for whole in plain:
        head, _, tail = whole.partition("_")
        if head.casefold() not in WHOLES:
            continue
        parts = [
            c for c in plain if c != whole and (c.endswith(f"_{tail}") if tail else "_" not in c)
        ]
        if len(parts) < 2:
            continue
        sums = [
            Linear(SUMS, (row, whole), tuple((row, c) for c in parts))
            for row in range(len(sheet.texts))
            if all(sheet.number(row, c) is not None for c in (whole, *parts))
        ]
        held = sum(s.holds(sheet) for s in sums)
        if 2 * held > len(sums):
            found += sums
            said.append(f"{whole} = {' + '.join(parts)}")
    if said:
        audit.note(f"{sheet.name}: {'; '.join(said)}, as most rows confirm.")
    return found


def _whole(sheet: Sheet, column: str) -> bool:
    numbers = [n for i in range(len(sheet.texts)) if (n := sheet.number(i, column)) is not None]
    return bool(numbers) and all(n.whole for n in numbers)


@dataclass(frozen=True, slots=True)
class Way:
    """A reading of a percentage of two columns, a and b."""

    name: str
    percent: Callable[[Fraction, Fraction], Fraction]
    base: int
    """Which of the two is 100 %: 0 or 1."""
    unsigned: bool = False

    def between(self, *numbers: Printed) -> tuple[Fraction, Fraction] | None:
        """What two numbers give: a whole number is itself, a rounded one is a range."""
        ends = [(n.value,) if n.decimals == 0 else (n.low, n.high) for n in numbers]
        if min(ends[self.base]) <= 0:
            return None
        values = [self.percent(a, b) for a in ends[0] for b in ends[1]]
        low, high = min(values), max(values)
        if self.unsigned:
            crosses = low < 0 < high
            low, high = sorted((abs(low), abs(high)))
            low = Fraction(0) if crosses else low
        return low, high


def _change(a: Fraction, b: Fraction) -> Fraction:
    return 100 * (b - a) / a


WAYS = (
    Way("the change from {a} to {b} in percent", _change, 0),
    Way("{a} as a percentage of {b}", lambda a, b: 100 * a / b, 1),
    Way("the size of the change from {a} to {b} in percent", _change, 0, unsigned=True),
)


def check_percentages(sheet: Sheet, audit: Audit) -> None:
    """Check percentages of two columns, read in the way that most rows bear out."""
    for column in sheet.percents:
        ways = [(a, b, way) for a, b in _pairs(sheet, column) for way in WAYS]
        held = [_held(sheet, column, *one) for one in ways]
        if not any(held):
            continue
        a, b, way = ways[held.index(max(held))]
        said = way.name.format(a=a, b=b)
        audit.note(f"{sheet.name}: {column} is {said}, as most rows confirm.")
        for row, printed, first, second, (low, high) in _read(sheet, column, a, b, way):
            audit.check(PERCENTAGES, sheet, [(row, c) for c in (column, a, b)])
            if printed.meets(low, high):
                continue
            exact = f"{float(low):.4g}"
            if low != high:
                exact = f"between {exact} and {float(high):.4g}"
            follows = f"{a} {first.text} and {b} {second.text} give {exact} %"
            audit.find_misfit(PERCENTAGES, sheet, row, column, (low + high) / 2, follows)


def _pairs(sheet: Sheet, column: str) -> list[tuple[str, str]]:
    """The columns that a percentage may be of: those with its stem, or the only two others."""
    stem = re.sub(r"[_\s%]+", "_", PERCENT_WORDS.sub("_", column.casefold())).strip("_")
    others = [c for c in sheet.figures if c not in sheet.percents]
    near = [c for c in others if stem and c.casefold().startswith(f"{stem}_")]
    chosen = near if len(near) == 2 else others if len(others) == 2 else []
    return list(permutations(chosen, 2))


def _read(
    sheet: Sheet, column: str, a: str, b: str, way: Way
) -> Iterator[tuple[int, Printed, Printed, Printed, tuple[Fraction, Fraction]]]:
    """The rows with all three numbers, and what the two give."""
    for row in range(len(sheet.texts)):
        printed, first, second = (sheet.number(row, c) for c in (column, a, b))
        if printed is not None and first is not None and second is not None:
            between = way.between(first, second)
            if between is not None:
                yield row, printed, first, second, between


def _held(sheet: Sheet, column: str, a: str, b: str, way: Way) -> int:
    """In how many rows a reading holds; 0 unless that is most of them, and two at least."""
    fits = [own.meets(*between) for _, own, _, _, between in _read(sheet, column, a, b, way)]
    return sum(fits) if sum(fits) >= 2 and 2 * sum(fits) > len(fits) else 0
