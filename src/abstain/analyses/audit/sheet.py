"""A published table with its columns understood: labels, counts, scores, summary rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from abstain.analyses.audit.printed import Printed, is_missing, read_or_none
from abstain.analyses.audit.result import Change
from abstain.errors import InputError, Place, UnknownNameError, UsageError, option
from abstain.io.frames import collect, into_lazy
from abstain.io.tables import ROW, Table, read_table
from abstain.judging.given_counts import NUMBERS, TOTALS
from abstain.measures import Measure, count_measure, list_measures

ALL = "all"
"""The slice of all questions."""

EVERYTHING = (ALL, "overall")
PERCENT_WORDS = re.compile(r"(?:^|[_\s])(?:pct|percent|percentage|change|increase)(?=$|[_\s])|%")
SUMMARY_WORDS = {
    "mean": ("average", "avg", "mean", "averages", "means"),
    "median": ("median", "medians"),
    "deviation": ("standarddeviation", "stdev", "stddev", "std", "sd", "standarddev"),
    "total": ("total", "totals", "sum"),
    "minimum": ("min", "minimum"),
    "maximum": ("max", "maximum"),
}
_KIND_OF = {word: kind for kind, words in SUMMARY_WORDS.items() for word in words}


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user says about the tables."""

    questions: int | None = None
    measure: str = "c@1"
    """What a column holds that is named only by its questions."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """How many questions the score of a column is over."""
    columns: Sequence[tuple[str, str]] = ()
    """A count's or a measure's name with the column that holds it."""
    ignore: Sequence[str] = ()

    def __post_init__(self) -> None:
        for role, _ in self.columns:
            if role not in (*NUMBERS, "run"):
                try:
                    count_measure(role)
                except UnknownNameError:
                    raise UnknownNameError(
                        "count or measure", role, (*NUMBERS, "run", *list_measures("counts"))
                    ) from None

    def check(self, sheets: Iterable[Sheet]) -> None:
        """Refuse a column that no table has."""
        known = {c for sheet in sheets for c in sheet.table.columns}
        for name in (*(column for _, column in self.columns), *self.ignore):
            if name not in known:
                raise UnknownNameError("column", name, sorted(known))


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """A column of scores: the measure, the questions it is over, 100 where it shows percent."""

    column: str
    measure: Measure
    slice: str
    scale: int = 1


class Sheet:
    """One table: texts, the numbers they show, and what each column is."""

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
        self.rows: list[int] = frame[ROW].to_list()
        self.cells: list[dict[str, Printed | None]] = [
            {c: read_or_none(text) for c, text in record.items()} for record in self.texts
        ]
        numeric = [c for c in columns if self._mostly_numbers(c)]
        first_text = next((i for i, c in enumerate(columns) if c not in numeric), 0)
        self.labels = tuple(
            c
            for i, c in enumerate(columns)
            if self._mapped(c) in (None, "run")
            and (c not in numeric or (i < first_text and not self._is_figure(c)))
        )
        self.figures = tuple(c for c in columns if c not in self.labels)
        self.kinds: list[str | None] = [self._kind(i) for i in range(len(self.texts))]
        self.body = [i for i, kind in enumerate(self.kinds) if kind is None]
        self.counts = self._count_columns()
        for i, column in ((i, c) for i in self.body for c in self.counts.values()):
            number = self.cells[i][column]
            self.cells[i][column] = None if number is None else replace(number, exact=True)
        self.scores = self._score_columns()
        taken = {*self.counts.values(), *(s.column for s in self.scores)}
        self.percents = tuple(
            c for c in self.figures if c not in taken and PERCENT_WORDS.search(c.casefold())
        )

    def place(self, row: int) -> Place:
        """Where a row stands."""
        return self.table.place(self.rows[row])

    def row_name(self, row: int) -> str:
        """What a row is called: its run, or all its labels."""
        texts = self.texts[row]
        chosen = self.key_columns if self.key_columns else self.labels
        return " ".join(texts[c] for c in chosen if texts[c]) or f"row {row + 1}"

    def change(self, row: int, column: str, new: str) -> Change:
        """A cell that would read otherwise."""
        return Change(self.row_name(row), column, self.texts[row][column], new)

    @cached_property
    def key_columns(self) -> tuple[str, ...]:
        """What names a row: the run where there is one, else every label."""
        runs = [column for role, column in self.settings.columns if role == "run"]
        run = next((c for c in (*runs, "run") if c in self.labels), None)
        return (run,) if run else self.labels

    def key(self, row: int) -> tuple[str, ...]:
        """A row's name as a key to find it in other tables."""
        return tuple(self.texts[row][c] for c in self.key_columns)

    def number(self, row: int, column: str) -> Printed | None:
        """The number of a cell, if it has one."""
        return self.cells[row][column]

    def of(self, slice: str) -> list[ScoreColumn]:
        """The score columns of a slice."""
        return [s for s in self.scores if s.slice == slice]

    def _mostly_numbers(self, column: str) -> bool:
        filled = [i for i, t in enumerate(self.texts) if not is_missing(t[column])]
        return 2 * sum(self.cells[i][column] is not None for i in filled) > len(filled)

    def _mapped(self, column: str) -> str | None:
        return next((role for role, name in self.settings.columns if name == column), None)

    def _is_figure(self, column: str) -> bool:
        """Whether a column's name says that it holds counts or scores, wherever it stands."""
        known = (*NUMBERS, *EVERYTHING)
        return (
            _fold(column) in known
            or column in self.settings.sizes
            or _measure_or_none(column) is not None
        )

    def _kind(self, row: int) -> str | None:
        kinds = (kind_of(self.texts[row][column]) for column in self.labels)
        return next((kind for kind in kinds if kind is not None), None)

    def _count_columns(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for column in self.figures:
            role = self._mapped(column) or _fold(column)
            if role in NUMBERS:
                role = "questions" if role in TOTALS else role
                mapped = self._mapped(column) is not None
                if mapped or (role not in found and self._mostly_whole(column)):
                    found[role] = column
        return found if found.keys() - {"questions"} else {}

    def _mostly_whole(self, column: str) -> bool:
        numbers = [n for i in self.body if (n := self.number(i, column)) is not None]
        return 2 * sum(n.whole for n in numbers) > len(numbers)

    def _score_columns(self) -> list[ScoreColumn]:
        found: list[ScoreColumn] = []
        for column in self.figures:
            if column in self.counts.values():
                continue
            chosen = self._measure_and_slice(column)
            if chosen is not None:
                which, slice = chosen
                found.append(ScoreColumn(column, which, slice, self._scale(column, which)))
        return found

    def _measure_and_slice(self, column: str) -> tuple[Measure, str] | None:
        sizes, everything = self.settings.sizes, _fold(column) in EVERYTHING
        mapped = self._mapped(column)
        slice = column if column in sizes and not everything else ALL
        if mapped is not None:
            return count_measure(mapped), slice
        named = _measure_or_none(column)
        if named is not None:
            return named, slice
        whole = self._mostly_whole(column) and any(
            (n := self.number(i, column)) is not None and n.value > 1 for i in self.body
        )
        if column in sizes or (everything and not whole):
            return count_measure(self.settings.measure), slice
        pieces = column.split("_")
        for cut in range(len(pieces) - 1, 0, -1):
            named = _measure_or_none("_".join(pieces[:cut]))
            if named is not None:
                return named, "_".join(pieces[cut:])
        return None

    def _scale(self, column: str, which: Measure) -> int:
        numbers = [n for i in self.body if (n := self.number(i, column)) is not None]
        if which.bounds[1] > 1 or not numbers:
            return 1
        large = sum(n.percent or n.value > 1 for n in numbers)
        return 100 if 2 * large > len(numbers) else 1


def kind_of(label: str) -> str | None:
    """What kind of summary a row's label announces.

    >>> kind_of("Standard deviation"), kind_of("jucs1302enen")
    ('deviation', None)
    """
    return _KIND_OF.get(re.sub(r"[\s_.\-]", "", label.casefold()))


def _fold(name: str) -> str:
    return re.sub(r"[\s\-]+", "_", name.strip().casefold())


def _measure_or_none(name: str) -> Measure | None:
    try:
        return count_measure(name)
    except UsageError:
        return None


def read_sizes(texts: Iterable[str]) -> dict[str, int]:
    """Sizes from `NAME=N` texts and from files of sizes; what is said by name wins."""
    said: dict[str, int] = {}
    found: dict[str, int] = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        if not equals:
            found |= _sizes_in(text)
            continue
        size = read_or_none(number)
        if not name.strip() or size is None or not size.whole or size.value < 1:
            raise UsageError(
                f"{option('sizes')} must be NAME=N, such as auxiliary=44, or a file (got '{text}')"
            )
        if said.setdefault(name.strip(), int(size.value)) != size.value:
            raise UsageError(f"{option('sizes')} '{name.strip()}' is given twice")
    return found | said


def _sizes_in(path: str) -> dict[str, int]:
    """Sizes by every name that a column may go by.

    A table with `questions` gives the questions of each value of each label (`test_1`, or the
    value itself, or its place in the order of appearance) and of all; other whole numbers
    (`main`, `auxiliary`) give the sum of their column.
    """
    sheet = Sheet(read_table(path), Settings())
    folded = {c.strip().casefold(): c for c in sheet.figures}
    questions = next((folded[t] for t in TOTALS if t in folded), None)
    if questions is None:
        raise InputError(f"has no column of sizes (expected {', '.join(TOTALS)})", path)
    found: dict[str, int] = {ALL: _sum(sheet, questions, sheet.body)}
    for column in sheet.figures:
        if column != questions:
            found[column] = _sum(sheet, column, sheet.body)
    for label in sheet.labels:
        values = dict.fromkeys(sheet.texts[i][label] for i in sheet.body)
        for place, value in enumerate(values, 1):
            rows = [i for i in sheet.body if sheet.texts[i][label] == value]
            size = _sum(sheet, questions, rows)
            for name in (f"{label}_{value}", value, f"{label}_{place}"):
                found.setdefault(name, size)
    return {name: size for name, size in found.items() if size > 0 and name}


def _sum(sheet: Sheet, column: str, rows: Iterable[int]) -> int:
    numbers = [n for i in rows if (n := sheet.number(i, column)) is not None and n.whole]
    return int(sum(n.value for n in numbers))
