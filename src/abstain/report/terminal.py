"""Tables for a terminal: aligned, within its width, colour only where there is a terminal.

Not rich's Table: a table that is too wide goes on in blocks that repeat the names of its rows, and
a pipe, where most output goes, should not wait for rich to load.
"""

import io
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile, zip_longest
from typing import IO, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from abstain.report.grid import LONGEST, UNDEFINED, Cell, Column, Grid, clean

Line: TypeAlias = list[tuple[str, str]]
"""Pieces of a line: a text and its style."""
Signs: TypeAlias = tuple[tuple[str, str], ...]
"""The signs of right, wrong and blank in a bar, each with its colour."""

BAR = 16
BLOCKS = (("█", "green"), ("▒", "red"), ("·", "bright_black"))
PLAIN_BLOCKS = (("#", "green"), ("x", "red"), (".", "bright_black"))
NAME_WIDTH = 24
"""Columns that names have at least where they are cut."""
LONG_NAME = 40
"""A name that is longer stands out of the width, where it is not cut: else it would take the room
of the columns, and a block would have one column."""
NOTE_WIDTH = 80
NARROW = 60
"""Columns below which a table that can be stacked is."""
PIPE_WIDTH = 80
"""Columns of what is no terminal, unless COLUMNS says another number. Names are never cut there."""
LEAST = 24
"""Columns that a text keeps when it runs over several lines."""


class Strip(Struct, frozen=True):
    """A column laid out: the texts of its heading and cells, the cells, the width they take."""

    column: Column
    texts: list[str]
    cells: Sequence[Cell]
    width: int
    is_text: bool


def print_grid(
    grid: Grid, *, digits: int = 4, file: IO[str] | None = None, width: int | None = None
) -> None:
    """Print a table and its notes, within a width: by default the terminal's."""
    stream = file or sys.stdout
    cut = stream.isatty() or width is not None
    if width is None and (cut or os.environ.get("COLUMNS", "").isdecimal()):
        width = shutil.get_terminal_size((PIPE_WIDTH, 24)).columns
    encoding = (getattr(stream, "encoding", None) or "utf-8").lower()
    unicode = encoding.startswith("utf") and not os.environ.get("ABSTAIN_ASCII")
    signs = BLOCKS if unicode else PLAIN_BLOCKS
    lines = _lines(grid, _laid_out(grid, digits), width or PIPE_WIDTH, cut=cut, signs=signs)
    if stream.isatty() or os.environ.get("FORCE_COLOR"):
        from rich.console import Console
        from rich.text import Text

        console = Console(file=stream, highlight=False, emoji=False)
        for line in lines:
            text = Text.assemble(*line)
            text.rstrip()
            console.print(text, no_wrap=True, overflow="ignore", crop=False)
    else:
        stream.writelines("".join([text for text, _ in line]).rstrip(" ") + "\n" for line in lines)


def terminal_text(grid: Grid, digits: int = 4, width: int | None = None) -> str:
    """A table as a terminal shows it, as text."""
    out = io.StringIO()
    print_grid(grid, digits=digits, file=out, width=width)
    return out.getvalue()


def _laid_out(grid: Grid, digits: int) -> list[Strip]:
    strips = []
    for column, texts, cells in zip(grid.columns, grid.texts(digits), grid.cells(), strict=True):
        least = BAR if column.kind == "bar" and texts else 0
        texts.insert(0, column.short or column.name)
        joined = "".join(texts)
        if len(joined) > LONGEST or not joined.isprintable():
            texts = list(map(clean, texts))
        width = max(least, *_widths(texts))
        strips.append(Strip(column, texts, cells, width, column.kind == "text"))
    return strips


def _lines(
    grid: Grid, strips: list[Strip], width: int, *, cut: bool, signs: Signs
) -> Iterator[Line]:
    if grid.title:
        yield from ([(clean(grid.title), "bold")], [])
    wide, texts = _width(strips) > width, all(strip.is_text for strip in strips)
    # names as long as a file's path leave other texts no room beside them
    if grid.rows and texts and wide and width < max(NARROW, strips[0].width + NARROW // 2):
        yield from _stacked(strips, width)
    elif grid.rows:
        parts = _in_blocks(strips, width, cut=cut) if wide and not texts else [strips]
        for number, part in enumerate(parts):
            yield from [[]] if number else []
            if wide:
                part = _narrowed(part, width, wraps=texts, cut=cut)
            yield from _block(grid, part, signs, wraps=texts)
    yield from [[]] if grid.rows and grid.notes else []
    for note in grid.notes:
        for text in textwrap.wrap(clean(note), min(width, NOTE_WIDTH), break_long_words=False):
            yield [(text, "dim")]


def _width(strips: Sequence[Strip]) -> int:
    return sum([strip.width + 2 for strip in strips]) - 2


def _stacked(strips: Sequence[Strip], width: int) -> Iterator[Line]:
    """Every row as a block: its name, and below it what there is to say."""
    names = [strip.column.name for strip in strips[1:]]
    indent = " " * (max(map(_len, names)) + 4)
    rows = zip(*(strip.texts[1:] for strip in strips), strict=True)
    for number, (first, *texts) in enumerate(rows):
        yield from [[]] if number else []
        yield [(first, "bold")]
        for name, text in zip(names, texts, strict=True):
            if text not in ("", UNDEFINED):
                label = f"  {name}{' ' * (len(indent) - 2 - _len(name))}"
                for line in textwrap.wrap(
                    text, width, initial_indent=label, subsequent_indent=indent
                ):
                    yield [(line, "")]


def _in_blocks(strips: list[Strip], width: int, *, cut: bool) -> list[list[Strip]]:
    """The columns in blocks that fit the width; the texts that name a row lead every block.

    Long names that may not be cut do not count, nor do those beside which no column fits.
    """
    lead = list(takewhile(lambda strip: strip.is_text, strips))
    rest = strips[len(lead) :]
    names = _width(lead) + 2 if lead else 0
    longest = max([strip.width for strip in lead], default=0)
    if cut or longest > LONG_NAME:
        names -= max(0, longest - NAME_WIDTH)
    if names + _width(rest) > width:
        rest = [strip for strip in rest if strip.column.kind != "bar"] or rest
    room = width - names
    if not cut and max([strip.width for strip in rest]) > room:
        room = width
    blocks: list[list[Strip]] = []
    left = 0
    for at, strip in enumerate(rest):
        joined = [each.column.joined for each in rest[at + 1 :]]
        group = rest[at : at + 1 + [*joined, False].index(False)]
        needs = strip.width if strip.column.joined else _width(group)
        if not blocks or needs > left:
            blocks.append([*lead])
            left = room
        blocks[-1].append(strip)
        left -= strip.width + 2
    return blocks


def _block(grid: Grid, strips: Sequence[Strip], signs: Signs, *, wraps: bool) -> Iterator[Line]:
    heads, *rows = zip(*[_cells(strip, signs, wraps=wraps) for strip in strips], strict=True)
    yield [("  ".join([head[0][0][0] for head in heads]), "bold")]
    rule = "─" if signs is BLOCKS else "-"
    yield [("  ".join([rule * strip.width for strip in strips]), "dim")]
    for number, row in enumerate(rows):
        if number and number in grid.breaks:
            yield []
        for parts in zip_longest(*row):
            line: Line = []
            for strip, part in zip(strips, parts, strict=True):
                line += [("  ", "")] if line else []
                line += part or [(" " * strip.width, "")]
            if number in grid.dim:
                line = [(text, f"{style} dim italic") for text, style in line]
            yield line


def _cells(strip: Strip, signs: Signs, *, wraps: bool) -> list[list[Line]]:
    if wraps and strip.is_text:
        wrapped = [_padded(strip, _wrap(text, strip.width)) for text in strip.texts]
        return [[[(line, "")] for line in lines] for lines in wrapped]
    cells: list[list[Line]] = [[[(text, "")]] for text in _padded(strip, strip.texts)]
    if strip.column.kind == "bar":
        cells[1:] = [[_bar(cell, signs)] for cell in strip.cells]
    return cells


def _narrowed(strips: Sequence[Strip], width: int, *, wraps: bool, cut: bool) -> list[Strip]:
    """The columns within a width: texts run over several lines, the longest name is cut."""
    widths = [strip.width for strip in strips]
    over = _width(strips) - width
    texts = sorted((i for i, s in enumerate(strips) if s.is_text), key=lambda i: -widths[i])
    for i in texts if wraps and over > 0 else ():
        words = (word for text in strips[i].texts for word in text.split(" "))
        least = max(LEAST, _len(strips[i].texts[0]), *map(_len, words))
        less = min(max(0, over), max(0, widths[i] - least))
        widths[i], over = widths[i] - less, over - less
    if over > 0 and texts and cut:
        most = max(texts, key=lambda i: widths[i])
        widths[most] = max(8, widths[most] - over)
    return [replace(strip, width=size) for strip, size in zip(strips, widths, strict=True)]


ONE_COLUMN = dict.fromkeys(map(ord, "→─–—…×±≤≥’“”▕█▒·"))
"""Signs of ours that take one column each: most texts hold no other letters, and need no rich."""


def _wrap(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and _len(lines[-1]) + 1 + _len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".lstrip()
        if _len(lines[-1]) > width:
            from rich.cells import chop_cells

            lines[-1:] = chop_cells(lines[-1], width)
    return lines


def _padded(strip: Strip, texts: Sequence[str]) -> list[str]:
    """Texts of their column's width; what is longer is cut."""
    left = strip.column.kind in ("text", "bar")
    result = []
    for text, size in zip(texts, _widths(texts), strict=True):
        if size > strip.width:
            from rich.cells import set_cell_size

            text = set_cell_size(text, strip.width - 1).rstrip() + "…"
            size = _len(text)
        room = " " * (strip.width - size)
        result.append(text + room if left else room + text)
    return result


def _widths(texts: Sequence[str]) -> Iterable[int]:
    return map(len if "".join(texts).isascii() else _len, texts)


def _len(text: str) -> int:
    if text.translate(ONE_COLUMN).isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _bar(cell: Cell, signs: Signs) -> Line:
    """Right, wrong and blank as a bar; what rounding leaves over goes to the largest part."""
    if not isinstance(cell, tuple) or sum(cell) <= 0:
        return [(" " * BAR, "")]
    exact = [value / sum(cell) * BAR for value in cell]
    sizes = [int(value) for value in exact]
    for i in sorted(range(3), key=lambda i: sizes[i] - exact[i])[: BAR - sum(sizes)]:
        sizes[i] += 1
    return [(sign * size, colour) for size, (sign, colour) in zip(sizes, signs, strict=True)]
