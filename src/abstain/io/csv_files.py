"""CSV and TSV: with polars where every record has the header's cells, else record by record."""

import contextlib
import csv
import io
from array import array
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, count, islice
from typing import Any

import numpy as np
import polars as pl

from abstain.errors import InputError, Place, plural, shown
from abstain.io import files
from abstain.io.files import Opened
from abstain.io.tables import ROW, SEPARATORS, Table

AT_ONCE = 1 << 13
"""Records that are read one by one before they become a chunk."""


def read_csv(opened: Opened, format: str) -> Table:
    file = CsvFile(opened, format)
    empty = pl.LazyFrame(schema=dict.fromkeys(file.header, pl.String))
    return Table(opened.name, format, file.header, empty, opened, csv_file=file, chunks=file.chunks)


class CsvFile:
    def __init__(self, opened: Opened, format: str) -> None:
        self.opened, self.separator = opened, _separator(opened, format)
        self.header = self._header()
        self._unnumbered, self._lines = self._records(), array("Q")

    def line(self, row: int) -> int | None:
        for line, _ in self._unnumbered:
            self._lines.append(line)
            if len(self._lines) > row + 1:
                break
        return self._lines[row + 1] if row + 1 < len(self._lines) else None

    def chunks(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The rows, chunk by chunk: from the first uneven chunk on, record by record."""
        before = 0
        chunks = enumerate(files.chunks_of(self.opened, _record_end))
        for parsed in files.ahead(chunks, partial(self._parse, columns)):
            if parsed is None:
                yield from self._one_by_one(columns, before)
                return
            records, rows = parsed
            if rows.height:
                yield rows.with_columns(pl.col(ROW) + before)
            before += records

    def _header(self) -> tuple[str, ...]:
        _, cells = next(self._records(), (1, []))
        names = tuple(cell.strip() for cell in cells)
        place = Place(self.opened.name, 1)
        if not any(names):
            raise InputError("begins with a blank line, expected a header", place)
        if len(set(names)) < len(names):
            name = next(name for at, name in enumerate(names) if name in names[:at])
            what = f"column {shown(name)} appears twice" if name else "two columns have no name"
            raise InputError(f"{what} in the header", place)
        return names

    def _parse(
        self, columns: Sequence[str], chunk: tuple[int, bytes]
    ) -> tuple[int, pl.DataFrame] | None:
        """The records of a chunk, their number and their rows; None where they are not even."""
        number, text = chunk
        width, marks = len(self.header), _marks(text, self.separator)
        if number:  # polars takes the number of cells from the first line, which may be blank here
            text = self.separator.join("x" * width).encode() + b"\n" + text
        options: Any = {"has_header": False, "infer_schema": False, "glob": False}
        with contextlib.suppress(pl.exceptions.PolarsError, UnicodeDecodeError):
            if not text.isascii():
                text.decode()
            frame = pl.read_csv(text, separator=self.separator, **options)
            # a longer record is an error, so the total is exact only if none is shorter
            if marks == (width - 1) * (frame.height - (number > 0)):
                frame = frame[1:]
                frame.columns = list(self.header)
                return frame.height, _rows(frame, columns)
        return None

    def _one_by_one(self, columns: Sequence[str], before: int) -> Iterator[pl.DataFrame]:
        """The rows after some records, by Python's csv; a record of other length is refused."""
        width, schema = len(self.header), dict.fromkeys(self.header, pl.String)
        records = islice(self._records(strict=True), before + 1, None)
        for first in count(before, AT_ONCE):
            some = []
            for line, cells in islice(records, AT_ONCE):
                if cells and len(cells) != width:
                    what = f"has {plural(len(cells), 'cell')}, expected {width} as in the header"
                    raise InputError(what, Place(self.opened.name, line))
                some.append(cells or [""] * width)
            if not some:
                return
            rows = _rows(pl.DataFrame(some, schema=schema, orient="row"), columns)
            if rows.height:
                yield rows.with_columns(pl.col(ROW) + first)

    def _records(self, *, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
        csv.field_size_limit(2 * files.MAX_LINE)
        chunks = map(io.BytesIO, files.chunks_of(self.opened))
        lines = (io.TextIOWrapper(chunk, encoding="utf-8", newline="") for chunk in chunks)
        reader = csv.reader(chain.from_iterable(lines), delimiter=self.separator, strict=strict)
        begins = 1
        try:
            for cells in reader:
                yield begins, cells
                begins = reader.line_num + 1
        except csv.Error as error:
            is_open = str(error) == "unexpected end of data"
            problem = "a quote is never closed" if is_open else str(error)
            raise InputError(problem, Place(self.opened.name, begins)) from None
        except UnicodeDecodeError:
            place = Place(self.opened.name, files.bad_utf8_line(self.opened))
            raise InputError(files.NOT_UTF8, place) from None


def _separator(opened: Opened, format: str) -> str:
    """A CSV whose header has semicolons or tabs and no comma is what many spreadsheets write."""
    line = opened.head.split(b"\n", 1)[0]
    if format == "csv" and b"," not in line:
        sign = max(";", "\t", key=lambda sign: line.count(sign.encode()))
        if sign.encode() in line:
            return sign
    return SEPARATORS[format]


def _rows(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    rows = frame.with_columns(pl.all().str.strip_chars())
    blank = rows.select(pl.all_horizontal(pl.all().is_null() | (pl.all() == ""))).to_series()
    rows = rows[list(columns)].with_row_index(ROW)
    return rows.filter(~blank) if blank.any() else rows


def _marks(text: bytes, separator: str) -> int | None:
    """The separators outside quotes; None where polars and Python's csv may read them unlike."""
    if text.count(b"\r") > text.count(b"\r\n"):
        return None
    if b'"' not in text:
        return text.count(separator.encode())
    cells = np.frombuffer(b"\n" + text + b"\n", np.uint8)
    quotes = cells == ord('"')
    at = np.flatnonzero(quotes)
    edges = np.frombuffer(f'{separator}\n\r"'.encode(), np.uint8)
    if len(at) % 2 or not np.isin([cells[at[::2] - 1], cells[at[1::2] + 1]], edges).all():
        return None
    outside = np.cumsum(quotes, dtype=np.uint32) % 2 == 0
    return int(np.count_nonzero(outside & (cells == ord(separator))))


def _record_end(text: bytes) -> int:
    """Where the last whole record ends: a line end inside quotes ends none."""
    if b'"' not in text:
        return files.line_end(text)
    cells = np.frombuffer(text, np.uint8)
    stops = np.flatnonzero(cells == ord("\n"))
    quotes = np.flatnonzero(cells == ord('"'))
    ends = stops[np.searchsorted(quotes, stops) % 2 == 0]
    return int(ends[-1]) + 1 if len(ends) else 0
