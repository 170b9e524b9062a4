"""Judgments, runs and queries that are tables: CSV, JSONL, Parquet, dataframes, dicts of dicts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, Literal

import narwhals as nw
import polars as pl
from msgspec.structs import replace

from abstain.errors import InputError, Place, UsageError, nearest, option, shown
from abstain.io import trec
from abstain.io.columns import require, require_all, text_column
from abstain.io.engines import moved
from abstain.io.files import STDIN, Opened, bare_name
from abstain.io.frames import collect, open_table, rename
from abstain.io.tables import ROW, Table, read_in_chunks
from abstain.rankings.judgments import RepeatedError
from abstain.rankings.sources import TREC, Origin, TrecFile

BATCH = 1 << 17
"""Rows of a table that are ranked at a time."""

IDS = {"query": "which names the query", "doc": "which names the document"}
"""Columns that judgments and runs have alike, and what they are for."""

CALLED = {
    "query": ("query_id", "qid", "q_id"),
    "doc": ("doc_id", "docno", "docid"),
    "rel": ("relevance", "label"),
}
"""What ir_measures, PyTerrier and ranx call a column, where it has not our name."""

NO_ROWS = {"query": pl.String, "doc": pl.String, "score": pl.Float64, "run": pl.String}

LARGEST_GRADE = 1e18
"""Sums of such grades are still far from what a double can hold."""


class RankedTable(Origin, frozen=True):
    """A table of judgments or of ranked documents."""

    table: Table

    @property
    def elsewhere(self) -> bool:
        """Whether it is a lazy frame of another engine than polars."""
        return not isinstance(self.table.frame, pl.LazyFrame)

    def judgments(self) -> pl.DataFrame:
        """The rows of the qrels: query, doc, rel."""
        table = self.table
        require_all(table, IDS | {"rel": "which holds the grade (0: judged, not relevant)"})
        rows = collect(chosen_columns(table, ("query", "doc"), "rel"), table.name)
        _refuse_empty(table, rows, ("query", "doc"))
        if rows.is_empty():
            raise InputError("has no judgments (expected columns: query, doc, rel)", self.name)
        rel = _numbers(rows, "rel", table, finite=True)
        if len(huge := (rel > LARGEST_GRADE).arg_true()):
            raise InputError(
                f"the grade must be at most {LARGEST_GRADE:g} (got {rel[huge[0]]:g})",
                place_in(table, rows, huge[0]),
            )
        return rows.select("query", "doc").with_columns(rel)

    def batches(self, *, by_rank: bool, marks: Sequence[pl.Expr] = ()) -> Iterator[pl.DataFrame]:
        """The rows of the runs, some at a time."""
        table = self.table
        order = "rank" if by_rank else "score"
        require_order(table, order)
        texts = ("query", "doc", "run") if "run" in table.columns else ("query", "doc")
        for rows in _batches(table, texts, order):
            _refuse_empty(table, rows, texts)
            numbers = _numbers(rows, order, table, finite=by_rank)
            if by_rank:
                _refuse_odd_ranks(table, rows, numbers)
            score = (-numbers if by_rank else numbers).alias("score")
            run = rows["run"] if "run" in texts else pl.repeat(self.run, rows.height, eager=True)
            yield rows.select("query", "doc", score, run.alias("run")).with_columns(marks)

    def places_of(self, error: RepeatedError) -> Sequence[Place]:
        """Where that is which appears twice for a query."""
        table = self.table
        has_run = "run" in table.columns
        texts = ("query", "doc", "run") if has_run else ("query", "doc")
        rows = pl.concat(
            _having(error, collect(part.filter(nw.col("query") == error.query), table.name))
            for part in _parts(table, texts, "rank" if error.doc is None else "query")
        )
        rows = rows.filter(pl.col("run").is_duplicated()) if has_run else rows
        return [place_in(table, rows, i) for i in range(min(rows.height, 2))]

    def place_of(self, query: str) -> Place:
        """Where a query is first met."""
        table = self.table
        if table.format == TREC and table.opened is not None:
            return Place(self.name, trec.first_line_with(table.opened, query))
        for part in _parts(table, ("query",), "query"):
            found = part.filter(nw.col("query") == query)
            if ROW not in found.collect_schema().names():
                break
            first = collect(found.sort(ROW).head(1), table.name)
            if first.height:
                return place_in(table, first, 0)
        return Place(table.name)


def open_rows(
    data: Any,
    *,
    side: Literal["gold", "run"],
    name: str,
    columns: Mapping[str, str],
    format: str | None,
    engine: str,
    master: str | None,
) -> RankedTable:
    """A path of a table, any dataframe, or a dict of dicts."""
    path = None
    if isinstance(data, (str, os.PathLike)):
        own = name or bare_name(data).encode(errors="replace").decode()
        path = os.fspath(data)
        if side == "run" and engine == "polars":
            table = read_in_chunks(path, format=format)
        else:
            table = moved(open_table(path, format=format), engine, master)
    elif isinstance(data, Opened):  # a file of an archive
        own = name or bare_name(data.name)
        table = moved(open_table(data, format=format), engine, master)
    else:
        label = name or ("qrels" if side == "gold" else "run")
        own = name or "run"
        rows = _rows_of(data, label, side) if isinstance(data, Mapping) else data
        table = open_table(rows, name=label, may_be_empty=side == "run")
    table = rename(table, columns_of(table, columns, side), side=side)
    return RankedTable(table.name, own, bool(name), None if path == STDIN else path, table)


def columns_of(table: Table, mapping: Mapping[str, str], side: str) -> dict[str, str]:
    """Known to actual names: those that were said, and what other tools call the others."""
    parts = [known.rpartition(":") for known in mapping]
    said = {bare for scope, colon, bare in parts if not colon or scope == side}
    found = {}
    for known, others in CALLED.items():
        there = [name for name in others if name in table.columns]
        if known not in table.columns and known not in said and len(there) == 1:
            found[known] = there[0]
    return {**found, **mapping}


def _rows_of(lists: Mapping[Any, Any], name: str, side: str) -> pl.DataFrame:
    """What pytrec_eval and ranx are given, {query: {document: score}}, as a table."""
    number = "rel" if side == "gold" else "score"
    for query, own in lists.items():
        if not isinstance(own, Mapping):
            raise InputError(
                f"a dict holds a dict of documents for each query, {{query: {{doc: {number}}}}} "
                f"(got {type(own).__name__} for {shown(str(query))})",
                name,
            )
    pairs = [(str(query), str(doc), n) for query, own in lists.items() for doc, n in own.items()]
    values = [n for _, _, n in pairs]
    for query, doc, n in pairs:
        if isinstance(n, bool) or not isinstance(n, Real):
            raise InputError(
                f"the {number} of document {shown(doc)} for query {shown(query)} must be a number "
                f"(got {n!r})",
                name,
            )
    ids = {"query": [q for q, _, _ in pairs], "doc": [d for _, d, _ in pairs]}
    frame = pl.DataFrame(ids, schema={"query": pl.String, "doc": pl.String})
    return frame.with_columns(pl.Series(number, values, pl.Float64, strict=False))


def as_table(source: TrecFile, engine: str, master: str | None) -> RankedTable:
    """The rows of a TREC run as a table of another engine.

    Only one of scores and ranks will count: a column that cannot be read is left out, and the
    fault is told when somebody asks for it (`require_order`).
    """
    rows: pl.DataFrame | None = None
    for order, by_rank in (("score", False), ("rank", True)):
        try:
            batches = list(source.batches(by_rank=by_rank))
            own = pl.concat(batches) if batches else pl.DataFrame(schema=NO_ROWS)
        except InputError:
            if by_rank and rows is None:
                raise
            continue
        if by_rank:
            own = own.with_columns(rank=-pl.col("score")).drop("score")
        rows = own if rows is None else rows.with_columns(own[order])
    assert rows is not None
    table = Table(source.name, TREC, tuple(rows.columns), rows.lazy(), source.opened)
    held = moved(table, engine, master)
    return RankedTable(source.name, source.run, source.named, source.path, held)


def require_order(table: Table, order: str) -> None:
    """Refuse a table without ids, or without the column that documents are ordered by."""
    require_all(table, IDS)
    if order in table.columns:
        return
    if table.format == TREC and table.opened is not None:
        for _ in trec.run_batches(table.opened, by_rank=order == "rank"):
            pass
    if order == "score" and "rank" in table.columns:
        raise InputError(
            "has no column 'score' to order documents by; with "
            f"{option('ties', 'rank')} they are ordered by the column 'rank'",
            Place(table.name, 1 if table.format in ("csv", "tsv") else None),
        )
    require(table, order, "by which documents are ordered")


def _having(error: RepeatedError, rows: pl.DataFrame) -> pl.DataFrame:
    """Those of a query's rows that have what appears twice."""
    if error.doc is not None:
        return rows.filter(pl.col("doc") == error.doc)
    same = rows["rank"].cast(pl.Float64, strict=False) == error.rank
    return rows.drop("rank").filter(same)


def _parts(table: Table, texts: tuple[str, ...], number: str) -> Iterator[nw.LazyFrame[Any]]:
    """The wanted columns, not read yet; or chunk by chunk, where a file is read in chunks."""
    if table.chunks is None:
        yield chosen_columns(table, texts, number)
        return
    for chunk in table.chunks(tuple(dict.fromkeys((*texts, number)))):
        yield chosen_columns(replace(table, frame=chunk.lazy()), texts, number)


def chosen_columns(
    table: Table, texts: Sequence[str], number: str | None = None
) -> nw.LazyFrame[Any]:
    """The wanted columns, not read yet, ids as text."""
    lazy = nw.from_native(table.frame).lazy()
    chosen = [text_column(lazy, c, table.name).alias(c) for c in texts]
    if number is not None and number not in texts:
        chosen.append(nw.col(number))
    if ROW in lazy.collect_schema().names():
        chosen.append(nw.col(ROW))
    return lazy.select(*chosen)


def _batches(table: Table, texts: tuple[str, ...], number: str) -> Iterator[pl.DataFrame]:
    """The rows, some at a time; of a Parquet file, which can be read from any row on, no more.

    Another engine than polars hands them over as a whole: it keeps no order to go on from.
    """
    for chosen in _parts(table, texts, number):
        if table.format != "parquet" or not chosen.implementation.is_polars():
            yield from collect(chosen, table.name).iter_slices(BATCH)
            continue
        start, native = 0, chosen.to_native()
        while (rows := collect(nw.from_native(native.slice(start, BATCH)), table.name)).height:
            yield rows
            start += BATCH


def _refuse_empty(table: Table, rows: pl.DataFrame, texts: tuple[str, ...]) -> None:
    for column in texts:
        empty = (rows[column].is_null() | (rows[column] == "")).arg_true()
        if len(empty):
            raise InputError(f"the column '{column}' is empty", place_in(table, rows, empty[0]))


def _refuse_odd_ranks(table: Table, rows: pl.DataFrame, ranks: pl.Series) -> None:
    for wrong, expected in (
        (ranks != ranks.round(), "a whole number"),
        (ranks.abs() >= trec.MOST, "below 2^53"),
    ):
        if len(odd := wrong.arg_true()):
            got = rows["rank"][odd[0]]
            raise InputError(
                f"the rank must be {expected} (got {got})", place_in(table, rows, odd[0])
            )


def _numbers(rows: pl.DataFrame, column: str, table: Table, *, finite: bool) -> pl.Series:
    given = rows[column]
    kind = "finite number" if finite else "number"
    if given.dtype.is_nested() or given.dtype.is_temporal() or given.dtype == pl.Boolean:
        raise InputError(
            f"the column '{column}' must hold one {kind} per row (it holds {given.dtype})",
            table.name,
        )
    if isinstance(given.dtype, (pl.Categorical, pl.Enum)):
        given = given.cast(pl.String)
    values = given.cast(pl.Float64, strict=False)
    wrong = (values.is_null() | values.is_nan() | (finite & values.is_infinite())).arg_true()
    if len(wrong):
        got = "nothing" if given[wrong[0]] is None else shown(str(given[wrong[0]]))
        raise InputError(
            f"the column '{column}' must be a {kind} (got {got})", place_in(table, rows, wrong[0])
        )
    return values.alias(column)


def place_in(table: Table, rows: pl.DataFrame, index: int) -> Place:
    """Where a row of a table that was read is."""
    return table.place(rows[ROW][index] if ROW in rows.columns else index)


# -------------------------------------------------------- queries and their attributes, to slice by


def needs_queries(argument: str) -> UsageError:
    """The error of who asks for attributes where there is no table of them."""
    asked, needed = option(argument), option("queries", "FILE")
    return UsageError(f"{asked} needs a table of the queries: {needed}")


def read_queries(table: Table, by: Sequence[str] = ()) -> pl.DataFrame:
    """The column `query` and the wanted attributes, as text."""
    require(table, "query", "which names the query")
    attributes = [c for c in table.columns if c != "query"]
    for name in by:
        if name not in attributes:
            found = nearest(name, attributes)
            have = ", ".join(attributes[:20]) or "none"
            hint = f"nearest: {', '.join(found)}" if found else f"its attributes: {have}"
            raise UsageError(f"{table.name} has no attribute '{name}' ({hint})")
    rows = collect(chosen_columns(table, ("query", *by)), table.name)
    blank = (rows["query"].is_null() | (rows["query"] == "")).arg_true()
    if len(blank):
        raise InputError("a query has no id", place_in(table, rows, blank[0]))
    twice = (~rows["query"].is_first_distinct()).arg_true()
    if len(twice):
        query = shown(rows["query"][twice[0]])
        raise InputError(f"query {query} appears twice", place_in(table, rows, twice[0]))
    return rows.select("query", *by)
