"""Pages and notebook cells that any kind of result gets from its tables and charts alone."""

from __future__ import annotations

import html
from typing import Any

from abstain.report.grid import Grid, cell_text
from abstain.report.pieces import Figure, Page, PageTable, Section
from abstain.report.shared import again, blanks_table, facts
from abstain.report.view import View

MOST_ROWS = 60
"""Rows that a notebook shows of a table."""

STYLE = (
    "border-collapse:collapse;font-variant-numeric:tabular-nums",
    "text-align:left;padding:2px 8px;border-bottom:1px solid currentColor",
    "padding:2px 8px",
)


def plain_page(view: View[Any], **options: Any) -> Page:
    """A page of a result's tables and charts, with its notes and how it was made."""
    result = view.result
    grids = view.tables(**options)
    tables = [
        PageTable(f"table-{n}", grid.title or "Results", "", grid, page_size=50)
        for n, grid in enumerate(grids, 1)
    ]
    figures = [Figure(name, name, spec, title=name) for name, spec in view.charts().items()]
    said = [note for grid in grids for note in grid.notes]
    sections = [Section("results", "Results", said=said, tables=tables, figures=figures)]
    return Page(
        title=view.title(),
        lead=said[0] if said else "",
        sections=sections,
        again=again(result),
        again_facts=facts(result),
        again_tables=blanks_table(result),
        command=result.command,
    )


def notebook(view: View[Any]) -> str:
    """The tables as HTML without a script, and the main chart as a picture."""
    parts = [_table(grid) for grid in view.tables()]
    charts = view.charts()
    if charts:
        import vl_convert

        parts.append(str(vl_convert.vegalite_to_svg(next(iter(charts.values())))))
    return "\n".join(parts)


def _table(grid: Grid) -> str:
    columns = [(i, c) for i, c in enumerate(grid.columns) if c.kind != "bar"]
    head = "".join(f'<th style="{STYLE[1]}">{html.escape(c.heading)}</th>' for _, c in columns)
    rows = []
    for row in grid.rows[:MOST_ROWS]:
        cells = [
            f'<td style="{STYLE[2]};text-align:{"left" if c.kind == "text" else "right"}">'
            f"{html.escape(cell_text(row[i], c.kind, 4))}</td>"
            for i, c in columns
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    notes = list(grid.notes)
    if len(grid.rows) > MOST_ROWS:
        notes.insert(0, f"{len(grid.rows) - MOST_ROWS:,} more rows.")
    title = f"<h4>{html.escape(grid.title)}</h4>" if grid.title else ""
    below = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    body = "".join(rows)
    return (
        f'<div>{title}<table style="{STYLE[0]}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>{below}</div>"
    )
