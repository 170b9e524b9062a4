"""Counting: how many responses of each kind every run has, in every slice and of every confidence.

Where counts are not enough, every response is put in its cell: runs × questions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import InputError, Place, UsageError, shown
from abstain.io.frames import collect
from abstain.io.names import cells
from abstain.io.tables import ROW, Table
from abstain.judging.aliases import telling_apart
from abstain.judging.cells import (
    MISSING,
    Cells,
    TooManyError,
    census,
    census_there,
    fill,
    fits_there,
    refuse_counts,
    streams,
)
from abstain.judging.faults import Problem
from abstain.judging.judge import FILE, INDEX, KIND, Judged
from abstain.judging.responses import Responses
from abstain.judging.slices import BY, slice_numbers, slice_sizes
from abstain.measures.arrays import Array, Codes, IntArray
from abstain.outcomes import KINDS

Filled = tuple[list[str], Codes, Array | None]
"""The runs by name, the kinds of their responses, their confidences where those were asked for."""

REPEATED = "repeated question"
"""The kind of problem that a question answered before is."""

MOST_REPEATS = 1_000
"""Repeated questions that are looked up one by one; a file with more is no slip."""

UNSURE = -1
"""The bin of responses without a confidence."""


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
    runs = [run for part in parts for run in dict.fromkeys(part.runs)]
    refuse_shared(runs)
    refuse_empty(judged.sources, runs)
    return KindCounts(
        [run for part in parts for run in part.runs],
        [item for part in parts for item in part.slices],
        np.concatenate([part.table for part in parts]),
        len(judged.gold),
    )


def refuse_shared(runs: Sequence[str]) -> None:
    """Refuse a run that two tables have."""
    if len(set(runs)) < len(runs):
        name = next(run for run in runs if runs.count(run) > 1)
        raise UsageError(f"run '{name}' is in two tables; a run belongs in one")


def refuse_empty(sources: Sequence[Responses], runs: Collection[str]) -> None:
    """Refuse a table of which none of the runs came."""
    for source in sources:
        if not runs or (source.run is not None and source.run not in runs):
            raise InputError("has no rows", source.table.name)


def _count_here(judged: Judged, frame: nw.LazyFrame[Any], by: Sequence[str]) -> KindCounts:
    """Kinds by run and slice, in memory that does not depend on the number of rows."""
    label = judged.sources[0].table.name
    for name in by:  # before slices are told apart, at more cost
        refuse_counts(1, cells(judged.gold.frame, name).n_unique(), label)
    sizes = slice_sizes(judged.gold.frame, by)
    refuse_counts(1, sizes.height, label)
    try:
        if fits_there(judged, frame, sizes["size"]):
            found = census_there(judged, frame, sizes["size"])
        else:
            slice_of = slice_numbers(judged.gold.frame, sizes, by)
            found = census(Cells(judged, frame), slice_of, sizes.height)
    except TooManyError:
        return _count_in_engine(judged, frame, by)
    if found.faults:
        raise first_fault(judged, found.faults)
    if found.repeated:
        raise first_repeat(judged, found.repeated, found.repeating)
    found.table[..., MISSING] += sizes["size"].to_numpy() - found.table.sum(axis=2)
    slices: list[tuple[str | None, ...]] = sizes.drop("size").rows() if by else [()]
    runs = [run for run in found.runs for _ in slices]
    table = found.table.reshape(-1, KINDS)
    return KindCounts(runs, slices * len(found.runs), table, len(judged.gold))


def _count_in_engine(judged: Judged, frame: nw.LazyFrame[Any], by: Sequence[str]) -> KindCounts:
    columns = [BY + name for name in by]
    kinds = counted(judged, frame, columns)
    total = rows_by_run(judged, frame)
    if (total["rows"] > total["distinct"]).any():
        raise first_repeat(judged, int((total["rows"] - total["distinct"]).sum()))
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
    faults = kinds.filter(pl.col(KIND) >= KINDS)
    if faults.height:
        raise first_fault(judged, int(faults["n"].sum()))
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
    at = placed["cell"].to_numpy(), placed[KIND].to_numpy()
    np.add.at(table, at, placed["n"].to_numpy())
    table[:, MISSING] += grid["size"].to_numpy() - table.sum(axis=1)
    slices: list[tuple[str | None, ...]] = (
        grid.select(columns).rows() if columns else [()] * grid.height
    )
    return KindCounts(grid["run"].to_list(), slices, table, questions)


def filled(judged: Judged, *, confident: bool = False) -> Filled:
    """Every response in its cell, whatever engines the runs live in.

    A fault, or a cell that is filled twice, is refused.
    """
    parts = []
    for frame in judged.frames:
        cells = Cells(judged, frame, confident=confident)
        names, kinds, sure, repeated = fill(cells)
        if cells.faults:
            raise first_fault(judged, cells.faults)
        if repeated:
            raise first_repeat(judged, repeated)
        parts.append((names, kinds, sure))
    runs = [run for names, _, _ in parts for run in names]
    refuse_shared(runs)
    refuse_empty(judged.sources, runs)
    order = sorted(range(len(runs)), key=runs.__getitem__)
    kinds = joined([part[1] for part in parts], order)
    sure = joined([part[2] for part in parts if part[2] is not None], order) if confident else None
    return [runs[i] for i in order], kinds, sure


def joined(parts: Sequence[npt.NDArray[np.generic]], order: Sequence[int]) -> np.ndarray:
    """Rows of several tables in one order; a table in that order already is not copied."""
    whole = np.concatenate(parts) if len(parts) > 1 else parts[0]
    return whole if list(order) == list(range(len(order))) else whole[list(order)]


def binned(judged: Judged, bins: int) -> pl.DataFrame:
    """How many responses of each run and kind fall in each bin: run, KIND, bin, n.

    A bin begins at a multiple of 1/bins, and bins are a power of two, so that the product of a
    confidence and their number is exact.
    """
    label = judged.sources[0].table.name
    parts = []
    for frame in judged.frames:
        placed = nw.lit(UNSURE)
        if "confidence" in frame.collect_schema().names():
            sure = nw.col("confidence")
            placed = nw.when(~sure.is_null()).then((sure * bins).floor()).otherwise(placed)
        rows = frame.select("run", KIND, placed.cast(nw.Int64).alias("bin"))
        counted = rows.group_by("run", KIND, "bin").agg(nw.len().alias("n"))
        parts.append(_plain(collect(counted, label)))
    return pl.concat(parts)


def binned_cells(
    runs: Sequence[str], kinds: Codes, confidence: Array | None, bins: int
) -> pl.DataFrame:
    """As `binned`, of responses that are held: runs × questions."""
    assert confidence is not None
    parts = []
    for run, own, sure in zip(runs, kinds, confidence, strict=True):
        place = np.where(np.isnan(sure), UNSURE, np.floor(sure * bins)).astype(np.int64)
        keys, n = np.unique((place + 1) * KINDS + own, return_counts=True)
        columns = {"run": [run] * len(n), KIND: keys % KINDS, "bin": keys // KINDS - 1, "n": n}
        parts.append(_plain(pl.DataFrame(columns)))
    return pl.concat(parts)


def _plain(counted: pl.DataFrame) -> pl.DataFrame:
    numbers = [pl.col(name).cast(pl.Int64) for name in (KIND, "bin", "n")]
    return counted.select(pl.col("run").cast(pl.String), *numbers)


def first_fault(judged: Judged, count: int) -> Exception:
    """The error of the first faulty row, of so many."""
    for frame in judged.frames:
        order = [c for c in (FILE, ROW) if c in frame.collect_schema().names()]
        first = frame.filter(nw.col(KIND) >= KINDS).sort(order).head(1)
        rows = collect(first, judged.sources[0].table.name)
        if rows.height:
            problem = judged.fault(rows.row(0, named=True))
            return problem.error(count - 1, listed=not judged.graded)
    raise AssertionError("a fault was counted but not found")


def repeats(
    judged: Judged, *, most: int = MOST_REPEATS, runs: Sequence[str] | None = None
) -> list[Problem]:
    """Responses to a question that their run has answered before, so many at most.

    `runs` are those that do so, where somebody knows.
    """
    found: list[Problem] = []
    for frame in judged.frames:
        suspects = runs
        if suspects is None:
            sizes = rows_by_run(judged, frame)
            suspects = sizes.filter(pl.col("rows") > pl.col("distinct"))["run"].to_list()
        if not suspects:
            continue
        frame = frame.filter(nw.col("run").is_in(suspects))
        for row, first in _again(frame, judged.sources[0].table.name, most - len(found)):
            found.append(_repeat(judged, row, first))
        if len(found) >= most:
            break
    return found


SEAT = "__seat"
"""Where a row stands among all: its file and its number there, as one whole number."""

FILE_SEATS = 1 << 40
LOOKED_AT = 1 << 16
"""Rows in which repeats are looked for before more are: where there are many, they are there."""

EVERY_ROW = 1 << 62


def _again(
    frame: nw.LazyFrame[Any], label: str, most: int
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The first rows that answer a question again, each with the row that answered it first.

    Only these rows are brought here, however many there are.
    """
    schema = frame.collect_schema().names()
    names = [c for c in schema if not c.startswith("__")]
    extra = [c for c in (FILE, ROW, INDEX, KIND) if c in schema]
    frame = frame.select(*names, *extra).filter(~nw.col(INDEX).is_null())
    key = ["run", INDEX]
    if ROW not in schema:  # no order but that of the questions: those of one stand together
        keys = frame.group_by(key).agg(nw.len().alias("times")).filter(nw.col("times") > 1)
        joined = frame.join(keys, on=key, how="inner").sort(key).head(2 * most + 1)
        rows = collect(joined, label).sort(key, maintain_order=True)
        rows = rows.with_row_index(SEAT)
        firsts = rows.group_by(key).agg(first=pl.col(SEAT).min())
        later = rows.join(firsts, on=key).filter(pl.col(SEAT) > pl.col("first")).head(most)
    else:
        seat = nw.col(FILE).cast(nw.Int64) * FILE_SEATS + nw.col(ROW).cast(nw.Int64)
        frame = frame.with_columns(seat.alias(SEAT))
        begins = int(collect(frame.select(nw.col(FILE).min()), label)[FILE][0]) * FILE_SEATS
        # what stands again among the first rows is what stands again first
        for rows_ahead in (LOOKED_AT, 16 * LOOKED_AT, EVERY_ROW):
            ahead = frame.filter(nw.col(SEAT) < begins + rows_ahead)
            later = _later(ahead, label, most)
            if later.height >= most:
                break
        seats = later["first"].unique().to_list()
        rows = collect(frame.filter(nw.col(SEAT).is_in(seats)), label)
    before = {row[SEAT]: row for row in rows.iter_rows(named=True)}
    return [(row, before[row["first"]]) for row in later.iter_rows(named=True)]


def _later(frame: nw.LazyFrame[Any], label: str, most: int) -> pl.DataFrame:
    """The first rows of a run and question that have one before them, with its seat."""
    key = ["run", INDEX]
    times = nw.len().alias("times"), nw.col(SEAT).min().alias("first")
    keys = frame.group_by(key).agg(*times).filter(nw.col("times") > 1)
    joined = frame.join(keys, on=key, how="inner").filter(nw.col(SEAT) > nw.col("first"))
    return collect(joined.sort(SEAT).head(most), label)


def _repeat(judged: Judged, row: dict[str, Any], first: dict[str, Any]) -> Problem:
    question = judged.gold.frame["question"][row[INDEX]]
    said = "grade" if judged.graded else "answer"
    same = row.get(said) == first.get(said) and (judged.graded or row[KIND] == first[KIND])
    how = f"again, with {'the same' if same else 'another'} {said}"
    before = judged.place(first)
    where = f" (first: {before})" if ROW in row else ""
    return Problem(
        REPEATED,
        judged.place(row),
        f"run {shown(row['run'])} has question {shown(question)} {how}{where}",
        row["run"],
        question,
    )


def first_repeat(judged: Judged, count: int, runs: Sequence[str] | None = None) -> Exception:
    """The error of the first question that a run has again, of so many."""
    first = repeats(judged, most=1, runs=runs)[0]
    table = judged.sources[0].table
    advice = telling_apart(table)
    first = replace(first, message=first.message + advice)
    return first.error(count - 1, listed=not judged.graded)


def missing_problems(judged: Judged) -> list[Problem]:
    """Questions that a run has no response to."""
    found: list[Problem] = []
    ids = judged.gold.frame["question"]
    for frame in judged.frames:
        there = frame.filter(nw.col(KIND) != MISSING)
        sizes = rows_by_run(judged, there)
        whole = sizes.filter(pl.col("distinct") == len(ids))["run"].to_list()
        row = [ROW] if ROW in frame.collect_schema().names() else []
        seen = collect(
            there.select("run", INDEX, FILE, *row)
            .filter(~nw.col(INDEX).is_null(), ~nw.col("run").is_in(whole))
            .unique(["run", INDEX]),
            judged.sources[0].table.name,
        )
        seen = seen.sort(FILE, "run", INDEX)
        for (run,), rows in seen.group_by(["run"], maintain_order=True):
            gone = np.setdiff1d(np.arange(len(ids)), rows[INDEX].to_numpy())
            table = judged.sources[rows[FILE][0]].table
            found += [
                Problem(
                    "missing question",
                    _place_before(table, rows, int(i)),
                    f"run {shown(str(run))} has no response to question {shown(ids[int(i)])}",
                    str(run),
                    ids[int(i)],
                )
                for i in gone
            ]
    return found


def _place_before(table: Table, rows: pl.DataFrame, index: int) -> Place:
    """The line after which a question was expected, where lines come for nothing."""
    if table.lines is None or ROW not in rows.columns:
        return Place(table.name)
    at = int(np.searchsorted(rows[INDEX].to_numpy(), index)) - 1
    return table.place(rows[ROW][max(at, 0)])
