"""Slices of the questions of a gold, by their attributes: their sizes, and who is in which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    import numpy.typing as npt

BY = "by:"
"""Prefix of a slice attribute's column, so that no attribute can take another column's name."""


def slice_sizes(questions: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """How many questions each slice has, in the order in which the gold first shows them."""
    chosen = questions.select([pl.col(name).alias(BY + name) for name in by])
    if not by:
        return pl.DataFrame({"size": [questions.height]})
    return chosen.group_by(pl.all(), maintain_order=True).agg(size=pl.len().cast(pl.Int64))


def slice_numbers(
    questions: pl.DataFrame, sizes: pl.DataFrame, by: Sequence[str]
) -> npt.NDArray[np.int64]:
    """The position in `sizes` of the slice that each question belongs to."""
    if not by:
        return np.zeros(questions.height, np.int64)
    columns = [BY + name for name in by]
    chosen = questions.select([pl.col(name).alias(BY + name) for name in by])
    placed = chosen.join(
        sizes.with_row_index("slice"),
        on=columns,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return placed["slice"].cast(pl.Int64).to_numpy()


def spots(slice_of: npt.NDArray[np.int64]) -> pl.Series:
    """The place of each question among those of its slice."""
    number = pl.Series("slice", slice_of)
    return number.to_frame().select(pl.int_range(pl.len()).over("slice").cast(pl.Int32)).to_series()
