"""CSV and TSV: quick where every record has the header's cells, exactly wherever one has not."""

from __future__ import annotations

import codecs
import csv
import io
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count, islice
from typing import Any

import numpy as np
import polars as pl

from abstain.errors import InputError, Place, shown
from abstain.io.files import (
    BOM,
    NOT_UTF8,
    Opened,
    ahead,
    bad_utf8_line,
    check_text,
    chunks_of,
    line_end,
    text_blocks,
)
from abstain.io.tables import ROW, SEPARATORS, Table, first_line

LOOKED_AT = 4 << 20
"""Bytes that are looked at at a time to see whether records are even."""

AT_ONCE = 1 << 13
"""Records that are read exactly before they become a chunk."""


class Begins:
    """The line on which each record of a separated file begins, read as far as was asked."""

    def __init__(self, opened: Opened, separator: str) -> None:
        self._records = _csv_records(opened, separator)
        self._lines = array("Q")

    def line(self, row: int) -> int | None:
        """The line of a record, the header not counted."""
        for line, _ in self._records:
            self._lines.append(line)
            if len(self._lines) > row + 1:
                break
        return self._lines[row + 1] if row + 1 < len(self._lines) else None


def read_separated(opened: Opened, format: str) -> Table:
    """A CSV or TSV file as a table of text: checked as a whole, its rows still to be read."""
    separator = _sniff_separator(opened, format)
    try:
        header = _header(opened, separator)
    except InputError:
        check_text(opened)  # what is no text has no header to speak of
        raise
    read = partial(_fast_chunks, opened, separator, header)
    if not _is_rectangular(_utf8_blocks(opened), separator, len(header)):
        read = partial(_exact_chunks, opened, separator, header)
        for _ in _exact_records(opened, separator, len(header)):
            pass  # a record that is not what it should be is refused
    empty = pl.LazyFrame(schema=dict.fromkeys(header, pl.String))
    begins = Begins(opened, separator)
    return Table(opened.name, format, header, empty, opened, begins=begins, chunks=read)


def _rows(
    cells: Callable[[Sequence[str]], pl.DataFrame], header: Sequence[str], columns: Sequence[str]
) -> tuple[int, pl.DataFrame]:
    """How many records there are, and their trimmed cells with the number of each.

    ``cells`` gives the columns that it is asked for. Rows with nothing in any are left out.
    """
    trimmed = pl.all().str.strip_chars()
    rows = cells(columns).with_columns(trimmed).with_row_index(ROW)
    blank = rows.select(_is_blank()).to_series()
    if not blank.any():
        return rows.height, rows
    if len(columns) < len(header):  # perhaps there is something in others
        blank = cells(header).with_columns(trimmed).select(_is_blank()).to_series()
    return rows.height, rows.filter(~blank)


def _is_blank() -> pl.Expr:
    cells = pl.exclude(ROW)
    return pl.all_horizontal(cells.is_null() | (cells == ""))


def _sniff_separator(opened: Opened, format: str) -> str:
    """A CSV whose header has semicolons or tabs and no comma is what many spreadsheets write."""
    line = opened.head().split(b"\n", 1)[0]
    if format == "csv" and b"," not in line:
        found = max(";", "\t", key=lambda sign: line.count(sign.encode()))
        if found.encode() in line:
            return found
    return SEPARATORS[format]


def _header(opened: Opened, separator: str) -> tuple[str, ...]:
    try:
        _, cells = next(_csv_records(opened, separator))
    except StopIteration:
        raise InputError("is empty, expected a header and rows", opened.name) from None
    names = tuple(cell.strip() for cell in cells)
    if not any(names):
        raise InputError("begins with a blank line, expected a header", Place(opened.name, 1))
    seen: set[str] = set()
    for name in names:
        if name in seen:
            what = f"column {shown(name)} appears twice" if name else "two columns have no name"
            raise InputError(f"{what} in the header", Place(opened.name, 1))
        seen.add(name)
    if ROW in seen:
        raise InputError(f"a column may not be called {ROW}", Place(opened.name, 1))
    return names


def _csv_records(
    opened: Opened, separator: str, *, strict: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Records with the line on which each begins, slowly and exactly; blank lines count as one."""
    csv.field_size_limit(sys.maxsize)
    with opened.stream() as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
        reader = csv.reader(text, delimiter=separator, strict=strict)
        begins = 1
        try:
            for cells in reader:
                yield begins, cells
                begins = reader.line_num + 1
        except csv.Error as error:
            said = str(error)
            what = "a quote is never closed" if said == "unexpected end of data" else said
            raise InputError(what, Place(opened.name, begins)) from None


def _exact_records(opened: Opened, separator: str, width: int) -> Iterator[list[str]]:
    for line, cells in _csv_records(opened, separator, strict=True):
        if cells and len(cells) != width:
            counted = "1 cell" if len(cells) == 1 else f"{len(cells):,} cells"
            raise InputError(
                f"has {counted}, expected {width} as in the header", Place(opened.name, line)
            )
        yield cells or [""] * width


def _is_rectangular(blocks: Iterable[bytes], separator: str, width: int) -> bool:
    """Whether every record has the header's number of separators outside quotes.

    A quote toggles between inside and outside; where one stands anywhere but around a cell,
    the answer is no and the records are read exactly. All blocks are taken, whatever is found.
    """
    rest, even = b"", True
    for number, block in enumerate(blocks):
        block = block if number else block.removeprefix(BOM)
        for start in range(0, len(block), LOOKED_AT):
            if even:
                rest = _first_uneven(rest + block[start : start + LOOKED_AT], separator, width)
                even = len(rest) <= 16 << 20
    return even and (not rest or not _first_uneven(rest + b"\n", separator, width))


def _first_uneven(block: bytes, separator: str, width: int) -> bytes:
    """What is left of a block after its whole records; all of it from a bad record on."""
    cells = np.frombuffer(block, np.uint8)
    ends = cells == ord("\n")
    marks = cells == ord(separator)
    quotes = cells == ord('"')
    outside = None
    if quotes.any():
        if not _quotes_enclose(cells, np.flatnonzero(quotes), separator):
            return block
        outside = np.cumsum(quotes, dtype=np.uint32) % 2 == 0
        ends &= outside
        marks &= outside
    stops = np.flatnonzero(ends)
    if not len(stops):
        return block
    if b"\r" in block:  # one that ends no line is read as a line's end by some readers only
        lone = (cells[: stops[-1]] == ord("\r")) & (cells[1 : stops[-1] + 1] != ord("\n"))
        if (lone if outside is None else lone & outside[: stops[-1]]).any():
            return block
    cuts = np.flatnonzero(marks[: stops[-1]])
    starts = np.concatenate(([0], stops[:-1] + 1))
    filled = stops - starts > 1
    if not filled.all():  # blank lines, perhaps with a carriage return, are nobody's record
        filled |= (stops - starts == 1) & (cells[starts] != ord("\r"))
        starts, stops = starts[filled], stops[filled]
    if len(cuts) != len(stops) * (width - 1):
        return block
    if width > 1 and len(stops):
        by_record = cuts.reshape(len(stops), width - 1)
        if (by_record[:, 0] < starts).any() or (by_record[:, -1] > stops).any():
            return block
    return block[int(np.flatnonzero(ends)[-1]) + 1 :]


def _quotes_enclose(cells: Any, at: Any, separator: str) -> bool:
    """Whether quotes open at the beginning of a cell and close at its end, or are doubled."""
    edges = np.frombuffer(f'{separator}\n\r"'.encode(), np.uint8)
    opening, closing = at[::2], at[1::2]
    before = cells[opening[opening > 0] - 1]
    after = cells[closing[closing < len(cells) - 1] + 1]
    return bool(np.isin(before, edges).all() and np.isin(after, edges).all())


def _utf8_blocks(opened: Opened) -> Iterator[bytes]:
    """The bytes of a file, which is refused at the end if it is not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    good = True
    for block in text_blocks(opened):
        if good and not (block.isascii() and not decoder.getstate()[0]):
            try:
                decoder.decode(block)
            except UnicodeDecodeError:
                good = False
        yield block
    if not good or decoder.getstate()[0]:
        raise InputError(NOT_UTF8, Place(opened.name, bad_utf8_line(opened)))


def _fast_chunks(
    opened: Opened, separator: str, header: tuple[str, ...], columns: Sequence[str]
) -> Iterator[pl.DataFrame]:
    """The rows of a file whose every record has the header's cells."""
    # polars takes the number of cells from the first line, which may be blank in a chunk
    heading = separator.join("x" * len(header)).encode() + b"\n"

    def cells(text: bytes, wanted: Sequence[str]) -> pl.DataFrame:
        places = sorted(header.index(column) for column in wanted)
        raw = pl.read_csv(
            text,
            separator=separator,
            infer_schema=False,
            has_header=False,
            columns=places,
            glob=False,
        )[1:]
        raw.columns = [header[place] for place in places]
        return raw

    def rows(chunk: tuple[int, bytes]) -> tuple[int, pl.DataFrame]:
        number, text = chunk
        text = heading + text if number else text.removeprefix(BOM)
        return _rows(partial(cells, text), header, columns)

    before = 0
    try:
        chunks = enumerate(chunks_of(text_blocks(opened), _record_end))
        for records, some in ahead(chunks, rows):
            if some.height:
                yield some.with_columns(pl.col(ROW) + before)
            before += records
    except pl.exceptions.PolarsError as error:
        raise InputError(f"is not a readable table: {first_line(error)}", opened.name) from None


def _record_end(text: bytes) -> int:
    """Where the last whole record ends: a line end inside quotes ends none."""
    if b'"' not in text:
        return line_end(text)
    cells = np.frombuffer(text, np.uint8)
    stops = np.flatnonzero(cells == ord("\n"))
    quotes = np.flatnonzero(cells == ord('"'))
    ends = stops[np.searchsorted(quotes, stops) % 2 == 0]
    return int(ends[-1]) + 1 if len(ends) else 0


def _exact_chunks(
    opened: Opened, separator: str, header: tuple[str, ...], columns: Sequence[str]
) -> Iterator[pl.DataFrame]:
    """The rows of a file that is read record by record."""
    records = _exact_records(opened, separator, len(header))
    next(records)
    for before in count(0, AT_ONCE):
        if not (some := list(islice(records, AT_ONCE))):
            return
        _, rows = _rows(partial(_columns, some, header), header, columns)
        if rows.height:
            yield rows.with_columns(pl.col(ROW) + before)


def _columns(
    records: list[list[str]], header: tuple[str, ...], columns: Sequence[str]
) -> pl.DataFrame:
    places = {column: header.index(column) for column in columns}
    cells = {column: [record[at] for record in records] for column, at in places.items()}
    return pl.DataFrame(cells, schema=dict.fromkeys(columns, pl.String))
