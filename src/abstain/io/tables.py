"""Tables: CSV, TSV, JSONL, Parquet and QA4MRE XML become polars frames of text and numbers.

Text formats carry no types, so every cell of theirs is text; what a column means is decided
where it is used. A row knows its place through `ROW`, the number of the record in its file.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec
import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import InputError, Place, UsageError, check_name, option, shown
from abstain.io import files
from abstain.io.files import Opened, read_errors

if TYPE_CHECKING:
    import narwhals as nw

    from abstain.io.csv_files import CsvFile


def exact(name: str) -> str:
    """The pattern by which polars finds the column of exactly this name."""
    is_pattern = name == "*" or (name.startswith("^") and name.endswith("$"))
    return f"^{re.escape(name)}$" if is_pattern else name


def col(name: str) -> pl.Expr:
    return pl.col(exact(name))


def cells(frame: pl.DataFrame, name: str) -> pl.Series:
    """The values of a column, without its name, which polars may take for a pattern."""
    return frame[name].alias("")


def column_of(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """A column of any engine's frame, whatever its name."""
    import narwhals as nw

    return nw.col(exact(name) if frame.implementation.is_polars() else name)


ROW = "__row"
AS_JUDGED = "(as judged)"
"""The right answer where a log has a verdict only: no answer is this text."""
FORMATS = ("csv", "tsv", "jsonl", "json", "parquet", "qa4mre")
CELL = 8
"""The least bytes that a cell of a Parquet file takes in memory."""
SEPARATORS = {"csv": ",", "tsv": "\t"}
Plan: TypeAlias = Literal["samples", "epochs"] | None
"""What a log says of what it set out to do: which samples in which epochs, or the epochs alone."""
Chunks = Callable[[Sequence[str]], "Iterator[pl.DataFrame]"]
"""Yields the rows of some columns (and `ROW`) from the beginning, in chunks that fit in memory."""


class Table(Struct, frozen=True):
    name: str
    format: str
    columns: tuple[str, ...]
    frame: pl.LazyFrame
    opened: Opened | None = None
    renamed: Mapping[str, str] = {}
    """Names that columns have in the file, each with the known name that it got."""
    lines: Sequence[int] | None = None
    """The line of each record, where the reader knows it."""
    run_id: tuple[str, int] | None = None
    """What the file itself calls its run, and the line that says so."""
    notes: tuple[str, ...] = ()
    """What a reader should know of the file before reading numbers."""
    facts: tuple[tuple[str, str, str], ...] = ()
    """What a log says of itself: group (task, settings, dataset, time), name and value."""
    plan: Plan = None
    cluster: str | None = None
    """The attribute whose values are clustered, where the file itself says so."""
    verdicts: Literal["judge", "match"] | None = None
    """Who made the verdicts of a log: a judge, or a comparison of texts, which knows no refusal."""
    refusals: tuple[str, ...] = ()
    """Languages in which refusals are to be looked for in its responses, and `/patterns/`."""
    parts: tuple[tuple[int, Table], ...] = ()
    """The tables that it was made of, each with its first row, where there are several."""
    csv_file: CsvFile | None = None
    """The lines of the records of a CSV file, read when needed."""
    chunks: Chunks | None = None
    """Reads the rows, where the file is too large to be held: then `frame` has only the columns."""

    def __post_init__(self) -> None:
        if ROW in self.columns:
            raise InputError(f"a column may not be called {ROW}", self.name)
        if len(self.columns) > files.MAX_COLUMNS:
            raise InputError(f"has more than {files.MAX_COLUMNS:,} columns", self.name)

    def in_file(self, column: str) -> str:
        """What the file calls a column, for messages to those who know the file."""
        return next((name for name, known in self.renamed.items() if known == column), column)

    @property
    def header(self) -> Place:
        return Place(self.name, 1 if self.format in ("csv", "tsv") else None)

    def place(self, row: int | None) -> Place:
        if row is None:
            return Place(self.name)
        if self.parts:
            start, part = next(part for part in reversed(self.parts) if part[0] <= row)
            return part.place(row - start)
        if self.lines is not None:
            return Place(self.name, self.lines[row])
        if self.format == "jsonl":
            return Place(self.name, row + 1)
        if self.csv_file is not None:
            return Place(self.name, self.csv_file.line(row))
        return Place(self.name, row=row + 1)


def read_table(
    path: str | os.PathLike[str] | Opened,
    *,
    format: str | None = None,
    pick: Mapping[str, str] | None = None,
    in_chunks: bool = False,
) -> Table:
    """Read a table; `in_chunks` defers reading its rows, `pick` selects a part of a tool's log."""
    opened = path if isinstance(path, Opened) else files.open_file(path)
    with read_errors(opened.name):
        if not opened.head:
            raise InputError("is empty, expected a header and rows", opened.name)
        files.refuse_binary(opened)
        chosen = format or sniff(opened)
        if chosen not in FORMATS:
            from abstain.io.readers import reader_named

            reader = reader_named(chosen)
            for name in pick or {}:
                check_name(f"pick of {chosen}", name, reader.picks)
            return reader.read(opened, pick or {})
        if pick:
            raise UsageError(f"{option('pick')} is for tools' logs: {chosen} has nothing to pick")
        if chosen == "parquet":
            return _read_parquet(opened)
        if chosen == "qa4mre":
            from abstain.io.qa4mre import read_qa4mre

            return read_qa4mre(opened)
        if chosen in SEPARATORS:
            from abstain.io.csv_files import read_csv

            table = read_csv(opened, chosen)
        else:
            from abstain.io.json_files import read_array, read_jsonl

            table = read_jsonl(opened) if chosen == "jsonl" else read_array(opened)
        if table.chunks is None or in_chunks:
            return table
        frame = _hold(table.chunks(table.columns))
        if frame is None:
            raise InputError("has a header but no rows", opened.name)
        return replace(table, frame=frame, chunks=None)


LARGE = 1 << 20
"""Rows from which on columns of few values are dictionary-encoded."""
FEW = 16
"""A column has few values where each appears so many times on average."""


def _hold(chunks: Iterator[pl.DataFrame]) -> pl.LazyFrame | None:
    """The rows of all chunks; of many rows, columns of few values are dictionary-encoded."""
    parts: list[pl.DataFrame] = []
    few: dict[str, pl.Categorical] = {}
    rows = 0

    def encoded(chunk: pl.DataFrame) -> pl.DataFrame:
        columns = (chunk[name].cast(pl.String).cast(kind) for name, kind in few.items())
        return chunk.with_columns(*columns)

    for chunk in chunks:
        is_large, rows = rows > LARGE, rows + chunk.height
        parts.append(encoded(chunk))
        if not is_large and rows > LARGE:
            texts = pl.concat(parts, how="vertical_relaxed").select(pl.selectors.string())
            names = [column.name for column in texts if column.n_unique() * FEW <= rows]
            few |= {name: pl.Categorical(pl.Categories.random()) for name in names}
            parts = list(map(encoded, parts))
    if not parts:
        return None
    frame = pl.concat(parts, how="vertical_relaxed").lazy()  # some may hold numbers as text
    return frame.with_columns(col(name).cast(pl.String) for name in few) if few else frame


def sniff(opened: Opened) -> str:
    """The format of an opened file: by its first bytes, then by its name."""
    head = opened.head
    text = head.removeprefix(files.BOM).lstrip()
    if head.startswith(files.PARQUET):
        return "parquet"
    if text.startswith(b"<"):
        return "qa4mre"
    if text.startswith((b"{", b"PK")):
        from abstain.io.readers import sniff_log

        if log := sniff_log(opened):
            return log
    if text.startswith((b"{", b"[")):
        return "jsonl" if text.startswith(b"{") else "json"
    line = text.split(b"\n", 1)[0]
    by_cells = "tsv" if line.count(b"\t") > line.count(b",") else "csv"
    return format_of_name(opened.name) or by_cells


def format_of_name(name: str) -> str | None:
    return files.ENDINGS.get(files.ending_of(name))


def write_table(frame: pl.DataFrame, path: str | Path, *, format: str | None = None) -> None:
    from abstain.io.output import whole

    label, chosen = str(path), format or format_of_name(str(path))
    if chosen not in FORMATS:
        expected = f"expected an ending of {', '.join(files.ENDINGS)}, also with .gz or .zst"
        raise UsageError(f"the name '{path}' does not tell the table format ({expected})")
    with files.write_errors(label), whole(path) as draft:
        if chosen == "qa4mre":
            from abstain.io.qa4mre import write_qa4mre

            write_qa4mre(frame, draft, label)
        elif chosen == "parquet":
            frame.write_parquet(draft)
        elif chosen in SEPARATORS:
            _flat(frame, label, chosen).write_csv(draft, separator=SEPARATORS[chosen])
        else:
            _refuse_types(frame, label, chosen)
            (frame.write_ndjson if chosen == "jsonl" else frame.write_json)(draft)


def _refuse_types(frame: pl.DataFrame, name: str, format: str) -> None:
    for column, dtype in frame.schema.items():
        if dtype in (pl.Binary, pl.Object) or (format in SEPARATORS and dtype.is_nested()):
            what = f"column {shown(column)} holds {dtype}, which {format.upper()} cannot store"
            raise InputError(what, name)


def _flat(frame: pl.DataFrame, name: str, format: str) -> pl.DataFrame:
    for column in ("correct", "options"):
        if isinstance(frame.schema.get(column), pl.List):
            texts = frame[column].cast(pl.List(pl.String)).explode().drop_nulls()
            split = texts.filter(texts.str.contains("|", literal=True))
            if len(split):
                what = f"column '{column}' holds {shown(split[0])}, which would be split at the |"
                raise InputError(f"{what} in {format.upper()}, expected .jsonl or .parquet", name)
    if isinstance(frame.schema.get("option_texts"), pl.List):
        # JSON, since free text may hold any separator
        cells = [msgspec.json.encode(texts).decode() for texts in frame["option_texts"].to_list()]
        frame = frame.with_columns(pl.Series("option_texts", cells))
    flat = frame.with_columns(
        col(column).cast(pl.List(pl.String)).list.join("|")
        for column, dtype in frame.schema.items()
        if isinstance(dtype, pl.List) and not dtype.inner.is_nested()
    )
    _refuse_types(flat, name, format)
    return flat


def _read_parquet(opened: Opened) -> Table:
    """Read a Parquet file; the bound on the ratio of compression applies to its cells."""
    source = opened.plain_path or io.BytesIO(opened.read())
    frame = pl.scan_parquet(source, row_index_name=ROW, glob=False)
    columns = tuple(name for name in frame.collect_schema().names() if name != ROW)
    rows = frame.select(pl.len()).collect().item()
    if not rows:
        raise InputError("has no rows", opened.name)
    size = len(source.getbuffer()) if isinstance(source, io.BytesIO) else source.stat().st_size
    limit = files.byte_limit(packed=size)
    if rows * len(columns) * CELL > limit:
        raise files.too_large(opened.name, limit)
    return Table(opened.name, "parquet", columns, frame, opened)


def json_column(name: str, values: Sequence[Any], kinds: Set[type[Any]] | None = None) -> pl.Series:
    """A series of one type for JSON values, or for all `kinds`: numbers and lists stay such."""
    return _json_series(values, kinds).alias(name)  # polars may take the name for a pattern


PLAIN_TYPES: Mapping[Any, Any] = {bool: pl.Boolean, int: pl.Int64, float: pl.Float64}


def _json_series(values: Sequence[Any], kinds: Set[type[Any]] | None) -> pl.Series:
    kinds = (set(map(type, values)) if kinds is None else kinds) - {type(None)}
    kind = next(iter(kinds), bool)
    if len(kinds) <= 1 and kind in PLAIN_TYPES:
        with contextlib.suppress(TypeError, OverflowError):  # those that need more than 64 bits
            return pl.Series("", values, dtype=PLAIN_TYPES[kind])
    if kinds == {str}:
        return pl.Series("", values, dtype=pl.String).str.strip_chars()
    if list in kinds:
        lists = [v if v is None or isinstance(v, list) else [v] for v in values]
        texts = [None if v is None else [json_text(item) for item in v] for v in lists]
        return pl.Series("", texts, dtype=pl.List(pl.String))
    return pl.Series("", [None if v is None else json_text(v) for v in values], dtype=pl.String)


def json_text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**16:
        value = int(value)  # 2.0 beside a text is the 2 that it is in a column of numbers
    return msgspec.json.encode(value).decode()
