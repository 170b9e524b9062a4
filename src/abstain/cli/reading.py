"""The options of reading, which every command that reads runs has: what they say is one `Input`.

A command takes them all, by the same names and with the same effect. Where one of them cannot mean
anything, for a command or for a kind of input, it is refused in one line that says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, get_args

import click
from msgspec import Struct

from abstain.cli.command import FILE, READING, F, Words, argument, option
from abstain.cli.options import pairs
from abstain.errors import UsageError, check_name
from abstain.runs import reading as fields
from abstain.runs.reading import OPTIONS, REPEATED, Kind, Reading, refuse, refuse_meaningless

if TYPE_CHECKING:
    from abstain.rankings.rankings import Rankings
    from abstain.rankings.scores import ScoreMatrix
    from abstain.runs.evaluation import Evaluation

COLUMNS = (
    *("question", "correct", "options", "answer", "answered", "candidate", "confidence", "why"),
    *("run", "rank", "known", "outcome", "grade", "right", "wrong", "unanswered"),
    *("unanswered_right", "unanswered_wrong", "unanswered_empty", "questions"),
)
"""Columns that `--column` knows, unless a command reads others."""

RANKED = ("query", "doc", "rel", "score", "rank", "run")
"""The same, of judgments and rankings."""

COMPLETED: dict[str, tuple[str, ...]] = {
    "match": get_args(fields.Match),
    "align": get_args(fields.Align),
    "engine": get_args(fields.EngineName),
}
"""Values that a shell completes."""

KINDS: dict[str, str] = {
    "judged": "The rows carry an outcome or a grade; there is no gold.",
    "counts": "The file holds counts: run, right, wrong, unanswered…",
    "scores": "The file holds scores: one column per system, or what `rank --per-query` writes.",
}
"""Kinds of input besides a gold and runs: each an option of its name, with its help."""


class Input(Struct, frozen=True):
    """What a command is to read: files, what kind of input they are, and how to read them."""

    files: tuple[str, ...]
    kind: Kind
    reading: Reading

    @property
    def gold(self) -> str:
        """The gold, or the first file of another kind."""
        return self.files[0]

    @property
    def runs(self) -> list[str]:
        """The runs that are judged against the gold."""
        return list(self.files[1:])

    def evaluation(self, *, skip_inconsistent: bool = False) -> Evaluation:
        """The runs, read and judged."""
        from abstain.runs import read

        how, skip = self.reading, skip_inconsistent
        if self.kind == "counts":
            return read.evaluate_counts(self.gold, how, skip_inconsistent=skip)
        if self.kind == "judged":
            return read.evaluate_judged(list(self.files), how)
        return read.evaluate(self.gold, self.runs, how)

    def scores(self) -> ScoreMatrix:
        """The scores by topic, read."""
        from abstain.rankings.score_tables import read_scores

        how = self.reading
        return read_scores(
            list(self.files), columns=how.columns, format=how.format, cluster=how.cluster
        )


def reads(
    *kinds: Kind, runs: str = "The runs.", alone: str = "", without: Mapping[str, str] | None = None
) -> Callable[[F], F]:
    """A decorator: give a command GOLD, RUN… and the options of reading; it gets `inputs`.

    `kinds` are the other kinds of input that it takes. `without` says of fields why they mean
    nothing for this command. `alone` is a parameter that makes one file enough.
    """
    flags = " or ".join(f"--{name}" for name in (*kinds, alone) if name)
    first = f"The gold standard{f'; with {flags} the first file' if flags else ''}."

    def check(values: dict[str, Any], reading: Reading) -> Input:
        chosen = [kind for kind in kinds if values.pop(kind)]
        files = (values.pop("gold"), *values.pop("runs"))
        if len(chosen) > 1:
            names = " and ".join(f"--{kind}" for kind in chosen)
            raise UsageError(f"{names} exclude each other")
        kind: Kind = chosen[0] if chosen else "gold"
        refuse_meaningless(reading, kind)
        if kind == "gold" and len(files) < 2 and not values.get(alone):
            hint = f", or say {flags}" if flags else ""
            raise UsageError(f"name the gold and at least one run{hint}")
        if kind == "counts" and len(files) > 1:
            raise UsageError("--counts takes one file")
        return Input(files, kind, reading)

    def decorate(function: F) -> F:
        @wraps(function)
        def with_input(reading: Reading, **values: Any) -> Any:
            return function(inputs=check(values, reading), **values)

        made: Any = _with_options(with_input, without or {}, COLUMNS, {})
        for kind in reversed(kinds):
            made = option(f"--{kind}", KINDS[kind], section=READING)(made)
        made = argument("runs", nargs=-1, metavar="RUN", help=runs)(made)
        return argument("gold", metavar="GOLD", help=first)(made)  # type: ignore[no-any-return]

    return decorate


class RankedInput(Struct, frozen=True):
    """Judgments and rankings that a command is to read, and how."""

    qrels: str
    runs: tuple[str, ...]
    reading: Reading
    lists: dict[str, Any]
    """Where lists end and what a missing query is."""

    def rankings(self) -> Rankings:
        """The lists, read and judged."""
        from abstain.rankings.read import read_rankings

        how = self.reading
        return read_rankings(
            self.qrels,
            self.runs,
            columns=how.columns,
            format=how.format,
            engine=how.engine,
            master=how.master,
            **self.lists,
        )


LISTS = {
    "nil": (
        "--nil ID",
        "The document id that ends a list, such as NIL or -1. It is never relevant.",
    ),
    "limit": (
        "--limit N",
        "The maximum length of a list: a shorter one was ended by its system, a longer one is cut.",
    ),
    "nil_as_answer": (
        "--nil-as-answer",
        "As in TREC 2001: the id of --nil is a document, relevant only if no other document is.",
    ),
    "missing": (
        "--missing WHAT",
        "What to do with a query that a run lacks: empty (score an empty list, the default), error "
        "or skip.",
    ),
    "ties": (
        "--ties HOW",
        "trec: by score, ties by document id in descending order; rank: by the rank column.",
    ),
    "trec_eval": (
        "--trec-eval",
        "Average as trec_eval does: 0 where nothing is relevant, missing queries left out.",
    ),
    "relevance_level": (
        "-l --relevance-level GRADE",
        "The lowest grade that counts as relevant, for every measure with a parameter rel, unless "
        "the name of the measure sets it: 'P(rel=2)@10'.",
    ),
    "judged_only": (
        "-J --judged-only",
        "First remove from the lists all documents that nobody judged.",
    ),
    "top": ("--top GRADE", "The grade that counts as a gain of 1 (default: the largest)."),
    "queries": ("--queries FILE", "A table of queries and their attributes."),
    "all_queries": (
        "--all-queries",
        "Count every query of --queries: one without judgments is a nil query.",
    ),
}
"""How lists are read, as options: the usage of each, with its help."""

TYPES: dict[str, dict[str, Any]] = {
    "limit": {"type": click.IntRange(min=1)},
    "missing": {"type": Words(("empty", "error", "skip"))},
    "ties": {"type": Words(("trec", "rank")), "default": "trec"},
    "relevance_level": {"type": float},
    "top": {"type": float},
    "queries": {"type": FILE},
}


def reads_rankings(*lists: str, qrels: str, runs: str, required: bool = True) -> Callable[[F], F]:
    """A decorator: give a command QRELS, RUN… and some of `LISTS`; it gets `inputs`."""

    def decorate(function: F) -> F:
        @wraps(function)
        def with_input(reading: Reading, **values: Any) -> Any:
            qrels, runs = values.pop("qrels"), values.pop("runs")
            how = {name: values.pop(name) for name in lists}
            return function(inputs=RankedInput(qrels, runs, reading, how), **values)

        made: Any = with_input
        for name in reversed(lists):
            usage, help = LISTS[name]
            made = option(usage, help, section=READING, **TYPES.get(name, {}))(made)
        made = reading_options(
            *("format", "columns", "engine", "master"),
            otherwise="rankings hold documents, not answers",
            columns=RANKED,
            help={
                "format": "The format, if it cannot be detected: trec, csv, tsv, jsonl, json or "
                "parquet.",
                "columns": "The column that holds query, doc, rel, score, rank or run: query=qid; "
                "gold:doc=docno for the judgments only, run:doc=docid for the runs only. "
                "Repeatable.",
            },
        )(made)
        made = argument("runs", nargs=-1, required=required, metavar="RUN", help=runs)(made)
        return argument("qrels", metavar="QRELS", help=qrels)(made)  # type: ignore[no-any-return]

    return decorate


def reading_options(
    *wanted: str,
    otherwise: str,
    columns: Sequence[str] = COLUMNS,
    help: Mapping[str, str] | None = None,
) -> Callable[[F], F]:
    """A decorator: give a command the options of some fields; it gets a `reading`.

    For commands that read something else than a gold and runs. `otherwise` says why the other
    fields mean nothing there, `help` what an option is good for where that differs.
    """
    without = {
        field: f"{names[0]}: {otherwise}"
        for field, (names, _, _) in OPTIONS.items()
        if field not in wanted
    }
    if "names" in without:
        without["names"] = "--name is for a gold and runs; NAME=PATH names a run here"
    return lambda function: _with_options(function, without, columns, help or {})


def _with_options(
    function: F, without: Mapping[str, str], columns: Sequence[str], help: Mapping[str, str]
) -> F:
    """A command with the options of reading, as `OPTIONS` has them; it gets a `reading`."""

    @wraps(function)
    def with_reading(**values: Any) -> Any:
        return function(reading=read_options(values, without, columns), **values)

    made: Any = with_reading
    for field, (names, metavar, usual) in reversed(OPTIONS.items()):
        made = option(
            " ".join((*names, metavar)),
            help.get(field, usual),
            to=f"reading_{field}",
            default=getattr(Reading(), field) or None,
            multiple=field in REPEATED,
            type=Words(COMPLETED[field]) if field in COMPLETED else str,
            hidden=field in without,
            section=READING,
        )(made)
    return made  # type: ignore[no-any-return]


def read_options(
    values: dict[str, Any], without: Mapping[str, str], columns: Sequence[str]
) -> Reading:
    """Take the options of reading out of those of a command."""
    options = {field: values.pop(f"reading_{field}") for field in OPTIONS}
    languages = options["detect_refusals"]
    if languages is not None and not languages.strip(" ,"):
        raise UsageError("--detect-refusals names languages: en,de,es,fr,it or all")
    name, part, pick = (options["format"] or "").partition(":")
    if part:
        raise UsageError(
            f"--from takes only a format: {name}; choose a part of the log with --pick {pick}"
        )
    options["pick"] = pairs(options["pick"], "--pick", "filter=strict-match")
    options["columns"] = pairs(options["columns"], "--column", "question=id")
    for name in options["columns"]:
        check_name("standard column name", name.rpartition(":")[2], columns)
    options["grades"] = pairs(options["grades"], "--grade", "meh=wrong")
    reading = Reading.of(**{field: value for field, value in options.items() if value is not None})
    refuse(reading, without)
    return reading
