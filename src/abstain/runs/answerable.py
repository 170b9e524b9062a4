"""Which questions can be answered: columns that say so, under the names that data sets use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import narwhals as nw
import polars as pl

from abstain.errors import InputError, UsageError, option, shown
from abstain.io.frames import collect
from abstain.io.tables import ROW, Table
from abstain.runs.gold import UNANSWERABLE
from abstain.runs.judge import NO, YES, filled_in, first_of
from abstain.runs.usual_names import plain

MEANS_ANSWERABLE: Mapping[str, bool] = {
    "answerable": True,
    "has_evidence": True,
    "is_impossible": False,
    "should_abstain": False,
    "unanswerable": False,
}
"""Columns that mark questions, and whether their yes means that a question can be answered."""

ANSWERABLE = "__answerable"
"""Whether a row says that its question can be answered: yes, no, empty, or an unreadable text."""


def marking(table: Table) -> str | None:
    """The column that says which questions can be answered; the first of several by their names."""
    columns = {plain(column): column for column in reversed(table.columns)}
    marks = next((columns[name] for name in MEANS_ANSWERABLE if name in columns), None)
    for column, name in table.renamed.items() if marks else ():
        means = MEANS_ANSWERABLE.get(plain(column))
        if name == marks and means not in (None, MEANS_ANSWERABLE[plain(name)]):
            how = f"leave out {option('columns', {name: column})}"
            raise UsageError(f"column '{column}' says the opposite of '{name}': {how}")
    return marks


def by_evidence(column: str) -> bool:
    """Whether a column says only that the evidence is there: an answer without it may be right."""
    return plain(column) == "has_evidence"


def answerable_text(name: str, means: str) -> nw.Expr:
    """A column of text as yes, no or empty, by what its name means; an unreadable text stays."""
    text, yes = nw.col(name).str.to_lowercase(), MEANS_ANSWERABLE[plain(means)]
    cases = [
        (~filled_in(name), nw.lit("")),
        (text.is_in(YES if yes else NO), nw.lit("yes")),
        (text.is_in(NO if yes else YES), nw.lit("no")),
    ]
    return first_of(cases, nw.col(name)).alias(ANSWERABLE)


def unreadable(text: str, table: Table) -> str:
    column = table.in_file(marking(table) or "")
    return f"'{column}' is {shown(text)}, expected yes or no"


def sides_of(rows: pl.DataFrame, label: str) -> pl.DataFrame:
    """Which questions are marked as unanswerable; all rows of one must agree."""
    says = {word: (pl.col(ANSWERABLE) == word).any() for word in ("yes", "no")}
    marks = rows.group_by("question").agg(**says).sort("question")
    both = marks.filter("yes", "no")
    if both.height:
        question = shown(both["question"][0])
        raise InputError(f"question {question} can be answered in one row, not in another", label)
    return marks.select("question", pl.col("no").fill_null(value=False).alias(UNANSWERABLE))


def marked(frame: pl.DataFrame, attributes: Sequence[str], table: Table) -> pl.Series | None:
    """Whether each question can be answered, null where no column says; None without such a column.

    A cell that is neither yes nor no is refused with its place.
    """
    column = marking(table)
    if column is None or column not in attributes:
        return None
    rows = nw.from_native(frame.select(column).lazy())
    texts = collect(rows.select(answerable_text(column, column)), table.name)[ANSWERABLE]
    strange = (~texts.is_in(["yes", "no", ""])).arg_true()
    if len(strange):
        row, text = frame[ROW][strange[0]], texts[strange[0]]
        raise InputError(unreadable(text, table), table.place(row))
    return pl.select(pl.when(texts != "").then(texts == "yes")).to_series()


def refuse_without_answer(frame: pl.DataFrame, says: pl.Series, table: Table) -> None:
    column = marking(table)
    wrong = (says & frame["nothing_right"]).fill_null(value=False).arg_true()
    if column is not None and not by_evidence(column) and len(wrong):
        question, name = shown(frame["question"][wrong[0]]), table.in_file(column)
        what = f"is answerable by column '{name}', but '{table.in_file('correct')}' is empty"
        raise InputError(f"question {question} {what}", table.place(frame[ROW][wrong[0]]))
