"""A table as text that other programs read: Markdown, LaTeX, CSV, a summary on GitHub.

Names come from strangers. Every format makes them harmless in its own way: no markup reaches a
page, no formula a spreadsheet.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator
from itertools import accumulate

from msgspec.structs import replace

from abstain.errors import plural
from abstain.report.grid import Cell, CellKind, Grid, clean


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it is.

    >>> markdown_text("a|b <i>_x_")
    'a\\\\|b &lt;i&gt;\\\\_x\\\\_'
    """
    safe = clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]|~#!$])", r"\\\1", safe)


_SIGNS = {"\\": "backslash", "^": "asciicircum", "~": "asciitilde", "<": "less", ">": "greater"}
_MATHS = {"κ": "kappa", "β": "beta", "τ": "tau", "ρ": "rho", "·": "cdot", "±": "pm", "×": "times"}
_LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "{}$&#%_"}
    | {sign: f"\\text{name}{{}}" for sign, name in _SIGNS.items()}
    | {sign: f"$\\{name}$" for sign, name in _MATHS.items()}
    | {"|": r"\textbar{}", '"': r"\textquotedbl{}", "−": "$-$", "–": "--", "′": "$'$"}
    | {"†": r"\dag{}", "‡": r"\ddag{}"}
    | {"[": "{[}", "]": "{]}"}  # after a line's end it would open an argument
)


def latex_text(text: str) -> str:
    """Text that LaTeX sets as it is.

    >>> latex_text("50% of a_b \\\\input{x}")
    '50\\\\% of a\\\\_b \\\\textbackslash{}input\\\\{x\\\\}'
    """
    return clean(text).translate(_LATEX)


def csv_text(text: str) -> str:
    """Text that a spreadsheet does not take for a formula.

    >>> csv_text("=1+1"), csv_text("run-1")
    ("'=1+1", 'run-1')
    """
    safe = clean(text)
    return "'" + safe if safe[:1] in ("=", "+", "-", "@") else safe


_MD, _TEX = ("**{}**", "<sup>{}</sup>"), (r"\textbf{{{}}}", r"\textsuperscript{{{}}}")
"""Bold, and a superscript."""


def _texts(
    grid: Grid, digits: int, escaped: Callable[[str], str], looks: tuple[str, str]
) -> Iterator[list[str]]:
    bold, raised = looks
    for column, texts in enumerate(grid.texts(digits)):
        cells = [
            bold.format(text) if (row, column) in grid.bold else text
            for row, text in enumerate(map(escaped, texts))
        ]
        for (row, _), mark in ((at, m) for at, m in grid.marks.items() if at[1] == column and m):
            cells[row] += raised.format(escaped(mark))
        yield cells


def to_csv(grid: Grid) -> str:
    """Full precision, empty where undefined, no notes."""
    grid = grid.without_bars()
    pairs = zip(grid.columns, grid.cells(), strict=True)
    columns = [[_csv_cell(cell, column.kind) for cell in cells] for column, cells in pairs]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([csv_text(column.name) for column in grid.columns])
    writer.writerows(zip(*columns, strict=True))
    return out.getvalue()


def _csv_cell(cell: Cell, kind: CellKind) -> Cell:
    if isinstance(cell, str):
        return csv_text(cell)
    if isinstance(cell, float) and kind == "count" and cell.is_integer():
        return int(cell)
    return None if cell != cell else cell


def to_markdown(grid: Grid, *, digits: int = 4) -> str:
    """A pipe table, aligned so that it reads as text too."""
    grid = grid.without_bars()
    columns = []
    for column, texts in zip(grid.columns, _texts(grid, digits, markdown_text, _MD), strict=True):
        cells = [markdown_text(column.name), *texts]
        width, is_text = max(3, *map(len, cells)), column.kind == "text"
        padded = [cell.ljust(width) if is_text else cell.rjust(width) for cell in cells]
        padded.insert(1, "-" * width if is_text else "-" * (width - 1) + ":")
        columns.append(padded)
    lines = [f"| {' | '.join(row)} |" for row in zip(*columns, strict=True)]
    if grid.title:
        lines = [f"**{markdown_text(grid.title)}**", "", *lines]
    if grid.caption:
        lines += ["", f"Table: {markdown_text(grid.caption)}"]
    if grid.notes:
        lines += ["", *(f"- {markdown_text(note)}" for note in grid.notes)]
    return "\n".join(lines) + "\n"


def to_latex(grid: Grid, *, digits: int = 4) -> str:
    """A booktabs tabular, ready to paste; its title and notes are comments.

    With a caption it is a whole table.
    """
    grid = grid.without_bars()
    spec = "".join("l" if column.kind == "text" else "r" for column in grid.columns)
    lines = [f"\\begin{{tabular}}{{{spec}}}", "\\toprule"]
    lines.append(" & ".join(latex_text(column.name) for column in grid.columns) + r" \\")
    lines.append("\\midrule")
    for number, row in enumerate(zip(*_texts(grid, digits, latex_text, _TEX), strict=True)):
        if number and number in grid.breaks:
            lines.append("\\midrule")
        lines.append(" & ".join(row) + r" \\")
    lines += ["\\bottomrule", "\\end{tabular}"]
    if grid.caption:
        head = ["\\begin{table}", "\\centering", f"\\caption{{{latex_text(grid.caption)}}}"]
        lines = [*head, *lines, "\\end{table}"]
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
    lines.append(to_markdown(replace(bare, rows=grid.rows[:IN_SIGHT]), digits=digits))
    if len(grid.rows) > IN_SIGHT:
        head, rule, *rows = to_markdown(bare, digits=digits).splitlines()
        sizes = accumulate(len(row.encode()) + 1 for row in rows[:MOST_ROWS])
        shown = sum(size <= MOST_BYTES for size in sizes)
        body = "\n".join([head, rule, *rows[:shown]]) + "\n"
        if len(rows) > shown:
            more = plural(len(rows) - shown, "more row")
            body += f"\n… and {more}: the CSV output has them.\n"
        lines.append(folded(f"All {len(rows):,} rows", body))
    if grid.notes:
        lines += [markdown_text(grid.notes[0]), ""]
    if grid.notes[1:]:
        body = "".join(f"- {markdown_text(note)}\n" for note in grid.notes[1:])
        lines.append(folded("Notes", body))
    return "\n".join(lines).rstrip() + "\n"


def folded(summary: str, body: str) -> str:
    """Text that opens on a click; GitHub reads Markdown inside only after an empty line."""
    return f"<details><summary>{markdown_text(summary)}</summary>\n\n{body}\n</details>\n"
