"""JSON of other tools, decoded within bounds; what is not asked for is skipped unread."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from abstain.errors import InputError, Place
from abstain.io.boundary import reading
from abstain.io.files import BOM, MAX_DOCUMENT, Opened, check_text
from abstain.io.packing import memory_limit
from abstain.io.tables import first_line

STRANGE = (b"NaN", b"Infinity", b"\\ud", b"\\uD")
"""What Python's own JSON writes and reads though JSON lacks it; the last: half a character."""

LARGE = 64 << 20
"""Beyond this a document with NaN is not read whole: its NaN become null."""
TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|NaN|-?Infinity', re.S)

T = TypeVar("T")


def decode(data: Any, shape: type[T], place: Place, *, what: str) -> T:
    """JSON in the shape asked for; NaN and Infinity, which JSON lacks and tools write, are read."""
    try:
        try:
            return msgspec.json.decode(data, type=shape)
        except msgspec.ValidationError:
            raise
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            text = bytes(data)
            if not any(mark in text for mark in STRANGE):
                raise
            if len(text) > LARGE:
                return msgspec.json.decode(TOKENS.sub(_null, text), type=shape)
            return msgspec.convert(json.loads(text), shape)
    except msgspec.ValidationError as error:
        one = "an" if what[0] in "aeiouAEIOU" else "a"
        raise InputError(f"is not {one} {what} of a known structure: {error}", place) from None
    except (ValueError, RecursionError, msgspec.DecodeError) as error:
        raise InputError(f"is not complete JSON: {first_line(error)}", place) from None


def is_cut(text: bytes) -> bool:
    """Whether JSON ends too early, rather than being something else."""
    for whole in (text, text + b"0"):  # the 0 ends a number that was cut behind its sign or point
        try:
            msgspec.json.decode(TOKENS.sub(_null, whole))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            if "truncated" in str(error):
                return True
    return False


def _null(token: re.Match[bytes]) -> bytes:
    return token[0] if token[0].startswith(b'"') else b"null"


def document(opened: Opened, shape: type[T], *, what: str) -> T:
    """A file that is one JSON document."""
    limit = memory_limit(MAX_DOCUMENT)
    with reading(opened.name), opened.stream() as file:
        size = file.seek(0, 2)
        if size == 0:
            raise InputError(f"is empty, expected {what}", opened.name)
        if size > limit:
            raise InputError(
                f"has {size:,} bytes, more than the {limit:,} that one JSON document may have "
                "(ABSTAIN_MAX_BYTES raises the bound)",
                opened.name,
            )
        file.seek(0)  # read, not mapped: a file that is cut meanwhile is then only too short
        data = opened.data if opened.data is not None else file.read(size)
        return decode(memoryview(data)[_bom(data) :], shape, Place(opened.name), what=what)


def _bom(data: bytes) -> int:
    return len(BOM) if data.startswith(BOM) else 0


def records(opened: Opened, shape: type[T], *, what: str) -> Iterator[tuple[int, T]]:
    """The objects of a JSONL file with their lines, one by one."""
    check_text(opened)
    with opened.stream() as file:
        for number, line in enumerate(file, 1):
            if number == 1:
                line = line.removeprefix(BOM)
            if line.strip():
                yield number, decode(line, shape, Place(opened.name, number), what=what)
