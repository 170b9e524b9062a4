"""Options that several commands share: of computing, and those of reading, which make an `Input`.

A command takes all options of reading, by the same names and with the same effect. Where one of
them cannot mean anything, for a command or for a kind of input, it is refused in one line that says
why.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from msgspec import Struct

from abstain.cli.command import BARE, FILE, NEW_FILE, READING, SHOWING, F, Words, argument, option
from abstain.errors import UsageError, check_name
from abstain.errors import option as option_name
from abstain.outcomes import Why
from abstain.reading import CHOICES, Kind, Reading, refuse, refuse_meaningless

if TYPE_CHECKING:
    from abstain.rankings.rankings import Rankings
    from abstain.rankings.scores import ScoreMatrix
    from abstain.runs.evaluation import Evaluation
    from abstain.runs.season import Season

METHODS = ("beta", "logit", "delta", "percentile", "bca", "jeffreys", "wilson", "clopper-pearson")

MEASURE = Words("abstain.measures:definitions")


def measures(help: str) -> Callable[[F], F]:
    """`-m MEASURE`, repeatable; one text may name several: `P@5,10`."""
    usage = "-m --measure MEASURE"
    several = "Repeatable; P@5,10 and 'RBP(p=0.5,0.8)' name several."
    return option(usage, f"{help} {several}", to="measures", multiple=True, type=MEASURE)


def measure(help: str, *, to: str = "measure", **attrs: Any) -> Callable[[F], F]:
    """`-m MEASURE`, once; an argument that has another name is another spelling of it."""
    more = "" if to == "measure" else f" --{to}"
    return option(f"-m --measure{more} MEASURE", help, to=to, type=MEASURE, **attrs)


def by(help: str) -> Callable[[F], F]:
    return option("--by ATTR", f"{help} Repeatable.", multiple=True)


def level(help: str = "The level of intervals.", default: float | None = 0.95) -> Callable[[F], F]:
    return option("--level L", help, type=float, default=default)


seed = partial(option, "--seed N", type=click.IntRange(min=0), default=0)
most = partial(option, "--most N", type=click.IntRange(min=0), default=50)
force = partial(option, "--force", section=SHOWING)


def output(
    help: str, metavar: str = "FILE", *, writes: bool = True, **attrs: Any
) -> Callable[[F], F]:
    usage = f"-o --output {metavar}"
    return option(usage, help, type=NEW_FILE, writes=writes, section=SHOWING, **attrs)


def _interval(*more: str, more_help: str = "") -> Callable[[F], F]:
    return option(
        "--interval [METHOD]",
        "An interval for each score: beta (the default), logit, delta, percentile, bca, jeffreys; "
        f"for a proportion also wilson and clopper-pearson{more_help}.",
        callback=lambda _, __, method: True if method == BARE else method or False,
        type=Words((*METHODS, *more)),
        methods=(*METHODS, *more),
    )


interval = _interval()
"""`--interval [METHOD]`: the method, True for the default one, False without the option."""

interval_of_scores_too = _interval(
    "hall",
    more_help="; for --scores hall (Student's t widened where scores are skewed, the default), "
    "delta (Student's t), percentile, bca",
)

OPTIONS: dict[str, tuple[str, str]] = {
    "format": (
        "--from FORMAT",
        "The format, where it cannot be detected: csv, tsv, jsonl, json, parquet or qa4mre; or the "
        "log of a tool: lm-eval, inspect, simpleqa, pan, squad, abstentionbench, promptfoo, "
        "openai-evals, deepeval.",
    ),
    "pick": (
        "--pick NAME=VALUE",
        "The part of a tool's log to read: filter=strict-match (lm-eval), scorer=match (inspect). "
        "Repeatable.",
    ),
    "columns": (
        "--column -c NAME=COLUMN",
        "The column that holds question, answer, …: question=id; gold:correct=label for the gold "
        "only, run:answer=output for the runs only. Repeatable.",
    ),
    "policy": (
        "--policy KIND=EFFECT",
        f"What a kind of blank becomes. Kinds: {', '.join(Why)}. "
        "Effects: unanswered, wrong, excluded. Repeatable.",
    ),
    "unanswerable": (
        "--unanswerable WHAT",
        "What declining an unanswerable question counts as: right (the default where a column such "
        "as answerable says which those are), blank (where only an empty correct does) or wrong.",
    ),
    "match": (
        "--match WAY",
        "How an answer is matched: id (exactly), text (ignoring case, width and punctuation), "
        "squad (ignoring English articles too) or letters (A is option 1, B option 2, …).",
    ),
    "align": ("--align HOW", "Pair responses with questions by id, or by position."),
    "detect_refusals": (
        "--detect-refusals LANGUAGES",
        "Detect refusals in the text of responses by rules: en,de,es,fr,it or all. A column or a "
        "judge's label takes precedence. `abstain refusals` lists what is found.",
    ),
    "refusal_pattern": (
        "--refusal-pattern REGEX",
        "Take a text in which this regular expression is found as a refusal, too (in any case of "
        "letters, in the first 2,000 characters). Repeatable.",
    ),
    "grades": (
        "--grade WORD=OUTCOME",
        "With --judged: what an unusual grade means, such as meh=wrong. Repeatable.",
    ),
    "partial": (
        "--partial SCALE",
        "With --judged: grades are numbers on this scale, the share right of each answer: 0-1, 1-5 "
        "or another LOW-HIGH, or crag.",
    ),
    "cluster": (
        "--cluster ATTR",
        "Questions with the same value are clustered (a test, a document).",
    ),
    "engine": (
        "--engine NAME",
        "The engine that reads and counts the runs: polars (the default, in batches), duckdb or "
        "spark.",
    ),
    "master": ("--master URL", "Where Spark runs: spark://host:7077 (default: local[*])."),
    "names": (
        "--name NAME",
        "The name of a run. Repeat it once for each RUN, in order. NAME=PATH names one RUN.",
    ),
    "corrections": (
        "--corrections --void CHANGE",
        "A question to correct after submission: 1/1/4=none (it counts for nobody), 1/1/4=everyone "
        "(all have it right) or 1/1/4=3 (its new key); or a table of question, correction, reason "
        "(it is published). Repeatable.",
    ),
}
"""For each field of `Reading` its option, as its help writes it, and that help."""

REPEATED = ("pick", "columns", "policy", "refusal_pattern", "grades", "names", "corrections")


def pairs(texts: Iterable[str], what: str, example: str) -> dict[str, str]:
    """`name=value` texts as a mapping; a name twice is refused."""
    mapping: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise UsageError(f"{what} must be NAME=VALUE, such as {example} (got '{text}')")
        if name.strip() in mapping:
            raise UsageError(f"{what} '{name.strip()}' appears twice")
        mapping[name.strip()] = value.strip()
    return mapping


COLUMNS = (
    *("question", "correct", "options", "answer", "answered", "candidate", "confidence", "why"),
    *("answerable", "unanswerable", "run", "rank", "known", "outcome", "grade"),
    *("right", "wrong", "unanswered"),
    *("unanswered_right", "unanswered_wrong", "unanswered_empty", "questions"),
)
"""Columns that `--column` knows, unless a command reads others."""

RANKED = ("query", "doc", "rel", "score", "rank", "run")
"""The same, of judgments and rankings."""

INPUT_KINDS: dict[str, str] = {
    "judged": "The rows carry an outcome or a grade; there is no gold.",
    "counts": "The file holds counts: run, right, wrong, unanswered…",
    "scores": "The file holds scores: one column per system, or what `rank --per-query` writes.",
    "rankings": "The files are relevance judgments and ranked lists (detected if they are TREC's).",
}
"""Kinds of input besides a gold and runs: each an option of its name, with its help."""


class Input(Struct, frozen=True):
    """What a command is to read: files, what kind of input they are, and how to read them."""

    files: tuple[str, ...]
    kind: Kind
    reading: Reading
    lists: dict[str, Any] = {}
    """Of rankings, where lists end and what a missing query is."""
    season: Season | None = None
    """What the first file is, if it is the folder of one: its gold and runs are read."""

    @property
    def gold(self) -> str:
        """The gold or the judgments, or the first file of another kind."""
        return self.files[0] if self.season is None else self.season.gold

    @property
    def runs(self) -> list[Any]:
        return list(self.files[1:]) if self.season is None else self.season.runs()

    def evaluation(
        self, *, skip_inconsistent: bool = False, test_gold: str | None = None
    ) -> Evaluation:
        from abstain.runs import evaluate, evaluate_counts, evaluate_judged

        if self.kind == "counts":
            return evaluate_counts(self.gold, self.reading, skip_inconsistent=skip_inconsistent)
        if self.kind == "judged":
            return evaluate_judged(list(self.files), self.reading)
        golds = self.gold if test_gold is None else [self.gold, test_gold]
        return evaluate(golds, self.runs, self.reading)

    def scores(self) -> ScoreMatrix:
        from abstain.rankings.score_tables import read_scores

        how = self.reading
        return read_scores(
            list(self.files), columns=how.columns, format=how.format, cluster=how.cluster
        )

    def rankings(self) -> Rankings:
        from abstain.rankings.read import read_rankings

        how = {name: getattr(self.reading, name) for name in (*OF_RANKINGS, "cluster")}
        return read_rankings(self.gold, self.runs, **how, **self.lists)

    def paired(self) -> Evaluation | Rankings | ScoreMatrix:
        if self.kind == "rankings":
            return self.rankings()
        return self.scores() if self.kind == "scores" else self.evaluation()


def reads(
    *kinds: Kind,
    runs: str = "The runs.",
    alone: str = "",
    gold_alone: bool = False,
    without: Mapping[str, str] | None = None,
) -> Callable[[F], F]:
    """A decorator: give a command GOLD, RUN… and the options of reading; it gets `inputs`.

    `kinds` are the other kinds of input that it takes. `without` says of fields why they mean
    nothing for this command. `alone` is a parameter that makes one file enough; with `gold_alone`
    it always is.
    """
    flags = " or ".join(f"--{name}" for name in (*kinds, alone) if name)

    def inputs(reading: Reading, values: dict[str, Any]) -> Input:
        chosen = [kind for kind in kinds if values.pop(kind)]
        files = (values.pop("gold"), *values.pop("runs"))
        if len(chosen) > 1:
            names = " and ".join(f"--{kind}" for kind in chosen)
            raise UsageError(f"{names} exclude each other")
        kind = chosen[0] if chosen else "gold"
        if "rankings" in kinds:
            if kind == "gold" and _is_trec(files[0]):
                kind = "rankings"
            known: tuple[str, ...] = RANKED if kind == "rankings" else COLUMNS
            for name in reading.columns:
                check_name("standard column name", name.rpartition(":")[2], known)
        lists = {name: values.pop(name) for name in (LISTS if "rankings" in kinds else ())}
        if kind == "rankings":
            refuse(reading, _all_but((*OF_RANKINGS, "cluster"), NO_ANSWERS))
            if len(files) < 2:
                raise UsageError("name the relevance judgments and at least one run")
            return Input(files, kind, reading, lists)
        if typed := [name for name in lists if is_typed(name)]:
            raise UsageError(f"{option_name(typed[0])} needs rankings (--rankings)")
        refuse_meaningless(reading, kind)
        if kind == "gold" and os.path.isfile(os.path.join(files[0], "season.toml")):
            from abstain.runs.season import read_season

            if len(files) > 1:
                raise UsageError(f"{files[0]} is a season, which has its runs: name no others")
            season = read_season(files[0])
            typed = [field for field in OPTIONS if is_typed(f"reading_{field}")]
            return Input(files, kind, season.reading_with(reading, typed), season=season)
        if kind == "gold" and len(files) < 2 and not (gold_alone or values.get(alone)):
            hint = f", or say {flags}" if flags else ""
            raise UsageError(f"name the gold and at least one run{hint}")
        if kind == "counts" and len(files) > 1:
            raise UsageError("--counts takes one file")
        return Input(files, kind, reading)

    def decorate(function: F) -> F:
        made, columns = function, tuple(COLUMNS)
        if "rankings" in kinds:
            made, columns = _of_lists(made, tuple(LISTS)), (*COLUMNS, *RANKED)
        made = _with_options(made, "inputs", inputs, without or {}, columns)
        for kind in reversed(kinds):
            made = option(f"--{kind}", INPUT_KINDS[kind], section=READING)(made)
        made = argument("runs", nargs=-1, metavar="RUN", help=runs)(made)
        first = f"The gold standard{f'; with {flags} the first file' if flags else ''}"
        first += ", or the folder of a season, which has its runs."
        return argument("gold", metavar="GOLD", help=first)(made)

    return decorate


def _is_trec(file: str) -> bool:
    from abstain.errors import AbstainError
    from abstain.io.files import open_file
    from abstain.io.trec import looks_like_trec

    with suppress(AbstainError, OSError):  # it is for its reader to say what is wrong
        return file != "-" and looks_like_trec(open_file(file).head)
    return False


def is_typed(parameter: str) -> bool:
    source = click.get_current_context().get_parameter_source(parameter)
    return source is ParameterSource.COMMANDLINE


NO_ANSWERS = "rankings hold documents, not answers"
OF_RANKINGS = ("format", "columns", "engine", "master")
"""The fields of `Reading` that say how rankings are read."""

_list = partial(partial, option, section=READING)
LISTS: dict[str, Callable[[], Callable[[Any], Any]]] = {
    "nil": _list(
        "--nil ID",
        "The document id that ends a list, such as NIL or -1. It is never relevant.",
    ),
    "limit": _list(
        "--limit N",
        "The maximum length of a list: a shorter one was ended by its system, a longer one is cut.",
        type=click.IntRange(min=1),
    ),
    "nil_as_answer": _list(
        "--nil-as-answer",
        "As in TREC 2001: the id of --nil is a document, relevant only if no other document is.",
    ),
    "missing": _list(
        "--missing WHAT",
        "What to do with a query that a run lacks: empty (score an empty list, the default), error "
        "or skip.",
        type=Words(("empty", "error", "skip")),
    ),
    "ties": _list(
        "--ties HOW",
        "trec: by score, ties by document id in descending order; rank: by the rank column.",
        type=Words(("trec", "rank")),
        default="trec",
    ),
    "trec_eval": _list(
        "--trec-eval",
        "Average as trec_eval does: 0 where nothing is relevant, missing queries left out.",
    ),
    "relevance_level": _list(
        "-l --relevance-level GRADE",
        "The lowest grade that counts as relevant, for every measure with a parameter rel, unless "
        "the name of the measure sets it: 'P(rel=2)@10'.",
        type=float,
    ),
    "judged_only": _list(
        "-J --judged-only",
        "First remove from the lists all documents that nobody judged.",
    ),
    "item": _list(
        "--item WHAT",
        "What is listed: document (the default) or document+answer, where the same document with "
        "another answer string is another item. The string follows the other columns of a TREC "
        "file, or is the column answer; the judgments may be patterns: query and regular "
        "expression.",
        type=Words(("document", "document+answer")),
        default="document",
    ),
    "top": _list(
        "--top GRADE",
        "The grade that counts as a gain of 1 (default: the largest).",
        type=float,
    ),
    "queries": _list(
        "--queries WHICH|FILE",
        "The queries that all means are over: all (0 where a measure is undefined, as trec_eval, "
        "ir_measures and ranx average) or relevant (without nil queries); by default each mean is "
        "over those where its measure exists. Or a table of queries and their attributes. "
        "Repeatable, for both.",
        type=FILE,
        multiple=True,
    ),
    "all_queries": _list(
        "--all-queries",
        "Count every query of --queries: one without judgments is a nil query.",
    ),
}


def reads_rankings(*lists: str, qrels: str, runs: str, required: bool = True) -> Callable[[F], F]:
    """A decorator: give a command QRELS, RUN… and some of `LISTS`; it gets `inputs`."""

    def inputs(reading: Reading, values: dict[str, Any]) -> Input:
        files = values.pop("qrels"), *values.pop("runs")
        return Input(files, "rankings", reading, {name: values.pop(name) for name in lists})

    def decorate(function: F) -> F:
        help = {
            "format": "The format, if it cannot be detected: trec, csv, tsv, jsonl, json or "
            "parquet.",
            "columns": "The column that holds query, doc, rel, score, rank or run: query=qid; "
            "gold:doc=docno for the judgments only, run:doc=docid for the runs only. Repeatable.",
        }
        why = _all_but(OF_RANKINGS, NO_ANSWERS)
        made = _with_options(_of_lists(function, lists), "inputs", inputs, why, RANKED, help)
        made = argument("runs", nargs=-1, required=required, metavar="RUN", help=runs)(made)
        return argument("qrels", metavar="QRELS", help=qrels)(made)

    return decorate


def _of_lists(function: F, lists: Sequence[str]) -> F:
    for name in reversed(lists):
        function = LISTS[name]()(function)
    return function


def reading_options(
    *wanted: str, otherwise: str, help: Mapping[str, str] | None = None
) -> Callable[[F], F]:
    """A decorator: give a command the options of some fields; it gets a `reading`.

    For commands that read something else than a gold and runs. `otherwise` says why the other
    fields mean nothing there, `help` what an option is good for where that differs.
    """
    return lambda function: _with_options(
        function, "reading", lambda reading, _: reading, _all_but(wanted, otherwise), help=help
    )


def _all_but(wanted: Sequence[str], otherwise: str) -> dict[str, str]:
    without = {
        field: f"{usage.split()[0]}: {otherwise}"
        for field, (usage, _) in OPTIONS.items()
        if field not in wanted
    }
    return {**without, "names": "--name is for a gold and runs; NAME=PATH names a run here"}


def _with_options(
    function: F,
    name: str,
    made_of: Callable[[Reading, dict[str, Any]], Any],
    without: Mapping[str, str],
    columns: Sequence[str] = COLUMNS,
    help: Mapping[str, str] | None = None,
) -> F:
    @wraps(function)
    def with_reading(**values: Any) -> Any:
        options = {field: values.pop(f"reading_{field}") for field in OPTIONS}
        if options["detect_refusals"] == "":
            raise UsageError("--detect-refusals names languages: en,de,es,fr,it or all")
        for field, example in PAIRS.items():
            options[field] = pairs(options[field], OPTIONS[field][0].split()[0], example)
        for column in options["columns"]:
            check_name("standard column name", column.rpartition(":")[2], columns)
        typed = {field: value for field, value in options.items() if value is not None}
        reading = Reading.of(**typed)
        refuse(reading, without)
        return function(**{name: made_of(reading, values)}, **values)

    made: Any = with_reading
    for field, (usage, usual) in reversed(OPTIONS.items()):
        made = option(
            usage,
            (help or {}).get(field, usual),
            to=f"reading_{field}",
            default=getattr(Reading(), field) or None,
            multiple=field in REPEATED,
            type=Words(CHOICES[field]) if field in CHOICES else str,
            hidden=field in without,
            section=READING,
        )(made)
    return made  # type: ignore[no-any-return]


PAIRS = {"pick": "filter=strict-match", "columns": "question=id", "grades": "meh=wrong"}
"""Options of reading that are `name=value`, with an example each."""


def refuse_all_but(taken: Collection[str]) -> None:
    for parameter in click.get_current_context().command.params:
        if is_typed(parameter.name or "") and parameter.name not in taken:
            name = parameter.opts[-1]
            raise UsageError(f"--apply tunes nothing: it cannot be combined with {name}")
