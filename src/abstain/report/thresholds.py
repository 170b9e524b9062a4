"""Thresholds as people read them, and what all tables of thresholds share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from abstain.errors import plural
from abstain.report.grid import UNDEFINED, Cell, Column, Grid, Kind

if TYPE_CHECKING:
    import polars as pl

NOTHING, NONE = "nothing", "none"
"""A threshold that answers nothing, and no threshold: everything is answered."""


class _Level(float):
    """A threshold: in full where machines read it, short where people do."""

    def __str__(self) -> str:
        return threshold_text(self)


def threshold_cell(value: float | None) -> Cell:
    """A threshold in a table."""
    return threshold_text(value) if value is None or math.isinf(value) else _Level(value)


def threshold_text(value: float | None) -> str:
    """A threshold as people read it.

    >>> threshold_text(0.5), threshold_text(0.999998), threshold_text(math.inf)
    ('0.5', '0.999998', 'nothing')
    """
    if value is None:
        return NONE
    if math.isinf(value):
        return NOTHING
    # 0.999998 is not 1: a run may give most of its answers between the two.
    digits = 4 if value <= 0.999 or value >= 1 else max(4, 1 - math.floor(math.log10(1 - value)))
    return f"{value:.{digits}g}"


def frame_grid(frame: pl.DataFrame, *, apart: bool = False, on_page: bool = False) -> Grid:
    """A table of curves: the types of its columns say what they are.

    With `apart` every run is a block. A page has thresholds among the numbers, to sort by, and
    tells what no threshold reaches from what does not exist.
    """
    import polars as pl

    kinds: dict[Any, Kind] = {pl.String(): "text", pl.Int64(): "count"}
    if frame.is_empty():
        frame = frame.select("run")
    columns = [Column(name, kinds.get(kind, "score")) for name, kind in frame.schema.items()]
    if not on_page:
        columns = [Column("threshold") if c.name == "threshold" else c for c in columns]
    rows = frame.rows(named=True)
    return Grid(
        columns,
        [[_cell(name, row, on_page=on_page) for name in row] for row in rows],
        breaks={n for n in range(1, len(rows)) if apart and rows[n]["run"] != rows[n - 1]["run"]},
    )


def _cell(name: str, row: Mapping[str, Any], *, on_page: bool) -> Cell:
    value: Cell = row[name]
    if name != "threshold":
        return value
    if not on_page:
        return threshold_cell(row[name])
    if value is not None:
        return threshold_text(row[name])
    return UNDEFINED if row.get("coverage", 0.0) is None else f"{NONE}, even without confidence"


def few(notes: Sequence[str], most: int = 5) -> list[str]:
    """The first notes, and how many more there are."""
    more = len(notes) - most
    return [*notes[:most], *([f"and {plural(more, 'note')} more"] if more > 0 else [])]


def missing_notes(stated: Iterable[tuple[str, int, int]]) -> list[str]:
    """What to know of answers without a confidence: run, how many have one, how many there are.

    >>> missing_notes([("a", 2, 2), ("b", 1, 2), ("c", 0, 2)])[1]
    "run 'c' has no confidence: there is no curve of it"
    """
    said = []
    for run, some, have in stated:
        if 0 < some < have:
            said.append(
                f"run '{run}': {plural(have - some, 'answer')} without a confidence, taken "
                "as the least sure"
            )
        elif not some:
            what = "confidence" if have else "answer"
            said.append(f"run '{run}' has no {what}: there is no curve of it")
    return said
