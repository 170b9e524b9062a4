"""The gold: questions and what is right, small and held in memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import InputError, Place, UsageError, nearest, shown
from abstain.io.columns import is_odd_moment, require_all, text_column, text_columns
from abstain.io.files import open_plain
from abstain.io.frames import collect, open_table, rename
from abstain.io.names import col, column_of
from abstain.io.tables import FORMATS, ROW, UNTOLD, Table, sniff
from abstain.judging.aliases import GOLD as QUESTIONS
from abstain.judging.aliases import recognised
from abstain.judging.opening import gold_of_folder, is_path
from abstain.judging.reading import Reading
from abstain.judging.responses import OF_A_RUN, PLAIN

NONE_WORDS = ("none", "None", "NONE", "nil", "Nil", "NIL")
"""Answers that claim that no answer exists: right where the gold has none."""
SPLIT = "|"
"""Separates several accepted answers (and options) in one cell."""
RESERVED = ("question", "correct", "options", "option_texts")
DERIVED = ("accepted", "nothing_right")
"""Columns that a gold is given when it is read."""
GOLD = "gold"
"""The attribute that says which gold a question is of, where several are read."""


class Gold(Struct, frozen=True):
    """The questions and what is right.

    `frame` has `question`, `accepted` (a list of texts; what no answer can match is never
    empty: where nothing is right it holds the words that say so), `nothing_right`, perhaps
    `options` and `option_texts`, and the attributes as text.
    """

    name: str
    frame: pl.DataFrame
    attributes: tuple[str, ...]
    table: Table
    verdicts: bool = False
    """Whether it is a log's: then the verdicts of logs count, and no answer is judged again."""
    golds: tuple[str, ...] = ()
    """What it was read from, by name: several golds may be one."""

    def __len__(self) -> int:
        return self.frame.height

    @property
    def without_answer(self) -> int:
        """Questions for which nothing is right."""
        return int(self.frame["nothing_right"].sum())

    def check_attributes(self, names: Sequence[str]) -> None:
        """Refuse an attribute that the gold lacks."""
        for name in names:
            if name not in self.attributes:
                found = nearest(name, self.attributes)
                have = ", ".join(self.attributes) or "none"
                hint = f"nearest: {', '.join(found)}" if found else f"its attributes: {have}"
                raise UsageError(f"{self.name} has no attribute '{name}' ({hint})")


def read_gold(data: Any, reading: Reading = PLAIN, *, answers: bool = True) -> Gold:
    """Read a gold standard: `question`, `correct`, and any attributes.

    Where no `answers` are needed, it may be the test set that participants have, without `correct`.
    """
    reading = _for_gold(data, reading)
    if is_path(data) and os.path.isdir(data):
        data = gold_of_folder(os.fspath(data), reading)
    table = open_table(data, name="gold", format=reading.format, pick=reading.pick)
    is_log = table.verdicts is not None
    if is_log:
        table = questions_of(table)
    table = recognised(rename(table, reading.columns, side="gold"), QUESTIONS)
    if not answers and "correct" not in table.columns:
        bare = nw.from_native(table.frame).with_columns(correct=nw.lit(""))
        table = replace(table, frame=bare.to_native(), columns=(*table.columns, "correct"))
    require_all(
        table,
        {
            "question": "which names each question",
            "correct": "which holds the right answer (empty: there is none)",
        },
        side="gold",
    )
    for name in set(table.columns) & set(DERIVED):
        raise InputError(
            f"column '{name}' has a reserved name; an attribute needs another name",
            Place(table.name, 1 if table.format in ("csv", "tsv") else None),
        )
    lazy = nw.from_native(table.frame)
    schema = lazy.collect_schema()
    attributes = tuple(c for c in table.columns if c not in RESERVED and not schema[c].is_nested())
    lists = [
        nw.col(c) if schema[c] in (nw.List, nw.Array) else text_column(lazy, c, table.name).alias(c)
        for c in ("correct", "options", "option_texts")
        if c in table.columns
    ]
    chosen = lazy.select(
        *text_columns(lazy, ["question"], table.name),
        *lists,
        *(_attribute(lazy, c, table.name) for c in attributes),
    )
    frame = collect(chosen, table.name)
    if ROW not in frame.columns:
        frame = frame.with_row_index(ROW)
    if frame.is_empty():
        raise InputError("has no questions", table.name)
    _check_ids(frame, table)
    for name in LISTS:
        if name in frame.columns:
            _refuse_nested(frame[name].dtype, name, table.name)
    accepted = _as_list(frame, "correct")
    frame = frame.with_columns(accepted.alias("accepted")).with_columns(
        nothing_right=pl.col("accepted").list.len() == 0
    )
    nothing = pl.lit(pl.Series([list(NONE_WORDS)])).first()
    frame = frame.with_columns(
        accepted=pl.when("nothing_right").then(nothing).otherwise("accepted"),
        **({"options": _as_list(frame, "options")} if "options" in frame.columns else {}),
        **({"option_texts": _as_texts(frame)} if "option_texts" in frame.columns else {}),
    ).drop("correct")
    return Gold(table.name, frame, attributes, table, verdicts=is_log, golds=(table.name,))


def joined_gold(golds: Sequence[Gold]) -> Gold:
    """Several golds as one, whose attribute `gold` says which each question is of."""
    first = golds[0]
    if len(golds) == 1:
        return first
    names: list[str] = []
    for gold in golds:
        if GOLD in gold.attributes:
            raise InputError(
                f"column '{GOLD}' has a name that is reserved when several golds are read; "
                "an attribute needs another name",
                gold.name,
            )
        names.append(gold.name if gold.name not in names else f"{gold.name} {len(names) + 1}")
    frame = pl.concat(
        [
            own.frame.with_columns(pl.lit(n).alias(GOLD))
            for own, n in zip(golds, names, strict=True)
        ],
        how="diagonal_relaxed",
    )
    again = frame.filter(pl.col("question").is_duplicated()).sort("question")
    if again.height:
        one, other = again[GOLD][:2]
        raise UsageError(
            f"question {shown(again['question'][0])} is in both golds, {one} and {other}: a "
            "question belongs in one"
        )
    attributes = tuple(dict.fromkeys(a for own in golds for a in own.attributes))
    notes = tuple(dict.fromkeys(note for own in golds for note in own.table.notes))
    return replace(
        first,
        frame=frame,
        attributes=(*attributes, GOLD),
        table=replace(first.table, notes=notes),
        verdicts=all(own.verdicts for own in golds),
        golds=tuple(names),
    )


def _for_gold(data: Any, reading: Reading) -> Reading:
    """How the gold is read: runs may be some tool's logs while their gold is a table."""
    plain = replace(reading, detect_refusals=(), engine=None, master=None)
    if reading.format in (None, *FORMATS) and not reading.pick:
        return plain  # without a look at the readers of logs, which takes time
    from abstain.io.readers import READERS

    reader = READERS.get(reading.format or "")
    of_runs = reader is not None and reader.sniff is not None
    if not (of_runs or (reading.format is None and reading.pick)) or "gold" in reading.pick:
        return plain
    if not is_path(data) or os.path.isdir(data):
        return plain
    found = sniff(open_plain(os.fspath(data)))
    if found in READERS and reading.format in (None, found):
        return plain
    return replace(plain, format=None, pick={})


def questions_of(log: Table) -> Table:
    """The questions of a log, each once, without what its run said."""
    frame = collect(nw.from_native(log.frame), log.name)
    kept = [c for c in frame.columns if c not in OF_A_RUN]
    first = frame.select(map(col, kept)).unique("question", keep="first", maintain_order=True)
    untold = pl.lit(pl.Series([[UNTOLD]])).first()
    known = pl.col("correct").fill_null(untold) if "correct" in kept else untold
    first = first.with_columns(correct=known)
    columns = tuple(c for c in first.columns if c != ROW)
    return replace(log, columns=columns, frame=first.lazy())


def _attribute(frame: nw.LazyFrame[Any], column: str, label: str) -> nw.Expr:
    """An attribute as text; an empty one is none, however its table writes that."""
    if is_odd_moment(frame.collect_schema()[column]):
        text = column_of(frame, column).cast(nw.String)  # no id that must be the same elsewhere
    else:
        text = text_column(frame, column, label, trim=True)
    return nw.when(text != "").then(text).alias(column)


LISTS = ("correct", "options", "option_texts")
"""Columns that may hold several texts in a cell."""


def _refuse_nested(dtype: pl.DataType, column: str, label: str) -> None:
    inner = dtype.inner if isinstance(dtype, (pl.List, pl.Array)) else dtype
    if inner.is_nested() or inner in (pl.Binary, pl.Object):
        raise InputError(
            f"column '{column}' holds {dtype}, expected a text or a list of texts per row", label
        )


def _as_list(frame: pl.DataFrame, column: str) -> pl.Series:
    """A cell as a list of non-empty trimmed texts; a text cell is split at `|`."""
    values = frame[column]
    if values.dtype == pl.String:
        values = values.fill_null("").str.split(SPLIT)
    values = values.cast(pl.List(pl.String)).fill_null([])
    trimmed = values.list.eval(pl.element().str.strip_chars())
    return trimmed.list.eval(pl.element().filter(pl.element().fill_null("") != ""))


def _as_texts(frame: pl.DataFrame) -> pl.Series:
    """The options' texts: lists, or a JSON list in each cell (a text may hold any separator)."""
    values = frame["option_texts"]
    if values.dtype == pl.String:
        as_json = values.str.starts_with("[").fill_null(value=False)
        if as_json.all():
            try:
                return values.str.json_decode(pl.List(pl.String))
            except pl.exceptions.PolarsError:
                pass
        values = values.fill_null("").str.split(SPLIT)
    return values.cast(pl.List(pl.String)).fill_null([])


def _check_ids(frame: pl.DataFrame, table: Table) -> None:
    blank = frame.filter(pl.col("question").is_null() | (pl.col("question") == ""))
    if blank.height:
        raise InputError("a question has no id", table.place(blank[ROW][0]))
    twice = frame.filter(pl.col("question").is_duplicated())
    if twice.height:
        question = twice["question"][0]
        rows = twice.filter(pl.col("question") == question)[ROW]
        raise InputError(
            f"question {shown(question)} appears twice (first: {table.place(rows[0])})",
            table.place(rows[1]),
        )
