"""Counting responses inside DuckDB: one query by run, slice and kind, a bit for every question met.

To hand every response over costs more than to count it there. The bits are held for each thread and
kind, so this is for as many runs and questions as leave room for that; others come in batches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl

from abstain.io.frames import collect, into_lazy, reading
from abstain.judging.cells import Census, refuse_counts
from abstain.judging.judge import KIND, SLICE, SPOT, Judged
from abstain.outcomes import KINDS

if TYPE_CHECKING:
    from abstain.judging.responses import Responses

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
    return sum(_runs(source) for source in judged.sources) <= room


def _runs(source: Responses) -> int:
    """How many runs a table has, before it is joined with anything."""
    if source.run is not None:
        return 1
    runs = source.frame.select(nw.col("run").n_unique().alias("runs"))
    return int(collect(runs, source.table.name)["runs"][0])


def census_there(judged: Judged, frame: nw.LazyFrame[Any], sizes: pl.Series) -> Census:
    """Count responses by run, slice and kind, and find those to a question again."""
    label = judged.sources[0].table.name
    query = QUERY.format(last=int(sizes.to_numpy().max()) - 1)
    with reading(label):
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
