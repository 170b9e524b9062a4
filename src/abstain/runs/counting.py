"""Counting: how many responses of each kind every run has, in every slice and of every confidence.

Responses come in batches of rows. What is held is a batch, the counts, and one bit for every run
and question, so that a question answered twice is noticed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from msgspec import Struct

from abstain.errors import InputError, UsageError
from abstain.io.files import reading
from abstain.io.frames import collect, into_lazy
from abstain.io.tables import cells
from abstain.measures.definition import Array, Codes, IntArray
from abstain.outcomes import KINDS, Why, blank_kind
from abstain.runs.gold import BY, slice_numbers, slice_sizes
from abstain.runs.judge import INDEX, KIND, SLICE, SPOT, Judged
from abstain.runs.responses import Responses

MISSING = blank_kind(Why.MISSING)

UNSURE = -1
"""The bin of responses without a confidence."""

BATCH = 1 << 18
"""Rows that are looked at together."""

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
    for name in by:  # before slices are numbered, at more cost
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


class Batch(Struct, frozen=True):
    """Some responses without a fault: the numbers of their runs, their questions, their kinds."""

    run: IntArray
    index: IntArray
    kind: Codes
    confidence: Array | None = None
    """NaN where there is none; None: nobody asked."""


class Batches:
    """The responses of a frame in batches; runs are numbered as they come."""

    def __init__(
        self, judged: Judged, frame: nw.LazyFrame[Any], *, confident: bool = False
    ) -> None:
        self.width = len(judged.gold)
        self.label = judged.sources[0].table.name
        self.rows = 0
        """Responses seen so far, without those at fault."""
        self.faults = 0
        self.confident = confident
        stated = "confidence" in frame.collect_schema().names()
        self._frame = frame.select("run", INDEX, KIND, *["confidence"] * (confident and stated))
        self._categories = pl.Categories.random()
        # polars forgets categories of which no column is left, so one is kept
        self._kept = pl.Series([], dtype=pl.Categorical(self._categories))

    def __iter__(self) -> Iterator[Batch]:
        run = pl.col("run").cast(pl.Categorical(self._categories))
        with reading(self.label, engine=True):
            for frame in native_batches(self._frame, run):
                faults = int((frame[KIND] >= KINDS).sum())
                rows = frame.filter(pl.col(KIND) < KINDS) if faults else frame
                self.faults += faults
                self.rows += rows.height
                if rows.height:
                    sure = rows.get_column("confidence", default=None)
                    if sure is not None:
                        sure = sure.cast(pl.Float64).fill_null(np.nan).to_numpy()
                    yield Batch(
                        rows["run"].to_physical().to_numpy().astype(np.int64),
                        rows[INDEX].to_numpy().astype(np.int64),
                        rows[KIND].to_numpy().view(np.uint8),
                        sure,
                    )

    def names(self) -> list[str]:
        return self._categories.to_series().to_list()


def streams(frame: nw.LazyFrame[Any]) -> bool:
    """Whether the rows of a frame can be brought here in batches at little cost."""
    return bool(frame.implementation.is_polars() or frame.implementation.is_duckdb())


def native_batches(frame: nw.LazyFrame[Any], run: pl.Expr) -> Iterator[pl.DataFrame]:
    """Batches with the run encoded: at once where polars reads, for texts take more memory."""
    native: Any = frame.to_native()
    if isinstance(native, pl.LazyFrame):
        yield from native.with_columns(run).collect_batches(
            chunk_size=BATCH, maintain_order=False, engine="streaming"
        )
        return
    if frame.implementation.is_duckdb():
        read = getattr(native, "to_arrow_reader", None) or native.fetch_record_batch
        parts = read(BATCH)
    else:  # Spark hands over a table as a whole: here of three narrow columns
        parts = native.toArrow().to_batches(BATCH)
    for part in parts:
        rows = pl.from_arrow(part)
        assert isinstance(rows, pl.DataFrame)
        yield rows.with_columns(run)


def grown(table: Any, rows: int, empty: float = 0) -> Any:
    """A table with room for so many rows, twice as many as it had if it had too few.

    Zeros that nobody has written to take no memory.
    """
    if rows <= len(table):
        return table
    shape = (max(rows, 2 * len(table)), *table.shape[1:])
    larger = np.full(shape, empty, table.dtype) if empty else np.zeros(shape, table.dtype)
    larger[: len(table)] = table
    return larger


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
    """How many rows of each kind, by run and slice, counted by the frame's engine."""
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


# --------------------------------------------------------------------------------- refusals


def refuse_faults(
    judged: Judged, faults: int, repeated: int, runs: Sequence[str] | None = None
) -> None:
    """Refuse so many rows at fault, or so many questions that `runs` have again."""
    if not faults and not repeated:
        return
    from abstain.runs.faults import first_fault, first_repeat

    raise first_fault(judged, faults) if faults else first_repeat(judged, repeated, runs)


def refuse_runs(sources: Sequence[Responses], runs: Sequence[str]) -> None:
    """Refuse a run that two tables have, and a table of which none of the runs came."""
    if len(set(runs)) < len(runs):
        name = next(run for run in runs if runs.count(run) > 1)
        raise UsageError(f"run '{name}' is in two tables; a run belongs in one")
    for source in sources:
        if not runs or (source.run is not None and source.run not in runs):
            raise InputError("has no rows", source.table.name)
