"""Intervals for a measure or a difference: each method by name.

`logit` is the default, chosen by simulation (benchmarks/coverage.py): the delta method on the
logit scale of the measure's own range, after half a pseudo-count an outcome, with the effective
number of questions where questions come in clusters. It holds its level near 0 and 1, where the
plain delta method falls to 88 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from abstain.compare.bootstrap import bca_levels, resampled
from abstain.compare.functional import Functional, cells_of, influence, one_run
from abstain.errors import UnknownNameError, UsageError
from abstain.measures import Measure
from abstain.outcomes import Counts

if TYPE_CHECKING:
    from abstain.outcomes import Array

METHODS = {
    "logit": "the delta method on the logit scale with half a pseudo-count an outcome",
    "delta": "the delta method",
    "percentile": "the percentile bootstrap",
    "bca": "the bias-corrected and accelerated bootstrap",
    "jeffreys": "the posterior under a Jeffreys prior",
    "wilson": "Wilson's score interval of a proportion",
    "clopper-pearson": "Clopper and Pearson's exact interval of a proportion",
}
DEFAULT = "logit"
RANDOM = ("percentile", "bca", "jeffreys")
DRAWS = 20_000

PROPORTIONS: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "accuracy": ((0,), (0, 1, 2, 3, 4, 5)),
    "qa-accuracy": ((0,), (0, 1, 2, 3, 4, 5)),
    "precision": ((0,), (0, 1)),
    "validation-precision": ((0,), (0, 1)),
    "coverage": ((0, 1), (0, 1, 2, 3, 4, 5)),
    "answer-all-bound": ((0, 2, 3, 4, 5), (0, 1, 2, 3, 4, 5)),
    "forced-accuracy": ((0, 2), (0, 1, 2, 3, 4)),
    "correctly-discarded": ((3, 4), (2, 3, 4)),
    "qa-rej-accuracy": ((3, 4), (0, 1, 2, 3, 4)),
    "qa-performance": ((0, 3, 4), (0, 1, 2, 3, 4)),
    "validation-recall": ((0,), (0, 2)),
}
"""Measures that are a proportion: which of the six counts are its successes and its trials."""

LEAST_EFFECT = 0.5
DEGREES = 1.3
"""How many degrees of freedom the spread of cluster sums is worth, beside its own estimate."""


@dataclass(frozen=True, slots=True)
class Interval:
    """From low to high, by a method; NaN with a reason where there is none."""

    low: float
    high: float
    method: str
    why_not: str = ""

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def check_method(name: str) -> str:
    """A method's name, or an error that lists them."""
    if name in ("", "auto", "default"):
        return DEFAULT
    folded = name.strip().lower().replace("_", "-")
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
    (True, 'logit')
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
        return Interval(math.nan, math.nan, method, reason)
    groups = None if clusters is None else np.asarray(clusters, np.float64)
    if groups is not None:
        groups = groups[groups.sum(axis=-1) > 0]
        if len(groups) < 2:
            return Interval(math.nan, math.nan, method, "there is only one cluster")
    cells = cells_of(measure)
    if method in ("wilson", "clopper-pearson"):
        return _proportion(measure, row, groups, method, level)
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
    if method in ("wilson", "clopper-pearson"):
        raise UsageError(f"{method} is for one proportion; a difference takes logit, delta, bca, …")
    if clusters is not None and len(clusters) < 2:
        return Interval(math.nan, math.nan, method, "there is only one cluster")
    if cells.sum() < 2:
        return Interval(math.nan, math.nan, method, "there is only one question")
    if math.isnan(float(f.value(cells))):
        return Interval(math.nan, math.nan, method, "the value is undefined")
    if method in ("logit", "delta"):
        make = logit if method == "logit" else delta
        low, high = make(f, cells, clusters, level=level)
        return Interval(float(low), float(high), method)
    generator = np.random.default_rng(seed)
    if method == "jeffreys":
        values = posterior(f, cells, clusters, level=level, generator=generator)
        tails = (1 - level) / 2, (1 + level) / 2
    else:
        values = resampled(f.value, cells, clusters, trials=trials, generator=generator)
        tails = (1 - level) / 2, (1 + level) / 2
        if method == "bca":
            tails = bca_levels(f.value, cells, clusters, values, level=level)
    lost = int(np.isnan(values).sum())
    values = values[~np.isnan(values)]
    if not len(values):
        return Interval(math.nan, math.nan, method, "no resample has a value")
    low, high = np.quantile(values, tails)
    why = f"{lost} of {lost + len(values)} resamples had no value" if lost else ""
    return Interval(float(low), float(high), method, why)


# ------------------------------------------------------------------------- the delta method


def standard_error(f: Functional, cells: Array, clusters: Array | None) -> Array:
    """SE² = G/(G−1) Σ_g (Σ_{i∈g} ψ_i)² / n², each question its own cluster when none is named."""
    cells = np.asarray(cells, np.float64)
    return np.sqrt(_variance(influence(f, cells), cells, clusters))


def _variance(psi: Array, cells: Array, clusters: Array | None) -> Array:
    n = cells.sum(axis=-1)
    if clusters is None:
        return np.asarray((cells * psi**2).sum(axis=-1) / n / np.maximum(n - 1, 1))
    groups = clusters.shape[-2]
    sums = (clusters * psi[..., None, :]).sum(axis=-1)
    return np.asarray(groups / (groups - 1) * (sums**2).sum(axis=-1) / n**2)


def delta(
    f: Functional, cells: Array, clusters: Array | None, *, level: float
) -> tuple[Array, Array]:
    """Value ± t·SE, within the measure's range; the leading axes may hold many samples."""
    from scipy.special import stdtrit

    cells = np.asarray(cells, np.float64)
    value, error = f.value(cells), standard_error(f, cells, clusters)
    degrees = (cells.sum(axis=-1) if clusters is None else clusters.shape[-2]) - 1
    reach = stdtrit(np.maximum(degrees, 1), (1 + level) / 2) * error
    return np.maximum(value - reach, f.bounds[0]), np.minimum(value + reach, f.bounds[1])


def effective(f: Functional, cells: Array, clusters: Array | None, *, level: float) -> Array:
    """The number of independent questions that clustered ones are worth (Korn & Graubard 1998).

    n over the design effect, cut by the square of normal to t quantile. The degrees of freedom
    follow from the spread of the cluster sums: where a few clusters carry the variance, few.
    """
    from scipy.special import ndtri, stdtrit

    n = cells.sum(axis=-1)
    if clusters is None:
        return np.asarray(n)
    psi = influence(f, cells)
    simple, full = _variance(psi, cells, None), _variance(psi, cells, clusters)
    effect = np.where(simple > 0, full / np.where(simple > 0, simple, 1), 1)
    sums = (clusters * psi[..., None, :]).sum(axis=-1)
    second, fourth = (sums**2).sum(axis=-1), (sums**4).sum(axis=-1)
    groups = clusters.shape[-2]
    spread = fourth - second**2 / groups
    usable = spread > 1e-12 * np.maximum(fourth, 1e-300)
    degrees = np.where(usable, 2 * DEGREES * second**2 / np.where(usable, spread, 1), groups - 1)
    degrees = np.clip(degrees, min(4, groups - 1), groups - 1)
    tail = (1 + level) / 2
    return np.asarray(
        n / np.maximum(effect, LEAST_EFFECT) * (ndtri(tail) / stdtrit(degrees, tail)) ** 2
    )


def logit(
    f: Functional, cells: Array, clusters: Array | None, *, level: float
) -> tuple[Array, Array]:
    """The default: the delta method on the logit scale, with pseudo-counts; many samples at once.

    The point itself always lies inside.
    """
    from scipy.special import expit, ndtri
    from scipy.special import logit as log_odds

    cells = np.asarray(cells, np.float64)
    n = cells.sum(axis=-1)
    worth = effective(f, cells, clusters, level=level)
    padded = cells * (worth / n)[..., None] + f.prior
    total = padded.sum(axis=-1)
    psi = influence(f, padded)
    error = np.sqrt((padded * psi**2).sum(axis=-1)) / total
    bottom, top = f.bounds
    width = top - bottom
    place = np.clip((f.value(padded) - bottom) / width, 1e-12, 1 - 1e-12)
    reach = ndtri((1 + level) / 2) * error / (width * place * (1 - place))
    value = f.value(cells)
    low = bottom + width * expit(log_odds(place) - reach)
    high = bottom + width * expit(log_odds(place) + reach)
    return np.minimum(low, value), np.maximum(high, value)


# ---------------------------------------------------------------------- posterior, proportions


def posterior(
    f: Functional,
    cells: Array,
    clusters: Array | None,
    *,
    level: float,
    generator: np.random.Generator,
    draws: int = DRAWS,
) -> Array:
    """Values drawn from the posterior: cells under a Dirichlet prior of ½ an outcome."""
    worth = effective(f, cells, clusters, level=level)
    shape = cells * (worth / cells.sum()) + f.prior
    return f.value(generator.standard_gamma(shape, size=(draws, f.size)))


def _proportion(
    measure: Measure, counts: Array, clusters: Array | None, method: str, level: float
) -> Interval:
    from scipy.special import betaincinv, ndtri

    if measure.name not in PROPORTIONS:
        raise UsageError(
            f"{method} is for proportions, and {measure} is none; there are "
            f"{', '.join(m for m in METHODS if m not in ('wilson', 'clopper-pearson'))}"
        )
    successes, among = PROPORTIONS[measure.name]
    x, n = float(counts[list(successes)].sum()), float(counts[list(among)].sum())
    if clusters is not None:
        cells = cells_of(measure)
        merged, groups = cells.merge(counts), cells.merge(clusters)
        worth = effective(one_run(measure), merged, groups, level=level) / merged.sum()
        x, n = x * float(worth), n * float(worth)
    if method == "wilson":
        z = float(ndtri((1 + level) / 2))
        middle = (x + z * z / 2) / (n + z * z)
        reach = z / (n + z * z) * math.sqrt(x * (n - x) / n + z * z / 4)
        return Interval(max(0.0, middle - reach), min(1.0, middle + reach), method)
    tail = (1 - level) / 2
    low = 0.0 if x <= 0 else float(betaincinv(x, n - x + 1, tail))
    high = 1.0 if x >= n else float(betaincinv(x + 1, n - x, 1 - tail))
    return Interval(low, high, method)
