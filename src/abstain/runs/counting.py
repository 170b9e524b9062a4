"""Counting responses by run, slice and kind, or by bins of confidence.

Batches of rows are scattered into a matrix of kinds, runs × questions, which exposes questions
answered twice. Where it is cheaper, the engine aggregates and only its counts are fetched.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import narwhals as nw
import numpy as np
import polars as pl
from msgspec import Struct

from abstain.errors import InputError, UsageError
from abstain.io.files import read_errors
from abstain.io.frames import collect, into_lazy
from abstain.io.tables import cells
from abstain.measures.definition import Array, Codes, IntArray
from abstain.outcomes import CODES, KINDS, SIDES
from abstain.runs.gold import numbered_slices
from abstain.runs.judge import INDEX, KIND, SLICE, SPOT, Judged
from abstain.runs.responses import Responses

UNSURE = -1
"""Sentinel bin of responses without a confidence."""

BATCH = 1 << 18

MAX_CELLS = 4 << 30
"""Runs × questions whose kinds are held in memory; beyond, the engine has to count."""

MAX_COUNTS = 100_000 * KINDS


class TooManyError(InputError):
    """The matrix runs × questions would have more than `MAX_CELLS` cells."""


class Matrix(NamedTuple):
    runs: list[str]
    kinds: Codes
    confidence: Array | None
    """The confidence of each response, NaN where none is stated; None if it was not read."""


class KindCounts(Struct, frozen=True):
    """Counts with a row for each run and slice and a column for each kind of either side."""

    runs: list[str]
    slices: list[tuple[str | None, ...]]
    table: IntArray
    questions: int


def kind_counts(
    runs: Sequence[str], slices: Sequence[tuple[str | None, ...]], table: IntArray, questions: int
) -> KindCounts:
    names = [run for run in runs for _ in slices]
    return KindCounts(names, [*slices] * len(runs), table.reshape(-1, CODES), questions)


def count_kinds(judged: Judged, by: Sequence[str] = ()) -> KindCounts:
    """Count kinds by run and slice; faulty rows raise, absent ones are counted as missing."""
    label, questions = judged.label, judged.gold.frame
    for name in by:  # before slices are numbered, at more cost
        refuse_counts(1, cells(questions, name).n_unique(), label)
    slices, slice_of = numbered_slices(questions, by)
    refuse_counts(1, len(slices), label)
    sizes = np.bincount(slice_of, minlength=len(slices))
    parts = [_count_frame(judged, frame, slice_of, sizes) for frame in judged.frames]
    runs = [run for names, _ in parts for run in names]
    refuse_runs(judged.responses, runs)
    table = np.concatenate([counts for _, counts in parts])
    sides = table.reshape(len(runs), len(slices), len(SIDES), KINDS)
    asked = np.bincount(2 * slice_of + judged.gold.sides, minlength=2 * len(slices))
    absent = asked.reshape(-1, 2) - sides.sum(axis=3)
    for of_run, kind, more in zip(sides, judged.missing(runs), absent, strict=True):
        of_run[..., kind] += more
    return kind_counts(runs, slices, table, len(judged.gold))


def refuse_counts(runs: int, slices: int, label: str) -> None:
    if runs * slices * KINDS > MAX_COUNTS:
        what = f"{runs:,} runs × {slices:,} slices are more than {MAX_COUNTS // KINDS:,} rows"
        raise InputError(f"{what}; slice by an attribute with fewer values", label)


CountsByRun: TypeAlias = "tuple[list[str], IntArray]"
"""Runs, and their counts as an array, runs × slices × CODES, before absent rows are added."""


def _count_frame(
    judged: Judged, frame: nw.LazyFrame[Any], slice_of: IntArray, sizes: IntArray
) -> CountsByRun:
    """Count the responses of one frame, in its engine or in numpy: what is cheaper."""
    if fits_in_duckdb(judged, frame, sizes):
        return count_in_duckdb(judged, frame, sizes)
    if not streams(frame):
        return count_in_engine(judged, frame, len(sizes))
    try:
        names, kinds, _ = fill(judged, frame)
    except TooManyError:
        return count_in_engine(judged, frame, len(sizes))
    refuse_counts(len(names), len(sizes), judged.label)
    order = sorted(range(len(names)), key=names.__getitem__)
    return [names[i] for i in order], count_cells(kinds, slice_of, len(sizes))[order]


def count_cells(cells: Codes, slice_of: IntArray, slices: int, codes: int = CODES) -> IntArray:
    """Histogram runs × questions to runs × slices × codes, without questions in no slice (−1)."""
    inside = np.flatnonzero(slice_of >= 0)
    starts, size = slice_of[inside] * codes, slices * codes
    rows = [np.bincount(starts + row[inside], minlength=size) for row in cells]
    return np.array(rows, np.int64).reshape(len(cells), slices, codes)


def streams(frame: nw.LazyFrame[Any]) -> bool:
    """Whether the rows of a frame can be fetched in batches at little cost."""
    return bool(frame.implementation.is_polars() or frame.implementation.is_duckdb())


def native_batches(frame: nw.LazyFrame[Any], run: pl.Expr, label: str) -> Iterator[pl.DataFrame]:
    """Batches with `run` dictionary-encoded; polars encodes while it reads, to save memory."""
    native: Any = frame.to_native()
    with read_errors(label, engine=True):
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
            yield pl.DataFrame(pl.from_arrow(part)).with_columns(run)


def grown(table: Any, rows: int, empty: float = 0) -> Any:
    """Grow an array to `rows`, at least doubling it; zero pages take no memory until written."""
    if rows <= len(table):
        return table
    shape = (max(rows, 2 * len(table)), *table.shape[1:])
    larger = np.full(shape, empty, table.dtype) if empty else np.zeros(shape, table.dtype)
    larger[: len(table)] = table
    return larger


def fill(judged: Judged, frame: nw.LazyFrame[Any], *, confident: bool = False) -> Matrix:
    """The matrix of the runs in one frame, in the order in which they come; faults are refused."""
    width, label, faults = len(judged.gold), judged.label, 0
    stated = confident and "confidence" in frame.collect_schema().names()
    coded = pl.Categorical(pl.Categories.random())  # runs are numbered as they come
    kept = pl.Series([], dtype=coded)  # or polars forgets categories of which no column is left
    kinds, rows = np.zeros((1, width), np.uint8), np.zeros(1, np.int64)
    sure = np.full((1, width if confident else 0), np.nan)
    chosen = frame.select("run", INDEX, KIND, *["confidence"] * stated)
    for batch in native_batches(chosen, pl.col("run").cast(coded), label):
        is_fault = batch[KIND] >= CODES
        faults += int(is_fault.sum())
        good = batch.filter(~is_fault) if is_fault.any() else batch
        if good.is_empty():
            continue
        run, index = (good[c].to_physical().cast(pl.Int64).to_numpy() for c in ("run", INDEX))
        runs = int(run.max()) + 1
        if runs * width > MAX_CELLS:
            what = f"{runs:,} runs × {width:,} questions are more than fit in memory"
            raise TooManyError(what, label)
        kinds, rows = grown(kinds, runs), grown(rows, runs)
        rows += np.bincount(run, minlength=len(rows))
        at = run * width + index
        kinds.reshape(-1)[at] = good[KIND].to_numpy().view(np.uint8) + 1  # 0: nothing yet
        if stated:
            sure = grown(sure, runs, np.nan)
            stated_here = good["confidence"].cast(pl.Float64).fill_null(np.nan)
            sure.reshape(-1)[at] = stated_here.to_numpy()
    names = coded.categories.to_series().to_list()
    del kept
    kinds = grown(kinds, len(names))[: len(names)]  # a run may have nothing but faults
    again = zip(names, rows.tolist(), kinds, strict=False)
    repeated = {run: n for run, had, row in again if (n := had - int(np.count_nonzero(row)))}
    refuse_faults(judged, faults, repeated)
    side = KINDS * judged.gold.sides
    for row, kind in zip(kinds, judged.missing(names), strict=True):
        row[:] = np.where(row == 0, kind + side, row - 1)
    sure = grown(sure, len(names), np.nan)[: len(names)].copy()  # without the room to grow
    return Matrix(names, kinds, sure if confident else None)


MOST_BITS = 1 << 29
"""The most bits in DuckDB's bitmaps of questions seen, for each kind: 64 MB."""

MET = -1
"""Sentinel kind: rows of the query that hold the number of distinct questions."""

QUERY = f"""
WITH counted AS MATERIALIZED (
  SELECT run, {SLICE}, {KIND}, count(*) AS n, bitstring_agg({SPOT}, 0, {{last}}) AS met
  FROM responses_of_abstain_6b1d0f52 GROUP BY ALL
)
SELECT run, {SLICE}, {KIND}, n FROM counted
UNION ALL
SELECT run, {SLICE}, {MET}, bit_count(bit_or(met)) FROM counted WHERE {KIND} < {CODES} GROUP BY ALL
"""


def fits_in_duckdb(judged: Judged, frame: nw.LazyFrame[Any], sizes: IntArray) -> bool:
    """Whether responses are in DuckDB and its bitmaps of questions seen fit into `MOST_BITS`.

    The number of runs takes a scan of one column, so this is for files: a caller's relation may
    be a costly query, which has to run only once.
    """
    if not frame.implementation.is_duckdb():
        return False
    if any(item.run is None and item.table.opened is None for item in judged.responses):
        return False
    room = MOST_BITS // (len(sizes) * int(sizes.max()))
    return sum(run_count(item) for item in judged.responses) <= room


def run_count(item: Responses) -> int:
    if item.run is not None:
        return 1
    runs = item.frame.select(nw.col("run").n_unique())
    return int(collect(runs, item.table.name).item())


def count_in_duckdb(judged: Judged, frame: nw.LazyFrame[Any], sizes: IntArray) -> CountsByRun:
    """Count responses by run, slice and kind, and find those to a question again.

    Aggregating is cheaper than fetching every row; `MOST_BITS` limits the size of the bitmaps.
    """
    label = judged.label
    query = QUERY.format(last=int(sizes.max()) - 1)
    with read_errors(label, engine=True):
        relation = frame.to_native().query("responses_of_abstain_6b1d0f52", query)
    rows = collect(into_lazy(relation), label).cast({KIND: pl.Int64, "n": pl.Int64})
    met = rows.filter(pl.col(KIND) == MET).group_by("run").agg(pl.col("n").sum())
    rows = rows.filter(pl.col(KIND) != MET)
    return counts_by_run(judged, rows, len(sizes), dict(met.iter_rows()))


def counts_by_run(
    judged: Judged, rows: pl.DataFrame, slices: int, distinct: Mapping[str, int]
) -> CountsByRun:
    refuse_faults(judged, int(rows.filter(pl.col(KIND) >= CODES)["n"].sum()))
    names = sorted(rows["run"].unique())
    refuse_counts(len(names), slices, judged.label)
    number = rows["run"].rank("dense").cast(pl.Int64) - 1
    table = np.zeros((len(names), slices, CODES), np.int64)
    table[number.to_numpy(), rows[SLICE].to_numpy(), rows[KIND].to_numpy()] = rows["n"].to_numpy()
    times = zip(names, table.sum(axis=(1, 2)).tolist(), strict=True)
    again = {run: more for run, n in times if (more := n - distinct.get(run, n))}
    refuse_faults(judged, 0, again)
    return names, table


def count_in_engine(judged: Judged, frame: nw.LazyFrame[Any], slices: int) -> CountsByRun:
    grouped = frame.group_by("run", SLICE, KIND).agg(nw.len().alias("n"))
    texts, numbers = pl.col("run").cast(pl.String), pl.col(KIND, "n").cast(pl.Int64)
    rows = collect(grouped, judged.label).with_columns(texts, numbers)
    distinct = rows_by_run(judged, frame).select("run", "distinct")
    return counts_by_run(judged, rows, slices, dict(distinct.iter_rows()))


def rows_by_run(judged: Judged, frame: nw.LazyFrame[Any]) -> pl.DataFrame:
    known = frame.filter(~nw.col(INDEX).is_null())
    sizes = nw.len().alias("rows"), nw.col(INDEX).n_unique().alias("distinct")
    return collect(known.group_by("run").agg(*sizes), judged.label)


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
        whole = collect(counts, judged.label)
        parts.append(
            whole.select(pl.col("run").cast(pl.String), pl.col(KIND, "bin", "n").cast(pl.Int64))
        )
    return pl.concat(parts)


def refuse_faults(judged: Judged, faults: int, repeated: Mapping[str, int] | None = None) -> None:
    """Raise if rows are faulty (their number) or runs repeat questions (run to number)."""
    if not faults and not repeated:
        return
    from abstain.runs.faults import first_fault, first_repeat

    raise first_fault(judged, faults) if faults else first_repeat(judged, repeated or {})


def refuse_runs(responses: Sequence[Responses], runs: Sequence[str]) -> None:
    """Raise for a run that is in two tables, and for a table without rows."""
    if len(set(runs)) < len(runs):
        name = next(run for run in runs if runs.count(run) > 1)
        raise UsageError(f"run '{name}' is in two tables; a run belongs in one")
    for item in responses:
        if not runs or (item.run is not None and item.run not in runs):
            raise InputError("has no rows", item.table.name)
