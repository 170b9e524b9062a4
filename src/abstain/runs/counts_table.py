"""Published counts: read from a table and checked for consistency."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import narwhals as nw
import polars as pl
from msgspec import Struct

from abstain.errors import InputError, Place, UsageError, option, shown, some_of
from abstain.io.frames import check_mapping, collect, open_table, rename, require, text_columns
from abstain.io.tables import ROW, Table
from abstain.outcomes import MOST, OUTCOMES, Counts, CountsArray
from abstain.reading import Kind, Reading, Selection, narrowed, positions
from abstain.runs.sources import Published, Source, Values, having

NO_QUESTIONS = "counts say nothing about single questions: they can only be scored"
BLANKS = OUTCOMES[2:]
TOTALS = ("questions", "n", "total")
SIZES = ("unanswered", *BLANKS, *TOTALS)
NUMBERS = (*OUTCOMES, "unanswered", "answered", *TOTALS)


class Row(Struct, frozen=True):
    run: str
    counts: Counts
    attributes: dict[str, str | None]
    place: Place | None = None


class CountsTable(Source):
    """A source of published counts; the other columns of their table are attributes."""

    kind: Kind = "counts"

    def __init__(
        self,
        rows: Sequence[Row],
        notes: Sequence[str],
        table: Table | None,
        *,
        subset: Selection | None = None,
    ) -> None:
        super().__init__()
        self.rows, self.notes, self.table = tuple(rows), tuple(notes), table
        self.subset = subset

    def published(self, by: Sequence[str]) -> Published:
        self._require(by)
        seen: dict[tuple[str | None, ...], Place | None] = {}
        for row in self.rows:
            key = (row.run, *(row.attributes.get(name) for name in by))
            if key in seen:
                of_slice = f" in slice {some_of([value or '' for value in key[1:]])}" if by else ""
                what = f"run {shown(row.run)}{of_slice} appears twice (first: {seen[key]})"
                raise InputError(f"{what}; slices are named with {option('by')}", row.place)
            seen[key] = row.place
        counts = CountsArray.of(row.counts for row in self.rows)
        return [str(key[0]) for key in seen], [key[1:] for key in seen], counts

    def _require(self, names: Sequence[str]) -> None:
        if self.table is not None:
            require(self.table, dict.fromkeys(names, "which was asked for"))
        elif names:
            raise UsageError("counts of a mapping have no attributes to slice or choose by")

    def only(self, runs: Collection[str] | str | None, where: Values) -> CountsTable:
        names = self.names()
        wanted = {names[at] for at in positions("run", names, runs)}
        asked = list(where or {})
        self._require(asked)
        kept = [row for row in self.rows if row.run in wanted]
        cells = [[at, *map(row.attributes.get, asked)] for at, row in enumerate(kept)]
        schema = {ROW: pl.Int64, **dict.fromkeys(asked, pl.String)}
        inside, texts = having(pl.DataFrame(cells, schema, orient="row"), where, what="row")
        rows = [row for row, there in zip(kept, inside, strict=True) if there]
        left = list(dict.fromkeys(row.run for row in rows))
        chosen = narrowed(self.subset, runs=left, of_runs=len(names), where=texts)
        return CountsTable(rows, self.notes, self.table, subset=chosen)

    def names(self) -> list[str]:
        return list(dict.fromkeys(row.run for row in self.rows))

    def questions(self, *_: Any, **__: Any) -> Any:
        """Raise: published counts have no single questions, so no kinds and no confidences."""
        raise UsageError(NO_QUESTIONS)

    count_kinds = matrix = binned = questions


def read_counts_table(
    data: Any, reading: Reading, *, skip_inconsistent: bool = False
) -> CountsTable:
    if isinstance(data, Mapping) and all(isinstance(item, Counts) for item in data.values()):
        if not data:
            raise UsageError("there are no counts to score")
        return CountsTable([Row(str(run), item, {}) for run, item in data.items()], (), None)
    opened = open_table(data, name="the counts", format=reading.format, pick=reading.pick)
    table = rename(opened, reading.columns, side="run")
    check_mapping(reading.columns, [table])
    if "blank" in table.columns and "unanswered" not in table.columns:  # as we write it
        table = rename(table, {"unanswered": "blank"}, side="")
    needed = {"right": "the number of right answers", "wrong": "the number of wrong answers"}
    if not {*SIZES} & {*table.columns}:
        needed["unanswered"] = "the number of questions without an answer"
    require(table, needed)
    frame = _texts(table)
    others = [c for c in frame.columns if c not in (ROW, "run", *NUMBERS)]
    rows: list[Row] = []
    notes = []
    for record in frame.iter_rows(named=True):
        place = table.place(record[ROW])
        run = record.get("run") or f"row {record[ROW] + 1}"
        cells = {c: _whole(record[c], c, place) for c in NUMBERS if c in record}
        numbers = {column: n for column, n in cells.items() if n is not None}
        if not {*SIZES} & {*numbers}:
            raise InputError("nothing says how many questions were unanswered", place)
        counts = _counts(numbers)
        if not (wrong := _inconsistency(numbers, counts)):
            rows.append(Row(run, counts, {c: record[c] for c in others}, place))
        elif skip_inconsistent:
            note = f"run {run} is left out, because its counts do not add up ({place}: {wrong})"
            notes.append(note)
        else:
            how = f"{option('skip_inconsistent', value=True)} scores the others"
            raise InputError(f"{shown(run)}: {wrong}; {how}", place)
    if not rows:
        raise UsageError("there are no counts to score")
    return CountsTable(rows, notes, table)


def _texts(table: Table) -> pl.DataFrame:
    lazy = nw.from_native(table.frame)
    schema = lazy.collect_schema()
    wanted = [c for c in table.columns if c in NUMBERS or not schema[c].is_nested()]
    chosen = text_columns(lazy, wanted, table.name, trim=wanted)
    frame = collect(lazy.select(*chosen), table.name)
    return frame if ROW in frame.columns else frame.with_row_index(ROW)


def _whole(text: str | None, column: str, place: Place) -> int | None:
    if not text:
        if column in ("right", "wrong"):
            raise InputError(f"{column} is empty, expected a whole number", place)
        return None
    try:
        value = int(text) if text.lstrip("+-").isdecimal() else float(text)
        if value % 1 == 0 and 0 <= value <= MOST:
            return int(value)
    except ValueError:
        pass
    raise InputError(f"{column} is {shown(text)}, expected a whole number from 0 to 2^53", place)


def _counts(numbers: Mapping[str, int]) -> Counts:
    right, wrong = numbers["right"], numbers["wrong"]
    if {*BLANKS} & {*numbers}:
        return Counts(right, wrong, **{column: numbers.get(column, 0) for column in BLANKS})
    total = next((numbers[column] for column in TOTALS if column in numbers), 0)
    return Counts(right, wrong, unsplit=numbers.get("unanswered", max(total - right - wrong, 0)))


def _inconsistency(numbers: Mapping[str, int], counts: Counts) -> str:
    """The first stated total that its counts do not add up to, in words; empty if none."""
    sums = {"answered": counts.answered, "unanswered": counts.unanswered}
    for column, actual in {**sums, **dict.fromkeys(TOTALS, counts.n)}.items():
        if numbers.get(column, actual) != actual:
            return f"{column} is {numbers[column]}, but the outcomes add up to {actual}"
    return ""
