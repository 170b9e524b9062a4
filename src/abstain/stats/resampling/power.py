"""Discriminative power: how many pairs of runs a measure tells apart.

Sakai 2006: a paired bootstrap test of every pair; the achieved significance levels, sorted, are the
ASL curve. Carterette 2012: Tukey's honestly significant difference by randomisation, which holds
for all pairs together: the largest difference among runs that swapped their cells at random.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from abstain.measures.arrays import Array, IntArray
from abstain.stats.resampling.draws import (
    BLOCK,
    HELD,
    SAME,
    Plan,
    all_pairs,
    in_blocks,
    permutations,
)
from abstain.stats.resampling.sensitivity import EDGE
from abstain.stats.resampling.sources import Pairs, Scores, Source, random_multiplicities, stream

RESAMPLES = 1000
POINTS = 1000
"""Points of an ASL curve that are kept."""


def honest_difference(largest: Array, alpha: float) -> float | None:
    """The largest difference that at least alpha of the permutations reach.

    Whatever exceeds it fewer of them reach: it is separated.

    >>> honest_difference(np.arange(1.0, 11.0), 0.2)
    9.0
    """
    ranges = np.sort(largest[~np.isnan(largest)])[::-1]
    if not len(ranges):
        return None
    reaching = max(1, math.ceil(alpha * len(ranges) - EDGE))
    return float(ranges[reaching - 1])


def thinned(levels: Array) -> Array:
    """Sorted levels, evenly thinned to those that are kept."""
    if len(levels) <= POINTS:
        return levels
    return np.asarray(levels[np.linspace(0, len(levels) - 1, POINTS).round().astype(int)])


def significance(source: Source, plan: Plan, full: Array) -> tuple[Array, IntArray]:
    """The achieved significance level of every pair, and the resamples it comes from: measures ×
    pairs.

    The share of resamples whose statistic is as far from the observed one as that is from no
    difference. For means of per-question scores the statistic is Student's t, as in the paper; a
    measure of counts is re-scored, and its difference taken as it is.
    """
    pairs = all_pairs(len(source.runs))
    beyond = np.zeros((len(source.measures), len(pairs[0])), np.int64)
    defined = np.zeros_like(beyond)
    for own, more, existing in exceedances(source, plan, pairs, full):
        beyond[:, own] += more
        defined[:, own] += existing
    with np.errstate(divide="ignore", invalid="ignore"):
        levels = beyond / defined
    levels[np.isnan(full[:, pairs[0]] - full[:, pairs[1]])] = np.nan
    return levels, defined


def exceedances(
    source: Source, plan: Plan, pairs: Pairs, full: Array
) -> Iterator[tuple[slice, IntArray, IntArray]]:
    """Block by block: how many resamples are beyond the observed, of how many that exist."""
    for number, length, share in plan.chunks(source.questions):
        most = min(BLOCK, HELD // source.cost()) // length
        work = _resampled(source, plan, pairs, full, number, length)
        yield from in_blocks(plan, "resampling pairs", len(pairs[0]), most, work, share=share)


def _resampled(
    source: Source, plan: Plan, pairs: Pairs, full: Array, number: int, length: int
) -> Callable[[int, slice], tuple[slice, IntArray, IntArray]]:
    """What to do with a block of pairs, in one chunk of resamples."""
    weights = scores = None
    # Student's t has no unit; a difference of scores has theirs.
    scale = 1.0 if isinstance(source, Scores) else np.array(source.spans)[:, None, None]
    if plan.draws == "shared":
        weights = random_multiplicities(stream(plan.seed, 2, number), length, source.questions)
        if not isinstance(source, Scores):
            scores = source.weighed(weights)

    def work(place: int, own: slice) -> tuple[slice, IntArray, IntArray]:
        ends = pairs[0][own], pairs[1][own]
        rng = stream(plan.seed, 2, number, place)
        if isinstance(source, Scores):
            drawn = weights
            if drawn is None:
                drawn = random_multiplicities(rng, len(ends[0]) * length, source.questions)
                drawn = drawn.reshape(len(ends[0]), length, source.questions)
            null, observed = student(source.features, ends, drawn)
        else:
            x, y = (
                source.resamples(rng, ends, trials=length)
                if scores is None
                else (scores[:, ends[0]], scores[:, ends[1]])
            )
            observed = full[:, ends[0]] - full[:, ends[1]]
            null = x - y - observed[..., None]
        reach = np.abs(observed)[..., None]
        slack = SAME * np.maximum(scale, np.where(np.isfinite(reach), reach, 0))
        beyond = np.abs(null) >= reach - slack
        return own, beyond.sum(axis=-1), (~np.isnan(null)).sum(axis=-1)

    return work


def student(features: Array, pairs: Pairs, weights: npt.NDArray[Any]) -> tuple[Array, Array]:
    """Student's t of the resampled, recentred differences, and of the observed ones."""
    z = features[pairs[0]] - features[pairs[1]]
    n = z.shape[1]
    # t has no unit: squares of very large or very small scores would leave the range of numbers.
    largest = np.abs(z).max(axis=1, keepdims=True)
    z /= np.where(largest > 0, largest, 1)
    centre = z.mean(axis=1, keepdims=True)
    w = z - centre
    wide = weights.astype(np.float64)
    mean = np.matmul(wide, w) / n
    square = np.matmul(wide, w * w) / n
    null = _t(mean, square - mean * mean, n)
    observed = _t(centre[:, 0], (w * w).mean(axis=1), n)
    return np.moveaxis(null, -1, 0), np.moveaxis(observed, -1, 0)


def _t(mean: Array, variance: Array, n: int) -> Array:
    """mean / sqrt(variance / (n−1)); no spread: 0 without a difference, else beyond all bounds."""
    some = variance > SAME * (variance + mean * mean)
    spread = np.sqrt(np.where(some, variance, 0) / max(n - 1, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean / spread
    return np.where(some, t, np.where(np.abs(mean) <= SAME, 0, np.copysign(np.inf, mean)))


def honest_ranges(source: Source, plan: Plan) -> tuple[Array, IntArray]:
    """The largest difference between any two runs in each permutation: measures × trials.

    And in how many of them a measure does not exist for some run.
    """
    blocks = []
    incomplete = np.zeros(len(source.measures), np.int64)
    for scores in permutations(source, plan, part=3):
        none = np.isnan(scores).all(axis=-1)
        incomplete += np.isnan(scores).any(axis=-1).sum(axis=-1)
        high = np.where(np.isnan(scores), -np.inf, scores).max(axis=-1)
        low = np.where(np.isnan(scores), np.inf, scores).min(axis=-1)
        blocks.append(np.where(none, np.nan, high - low))
    return np.concatenate(blocks, axis=-1), incomplete


def exceeding(largest: Array, gaps: Array, *, slack: float = SAME) -> Array:
    """The share of the largest differences that reach each gap, or miss it by `slack`."""
    ranges = np.sort(largest[~np.isnan(largest)])
    if not len(ranges):
        return np.full(len(gaps), np.nan)
    return (len(ranges) - np.searchsorted(ranges, gaps - slack, side="left")) / len(ranges)
