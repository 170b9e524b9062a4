"""How commands show a result, and that they are at work."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abstain.cli.options import Format
from abstain.report.grid import Grid, to_csv, to_latex, to_markdown

if TYPE_CHECKING:
    from abstain.analyses.result import Result

STEERING = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")

ENDINGS = {
    ".json": Format.json,
    ".csv": Format.csv,
    ".md": Format.markdown,
    ".tex": Format.latex,
    ".txt": Format.table,
}


def show(
    grid: Grid,
    data: Mapping[str, Any] | list[Any],
    *,
    format: Format | None,
    output: Path | None,
    digits: int = 4,
    narrow: Grid | None = None,
) -> None:
    """Print a result, or write it to a file; `narrow` is what a terminal gets instead."""
    on_terminal = narrow is not None and output is None and sys.stdout.isatty()
    if on_terminal and chosen_format(format, output) is Format.table:
        grid = narrow or grid
    show_all([grid], data, format=format, output=output, digits=digits)


def show_result(
    result: Result, *, format: Format | None, output: Path | None, digits: int = 4, **options: Any
) -> None:
    """Print a result, or write it to a file, in the look that is asked for."""
    from msgspec import structs

    from abstain.cli.again import command
    from abstain.report.view import view_of

    view = view_of(structs.replace(result, command=command()))
    chosen = chosen_format(format, output)
    look: Any = chosen.value
    if output is not None:
        from abstain.io.files import write_text

        write_text(output, view.text(look, digits=digits, **options))
    elif chosen is Format.table:
        from abstain.report.terminal import print_grid

        for number, grid in enumerate(view.tables(digits=digits, **options)):
            if number:
                sys.stdout.write("\n")
            print_grid(grid, digits=digits)
    else:
        sys.stdout.write(view.text(look, digits=digits, **options))


def show_all(
    grids: Sequence[Grid],
    data: Mapping[str, Any] | list[Any],
    *,
    format: Format | None,
    output: Path | None,
    digits: int = 4,
    whole: Grid | None = None,
) -> None:
    """Print a result of several tables, or write it; `whole` is the one that CSV holds."""
    chosen = chosen_format(format, output)
    if chosen is Format.table and output is None:
        from abstain.report.terminal import print_grid

        for number, grid in enumerate(grids):
            if number:
                sys.stdout.write("\n")
            print_grid(grid, digits=digits)
        return
    shown = grids[:1] if chosen is Format.json else grids
    if chosen is Format.csv and whole is not None:
        shown = [whole]
    text = "\n".join(as_text(grid, data, chosen, digits) for grid in shown)
    if output is None:
        sys.stdout.write(text)
    else:
        from abstain.io.files import write_text

        write_text(output, text)


def chosen_format(format: Format | None, output: Path | None) -> Format:
    """How to show it: as asked for, as the file's name says, or as a table."""
    return format or (ENDINGS.get(output.suffix.lower()) if output else None) or Format.table


def as_text(grid: Grid, data: Mapping[str, Any] | list[Any], format: Format, digits: int) -> str:
    """A result in one of its looks."""
    match format:
        case Format.json:
            import msgspec

            from abstain.cli.again import with_command

            data = with_command(data)
            text = msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n"
            # JSON allows what may steer a terminal; the escapes mean the same text.
            return STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
        case Format.csv:
            return to_csv(grid)
        case Format.markdown:
            return to_markdown(grid, digits=digits)
        case Format.latex:
            return to_latex(grid, digits=digits)
        case Format.github:
            from abstain.report.github import to_github

            return to_github(grid, digits=digits)
        case Format.table:
            import io

            from abstain.report.terminal import print_grid

            out = io.StringIO()
            print_grid(grid, digits=digits, file=out)
            return out.getvalue()


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say what is going on, on a terminal's stderr, once it has taken over a second."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    status = Console(stderr=True).status(what)
    timer = threading.Timer(1.0, status.start)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        status.stop()


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """As `working`, for work that knows how much of it is done."""
    if not sys.stderr.isatty():
        yield lambda _, __: None
        return
    from rich.console import Console

    status = Console(stderr=True).status(what)
    timer = threading.Timer(1.0, status.start)
    timer.start()
    try:
        yield lambda done, total: status.update(f"{what} {done:,} of {total:,}")
    finally:
        timer.cancel()
        status.stop()
