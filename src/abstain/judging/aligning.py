"""Runs whose ids are unsound, repaired: the n-th response answers the n-th question of the gold."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl
from msgspec.structs import replace

from abstain.errors import InputError, plural, shown
from abstain.io.frames import collect
from abstain.io.tables import ROW
from abstain.judging.gold import Gold
from abstain.judging.responses import Responses


def by_position(own: Responses, gold: Gold, runs: Collection[str] | None = None) -> Responses:
    """The responses with the gold's ids in the gold's order; `runs` names those to repair.

    A run with more or fewer responses than the gold has questions is refused: no position is
    certain there.
    """
    table = own.table
    frame = collect(own.frame, table.name)
    if ROW not in frame.columns:
        frame = frame.with_row_index(ROW)
    named = pl.col("run").cast(pl.String) if own.run is None else pl.lit(own.run)
    frame = frame.with_columns(__run=named)
    wanted = pl.lit(value=True) if runs is None else pl.col("__run").is_in(list(runs))
    sizes = frame.filter(wanted).group_by("__run", maintain_order=True).len()
    odd = sizes.filter(pl.col("len") != len(gold))
    if odd.height:
        run, count = odd.row(0)
        raise InputError(
            f"run {shown(run or '')} has {plural(count, 'response')}, expected {len(gold):,} in "
            "the order of the gold: one for each question",
            table.name,
        )
    ids = pl.lit(gold.frame["question"])
    position = pl.col(ROW).rank("ordinal").over("__run").cast(pl.Int64) - 1
    before = pl.col("question").cast(pl.String) if "question" in frame.columns else pl.lit(None)
    frame = frame.with_columns(__at=position).with_columns(
        question=pl.when(wanted).then(ids.gather(pl.col("__at"))).otherwise(before)
    )
    frame = frame.drop("__run", "__at")
    columns = tuple(dict.fromkeys(("question", *table.columns)))
    return replace(own, table=replace(table, frame=frame.lazy(), columns=columns, chunks=None))
