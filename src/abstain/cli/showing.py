"""How commands show a result, and that they are at work."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import msgspec
from msgspec import Struct

from abstain.cli import options
from abstain.cli.command import NEW_FILE, SHOWING, F, option
from abstain.errors import UsageError
from abstain.registry import view_of
from abstain.report.result import Result
from abstain.report.view import ENDINGS, FORMATS, Format, grid_text

if TYPE_CHECKING:
    from abstain.report.grid import Grid


class Showing(Struct, frozen=True):
    """Where a result goes and how it looks, with the command that asked for it."""

    format: Format | None = None
    output: Path | None = None
    digits: int = 4
    chart: Path | None = None
    command: str = ""

    @property
    def chosen(self) -> Format:
        """The look: as asked for, as the file's name says, or a table."""
        by_name = None if self.output is None else ENDINGS.get(self.output.suffix.lower())
        return self.format or by_name or "table"

    def show(self, result: Result, **options: Any) -> None:
        """Print a result or write it, and draw its chart where one was asked for."""
        view = view_of(msgspec.structs.replace(result, command=self.command))
        if self.chart is not None:
            view.draw(self.chart, **options)
        if self.chosen == "table" and self.output is None:
            from abstain.report.terminal import print_grid

            for number, grid in enumerate(view.on_terminal(digits=self.digits, **options)):
                sys.stdout.write("\n" if number else "")
                print_grid(grid, digits=self.digits)
        else:
            self._write(view.text(self.chosen, digits=self.digits, **options))

    def show_grid(self, grid: Grid, data: Any) -> None:
        """Print a table that is no result, or write it; `data` is what JSON holds."""
        from abstain.io.output import json_of

        if self.chosen == "table" and self.output is None:
            from abstain.report.terminal import print_grid

            print_grid(grid, digits=self.digits)
        elif self.chosen == "json":
            self._write(json_of(data))
        else:
            self._write(grid_text(grid, self.chosen, self.digits))

    def _write(self, text: str) -> None:
        if self.output is None:
            sys.stdout.write(text)
        else:
            from abstain.io.output import write_text

            write_text(self.output, text)


def shows(
    *,
    digits: bool = True,
    chart: bool = False,
    page: bool = True,
    also: Sequence[Format] = (),
    output: str = "Write the result to a file. If that fails, no partial file is left.",
    any_name: bool = False,
) -> Callable[[F], F]:
    """A decorator: give a command the options of showing; it gets an `out`.

    What is no result has no `page` (`--format html`); `also` names further looks. With `any_name`
    the command itself says what a file of another ending holds.
    """
    looks = (*(name for name in FORMATS if page or name != "html"), *also)

    def decorate(function: F) -> F:
        @wraps(function)
        @click.pass_context
        def with_showing(context: click.Context, /, **values: Any) -> Any:
            showing = Showing(
                format=values.pop("format"),
                output=values.pop("output"),
                digits=values.pop("digits", 4),
                chart=values.pop("chart", None),
                command=context.obj or "",
            )
            _check(showing, looks, any_name=any_name)
            return function(out=showing, **values)

        made: Any = _chart(with_showing) if chart else with_showing
        made = _digits(made) if digits else made
        how = "How to show it (default: by the ending of -o, or table)."
        made = options.output(output)(made)
        return cast(F, option("-f --format", how, type=click.Choice(looks), section=SHOWING)(made))

    return decorate


_digits = option(
    "--digits N",
    "Decimals in tables (CSV and JSON have them all).",
    type=click.IntRange(0, 15),
    default=4,
    section=SHOWING,
)
_chart = option(
    "--chart FILE",
    "Draw it too: .svg, .png, .html or .json; a name without an ending is a folder for all of its "
    "charts.",
    type=NEW_FILE,
    folder=True,
    section=SHOWING,
)


def _check(showing: Showing, looks: Sequence[Format], *, any_name: bool) -> None:
    """Refuse a name that promises what is not going to be in the file."""
    output, chart = showing.output, showing.chart
    if output is not None and showing.format is None and not any_name:
        ending = output.suffix.lower()
        known = [name for name, look in ENDINGS.items() if look in looks]
        if ending in OTHERS and ending not in known:
            raise UsageError(f"-o {output}: expected a name that ends in {', '.join(known)}")
    if chart is not None and chart.suffix:
        from abstain.report.charts import check_ending

        check_ending(chart)


OTHERS = (".html", ".htm", ".parquet", ".jsonl", ".tsv", ".xlsx", ".xml", ".pdf", ".svg", ".png")
"""Endings that promise a form which a result may not have; any other name holds a table."""


@contextmanager
def working(what: str) -> Iterator[Callable[[int, int], None]]:
    """Say what is going on, on a terminal's stderr, once it has taken over a second.

    Work that knows how much of it is done may say so.
    """
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
