"""Tables: CSV, TSV, JSONL, Parquet and QA4MRE XML become polars frames of text and numbers.

Text formats carry no types, so every cell of theirs is text; what a column means is decided
where it is used. A row knows its place through `ROW`, the number of the record in its file.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec
import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import InputError, Place, UsageError, nearest, option, shown
from abstain.io.boundary import reading, writing
from abstain.io.files import (
    BLOCK,
    BOM,
    PARQUET,
    SNIFFED,
    Opened,
    open_plain,
    open_streamed,
    refuse_utf16,
    refuse_workbook,
    whole,
)
from abstain.io.holding import held
from abstain.io.names import col

if TYPE_CHECKING:
    from abstain.io.separated import Begins

ROW = "__row"
UNTOLD = "(as judged)"
"""What is right where a log has a verdict but does not say: no answer is this text."""
FORMATS = ("csv", "tsv", "jsonl", "json", "parquet", "qa4mre")
TEXTS = ("csv", "tsv", "jsonl")
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
QA4MRE = re.compile(rb"<(test-set|output)\b")

Plan: TypeAlias = Literal["samples", "epochs"] | None
"""What a log says of what it set out to do: which samples in which epochs, or the epochs alone."""
Chunks = Callable[[Sequence[str]], "Iterator[pl.DataFrame]"]
"""The rows of some columns (and `ROW`), from the beginning, so many at a time as fit in memory."""


FEW_RUNS, MAX_RUNS = 1_000, 1_000_000
"""Runs of a part of a table that need no counting, and those that a table may have."""


class Table(Struct, frozen=True):
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
    facts: tuple[tuple[str, str, str], ...] = ()
    """What a log says of itself: group (task, settings, dataset, time), name and value."""
    plan: Plan = None
    cluster: str | None = None
    """The attribute whose values are clustered, where the file itself says so."""
    verdicts: Literal["judge", "match"] | None = None
    """Who made the verdicts of a log: a judge, or a comparison of texts, which knows no refusal."""
    refusals: tuple[str, ...] = ()
    """Languages in which refusals are to be looked for in its responses."""
    parts: tuple[tuple[int, Table], ...] = ()
    """The tables that it was made of, each with its first row, where there are several."""
    begins: Begins | None = None
    """Where the records of a separated file begin, looked up when somebody asks."""
    chunks: Chunks | None = None
    """Reads the rows, where the file is too large to be held: then `frame` has only the columns."""

    def place(self, row: int | None) -> Place:
        """Where a record stands: for text formats the line on which it begins."""
        if row is None:
            return Place(self.name)
        if self.parts:
            start, part = next(own for own in reversed(self.parts) if own[0] <= row)
            return part.place(row - start)
        if self.lines is not None:
            return Place(self.name, self.lines[row])
        if self.format == "jsonl":
            return Place(self.name, row + 1)
        if self.begins is not None:
            return Place(self.name, self.begins.line(row))
        return Place(self.name, row=row + 1)


def read_table(
    path: str | Path | Opened, *, format: str | None = None, pick: Mapping[str, str] | None = None
) -> Table:
    """Read a table; its format is what is asked for, or what its bytes and its name say.

    `pick` says what to pick of a tool's log.
    """
    from abstain.io.readers import READERS

    name, picks = format or "", dict(pick or {})
    if name and name not in FORMATS and name not in READERS:
        known = (*FORMATS, *READERS)
        near = nearest(name, known)
        hint = f"nearest: {near[0]}; " if near else ""
        raise UsageError(
            f"'{name}' is neither a table format nor a log format "
            f"({hint}there are {', '.join(known)})"
        )
    opened = path if isinstance(path, Opened) else open_plain(path)
    if opened.broken:
        raise InputError(opened.broken, opened.name)
    with reading(opened.name):
        return _read(opened, name, picks)


def _read(opened: Opened, name: str, picks: Mapping[str, str]) -> Table:
    from abstain.io.readers import READERS

    chosen = _format_of(opened, name)
    if chosen not in FORMATS:
        return READERS[chosen].table(opened, picks)
    if picks:
        raise UsageError(f"{option('pick')} is for tools' logs: {chosen} has nothing to pick")
    if chosen == "parquet":
        return _read_parquet(opened)
    if chosen == "qa4mre":
        from abstain.io.qa4mre import read_qa4mre

        return read_qa4mre(opened)
    if chosen == "json":
        from abstain.io.jsonl import read_array

        return read_array(opened)
    table = _read_text(opened, chosen)
    assert table.chunks is not None
    frame = held(_of_so_many_runs(table.chunks(table.columns), opened.name))
    if frame is None:
        raise InputError("has a header but no rows", opened.name)
    return replace(table, frame=frame, chunks=None)


def _of_so_many_runs(chunks: Iterator[pl.DataFrame], name: str) -> Iterator[pl.DataFrame]:
    """The chunks of a table, which is refused as soon as it names more runs than any result has."""
    runs = pl.Series(dtype=pl.String)
    for chunk in chunks:
        if "run" in chunk.columns and chunk["run"].n_unique() > FEW_RUNS:
            runs = pl.concat([runs, chunk["run"].cast(pl.String).unique()]).unique()
            if len(runs) > MAX_RUNS:
                raise InputError(
                    f"its column 'run' names more than {MAX_RUNS:,} runs, expected the same name "
                    "on all rows of a run",
                    name,
                )
        yield chunk


def read_in_chunks(path: str | Path, *, format: str | None = None) -> Table:
    """The same table, checked as a whole, its rows read when and as often as they are asked for.

    Only tables of text are read so (`Table.chunks`); others come as `read_table` gives them.
    """
    if format not in (None, *TEXTS):
        return read_table(path, format=format)
    opened = open_streamed(path)
    with reading(opened.name):
        chosen = _format_of(opened, format or "")
        return _read_text(opened, chosen) if chosen in TEXTS else read_table(path)


def _read_text(opened: Opened, format: str) -> Table:
    if format == "jsonl":
        from abstain.io.jsonl import read_jsonl

        return read_jsonl(opened)
    from abstain.io.separated import read_separated

    return read_separated(opened, format)


def _format_of(opened: Opened, asked: str) -> str:
    """The format that was asked for or is evident; what a spreadsheet program wrote is refused."""
    refuse_workbook(opened)
    if "qa4mre" not in (asked, format_of_name(opened.name)):  # whose reader says it of XML
        refuse_utf16(opened)
    return asked or sniff(opened)


def sniff(opened: Opened) -> str:
    """The format of an opened file: by its first bytes, then by its name.

    A comma, a semicolon or a tab separates the cells: whichever the first line has most of.
    """
    from abstain.io.readers import sniff_log

    head = opened.head()
    if head.startswith(PARQUET):
        return "parquet"
    text = head.removeprefix(BOM).lstrip()
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
        return "json"
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


def _refuse_unstorable(
    frame: pl.DataFrame, path: str, chosen: str, *, nested: bool = False
) -> None:
    """Refuse a column of bytes, and a nested one where a format has only plain cells."""
    for name, dtype in frame.schema.items():
        if dtype in (pl.Binary, pl.Object) or (nested and dtype.is_nested()):
            raise InputError(
                f"column {shown(name)} holds {dtype}, which {chosen.upper()} cannot store", path
            )


def write_table(frame: pl.DataFrame, path: str | Path, *, format: str | None = None) -> None:
    """Write a table in the format that its name says; a failure leaves no partial file."""
    chosen = format or format_of_name(str(path))
    if chosen not in FORMATS:
        raise UsageError(
            f"the name '{path}' does not tell the table format (expected an ending of "
            f"{', '.join(ENDINGS)}, also with .gz or .zst)"
        )
    with writing(str(path)), whole(path) as draft:
        if chosen == "parquet":
            frame.write_parquet(draft)
        elif chosen in ("jsonl", "json"):
            _refuse_unstorable(frame, str(path), chosen)
            (frame.write_ndjson if chosen == "jsonl" else frame.write_json)(draft)
        elif chosen == "qa4mre":
            from abstain.io.qa4mre_write import write_qa4mre

            write_qa4mre(frame, draft, str(path))
        else:
            _refuse_separators(frame, str(path), chosen)
            flat = frame.with_columns(
                col(name).cast(pl.List(pl.String)).list.join("|")
                for name, dtype in frame.schema.items()
                if isinstance(dtype, pl.List) and not dtype.inner.is_nested()
            )
            _refuse_unstorable(flat, str(path), chosen, nested=True)
            flat.write_csv(draft, separator=SEPARATORS[chosen])


def _refuse_separators(frame: pl.DataFrame, name: str, format: str) -> None:
    """An accepted answer with a | in it would come back from such a cell as two."""
    for column in ("correct", "options"):
        if isinstance(frame.schema.get(column), pl.List):
            texts = frame[column].cast(pl.List(pl.String)).explode().drop_nulls()
            split = texts.filter(texts.str.contains("|", literal=True))
            if len(split):
                raise InputError(
                    f"column '{column}' holds {shown(split[0])}, which would be "
                    f"split at the | in {format.upper()}, expected .jsonl or .parquet",
                    name,
                )


def _read_parquet(opened: Opened) -> Table:
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


def json_column(name: str, values: Sequence[Any], kinds: Set[type[Any]] | None = None) -> pl.Series:
    """One type for a column of JSON values: numbers stay numbers, lists of scalars lists.

    Where these are some of a column's values, ``kinds`` says what all are.
    """
    return _json_series(values, kinds).alias(name)  # some methods of a series read its name


def _json_series(values: Sequence[Any], kinds: Set[type[Any]] | None) -> pl.Series:
    kinds = (set(map(type, values)) if kinds is None else kinds) - {type(None)}
    if kinds <= {bool}:
        return pl.Series("", values, dtype=pl.Boolean)
    if kinds == {int}:
        with contextlib.suppress(TypeError, OverflowError):  # those that need more than 64 bits
            return pl.Series("", values, dtype=pl.Int64)
    if kinds == {float}:
        return pl.Series("", values, dtype=pl.Float64)
    if kinds == {str}:
        return pl.Series("", values, dtype=pl.String).str.strip_chars()
    if list in kinds:
        lists = [v if v is None or isinstance(v, list) else [v] for v in values]
        texts = [None if v is None else [json_text(item) for item in v] for v in lists]
        return pl.Series("", texts, dtype=pl.List(pl.String))
    return pl.Series("", [None if v is None else json_text(v) for v in values], dtype=pl.String)


def json_text(value: Any) -> str:
    """A JSON value as the text of a cell."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**16:
        value = int(value)  # 2.0 beside a text is the 2 that it is in a column of numbers
    return msgspec.json.encode(value).decode()


def first_line(said: BaseException | str) -> str:
    """The first line of what a tool or a library said, short enough for one line of ours."""
    lines = str(said).strip().splitlines()
    return lines[0][:200] if lines else type(said).__name__
