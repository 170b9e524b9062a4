"""What a command is made of: arguments and options with help, checks, and how it shows a result."""

from __future__ import annotations

import os
import shlex
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
import msgspec

from abstain.errors import AbstainError, UsageError, nearest
from abstain.registry import part, view_of

if TYPE_CHECKING:
    from abstain.report.grid import Grid
    from abstain.report.result import Result
    from abstain.report.view import Format

READING, COMPUTING, SHOWING = "Reading", "What to compute", "How to show it"
SECTIONS = (COMPUTING, READING, SHOWING)
"""The headings that options stand below in a command's help."""

SETTINGS = {"help_option_names": ["-h", "--help"], "show_default": True, "max_content_width": 100}

F = TypeVar("F", bound=Callable[..., Any])


class Option(click.Option):
    """An option that knows its section of the help, and whether it names a file to write.

    A `folder` is a file to write that may be a folder instead, if its name has no ending. One with
    `methods` may stand without a value: it is then `BARE`.
    """

    def __init__(
        self,
        *args: Any,
        section: str = COMPUTING,
        writes: bool = False,
        folder: bool = False,
        methods: Sequence[str] = (),
        **attrs: Any,
    ) -> None:
        super().__init__(*args, **attrs)
        self.section, self.methods = section, tuple(methods)
        self.writes, self.folder = writes or folder, folder
        # a mere flag says the same however often it appears
        self.once = not self.multiple and (not self.is_flag or bool(self.secondary_opts))

    def get_error_hint(self, ctx: click.Context | None) -> str:
        return f"'{max(self.opts, key=len)}'"


BARE = "default"
"""The value of an option without a value."""


class Argument(click.Argument):
    def __init__(self, *args: Any, help: str = "", writes: bool = False, **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self.help, self.writes = help, writes

    def make_metavar(self, ctx: click.Context | None = None) -> str:
        named = self.human_readable_name if self.required else f"[{self.human_readable_name}]"
        return named if self.nargs == 1 else f"{named}…"


def option(usage: str, help: str, *, to: str = "", **attrs: Any) -> Callable[[F], F]:
    """A decorator: give a command an option, as its help writes it: `-n --questions N`.

    One that takes no value is a flag. `to` is its parameter, where that has another name.
    """
    names = usage.split()
    metavar = None if names[-1].startswith("-") else names.pop()
    if metavar is None and "type" not in attrs:
        attrs["is_flag"] = True
    declared = (*names, *filter(None, [to]))
    return click.option(*declared, cls=Option, metavar=metavar, help=help, **attrs)


def argument(name: str, **attrs: Any) -> Callable[[F], F]:
    """A decorator: give a command an argument, which a shell completes with files."""
    attrs.setdefault("type", FILE)
    return click.argument(name, cls=Argument, **attrs)


def command(function: Callable[..., Any]) -> click.Command:
    """A decorator: make a function a command of its name; its docstring is the help."""
    return click.command(function.__name__, cls=Command, context_settings=dict(SETTINGS))(function)


FILE = click.Path(readable=False)
"""A file to read, named by text: `-` and what is not there are the reader's affair."""

NEW_FILE = click.Path(readable=False, path_type=Path)


class Words(click.types.StringParamType):
    """Text, of which a shell completes some words, or those of the function at `module:name`."""

    def __init__(self, words: Iterable[str] | str) -> None:
        self.words = words

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[Any]:
        from click.shell_completion import CompletionItem

        words = part(self.words)() if isinstance(self.words, str) else self.words
        return [CompletionItem(word) for word in words if word.startswith(incomplete)]


class Command(click.Command):
    """A command that refuses an output it cannot or must not write before it works for it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for param in self.params:
            if isinstance(param, Option) and param.methods:
                args = with_bare_value(args, param.opts, param.methods)
        return super().parse_args(ctx, args)

    def make_parser(self, ctx: click.Context) -> Any:
        """A parser that refuses an option which takes one value and appears twice."""
        parser = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_once(args: list[str]) -> Any:
            parsed = parse(args)
            order = [p for p in parsed[-1] if isinstance(p, Option) and p.once]
            if len(set(order)) < len(order):
                name = max(max(order, key=order.count).opts, key=len)
                raise UsageError(f"{name} appears twice, expected once")
            return parsed

        parser.parse_args = parse_once  # type: ignore[method-assign]
        return parser

    def invoke(self, ctx: click.Context) -> Any:
        from abstain.io.files import as_input_error, failures

        try:
            return self._writing(ctx) if check_outputs(ctx) else super().invoke(ctx)
        except (AbstainError, OSError):
            raise
        except failures() as error:
            named = [str(f) for _, f, writes in _files(ctx) if not writes and os.path.exists(f)]
            files = ", ".join(named[:3]) + (", …" if len(named) > 3 else "") or "the input"
            raise as_input_error(error, files, doing="worked with") from error

    def _writing(self, ctx: click.Context) -> Any:
        """Run; what it writes takes its place at the end, all or nothing."""
        from abstain.io.output import together

        with together():
            try:
                return super().invoke(ctx)
            except click.exceptions.Exit as verdict:  # the data say no: what is written stays
                leave = verdict
        raise leave

    def format_arguments(self, ctx: click.Context, formatter: Any) -> None:
        """Nothing: `format_options` writes them."""

    def format_options(self, ctx: click.Context, formatter: Any) -> None:
        for name, records in self.sections(ctx).items():
            with formatter.section(name):
                formatter.write_dl(records)

    def sections(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        arguments = (param for param in self.params if isinstance(param, Argument))
        named = [(item.human_readable_name, item.help) for item in arguments if item.help]
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": named}
        sections |= {name: [] for name in SECTIONS}
        for param in self.get_params(ctx):
            record = None if isinstance(param, click.Argument) else param.get_help_record(ctx)
            if record is not None:
                sections[getattr(param, "section", SHOWING)].append(record)
        return {name: records for name, records in sections.items() if records}


def with_bare_value(args: Sequence[str], names: Sequence[str], methods: Sequence[str]) -> list[str]:
    """Arguments in which an option without a method behind it has the value `BARE`.

    What is no file and looks like a method is left to be refused as one.

    >>> with_bare_value(["--interval", "gold.csv"], ["--interval"], ["bca"])
    ['--interval=default', 'gold.csv']
    """
    words = list(args)
    for at in range(words.index("--") if "--" in words else len(words)):
        follows = " ".join(words[at + 1 : at + 2])
        if words[at] not in names or follows.lower() in methods:
            continue
        if os.path.exists(follows) or not nearest(follows, methods):
            words[at] = f"{words[at]}={BARE}"
    return words


def _files(ctx: click.Context) -> Iterator[tuple[click.Parameter, str | Path, bool]]:
    """What arguments and options name, as far as it may be a file, and whether it is written."""
    for param in ctx.command.params:
        value = ctx.params.get(str(param.name))
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(item, (str, Path)):
                yield param, item, getattr(param, "writes", False)


def check_outputs(ctx: click.Context) -> bool:
    """Whether files are named to write; refuse one that is an input or another, or lies nowhere."""
    files = list(_files(ctx))
    inputs = [file for _, file, writes in files if not writes and os.path.isfile(file)]
    taken = {os.path.realpath(file): f"{file}, which is an input" for file in inputs}
    for param, output in [(param, Path(file)) for param, file, writes in files if writes]:
        from abstain.io.output import refuse_unwritable

        called = param.human_readable_name
        called = min(param.opts, key=len) if isinstance(param, Option) else called
        if output.suffix or not getattr(param, "folder", False):
            refuse_unwritable(output)
        real = os.path.realpath(output)
        if real in taken:
            raise UsageError(f"{called} {output} would overwrite {taken[real]}")
        taken[real] = f"what {called} writes"
    return any(isinstance(file, Path) for _, file, _ in files)


UNRECORDED = ("-o", "--output", "-f", "--format", "--threads")
"""Options that a result does not record: where it goes, how it looks, how many threads make it."""


def typed(args: Sequence[str]) -> str:
    """Arguments as one line for a shell, without where the result goes; empty without arguments.

    Two results of the same command are the same bytes, wherever they are written.

    >>> typed(["score", "a b.csv", "-o", "x.json", "--output=y", "-fjson", "-m", "c@1"])
    "abstain score 'a b.csv' -m c@1"
    """
    kept: list[str] = []
    skip = False
    for text in args:
        name, equals, _ = text.partition("=")
        if skip:
            skip = False
        elif name in UNRECORDED:
            skip = not equals
        elif text != "--force" and not (text.startswith(("-o", "-f")) and len(text) > 2):
            kept.append(text)
    line = shlex.join(["abstain", *kept]) if kept else ""
    return line.encode("utf-8", "replace").decode()  # a file's name may be any bytes


class Showing(msgspec.Struct, frozen=True):
    """Where a result goes and how it looks, with the command that asked for it."""

    format: Format | None = None
    output: Path | None = None
    digits: int = 4
    chart: Path | None = None
    command: str = ""

    @property
    def look(self) -> Format:
        from abstain.report.view import ENDINGS

        by_name = None if self.output is None else ENDINGS.get(self.output.suffix.lower())
        return self.format or by_name or "table"

    def show(self, result: Result, **options: Any) -> None:
        view = view_of(msgspec.structs.replace(result, command=self.command))
        if self.chart is not None:
            view.draw(self.chart, **options)
        self._put(
            lambda: view.on_terminal(digits=self.digits, **options),
            lambda: view.text(self.look, digits=self.digits, **options),
        )

    def show_grid(self, grid: Grid, data: Any) -> None:
        """Print a table that is no result, or write it; `data` is what JSON holds."""
        from abstain.io.output import json_of
        from abstain.report.view import grid_text

        as_json = self.look == "json"
        self._put(lambda: [grid], lambda: json_of(data) if as_json else grid_text(grid, self.look))

    def _put(self, grids: Callable[[], Iterable[Grid]], text: Callable[[], str]) -> None:
        if self.output is not None:
            from abstain.io.output import write_text

            write_text(self.output, text())
        elif self.look == "table":
            from abstain.report.terminal import print_grid

            for number, grid in enumerate(grids()):
                sys.stdout.write("\n" if number else "")
                print_grid(grid, digits=self.digits)
        else:
            sys.stdout.write(text())


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
    from abstain.report.view import FORMATS

    looks = [name for name in (*FORMATS, *also) if page or name != "html"]
    how = "How to show it (default: by the ending of -o, or table)."

    def decorate(function: F) -> F:
        @wraps(function)
        @click.pass_context
        def with_showing(context: click.Context, /, **values: Any) -> Any:
            asked = {name: values.pop(name) for name in Showing.__struct_fields__ if name in values}
            showing = Showing(**asked, command=context.obj or "")
            _check(showing, looks, any_name=any_name)
            return function(out=showing, **values)

        made: Any = _chart(with_showing) if chart else with_showing
        made = _digits(made) if digits else made
        made = option("-o --output FILE", output, type=NEW_FILE, writes=True, section=SHOWING)(made)
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
    from abstain.report.view import ENDINGS

    output, chart = showing.output, showing.chart
    if output is not None and showing.format is None and not any_name:
        ending = output.suffix.lower()
        known = [name for name, look in ENDINGS.items() if look in looks]
        if ending in OTHER_ENDINGS and ending not in known:
            raise UsageError(f"-o {output}: expected a name that ends in {', '.join(known)}")
    if chart is not None and chart.suffix:
        from abstain.report.charts import check_ending

        check_ending(chart)


OTHER_ENDINGS = (
    *(".html", ".htm", ".parquet", ".jsonl", ".tsv", ".xlsx", ".xml", ".pdf", ".svg", ".png"),
)
"""Endings that promise a form which a result may not have; any other name holds a table."""


@contextmanager
def working(what: str) -> Iterator[Callable[[int, int], None]]:
    """Say what is going on, on a terminal's stderr, once it has taken over a second."""
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
