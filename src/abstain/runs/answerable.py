"""Which questions can be answered: columns that say so, under the names that data sets use."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

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


def marking(table: Table) -> dict[str, bool]:
    columns = {c: MEANS_ANSWERABLE[plain(c)] for c in table.columns if plain(c) in MEANS_ANSWERABLE}
    for column, name in table.renamed.items():
        means = MEANS_ANSWERABLE.get(plain(column))
        if name in columns and means not in (None, columns[name]):
            how = f"leave out {option('columns', {name: column})}"
            raise UsageError(f"column '{column}' says the opposite of '{name}': {how}")
    return columns


def by_evidence(column: str) -> bool:
    """Whether a column says only that the evidence is there: an answer without it may be right."""
    return plain(column) == "has_evidence"


def answerable_text(columns: Mapping[str, bool]) -> nw.Expr:
    """Combine marking columns of text into yes, no or empty; an unreadable text stays."""
    texts = []
    for name, yes in columns.items():
        text, (means_yes, means_no) = (
            nw.col(name).str.to_lowercase(),
            (YES, NO) if yes else (NO, YES),
        )
        words = [(text.is_in(means_yes), nw.lit("yes")), (text.is_in(means_no), nw.lit("no"))]
        texts.append(first_of([(~filled_in(name), nw.lit("")), *words], nw.col(name)))
    whole = texts[0]
    for text in texts[1:]:
        both = nw.concat_str(whole, text, separator=" and ")
        whole = first_of([(text == "", whole), ((whole == "") | (whole == text), text)], both)
    return whole.alias(ANSWERABLE)


def unreadable(text: str, columns: Collection[str], table: Table) -> str:
    names = " and ".join(repr(table.in_file(column)) for column in columns)
    if text in ("yes and no", "no and yes"):
        return f"{names} contradict each other on whether the question can be answered"
    return f"{names} is {shown(text)}, expected yes or no"


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
    """Whether each question can be answered, null where no column says; None without such columns.

    A cell that is neither yes nor no is refused with its place.
    """
    columns = {name: yes for name, yes in marking(table).items() if name in attributes}
    if not columns:
        return None
    rows = nw.from_native(frame.select(*columns).lazy())
    texts = collect(rows.select(answerable_text(columns)), table.name)[ANSWERABLE]
    strange = (~texts.is_in(["yes", "no", ""])).arg_true()
    if len(strange):
        row, text = frame[ROW][strange[0]], texts[strange[0]]
        raise InputError(unreadable(text, columns, table), table.place(row))
    return pl.select(pl.when(texts != "").then(texts == "yes")).to_series()


def refuse_without_answer(frame: pl.DataFrame, says: pl.Series, table: Table) -> None:
    columns = [name for name in marking(table) if not by_evidence(name)]
    wrong = (says & frame["nothing_right"]).fill_null(value=False).arg_true()
    if columns and len(wrong):
        question, column = shown(frame["question"][wrong[0]]), table.in_file(columns[0])
        what = f"is answerable by column '{column}', but '{table.in_file('correct')}' is empty"
        raise InputError(f"question {question} {what}", table.place(frame[ROW][wrong[0]]))
