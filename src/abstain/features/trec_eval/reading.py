"""Judgments and a run as trec_eval 9 reads them.

Scores are held in single precision, all lines are one run whatever their tags say, and numbers are
read as far as they are some. A file that is not in order is read line by line, as C does it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from abstain.errors import InputError, Place, TooLargeError, plural, shown
from abstain.io import trec
from abstain.io.files import bare_name, open_file
from abstain.measures.trec_eval import decimal, whole
from abstain.rankings.read import ranked_lists
from abstain.rankings.sources import TrecFile
from abstain.reading import ListSettings

if TYPE_CHECKING:
    from abstain.io.files import Opened
    from abstain.measures.ranked_lists import RankedLists

BLANK_LINE = re.compile(rb"^[ \t\v\f\r]*\n", re.MULTILINE)
RUN, QRELS = trec.RUN_COLUMNS, trec.QRELS_COLUMNS
BATCH = 1 << 16
"""Lines that are held at a time where a run is read line by line."""


class TrecEvalFile(TrecFile, frozen=True):
    """A file of qrels or of a run."""

    tags: list[str]
    """The tag of the last line that was read."""
    slow: bool
    """Whether it is read line by line, as C does it."""

    def judgments(self) -> pl.DataFrame:
        """The rows of the qrels: query, doc, rel."""
        _refuse_blank_lines(self.opened)
        if not self.slow:
            return trec.read_qrels(self.opened)
        rows = [(f[0], f[2], whole(f[3])) for _, f in _fields(self.opened, QRELS)]
        kinds: Any = {"query": pl.String, "doc": pl.String, "rel": pl.Int64}
        return pl.DataFrame(rows, kinds, orient="row")

    def batches(self, *, by_rank: bool, marks: Sequence[pl.Expr] = ()) -> Iterator[pl.DataFrame]:
        """The rows of the run, some at a time."""
        fast = trec.run_batches(self.opened, marks=marks)
        for rows in self._slow_rows(marks) if self.slow else fast:
            self.tags[:] = [rows["run"][-1]]
            with np.errstate(over="ignore"):
                scores = rows["score"].to_numpy().astype(np.float32).astype(np.float64)
            yield rows.with_columns(pl.lit("run").alias("run"), pl.Series("score", scores))

    def _slow_rows(self, marks: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        rows = ((f[0], f[2], _score(f[4], at), f[5]) for at, f in _fields(self.opened, RUN))
        kinds: Any = {"query": pl.String, "doc": pl.String, "score": pl.Float64, "run": pl.String}
        while some := list(islice(rows, BATCH)):
            yield pl.DataFrame(some, kinds, orient="row").with_columns(marks)


def read(qrels: str, run: str) -> tuple[RankedLists, str]:
    """Judgments and a run, with the tag of its last line; odd files are read line by line."""
    try:
        return _read(qrels, run, slow=False)
    except TooLargeError:
        raise
    except InputError:
        return _read(qrels, run, slow=True)


def _read(qrels: str, run: str, *, slow: bool) -> tuple[RankedLists, str]:
    gold, listed = _open(qrels, slow=slow), _open(run, slow=slow)
    lists, _ = ranked_lists(gold, [listed], ListSettings())
    return lists, listed.tags[0] if listed.tags else ""


def _open(path: str, *, slow: bool) -> TrecEvalFile:
    opened = open_file(path)
    if not opened.head:
        raise InputError("is empty", opened.name)
    return TrecEvalFile(
        name=opened.name,
        run=bare_name(path),
        named=False,
        path=None,
        opened=opened,
        tags=[],
        slow=slow,
    )


def _refuse_blank_lines(opened: Opened) -> None:
    """Judgments have no blank line, where a run may have some."""
    before = 0
    for chunk in trec.chunks(opened):
        if blank := BLANK_LINE.search(chunk):
            line = before + chunk.count(b"\n", 0, blank.start()) + 1
            expected = f"a blank line, expected {' '.join(QRELS)}"
            raise InputError(expected, Place(opened.name, line))
        before += chunk.count(b"\n")


def _score(text: str, place: Place) -> float:
    """A score as C reads it; what is not a number has no place in any order."""
    score = decimal(text)
    if math.isnan(score):
        raise InputError(f"a score must be a number (got {shown(text)})", place)
    return score


def _fields(opened: Opened, columns: tuple[str, ...]) -> Iterator[tuple[Place, list[str]]]:
    """The place and fields of each line; a line that trec_eval calls malformed is refused."""
    for number, fields in trec.lines(opened):
        place = Place(opened.name, number)
        more = columns is QRELS and len(fields) > len(columns)
        if len(fields) < len(columns) or more:
            problem = f"{plural(len(fields), 'column')}, expected {len(columns)}"
            hint = " (a run? the judgments come first)" if len(fields) >= len(RUN) else ""
            raise InputError(f"{problem}: {' '.join(columns)}{hint}", place)
        try:
            yield place, [field.decode() for field in fields[: len(columns)]]
        except UnicodeDecodeError:
            raise InputError("is not UTF-8 text", place) from None
