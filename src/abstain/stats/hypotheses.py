"""Paired tests of clusters and scores, means with their limits, p-values adjusted for many pairs.

Student's t assumes a normal mean; Hall's (1992) transformation removes the skewness from t. Both
are used together: the wider limits, the larger p-value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
from msgspec import Struct

from abstain.measures import Measure
from abstain.measures.definition import Array, BoolArray
from abstain.stats import randomisation
from abstain.stats.delta_method import effective_clusters
from abstain.stats.orderings import rounded

EXACT_UNITS = 16
CLOSE_SCORES = 1e-9
"""Sums nearer than this share of the largest difference are equal."""
MOST_KEPT = 1 << 24
DECIMALS = 9
MOST_EXACT = 50
ROUNDS = 24
LEAST_DIFFERING = 30
"""Topics, or clusters of equal size, that a test of a mean difference needs (benchmarks/errors.py):
with fewer, skewness cannot be estimated."""
Number = TypeVar("Number", float, Array)
CORRECTIONS = {
    "holm": "corrected by Holm",
    "bonferroni": "corrected by Bonferroni",
    "bh": "corrected by Benjamini and Hochberg",
    "none": "not corrected",
}


class Flips:
    """Rows of ±1 with a sign for each cluster: all of them where clusters are few (up to a change
    of all signs), else random ones, the same in each pass."""

    def __init__(self, groups: int, *, trials: int, seed: int) -> None:
        self.groups, self.seed = groups, seed
        self.exact = groups <= EXACT_UNITS
        self.trials = 1 << max(groups - 1, 0) if self.exact else trials

    def blocks(self) -> Iterator[Array]:
        if self.exact:
            codes = np.arange(self.trials)
            yield np.asarray(1.0 - 2.0 * (codes[:, None] >> np.arange(self.groups) & 1), np.float64)
            return
        generator = np.random.default_rng([self.seed, 99])
        block = max(1, min(randomisation.AT_ONCE, randomisation.BLOCK_BYTES // (8 * self.groups)))
        for start in range(0, self.trials, block):
            shape = (min(block, self.trials - start), self.groups)
            tossed = generator.integers(0, 2, size=shape, dtype=np.int8)
            yield np.asarray(tossed * 2.0 - 1.0, np.float64)

    def __matmul__(self, table: Array) -> Array:
        return np.concatenate([signs @ table for signs in self.blocks()])


def randomise_clusters(
    measure: Measure,
    tables: Array,
    wanted: Sequence[tuple[int, int]],
    flips: Flips,
    progress: Callable[[int], None] = lambda _: None,
) -> list[randomisation.PValue]:
    """p of pairs by swapping whole clusters; `tables` (runs, groups, k) holds cell counts."""
    studentised = measure.definition.studentised
    sums = tables.sum(axis=1)
    kept = not studentised and flips.trials * sums.size <= MOST_KEPT
    flipped = [flips @ table for table in tables] if kept else []
    p_values = []
    for i, j in wanted:
        if studentised:
            statistic = partial(randomisation.of_clusters, measure, tables[i], tables[j])
            drawn = np.concatenate([statistic(signs) for signs in flips.blocks()])
            observed = float(statistic(np.ones((1, flips.groups)))[0])
        else:
            moved = flipped[i] - flipped[j] if kept else flips @ (tables[i] - tables[j])
            total = sums[i] + sums[j]
            half = (total + moved) / 2
            drawn = randomisation.score_difference(measure, total - half, half)
            observed = float(randomisation.score_difference(measure, sums[i], sums[j]))
        close = randomisation.closeness(measure)
        p_values.append(_counted(drawn, observed, exact=flips.exact, close=close))
        progress(1)
    return p_values


def counted_scores(drawn: Array, differences: Array, *, exact: bool) -> randomisation.PValue:
    close = CLOSE_SCORES * float(np.abs(differences).max(initial=0))
    return _counted(drawn, float(differences.sum()), exact=exact, close=close)


def _counted(drawn: Array, observed: float, *, exact: bool, close: float) -> randomisation.PValue:
    hits = int(np.count_nonzero(randomisation.extreme(drawn, observed, close)))
    p = float(randomisation.p_of(hits, len(drawn), exact=exact))
    return randomisation.PValue(p, exact=exact)


def mcnemar(only_one: int, only_other: int) -> float:
    """McNemar's exact p by the questions that only one of two runs got right."""
    return binomial_test(only_one, only_one + only_other, 0.5)


def binomial_test(hits: int, n: int, chance: float) -> float:
    """The two-sided p of so many hits of n: twice the smaller tail."""
    from scipy.special import bdtr

    return min(1.0, 2 * float(min(bdtr(hits, n, chance), bdtr(n - hits, n, 1 - chance))))


def signed_gaps(differences: Array) -> Array:
    """The defined differences, rounded so that ties stay ties."""
    return rounded(differences[~np.isnan(differences)], DECIMALS)


def wilcoxon(differences: Array) -> randomisation.PValue:
    """Wilcoxon's signed-rank p; zeros are dropped, ties share their ranks.

    Exact for up to 16 differences, and for up to 50 without ties; normal beyond.
    """
    from scipy.stats import rankdata
    from scipy.stats import wilcoxon as signed_rank

    known = signed_gaps(differences)
    known = known[known != 0]
    if not len(known):
        return randomisation.PValue(1.0, exact=True)
    if len(known) <= EXACT_UNITS:
        ranks = np.sign(known) * rankdata(np.abs(known))
        return counted_scores(Flips(len(ranks), trials=0, seed=0) @ ranks, ranks, exact=True)
    untied = len(np.unique(np.abs(known))) == len(known)
    exact = untied and len(known) <= MOST_EXACT
    result = signed_rank(known, method="exact" if exact else "asymptotic")
    return randomisation.PValue(float(result.pvalue), exact=exact)


def without_skewness(t: Number, k: Number) -> Number:
    """Hall's statistic: t of a mean with skewness k, mapped to nearly Student's distribution."""
    return t + k * t**2 / 3 + k**2 * t**3 / 27 + k / 6


class Mean(Struct, frozen=True):
    """A mean with its standard error, skewness and degrees of freedom."""

    value: float
    error: float
    skewness: float
    """Of the mean: Σ r³ / (Σ r²)^1.5 of deviations r."""
    degrees: float

    @classmethod
    def of(cls, totals: Array, sizes: Array) -> Mean:
        """The mean of totals by cluster, with cluster sizes; of single values the sizes are 1.

        CR2 (Bell and McCaffrey 2002), with residuals r_g and shares w_g of clusters:
        SE² = Σ_g r_g² / (1 − 2 w_g + Σ w²) / n², which for equal sizes is G/(G−1) Σ_g r_g² / n².
        """
        n = float(sizes.sum())
        value = float(totals.sum() / n) if n else math.nan
        if len(totals) < 2:
            return cls(value, math.nan, 0.0, 1.0)
        off, share = totals - value * sizes, sizes / n
        size = float(np.abs(off).max()) or 1.0
        scaled = off / size  # powers of very small or very large scores leave the range of numbers
        error = size * math.sqrt((scaled**2 / (1 - 2 * share + (share**2).sum())).sum()) / n
        square = float((scaled**2).sum())
        skewness = float((scaled**3).sum()) / square**1.5 if square else 0.0
        return cls(value, error, skewness, max(float(effective_clusters(sizes)) - 1, 1.0))

    @property
    def varies(self) -> bool:
        return self.error > CLOSE_SCORES * abs(self.value)

    def p(self) -> float:
        """The paired t-test's p; NaN where the differences do not vary, unless they are all 0."""
        from scipy.special import stdtr

        if self.value == self.error == 0:
            return 1.0
        if not self.varies:
            return math.nan
        return 2 * float(stdtr(self.degrees, -abs(self.value / self.error)))

    def p_of_skewed(self) -> float:
        from scipy.special import stdtr

        if not self.varies:
            return math.nan
        t = without_skewness(self.value / self.error, self.skewness)
        return 2 * float(stdtr(self.degrees, -abs(t)))

    def limits(self, level: float) -> tuple[float, float]:
        reach = self._quantile(level) * self.error
        return self.value - reach, self.value + reach

    def limits_of_skewed(self, level: float) -> tuple[float, float]:
        """Hall's limits; NaN without spread."""
        if not self.varies:
            return math.nan, math.nan
        quantile, k = self._quantile(level), self.skewness
        low, high = quantile, -quantile
        if abs(k) > CLOSE_SCORES:
            low, high = (3 / k * (math.cbrt(1 + k * (t - k / 6)) - 1) for t in (low, high))
        return self.value - self.error * low, self.value - self.error * high

    def _quantile(self, level: float) -> float:
        from scipy.special import stdtrit

        return float(stdtrit(self.degrees, (1 + level) / 2))


class Paired(Struct, frozen=True):
    """A mean of paired differences over all topics, and over those that differ: ties hide skew."""

    whole: Mean
    part: Mean
    share: float
    differing: float

    @classmethod
    def of(cls, totals: Array, sizes: Array, differs: BoolArray) -> Paired:
        """From differences summed by cluster, and which of the clusters differ."""
        whole = Mean.of(totals, sizes)
        if differs.all():
            return cls(whole, whole, 1.0, float(effective_clusters(sizes)))
        some = sizes[differs]
        worth = float(effective_clusters(some)) if len(some) else 0.0
        return cls(whole, Mean.of(totals[differs], some), float(some.sum() / sizes.sum()), worth)

    def p(self) -> float:
        """Of no difference; NaN where differences do not vary, unless they are all 0."""
        return _larger(self.whole.p(), self.part.p_of_skewed(), max)

    def limits(self, level: float) -> tuple[float, float]:
        low, high = self.whole.limits(level)
        lower, higher = (self.share * end for end in self.part.limits_of_skewed(level))
        return _larger(low, lower, min), _larger(high, higher, max)


def _larger(known: float, other: float, choose: Callable[[float, float], float]) -> float:
    return known if math.isnan(other) or math.isnan(known) else choose(known, other)


def difference_of_groups(
    scores: Array, inside: BoolArray, clusters: Sequence[object], level: float
) -> tuple[float, float, float, float, float]:
    """The mean scores inside and outside, their difference and its cluster-robust t interval.

    Its degrees of freedom are one less than the clusters of the smaller group, which needs two.
    """
    from scipy.special import stdtrit

    known = ~np.isnan(scores)
    numbers = np.unique(list(map(str, clusters)), return_inverse=True)[1]
    groups = known & inside, known & ~inside
    means = [float(scores[group].mean()) if group.any() else math.nan for group in groups]
    counts = [len(np.unique(numbers[group])) for group in groups]
    one, other = means
    difference, variance = one - other, 0.0
    if min(counts) < 2:
        return one, other, difference, math.nan, math.nan
    for group, mean, count in zip(groups, means, counts, strict=True):
        spread = np.where(group, scores - mean, 0.0) / group.sum()
        sums = np.bincount(numbers, weights=np.nan_to_num(spread))
        variance += count / (count - 1) * float((sums**2).sum())
    reach = float(stdtrit(min(counts) - 1, (1 + level) / 2)) * variance**0.5
    return one, other, difference, difference - reach, difference + reach


def bootstrap_p(values: Array) -> float:
    low = int(np.count_nonzero(~(values > 0)))
    high = int(np.count_nonzero(~(values < 0)))
    return min(1.0, 2 * (min(low, high) + 1) / (len(values) + 1))


def interval_p(limits: Callable[[float], tuple[Array, Array]]) -> float:
    """p by inverting an interval: 1 minus the level at which it first contains 0."""
    inside, outside = 1.0, 0.0
    for _ in range(ROUNDS):
        level = (inside + outside) / 2
        low, high = limits(level)
        inside, outside = (level, outside) if low <= 0 <= high else (inside, level)
    return 1 - inside


def adjust(p: Array, correction: str) -> Array:
    """Adjusted p-values; NaN stays and is not counted among the comparisons."""
    from scipy.stats import false_discovery_control

    adjusted = np.array(p, np.float64)
    known = np.flatnonzero(~np.isnan(adjusted))
    if correction == "bonferroni":
        return np.asarray(np.minimum(adjusted * len(known), 1))
    if correction == "bh":
        adjusted[known] = false_discovery_control(adjusted[known])
    if correction == "holm":  # the i-th smallest times (m − i + 1), monotone
        rising = known[np.argsort(adjusted[known], kind="stable")]
        scaled = adjusted[rising] * np.arange(len(rising), 0, -1)
        adjusted[rising] = np.minimum(np.maximum.accumulate(scaled), 1)
    return adjusted
