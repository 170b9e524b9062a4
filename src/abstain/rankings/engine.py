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
from abstain.io.frames import collect, in_engine, read_numbers, text_column
from abstain.io.trec import MOST
from abstain.rankings.collector import NIL_WORDS, Collected, Hits
from abstain.rankings.judgments import NIL, UNJUDGED, Judgments
from abstain.rankings.tables import RankedTable

KEYS = ("run", "query")


def collect_in_engine(
    source: RankedTable, qrels: pl.DataFrame, judgments: Judgments, *, by_rank: bool
) -> dict[str, Collected]:
    """The judged documents of each run, as a `Collector` finds them."""
    nil = judgments.nil
    rows = _rows(source, by_rank=by_rank)
    lists = collect(_lists(rows, by_rank=by_rank), source.name).sort(*KEYS)
    _refuse(source, lists, by_rank=by_rank)
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
    hits = collect(_ranks(rows, judged, last), source.name)
    seen = rows.filter(nw.col("doc").is_in(NIL_WORDS)).select("doc").unique()
    words = tuple(sorted({*collect(seen, source.name)["doc"]} - {nil}))
    return _by_run(lists, hits, judgments, words) or {
        source.run: Collected.of([], np.zeros(len(judgments.queries), np.int64), words)
    }


def _rows(source: RankedTable, *, by_rank: bool) -> nw.LazyFrame[Any]:
    """run, query, doc and score (−rank where ranks count)."""
    name, order = source.name, source.order(by_rank=by_rank)
    frame = nw.from_native(source.table.frame).lazy()
    dtype, number = frame.collect_schema()[order], nw.col(order).cast(nw.Float64)
    if dtype == nw.String:
        frame, number = read_numbers(frame, order, "__number"), nw.col("__number")
    elif dtype == nw.Boolean or dtype.is_nested() or dtype.is_temporal():
        raise InputError(
            f"the column '{order}' must hold one number per row (it holds {dtype})", name
        )
    texts = [text_column(frame, column, name).alias(column) for column in source.texts]
    if "run" not in source.texts:
        texts.append(nw.lit(source.run).cast(nw.String).alias("run"))
    score = (-number if by_rank else number) + 0.0  # of two zeros one
    return frame.select(*texts, score.alias("score"))


def _lists(rows: nw.LazyFrame[Any], *, by_rank: bool) -> nw.LazyFrame[Any]:
    """For each run and query: rows, different documents and scores, invalid rows."""
    score, doc = nw.col("score"), nw.col("doc")
    bad = score.is_null() | score.is_nan()
    if by_rank:
        bad = bad | ~score.is_finite() | (score != score.floor()) | (score.abs() >= MOST)
    flags = rows.with_columns(
        nw.when(bad).then(1).otherwise(0).alias("__bad"),
        nw.when(doc.is_null() | (doc == "")).then(1).otherwise(0).alias("__empty"),
    )
    return flags.group_by(*KEYS).agg(
        nw.len().alias("n"),
        doc.n_unique().alias("docs"),
        score.n_unique().alias("scores"),
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


def _refuse(source: RankedTable, lists: pl.DataFrame, *, by_rank: bool) -> None:
    for column in KEYS:
        if (lists[column].is_null() | (lists[column] == "")).any():
            raise InputError(f"the column '{column}' is empty in a row", source.name)
    number = "'rank' must be a whole number" if by_rank else "'score' must be a number"
    problems = {
        "the column 'doc' is empty": pl.col("empty") > 0,
        f"the column {number}": pl.col("bad") > 0,
        "a document appears twice": pl.col("docs") < pl.col("n"),
        "a rank appears twice": by_rank & (pl.col("scores") < pl.col("n")),
    }
    for problem, wrong in problems.items():
        for run, query in lists.filter(wrong).head(1).select(KEYS).iter_rows():
            where = f"in the list of run {shown(run)} for query {shown(query)}"
            raise InputError(f"{problem} {where}", source.name)


def _by_run(
    lists: pl.DataFrame, hits: pl.DataFrame, judgments: Judgments, nil_words: tuple[str, ...]
) -> dict[str, Collected]:
    collected: dict[str, Collected] = {}
    by_run = hits.partition_by("run", as_dict=True)
    for (run,), queries in sorted(lists.partition_by("run", as_dict=True).items()):
        codes = judgments.encode(queries["query"])
        lengths = np.zeros(max(len(judgments.queries), int(codes.max()) + 1), np.int64)
        lengths[codes] = queries["n"].to_numpy()
        some = by_run.get((run,), hits.clear())
        documents = Hits(
            judgments.encode(some["query"]).astype(np.int64),
            some["rank"].to_numpy().astype(np.int64),
            some["grade"].to_numpy().astype(np.float64),
        )
        others = codes[codes >= len(judgments.queries)].tolist()
        collected[str(run)] = Collected.of([documents], lengths, nil_words, others)
    return collected
