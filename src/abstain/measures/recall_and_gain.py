"""Further measures of trec_eval: precision at points of recall, geometric means, gain."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from abstain.measures.definition import Parameter, TrecName, np
from abstain.measures.kinds import ranked
from abstain.measures.ranked_lists import Floats, Pool, RankedLists
from abstain.measures.ranking import (
    K_IF_ANY,
    LONGER_IS_FREE,
    OFFICIAL,
    REL,
    TREC_EVAL,
    average_precision,
    bpref,
    found_relevant,
    ndcg,
    num_rel,
    of_graded,
    of_relevant,
    of_trec_eval,
    precisions,
    ratio,
)
from abstain.measures.trec_eval import listed_and_ideal, log, log2

POINTS = tuple(i / 10 for i in range(11))
LEAST = 0.00001
"""A geometric mean takes every score below this as this."""
EPSILON = 0.00001
RECALL = Parameter("recall", "the point of recall", low=0, high=1, cutoff=True)
GEOMETRIC = "Never score near 0: the query that a run is worst at counts for more than the others."


@of_relevant(
    "IPrec",
    formula="max P@i over the ranks i at which recall is at least the point",
    example="IPrec@0.5 = max(2/3) = 0.6667",
    parameters=(REL, RECALL),
    trec=(TrecName("iprec_at_recall", 10, "recalls", ("recall",), POINTS, sets=OFFICIAL),),
)
def interpolated_precision(rankings: RankedLists, *, recall: float, rel: float = 1) -> Floats:
    """Interpolated precision at a point of recall: the highest at that recall or a higher one.

    The point is turned into a number of relevant documents, the whole part of recall · R + 0.9, as
    in trec_eval. The score is 0 if the list holds fewer relevant documents than that.
    """
    return np.where(num_rel(rankings, rel=rel) > 0, at_points(rankings, [recall], rel)[0], np.nan)


@of_relevant(
    "11pt",
    formula="mean of IPrec at recall 0, 0.1, …, 1",
    example="11pt = (4 · 1 + 4 · 2/3) / 11 = 0.6061",
    trec=(TrecName("11pt_avg", 18, "numbers", ("points",), POINTS),),
)
def eleven_points(
    rankings: RankedLists, *, rel: float = 1, points: Sequence[float] = POINTS
) -> Floats:
    """The mean of the interpolated precision at eleven points of recall."""
    total = np.zeros(rankings.size)
    for values in at_points(rankings, points, rel)[::-1]:
        total += values
    return np.where(num_rel(rankings, rel=rel) > 0, total / len(points), np.nan)


def at_points(rankings: RankedLists, points: Sequence[float], rel: float) -> list[Floats]:
    """Interpolated precision at each point.

    trec_eval goes through the points from the last to the first and assumes that they fall. A point
    that is above the one before it gets the highest precision of the whole list, and so do all
    points after it.
    """
    chosen = found_relevant(rankings, rel)
    hits = rankings.count(chosen)
    best = rankings.highest_from(precisions(rankings, rel))[chosen]
    start, first = np.cumsum(hits) - hits, np.zeros(rankings.size)
    first[hits > 0] = best[start[hits > 0]]
    there = num_rel(rankings, rel=rel)
    reached, begun, stuck = hits, np.zeros(rankings.size, bool), np.zeros(rankings.size, bool)
    values: list[Floats] = []
    for point in reversed(points):
        wanted = np.trunc(point * there + 0.9).astype(np.int64)
        begun |= wanted <= hits
        stuck |= begun & ((wanted < 1) | (wanted > reached))
        counts = begun & ~stuck
        reached = np.where(counts, wanted, reached)
        highest = np.where(stuck, first, 0.0)
        highest[counts] = best[(start + wanted - 1)[counts]]
        values.append(highest)
    return values[::-1]


@of_relevant(
    "infAP",
    formula="(1/R) Σ 1/i + ((i−1)/i) · (pool before i)/(i−1) · (relevant before i + ε)/(judged "
    "before i + 2ε) over the ranks i of relevant documents",
    example="infAP = (1 + 1/3 + 2/3 · 2/2 · 1/2) / 3 = 0.5556",
    source="Yilmaz & Aslam 2006, Estimating Average Precision with Incomplete Judgments; trec_eval",
    trec=(TrecName("infAP", 14),),
)
def inferred_ap(rankings: RankedLists, *, rel: float = 1) -> Floats:
    """Average precision estimated from a pool of which only a sample was judged.

    A negative grade says that a document is in the pool and was not judged. R counts the relevant
    documents of the sample. Without such grades it is nearly AP.
    """
    chosen = found_relevant(rankings, rel)
    row, before = rankings.row[chosen], rankings.rank[chosen] - 1.0
    hits = rankings.running(chosen)[chosen] - 1
    misses = rankings.running(~chosen)[chosen]
    pool = hits + misses + rankings.sampled.before(row, rankings.rank[chosen])
    share = np.divide(pool, before, out=np.zeros_like(before), where=before > 0)
    inferred = (hits + EPSILON) / (hits + misses + 2 * EPSILON)
    each = 1.0 / (before + 1.0) + (before / (before + 1.0)) * share * inferred
    total = np.bincount(row, each, minlength=rankings.size)
    return ratio(total.astype(np.float64, copy=False), num_rel(rankings, rel=rel))


@of_graded(
    "NDCG-exp",
    formula="NDCG with the gain 2^grade − 1 in place of the grade",
    example="NDCG-exp = (1 + 1/2) / (1 + 0.6309 + 1/2) = 0.7039",
    source="Burges et al. 2005, Learning to Rank using Gradient Descent",
    note="ir_measures calls it nDCG(dcg='exp-log2'), ranx ndcg_burges.",
    aliases=("ndcg-burges",),
    parameters=(K_IF_ANY,),
)
def exponential_ndcg(rankings: RankedLists, *, k: float | None = None) -> Floats:
    """NDCG in which each further grade doubles the gain."""
    pool = rankings.pool
    listed, there = (np.exp2(g - pool.top) - 2.0**-pool.top for g in (rankings.grade, pool.grade))
    return ndcg(replace(rankings, grade=listed, pool=replace(pool, grade=there)), k=k)


ranked(
    "GMAP",
    "The geometric mean of AP: the queries that a run is worst at count most.",
    lambda r, rel=1: np.maximum(np.nan_to_num(average_precision(r, rel=rel)), LEAST),
    formula="exp of the mean of ln max(AP, 0.00001); the score of one query is max(AP, 0.00001)",
    example="GMAP = (1/1 + 2/3) / 3 = 0.5556",
    source="Robertson 2006, On GMAP: and Other Transformations; as in trec_eval",
    gaming=GEOMETRIC,
    geometric=True,
    parameters=(REL,),
    trec=(TrecName("gm_map", 6, per_query=False, sets=OFFICIAL),),
)
of_trec_eval(
    "GM-bpref",
    "The geometric mean of bpref: the queries that a run is worst at count most.",
    lambda r, rel=1: np.maximum(np.nan_to_num(bpref(r, rel=rel)), LEAST),
    formula="exp of the mean of ln max(bpref, 0.00001); one query: max(bpref, 0.00001)",
    example="GM-bpref = ((1 − 0/1) + (1 − 1/1)) / 3 = 0.3333",
    gaming=GEOMETRIC,
    geometric=True,
    parameters=(REL,),
    trec=(TrecName("gm_bpref", 15, per_query=False),),
)


@ranked(
    "yaap",
    formula="ln((1 + s) / (1 + R − s)), s = Σ P@i over the ranks i of relevant documents",
    example="yaap = ln((1 + 1.6667) / (1 + 3 − 1.6667)) = 0.1335",
    source="Robertson 2012, On Smoothing Average Precision; as in trec_eval",
    gaming=LONGER_IS_FREE,
    bounds=(-math.inf, math.inf),
    parameters=(REL,),
    trec=(TrecName("yaap", 34, sets=()),),
)
def yaap(rankings: RankedLists, *, rel: float = 1) -> Floats:
    """Average precision as log odds, so that a mean still shows differences near 0 and 1."""
    total = rankings.total(precisions(rankings, rel))
    return log((1.0 + total) / (1.0 + num_rel(rankings, rel=rel) - total))


of_gains = partial(of_graded, source=TREC_EVAL)


@of_relevant(
    "binG",
    formula="(1/R) Σ 1 / log2(2 + others before) over the relevant documents listed",
    example="binG = (1/log2(2) + 1/log2(3)) / 3 = 0.5436",
    trec=(TrecName("binG", 19),),
)
def binary_g(rankings: RankedLists, *, rel: float = 1) -> Floats:
    """G with gains 1 and 0: a document is discounted by how many above it are not relevant."""
    chosen = found_relevant(rankings, rel)
    others = rankings.rank + 2 - rankings.running(chosen)
    each = np.zeros(len(others))
    each[chosen] = 1.0 / log2(others[chosen])
    return ratio(rankings.total(each), num_rel(rankings, rel=rel))


@of_gains(
    "G",
    formula="Σ r_i / log2(2 + ideal gain up to i − gain up to i) / Σ r*",
    example="G = (1/log2(2) + 1/log2(3)) / 3 = 0.5436",
    trec=(TrecName("G", 20, "gains"),),
)
def normalised_g(rankings: RankedLists, *, gains: Mapping[int, float] | None = None) -> Floats:
    """The gain of the list; each gain is discounted by how far the list is behind the ideal.

    The running gain of the ideal list rises by at least 1 at each of its ranks, and goes on rising
    by 1 per rank after the list has ended.
    """
    listed, ideal = listed_and_ideal(rankings, gains)
    query = rankings.query[rankings.row]
    cost = ideal.total_of_first(np.maximum(ideal.grade, 1.0), query, rankings.rank)
    cost += np.maximum(rankings.rank - np.diff(ideal.offsets)[query], 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = listed / log2(2 + cost - rankings.running(listed))
    total = rankings.total(np.where(listed != 0, each, 0.0))
    return ratio(total, rankings.per_row(ideal.total(ideal.grade)))


@of_gains(
    "NDCG-rel",
    formula="mean of NDCG at the ranks of documents with a gain (missing ones: at the end)",
    example="NDCG-rel = (1 + 1.5/2.1309 + 1.5/2.1309) / 3 = 0.8026",
    trec=(TrecName("ndcg_rel", 22, "gains"),),
)
def ndcg_at_relevant(rankings: RankedLists, *, gains: Mapping[int, float] | None = None) -> Floats:
    """NDCG averaged over the ranks of the documents that have a gain."""
    listed, ideal, discounted, best = _discounted(rankings, gains)
    lengths = np.diff(ideal.offsets)[rankings.query]
    hit = listed > 0
    ideal_dcg = ideal.total_of_first(best, rankings.query[rankings.row], rankings.rank)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(hit, rankings.running(discounted) / ideal_dcg, 0.0)
        missed = lengths - rankings.count(hit)
        at_end = missed * rankings.total(discounted) / rankings.per_row(ideal.total(best))
    total = rankings.total(each) + at_end
    return ratio(np.maximum(total, 0.0), lengths.astype(np.float64))


@of_relevant(
    "RNDCG",
    formula="mean of NDCG at the ranks where the gain of the ideal list drops, and at the end of "
    "the run's list if that has at least two documents more than the ideal list",
    example="RNDCG = 1.5 / 2.1309 = 0.7039",
    aliases=("Rndcg",),
    trec=(TrecName("Rndcg", 23, "gains"),),
)
def r_ndcg(
    rankings: RankedLists, *, rel: float = 1, gains: Mapping[int, float] | None = None
) -> Floats:
    """The mean of NDCG at the ranks where the ideal list's gain drops, and at the run's end."""
    _, ideal, discounted, best = _discounted(rankings, gains)
    lengths = np.diff(ideal.offsets)
    falls = np.ones(len(ideal.grade), bool)
    falls[:-1] = (np.diff(ideal.row) > 0) | (np.diff(ideal.grade) != 0)
    points = np.flatnonzero(falls)
    runs = len(rankings.runs)
    row = (np.arange(runs)[:, None] * ideal.size + ideal.row[points]).ravel()
    at = np.tile(ideal.place[points], runs)
    dcg = rankings.total_of_first(discounted, row, rankings.before(row, at + 1))
    ratios = dcg / np.tile(ideal.running(best)[points], runs)
    total = np.bincount(row, ratios, minlength=rankings.size).astype(np.float64, copy=False)
    count = np.bincount(row, minlength=rankings.size)
    goes_on = rankings.depth > lengths[rankings.query] + 1
    whole = ratio(rankings.total(discounted), rankings.per_row(ideal.total(best)))
    total = np.where(goes_on, total + whole, total)
    with np.errstate(invalid="ignore"):
        mean = total / (count + goes_on)
    return np.where(num_rel(rankings, rel=rel) > 0, mean, np.nan)


def _discounted(
    rankings: RankedLists, gains: Mapping[int, float] | None
) -> tuple[Floats, Pool, Floats, Floats]:
    """Gains of what is listed and ideal lists, with the discounted gains of both."""
    listed, ideal = listed_and_ideal(rankings, gains)
    discounted = listed / log2(rankings.rank + 1)
    return listed, ideal, discounted, ideal.grade / log2(ideal.place + 1)
