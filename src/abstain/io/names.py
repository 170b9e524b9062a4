"""Names of columns as they are: polars takes `*` for all columns and `^…$` for a pattern."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl


def exact(name: str) -> str:
    """What makes polars find the column of this very name.

    >>> exact("answer"), exact("*")
    ('answer', '^\\\\*$')
    """
    is_pattern = name == "*" or (name.startswith("^") and name.endswith("$"))
    return f"^{re.escape(name)}$" if is_pattern else name


def col(name: str) -> pl.Expr:
    """A column of a polars frame, whatever its name."""
    import polars as pl

    return pl.col(exact(name))


def cells(frame: pl.DataFrame, name: str) -> pl.Series:
    """The values of a column, without its name: methods of a series would read some names."""
    return frame[name].alias("")


def column_of(frame: nw.LazyFrame[Any], name: str) -> nw.Expr:
    """A column of any engine's frame, whatever its name."""
    import narwhals as nw

    return nw.col(exact(name) if frame.implementation.is_polars() else name)
