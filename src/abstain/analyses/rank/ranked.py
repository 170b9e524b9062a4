"""`rank`: rankings in, scores out."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, get_args

from abstain.analyses.rank.results import Missing, RankResult, Settings, Ties
from abstain.errors import UnknownNameError, UsageError, option, shown
from abstain.measures import Measure, measure
from abstain.measures.of_rankings import RankingMeasure

if TYPE_CHECKING:
    import polars as pl

    from abstain.analyses.rank.scoring import Slices
    from abstain.measures.ranked_lists import RankedLists

DEFAULT_MEASURES = ("AP", "NDCG@10", "P@10", "RR")
PRIMED_MEASURES = ("AP'", "NDCG'", "RR'")
"""Shown too where lists are known to stop."""

MRR = re.compile(r"\s*mrr\s*(?=[(@]|$)", re.IGNORECASE)
"""A name that belongs to a measure of confidence; who types it here means RR."""

CUT = re.compile(r"(P|recall|success|map_cut|ndcg_cut)_(\d+)", re.IGNORECASE)
"""What trec_eval calls P@10, R@10, Success@10, AP@10, NDCG@10."""

MOST_DOCUMENTS = 10**18


def rank(
    qrels: Any,
    runs: Any,
    *,
    measures: Sequence[str | Measure] | None = None,
    by: Sequence[str] = (),
    queries: Any = None,
    all_queries: bool = False,
    nil: str | None = None,
    nil_as_answer: bool = False,
    limit: int | None = None,
    missing: str | None = None,
    ties: str = "trec",
    trec_eval: bool = False,
    top: float | None = None,
    per_query: bool = False,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    engine: str | None = None,
    master: str | None = None,
) -> RankResult:
    """Score rankings against relevance judgments.

    `qrels` is a path (TREC, CSV, JSONL, Parquet), a dataframe with query, doc and rel, or a dict
    {query: {doc: rel}}; `runs` is one of those with query, doc and score, a sequence of them, or a
    mapping of names to them.
    `queries` is a table of query attributes for `by`. A lazy frame of duckdb or Spark is ranked
    by its own engine; `engine` is who reads paths: polars, duckdb or spark (at `master`).
    """
    from abstain.analyses.rank.scoring import score_rankings

    settings = check_settings(
        nil=nil,
        nil_as_answer=nil_as_answer,
        limit=limit,
        missing=missing,
        ties=ties,
        trec_eval=trec_eval,
    )
    chosen = ranking_measures(measures, settings)
    rankings, slices = read_rankings(
        qrels,
        runs,
        settings,
        by=by,
        queries=queries,
        all_queries=all_queries,
        top=top,
        columns=columns,
        format=format,
        engine=engine,
        master=master,
    )
    return score_rankings(rankings, chosen, settings, slices=slices, per_query=per_query)


def check_settings(
    *,
    nil: str | None = None,
    nil_as_answer: bool = False,
    limit: int | None = None,
    missing: str | None = None,
    ties: str = "trec",
    trec_eval: bool = False,
) -> Settings:
    """Settings that make sense together."""
    if nil_as_answer and nil is None:
        raise UsageError(
            f"{option('nil_as_answer')} needs to know what says so: {option('nil', 'NIL')}"
        )
    if nil is not None and not isinstance(nil, str):
        raise UsageError(f"nil must be text, such as 'NIL' or '-1' (got {nil!r})")
    if nil is not None and not nil.strip():
        raise UsageError(f"{option('nil')} names a document, such as NIL or -1 (got nothing)")
    return Settings(
        nil=nil,
        nil_as_answer=nil_as_answer,
        limit=None if limit is None else _checked_limit(limit),
        missing=_one_of(missing or ("skip" if trec_eval else "empty"), Missing, "missing"),
        ties=_one_of(ties, Ties, "ties"),
        trec_eval=trec_eval,
    )


def _checked_limit(limit: object) -> int:
    if isinstance(limit, bool) or not isinstance(limit, Integral):
        raise UsageError(f"the limit must be a whole number (got {limit!r})")
    if not 1 <= int(limit) <= MOST_DOCUMENTS:
        raise UsageError(f"the limit must be from 1 to {MOST_DOCUMENTS:.0e} (got {limit})")
    return int(limit)


def _one_of(value: str, kind: Any, what: str) -> Any:
    if value not in get_args(kind):
        raise UnknownNameError(
            f"value of {what}", value, get_args(kind), hint=f"there are {', '.join(get_args(kind))}"
        )
    return value


def ranking_measures(
    given: Sequence[str | Measure] | None, settings: Settings
) -> tuple[RankingMeasure, ...]:
    """The measures asked for, or the usual ones; a measure of counts is refused."""
    if given is None:
        stops = settings.nil is not None or settings.limit is not None
        given = (*DEFAULT_MEASURES, *(PRIMED_MEASURES if stops else ()))
    if isinstance(given, (str, Measure)):
        given = [given]
    for text in given:
        if isinstance(text, str):
            _refuse_other_names(text)
    chosen = []
    for item in dict.fromkeys(measure(text) for text in given):
        if not isinstance(item, RankingMeasure):
            raise UsageError(
                f"{item} is a measure of {item.definition.takes}, not of rankings "
                "(`abstain measures` lists those)"
            )
        chosen.append(item)
    if not chosen:
        raise UsageError("name at least one measure")
    return tuple(chosen)


def _refuse_other_names(text: str) -> None:
    """Names by which other tools call a measure: they are told ours."""
    if MRR.match(text):
        ours = MRR.sub("RR", text)
        raise UsageError(f"MRR is a measure of confidence; of rankings it is the mean of {ours}")
    if found := CUT.fullmatch(text.strip()):
        ours = f"{found[1].removesuffix('_cut')}@{found[2]}"
        raise UsageError(f"there is no measure {shown(text)}: here it is {measure(ours)}")


def read_rankings(
    qrels: Any,
    runs: Any,
    settings: Settings,
    *,
    by: Sequence[str] = (),
    queries: Any = None,
    all_queries: bool = False,
    top: float | None = None,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    engine: str | None = None,
    master: str | None = None,
) -> tuple[RankedLists, Slices]:
    """The rankings of all runs, and the value of each attribute in `by` for each query."""
    from abstain.analyses.rank.queries import (
        open_queries,
        query_attributes,
        read_queries,
        without_attributes,
    )
    from abstain.io.frames import check_mapping
    from abstain.rankings.load import load, refuse_missing
    from abstain.rankings.sources import open_source

    if top is not None and (isinstance(top, bool) or not isinstance(top, Real)):
        raise UsageError(f"the top grade must be a number (got {top!r})")
    by = (by,) if isinstance(by, str) else tuple(dict.fromkeys(by))
    if queries is None and (by or all_queries):
        asked = option("all_queries" if all_queries else "by")
        raise UsageError(f"{asked} needs a table of the queries: {option('queries', 'FILE')}")
    table = None if queries is None else open_queries(queries, columns=columns)
    attributes = None if table is None else read_queries(table, by)
    path_format = format if isinstance(qrels, (str, os.PathLike)) else None
    gold = open_source(qrels, side="gold", columns=columns, format=path_format)
    sources = [
        open_source(
            data,
            side="run",
            name=name,
            columns=columns,
            format=format if isinstance(data, (str, os.PathLike)) else None,
            engine=engine,
            master=master,
        )
        for name, data in _named(runs)
    ]
    if columns:
        tables = [each.table for each in (gold, *sources) if each.table is not None]
        check_mapping(columns, tables if table is None else [*tables, table])
    rankings = load(
        gold,
        sources,
        ties=settings.ties,
        nil=settings.nil,
        nil_means="answer" if settings.nil_as_answer else "end",
        limit=settings.limit,
        top=top,
        also=_also(qrels, attributes if all_queries else None),
    )
    if settings.missing == "error":
        refuse_missing(rankings)
    if attributes is None:
        return rankings, {}
    remarks = (*rankings.remarks, *without_attributes(attributes, by, rankings.queries))
    return replace(rankings, remarks=remarks), query_attributes(attributes, by, rankings.queries)


def _also(qrels: Any, attributes: pl.DataFrame | None) -> list[str]:
    """Queries that count though no document is judged for them."""
    unjudged = (
        [str(query) for query, own in qrels.items() if not own]
        if isinstance(qrels, Mapping)
        else []
    )
    return unjudged + ([] if attributes is None else attributes["query"].to_list())


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
