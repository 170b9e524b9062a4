"""What a command is made of: arguments and options with their help, and checks before it begins."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from abstain.errors import AbstainError, UsageError, nearest

READING, COMPUTING, SHOWING = "Reading", "What to compute", "How to show it"
SECTIONS = (COMPUTING, READING, SHOWING)
"""The headings that options stand below in a command's help."""

SETTINGS = {"help_option_names": ["-h", "--help"], "show_default": True}

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

    def get_error_hint(self, ctx: click.Context | None) -> str:
        """How an error names it."""
        return f"'{max(self.opts, key=len)}'"


BARE = "default"
"""The value of an option that was given without one."""


class Argument(click.Argument):
    """An argument with help, which may name a file to write."""

    def __init__(self, *args: Any, help: str = "", writes: bool = False, **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self.help, self.writes = help, writes

    def make_metavar(self, ctx: click.Context | None = None) -> str:
        """How usage names it: [RUN]… where there may be none or several."""
        named = self.human_readable_name if self.required else f"[{self.human_readable_name}]"
        return named if self.nargs == 1 else f"{named}…"


def option(usage: str, help: str, *, to: str = "", **attrs: Any) -> Callable[[F], F]:
    """A decorator: give a command an option, as its help writes it: `-n --questions N`.

    One that takes no value is a flag. `to` is its parameter, where that has another name.
    """
    names = [word for word in usage.split() if word.startswith("-")]
    metavar = usage.split()[len(names) :]
    if not metavar and "type" not in attrs:
        attrs["is_flag"] = True
    own = (*names, *filter(None, [to]))
    return click.option(*own, cls=Option, metavar=" ".join(metavar) or None, help=help, **attrs)


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
"""A file to write."""


class Words(click.types.StringParamType):
    """Text, of which a shell completes some words; who uses the text checks it."""

    def __init__(self, words: Callable[[], Iterable[str]] | Iterable[str]) -> None:
        self.words = words

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[Any]:
        """The words that begin like this."""
        from click.shell_completion import CompletionItem

        words = self.words() if callable(self.words) else self.words
        return [CompletionItem(word) for word in words if word.startswith(incomplete)]


LEAST, MOST = 24, 98
"""Columns that help takes at least and at most."""

ABREAST = 58
"""Columns from which on an option and its meaning stand side by side."""

KEPT = "\b"
"""What begins a paragraph whose lines stay as they are: examples."""


class FittingHelp(click.Command):
    """A command whose help keeps within the terminal."""

    def get_help(self, ctx: click.Context) -> str:
        """The help, wrapped; below `ABREAST` columns meanings stand beneath what they explain."""
        width = max(LEAST, min(shutil.get_terminal_size().columns - 2, MOST))
        formatter = _Fitting(width=width)
        self.format_help(ctx, formatter)
        return formatter.getvalue().rstrip("\n")


class _Fitting(click.HelpFormatter):
    """How a formatter writes where there may be little room."""

    def write_text(self, text: str) -> None:
        """Paragraphs; examples go on in the next line, as a shell takes them."""
        room = self.width - self.current_indent
        paragraphs = [
            "\n".join(_continued(line, room) for line in paragraph.splitlines())
            if paragraph.lstrip(" \n").startswith(KEPT)
            else paragraph
            for paragraph in text.split("\n\n")
        ]
        super().write_text("\n\n".join(paragraphs))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Terms with their meanings: side by side where the terms are short, else beneath."""
        rows = list(rows)
        longest = max(len(term) for term, _ in rows)
        if self.width >= ABREAST or longest <= self.width // 3:
            super().write_dl(rows, col_max, col_spacing)
            return
        indent = " " * self.current_indent
        for term, meaning in rows:
            for line in filled(term, self.width - self.current_indent, hanging=4):
                self.write(f"{indent}{line}\n")
            for line in filled(meaning, self.width - self.current_indent - 4):
                self.write(f"{indent}    {line}\n")


def _continued(line: str, room: int) -> str:
    """A line of an example that a shell still takes when it is long; notes in brackets stay whole.

    >>> print(_continued("abstain score gold.csv run.csv -m c@1", 24))
    abstain score gold.csv \\
        run.csv -m c@1
    """
    if len(line) <= room:
        return line
    command, _, note = line.partition("   ")
    lines = " \\\n".join(filled(command.rstrip(), room - 2, hanging=4))
    notes = "".join(f"\n    {part}" for part in filled(note.strip(), room - 4))
    return lines + notes


def filled(text: str, width: int, *, hanging: int = 0) -> list[str]:
    """Lines of text, broken after a space or a bar.

    >>> filled("-f, --format <table|json|csv>", 20, hanging=2)
    ['-f, --format <table|', '  json|csv>']
    """
    lines = [""]
    for piece in re.split(r"(?<=[ |])", " ".join(text.split())):
        if lines[-1].strip() and len(lines[-1] + piece.rstrip()) > width:
            lines.append(" " * hanging)
        lines[-1] += piece
    return [line.rstrip() for line in lines if line.strip()]


class Command(FittingHelp):
    """A command that refuses an output it cannot or must not write before it works for it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, after a value is given to options that may stand without one."""
        for own in self.params:
            if isinstance(own, Option) and own.methods:
                args = with_bare_value(args, own.opts, own.methods)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Check the outputs, then run; what fails over the input names its files."""
        from abstain.io.boundary import failures, in_a_line

        check_outputs(ctx)
        try:
            return super().invoke(ctx)
        except (AbstainError, OSError):
            raise
        except failures() as error:
            raise in_a_line(error, _read_by(ctx), doing="worked with") from error

    def format_arguments(self, ctx: click.Context, formatter: Any) -> None:
        """Nothing: `format_options` writes them."""

    def format_options(self, ctx: click.Context, formatter: Any) -> None:
        """The arguments, then the options by section."""
        for name, records in self.sections(ctx).items():
            with formatter.section(name):
                formatter.write_dl(records)

    def sections(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Arguments and options with their meanings, by heading."""
        named = [
            (own.human_readable_name, own.help)
            for own in self.params
            if isinstance(own, Argument) and own.help
        ]
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": named}
        sections |= {name: [] for name in SECTIONS}
        for own in self.get_params(ctx):
            record = None if isinstance(own, click.Argument) else own.get_help_record(ctx)
            if record is not None:
                sections[getattr(own, "section", SHOWING)].append(record)
        return {name: records for name, records in sections.items() if records}


def with_bare_value(args: Sequence[str], names: Sequence[str], methods: Sequence[str]) -> list[str]:
    """Arguments in which an option that stands without a value says so.

    A word that is no file and looks like a method is left to be refused as one.

    >>> with_bare_value(["--interval", "gold.csv"], ["--interval"], ["bca"])
    ['--interval=default', 'gold.csv']
    >>> with_bare_value(["--interval", "bca"], ["--interval"], ["bca"])
    ['--interval', 'bca']
    """
    found = list(args)
    for at, text in enumerate(found):
        if text == "--":
            break
        follows = found[at + 1] if at + 1 < len(found) else ""
        if text in names and not _names_method(follows, methods):
            found[at] = f"{text}={BARE}"
    return found


def _names_method(text: str, methods: Sequence[str]) -> bool:
    if text.lower() in methods:
        return True
    is_word = text[:1].isalpha() and "." not in text
    return is_word and not os.path.exists(text) and bool(nearest(text, methods))


def _read_by(ctx: click.Context) -> str:
    """The files that a command reads, as far as its arguments tell."""
    named: list[str] = []
    for own in ctx.command.params:
        value = ctx.params.get(str(own.name))
        several = value if isinstance(value, (list, tuple)) else [value]
        if not getattr(own, "writes", False):
            named += [
                str(v) for v in several if isinstance(v, (str, Path)) and os.path.exists(str(v))
            ]
    return ", ".join(named[:3]) + (", …" if len(named) > 3 else "") or "the input"


def check_outputs(ctx: click.Context) -> None:
    """Refuse an output that is an input or another output, or that lies in no folder."""
    from abstain.io.files import refuse_unwritable

    given = [(own, ctx.params.get(str(own.name))) for own in ctx.command.params]
    inputs: dict[str, str] = {}
    for own, value in given:
        several = value if isinstance(value, (list, tuple)) else [value]
        for item in several if not getattr(own, "writes", False) else ():
            if isinstance(item, (str, Path)) and os.path.isfile(item):
                inputs[os.path.realpath(item)] = f"{item}, which is an input"
    for own, output in given:
        if not getattr(own, "writes", False) or not isinstance(output, Path):
            continue
        called = min(own.opts, key=len) if isinstance(own, Option) else own.human_readable_name
        if output.suffix or not getattr(own, "folder", False):
            refuse_unwritable(output)
        real = os.path.realpath(output)
        if real in inputs:
            raise UsageError(f"{called} {output} would overwrite {inputs[real]}")
        inputs[real] = f"what {called} writes"


ELSEWHERE = ("-o", "--output", "-f", "--format", "--threads")
"""Where a result goes, how it looks and how many help to make it: not what it is."""


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
        elif name in ELSEWHERE:
            skip = not equals
        elif text != "--force" and not (text.startswith(("-o", "-f")) and len(text) > 2):
            kept.append(text)
    line = shlex.join(["abstain", *kept]) if kept else ""
    return line.encode("utf-8", "replace").decode()  # a file's name may be any bytes
