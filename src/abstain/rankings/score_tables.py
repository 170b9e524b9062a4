"""Tables of per-topic scores: a column a system, or a row a run and topic as `rank` writes them."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from abstain.errors import InputError, UsageError, check_name, option, plural, shown
from abstain.io.files import bare_name
from abstain.io.frames import check_mapping, collect, into_lazy, open_table, rename
from abstain.io.tables import ROW, Table, cells, col, exact
from abstain.rankings.scores import ScoreMatrix
from abstain.rankings.tables import refuse
from abstain.reading import Reading

if TYPE_CHECKING:
    from abstain.measures.ranked_lists import Floats, Ints

RUNS = ("run", "system")  # what the column of runs is called
LARGEST = 1e100  # sums, squares and cubes of scores within it are numbers
NO_SCORE = ("", "-", "–", "na", "n/a", "nan", "null", "none")  # what a cell says that has no score
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
"""What else `rank` says of each query, in its frames."""
FEWEST_IDS = 3
"""So many whole numbers that are all different look like ids, if no other column's do."""


def read_scores(
    data: Any,
    *,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    cluster: str | None = None,
) -> ScoreMatrix:
    """Read per-topic scores: paths or dataframes in one of two shapes.

    A table with a column a system and a row a topic is one measure, called as its file or as its
    key in a mapping. A table with the columns run and query (topic, question), as `rank
    --per-query` writes it in CSV or JSONL, has a column a measure. A cell that is empty,
    `-` or NA is missing. Several tables are cut down to the systems and topics that all have.

    `columns` may name the column of topics and of runs: {"question": "qid"}. `cluster` is the
    column whose values make clusters of topics.
    """
    columns = dict(columns or {})
    for known in columns:
        if known not in (*UNITS, *RUNS):
            names = "question=COLUMN and run=COLUMN"
            raise UsageError(f"of a table of scores, only {names} can be named (got '{known}')")
    opened = [
        (name, rename(open_table(each, name=name or "scores", format=format), columns, side="run"))
        for name, each in _tables_by_name(data)
    ]
    check_mapping(columns, [table for _, table in opened])
    tables = [_read_table(table, name, columns, cluster) for name, table in opened]
    reading = Reading.of(columns=columns, format=format, cluster=cluster)
    return replace(_joined(tables), cluster=cluster, reading=reading)


def _tables_by_name(data: Any) -> list[tuple[str, Any]]:
    if isinstance(data, Mapping):
        return [(str(name), table) for name, table in data.items()]
    several = isinstance(data, Sequence) and not isinstance(data, (str, bytes))
    tables = list(data) if several else [data]
    unnamed = "score" if len(tables) == 1 else "measure {}"
    return [
        (bare_name(each) if isinstance(each, (str, os.PathLike)) else unnamed.format(number), each)
        for number, each in enumerate(tables, 1)
    ]


def _joined(tables: Sequence[ScoreMatrix]) -> ScoreMatrix:
    if not tables:
        raise UsageError("there is no table of scores")
    first = tables[0]
    measures = [measure for table in tables for measure in table.measures]
    for name in measures:
        if measures.count(name) > 1:
            twice = f"two tables have a measure '{name}'"
            raise UsageError(f"{twice}, expected each measure in one table")
    notes = [note for table in tables for note in table.notes]
    runs = _common([table.runs for table in tables], "system", notes)
    if len(runs) < 2:
        where = f" in all {len(tables)} tables" if len(tables) > 1 else ""
        systems = plural(len(runs), "system")
        raise InputError(f"has {systems} with scores{where}, expected at least 2", first.source)
    topics = _common([table.topics for table in tables], "topic", notes)
    if not topics:
        raise InputError("the tables have no topic in common")
    places = [(_places(runs, t.runs)[:, None], _places(topics, t.topics)) for t in tables]
    values = [t.values[:, *at] for t, at in zip(tables, places, strict=True)]
    undefined = [t.undefined[:, *at] for t, at in zip(tables, places, strict=True)]
    return replace(
        first,
        measures=tuple(measures),
        higher_is_better=(),
        runs=tuple(runs),
        topics=tuple(topics),
        values=np.concatenate(values),
        undefined=np.concatenate(undefined),
        attributes=first.attributes[places[0][1]] if first.attributes.width else first.attributes,
        notes=tuple(notes),
    )


def _common(names: Sequence[Sequence[str]], what: str, notes: list[str]) -> list[str]:
    """The names that all tables have; the others are noted."""
    shared, seen = set(names[0]).intersection(*names), len(set().union(*names))
    if left := seen - len(shared):
        notes.append(f"left out: {left:,} of {plural(seen, what)}, not in every table")
    return [name for name in names[0] if name in shared]


def _places(names: Iterable[str], among: Iterable[str]) -> Ints:
    place = {name: at for at, name in enumerate(among)}
    return np.array([place[name] for name in names], np.int64)


def _read_table(
    table: Table, name: str, mapped: Collection[str], cluster: str | None
) -> ScoreMatrix:
    frame = collect(into_lazy(table.frame), table.name)
    for column, dtype in frame.schema.items():
        if dtype.is_nested():
            raise InputError(f"column {shown(column)} holds {dtype}, expected scores", table.name)
    frame = frame if ROW in frame.columns else frame.with_row_index(ROW)
    if cluster is not None:
        check_name("column", cluster, table.columns)
    ids = [c for c in frame.columns if TOPICS.fullmatch(c.strip().lower())]
    ids.sort(key=lambda c: (c not in mapped, c not in UNITS))  # the plainest names first
    runs = _runs_column(frame, ids, mapped)
    if runs is not None and not ids:
        which = option("columns", {"question": "COLUMN"})
        have = ", ".join(table.columns)
        raise InputError(f"lacks a column of topics, named by {which} (it has {have})", table.name)
    if not ids and not (ids := _first_if_topics(frame, cluster, table)):
        frame, ids = frame.with_columns(pl.int_range(1, pl.len() + 1).alias(UNITS[0])), [UNITS[0]]
    is_rank = set(FLAGS) <= set(frame.columns)
    if runs is not None and RANK in frame.columns:
        is_mean = col(ids[0]).cast(pl.String).str.strip_chars("()") == ALL
        frame = frame.filter(~is_mean | pl.col(RANK).cast(pl.String).is_null())
        frame, is_rank = frame.drop(RANK, COUNT, strict=False), True
    names = ids[:1] if runs is None else [ids[0], runs]
    for column in names:
        frame = _with_ids(frame, column, table)
    _refuse_twice(frame, names, table)
    scores = _scores(frame, {ROW, cluster, *ids, *names}, table)
    others = [c for c in frame.columns if c not in (ROW, *names, *scores)]
    topics = frame.unique(exact(ids[0]), maintain_order=True, keep="first")
    matrix = ScoreMatrix(
        measures=(name,),
        runs=tuple(scores),
        topics=tuple(topics[ids[0]]),
        values=np.stack(list(scores.values()))[None],
        attributes=topics.select(col(c).cast(pl.String) for c in others),
        unit=ids[0] if ids[0] in UNITS else UNITS[0],
        source=table.name,
    )
    if runs is not None:
        return _by_run(matrix, frame[ids[0]].to_list(), frame[runs].to_list(), known=is_rank)
    notes = (
        f"column {shown(column)} of {table.name} does not hold scores and is left out"
        for column in others
        if column != cluster
    )
    return replace(matrix, notes=tuple(notes))


def _by_run(
    rows: ScoreMatrix, topics: Sequence[str], runs: Sequence[str], *, known: bool
) -> ScoreMatrix:
    """The matrix of rows by topic and run; `known`: a row without a score says it is undefined."""
    systems = tuple(dict.fromkeys(runs))
    places = _places(runs, systems), _places(topics, rows.topics)
    values = np.full((len(rows.runs), len(systems), len(rows.topics)), np.nan)
    values[:, *places] = rows.values[0]
    there = np.zeros(values.shape[1:], bool)
    there[places] = known
    undefined = np.isnan(values) & there
    rows = replace(rows, measures=rows.runs, higher_is_better=())
    return replace(rows, runs=systems, values=values, undefined=undefined)


def _runs_column(frame: pl.DataFrame, ids: list[str], mapped: Collection[str]) -> str | None:
    """The column that names the runs, where there is one; a system may be called "run" too."""
    columns = [c for c in RUNS if c in frame.columns]
    if chosen := [c for c in columns if c in mapped]:
        return chosen[0]
    repeated = bool(ids) and bool(cells(frame, ids[0]).is_duplicated().any())
    return next((c for c in columns[:1] if repeated or _is_word(frame[c]).any()), None)


def _first_if_topics(frame: pl.DataFrame, cluster: str | None, table: Table) -> list[str]:
    """The first column, if it holds words; one that may be ids or scores is refused."""
    frame = frame.select(col(c) for c in frame.columns if c not in (ROW, cluster))
    first = frame.columns[0]
    words = _is_word(frame[first])
    if len(words) and words.all():
        return [first]
    ids = []
    for name in frame.columns:
        values = cells(frame, name).cast(pl.Float64, strict=False)
        whole = (values == values.round()).fill_null(value=False).all()
        if whole and len(values) >= FEWEST_IDS and values.n_unique() == len(values):
            ids.append(name)
    if ids == [first]:
        what = f"column {shown(first)} may hold scores or topic numbers"
        how = f"if numbers, use {option('columns', {'question': first})}; if scores, add a column"
        raise InputError(f"{what}: {how} called topic", table.name)
    return []


def _scores(frame: pl.DataFrame, aside: Collection[str | None], table: Table) -> dict[str, Floats]:
    every = {c: _numbers(frame[c], table, frame) for c in frame.columns if c not in aside}
    if scores := {column: numbers for column, numbers in every.items() if numbers is not None}:
        return scores
    raise InputError("has no column of scores", table.name)


def _is_word(column: pl.Series) -> pl.Series:
    """Of the cells that hold something, whether each is no number."""
    if column.dtype != pl.String:
        return pl.Series([], dtype=pl.Boolean)
    return _cells(column).drop_nulls().cast(pl.Float64, strict=False).is_null()


def _cells(column: pl.Series) -> pl.Series:
    """The text of cells, null where one says that there is no score."""
    text = column.alias("").str.strip_chars()  # whose methods would read some names
    return text.set(text.str.to_lowercase().is_in(NO_SCORE), None)


def _numbers(column: pl.Series, table: Table, frame: pl.DataFrame) -> Floats | None:
    """A column's scores, NaN where there is none; None: it holds words, or yes and no."""
    if column.dtype == pl.Boolean or column.dtype.is_temporal():
        return None
    text = _cells(column) if column.dtype == pl.String else column.alias("")
    values = text.cast(pl.Float64, strict=False)
    bad = values.is_null() & text.is_not_null()
    if bad.any() and values.is_null().all():
        return None
    bad |= ((values.abs() > LARGEST) & ~values.is_nan()).fill_null(value=False)
    what = f"a score of {shown(column.name)} must be a number within ±{LARGEST:g}"
    refuse(table, frame, bad, what, column)
    return np.asarray(values.fill_null(float("nan")).to_numpy(), np.float64)


def _with_ids(frame: pl.DataFrame, column: str, table: Table) -> pl.DataFrame:
    texts = frame[column].alias("").cast(pl.String)
    empty = texts.is_null() | (texts.str.strip_chars() == "")
    refuse(table, frame, empty, f"column {shown(column)} is empty, expected a name")
    return frame.with_columns(texts.alias(column))


def _refuse_twice(frame: pl.DataFrame, names: Sequence[str], table: Table) -> None:
    twice = frame.filter(~pl.struct(*map(col, names)).is_first_distinct())
    if twice.height:
        of_run = "".join(f" for {shown(twice[name][0])}" for name in names[1:])
        problem = f"topic {shown(twice[names[0]][0])} appears twice{of_run}"
        raise InputError(problem, table.place(twice[ROW][0]))
