"""Tables: CSV, TSV, JSONL, Parquet and QA4MRE XML become polars frames of text and numbers.

Text formats carry no types, so every cell of theirs is text; what a column means is decided
where it is used. A row knows its place through `ROW`, the number of the record in its file.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from abstain.errors import InputError, Place, UsageError, nearest, shown
from abstain.formats.files import (
    BLOCK,
    PARQUET,
    SNIFFED,
    Opened,
    bad_utf8_line,
    check_text,
    open_plain,
    whole,
)

if TYPE_CHECKING:
    import polars as pl

ROW = "__row"
UNTOLD = "(as judged)"
"""What is right where a log has a verdict but does not say: no answer is this text."""
FORMATS = ("csv", "tsv", "jsonl", "parquet", "qa4mre")
SEPARATORS = {"csv": ",", "tsv": "\t"}
ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xml": "qa4mre",
}
MAX_COLUMNS = 10_000
QA4MRE = re.compile(rb"<(test-set|output)\b")


@dataclass(frozen=True, slots=True)
class Table:
    """A table that was read: its name in messages, its format, its columns, its rows."""

    name: str
    format: str
    columns: tuple[str, ...]
    frame: pl.LazyFrame
    opened: Opened | None = None
    renamed: tuple[str, ...] = ()
    """Names that columns had before they were given the known ones."""
    lines: Sequence[int] | None = None
    """The line of each record, where the reader knows it."""
    run_id: tuple[str, int] | None = None
    """What the file itself calls its run, and the line that says so."""
    notes: tuple[str, ...] = ()
    """What a reader should know of the file before reading numbers."""
    cluster: str | None = None
    """The attribute whose values hang together, where the file itself says so."""
    verdicts: Literal["judge", "match"] | None = None
    """Who made the verdicts of a log: a judge, or a comparison of texts, which knows no refusal."""
    refusals: tuple[str, ...] = ()
    """Languages in which refusals are to be looked for in its responses."""
    parts: tuple[tuple[int, Table], ...] = ()
    """The tables that it was made of, each with its first row, where there are several."""
    begins: _Begins | None = field(default=None, repr=False)
    """Where the records of a separated file begin, looked up when somebody asks."""

    def place(self, row: int | None) -> Place:
        """Where a record stands: for text formats the line on which it begins."""
        if row is not None and self.parts:
            start, part = next(own for own in reversed(self.parts) if own[0] <= row)
            return part.place(row - start)
        if row is not None and self.lines is not None:
            return Place(self.name, self.lines[row])
        if row is None:
            return Place(self.name)
        if self.format == "jsonl":
            return Place(self.name, row + 1)
        if self.begins is not None:
            return Place(self.name, self.begins.line(row))
        return Place(self.name, row=row + 1)


class _Begins:
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


def read_table(path: str | Path | Opened, *, format: str | None = None) -> Table:
    """Read a table; its format is what is asked for, or what its bytes and its name say."""
    from abstain.formats.logs.registry import READERS, split_format

    name, picks = split_format(format) if format else ("", {})
    known = (*FORMATS, *READERS)
    if name and name not in known:
        near = nearest(name, known)
        hint = f"nearest: {near[0]}; " if near else ""
        raise UsageError(
            f"'{name}' is not a table format or a log's ({hint}there are {', '.join(known)})"
        )
    if languages := picks.pop("refusals", None):
        from abstain.refusals.detect import languages_of

        wanted = languages_of(languages)
        rest = ",".join(f"{key}={value}" for key, value in picks.items())
        plain = read_table(path, format=f"{name}:{rest}" if rest else name or None)
        return replace(plain, refusals=wanted)
    opened = path if isinstance(path, Opened) else open_plain(path)
    chosen = name or sniff(opened)
    if chosen in READERS:
        return READERS[chosen].read(opened, picks)
    if picks:
        raise UsageError(f"--from {chosen} has nothing to pick (got '{format}')")
    if chosen == "parquet":
        return _read_parquet(opened)
    if chosen == "qa4mre":
        from abstain.formats.qa4mre import read_qa4mre

        return read_qa4mre(opened)
    check_text(opened)
    if chosen == "jsonl":
        return _read_jsonl(opened)
    return _read_separated(opened, chosen)


def sniff(opened: Opened) -> str:
    """The format of an opened file: by its first bytes, then by its name.

    A comma, a semicolon or a tab separates the cells: whichever the first line has most of.
    """
    from abstain.formats.logs.registry import sniff_log

    head = opened.head()
    if head.startswith(PARQUET):
        return "parquet"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"<"):
        if format_of_name(opened.name) not in (None, "qa4mre") and not QA4MRE.search(head):
            raise InputError("looks like XML or HTML, expected a table", opened.name)
        return "qa4mre"
    if log := sniff_log(head):
        return log
    may_be_long = text.startswith(b"{") and len(head) == SNIFFED
    if may_be_long and (log := sniff_log(opened.head(BLOCK))):
        return log
    if text.startswith(b"{"):
        return "jsonl"
    if text.startswith(b"["):
        raise InputError(
            "is a JSON array, expected JSONL (one object a line) or another table", opened.name
        )
    if by_name := format_of_name(opened.name):
        if by_name == "parquet":
            raise InputError("is not a Parquet file (it does not begin with PAR1)", opened.name)
        if by_name == "jsonl" and text:
            raise InputError("line 1 is not a JSON object, expected JSONL", opened.name)
        return by_name
    line = text.split(b"\n", 1)[0]
    return "tsv" if line.count(b"\t") > line.count(b",") else "csv"


def format_of_name(name: str) -> str | None:
    """The format that a file's name says, past an ending of compression."""
    endings = [e.lower() for e in Path(name).suffixes]
    while endings and endings[-1] in (".gz", ".zst"):
        endings.pop()
    return ENDINGS.get(endings[-1]) if endings else None


def write_table(frame: pl.DataFrame, path: str | Path, *, format: str | None = None) -> None:
    """Write a table in the format that its name says, whole or not at all."""
    chosen = format or format_of_name(str(path))
    if chosen not in FORMATS:
        raise UsageError(
            f"the name '{path}' says no table format (expected an ending of {', '.join(ENDINGS)}, "
            "perhaps with .gz or .zst)"
        )
    with whole(path) as draft:
        if chosen == "parquet":
            frame.write_parquet(draft)
        elif chosen == "jsonl":
            frame.write_ndjson(draft)
        elif chosen == "qa4mre":
            from abstain.formats.qa4mre_write import write_qa4mre

            write_qa4mre(frame, draft)
        else:
            _refuse_separators(frame, str(path), chosen)
            flat = frame.with_columns(_joined_lists(frame))
            nested = [name for name, dtype in flat.schema.items() if dtype.is_nested()]
            if nested:
                raise InputError(
                    f"column {shown(nested[0])} holds {flat.schema[nested[0]]}, "
                    f"which {chosen.upper()} cannot",
                    str(path),
                )
            flat.write_csv(draft, separator=SEPARATORS[chosen])


def _refuse_separators(frame: pl.DataFrame, name: str, format: str) -> None:
    """An accepted answer with a | in it would come back from such a cell as two."""
    import polars as pl

    for column in ("correct", "options"):
        if isinstance(frame.schema.get(column), pl.List):
            texts = frame[column].cast(pl.List(pl.String)).explode().drop_nulls()
            split = texts.filter(texts.str.contains("|", literal=True))
            if len(split):
                raise InputError(
                    f"column '{column}' holds {shown(split[0])}, which a cell of "
                    f"{format.upper()} would split at the |, expected .jsonl or .parquet",
                    name,
                )


def _joined_lists(frame: pl.DataFrame) -> list[pl.Expr]:
    import polars as pl

    lists = [
        name
        for name, dtype in frame.schema.items()
        if isinstance(dtype, pl.List) and not dtype.inner.is_nested()
    ]
    return [pl.col(name).cast(pl.List(pl.String)).list.join("|") for name in lists]


# --------------------------------------------------------------------------------- parquet


def _read_parquet(opened: Opened) -> Table:
    import polars as pl

    source = opened.path if opened.path is not None else io.BytesIO(opened.data or b"")
    try:
        frame = pl.scan_parquet(source, row_index_name=ROW, glob=False)
        columns = tuple(name for name in frame.collect_schema().names() if name != ROW)
        empty = frame.select(pl.len()).collect().item() == 0
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(f"is not readable Parquet: {first_line(error)}", opened.name) from None
    if empty:
        raise InputError("has no rows", opened.name)
    return Table(opened.name, "parquet", columns, frame, opened)


# ----------------------------------------------------------------------------------- jsonl


def _read_jsonl(opened: Opened) -> Table:
    import msgspec
    import polars as pl

    decode = msgspec.json.Decoder().decode
    columns: dict[str, list[Any]] = {}
    rows: list[int] = []
    with opened.stream() as file:
        for number, line in enumerate(file):
            if number == 0:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if not line.strip():
                continue
            try:
                record = decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                reason = str(error).splitlines()[0]
                raise InputError(f"is not JSON: {reason}", Place(opened.name, number + 1)) from None
            if not isinstance(record, dict):
                raise InputError(
                    f"expected a JSON object, got {type(record).__name__}",
                    Place(opened.name, number + 1),
                )
            if record.keys() != columns.keys():
                for key in record:  # in the order of the file, not of a set
                    columns.setdefault(key, [None] * len(rows))
                for key in columns.keys() - record.keys():
                    record[key] = None
                if len(columns) > MAX_COLUMNS:
                    raise InputError(
                        f"has more than {MAX_COLUMNS:,} different keys",
                        Place(opened.name, number + 1),
                    )
            rows.append(number)
            for key, value in record.items():
                columns[key].append(value)
    if not rows:
        raise InputError("has no rows", opened.name)
    if ROW in columns:
        raise InputError(f"a column may not be called {ROW}", opened.name)
    series = [json_column(name, values) for name, values in columns.items()]
    frame = pl.DataFrame([*series, pl.Series(ROW, rows, dtype=pl.UInt32)])
    return Table(opened.name, "jsonl", tuple(columns), frame.lazy(), opened)


def json_column(name: str, values: list[Any]) -> pl.Series:
    """One type for a column of JSON values: numbers stay numbers, lists of scalars lists."""
    import polars as pl

    kinds = {type(value) for value in values} - {type(None)}
    if kinds <= {bool}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if kinds == {int} and all(v is None or -(2**63) <= v < 2**63 for v in values):
        return pl.Series(name, values, dtype=pl.Int64)
    if kinds == {float}:
        return pl.Series(name, values, dtype=pl.Float64)
    if list in kinds:
        lists = [v if v is None or isinstance(v, list) else [v] for v in values]
        texts = [None if v is None else [json_text(item) for item in v] for v in lists]
        return pl.Series(name, texts, dtype=pl.List(pl.String))
    return pl.Series(name, [None if v is None else json_text(v) for v in values], dtype=pl.String)


def json_text(value: Any) -> str:
    """A JSON value as the text of a cell."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)  # 2.0 beside a text is the 2 that it is in a column of numbers
    import msgspec

    return msgspec.json.encode(value).decode()


# ------------------------------------------------------------------------------- separated


def _read_separated(opened: Opened, format: str) -> Table:
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
    begins = _Begins(opened, separator)
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
            raise InputError("is not UTF-8 text", Place(opened.name, line)) from None
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
        raise InputError("is not UTF-8 text", Place(opened.name, line))
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


def first_line(error: BaseException) -> str:
    """The first line of what a library said, short enough for one line of ours."""
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
