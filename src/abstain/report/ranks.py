"""A result of `rank` as a table."""

from __future__ import annotations

from abstain.analyses.rank.results import RankResult, RankRow
from abstain.report.grid import Cell, Column, Grid
from abstain.report.scores import sentence
from abstain.report.undefined import undefined_sentences

ALL = "all"
"""In place of a query's name: the mean over all of them; in brackets where one is called so."""


def rank_grid(result: RankResult) -> Grid:
    """Rank, run, slice, query, scores; how many lists were missing and truncated."""
    settings = result.settings
    counted = [("missing", any(row.missing for row in result.rows))]
    counted.append(("truncated", settings.nil is not None or settings.limit is not None))
    counts = [name for name, shown in counted if shown and not result.per_query]
    columns = [
        Column("#"),
        Column("run"),
        *(Column(result.slice_label(name)) for name in result.by),
        *([Column("query")] if result.per_query else []),
        *(
            Column(str(item), "count" if item.definition.total else "score")
            for item in result.measures
        ),
        *(Column(name, "count") for name in (["queries"] if result.by else []) + counts),
    ]
    names = {row.query for row in result.rows}
    overall = ALL
    while overall in names:
        overall = f"({overall})"
    rows: list[list[Cell]] = []
    breaks: set[int] = set()
    last: tuple[object, ...] | None = None
    for number, row in enumerate(result.rows):
        part = (*row.slice.values(), row.run if result.per_query else None)
        if part != last:
            breaks.add(number)
            last = part
        rows.append(_cells(row, result, counts, overall))
    return Grid(columns, rows, notes=_notes(result), breaks=breaks)


def _cells(row: RankRow, result: RankResult, counts: list[str], overall: str) -> list[Cell]:
    cells: list[Cell] = [row.rank, row.run, *(row.slice[name] or "–" for name in result.by)]
    if result.per_query:
        cells.append(overall if row.query is None else row.query)
    cells += [row.scores[str(item)] for item in result.measures]
    if result.by:
        cells.append(row.queries)
    return [*cells, *(getattr(row, name) for name in counts)]


def _notes(result: RankResult) -> list[str]:
    said = [sentence(note, {row.run for row in result.rows}) for note in result.notes]
    overall = ((row.run, row.undefined) for row in result.rows if row.query is None)
    return [*said, *undefined_sentences(overall)]
