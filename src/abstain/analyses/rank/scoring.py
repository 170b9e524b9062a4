"""From rankings to rows of scores: means by slice, and each query's scores where asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from abstain.analyses.rank.notes import notes
from abstain.analyses.rank.results import RankResult, RankRow, Settings
from abstain.measures.of_rankings import RankingMeasure
from abstain.measures.ranked_lists import Bools, Floats, Ints, RankedLists
from abstain.outcomes import Undefined
from abstain.stats.ties import places

Slices = dict[str, list[str | None]]
"""An attribute's value for each query of the gold."""

NOT_IN_RUN = "the run has none of these queries"


def score_rankings(
    rankings: RankedLists,
    measures: Sequence[RankingMeasure],
    settings: Settings,
    *,
    slices: Slices | None = None,
    per_query: bool = False,
) -> RankResult:
    """Score rankings that were read: means by slice, and each query's scores if asked for."""
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
        for row in _ranked(means, measures[0]):
            if per_query:
                rows += _query_rows(rankings, row, chosen, scored, settings)
            rows.append(row)
    return RankResult(
        measures=tuple(measures),
        by=tuple(slices),
        rows=tuple(rows),
        queries=len(rankings.queries),
        nil_queries=int(rankings.nil.sum()),
        top_grade=rankings.pool.top,
        settings=settings,
        notes=tuple(notes(rankings, measures, settings)),
    )


class _Scored:
    """A measure's scores, runs × queries; where they do not exist, nan and the reasons."""

    def __init__(self, item: RankingMeasure, rankings: RankedLists, settings: Settings) -> None:
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
    rankings: RankedLists,
    run: int,
    where: dict[str, str | None],
    chosen: Ints,
    scored: Sequence[_Scored],
    settings: Settings,
) -> RankRow:
    missing: Bools = rankings.by_run(rankings.missing)[run, chosen]
    counted = _counted(rankings, run, chosen, settings)
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
        queries=len(counted),
        nil_queries=int(rankings.nil[counted].sum()),
        missing=int(missing.sum()),
        unjudged=len(rankings.unjudged[run]),
        truncated=int(rankings.by_run(rankings.stopped)[run, counted].sum()),
        left_out=left_out,
    )


def _counted(rankings: RankedLists, run: int, chosen: Ints, settings: Settings) -> Ints:
    """The queries that count for a run: without the missing ones where these are skipped."""
    if settings.missing != "skip":
        return chosen
    there: Bools = ~rankings.by_run(rankings.missing)[run, chosen]
    return chosen[there]


def _query_rows(
    rankings: RankedLists,
    mean: RankRow,
    chosen: Ints,
    scored: Sequence[_Scored],
    settings: Settings,
) -> list[RankRow]:
    """A row for each query that the mean is taken over."""
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
        for q in _counted(rankings, run, chosen, settings).tolist()
    ]


def _ranked(rows: list[RankRow], first: RankingMeasure) -> list[RankRow]:
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
    scores = [row.scores[name] for row in ordered]
    ranks = places(scores, higher_is_better=first.higher_is_better)
    return [replace(row, rank=rank) for row, rank in zip(ordered, ranks, strict=True)]
