"""Measures of rankings as trec_eval defines them, with the Q-measure, and counts of documents.

Each takes rankings and gives a number a row (a run and query), nan where it does not exist.
`rel` is the lowest grade that counts as relevant, `k` the rank after which nothing counts,
R the number of relevant documents there are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

from msgspec.structs import replace

from abstain.measures.definition import Parameter, TrecName, Undefinedness, np
from abstain.measures.kinds import ranked
from abstain.measures.ranked_lists import Bools, Floats, Pool, RankedLists
from abstain.measures.trec_eval import listed_and_ideal, log2

TREC_EVAL = "trec_eval (Buckley, Voorhees, Soboroff), NIST"
LONGER_IS_FREE = (
    "Never stop: documents after the last relevant one cost nothing, so the longest list wins."
)

K = Parameter("k", "how many documents count", low=1, whole=True, cutoff=True)
K_IF_ANY = replace(K, meaning="how many documents count (default: all)", optional=True)
REL = Parameter("rel", "the lowest grade that is relevant", low=0, low_open=True, default=1)
REL_IF_ANY = replace(
    REL,
    meaning="grades from this one on have a gain of 1 (default: gain = grade / top grade)",
    default=None,
    optional=True,
)
BETA = Parameter(
    "beta", "how much grades count relative to ranks", low=0, high=1e6, default=1, always=True
)
MULT = Parameter("mult", "the cutoff as a multiple of R", low=0, low_open=True, default=1)
NOTHING_RELEVANT = "the query has no relevant document"
NO_RELEVANT = Undefinedness(lambda r, rel=1, **_: r.pool.nothing(rel)[r.query], NOTHING_RELEVANT)
NO_GAIN = Undefinedness(lambda r, **_: r.pool.nothing()[r.query], NOTHING_RELEVANT)

EMPTY_LIST = Undefinedness(lambda r, **_: r.depth == 0, "the list is empty")
OFFICIAL = ("official", "all_trec")
COUNTED = ("official", "set", "all_trec")
"""The sets of trec_eval that nearly all measures belong to, and those that all counts belong to."""


def at_cutoffs(name: str, place: int, *sets: str) -> TrecName:
    """A measure that trec_eval computes at its nine cutoffs, or at others that are requested."""
    usual = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
    return TrecName(name, place, "cutoffs", ("k",), usual, sets=sets or ("all_trec",))


def num_ret(rankings: RankedLists) -> Floats:
    return rankings.depth.astype(np.float64)


def num_rel(rankings: RankedLists, *, rel: float = 1) -> Floats:
    return rankings.per_row(rankings.pool.count(rankings.pool.grade >= rel))


def num_rel_ret(rankings: RankedLists, *, rel: float = 1, k: float | None = None) -> Floats:
    return rankings.count(found_relevant(rankings, rel, k)).astype(np.float64)


def _listed(rankings: RankedLists, k: float | None) -> Floats:
    """How many documents are among the first k."""
    return np.minimum(math.inf if k is None else k, num_ret(rankings))


def _seen(rankings: RankedLists, k: float | None) -> Floats:
    """How many of these were judged."""
    return rankings.count(rankings.rank <= (math.inf if k is None else k)).astype(np.float64)


of_trec_eval = partial(ranked, source=TREC_EVAL)
of_graded = partial(ranked, gaming=LONGER_IS_FREE, undefined=(NO_GAIN,), leaves_out_nil=True)
of_relevant = partial(
    of_trec_eval,
    gaming=LONGER_IS_FREE,
    parameters=(REL,),
    undefined=(NO_RELEVANT,),
    leaves_out_nil=True,
)
number = partial(
    of_trec_eval,
    bounds=(0.0, math.inf),
    total=True,
    note="It is a count, not a score: it rewards nothing.",
)


of_trec_eval(
    "P",
    "The share of relevant documents among the first k.",
    lambda r, k, rel=1: num_rel_ret(r, rel=rel, k=k) / k,
    formula="(relevant among the first k) / k",
    example="P@10 = 2 / 10 = 0.2000",
    gaming="Always list k documents: a shorter list is still divided by k.",
    parameters=(REL, K),
    trec=(at_cutoffs("P", 11, *OFFICIAL),),
)
of_relevant(
    "R",
    "The share of the relevant documents that are among the first k.",
    lambda r, k=None, rel=1: ratio(num_rel_ret(r, rel=rel, k=k), num_rel(r, rel=rel)),
    formula="(relevant among the first k) / R",
    example="R = 2 / 3 = 0.6667",
    aliases=("recall", "set_recall", "SetR"),
    parameters=(REL, K_IF_ANY),
    trec=(at_cutoffs("recall", 13), TrecName("set_recall", 30, sets=("set", "all_trec"))),
)
of_trec_eval(
    "Success",
    "1 if one of the first k is relevant, else 0.",
    lambda r, k, rel=1: (num_rel_ret(r, rel=rel, k=k) > 0).astype(np.float64),
    formula="1 if one of the first k is relevant, else 0",
    example="Success@5 = 1.0000",
    gaming="List many unlike documents: one hit is all that counts.",
    aliases=("hit-rate",),
    parameters=(REL, K),
    trec=(TrecName("success", 27, "cutoffs", ("k",), (1, 5, 10)),),
)
ranked(
    "RR",
    "1 / rank of the first relevant document, 0 if there is none.",
    lambda r, k=None, rel=1: with_first_rank(np.zeros(r.size), r, found_relevant(r, rel, k)),
    formula="1 / rank of the first relevant document",
    example="RR = 1 / 1 = 1.0000",
    source="Kantor & Voorhees 2000, The TREC-5 Confusion Track; as in trec_eval",
    gaming="Only the first hit counts: never stop before the first hit; nothing after it matters.",
    aliases=("reciprocal-rank", "recip-rank"),
    parameters=(REL, K_IF_ANY),
    trec=(TrecName("recip_rank", 9, sets=OFFICIAL),),
)


@of_relevant(
    "AP",
    formula="(1/R) Σ P@i over the ranks i of relevant documents",
    example="AP = (1/1 + 2/3) / 3 = 0.5556",
    aliases=("MAP", "average-precision"),
    parameters=(REL, K_IF_ANY),
    trec=(TrecName("map", 5, sets=OFFICIAL), at_cutoffs("map_cut", 25)),
)
def average_precision(rankings: RankedLists, *, k: float | None = None, rel: float = 1) -> Floats:
    """(1/R) Σ precision at the rank of each relevant document."""
    return ratio(rankings.total(precisions(rankings, rel, k)), num_rel(rankings, rel=rel))


@of_relevant(
    "Rprec",
    formula="(relevant among the first R) / R",
    example="Rprec = 2 / 3 = 0.6667",
    gaming="List at least R documents, whatever they are.",
    aliases=("R-precision",),
    parameters=(REL, MULT),
    trec=(
        TrecName("Rprec", 7, sets=OFFICIAL),
        TrecName("Rprec_mult", 16, "recalls", ("mult",), tuple(i / 5 for i in range(1, 11))),
    ),
)
def r_precision(rankings: RankedLists, *, rel: float = 1, mult: float = 1) -> Floats:
    """Precision after R documents, R being the number of relevant ones."""
    relevant = num_rel(rankings, rel=rel)
    length = np.trunc(mult * relevant + 0.9)  # rounded up as in trec_eval
    early = found_relevant(rankings, rel) & (rankings.rank <= length[rankings.row])
    share = ratio(rankings.count(early).astype(np.float64), length, empty=0.0)
    return np.where(relevant > 0, share, np.nan)


@of_graded(
    "NDCG",
    formula="DCG / DCG of the ideal ranking, DCG = Σ grade_i / log2(1 + i)",
    example="NDCG = (1 + 1/2) / (1 + 0.6309 + 1/2) = 0.7039",
    source="Järvelin & Kekäläinen 2002, Cumulated Gain-based Evaluation; as in trec_eval",
    parameters=(K_IF_ANY,),
    trec=(TrecName("ndcg", 21, "gains"), at_cutoffs("ndcg_cut", 24)),
)
def ndcg(
    rankings: RankedLists, *, k: float | None = None, gains: Mapping[int, float] | None = None
) -> Floats:
    """DCG / ideal DCG, DCG = Σ grade / log2(1 + rank)."""
    listed, pool = listed_and_ideal(rankings, gains)
    ideal = pool.total(_discounted(pool.grade, pool.place, k))
    dcg = rankings.total(_discounted(listed, rankings.rank, k))
    return ratio(dcg, rankings.per_row(ideal))


@of_relevant(
    "bpref",
    formula="(1/R) Σ 1 − min(n, R) / min(N, R) over the relevant documents listed; n: documents "
    "judged not relevant that are ranked above the relevant one, N: all documents of the query "
    "judged not relevant",
    example="bpref = ((1 − 0/1) + (1 − 1/1)) / 3 = 0.3333",
    source="Buckley & Voorhees 2004, Retrieval Evaluation with Incomplete Information; trec_eval",
    gaming="Documents that nobody judged cost nothing: put what was not in the pools at the top.",
    trec=(TrecName("bpref", 8, sets=OFFICIAL),),
)
def bpref(rankings: RankedLists, *, rel: float = 1) -> Floats:
    """How rarely documents that were judged not relevant are ranked above relevant ones."""
    pool = rankings.pool
    chosen = found_relevant(rankings, rel)
    relevant = num_rel(rankings, rel=rel)
    others = rankings.per_row(pool.count(pool.grade < rel))
    before = rankings.running(~chosen)
    most = np.maximum(np.minimum(others, relevant), 1)  # 0 only where nothing is divided
    worse = np.minimum(before, relevant[rankings.row]) / most[rankings.row]
    return ratio(rankings.total(np.where(chosen, 1 - worse, 0.0)), relevant)


@of_relevant(
    "Q",
    formula="(1/R) Σ (C(i) + β cg(i)) / (i + β cg*(i)) over the ranks i of relevant documents; "
    "C(i): relevant documents up to rank i, cg(i): the sum of their grades, cg*(i): the same sum "
    "in the ideal ranking",
    example="Q(beta=1) = ((1 + 1)/(1 + 1) + (2 + 2)/(3 + 3)) / 3 = 0.5556",
    source="Sakai 2004, New Performance Metrics Based on Multigrade Relevance (NTCIR-4)",
    aliases=("Q-measure",),
    parameters=(BETA, REL),
)
def q_measure(rankings: RankedLists, *, beta: float = 1.0, rel: float = 1) -> Floats:
    """Average precision in which the grades of the relevant documents count too, weighted by β."""
    pool = rankings.pool
    chosen = found_relevant(rankings, rel)
    hits = rankings.running(chosen)
    gained = rankings.running(np.where(chosen, rankings.grade, 0.0))
    ideal = np.where(pool.grade >= rel, pool.grade, 0.0)
    best = pool.total_of_first(ideal, rankings.query[rankings.row], rankings.rank)
    blended = (hits + beta * gained) / (rankings.rank + beta * best)
    return ratio(rankings.total(np.where(chosen, blended, 0.0)), num_rel(rankings, rel=rel))


number(
    "NumRet",
    "The number of documents in the list.",
    num_ret,
    formula="d",
    example="NumRet = 3",
    trec=(TrecName("num_ret", 2, sets=COUNTED),),
)
number(
    "NumRel",
    "The number of known relevant documents.",
    num_rel,
    formula="R",
    example="NumRel = 3",
    note="It does not depend on the run.",
    parameters=(REL,),
    trec=(TrecName("num_rel", 3, sets=COUNTED),),
)
number(
    "NumRelRet",
    "The number of relevant documents in the list.",
    num_rel_ret,
    formula="Σ_{i ≤ k} [r_i ≥ rel]",
    example="NumRelRet = 2",
    gaming=LONGER_IS_FREE,
    parameters=(REL, K_IF_ANY),
    trec=(TrecName("num_rel_ret", 4, sets=COUNTED),),
    note="",
)
ranked(
    "Judged",
    "The share of judged documents among the first k (or among all, if fewer are listed).",
    lambda r, k=None: ratio(_seen(r, k), _listed(r, k)),
    formula="(judged among the first k) / min(k, d)",
    example="Judged@10 = 3 / min(10, 3) = 1.0000",
    source="MacAvaney, Macdonald & Ounis 2022, Streamlining Evaluation with ir-measures",
    note="Not a score: it says how far scores can be trusted.",
    undefined=(EMPTY_LIST,),
    parameters=(K_IF_ANY,),
)
number(
    "NumUnjudged",
    "Documents in the list that nobody judged.",
    lambda r, k=None: _listed(r, k) - _seen(r, k),
    formula="Σ_{i ≤ k} [i not judged]",
    example="NumUnjudged = 0",
    parameters=(K_IF_ANY,),
    higher_is_better=False,
)
number(
    "NumNonRelRet",
    "Documents in the list that were judged and are not relevant.",
    lambda r, rel=1: r.count(r.grade < rel).astype(np.float64),
    formula="Σ_i [i judged, r_i < rel]",
    example="NumNonRelRet = 1",
    parameters=(REL,),
    higher_is_better=False,
    trec=(TrecName("num_nonrel_judged_ret", 33),),
)
number(
    "NumQ",
    "The number of queries that are scored.",
    lambda r: np.ones(r.size),
    formula="1 for each query",
    example="NumQ = 1",
    trec=(TrecName("num_q", 1, per_query=False, sets=COUNTED),),
)


def gains(grade: Floats, pool: Pool, rel: float | None = None) -> Floats:
    """Grades as gains in [0, 1]: divided by the pool's top grade, or with `rel` 1 and 0."""
    if rel is not None:
        return (grade >= rel).astype(np.float64)
    return grade / pool.top if pool.top > 0 else np.zeros_like(grade)


def found_relevant(rankings: RankedLists, rel: float, k: float | None = None) -> Bools:
    """Which documents are relevant, and among the first k."""
    chosen: Bools = rankings.grade >= rel
    return chosen if k is None else chosen & (rankings.rank <= k)


def precisions(rankings: RankedLists, rel: float, k: float | None = None) -> Floats:
    """The precision at the rank of each relevant document, 0 for the others."""
    chosen = found_relevant(rankings, rel, k)
    return np.where(chosen, rankings.running(chosen) / rankings.rank, 0.0)


def _discounted(grade: Floats, rank: Floats | np.ndarray, k: float | None) -> Floats:
    discounted = grade / log2(1 + rank)
    return discounted if k is None else np.where(rank <= k, discounted, 0.0)


def with_first_rank(values: Floats, rankings: RankedLists, chosen: Bools) -> Floats:
    """The values, but 1 / rank of the first chosen document in each row that has one."""
    rows = rankings.row[chosen]
    first = np.diff(rows, prepend=-1) > 0
    values[rows[first]] = 1 / rankings.rank[chosen][first]
    return values


def ratio(above: Floats, below: Floats, *, empty: float = math.nan) -> Floats:
    """A quotient, and what it is where there is nothing to divide by."""
    return np.divide(above, below, out=np.full_like(above, empty), where=below > 0)
