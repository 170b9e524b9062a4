"""Tables of per-topic scores: a column a system, or a row a run and topic as `rank` writes them.

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

from abstain.errors import InputError, UnknownNameError, UsageError, option, plural, shown
from abstain.io.files import BOM, bare_name, open_file
from abstain.io.frames import check_mapping, collect, into_lazy, open_table
from abstain.io.tables import ROW, Table, cells, col, exact
from abstain.rankings.scores import ScoreMatrix

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
FEWEST_IDS = 3
"""So many whole numbers that are all different look like ids, if no other column's do."""
RANK_RESULT = re.compile(rb'\s*\{\s*"(kind|abstain)"')
OF_RANK = re.compile(rb'"kind"\s*:\s*"rank"')


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns a caller chose."""

    topics: str | None = None
    unit: str = UNITS[0]
    runs: str | None = None
    cluster: str | None = None

    @classmethod
    def of(cls, mapping: Mapping[str, str], cluster: str | None) -> Columns:
        """From known names to actual ones; of scores only topics and runs can be named."""
        chosen = {known.rpartition(":")[2]: actual for known, actual in mapping.items()}
        for known in chosen:
            if known not in (*UNITS, *RUNS):
                raise UsageError(
                    "in a table of scores only the columns of topics and of runs can be named: "
                    f"question=COLUMN, run=COLUMN (got '{known}')"
                )
        unit = next((u for u in UNITS if u in chosen), UNITS[0])
        runs = next((chosen[r] for r in RUNS if r in chosen), None)
        return cls(chosen.get(unit), unit, runs, cluster)


@dataclass(frozen=True, slots=True)
class ScoreTable:
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
    --per-query` writes it in CSV, JSON or JSONL, has a column a measure. A cell that is empty,
    `-` or NA is missing. Several tables are cut down to the systems and topics that all have.

    `columns` may name the column of topics and of runs: {"question": "qid"}. `cluster` is the
    column whose values make clusters of topics.
    """
    opened = {name: _open(each, name, format) for name, each in _tables_by_name(data)}
    check_mapping(columns or {}, opened.values())
    chosen = Columns.of(columns or {}, cluster)
    tables = {name: _read_table(table, chosen) for name, table in opened.items()}
    notes = [note for each in tables.values() for note in each.notes]
    measures = _measures(tables)
    runs = _common_runs(list(tables.values()), notes)
    topics, rows = _common_topics(tables, notes)
    parts = [
        (each.values[:, at][:, :, rows[name]], each.undefined[:, at][:, :, rows[name]])
        for name, each in tables.items()
        for at in (_places(runs, each.runs),)
    ]
    first_name, first = next(iter(tables.items()))
    attributes = first.attributes
    return ScoreMatrix(
        measures=tuple(measures),
        runs=tuple(runs),
        topics=tuple(topics),
        values=np.concatenate([values for values, _ in parts]),
        undefined=np.concatenate([undefined for _, undefined in parts]),
        attributes=attributes[rows[first_name]] if attributes.width else attributes,
        cluster=cluster,
        unit=first.unit,
        source=first.name,
        notes=tuple(notes),
        reading={"columns": columns, "format": format, "cluster": cluster},
    )


# -------------------------------------------------------------------------------- several tables


def _tables_by_name(data: Any) -> list[tuple[str, Any]]:
    if isinstance(data, Mapping):
        pairs = [(str(name), table) for name, table in data.items()]
    else:
        several = isinstance(data, Sequence) and not isinstance(data, (str, bytes))
        tables = list(data) if several else [data]
        names = [
            bare_name(table)
            if isinstance(table, (str, os.PathLike))
            else ("score" if len(tables) == 1 else f"measure {k + 1}")
            for k, table in enumerate(tables)
        ]
        short = without_prefix(names)
        twice = next((n for n in short if short.count(n) > 1), None)
        if twice is not None:
            raise UsageError(
                f"two tables are called '{twice}', which would be the name of both measures; give "
                "the tables different names"
            )
        pairs = list(zip(short, tables, strict=True))
    if not pairs:
        raise UsageError("there is no table of scores")
    return pairs


def without_prefix(names: list[str]) -> list[str]:
    """Names of files that begin alike, without what they share; what is left begins with a letter.

    >>> without_prefix(["web_ap", "web_rr"]), without_prefix(["web_ndcg_10", "web_ndcg_20"])
    (['ap', 'rr'], ['ndcg_10', 'ndcg_20'])
    """
    if len(names) < 2:
        return names
    low, high = min(names), max(names)
    same = next((k for k, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    cuts = [at + 1 for at in range(same) if names[0][at] in "_-. "]
    for cut in reversed(cuts):
        if all(name[cut : cut + 1].isalpha() for name in names):
            return [name[cut:] for name in names]
    return names


def _measures(tables: Mapping[str, ScoreTable]) -> dict[str, str]:
    """Each measure, and the table that has it."""
    measures: dict[str, str] = {}
    for name, table in tables.items():
        for measure in table.measures or [name]:
            if measure in measures:
                raise UsageError(
                    f"'{measure}' is in {measures[measure]} and in {table.name}; a measure "
                    "belongs in one table"
                )
            measures[measure] = table.name
    return measures


def _common_runs(tables: Sequence[ScoreTable], notes: list[str]) -> list[str]:
    common = [run for run in tables[0].runs if all(run in table.runs for table in tables)]
    if len(common) < 2:
        systems = plural(len(common), "system")
        where = f" in all {len(tables)} tables" if len(tables) > 1 else ""
        raise InputError(f"has {systems} with scores{where}, expected at least 2", tables[0].name)
    _note_left_out(
        len({run for table in tables for run in table.runs}), len(common), "system", notes
    )
    return common


def _common_topics(
    tables: Mapping[str, ScoreTable], notes: list[str]
) -> tuple[list[str], dict[str, Ints]]:
    """The topics' names, and for each table the rows to take, in one order for all."""
    listed = [table.topics for table in tables.values() if table.topics is not None]
    if len(listed) < len(tables):
        sizes = {table.name: table.values.shape[2] for table in tables.values()}
        size = next(iter(sizes.values()))
        if set(sizes.values()) != {size}:
            counts = ", ".join(f"{name} {topics:,}" for name, topics in sizes.items())
            raise InputError(f"the tables have different numbers of topics ({counts})")
        numbered = [str(n + 1) for n in range(size)]
        return listed[0] if listed else numbered, {name: np.arange(size) for name in tables}
    every = [set(topics) for topics in listed]
    common = [topic for topic in listed[0] if all(topic in topics for topics in every)]
    if not common:
        raise InputError("the tables have no topic in common")
    _note_left_out(len(set().union(*every)), len(common), "topic", notes)
    return common, {name: _places(common, table.topics or []) for name, table in tables.items()}


def _note_left_out(seen: int, kept: int, what: str, notes: list[str]) -> None:
    if kept < seen:
        notes.append(f"left out: {seen - kept:,} of {plural(seen, what)}, not in every table")


def _places(names: Sequence[str], among: Sequence[str]) -> Ints:
    """Where each of some names stands among others."""
    place = {name: at for at, name in enumerate(among)}
    return np.array([place[name] for name in names], np.int64)


# ------------------------------------------------------------------- what `rank` saves as JSON


def _open(data: Any, name: str, format: str | None) -> Table:
    """A table, or a result that `rank --per-query` saved as JSON."""
    if format is None and isinstance(data, (str, os.PathLike)):
        opened = open_file(data)
        head = opened.head.removeprefix(BOM)
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
    frame = pl.DataFrame(
        [
            {"run": row.run, "query": row.query}
            | {flag: getattr(row, flag) for flag in FLAGS}
            | row.slice
            | row.scores
            for row in single
        ],
        infer_schema_length=None,
    )
    return Table(name, "json", tuple(frame.columns), frame.lazy())


# --------------------------------------------------------------------------- a column a system


def _read_table(table: Table, chosen: Columns) -> ScoreTable:
    """The scores of a table, in whichever of its two shapes they are."""
    frame = collect(into_lazy(table.frame), table.name)
    if frame.is_empty():
        raise InputError("has no rows, expected one topic per row", table.name)
    frame = frame if ROW in frame.columns else frame.with_row_index(ROW)
    if chosen.cluster is not None and chosen.cluster not in table.columns:
        there_are = f"there are {', '.join(table.columns)}"
        raise UnknownNameError("column", chosen.cluster, table.columns, hint=there_are)
    runs = _runs_column(frame, chosen)
    if runs is None:
        return _from_columns(frame, chosen, table)
    return _from_rows(frame, runs, chosen, table)


def _from_columns(frame: pl.DataFrame, chosen: Columns, table: Table) -> ScoreTable:
    key = chosen.topics
    if key not in frame.columns:
        aside = [ROW] if chosen.cluster is None else [ROW, exact(chosen.cluster)]
        key = _topics_column(frame.drop(aside), table)
    topics = None
    if key is not None:
        frame = _with_ids(frame, key, table)
        _refuse_twice(frame, [key], table)
        topics = frame[key].to_list()
    scores = _scores(frame, [ROW, key, chosen.cluster, *_topic_columns(frame)], table)
    others = [c for c in frame.columns if c not in (ROW, key) and c not in scores]
    return ScoreTable(
        table.name,
        None,
        list(scores),
        topics,
        np.stack(list(scores.values()))[None],
        np.zeros((1, len(scores), frame.height), bool),
        _as_texts(frame, others),
        _unit(key, chosen),
        [
            f"column {shown(column)} of {table.name} does not hold scores and is left out"
            for column in others
            if column != chosen.cluster
        ],
    )


def _topics_column(frame: pl.DataFrame, table: Table) -> str | None:
    """The column that names the topics: by its name, or the first if it holds words.

    What could be either is refused: numbers among words may be scores with a slip of the pen, and
    whole numbers that are all different may be ids.
    """
    if named := _topic_columns(frame):
        return named[0]
    first = frame.columns[0]
    named_so = option("columns", {"question": first})
    words = _is_word(frame[first])
    if words.any() and words.all():
        return first
    if words.any():
        row = int(words.fill_null(value=False).arg_max() or 0)
        raise InputError(
            f"the score of {shown(first)} is {shown(str(frame[first][row]))}, expected a number "
            f"(if the column names topics: {named_so})",
            table.place(row),
        )
    if _like_ids(cells(frame, first)) and not any(
        _like_ids(cells(frame, c)) for c in frame.columns[1:]
    ):
        raise InputError(
            f"column {shown(first)} may hold scores or topic numbers: if it holds topic numbers, "
            f"use {named_so}; if it holds scores, add a column called topic",
            table.name,
        )
    return None


def _topic_columns(frame: pl.DataFrame) -> list[str]:
    """Columns whose name says that they name topics, the plainest names first."""
    names = [c for c in frame.columns if TOPICS.fullmatch(c.strip().lower())]
    return sorted(names, key=lambda c: c not in UNITS)


def _like_ids(column: pl.Series) -> bool:
    """Whether all cells are whole numbers, and different ones."""
    try:
        values = column.cast(pl.Float64, strict=False)
    except pl.exceptions.PolarsError:
        return False
    whole = (values == values.round()).fill_null(value=False).all()
    return whole and len(values) >= FEWEST_IDS and values.n_unique() == len(values)


# ------------------------------------------------------------------------ a row a run and topic


def _runs_column(frame: pl.DataFrame, chosen: Columns) -> str | None:
    """The column that names the runs, where there is one; a system may be called "run" too."""
    if chosen.runs in frame.columns:
        return chosen.runs
    column = next((c for c in RUNS if c in frame.columns), None)
    if column is None:
        return None
    key = _key_of_rows(frame, chosen)
    repeated = key is not None and bool(cells(frame, key).is_duplicated().any())
    return column if repeated or _is_word(frame[column]).any() else None


def _key_of_rows(frame: pl.DataFrame, chosen: Columns) -> str | None:
    if chosen.topics in frame.columns:
        return chosen.topics
    return next(iter(_topic_columns(frame)), None)


def _from_rows(frame: pl.DataFrame, runs: str, chosen: Columns, table: Table) -> ScoreTable:
    key = _key_of_rows(frame, chosen)
    if key is None:
        raise InputError(
            "has a column of runs, but none that is known to name the topics; say which one does: "
            f"{option('columns', {'question': 'COLUMN'})} "
            f"(its columns: {', '.join(table.columns)})",
            table.name,
        )
    aside = [ROW, key, runs]
    if is_ranks := RANK in frame.columns:
        is_mean = col(key).cast(pl.String).str.strip_chars("()") == ALL
        frame = frame.filter(~is_mean | pl.col(RANK).cast(pl.String).is_null())
        aside += [RANK, COUNT]
    frame = _with_ids(_with_ids(frame, key, table), runs, table)
    _refuse_twice(frame, [key, runs], table)
    scores = _scores(frame, [*aside, chosen.cluster, *_topic_columns(frame)], table)
    systems = cells(frame, runs).unique(maintain_order=True).to_list()
    topics = frame.unique(exact(key), maintain_order=True, keep="first")
    names = topics[key].to_list()
    values = np.full((len(scores), len(systems), len(names)), np.nan)
    places = _places(frame[runs].to_list(), systems), _places(frame[key].to_list(), names)
    values[:, *places] = list(scores.values())
    there = np.zeros(values.shape[1:], bool)
    there[places] = is_ranks or set(FLAGS) <= set(frame.columns)
    left = [c for c in frame.columns if c not in aside and c not in scores]
    return ScoreTable(
        table.name,
        list(scores),
        systems,
        names,
        values,
        np.isnan(values) & there,
        _as_texts(topics, left),
        _unit(key, chosen),
        [],
    )


def _unit(key: str | None, chosen: Columns) -> str:
    if key is not None and key == chosen.topics:
        return chosen.unit
    return key if key in UNITS else UNITS[0]


# ---------------------------------------------------------------------------------------- cells


def _scores(frame: pl.DataFrame, aside: Collection[str | None], table: Table) -> dict[str, Floats]:
    """The columns of scores."""
    every = {c: _numbers(frame[c], table, frame[ROW]) for c in frame.columns if c not in aside}
    scores = {column: numbers for column, numbers in every.items() if numbers is not None}
    if not scores:
        raise InputError("has no column of scores", table.name)
    return scores


def _is_word(column: pl.Series) -> pl.Series:
    """Of the cells that are not empty, whether each is no number."""
    if column.dtype != pl.String:
        return pl.repeat(value=False, n=len(column), eager=True)
    text = _cells(column)
    return text.cast(pl.Float64, strict=False).is_null().set(text.is_null(), None)


def _cells(column: pl.Series) -> pl.Series:
    """The text of cells, null where one says that there is no score."""
    text = column.alias("").str.strip_chars()  # whose methods would read some names
    return text.set(text.str.to_lowercase().is_in(NO_SCORE), None)


def _numbers(column: pl.Series, table: Table, rows: pl.Series) -> Floats | None:
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
                table.place(rows[at]),
            )
    return np.asarray(values.fill_null(float("nan")).to_numpy(), np.float64)


def _with_ids(frame: pl.DataFrame, column: str, table: Table) -> pl.DataFrame:
    """The frame with a column of names as text, none of them empty."""
    texts = frame[column].alias("").cast(pl.String)
    empty = texts.is_null() | (texts.str.strip_chars() == "")
    if empty.any():
        what = "run" if column in RUNS else "topic"
        raise InputError(
            f"column {shown(column)} is empty here, expected the name of a {what}",
            table.place(frame[ROW][int(empty.arg_true()[0])]),
        )
    return frame.with_columns(texts.alias(column))


def _refuse_twice(frame: pl.DataFrame, names: Sequence[str], table: Table) -> None:
    """Refuse a topic, or a topic of a run, that has two rows."""
    twice = frame.filter(~pl.struct(*map(col, names)).is_first_distinct())
    if twice.height:
        of_run = "".join(f" for {shown(twice[name][0])}" for name in names[1:])
        problem = f"topic {shown(twice[names[0]][0])} appears twice{of_run}"
        raise InputError(problem, table.place(twice[ROW][0]))


def _as_texts(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    if not columns:
        return pl.DataFrame(height=frame.height)
    return frame.select(col(name).cast(pl.String) for name in columns)
