"""Where judgments and runs come from: TREC files, tables, frames; all checked to one standard."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal

import narwhals as nw
import polars as pl

from abstain.errors import InputError, Place, option, shown
from abstain.io import trec
from abstain.io.columns import require, require_all, text_column
from abstain.io.engines import check_engine, moved
from abstain.io.files import PARQUET, STDIN, Opened, bare_name, open_packed
from abstain.io.frames import collect, open_table, rename
from abstain.io.tables import ROW, Table, format_of_name, read_in_pieces
from abstain.io.textfile import head
from abstain.rankings.order import RepeatedError

TREC = "trec"
BATCH = 1 << 17
"""Rows of a table that are ranked at a time."""

IDS = {"query": "which names the query", "doc": "which names the document"}
"""Columns that judgments and runs have alike, and what they are for."""

NO_ROWS = {"query": pl.String, "doc": pl.String, "score": pl.Float64, "run": pl.String}

LARGEST_GRADE = 1e18
"""Sums of such grades are still far from what a double can hold."""


@dataclass(frozen=True, slots=True)
class Source:
    """Judgments or runs: a TREC file or a table."""

    name: str
    """Its place in messages."""
    run: str
    """What its run is called, where nothing inside says so."""
    named: bool
    """Whether the caller gave that name, which then counts for more than what is inside."""
    opened: Opened | None = None
    table: Table | None = None
    path: str | None = None


def open_source(
    data: Any,
    *,
    side: Literal["gold", "run"],
    name: str = "",
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    engine: str | None = None,
    master: str | None = None,
) -> Source:
    """A path (TREC, or a table by its bytes or its name), any dataframe, or a dict of dicts.

    Another engine reads Parquet itself; of other files it is given the rows.
    """
    chosen = check_engine(engine, master)
    if isinstance(data, Mapping):
        data = _rows_of(data, name or ("qrels" if side == "gold" else "run"), side)
    if not isinstance(data, (str, os.PathLike)):
        own = name or ("qrels" if side == "gold" else "run")
        table = open_table(data, name=own, may_be_empty=side == "run")
        table = rename(table, columns or {}, side=side)
        return Source(table.name, name or "run", bool(name), table=table)
    path = os.fspath(data)
    own = name or bare_name(path).encode(errors="replace").decode()
    where = None if path == STDIN else path
    if format in (None, TREC):
        opened = open_packed(path)
        if format == TREC or _is_trec(opened):
            plain = Source(opened.name, own, bool(name), opened=opened, path=where)
            return plain if chosen == "polars" else _as_table(plain, chosen, master)
    if side == "run" and chosen == "polars":
        table = read_in_pieces(path, format=format)
    else:
        table = moved(open_table(path, format=format), chosen, master)
    table = rename(table, columns or {}, side=side)
    return Source(table.name, own, bool(name), table=table, path=where)


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


def _as_table(source: Source, engine: str, master: str | None) -> Source:
    """The rows of a TREC run as a table of another engine.

    Only one of scores and ranks will count: a column that cannot be read is left out, and the
    fault is told when somebody asks for it (`require_order`).
    """
    assert source.opened is not None
    rows: pl.DataFrame | None = None
    for order, by_rank in (("score", False), ("rank", True)):
        try:
            batches = list(trec.run_batches(source.opened, by_rank=by_rank))
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
    return replace(source, opened=None, table=moved(table, engine, master))


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
            "has no column 'score', by which documents are ordered; "
            f"{option('ties', 'rank')} goes by its column 'rank' instead",
            Place(table.name, 1 if table.format in ("csv", "tsv") else None),
        )
    require(table, order, "by which documents are ordered")


def _is_trec(opened: Opened) -> bool:
    """TREC files have no header and often no ending; tables say what they are."""
    begins = head(opened)
    if begins.startswith(PARQUET):
        return False
    if trec.looks_like_trec(begins):
        return True
    return format_of_name(opened.name) is None and not begins.lstrip().startswith((b"{", b"["))


def judgments_of(source: Source) -> pl.DataFrame:
    """The rows of the qrels: query, doc, rel."""
    if source.opened is not None:
        return trec.read_qrels(source.opened)
    table = _table(source)
    require_all(table, IDS | {"rel": "which holds the grade (0: judged, not relevant)"})
    rows = collect(_chosen(table, ("query", "doc"), "rel"), table.name)
    _refuse_empty(table, rows, ("query", "doc"))
    if rows.is_empty():
        raise InputError("has no judgments (expected columns: query, doc, rel)", source.name)
    rel = _numbers(rows, "rel", table, finite=True)
    if len(huge := (rel > LARGEST_GRADE).arg_true()):
        raise InputError(
            f"the grade must be at most {LARGEST_GRADE:g} (got {rel[huge[0]]:g})",
            _place(table, rows, huge[0]),
        )
    return rows.select("query", "doc").with_columns(rel)


def batches_of(
    source: Source, *, by_rank: bool, marks: Sequence[pl.Expr] = ()
) -> Iterator[pl.DataFrame]:
    """The rows of the runs, some at a time: query, doc, score, run, and what ``marks`` say of them.

    With `by_rank` the score is −rank.
    """
    if source.opened is not None:
        yield from trec.run_batches(source.opened, by_rank=by_rank, marks=marks)
        return
    table = _table(source)
    order = "rank" if by_rank else "score"
    require_order(table, order)
    texts = ("query", "doc", "run") if "run" in table.columns else ("query", "doc")
    for rows in _batches(table, texts, order):
        _refuse_empty(table, rows, texts)
        numbers = _numbers(rows, order, table, finite=by_rank)
        if by_rank:
            _refuse_odd_ranks(table, rows, numbers)
        score = (-numbers if by_rank else numbers).alias("score")
        run = rows["run"] if "run" in texts else pl.repeat(source.run, rows.height, eager=True)
        yield rows.select("query", "doc", score, run.alias("run")).with_columns(marks)


def twice(source: Source, error: RepeatedError) -> InputError:
    """What stands twice for a query, with its two places."""
    what = f"document {shown(error.doc)}" if error.doc is not None else f"rank {error.rank}"
    message = f"{what} stands twice for query {shown(error.query)}"
    if source.opened is not None:
        found = trec.lines_with(source.opened, error.query, doc=error.doc, rank=error.rank)
        if len(found) > 1:
            place = Place(source.name, found[1])
            return InputError(f"{message} (first: {Place(source.name, found[0])})", place)
        return InputError(message, source.name)
    table = _table(source)
    has_run = "run" in table.columns
    texts = ("query", "doc", "run") if has_run else ("query", "doc")
    rows = pl.concat(
        _having(error, collect(part.filter(nw.col("query") == error.query), table.name))
        for part in _parts(table, texts, "rank" if error.doc is None else "query")
    )
    rows = rows.filter(pl.col("run").is_duplicated()) if has_run else rows
    if rows.height < 2:
        return InputError(message, source.name)
    first, second = (_place(table, rows, i) for i in (0, 1))
    return InputError(f"{message} (first: {first})", second)


def _having(error: RepeatedError, rows: pl.DataFrame) -> pl.DataFrame:
    """Those of a query's rows that have what stands twice."""
    if error.doc is not None:
        return rows.filter(pl.col("doc") == error.doc)
    same = rows["rank"].cast(pl.Float64, strict=False) == error.rank
    return rows.drop("rank").filter(same)


def place_of(source: Source, query: str) -> Place:
    """Where a query is first met."""
    if source.opened is not None:
        return Place(source.name, trec.first_line_with(source.opened, query))
    table = _table(source)
    if table.format == TREC and table.opened is not None:
        return Place(source.name, trec.first_line_with(table.opened, query))
    for part in _parts(table, ("query",), "query"):
        found = part.filter(nw.col("query") == query)
        if ROW not in found.collect_schema().names():
            break
        first = collect(found.sort(ROW).head(1), table.name)
        if first.height:
            return _place(table, first, 0)
    return Place(table.name)


def _table(source: Source) -> Table:
    assert source.table is not None
    return source.table


def _parts(table: Table, texts: tuple[str, ...], number: str) -> Iterator[nw.LazyFrame[Any]]:
    """The wanted columns, not read yet; or piece by piece, where a file is read in pieces."""
    if table.pieces is None:
        yield _chosen(table, texts, number)
        return
    for piece in table.pieces(tuple(dict.fromkeys((*texts, number)))):
        yield _chosen(replace(table, frame=piece.lazy()), texts, number)


def _chosen(table: Table, texts: tuple[str, ...], number: str) -> nw.LazyFrame[Any]:
    """The wanted columns, not read yet, ids as text."""
    lazy = nw.from_native(table.frame).lazy()
    chosen = [text_column(lazy, c, table.name).alias(c) for c in texts]
    if number not in texts:
        chosen.append(nw.col(number))
    if ROW in lazy.collect_schema().names():
        chosen.append(nw.col(ROW))
    return lazy.select(*chosen)


def _batches(table: Table, texts: tuple[str, ...], number: str) -> Iterator[pl.DataFrame]:
    """The rows, some at a time; of a Parquet file, which can be read from any row on, no more."""
    for chosen in _parts(table, texts, number):
        if table.format != "parquet":
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
            raise InputError(f"the column '{column}' is empty", _place(table, rows, empty[0]))


def _refuse_odd_ranks(table: Table, rows: pl.DataFrame, ranks: pl.Series) -> None:
    for wrong, expected in (
        (ranks != ranks.round(), "a whole number"),
        (ranks.abs() >= trec.MOST, "below 2^53"),
    ):
        if len(odd := wrong.arg_true()):
            got = rows["rank"][odd[0]]
            raise InputError(
                f"the rank must be {expected} (got {got})", _place(table, rows, odd[0])
            )


def _numbers(rows: pl.DataFrame, column: str, table: Table, *, finite: bool) -> pl.Series:
    given = rows[column]
    kind = "a finite number" if finite else "a number"
    if given.dtype.is_nested() or given.dtype.is_temporal() or given.dtype == pl.Boolean:
        raise InputError(
            f"the column '{column}' must hold {kind} a row (it holds {given.dtype})", table.name
        )
    values = given.cast(pl.Float64, strict=False)
    wrong = (values.is_null() | values.is_nan() | (finite & values.is_infinite())).arg_true()
    if len(wrong):
        got = "nothing" if given[wrong[0]] is None else shown(str(given[wrong[0]]))
        raise InputError(
            f"the column '{column}' must be {kind} (got {got})", _place(table, rows, wrong[0])
        )
    return values.alias(column)


def _place(table: Table, rows: pl.DataFrame, index: int) -> Place:
    return table.place(rows[ROW][index] if ROW in rows.columns else index)
