"""Paired randomisation: if two runs were alike, each question's outcomes could as well be swapped.

The numbers of swapped questions by pair of different outcomes are binomial: a trial draws three
numbers (ten where candidates matter), and with three outcomes the null distribution is one matrix
product. Differences of ratios are studentised (Janssen 1997; Chung and Romano 2013): where one run
answers all and the other one in ten, precision varies far less in mixtures than in the shy run.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from abstain.measures import Measure
from abstain.measures.definition import Array, BoolArray, IntArray, Words
from abstain.stats.delta_method import JEFFREYS, cells_of, influence, one_run

CLOSE = 1e-12
CLOSE_STUDENTISED = 1e-6
"""Looser, since statistics hold numerical derivatives."""
LEAST_SPREAD = 1e-12
AT_ONCE = 1 << 16
EXACT_STATES = 400_000
STUDENTISED_STATES = 20_000
UNLIKELY = 1e-26
WHOLE = 40
"""Tosses up to which probabilities are exact multiples of 2^−m."""
BEYOND = 3 * 2 * math.exp(-50)
"""Hoeffding's bound for three binomials beyond ten standard deviations."""
BLOCK_BYTES = 1 << 26


def statistic(measure: Measure, joint: Array) -> Array:
    """The difference over its standard error, of joint counts (…, k, k): rows the other run's.

    The standard error is the delta method's, with ½ an outcome added to each run.
    """
    other, run = joint.sum(axis=-1), joint.sum(axis=-2)
    (value_other, psi_other), (value_run, psi_run) = (_moved(measure, k) for k in (other, run))
    both = ((joint + JEFFREYS / joint.shape[-1]) @ psi_run[..., None])[..., 0]
    spread = (
        ((run + JEFFREYS) * psi_run**2).sum(axis=-1)
        + ((other + JEFFREYS) * psi_other**2).sum(axis=-1)
        - 2 * (psi_other * both).sum(axis=-1)
    )
    return _over(value_run - value_other, spread, run)


def of_clusters(measure: Measure, run: Array, other: Array, signs: Array) -> Array:
    """With whole clusters swapped: cell counts (groups, k), signs (trials, groups)."""
    total = run.sum(axis=0) + other.sum(axis=0)
    first = (total + signs @ (run - other)) / 2
    second = total - first
    (value_first, psi_first), (value_second, psi_second) = (
        _moved(measure, k) for k in (first, second)
    )
    straight = psi_first @ run.T - psi_second @ other.T
    swapped = psi_first @ other.T - psi_second @ run.T
    sums = np.where(signs > 0, straight, swapped)
    groups = len(run)
    spread = groups / max(groups - 1, 1) * (sums**2).sum(axis=-1)
    apart = psi_first[..., None, :] - psi_second[..., :, None]
    spread += JEFFREYS / run.shape[-1] * (apart**2).sum(axis=(-2, -1))
    return _over(value_first - value_second, spread, first)


def _over(value: Array, spread: Array, counts: Array) -> Array:
    """n times the value over the square root of the spread of influences."""
    return np.asarray(value * counts.sum(axis=-1) / np.sqrt(np.maximum(spread, LEAST_SPREAD)))


def _moved(measure: Measure, counts: Array) -> tuple[Array, Array]:
    """The scores of cell counts (…, k), and the influence of each cell with ½ more in each."""
    scores = np.asarray(measure(cells_of(measure).counts(counts)))
    return scores, influence(one_run(measure), counts + JEFFREYS)


def swappable(joint: IntArray | Array) -> Array:
    first, second = np.triu_indices(len(joint), 1)
    return np.asarray(joint[first, second] + joint[second, first])


def after_swaps(joint: IntArray | Array, stay: Sequence[Array | IntArray] | Array) -> Array:
    """Joint tables (trials, k, k), with the numbers of each disagreement that are not swapped."""
    tables = np.empty((len(stay[0]), *joint.shape))
    tables[:] = np.diag(np.diag(joint))
    for (a, b), x in zip(combinations(range(len(joint)), 2), stay, strict=True):
        tables[:, a, b] = x
        tables[:, b, a] = joint[a, b] + joint[b, a] - x
    return tables


@dataclass(frozen=True, slots=True)
class PValue:
    """A p-value, and whether it is exact or Monte Carlo; NaN with a reason where undefined."""

    p: float
    exact: bool
    why_not: str = ""
    of_interval: bool = False
    """Whether it is the p of an interval, where swaps or resamples would say less."""
    undefined: int = 0
    """Swaps that left a run without a value."""


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

    Exact where the distribution is small enough to enumerate, or as `exact` says.
    """
    few = [few_states(measure, table) if exact is None else exact for table in joint]
    drawn = np.flatnonzero(~np.array(few, np.bool_))
    p = np.empty(len(joint))
    for number in np.flatnonzero(few):
        p[number] = exact_p(measure, joint[number])
        progress(1)
    if len(drawn):
        p[drawn] = sampled_p(measure, joint[drawn], trials=trials, seed=seed, progress=progress)
    return [PValue(float(value), exact=known) for value, known in zip(p, few, strict=True)]


def few_states(measure: Measure, table: IntArray) -> bool:
    swaps = swappable(table)
    if measure.definition.studentised:
        return math.prod(float(len(likely_heads(int(m)))) for m in swaps) <= STUDENTISED_STATES
    if len(table) == 3:
        right, blank = (likely_heads(int(m)) for m in swaps[:-1] + swaps[1:])
        return len(right) * len(blank) <= EXACT_STATES
    return float(np.prod(swaps + 1.0)) <= EXACT_STATES


def exact_p(measure: Measure, table: IntArray) -> float:
    """The share of all swaps whose difference is at least as large as the observed one.

    Unlikely swaps that are not enumerated (fewer than 1e-18 of all) count as extreme.
    """
    unseen = 0.0
    if len(table) == 3 and not measure.definition.studentised:
        weights, first, unseen = swap_lattice(table)
        total = table.sum(axis=0) + table.sum(axis=1)
        drawn = score_difference(measure, first, total - first)
    else:
        sizes = [int(m) for m in swappable(table)]
        stay = [grid.ravel() for grid in np.meshgrid(*map(likely_heads, sizes), indexing="ij")]
        chances = [binomial(m)[x] for m, x in zip(sizes, stay, strict=True)]
        weights = np.asarray(math.prod(chances))
        drawn = compared(measure, after_swaps(table, stay))
    loud = extreme(drawn, compared(measure, table.astype(np.float64)), closeness(measure))
    if loud.all():
        return 1.0
    return min(1.0, float(weights[loud].sum()) + unseen + BEYOND)


def likely_heads(m: int) -> IntArray:
    reach = 5 * np.sqrt(m) + 1
    return np.arange(max(0, int(m / 2 - reach)), min(m, int(m / 2 + reach) + 1) + 1)


def swap_lattice(table: IntArray) -> tuple[Array, Array, float]:
    """Three outcomes: the probabilities of (right, blank) after the swaps, as one product.

    The last number is the share left out. Of the right–blank questions y go one way; right − y and
    blank + y are binomials of the others.
    """
    right_wrong, right_blank, wrong_blank = (int(m) for m in swappable(table))
    i = likely_heads(right_wrong + right_blank)
    j = likely_heads(wrong_blank + right_blank)
    y = likely_heads(right_blank)
    left = _shifted(binomial(right_wrong), i[:, None] - y)
    right = _shifted(binomial(wrong_blank), j - (right_blank - y)[:, None])
    weights = (left * binomial(right_blank)[y]) @ right
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


@lru_cache(maxsize=4096)
def binomial(m: int) -> Array:
    from scipy.stats import binom

    chances = np.asarray(binom.pmf(np.arange(m + 1), m, 0.5))
    return np.rint(chances * 2.0**m) / 2.0**m if m <= WHOLE else chances


def sampled_p(
    measure: Measure,
    joint: IntArray,
    *,
    trials: int,
    seed: int,
    progress: Callable[[int], None] = lambda _: None,
) -> Array:
    """p by random swaps. All pairs share the trials, so that a pair's p never depends on others."""
    kinds = len(swappable(joint[0]))
    words = int(joint.sum(axis=(1, 2)).max()) // 64 + 1
    block = max(1, min(trials, AT_ONCE, BLOCK_BYTES // (8 * words * kinds)))
    generators = [np.random.default_rng([seed, kind]) for kind in range(kinds)]
    hits = np.zeros(len(joint), np.int64)
    observed, close = compared(measure, joint.astype(np.float64)), closeness(measure)
    for start in range(0, trials, block):
        some = min(block, trials - start)
        tosses = [
            Tosses(g.integers(0, 1 << 64, size=(some, words), dtype=np.uint64, endpoint=False))
            for g in generators
        ]
        for number, table in enumerate(joint):
            swaps = swappable(table)
            heads = [coins.heads(int(m)) for coins, m in zip(tosses, swaps, strict=True)]
            drawn = compared(measure, after_swaps(table, heads))
            hits[number] += int(np.count_nonzero(extreme(drawn, observed[number], close)))
            if start + some == trials:
                progress(1)
    return np.asarray(p_of(hits, trials, exact=False))


class Tosses:
    """Fair coins by the word: the heads among the first m of them are binomial."""

    def __init__(self, words: Words) -> None:
        self.words = words
        counts = np.bitwise_count(words)
        self.before = np.zeros((words.shape[1] + 1, words.shape[0]), np.int32)
        np.cumsum(counts.T, axis=0, out=self.before[1:])

    def heads(self, m: int) -> Array:
        whole, rest = divmod(m, 64)
        mask = np.uint64((1 << rest) - 1)
        heads = self.before[whole] + np.bitwise_count(self.words[:, whole] & mask)
        return np.asarray(heads, np.float64)


def compared(measure: Measure, joint: Array) -> Array:
    """The statistic that swaps change, of joint counts (…, k, k)."""
    if measure.definition.studentised:
        return statistic(measure, joint)
    # much quicker than sums over axes of length 3
    other, run = np.einsum("...ij->...i", joint), np.einsum("...ij->...j", joint)
    return score_difference(measure, other, run)


def closeness(measure: Measure) -> float:
    return CLOSE_STUDENTISED if measure.definition.studentised else CLOSE


def score_difference(measure: Measure, first: Array, second: Array) -> Array:
    cells = cells_of(measure)
    return np.asarray(measure(cells.counts(second)) - measure(cells.counts(first)))


def extreme(drawn: Array, observed: Array | float, close: float = CLOSE) -> BoolArray:
    """Which statistics are at least as far from 0 as the observed one, or undefined."""
    return ~(np.abs(drawn) < np.abs(observed) - close)


def p_of(hits: Array | IntArray | float, trials: int, *, exact: bool) -> Array | float:
    """p from the number of extreme trials; a Monte Carlo p counts the observed one too."""
    return hits / trials if exact else (hits + 1) / (trials + 1)
