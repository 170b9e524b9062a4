"""Paired randomisation: if two runs were alike, each question's outcomes could as well be swapped.

A count measure sees only how many questions of each pair of different outcomes are swapped, and
that is binomial. So a trial draws three numbers (ten where candidates matter), whatever the
number of questions; and with three outcomes the whole null distribution is one matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from abstain.measures import Measure
from abstain.stats.functional import one_run
from abstain.stats.studentised import CLOSE as CLOSE_STUDENTISED
from abstain.stats.studentised import after_swaps, statistic, swappable

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array, IntArray

    Words = npt.NDArray[np.uint64]

CLOSE = 1e-12
EXACT_STATES = 400_000
STUDENTISED_STATES = 20_000
UNLIKELY = 1e-26
WHOLE = 40
"""Tosses whose chances are whole numbers over 2^m without rounding."""
BEYOND = 3 * 2 * math.exp(-50)
"""At most so much lies more than ten standard deviations out, of three binomials (Hoeffding)."""
BLOCK_BYTES = 1 << 26


@dataclass(frozen=True, slots=True)
class PValue:
    """A p-value, and whether it is exact or from random trials."""

    p: float
    exact: bool


# ----------------------------------------------------------------------------- count measures


def randomise(
    measure: Measure,
    joint: IntArray,
    *,
    trials: int = 10_000,
    seed: int = 0,
    exact: bool | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> list[PValue]:
    """Two-sided p of many pairs: `joint` (pairs, k, k) counts outcomes of one run by the other's.

    Of a studentised measure the difference over its standard error is compared, of the others
    the difference. Exact where the distribution is small enough to write down
    (`exact` forces either way).
    """
    found: list[PValue | None] = [None] * len(joint)
    drawn: list[int] = []
    for number, table in enumerate(joint):
        if exact is not False and (exact or _few(measure, table)):
            found[number] = PValue(exact_p(measure, table), exact=True)
            progress(1)
        else:
            drawn.append(number)
    if drawn:
        sampled = sampled_p(measure, joint[drawn], trials=trials, seed=seed, progress=progress)
        for number, p in zip(drawn, sampled, strict=True):
            found[number] = PValue(float(p), exact=False)
    return [item for item in found if item is not None]


def _few(measure: Measure, table: IntArray) -> bool:
    """Whether the whole distribution, without its far tails, is small enough to write down."""
    swaps = swappable(table)
    if measure.definition.studentised:
        return math.prod(float(len(_likely(int(m)))) for m in swaps) <= STUDENTISED_STATES
    if len(table) == 3:
        return len(_likely(swaps[0] + swaps[1])) * len(_likely(swaps[1] + swaps[2])) <= EXACT_STATES
    return float(np.prod(swaps.astype(np.float64) + 1)) <= EXACT_STATES


def exact_p(measure: Measure, table: IntArray) -> float:
    """The share of all ways of swapping whose difference is at least as large as the one seen.

    Ways so unlikely that they are not looked at (fewer than 1e-18 of all) count as extreme.
    """
    unseen = 0.0
    if measure.definition.studentised:
        weights, tables = _tables(table)
        drawn, seen = statistic(measure, tables), statistic(measure, table.astype(np.float64))
        loud = extreme(drawn, seen, CLOSE_STUDENTISED)
    else:
        if len(table) == 3:
            weights, first, unseen = _lattice(table)
        else:
            weights, tables = _tables(table)
            first = tables.sum(axis=2)
        total = table.sum(axis=0) + table.sum(axis=1)
        drawn = score_difference(measure, first, total - first)
        seen = score_difference(measure, table.sum(axis=1), table.sum(axis=0))
        loud = extreme(drawn, seen)
    if loud.all():
        return 1.0
    return min(1.0, float(weights[loud].sum()) + unseen + BEYOND)


def _likely(m: int) -> IntArray:
    """The numbers of heads in m tosses within ten standard deviations."""
    reach = 5 * np.sqrt(m) + 1
    return np.arange(max(0, int(m / 2 - reach)), min(m, int(m / 2 + reach) + 1) + 1)


def _lattice(table: IntArray) -> tuple[Array, Array, float]:
    """Three outcomes: the chances of (right, blank) of a run after the swaps, as one product.

    The last number is the share of the ways that are left out as unlikely.

    Of the right–blank questions y go one way; right − y and blank + y are binomials of the others.
    """
    (right_wrong, right_blank, wrong_blank) = (int(m) for m in swappable(table))
    i = _likely(right_wrong + right_blank)
    j = _likely(wrong_blank + right_blank)
    y = _likely(right_blank)
    left = _shifted(_binomial(right_wrong), i[:, None] - y)
    right = _shifted(_binomial(wrong_blank), j - (right_blank - y)[:, None])
    weights = (left * _binomial(right_blank)[y]) @ right
    likely = weights > UNLIKELY
    at, to = np.nonzero(likely)
    first = np.empty((len(at), 3))
    first[:, 0] = table[0, 0] + i[at]
    first[:, 2] = table[2, 2] + j[to]
    first[:, 1] = table.sum() - first[:, 0] - first[:, 2]
    return weights[at, to], first, float(weights[~likely].sum())


def _shifted(chances: Array, at: IntArray) -> Array:
    inside = (at >= 0) & (at < len(chances))
    return np.where(inside, chances[np.where(inside, at, 0)], 0.0)


def _tables(table: IntArray) -> tuple[Array, Array]:
    """The chances of all joint tables (states, k, k) after the swaps, without the far tails."""
    sizes = [int(m) for m in swappable(table)]
    stay = [grid.ravel() for grid in np.meshgrid(*map(_likely, sizes), indexing="ij")]
    chances = [_binomial(m)[x] for m, x in zip(sizes, stay, strict=True)]
    return np.asarray(math.prod(chances)), after_swaps(table, stay)


@lru_cache(maxsize=4096)
def _binomial(m: int) -> Array:
    """The chances of 0 to m heads in m fair tosses, of which the sum is 1."""
    from scipy.special import gammaln

    k = np.arange(m + 1)
    chances = np.exp(gammaln(m + 1) - gammaln(k + 1) - gammaln(m - k + 1) - m * np.log(2.0))
    if m <= WHOLE:
        return np.asarray(np.rint(chances * 2.0**m) / 2.0**m)
    return np.asarray(chances / chances.sum())


def sampled_p(
    measure: Measure,
    joint: IntArray,
    *,
    trials: int,
    seed: int,
    progress: Callable[[int], None] = lambda _: None,
) -> Array:
    """p by random swaps. All pairs share the trials, so that a pair's p never depends on others."""
    size = joint.shape[-1]
    kinds = list(combinations(range(size), 2))
    questions = int(joint.sum(axis=(1, 2)).max())
    words = questions // 64 + 1
    block = max(1, min(trials, BLOCK_BYTES // (8 * words * len(kinds))))
    generators = [np.random.default_rng([seed, kind]) for kind in range(len(kinds))]
    hits = np.zeros(len(joint), np.int64)
    first_margin, second_margin = joint.sum(axis=2), joint.sum(axis=1)
    divided = measure.definition.studentised
    if divided:
        seen = statistic(measure, joint.astype(np.float64))
    else:
        seen = score_difference(measure, first_margin, second_margin)
    for start in range(0, trials, block):
        some = min(block, trials - start)
        tosses = [
            Tosses(g.integers(0, 1 << 64, size=(some, words), dtype=np.uint64, endpoint=False))
            for g in generators
        ]
        for number, table in enumerate(joint):
            swaps = swappable(table)
            heads = [own.heads(int(m)) for own, m in zip(tosses, swaps, strict=True)]
            if divided:
                drawn = statistic(measure, after_swaps(table, heads))
                loud = extreme(drawn, seen[number], CLOSE_STUDENTISED)
            else:
                first = np.empty((size, some))
                first[:] = np.diag(table)[:, None]
                for (i, j), m, x in zip(kinds, swaps, heads, strict=True):
                    first[i] += x
                    first[j] += m - x
                total = first_margin[number] + second_margin[number]
                drawn = score_difference(measure, first.T, total - first.T)
                loud = extreme(drawn, seen[number])
            hits[number] += int(np.count_nonzero(loud))
            if start + some == trials:
                progress(1)
    return np.asarray((hits + 1) / (trials + 1))


class Tosses:
    """Fair coins by the word: the heads among the first m of them are binomial."""

    def __init__(self, words: Words) -> None:
        self.words = words
        counts = np.bitwise_count(words)
        self.before = np.zeros((words.shape[1] + 1, words.shape[0]), np.int32)
        np.cumsum(counts.T, axis=0, out=self.before[1:])
        self.known: dict[int, Array] = {}

    def heads(self, m: int) -> Array:
        """How many of the first m coins of each trial show heads."""
        if m not in self.known:
            whole, rest = divmod(m, 64)
            mask = np.uint64((1 << rest) - 1)
            heads = self.before[whole] + np.bitwise_count(self.words[:, whole] & mask)
            if len(self.known) > 500:
                self.known.clear()
            self.known[m] = heads.astype(np.float64)
        return self.known[m]


def score_difference(measure: Measure, first: Array, second: Array) -> Array:
    """The score of the second run's cell counts (…, k) less that of the first's."""
    value = one_run(measure).value
    return value(second) - value(first)


def extreme(drawn: Array, seen: Array | float, close: float = CLOSE) -> npt.NDArray[np.bool_]:
    """At least as far from 0 as what was seen; what has no value speaks for the null."""
    return ~(np.abs(drawn) < np.abs(seen) - close)


def p_of(hits: Array | float, trials: int, *, exact: bool) -> Array | float:
    """The p of so many extreme trials; what was seen is one of those that are random."""
    return hits / trials if exact else (hits + 1) / (trials + 1)
