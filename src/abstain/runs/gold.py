"""The gold: questions and what is right, small and held in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import InputError, Place, RepeatedError, UsageError, check_name, plural, shown
from abstain.io.files import open_file
from abstain.io.frames import (
    collect,
    differs_by_engine,
    open_table,
    rename,
    require,
    text_column,
    text_columns,
)
from abstain.io.tables import AS_JUDGED, FORMATS, ROW, Table, cells, col, column_of, sniff
from abstain.measures.definition import Array, IntArray
from abstain.reading import PLAIN, Reading
from abstain.runs.responses import OF_A_RUN, Responses, is_path, logs_of_folder, with_our_names

if TYPE_CHECKING:
    from abstain.runs.corrections import Correction

NONE_WORDS = ("none", "None", "NONE", "nil", "Nil", "NIL")
"""Answers that claim that no answer exists: right where the gold has none."""
SPLIT = "|"
"""Separates several accepted answers (and options) in one cell."""
LISTS = ("correct", "options", "option_texts")
"""Columns that may hold several texts in a cell."""
DERIVED = ("accepted", "nothing_right")
"""Columns that are added to a gold when it is read."""
UNANSWERABLE = "__unanswerable"
"""Whether a question cannot be answered: a column marks it as such, or nothing is right."""
GOLD = "gold"
"""The attribute that says which gold a question is of, where several are read."""


class Gold(Struct, frozen=True, dict=True):
    """The questions and what is right.

    `frame` has `question`, `accepted` (a list of texts, never empty: where nothing is right it
    holds the words that say so), `nothing_right`, perhaps `options` and `option_texts`, and the
    attributes as text; `UNANSWERABLE` where one may be.
    """

    name: str
    frame: pl.DataFrame
    attributes: tuple[str, ...]
    table: Table
    verdicts: bool = False
    """Whether it comes from a log: then verdicts of logs count, and no answer is judged again."""
    golds: tuple[str, ...] = ()
    """The names of the golds that it was joined from."""
    tables: tuple[Table, ...] = ()
    """The tables that it was read from."""
    marks_unanswerable: bool = False
    """Whether a column marks questions as unanswerable."""
    corrections: tuple[Correction, ...] = ()
    """What was corrected after submission."""
    before: Gold | None = None
    """The gold as it was then."""

    def __len__(self) -> int:
        return self.frame.height

    @property
    def without_answer(self) -> int:
        """Questions for which nothing is right."""
        return int(self.frame["nothing_right"].sum())

    @property
    def sides(self) -> IntArray:
        """The place in `SIDES` of each question: 1 for one that cannot be answered."""
        if UNANSWERABLE not in self.frame.columns:
            return np.zeros(len(self), np.int64)
        return self.frame[UNANSWERABLE].cast(pl.Int64).to_numpy()

    @property
    def asked(self) -> pl.Series:
        """The ids of all questions that runs responded to, also of those that count no more."""
        return (self.before or self).frame["question"]

    @cached_property
    def void(self) -> dict[str, int]:
        """The questions that count no more, each with its place among all."""
        gone = ~self.asked.is_in(self.frame["question"].to_list())
        return dict(zip(self.asked.filter(gone), gone.arg_true(), strict=True))

    def check_attributes(self, names: Sequence[str]) -> None:
        """Refuse an attribute that the gold lacks."""
        for name in names:
            check_name("attribute", name, self.attributes)


def read_gold(data: Any, reading: Reading = PLAIN, *, answers: bool = True) -> Gold:
    """Read a gold standard: `question`, `correct`, and any attributes.

    Without `answers` it may be the participants' test set, which has no column `correct`.
    """
    if isinstance(data, Gold):
        return data
    table = _table(data, _for_gold(data, reading))
    is_log = table.verdicts is not None
    if not answers and "correct" not in table.columns:
        bare = nw.from_native(table.frame).with_columns(correct=nw.lit(""))
        table = replace(table, frame=bare.to_native(), columns=(*table.columns, "correct"))
    require(
        table,
        {
            "question": "which names each question",
            "correct": "which holds the right answer (empty: there is none)",
        },
        side="gold",
    )
    for name in set(table.columns) & set(DERIVED):
        raise _reserved(name, table)
    frame, attributes = _texts(table)
    _check_ids(frame, table)
    accepted = _as_list(frame, "correct", table.name)
    frame = frame.with_columns(accepted.alias("accepted")).with_columns(
        nothing_right=pl.col("accepted").list.len() == 0
    )
    if answers and table.format == "qa4mre" and frame["nothing_right"].all():
        raise InputError(
            "marks no answer as correct, expected the gold: only `validate` accepts the test set "
            "without its answers",
            table.name,
        )
    says = None
    if attributes:
        from abstain.runs.usual_names import marked, refuse_without_answer

        says = marked(frame, attributes, table)
        if says is not None and answers:
            refuse_without_answer(frame, says, table)
    declared = pl.lit(value=False) if says is None else ~pl.lit(says).fill_null(value=True)
    nothing = pl.lit(pl.Series([list(NONE_WORDS)])).first()
    frame = frame.with_columns(
        (declared | pl.col("nothing_right")).alias(UNANSWERABLE),
        pl.when("nothing_right").then(nothing).otherwise("accepted").alias("accepted"),
        *(_as_list(frame, name, table.name) for name in LISTS[1:] if name in frame.columns),
    ).drop("correct")
    marks = says is not None and not says.fill_null(value=True).all()
    return Gold(table.name, frame, attributes, table, is_log, (table.name,), (table,), marks)


def _reserved(name: str, table: Table) -> InputError:
    what = f"column '{name}' has a reserved name; an attribute needs another name"
    return InputError(what, Place(table.name, 1 if table.format in ("csv", "tsv") else None))


def _table(data: Any, reading: Reading) -> Table:
    if is_path(data) and os.path.isdir(data):
        data = logs_of_folder(os.fspath(data), reading)
    table = open_table(data, name="gold", format=reading.format, pick=reading.pick)
    if table.verdicts is not None:
        table = questions_of(table)
    return with_our_names(rename(table, reading.columns, side="gold"), ("question", "correct"))


def _texts(table: Table) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The gold's columns as text or lists of texts, and which of them are attributes."""
    lazy = nw.from_native(table.frame)
    schema = lazy.collect_schema()
    others = [c for c in table.columns if c not in ("question", *LISTS)]
    attributes = tuple(c for c in others if not schema[c].is_nested())
    lists = [
        nw.col(c) if schema[c].is_nested() else text_column(lazy, c, table.name).alias(c)
        for c in LISTS
        if c in table.columns
    ]
    chosen = lazy.select(
        *text_columns(lazy, ["question"], table.name),
        *lists,
        *(_attribute(lazy, c, table.name) for c in attributes),
    )
    frame = collect(chosen, table.name)
    return frame if ROW in frame.columns else frame.with_row_index(ROW), attributes


def joined_gold(golds: Sequence[Gold]) -> Gold:
    """Concatenate golds; the attribute `gold` tells which one a question is from."""
    first = golds[0]
    if len(golds) == 1:
        return first
    names: list[str] = []
    frames = []
    for gold in golds:
        if GOLD in gold.attributes:
            raise _reserved(GOLD, gold.table)
        names.append(gold.name if gold.name not in names else f"{gold.name} {len(names) + 1}")
        frames.append(gold.frame.with_columns(pl.lit(names[-1]).alias(GOLD)))
    frame = pl.concat(frames, how="diagonal_relaxed")
    again = frame.filter(pl.col("question").is_duplicated()).sort("question")
    if again.height:
        question, (one, other) = shown(again["question"][0]), again[GOLD][:2]
        raise UsageError(f"question {question} is in both golds, {one} and {other}")
    attributes = dict.fromkeys(name for gold in golds for name in gold.attributes)
    notes = tuple(dict.fromkeys(note for gold in golds for note in gold.table.notes))
    return replace(
        first,
        frame=frame,
        attributes=(*attributes, GOLD),
        table=replace(first.table, notes=notes),
        verdicts=all(gold.verdicts for gold in golds),
        golds=tuple(names),
        tables=tuple(gold.table for gold in golds),
        marks_unanswerable=any(gold.marks_unanswerable for gold in golds),
    )


def _for_gold(data: Any, reading: Reading) -> Reading:
    """The settings that the gold is read with: runs may be a tool's logs while it is a table."""
    plain = replace(reading, detect_refusals=(), engine=None, master=None)
    if reading.format in (None, *FORMATS) and not reading.pick:
        return plain  # without a look at the readers of logs, which takes time
    from abstain.io.readers import log_readers

    reader = log_readers().get(reading.format or "")
    of_runs = reading.format is None if reader is None else reader.sniff is not None
    if not of_runs or "gold" in reading.pick or not is_path(data) or os.path.isdir(data):
        return plain
    format = sniff(open_file(os.fspath(data)))
    if format in log_readers() and reading.format in (None, format):
        return plain
    return replace(plain, format=None, pick={})


def questions_of(log: Table) -> Table:
    """The questions of a log, each once, without what its run answered."""
    frame = collect(nw.from_native(log.frame), log.name)
    kept = [c for c in frame.columns if c not in OF_A_RUN]
    first = frame.select(map(col, kept)).unique("question", keep="first", maintain_order=True)
    as_judged = pl.lit(pl.Series([[AS_JUDGED]])).first()
    known = pl.col("correct").fill_null(as_judged) if "correct" in kept else as_judged
    first = first.with_columns(correct=known)
    columns = tuple(c for c in first.columns if c != ROW)
    return replace(log, columns=columns, frame=first.lazy())


def _attribute(frame: nw.LazyFrame[Any], column: str, label: str) -> nw.Expr:
    """An attribute as text, null where it is empty, in every format."""
    if differs_by_engine(frame.collect_schema()[column]):
        text = column_of(frame, column).cast(nw.String)  # no id that must be the same elsewhere
    else:
        text = text_column(frame, column, label, trim=True)
    return nw.when(text != "").then(text).alias(column)


def _as_list(frame: pl.DataFrame, column: str, label: str) -> pl.Series:
    """A column of lists of texts: `|` splits a text; options' texts may be JSON, and empty."""
    values = frame[column]
    inner = values.dtype.inner if isinstance(values.dtype, (pl.List, pl.Array)) else values.dtype
    if inner.is_nested() or inner in (pl.Binary, pl.Object):
        raise InputError(
            f"column '{column}' holds {values.dtype}, expected a text or a list of texts per row",
            label,
        )
    texts = column == "option_texts"
    if texts and values.dtype == pl.String and values.str.starts_with("[").all():
        try:
            return values.str.json_decode(pl.List(pl.String))
        except pl.exceptions.PolarsError:
            pass
    if values.dtype == pl.String:
        values = values.fill_null("").str.split(SPLIT)
    values = values.cast(pl.List(pl.String)).fill_null([])
    if texts:
        return values
    trimmed = values.list.eval(pl.element().str.strip_chars())
    return trimmed.list.eval(pl.element().filter(pl.element().fill_null("") != ""))


def _check_ids(frame: pl.DataFrame, table: Table) -> None:
    if frame.is_empty():
        raise InputError("has no questions", table.name)
    blank = frame.filter(pl.col("question").is_null() | (pl.col("question") == ""))
    if blank.height:
        raise InputError("a question has no id", table.place(blank[ROW][0]))
    twice = frame.filter(pl.col("question").is_duplicated())
    if twice.height:
        question = twice["question"][0]
        rows = twice.filter(pl.col("question") == question)[ROW]
        raise RepeatedError(
            f"question {shown(question)} appears twice (first: {table.place(rows[0])})",
            table.place(rows[1]),
        )


def by_position(item: Responses, gold: Gold, runs: Collection[str] | None = None) -> Responses:
    """The responses with the gold's ids in the gold's order; `runs` names those to repair."""
    table = item.table
    frame = collect(item.frame, table.name)
    if ROW not in frame.columns:
        frame = frame.with_row_index(ROW)
    run = pl.col("run").cast(pl.String) if item.run is None else pl.lit(item.run)
    frame = frame.with_columns(__run=run)
    wanted = pl.lit(value=True) if runs is None else pl.col("__run").is_in(list(runs))
    sizes = frame.filter(wanted).group_by("__run", maintain_order=True).len()
    for name, count in sizes.filter(pl.col("len") != len(gold.asked)).iter_rows():
        raise InputError(
            f"run {shown(name or '')} has {plural(count, 'response')}, expected "
            f"{len(gold.asked):,} in the order of the gold: one for each question",
            table.name,
        )
    position = pl.col(ROW).rank("ordinal").over("__run").cast(pl.Int64) - 1
    before = pl.col("question").cast(pl.String) if "question" in frame.columns else pl.lit(None)
    frame = frame.with_columns(__at=position)
    ids = pl.lit(gold.asked).gather(pl.col("__at"))
    frame = frame.with_columns(question=pl.when(wanted).then(ids).otherwise(before))
    columns = tuple(dict.fromkeys(("question", *table.columns)))
    frame = frame.drop("__run", "__at")
    return replace(item, table=replace(table, frame=frame.lazy(), columns=columns, chunks=None))


BY = "by:"
"""Prefix of a slice attribute's column, so that no attribute can take another column's name."""


def numbered_slices(
    rows: pl.DataFrame, columns: Sequence[str]
) -> tuple[list[tuple[str | None, ...]], IntArray]:
    """Distinct values of some columns, in order of first occurrence, and the index of each row."""
    if not columns:
        return [()], np.zeros(rows.height, np.int64)
    chosen = rows.select(map(col, columns))
    slices = chosen.unique(maintain_order=True)
    keys = list(map(col, columns))
    placed = chosen.join(
        slices.with_row_index(BY), on=keys, how="left", nulls_equal=True, maintain_order="left"
    )
    return slices.rows(), placed[BY].cast(pl.Int64).to_numpy()


class Slices(Struct, frozen=True):
    """The questions grouped by the values of an attribute."""

    attribute: str
    names: list[str]
    slice_of: IntArray

    @property
    def sizes(self) -> IntArray:
        return np.bincount(self.slice_of[self.slice_of >= 0], minlength=len(self.names))

    def sums(self, table: Array) -> Array:
        """Sums over each slice of numbers that every question has: questions × k to slices × k."""
        inside = self.slice_of >= 0
        columns = [
            np.bincount(self.slice_of[inside], column[inside], minlength=len(self.names))
            for column in table.T
        ]
        return np.stack(columns, axis=-1)


def slices_of(questions: pl.DataFrame, attribute: str) -> Slices:
    """The slices by an attribute, in natural order; questions without a value are in none."""
    column = cells(questions, attribute).cast(pl.String)
    column = column.set(column == "", None)
    names = sorted(column.drop_nulls().unique().to_list(), key=natural_key)
    places = column.cast(pl.Enum(names)).to_physical().cast(pl.Int64)
    return Slices(attribute, names, places.fill_null(-1).to_numpy())


def natural_key(text: str) -> tuple[tuple[int, float, str], ...]:
    """A sort key by which test 2 comes before test 10."""
    pieces = re.split(r"(\d+)", text)
    return tuple((0, float(p), "") if p.isdecimal() else (1, 0.0, p) for p in pieces if p)


def cluster_numbers(questions: pl.DataFrame, attribute: str) -> IntArray:
    """A number for each cluster; a question without a value is alone in its cluster."""
    numbers = slices_of(questions, attribute).slice_of.copy()
    alone = numbers < 0
    numbers[alone] = numbers.max(initial=-1) + 1 + np.arange(int(alone.sum()))
    return numbers
