"""Rules at work: which texts decline, and a table with that told."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from msgspec.structs import replace

from abstain.errors import UsageError, check_name, plural
from abstain.io.boundary import reading
from abstain.io.tables import Table
from abstain.judging.refusals.english import ENGLISH
from abstain.judging.refusals.german import GERMAN
from abstain.judging.refusals.romance import FRENCH, ITALIAN, SPANISH
from abstain.judging.refusals.shapes import LABEL, MARKS, QUOTED, THOUGHT, Language, Rule
from abstain.judging.responses import RULE

LANGUAGES: dict[str, Language] = {
    own.code: own for own in (ENGLISH, GERMAN, SPANISH, FRENCH, ITALIAN)
}
MOST = 2_000
"""A refusal is looked for in the first characters."""
OPEN_OUTCOMES = ("wrong", "unparseable")


def languages_of(text: str) -> tuple[str, ...]:
    """Language codes from `en,de` or `all`.

    >>> languages_of("en, de")
    ('en', 'de')
    """
    names = [n.strip().lower() for n in text.replace("+", ",").split(",") if n.strip()]
    if names == ["all"]:
        return tuple(LANGUAGES)
    if not names:
        raise UsageError(f"name languages to detect refusals in: {', '.join(LANGUAGES)}")
    for name in names:
        check_name("supported language", name, LANGUAGES)
    return tuple(dict.fromkeys(names))


def rule_of(column: str, languages: Sequence[str]) -> pl.Expr:
    """The first rule by which a column's text declines; null where none does."""
    text = cleaned(pl.col(column).cast(pl.String))
    found: list[pl.Expr] = []
    for code in languages:
        own = LANGUAGES[code]
        rest = text.str.replace(f"^{own.openings}", "")
        for rule in own.rules:
            ends = r"[\s.!…)\"']*$" if rule.whole else ""
            fits = rest.str.contains(f"^(?:{rule.pattern}){ends}")
            if rule.unless:
                fits &= ~rest.str.contains(f"^(?:{rule.unless})")
            if not rule.whole:
                fits &= ~_answers_anyway(rest, rule, own)
            found.append(pl.when(fits).then(pl.lit(rule.name)))
    return pl.coalesce(found)


def cleaned(text: pl.Expr) -> pl.Expr:
    """What was said, without thoughts, marks and labels, in small letters and single blanks."""
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


def _answers_anyway(rest: pl.Expr, rule: Rule, own: Language) -> pl.Expr:
    """Whether what follows a rule's words is an answer after all."""
    matched = rest.str.extract(f"^({rule.pattern})", 1).str.len_chars()
    after = rest.str.slice(matched.cast(pl.Int64) - 1)  # with what ends the rule's own clause
    kept = after
    for aside in own.asides:
        kept = kept.str.replace_all(aside, " ")
    return after.str.contains(own.hedges) | kept.str.contains(own.goes_on)


def refuses(text: str, languages: str = "all") -> str | None:
    """The rule by which a text declines to answer, or None.

    >>> refuses("I'm sorry, but I don't know."), refuses("Das weiß ich leider nicht.")
    ('en/do-not-know', 'de/weiß-nicht')
    >>> refuses("I don't know for sure, but I think it is Lima.")
    """
    frame = pl.DataFrame({"text": [text]})
    found: str | None = frame.select(rule_of("text", languages_of(languages))).item()
    return found


def with_refusals(table: Table, languages: Sequence[str]) -> Table:
    """A table of responses that names the rule by which each declines, and a note of what was done.

    A column that says whether or why there is no answer wins, and so does a judge's label; a
    verdict made by comparing texts knows no refusal, so a wrong one is looked at. Answers stay:
    one that turns out right against a gold is no refusal, so `judge` blanks the others, and
    `blanked` does where there is nothing to judge by.
    """
    frame = table.frame
    if not isinstance(frame, pl.LazyFrame):
        raise UsageError(
            "refusals are looked for only in files and polars frames: collect the frame first"
        )
    names = table.columns
    text = text_of(names)
    if text is None:
        note = f"{table.name}: has no column 'response' or 'answer' to look for refusals in"
        return replace(table, notes=(*table.notes, note))
    graded = _two_grades(table)
    open_to = _undecided(table, text) if graded is None else _said(graded).is_in(NO)
    # looked for once: every later question to the table would look again
    with reading(table.name):
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
        right = pl.when(_said(graded).is_in(YES)).then(pl.lit("right"))
        plain = right.when(_said(graded).is_in(NO)).then(pl.lit("wrong"))
        refused = pl.col(RULE).is_not_null()
        changes[graded] = pl.when(refused).then(pl.lit("declined")).otherwise(plain)
    if "response" not in names:
        changes["response"] = pl.col(text)
    note = (
        f"{table.name}: refusals found in text ({', '.join(languages)}): {used:,} of "
        f"{plural(seen, 'response')}"
    )
    if hits > used:
        more = plural(hits - used, "more looks", "more look")
        note += (
            f"; {more} like a refusal, but a label (grade, 'answered' or 'why') takes precedence"
        )
    if graded is not None:
        note += "; grades of two values cannot tell a refusal from a wrong answer"
    elif used and table.verdicts is None:
        note += "; answers that the gold accepts stay right"
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
    """The column that holds what was said: the response as it came, or else the answer."""
    return next((name for name in ("response", "answer") if name in names), None)


def _undecided(table: Table, text: str) -> pl.Expr:
    """Rows of which nothing says whether they were answered."""
    names = table.columns
    if table.verdicts == "judge" or (table.verdicts is None and {"outcome", "grade"} & set(names)):
        return pl.lit(value=False)
    undecided = pl.lit(value=True)
    if table.verdicts == "match":
        return pl.col("outcome").is_in(OPEN_OUTCOMES)
    for name in ("answered", "why"):
        if name in names:
            undecided &= pl.col(name).cast(pl.String).fill_null("") == ""
    said = "answer" if "answer" in names else text
    return undecided & (pl.col(said).cast(pl.String).fill_null("") != "")


YES, NO = (
    ("true", "1", "1.0", "yes", "pass", "passed"),
    ("false", "0", "0.0", "no", "fail", "failed"),
)
"""Grades that know no third."""


def _two_grades(table: Table) -> str | None:
    """The column of grades, where all are yes or no; a scale with a third grade decides itself."""
    column = next((name for name in ("outcome", "grade") if name in table.columns), None)
    if column is None or table.verdicts is not None:
        return None
    known, there = _said(column).is_in((*YES, *NO)), _said(column) != ""
    found = table.frame.select(some=known.any(), odd=(there & ~known).any()).collect()
    some, odd = found.row(0)
    return column if some and not odd else None


def _said(column: str) -> pl.Expr:
    """A grade as text, in small letters."""
    text = pl.col([column]).cast(pl.String).str.strip_chars().str.to_lowercase()
    return text.str.strip_suffix(".")


def _cell(name: str, names: Sequence[str]) -> pl.Expr:
    return pl.col(name) if name in names else pl.lit(None, dtype=pl.String)
