"""Columns of tables: those that must be there, and what they hold as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import narwhals as nw
import polars as pl

from abstain.errors import InputError, Place, nearest
from abstain.formats.tables import Table

USUAL_NAMES = {
    "question": ("question_id", "qid", "id", "query", "doc_id", "problem", "problem_id"),
    "correct": ("gold", "label", "target", "answer", "answers", "expected", "reference"),
    "answer": ("prediction", "predicted", "response", "output", "predicted_answer", "pred"),
    "outcome": ("grade", "judgement", "judgment", "score", "is_correct", "correct"),
}
"""What others call our columns."""


def require(table: Table, column: str, purpose: str) -> None:
    """Refuse a table without a column, naming what it has and how to map it."""
    require_all(table, {column: purpose})


def require_all(table: Table, columns: Mapping[str, str]) -> None:
    """Refuse a table without some columns, given with their purposes: all that it lacks at once."""
    missing = {name: purpose for name, purpose in columns.items() if name not in table.columns}
    if not missing:
        return
    if table.format == "qa4mre":
        is_gold = "correct" in table.columns
        raise InputError(
            f"is a QA4MRE {'gold' if is_gold else 'run'}, "
            f"expected a {'run (<output>)' if is_gold else 'gold (<test-set>)'}",
            Place(table.name, 1),
        )
    have = ", ".join(table.columns[:20]) or "none"
    lacking = ", and no column ".join(f"'{name}', {purpose}" for name, purpose in missing.items())
    mapped = " ".join(f"--column {name}={_guess(table, columns, name)}" for name in missing)
    raise InputError(
        f"has no column {lacking} (its columns: {have}); "
        f"{'another name is' if len(missing) == 1 else 'other names are'} mapped with {mapped}",
        Place(table.name, 1 if table.format in ("csv", "tsv") else None),
    )


def _guess(table: Table, required: Iterable[str], column: str) -> str:
    """The column that may be meant: one of its usual names, or the nearest to its own.

    A column that is required by its own name is not another one.
    """
    free = [name for name in table.columns if name not in required]
    usual = [name for name in USUAL_NAMES.get(column, ()) if name in free]
    return next(iter(usual or nearest(column, free)), "NAME")


def text_column(
    frame: nw.LazyFrame[Any], column: str, label: str, *, trim: bool = False
) -> nw.Expr:
    """A column as text; whole numbers that came as floats lose their `.0`.

    Text files are trimmed as they are read; what comes typed is trimmed only where asked.
    """
    dtype = frame.collect_schema()[column]
    expr = nw.col(column)
    if dtype in (nw.Categorical, nw.Enum):
        expr = expr.cast(nw.String)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return expr.str.strip_chars() if trim else expr
    if dtype.is_float():
        # Cell by cell: 1.0 must read as 1 whether or not its column has a 2.5 elsewhere.
        whole = (expr == expr.floor()) & (expr.abs() < 2**53)
        digits = nw.when(whole).then(expr).cast(nw.Int64).cast(nw.String)
        others = nw.when(~expr.is_nan()).then(expr).cast(nw.String)
        return nw.when(whole).then(digits).otherwise(others)
    if dtype.is_integer() or dtype == nw.Boolean:
        return expr.cast(nw.String)
    if _is_all_null(frame, column):
        return expr.cast(nw.String)
    if dtype == nw.Unknown or dtype.is_nested():
        raise InputError(
            f"column '{column}' holds {dtype}, expected one text or number a row", label
        )
    return expr.cast(nw.String)


def _is_all_null(frame: nw.LazyFrame[Any], column: str) -> bool:
    """Whether a column has no type because it holds nothing."""
    native = frame.to_native()
    if isinstance(native, pl.LazyFrame):
        return native.collect_schema()[column] == pl.Null
    if frame.implementation.is_duckdb():
        return str(native.types[native.columns.index(column)]).strip('"') == "NULL"
    return False
