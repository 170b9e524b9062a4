"""CSV and TSV: with polars where every record has the header's cells, else record by record."""

from __future__ import annotations

import contextlib
import csv
import io
from array import array
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count, islice
from typing import Any

import numpy as np
import polars as pl

from abstain.errors import InputError, Place, plural, shown
from abstain.io import files
from abstain.io.files import Opened
from abstain.io.tables import ROW, SEPARATORS, Table

AT_ONCE = 1 << 13
"""Records that are read one by one before they become a chunk."""


class RecordLines:
    """The line on which each record of a CSV file begins, read as far as needed."""

    def __init__(self, opened: Opened, separator: str) -> None:
        self._records = _records(opened, separator)
        self._lines = array("Q")

    def line(self, row: int) -> int | None:
        for line, _ in self._records:
            self._lines.append(line)
            if len(self._lines) > row + 1:
                break
        return self._lines[row + 1] if row + 1 < len(self._lines) else None


def read_csv(opened: Opened, format: str) -> Table:
    """A CSV or TSV file as a table of text, its rows still to be read."""
    separator = _separator(opened, format)
    header = _header(opened, separator)
    chunks = partial(_chunks, opened, separator, header)
    empty = pl.LazyFrame(schema=dict.fromkeys(header, pl.String))
    begins = RecordLines(opened, separator)
    return Table(opened.name, format, header, empty, opened, begins=begins, chunks=chunks)


def _separator(opened: Opened, format: str) -> str:
    """A CSV whose header has semicolons or tabs and no comma is what many spreadsheets write."""
    line = opened.head.split(b"\n", 1)[0]
    if format == "csv" and b"," not in line:
        sign = max(";", "\t", key=lambda sign: line.count(sign.encode()))
        if sign.encode() in line:
            return sign
    return SEPARATORS[format]


def _header(opened: Opened, separator: str) -> tuple[str, ...]:
    _, cells = next(_records(opened, separator), (1, []))
    names = tuple(cell.strip() for cell in cells)
    place = Place(opened.name, 1)
    if not any(names):
        raise InputError("begins with a blank line, expected a header", place)
    if len(names) > files.MAX_COLUMNS:
        raise InputError(f"has more than {files.MAX_COLUMNS:,} columns", place)
    if len(set(names)) < len(names):
        name = next(name for at, name in enumerate(names) if name in names[:at])
        what = f"column {shown(name)} appears twice" if name else "two columns have no name"
        raise InputError(f"{what} in the header", place)
    return names


def _chunks(
    opened: Opened, separator: str, header: tuple[str, ...], columns: Sequence[str]
) -> Iterator[pl.DataFrame]:
    """The rows, chunk by chunk: from the first uneven chunk on, record by record."""
    before = 0
    read = partial(_parse, separator=separator, header=header, columns=columns)
    try:
        for parsed in files.ahead(enumerate(files.chunks_of(opened, _record_end)), read):
            if parsed is None:
                yield from _one_by_one(opened, separator, header, columns, before)
                return
            records, rows = parsed
            if rows.height:
                yield rows.with_columns(pl.col(ROW) + before)
            before += records
    except UnicodeDecodeError:
        raise InputError(files.NOT_UTF8, Place(opened.name, files.bad_utf8_line(opened))) from None


def _parse(
    chunk: tuple[int, bytes], *, separator: str, header: tuple[str, ...], columns: Sequence[str]
) -> tuple[int, pl.DataFrame] | None:
    """The records of a chunk, their number and their rows; None where they are not even."""
    number, text = chunk
    if not text.isascii():
        text.decode()  # refuses what is not UTF-8
    marks, head = _marks(text, separator), separator.join("x" * len(header))
    if number:  # polars takes the number of cells from the first line, which may be blank here
        text = head.encode() + b"\n" + text
    options: Any = {"has_header": False, "infer_schema": False, "glob": False}
    with contextlib.suppress(pl.exceptions.PolarsError):
        frame = pl.read_csv(text, separator=separator, **options)
        # a longer record is an error, so the total is exact only if none is shorter
        if marks == (len(header) - 1) * (frame.height - (number > 0)):
            frame = frame[1:]
            frame.columns = list(header)
            return frame.height, _rows(frame, columns)
    return None


def _one_by_one(
    opened: Opened,
    separator: str,
    header: tuple[str, ...],
    columns: Sequence[str],
    before: int,
) -> Iterator[pl.DataFrame]:
    """The rows after some records, read with Python's csv; a record of other length is refused."""
    width = len(header)
    records = islice(_records(opened, separator, strict=True), before + 1, None)
    for first in count(before, AT_ONCE):
        some = []
        for line, cells in islice(records, AT_ONCE):
            if cells and len(cells) != width:
                what = f"has {plural(len(cells), 'cell')}, expected {width} as in the header"
                raise InputError(what, Place(opened.name, line))
            some.append(cells or [""] * width)
        if not some:
            return
        frame = pl.DataFrame(some, schema=dict.fromkeys(header, pl.String), orient="row")
        rows = _rows(frame, columns)
        if rows.height:
            yield rows.with_columns(pl.col(ROW) + first)


def _rows(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The trimmed cells of some columns and the number of each row, without blank rows."""
    rows = frame.with_columns(pl.all().str.strip_chars())
    blank = rows.select(pl.all_horizontal(pl.all().is_null() | (pl.all() == ""))).to_series()
    rows = rows[list(columns)].with_row_index(ROW)
    return rows.filter(~blank) if blank.any() else rows


def _records(
    opened: Opened, separator: str, *, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Records with the line on which each begins; blank lines count as one."""
    csv.field_size_limit(2 * files.MAX_LINE)
    reader = csv.reader(_lines(opened), delimiter=separator, strict=strict)
    begins = 1
    try:
        for cells in reader:
            yield begins, cells
            begins = reader.line_num + 1
    except csv.Error as error:
        is_open = str(error) == "unexpected end of data"
        problem = "a quote is never closed" if is_open else str(error)
        raise InputError(problem, Place(opened.name, begins)) from None
    except UnicodeDecodeError:
        raise InputError(files.NOT_UTF8, Place(opened.name, files.bad_utf8_line(opened))) from None


def _lines(opened: Opened) -> Iterator[str]:
    for chunk in files.chunks_of(opened):
        yield from io.TextIOWrapper(io.BytesIO(chunk), encoding="utf-8", newline="")


def _marks(text: bytes, separator: str) -> int | None:
    """The separators outside quotes; None where polars and Python's csv may read the text unlike.

    A quote stands anywhere but around a cell or doubled, or a carriage return ends no line.
    """
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
