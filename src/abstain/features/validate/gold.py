"""A linter of golds: keys that cannot be right, options alike, and where right answers stand."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from abstain.errors import Place, shown
from abstain.features.validate.problems import misspelt
from abstain.features.validate.result import Balance, ValidateResult
from abstain.io.tables import ROW
from abstain.reading import Reading
from abstain.runs import read_golds
from abstain.runs.corrections import corrected
from abstain.runs.faults import Problem, problem_at
from abstain.runs.gold import Gold, natural_key
from abstain.runs.responses import notes_of_tables
from abstain.stats.hypotheses import binomial_test

LEVEL = 0.05
"""Of all tests together of where right answers stand."""
TEXTS, PLAIN, RIGHT, LUCK = "option_texts", "__plain", "__right", "__luck"


def validate_gold(gold: Any, reading: Reading) -> ValidateResult:
    """Whatever is wrong or odd with a gold by itself, before any run is there."""
    standard, reading = corrected(read_golds(gold, reading), reading)
    balance, notes = balance_of(standard)
    problems = tuple(_faults(standard))
    return ValidateResult(
        reading=reading,
        notes=(*notes_of_tables(standard.tables), *misspelt(standard), *notes),
        valid=not problems,
        questions=len(standard),
        runs=0,
        problems=problems,
        warnings=tuple(
            problem_at("unbalanced", Place(standard.name), row.sentence)
            for row in balance
            if row.p_value * len(balance) < LEVEL
        ),
        balance=tuple(balance),
    )


def _faults(gold: Gold) -> Iterator[Problem]:
    """Questions that nobody can answer as they stand, those with options alike, and repeated ones.

    Texts are alike whatever their blanks and the case of their letters.
    """
    frame, nothing = gold.frame, pl.lit(None, pl.List(pl.String))
    lists = [nothing.alias(n) for n in ("options", TEXTS) if n not in frame.columns]
    text = _plain(pl.col("text")) if "text" in frame.columns else pl.lit(None, pl.String)
    frame = frame.with_columns(*lists).with_columns(
        pl.coalesce(pl.col(TEXTS, "options").list.eval(_plain(pl.element()))).alias(PLAIN)
    )
    options, plain, none = pl.col("options"), pl.col(PLAIN), pl.col("nothing_right")
    asked = pl.concat_str(text, plain.list.sort().list.join("\n").fill_null(""), separator="\n")
    first = pl.col("question").first().over(asked)
    twice = plain.list.eval(pl.element().filter(pl.element().is_duplicated())).list.first()
    lost = pl.col("accepted").list.set_difference("options")
    some, gaps = plain.list.join("") != "", plain.list.contains("")
    answerable = pl.lit(value=gold.marks_unanswerable)
    checks = {
        "no right answer": (
            none & (options.list.len() > 0) & ~answerable,
            pl.lit("no option is right"),
        ),
        "key not an option": (
            ~none & (options.list.len() > 0) & (lost.list.len() > 0),
            pl.format("its key {} is not among its options", lost.list.join(", ")),
        ),
        "options alike": (
            some & ~gaps & twice.is_not_null(),
            pl.format("'{}' is twice an option, but for blanks or case", twice),
        ),
        "empty option": (some & gaps, pl.lit("an option has no text")),
        "repeated question": (
            asked.is_not_null() & (first != pl.col("question")),
            pl.format("it has the text and the options of question '{}'", first),
        ),
    }
    found = [
        frame.select(ROW, "question", fault=fault, kind=pl.lit(kind), why=why)
        for kind, (fault, why) in checks.items()
    ]
    for row, question, _, kind, why in pl.concat(found).filter("fault").sort(ROW).iter_rows():
        place = gold.table.place(row) if len(gold.tables) < 2 else Place(gold.name)
        yield problem_at(kind, place, f"question {shown(question)}: {why}", None, question)


def _plain(text: pl.Expr) -> pl.Expr:
    return text.str.strip_chars().str.replace_all(r"\s+", " ").str.to_lowercase()


def balance_of(gold: Gold) -> tuple[list[Balance], list[str]]:
    """How often each position, the longest and the shortest option is right, and mean lengths.

    Of questions with two options or more, one of which is right.
    """
    columns = [name for name in ("options", TEXTS) if name in gold.frame.columns]
    if "options" not in columns:
        return [], []
    sizes = [pl.col(name).list.len() for name in columns]
    frame = gold.frame.filter((sizes[0] > 1) & (sizes[0] == sizes[-1]))
    frame = frame.with_columns(at=pl.int_ranges(1, sizes[0] + 1))
    long = frame.select("question", "accepted", "at", *columns).explode("at", *columns)
    long = long.with_columns(pl.col("options").is_in(pl.col("accepted")).alias(RIGHT))
    long = long.filter(pl.col(RIGHT).sum().over("question") == 1)
    long = long.with_columns((1 / pl.len().over("question")).alias(LUCK))
    parts = {f"option {at}": part for (at,), part in long.group_by("at")}
    parts, notes = {name: parts[name] for name in sorted(parts, key=natural_key)}, []
    if TEXTS in columns:
        length = pl.col(TEXTS).str.len_chars()
        for name, end in (("longest", length.max()), ("shortest", length.min())):
            ends = long.filter((length > 0) & (length == end.over("question")))
            parts[f"the {name} option"] = ends.filter(pl.len().over("question") == 1)
        means = dict(long.group_by(RIGHT).agg(length.mean()).iter_rows())
        if means.get(True):
            many = f"{means[True]:.1f} characters on average, the others {means[False]:.1f}"
            notes.append(f"right options have {many}")
    rows = []
    for name, part in parts.items():
        if n := len(part):
            hits, luck = int(part[RIGHT].sum()), float(part[LUCK].sum())
            p = binomial_test(hits, n, luck / n)
            rows.append(Balance(where=name, right=hits, questions=n, expected=luck, p_value=p))
    return rows, notes
