"""TREC runs (query Q0 doc rank score run) and qrels (query 0 doc rel) as columns.

Files, plain or compressed, are read in chunks of whole lines, with polars once their fields are
separated by single blanks; what polars cannot read is read again slowly, to say where and why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.errors import InputError, Place, plural, shown
from abstain.io.boundary import reading
from abstain.io.files import BOM, Opened, ahead, refuse_utf16, refuse_workbook
from abstain.io.packing import byte_limit, too_large

RUN_COLUMNS = ("query", "Q0", "doc", "rank", "score", "run")
QRELS_COLUMNS = ("query", "0", "doc", "rel")
NUMBER = re.compile(rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity)", re.IGNORECASE)
WHOLE_NUMBER = re.compile(rb"[+-]?\d{1,18}")
LONGER_NUMBER = re.compile(rb"[+-]?\d{19,}")

MOST = 1 << 53
"""Whole numbers from here on are not all doubles."""

FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException)

CHUNK = 2 << 20
"""Bytes read at a time: few enough to stay small, many enough to keep the parser busy."""

SHARE, GROWTH = 16, 2
"""Of a large file as much as a sixteenth of what was read, up to twice as many bytes."""

LONGEST_LINE = 1 << 20
"""A longer line is no run and no qrels; reading on would only fill the memory."""

NEWLINE, BLANK = 10, 32
TO_BLANKS = bytes.maketrans(b"\t\v\f\r", b"   \n")

Check = Callable[[list[bytes]], str | None]
"""What is wrong with a line's fields, if anything; all columns are there."""


def run_batches(
    opened: Opened, *, by_rank: bool = False, marks: Sequence[pl.Expr] = ()
) -> Iterator[pl.DataFrame]:
    """A run file's rows in batches: query, doc, score, run, and what ``marks`` say of them.

    With ``by_rank`` the score is the rank column with its sign changed, so that higher is
    better in both cases. Every row has been checked; columns after the sixth are ignored.
    """
    order, kind = ("rank", pl.Int64()) if by_rank else ("score", pl.Float64())
    check = _check_rank if by_rank else _check_score

    def rows(chunk: bytes) -> pl.DataFrame | None:
        text = single_spaced(chunk)
        if not text:
            return pl.DataFrame()
        frame = _parse(text, RUN_COLUMNS, {order: kind}, ("query", "doc", order, "run"))
        if frame is None or _unordered(frame[order].to_numpy()):
            return None
        return frame.with_columns(marks) if marks else frame

    for frame in ahead(chunks(opened), rows):
        if frame is None:
            raise _explain(opened, "run", check)
        if frame.is_empty():
            continue
        if by_rank:
            ranks = frame["rank"].cast(pl.Float64).alias("score")
            frame = frame.drop("rank").insert_column(2, -ranks)
        yield frame


def read_qrels(opened: Opened) -> pl.DataFrame:
    """A qrels file's rows: query, doc, rel (a whole number; negative means not judged)."""
    frames = []
    for chunk in chunks(opened):
        if not (text := single_spaced(chunk)):
            continue
        frame = _parse(text, QRELS_COLUMNS, {"rel": pl.Int64()}, ("query", "doc", "rel"))
        # each row has its four columns, so the total is exact only if none has a fifth
        if frame is None or text.count(b" ") != 3 * frame.height:
            raise _explain(opened, "qrels", _check_qrels)
        frames.append(frame)
    if not frames:
        raise InputError("has no judgments (expected lines: query 0 doc rel)", opened.name)
    return pl.concat(frames)


def lines_with(
    opened: Opened, query: str, *, doc: str | None = None, rank: int | None = None
) -> list[int]:
    """The lines of one run that have a query's document, or a rank of it.

    Of several runs in the file, those of the first that has it twice.
    """
    seen: dict[tuple[bytes, ...], list[int]] = {}
    for number, fields in lines(opened):
        if fields[0] != query.encode():
            continue
        if fields[2] == doc.encode() if doc is not None else int(fields[3]) == rank:
            tag = tuple(fields[5:6])  # runs have one, qrels have not
            seen.setdefault(tag, []).append(number)
            if len(seen[tag]) == 2:
                return seen[tag]
    return []


def first_line_with(opened: Opened, query: str) -> int | None:
    """The first line of a query; what cannot hold it is only counted."""
    before, wanted = 0, query.encode()
    for chunk in chunks(opened):
        if wanted in chunk:
            for number, line in enumerate(chunk.splitlines(), before + 1):
                if line.split(None, 1)[:1] == [wanted]:
                    return number
        before += len(chunk.splitlines()) if b"\r" in chunk else chunk.count(b"\n")
    return None


def looks_like_trec(head: bytes) -> bool:
    """Whether the first line, as far as it is there, has the columns of a run or of qrels.

    >>> looks_like_trec(b"q1 Q0 d7 1 12.5 bm25\\n")
    True
    >>> looks_like_trec(b"query,doc,score\\n")
    False
    """
    for _, fields in fields_of(head):
        if len(fields) >= len(RUN_COLUMNS):
            return bool(NUMBER.fullmatch(fields[4]) or WHOLE_NUMBER.fullmatch(fields[3]))
        return len(fields) == len(QRELS_COLUMNS) and bool(WHOLE_NUMBER.fullmatch(fields[3]))
    return False


def _parse(
    text: bytes, columns: tuple[str, ...], kinds: dict[str, pl.DataType], wanted: tuple[str, ...]
) -> pl.DataFrame | None:
    """The wanted columns of single-spaced text, or None where a value is missing or no number."""
    width = max(len(columns), text.count(b" ", 0, text.find(b"\n")) + 1)
    names = [f"column_{i}" for i in range(1, width + 1)]  # polars insists on these
    place = dict(zip(columns, names, strict=False))
    schema: dict[str, pl.DataType] = dict.fromkeys(names, pl.String())
    schema |= {place[column]: kind for column, kind in kinds.items()}
    read = partial(
        pl.read_csv,
        text,
        has_header=False,
        separator=" ",
        quote_char=None,
        schema=schema,
        columns=[place[column] for column in wanted],
        glob=False,
    )
    try:
        frame = read()
    except FAILURES:  # lines of several lengths perhaps, which cost more
        try:
            frame = read(truncate_ragged_lines=True)
        except FAILURES:
            return None
    frame.columns = list(wanted)
    return None if any(column.null_count() for column in frame) else frame


def _unordered(numbers: NDArray[Any]) -> bool:
    """Whether a number is none, or a rank that is no longer told apart from the next."""
    if numbers.dtype == np.float64:
        return bool(np.isnan(numbers).any())
    return bool(((numbers >= MOST) | (numbers <= -MOST)).any())


def _explain(opened: Opened, kind: str, check: Check) -> InputError:
    refuse_workbook(opened)
    refuse_utf16(opened)
    columns = RUN_COLUMNS if kind == "run" else QRELS_COLUMNS
    for number, fields in lines(opened):
        if problem := _check_columns(fields, columns) or check(fields):
            return InputError(problem, Place(opened.name, number))
    return InputError(f"cannot be read as a TREC {kind}", opened.name)


def _check_columns(fields: list[bytes], columns: tuple[str, ...]) -> str | None:
    if len(fields) < len(columns):
        return _wrong_width(fields, columns)
    for name, field in zip(columns, fields, strict=False):
        if name in ("query", "doc", "run"):
            try:
                field.decode()
            except UnicodeDecodeError:
                return f"the {name} is not UTF-8 text (got {_text(field)})"
    return None


def _check_score(fields: list[bytes]) -> str | None:
    if not NUMBER.fullmatch(fields[4]):
        return f"the score must be a number (got {_text(fields[4])})"
    return None


def _check_rank(fields: list[bytes]) -> str | None:
    problem = _check_whole(fields[3], "rank")
    if problem is None and abs(int(fields[3])) >= MOST:
        return f"the rank must be below 2^53 (got {_text(fields[3])})"
    return problem


def _check_qrels(fields: list[bytes]) -> str | None:
    if len(fields) > len(QRELS_COLUMNS):
        problem = _wrong_width(fields, QRELS_COLUMNS)
        is_run = len(fields) >= len(RUN_COLUMNS) and NUMBER.fullmatch(fields[4])
        return f"{problem} (a run? the judgments come first)" if is_run else problem
    return _check_whole(fields[3], "relevance")


def _check_whole(field: bytes, what: str) -> str | None:
    if LONGER_NUMBER.fullmatch(field):
        return f"the {what} has more than 18 digits (got {_text(field)})"
    if not WHOLE_NUMBER.fullmatch(field):
        return f"the {what} must be a whole number (got {_text(field)})"
    return None


def _wrong_width(fields: list[bytes], columns: tuple[str, ...]) -> str:
    return f"{plural(len(fields), 'column')}, expected {len(columns)}: {' '.join(columns)}"


def _text(field: bytes) -> str:
    return shown(field.decode(errors="replace"))


def chunks(opened: Opened) -> Iterator[bytes]:
    """The file's text in chunks of whole lines, unpacked, without a byte order mark."""
    limit, total = byte_limit(), 0
    for number, chunk in enumerate(_whole_lines(opened)):
        total += len(chunk)
        if total > limit:
            raise too_large(opened.name, limit)
        yield chunk if number else chunk.removeprefix(BOM)


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
    with reading(opened.name), opened.stream() as file:
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
