"""Measures as functions of cell counts: the delta method, cluster-robust variance, intervals.

The default interval rescales a score to [0, 1], treats it as a proportion whose effective sample
size gives the same standard error, and takes beta quantiles. It also contains the values that the
measure has if the share of one outcome is at an end of its interval: an outcome that was not
observed may still occur.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct

from abstain.measures import Measure
from abstain.measures.definition import Array, Codes, IntArray
from abstain.outcomes import CountsArray, DecisionsArray

Limits: TypeAlias = tuple[Array, Array]
STEP = 1e-5
MOST_STEP = 1e-3
"""In questions: less than the smallest denominator of a measure."""
JEFFREYS = 0.5
PSEUDO_COUNT = 0.6
FAR_SIDE = 0.25
"""Added to ½ (Jeffreys) on the far side of a beta quantile (benchmarks/coverage.py): without it
the coverage of one rare event falls to 88 %; ½ instead of it gives more than 97 %."""
LEAST_EFFECT = 0.5
LEAST_OF_SHARES = 0.05
"""The same where every cluster is one question, whose answer is right by a share."""
LEAST_DEGREES = 4
BORROWED = 5.0
"""The weight, in clusters, of the cells' mean design effect in that of a measure."""
ENOUGH_CLUSTERS = 20
"""Clusters of equal size below which intervals undercover (benchmarks/coverage.py)."""


class Cells(Struct, frozen=True):
    """The outcomes that a measure distinguishes."""

    of_count: tuple[int, ...]
    columns: tuple[int, ...]
    """The count that stands for each cell."""
    many: type[CountsArray] = CountsArray

    def __len__(self) -> int:
        return len(self.columns)

    def of(self, outcomes: Codes) -> Codes:
        return np.array(self.of_count, np.uint8)[outcomes]

    def merge(self, counts: Array) -> Array:
        table = np.zeros((len(self.of_count), len(self)))
        table[range(len(self.of_count)), self.of_count] = 1
        return np.asarray(counts, np.float64) @ table

    def counts(self, cells: Array) -> CountsArray:
        table = np.zeros((6, *cells.shape[:-1]))
        for cell, column in enumerate(self.columns):
            table[column] = cells[..., cell]
        return self.many(np.moveaxis(table, 0, -1))


THREE = Cells((0, 1, 2, 2, 2, 2), (0, 1, 4))
"""Right, wrong and blank."""
FIVE = Cells((0, 1, 2, 3, 4, 4), (0, 1, 2, 3, 4))
"""Right, wrong, and blanks by their candidate: right, wrong, none."""
OF_DECISIONS = Cells(FIVE.of_count, FIVE.columns, DecisionsArray)
"""Right, wrong, wrongly declined, wrongly answered, rightly declined."""


def cells_of(measure: Measure) -> Cells:
    if measure.definition.takes == "decisions":
        return OF_DECISIONS
    return FIVE if measure.definition.needs_candidates else THREE


class Functional(Struct, frozen=True):
    """A function of cell counts (…, size) that depends on their proportions alone."""

    size: int
    prior: float
    """The pseudo-count of a cell, ½ an outcome of each run (Jeffreys)."""
    bounds: tuple[float, float]
    value: Callable[[Array], Array]


def one_run(measure: Measure, cells: Cells | None = None) -> Functional:
    cells = cells or cells_of(measure)
    return Functional(
        len(cells), JEFFREYS, measure.bounds, lambda k: np.asarray(measure(cells.counts(k)))
    )


def difference(measure: Measure) -> Functional:
    """The measure of a run minus that of the other.

    Cell a·k + b counts the questions with outcome a of the other run and b of this run.
    """
    cells = cells_of(measure)
    size = len(cells)

    def value(joint: Array) -> Array:
        table = joint.reshape(*joint.shape[:-1], size, size)
        run, other = table.sum(axis=-2), table.sum(axis=-1)
        return np.asarray(measure(cells.counts(run)) - measure(cells.counts(other)))

    width = measure.bounds[1] - measure.bounds[0]
    return Functional(size * size, JEFFREYS / size, (-width, width), value)


def influence(f: Functional, counts: Array) -> Array:
    """ψ of each cell: n times the derivative of the value by the cell's count.

    For a function of proportions Σ p ψ = 0; for c@1 ψ = (1+u)(C − c) + c(U − u).
    """
    counts = np.asarray(counts, np.float64)
    n = np.asarray(counts.sum(axis=-1))[..., None]
    size = np.minimum(STEP * n, MOST_STEP)
    step = size[..., None] * np.eye(f.size)
    up = f.value(counts[..., None, :] + step)
    down = f.value(counts[..., None, :] - step)
    return np.asarray((up - down) / (2 * size) * n)


def standard_error(f: Functional, cells: Array, clusters: Array | None) -> Array:
    """SE² = G/(G−1) Σ_g (Σ_{i∈g} ψ_i)² / n², with one question per cluster by default."""
    cells = np.asarray(cells, np.float64)
    return np.sqrt(_variance(influence(f, cells), cells, clusters))


def _variance(psi: Array, cells: Array, clusters: Array | None) -> Array:
    n = cells.sum(axis=-1)
    if clusters is None:
        return np.asarray((cells * psi**2).sum(axis=-1) / n / np.maximum(n - 1, 1))
    groups, sums = clusters.shape[-2], (clusters * psi[..., None, :]).sum(axis=-1)
    return np.asarray(groups / (groups - 1) * (sums**2).sum(axis=-1) / n**2)


def delta(f: Functional, cells: Array, clusters: Array | None, *, level: float) -> Limits:
    from scipy.special import stdtrit

    cells = np.asarray(cells, np.float64)
    value, error = f.value(cells), standard_error(f, cells, clusters)
    degrees = (cells.sum(axis=-1) if clusters is None else clusters.shape[-2]) - 1
    reach = stdtrit(np.maximum(degrees, 1), (1 + level) / 2) * error
    return np.maximum(value - reach, f.bounds[0]), np.minimum(value + reach, f.bounds[1])


def effective(
    f: Functional, cells: Array, clusters: Array | None, *, level: float, careful: bool = True
) -> Array:
    """The effective sample size of clustered questions (Korn & Graubard 1998).

    n over the design effect, times the squared ratio of the normal to the t quantile. Few clusters
    that vary cannot show the effect: where `careful`, n is drawn to the number of clusters.
    """
    from scipy.special import ndtri, stdtrit

    n = cells.sum(axis=-1)
    if clusters is None:
        return np.asarray(n)
    psi = influence(f, cells)
    effect = _ratio(_variance(psi, cells, clusters), _variance(psi, cells, None), 0)
    sums = (clusters * psi[..., None, :]).sum(axis=-1)
    carrying = _ratio((sums**2).sum(axis=-1) ** 2, (sums**4).sum(axis=-1), 0)
    of_cells = _effect_of_cells(cells, clusters)
    shrunk = (carrying * effect + BORROWED * of_cells) / (carrying + BORROWED)
    groups, tail = effective_clusters(clusters.sum(axis=-1)), (1 + level) / 2
    degrees = np.minimum(degrees_of_freedom(sums), np.maximum(groups - 1, 1))
    quantiles = (ndtri(tail) / stdtrit(degrees, tail)) ** 2
    least = LEAST_EFFECT if (clusters.sum(axis=-1) > 1 + STEP).any() else LEAST_OF_SHARES
    divisor = np.maximum(np.maximum(effect, shrunk), least) / quantiles
    if careful:
        divisor += np.maximum(n / groups - divisor, 0) / (1 + carrying**2)
    return np.asarray(n / divisor)


def _ratio(above: Array, below: Array, otherwise: float) -> Array:
    return np.asarray(np.where(below > 0, above / np.where(below > 0, below, 1), otherwise))


def effective_clusters(sizes: Array) -> Array:
    """The effective number of clusters, by their sizes: (Σn)² / Σn²."""
    return np.asarray(sizes.sum(axis=-1) ** 2 / (sizes**2).sum(axis=-1))


def few_clusters(clusters: IntArray | Mapping[Any, Array] | None) -> list[str]:
    """A warning where clusters, by question or as counts in each slice, are effectively few."""
    if clusters is None:
        return []
    each = clusters.values() if isinstance(clusters, Mapping) else [np.bincount(clusters)[:, None]]
    sizes = [size[size > 0] for size in (counts.sum(axis=-1) for counts in each)]
    fewest = min(sizes, key=effective_clusters)
    worth = float(effective_clusters(fewest))
    if len(fewest) < 2 or worth >= ENOUGH_CLUSTERS:
        return []
    return [
        f"the {len(fewest):,} clusters are as informative as {worth:.1f} clusters of equal size; "
        f"with fewer than {ENOUGH_CLUSTERS}, a 95 % interval may have a coverage below 90 %"
    ]


def _effect_of_cells(cells: Array, clusters: Array) -> Array:
    """The mean design effect over the cells (Rao and Scott 1981)."""
    n, groups = cells.sum(axis=-1), clusters.shape[-2]
    share = cells / n[..., None]
    off = clusters - clusters.sum(axis=-1, keepdims=True) * share[..., None, :]
    full = groups / (groups - 1) * (off**2).sum(axis=(-2, -1))
    simple = n**2 / np.maximum(n - 1, 1) * (1 - (share**2).sum(axis=-1))
    return _ratio(full, simple, 1)


def degrees_of_freedom(sums: Array) -> Array:
    """Satterthwaite's degrees of freedom of Σ s²: 2 (Σs²)² / (Σs⁴ − (Σs²)²/G), at most G − 1."""
    groups = sums.shape[-1]
    second, fourth = (sums**2).sum(axis=-1), (sums**4).sum(axis=-1)
    spread = fourth - second**2 / groups
    usable = spread > 1e-12 * np.maximum(fourth, 1e-300)
    degrees = np.where(usable, 2 * second**2 / np.where(usable, spread, 1), groups - 1)
    return np.asarray(np.clip(degrees, min(LEAST_DEGREES, groups - 1), groups - 1))


def logit(f: Functional, cells: Array, clusters: Array | None, *, level: float) -> Limits:
    """The delta method on the logit scale with pseudo-counts; the point itself lies inside."""
    from scipy.special import expit, ndtri
    from scipy.special import logit as log_odds

    cells = np.asarray(cells, np.float64)
    bottom, top = f.bounds
    width = top - bottom
    value = f.value(cells)
    size = _independent(f, cells, effective(f, cells, clusters, level=level, careful=False))
    successes = np.clip((value - bottom) / width, 0, 1) * size + PSEUDO_COUNT
    total = size + 2 * PSEUDO_COUNT
    reach = ndtri((1 + level) / 2) * np.sqrt(1 / successes + 1 / (total - successes))
    middle = log_odds(successes / total)
    low, high = bottom + width * expit(middle - reach), bottom + width * expit(middle + reach)
    return np.minimum(low, value), np.maximum(high, value)


def beta_limits(
    x: Array | float,
    n: Array | float,
    *,
    level: float,
    added: tuple[float, float] = (JEFFREYS, JEFFREYS + FAR_SIDE),
) -> Limits:
    """Limits of a proportion of x in n, which need not be whole: beta quantiles.

    Of Beta(x + a, n − x + b) below and Beta(x + b, n − x + a) above, with (a, b) `added`.
    """
    from scipy.special import betaincinv

    tail, (near, far) = (1 - level) / 2, added
    failures = np.maximum(n - x, 0)
    low = np.where(np.greater(x, 0), betaincinv(x + near, failures + far, tail), 0.0)
    high = np.where(failures > 0, betaincinv(x + far, failures + near, 1 - tail), 1.0)
    return low, high


def beta(f: Functional, cells: Array, clusters: Array | None, *, level: float) -> Limits:
    """The default interval. It contains the point estimate and, with few clusters, the interval on
    the logit scale, which is wider where an outcome occurs in no cluster."""
    cells = np.asarray(cells, np.float64)
    bottom, top = f.bounds
    value = f.value(cells)
    worth = effective(f, cells, clusters, level=level)
    size = _independent(f, cells, worth)
    successes = np.clip((value - bottom) / (top - bottom), 0, 1) * size
    ends = [bottom + (top - bottom) * end for end in beta_limits(successes, size, level=level)]
    low, high = np.minimum(ends[0], value), np.maximum(ends[1], value)
    for reached in _by_cell(f, cells, worth, level=level):
        low = np.fmin(low, np.fmin.reduce(reached, axis=-1))
        high = np.fmax(high, np.fmax.reduce(reached, axis=-1))
    if clusters is None:
        return low, high
    few = effective_clusters(clusters.sum(axis=-1)) < ENOUGH_CLUSTERS
    lower, higher = logit(f, cells, clusters, level=level)
    return np.where(few, np.minimum(low, lower), low), np.where(few, np.maximum(high, higher), high)


def _by_cell(f: Functional, cells: Array, worth: Array, *, level: float) -> list[Array]:
    n = cells.sum(axis=-1)[..., None]
    at = np.arange(f.size)
    values = []
    for share in beta_limits(cells / n * worth[..., None], worth[..., None], level=level):
        rest = n - cells
        scale = np.where(rest > 0, (1 - share) * n / np.where(rest > 0, rest, 1), 0)
        moved = cells[..., None, :] * scale[..., :, None]
        moved[..., at, at] = np.where(rest > 0, share * n, cells)
        values.append(f.value(moved))
    return values


def _independent(f: Functional, cells: Array, worth: Array) -> Array:
    """The number of trials of a proportion with the same standard error: p(1 − p) / variance."""
    padded = cells + f.prior
    bottom, top = f.bounds
    place = (f.value(padded) - bottom) / (top - bottom)
    spread = influence(f, padded) / (top - bottom)
    each = (padded * spread**2).sum(axis=-1) / padded.sum(axis=-1)
    return np.asarray(worth * place * (1 - place) / each)
