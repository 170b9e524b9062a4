"""Slices of the questions of a gold, by their attributes: their sizes, and who is in which."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import polars as pl
from msgspec import Struct

from abstain.io.names import cells, col
from abstain.measures.arrays import Array, IntArray

BY = "by:"
"""Prefix of a slice attribute's column, so that no attribute can take another column's name."""


def slice_sizes(questions: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """How many questions each slice has, in the order in which the gold first shows them."""
    chosen = questions.select([col(name).alias(BY + name) for name in by])
    if not by:
        return pl.DataFrame({"size": [questions.height]})
    return chosen.group_by(pl.all(), maintain_order=True).agg(size=pl.len().cast(pl.Int64))


def slice_numbers(questions: pl.DataFrame, sizes: pl.DataFrame, by: Sequence[str]) -> IntArray:
    """The position in `sizes` of the slice that each question belongs to."""
    if not by:
        return np.zeros(questions.height, np.int64)
    columns = [BY + name for name in by]
    chosen = questions.select([col(name).alias(BY + name) for name in by])
    placed = chosen.join(
        sizes.with_row_index("slice"),
        on=columns,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return placed["slice"].cast(pl.Int64).to_numpy()


def spots(slice_of: IntArray) -> pl.Series:
    """The place of each question among those of its slice."""
    number = pl.Series("slice", slice_of)
    return number.to_frame().select(pl.int_range(pl.len()).over("slice").cast(pl.Int32)).to_series()


class Slices(Struct, frozen=True):
    """The slices that an attribute makes of the questions."""

    attribute: str
    names: list[str]
    slice_of: IntArray

    @property
    def sizes(self) -> IntArray:
        """How many questions each slice has."""
        return np.bincount(self.slice_of[self.slice_of >= 0], minlength=len(self.names))

    def sums(self, table: Array) -> Array:
        """Sums over each slice of numbers that every question has: questions × k to slices × k."""
        inside = self.slice_of >= 0
        columns = [
            np.bincount(self.slice_of[inside], column[inside], minlength=len(self.names))
            for column in table.T
        ]
        return np.stack(columns, axis=-1)


def slices_of(questions: pl.DataFrame, attribute: str) -> Slices:
    """The slices by an attribute, in natural order; questions without a value are in none."""
    column = cells(questions, attribute).cast(pl.String)
    column = column.set(column == "", None)
    names = sorted(column.drop_nulls().unique().to_list(), key=natural)
    places = column.cast(pl.Enum(names)).to_physical().cast(pl.Int64)
    return Slices(attribute, names, places.fill_null(-1).to_numpy())


def natural(text: str) -> tuple[tuple[int, float, str], ...]:
    """A sort key by which test 2 comes before test 10."""
    pieces = re.split(r"(\d+)", text)
    return tuple((0, float(p), "") if p.isdecimal() else (1, 0.0, p) for p in pieces if p)


def cluster_numbers(questions: pl.DataFrame, attribute: str) -> IntArray:
    """A number for each cluster; a question without a value is a cluster of its own."""
    numbers = slices_of(questions, attribute).slice_of.copy()
    alone = numbers < 0
    numbers[alone] = numbers.max(initial=-1) + 1 + np.arange(int(alone.sum()))
    return numbers
