"""Rows that sum up other rows: totals, means, medians, deviations, extremes.

Each printed cell is a range, so a summary is a range too; it is wrong only when no numbers
that round to the rows could give it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from statistics import mean, median
from typing import TypeAlias

import numpy as np

from abstain.analyses.audit.columns import Linear
from abstain.analyses.audit.printed import Printed
from abstain.analyses.audit.result import SUMMARIES, Audit
from abstain.analyses.audit.sheet import Sheet, kind_of
from abstain.errors import plural

Range: TypeAlias = tuple[float | Fraction, float | Fraction]
Way: TypeAlias = Callable[[Sequence[Printed]], Range]


def check_summaries(sheet: Sheet, audit: Audit) -> list[Linear]:
    """Check every summary row; whole totals are handed on, to be corrected with other sums."""
    totals: list[Linear] = []
    deviations: list[set[str]] = []
    for row, kind in enumerate(sheet.kinds):
        if kind is None:
            continue
        groups = _groups(sheet, row, kind)
        for column in sheet.figures:
            printed = sheet.number(row, column)
            if printed is None:
                continue
            choices = [
                [i for i in group if sheet.number(i, column) is not None] for group in groups
            ]
            choices = [group for group in choices if group]
            if choices and kind == "total":
                totals += _total(sheet, row, column, choices)
            elif choices:
                fitting = _check(sheet, row, column, kind, printed, choices, audit)
                if kind == "deviation" and fitting:
                    deviations.append(fitting)
    if deviations and (both := set.intersection(*deviations)):
        audit.note(f"{sheet.name}: the deviations fit the {' and the '.join(sorted(both))}.")
    return totals


def _groups(sheet: Sheet, row: int, kind: str) -> list[list[int]]:
    """The rows that a summary may be over: its group; where that has several, its block."""
    members = _members(sheet, row)
    rivals = [
        i
        for i, other in enumerate(sheet.kinds)
        if other == kind and i != row and _members(sheet, i) == members
    ]
    if not rivals:
        return [members]
    above = max((i for i in rivals if i < row), default=-1)
    return [[i for i in members if above < i < row], members]


def _members(sheet: Sheet, row: int) -> list[int]:
    """The rows that share every other label of a summary row (a label of its own says nothing)."""
    label = next((c for c in sheet.labels if kind_of(sheet.texts[row][c]) is not None), None)
    members = sheet.body
    for column in sheet.labels:
        text = sheet.texts[row][column]
        if column != label and text:
            members = [i for i in members if sheet.texts[i][column] == text] or members
    return members


def _total(sheet: Sheet, row: int, column: str, choices: list[list[int]]) -> list[Linear]:
    """A total of whole numbers, as a sum over the group that it fits best."""
    scores = {s.column for s in sheet.scores}
    if column in scores or column in sheet.percents:
        return []
    cells = [(row, column), *((i, column) for i in choices[0])]
    if not all((n := sheet.number(i, c)) is not None and n.whole for i, c in cells):
        return []
    sums = [Linear(SUMMARIES, (row, column), tuple((i, column) for i in g)) for g in choices]
    if column == sheet.counts.get("questions"):
        values = {sheet.texts[i][column] for i in choices[0]}
        if values == {sheet.texts[row][column]}:  # the same questions for every row
            return []
    return [next((s for s in sums if s.holds(sheet)), sums[0])]


def _check(
    sheet: Sheet,
    row: int,
    column: str,
    kind: str,
    printed: Printed,
    choices: list[list[int]],
    audit: Audit,
) -> set[str]:
    """Check a summary of one of some groups of rows; the names of what it could be."""
    audit.check(SUMMARIES, sheet, [(row, column), *((i, column) for g in choices for i in g)])
    ranges: list[tuple[str, int, Range]] = []
    for group in choices:
        rows = [n for i in group if (n := sheet.number(i, column)) is not None]
        if kind != "deviation" or len(rows) > 1:
            ranges += [(name, len(rows), way(rows)) for name, way in WAYS[kind]]
    fitting = {name for name, _, between in ranges if printed.meets(*between)}
    if fitting or not ranges:
        return fitting
    low, high = ranges[0][2]
    middle = (Fraction(low) + Fraction(high)) / 2
    said = [
        f"the {name} of {plural(count, 'row')} is {_text(between, printed)}"
        for name, count, between in ranges
    ]
    audit.find_misfit(SUMMARIES, sheet, row, column, middle, "; ".join(said))
    return fitting


def _text(between: Range, printed: Printed) -> str:
    (low, high), digits = between, printed.decimals + 2
    bottom, top = f"{float(low):.{digits}f}", f"{float(high):.{digits}f}"
    return bottom if bottom == top else f"between {bottom} and {top}"


def spread(rows: Sequence[Printed]) -> Range:
    """The least and the greatest sum of squares about the mean.

    The least is that of numbers pulled towards one middle m: Σ distance(m, range)², convex in m.
    The greatest lies at a corner: the upper ends of the largest numbers, the lower of the rest
    (exact where all show the same decimals; otherwise the widest range stands for all).
    """
    low = np.array([float(n.low) for n in rows])
    high = np.array([float(n.high) for n in rows])
    ends = np.unique(np.concatenate([low, high]))

    def pulled(m: float) -> float:
        return float((np.maximum(low - m, 0) ** 2 + np.maximum(m - high, 0) ** 2).sum())

    left, right = float(ends[0]), float(ends[-1])
    for _ in range(200):
        third = (right - left) / 3
        if pulled(left + third) <= pulled(right - third):
            right -= third
        else:
            left += third
    half = float((high - low).max()) / 2
    centre = np.sort(np.array([float(n.value) for n in rows]))
    centre -= centre.mean()
    count = len(centre)
    signs = count - 2 * np.arange(count + 1)  # so many more upper ends than lower ones
    weighted = -2 * np.concatenate([[0.0], np.cumsum(centre)])
    corners = (
        (centre**2).sum() + 2 * half * weighted + count * half**2 - (half * signs) ** 2 / count
    )
    return pulled((left + right) / 2), float(corners.max())


def _ends(of: Callable[[list[Fraction]], Fraction]) -> Way:
    """A summary that rises with every row: it lies between that of all low and all high ends."""
    return lambda rows: (of([n.low for n in rows]), of([n.high for n in rows]))


def _deviation(less: int) -> Way:
    """The root of the sum of squares over the number of rows, less so many."""

    def deviation(rows: Sequence[Printed]) -> Range:
        low, high = (math.sqrt(float(end) / (len(rows) - less)) for end in spread(rows))
        return low, high

    return deviation


WAYS: dict[str, list[tuple[str, Way]]] = {
    "mean": [("mean", _ends(mean))],
    "median": [("median", _ends(median))],
    "minimum": [("minimum", _ends(min))],
    "maximum": [("maximum", _ends(max))],
    "deviation": [
        ("sample standard deviation", _deviation(1)),
        ("population standard deviation", _deviation(0)),
    ],
}
