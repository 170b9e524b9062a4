"""A table from one format to another, its known columns under their known names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import narwhals as nw
import polars as pl

from abstain.formats.tables import ROW, write_table
from abstain.questions import check_mapping, collect, open_table, rename


def convert_table(
    source: str | Path,
    target: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    from_format: str | None = None,
    to_format: str | None = None,
) -> int:
    """Write a table in another format; the number of rows written.

    Text stays text: an id such as `007` survives. Only `confidence` becomes a number, where
    every cell is one.
    """
    raw = open_table(source, format=from_format)
    check_mapping(columns or {}, [raw])
    table = rename(rename(raw, columns or {}, side="gold"), columns or {}, side="run")
    frame = collect(nw.from_native(table.frame), table.name)
    frame = frame.drop(ROW, strict=False)
    if "confidence" in frame.columns and frame["confidence"].dtype == pl.String:
        numbers = frame["confidence"].cast(pl.Float64, strict=False)
        empty = frame["confidence"].is_null() | (frame["confidence"] == "")
        if (numbers.is_not_null() | empty).all():
            frame = frame.with_columns(numbers)
    write_table(frame, target, format=to_format)
    return frame.height
