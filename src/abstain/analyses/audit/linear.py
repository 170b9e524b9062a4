"""Whole numbers that must add up across a table, and the one cell that would mend it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from abstain.analyses.audit.findings import Audit
from abstain.analyses.audit.printed import edits
from abstain.analyses.audit.result import Change, Correction
from abstain.analyses.audit.sheet import Sheet

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
            follows = f"its {len(total.parts)} parts make {made}"
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
        old = sheet.texts[cell[0]][cell[1]]
        change = Change(sheet.row_name(cell[0]), cell[1], old, str(value))
        found.append((edits(old, str(value)), Correction((change,), len(involved))))
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
