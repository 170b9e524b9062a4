"""HTML: a page, a chart alone, the tables and the chart of a notebook.

A page is one file. It works from disk, asks no network, and keeps every name text: what comes from
strangers reaches it through autoescaping or through JSON that no parser takes for markup.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

import msgspec
from msgspec.structs import replace

from abstain import __version__
from abstain.report.charts import chart_library, in_run_colours, interactive, run_colours
from abstain.report.grid import Column, Grid, clean
from abstain.report.page import FEW, Page, PageTable
from abstain.report.view import Charts

FILTERS = ("team", "language", "topic", "test", "type", "slice", "reference")
MOST_CHOICES = 60
"""Values of a column that may be chosen from a list."""

CHART_FRAME = 52
"""Pixels that axes and their titles take besides a chart's own height."""


def render(page: Page) -> str:
    """The page as HTML."""
    from markupsafe import Markup

    sections = [section for section in page.sections if section.filled]
    figures = [figure for section in sections for figure in section.figures]
    tables = [t for section in sections for t in (*section.tables, *section.folded)]
    colours = run_colours((figure.spec for figure in figures), _runs_in_order(tables))
    data = {
        "digits": page.digits,
        "colours": {clean(run): colour for run, colour in colours.items()},
        "tables": {t.name: table_data(t) for t in tables},
        "charts": {
            figure.name: interactive(in_run_colours(figure.spec, colours))
            | {"width": "container", "title": None}
            for figure in figures
        },
    }
    script = _asset("assets/theme.js") + _asset("assets/report.js")
    library = chart_library() if figures else ""
    return _from_template(
        "templates/page.html",
        page=page,
        sections=sections,
        filed=[t for t in tables if t.filed],
        frame=CHART_FRAME,
        versions=versions(),
        style=Markup(_asset("assets/report.css")),
        allowed=Markup(" ".join(_allowed(text) for text in (script, library) if text)),
        script=Markup(script),
        library=Markup(library),
        data=Markup(_harmless_json(data)),
    )


def _runs_in_order(tables: Sequence[PageTable]) -> list[str]:
    """The runs as the first table that names them has them."""
    for grid in (table.grid for table in tables):
        names = [column.name for column in grid.columns]
        if "run" in names:
            at = names.index("run")
            return [str(row[at]) for n, row in enumerate(grid.rows) if n not in grid.dim]
    return []


def render_chart(spec: Mapping[str, Any]) -> str:
    """A chart as a page of its own."""
    from markupsafe import Markup

    first = spec["vconcat"][0] if "vconcat" in spec else spec
    script, library = _asset("assets/chart.js"), chart_library()
    return _from_template(
        "templates/chart.html",
        title=str(first["title"]["text"]),
        spec=Markup(_harmless_json(spec)),
        allowed=Markup(" ".join(map(_allowed, (script, library)))),
        script=Markup(script),
        library=Markup(library),
    )


def _from_template(template: str, **values: Any) -> str:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: clean(value) if type(value) is str else value,
    )
    environment.filters["commands"] = _with_commands
    return environment.from_string(_asset(template)).render(**values)


def _with_commands(sentence: str) -> Any:
    """A sentence whose commands look like commands."""
    from markupsafe import Markup, escape

    safe = str(escape(clean(sentence)))
    return Markup(re.sub(r"`(abstain [a-z]+(?: --[a-z-]+)?)`", r"<code>\1</code>", safe))


def versions() -> str:
    """What a result depends on, with its version."""
    from platform import python_version

    import numpy
    import polars

    others = f"numpy {numpy.__version__}, polars {polars.__version__}"
    return f"abstain {__version__}, Python {python_version()}, {others}"


@functools.cache
def _asset(name: str) -> str:
    return (files("abstain.report") / name).read_text("utf-8")


def _allowed(script: str) -> str:
    """A script as a page's policy names it: no other runs, whatever slipped into the markup."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _harmless_json(data: Any) -> str:
    """JSON that no HTML parser takes for markup."""
    text = msgspec.json.encode(data).decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def table_data(table: PageTable) -> dict[str, Any]:
    """A table as the page's script takes it."""
    grid = table.grid
    kept = grid.chosen(range(table.columns_kept))
    names = [column.name for column in kept.columns]
    rows = kept.rows[: table.rows_kept]
    return {
        "title": clean(table.title),
        "columns": [_column(column) for column in kept.columns],
        "rows": [[_cell(cell) for cell in row] for row in rows],
        "total": len(grid.rows),
        "cut": bool(table.cut),
        "dim": sorted(n for n in grid.dim if n < len(rows)),
        "breaks": sorted(n for n in grid.breaks if n < len(rows)),
        "filters": [
            i
            for i, name in enumerate(names)
            if name in (*FILTERS, *table.filters)
            and len(rows) > FEW
            and 1 < len({row[i] for row in rows if row[i]}) <= MOST_CHOICES
        ],
        "variants": [
            {
                "group": clean(v.group),
                "name": clean(v.name),
                "cells": {str(i): [_cell(cell) for cell in item] for i, item in v.cells.items()},
            }
            for v in table.variants
        ],
        "late": [i for i, name in enumerate(names) if name in table.late],
        "beneath": [i for i, name in enumerate(names) if name in table.beneath],
        "ordered": table.ordered_by,
        "rising": table.best_is_low,
        "size": table.page_size,
    }


def _column(column: Column) -> dict[str, str]:
    facts = {"name": column.name, "kind": column.kind, "means": column.meaning}
    return {name: clean(text) for name, text in facts.items() if text or name in ("name", "kind")}


def _cell(cell: Any) -> Any:
    if isinstance(cell, str):
        return clean(cell)
    if isinstance(cell, float):
        return round(cell, 6) if math.isfinite(cell) else None
    return [_cell(part) for part in cell] if isinstance(cell, tuple) else cell


MOST_ROWS = 60
"""Rows that a notebook shows of a table."""


def notebook(grids: Iterable[Grid], charts: Charts) -> str:
    """The tables as HTML without a script, and the main chart as a picture."""
    parts = []
    for grid in (grid.without_bars() for grid in grids):
        shown = replace(grid, rows=grid.rows[:MOST_ROWS])
        columns = list(zip(shown.columns, shown.texts(4), strict=True))
        more = len(grid.rows) - len(shown.rows)
        parts.append(_from_template("templates/table.html", grid=shown, columns=columns, more=more))
    if charts:
        import vl_convert

        parts.append(_numbered(str(vl_convert.vegalite_to_svg(next(iter(charts.values()))))))
    return "\n".join(parts)


def _numbered(svg: str) -> str:
    """A picture whose ids count from its own beginning, not from that of the process."""
    ids: dict[str, str] = {}
    return re.sub(
        r"\b(gradient_|clip)(\d+)",
        lambda result: ids.setdefault(result[0], f"{result[1]}{len(ids)}"),
        svg,
    )
