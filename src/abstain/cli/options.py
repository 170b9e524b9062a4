"""Options that several commands share, and how results are shown."""

from __future__ import annotations

import enum
import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from abstain.errors import UnknownNameError, UsageError, nearest
from abstain.report.grid import Grid, to_csv, to_latex, to_markdown


class Format(enum.StrEnum):
    """How a result is shown."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"
    github = "github"


STEERING = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")

ENDINGS = {
    ".json": Format.json,
    ".csv": Format.csv,
    ".md": Format.markdown,
    ".tex": Format.latex,
    ".txt": Format.table,
}

FormatOption = Annotated[
    Format | None,
    typer.Option("--format", "-f", help="How to show it (default: by the ending of -o, or table)."),
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write to a file, whole or not at all."),
]
DigitsOption = Annotated[
    int, typer.Option(min=0, max=15, help="Decimals in tables (CSV and JSON have them all).")
]
ColumnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        "-c",
        metavar="NAME=COLUMN",
        help="The column that holds question, answer, …: question=id; gold:correct=label for "
        "the gold alone, run:answer=output for the runs alone. Repeatable.",
    ),
]
FromOption = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        help="csv, tsv, jsonl, parquet or qa4mre, if not evident; or a tool's log: lm-eval, "
        "inspect, simpleqa, pan, squad, abstentionbench, promptfoo, openai-evals, deepeval, with "
        "what to pick of it: lm-eval:filter=strict-match.",
    ),
]
DetectOption = Annotated[
    str | None,
    typer.Option(
        "--detect-refusals",
        metavar="LANGUAGES",
        help="Look for refusals in the text of responses by declared rules: en,de,es,fr,it or "
        "all. A column or a judge's label wins; `abstain refusals` lists what is found.",
    ),
]
MatchOption = Annotated[
    str,
    typer.Option(
        metavar="WAY",
        help="When an answer is right: id (equal as given), text (case, width and punctuation "
        "aside) or squad (also English articles).",
    ),
]
AlignOption = Annotated[
    str,
    typer.Option(metavar="HOW", help="Pair responses with questions by id, or by position."),
]

EngineOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Who reads and counts the runs: polars (the default, in batches), duckdb or spark.",
    ),
]
MasterOption = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Where Spark runs: spark://host:7077 (default: local[*])."),
]


CI_METHODS = ("logit", "delta", "percentile", "bca", "jeffreys", "wilson", "clopper-pearson")
CI_HELP = (
    "An interval for each score: logit (the default), delta, percentile, bca, jeffreys; for a "
    "proportion also wilson and clopper-pearson."
)
ClusterOption = Annotated[
    str | None,
    typer.Option(
        metavar="ATTR", help="Questions with the same value hang together (a test, a document)."
    ),
]
LevelOption = Annotated[float, typer.Option(help="The level of intervals.")]


def with_default_method(args: Sequence[str]) -> list[str]:
    """Arguments in which a `--ci` without a method says that it takes the default.

    A word that is no file and looks like a method is left to be refused as one.

    >>> with_default_method(["--ci", "gold.csv"]), with_default_method(["--ci", "bca"])
    (['--ci=default', 'gold.csv'], ['--ci', 'bca'])
    """
    found = list(args)
    for at, text in enumerate(found):
        follows = found[at + 1] if at + 1 < len(found) else ""
        if text == "--ci" and not _names_method(follows):
            found[at] = "--ci=default"
    return found


def reading(from_format: str | None, languages: str | None) -> str | None:
    """How files are read: their format, and whether refusals are looked for."""
    from abstain.formats.logs.registry import with_languages

    return with_languages(from_format, languages)


def _names_method(text: str) -> bool:
    if text.lower() in CI_METHODS:
        return True
    is_word = text[:1].isalpha() and "." not in text
    return is_word and not os.path.exists(text) and bool(nearest(text, CI_METHODS))


def pairs(texts: Iterable[str] | None, what: str, example: str) -> dict[str, str]:
    """`name=value` texts as a mapping; a name twice is refused."""
    found: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise UsageError(f"{what} reads NAME=VALUE, such as {example} (got '{text}')")
        if name.strip() in found:
            raise UsageError(f"{what} '{name.strip()}' is given twice")
        found[name.strip()] = value.strip()
    return found


def known_columns(texts: Iterable[str] | None, known: Iterable[str]) -> dict[str, str]:
    """Column mappings, with names that a command knows."""
    mapping = pairs(texts, "--column", "question=id")
    names = tuple(known)
    for name in mapping:
        bare = name.rpartition(":")[2]
        if bare not in names:
            raise UnknownNameError(
                "column to map", bare, names, hint=f"there are {', '.join(names)}"
            )
    return mapping


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
        from abstain.formats.files import write_text

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
