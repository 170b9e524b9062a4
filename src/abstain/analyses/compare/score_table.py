"""Scores by topic and system: a column a system, or a row a run and topic as `rank` writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from abstain.errors import InputError, UnknownNameError, UsageError, plural, shown

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array

TOPIC = ("topic", "query", "question")
RUN = ("run", "system")
RANK = "#"
LARGEST = 1e100
"""Beyond it squares overflow."""
NO_SCORE = ("", "nan", "na", "null")
ALL = "all"
"""In place of a topic: the mean over all of them, beside its rank; in brackets where a topic is
called so."""


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Scores of systems (rows) on topics (columns), NaN where there is none."""

    measure: str
    topics: list[str]
    systems: list[str]
    scores: Array
    attributes: pl.DataFrame
    """What else is known of each topic, in the order of the topics."""
    unit: str = TOPIC[0]
    """What the scores call a topic."""


def read_scores(
    source: Any,
    *,
    measure: str | None = None,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
) -> ScoreTable:
    """Scores from a table; the column topic, query or question (else the first) names the topic.

    With a column run or system there is a row a run and topic, and `measure` names the scores.
    Else every other column of numbers is a system.
    """
    from abstain.io.frames import collect, into_lazy, open_table, rename

    table = rename(open_table(source, name="scores", format=format), columns or {}, side="run")
    frame = collect(into_lazy(table.frame).select(*table.columns), table.name)
    key = next((c for c in TOPIC if c in frame.columns), frame.columns[0])
    frame = frame.with_columns(pl.col(key).cast(pl.String).fill_null(""))
    run = next((c for c in RUN if c in frame.columns and c != key), None)
    if run is not None:
        return _from_rows(frame, key, run, measure, table)
    if measure is not None:
        raise UsageError("-m chooses among scores by run and topic; here each column is a system")
    return _from_columns(frame, key, table)


def _from_columns(frame: pl.DataFrame, key: str, table: Any) -> ScoreTable:
    twice = frame.filter(pl.col(key).is_duplicated())
    if twice.height:
        raise InputError(f"topic {shown(twice[key][0])} stands twice", table.name)
    found = {name: _numbers(frame, name, table) for name in frame.columns if name != key}
    systems = {name: own for name, own in found.items() if own is not None}
    _check_systems(len(systems), "column", table)
    scores = np.stack(list(systems.values()))
    return ScoreTable("mean score", frame[key].to_list(), list(systems), scores, frame, _unit(key))


def _from_rows(
    frame: pl.DataFrame, key: str, run: str, measure: str | None, table: Any
) -> ScoreTable:
    name = _score_column(frame, (key, run, RANK), measure, table)
    values = _numbers(frame, name, table)
    if values is None:
        raise InputError(f"has no numbers in column '{name}'", table.name)
    frame = frame.with_columns(pl.Series(name, values), pl.col(run).cast(pl.String).fill_null(""))
    if RANK in frame.columns:
        is_mean = pl.col(key).cast(pl.String).str.strip_chars("()") == ALL
        frame = frame.filter(~is_mean | pl.col(RANK).cast(pl.String).is_null())
    twice = frame.filter(pl.struct(run, key).is_duplicated())
    if twice.height:
        topic, system = shown(twice[key][0]), shown(twice[run][0])
        raise InputError(f"topic {topic} stands twice for {system}", table.name)
    systems = frame[run].unique(maintain_order=True).to_list()
    _check_systems(len(systems), "run", table)
    topics = frame.unique(key, maintain_order=True, keep="first")
    scores = np.full((len(systems), topics.height), math.nan)
    places = _places(frame[run], systems), _places(frame[key], topics[key].to_list())
    scores[places] = frame[name].to_numpy()
    return ScoreTable(f"mean {name}", topics[key].to_list(), systems, scores, topics, _unit(key))


def _unit(key: str) -> str:
    return key if key in TOPIC else TOPIC[0]


def _places(texts: pl.Series, among: list[str]) -> npt.NDArray[np.int64]:
    return texts.cast(pl.Enum(among)).to_physical().cast(pl.Int64).to_numpy()


def _score_column(
    frame: pl.DataFrame, taken: tuple[str, ...], measure: str | None, table: Any
) -> str:
    names = [c for c in frame.columns if c not in taken]
    if measure is not None:
        named = {c.casefold(): c for c in names}
        if measure.casefold() not in named:
            raise UnknownNameError("score", measure, names, hint=f"there are {', '.join(names)}")
        return named[measure.casefold()]
    numeric = [c for c in names if frame[c].dtype.is_numeric() or _all_numbers(frame[c])]
    if len(numeric) != 1:
        listed = ", ".join(numeric or names)
        raise UsageError(f"{table.name} has more than one score: say which with -m ({listed})")
    return numeric[0]


def _all_numbers(column: pl.Series) -> bool:
    texts = _texts(column).drop_nulls()
    return bool(len(texts)) and texts.cast(pl.Float64, strict=False).null_count() == 0


def _texts(column: pl.Series) -> pl.Series:
    texts = column.cast(pl.String).str.strip_chars()
    return texts.set(texts.str.to_lowercase().is_in(NO_SCORE), None)


def _numbers(frame: pl.DataFrame, name: str, table: Any) -> Array | None:
    """A column's scores, NaN where there is none; None: words, an attribute of the topics."""
    texts = _texts(frame[name])
    numbers = texts.cast(pl.Float64, strict=False)
    bad = texts.is_not_null() & ~numbers.is_finite().fill_null(value=False)
    if bad.any() and numbers.is_null().all():
        return None
    if bad.any():
        at = int(bad.arg_true()[0])
        raise InputError(f"{shown(texts[at])} in column '{name}' is no score", table.place(at))
    large = numbers.abs() > LARGEST
    if large.any():
        at = int(large.arg_true()[0])
        said = f"{shown(texts[at])} in column '{name}' is too large for a score"
        raise InputError(f"{said}, expected at most {LARGEST:g}", table.place(at))
    return np.asarray(numbers.fill_null(math.nan).to_numpy(), np.float64)


def _check_systems(count: int, what: str, table: Any) -> None:
    if count < 2:
        said = f"has {plural(count, what)}"
        raise InputError(f"{said} of scores, expected two systems or more", table.name)
