"""Measures of lists that stop: of the set that is listed, and with a price for each document."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from abstain.measures.declare import ranked
from abstain.measures.definition import Parameter
from abstain.measures.families.ranking import (
    REL,
    REL_IF_ANY,
    P,
    gains,
    num_rel,
    num_rel_ret,
    ratio,
)
from abstain.measures.lazy import numpy as np

if TYPE_CHECKING:
    from abstain.measures.ranked_lists import ByDepth, Floats, Prefixes, RankedLists

BETA = Parameter(
    "beta",
    "how much more recall counts than precision",
    low=0,
    high=1e6,
    low_open=True,
    default=1,
    always=True,
)
EFFORT = Parameter("e", "what reading one document costs", low=0, high=1, default=0.1, always=True)
STOP = "Stop where the next document is so unlikely to be relevant that it is not worth its cost."


def _set_f_by_depth(cut: Prefixes, *, beta: float = 1, rel: float = 1) -> ByDepth:
    b, there = beta * beta, cut.there[..., None]
    return cut.scored(ratio((1 + b) * cut.found, cut.depth + b * there, empty=1.0))


@ranked(
    "SetF",
    family="truncated",
    formula="(1 + β²) · found / (d + β² R); where R = 0: 1 for an empty list, else 0",
    example="SetF(beta=1) = 2 · 2 / (3 + 3) = 0.6667",
    latex=r"\frac{(1+\beta^2)\sum_i [r_i\ge \mathrm{rel}]}{d+\beta^2 R}",
    source="van Rijsbergen 1979, Information Retrieval, chapter 7; the set measure of ir_measures",
    gaming=STOP + " The order of the list does not matter.",
    aliases=("SetF1",),
    parameters=(BETA, REL),
    by_depth=_set_f_by_depth,
    by_depth_text="(1 + {beta} ** 2) * c / (k + {beta} ** 2 * R) if R else 1.0 * (k == 0)",
)
def set_f(rankings: RankedLists, *, beta: float = 1, rel: float = 1) -> Floats:
    """F of the listed set: precision and recall in one number, whatever the order.

    Where nothing is relevant an empty list has 1, any other 0.
    """
    b = beta * beta
    there, depth = num_rel(rankings, rel=rel), rankings.depth.astype(np.float64)
    return ratio((1 + b) * num_rel_ret(rankings, rel=rel), depth + b * there, empty=1.0)


def _penalised_dcg_by_depth(cut: Prefixes, *, rel: float = 1) -> ByDepth:
    return cut.scored(0.0, (2 * cut.gain - 1) / np.log2(1.0 + cut.rank))


@ranked(
    "pDCG",
    family="truncated",
    formula="Σ_{i ≤ d} s_i / log2(1 + i), s = 1 if relevant, else −1",
    example="pDCG = 1 − 0.6309 + 1/2 = 0.8691",
    latex=r"\sum_{i\le d}\frac{s_i}{\log_2(1+i)},\ s_i=\pm1",
    source="Bahri, Tay, Zheng, Metzler & Tomkins 2020, Choppy: Cut Transformer for Ranked List "
    "Truncation",
    gaming="Stop where a document is more likely not relevant than relevant: an empty list has 0.",
    aliases=("penalised-DCG", "DCG-penalised"),
    parameters=(REL,),
    bounds=(-math.inf, math.inf),
    by_depth=_penalised_dcg_by_depth,
    by_depth_text="S((2 * r - 1) / np.log2(1 + k[1:]))",
)
def penalised_dcg(rankings: RankedLists, *, rel: float = 1) -> Floats:
    """Discounted gain, where a document that is not relevant costs what a relevant one earns.

    What nobody judged is not relevant.
    """
    longest = int(rankings.depth.max(initial=0))
    costs = np.concatenate(([0.0], np.cumsum(1 / np.log2(2.0 + np.arange(longest)))))
    relevant = gains(rankings.grade, rankings.pool, rel)
    return rankings.total(2 * relevant / np.log2(1.0 + rankings.rank)) - costs[rankings.depth]


def _rbp_effort_by_depth(
    cut: Prefixes, *, p: float = 0.8, e: float = 0.1, rel: float | None = None
) -> ByDepth:
    return cut.scored(0.0, (1 - p) * (cut.gain - e) * np.power(p, cut.rank - 1.0))


@ranked(
    "RBP-effort",
    family="truncated",
    formula="(1 − p) Σ_{i ≤ d} p^(i−1) (r_i − e), r = grade / top grade",
    example="RBP-effort(p=0.8,e=0.1) = 0.3280 − 0.1 · (1 − 0.512) = 0.2792",
    latex=r"(1-p)\sum_{i\le d} p^{i-1}(r_i-e)",
    source="Moffat & Zobel 2008, Rank-Biased Precision for Measurement of Retrieval Effectiveness, "
    "with a price for each document",
    gaming="Stop where the gain expected of a document falls below e: an empty list has 0.",
    aliases=("RBPe",),
    parameters=(P, EFFORT, REL_IF_ANY),
    bounds=lambda e=0.1, **_: (-e, 1.0),
    scales_grades=True,
    by_depth=_rbp_effort_by_depth,
    by_depth_text="(1 - {p}) * S((r - {e}) * {p} ** (k[1:] - 1))",
)
def rbp_effort(
    rankings: RankedLists, *, p: float = 0.8, e: float = 0.1, rel: float | None = None
) -> Floats:
    """Rank-biased precision less the effort of reading each document."""
    gain = gains(rankings.grade, rankings.pool, rel)
    listed = (1 - p) * rankings.total(gain * np.power(p, rankings.rank - 1.0))
    return listed - e * (1 - np.power(p, rankings.depth.astype(np.float64)))
