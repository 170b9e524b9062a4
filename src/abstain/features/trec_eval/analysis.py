"""`trec_eval`: what trec_eval 9.0.8 prints for judgments and a run, byte for byte.

Scores are those of our measures, by trec_eval's rules: 0 where one does not exist, queries that
the run lacks left out, sums in the order of the queries' names. Scores of documents are held in
single precision, all lines are one run whatever their tags say, and numbers are read as far as
they are some. A file that is not in order is read line by line, as C does it.
"""

import math
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from abstain.errors import InputError, Place, TooLargeError, UsageError, plural, shown
from abstain.io import trec
from abstain.io.files import Opened, bare_name, chunks_of, open_file
from abstain.measures.ranked_lists import Floats, Ints, RankedLists
from abstain.measures.recall_and_gain import LEAST
from abstain.measures.trec_eval import (
    REL_STRING,
    RUN_ID,
    TEXTS,
    Figure,
    asked,
    decimal,
    figures,
    log,
    values_of,
    whole,
)
from abstain.rankings.read import ranked_lists
from abstain.rankings.sources import TrecFile
from abstain.reading import ListSettings

ALL = "all"
COUNT_OF_QUERIES, COUNT_OF_RELEVANT = "num_q", "num_rel"
SHOWN_FIRST = 10  # documents in a string of grades, where nobody says how many


class _Column(NamedTuple):
    """One figure: its name, each query's text, and that of all."""

    name: str
    texts: Sequence[str] | None
    summary: str | None


def trec_eval(
    qrels: str | os.PathLike[str],
    run: str | os.PathLike[str],
    measures: Sequence[str] | str = ("official",),
    *,
    per_query: bool = False,
    summary: bool = True,
    complete: bool = False,
    level: int = 1,
    limit: int | None = None,
    judged_only: bool = False,
    documents: int = 0,
) -> str:
    """The text that trec_eval 9.0.8 prints: measure, query and value, a line each.

    Parameters:
        qrels: the file of judgments.
        run: the file of the run.
        measures: as -m names them: "map", "ndcg_cut.5,10", "P_10", "official", "all_trec".
        per_query: each query's figures too (-q).
        summary: those of all queries (-n: not).
        complete: average over all judged queries (-c).
        level: the lowest relevant grade (-l).
        limit: how many documents of a query count (-M).
        judged_only: remove documents that nobody judged first (-J).
        documents: how many documents the collection has, for utility (-N).
    """
    wanted = asked([measures] if isinstance(measures, str) else measures)
    scored = {
        name: figures(name, parameters) for name, parameters in wanted.items() if name not in TEXTS
    }
    if level < 0:
        raise UsageError(f"the relevance level must be 0 or more (got {level})")
    lists, tag = read(os.fspath(qrels), os.fspath(run))
    if limit is not None:
        lists = lists.first(np.full(lists.size, limit))
    if judged_only:
        lists = lists.judged_only()
    there = np.flatnonzero(~lists.missing).tolist()
    rows = np.array(sorted(there, key=lists.queries.__getitem__), np.int64)
    if not len(rows):
        judged = plural(len(lists.queries), "judged query", "judged queries")
        raise InputError(f"has none of the {judged}", os.fspath(run))
    columns: list[_Column] = []
    for name, parameters in wanted.items():
        if name == RUN_ID:
            columns.append(_Column(RUN_ID, None, tag))
        elif name == REL_STRING:
            columns.append(_rel_strings(lists, rows, parameters))
        else:
            for figure in scored[name]:
                values = values_of(figure, lists, level, documents)[rows]
                columns.append(_column(figure, values, lists, rows, complete=complete))
    lines = [
        f"{name:<22}\t{lists.queries[row]}\t{texts[at]}\n"
        for at, row in enumerate(rows.tolist())
        for name, texts, _ in columns
        if per_query and texts and texts[at]
    ]
    lines += [
        f"{name:<22}\t{ALL}\t{text}\n" for name, _, text in columns if summary and text is not None
    ]
    return "".join(lines)


def _column(
    figure: Figure, values: Floats, lists: RankedLists, rows: Ints, *, complete: bool
) -> _Column:
    definition, counted = figure.definition, len(lists.queries) if complete else len(rows)
    if definition.geometric:
        values = log(values)
    total = float(np.cumsum(values)[-1])
    if definition.geometric:
        summary = math.exp((total + (counted - len(rows)) * math.log(LEAST)) / counted)
    elif not definition.total:
        summary = total / counted
    elif figure.name == COUNT_OF_QUERIES:
        summary = counted
    elif figure.name == COUNT_OF_RELEVANT and complete:
        summary = int((lists.pool.grade > 0).sum())  # whatever the level, as there
    else:
        summary = total
    text = "{:.0f}".format if definition.total else _decimals
    texts = [text(value) for value in values.tolist()] if figure.trec.per_query else None
    return _Column(figure.name, texts, text(summary))


def _decimals(value: float) -> str:
    if math.isnan(value):
        return "  -nan" if math.copysign(1.0, value) < 0 else "   nan"
    return f"{value:6.4f}"


def _rel_strings(lists: RankedLists, rows: Ints, parameters: str) -> _Column:
    """The grades of the first documents: a digit each, > from 10 on, - and . if not judged."""
    length = int(decimal(parameters.split(",")[0])) if parameters else SHOWN_FIRST
    texts, pooled = [], lists.sampled
    for row in rows.tolist():
        letters = ["-"] * max(0, min(length, int(lists.depth[row])))
        for rank in pooled.rank[slice(*pooled.offsets[row : row + 2])].tolist():
            if rank <= len(letters):
                letters[rank - 1] = "."
        part = slice(*lists.offsets[row : row + 2])
        for rank, grade in zip(lists.rank[part].tolist(), lists.grade[part].tolist(), strict=True):
            if rank > len(letters):
                break
            letters[rank - 1] = ">" if grade > 9 else str(int(grade))
        texts.append(f"'{''.join(letters)}'")
    name = f"{REL_STRING}_{parameters}" if parameters else REL_STRING
    return _Column(name, texts, None)


BLANK_LINE = re.compile(rb"^[ \t\v\f\r]*\n", re.MULTILINE)
KINDS: dict[str, Any] = {"query": pl.String, "doc": pl.String}
RUN, QRELS = trec.RUN_COLUMNS, trec.QRELS_COLUMNS
BATCH = 1 << 16  # lines that are held at a time where a run is read line by line


class TrecEvalFile(TrecFile, frozen=True):
    tags: list[str]
    """The tag of the last line that was read."""
    slow: bool
    """Whether it is read line by line, as C does it."""

    def judgments(self) -> pl.DataFrame:
        _refuse_blank_lines(self.opened)
        if not self.slow:
            return trec.read_qrels(self.opened)
        rows = [(f[0], f[2], whole(f[3])) for _, f in _fields(self.opened, QRELS)]
        return pl.DataFrame(rows, KINDS | {"rel": pl.Int64}, orient="row")

    def batches(self, *, by_rank: bool, marks: Sequence[pl.Expr] = ()) -> Iterator[pl.DataFrame]:
        fast = trec.run_batches(self.opened, marks=marks)
        for rows in self._slow_rows(marks) if self.slow else fast:
            self.tags[:] = [rows["run"][-1]]
            with np.errstate(over="ignore"):
                scores = rows["score"].to_numpy().astype(np.float32).astype(np.float64)
            yield rows.with_columns(pl.lit("run").alias("run"), pl.Series("score", scores))

    def _slow_rows(self, marks: Sequence[pl.Expr]) -> Iterator[pl.DataFrame]:
        rows = ((f[0], f[2], _score(f[4], at), f[5]) for at, f in _fields(self.opened, RUN))
        kinds = KINDS | {"score": pl.Float64, "run": pl.String}
        while some := list(islice(rows, BATCH)):
            yield pl.DataFrame(some, kinds, orient="row").with_columns(marks)


def read(qrels: str, run: str) -> tuple[RankedLists, str]:
    """Judgments and a run, with the tag of its last line; odd files are read line by line."""
    try:
        return _read(qrels, run, slow=False)
    except InputError as error:
        if isinstance(error, TooLargeError):
            raise
        return _read(qrels, run, slow=True)


def _read(qrels: str, run: str, *, slow: bool) -> tuple[RankedLists, str]:
    gold, listed = _open(qrels, slow=slow), _open(run, slow=slow)
    lists, _ = ranked_lists(gold, [listed], ListSettings())
    return lists, "".join(listed.tags)


def _open(path: str, *, slow: bool) -> TrecEvalFile:
    opened = open_file(path)
    if not opened.head:
        raise InputError("is empty", opened.name)
    name, run = opened.name, bare_name(path)
    return TrecEvalFile(name, run, named=False, path=None, opened=opened, tags=[], slow=slow)


def _refuse_blank_lines(opened: Opened) -> None:
    """Judgments have no blank line, where a run may have some."""
    before = 0
    for chunk in chunks_of(opened):
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
        if len(fields) < len(columns) or (columns is QRELS and len(fields) > len(columns)):
            hint = " (a run? the judgments come first)" if len(fields) >= len(RUN) else ""
            expected = f"expected {len(columns)}: {' '.join(columns)}{hint}"
            raise InputError(f"{plural(len(fields), 'column')}, {expected}", place)
        try:
            yield place, [field.decode() for field in fields[: len(columns)]]
        except UnicodeDecodeError:
            raise InputError("is not UTF-8 text", place) from None
