"""The matrix: the kind of every response, runs × questions, one byte each.

Responses come in batches of rows, so what is held is a batch and what is made of all of them.
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
from abstain.measures.answers import Answers
from abstain.measures.definition import Array, BoolArray, Codes, IntArray
from abstain.outcomes import EXCLUDED, KINDS, Why, blank_kind
from abstain.runs.judge import INDEX, KIND, Judged
from abstain.runs.responses import Responses

BATCH = 1 << 18
"""Rows that are looked at together."""

MAX_CELLS = 4 << 30
"""Runs × questions whose kinds are held in memory; more are refused."""

MISSING = blank_kind(Why.MISSING)

UNSURE = -1
"""The bin of responses without a confidence."""

Filled = tuple[list[str], Codes, Array | None]
"""The runs by name, the kinds of their responses, their confidences where those were asked for."""


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
            for frame in _native_batches(self._frame, run):
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
        """The runs by number."""
        return self._categories.to_series().to_list()


def streams(frame: nw.LazyFrame[Any]) -> bool:
    """Whether the rows of a frame can be brought here in batches at little cost."""
    return bool(frame.implementation.is_polars() or frame.implementation.is_duckdb())


def _native_batches(frame: nw.LazyFrame[Any], run: pl.Expr) -> Iterator[pl.DataFrame]:
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


def filled(judged: Judged, *, confident: bool = False) -> Filled:
    """Every response in its cell, whatever engines the runs live in.

    A fault, or a cell that is filled twice, is refused.
    """
    parts = []
    for frame in judged.frames:
        batches = Batches(judged, frame, confident=confident)
        names, kinds, sure, repeated = fill(batches)
        refuse_faults(judged, batches.faults, repeated)
        parts.append((names, kinds, sure))
    runs = [run for names, _, _ in parts for run in names]
    refuse_runs(judged.sources, runs)
    order = sorted(range(len(runs)), key=runs.__getitem__)
    kinds = _in_order([part[1] for part in parts], order)
    sures = [part[2] for part in parts if part[2] is not None]
    return [runs[i] for i in order], kinds, _in_order(sures, order) if confident else None


def _in_order(parts: Sequence[Any], order: list[int]) -> Any:
    """Rows of several tables in one order; a table in that order already is not copied."""
    whole = np.concatenate(parts) if len(parts) > 1 else parts[0]
    return whole if order == list(range(len(order))) else whole[order]


def fill(batches: Batches) -> tuple[list[str], Codes, Array | None, int]:
    """The runs by name, the kind of each cell, its confidence, how many cells were filled again."""
    width, kinds = batches.width, np.zeros((1, batches.width), np.uint8)
    sure = np.full((1, width if batches.confident else 0), np.nan)
    for batch in batches:
        runs = int(batch.run.max()) + 1
        if runs * width > MAX_CELLS:
            raise InputError(
                f"{runs:,} runs × {width:,} questions are more than fit in memory", batches.label
            )
        kinds = grown(kinds, runs)
        at = batch.run * width + batch.index
        kinds.reshape(-1)[at] = batch.kind + 1  # 0: nothing yet
        if batch.confidence is not None:
            sure = grown(sure, runs, np.nan)
            sure.reshape(-1)[at] = batch.confidence
    names = batches.names()
    kinds = grown(kinds, len(names))[: len(names)]  # a run may have nothing but faults
    repeated = batches.rows - int(np.count_nonzero(kinds))
    kind_of = np.arange(-1, KINDS).astype(np.uint8)
    kind_of[0] = MISSING
    for row in kinds:
        row[:] = kind_of[row]
    sure = grown(sure, len(names), np.nan)[: len(names)].copy()  # without the room to grow
    return names, kinds, sure if batches.confident else None, repeated


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


def binned_matrix(
    runs: Sequence[str], kinds: Codes, confidence: Array | None, bins: int
) -> pl.DataFrame:
    """How many responses of each run and kind have a confidence in each bin: run, KIND, bin, n."""
    assert confidence is not None
    parts = []
    for run, row, sure in zip(runs, kinds, confidence, strict=True):
        place = np.where(np.isnan(sure), UNSURE, np.floor(sure * bins)).astype(np.int64)
        keys, n = np.unique((place + 1) * KINDS + row, return_counts=True)
        columns = {"run": [run] * len(n), KIND: keys % KINDS, "bin": keys // KINDS - 1, "n": n}
        parts.append(pl.DataFrame(columns, schema_overrides={KIND: pl.Int64, "n": pl.Int64}))
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


EMPTY = EXCLUDED - 1


def has_answer(codes: Codes) -> BoolArray:
    """Which responses have an answer or a candidate."""
    has: BoolArray = codes < EMPTY
    return has


def answers_of(
    codes: Codes,
    confidence: Array,
    where: BoolArray | IntArray | None = None,
) -> Answers:
    """The answers and candidates of a run, over all or some of the questions."""
    if where is not None:
        codes, confidence = codes[where], confidence[where]
    has = has_answer(codes)
    asked = len(codes)
    if not has.all():
        asked = int(np.count_nonzero(codes < EXCLUDED))
        codes, confidence = codes[has], confidence[has]
    return Answers((codes & 1) == 0, confidence, asked, codes < 2)


def stated(codes: Codes, confidence: Array) -> tuple[int, int]:
    """How many answers and candidates of a run have a confidence, and how many there are."""
    has = has_answer(codes)
    return int(np.count_nonzero(has & ~np.isnan(confidence))), int(has.sum())
