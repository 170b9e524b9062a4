"""Options that several commands share, and what is read from them."""

from __future__ import annotations

import enum
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from abstain.errors import UnknownNameError, UsageError, nearest


class Format(enum.StrEnum):
    """How a result is shown."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"
    github = "github"


COLUMNS = (
    *("question", "correct", "options", "answer", "answered", "candidate", "confidence", "why"),
    *("run", "rank", "known", "outcome", "grade", "right", "wrong", "unanswered"),
    *("unanswered_right", "unanswered_wrong", "unanswered_empty", "questions"),
)

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

PolicyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="KIND=EFFECT",
        help="What a kind of blank becomes. Kinds: declined, empty, unparseable, error, "
        "missing, limit, unscored. Effects: unanswered, wrong, excluded.",
    ),
]
JudgedOption = Annotated[
    bool,
    typer.Option("--judged", help="The files carry their outcome or grade; there is no gold."),
]
GradeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--grade",
        metavar="WORD=OUTCOME",
        help="With --judged: what an unusual grade means, such as meh=wrong.",
    ),
]
ChartOption = Annotated[
    Path | None,
    typer.Option("--chart", metavar="FILE", help="Draw it too: .svg, .png, .html or .json."),
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
CiOption = Annotated[str, typer.Option("--ci", metavar="[METHOD]", help=CI_HELP)]
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
    from abstain.io.readers import with_languages

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


def known_columns(texts: Iterable[str] | None, known: Iterable[str] = COLUMNS) -> dict[str, str]:
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
