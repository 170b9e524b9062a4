"""`trec_eval`: what trec_eval 9.0.8 prints for judgments and a run, byte for byte.

Scores are those of our measures, by trec_eval's rules: 0 where one does not exist, queries that
the run lacks left out, sums in the order of the queries' names.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from abstain.errors import InputError, Place, UsageError, plural
from abstain.features.trec_eval.reading import read
from abstain.io import trec
from abstain.io.files import open_file
from abstain.measures.recall_and_gain import LEAST
from abstain.measures.trec_eval import (
    REL_STRING,
    RUN_ID,
    TEXTS,
    Figure,
    asked,
    decimal,
    figures,
    log,
    values_of,
)

if TYPE_CHECKING:
    from abstain.measures.ranked_lists import Floats, Ints, RankedLists

ALL = "all"
SHOWN_FIRST = 10
"""Documents in a string of grades, where nobody says how many."""
NO_Z_SCORE = -1000000.0
ZScores = dict[str, dict[str, tuple[float, float]]]
"""Mean and standard deviation of a query's measures."""


@dataclass(frozen=True)
class _Averaging:
    """How figures are taken: -l, -N and -c."""

    level: int
    documents: int
    complete: bool


class _Column:
    """One figure: its name, each query's text, and that of all."""

    def __init__(self, name: str, texts: Sequence[str] | None, summary: str | None) -> None:
        self.name, self.texts, self.summary = name, texts, summary


def trec_eval(
    qrels: str | os.PathLike[str],
    run: str | os.PathLike[str],
    measures: Sequence[str] | str = ("official",),
    *,
    per_query: bool = False,
    summary: bool = True,
    complete: bool = False,
    level: int = 1,
    limit: int | None = None,
    judged_only: bool = False,
    documents: int = 0,
    zscores: str | os.PathLike[str] | None = None,
) -> str:
    """The text that trec_eval 9.0.8 prints: measure, query and value, a line each.

    Parameters:
        qrels: the file of judgments.
        run: the file of the run.
        measures: as -m names them: "map", "ndcg_cut.5,10", "P_10", "official", "all_trec".
        per_query: each query's figures too (-q).
        summary: those of all queries (-n: not).
        complete: average over all judged queries (-c).
        level: the lowest relevant grade (-l).
        limit: how many documents of a query count (-M).
        judged_only: remove documents that nobody judged first (-J).
        documents: how many documents the collection has, for utility (-N).
        zscores: a file of means and deviations, to print z-scores (-Z).
    """
    wanted = asked([measures] if isinstance(measures, str) else measures)
    scored = {
        name: figures(name, parameters) for name, parameters in wanted.items() if name not in TEXTS
    }
    if level < 0:
        raise UsageError(
            f"the relevance level must be 0 or more (got {level}): a level below 0 stands for "
            "documents that nobody judged"
        )
    z = None if zscores is None else _read_zscores(os.fspath(zscores))
    lists, tag = read(os.fspath(qrels), os.fspath(run))
    if limit is not None:
        lists = lists.first(np.full(lists.size, limit))
    if judged_only:
        lists = lists.judged_only()
    rows = np.array(
        sorted(np.flatnonzero(~lists.missing).tolist(), key=lists.queries.__getitem__), np.int64
    )
    if not len(rows):
        judged = plural(len(lists.queries), "judged query", "judged queries")
        raise InputError(f"has none of the {judged}", os.fspath(run))
    how = _Averaging(level, documents, complete)
    columns: list[_Column] = []
    for name, parameters in wanted.items():
        if name == RUN_ID:
            columns.append(_Column(RUN_ID, None, tag))
        elif name == REL_STRING:
            columns.append(_rel_strings(lists, rows, parameters))
        else:
            columns += (_column(each, lists, rows, how, z) for each in scored[name])
    queries = [lists.queries[row] for row in rows.tolist()]
    single = _query_lines(columns, queries) if per_query else []
    return "".join([*single, *(_summary_lines(columns) if summary else [])])


def _query_lines(columns: Sequence[_Column], queries: Sequence[str]) -> Iterator[str]:
    shown = [
        (f"{column.name:<22}\t", column.texts) for column in columns if column.texts is not None
    ]
    for at, query in enumerate(queries):
        for head, texts in shown:
            yield f"{head}{query}\t{texts[at]}\n"


def _summary_lines(columns: Sequence[_Column]) -> Iterator[str]:
    for column in columns:
        if column.summary is not None:
            yield f"{column.name:<22}\t{ALL}\t{column.summary}\n"


# ------------------------------------------------------------------------------------- figures


def _column(
    figure: Figure, lists: RankedLists, rows: Ints, how: _Averaging, z: ZScores | None
) -> _Column:
    definition = figure.definition
    values = values_of(figure, lists, how.level, how.documents)[rows]
    counted = len(lists.queries) if how.complete else len(rows)
    if definition.geometric:
        values = log(values)
    if z is not None:
        known = [z.get(lists.queries[row], {}).get(figure.name) for row in rows.tolist()]
        values = _as_zscores(values, known)
    total = float(np.cumsum(values)[-1])
    whole_number = definition.total and z is None
    if definition.geometric:
        floor = (counted - len(rows)) * math.log(LEAST) if how.complete else 0.0
        summary = math.exp((total + floor) / counted)
    elif not definition.total:
        summary = total / counted
    else:
        summary = _total(figure, total, lists, counted, how)
    shown = _whole if whole_number else _decimals
    letter = "" if z is None else "Z"
    texts = [shown(value) for value in values.tolist()] if figure.trec.per_query else None
    return _Column(letter + f"{figure.name:<22}", texts, shown(summary))


COUNT_OF_QUERIES, COUNT_OF_RELEVANT = "num_q", "num_rel"


def _total(
    figure: Figure, total: float, lists: RankedLists, counted: int, how: _Averaging
) -> float:
    """The sum over queries; of queries and of what is relevant, those that the run lacks too."""
    if figure.name == COUNT_OF_QUERIES:
        return counted
    if figure.name == COUNT_OF_RELEVANT and how.complete:
        return float(np.count_nonzero(lists.pool.grade > 0))  # whatever the level, as there
    return total


def _decimals(value: float) -> str:
    """A number as C prints it with four decimals."""
    if math.isnan(value):
        return "  -nan" if math.copysign(1.0, value) < 0 else "   nan"
    return f"{value:6.4f}"


def _whole(value: float) -> str:
    return str(int(value))


def _rel_strings(lists: RankedLists, rows: Ints, parameters: str) -> _Column:
    """The grades of the first documents: a digit each, > from 10 on, - and . if not judged."""
    length = int(decimal(parameters.split(",")[0])) if parameters else SHOWN_FIRST
    texts = []
    for row in rows.tolist():
        letters = ["-"] * max(0, min(length, int(lists.depth[row])))
        pooled = lists.sampled
        for rank in pooled.rank[slice(*pooled.offsets[row : row + 2])].tolist():
            if rank <= len(letters):
                letters[rank - 1] = "."
        part = slice(*lists.offsets[row : row + 2])
        for rank, grade in zip(lists.rank[part].tolist(), lists.grade[part].tolist(), strict=True):
            if rank > len(letters):
                break
            letters[rank - 1] = ">" if grade > 9 else str(int(grade))
        texts.append(f"'{''.join(letters)}'")
    name = f"{REL_STRING}_{parameters}" if parameters else REL_STRING
    return _Column(name, texts, None)


# ------------------------------------------------------------------------------------- z scores


def _read_zscores(path: str) -> ZScores:
    """A file of means and standard deviations: query, measure, mean, deviation."""
    scores: ZScores = {}
    opened = open_file(path)
    for number, fields in trec.lines(opened):
        if len(fields) != 4:
            problem = f"{plural(len(fields), 'column')}, expected 4: query measure mean deviation"
            raise InputError(problem, Place(opened.name, number))
        query, name, mean, deviation = (field.decode(errors="replace") for field in fields)
        scores.setdefault(query, {})[name] = decimal(mean), decimal(deviation)
    return scores


def _as_zscores(values: Floats, known: Sequence[tuple[float, float] | None]) -> Floats:
    """Values as deviations from the mean; −1000000 where there is none to go by."""
    mean, deviation = np.array([(math.nan, 0.0) if pair is None else pair for pair in known]).T
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = (values - mean) / deviation
    flat = np.where(values == mean, 0.0, NO_Z_SCORE)
    return np.where(deviation == 0, flat, scores)
