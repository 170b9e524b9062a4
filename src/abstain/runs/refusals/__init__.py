"""Detect texts that decline to answer, by the rules of each language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
import polars as pl
from msgspec.structs import replace

from abstain.errors import UsageError, option, plural, shown
from abstain.io.files import read_errors
from abstain.io.tables import Table
from abstain.reading import languages_of
from abstain.runs.responses import RULE

MOST = 2_000
"""The number of leading characters that are searched for a refusal."""
LONGEST = 1_000
OPEN_OUTCOMES = ("wrong", "unparseable")
STAND = "; answers that the gold accepts stay right"


def rule_of(column: str, languages: Sequence[str]) -> pl.Expr:
    """The first rule by which a column's text declines; null where none does."""
    text = cleaned(pl.col(column).cast(pl.String))
    matches: list[pl.Expr] = []
    for number, pattern in enumerate((each for each in languages if each.startswith("/")), 1):
        fits = text.str.contains(_checked(pattern[1:-1]))
        matches.append(pl.when(fits).then(pl.lit(f"own/{number}")))
    for code in languages:
        if code.startswith("/"):
            continue
        rules = language(code)
        rest = text.str.replace(f"^{rules.openings}", "")
        for rule in rules.rules:
            ends = r"[\s.!…)\"']*$" if rule.whole else ""
            fits = rest.str.contains(f"^(?:{rule.pattern}){ends}")
            if rule.unless:
                fits &= ~rest.str.contains(f"^(?:{rule.unless})")
            if not rule.whole:
                fits &= ~_answers_anyway(rest, rule, rules)
            matches.append(pl.when(fits).then(pl.lit(rule.name)))
    return pl.coalesce(matches)


def _checked(pattern: str) -> str:
    quoted = f"{option('refusal_pattern')} {shown(pattern)}"
    if not pattern or len(pattern) > LONGEST:
        raise UsageError(f"{quoted}: a pattern has from 1 to {LONGEST:,} characters")
    try:
        pl.select(pl.lit("").str.contains(f"(?i){pattern}"))
    except pl.exceptions.ComputeError as error:
        why = str(error).partition("\n\n")[0].rpartition("error: ")[2]
        raise UsageError(f"{quoted} is no regular expression that can be used: {why}") from None
    return f"(?i){pattern}"


def cleaned(text: pl.Expr) -> pl.Expr:
    """A response without thoughts, markup and labels, in lower case and with single spaces."""
    for thought in THOUGHT:
        text = text.str.replace(thought, "")
    return (
        text.str.slice(0, MOST)
        .str.to_lowercase()
        .str.replace_all("[’‘´`]", "'")
        .str.replace_all(MARKS, "")
        .str.replace_all(r"[\s_]+", " ")
        .str.strip_chars(" -–—•")
        .str.replace(LABEL, "")
        .str.replace(QUOTED, "$1")
        .str.strip_chars(" ")
    )


def _answers_anyway(rest: pl.Expr, rule: Rule, rules: Language) -> pl.Expr:
    matched = rest.str.extract(f"^({rule.pattern})", 1).str.len_chars()
    after = rest.str.slice(matched.cast(pl.Int64) - 1)  # with what ends the rule's clause
    kept = after
    for aside in rules.asides:
        kept = kept.str.replace_all(aside, " ")
    return after.str.contains(rules.hedges) | kept.str.contains(rules.goes_on)


def refuses(text: str, languages: str = "all") -> str | None:
    """The rule by which a text declines to answer, or None.

    >>> refuses("I'm sorry, but I don't know."), refuses("Das weiß ich leider nicht.")
    ('en/do-not-know', 'de/weiß-nicht')
    >>> refuses("I don't know for sure, but I think it is Lima.")
    """
    frame = pl.DataFrame({"text": [text]})
    rule: str | None = frame.select(rule_of("text", languages_of(languages))).item()
    return rule


def with_refusals(table: Table, languages: Sequence[str]) -> Table:
    """A table of responses with the rule by which each declines, and a note with their number.

    A column that says whether or why there is no answer takes precedence, and so does a judge's
    label; a verdict made by comparing texts knows no refusal, so wrong ones are searched. Answers
    stay: one that is right against a gold is no refusal, so `judge` blanks the others, and
    `blanked` does so where there is nothing to judge by.
    """
    frame = table.frame
    if not isinstance(frame, pl.LazyFrame):
        where = "with polars: in its frames, and in files unless another engine reads them"
        raise UsageError(f"refusals are looked for {where}")
    names = table.columns
    text = text_of(names)
    if text is None:
        note = f"{table.name}: has no column 'response' or 'answer' to look for refusals in"
        return replace(table, notes=(*table.notes, note))
    graded = _two_grades(table)
    open_to = _undecided(table, text) if graded is None else _grade(graded).is_in(NO)
    # collected, so that later queries on the table do not search again
    with read_errors(table.name):
        frame = frame.with_columns(rule_of(text, languages).alias(RULE)).collect().lazy()
    declines = pl.col(RULE).is_not_null()
    counted = frame.select(
        hits=declines.sum(),
        used=(declines & open_to).sum(),
        seen=(pl.col(text).cast(pl.String).fill_null("") != "").sum(),
    ).collect()
    hits, used, seen = counted.row(0)
    frame = frame.with_columns(pl.when(open_to).then(RULE).alias(RULE))
    changes: dict[str, pl.Expr] = {}
    if table.verdicts is not None:
        declined = pl.lit("declined")
        empty = pl.col("answer").cast(pl.String).fill_null("") == ""
        changes["outcome"] = pl.when(declines).then(declined).otherwise("outcome")
        changes["why"] = pl.when(declines & empty).then(declined).otherwise(_cell("why", names))
    if graded is not None:
        refused = pl.when(pl.col(RULE).is_not_null()).then(pl.lit("declined"))
        right = refused.when(_grade(graded).is_in(YES)).then(pl.lit("right"))
        changes[graded] = right.when(_grade(graded).is_in(NO)).then(pl.lit("wrong"))
    if "response" not in names:
        changes["response"] = pl.col(text)
    share = f"{used:,} of {plural(seen, 'response')}"
    note = f"{table.name}: refusals found in text ({', '.join(languages)}): {share}"
    if hits > used:
        more = plural(hits - used, "more looks", "more look")
        note += f"; {more} like a refusal, but a label takes precedence"
    if graded is not None:
        note += "; grades of two values cannot tell a refusal from a wrong answer"
    elif used and table.verdicts is None:
        note += STAND
    return replace(
        table,
        columns=tuple(dict.fromkeys([*names, *changes, RULE])),
        frame=frame.with_columns(**changes),
        notes=(*table.notes, note),
    )


def blanked(rows: pl.DataFrame, *, stands: pl.Expr | None = None) -> pl.DataFrame:
    """Rows with their refusals blanked, except those that count as answers (`stands`)."""
    declines = pl.col(RULE).is_not_null()
    if stands is not None:
        declines &= ~stands
    changes = {
        "why": pl.when(declines).then(pl.lit("declined")).otherwise(_cell("why", rows.columns))
    }
    if "answer" in rows.columns:
        changes["answer"] = pl.when(declines).then(pl.lit("")).otherwise("answer")
    return rows.with_columns(**changes)


def text_of(names: Sequence[str]) -> str | None:
    return next((name for name in ("response", "answer") if name in names), None)


def _undecided(table: Table, text: str) -> pl.Expr:
    names = table.columns
    if table.verdicts == "judge" or (table.verdicts is None and {"outcome", "grade"} & set(names)):
        return pl.lit(value=False)
    if table.verdicts == "match":
        return pl.col("outcome").is_in(OPEN_OUTCOMES)
    empty = {name: pl.col(name).cast(pl.String).fill_null("") == "" for name in names}
    undecided = ~empty["answer" if "answer" in names else text]
    for name in ("answered", "why"):
        undecided &= empty.get(name, pl.lit(value=True))
    return undecided


YES, NO = (
    ("true", "1", "1.0", "yes", "pass", "passed"),
    ("false", "0", "0.0", "no", "fail", "failed"),
)
"""Grades of scales with two values."""


def _two_grades(table: Table) -> str | None:
    """The column of grades, where all are yes or no; a scale with a third grade decides itself."""
    column = next((name for name in ("outcome", "grade") if name in table.columns), None)
    if column is None or table.verdicts is not None:
        return None
    known, there = _grade(column).is_in((*YES, *NO)), _grade(column) != ""
    some, others = table.frame.select(known.any(), others=(there & ~known).any()).collect().row(0)
    return column if some and not others else None


def _grade(column: str) -> pl.Expr:
    text = pl.col([column]).cast(pl.String).str.strip_chars().str.to_lowercase()
    return text.str.strip_suffix(".")


def _cell(name: str, names: Sequence[str]) -> pl.Expr:
    return pl.col(name) if name in names else pl.lit(None, dtype=pl.String)


PARTS = {"ends": r"(?:[.,;:!?…–—-]|$)"}

THOUGHT = (r"(?s)^.*</think(?:ing)?>", r"(?s)^\s*<think(?:ing)?>.*$")
"""A model's thoughts before its response; without an end tag there is no response."""

MARKS = r"[*`#>\[\]{}]|\\boxed|\\text"

QUOTED = r"^[\"'«“„]+(.*?)[\"'»”“]+[.!]?$"
"""A text that is quoted as a whole; one that only begins with a quotation is about a title."""

LABEL = (
    r"^(?:(?:final |my |the |short )*(?:answer|response|reply|output|antwort|endg[uü]ltige antwort|"
    r"respuesta|réponse|risposta|a|q1?)(?: is)? ?: ?)+"
)


class Rule(msgspec.Struct, frozen=True):
    """A pattern of declining, a text that matches it, and one that only looks like it."""

    name: str
    pattern: str
    example: str
    counter: str
    whole: bool = False
    unless: str = ""
    """How a text begins that fits the pattern but is no refusal."""


class Language(msgspec.Struct, frozen=True):
    """The rules of a language, what may precede them, and what takes them back."""

    openings: str
    asides: tuple[str, ...]
    hedges: str
    goes_on: str
    rules: tuple[Rule, ...]


@cache
def language(code: str) -> Language:
    text = files(__package__).joinpath(f"{code}.toml").read_text("utf-8")
    data = tomllib.loads(text)
    parts = PARTS | data.pop("parts", {})
    for rule in data["rules"]:
        for key in rule.keys() & {"pattern", "unless"}:
            rule[key] = _pattern(rule[key], parts)
    data["openings"] = f"(?:{_pattern(data['openings'], parts)})*"
    data["asides"] = [_pattern(aside, parts) for aside in data["asides"]]
    for key in ("hedges", "goes_on"):
        data[key] = _pattern(data[key], parts)
    return msgspec.convert(data, Language)


def _pattern(value: Any, parts: dict[str, str]) -> str:
    text = value if isinstance(value, str) else "|".join(value)
    return re.sub(r"\{([a-z]+)\}", lambda match: parts[match[1]], text)
