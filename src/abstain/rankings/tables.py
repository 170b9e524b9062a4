"""Judgments, runs and queries that are tables: CSV, JSONL, Parquet, dataframes, dicts of dicts."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, Literal

import narwhals as nw
import numpy as np
import polars as pl
from msgspec.structs import replace

from abstain.errors import InputError, Place, UsageError, check_name, option, shown
from abstain.io.engines import moved
from abstain.io.files import Opened
from abstain.io.frames import (
    collect,
    in_engine,
    open_table,
    read_numbers,
    rename,
    require,
    text_column,
    text_columns,
)
from abstain.io.tables import ROW, Table, read_table
from abstain.rankings.collector import NIL_WORDS, Collected, Collector, Hits
from abstain.rankings.judgments import NIL, UNJUDGED, Judgments, RepeatedError
from abstain.rankings.sources import SourceNames
from abstain.reading import Reading

KEYS = ("run", "query")
BATCH = 1 << 17  # rows of a table that are ranked at a time
IDS = {"query": "which names the query", "doc": "which names the document"}
ALIASES = {
    "query": ("query_id", "qid", "q_id"),
    "doc": ("doc_id", "docno", "docid"),
    "rel": ("relevance", "label"),
}
"""What ir_measures, PyTerrier and ranx call a column that does not have our name."""


class RankedTable(SourceNames, frozen=True):
    table: Table

    @property
    def elsewhere(self) -> bool:
        """Whether it is a lazy frame of another engine than polars."""
        return not isinstance(self.table.frame, pl.LazyFrame)

    @property
    def texts(self) -> tuple[str, ...]:
        return ("query", "doc", "run") if "run" in self.table.columns else ("query", "doc")

    def judgments(self) -> pl.DataFrame:
        table = self.table
        require(table, IDS | {"rel": "which holds the grade (0: judged, not relevant)"})
        rows = collect(_chosen(table, ("query", "doc"), "rel"), table.name)
        if rows.is_empty():
            raise InputError("has no judgments (expected columns: query, doc, rel)", self.name)
        _refuse_empty(table, rows, ("query", "doc"))
        return rows.select("query", "doc", _numbers(rows, "rel", table, finite=True))

    def batches(self, *, by_rank: bool, marks: Sequence[pl.Expr] = ()) -> Iterator[pl.DataFrame]:
        table = self.table
        order = self.order(by_rank=by_rank)
        for rows in _batches(table, self.texts, order):
            _refuse_empty(table, rows, self.texts)
            numbers = _numbers(rows, order, table, finite=by_rank)
            if by_rank:
                odd = numbers != numbers.round()
                refuse(table, rows, odd, "the rank must be a whole number", rows[order])
            score = (-numbers if by_rank else numbers).alias("score")
            run = rows["run"] if "run" in rows.columns else pl.lit(self.run)
            yield rows.select("query", "doc", score, run.alias("run")).with_columns(marks)

    def order(self, *, by_rank: bool) -> str:
        table, order = self.table, "rank" if by_rank else "score"
        require(table, IDS)
        if order == "score" and order not in table.columns and "rank" in table.columns:
            how = f"with {option('ties', 'rank')} they are ordered by the column 'rank'"
            raise InputError(f"has no column 'score' to order documents by; {how}", table.header)
        require(table, {order: "by which documents are ordered"})
        return order

    def places_of(self, error: RepeatedError) -> Sequence[Place]:
        number = "rank" if error.doc is None else None
        same = pl.col("doc") == (error.doc or "")
        if number is not None:
            same = pl.col(number).cast(pl.Float64, strict=False) == error.rank
        same &= pl.col("query") == error.query
        rows = pl.concat(r.filter(same) for r in _batches(self.table, self.texts, number))
        if "run" in rows.columns:
            rows = rows.filter(pl.col("run").is_duplicated())
        return [place_in(self.table, rows, i) for i in range(min(rows.height, 2))]


def open_rows(data: Any, reading: Reading, side: Literal["gold", "run"], name: str) -> Table:
    if not isinstance(data, (str, os.PathLike, Opened)):
        label = name or ("qrels" if side == "gold" else "run")
        rows = _rows_of(data, label, side) if isinstance(data, Mapping) else data
        table = open_table(rows, name=label, may_be_empty=side == "run")
    elif isinstance(data, Opened) or side == "gold" or reading.engine not in (None, "polars"):
        table = moved(open_table(data, format=reading.format), reading)
    else:
        table = read_table(os.fspath(data), format=reading.format, in_chunks=True)
    return rename(table, columns_of(table, reading.columns, side), side=side)


def columns_of(table: Table, mapping: Mapping[str, str], side: str) -> dict[str, str]:
    """Known to actual names: those in the mapping, and what other tools call the others."""
    parts = [known.rpartition(":") for known in mapping]
    mapped = {bare for scope, colon, bare in parts if not colon or scope == side}
    usual = {}
    for known, others in ALIASES.items():
        there = [name for name in others if name in table.columns]
        if known not in table.columns and known not in mapped and len(there) == 1:
            usual[known] = there[0]
    return {**usual, **mapping}


def _rows_of(lists: Mapping[Any, Any], name: str, side: str) -> pl.DataFrame:
    """What pytrec_eval and ranx take, {query: {document: score}}, as a table."""
    number = "rel" if side == "gold" else "score"
    rows: list[tuple[str, str, float]] = []
    for query, documents in lists.items():
        pairs = documents.items() if isinstance(documents, Mapping) else [(None, documents)]
        for doc, value in pairs:
            if doc is None or isinstance(value, bool) or not isinstance(value, Real):
                place = ", ".join(shown(str(key)) for key in (query, doc) if key is not None)
                expected = f"expected {{query: {{doc: {number}}}}} with numbers"
                raise InputError(f"{expected} (got {value!r} for {place})", name)
            rows.append((str(query), str(doc), float(value)))
    schema = {"query": pl.String, "doc": pl.String, number: pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _chosen(table: Table, texts: Sequence[str], number: str | None = None) -> nw.LazyFrame[Any]:
    lazy = nw.from_native(table.frame).lazy()
    more = [] if number is None or number in texts else [nw.col(number)]
    return lazy.select(*text_columns(lazy, texts, table.name), *more)


def _batches(
    table: Table, texts: Sequence[str], number: str | None = None
) -> Iterator[pl.DataFrame]:
    """The wanted columns in batches; another engine than polars hands all rows over at once."""
    frames: Iterable[Any] = [table.frame]
    if table.chunks is not None:
        names = dict.fromkeys([*texts, *([] if number is None else [number])])
        frames = (chunk.lazy() for chunk in table.chunks(list(names)))
    elif table.format == "parquet" and isinstance(table.frame, pl.LazyFrame):
        height = table.frame.select(pl.len()).collect().item()
        frames = (table.frame.slice(start, BATCH) for start in range(0, height, BATCH))
    for frame in frames:
        part = _chosen(replace(table, frame=frame), texts, number)
        yield from collect(part, table.name).iter_slices(BATCH)


def refuse(
    table: Table, rows: pl.DataFrame, wrong: pl.Series, problem: str, cells: pl.Series | None = None
) -> None:
    if not wrong.any():
        return
    at = int(wrong.arg_true()[0])
    if cells is not None:
        problem += f" (got {'nothing' if cells[at] is None else shown(str(cells[at]))})"
    raise InputError(problem, place_in(table, rows, at))


def _refuse_empty(table: Table, rows: pl.DataFrame, texts: Sequence[str]) -> None:
    for column in texts:
        refuse(table, rows, rows[column].fill_null("") == "", f"the column '{column}' is empty")


def _numbers(rows: pl.DataFrame, column: str, table: Table, *, finite: bool) -> pl.Series:
    cells = rows[column]
    kind = "finite number" if finite else "number"
    if cells.dtype.is_nested() or cells.dtype.is_temporal() or cells.dtype == pl.Boolean:
        what = f"must hold one {kind} per row (it holds {cells.dtype})"
        raise InputError(f"the column '{column}' {what}", table.name)
    if isinstance(cells.dtype, (pl.Categorical, pl.Enum)):
        cells = cells.cast(pl.String)
    values = cells.cast(pl.Float64, strict=False)
    wrong = values.is_null() | values.is_nan() | (finite & values.is_infinite())
    refuse(table, rows, wrong, f"the column '{column}' must be a {kind}", cells)
    return values.alias(column)


def place_in(table: Table, rows: pl.DataFrame, index: int) -> Place:
    return table.place(rows[ROW][index] if ROW in rows.columns else None)


# ------------------------------------------------------------------ ranked by another engine


def collect_in_engine(
    source: RankedTable, qrels: pl.DataFrame, judgments: Judgments, *, by_rank: bool
) -> dict[str, Collected]:
    """The judged documents of each run, as a `Collector` finds them: what is judged comes back.

    A document's rank is its place from the end when its query's rows are ordered by score and id:
    one window, the same on every engine. A second question counts each list and what is wrong.
    """
    nil = judgments.nil
    rows = _engine_rows(source, by_rank=by_rank)
    lists = collect(_lists(rows, by_rank=by_rank), source.name).sort(*KEYS)
    _refuse_lists(source, lists, by_rank=by_rank)
    grade = pl.when(pl.col("rel") < 0).then(UNJUDGED).otherwise("rel").cast(pl.Float64)
    judged = qrels.select("query", "doc", grade=grade)
    if nil is not None:
        ends = pl.DataFrame({"query": judgments.queries, "doc": nil, "grade": NIL})
        judged = pl.concat([judged.filter(pl.col("doc") != nil), ends])
    last = nil if judgments.nil_ends else None
    hits = collect(_ranks(rows, judged, last), source.name)
    seen = rows.filter(nw.col("doc").is_in(NIL_WORDS)).select("doc").unique()
    words = tuple(sorted({*collect(seen, source.name)["doc"]} - {nil}))
    return _by_run(lists, hits, judgments, words) or {
        source.run: Collector(judgments).finish()  # an empty run answers nothing, and is a run
    }


def _engine_rows(source: RankedTable, *, by_rank: bool) -> nw.LazyFrame[Any]:
    name, order = source.name, source.order(by_rank=by_rank)
    frame = nw.from_native(source.table.frame).lazy()
    dtype, number = frame.collect_schema()[order], nw.col(order).cast(nw.Float64)
    if dtype == nw.String:
        frame, number = read_numbers(frame, order, "__number"), nw.col("__number")
    elif dtype == nw.Boolean or dtype.is_nested() or dtype.is_temporal():
        what = f"must hold one number per row (it holds {dtype})"
        raise InputError(f"the column '{order}' {what}", name)
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
        bad = bad | ~score.is_finite() | (score != score.floor())
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


def _refuse_lists(source: RankedTable, lists: pl.DataFrame, *, by_rank: bool) -> None:
    for column in KEYS:
        if (lists[column].fill_null("") == "").any():
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
        others = codes[codes >= len(judgments.queries)].astype(np.int64)
        collected[str(run)] = Collected(documents, lengths, nil_words, others)
    return collected


# -------------------------------------------------------- queries and their attributes, to slice by


def needs_queries(argument: str) -> UsageError:
    needed = option("queries", "FILE")
    return UsageError(f"{option(argument)} needs a table of the queries: {needed}")


def open_queries(queries: Any, columns: Mapping[str, str]) -> Table:
    table = open_table(queries, name="queries")
    return rename(table, columns_of(table, columns, "queries"), side="queries")


def read_queries(table: Table, by: Sequence[str] = ()) -> pl.DataFrame:
    require(table, {"query": "which names the query"})
    attributes = [c for c in table.columns if c != "query"]
    for name in by:
        check_name("attribute", name, attributes)
    rows = collect(_chosen(table, ("query", *by)), table.name)
    _refuse_empty(table, rows, ("query",))
    again = rows.filter(~pl.col("query").is_first_distinct())
    if again.height:
        query = shown(again["query"][0])
        raise InputError(f"query {query} appears twice", place_in(table, again, 0))
    return rows.select("query", *by)
