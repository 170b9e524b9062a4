"""A table before it has a look, and its looks: terminal, Markdown, LaTeX, CSV.

Names come from strangers. Every look makes them harmless in its own way: no control character
reaches a terminal, no markup a page, no formula a spreadsheet.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from abstain.errors import plural

Cell: TypeAlias = str | int | float | tuple[float, float, float] | None
Kind: TypeAlias = Literal["text", "score", "count", "percent", "bar"]

UNDEFINED = "–"


class Column(Struct, frozen=True):
    """A column: its heading and what its cells are."""

    name: str
    kind: Kind = "text"
    joined: bool = False
    """Whether it says nothing without the column before it: they stay in one block."""
    shown: str = ""
    """Its heading for people, where that is not its name in a file."""
    short: str = ""
    """A heading that is enough in a terminal, beside the column before it."""
    means: str = ""
    """What it holds, in half a sentence."""
    plain: bool = False
    """Whether its heading needs no line in a legend."""

    @property
    def heading(self) -> str:
        """What stands above it where people read it."""
        return self.shown or self.name

    @property
    def brief(self) -> str:
        """What stands above it in a terminal."""
        return self.short or self.heading


class Grid(Struct):
    """Columns and rows, with notes to print below."""

    columns: list[Column]
    rows: list[list[Cell]]
    notes: list[str] = field(default_factory=list)
    title: str = ""
    dim: set[int] = field(default_factory=set)
    """Rows that stand back: references, totals."""
    breaks: set[int] = field(default_factory=set)
    """Rows before which a group begins."""
    wrap: bool = False
    """A long text in the last column runs over several lines instead of being cut."""
    stack: bool = False
    """On a narrow terminal the cells of a row stand one below another."""

    @classmethod
    def of(cls, columns: Iterable[tuple[Column, Sequence[Cell]]], **more: Any) -> Grid:
        """A table of columns, each with its cells."""
        heads, cells = zip(*columns, strict=True)
        return cls(list(heads), [list(row) for row in zip(*cells, strict=True)], **more)

    def chosen(self, order: Sequence[int]) -> Grid:
        """The table with these columns, in this order."""
        rows = [[row[i] for i in order] for row in self.rows]
        return replace(self, columns=[self.columns[i] for i in order], rows=rows)

    def without_bars(self) -> Grid:
        """The table without bars, which say what counts say."""
        return self.chosen([i for i, c in enumerate(self.columns) if c.kind != "bar"])

    def texts(self, digits: int) -> list[list[str]]:
        """The cells as people read them."""
        kinds = [column.kind for column in self.columns]
        return [list(map(cell_text, row, kinds, repeat(digits))) for row in self.rows]


def cell_text(cell: Cell, kind: Kind, digits: int) -> str:
    """A cell as people read it."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "" if kind == "text" else UNDEFINED
    if isinstance(cell, tuple):
        return ""
    if kind == "score":
        return f"{cell:z.{digits}f}".replace("-", "−") if isinstance(cell, (int, float)) else cell
    if kind == "percent" and isinstance(cell, (int, float)):
        return f"{cell:.2f}".replace("-", "−")
    if kind == "count" and isinstance(cell, (int, float)):
        return f"{cell:,.0f}" if float(cell).is_integer() else f"{cell:,.1f}"
    return str(cell)


def legend(columns: Sequence[Column]) -> list[tuple[str, str]]:
    """What headings mean; those that mean the same stand together, `AIDS: mean` as mean.

    >>> legend([Column("low", means="an end"), Column("x: high", means="an end"), Column("run")])
    [('low / high', 'an end')]
    """
    alike: dict[str, list[str]] = {}
    for column in columns:
        if column.means and not column.plain:
            name = column.heading.rpartition(": ")[2]
            names = alike.setdefault(column.means, [])
            names += [] if name in names else [name]
    return [
        (" / ".join([*names[:3], *(["…"] if names[3:] else [])]), means)
        for means, names in alike.items()
    ]


def legend_sentence(columns: Sequence[Column]) -> str:
    """The legend as a note below a table.

    >>> legend_sentence([Column("low", means="an end"), Column("n", means="how many")])
    'Columns: low: an end; n: how many.'
    """
    return "Columns: " + "; ".join(f"{names}: {means}" for names, means in legend(columns)) + "."


LONGEST = 4_000
"""Characters of a text that are shown; data files have it whole."""


def clean(text: str) -> str:
    """Text without control characters, line breaks or marks that turn the writing direction.

    >>> clean("a\\x1b[31mb\\nc")
    'a�[31mb c'
    """
    if len(text) > LONGEST:  # a name of a megabyte stands in many places
        text = text[: LONGEST - 1] + "…"
    if text.isprintable():
        return text
    spaced = re.sub(r"[\t\r\n\v\f\x85\u2028\u2029]+", " ", text)
    return re.sub(
        r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]",
        "\ufffd",
        spaced,
    )


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
    cells = [[column.heading for column in grid.columns], *grid.texts(digits)]
    table = [[markdown_text(cell) for cell in row] for row in cells]
    widths = [max(3, *map(len, column)) for column in zip(*table, strict=True)]
    left = [column.kind == "text" for column in grid.columns]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(w) if is_left else cell.rjust(w)
            for cell, w, is_left in zip(cells, widths, left, strict=True)
        ]
        return "| " + " | ".join(padded) + " |"

    rule = [
        "-" * w if is_left else "-" * (w - 1) + ":" for w, is_left in zip(widths, left, strict=True)
    ]
    lines = [line(table[0]), line(rule), *(line(row) for row in table[1:])]
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
    lines.append(" & ".join(latex_text(column.heading) for column in grid.columns) + r" \\")
    lines.append("\\midrule")
    for number, row in enumerate(grid.texts(digits)):
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
    count = min(len(grid.rows), MOST_ROWS)
    while True:
        body = to_markdown(replace(grid, rows=grid.rows[:count]), digits=digits)
        size = len(body.encode())
        if size <= MOST_BYTES or count <= IN_SIGHT:
            return body, count
        count = max(IN_SIGHT, min(count - 1, count * MOST_BYTES // size))


def folded(summary: str, body: str) -> str:
    """Text that opens on a click; GitHub reads Markdown inside only after an empty line."""
    return f"<details><summary>{markdown_text(summary)}</summary>\n\n{body}\n</details>\n"
