"""Columns of a table against each other: a column that adds up others, percentages of two."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations

from abstain.analyses.audit.findings import PERCENTAGES, SUMS, Audit
from abstain.analyses.audit.linear import Linear
from abstain.analyses.audit.printed import Printed
from abstain.analyses.audit.result import Change, Correction
from abstain.analyses.audit.sheet import PERCENT_WORDS, Sheet

WHOLES = ("all", "total", "sum", "overall")


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
        audit.note(f"{sheet.name}: {'; '.join(said)}, as most rows bear out.")
    return found


def _whole(sheet: Sheet, column: str) -> bool:
    numbers = [n for i in range(len(sheet.texts)) if (n := sheet.number(i, column)) is not None]
    return bool(numbers) and all(n.whole for n in numbers)


def check_percentages(sheet: Sheet, audit: Audit) -> None:
    """Check percentages of two columns, read in the way that most rows bear out."""
    for column in sheet.percents:
        pairs = _pairs(sheet, column)
        ways = [
            (name, a, b, way)
            for a, b in pairs
            for name, way in WAYS
            if _held(sheet, column, a, b, way)
        ]
        if not ways:
            continue
        name, a, b, way = max(ways, key=lambda w: _held(sheet, column, w[1], w[2], w[3]))
        audit.note(f"{sheet.name}: {column} is {name.format(a=a, b=b)}, as most rows bear out.")
        for row in range(len(sheet.texts)):
            _check(sheet, row, column, a, b, way, audit)


def _check(sheet: Sheet, row: int, column: str, a: str, b: str, way: Way, audit: Audit) -> None:
    cells = _row(sheet, row, column, a, b)
    if cells is None:
        return
    printed, first, second = cells
    between = way(first, second)
    if between is None:
        return
    audit.check(PERCENTAGES, sheet, [(row, c) for c in (column, a, b)])
    if printed.meets(*between):
        return
    low, high = (float(v) for v in between)
    exact = f"{low:.4g}" if low == high else f"between {low:.4g} and {high:.4g}"
    middle = (between[0] + between[1]) / 2
    fix = Change(sheet.row_name(row), column, printed.text, _signed(printed, middle))
    cut = "; truncated" if printed.truncates(middle) else ""
    follows = f"{a} {first.text} and {b} {second.text} give {exact} %{cut}"
    audit.find(PERCENTAGES, sheet, row, column, follows, [Correction((fix,), 1)])


def _signed(printed: Printed, value: Fraction) -> str:
    plus = "+" if printed.text.startswith("+") and value > 0 else ""
    return plus + printed.like(value)


def _pairs(sheet: Sheet, column: str) -> list[tuple[str, str]]:
    """The columns that a percentage may be of: those with its stem, or the only two others."""
    stem = re.sub(r"[_\s%]+", "_", PERCENT_WORDS.sub("_", column.casefold())).strip("_")
    others = [c for c in sheet.figures if c not in sheet.percents]
    near = [c for c in others if stem and c.casefold().startswith(f"{stem}_")]
    chosen = near if len(near) == 2 else others if len(others) == 2 else []
    return list(permutations(chosen, 2))


def _row(
    sheet: Sheet, row: int, column: str, a: str, b: str
) -> tuple[Printed, Printed, Printed] | None:
    numbers = [sheet.number(row, c) for c in (column, a, b)]
    if any(n is None for n in numbers):
        return None
    printed, first, second = (n for n in numbers if n is not None)
    return printed, first, second


def _held(sheet: Sheet, column: str, a: str, b: str, way: Way) -> int:
    """In how many rows a reading holds; 0 unless that is most of them, and two at least."""
    held = tried = 0
    for row in range(len(sheet.texts)):
        cells = _row(sheet, row, column, a, b)
        between = way(cells[1], cells[2]) if cells else None
        if cells and between is not None:
            tried += 1
            held += cells[0].meets(*between)
    return held if held >= 2 and 2 * held > tried else 0


# ------------------------------------------------------------------------------- readings

Way = Callable[[Printed, Printed], tuple[Fraction, Fraction] | None]


def _ends(number: Printed) -> Sequence[Fraction]:
    """A whole number is itself; a rounded one is a range."""
    return (number.value,) if number.decimals == 0 else (number.low, number.high)


def _over(
    a: Printed, b: Printed, reading: Callable[[Fraction, Fraction], Fraction]
) -> tuple[Fraction, Fraction] | None:
    if min(_ends(b)) <= 0:
        return None
    values = [reading(x, y) for x in _ends(a) for y in _ends(b)]
    return min(values), max(values)


def _share(a: Printed, b: Printed) -> tuple[Fraction, Fraction] | None:
    return _over(a, b, lambda x, y: 100 * x / y)


def _change(a: Printed, b: Printed) -> tuple[Fraction, Fraction] | None:
    return _over(b, a, lambda y, x: 100 * (y - x) / x)


def _size_of_change(a: Printed, b: Printed) -> tuple[Fraction, Fraction] | None:
    between = _change(a, b)
    if between is None:
        return None
    low, high = sorted(map(abs, between))
    return (Fraction(0) if between[0] < 0 < between[1] else low), high


WAYS: list[tuple[str, Way]] = [
    ("the change from {a} to {b} in percent", _change),
    ("{a} in percent of {b}", _share),
    ("the size of the change from {a} to {b} in percent", _size_of_change),
]
