"""JSON: tables of one object a line or one array, and documents of other tools.

The type of a JSONL column depends on all of its values, so a file is looked through once before:
for its columns, and for the kinds of value in each.
"""

import io
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Any, TypeVar

import msgspec
import polars as pl

from abstain.errors import InputError, Place, reason_of
from abstain.io.files import BOM, MAX_COLUMNS, NOT_UTF8, Opened, chunks_of
from abstain.io.tables import ROW, Table, json_column

Kinds = dict[str, set[type[Any]]]

STRANGE = (b"NaN", b"Infinity", b"\\ud", b"\\uD")
"""What Python's JSON writes though JSON lacks it; the last: half a surrogate pair."""
TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|NaN|-?Infinity', re.S)
PAIR = rb"\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}"
SURROGATES = re.compile(PAIR + rb"|(\\u[dD][89a-fA-F][\da-fA-F]{2})|\\.")

T = TypeVar("T")


def read_jsonl(opened: Opened) -> Table:
    rows, kinds = _looked_through(opened)
    if not rows:
        raise InputError("has no rows", opened.name)
    if rows == 1 and all(types <= {dict, list} for types in kinds.values()):
        expected = 'one object per line (from pandas: to_json(orient="records"))'
        raise InputError(f"is one object, expected an array or {expected}", opened.name)
    empty = pl.DataFrame({name: json_column(name, [], types) for name, types in kinds.items()})
    chunks = partial(_chunks, opened, kinds)
    return Table(opened.name, "jsonl", tuple(kinds), empty.lazy(), opened, chunks=chunks)


def read_array(opened: Opened) -> Table:
    records = document(opened, list[dict[str, Any]], what="array of objects")
    if not records:
        raise InputError("has no rows", opened.name)
    names = dict.fromkeys(key for record in records for key in record)
    columns = {name: json_column(name, [record.get(name) for record in records]) for name in names}
    frame = pl.DataFrame(columns).lazy().with_row_index(ROW)
    return Table(opened.name, "json", tuple(names), frame, opened)


def _looked_through(opened: Opened) -> tuple[int, Kinds]:
    kinds: Kinds = {}
    rows = 0
    for _, some in _in_chunks(opened):
        rows += len(some)
        if not kinds.keys() >= set().union(*some):
            for key in chain.from_iterable(some):  # in the order of the file
                kinds.setdefault(key, set())
            if len(kinds) > MAX_COLUMNS:
                raise InputError(f"has more than {MAX_COLUMNS:,} different keys", opened.name)
        for key, types in kinds.items():
            types.update(map(type, map(dict.get, some, repeat(key))))
    return rows, kinds


def _chunks(opened: Opened, kinds: Kinds, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    for rows, some in _in_chunks(opened):
        series = {
            name: json_column(name, list(map(dict.get, some, repeat(name))), kinds[name])
            for name in columns
        }
        yield pl.DataFrame({**series, ROW: pl.Series(rows, dtype=pl.UInt32)})


def _in_chunks(opened: Opened) -> Iterator[tuple[list[int], list[dict[str, Any]]]]:
    before, whole = 0, msgspec.json.Decoder(dict[str, Any]).decode
    for chunk in chunks_of(opened):
        lines = chunk.split(b"\n")
        rows = [at for at, line in enumerate(lines) if line and not line.isspace()]
        try:
            some = [whole(lines[at]) for at in rows]
        except (UnicodeDecodeError, msgspec.DecodeError, RecursionError):  # which line, and why
            places = [Place(opened.name, before + at + 1) for at in rows]
            shape, what = dict[str, Any], "JSON object"
            some = [
                decode(lines[at], shape, place, what=what)
                for at, place in zip(rows, places, strict=True)
            ]
        if some:
            yield [before + at for at in rows], some
        before += len(lines) - 1


def decode(data: bytes | bytearray, shape: type[T], place: Place, *, what: str) -> T:
    """JSON in the shape asked for; NaN and Infinity, which JSON lacks and tools write, are null."""
    try:
        try:
            return msgspec.json.decode(data, type=shape)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            is_json = isinstance(error, msgspec.ValidationError)
            if is_json or not any(mark in data for mark in STRANGE):
                raise
            return msgspec.json.decode(TOKENS.sub(_standard, data), type=shape)
    except msgspec.ValidationError as error:
        one = "an" if what[0] in "aeiouAEIOU" else "a"
        raise InputError(f"is not {one} {what} of a known structure: {error}", place) from None
    except UnicodeDecodeError:
        raise InputError(NOT_UTF8, place) from None
    except (ValueError, RecursionError, msgspec.DecodeError) as error:
        raise InputError(f"is not complete JSON: {reason_of(error)}", place) from None


def _standard(token: re.Match[bytes]) -> bytes:
    if not token[0].startswith(b'"'):
        return b"null"
    return SURROGATES.sub(lambda m: b"\\ufffd" if m[1] else m[0], token[0])


def document(opened: Opened, shape: type[T], *, what: str) -> T:
    return decode(opened.read().removeprefix(BOM), shape, Place(opened.name), what=what)


def records(opened: Opened, shape: type[T], *, what: str) -> Iterator[tuple[int, T]]:
    number = 0
    for chunk in chunks_of(opened):
        for line in io.BytesIO(chunk):
            number += 1
            if line.strip():
                yield number, decode(line, shape, Place(opened.name, number), what=what)
