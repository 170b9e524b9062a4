"""Measures of a list that ends: truncation-aware ones, of the listed set, with a price a document.

Liu, Moffat, Baldwin and Zhang (2016) read a list that its system ended after d documents as if a
terminal document stood at d + 1. Its gain r_t is the share of the gain that was retrieved, Σ r / R,
and 1 where nothing is relevant. A list that only ended because it reached the limit has no terminal
document and keeps the unmodified measure, which is 0 where there was nothing to find: were such a
list left out of a mean, filling it up to the limit would pay.

r are gains in [0, 1]: grade / top grade, or 1 and 0 with `rel`. R is the pool's total gain.
"""

from __future__ import annotations

import math
from functools import partial

from abstain.measures.definition import Parameter, TrecName, np
from abstain.measures.kinds import ranked
from abstain.measures.ranked_lists import ByDepth, Floats, Prefixes, RankedLists
from abstain.measures.ranking import (
    EMPTY_LIST,
    NO_RELEVANT,
    REL,
    REL_IF_ANY,
    K,
    at_cutoffs,
    gains,
    num_rel,
    num_rel_ret,
    num_ret,
    of_relevant,
    of_trec_eval,
    ratio,
    with_first_rank,
)
from abstain.measures.user_models import P, rbp

PAPER = "Liu, Moffat, Baldwin & Zhang 2016, Quit While Ahead: Evaluating Truncated Rankings"
STOP = (
    "Stop where what is left is not worth reading: a longer tail costs, and so does stopping "
    "early. A list that reaches the limit is scored by the original measure, or 0 if nothing is "
    "relevant."
)

primed = partial(ranked, family="truncated", source=PAPER, gaming=STOP, knows_end=True)


def _terminal(cut: Prefixes) -> Floats:
    """r_t of a list that ends at each depth."""
    return ratio(cut.cumulative, cut.there[..., None], empty=1.0)


def _rr_by_depth(cut: Prefixes, *, rel: float | None = None) -> ByDepth:
    first = np.maximum.accumulate(np.where(cut.gain > 0, 1.0 / cut.rank, 0.0), axis=-1)
    listed = np.concatenate([np.zeros((*first.shape[:-1], 1)), first], axis=-1)
    return ByDepth(np.where(cut.there[..., None] > 0, listed, 1.0 / (cut.depth + 1)))


def _rbp_by_depth(cut: Prefixes, *, p: float = 0.8, rel: float | None = None) -> ByDepth:
    listed = (1 - p) * cut.gain * np.power(p, cut.rank - 1.0)
    return ByDepth(_terminal(cut) * np.power(p, cut.depth * 1.0), listed)


def _ndcg_by_depth(cut: Prefixes, *, rel: float | None = None) -> ByDepth:
    listed = ByDepth(0.0, cut.gain / np.log2(1.0 + cut.rank)).values
    relevant = cut.relevant[..., None]
    room = np.where(relevant < cut.depth + 1, 1 / np.log2(2.0 + relevant), 0.0)
    ended = _terminal(cut) / np.log2(2.0 + cut.depth)
    return ByDepth((listed + ended) / (cut.ideal + room))


def _ap_by_depth(cut: Prefixes, *, rel: float | None = None) -> ByDepth:
    terminal, whole = _terminal(cut), cut.there[..., None] + 1
    ended = terminal * (cut.cumulative + terminal) / ((cut.depth + 1) * whole)
    return ByDepth(ended, cut.gain * cut.cumulative[..., 1:] / (cut.rank * whole))


@primed(
    "RR'",
    formula="RR if something relevant is listed; 1/(d + 1) if R = 0; 0 otherwise",
    example="RR' = 1 / 1 = 1.0000",
    aliases=("RRt",),
    original="RR",
    parameters=(REL_IF_ANY,),
    by_depth=_rr_by_depth,
)
def reciprocal_rank_t(rankings: RankedLists, *, rel: float | None = None) -> Floats:
    """Reciprocal rank that rewards stopping at once where there is nothing to find."""
    pool = rankings.pool
    nothing = rankings.stopped & pool.nothing(rel)[rankings.query]
    values = np.where(nothing, 1 / (rankings.depth + 1.0), 0.0)
    return with_first_rank(values, rankings, gains(rankings.grade, pool, rel) > 0)


primed(
    "RBP'",
    "Rank-biased precision with the list's end as one more document.",
    lambda r, p=0.8, rel=None: (
        rbp(r, p=p, rel=rel) + np.where(r.stopped, _end(r, rel) * np.power(p, r.depth * 1.0), 0.0)
    ),
    formula="(1 − p) Σ r_i p^(i−1) + r_t p^d, r_t = Σ r_i / R (1 if R = 0)",
    example="RBP'(p=0.8) = 0.2 · (1 + 0.64) + 2/3 · 0.512 = 0.6693",
    aliases=("RBPt",),
    original="RBP",
    scales_grades=True,
    lower_grades_cost=True,
    parameters=(P, REL_IF_ANY),
    by_depth=_rbp_by_depth,
)


@primed(
    "NDCG'",
    formula="DCG(r_1, …, r_d, r_t) / DCG(the d + 1 gains of the ideal list)",
    example="NDCG' = (1 + 1/2 + 2/3 · 0.4307) / (1 + 0.6309 + 1/2 + 0.4307) = 0.6977",
    aliases=("NDCGt",),
    original="NDCG",
    ideal_ends=True,
    scales_grades=True,
    parameters=(REL_IF_ANY,),
    bounds=lambda rel=None: (0.0, math.inf if rel is None else 1.0),
    by_depth=_ndcg_by_depth,
)
def ndcg_t(rankings: RankedLists, *, rel: float | None = None) -> Floats:
    """Discounted gain with the list's end as one more document, over that of the ideal list.

    If the pool has fewer than d + 1 documents with a gain, a gain of 1 follows them in the ideal
    list, for the end of the list. At a limit of 10 a list that reaches it scores NDCG@10. With
    graded gains the score can exceed 1: r_t may be larger than the last gain of the ideal list.
    """
    pool, stopped = rankings.pool, rankings.stopped
    gain = gains(rankings.grade, pool, rel)
    listed = rankings.total(gain / np.log2(1.0 + rankings.rank))
    terminal = _end(rankings, rel) / np.log2(2.0 + rankings.depth)
    best = gains(pool.grade, pool, rel)
    length = rankings.depth + stopped
    ideal = pool.total_of_first(best / np.log2(1.0 + pool.place), rankings.query, length)
    relevant = rankings.per_row(pool.count(best > 0))
    ideal += np.where(stopped & (relevant < length), 1 / np.log2(2.0 + relevant), 0.0)
    return ratio(listed + np.where(stopped, terminal, 0.0), ideal, empty=0.0)


@primed(
    "AP'",
    formula="(1/(R + 1)) Σ_{i ≤ d+1} r_i (Σ_{j ≤ i} r_j) / i",
    example="AP' = (1/1 + 2/3 + 2/3 · (2 + 2/3)/4) / 4 = 0.5278",
    aliases=("APt",),
    original="AP",
    scales_grades=True,
    lower_grades_cost=True,
    parameters=(REL_IF_ANY,),
    by_depth=_ap_by_depth,
)
def average_precision_t(rankings: RankedLists, *, rel: float | None = None) -> Floats:
    """Average precision with the list's end as one more relevant document."""
    grade, there, top = _graded(rankings, rel)
    listed = rankings.total((grade / top) * (rankings.running(grade) / top) / rankings.rank)
    end, there = _end(rankings, rel), there / top
    terminal = end * (rankings.total(grade) / top + end) / (rankings.depth + 1)
    ended = (listed + terminal) / (there + 1)
    return np.where(rankings.stopped, ended, ratio(listed, there, empty=0.0))


def _graded(rankings: RankedLists, rel: float | None) -> tuple[Floats, Floats, float]:
    """The grade of each document, those of each pool together, and which grade is a gain of 1."""
    pool, top = rankings.pool, rankings.pool.top
    if rel is None:
        return rankings.grade, rankings.per_row(pool.total(pool.grade)), top if top > 0 else 1.0
    there = rankings.per_row(pool.total(gains(pool.grade, pool, rel)))
    return gains(rankings.grade, pool, rel), there, 1.0


def _end(rankings: RankedLists, rel: float | None) -> Floats:
    """r_t, whether or not the row has a terminal document."""
    grade, there, _ = _graded(rankings, rel)
    return ratio(rankings.total(grade), there, empty=1.0)


RECALL = "how much more recall counts than precision"
BETA = Parameter("beta", RECALL, 0, 1e6, low_open=True, default=1, always=True)
EFFORT = Parameter("e", "what reading one document costs", low=0, high=1, default=0.1, always=True)
NOT_WORTH_IT = (
    "Stop where the next document is so unlikely to be relevant that it is not worth its cost."
)


ranked(
    "SetF",
    "F of the listed set: precision and recall in one number, whatever the order.",
    lambda r, beta=1, rel=1: ratio(
        (1 + beta**2) * num_rel_ret(r, rel=rel),
        num_ret(r) + beta**2 * num_rel(r, rel=rel),
        empty=1.0,
    ),
    family="truncated",
    formula="(1 + β²) · retrieved / (d + β² R); where R = 0: 1 for an empty list, else 0",
    example="SetF(beta=1) = 2 · 2 / (3 + 3) = 0.6667",
    source="van Rijsbergen 1979, Information Retrieval, chapter 7; the set measure of ir_measures",
    gaming=NOT_WORTH_IT + " The order of the list does not matter.",
    aliases=("SetF1",),
    parameters=(BETA, REL),
    by_depth=lambda cut, *, beta=1, rel=1: ByDepth(
        ratio((1 + beta**2) * cut.cumulative, cut.depth + beta**2 * cut.there[..., None], empty=1.0)
    ),
)


STOP_EARLY = (
    "List one document that is surely relevant, and stop; or list nothing: an undefined score is "
    "left out of the mean."
)
SETS = ("set", "all_trec")
WEIGHTS = (
    Parameter("a", "the worth of a relevant document that is listed", default=1.0),
    Parameter("b", "the worth of a listed document that is not relevant", default=-1.0),
    Parameter("c", "the worth of a relevant document that is not listed", default=0.0),
    Parameter("d", "the worth of a document that is neither relevant nor listed", default=0.0),
)
X = Parameter("x", f"β², {RECALL}", low=0, default=1, always=True)
DOCUMENTS = Parameter("n", "documents in the collection", low=0, whole=True, default=0)


of_trec_eval(
    "SetP",
    "The share of relevant documents in the list, however long it is.",
    lambda r, rel=1: ratio(num_rel_ret(r, rel=rel), num_ret(r)),
    formula="(relevant listed) / d",
    example="SetP = 2 / 3 = 0.6667",
    gaming=STOP_EARLY,
    undefined=(EMPTY_LIST,),
    parameters=(REL,),
    trec=(TrecName("set_P", 28, sets=SETS),),
)
of_relevant(
    "SetRelP",
    "Precision of the list over the best that a list of its length could have.",
    lambda r, rel=1: ratio(num_rel_ret(r, rel=rel), np.minimum(num_ret(r), num_rel(r, rel=rel))),
    formula="(relevant listed) / min(d, R)",
    example="SetRelP = 2 / min(3, 3) = 0.6667",
    gaming=STOP_EARLY,
    undefined=(NO_RELEVANT, EMPTY_LIST),
    trec=(TrecName("set_relative_P", 29, sets=SETS),),
)
of_relevant(
    "SetAP",
    "Precision times recall of the list as a set.",
    lambda r, rel=1: ratio(num_rel_ret(r, rel=rel) ** 2, num_ret(r) * num_rel(r, rel=rel)),
    formula="(relevant listed)² / (d · R)",
    example="SetAP = 2² / (3 · 3) = 0.4444",
    note="It is precision times recall: a list of medium length pays.",
    undefined=(NO_RELEVANT, EMPTY_LIST),
    trec=(TrecName("set_map", 31, sets=SETS),),
    gaming="",
)


@of_trec_eval(
    "set_F",
    formula="(x + 1) P R / (x P + R), P and R those of the whole list",
    example="set_F(x=1) = 2 · 2/3 · 2/3 / (2/3 + 2/3) = 0.6667",
    gaming="An empty list scores 0 even where nothing is relevant: always list something.",
    parameters=(X, REL),
    trec=(TrecName("set_F", 32, "numbers", ("x",), (1.0,), sets=SETS),),
)
def set_f_of_trec_eval(rankings: RankedLists, *, x: float = 1, rel: float = 1) -> Floats:
    """F of precision and recall as in trec_eval: x is β²; F is 0 if nothing relevant is listed."""
    hits = num_rel_ret(rankings, rel=rel)
    precision = ratio(hits, num_ret(rankings), empty=0.0)
    recall = ratio(hits, num_rel(rankings, rel=rel), empty=0.0)
    return ratio((x + 1.0) * precision * recall, x * precision + recall, empty=0.0)


of_relevant(
    "RelP",
    "P@k over the best that it could be.",
    lambda r, k, rel=1: ratio(num_rel_ret(r, rel=rel, k=k), np.minimum(k, num_rel(r, rel=rel))),
    formula="(relevant among the first k) / min(k, R)",
    example="RelP@10 = 2 / min(10, 3) = 0.6667",
    gaming="List k documents: after the first R, further documents cost nothing.",
    parameters=(REL, K),
    trec=(at_cutoffs("relative_P", 26),),
)


@of_trec_eval(
    "Utility",
    formula="a·(relevant listed) + b·(others listed) + c·(relevant not listed) + d·(others not)",
    example="Utility = 2 − 1 = 1",
    note="With the default weights a document pays if it is relevant with a chance above ½.",
    bounds=(-math.inf, math.inf),
    parameters=(*WEIGHTS, REL, DOCUMENTS),
    trec=(TrecName("utility", 17, "numbers", tuple("abcd"), (1.0, -1.0, 0.0, 0.0), sets=SETS),),
)
def utility(rankings: RankedLists, *, rel: float, n: float, **worth: float) -> Floats:
    """The worth of the list: each document has a weight (relevant or not, listed or not)."""
    hits, there = num_rel_ret(rankings, rel=rel), num_rel(rankings, rel=rel)
    listed = num_ret(rankings)
    others = n + hits - listed - there
    counts = {"a": hits, "b": listed - hits, "c": there - hits, "d": others}
    return sum((worth[name] * count for name, count in counts.items()), np.zeros(rankings.size))


@ranked(
    "pDCG",
    family="truncated",
    formula="Σ_{i ≤ d} s_i / log2(1 + i), s = 1 if relevant, else −1",
    example="pDCG = 1 − 0.6309 + 1/2 = 0.8691",
    source="Bahri et al. 2020, Choppy: Cut Transformer for Ranked List Truncation",
    gaming="Stop where a document is more likely not relevant than relevant: an empty list has 0.",
    aliases=("penalised-DCG", "DCG-penalised"),
    parameters=(REL,),
    bounds=(-math.inf, math.inf),
    by_depth=lambda cut, *, rel=1: ByDepth(0.0, (2 * cut.gain - 1) / np.log2(1.0 + cut.rank)),
)
def penalised_dcg(rankings: RankedLists, *, rel: float = 1) -> Floats:
    """Discounted gain, where a document that is not relevant costs what a relevant one earns."""
    longest = int(rankings.depth.max(initial=0))
    costs = np.concatenate(([0.0], np.cumsum(1 / np.log2(2.0 + np.arange(longest)))))
    relevant = gains(rankings.grade, rankings.pool, rel)
    return rankings.total(2 * relevant / np.log2(1.0 + rankings.rank)) - costs[rankings.depth]


ranked(
    "RBP-effort",
    "Rank-biased precision less the effort of reading each document.",
    lambda r, p=0.8, e=0.1, rel=None: rbp(r, p=p, rel=rel) - e * (1 - np.power(p, r.depth * 1.0)),
    family="truncated",
    formula="(1 − p) Σ_{i ≤ d} p^(i−1) (r_i − e), r = grade / top grade",
    example="RBP-effort(p=0.8,e=0.1) = 0.3280 − 0.1 · (1 − 0.512) = 0.2792",
    source="RBP (Moffat & Zobel 2008) with a price for each document",
    gaming="Stop where the gain expected of a document falls below e: an empty list has 0.",
    aliases=("RBPe",),
    parameters=(P, EFFORT, REL_IF_ANY),
    bounds=lambda e=0.1, **_: (-e, 1.0),
    scales_grades=True,
    by_depth=lambda cut, *, p=0.8, e=0.1, rel=None: ByDepth(
        0.0, (1 - p) * (cut.gain - e) * np.power(p, cut.rank - 1.0)
    ),
)
