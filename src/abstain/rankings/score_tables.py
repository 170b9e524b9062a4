"""One table of per-topic scores: a column a system, or a row a run and topic as `rank` writes them.

Both shapes are read alike: the same names for the column of topics, the same cells that mean
"no score", the same bounds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import polars as pl

from abstain.errors import InputError, UnknownNameError, UsageError, option, shown
from abstain.io.files import BOM, open_plain
from abstain.io.frames import collect, into_lazy, open_table
from abstain.io.names import cells, col, exact
from abstain.io.tables import ROW, Table

if TYPE_CHECKING:
    from abstain.measures.ranked_lists import Bools, Floats, Ints

RUNS = ("run", "system")
"""What the column of runs is called."""
LARGEST = 1e100
"""Sums, squares and cubes of scores within it are numbers."""
NO_SCORE = ("", "-", "–", "na", "n/a", "nan", "null", "none")
"""What a cell says that has no score."""
UNITS = ("topic", "query", "question")
"""What the column of topics is called at best; scores then speak of topics by that word."""
TOPICS = re.compile(
    r"(topic|question|query|item|instance)s?[\W_]*(id|no|nr|num|number|name|key)?s?"
    r"|[qt]?[\W_]*id|unnamed: 0|"
)
"""What else a column of topics is called, in lower case."""
RANK, ALL, COUNT = "#", "all", "queries"
"""In what `rank` writes: the rank of a mean, the mean's name in place of a query's (in brackets
where a query is called so), and how many queries it is over."""
FLAGS = ("nil", "missing", "truncated")
"""What else `rank` says of each query, in its JSON and its frames."""
IDS = 3
"""So many whole numbers that are all different look like ids, if no other column's do."""
RANK_RESULT = re.compile(rb'\s*\{\s*"(kind|abstain)"')
OF_RANK = re.compile(rb'"kind"\s*:\s*"rank"')


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns a caller named."""

    topics: str | None = None
    unit: str = UNITS[0]
    runs: str | None = None
    cluster: str | None = None

    @classmethod
    def of(cls, mapping: Mapping[str, str], cluster: str | None) -> Columns:
        """From known names to actual ones; of scores only topics and runs can be named."""
        named = {known.rpartition(":")[2]: actual for known, actual in mapping.items()}
        for known in named:
            if known not in (*UNITS, *RUNS):
                raise UsageError(
                    "in a table of scores only the columns of topics and of runs can be named: "
                    f"question=COLUMN, run=COLUMN (got '{known}')"
                )
        unit = next((u for u in UNITS if u in named), None)
        runs = next((named[r] for r in RUNS if r in named), None)
        return cls(named[unit] if unit else None, unit or UNITS[0], runs, cluster)


@dataclass(frozen=True, slots=True)
class Given:
    """The scores of one table."""

    name: str
    measures: list[str] | None
    """None: all are of one measure, which the table does not name."""
    runs: list[str]
    topics: list[str] | None
    """None: they are known by their rows alone."""
    values: Floats
    """Measures × runs × topics, NaN where there is no score."""
    undefined: Bools
    """Which of those are known to be undefined: `rank` has the row, and no score in it."""
    attributes: pl.DataFrame
    """What else the table says of each topic, as text."""
    unit: str
    notes: list[str]


def open_scores(data: Any, *, name: str = "", format: str | None = None) -> Table:
    """A table, or a result that `rank --per-query` saved as JSON."""
    if format is None and isinstance(data, (str, os.PathLike)):
        opened = open_plain(data)
        head = opened.head().removeprefix(BOM)
        if RANK_RESULT.match(head) and OF_RANK.search(head):
            with opened.stream() as file:
                return _table_of_result(file.read(), opened.name)
        return open_table(os.fspath(data))
    return open_table(data, name=name or "scores", format=format)


class _Row(msgspec.Struct):
    run: str
    query: str
    scores: dict[str, float | None]
    slice: dict[str, str | None] = {}
    nil: bool = False
    missing: bool = False
    truncated: bool = False


class _Saved(msgspec.Struct):
    per_query: list[_Row] = []


def _table_of_result(text: bytes, name: str) -> Table:
    """A saved result of `rank` as the rows that its CSV has."""
    try:
        single = msgspec.json.decode(text.removeprefix(BOM), type=_Saved).per_query
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(f"is not a complete result of `abstain rank`: {error}", name) from None
    if not single:
        raise InputError(
            "has no scores of single queries: `abstain rank --per-query` has them", name
        )
    names = list(dict.fromkeys(n for row in single for n in row.scores))
    slices = list(dict.fromkeys(n for row in single for n in row.slice))
    texts = {
        "run": [row.run for row in single],
        "query": [row.query for row in single],
        **{n: [row.slice.get(n) for row in single] for n in slices},
    }
    frame = pl.DataFrame(texts, schema=dict.fromkeys(texts, pl.String)).with_columns(
        *(pl.Series(n, [getattr(row, n) for row in single]) for n in FLAGS if n not in slices),
        *(pl.Series(n, [row.scores.get(n) for row in single], pl.Float64) for n in names),
    )
    return Table(name, "json", tuple(frame.columns), frame.lazy())


def read_given(table: Table, named: Columns) -> Given:
    """The scores of a table, in whichever of its two shapes they are."""
    frame = collect(into_lazy(table.frame), table.name)
    frame = frame.drop(ROW) if ROW in frame.columns else frame
    if frame.is_empty():
        raise InputError("has no rows, expected one topic per row", table.name)
    if named.cluster is not None and named.cluster not in frame.columns:
        there_are = f"there are {', '.join(frame.columns)}"
        raise UnknownNameError("column", named.cluster, frame.columns, hint=there_are)
    runs = _runs_column(frame, named)
    if runs is not None:
        return _from_rows(frame, runs, named, table)
    return _from_columns(frame, named, table)


# --------------------------------------------------------------------------- a column a system


def _from_columns(frame: pl.DataFrame, named: Columns, table: Table) -> Given:
    key = named.topics
    if key not in frame.columns:
        aside = [exact(named.cluster)] if named.cluster else []
        key = _topics_column(frame.drop(aside), table)
    topics = None if key is None else _ids(frame[key], table)
    if topics is not None:
        twice = ~pl.Series(topics).is_first_distinct()
        if twice.any():
            row = int(twice.arg_true()[0])
            raise InputError(f"topic {shown(topics[row])} appears twice", table.place(row))
    scores, others = _scores_and_others(frame, [key, named.cluster, *_called_topics(frame)], table)
    if not scores:
        raise InputError("has no column of scores, expected one system per column", table.name)
    notes = [
        f"column {shown(column)} of {table.name} does not hold scores and is left out"
        for column in others
        if column not in (key, named.cluster)
    ]
    return Given(
        table.name,
        None,
        list(scores),
        topics,
        np.stack(list(scores.values()))[None],
        np.zeros((1, len(scores), frame.height), bool),
        _as_texts(frame, [c for c in others if c != key]),
        _unit(key, named),
        notes,
    )


def _topics_column(frame: pl.DataFrame, table: Table) -> str | None:
    """The column that names the topics: by its name, or the first if it holds words.

    What could be either is refused: numbers among words may be scores with a slip of the pen, and
    whole numbers that are all different may be ids.
    """
    if called := _called_topics(frame):
        return called[0]
    first = frame.columns[0]
    words = _no_numbers(frame[first])
    if words.any() and words.all():
        return first
    if words.any():
        row = int(words.fill_null(value=False).arg_max() or 0)
        raise InputError(
            f"the score of {shown(first)} is {shown(str(frame[first][row]))}, expected a number "
            f"(if the column names topics: {option('columns', {'question': first})})",
            table.place(row),
        )
    if _like_ids(cells(frame, first)) and not any(
        _like_ids(cells(frame, c)) for c in frame.columns[1:]
    ):
        raise InputError(
            f"column {shown(first)} may hold scores or topic numbers: if it holds topic numbers, "
            f"use {option('columns', {'question': first})}; if it holds scores, add a column "
            "called topic",
            table.name,
        )
    return None


def _called_topics(frame: pl.DataFrame) -> list[str]:
    """Columns whose name says that they name topics, the plainest names first."""
    found = [c for c in frame.columns if TOPICS.fullmatch(c.strip().lower())]
    return sorted(found, key=lambda c: c not in UNITS)


def _like_ids(column: pl.Series) -> bool:
    """Whether all cells are whole numbers, and different ones."""
    try:
        values = column.cast(pl.Float64, strict=False)
    except pl.exceptions.PolarsError:
        return False
    whole = (values == values.round()).fill_null(value=False).all()
    return whole and len(values) >= IDS and values.n_unique() == len(values)


# ------------------------------------------------------------------------ a row a run and topic


def _runs_column(frame: pl.DataFrame, named: Columns) -> str | None:
    """The column that names the runs, where there is one; a system may be called "run" too."""
    if named.runs in frame.columns:
        return named.runs
    called = next((c for c in RUNS if c in frame.columns), None)
    if called is None:
        return None
    key = _key_of_rows(frame, named)
    repeated = key is not None and bool(cells(frame, key).is_duplicated().any())
    return called if repeated or _no_numbers(frame[called]).any() else None


def _key_of_rows(frame: pl.DataFrame, named: Columns) -> str | None:
    if named.topics in frame.columns:
        return named.topics
    return next(iter(_called_topics(frame)), None)


def _from_rows(frame: pl.DataFrame, runs: str, named: Columns, table: Table) -> Given:
    key = _key_of_rows(frame, named)
    if key is None:
        raise InputError(
            "has a column of runs, but none that is known to name the topics; say which one does: "
            f"{option('columns', {'question': 'COLUMN'})} "
            f"(its columns: {', '.join(frame.columns)})",
            table.name,
        )
    frame = frame.with_row_index(ROW)
    aside = [key, runs, ROW, *_called_topics(frame)]
    if RANK in frame.columns:
        is_mean = col(key).cast(pl.String).str.strip_chars("()") == ALL
        frame = frame.filter(~is_mean | pl.col(RANK).cast(pl.String).is_null())
        aside += [RANK, COUNT]
    for column in (key, runs):
        frame = frame.with_columns(pl.Series(column, _ids(frame[column], table, frame[ROW])))
    twice = frame.filter(~pl.struct(col(runs), col(key)).is_first_distinct())
    if twice.height:
        said = f"topic {shown(twice[key][0])} appears twice for {shown(twice[runs][0])}"
        raise InputError(said, table.place(twice[ROW][0]))
    scores, others = _scores_and_others(frame, [*aside, named.cluster], table)
    if not scores:
        raise InputError("has no column of scores, expected one beside run and topic", table.name)
    systems = cells(frame, runs).unique(maintain_order=True).to_list()
    topics = frame.unique(exact(key), maintain_order=True, keep="first")
    names = topics[key].to_list()
    values = np.full((len(scores), len(systems), len(names)), np.nan)
    places = _places(frame[runs], systems), _places(frame[key], names)
    for number, own in enumerate(scores.values()):
        values[number][places] = own
    there = np.zeros(values.shape[1:], bool)
    there[places] = RANK in frame.columns or set(FLAGS) <= set(frame.columns)
    left = [c for c in others if c not in (key, runs, ROW, RANK, COUNT)]
    return Given(
        table.name,
        list(scores),
        systems,
        names,
        values,
        np.isnan(values) & there,
        _as_texts(topics, left),
        _unit(key, named),
        [],
    )


def _places(texts: pl.Series, among: list[str]) -> Ints:
    return texts.alias("").cast(pl.Enum(among)).to_physical().cast(pl.Int64).to_numpy()


def _unit(key: str | None, named: Columns) -> str:
    if key is not None and key == named.topics:
        return named.unit
    return key if key in UNITS else UNITS[0]


# ---------------------------------------------------------------------------------------- cells


def _scores_and_others(
    frame: pl.DataFrame, aside: Collection[str | None], table: Table
) -> tuple[dict[str, Floats], list[str]]:
    """The columns of scores, and the names of all others."""
    rows = frame[ROW] if ROW in frame.columns else None
    scores: dict[str, Floats] = {}
    for column in frame.columns:
        if column in aside:
            continue
        own = _numbers(frame[column], table, rows)
        if own is not None:
            scores[column] = own
    return scores, [c for c in frame.columns if c not in scores]


def _no_numbers(column: pl.Series) -> pl.Series:
    """Of the cells that are not empty, whether each is no number."""
    if column.dtype != pl.String:
        return pl.repeat(value=False, n=len(column), eager=True)
    text = _cells(column)
    return text.cast(pl.Float64, strict=False).is_null().set(text.is_null(), None)


def _cells(column: pl.Series) -> pl.Series:
    """The text of cells, null where one says that there is no score."""
    text = column.alias("").str.strip_chars()  # whose methods would read some names
    return text.set(text.str.to_lowercase().is_in(NO_SCORE), None)


def _numbers(column: pl.Series, table: Table, rows: pl.Series | None) -> Floats | None:
    """A column's scores, NaN where there is none; None: it holds words, or yes and no."""
    if column.dtype.is_nested():
        raise InputError(
            f"column {shown(column.name)} holds {column.dtype}, expected scores", table.name
        )
    if column.dtype == pl.Boolean or column.dtype.is_temporal():
        return None
    text = _cells(column) if column.dtype == pl.String else column.alias("")
    values = text.cast(pl.Float64, strict=False)
    bad = values.is_null() & text.is_not_null()
    if bad.any() and values.is_null().all():
        return None
    boundless = (values.abs() > LARGEST).fill_null(value=False) & ~values.is_nan()
    for wrong, what in ((bad, "a number"), (boundless, f"a number within ±{LARGEST:g}")):
        if wrong.any():
            at = int(wrong.arg_true()[0])
            raise InputError(
                f"the score of {shown(column.name)} is {shown(str(column[at]))}, expected {what}",
                table.place(at if rows is None else rows[at]),
            )
    return np.asarray(values.fill_null(float("nan")).to_numpy(), np.float64)


def _ids(column: pl.Series, table: Table, rows: pl.Series | None = None) -> list[str]:
    """The names in a column, none of them empty."""
    texts = column.alias("").cast(pl.String)
    empty = texts.is_null() | (texts.str.strip_chars() == "")
    if empty.any():
        at = int(empty.arg_true()[0])
        what = "run" if column.name in RUNS else "topic"
        raise InputError(
            f"column {shown(column.name)} is empty here, expected the name of a {what}",
            table.place(at if rows is None else rows[at]),
        )
    return texts.to_list()


def _as_texts(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    if not columns:
        return pl.DataFrame(height=frame.height)
    return frame.select(col(name).cast(pl.String) for name in columns)
