"""Large tables of text in memory: a column of few different values is held as numbers."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from abstain.io.names import col

LARGE = 1 << 20
"""Rows from which on a table is worth the trouble."""

FEW = 16
"""A column has few values where a value stands so many times in a chunk, on average."""


def held(chunks: Iterable[pl.DataFrame]) -> pl.LazyFrame | None:
    """The rows of all chunks, every cell as it was; nothing where there are none.

    Text takes 16 bytes a cell and more. In a large table a column of few values takes 4; it is
    text again for whoever asks.
    """
    parts: list[pl.DataFrame] = []
    few: dict[str, pl.Categories] | None = None
    rows = 0
    for chunk in chunks:
        rows += chunk.height
        if few is None and rows > LARGE:
            few = {name: pl.Categories.random() for name in _texts(chunk)}
            parts = [_coded(part, few) for part in parts]
        parts.append(chunk if few is None else _coded(chunk, few))
    if not parts:
        return None
    coded = {name for part in parts for name in _codes(part)}
    whole = coded.intersection(*map(_codes, parts))
    parts = [part.with_columns(_as_text(coded - whole)) for part in parts]
    frame = pl.concat(parts, how="vertical_relaxed")  # some may hold whole numbers as text
    return frame.lazy().with_columns(_as_text(whole)) if whole else frame.lazy()


def _texts(chunk: pl.DataFrame) -> list[str]:
    return [name for name, kind in chunk.schema.items() if kind == pl.String]


def _codes(chunk: pl.DataFrame) -> list[str]:
    return [name for name, kind in chunk.schema.items() if isinstance(kind, pl.Categorical)]


def _coded(chunk: pl.DataFrame, few: dict[str, pl.Categories]) -> pl.DataFrame:
    """A chunk with its columns of few values as numbers; one that has many is left for good."""
    for name in _texts(chunk):
        column = chunk.get_column(name)
        if name in few and column.n_unique() * FEW > max(chunk.height, LARGE // FEW):
            del few[name]
        if name in few:
            chunk = chunk.with_columns(column.cast(pl.Categorical(few[name])))
    return chunk


def _as_text(names: Iterable[str]) -> list[pl.Expr]:
    return [col(name).cast(pl.String) for name in sorted(names)]
