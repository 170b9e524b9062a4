"""From what was found of each run to rankings: missing queries, NIL and the limit.

Where a list ends (Table 2 of Liu et al. 2016): a NIL at rank i ends it after i − 1
documents; a list shorter than the limit was ended by its system; a list that reaches the
limit was not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from abstain.measures.ranked_lists import Pool, RankedLists
from abstain.rankings.collector import Collected
from abstain.rankings.judgments import NIL, Judgments
from abstain.rankings.placing import NOTHING_FOUND, Found, together


def assemble(
    judgments: Judgments, runs: Sequence[tuple[str, Collected]], *, limit: int | None = None
) -> RankedLists:
    """Rankings of the runs for gold's queries, run by run.

    Where a NIL does not end its list it is a document in it, as in TREC 2001, with a gain of 1
    where the query has no relevant document and none elsewhere.
    """
    queries = len(judgments.queries)
    counts = [found.lengths[:queries] for _, found in runs]
    returned = np.concatenate([np.zeros(0, np.int64), *counts])
    found = _stacked([found for _, found in runs], queries)
    row, rank, grade = found.code, found.rank, found.grade
    is_nil = grade == NIL
    pool = judgments.pool
    if not judgments.nil_ends:
        pool = _with_nil(pool)
        kept = ~is_nil | judgments.pool.nothing()[row % max(queries, 1)]
        grade = np.where(is_nil, pool.top, grade)[kept]
        row, rank, is_nil = row[kept], rank[kept], is_nil[kept]
    rankings = RankedLists(
        runs=tuple(name for name, _ in runs),
        queries=judgments.queries,
        pool=pool,
        depth=returned,
        offsets=np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(returned))))),
        rank=rank,
        grade=grade,
        missing=returned == 0,
        stopped=np.ones(len(returned), bool),
        returned=returned,
        nil=judgments.pool.nothing(),
        unjudged=_unjudged(judgments, [found for _, found in runs]),
        nil_words=tuple(dict.fromkeys(word for _, found in runs for word in found.nil_words)),
    )
    ends = np.full(len(returned), np.iinfo(np.int64).max)
    if judgments.nil_ends:
        ends[row[is_nil]] = rank[is_nil] - 1
    if limit is not None:
        reached = np.minimum(returned, ends) >= limit
        rankings = replace(rankings, stopped=~reached)
        ends = np.minimum(ends, limit)
    return rankings.first(ends)


def _unjudged(judgments: Judgments, runs: Sequence[Collected]) -> tuple[tuple[str, ...], ...]:
    names = judgments.names()
    gold = len(judgments.queries)
    return tuple(tuple(names.gather(np.flatnonzero(found.lengths[gold:]) + gold)) for found in runs)


def _stacked(runs: Sequence[Collected], queries: int) -> Found:
    """The documents judged for gold's queries, run after run; each has its row as its code."""
    parts = [NOTHING_FOUND]
    for number, found in enumerate(runs):
        gold = found.code < queries
        row = found.code[gold] + number * queries
        parts.append(Found(row, found.rank[gold], found.grade[gold]))
    return together(parts)


def _with_nil(pool: Pool) -> Pool:
    """The pool with NIL as the one right answer where there is no other."""
    top = pool.top or 1.0
    nothing = pool.nothing()
    grades = np.insert(pool.grade, pool.offsets[:-1][nothing], top)
    return Pool(pool.offsets + np.concatenate(([0], np.cumsum(nothing))), grades, top)
