"""Intervals for a measure or a difference: each method by name.

`beta` is the default, chosen by simulation (benchmarks/coverage.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from abstain.errors import UnknownNameError, UsageError, option
from abstain.measures import Measure, Proportion, definitions
from abstain.measures.arrays import Array
from abstain.outcomes import Counts, CountsArray
from abstain.stats.functional import Functional, beta, cells_of, delta, effective, logit, one_run

IntervalMethod: TypeAlias = Literal[
    "beta", "logit", "delta", "percentile", "bca", "jeffreys", "wilson", "clopper-pearson"
]

METHODS: dict[str, str] = {
    "beta": "beta quantiles by the effective number of questions",
    "logit": "the delta method on the logit scale with pseudo-counts",
    "delta": "the delta method",
    "percentile": "the percentile bootstrap",
    "bca": "the bias-corrected and accelerated bootstrap",
    "jeffreys": "the posterior under a Jeffreys prior",
    "wilson": "Wilson's score interval of a proportion",
    "clopper-pearson": "Clopper and Pearson's exact interval of a proportion",
}
DEFAULT = "beta"
SMOOTH = {"beta": beta, "logit": logit, "delta": delta}
"""Those that take many samples at once and draw nothing."""
RANDOM = ("percentile", "bca", "jeffreys")
OF_ONE_PROPORTION = ("wilson", "clopper-pearson")
DRAWS = 20_000
BLOCK = 1 << 22
"""Numbers held at once."""
NO_WIDTH = "almost all resamples are the same, so a bootstrap interval has no width"


@dataclass(frozen=True, slots=True)
class Interval:
    """From low to high, by a method; NaN with a reason where there is none."""

    low: float
    high: float
    method: str
    why_not: str = ""

    @classmethod
    def none(cls, method: str, why_not: str) -> Interval:
        """No interval, for a reason."""
        return cls(math.nan, math.nan, method, why_not)

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def check_method(name: str) -> str:
    """A method's name, or an error that lists them."""
    if name in ("", "auto", "default"):
        return DEFAULT
    folded = str(name).strip().lower().replace("_", "-")
    if folded not in METHODS:
        raise UnknownNameError(
            "interval method", name, METHODS, hint=f"there are {', '.join(METHODS)}"
        )
    return folded


def check_level(level: float) -> float:
    """A level strictly between 0 and 1."""
    if not 0 < level < 1:
        raise UsageError(f"a level lies between 0 and 1, such as 0.95 (got {level:g})")
    return level


MOST_CROSS_FITS = 1_000
"""Cross-fits that somebody may ask for: more change no digit that is shown."""


def check_repeats(repeats: int) -> None:
    """Refuse a number of cross-fits that is none, or would not end."""
    if not 1 <= repeats <= MOST_CROSS_FITS:
        raise UsageError(f"{option('repeats')} is from 1 to {MOST_CROSS_FITS:,} (got {repeats})")


def interval(
    measure: Measure,
    counts: Counts | Array,
    *,
    clusters: Array | None = None,
    method: str = DEFAULT,
    level: float = 0.95,
    trials: int = 10_000,
    seed: int = 0,
) -> Interval:
    """An interval for the measure of some counts; `clusters` holds the counts of each cluster.

    >>> from abstain.measures import measure
    >>> found = interval(measure("c@1"), Counts(right=138, wrong=87, unanswered_empty=59))
    >>> 0.5869 in found, found.method
    (True, 'beta')
    """
    method = check_method(method)
    row = (
        np.array([getattr(counts, f) for f in Counts.__slots__], np.float64)
        if isinstance(counts, Counts)
        else np.asarray(counts, np.float64)
    )
    own = Counts(*(float(x) for x in row))
    reason = measure.why_undefined(own)
    if reason is not None:
        return Interval.none(method, reason)
    groups = None if clusters is None else np.asarray(clusters, np.float64)
    if groups is not None:
        groups = groups[groups.sum(axis=-1) > 0]
        if len(groups) < 2:
            return Interval.none(method, "there is only one cluster")
    cells = cells_of(measure)
    share = measure.definition.proportion
    if method in OF_ONE_PROPORTION or (method == "jeffreys" and share is not None):
        if share is None:
            others = ", ".join(m for m in METHODS if m not in OF_ONE_PROPORTION)
            known = definitions("counts", strict=False).values()
            ratios = ", ".join(own.name for own in known if own.proportion is not None)
            raise UsageError(
                f"{method} works only for proportions, and {measure} is not a proportion; use one "
                f"of {others}, or a measure that is a proportion ({ratios})"
            )
        low, high = proportion(measure, share, row, groups, method=method, level=level)
        return Interval(low, high, method)
    return cell_interval(
        one_run(measure),
        cells.merge(row),
        clusters=None if groups is None else cells.merge(groups),
        method=method,
        level=level,
        trials=trials,
        seed=seed,
    )


def cell_interval(
    f: Functional,
    cells: Array,
    *,
    clusters: Array | None = None,
    method: str = DEFAULT,
    level: float = 0.95,
    trials: int = 10_000,
    seed: int = 0,
) -> Interval:
    """An interval for a function of cells: one run's measure or a difference of two."""
    if method in OF_ONE_PROPORTION:
        raise UsageError(f"{method} is for one proportion; a difference takes beta, delta, bca, …")
    if clusters is not None and len(clusters) < 2:
        return Interval.none(method, "there is only one cluster")
    if cells.sum() < 2:
        return Interval.none(method, "there is only one question")
    if math.isnan(float(f.value(cells))):
        return Interval.none(method, "the value is undefined")
    if method in SMOOTH:
        low, high = SMOOTH[method](f, cells, clusters, level=level)
        return Interval(float(low), float(high), method)
    generator = np.random.default_rng(seed)
    tails = (1 - level) / 2, (1 + level) / 2
    if method == "jeffreys":
        values = posterior(f, cells, clusters, level=level, generator=generator)
    else:
        values = resampled(f.value, cells, clusters, trials=trials, generator=generator)
        if method == "bca":
            tails = bca_levels(f.value, cells, clusters, values, level=level)
    return between(values, tails, method)


def between(
    values: Array, tails: tuple[float, float], method: str, *, close: float = 0.0
) -> Interval:
    """An interval between two quantiles of drawn values; ends so `close` show no width."""
    known = values[~np.isnan(values)]
    if not len(known):
        return Interval.none(method, "no resample has a value")
    low, high = np.quantile(known, tails)
    lost = len(values) - len(known)
    why = f"{lost} of {len(values)} resamples had no value" if lost else ""
    if math.isclose(low, high, rel_tol=1e-12, abs_tol=close):
        why = NO_WIDTH
    return Interval(float(low), float(high), method, why)


def posterior(
    f: Functional,
    cells: Array,
    clusters: Array | None,
    *,
    level: float,
    generator: np.random.Generator,
) -> Array:
    """Values drawn from the posterior: cells under a Dirichlet prior of ½ an outcome."""
    worth = effective(f, cells, clusters, level=level)
    shape = cells * (worth / cells.sum()) + f.prior
    return f.value(generator.standard_gamma(shape, size=(DRAWS, f.size)))


def resampled(
    value: Callable[[Array], Array],
    cells: Array,
    clusters: Array | None,
    *,
    trials: int,
    generator: np.random.Generator,
) -> Array:
    """The value of each of `trials` resamples of questions, or of clusters where there are some.

    Resampling questions with replacement makes the cell counts multinomial, no question is touched;
    resampling clusters is one matrix product of their multiplicities with their counts.
    """
    if clusters is None:
        n = round(float(cells.sum()))
        if not np.allclose(cells, np.round(cells)):
            raise UsageError("a bootstrap needs whole numbers of questions; take beta or delta")
        shares = cells / cells.sum()
        return value(generator.multinomial(n, shares, size=trials).astype(np.float64))
    groups = len(clusters)
    size = max(1, BLOCK // max(groups, 1))
    parts = []
    for start in range(0, trials, size):
        weights = generator.multinomial(
            groups, np.full(groups, 1 / groups), size=min(size, trials - start)
        )
        parts.append(value(weights.astype(np.float64) @ clusters))
    return np.concatenate(parts)


def bca_levels(
    value: Callable[[Array], Array],
    cells: Array,
    clusters: Array | None,
    values: Array,
    *,
    level: float,
) -> tuple[float, float]:
    """The quantiles that BCa reads (Efron 1987): corrected for bias and acceleration.

    Leaving out one question changes one cell: the jackknife has as many values as cells.
    """
    if clusters is None:
        left = cells - np.eye(len(cells))
        weights = cells
    else:
        left = cells - clusters
        weights = np.ones(len(clusters))
    used = weights > 0
    jackknife, weights = value(left[used]), weights[used]
    return levels_from_jackknife(float(value(cells)), values, jackknife, weights, level=level)


def levels_from_jackknife(
    observed: float, values: Array, jackknife: Array, weights: Array, *, level: float
) -> tuple[float, float]:
    """BCa's quantiles from resamples and leave-one-out values with their multiplicities."""
    from scipy.special import ndtr, ndtri

    plain = ((1 - level) / 2, (1 + level) / 2)
    known = values[~np.isnan(values)]
    keep = ~np.isnan(jackknife)
    jackknife, weights = jackknife[keep], weights[keep]
    if not len(known) or not len(jackknife):
        return plain
    close = 1e-12 * max(float(np.abs(known).max()), abs(observed))
    below = (known < observed - close).mean()
    equal = (np.abs(known - observed) <= close).mean()
    share = below + equal / 2
    if share <= 0 or share >= 1:
        return plain
    bias = float(ndtri(share))
    off = (weights * jackknife).sum() / weights.sum() - jackknife
    second = float((weights * off**2).sum())
    acceleration = float((weights * off**3).sum()) / (6 * second**1.5) if second > close**2 else 0.0
    found = []
    for tail in plain:
        reach = bias + float(ndtri(tail))
        found.append(float(ndtr(bias + reach / (1 - acceleration * reach))))
    return found[0], found[1]


def proportion(
    measure: Measure,
    share: Proportion,
    counts: Array,
    clusters: Array | None,
    *,
    method: str,
    level: float,
) -> tuple[float, float]:
    """The ends of a proportion's interval; six counts, clusters by their effective size."""
    x, n = share.of(CountsArray(counts))
    if clusters is not None:
        cells = cells_of(measure)
        merged, groups = cells.merge(counts), cells.merge(clusters)
        worth = float(effective(one_run(measure), merged, groups, level=level) / merged.sum())
        x, n = x * worth, n * worth
    return PROPORTIONS[method](float(x), float(n), level=level)


def wilson(x: float, n: float, *, level: float) -> tuple[float, float]:
    """Wilson's score interval of x successes in n trials."""
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    middle = (x + z * z / 2) / (n + z * z)
    reach = z / (n + z * z) * math.sqrt(x * (n - x) / n + z * z / 4)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def clopper_pearson(x: float, n: float, *, level: float) -> tuple[float, float]:
    """Clopper and Pearson's exact interval; x and n need not be whole."""
    return _by_beta(x, n, (0.0, 1.0), level)


def jeffreys(x: float, n: float, *, level: float) -> tuple[float, float]:
    """The posterior Beta(x + ½, n − x + ½), to the end where nothing or everything succeeded.

    So Brown, Cai and DasGupta (2001): without it the score itself would lie outside.
    """
    return _by_beta(x, n, (0.5, 0.5), level)


def _by_beta(x: float, n: float, added: tuple[float, float], level: float) -> tuple[float, float]:
    """Quantiles of Beta(x + low, n − x + high), with what is added turned round above."""
    from scipy.special import betaincinv

    tail, (less, more) = (1 - level) / 2, added
    low = 0.0 if x <= 0 else float(betaincinv(x + less, n - x + more, tail))
    high = 1.0 if x >= n else float(betaincinv(x + more, n - x + less, 1 - tail))
    return low, high


PROPORTIONS = {"wilson": wilson, "clopper-pearson": clopper_pearson, "jeffreys": jeffreys}
