"""Discriminative power: how many pairs of runs a measure tells apart.

Sakai 2006: a paired bootstrap test of every pair; the achieved significance levels, sorted, are the
ASL curve. Carterette 2012: Tukey's honestly significant difference by randomisation, which holds
for all pairs together: the largest difference among runs that were permuted on each question.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from abstain.measures import count_measure
from abstain.measures.definition import Array, BoolArray, IntArray
from abstain.stats.hypotheses import without_skewness
from abstain.stats.resampling.draws import BLOCK, HELD, SAME, Plan, all_pairs, cut, in_blocks
from abstain.stats.resampling.reversals import EDGE
from abstain.stats.resampling.samplers import Pairs, Scores, Source, random_multiplicities, stream

RESAMPLES = 1000
POINTS = 1000
LEAST_TOPICS = 40
"""Topics that Tukey's test of means needs (benchmarks/errors.py): fewer do not show skewness."""
CLOSE = 1e-9


def significance(source: Source, plan: Plan, full: Array) -> tuple[Array, IntArray]:
    """The achieved significance level of every pair, and its defined resamples: measures × pairs.

    The share of resamples whose statistic is as far from the observed one as that is from no
    difference. For means of per-question scores the statistic is Student's t, as in the paper; a
    measure of counts is re-scored, and its difference taken as it is.
    """
    pairs = all_pairs(len(source.runs))
    beyond = np.zeros((len(source.measures), len(pairs[0])), np.int64)
    defined = np.zeros_like(beyond)
    for number, length, share in plan.chunks(source.questions):
        step = min(BLOCK, HELD // source.cost) // length
        work = _resampled(source, plan, pairs, full, number, length)
        blocks = in_blocks(plan, "resampling pairs", len(pairs[0]), step, work, share=share)
        for some, more, existing in blocks:
            beyond[:, some] += more
            defined[:, some] += existing
    with np.errstate(divide="ignore", invalid="ignore"):
        levels = beyond / defined
    levels[np.isnan(full[:, pairs[0]] - full[:, pairs[1]])] = np.nan
    return levels, defined


def _resampled(
    source: Source, plan: Plan, pairs: Pairs, full: Array, number: int, length: int
) -> Callable[[int, slice], tuple[slice, IntArray, IntArray]]:
    weights = scores = None
    if plan.draws == "shared":
        weights = random_multiplicities(stream(plan.seed, 2, number), length, source.questions)
        if not isinstance(source, Scores):
            scores = source.weighed(weights)

    def work(place: int, some: slice) -> tuple[slice, IntArray, IntArray]:
        ends = pairs[0][some], pairs[1][some]
        rng = stream(plan.seed, 2, number, place)
        scale: Any = 1.0  # t has no unit
        if isinstance(source, Scores):
            drawn = weights
            if drawn is None:
                drawn = random_multiplicities(rng, len(ends[0]) * length, source.questions)
                drawn = drawn.reshape(len(ends[0]), length, source.questions)
            null, observed = student(source.features, source.known, ends, drawn)
        else:
            if scores is None:
                x, y = source.resamples(rng, ends, trials=length)
            else:
                x, y = scores[:, ends[0]], scores[:, ends[1]]
            observed = full[:, ends[0]] - full[:, ends[1]]
            null = x - y - observed[..., None]
            scale = np.array(source.spans)[:, None, None]
        reach = np.abs(observed)[..., None]
        slack = SAME * np.maximum(scale, np.where(np.isfinite(reach), reach, 0))
        beyond = np.abs(null) >= reach - slack
        return some, beyond.sum(axis=-1), (~np.isnan(null)).sum(axis=-1)

    return work


def student(
    features: Array, known: BoolArray, pairs: Pairs, weights: npt.NDArray[Any]
) -> tuple[Array, Array]:
    z = _scaled(features[pairs[0]] - features[pairs[1]])
    n = known.sum(axis=0)
    centre = z.sum(axis=1, keepdims=True) / n
    w = (z - centre) * known
    wide = weights.astype(np.float64)
    drawn = wide @ known
    with np.errstate(invalid="ignore"):
        mean = np.matmul(wide, w) / drawn
        square = np.matmul(wide, w * w) / drawn
    null = np.where(drawn > 0, _t(mean, square - mean * mean, drawn), np.nan)
    observed = _t(centre[:, 0], (w * w).sum(axis=1) / n, n)
    return np.moveaxis(null, -1, 0), np.moveaxis(observed, -1, 0)


def _scaled(differences: Array) -> Array:
    largest = np.abs(differences).max(axis=1, keepdims=True)
    return np.asarray(differences / np.where(largest > 0, largest, 1))


def _t(mean: Array, variance: Array, n: Array | IntArray) -> Array:
    """mean / sqrt(variance / (n−1)); without spread 0 where there is no difference, else ∞."""
    some = variance > SAME * (variance + mean * mean)
    spread = np.sqrt(np.where(some, variance, 0) / np.maximum(n - 1, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean / spread
    return np.where(some, t, np.where(np.abs(mean) <= SAME, 0, np.copysign(np.inf, mean)))


def tukey_tests(
    source: Source, plan: Plan, gaps: Array, alpha: float, enough: int
) -> list[tuple[Array | None, float | None, int, str]]:
    """p of all pairs, the honest difference, undefined permutations, why there is no p; by measure.

    Of means by t, of measures of counts by their ranges.
    """
    pairs = all_pairs(len(source.runs))
    if isinstance(source, Scores):
        topics = source.known.sum(axis=0).tolist()
        why = f"Tukey's test of mean scores needs {LEAST_TOPICS} topics or more (there are {{:,}})"
        reasons = [why.format(n) if n < LEAST_TOPICS else "" for n in topics]
        if all(reasons) or plan.trials < enough:
            return [(None, None, 0, reason) for reason in reasons]
        both = zip(all_pairs_p(source, plan, pairs), reasons, strict=True)
        return [(None if reason else p, None, 0, reason) for p, reason in both]
    tests = []
    ranges, undefined = honest_ranges(source, plan)
    for m, (largest, lost) in enumerate(zip(ranges, undefined.tolist(), strict=True)):
        formula, p, honest, reason = count_measure(source.measures[m]), None, None, ""
        shows = np.count_nonzero(~np.isnan(largest)) >= enough
        if formula.definition.studentised:
            reason = f"there is no Tukey's test of ratios such as {formula}"
        elif shows:
            p = exceeding(largest, gaps[m], slack=SAME * source.spans[m])
            honest = honest_difference(largest, alpha)
        tests.append((p, honest, lost, reason))
    return tests


def permutations(source: Source, plan: Plan) -> Iterator[Array]:
    """Scores of runs that are permuted on each question: measures × trials × runs, in blocks."""

    def work(place: int, trials: slice) -> Array:
        return source.permuted(stream(plan.seed, 3, place), trials.stop - trials.start)

    step = HELD // (len(source.runs) * source.questions)
    return in_blocks(plan, "permuting runs", plan.trials, step, work)


def honest_ranges(source: Source, plan: Plan) -> tuple[Array, IntArray]:
    """The range of scores in each permutation: measures × trials.

    And the number of permutations in which a measure is undefined for some run.
    """
    blocks = []
    incomplete = np.zeros(len(source.measures), np.int64)
    for scores in permutations(source, plan):
        missing = np.isnan(scores)
        incomplete += missing.any(axis=-1).sum(axis=-1)
        high = np.where(missing, -np.inf, scores).max(axis=-1)
        low = np.where(missing, np.inf, scores).min(axis=-1)
        blocks.append(np.where(missing.all(axis=-1), np.nan, high - low))
    return np.concatenate(blocks, axis=-1), incomplete


def honest_difference(largest: Array, alpha: float) -> float | None:
    """The largest difference that at least alpha of the permutations reach."""
    ranges = np.sort(largest[~np.isnan(largest)])[::-1]
    if not len(ranges):
        return None
    return float(ranges[max(1, math.ceil(alpha * len(ranges) - EDGE)) - 1])


def exceeding(largest: Array, gaps: Array, *, slack: float = SAME) -> Array:
    ranges = np.sort(largest[~np.isnan(largest)])
    if not len(ranges):
        return np.full(len(gaps), np.nan)
    return (len(ranges) - np.searchsorted(ranges, gaps - slack, side="left")) / len(ranges)


def all_pairs_p(source: Scores, plan: Plan, pairs: Pairs) -> Array:
    runs = len(source.runs)

    def work(place: int, trials: slice) -> Array:
        permuted = source.swapped(stream(plan.seed, 3, place), trials.stop - trials.start)
        both = zip(permuted, source.known.T, strict=True)
        return np.stack([largest_t(scores[:, known]) for scores, known in both])

    step = HELD // (runs * max(2 * runs, source.questions))
    blocks = in_blocks(plan, "permuting runs", plan.trials, step, work)
    largest = np.concatenate(list(blocks), axis=1)
    observed = [
        observed_t(source.features[:, known, m], pairs) for m, known in enumerate(source.known.T)
    ]
    return np.stack([exceeding(*each, slack=0.0) for each in zip(largest, observed, strict=True)])


def largest_t(scores: Array) -> Array:
    """The largest |t| of any two runs: trials × topics × runs to trials.

    The variance of a pair's differences is s_ii + s_jj − 2 s_ij of the runs' covariance matrix.
    """
    n = scores.shape[1]
    scores = scores - scores.mean(axis=2, keepdims=True)  # topic effects cancel in differences
    size = np.abs(scores).max(initial=0.0)
    scores /= size if size > 0 else 1.0
    mean = scores.mean(axis=1)
    off = scores - mean[:, None]
    covariance = np.matmul(off.swapaxes(1, 2), off) / n
    variances = np.diagonal(covariance, axis1=1, axis2=2)
    both = variances[:, :, None] + variances[:, None]
    variance = both - 2 * covariance
    square = (mean[:, :, None] - mean[:, None]) ** 2
    some = variance > SAME * (both + square)
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = square * (n - 1) / variance
    alike = np.where(square > SAME * both, np.inf, 0.0)
    return np.asarray(np.sqrt(np.where(some, squares, alike).max(axis=(1, 2))))


def observed_t(scores: Array, pairs: Pairs) -> Array:
    """|t| of each pair of runs (runs × topics), corrected for skewness as in `Paired`."""
    step = max(1, BLOCK // scores.shape[1])
    blocks = (scores[pairs[0][some]] - scores[pairs[1][some]] for some in cut(len(pairs[0]), step))
    return np.concatenate([_corrected_t(_scaled(gaps)) for gaps in blocks]) * (1 - CLOSE)


def _corrected_t(gaps: Array) -> Array:
    """The smaller of Student's |t| and of Hall's over the topics that differ: pairs × topics."""
    from scipy.special import stdtr, stdtrit

    differs = np.abs(gaps) > CLOSE
    t, _ = _t_and_skewness(gaps, np.ones_like(differs))
    part, skewness = _t_and_skewness(gaps, differs)
    usable = np.isfinite(t) & np.isfinite(part)
    statistic = without_skewness(np.where(usable, part, 0.0), skewness)
    p = 2 * stdtr(np.maximum(differs.sum(axis=1) - 1, 1), -np.abs(statistic))
    return np.where(usable, np.fmin(np.abs(t), -stdtrit(gaps.shape[1] - 1, p / 2)), np.abs(t))


def _t_and_skewness(gaps: Array, inside: BoolArray) -> tuple[Array, Array]:
    n = np.maximum(inside.sum(axis=1), 1)
    mean = np.where(inside, gaps, 0.0).sum(axis=1) / n
    off = np.where(inside, gaps - mean[:, None], 0.0)
    square = (off**2).sum(axis=1)
    error = np.sqrt(square / (n * np.maximum(n - 1, 1)))
    varies = error > CLOSE * np.abs(mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(varies, mean / error, np.where(np.abs(mean) > CLOSE, np.inf, 0.0))
        return t, np.where(varies, (off**3).sum(axis=1) / square**1.5, 0.0)
