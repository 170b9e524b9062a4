"""Tables for a terminal: aligned, within its width, colour only where there is a terminal."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import takewhile, zip_longest
from typing import IO, TypeAlias

from abstain.report.grid import UNDEFINED, Cell, Column, Grid, cell_text, clean

Line: TypeAlias = list[tuple[str, str]]
"""Pieces of a line: a text and its style."""

BAR = 16
BLOCKS = (("█", "green"), ("▒", "red"), ("·", "bright_black"))
PLAIN_BLOCKS = (("#", "green"), ("x", "red"), (".", "bright_black"))
NAME_WIDTH = 24
NOTE_WIDTH = 80
ABREAST = 60
"""Columns below which a table that can be stacked is."""

PIPE_WIDTH = 80
"""Columns of what is no terminal, unless COLUMNS says another number. Names are never cut there."""
LEAST = 24
"""Columns that a text keeps when it runs over several lines."""


def print_grid(
    grid: Grid, *, digits: int = 4, file: IO[str] | None = None, width: int | None = None
) -> None:
    """Print a table and its notes, within a width: the terminal's unless said."""
    stream = file or sys.stdout
    terminal = stream.isatty()
    write = _coloured(stream) if terminal or os.environ.get("FORCE_COLOR") else _plain(stream)
    cut = terminal or width is not None
    width = width or shutil.get_terminal_size((PIPE_WIDTH, 24)).columns
    if not cut and not os.environ.get("COLUMNS", "").isdecimal():
        width = PIPE_WIDTH
    blocks = BLOCKS if _speaks_unicode(stream) else PLAIN_BLOCKS
    if grid.title:
        write([(clean(grid.title), "bold")])
        write([])
    if (grid.stack and width < ABREAST) or _cramped(grid, digits, width):
        for line in _stacked(grid, digits, width):
            write(line)
        parts = []
    else:
        parts = _fit(grid, digits, width, cut=cut) if grid.rows else []
    for number, part in enumerate(parts):
        if number:
            write([])
        for line in _lines(grid.chosen(part), digits, width, blocks, cut=cut):
            write(line)
    if grid.rows and grid.notes:
        write([])
    for note in grid.notes:
        for text in textwrap.wrap(clean(note), min(width, NOTE_WIDTH), break_long_words=False):
            write([(text, "dim")])


def _plain(stream: IO[str]) -> Callable[[Line], object]:
    return lambda line: stream.write("".join(text for text, _ in line).rstrip(" ") + "\n")


def _coloured(stream: IO[str]) -> Callable[[Line], object]:
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, highlight=False, emoji=False)

    def write(line: Line) -> None:
        text = Text.assemble(*line)
        text.rstrip()
        console.print(text, no_wrap=True, overflow="ignore", crop=False)

    return write


def _cramped(grid: Grid, digits: int, width: int) -> bool:
    """Whether texts alone have long names, a file's path say, and little room beside them."""
    if not grid.rows or any(column.kind != "text" for column in grid.columns):
        return False
    first, *rest = _widths(grid, digits)
    return sum(rest) + 2 * len(rest) > width - first and width - first < ABREAST // 2


def _stacked(grid: Grid, digits: int, width: int) -> Iterator[Line]:
    """Every row as a block: its name, and below it what there is to say."""
    names = [column.heading for column in grid.columns[1:]]
    indent = max(map(_len, names)) + 4
    for number, row in enumerate(grid.texts(digits)):
        if number:
            yield []
        first, *texts = map(clean, row)
        yield [(first, "bold")]
        for name, text in zip(names, texts, strict=True):
            if text not in ("", UNDEFINED):
                label = f"  {name}{' ' * (indent - 2 - _len(name))}"
                for line in textwrap.wrap(
                    text, width, initial_indent=label, subsequent_indent=" " * indent
                ):
                    yield [(line, "")]


def _speaks_unicode(stream: IO[str]) -> bool:
    if os.environ.get("ABSTAIN_ASCII"):
        return False
    encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
    return encoding.replace("-", "").startswith("utf")


def _fit(grid: Grid, digits: int, width: int, *, cut: bool) -> list[list[int]]:
    """The columns in blocks that fit the width; the texts that name a row lead every block.

    Where no column fits beside names that may not be cut, the names do not count.
    """
    widths = _widths(grid, digits)
    if sum(widths) + 2 * (len(widths) - 1) <= width:
        return [list(range(len(widths)))]
    named = takewhile(lambda i: grid.columns[i].kind == "text", range(len(widths)))
    lead = list(named)
    rest = list(range(len(lead), len(widths)))
    base = sum(widths[i] + 2 for i in lead)
    if lead and cut:
        base -= max(0, max(widths[i] for i in lead) - NAME_WIDTH)
    bars = [i for i in rest if grid.columns[i].kind == "bar"]
    if bars and base + sum(widths[i] + 2 for i in rest) - 2 > width:
        rest = [i for i in rest if i not in bars]
    whole = width - base
    if not cut and rest and max(widths[i] for i in rest) > whole:
        whole = width
    parts: list[list[int]] = []
    room = 0
    for at, i in enumerate(rest):
        joined = takewhile(lambda k: grid.columns[k].joined, rest[at + 1 :])
        together = sum(widths[k] + 2 for k in (i, *joined))
        fits = room >= (widths[i] + 2 if grid.columns[i].joined else together)
        if not parts or not fits:
            parts.append([*lead])
            room = whole + 2
        parts[-1].append(i)
        room -= widths[i] + 2
    return parts or [lead]


def _widths(grid: Grid, digits: int) -> list[int]:
    least = [max(_len(c.brief), BAR if c.kind == "bar" and grid.rows else 0) for c in grid.columns]
    rows = ([_len(clean(text)) for text in row] for row in grid.texts(digits))
    return [max(column) for column in zip(least, *rows, strict=True)]


def _lines(
    grid: Grid, digits: int, width: int, blocks: Sequence[tuple[str, str]], *, cut: bool
) -> Iterator[Line]:
    columns, widths = grid.columns, _narrowed(grid, digits, width, cut=cut)
    yield [("  ".join(_pad(c.brief, c, w) for c, w in zip(columns, widths, strict=True)), "bold")]
    sign = "─" if blocks is BLOCKS else "-"
    yield [("  ".join(sign * own for own in widths), "dim")]
    for number, row in enumerate(grid.rows):
        if number and number in grid.breaks:
            yield []
        style = "dim italic" if number in grid.dim else ""
        for cells in _wrapped(row, columns, widths) if _runs_over(grid) else (row,):
            line: Line = []
            for cell, column, own in zip(cells, columns, widths, strict=True):
                line += [("  ", "")] if line else []
                if column.kind == "bar":
                    line += [(text, f"{colour} {style}") for text, colour in _bar(cell, blocks)]
                else:
                    line.append((_pad(cell_text(cell, column.kind, digits), column, own), style))
            yield line


def _runs_over(grid: Grid) -> bool:
    """Whether long texts run over several lines: a table of texts alone has no blocks to make."""
    return grid.wrap or all(column.kind == "text" for column in grid.columns)


def _narrowed(grid: Grid, digits: int, width: int, *, cut: bool) -> list[int]:
    """The widths of the columns, within a whole: texts run over several lines, names are cut."""
    columns, widths = grid.columns, _widths(grid, digits)
    over = sum(widths) + 2 * (len(widths) - 1) - width
    longest = sorted(
        (i for i, c in enumerate(columns) if c.kind == "text"), key=lambda i: -widths[i]
    )
    for i in longest if _runs_over(grid) else ():
        words = (
            word for row in grid.rows for word in clean(cell_text(row[i], "text", 0)).split(" ")
        )
        least = max(LEAST, _len(columns[i].brief), *map(_len, words))
        less = min(max(0, over), max(0, widths[i] - least))
        widths[i], over = widths[i] - less, over - less
    if over > 0 and longest and cut:
        most = max(longest, key=lambda i: widths[i])
        widths[most] = max(8, widths[most] - over)
    return widths


def _wrapped(row: list[Cell], columns: Sequence[Column], widths: Sequence[int]) -> list[list[Cell]]:
    """A row as several, so that every text has room."""
    cells: list[Sequence[Cell]] = [
        _wrap(clean(cell_text(cell, "text", 0)), own) if column.kind == "text" else [cell]
        for cell, column, own in zip(row, columns, widths, strict=True)
    ]
    return [list(line) for line in zip_longest(*cells, fillvalue="")]


def _wrap(text: str, width: int) -> list[str]:
    if len(text) == _len(text):
        return textwrap.wrap(text, width) or [""]
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and _len(lines[-1]) + 1 + _len(word) > width:
            lines.append("")
        rest = f"{lines[-1]} {word}" if lines[-1] else word
        while _len(rest) > width:
            lines[-1] = _cut(rest, width)
            rest = rest[len(lines[-1]) :]
            lines.append("")
        lines[-1] = rest
    return lines


def _pad(text: str, column: Column, width: int) -> str:
    text = clean(text)
    if _len(text) > width:
        text = _cut(text, width - 1).rstrip() + "…"
    space = " " * max(0, width - _len(text))
    return text + space if column.kind in ("text", "bar") else space + text


def _cut(text: str, width: int) -> str:
    taken = 0
    for at, sign in enumerate(text):
        taken += _columns(sign)
        if taken > width:
            return text[:at]
    return text


def _len(text: str) -> int:
    """The columns that a text takes on a terminal."""
    return len(text) if text.isascii() else sum(map(_columns, text))


@lru_cache(1024)
def _columns(sign: str) -> int:
    """The columns that one character takes: none where it joins the one before, two where wide.

    >>> [_columns(sign) for sign in ("a", "é", "漢", "\u0301")]
    [1, 1, 2, 0]
    """
    if unicodedata.category(sign) in ("Mn", "Me", "Mc", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in ("W", "F") else 1


def _bar(cell: Cell, blocks: Sequence[tuple[str, str]]) -> Line:
    """Right, wrong and blank as a bar; what rounding leaves over goes to the largest part."""
    if not isinstance(cell, tuple) or sum(cell) <= 0:
        return [(" " * BAR, "")]
    exact = [value / sum(cell) * BAR for value in cell]
    sizes = [int(value) for value in exact]
    for i in sorted(range(3), key=lambda i: sizes[i] - exact[i])[: BAR - sum(sizes)]:
        sizes[i] += 1
    return [(sign * size, colour) for size, (sign, colour) in zip(sizes, blocks, strict=True)]
