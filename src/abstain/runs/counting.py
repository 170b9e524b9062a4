"""Counting: how many responses of each kind every run has, in every slice and of every confidence.

What is held is one bit for every run and question, so that a question answered twice is noticed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from msgspec import Struct

from abstain.errors import InputError
from abstain.io.files import reading
from abstain.io.frames import collect, into_lazy
from abstain.io.tables import cells
from abstain.measures.definition import IntArray
from abstain.outcomes import KINDS
from abstain.runs.gold import BY, slice_numbers, slice_sizes
from abstain.runs.judge import INDEX, KIND, SLICE, SPOT, Judged
from abstain.runs.matrix import (
    MISSING,
    UNSURE,
    Batches,
    grown,
    refuse_faults,
    refuse_runs,
    streams,
)
from abstain.runs.responses import Responses

MAX_BITS = 8 << 30
"""Runs × questions that are remembered as met or not; beyond, the engine has to tell them apart."""

MAX_COUNTS = 100_000 * KINDS
"""Runs × slices × kinds that are counted one by one; more are refused."""


class TooManyError(Exception):
    """There are more runs × questions than bits to remember them by."""


class KindCounts(Struct, frozen=True):
    """For each run and slice, how many responses of each kind: rows × KINDS whole numbers."""

    runs: list[str]
    slices: list[tuple[str | None, ...]]
    table: IntArray
    questions: int


def count_kinds(judged: Judged, by: Sequence[str] = ()) -> KindCounts:
    """Count the kinds by run and slice, after making sure that there is nothing to refuse."""
    parts = [
        _count_here(judged, frame, by) if streams(frame) else _count_in_engine(judged, frame, by)
        for frame in judged.frames
    ]
    refuse_runs(judged.sources, [run for part in parts for run in dict.fromkeys(part.runs)])
    if len(parts) == 1:
        return parts[0]
    return KindCounts(
        [run for part in parts for run in part.runs],
        [item for part in parts for item in part.slices],
        np.concatenate([part.table for part in parts]),
        len(judged.gold),
    )


def refuse_counts(runs: int, slices: int, label: str) -> None:
    """Stop before a table of counts that no memory holds."""
    if runs * slices * KINDS > MAX_COUNTS:
        raise InputError(
            f"{runs:,} runs × {slices:,} slices are more than the {MAX_COUNTS // KINDS:,} rows of "
            "a result; slice by an attribute with fewer values",
            label,
        )


def _count_here(judged: Judged, frame: nw.LazyFrame[Any], by: Sequence[str]) -> KindCounts:
    """Kinds by run and slice, in memory that does not depend on the number of rows."""
    label = judged.sources[0].table.name
    for name in by:  # before slices are told apart, at more cost
        refuse_counts(1, cells(judged.gold.frame, name).n_unique(), label)
    sizes = slice_sizes(judged.gold.frame, by)
    refuse_counts(1, sizes.height, label)
    try:
        if fits_in_duckdb(judged, frame, sizes["size"]):
            census = census_in_duckdb(judged, frame, sizes["size"])
        else:
            slice_of = slice_numbers(judged.gold.frame, sizes, by)
            census = census_here(Batches(judged, frame), slice_of, sizes.height)
    except TooManyError:
        return _count_in_engine(judged, frame, by)
    refuse_faults(judged, census.faults, census.repeated, census.repeating)
    census.table[..., MISSING] += sizes["size"].to_numpy() - census.table.sum(axis=2)
    slices: list[tuple[str | None, ...]] = sizes.drop("size").rows() if by else [()]
    runs = [run for run in census.runs for _ in slices]
    table = census.table.reshape(-1, KINDS)
    return KindCounts(runs, slices * len(census.runs), table, len(judged.gold))


# ------------------------------------------------------------------- counted by batches


class Census(Struct, frozen=True):
    """How many responses of each kind: runs × slices × KINDS, the missing ones not among them."""

    runs: list[str]
    table: IntArray
    repeating: list[str]
    """Runs that have a question again."""
    repeated: int
    faults: int
    """Responses that cannot be judged."""


def census_here(batches: Batches, slice_of: IntArray, slices: int) -> Census:
    """Count responses by run and slice, and remember for each by one bit that it was met."""
    stride = (batches.width + 7) // 8
    table = np.zeros((1, slices * KINDS), np.int64)
    met = np.zeros((1, stride), np.uint8)
    for batch in batches:
        runs = int(batch.run.max()) + 1
        if runs * batches.width > MAX_BITS:
            raise TooManyError
        refuse_counts(runs, slices, batches.label)
        table, met = grown(table, runs), grown(met, runs)
        bins = (batch.run * slices + slice_of[batch.index]) * KINDS + batch.kind
        if table.size <= 4 * len(bins):
            table.reshape(-1)[:] += np.bincount(bins, minlength=table.size)
        else:
            np.add.at(table.reshape(-1), bins, 1)
        bit = np.left_shift(1, batch.index & 7).astype(np.uint8)
        np.bitwise_or.at(met.reshape(-1), batch.run * stride + (batch.index >> 3), bit)
    names = batches.names()
    order = sorted(range(len(names)), key=names.__getitem__)
    table, met = grown(table, len(names)), grown(met, len(names))  # of some every row is at fault
    counts = table[order].reshape(len(names), slices, KINDS)
    distinct = np.array([int(np.bitwise_count(met[i]).sum()) for i in order], np.int64)
    return _census([names[i] for i in order], counts, distinct, batches.faults)


def _census(names: list[str], counts: IntArray, distinct: IntArray, faults: int) -> Census:
    """Counts, with the runs that have more responses than different questions."""
    again = counts.sum(axis=(1, 2)) - distinct
    repeating = [name for name, more in zip(names, again.tolist(), strict=True) if more]
    return Census(names, counts, repeating, int(again.sum()), faults)


# ------------------------------------------------------------------- counted by DuckDB

MOST_BITS = 1 << 29
"""Runs × slices × questions of the largest slice that DuckDB remembers as met: 64 MB for a kind."""

MET = -1
"""The kind under which the query tells how many different questions were met."""

QUERY = f"""
WITH counted AS MATERIALIZED (
  SELECT run, {SLICE}, {KIND}, count(*) AS n, bitstring_agg({SPOT}, 0, {{last}}) AS met
  FROM responses_of_abstain_6b1d0f52 GROUP BY ALL
)
SELECT run, {SLICE}, {KIND}, n FROM counted
UNION ALL
SELECT run, {SLICE}, {MET}, bit_count(bit_or(met)) FROM counted WHERE {KIND} < {KINDS} GROUP BY ALL
"""


def fits_in_duckdb(judged: Judged, frame: nw.LazyFrame[Any], sizes: pl.Series) -> bool:
    """Whether these are responses in DuckDB, and few enough to be remembered there.

    To know the number of runs takes a look at one column: of files. A caller's relation may be a
    query of any cost and is run once.
    """
    if not frame.implementation.is_duckdb():
        return False
    if any(s.run is None and s.table.opened is None for s in judged.sources):
        return False
    room = MOST_BITS // (len(sizes) * int(sizes.to_numpy().max()))
    return sum(run_count(source) for source in judged.sources) <= room


def run_count(source: Responses) -> int:
    """How many runs a table has, before it is joined with anything."""
    if source.run is not None:
        return 1
    runs = source.frame.select(nw.col("run").n_unique().alias("runs"))
    return int(collect(runs, source.table.name)["runs"][0])


def census_in_duckdb(judged: Judged, frame: nw.LazyFrame[Any], sizes: pl.Series) -> Census:
    """Count responses by run, slice and kind, and find those to a question again.

    To hand every response over costs more than to count it there. The bits are held for each
    thread and kind, so this is for as many runs and questions as leave room for that.
    """
    label = judged.sources[0].table.name
    query = QUERY.format(last=int(sizes.to_numpy().max()) - 1)
    with reading(label, engine=True):
        relation = frame.to_native().query("responses_of_abstain_6b1d0f52", query)
    rows = collect(into_lazy(relation), label).cast(
        {"run": pl.String, SLICE: pl.Int64, KIND: pl.Int64, "n": pl.Int64}
    )
    faults = int(rows.filter(pl.col(KIND) >= KINDS)["n"].sum())
    rows = rows.filter(pl.col(KIND) < KINDS)
    names = sorted(rows["run"].unique().to_list())
    refuse_counts(len(names), len(sizes), label)
    numbers = pl.DataFrame({"run": names}, schema={"run": pl.String}).with_row_index("number")
    rows = rows.join(numbers, on="run", how="left")
    table = np.zeros((len(names), len(sizes), KINDS), np.int64)
    kinds = rows.filter(pl.col(KIND) != MET)
    table[tuple(kinds[c].to_numpy() for c in ("number", SLICE, KIND))] = kinds["n"].to_numpy()
    met = rows.filter(pl.col(KIND) == MET).group_by("number").agg(pl.col("n").sum()).sort("number")
    return _census(names, table, met["n"].to_numpy(), faults)


# ------------------------------------------------------------------- counted by any engine


def _count_in_engine(judged: Judged, frame: nw.LazyFrame[Any], by: Sequence[str]) -> KindCounts:
    columns = [BY + name for name in by]
    kinds = counted(judged, frame, columns)
    total = rows_by_run(judged, frame)
    refuse_faults(judged, 0, int((total["rows"] - total["distinct"]).sum()))
    sizes = slice_sizes(judged.gold.frame, by)
    return with_missing(kinds, sizes, columns, questions=len(judged.gold))


def rows_by_run(judged: Judged, frame: nw.LazyFrame[Any]) -> pl.DataFrame:
    """For each run, how many rows it has and how many questions of the gold those are for."""
    known = frame.filter(~nw.col(INDEX).is_null())
    sizes = nw.len().alias("rows"), nw.col(INDEX).n_unique().alias("distinct")
    return collect(known.group_by("run").agg(*sizes), judged.sources[0].table.name)


def counted(judged: Judged, frame: nw.LazyFrame[Any], columns: Sequence[str]) -> pl.DataFrame:
    """How many rows of each kind, by run and slice, counted by the frame's own engine."""
    grouped = frame.group_by("run", *columns, KIND).agg(nw.len().alias("n"))
    texts = [pl.col(name).cast(pl.String) for name in ("run", *columns)]
    numbers = pl.col(KIND).cast(pl.Int16), pl.col("n").cast(pl.Int64)
    kinds = collect(grouped, judged.sources[0].table.name).select(*texts, *numbers)
    refuse_faults(judged, int(kinds.filter(pl.col(KIND) >= KINDS)["n"].sum()), 0)
    return kinds


def with_missing(
    kinds: pl.DataFrame, sizes: pl.DataFrame, columns: Sequence[str], *, questions: int
) -> KindCounts:
    """Counts for every run in every slice; what a run has no row for is a missing response."""
    runs = kinds.select("run").unique().sort("run")
    refuse_counts(runs.height, sizes.height, "the responses")
    grid = runs.join(sizes.with_row_index("order"), how="cross").sort("run", "order")
    grid = grid.with_row_index("cell")
    placed = kinds.join(grid, on=["run", *columns], how="left", nulls_equal=True)
    table = np.zeros((grid.height, KINDS), dtype=np.int64)
    np.add.at(table, (placed["cell"].to_numpy(), placed[KIND].to_numpy()), placed["n"].to_numpy())
    table[:, MISSING] += grid["size"].to_numpy() - table.sum(axis=1)
    slices: list[tuple[str | None, ...]] = (
        grid.select(columns).rows() if columns else [()] * grid.height
    )
    return KindCounts(grid["run"].to_list(), slices, table, questions)


def binned(judged: Judged, bins: int) -> pl.DataFrame:
    """How many responses of each run and kind fall in each bin: run, KIND, bin, n.

    A bin begins at a multiple of 1/bins, and bins are a power of two, so that the product of a
    confidence and their number is exact.
    """
    parts = []
    for frame in judged.frames:
        placed = nw.lit(UNSURE)
        if "confidence" in frame.collect_schema().names():
            sure = nw.col("confidence")
            placed = nw.when(~sure.is_null()).then((sure * bins).floor()).otherwise(placed)
        rows = frame.select("run", KIND, placed.cast(nw.Int64).alias("bin"))
        counts = rows.group_by("run", KIND, "bin").agg(nw.len().alias("n"))
        whole = collect(counts, judged.sources[0].table.name)
        parts.append(
            whole.select(pl.col("run").cast(pl.String), pl.col(KIND, "bin", "n").cast(pl.Int64))
        )
    return pl.concat(parts)
