"""Paired tests, and p-values of many comparisons adjusted.

Randomisation of whole clusters and of scores. McNemar for right against
not right; Student's t, Wilcoxon and signs for scores. Holm, or Benjamini and Hochberg.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from abstain.measures import Measure
from abstain.measures.arrays import Array
from abstain.stats.agreement import rounded
from abstain.stats.randomisation import (
    AT_ONCE,
    BLOCK_BYTES,
    CLOSE,
    CLOSE_STUDENTISED,
    PValue,
    extreme,
    of_clusters,
    p_of,
    score_difference,
)

EXACT_UNITS = 16
CLOSE_SCORES = 1e-9
"""Of the largest difference: sums nearer than this are equal."""
MOST_KEPT = 1 << 24
"""Numbers kept for all runs at once."""
DECIMALS = 9
MOST_EXACT = 50
ROUNDS = 24
"""Halvings of the range in which a level is looked for."""
CORRECTIONS = {
    "holm": "corrected by Holm",
    "bh": "corrected by Benjamini and Hochberg",
    "none": "not corrected",
}


class Flips:
    """Rows of ±1, one a cluster: all of them where there are few (up to a change of all signs).

    They are made block by block, the same each time: memory stays bounded.
    """

    def __init__(self, groups: int, *, trials: int, seed: int) -> None:
        self.groups, self.seed = groups, seed
        self.exact = groups <= EXACT_UNITS
        self.trials = 1 << max(groups - 1, 0) if self.exact else trials

    def blocks(self) -> Iterator[Array]:
        """The rows (some, groups), block by block."""
        if self.exact:
            codes = np.arange(self.trials)
            yield np.asarray(1.0 - 2.0 * (codes[:, None] >> np.arange(self.groups) & 1), np.float64)
            return
        generator = np.random.default_rng([self.seed, 99])
        block = max(1, min(AT_ONCE, BLOCK_BYTES // (8 * self.groups)))
        for start in range(0, self.trials, block):
            shape = (min(block, self.trials - start), self.groups)
            tossed = generator.integers(0, 2, size=shape, dtype=np.int8)
            yield np.asarray(tossed * 2.0 - 1.0, np.float64)

    def __matmul__(self, table: Array) -> Array:
        """The rows times a table of clusters (groups, k)."""
        return np.concatenate([signs @ table for signs in self.blocks()])


def randomise_clusters(
    measure: Measure,
    tables: Array,
    wanted: Sequence[tuple[int, int]],
    flips: Flips,
    progress: Callable[[int], None] = lambda _: None,
) -> list[PValue]:
    """p of pairs by swapping whole clusters; `tables` (runs, groups, k) holds cell counts.

    What the flips make of a run is the same in all its pairs, and is kept where memory allows.
    """
    divided = measure.definition.studentised
    sums = tables.sum(axis=1)
    kept = not divided and flips.trials * sums.size <= MOST_KEPT
    flipped = [flips @ own for own in tables] if kept else []
    found = []
    for i, j in wanted:
        if divided:
            drawn, seen = cluster_statistics(measure, tables[i], tables[j], flips)
        else:
            moved = flipped[i] - flipped[j] if kept else flips @ (tables[i] - tables[j])
            drawn = _moved(measure, sums[i] + sums[j], moved)
            seen = float(score_difference(measure, sums[i], sums[j]))
        close = CLOSE_STUDENTISED if divided else CLOSE
        found.append(_counted(drawn, seen, exact=flips.exact, close=close))
        progress(1)
    return found


def cluster_statistics(
    measure: Measure, own: Array, other: Array, flips: Flips
) -> tuple[Array, float]:
    """A difference over its standard error (trials) by swaps of whole clusters, and as seen."""
    drawn = [of_clusters(measure, own, other, signs) for signs in flips.blocks()]
    seen = of_clusters(measure, own, other, np.ones((1, flips.groups)))
    return np.concatenate(drawn), float(seen[0])


def _moved(measure: Measure, total: Array, moved: Array) -> Array:
    """Differences when both runs have so much in total, and `moved` is their difference."""
    half = (total + moved) / 2
    return score_difference(measure, total - half, half)


def randomise_scores(differences: Array, flips: Flips) -> PValue:
    """p of a mean of paired differences (already summed by cluster where there are some)."""
    return counted_scores((flips @ differences[:, None])[:, 0], differences, exact=flips.exact)


def counted_scores(drawn: Array, differences: Array, *, exact: bool) -> PValue:
    """p from the sums after flips; what differs by less than rounding is equal."""
    close = CLOSE_SCORES * float(np.abs(differences).max(initial=0))
    return _counted(drawn, float(differences.sum()), exact=exact, close=close)


def _counted(drawn: Array, seen: float, *, exact: bool, close: float = CLOSE) -> PValue:
    hits = int(np.count_nonzero(extreme(drawn, seen, close)))
    return PValue(float(p_of(hits, len(drawn), exact=exact)), exact=exact)


def mcnemar(only_one: int, only_other: int) -> float:
    """McNemar's exact p: are the questions that just one run got right split evenly?

    >>> mcnemar(0, 5)
    0.0625
    """
    from scipy.special import bdtr

    fewer = min(only_one, only_other)
    return min(1.0, 2 * float(bdtr(fewer, only_one + only_other, 0.5)))


def signed_gaps(differences: Array) -> Array:
    """The differences that exist, rounded so that those which only rounding tells apart are equal.

    A difference of 0 is a tie.
    """
    return rounded(differences[~np.isnan(differences)], DECIMALS)


def student(mean: float, error: float, degrees: float) -> float:
    """The paired t-test's p of a mean difference with its standard error.

    NaN where the differences do not vary, unless they are all 0.

    >>> round(student(0.1, 0.05, 20), 4)
    0.0593
    """
    from scipy.special import stdtr

    if mean == error == 0:
        return 1.0
    if not error > CLOSE_SCORES * abs(mean):
        return float("nan")
    return 2 * float(stdtr(degrees, -abs(mean / error)))


def sign_test(differences: Array) -> float:
    """The exact sign test's p: is either run ahead as often as the other? Ties are dropped."""
    known = signed_gaps(differences)
    return mcnemar(int(np.count_nonzero(known > 0)), int(np.count_nonzero(known < 0)))


def wilcoxon(differences: Array) -> PValue:
    """Wilcoxon's signed-rank p; zeros are dropped, ties share their ranks.

    Exact for up to 16 differences, and for up to 50 without ties; normal beyond.
    """
    from scipy.stats import rankdata
    from scipy.stats import wilcoxon as signed_rank

    known = signed_gaps(differences)
    known = known[known != 0]
    if not len(known):
        return PValue(1.0, exact=True)
    if len(known) <= EXACT_UNITS:
        ranks = np.sign(known) * rankdata(np.abs(known))
        return randomise_scores(ranks, Flips(len(ranks), trials=0, seed=0))
    size = np.abs(known)
    untied = len(np.unique(size)) == len(size)
    exact = untied and len(known) <= MOST_EXACT
    found = signed_rank(known, method="exact" if exact else "asymptotic")
    return PValue(float(found.pvalue), exact=exact)


def bootstrap_p(values: Array) -> float:
    """Twice the smaller share of resamples on either side of no difference."""
    low = int(np.count_nonzero(~(values > 0)))
    high = int(np.count_nonzero(~(values < 0)))
    return min(1.0, 2 * (min(low, high) + 1) / (len(values) + 1))


def interval_p(limits: Callable[[float], tuple[Array, Array]]) -> float:
    """The p of no difference by an interval of any level: what is left of that which reaches 0.

    >>> from scipy.special import ndtri
    >>> round(interval_p(lambda level: (1.96 - ndtri((1 + level) / 2), np.array(np.inf))), 3)
    0.05
    """
    inside, outside = 1.0, 0.0
    for _ in range(ROUNDS):
        level = (inside + outside) / 2
        low, high = limits(level)
        inside, outside = (level, outside) if low <= 0 <= high else (inside, level)
    return 1 - inside


def holm(p: Array) -> Array:
    """Holm's step-down: the i-th smallest times (m − i + 1), never falling.

    >>> [float(x) for x in holm(np.array([0.01, 0.04, 0.03])).round(4)]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    scaled = p[order] * np.arange(len(p), 0, -1)
    found = np.empty(len(p))
    found[order] = np.minimum(np.maximum.accumulate(scaled), 1)
    return found


def benjamini_hochberg(p: Array) -> Array:
    """Benjamini and Hochberg's step-up: the i-th smallest times m/i, never falling.

    >>> [float(x) for x in benjamini_hochberg(np.array([0.01, 0.04, 0.03])).round(4)]
    [0.03, 0.04, 0.04]
    """
    order = np.argsort(p, kind="stable")
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    found = np.empty(len(p))
    found[order] = np.minimum.accumulate(scaled[::-1])[::-1]  # the largest is as it was
    return found


ADJUSTED: dict[str, Callable[[Array], Array]] = {
    "holm": holm,
    "bh": benjamini_hochberg,
    "none": np.copy,
}


def adjust(p: Array, correction: str) -> Array:
    """Adjusted p-values; what is NaN stays so and is not counted among the comparisons."""
    found = np.array(p, np.float64)
    known = ~np.isnan(found)
    found[known] = ADJUSTED[correction](found[known])
    return found
