"""Measures of a list as a set: what is in it, in whatever order; and counts of what was judged."""

from __future__ import annotations

import math

from msgspec.structs import replace

from abstain.measures.definition import Parameter, TrecName
from abstain.measures.definition import numpy as np
from abstain.measures.kinds import ranked
from abstain.measures.ranked_lists import Floats, RankedLists
from abstain.measures.ranking import (
    COUNTED,
    EMPTY_LIST,
    K_IF_ANY,
    NO_RELEVANT,
    REL,
    TREC_EVAL,
    K,
    at_cutoffs,
    num_rel,
    num_rel_ret,
    num_ret,
    number,
    of_relevant,
    ratio,
)

STOP_EARLY = (
    "List one document that is surely relevant, and stop; or list nothing: an undefined score is "
    "left out of the mean."
)
SETS = ("set", "all_trec")
WEIGHTS = (
    ("a", "the worth of a relevant document that is listed", 1.0),
    ("b", "the worth of a listed document that is not relevant", -1.0),
    ("c", "the worth of a relevant document that is not listed", 0.0),
    ("d", "the worth of a document that is neither relevant nor listed", 0.0),
)
X = Parameter("x", "β², how much more recall counts than precision", low=0, default=1)
DOCUMENTS = Parameter("n", "documents in the collection", low=0, whole=True, default=0)


@ranked(
    "SetP",
    formula="(relevant listed) / d",
    example="SetP = 2 / 3 = 0.6667",
    latex=r"\frac1d\sum_i[r_i\ge \mathrm{rel}]",
    source=TREC_EVAL,
    gaming=STOP_EARLY,
    undefined=(EMPTY_LIST,),
    aliases=("set_P",),
    parameters=(REL,),
    trec=(TrecName("set_P", 28, sets=SETS),),
)
def set_precision(rankings: RankedLists, *, rel: float = 1) -> Floats:
    """The share of relevant documents in the list, however long it is."""
    return ratio(num_rel_ret(rankings, rel=rel), num_ret(rankings))


@of_relevant(
    "SetRelP",
    formula="(relevant listed) / min(d, R)",
    example="SetRelP = 2 / min(3, 3) = 0.6667",
    latex=r"\frac{1}{\min(d,R)}\sum_i[r_i\ge \mathrm{rel}]",
    gaming=STOP_EARLY,
    undefined=(NO_RELEVANT, EMPTY_LIST),
    aliases=("set_relative_P",),
    trec=(TrecName("set_relative_P", 29, sets=SETS),),
)
def set_relative_precision(rankings: RankedLists, *, rel: float = 1) -> Floats:
    """Precision of the list over the best that a list of its length could have."""
    best = np.minimum(num_ret(rankings), num_rel(rankings, rel=rel))
    return ratio(num_rel_ret(rankings, rel=rel), best)


@of_relevant(
    "SetAP",
    formula="(relevant listed)² / (d · R)",
    example="SetAP = 2² / (3 · 3) = 0.4444",
    latex=r"\frac{(\sum_i[r_i\ge \mathrm{rel}])^2}{d\,R}",
    note="It is precision times recall: a list of medium length pays.",
    undefined=(NO_RELEVANT, EMPTY_LIST),
    aliases=("set_map",),
    trec=(TrecName("set_map", 31, sets=SETS),),
    gaming="",
)
def set_average_precision(rankings: RankedLists, *, rel: float = 1) -> Floats:
    """Precision times recall of the list as a set."""
    hits = num_rel_ret(rankings, rel=rel)
    return ratio(hits * hits, num_ret(rankings) * num_rel(rankings, rel=rel))


@ranked(
    "set_F",
    formula="(x + 1) P R / (x P + R), P and R those of the whole list",
    example="set_F(x=1) = 2 · 2/3 · 2/3 / (2/3 + 2/3) = 0.6667",
    latex=r"\frac{(x+1)\,P\,R}{x\,P+R}",
    source=TREC_EVAL,
    gaming="An empty list scores 0 even where nothing is relevant: always list something.",
    parameters=(replace(X, always=True), REL),
    trec=(TrecName("set_F", 32, "numbers", ("x",), (1.0,), sets=SETS),),
)
def set_f(rankings: RankedLists, *, x: float = 1, rel: float = 1) -> Floats:
    """F of precision and recall as in trec_eval: x is β²; F is 0 if nothing relevant is listed."""
    hits = num_rel_ret(rankings, rel=rel)
    precision = ratio(hits, num_ret(rankings), empty=0.0)
    recall = ratio(hits, num_rel(rankings, rel=rel), empty=0.0)
    return ratio((x + 1.0) * precision * recall, x * precision + recall, empty=0.0)


@of_relevant(
    "RelP",
    formula="(relevant among the first k) / min(k, R)",
    example="RelP@10 = 2 / min(10, 3) = 0.6667",
    latex=r"\frac{1}{\min(k,R)}\sum_{i\le k}[r_i\ge \mathrm{rel}]",
    gaming="List k documents: after the first R, further documents cost nothing.",
    aliases=("relative_P",),
    parameters=(REL, K),
    trec=(at_cutoffs("relative_P", 26),),
)
def relative_precision(rankings: RankedLists, *, k: float, rel: float = 1) -> Floats:
    """P@k over the best that it could be."""
    best = np.minimum(k, num_rel(rankings, rel=rel))
    return ratio(num_rel_ret(rankings, rel=rel, k=k), best)


@ranked(
    "Utility",
    formula="a·(relevant listed) + b·(others listed) + c·(relevant not listed) + d·(others not)",
    example="Utility = 2 − 1 = 1",
    latex=r"a\,|L\cap R|+b\,|L\setminus R|+c\,|R\setminus L|+d\,|\overline{L\cup R}|",
    source=TREC_EVAL,
    note="With the default weights a document pays if it is relevant with a chance above ½.",
    bounds=(-math.inf, math.inf),
    parameters=(
        *(Parameter(name, meaning, default=value) for name, meaning, value in WEIGHTS),
        REL,
        DOCUMENTS,
    ),
    trec=(TrecName("utility", 17, "numbers", tuple("abcd"), (1.0, -1.0, 0.0, 0.0), sets=SETS),),
)
def utility(
    rankings: RankedLists,
    *,
    a: float = 1,
    b: float = -1,
    c: float = 0,
    d: float = 0,
    rel: float = 1,
    n: float = 0,
) -> Floats:
    """The worth of the list: each document has a weight (relevant or not, listed or not)."""
    hits, there = num_rel_ret(rankings, rel=rel), num_rel(rankings, rel=rel)
    listed = num_ret(rankings)
    others = n + hits - listed - there
    return a * hits + b * (listed - hits) + c * (there - hits) + d * others


# ------------------------------------------------------------------------ what was judged at all


@ranked(
    "Judged",
    formula="(judged among the first k) / min(k, d)",
    example="Judged@10 = 3 / min(10, 3) = 1.0000",
    latex=r"\frac{1}{\min(k,d)}\sum_{i\le k}[i\ \mathrm{judged}]",
    source="MacAvaney, Macdonald & Ounis 2022, Streamlining Evaluation with ir-measures",
    note="Not a score: it says how far scores can be trusted.",
    undefined=(EMPTY_LIST,),
    parameters=(K_IF_ANY,),
)
def judged(rankings: RankedLists, *, k: float | None = None) -> Floats:
    """The share of judged documents among the first k (or among all, if fewer are listed)."""
    listed, seen = _seen(rankings, k)
    return ratio(seen, listed)


@number(
    "NumUnjudged",
    formula="Σ_{i ≤ k} [i not judged]",
    example="NumUnjudged = 0",
    latex=r"\sum_{i\le k}[i\ \mathrm{not\ judged}]",
    parameters=(K_IF_ANY,),
    higher_is_better=False,
)
def num_unjudged(rankings: RankedLists, *, k: float | None = None) -> Floats:
    """Documents in the list that nobody judged."""
    listed, seen = _seen(rankings, k)
    return listed - seen


def _seen(rankings: RankedLists, k: float | None) -> tuple[Floats, Floats]:
    """How many documents are among the first k, and how many of these were judged."""
    first = math.inf if k is None else k
    seen = rankings.count(rankings.rank <= first).astype(np.float64)
    return np.minimum(first, num_ret(rankings)), seen


@number(
    "NumNonRelRet",
    formula="Σ_i [i judged, r_i < rel]",
    example="NumNonRelRet = 1",
    latex=r"\sum_i[r_i< \mathrm{rel}]",
    aliases=("num_nonrel_judged_ret",),
    parameters=(REL,),
    higher_is_better=False,
    trec=(TrecName("num_nonrel_judged_ret", 33),),
)
def num_nonrel_ret(rankings: RankedLists, *, rel: float = 1) -> Floats:
    """Documents in the list that were judged and are not relevant."""
    return rankings.count(rankings.grade < rel).astype(np.float64)


@number(
    "NumQ",
    formula="1 for each query",
    example="NumQ = 1",
    latex="1",
    aliases=("num_q",),
    trec=(TrecName("num_q", 1, per_query=False, sets=COUNTED),),
)
def num_q(rankings: RankedLists) -> Floats:
    """The number of queries that are scored."""
    return np.ones(rankings.size)
