"""Measures that model a user who reads on or stops: ERR, Compatibility, RBP, INST.

RBP and INST stand here as C/W/L too.

In C/W/L (Moffat, Bailey, Scholer & Thomas 2017) a user goes on after rank i with the chance C(i).
V(i) = C(1) … C(i−1) is the chance of reaching rank i, and V(1) + V(2) + … the expected depth. The
expected total gain is Σ r_i V(i); the score is the gain per document read, Σ r_i V(i) / Σ V(i).
Sums run over all ranks, those after the end of the list too.
"""

from __future__ import annotations

import math
from functools import partial

from msgspec.structs import replace

from abstain.measures.definition import Parameter, np
from abstain.measures.kinds import ranked
from abstain.measures.ranked_lists import DocumentRows, Floats, Ints, Pool, RankedLists
from abstain.measures.ranking import K_IF_ANY, LONGER_IS_FREE, REL_IF_ANY, gains, of_graded, ratio

ERR_PAPER = (
    "Chapelle, Metzler, Zhang & Grinspan 2009, Expected Reciprocal Rank for Graded Relevance"
)
INST_PAPER = "Moffat, Bailey, Scholer & Thomas 2015, INST: An Adaptive Metric for IR Evaluation"
RBP_PAPER = "Moffat & Zobel 2008, Rank-Biased Precision for Measurement of Retrieval Effectiveness"
CWL_PAPER = (
    "Moffat, Bailey, Scholer & Thomas 2017, Incorporating User Expectations and Behavior into the "
    "Measurement of Search Effectiveness"
)
NO_SCORE = "Not a score: it says how far the user is expected to read."

P = Parameter(
    "p", "the chance of reading on", 0, 1, low_open=True, high_open=True, default=0.8, always=True
)
T = Parameter(
    "t", "how much gain the user looks for", low=0.5, low_open=True, default=1, always=True
)


RBO_DEPTH = 1000
"""Where the sums of rank-biased overlap end, as in compatibility.py."""


def _err(rows: RankedLists | Pool, rank: Ints, top: float, k: float | None) -> Floats:
    # a document satisfies with a chance of (2^grade − 1) / 2^top
    satisfied = np.exp2(rows.grade - top) - np.exp2(-top) if top > 0 else 0.0 * rows.grade
    each = satisfied * _reached(rows, 1 - satisfied) / rank
    return rows.total(each if k is None else np.where(rank <= k, each, 0.0))


ranked(
    "ERR",
    "Expected reciprocal rank of the document that satisfies the user.",
    lambda r, k=None: _err(r, r.rank, r.pool.top, k),
    formula="Σ (1/i) R_i Π_{j<i} (1 − R_j), R = (2^grade − 1) / 2^top",
    example="ERR = 1/2 + (1/3) · 1/2 · 1/2 = 0.5833",
    source=ERR_PAPER,
    gaming="Put the likely best documents first: after one that satisfies, the rest counts little.",
    parameters=(K_IF_ANY,),
)
of_graded(
    "nERR",
    "ERR over that of the ideal ranking.",
    lambda r, k=None: ratio(
        _err(r, r.rank, r.pool.top, k), r.per_row(_err(r.pool, r.pool.place, r.pool.top, k))
    ),
    formula="ERR / ERR of the ideal ranking",
    example="nERR = 0.5833 / (1/2 + 1/8 + 1/24) = 0.8750",
    source=ERR_PAPER,
    gaming="Put the likely best documents first: after one that satisfies, the rest counts little.",
    parameters=(K_IF_ANY,),
)


def _reached(rows: DocumentRows, onward: Floats) -> Floats:
    """The product of a weight over the documents before each one in its row."""
    shifted = np.ones(len(onward))
    shifted[1:] = onward[:-1]
    shifted[rows.offsets[:-1][np.diff(rows.offsets) > 0]] = 1.0
    return rows.product(shifted)


@of_graded(
    "Compat",
    formula="Σ p^(d−1) X(d)/d / Σ p^(d−1) min(d, R)/d over the depths d to 1000; X(d): documents "
    "that are among the first d both of the list and of the ideal ranking",
    example="Compat(p=0.5) = (1 + 0.5 · 1/2 + 0.25 · 2/3 + 2 · 0.0530) / "
    "(1 + 0.5 + 0.25 + 3 · 0.0530) = 0.7976",
    source="Clarke, Vtyurina & Smucker 2021, Assessing Top-k Preferences; as in compatibility.py",
    note="The ideal ranking has the relevant documents by grade, and those of one grade in the "
    "order of the list.",
    aliases=("compatibility",),
    parameters=(replace(P, meaning="the persistence", default=0.95),),
)
def compatibility(rankings: RankedLists, *, p: float = 0.95) -> Floats:
    """Rank-biased overlap with the nearest ideal ranking, over the largest possible."""
    listed, pool = rankings.where(rankings.grade > 0), rankings.pool
    pool = pool.where(pool.grade > 0)
    depth = np.arange(1, RBO_DEPTH + 1.0)
    # what a document that both have from rank i on adds: its weight at every depth from i
    weight = np.append(np.cumsum((p ** (depth - 1) / depth)[::-1])[::-1], 0.0)

    def worth(rank: Ints) -> Floats:
        return np.asarray(weight[np.minimum(rank, RBO_DEPTH + 1) - 1])

    row, query = listed.row, rankings.query[listed.row]
    order = np.lexsort((listed.rank, -listed.grade, row))
    alike = np.diff(row[order], prepend=-1).astype(bool) | np.diff(
        listed.grade[order], prepend=-1
    ).astype(bool)
    first = np.maximum.accumulate(np.where(alike, np.arange(len(order)), 0))
    better = _higher(pool, query[order], listed.grade[order])
    ideal = better + np.arange(len(order)) - first + 1
    shared = worth(np.maximum(ideal, listed.rank[order]))
    overlap = np.bincount(row[order], shared, rankings.size).astype(np.float64, copy=False)
    return ratio(overlap, rankings.per_row(pool.total(worth(pool.place))))


def _higher(pool: Pool, query: Ints, grade: Floats) -> Ints:
    levels = np.unique(pool.grade)
    keys = (pool.row + 1) * len(levels) - np.searchsorted(levels, pool.grade)
    wanted = (query + 1) * len(levels) - np.searchsorted(levels, grade)
    return np.searchsorted(keys, wanted) - pool.offsets[query]


@ranked(
    "RBP",
    formula="(1 − p) Σ r_i p^(i−1), r = grade / top grade",
    example="RBP(p=0.8) = 0.2 · (1 + 0.64) = 0.3280",
    source=RBP_PAPER,
    gaming=LONGER_IS_FREE,
    scales_grades=True,
    parameters=(P, REL_IF_ANY, K_IF_ANY),
)
def rbp(
    rankings: RankedLists, *, p: float = 0.8, k: float | None = None, rel: float | None = None
) -> Floats:
    """(1 − p) Σ gain · p^(rank − 1)."""
    weight = _persistence(rankings, p, k)
    return (1 - p) * rankings.total(gains(rankings.grade, rankings.pool, rel) * weight)


ranked(
    "RBP-residual",
    "What RBP could still gain: the weight of all ranks whose document is not judged.",
    lambda r, p=0.8, k=None: np.maximum(1 - (1 - p) * r.total(_persistence(r, p, k)), 0.0),
    formula="1 − (1 − p) Σ p^(i−1) over the ranks i (up to k) of judged documents",
    example="RBP-residual(p=0.8) = 1 − 0.2 · (1 + 0.8 + 0.64) = 0.5120",
    source=RBP_PAPER,
    note="Not a score: how far RBP(p) of a complete list could lie above RBP(p)@k.",
    parameters=(P, K_IF_ANY),
    higher_is_better=False,
)
ranked(
    "RBP-depth",
    "How many documents RBP's user is expected to read, whatever is listed.",
    lambda r, p=0.8: np.full(r.size, 1 / (1 - p)),
    formula="1 / (1 − p)",
    example="RBP-depth(p=0.8) = 1 / 0.2 = 5",
    source=CWL_PAPER,
    note=NO_SCORE,
    bounds=(1.0, math.inf),
    parameters=(P,),
)
ranked(
    "RBP-total",
    "The gain that RBP's user is expected to collect: RBP times its expected depth.",
    lambda r, p=0.8, rel=None: rbp(r, p=p, rel=rel) / (1 - p),
    formula="Σ r_i p^(i−1), r = grade / top grade",
    example="RBP-total(p=0.8) = 1 + 0.64 = 1.6400",
    source=CWL_PAPER,
    gaming=LONGER_IS_FREE,
    bounds=lambda p, **_: (0.0, 1 / (1 - p)),
    scales_grades=True,
    parameters=(P, REL_IF_ANY),
)


of_inst = partial(ranked, source=CWL_PAPER, scales_grades=True, parameters=(T, REL_IF_ANY))


of_inst(
    "INST",
    "The gain per document read, for a user who looks for a gain of t and then stops.",
    lambda r, t=1, rel=None: np.divide(*_read(r, t, rel)),
    formula="Σ r_i V_i / Σ V_i, V_(i+1) = V_i ((i + t + t_i − 1)/(i + t + t_i))², t_i = t − gain "
    "up to i",
    example="INST(t=1) = (1 + 1/9) / (1 + 1/4 + 1/9 + …) = 0.7231",
    source=INST_PAPER,
    gaming=LONGER_IS_FREE,
)
of_inst(
    "INST-depth",
    "How many documents INST's user is expected to read.",
    lambda r, t=1, rel=None: _read(r, t, rel)[1],
    formula="Σ V_i",
    example="INST-depth(t=1) = 1 + 1/4 + 1/9 + … = 1.5366",
    note=NO_SCORE,
    bounds=(1.0, math.inf),
    higher_is_better=False,
)
of_inst(
    "INST-total",
    "The gain that INST's user is expected to collect: INST times its expected depth.",
    lambda r, t=1, rel=None: _read(r, t, rel)[0],
    formula="Σ r_i V_i",
    example="INST-total(t=1) = 1 + 1/9 = 1.1111",
    gaming=LONGER_IS_FREE,
    bounds=(0.0, math.inf),
)
of_inst(
    "INST-residual",
    "How far INST would rise if all that is not judged, or not listed, had a gain of 1.",
    lambda r, t=1, rel=None: _at_best(r, t, rel) - np.divide(*_read(r, t, rel)),
    formula="INST if every rank that is not judged had a gain of 1, minus INST",
    example="INST-residual(t=1) = 0.8276 − 0.7231 = 0.1045",
    source=INST_PAPER,
    note="Not a score: it says how much INST could rise if all documents were judged and listed.",
    bounds=(-1.0, 1.0),
    higher_is_better=False,
)


def _read(rankings: RankedLists, t: float, rel: float | None) -> tuple[Floats, Floats]:
    """Expected gain and depth: sums over all ranks, unjudged ones without a gain.

    Between two documents with a gain, t_i stays the same, and the product of the chances is
    V_i = A / (i + a − 1)², a = t + t_i. So a stretch adds A (ψ'(first + a − 1) − ψ'(last + a)), ψ'
    the trigamma function, and the one that never ends A ψ'(first + a − 1).
    """
    from scipy.special import polygamma

    gain = gains(rankings.grade, rankings.pool, rel)
    rank = rankings.rank.astype(np.float64)
    row = rankings.row
    after = 2 * t - rankings.running(gain)
    before = after + gain
    base = (2 * t) ** 2
    factor = ((rank + after - 1) / (rank + before - 1)) ** 2
    mass_before = base * _reached(rankings, factor)
    mass_after = mass_before * factor
    reach = mass_before / (rank + before - 1) ** 2
    # what the stretch that ends with a document adds, and what the one that begins after it lacks
    ended = -mass_before * polygamma(1, rank + before)
    begun = mass_after * polygamma(1, rank + after)
    depth = base * float(polygamma(1, 2 * t)) + np.bincount(
        row, ended + begun, minlength=rankings.size
    )
    return rankings.total(gain * reach), np.asarray(depth, np.float64)


def _at_best(rankings: RankedLists, t: float, rel: float | None) -> Floats:
    """INST where every rank that is not judged has a gain of 1.

    There i + t + t_i stays the same, and at a judged document it grows by 1 minus the gain of that
    document; so the chance of going on is one number between two judged documents. The chances of
    reaching a rank are scaled alike, by that of the first.
    """
    gain = gains(rankings.grade, rankings.pool, rel)
    row, rank = rankings.row, rankings.rank
    level = 2 * t + rankings.running(1 - gain)
    onward, onward_before = ((x - 1) ** 2 / x**2 for x in (level, level - (1 - gain)))
    gap = rank.astype(np.float64).copy()
    gap[1:] -= np.where(row[1:] == row[:-1], rank[:-1], 0)
    stretch = onward_before**gap
    previous = _reached(rankings, stretch)
    reach = previous * stretch
    between = previous * onward_before * (1 - onward_before ** (gap - 1)) / (1 - onward_before)
    last = np.diff(row, append=rankings.size) > 0
    between[last] += (reach * onward / (1 - onward))[last]
    unjudged, lost = rankings.total(between), rankings.total((1 - gain) * reach)
    # of a list in which nothing is judged every rank has a gain of 1
    return 1 - ratio(lost, unjudged + rankings.total(reach), empty=0.0)


def _persistence(rankings: RankedLists, p: float, k: float | None) -> Floats:
    weight = np.power(p, rankings.rank - 1.0)
    return weight if k is None else np.where(rankings.rank <= k, weight, 0.0)
