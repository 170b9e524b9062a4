"""A table as text that other programs read: Markdown, LaTeX, CSV, a summary on GitHub.

Names come from strangers. Every format makes them harmless in its own way: no markup reaches a
page, no formula a spreadsheet.
"""

from __future__ import annotations

import csv
import io
import re
from itertools import accumulate

from msgspec.structs import replace

from abstain.errors import plural
from abstain.report.grid import Cell, Grid, Kind, clean


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it is.

    >>> markdown_text("a|b <i>_x_")
    'a\\\\|b &lt;i&gt;\\\\_x\\\\_'
    """
    safe = clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]|~#!$])", r"\\\1", safe)


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "[": "{[}",  # after a line's end it would open an argument
    "]": "{]}",
    "κ": r"$\kappa$",
    "β": r"$\beta$",
    "τ": r"$\tau$",
    "ρ": r"$\rho$",
    "·": r"$\cdot$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "−": r"$-$",
    "–": r"--",
    "′": r"$'$",
}


def latex_text(text: str) -> str:
    """Text that LaTeX sets as it is.

    >>> latex_text("50% of a_b \\\\input{x}")
    '50\\\\% of a\\\\_b \\\\textbackslash{}input\\\\{x\\\\}'
    """
    return "".join(_LATEX.get(sign, sign) for sign in clean(text))


def csv_text(text: str) -> str:
    """Text that a spreadsheet does not take for a formula.

    >>> csv_text("=1+1"), csv_text("run-1")
    ("'=1+1", 'run-1')
    """
    safe = clean(text)
    return "'" + safe if safe[:1] in ("=", "+", "-", "@") else safe


def to_csv(grid: Grid) -> str:
    """Full precision, empty where undefined, no notes."""
    grid = grid.without_bars()
    columns = [
        _csv_column([row[i] for row in grid.rows], column.kind)
        for i, column in enumerate(grid.columns)
    ]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([csv_text(column.name) for column in grid.columns])
    writer.writerows(zip(*columns, strict=True))
    return out.getvalue()


def _csv_column(cells: list[Cell], kind: Kind) -> list[Cell]:
    """The cells of a column; one of nothing but scores or whole numbers needs no look at each."""
    types = set(map(type, cells))
    if types <= {int} or (kind != "count" and types <= {float, int}):
        return [None if cell != cell else cell for cell in cells]
    return [_csv_cell(cell, kind) for cell in cells]


def _csv_cell(cell: Cell, kind: Kind) -> Cell:
    if isinstance(cell, float):
        if cell != cell:
            return None
        return int(cell) if kind == "count" and cell.is_integer() else float(cell)
    return csv_text(cell) if isinstance(cell, str) else cell


def to_markdown(grid: Grid, *, digits: int = 4) -> str:
    """A pipe table, aligned so that it reads as text too."""
    grid = grid.without_bars()
    columns = []
    for column, texts in zip(grid.columns, grid.texts(digits), strict=True):
        cells = [markdown_text(text) for text in (column.name, *texts)]
        width = max(3, *map(len, cells))
        if column.kind == "text":
            head, *padded = [cell.ljust(width) for cell in cells]
            columns.append([head, "-" * width, *padded])
        else:
            head, *padded = [cell.rjust(width) for cell in cells]
            columns.append([head, "-" * (width - 1) + ":", *padded])
    lines = [f"| {' | '.join(row)} |" for row in zip(*columns, strict=True)]
    if grid.title:
        lines = [f"**{markdown_text(grid.title)}**", "", *lines]
    if grid.notes:
        lines += ["", *(f"- {markdown_text(note)}" for note in grid.notes)]
    return "\n".join(lines) + "\n"


def to_latex(grid: Grid, *, digits: int = 4) -> str:
    """A booktabs tabular, ready to paste; its title and notes are comments."""
    grid = grid.without_bars()
    spec = "".join("l" if column.kind == "text" else "r" for column in grid.columns)
    lines = [f"\\begin{{tabular}}{{{spec}}}", "\\toprule"]
    lines.append(" & ".join(latex_text(column.name) for column in grid.columns) + r" \\")
    lines.append("\\midrule")
    for number, row in enumerate(zip(*grid.texts(digits), strict=True)):
        if number and number in grid.breaks:
            lines.append("\\midrule")
        lines.append(" & ".join(map(latex_text, row)) + r" \\")
    lines += ["\\bottomrule", "\\end{tabular}"]
    if grid.title:
        lines = [f"% {clean(grid.title)}", *lines]
    lines += [f"% {clean(note)}" for note in grid.notes]
    return "\n".join(lines) + "\n"


IN_SIGHT = 10
"""Rows that are shown before somebody unfolds the rest."""

MOST_ROWS = 2_000
MOST_BYTES = 512 << 10
"""A job summary may hold 1 MiB, and others add to it; a longer table is cut and says so."""


def to_github(grid: Grid, *, digits: int = 4) -> str:
    """A title, the first rows, and folded: all rows, and how to read them."""
    lines = [f"### {markdown_text(grid.title)}", ""] if grid.title else []
    bare = replace(grid, title="", notes=[])
    first = replace(bare, rows=grid.rows[:IN_SIGHT])
    lines.append(to_markdown(first, digits=digits))
    if len(grid.rows) > IN_SIGHT:
        body, shown = _within(bare, digits)
        if len(grid.rows) > shown:
            more = plural(len(grid.rows) - shown, "more row")
            body += f"\n… and {more}: the CSV output has them.\n"
        lines.append(folded(f"All {len(grid.rows):,} rows", body))
    if grid.notes:
        lines += [markdown_text(grid.notes[0]), ""]
    if grid.notes[1:]:
        body = "".join(f"- {markdown_text(note)}\n" for note in grid.notes[1:])
        lines.append(folded("Notes", body))
    return "\n".join(lines).rstrip() + "\n"


def _within(grid: Grid, digits: int) -> tuple[str, int]:
    """The first rows that a summary holds, as Markdown, and how many they are."""
    head, rule, *rows = to_markdown(grid, digits=digits).splitlines()
    sizes = accumulate(len(row.encode()) + 1 for row in rows[:MOST_ROWS])
    count = sum(size <= MOST_BYTES for size in sizes)
    return "\n".join([head, rule, *rows[:count]]) + "\n", count


def folded(summary: str, body: str) -> str:
    """Text that opens on a click; GitHub reads Markdown inside only after an empty line."""
    return f"<details><summary>{markdown_text(summary)}</summary>\n\n{body}\n</details>\n"
