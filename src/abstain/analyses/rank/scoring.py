"""`rank`: the means of every run, by slices, and each query's scores where asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from abstain.analyses.rank.lists import (
    full_for_nothing,
    graded,
    lists_of,
    nothing_relevant,
    unjudged,
)
from abstain.analyses.rank.result import QueryRow, RankResult, RankRow
from abstain.analyses.truncation import truncation as truncation_of
from abstain.errors import plural, some_of
from abstain.judging.reading import reading_of
from abstain.measures import Measure
from abstain.measures.kinds import RankingMeasure
from abstain.rankings.chosen import default_measures, ranking_measures
from abstain.rankings.rankings import Rankings
from abstain.stats.standings import places

if TYPE_CHECKING:
    from abstain.measures.ranked_lists import Ints

NOT_IN_RUN = "the run has none of these queries"


def rank(
    rankings: Rankings,
    measures: Sequence[str | Measure] | str | Measure = (),
    *,
    by: Sequence[str] | str = (),
    per_query: bool = False,
    truncation: bool = False,
) -> RankResult:
    """Score rankings: means by slice, each query's scores and a report on truncation if asked."""
    by = (by,) if isinstance(by, str) else tuple(dict.fromkeys(by))
    chosen = ranking_measures(measures or default_measures(rankings.settings))
    lists = rankings.lists
    slices, strangers = rankings.attributes(by)
    scored = [_Scored(item, rankings) for item in chosen]
    parts: dict[tuple[str | None, ...], list[int]] = {}
    for query in range(len(lists.queries)):
        parts.setdefault(tuple(values[query] for values in slices.values()), []).append(query)
    rows: list[RankRow] = []
    single: list[QueryRow] = []
    for part in sorted(parts, key=lambda values: [(v is None, v or "") for v in values]):
        queries = np.array(parts[part])
        where = dict(zip(slices, part, strict=True))
        means = [_mean(rankings, run, where, queries, scored) for run in range(len(lists.runs))]
        ranked = _ranked(means, chosen[0])
        rows += ranked
        if per_query:
            for row in ranked:
                single += _query_rows(rankings, row, queries, scored)
    report = truncation_of(rankings) if truncation else None
    return RankResult(
        reading=reading_of(rankings.reading),
        notes=(*rankings.notes, *_without_attributes(strangers, by)),
        measures=tuple(str(item) for item in chosen),
        by=by,
        queries=len(lists.queries),
        nil_queries=int(lists.nil.sum()),
        top_grade=float(lists.pool.top),
        graded=graded(lists),
        settings=rankings.settings,
        lists=lists_of(rankings),
        nothing_relevant=nothing_relevant(lists, chosen),
        full_for_nothing=full_for_nothing(lists, chosen),
        unjudged=unjudged(lists),
        nil_words=lists.nil_words,
        rows=tuple(rows),
        per_query=tuple(single),
        truncation=None if report is None else structs.replace(report, reading=None, notes=()),
    )


def _without_attributes(names: Sequence[str], by: Sequence[str]) -> list[str]:
    """A remark on the queries that cannot be sliced because the table does not have them."""
    if not names:
        return []
    count = plural(len(names), "query", "queries")
    return [f"{count} not in the table of queries, so without {', '.join(by)}: {some_of(names)}"]


class _Scored:
    """A measure's scores, runs × queries; where they do not exist, NaN and the reasons."""

    def __init__(self, item: RankingMeasure, rankings: Rankings) -> None:
        self.item, self.lists = item, rankings.lists
        self.table = rankings.values(item)

    @cached_property
    def reasons(self) -> list[str | None]:
        return self.item.reasons(self.lists)

    def why(self, run: int, query: int) -> str:
        """Why a run has no score for a query."""
        return self.reasons[run * len(self.lists.queries) + query] or "undefined"


def _mean(
    rankings: Rankings,
    run: int,
    where: dict[str, str | None],
    queries: Ints,
    scored: Sequence[_Scored],
) -> RankRow:
    """A run's means over some queries."""
    lists = rankings.lists
    counted = queries[rankings.counted[run, queries]]
    scores: dict[str, float | None] = {}
    undefined: dict[str, str] = {}
    left_out: dict[str, int] = {}
    for each in scored:
        name = str(each.item)
        values = each.table[run, counted]
        known = values[~np.isnan(values)]
        if len(known):
            scores[name] = float(known.sum() if each.item.definition.total else known.mean())
        else:
            scores[name] = None
            undefined[name] = each.why(run, int(counted[0])) if len(values) else NOT_IN_RUN
        if len(known) < len(values):
            left_out[name] = len(values) - len(known)
    return RankRow(
        run=lists.runs[run],
        slice=where,
        queries=len(counted),
        nil_queries=int(lists.nil[counted].sum()),
        missing=int(lists.by_run(lists.missing)[run, queries].sum()),
        unjudged=len(lists.unjudged[run]),
        truncated=int(lists.by_run(lists.stopped)[run, counted].sum()),
        scores=scores,
        undefined=undefined,
        left_out=left_out,
    )


def _query_rows(
    rankings: Rankings, mean: RankRow, queries: Ints, scored: Sequence[_Scored]
) -> list[QueryRow]:
    """A row for each query that the mean is taken over."""
    lists = rankings.lists
    run = lists.runs.index(mean.run)
    nil = lists.nil.tolist()
    missing = lists.by_run(lists.missing)[run].tolist()
    stopped = lists.by_run(lists.stopped)[run].tolist()
    values = [(str(each.item), each, each.table[run].tolist()) for each in scored]
    rows = []
    for q in queries[rankings.counted[run, queries]].tolist():
        scores = {name: None if math.isnan(own[q]) else own[q] for name, _, own in values}
        rows.append(
            QueryRow(
                run=mean.run,
                slice=mean.slice,
                query=lists.queries[q],
                scores=scores,
                undefined={n: each.why(run, q) for n, each, _ in values if scores[n] is None},
                nil=nil[q],
                missing=missing[q],
                truncated=stopped[q],
            )
        )
    return rows


def _ranked(rows: list[RankRow], first: RankingMeasure) -> list[RankRow]:
    """By the first measure, the undefined last; equal scores share their rank."""
    name, sign = str(first), -1 if first.higher_is_better else 1
    ordered = sorted(
        rows, key=lambda r: (r.scores[name] is None, sign * (r.scores[name] or 0.0), r.run)
    )
    scores = [math.nan if (own := row.scores[name]) is None else own for row in ordered]
    ranks = places(scores, higher_is_better=first.higher_is_better)
    return [structs.replace(row, rank=rank) for row, rank in zip(ordered, ranks, strict=True)]
