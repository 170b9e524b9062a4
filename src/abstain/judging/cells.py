"""Responses as cells, some at a time: which run, which question, which kind.

Whatever the number of rows, what is held is a batch of them and something for every run and
question: one byte where the kinds are wanted (`fill`), one bit where only counts are (`Census`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from msgspec import Struct

from abstain.errors import InputError
from abstain.io.boundary import reading
from abstain.io.frames import collect, into_lazy
from abstain.judging.judge import INDEX, KIND, SLICE, SPOT, Judged
from abstain.judging.responses import Responses
from abstain.measures.arrays import Array, Codes, IntArray
from abstain.outcomes import KINDS, Why, blank_kind

BATCH = 1 << 19
"""Rows that are looked at together."""

MAX_CELLS = 4 << 30
"""Runs × questions whose kinds are held in memory; more are refused."""

MAX_BITS = 8 << 30
"""Runs × questions that are remembered as met or not; beyond, the engine has to tell them apart."""

MAX_COUNTS = 100_000 * KINDS
"""Runs × slices × kinds that are counted and told one by one; more are refused."""

MISSING = blank_kind(Why.MISSING)


class TooManyError(Exception):
    """There are more runs × questions than bits to remember them by."""


class Batch(Struct, frozen=True):
    """Some responses without a fault: the numbers of their runs, their questions, their kinds."""

    run: IntArray
    index: IntArray
    kind: Codes
    confidence: Array | None = None
    """NaN where none was given; None: nobody asked."""


class Cells:
    """The responses of a frame in batches; runs are numbered as they come."""

    def __init__(
        self, judged: Judged, frame: nw.LazyFrame[Any], *, confident: bool = False
    ) -> None:
        self.width = len(judged.gold)
        self.label = judged.sources[0].table.name
        self.rows = 0
        """Responses seen so far, without those at fault."""
        self.faults = 0
        stated = "confidence" in frame.collect_schema().names()
        self.confident = confident
        more = ["confidence"] if confident and stated else []
        self._frame = frame.select("run", INDEX, KIND, *more)
        self._categories = pl.Categories.random()
        # polars forgets categories of which no column is left, so one is kept
        self._held = pl.Series([], dtype=pl.Categorical(self._categories))

    def __iter__(self) -> Iterator[Batch]:
        with reading(self.label, engine=True):
            for rows in _batches(self._frame, self._categories):
                kind = rows[KIND].to_numpy()
                faulty = int(np.count_nonzero(kind >= KINDS))
                if faulty:
                    self.faults += faulty
                    rows = rows.filter(pl.col(KIND) < KINDS)
                    kind = rows[KIND].to_numpy()
                self.rows += rows.height
                if rows.height:
                    run = rows["run"].to_physical().to_numpy().astype(np.int64)
                    index = rows[INDEX].to_numpy().astype(np.int64)
                    sure = rows.get_column("confidence", default=None)
                    if sure is not None:
                        sure = sure.cast(pl.Float64).fill_null(np.nan).to_numpy()
                    yield Batch(run, index, kind.view(np.uint8), sure)

    def names(self) -> list[str]:
        """The runs by number."""
        return self._categories.to_series().to_list()


def streams(frame: nw.LazyFrame[Any]) -> bool:
    """Whether the rows of a frame can be brought here in batches at little cost."""
    return bool(frame.implementation.is_polars() or frame.implementation.is_duckdb())


def _batches(frame: nw.LazyFrame[Any], categories: pl.Categories) -> Iterator[pl.DataFrame]:
    run = pl.col("run").cast(pl.Categorical(categories))
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
        frame_part = pl.from_arrow(part)
        assert isinstance(frame_part, pl.DataFrame)
        yield frame_part.with_columns(run)


def fill(
    cells: Cells,
) -> tuple[list[str], Codes, Array | None, int]:
    """The runs by name, the kind of each cell, its confidence, how many cells were filled again.

    There are confidences where they were asked for: NaN where a response has none.
    """
    width, held = cells.width, np.zeros((1, cells.width), np.uint8)
    sure = np.full((1, cells.width if cells.confident else 0), np.nan)
    for batch in cells:
        runs = int(batch.run.max()) + 1
        if runs * width > MAX_CELLS:
            raise InputError(
                f"{runs:,} runs × {width:,} questions are more than fit in memory", cells.label
            )
        held = grown(held, runs)
        at = batch.run * width + batch.index
        held.reshape(-1)[at] = batch.kind + 1  # 0: nothing yet
        if batch.confidence is not None:
            sure = grown(sure, runs, np.nan)
            sure.reshape(-1)[at] = batch.confidence
    names = cells.names()
    held = grown(held, len(names))[: len(names)]  # a run may have nothing but faults
    repeated = cells.rows - int(np.count_nonzero(held))
    kind_of = np.arange(-1, KINDS).astype(np.uint8)
    kind_of[0] = MISSING
    for own in held:
        own[:] = kind_of[own]
    sure = grown(sure, len(names), np.nan)[: len(names)].copy()  # without the room to grow
    return names, held, sure if cells.confident else None, repeated


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
    """How many responses of each kind: runs × parts × KINDS, the missing ones not among them."""

    runs: list[str]
    table: IntArray
    repeating: list[str]
    """Runs that have a question again."""
    repeated: int
    faults: int
    """Responses that cannot be judged; where there are some, nothing else is told."""


def census(cells: Cells, slice_of: IntArray, slices: int) -> Census:
    """Count cells by run and slice, and remember for each by one bit that it was met."""
    stride = (cells.width + 7) // 8
    table = np.zeros((1, slices * KINDS), np.int64)
    met = np.zeros((1, stride), np.uint8)
    for batch in cells:
        runs = int(batch.run.max()) + 1
        if runs * cells.width > MAX_BITS:
            raise TooManyError
        refuse_counts(runs, slices, cells.label)
        table, met = grown(table, runs), grown(met, runs)
        bins = (batch.run * slices + slice_of[batch.index]) * KINDS + batch.kind
        _add(table.reshape(-1), bins)
        bit = np.left_shift(1, batch.index & 7).astype(np.uint8)
        np.bitwise_or.at(met.reshape(-1), batch.run * stride + (batch.index >> 3), bit)
    names = cells.names()
    table, met = grown(table, len(names)), grown(met, len(names))  # of some every row is at fault
    counts = table[: len(names)].reshape(len(names), slices, KINDS)
    distinct = np.array([int(np.bitwise_count(own).sum()) for own in met[: len(names)]], np.int64)
    again = counts.sum(axis=(1, 2)) - distinct
    order = sorted(range(len(names)), key=names.__getitem__)
    return Census(
        [names[i] for i in order],
        counts[order],
        [names[i] for i in order if again[i]],
        int(again.sum()),
        cells.faults,
    )


def refuse_counts(runs: int, slices: int, label: str) -> None:
    """Stop before a table of counts that no memory holds."""
    if runs * slices * KINDS > MAX_COUNTS:
        raise InputError(
            f"{runs:,} runs × {slices:,} slices are more than the {MAX_COUNTS // KINDS:,} rows of "
            "a result; slice by an attribute with fewer values",
            label,
        )


def _add(counts: IntArray, bins: IntArray) -> None:
    if len(counts) <= 4 * len(bins):
        counts += np.bincount(bins, minlength=len(counts))
    else:
        np.add.at(counts, bins, 1)


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


def fits_there(judged: Judged, frame: nw.LazyFrame[Any], sizes: pl.Series) -> bool:
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


def census_there(judged: Judged, frame: nw.LazyFrame[Any], sizes: pl.Series) -> Census:
    """Count responses by run, slice and kind, and find those to a question again.

    To hand every response over costs more than to count it there. The bits are held for each
    thread and kind, so this is for as many runs and questions as leave room for that.
    """
    label = judged.sources[0].table.name
    query = QUERY.format(last=int(sizes.to_numpy().max()) - 1)
    with reading(label, engine=True):
        relation = frame.to_native().query("responses_of_abstain_6b1d0f52", query)
    found = collect(into_lazy(relation), label).cast(
        {"run": pl.String, SLICE: pl.Int64, KIND: pl.Int64, "n": pl.Int64}
    )
    faults = int(found.filter(pl.col(KIND) >= KINDS)["n"].sum())
    found = found.filter(pl.col(KIND) < KINDS)
    names = sorted(found["run"].unique().to_list())
    refuse_counts(len(names), len(sizes), label)
    numbers = pl.DataFrame({"run": names}, schema={"run": pl.String}).with_row_index("number")
    found = found.join(numbers, on="run", how="left")
    table = np.zeros((len(names), len(sizes), KINDS), np.int64)
    kinds = found.filter(pl.col(KIND) != MET)
    table[tuple(kinds[c].to_numpy() for c in ("number", SLICE, KIND))] = kinds["n"].to_numpy()
    met = found.filter(pl.col(KIND) == MET).group_by("number").agg(pl.col("n").sum()).sort("number")
    again = table.sum(axis=(1, 2)) - met["n"].to_numpy()
    repeating = [name for name, more in zip(names, again.tolist(), strict=True) if more]
    return Census(names, table, repeating, int(again.sum()), faults)
