"""Tables from paths or from any dataframe: opened, columns renamed, collected."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import narwhals as nw
import polars as pl
from msgspec.structs import replace
from narwhals.typing import IntoFrame

from abstain.errors import InputError, UsageError, nearest
from abstain.io.files import Opened
from abstain.io.limits import reading
from abstain.io.tables import ROW, Chunks, Table, json_column, read_table


def open_table(
    data: Any,
    *,
    name: str = "",
    format: str | None = None,
    pick: Mapping[str, str] | None = None,
    may_be_empty: bool = False,
) -> Table:
    """A table from a path or from any dataframe that narwhals knows, eager or lazy."""
    if isinstance(data, Table):
        return data
    if isinstance(data, (str, os.PathLike, Opened)):
        return read_table(data, format=format, pick=pick)
    try:
        frame = nw.from_native(_with_index(data))
    except nw.exceptions.DuplicateError:
        raise InputError("two columns have the same name", name or "the frame") from None
    except TypeError:
        expected = "expected a path or a dataframe (polars, pandas, pyarrow, duckdb, Spark)"
        label = f"{name}: " if name else ""
        raise UsageError(f"{label}{expected}, got {type(data).__name__}") from None
    label = name or "the frame"
    if isinstance(frame, nw.LazyFrame):
        native = frame.to_native()
        if isinstance(native, pl.LazyFrame):
            native = native.with_row_index(ROW)
        elif frame.implementation.is_duckdb():
            from abstain.io.engines import with_every_nan

            native = with_every_nan(native)
        with reading(label, engine=True):  # a query may be wrong before it is run
            columns = tuple(frame.collect_schema().names())
        return Table(label, "frame", columns, native)
    eager = to_polars(frame, label)
    if eager.is_empty() and not may_be_empty:
        raise InputError("has no rows", label)
    return Table(label, "frame", tuple(eager.columns), eager.lazy().with_row_index(ROW))


def _with_index(data: Any) -> Any:
    """A pandas frame whose index became columns, where it says more than the number of a row."""
    if not nw.dependencies.is_pandas_like_dataframe(data):
        return data
    columns = {str(name) for name in data.columns}
    kept = [
        level
        for level, name in enumerate(data.index.names)
        if (name is not None and str(name) not in columns)
        or (name is None and data.index.get_level_values(level).inferred_type == "string")
    ]
    return data.reset_index(level=kept) if kept else data


def to_polars(frame: nw.DataFrame[Any], label: str) -> pl.DataFrame:
    """An eager frame as polars; columns of mixed objects become text."""
    if len(set(frame.columns)) < len(frame.columns):
        raise InputError("two columns have the same name", label)
    try:
        return frame.to_polars()
    except Exception:
        columns = frame.to_dict(as_series=False)
        cleaned = {
            str(name): [None if value is None or value != value else value for value in values]
            for name, values in columns.items()
        }
        return pl.DataFrame({name: json_column(name, values) for name, values in cleaned.items()})


def rename(table: Table, mapping: Mapping[str, str], *, side: str) -> Table:
    """Rename columns to the names that abstain knows: `mapping` is known name to actual name.

    A name may begin with `gold:` or `run:` to speak of one side only.
    """
    wanted: dict[str, str] = {}
    for known, actual in mapping.items():
        scope, colon, bare = known.rpartition(":")
        if not colon or scope == side:
            wanted[bare] = actual
    renames = {actual: known for known, actual in wanted.items() if actual in table.columns}
    if not renames:
        return table
    dropped = [c for c in renames.values() if c in table.columns and c not in renames]
    moved = {a: k for a, k in renames.items() if a != k}
    frame = nw.from_native(table.frame)
    # where nothing changes nothing is selected: DuckDB would take a column `*` for all of them
    frame = frame.drop(dropped) if dropped else frame
    frame = frame.rename(moved) if moved else frame
    columns = tuple(c for c in frame.collect_schema().names() if c != ROW)
    before = (*table.renamed, *renames)
    chunks = None if table.chunks is None else partial(_renamed_chunks, table.chunks, renames)
    return replace(table, columns=columns, frame=frame.to_native(), renamed=before, chunks=chunks)


def without(table: Table, column: str) -> Table:
    """A table without one of its columns."""
    frame = nw.from_native(table.frame).drop(column).to_native()
    columns = tuple(name for name in table.columns if name != column)
    return replace(table, frame=frame, columns=columns)


def _renamed_chunks(
    chunks: Chunks, renames: Mapping[str, str], columns: Sequence[str]
) -> Iterator[pl.DataFrame]:
    before = {known: actual for actual, known in renames.items()}
    actual = [before.get(column, column) for column in columns]
    for chunk in chunks(actual):
        yield chunk.rename(dict(zip(actual, columns, strict=True)))


def check_mapping(mapping: Mapping[str, str], tables: Iterable[Table]) -> None:
    """Refuse a mapping from a column that no table has."""
    tables = list(tables)
    for known, actual in mapping.items():
        scope, _, _ = known.rpartition(":")
        if scope not in ("", "gold", "run"):
            raise UsageError(f"a column's scope is gold: or run: (got '{known}')")
        if not any(actual in (*table.columns, *table.renamed) for table in tables):
            seen = sorted({c for table in tables for c in table.columns})
            near = nearest(actual, seen)
            hint = f"nearest: {', '.join(near)}" if near else f"columns: {', '.join(seen[:20])}"
            raise UsageError(f"no table has a column '{actual}' ({hint})")


def collect(frame: nw.LazyFrame[Any], label: str) -> pl.DataFrame:
    """Run a lazy frame in its engine and bring the (small) result here."""
    native = frame.to_native()
    with reading(label, engine=True):
        if isinstance(native, pl.LazyFrame):
            return native.collect(engine="streaming")
        collected: pl.DataFrame = frame.collect(backend="polars").to_native()
        return collected


def in_engine(small: pl.DataFrame, like: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """A small table, moved to the engine of the frame that it will be joined with."""
    native = like.to_native()
    if isinstance(native, pl.LazyFrame):
        return nw.from_native(small.lazy())
    if like.implementation.is_duckdb():
        from abstain.io.engines import to_duckdb

        return into_lazy(to_duckdb(small, native))
    if like.implementation.is_pyspark():
        from abstain.io.engines import to_spark

        return into_lazy(to_spark(small, native.sparkSession))
    how = "collect the frame, or use polars, duckdb or Spark"
    raise UsageError(f"lazy {like.implementation} frames are not supported; {how}")


def into_lazy(frame: IntoFrame) -> nw.LazyFrame[Any]:
    """A native frame as a narwhals lazy frame."""
    return nw.from_native(frame).lazy()
