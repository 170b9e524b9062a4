"""Measures of gain beside NDCG that trec_eval has: where gain is added up, and over what."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from abstain.measures.declare import ranked
from abstain.measures.definition import TrecName
from abstain.measures.families.ranking import (
    LONGER_IS_FREE,
    NO_GAIN,
    REL,
    TREC_EVAL,
    found_relevant,
    num_rel,
    of_relevant,
    ratio,
)
from abstain.measures.gains import listed_and_ideal
from abstain.measures.lazy import numpy as np
from abstain.measures.libm import log2

if TYPE_CHECKING:
    from collections.abc import Mapping

    from abstain.measures.ranked_lists import Floats, Ints, Pool, RankedLists

of_gains = partial(
    ranked, source=TREC_EVAL, gaming=LONGER_IS_FREE, undefined=(NO_GAIN,), leaves_out_nil=True
)


@of_relevant(
    "binG",
    formula="(1/R) Σ 1 / log2(2 + others before) over the relevant documents listed",
    example="binG = (1/log2(2) + 1/log2(3)) / 3 = 0.5436",
    latex=r"\frac1R\sum_r\frac{1}{\log_2(2+n_r)}",
    gaming=LONGER_IS_FREE,
    parameters=(REL,),
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
    latex=r"\frac{1}{\sum_j r^*_j}\sum_i\frac{r_i}{\log_2(2+\mathrm{cg}^*(i)-\mathrm{cg}(i))}",
    trec=(TrecName("G", 20, "gains"),),
)
def normalised_g(rankings: RankedLists, *, gains: Mapping[int, float] | None = None) -> Floats:
    """The gain of the list; each gain is discounted by how far the list is behind the ideal.

    The running gain of the ideal list rises by at least 1 at each of its ranks, and goes on rising
    by 1 per rank after the list has ended.
    """
    listed, ideal = listed_and_ideal(rankings, gains)
    place = np.minimum(rankings.rank, np.diff(ideal.offsets)[rankings.query][rankings.row])
    cost = _up_to(ideal, ideal.running(np.maximum(ideal.grade, 1.0)), rankings, place)
    cost = cost + (rankings.rank - place)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = listed / log2(2 + cost - rankings.running(listed))
    found = rankings.total(np.where(listed != 0, each, 0.0))
    return ratio(found, rankings.per_row(ideal.total(ideal.grade)))


@of_gains(
    "NDCG-rel",
    formula="mean of NDCG at the ranks of the documents with a gain; a document that is not listed "
    "counts with the NDCG of the whole list",
    example="NDCG-rel = (1 + 1.5/2.1309 + 1.5/2.1309) / 3 = 0.8026",
    latex=r"\frac1{R}\sum_{r}\mathrm{NDCG@}i_r",
    aliases=("ndcg_rel",),
    trec=(TrecName("ndcg_rel", 22, "gains"),),
)
def ndcg_at_relevant(rankings: RankedLists, *, gains: Mapping[int, float] | None = None) -> Floats:
    """NDCG averaged over the ranks of the documents that have a gain."""
    listed, ideal = listed_and_ideal(rankings, gains)
    dcg = rankings.running(listed / log2(rankings.rank + 1))
    best = ideal.running(ideal.grade / log2(ideal.place + 1))
    lengths = np.diff(ideal.offsets)[rankings.query]
    place = np.minimum(rankings.rank, lengths[rankings.row])
    hit = listed > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(hit, dcg / _up_to(ideal, best, rankings, place), 0.0)
        total = rankings.total(each)
        whole = rankings.per_row(ideal.total(ideal.grade / log2(ideal.place + 1)))
        missed = lengths - rankings.count(hit)
        total = total + missed * rankings.total(listed / log2(rankings.rank + 1)) / whole
    return ratio(np.maximum(total, 0.0), lengths.astype(np.float64))


@of_relevant(
    "RNDCG",
    formula="mean of NDCG at the ranks where the gain of the ideal list drops, and at the end of "
    "the run's list if that has at least two documents more than the ideal list",
    example="RNDCG = 1.5 / 2.1309 = 0.7039",
    latex=r"\frac1{|B|}\sum_{b\in B}\mathrm{NDCG@}b",
    gaming=LONGER_IS_FREE,
    aliases=("Rndcg",),
    parameters=(REL,),
    trec=(TrecName("Rndcg", 23, "gains"),),
)
def r_ndcg(
    rankings: RankedLists, *, rel: float = 1, gains: Mapping[int, float] | None = None
) -> Floats:
    """The mean of NDCG at the ranks where the ideal list's gain drops, and at the run's end.

    The run's end counts only if its list has at least two documents more than the ideal list.
    """
    listed, ideal = listed_and_ideal(rankings, gains)
    dcg = rankings.running(listed / log2(rankings.rank + 1))
    best = ideal.running(ideal.grade / log2(ideal.place + 1))
    lengths = np.diff(ideal.offsets)
    falls = np.ones(len(ideal.grade), bool)
    falls[:-1] = (np.diff(ideal.row) > 0) | (np.diff(ideal.grade) != 0)
    points = np.flatnonzero(falls)
    runs = len(rankings.runs)
    row = (np.arange(runs)[:, None] * ideal.size + ideal.row[points]).ravel()
    at = np.tile(ideal.place[points], runs)
    ratios = _dcg_at(rankings, dcg, row, at) / np.tile(best[points], runs)
    total = np.bincount(row, ratios, minlength=rankings.size).astype(np.float64, copy=False)
    count = np.bincount(row, minlength=rankings.size)
    own = lengths[rankings.query]
    goes_on = rankings.depth > own + 1
    whole = ratio(
        rankings.total(listed / log2(rankings.rank + 1)),
        rankings.per_row(ideal.total(ideal.grade / log2(ideal.place + 1))),
    )
    total = np.where(goes_on, total + whole, total)
    with np.errstate(invalid="ignore"):
        mean = total / (count + goes_on)
    return np.where(num_rel(rankings, rel=rel) > 0, mean, np.nan)


def _up_to(ideal: Pool, running: Floats, rankings: RankedLists, place: Ints) -> Floats:
    """A running sum of each document's ideal list, up to a place; any number where it is empty."""
    if not len(running):
        return np.zeros(len(place))
    start = ideal.offsets[rankings.query][rankings.row]
    return np.asarray(running[start + place - 1])


def _dcg_at(rankings: RankedLists, dcg: Floats, row: Ints, rank: Ints) -> Floats:
    """The running sum of rows at ranks."""
    if not len(dcg):
        return np.zeros(len(row))
    step = int(max(rankings.rank.max(), rank.max(initial=0))) + 1
    keys = rankings.row * step + rankings.rank
    until = np.searchsorted(keys, row * step + rank, side="right")
    there = until > rankings.offsets[row]
    return np.where(there, dcg[np.maximum(until - 1, 0)], 0.0)
