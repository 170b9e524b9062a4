"""CSV and TSV: quick where every record has the header's cells, exactly wherever one has not."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from abstain.errors import InputError, Place, shown
from abstain.formats.files import NOT_UTF8, Opened, bad_utf8_line
from abstain.formats.tables import ROW, SEPARATORS, Table, first_line

if TYPE_CHECKING:
    import polars as pl


class Begins:
    """The line on which each record of a separated file begins, read as far as was asked."""

    def __init__(self, opened: Opened, separator: str) -> None:
        self._records = _csv_records(opened, separator)
        self._lines: list[int] = []

    def line(self, row: int) -> int | None:
        """The line of a record, the header not counted."""
        for line, _ in self._records:
            self._lines.append(line)
            if len(self._lines) > row + 1:
                break
        return self._lines[row + 1] if row + 1 < len(self._lines) else None


def read_separated(opened: Opened, format: str) -> Table:
    """A CSV or TSV file as a table of text."""
    import polars as pl

    separator = _sniff_separator(opened, format)
    header = _header(opened, separator)
    if _is_rectangular(opened, separator, len(header)):
        raw = _read_fast(opened, separator, header)
    else:
        raw = _read_exactly(opened, separator, header)
    frame = (
        raw.lazy()
        .slice(1)
        .with_columns(pl.all().str.strip_chars())
        .with_row_index(ROW)
        .filter(~pl.all_horizontal(pl.col(header).is_null() | (pl.col(header) == "")))
    )
    rows = frame.collect()
    if rows.is_empty():
        raise InputError("has a header but no rows", opened.name)
    begins = Begins(opened, separator)
    return Table(opened.name, format, header, rows.lazy(), opened, begins=begins)


def _read_fast(opened: Opened, separator: str, header: tuple[str, ...]) -> pl.DataFrame:
    import polars as pl

    try:
        raw = pl.read_csv(
            opened.source,
            separator=separator,
            infer_schema=False,
            has_header=False,
            glob=False,
        )
    except pl.exceptions.PolarsError as error:
        line = bad_utf8_line(opened)
        if line is not None:
            raise InputError(NOT_UTF8, Place(opened.name, line)) from None
        raise InputError(f"is not a readable table: {first_line(error)}", opened.name) from None
    if raw.width != len(header):
        raise InputError("is not a readable table: its lines do not end as lines do", opened.name)
    raw.columns = list(header)
    return raw


def _sniff_separator(opened: Opened, format: str) -> str:
    """A CSV whose header has semicolons and no comma is what spreadsheets write in Europe."""
    line = opened.head().split(b"\n", 1)[0]
    if format == "csv" and b"," not in line and b";" in line:
        return ";"
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
            what = f"column {shown(name)} stands twice" if name else "two columns have no name"
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


def _read_exactly(opened: Opened, separator: str, header: tuple[str, ...]) -> pl.DataFrame:
    """Read record by record: a stray quote is text, an uneven row is refused with its line."""
    import polars as pl

    line = bad_utf8_line(opened)
    if line is not None:
        raise InputError(NOT_UTF8, Place(opened.name, line))
    width = len(header)
    rows: list[list[str]] = []
    for line, cells in _csv_records(opened, separator, strict=True):
        if cells and len(cells) != width:
            counted = "1 cell" if len(cells) == 1 else f"{len(cells):,} cells"
            raise InputError(
                f"has {counted}, expected {width} as in the header", Place(opened.name, line)
            )
        rows.append(cells or [""] * width)
    return pl.DataFrame(rows, schema=dict.fromkeys(header, pl.String), orient="row")


def _is_rectangular(opened: Opened, separator: str, width: int) -> bool:
    """Whether every record has the header's number of separators outside quotes.

    A quote toggles between inside and outside; where one stands anywhere but around a cell,
    the answer is no and the records are read exactly.
    """
    with opened.stream() as file:
        rest = b""
        if file.read(3) != b"\xef\xbb\xbf":
            file.seek(0)
        while block := file.read(4 << 20):
            rest = _first_uneven(rest + block, separator, width)
            if len(rest) > 16 << 20:
                return False
        return not rest or not _first_uneven(rest + b"\n", separator, width)


def _first_uneven(block: bytes, separator: str, width: int) -> bytes:
    """What is left of a block after its whole records; all of it from a bad record on."""
    import numpy as np

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
    import numpy as np

    edges = np.frombuffer(f'{separator}\n\r"'.encode(), np.uint8)
    opening, closing = at[::2], at[1::2]
    before = cells[opening[opening > 0] - 1]
    after = cells[closing[closing < len(cells) - 1] + 1]
    return bool(np.isin(before, edges).all() and np.isin(after, edges).all())
