"""Tukey's test of mean scores: all pairs of runs together, by differences over standard errors.

The largest |t| of any pair among runs that swapped their scores at random, topic by topic. Plain
differences are found too often where one run spreads more than the others. Swaps make differences
symmetric; what was observed need not be, so its t is corrected for skewness (Hall 1992).
"""

from __future__ import annotations

from itertools import starmap

import numpy as np

from abstain.measures.arrays import Array, BoolArray
from abstain.stats.means import without_skewness
from abstain.stats.resampling.draws import BLOCK, HELD, SAME, Plan, cut, in_blocks
from abstain.stats.resampling.power import exceeding
from abstain.stats.resampling.sources import Pairs, Scores, stream

LEAST_TOPICS = 40
"""Topics that the test needs (benchmarks/errors.py): with fewer nobody sees skewed scores."""
CLOSE = 1e-9
"""As a share of the largest: what is nearer is equal."""


def all_pairs_p(source: Scores, plan: Plan, pairs: Pairs) -> Array:
    """p of every pair, for all together: measures × pairs."""
    largest = _permuted(source, plan)
    seen = [observed(source.features[..., m], pairs) for m in range(len(source.measures))]
    return np.stack([exceeding(*each, slack=0.0) for each in zip(largest, seen, strict=True)])


def _permuted(source: Scores, plan: Plan) -> Array:
    """The largest |t| of each permutation: measures × trials."""
    runs = len(source.runs)

    def work(place: int, trials: slice) -> Array:
        rng = stream(plan.seed, 3, place)
        return np.stack([largest_t(own) for own in source.swapped(rng, trials.stop - trials.start)])

    step = HELD // (runs * max(2 * runs, source.questions))
    return np.concatenate(list(in_blocks(plan, "permuting runs", plan.trials, step, work)), axis=1)


def largest_t(scores: Array) -> Array:
    """The largest |t| of any two runs: trials × topics × runs to trials.

    The variance of a pair's differences is s_ii + s_jj − 2 s_ij of the runs' covariance matrix.

    >>> three = np.array([[[1.0, 0.0, 0.5], [2.0, 1.5, 0.5], [3.0, 1.0, 2.0]]])
    >>> round(float(largest_t(three)[0]), 4)
    3.4641
    """
    n = scores.shape[1]
    # What all runs share on a topic is in no difference; t has no unit.
    scores = scores - scores.mean(axis=2, keepdims=True)
    size = np.abs(scores).max(initial=0.0)
    scores /= size if size > 0 else 1.0
    mean = scores.mean(axis=1)
    off = scores - mean[:, None]
    covariance = np.matmul(off.swapaxes(1, 2), off) / n
    own = np.diagonal(covariance, axis1=1, axis2=2)
    both = own[:, :, None] + own[:, None]
    variance = both - 2 * covariance
    square = (mean[:, :, None] - mean[:, None]) ** 2
    some = variance > SAME * (both + square)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = square * (n - 1) / variance
    alike = np.where(square > SAME * both, np.inf, 0.0)
    return np.asarray(np.sqrt(np.where(some, found, alike).max(axis=(1, 2))))


def observed(scores: Array, pairs: Pairs) -> Array:
    """|t| of each pair of runs (runs × topics), not above that of its p corrected for skewness."""
    step = max(1, BLOCK // scores.shape[1])
    blocks = (scores[pairs[0][own]] - scores[pairs[1][own]] for own in cut(len(pairs[0]), step))
    return np.concatenate([_corrected(gaps) for gaps in blocks]) * (1 - CLOSE)


def _corrected(gaps: Array) -> Array:
    """|t| of mean differences: the smaller of Student's and of Hall's over topics that differ."""
    from scipy.special import stdtr, stdtrit

    size = np.abs(gaps).max(axis=1, keepdims=True)
    gaps = gaps / np.where(size > 0, size, 1)
    differs = np.abs(gaps) > CLOSE
    (t, _, varies), (part, k, some) = starmap(
        _t_and_skewness, ((gaps, np.ones_like(differs)), (gaps, differs))
    )
    part = np.where(some, part, 0.0)
    p = 2 * stdtr(np.maximum(differs.sum(axis=1) - 1, 1), -np.abs(without_skewness(part, k)))
    as_t = -stdtrit(gaps.shape[1] - 1, p / 2)
    return np.where(varies & some, np.fmin(np.abs(t), as_t), np.abs(t))


def _t_and_skewness(gaps: Array, of: BoolArray) -> tuple[Array, Array, BoolArray]:
    """Student's t over some topics, the skewness of the mean, and whether there is any spread."""
    n = np.maximum(of.sum(axis=1), 1)
    mean = (gaps * of).sum(axis=1) / n
    off = (gaps - mean[:, None]) * of
    square = (off**2).sum(axis=1)
    varies = np.sqrt(square / n) > CLOSE
    square = np.where(varies, square, 1.0)
    t = mean / np.sqrt(square / (n * np.maximum(n - 1, 1)))
    without = np.where(np.abs(mean) > CLOSE, np.inf, 0.0)
    skewness = np.where(varies, (off**3).sum(axis=1) / square**1.5, 0.0)
    return np.where(varies, t, without), skewness, varies
