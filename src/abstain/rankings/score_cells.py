"""Cells of tables of scores: what is a score, what says that there is none, what is refused."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from abstain.errors import InputError, shown
from abstain.io.tables import ROW, Table

if TYPE_CHECKING:
    from abstain.measures.ranked_lists import Floats

RUNS = ("run", "system")
"""What the column of runs is called."""
LARGEST = 1e100
"""Sums, squares and cubes of scores within it are numbers."""
NO_SCORE = ("", "-", "–", "na", "n/a", "nan", "null", "none")
"""What a cell says that has no score."""


def scores_and_others(
    frame: pl.DataFrame, aside: Collection[str | None], table: Table
) -> tuple[dict[str, Floats], list[str]]:
    """The columns of scores, and the names of all others."""
    rows = frame[ROW] if ROW in frame.columns else None
    scores: dict[str, Floats] = {}
    for column in frame.columns:
        if column in aside:
            continue
        own = numbers(frame[column], table, rows)
        if own is not None:
            scores[column] = own
    return scores, [c for c in frame.columns if c not in scores]


def no_numbers(column: pl.Series) -> pl.Series:
    """Of the cells that are not empty, whether each is no number."""
    if column.dtype != pl.String:
        return pl.repeat(value=False, n=len(column), eager=True)
    text = _cells(column)
    return text.cast(pl.Float64, strict=False).is_null().set(text.is_null(), None)


def _cells(column: pl.Series) -> pl.Series:
    """The text of cells, null where one says that there is no score."""
    text = column.str.strip_chars()
    return text.set(text.str.to_lowercase().is_in(NO_SCORE), None)


def numbers(column: pl.Series, table: Table, rows: pl.Series | None) -> Floats | None:
    """A column's scores, NaN where there is none; None: it holds words, or yes and no."""
    if column.dtype.is_nested():
        raise InputError(
            f"column {shown(column.name)} holds {column.dtype}, expected scores", table.name
        )
    if column.dtype == pl.Boolean or column.dtype.is_temporal():
        return None
    text = _cells(column) if column.dtype == pl.String else column
    values = text.cast(pl.Float64, strict=False)
    bad = values.is_null() & text.is_not_null()
    if bad.any() and values.is_null().all():
        return None
    boundless = (values.abs() > LARGEST).fill_null(value=False) & ~values.is_nan()
    expected = ("a number", f"a number within ±{LARGEST:g}")
    for wrong, what in zip((bad, boundless), expected, strict=True):
        if wrong.any():
            at = int(wrong.arg_true()[0])
            raise InputError(
                f"the score of {shown(column.name)} is {shown(str(column[at]))}, expected {what}",
                table.place(at if rows is None else rows[at]),
            )
    return np.asarray(values.fill_null(float("nan")).to_numpy(), np.float64)


def ids(column: pl.Series, table: Table, rows: pl.Series | None = None) -> list[str]:
    """The names in a column, none of them empty."""
    texts = column.cast(pl.String)
    empty = texts.is_null() | (texts.str.strip_chars() == "")
    if empty.any():
        at = int(empty.arg_true()[0])
        what = "run" if column.name in RUNS else "topic"
        raise InputError(
            f"column {shown(column.name)} names no {what}",
            table.place(at if rows is None else rows[at]),
        )
    return texts.to_list()


def as_texts(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    if not columns:
        return pl.DataFrame(height=frame.height)
    return frame.select(pl.col(columns).cast(pl.String))
