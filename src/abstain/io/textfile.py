"""White-space separated text files, plain or compressed, in pieces of whole lines."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from abstain.errors import InputError
from abstain.io.files import BOM, Opened, reading_file
from abstain.io.packing import byte_limit, too_large

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK = 2 << 20
"""Bytes read at a time: few enough to stay small, many enough to keep the parser busy."""

SHARE, GROWTH = 16, 4
"""Of a large file as much as a sixteenth of what was read, up to four times as many bytes."""

WORKERS = 2
"""Pieces that are worked on at a time; more gain little, and each takes memory."""

LONGEST_LINE = 1 << 20
"""A longer line is no run and no qrels; reading on would only fill the memory."""

NEWLINE, BLANK = 10, 32
Item = TypeVar("Item")
Made = TypeVar("Made")
TO_BLANKS = bytes.maketrans(b"\t\v\f\r", b"   \n")


def chunks(opened: Opened) -> Iterator[bytes]:
    """The file's text in pieces of whole lines, unpacked, without a byte order mark."""
    limit, total = byte_limit(), 0
    for number, piece in enumerate(_whole_lines(opened)):
        total += len(piece)
        if total > limit:
            raise too_large(opened.name, limit)
        yield piece if number else piece.removeprefix(BOM)


def ahead(items: Iterator[Item], work: Callable[[Item], Made]) -> Iterator[Made]:
    """What ``work`` makes of each item, in their order, made in threads while others are used."""
    with ThreadPoolExecutor(max_workers=WORKERS) as pool:
        coming: deque[Future[Made]] = deque()
        for item in items:
            coming.append(pool.submit(work, item))
            if len(coming) > WORKERS:  # one waits, so that no worker does
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()


def lines(opened: Opened) -> Iterator[tuple[int, list[bytes]]]:
    """Line numbers and their fields: slow and obvious, for saying where something is wrong.

    Blank lines and comments (a first character #, as trec_eval 10) count but are not given.
    """
    before = 0
    for chunk in chunks(opened):
        yield from fields_of(chunk, before)
        before += len(chunk.splitlines())


def fields_of(text: bytes, before: int = 0) -> Iterator[tuple[int, list[bytes]]]:
    """The numbers of some lines that follow others, and their fields."""
    for number, line in enumerate(text.splitlines(), before + 1):
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            yield number, fields


def single_spaced(chunk: bytes) -> bytes:
    """The same lines with their fields separated by exactly one blank.

    Blank lines, comments, leading and trailing white space go. A chunk that is in that form
    already, as nearly all are, costs one look at each byte.
    """
    if any(blank in chunk for blank in (b"\t", b"\r", b"\v", b"\f")):
        chunk = chunk.translate(TO_BLANKS)
    if _has_spare_blanks(chunk):
        chunk = _squeeze(chunk)
    if b"#" in chunk and (chunk.startswith(b"#") or b"\n#" in chunk):
        chunk = b"\n".join(line for line in chunk.split(b"\n") if not line.startswith(b"#"))
    return chunk


def _whole_lines(opened: Opened) -> Iterator[bytes]:
    held = b""  # an unfinished line
    for block in _blocks(opened):
        end = block.rfind(b"\n") + 1 or block.rfind(b"\r", 0, -1) + 1  # as old Macs ended lines
        if end:
            yield b"".join((held, memoryview(block)[:end]))  # copied once
            held = block[end:]
        else:
            held += block
        if len(held) > LONGEST_LINE:
            raise InputError(f"has a line of more than {LONGEST_LINE >> 20} MiB", opened.name)
    if held:
        yield held


def _blocks(opened: Opened) -> Iterator[bytes]:
    done = 0
    with reading_file(opened.name), opened.stream() as file:
        while block := file.read(min(max(CHUNK, done // SHARE), GROWTH * CHUNK)):
            done += len(block)
            yield block


def _has_spare_blanks(chunk: bytes) -> bool:
    """Is any white space at the start of a line, at its end, or doubled?"""
    if not chunk or chunk[0] <= BLANK or chunk[-1] == BLANK:
        return True
    text = np.frombuffer(chunk, np.uint8)
    step = 1 << 18  # in the cache
    for start in range(0, len(text), step):
        blank = text[start : start + step + 1] <= BLANK
        if bool((blank[1:] & blank[:-1]).any()):
            return True
    return False


def _squeeze(chunk: bytes) -> bytes:
    """Each run of blanks becomes a newline if it holds one, else a single blank."""
    text = np.frombuffer(chunk, np.uint8)
    blank = (text == BLANK) | (text == NEWLINE)
    first = blank.copy()
    first[1:] &= ~blank[:-1]
    first[:1] = False  # what stands before the first field separates nothing
    squeezed: NDArray[np.uint8] = text[~blank | first]
    starts = np.flatnonzero(first)
    ends_line = np.zeros(len(starts) + 1, bool)
    ends_line[np.searchsorted(starts, np.flatnonzero(text == NEWLINE), "right") - 1] = True
    squeezed[first[~blank | first]] = np.where(ends_line[:-1], NEWLINE, BLANK)
    return squeezed.tobytes().rstrip(b" ")
