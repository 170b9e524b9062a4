"""Ready scores: matrices of topics × systems, one a measure."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from abstain.analyses.meta.sources import Scores, of_scores
from abstain.errors import InputError, UsageError, plural, shown
from abstain.io.files import bare_name
from abstain.io.frames import check_mapping, collect, into_lazy, open_table
from abstain.io.tables import ROW, Table

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array

TOPICS = re.compile(
    r"(topic|question|query|item|instance)s?[\W_]*(id|no|nr|num|number|name|key)?s?"
    r"|[qt]?[\W_]*id|unnamed: 0|"
)
"""What a column of topics is called, in lower case."""
IDS = 3
"""So many whole numbers that are all different look like ids, if no other column's do."""
LARGEST = 1e150
"""Sums and squares of scores within it are numbers."""
MISSING = ("", "na", "nan", "null", "none", "-", "–")


@dataclass(frozen=True, slots=True)
class Matrix:
    """Systems × topics of one measure."""

    name: str
    systems: list[str]
    topics: list[str] | None
    """None: they are known by their rows alone."""
    values: Array
    aside: list[str]
    """Columns that name the topics too: they are no systems."""


def read_matrices(
    matrices: Any, *, columns: Mapping[str, str] | None = None, format: str | None = None
) -> tuple[Scores, list[str]]:
    """The scores that all matrices have, and what is to be said of the others."""
    opened = {
        name: open_table(data, name=name, format=format) for name, data in _named(matrices).items()
    }
    named = _topics_named(columns or {}, opened)
    notes: list[str] = []
    read = {name: _matrix(table, named) for name, table in opened.items()}
    for own in read.values():
        notes += [
            f"column {shown(c)} of {own.name} is no system and is left out" for c in own.aside
        ]
    systems = _common_systems(read, notes)
    topics = _common_topics(read, notes)
    scores = {
        name: np.stack([own.values[own.systems.index(s)][topics[name]] for s in systems])
        for name, own in read.items()
    }
    gone = np.any([np.isnan(table).any(axis=0) for table in scores.values()], axis=0)
    if gone.any():
        notes.append(
            f"{int(gone.sum()):,} of {plural(len(gone), 'topic')} lack the score of some system "
            "and are left out"
        )
        scores = {name: table[:, ~gone] for name, table in scores.items()}
    if not next(iter(scores.values())).shape[1]:
        raise InputError("no topic has a score for every system", next(iter(read.values())).name)
    return of_scores(systems, scores), notes


# ---------------------------------------------------------------------------------- names


def _named(matrices: Any) -> dict[str, Any]:
    if isinstance(matrices, Mapping):
        return {str(name): data for name, data in matrices.items()}
    listed = (
        list(matrices)
        if isinstance(matrices, Sequence) and not isinstance(matrices, (str, bytes))
        else [matrices]
    )
    if not listed:
        raise UsageError("there is no score matrix")
    names = [
        bare_name(os.fspath(data)) if isinstance(data, (str, os.PathLike)) else f"measure {k + 1}"
        for k, data in enumerate(listed)
    ]
    short = without_prefix(names)
    if len(set(short)) < len(short):
        twice = next(n for n in short if short.count(n) > 1)
        raise UsageError(f"two matrices are called '{twice}'; a measure belongs in one")
    return dict(zip(short, listed, strict=True))


def without_prefix(names: list[str]) -> list[str]:
    """Names of files that begin alike, without what they share; what is left begins with a letter.

    >>> without_prefix(["web_ap", "web_rr"]), without_prefix(["web_ndcg_10", "web_ndcg_20"])
    (['ap', 'rr'], ['ndcg_10', 'ndcg_20'])
    """
    if len(names) < 2:
        return names
    low, high = min(names), max(names)
    same = next((k for k, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    cuts = [at + 1 for at in range(same) if low[at] in "_-. "]
    for cut in reversed(cuts):
        if all(name[cut : cut + 1].isalpha() for name in names):
            return [name[cut:] for name in names]
    return names


def _topics_named(columns: Mapping[str, str], opened: Mapping[str, Table]) -> str | None:
    """The column that is said to name the topics."""
    check_mapping(columns, opened.values())
    for known in columns:
        if known.rpartition(":")[2] != "question":
            raise UsageError(
                "in a matrix of scores only the topics' column can be named: question=COLUMN "
                f"(got '{known}')"
            )
    return next(iter(columns.values()), None)


# ------------------------------------------------------------------------------- one matrix


def _matrix(table: Table, named: str | None) -> Matrix:
    frame = collect(into_lazy(table.frame), table.name)
    frame = frame.drop(ROW) if ROW in frame.columns else frame
    if frame.is_empty():
        raise InputError("has no rows, expected a topic a row", table.name)
    column = named if named in frame.columns else _topics_column(frame, table)
    aside = [c for c in _called_topics(frame) if c != column]
    systems = [c for c in frame.columns if c != column and c not in aside]
    if not systems:
        raise InputError("has no column of scores, expected a system a column", table.name)
    topics = None if column is None else _topics(frame[column], table)
    values = np.stack([_numbers(frame[c], table) for c in systems])
    return Matrix(table.name, systems, topics, values, aside)


def _topics_column(frame: pl.DataFrame, table: Table) -> str | None:
    """The column that names the topics: by its name, or the first if it holds words.

    What could be either is refused: numbers among words may be scores with a slip of the pen, and
    whole numbers that are all different may be ids.
    """
    called = _called_topics(frame)
    if called:
        return called[0]
    first = frame.columns[0]
    words = _words(frame[first])
    if words.any() and words.all():
        return first
    if words.any():
        row = int(words.fill_null(value=False).arg_max() or 0)
        raise InputError(
            f"the score of {shown(first)} is {shown(str(frame[first][row]))}, expected a number "
            f"(if the column names topics: -c question={first})",
            table.place(row),
        )
    if _like_ids(frame[first]) and not any(_like_ids(frame[c]) for c in frame.columns[1:]):
        raise InputError(
            f"column {shown(first)} may hold scores or the numbers of topics: -c question={first} "
            "says that it names them, another column called topic that it does not",
            table.name,
        )
    return None


def _called_topics(frame: pl.DataFrame) -> list[str]:
    return [c for c in frame.columns if TOPICS.fullmatch(c.strip().lower())]


def _words(column: pl.Series) -> pl.Series:
    """Of the cells that are not empty, whether each is no number."""
    if column.dtype != pl.String:
        return pl.repeat(value=False, n=len(column), eager=True)
    text = column.str.strip_chars()
    empty = text.str.to_lowercase().is_in(MISSING) | text.is_null()
    return text.cast(pl.Float64, strict=False).is_null().set(empty, None)


def _like_ids(column: pl.Series) -> bool:
    """Whether all cells are whole numbers, and different ones."""
    try:
        values = column.cast(pl.Float64, strict=False)
    except pl.exceptions.PolarsError:
        return False
    whole = (values == values.round()).fill_null(value=False).all()
    return whole and len(values) >= IDS and values.n_unique() == len(values)


def _topics(column: pl.Series, table: Table) -> list[str]:
    """The ids of the topics, each of its own."""
    texts = column.cast(pl.String)
    empty = texts.is_null() | (texts.str.strip_chars() == "")
    if empty.any():
        row = int(empty.arg_max() or 0)
        raise InputError(f"column {shown(column.name)} names no topic", table.place(row))
    twice = ~texts.is_first_distinct()
    if twice.any():
        row = int(twice.arg_max() or 0)
        raise InputError(f"topic {shown(texts[row])} stands twice", table.place(row))
    return texts.to_list()


def _numbers(column: pl.Series, table: Table) -> npt.NDArray[np.float64]:
    """A column of scores; an empty cell is missing, anything else that is no number refused."""
    if column.dtype == pl.String:
        text = column.str.strip_chars()
        text = text.set(text.str.to_lowercase().is_in(MISSING), None)
    else:
        text = column
    try:
        values = text.cast(pl.Float64, strict=False)
    except pl.exceptions.PolarsError:
        raise InputError(
            f"column '{column.name}' holds {column.dtype}, expected scores", table.name
        ) from None
    bad = values.is_null() & text.is_not_null()
    boundless = (values.abs() > LARGEST).fill_null(value=False) & ~values.is_nan()
    expected = ("a number", f"a number within ±{LARGEST:g}")
    for wrong, what in zip((bad, boundless), expected, strict=True):
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            raise InputError(
                f"the score of {shown(column.name)} is {shown(str(column[row]))}, expected {what}",
                table.place(row),
            )
    return values.fill_null(float("nan")).to_numpy().astype(np.float64)


# ------------------------------------------------------------------- what all of them have


def _common_systems(read: Mapping[str, Matrix], notes: list[str]) -> list[str]:
    first = next(iter(read.values()))
    common = [s for s in first.systems if all(s in own.systems for own in read.values())]
    if len(common) < 2:
        raise InputError(
            f"{plural(len(common), 'system is', 'systems are')} common to "
            f"{plural(len(read), 'matrix', 'matrices')}, expected at least 2",
            first.name,
        )
    seen = {s for own in read.values() for s in own.systems}
    if len(common) < len(seen):
        notes.append(
            f"{len(seen) - len(common):,} of {plural(len(seen), 'system')} are not in every "
            "matrix and are left out"
        )
    return common


def _common_topics(
    read: Mapping[str, Matrix], notes: list[str]
) -> dict[str, npt.NDArray[np.int64]]:
    """For each matrix the rows to take, in one order for all."""
    lengths = {name: own.values.shape[1] for name, own in read.items()}
    if any(own.topics is None for own in read.values()):
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{own.name} {lengths[name]:,}" for name, own in read.items())
            raise InputError(f"the matrices have different numbers of topics ({said})")
        return {name: np.arange(length) for name, length in lengths.items()}
    positions = {
        name: {topic: k for k, topic in enumerate(own.topics or ())} for name, own in read.items()
    }
    first = next(iter(positions.values()))
    common = [t for t in first if all(t in own for own in positions.values())]
    seen = {t for own in positions.values() for t in own}
    if len(common) < len(seen):
        notes.append(
            f"{len(seen) - len(common):,} of {plural(len(seen), 'topic')} are not in every matrix "
            "and are left out"
        )
    return {name: np.array([own[t] for t in common], np.int64) for name, own in positions.items()}
