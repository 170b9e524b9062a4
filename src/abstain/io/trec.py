"""TREC runs (query Q0 doc rank score run) and qrels (query 0 doc rel) as columns.

Files, plain or compressed, are read in chunks of whole lines, with polars once their fields are
separated by single blanks; what polars cannot read is read again slowly, to say where and why.
"""

import contextlib
import re
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from abstain.errors import InputError, Place, plural, shown
from abstain.io.files import Opened, ahead, chunks_of

RUN_COLUMNS = ("query", "Q0", "doc", "rank", "score", "run")
QRELS_COLUMNS = ("query", "0", "doc", "rel")
NUMBER = re.compile(rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity)", re.IGNORECASE)
WHOLE_NUMBER = re.compile(rb"[+-]?\d{1,18}")

BLANK = ord(" ")
TO_BLANKS = bytes.maketrans(b"\t\v\f\r", b"   \n")


def run_batches(
    opened: Opened, *, by_rank: bool = False, marks: Sequence[pl.Expr] = ()
) -> Iterator[pl.DataFrame]:
    """A run file's rows in batches: query, doc, score, run, and what ``marks`` say of them.

    With ``by_rank`` the score is the rank column with its sign changed, so that higher is
    better in both cases. Every row has been checked; columns after the sixth are ignored.
    """
    order, kind = ("rank", pl.Int64()) if by_rank else ("score", pl.Float64())
    score = -pl.col("rank").cast(pl.Float64) if by_rank else pl.col("score")

    def rows(chunk: bytes) -> pl.DataFrame | None:
        text = single_spaced(chunk)
        if not text:
            return pl.DataFrame()
        frame = _parse(text, RUN_COLUMNS, {order: kind}, ("query", "doc", order, "run"))
        if frame is None:
            return None
        frame = frame.select("query", "doc", score.alias("score"), "run")
        return None if frame["score"].is_nan().any() else frame.with_columns(marks)

    for frame in ahead(chunks_of(opened), rows):
        if frame is None:
            raise _explain(opened, RUN_COLUMNS, order)
        if frame.height:
            yield frame


def read_qrels(opened: Opened) -> pl.DataFrame:
    """A qrels file's rows: query, doc, rel (a whole number; negative means not judged)."""
    frames = []
    for text in filter(None, map(single_spaced, chunks_of(opened))):
        frame = _parse(text, QRELS_COLUMNS, {"rel": pl.Int64()}, ("query", "doc", "rel"))
        # each row has its four columns, so the total is exact only if none has a fifth
        if frame is None or text.count(b" ") != 3 * frame.height:
            raise _explain(opened, QRELS_COLUMNS, "rel")
        frames.append(frame)
    if not frames:
        raise InputError("has no judgments (expected lines: query 0 doc rel)", opened.name)
    return pl.concat(frames)


def lines_with(
    opened: Opened, query: str, *, doc: str | None = None, rank: int | None = None
) -> list[int]:
    seen: dict[tuple[bytes, ...], list[int]] = {}
    for number, fields in lines(opened, query.encode()):
        if fields[2] == doc.encode() if doc is not None else int(fields[3]) == rank:
            tag = tuple(fields[5:6])  # runs have one, qrels have not
            seen.setdefault(tag, []).append(number)
            if len(seen[tag]) == 2:
                return seen[tag]
    return []


def looks_like_trec(head: bytes) -> bool:
    """Whether the first line, as far as it is there, has the columns of a run or of qrels."""
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
    for is_ragged in (False, True):  # lines of several lengths cost more
        with contextlib.suppress(pl.exceptions.PolarsError, pl.exceptions.PanicException):
            frame = pl.read_csv(
                text,
                has_header=False,
                separator=" ",
                quote_char=None,
                schema=schema,
                columns=[place[column] for column in wanted],
                glob=False,
                truncate_ragged_lines=is_ragged,
            )
            frame.columns = list(wanted)
            return None if any(column.null_count() for column in frame) else frame
    return None


def _explain(opened: Opened, columns: Sequence[str], number: str) -> InputError:
    for line, fields in lines(opened):
        if problem := _problem(fields, columns, number):
            return InputError(problem, Place(opened.name, line))
    return InputError(f"cannot be read as TREC lines ({' '.join(columns)})", opened.name)


def _problem(fields: list[bytes], columns: Sequence[str], number: str) -> str | None:
    is_qrels = columns is QRELS_COLUMNS
    if len(fields) < len(columns) or (is_qrels and len(fields) > len(columns)):
        is_run = len(fields) >= len(RUN_COLUMNS) and NUMBER.fullmatch(fields[4])
        hint = " (a run? the judgments come first)" if is_run else ""
        counted = plural(len(fields), "column")
        return f"{counted}, expected {len(columns)}: {' '.join(columns)}{hint}"
    for name, field in zip(columns, fields, strict=False):
        text, expected = field.decode(errors="replace"), ""
        if name in ("query", "doc", "run") and text.encode() != field:
            expected = "UTF-8 text"
        elif name == number == "score" and not NUMBER.fullmatch(field):
            expected = "a number"
        elif name == number != "score" and not WHOLE_NUMBER.fullmatch(field):
            expected = "a whole number of at most 18 digits"
        if expected:
            return f"the {name} must be {expected} (got {shown(text)})"
    return None


def lines(opened: Opened, query: bytes = b"") -> Iterator[tuple[int, list[bytes]]]:
    """Line numbers and fields, perhaps of one query, without blank lines and comments (#)."""
    before = 0
    for chunk in chunks_of(opened):
        if query in chunk:
            fields = fields_of(chunk, before)
            yield from (line for line in fields if not query or line[1][0] == query)
        before += len(chunk.splitlines()) if b"\r" in chunk else chunk.count(b"\n")


def fields_of(text: bytes, before: int = 0) -> Iterator[tuple[int, list[bytes]]]:
    for number, line in enumerate(text.splitlines(), before + 1):
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            yield number, fields


def single_spaced(chunk: bytes) -> bytes:
    """The same lines with their fields separated by one blank, without blank lines and comments."""
    if any(blank in chunk for blank in (b"\t", b"\r", b"\v", b"\f")):
        chunk = chunk.translate(TO_BLANKS)
    # most text has no #, and to look for one byte is ten times faster than for two
    comments = b"#" in chunk and (chunk.startswith(b"#") or b"\n#" in chunk)
    blank = np.frombuffer(chunk, np.uint8) <= BLANK
    ragged = blank[:1].any() or chunk.endswith(b" ") or (blank[1:] & blank[:-1]).any()
    if not (comments or ragged):
        return chunk
    lines = (b" ".join(line.split()) for line in chunk.split(b"\n"))
    return b"".join([line + b"\n" for line in lines if line and not line.startswith(b"#")])
