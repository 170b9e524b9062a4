"""JSONL: one object a line, read in chunks.

The type of a column depends on all of its values, so a file is looked through once before: for
its columns, and for the kinds of value in each.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import msgspec
import polars as pl

from abstain.errors import InputError, Place
from abstain.io.files import BOM, NOT_UTF8, Opened, chunks_of, text_blocks
from abstain.io.tables import ROW, Table, json_column

MAX_COLUMNS = 10_000
Kinds = dict[str, set[type[Any]]]
"""Of each column the types of its values."""


def read_jsonl(opened: Opened) -> Table:
    """A JSONL file as a table: checked as a whole, its rows still to be read."""
    rows, kinds = _looked_through(opened)
    if not rows:
        raise InputError("has no rows", opened.name)
    if ROW in kinds:
        raise InputError(f"a column may not be called {ROW}", opened.name)
    if rows == 1 and all(own <= {dict, list} for own in kinds.values()):
        raise InputError(
            "is one object that holds lists or objects, expected an array of objects or one object "
            'per line (from pandas: to_json(orient="records"))',
            opened.name,
        )
    empty = pl.DataFrame({name: json_column(name, [], own) for name, own in kinds.items()})
    chunks = partial(_chunks, opened, kinds)
    return Table(opened.name, "jsonl", tuple(kinds), empty.lazy(), opened, chunks=chunks)


def read_array(opened: Opened) -> Table:
    """A JSON array of objects as a table."""
    from abstain.io.documents import document

    found = document(opened, list[dict[str, Any]], what="array of objects")
    if not found:
        raise InputError("has no rows", opened.name)
    names = dict.fromkeys(key for record in found for key in record)
    if ROW in names or len(names) > MAX_COLUMNS:
        what = f"a column called {ROW}" if ROW in names else f"more than {MAX_COLUMNS:,} keys"
        raise InputError(f"has {what}", opened.name)
    columns = {name: json_column(name, [record.get(name) for record in found]) for name in names}
    frame = pl.DataFrame(columns).lazy().with_row_index(ROW)
    return Table(opened.name, "json", tuple(names), frame, opened)


def _records(chunk: bytes, name: str, before: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records of some lines, each with the number of the lines before it, one at a time."""
    decode = msgspec.json.Decoder().decode
    for number, line in enumerate(io.BytesIO(chunk), before):
        if number == 0:
            line = line.removeprefix(BOM)
        if not line.strip():
            continue
        try:
            record = decode(line)
        except UnicodeDecodeError:
            raise InputError(NOT_UTF8, Place(name, number + 1)) from None
        except (msgspec.DecodeError, RecursionError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"is not JSON: {reason}", Place(name, number + 1)) from None
        if not isinstance(record, dict):
            raise InputError(
                f"expected a JSON object, got {type(record).__name__}", Place(name, number + 1)
            )
        yield number, record


def _looked_through(opened: Opened) -> tuple[int, Kinds]:
    """How many records there are, and what their columns hold; what is no record is refused."""
    kinds: Kinds = {}
    decoder, rows, before = None, 0, 0
    for chunk in chunks_of(text_blocks(opened)):
        found = None if decoder is None else _quickly(chunk, decoder, first=not before)
        if found is not None:
            rows += len(found)
            for number, own in enumerate(kinds.values()):
                own.update(map(type, map(attrgetter(_field(number)), found)))
        else:
            known = len(kinds)
            for number, record in _records(chunk, opened.name, before):
                rows += 1
                for key, value in record.items():
                    kinds.setdefault(key, set()).add(type(value))
                if len(kinds) > MAX_COLUMNS:
                    place = Place(opened.name, number + 1)
                    raise InputError(f"has more than {MAX_COLUMNS:,} different keys", place)
            if len(kinds) > known:
                decoder = _decoder(tuple(kinds), others=False)
        before += chunk.count(b"\n")
    return rows, kinds


def _chunks(opened: Opened, kinds: Kinds, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    decoder, before = _decoder(columns, others=True), 0
    for chunk in chunks_of(text_blocks(opened)):
        found = None if decoder is None else _quickly(chunk, decoder, first=not before)
        values: list[list[Any]]
        if found is not None:
            values = [list(map(attrgetter(_field(i)), found)) for i in range(len(columns))]
            rows = pl.int_range(before, before + len(found), dtype=pl.UInt32, eager=True)
        else:
            records = list(_records(chunk, opened.name, before))
            values = [[record.get(column) for _, record in records] for column in columns]
            rows = pl.Series([number for number, _ in records], dtype=pl.UInt32)
        before += chunk.count(b"\n")
        series = {
            name: json_column(name, own, kinds[name])
            for name, own in zip(columns, values, strict=True)
        }
        if len(rows):
            yield pl.DataFrame({**series, ROW: rows})


def _field(number: int) -> str:
    return f"f{number}"


def _decoder(columns: Sequence[str], *, others: bool) -> msgspec.json.Decoder[Any] | None:
    """Reads records whose columns are known, a lacking one as None; it may refuse all others.

    None where a name is not what such a reader takes.
    """
    names = {_field(number): column for number, column in enumerate(columns)}
    fields = [(name, Any, None) for name in names]
    try:
        record = msgspec.defstruct(
            "Record", fields, rename=names, forbid_unknown_fields=not others, gc=False
        )
    except ValueError:
        return None
    return msgspec.json.Decoder(record)


def _quickly(chunk: bytes, decoder: msgspec.json.Decoder[Any], *, first: bool) -> list[Any] | None:
    """The records of a chunk, if each of its lines is one and nothing else.

    The decoder itself takes any white space between records, and none. But where every line
    begins with { and ends with }, no record goes on in the next (a comma or a bracket would
    have to come first), so as many records as lines are one each.
    """
    text = (chunk.removeprefix(BOM) if first else chunk).removesuffix(b"\n")
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").removesuffix(b"\r")
    breaks = text.count(b"\n")
    if not (text[:1] == b"{" and text[-1:] == b"}" and text.count(b"}\n{") == breaks):
        return None
    try:
        found = decoder.decode_lines(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return found if len(found) == breaks + 1 else None
