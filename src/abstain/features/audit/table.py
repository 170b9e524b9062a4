"""A published table with its columns understood: labels, counts, scores, summary rows.

A printed number is a range: every value that rounds to it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from msgspec import Struct

from abstain.errors import InputError, UsageError
from abstain.io.frames import collect, into_lazy
from abstain.io.tables import ROW, Table
from abstain.measures import Measure, count_measure
from abstain.runs.counts_table import NUMBERS, TOTALS

MISSING = {"", "-", "–", "—", ".", "n/a", "na", "nan", "none", "null", "?"}
TOLERANCE = 1e-9
"""Slack for doubles, so that an exact half may round either way."""
NUMBER = re.compile(
    r"(?P<sign>[+\-−])?\s*(?P<whole>\d{1,3}(?:,\d{3})+|\d*)(?P<point>[.,](?P<part>\d*))?\s*(?P<pct>%)?"
)
ALL = "all"
EVERYTHING = (ALL, "overall")
PERCENT_WORDS = re.compile(r"(?:^|[_\s])(?:pct|percent|percentage|change|increase)(?=$|[_\s])|%")
SUMMARY_WORDS = {
    "mean": ("average", "avg", "mean", "averages", "means"),
    "median": ("median", "medians"),
    "deviation": ("standarddeviation", "stdev", "stddev", "std", "sd"),
    "total": ("total", "totals", "sum"),
    "minimum": ("min", "minimum"),
    "maximum": ("max", "maximum"),
}


class Printed(Struct, frozen=True):
    """A printed number: its text, its value, how many decimals it shows."""

    text: str
    value: Fraction
    decimals: int
    percent: bool = False

    @property
    def half(self) -> Fraction:
        """How far a number that rounds to it may be away; an exact half may go either way."""
        return Fraction(1, 2 * 10**self.decimals)

    @property
    def whole(self) -> bool:
        return self.decimals == 0 and not self.percent

    def meets(self, low: Any, high: Any) -> Any:
        """Whether some number between two bounds rounds to it; also of arrays of bounds.

        >>> read_number("0.59").meets(0.5868, 0.5868), read_number("0.58").meets(0.5868, 0.5868)
        (True, False)
        """
        value = float(self.value)
        away = float(self.half) + TOLERANCE * max(1.0, abs(value))
        return (value - away <= high) & (low <= value + away)

    def truncates(self, values: Any) -> bool:
        """Whether a number (of several, one) gives it when its further decimals are cut off."""
        ahead = np.asarray(values, np.float64) * (-1 if self.value < 0 else 1)
        rest = ahead - abs(float(self.value)) + TOLERANCE
        return bool(((ahead >= 0) & (rest >= 0) & (rest < 10.0**-self.decimals)).any())

    def like(self, value: float | Fraction) -> str:
        """Another number, printed the way this one is; halves are rounded away from zero."""
        exact = Fraction(value)
        decimal = Decimal(exact.numerator) / Decimal(exact.denominator)
        rounded = decimal.quantize(Decimal(1).scaleb(-self.decimals), ROUND_HALF_UP) + 0
        return f"{rounded:f}{'%' if self.percent else ''}"


def read_number(text: str) -> Printed | None:
    """The number that a text shows, or None; marks of a footnote are passed over.

    >>> read_number("1,204").value, read_number("30 %").percent, read_number("0,59†").value
    (Fraction(1204, 1), True, Fraction(59, 100))
    """
    bare = text.strip().strip("*†‡§ ")
    match = NUMBER.fullmatch(bare)
    if match is None or len(bare) > 40:
        return None
    whole, part = match["whole"], match["part"] or ""
    if whole.startswith("0,"):  # a decimal comma: no thousands begin with 0
        whole, part = "0", whole[2:].replace(",", "") + part
    if not whole and not part:
        return None
    value = Fraction(f"{whole.replace(',', '') or 0}.{part or 0}")
    negative = match["sign"] in ("-", "−")
    return Printed(text.strip(), -value if negative else value, len(part), bool(match["pct"]))


def is_missing(text: str) -> bool:
    return text.strip().casefold() in MISSING


def summary_kind(label: str) -> str | None:
    """What kind of summary a row's label announces.

    >>> summary_kind("Standard deviation"), summary_kind("jucs1302enen")
    ('deviation', None)
    """
    word = re.sub(r"[\s_.\-]", "", label.casefold())
    return next((kind for kind, words in SUMMARY_WORDS.items() if word in words), None)


class Settings(Struct, frozen=True):
    questions: int | None = None
    sizes: Mapping[str, int] = {}
    columns: Sequence[tuple[str, str]] = ()
    ignore: Sequence[str] = ()


class ScoreColumn(Struct, frozen=True):
    """A column of scores: the measure, the questions it is over, 100 where it shows percent."""

    name: str
    measure: Measure
    slice: str
    scale: int = 1


class Sheet:
    def __init__(self, table: Table, settings: Settings) -> None:
        self.table, self.settings, self.name = table, settings, table.name
        frame = collect(into_lazy(table.frame), table.name)
        columns = [c for c in table.columns if c not in settings.ignore]
        self.texts: list[dict[str, str]] = [
            {c: "" if record[c] is None else str(record[c]) for c in columns}
            for record in frame.iter_rows(named=True)
        ]
        if not self.texts:
            raise InputError("has no rows", table.name)
        self.rows = range(len(self.texts))
        self.places = [table.place(row) for row in frame[ROW].to_list()]
        self.cells = [{c: read_number(text) for c, text in record.items()} for record in self.texts]
        self.roles = {column: role for role, column in settings.columns}
        self.labels = self._label_columns(columns)
        self.figures = tuple(c for c in columns if c not in self.labels)
        kinds = ([summary_kind(record[c]) for c in self.labels] for record in self.texts)
        self.kinds = [next(filter(None, some), None) for some in kinds]
        self.body = [row for row, kind in enumerate(self.kinds) if kind is None]
        self.counts = self._count_columns()
        others = [c for c in self.figures if c not in self.counts.values()]
        self.scores = [score for c in others if (score := self._score(c)) is not None]
        scores = {score.name for score in self.scores}
        self.plain = [c for c in others if c not in scores and not PERCENT_WORDS.search(_fold(c))]
        """Columns of other figures: neither counts nor scores nor percentages."""
        runs = [column for column, role in self.roles.items() if role == "run"]
        run = next((c for c in (*runs, "run") if c in self.labels), None)
        self.key_columns = (run,) if run else self.labels
        """What names a row in every table: the run where there is one, else all labels."""

    def key(self, row: int) -> tuple[str, ...]:
        return tuple(self.texts[row][c] for c in self.key_columns)

    def row_name(self, row: int) -> str:
        return " ".join(filter(None, self.key(row))) or f"row {row + 1}"

    def number(self, cell: tuple[int, str]) -> Printed | None:
        return self.cells[cell[0]][cell[1]]

    def numbers(self, cells: Iterable[tuple[int, str]]) -> list[Printed]:
        return [n for cell in cells if (n := self.number(cell)) is not None]

    def column(self, column: str, rows: Iterable[int]) -> list[Printed]:
        return self.numbers((row, column) for row in rows)

    def _label_columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Columns of texts, and numbers that stand before them and have no name of figures."""
        filled = {c: [r for r in self.rows if not is_missing(self.texts[r][c])] for c in columns}
        texts = [c for c, rows in filled.items() if 2 * len(self.column(c, rows)) <= len(rows)]
        before = columns[: columns.index(texts[0])] if texts else []
        figures = {*NUMBERS, *EVERYTHING, *self.settings.sizes}
        plain = [c for c in before if not {c, _fold(c)} & figures and _measure_or_none(c) is None]
        labels = {c for c in (*texts, *plain) if self.roles.get(c) in (None, "run")}
        return tuple(c for c in columns if c in labels)

    def _count_columns(self) -> dict[str, str]:
        """The column of each count; none where there is only a number of questions."""
        counts: dict[str, str] = {}
        for column in self.figures:
            role = self.roles.get(column) or _fold(column)
            if role in NUMBERS:
                role = "questions" if role in TOTALS else role
                if column in self.roles or (role not in counts and self._mostly_whole(column)):
                    counts[role] = column
        return counts if counts.keys() - {"questions"} else {}

    def _mostly_whole(self, column: str) -> bool:
        numbers = self.column(column, self.body)
        return 2 * sum(n.whole for n in numbers) > len(numbers)

    def _score(self, column: str) -> ScoreColumn | None:
        """The measure by the column's role, its whole name or the name's first words."""
        sizes, everything = self.settings.sizes, _fold(column) in EVERYTHING
        role = self.roles.get(column, column)
        if role in (*NUMBERS, "run"):
            return None
        slice = column if column in sizes and not everything else ALL
        numbers = self.column(column, self.body)
        whole = self._mostly_whole(column) and any(n.value > 1 for n in numbers)
        measure = _measure_or_none(role)
        if measure is None and (column in sizes or (everything and not whole)):
            measure = count_measure("c@1")
        first, rest = column, ""
        while measure is None:
            first, cut, last = first.rpartition("_")
            if not cut:
                return None
            rest = f"{last}_{rest}" if rest else last
            measure, slice = _measure_or_none(first), rest
        large = sum(n.percent or n.value > 1 for n in numbers)
        percent = measure.bounds[1] <= 1 and 2 * large > len(numbers)
        return ScoreColumn(column, measure, slice, 100 if percent else 1)


def _fold(name: str) -> str:
    return re.sub(r"[\s\-]+", "_", name.strip().casefold())


def _measure_or_none(name: str) -> Measure | None:
    try:
        return count_measure(name)
    except UsageError:
        return None
