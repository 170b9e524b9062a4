"""Tables for a terminal: aligned, within its width, colour only where there is a terminal."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import IO, TYPE_CHECKING

from abstain.report.grid import UNDEFINED, Cell, Column, Grid, cell_text, clean

if TYPE_CHECKING:
    from rich.text import Text

BAR = 16
BLOCKS = (("█", "green"), ("▒", "red"), ("·", "bright_black"))
PLAIN_BLOCKS = (("#", "green"), ("x", "red"), (".", "bright_black"))
NAME_WIDTH = 24
NOTE_WIDTH = 80
ABREAST = 60
"""Columns below which a table that can be stacked is."""

UNBOUNDED = 1 << 20
"""A pipe has no width: names are never cut there, but intervals make blocks of NOTE_WIDTH."""


def print_grid(grid: Grid, *, digits: int = 4, file: IO[str] | None = None) -> None:
    """Print a table and its notes."""
    from rich.console import Console
    from rich.text import Text

    stream = file or sys.stdout
    terminal = stream.isatty()
    console = Console(file=stream, highlight=False, soft_wrap=not terminal, emoji=False)
    width = console.width if terminal else UNBOUNDED
    blocks = BLOCKS if _speaks_unicode(stream) else PLAIN_BLOCKS
    if grid.title:
        console.print(Text(clean(grid.title), style="bold"))
        console.print()
    if grid.stack and (given := _given_width(terminal, console.width)) < ABREAST:
        for line in _stacked(grid, digits, given):
            console.print(line, no_wrap=True, overflow="ignore", crop=False)
        parts, width = [], given
    else:
        parts = _fit(grid, digits, width) if grid.rows else []
    for number, part in enumerate(parts):
        if number:
            console.print()
        for line in _lines(grid, part, digits, width, blocks):
            console.print(line, no_wrap=True, overflow="ignore", crop=False)
    if grid.rows and grid.notes:
        console.print()
    for note in grid.notes:
        for text in textwrap.wrap(clean(note), min(width, NOTE_WIDTH), break_long_words=False):
            console.print(Text(text, style="dim"), no_wrap=True, overflow="ignore", crop=False)


def _given_width(terminal: bool, width: int) -> int:
    """The width of the terminal, or what somebody set for a pipe."""
    return width if terminal or os.environ.get("COLUMNS", "").isdecimal() else UNBOUNDED


def _stacked(grid: Grid, digits: int, width: int) -> Iterator[Text]:
    """Every row as a block: its name, and below it what there is to say."""
    from rich.text import Text

    names = [column.heading for column in grid.columns[1:]]
    indent = max(map(_len, names)) + 4
    for number, row in enumerate(grid.rows):
        if number:
            yield Text("")
        first, *texts = (
            clean(cell_text(cell, column.kind, digits))
            for cell, column in zip(row, grid.columns, strict=True)
        )
        yield Text(first, style="bold")
        for name, text in zip(names, texts, strict=True):
            if text not in ("", UNDEFINED):
                label = f"  {name}{' ' * (indent - 2 - _len(name))}"
                for line in textwrap.wrap(
                    text, width, initial_indent=label, subsequent_indent=" " * indent
                ):
                    yield Text(line)


def _speaks_unicode(stream: IO[str]) -> bool:
    if os.environ.get("ABSTAIN_ASCII"):
        return False
    encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
    return encoding.replace("-", "").startswith("utf")


def _fit(grid: Grid, digits: int, width: int) -> list[list[int]]:
    """The columns in blocks that fit the width; the text columns lead every block."""
    widths = _widths(grid, digits)
    lead = [i for i, c in enumerate(grid.columns) if c.kind == "text"]
    rest = [i for i, c in enumerate(grid.columns) if c.kind != "text"]
    whole = sum(widths) + 2 * (len(widths) - 1)
    if whole <= min(width, NOTE_WIDTH) or (whole <= width < UNBOUNDED):
        return [list(range(len(widths)))]
    base = sum(widths[i] + 2 for i in lead)
    if width == UNBOUNDED:
        if not any(c.short for c in grid.columns):
            return [[i for i, c in enumerate(grid.columns) if c.kind != "bar"]]
        width = NOTE_WIDTH
    elif lead:
        base -= max(0, max(widths[i] for i in lead) - NAME_WIDTH)
    bars = [i for i in rest if grid.columns[i].kind == "bar"]
    if bars and base + sum(widths[i] + 2 for i in rest) - 2 > width:
        rest = [i for i in rest if i not in bars]
    parts: list[list[int]] = []
    room = 0
    for at, i in enumerate(rest):
        joined = takewhile(lambda k: grid.columns[k].joined, rest[at + 1 :])
        together = sum(widths[k] + 2 for k in (i, *joined))
        fits = room >= (widths[i] + 2 if grid.columns[i].joined else together)
        if not parts or not fits:
            parts.append([*lead])
            room = width - base + 2
        parts[-1].append(i)
        room -= widths[i] + 2
    return parts or [lead]


def _widths(grid: Grid, digits: int) -> list[int]:
    return [
        max(
            _len(c.brief),
            BAR if c.kind == "bar" else 0,
            *(_len(clean(cell_text(row[i], c.kind, digits))) for row in grid.rows),
        )
        if grid.rows
        else _len(c.brief)
        for i, c in enumerate(grid.columns)
    ]


def _lines(
    grid: Grid,
    part: Sequence[int],
    digits: int,
    width: int,
    blocks: Sequence[tuple[str, str]],
) -> list[Text]:
    from rich.text import Text

    widths = _widths(grid, digits)
    total = sum(widths[i] for i in part) + 2 * (len(part) - 1)
    texts = [i for i in part if grid.columns[i].kind == "text"]
    if total > width and texts:
        longest = max(texts, key=lambda i: widths[i])
        widths[longest] = max(8, widths[longest] - (total - width))
    head = Text("  ".join(_pad(c.brief, c, widths[i]) for i, c in _chosen(grid, part)), "bold")
    head.rstrip()
    rule = Text("  ".join("─" * widths[i] if blocks is BLOCKS else "-" * widths[i] for i in part))
    rule.stylize("dim")
    lines = [head, rule]
    for number, row in enumerate(grid.rows):
        if number and number in grid.breaks:
            lines.append(Text(""))
        for cells in _wrapped(row, part[-1], widths) if grid.wrap else (row,):
            line = Text()
            for at, (i, column) in enumerate(_chosen(grid, part)):
                if at:
                    line.append("  ")
                if column.kind == "bar":
                    line.append_text(_bar(cells[i], blocks))
                else:
                    line.append(_pad(cell_text(cells[i], column.kind, digits), column, widths[i]))
            if number in grid.dim:
                line.stylize("dim italic")
            line.rstrip()
            lines.append(line)
    return lines


def _wrapped(row: list[Cell], last: int, widths: Sequence[int]) -> list[list[Cell]]:
    """A row as several, so that its last text has room."""
    texts = textwrap.wrap(clean(str(row[last])), widths[last]) or [""]
    blank: list[Cell] = [""] * len(row)
    return [
        [*(row if number == 0 else blank)[:last], text, *row[last + 1 :]]
        for number, text in enumerate(texts)
    ]


def _chosen(grid: Grid, part: Sequence[int]) -> list[tuple[int, Column]]:
    return [(i, grid.columns[i]) for i in part]


def _pad(text: str, column: Column, width: int) -> str:
    from rich.cells import cell_len, set_cell_size

    text = clean(text)
    if cell_len(text) > width:
        text = set_cell_size(text, width - 1).rstrip() + "…"
    space = " " * max(0, width - cell_len(text))
    return text + space if column.kind in ("text", "bar") else space + text


def _len(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


def _bar(cell: Cell, blocks: Sequence[tuple[str, str]]) -> Text:
    """Right, wrong and blank as a bar; what rounding leaves over goes to the largest part."""
    from rich.text import Text

    bar = Text()
    if not isinstance(cell, tuple) or sum(cell) <= 0:
        return Text(" " * BAR)
    exact = [value / sum(cell) * BAR for value in cell]
    sizes = [int(value) for value in exact]
    for i in sorted(range(3), key=lambda i: sizes[i] - exact[i])[: BAR - sum(sizes)]:
        sizes[i] += 1
    for size, (sign, colour) in zip(sizes, blocks, strict=True):
        bar.append(sign * size, colour)
    return bar
