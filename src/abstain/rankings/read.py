"""`read_rankings`: judgments and runs, whatever they come as, read and ranked once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from abstain.errors import UsageError
from abstain.rankings.load import load, refuse_missing
from abstain.rankings.rankings import Rankings
from abstain.rankings.settings import Engine, ListSettings, Missing, Ties
from abstain.rankings.sources import TrecFile, open_source

if TYPE_CHECKING:
    from abstain.io.tables import Table


def read_rankings(
    qrels: Any,
    runs: Any,
    *,
    nil: str | None = None,
    nil_as_answer: bool = False,
    limit: int | None = None,
    missing: Missing | None = None,
    ties: Ties = "trec",
    trec_eval: bool = False,
    top: float | None = None,
    queries: Any = None,
    all_queries: bool = False,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    engine: Engine | None = None,
    master: str | None = None,
) -> Rankings:
    """Read relevance judgments and runs.

    `qrels` is a path (TREC, CSV, JSONL, Parquet), a dataframe with query, doc and rel, or a dict
    {query: {doc: rel}}. `runs` is one of those with query, doc and score, a sequence of them, or
    a mapping of names to them. A lazy frame of duckdb or Spark is ranked by its own engine.

    Parameters:
        nil: the document id that ends a list, such as NIL or -1.
        nil_as_answer: NIL is a document instead, right where nothing else is (TREC 2001).
        limit: how long a list could be. A shorter one was ended by its system.
        missing: what a query is that a run lacks: "empty" (the default), "error" or "skip".
        ties: "trec" orders by score, equal ones by falling id; "rank" by the rank column.
        trec_eval: averages as trec_eval takes them.
        top: the grade that is a gain of 1 (default: the largest judged).
        queries: a table of queries and their attributes, to slice by.
        all_queries: every query of that table counts; one without judgments is a nil query.
        columns: known name to actual name: {"query": "qid"}.
        format: trec, csv, tsv, jsonl or parquet, where it is not evident.
        engine: who reads paths: polars, duckdb or spark (at `master`).

    >>> rk = read_rankings({"q": {"d1": 1}}, {"q": {"d1": 2.0, "d2": 3.0}})
    >>> rk.score("RR").rows[0].scores
    {'RR': 0.5}
    """
    settings = ListSettings.of(
        nil=nil,
        nil_as_answer=nil_as_answer,
        limit=limit,
        missing=missing,
        ties=ties,
        trec_eval=trec_eval,
    )
    if top is not None and (isinstance(top, bool) or not isinstance(top, Real)):
        raise UsageError(f"the top grade must be a number (got {top!r})")
    table: Table | None = None
    listed: list[str] = []
    if queries is not None or all_queries:
        from abstain.rankings.queries import needs_queries, open_queries, read_queries

        if queries is None:
            raise needs_queries("all_queries")
        table = open_queries(queries, columns=columns)
        listed = read_queries(table)["query"].to_list()
    gold = open_source(qrels, side="gold", columns=columns, format=_of_path(qrels, format))
    sources = [
        open_source(
            data,
            side="run",
            name=name,
            columns=columns,
            format=_of_path(data, format),
            engine=engine,
            master=master,
        )
        for name, data in _named(runs)
    ]
    if columns:
        from abstain.io.frames import check_mapping

        tables = [each.table for each in (gold, *sources) if not isinstance(each, TrecFile)]
        check_mapping(columns, tables if table is None else [*tables, table])
    lists = load(
        gold,
        sources,
        ties=settings.ties,
        nil=settings.nil,
        nil_means="answer" if settings.nil_as_answer else "end",
        limit=settings.limit,
        top=top,
        also=[*_unjudged(qrels), *(listed if all_queries else [])],
    )
    if settings.missing == "error":
        refuse_missing(lists)
    return Rankings(
        lists,
        settings,
        attributes=table,
        reading={"columns": columns, "format": format, "engine": engine, "master": master},
    )


def _of_path(data: Any, format: str | None) -> str | None:
    return format if isinstance(data, (str, os.PathLike)) else None


def _unjudged(qrels: Any) -> list[str]:
    """Queries of a dict that count though no document is judged for them."""
    if not isinstance(qrels, Mapping):
        return []
    return [str(query) for query, own in qrels.items() if not own]


def _is_one_run(runs: Mapping[Any, Any]) -> bool:
    """Whether a mapping is {query: {document: score}} itself, not runs by their names."""
    if not all(isinstance(own, Mapping) for own in runs.values()):
        return False
    values = [value for own in runs.values() for value in own.values()]
    return bool(values) and not any(isinstance(value, Mapping) for value in values)


def _named(runs: Any) -> list[tuple[str, Any]]:
    if isinstance(runs, Mapping) and not _is_one_run(runs):
        named = [(str(name), data) for name, data in runs.items()]
    elif isinstance(runs, Sequence) and not isinstance(runs, (str, bytes)):
        frames = sum(not isinstance(data, (str, os.PathLike)) for data in runs)
        named = [
            ("" if frames < 2 or isinstance(data, (str, os.PathLike)) else f"run {i + 1}", data)
            for i, data in enumerate(runs)
        ]
    else:
        named = [("", runs)]
    if not named:
        raise UsageError("there is no run to score")
    return named
