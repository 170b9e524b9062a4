"""A campaign as one HTML page: no network, every name escaped."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from abstain import __version__
from abstain.report.grid import Grid, cell_text, clean
from abstain.report.scores import policy_sentence

if TYPE_CHECKING:
    from abstain.campaign.campaign import Campaign
    from abstain.campaign.tables import Table

LONGEST = 300
WIDEST = 60


def campaign_page(
    c: Campaign, tables: list[Table], said: list[str], *, title: str, about: str
) -> str:
    """The page of a campaign."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    source = (files("abstain.report") / "templates" / "campaign.html").read_text("utf-8")
    return environment.from_string(source).render(
        title=clean(title),
        about=clean(about),
        sentences=[clean(text) for text in said],
        tables=[_view(table) for table in tables],
        policy=policy_sentence(c.policy, c.touched),
        notes=[clean(note) for note in c.notes],
        version=__version__,
    )


def _view(table: Table) -> dict[str, Any]:
    grid = table.grid
    columns = list(range(len(grid.columns)))
    cut = len(grid.rows) > LONGEST or len(columns) > WIDEST
    columns = columns[:WIDEST]
    return {
        "name": table.name,
        "title": clean(table.title),
        "reading": clean(table.reading),
        "cut": cut,
        "columns": [
            {"name": clean(grid.columns[i].name), "kind": grid.columns[i].kind} for i in columns
        ],
        "rows": [
            {
                "dim": number in grid.dim,
                "break": number in grid.breaks and number > 0,
                "cells": [_cell(grid, number, i) for i in columns],
            }
            for number in range(min(len(grid.rows), LONGEST))
        ],
    }


def _cell(grid: Grid, row: int, column: int) -> dict[str, Any]:
    cell, kind = grid.rows[row][column], grid.columns[column].kind
    if isinstance(cell, tuple):
        total = sum(cell) or 1
        return {"kind": kind, "bar": [round(100 * part / total, 2) for part in cell]}
    return {"kind": kind, "text": clean(cell_text(cell, kind, 2)), "bar": None}
