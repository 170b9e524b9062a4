"""`rank`: rankings in, scores out, with all that it takes to read them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

from abstain import __version__
from abstain.errors import UnknownNameError, UsageError
from abstain.measures import Measure, measure
from abstain.measures.registry import RankingMeasure
from abstain.outcomes import Undefined

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from abstain.rankings.layout import Bools, Floats, Rankings

DEFAULT_MEASURES = ("AP", "NDCG@10", "P@10", "RR")
PRIMED_MEASURES = ("AP'", "NDCG'", "RR'")
"""Shown too where lists are known to stop."""

Missing = Literal["empty", "error", "skip"]
Ties = Literal["trec", "rank"]
Slices = dict[str, list[str | None]]
"""An attribute's value for each query of the gold."""

NOT_IN_RUN = "the run has none of these queries"


@dataclass(frozen=True, slots=True)
class Settings:
    """How lists were read and averages taken; all of it is declared in the output."""

    nil: str | None = None
    nil_as_answer: bool = False
    limit: int | None = None
    missing: Missing = "empty"
    ties: Ties = "trec"
    trec_eval: bool = False


@dataclass(frozen=True, slots=True)
class RankRow:
    """One run in one slice: its means; or, with `query`, its scores for one query."""

    run: str
    slice: dict[str, str | None]
    scores: dict[str, float]
    queries: int
    nil_queries: int
    missing: int
    unjudged: int
    """Queries of the run that the gold does not have."""
    truncated: int
    """Lists that the system ended itself."""
    left_out: dict[str, int] = field(default_factory=dict)
    """How many queries a mean leaves out because the measure is undefined there."""
    query: str | None = None
    rank: str = ""

    @property
    def undefined(self) -> dict[str, str]:
        """Why the scores that do not exist do not."""
        return {k: v.reason for k, v in self.scores.items() if isinstance(v, Undefined)}

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data; a score that does not exist is None."""
        plain: dict[str, Any] = {"run": self.run, "slice": self.slice}
        if self.query is not None:
            plain |= {
                "query": self.query,
                "nil": bool(self.nil_queries),
                "missing": bool(self.missing),
                "truncated": bool(self.truncated),
            }
        else:
            plain |= {
                "queries": self.queries,
                "nil_queries": self.nil_queries,
                "missing": self.missing,
                "unjudged": self.unjudged,
                "truncated": self.truncated,
            }
        plain["scores"] = {k: None if math.isnan(v) else v for k, v in self.scores.items()}
        plain["undefined"] = self.undefined
        if self.left_out:
            plain["left_out"] = self.left_out
        return plain


@dataclass(frozen=True, slots=True)
class RankResult:
    """Scores of rankings, with all that it takes to read them."""

    measures: tuple[RankingMeasure, ...]
    by: tuple[str, ...]
    rows: tuple[RankRow, ...]
    queries: int
    nil_queries: int
    top_grade: float
    settings: Settings
    notes: tuple[str, ...] = ()

    @property
    def per_query(self) -> bool:
        """Whether there are rows of single queries."""
        return any(row.query is not None for row in self.rows)

    def slice_label(self, name: str) -> str:
        """The heading of a slice attribute, told apart from the columns that are there anyway."""
        taken = {"#", "rank", "run", "query", "queries", "nil", "missing", "truncated"}
        return f"{name} (slice)" if name in taken | {str(m) for m in self.measures} else name

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data: what `--format json` prints."""
        return {
            "abstain": __version__,
            "queries": self.queries,
            "nil_queries": self.nil_queries,
            "top_grade": self.top_grade,
            "settings": asdict(self.settings),
            "notes": list(self.notes),
            "results": [row.to_dict() for row in self.rows],
        }

    def to_frame(self) -> pl.DataFrame:
        """One row a run and slice (and query): rank, run, slice, scores, counts (polars)."""
        import polars as pl

        rows = self.rows
        schema: dict[str, Any] = {"rank": pl.String, "run": pl.String}
        columns: dict[str, list[Any]] = {
            "rank": [row.rank for row in rows],
            "run": [row.run for row in rows],
        }
        for name in self.by:
            schema[self.slice_label(name)] = pl.String
            columns[self.slice_label(name)] = [row.slice[name] for row in rows]
        if self.per_query:
            schema["query"] = pl.String
            columns["query"] = [row.query for row in rows]
        for item in self.measures:
            schema[str(item)] = pl.Float64
            scores = [row.scores[str(item)] for row in rows]
            columns[str(item)] = [None if math.isnan(s) else s for s in scores]
        for name in ("queries", "nil_queries", "missing", "truncated"):
            schema[name] = pl.Int64
            columns[name] = [getattr(row, name) for row in rows]
        return pl.DataFrame(columns, schema=schema, strict=False)


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

    `qrels` is a path (TREC, CSV, JSONL, Parquet) or a dataframe with query, doc and rel; `runs`
    is one of those with query, doc and score, a sequence of them, or a mapping of names to them.
    `queries` is a table of query attributes for `by`. A lazy frame of duckdb or Spark is ranked
    by its own engine; `engine` is who reads paths: polars, duckdb or spark (at `master`).
    """
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
        raise UsageError("--nil-as-answer needs to know what says so: --nil NIL")
    if nil is not None and not nil.strip():
        raise UsageError("--nil names a document, such as NIL or -1 (got nothing)")
    return Settings(
        nil=nil,
        nil_as_answer=nil_as_answer,
        limit=limit,
        missing=_one_of(missing or ("skip" if trec_eval else "empty"), Missing, "missing"),
        ties=_one_of(ties, Ties, "ties"),
        trec_eval=trec_eval,
    )


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


# ------------------------------------------------------------------------------------- reading


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
) -> tuple[Rankings, Slices]:
    """The rankings of all runs, and the value of each attribute in `by` for each query."""
    from abstain.questions import check_mapping
    from abstain.rankings.load import load, refuse_missing
    from abstain.rankings.queries import (
        open_queries,
        query_attributes,
        read_queries,
    )
    from abstain.rankings.sources import open_source

    by = (by,) if isinstance(by, str) else tuple(dict.fromkeys(by))
    if queries is None and (by or all_queries):
        option = "--all-queries" if all_queries else "--by"
        raise UsageError(f"{option} needs a table of the queries: --queries FILE")
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
        also=attributes["query"].to_list() if attributes is not None and all_queries else (),
    )
    if settings.missing == "error":
        refuse_missing(rankings)
    slices = {} if attributes is None else query_attributes(attributes, by, rankings.queries)
    return rankings, slices


def _named(runs: Any) -> list[tuple[str, Any]]:
    if isinstance(runs, Mapping):
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


# ------------------------------------------------------------------------------------- scoring


def score_rankings(
    rankings: Rankings,
    measures: Sequence[RankingMeasure],
    settings: Settings,
    *,
    slices: Slices | None = None,
    per_query: bool = False,
) -> RankResult:
    """Score rankings that were read: means by slice, and each query's scores if asked for."""
    import numpy as np

    slices = slices or {}
    scored = [_Scored(item, rankings, settings) for item in measures]
    parts: dict[tuple[str | None, ...], list[int]] = {}
    for query in range(len(rankings.queries)):
        parts.setdefault(tuple(values[query] for values in slices.values()), []).append(query)
    rows: list[RankRow] = []
    for part in sorted(parts, key=lambda values: [(v is None, v or "") for v in values]):
        chosen = np.array(parts[part])
        where = dict(zip(slices, part, strict=True))
        means = [
            _mean_row(rankings, run, where, chosen, scored, settings)
            for run in range(len(rankings.runs))
        ]
        for row in ranked_rows(means, measures[0]):
            if per_query:
                rows += _query_rows(rankings, row, chosen, scored)
            rows.append(row)
    return RankResult(
        measures=tuple(measures),
        by=tuple(slices),
        rows=tuple(rows),
        queries=len(rankings.queries),
        nil_queries=int(rankings.nil.sum()),
        top_grade=rankings.pool.top,
        settings=settings,
        notes=tuple(_notes(rankings, measures, settings)),
    )


class _Scored:
    """A measure's scores, runs × queries; where they do not exist, nan and the reasons."""

    def __init__(self, item: RankingMeasure, rankings: Rankings, settings: Settings) -> None:
        import numpy as np

        self.item, self.rankings = item, rankings
        values = rankings.by_run(item.values(rankings))
        # as trec_eval has it, what does not exist is 0
        self.table: Floats = np.nan_to_num(values, nan=0.0) if settings.trec_eval else values

    @cached_property
    def reasons(self) -> list[str | None]:
        return self.item.reasons(self.rankings)

    def why(self, run: int, query: int) -> Undefined:
        """Why a run has no score for a query."""
        return Undefined(self.reasons[run * len(self.rankings.queries) + query] or "undefined")


def _mean_row(
    rankings: Rankings,
    run: int,
    where: dict[str, str | None],
    chosen: np.ndarray,
    scored: Sequence[_Scored],
    settings: Settings,
) -> RankRow:
    import numpy as np

    missing: Bools = rankings.by_run(rankings.missing)[run, chosen]
    counted = chosen[~missing] if settings.missing == "skip" else chosen
    scores: dict[str, float] = {}
    left_out: dict[str, int] = {}
    for each in scored:
        name = str(each.item)
        values = each.table[run, counted]
        known = values[~np.isnan(values)]
        if len(known):
            scores[name] = float(known.sum() if each.item.definition.total else known.mean())
        elif len(values):
            scores[name] = each.why(run, int(counted[0]))
        else:
            scores[name] = Undefined(NOT_IN_RUN)
        if len(known) < len(values):
            left_out[name] = len(values) - len(known)
    return RankRow(
        run=rankings.runs[run],
        slice=where,
        scores=scores,
        queries=len(chosen),
        nil_queries=int(rankings.nil[chosen].sum()),
        missing=int(missing.sum()),
        unjudged=len(rankings.unjudged[run]),
        truncated=int(rankings.by_run(rankings.stopped)[run, chosen].sum()),
        left_out=left_out,
    )


def _query_rows(
    rankings: Rankings, mean: RankRow, chosen: np.ndarray, scored: Sequence[_Scored]
) -> list[RankRow]:
    run = rankings.runs.index(mean.run)
    missing = rankings.by_run(rankings.missing)[run].tolist()
    stopped = rankings.by_run(rankings.stopped)[run].tolist()
    values = [(str(each.item), each, each.table[run].tolist()) for each in scored]
    return [
        RankRow(
            run=mean.run,
            slice=mean.slice,
            scores={
                name: each.why(run, q) if math.isnan(own[q]) else own[q]
                for name, each, own in values
            },
            queries=1,
            nil_queries=int(rankings.nil[q]),
            missing=int(missing[q]),
            unjudged=0,
            truncated=int(stopped[q]),
            query=rankings.queries[q],
        )
        for q in chosen.tolist()
    ]


def ranked_rows(rows: Iterable[RankRow], first: Measure) -> list[RankRow]:
    """By the first measure, the undefined last; equal scores share their rank."""
    name, sign = str(first), -1 if first.higher_is_better else 1
    ordered = sorted(
        rows,
        key=lambda r: (
            math.isnan(r.scores[name]),
            0.0 if math.isnan(r.scores[name]) else sign * r.scores[name],
            r.run,
        ),
    )
    defined = [r.scores[name] for r in ordered if not math.isnan(r.scores[name])]
    ranked = []
    for row in ordered:
        value = row.scores[name]
        if not math.isnan(value):
            equal = sum(same(other, value) for other in defined)
            better = sum(sign * o < sign * value and not same(o, value) for o in defined)
            row = replace(row, rank=f"{better + 1}{'=' if equal > 1 else ''}")
        ranked.append(row)
    return ranked


def same(a: float, b: float) -> bool:
    """Equal but for the rounding of the last digits."""
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-15)


# --------------------------------------------------------------------------------------- notes


def _notes(
    rankings: Rankings, measures: Sequence[RankingMeasure], settings: Settings
) -> Iterable[str]:
    """What a reader must know of the lists: how many were nil, missing, unjudged, truncated."""
    from abstain.rankings.notes import notes

    return notes(
        rankings,
        [str(m) for m in measures if m.definition.undefined],
        [str(m) for m in measures if m.definition.family == "truncated"],
        [str(m) for m in measures if _is_scaled(m)],
        nil=settings.nil,
        nil_as_answer=settings.nil_as_answer,
        limit=settings.limit,
        missing=settings.missing,
        trec_eval=settings.trec_eval,
    )


def _is_scaled(item: RankingMeasure) -> bool:
    """Whether it makes gains of grades by dividing them by the top grade."""
    scaled = any(p.name == "rel" and p.optional for p in item.definition.parameters)
    return scaled and "rel" not in item.arguments and item.name != "RR'"
