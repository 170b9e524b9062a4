"""Intervals for a measure or a difference: each method by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from abstain.errors import UsageError, check_name, option
from abstain.measures import Measure, definitions
from abstain.measures.definition import Array, IntArray
from abstain.outcomes import Counts, Decisions
from abstain.stats import delta_method

IntervalMethod: TypeAlias = Literal[
    "beta", "logit", "delta", "percentile", "bca", "jeffreys", "wilson", "clopper-pearson"
]

Ends: TypeAlias = tuple[float, float]

METHODS: dict[str, str] = {
    "beta": "beta quantiles with the effective sample size",
    "logit": "the delta method on the logit scale with pseudo-counts",
    "delta": "the delta method",
    "percentile": "the percentile bootstrap",
    "bca": "the bias-corrected and accelerated bootstrap",
    "jeffreys": "the posterior under a Jeffreys prior",
    "wilson": "Wilson's score interval of a proportion",
    "clopper-pearson": "Clopper and Pearson's exact interval of a proportion",
}
MOST_CROSS_FITS = 1_000
DEFAULT = "beta"
SMOOTH = {"beta": delta_method.beta, "logit": delta_method.logit, "delta": delta_method.delta}
"""Deterministic methods, vectorised over samples."""
RANDOM = ("percentile", "bca", "jeffreys")
OF_ONE_PROPORTION = ("wilson", "clopper-pearson")
DRAWS = 20_000
BLOCK = 1 << 22
ONE_CLUSTER = "there is only one cluster"
NO_WIDTH = "almost all resamples are the same, so a bootstrap interval has no width"


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval by a method; NaN with a reason where it is undefined."""

    low: float
    high: float
    method: str
    why_not: str = ""

    @classmethod
    def none(cls, method: str, why_not: str) -> Interval:
        return cls(math.nan, math.nan, method, why_not)

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def check_method(name: str) -> str:
    if name in ("", "auto", "default"):
        return DEFAULT
    folded = str(name).strip().lower().replace("_", "-")
    check_name("interval method", folded, METHODS)
    return folded


def check_level(level: float) -> float:
    if not 0 < level < 1:
        raise UsageError(f"a level lies between 0 and 1, such as 0.95 (got {level:g})")
    return level


def error_of(level: float) -> float:
    """What a promise of that level leaves: of 0.9 exactly 0.1, and of any level more than 0."""
    return max(round(1 - check_level(level), 12), 1e-12)


def check_repeats(repeats: int) -> None:
    if not 1 <= repeats <= MOST_CROSS_FITS:
        raise UsageError(f"{option('repeats')} is from 1 to {MOST_CROSS_FITS:,} (got {repeats})")


def interval(
    measure: Measure,
    counts: Counts | Decisions | Array,
    *,
    clusters: Array | None = None,
    method: str = DEFAULT,
    level: float = 0.95,
    trials: int = 10_000,
    seed: int = 0,
) -> Interval:
    """An interval for the measure of some counts; `clusters` holds the counts of each cluster."""
    method = check_method(method)
    cells, share = delta_method.cells_of(measure), measure.definition.proportion
    if isinstance(counts, (Counts, Decisions)):
        counts = cells.many.of([counts]).table[0]
    row = np.asarray(counts, np.float64)
    reason = measure.why_undefined(cells.many(row))
    if reason is not None:
        return Interval.none(method, reason)
    merged, groups = cells.merge(row), None
    if clusters is not None:
        groups = cells.merge(clusters[clusters.sum(axis=-1) > 0])
        if len(groups) < 2:
            return Interval.none(method, ONE_CLUSTER)
    if method in OF_ONE_PROPORTION and share is None:
        known = definitions("counts").values()
        ratios = ", ".join(d.name for d in known if d.proportion is not None)
        raise UsageError(f"{method} works only for proportions ({ratios}), not for {measure}")
    f = delta_method.one_run(measure)
    if share is not None and method in PROPORTIONS:
        worth = delta_method.effective(f, merged, groups, level=level) / merged.sum()
        x, n = (float(of * worth) for of in share.of(cells.many(row)))
        low, high = PROPORTIONS[method](x, n, level=level)
        return Interval(float(low), float(high), method)
    options: Any = {"method": method, "level": level, "trials": trials, "seed": seed}
    return cell_interval(f, merged, clusters=groups, **options)


def cell_interval(
    f: delta_method.Functional,
    cells: Array,
    *,
    clusters: Array | None = None,
    method: str = DEFAULT,
    level: float = 0.95,
    trials: int = 10_000,
    seed: int = 0,
) -> Interval:
    if clusters is not None and len(clusters) < 2:
        return Interval.none(method, ONE_CLUSTER)
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


def between(values: Array, tails: Ends, method: str, *, close: float = 0.0) -> Interval:
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
    f: delta_method.Functional,
    cells: Array,
    clusters: Array | None,
    *,
    level: float,
    generator: np.random.Generator,
) -> Array:
    worth = delta_method.effective(f, cells, clusters, level=level)
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
    """The value of each of `trials` resamples of questions, or of clusters.

    Cell counts of resampled questions are multinomial; those of clusters are a matrix product.
    """
    if clusters is None:
        n = round(float(cells.sum()))
        if not np.allclose(cells, np.round(cells)):
            raise UsageError("a bootstrap needs whole numbers of questions; take beta or delta")
        shares = cells / cells.sum()
        return value(generator.multinomial(n, shares, size=trials).astype(np.float64))
    groups, parts = len(clusters), []
    size = max(1, BLOCK // groups)
    even = np.full(groups, 1 / groups)
    for start in range(0, trials, size):
        weights = generator.multinomial(groups, even, size=min(size, trials - start))
        parts.append(value(weights.astype(np.float64) @ clusters))
    return np.concatenate(parts)


def bca_levels(
    value: Callable[[Array], Array],
    cells: Array,
    clusters: Array | None,
    values: Array,
    *,
    level: float,
) -> Ends:
    """The levels of the quantiles of BCa (Efron 1987), corrected for bias and acceleration.

    Leaving out one question changes one cell: the jackknife has as many values as cells.
    """
    if clusters is None:
        left, weights = cells - np.eye(len(cells)), cells
    else:
        left, weights = cells - clusters, np.ones(len(clusters))
    used = weights > 0
    observed = float(value(cells))
    return levels_from_jackknife(observed, values, value(left[used]), weights[used], level=level)


def levels_from_jackknife(
    observed: float, values: Array, jackknife: Array, weights: Array, *, level: float
) -> Ends:
    """BCa's quantiles from resamples and jackknife values with their multiplicities."""
    from scipy.special import ndtr, ndtri

    plain = (1 - level) / 2, (1 + level) / 2
    known = values[~np.isnan(values)]
    keep = ~np.isnan(jackknife)
    jackknife, weights = jackknife[keep], weights[keep]
    if not len(known) or not len(jackknife):
        return plain
    close = 1e-12 * max(float(np.abs(known).max()), abs(observed))
    equal = (np.abs(known - observed) <= close).mean()
    share = (known < observed - close).mean() + equal / 2
    if not 0 < share < 1:
        return plain
    bias = float(ndtri(share))
    off = (weights * jackknife).sum() / weights.sum() - jackknife
    second = float((weights * off**2).sum())
    acceleration = float((weights * off**3).sum()) / (6 * second**1.5) if second > close**2 else 0.0
    reach = bias + ndtri(plain)
    low, high = ndtr(bias + reach / (1 - acceleration * reach))
    return float(low), float(high)


def wilson(x: float, n: float, *, level: float) -> Ends:
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    middle = (x + z * z / 2) / (n + z * z)
    reach = z / (n + z * z) * math.sqrt(x * (n - x) / n + z * z / 4)
    return max(0.0, middle - reach), min(1.0, middle + reach)


PROPORTIONS: dict[str, Callable[..., tuple[Any, Any]]] = {
    "wilson": wilson,
    "clopper-pearson": partial(delta_method.beta_limits, added=(0.0, 1.0)),
    # up to 0 or 1 without successes or failures (Brown, Cai and DasGupta 2001)
    "jeffreys": partial(delta_method.beta_limits, added=(0.5, 0.5)),
}
"""Intervals of x successes in n trials, which need not be whole."""


def exact(x: IntArray, n: IntArray, *, level: float) -> tuple[Array, Array]:
    """Clopper and Pearson's intervals of x successes in n trials; NaN without a trial.

    They hold their level for any n.
    """
    low, high = PROPORTIONS["clopper-pearson"](x, np.maximum(n, 1), level=check_level(level))
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


def exact_f1(twice: IntArray, of: IntArray, *, level: float) -> tuple[Array, Array]:
    """Exact intervals of F1 = 2·tp / (2·tp + fp + fn): of `twice` 2·tp in `of`.

    F1 = 2·J / (1 + J) rises with J = tp / (tp + fp + fn), which is a proportion.
    """
    limits = exact(twice // 2, of - twice // 2, level=level)
    low, high = (2 * each / (1 + each) for each in limits)
    return low, high
