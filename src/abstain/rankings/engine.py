"""Rankings of runs that live in another engine: it ranks, what is judged comes back.

The rank of a document is its place from the end when its query's rows are ordered by score and
document id: one window, the same expression on every engine. A second question counts each
list and what is wrong with it.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from abstain.errors import InputError, shown
from abstain.io.columns import read_numbers, text_column
from abstain.io.frames import collect, in_engine
from abstain.io.trec import MOST
from abstain.rankings.collector import Collected, nil_words
from abstain.rankings.judgments import NIL, UNJUDGED, Judgments
from abstain.rankings.placing import Found
from abstain.rankings.tables import RankedTable, require_order

KEYS = ("run", "query")


def collect_in_engine(
    source: RankedTable, qrels: pl.DataFrame, judgments: Judgments, *, by_rank: bool
) -> dict[str, Collected]:
    """What was found of each run, as a `Collector` finds it."""
    nil = judgments.nil
    rows = _rows(source, by_rank=by_rank)
    lists = collect(_lists(rows, by_rank=by_rank), source.name).sort(*KEYS)
    _refuse(source, rows, lists, by_rank=by_rank)
    grade = pl.col("rel").cast(pl.Float64)
    judged = qrels.select(
        "query", "doc", pl.when(grade < 0).then(UNJUDGED).otherwise(grade).alias("grade")
    )
    if nil is not None:
        ends = pl.DataFrame({"query": judgments.queries}).with_columns(
            doc=pl.lit(nil), grade=pl.lit(NIL)
        )
        judged = pl.concat([judged.filter(pl.col("doc") != nil), ends])
    last = nil if judgments.nil_ends else None
    found = collect(_ranks(rows, judged, last), source.name)
    alike = nil_words(nil)
    seen = rows.filter(nw.col("doc").is_in(alike)).select("doc").unique()
    there = set(collect(seen, source.name)["doc"])
    words = tuple(word for word in alike if word in there)
    return _by_run(lists, found, judgments, words) or {
        source.run: Collected.of([], np.zeros(len(judgments.queries), np.int64), words)
    }


def _rows(source: RankedTable, *, by_rank: bool) -> nw.LazyFrame[Any]:
    """run, query, doc and score (−rank where ranks count)."""
    table = source.table
    order = "rank" if by_rank else "score"
    require_order(table, order)
    frame = nw.from_native(table.frame).lazy()
    frame, number = _numbers(frame, order, table.name)
    run = (
        text_column(frame, "run", table.name)
        if "run" in table.columns
        else nw.lit(source.run).cast(nw.String)
    )
    return frame.select(
        run.alias("run"),
        text_column(frame, "query", table.name).alias("query"),
        text_column(frame, "doc", table.name).alias("doc"),
        ((-number if by_rank else number) + 0.0).alias("score"),  # of two zeros one
    )


def _numbers(
    frame: nw.LazyFrame[Any], column: str, label: str
) -> tuple[nw.LazyFrame[Any], nw.Expr]:
    """A column as numbers, and the frame that has them; what is no number is null."""
    dtype = frame.collect_schema()[column]
    if dtype == nw.String:
        return read_numbers(frame, column, "__number"), nw.col("__number")
    if dtype == nw.Boolean or dtype.is_nested() or dtype.is_temporal():
        raise InputError(
            f"the column '{column}' must hold one number per row (it holds {dtype})", label
        )
    return frame, nw.col(column).cast(nw.Float64)


def _lists(rows: nw.LazyFrame[Any], *, by_rank: bool) -> nw.LazyFrame[Any]:
    """For each run and query: rows, different documents and scores, rows that are no good."""
    score, doc = nw.col("score"), nw.col("doc")
    bad = score.is_null() | score.is_nan()
    if by_rank:
        bad = bad | ~score.is_finite() | (score != score.floor()) | (score.abs() >= MOST)
    flags = rows.with_columns(
        nw.when(bad).then(1).otherwise(0).alias("__bad"),
        nw.when(doc.is_null() | (doc == "")).then(1).otherwise(0).alias("__empty"),
    )
    distinct = [doc.n_unique().alias("docs")]
    if by_rank:
        distinct.append(score.n_unique().alias("ranks"))
    return flags.group_by(*KEYS).agg(
        nw.len().alias("n"),
        *distinct,
        nw.col("__bad").sum().alias("bad"),
        nw.col("__empty").sum().alias("empty"),
    )


def _ranks(rows: nw.LazyFrame[Any], judged: pl.DataFrame, last: str | None) -> nw.LazyFrame[Any]:
    """The ranks of what is judged; the document `last` stands behind all of its score."""
    order = ["score", "doc"]
    if last is not None:
        rows = rows.with_columns(nw.when(nw.col("doc") == last).then(0).otherwise(1).alias("__any"))
        order.insert(1, "__any")
    place = nw.col("doc").cum_count(reverse=True).over(*KEYS, order_by=order)
    ranked = rows.with_columns(place.alias("rank"))
    hits = ranked.join(in_engine(judged, rows), on=["query", "doc"], how="inner")
    return hits.select(*KEYS, "rank", "grade")


def _refuse(
    source: RankedTable, rows: nw.LazyFrame[Any], lists: pl.DataFrame, *, by_rank: bool
) -> None:
    for column in KEYS:
        if (lists[column].is_null() | (lists[column] == "")).any():
            raise InputError(f"the column '{column}' is empty in a row", source.name)
    for row in lists.filter(pl.col("empty") > 0).head(1).iter_rows(named=True):
        raise InputError(f"the column 'doc' is empty {_of(row)}", source.name)
    what = "rank" if by_rank else "score"
    kind = "a whole number" if by_rank else "a number"
    for row in lists.filter(pl.col("bad") > 0).head(1).iter_rows(named=True):
        raise InputError(f"the column '{what}' must be {kind} {_of(row)}", source.name)
    for column, counted in (("doc", "docs"), ("score", "ranks")):
        if counted not in lists.columns:
            continue
        again = lists.filter(pl.col(counted) < pl.col("n"))
        for row in again.head(1).iter_rows(named=True):
            raise _repeated(source, rows, row, column)


def _of(row: dict[str, Any]) -> str:
    return f"in the list of run {shown(row['run'])} for query {shown(row['query'])}"


def _repeated(
    source: RankedTable, rows: nw.LazyFrame[Any], row: dict[str, Any], column: str
) -> InputError:
    own = rows.filter(nw.col("run") == row["run"], nw.col("query") == row["query"])
    twice = own.group_by(column).agg(nw.len().alias("times")).filter(nw.col("times") > 1)
    value: Any = collect(twice, source.name)[column].min()
    what = f"document {shown(str(value))}"
    if column == "score":
        what = f"rank {-int(value)}"
    return InputError(f"{what} appears twice {_of(row)}", source.name)


def _by_run(
    lists: pl.DataFrame, found: pl.DataFrame, judgments: Judgments, nil_words: tuple[str, ...]
) -> dict[str, Collected]:
    collected: dict[str, Collected] = {}
    hits = found.partition_by("run", as_dict=True)
    for (run,), own in sorted(lists.partition_by("run", as_dict=True).items()):
        codes = judgments.encode(own["query"])
        lengths = np.zeros(max(len(judgments.queries), int(codes.max()) + 1), np.int64)
        lengths[codes] = own["n"].to_numpy()
        some = hits.get((run,), found.clear())
        documents = Found(
            judgments.encode(some["query"]).astype(np.int64),
            some["rank"].to_numpy().astype(np.int64),
            some["grade"].to_numpy().astype(np.float64),
        )
        others = codes[codes >= len(judgments.queries)].tolist()
        collected[str(run)] = Collected.of([documents], lengths, nil_words, others)
    return collected
