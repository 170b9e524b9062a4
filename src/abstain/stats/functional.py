"""A measure as a function of cells: what intervals and tests need to know of it, and no more.

One run's measure depends on the counts of (right, wrong, blank), or of all five outcomes where
candidates matter. A difference of two runs depends on the joint counts in the same way. So
gradients, resamples and posteriors are written once, for a function of any cells.

The delta method makes standard errors of it, a plain interval, and the default one. The default
takes the place of a score in its measure's range for the proportion of successes among so many
independent questions as would leave the same standard error, adds a pseudo-success and a
pseudo-failure of 0.6 each, and goes to the logit scale. So every measure is drawn from its bounds
by the same weight. It holds its level near 0 and 1, where the plain delta method falls to 88 %.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec import Struct

from abstain.measures import Measure
from abstain.measures.arrays import Array, Codes
from abstain.outcomes import CountsArray

STEP = 1e-5
MOST_STEP = 1e-3
"""In questions: less than the smallest number that a measure may divide by."""
JEFFREYS = 0.5
PSEUDO_COUNT = 0.6
"""Successes and failures added to a place in the range. Chosen by benchmarks/coverage.py: with 0.5
clustered scores near a bound are covered up to 97 % of the time, with 0.7 below 93 %."""
LEAST_EFFECT = 0.5
"""Clusters whose questions repel each other are worth twice their questions, no more."""
LEAST_DEGREES = 4


class Cells(Struct, frozen=True):
    """The outcomes that a measure tells apart."""

    names: tuple[str, ...]
    of_count: tuple[int, ...]
    """The cell of each of the six counts."""
    columns: tuple[int, ...]
    """The count that stands for each cell."""

    def __len__(self) -> int:
        return len(self.names)

    def of(self, outcomes: Codes) -> Codes:
        """Outcomes to cells."""
        return np.array(self.of_count, np.uint8)[outcomes]

    def merge(self, counts: Array) -> Array:
        """Six counts (…, 6) to cells (…, k)."""
        table = np.zeros((len(self.of_count), len(self)))
        table[range(len(self.of_count)), self.of_count] = 1
        return np.asarray(counts, np.float64) @ table

    def counts(self, cells: Array) -> CountsArray:
        """Cells (…, k) as counts that a measure takes; each column lies together in memory."""
        table = np.zeros((6, *cells.shape[:-1]))
        for cell, column in enumerate(self.columns):
            table[column] = cells[..., cell]
        return CountsArray(np.moveaxis(table, 0, -1))


THREE = Cells(("right", "wrong", "blank"), (0, 1, 2, 2, 2, 2), (0, 1, 4))
FIVE = Cells(
    ("right", "wrong", "blank (right)", "blank (wrong)", "blank (empty)"),
    (0, 1, 2, 3, 4, 4),
    (0, 1, 2, 3, 4),
)


def cells_of(measure: Measure) -> Cells:
    """Three cells, or five for a measure that asks what the blanks would have been."""
    return FIVE if measure.definition.needs_candidates else THREE


class Functional(Struct, frozen=True):
    """A function of cell counts (…, size) that depends on their proportions alone."""

    size: int
    prior: float
    """The pseudo-count of a cell, so that each run by itself has ½ an outcome (Jeffreys)."""
    bounds: tuple[float, float]
    value: Callable[[Array], Array]


def one_run(measure: Measure, cells: Cells | None = None) -> Functional:
    """The measure of one run, by the cells that it tells apart unless others are given."""
    cells = cells or cells_of(measure)
    return Functional(
        len(cells), JEFFREYS, measure.bounds, lambda k: np.asarray(measure(cells.counts(k)))
    )


def difference(measure: Measure) -> Functional:
    """The measure of a run minus that of the one it stands against.

    The cell a·k + b holds the questions with outcome a of the other run and b of the run itself.
    """
    cells = cells_of(measure)
    size = len(cells)

    def value(joint: Array) -> Array:
        table = joint.reshape(*joint.shape[:-1], size, size)
        own, other = table.sum(axis=-2), table.sum(axis=-1)
        return np.asarray(measure(cells.counts(own)) - measure(cells.counts(other)))

    width = measure.bounds[1] - measure.bounds[0]
    return Functional(size * size, JEFFREYS / size, (-width, width), value)


def influence(f: Functional, counts: Array) -> Array:
    """ψ of each cell: n times the derivative of the value by the cell's count.

    A function of proportions has Σ p ψ = 0 by itself, so this is the whole of the delta method;
    for c@1 it gives ψ = (1+u)(C − c) + c(U − u).
    """
    counts = np.asarray(counts, np.float64)
    n = np.asarray(counts.sum(axis=-1))[..., None]
    size = np.minimum(STEP * n, MOST_STEP)
    step = size[..., None] * np.eye(f.size)
    up = f.value(counts[..., None, :] + step)
    down = f.value(counts[..., None, :] - step)
    return np.asarray((up - down) / (2 * size) * n)


def standard_error(f: Functional, cells: Array, clusters: Array | None) -> Array:
    """SE² = G/(G−1) Σ_g (Σ_{i∈g} ψ_i)² / n², each question its own cluster when none is named."""
    cells = np.asarray(cells, np.float64)
    return np.sqrt(_variance(influence(f, cells), cells, clusters))


def _variance(psi: Array, cells: Array, clusters: Array | None) -> Array:
    n = cells.sum(axis=-1)
    if clusters is None:
        return np.asarray((cells * psi**2).sum(axis=-1) / n / np.maximum(n - 1, 1))
    groups = clusters.shape[-2]
    sums = _cluster_sums(psi, clusters)
    return np.asarray(groups / (groups - 1) * (sums**2).sum(axis=-1) / n**2)


def _cluster_sums(psi: Array, clusters: Array) -> Array:
    return np.asarray((clusters * psi[..., None, :]).sum(axis=-1))


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

    n over the design effect, cut by the square of normal to t quantile.
    """
    from scipy.special import ndtri, stdtrit

    n = cells.sum(axis=-1)
    if clusters is None:
        return np.asarray(n)
    psi = influence(f, cells)
    simple, full = _variance(psi, cells, None), _variance(psi, cells, clusters)
    effect = np.where(simple > 0, full / np.where(simple > 0, simple, 1), 1)
    tail = (1 + level) / 2
    shrunk = (ndtri(tail) / stdtrit(degrees_of_freedom(_cluster_sums(psi, clusters)), tail)) ** 2
    return np.asarray(n / np.maximum(effect, LEAST_EFFECT) * shrunk)


def degrees_of_freedom(sums: Array) -> Array:
    """Degrees of freedom of Σ s² from its own spread (Satterthwaite): 2 (Σs²)² / (Σs⁴ − (Σs²)²/G).

    Where a few clusters carry the variance they are few; never more than G − 1.
    """
    groups = sums.shape[-1]
    second, fourth = (sums**2).sum(axis=-1), (sums**4).sum(axis=-1)
    spread = fourth - second**2 / groups
    usable = spread > 1e-12 * np.maximum(fourth, 1e-300)
    degrees = np.where(usable, 2 * second**2 / np.where(usable, spread, 1), groups - 1)
    return np.asarray(np.clip(degrees, min(LEAST_DEGREES, groups - 1), groups - 1))


def logit(
    f: Functional, cells: Array, clusters: Array | None, *, level: float
) -> tuple[Array, Array]:
    """The default; the leading axes may hold many samples. The point itself always lies inside."""
    from scipy.special import expit, ndtri
    from scipy.special import logit as log_odds

    cells = np.asarray(cells, np.float64)
    bottom, top = f.bounds
    width = top - bottom
    value = f.value(cells)
    size = _independent(f, cells, effective(f, cells, clusters, level=level))
    successes = np.clip((value - bottom) / width, 0, 1) * size + PSEUDO_COUNT
    total = size + 2 * PSEUDO_COUNT
    reach = ndtri((1 + level) / 2) * np.sqrt(1 / successes + 1 / (total - successes))
    middle = log_odds(successes / total)
    low, high = bottom + width * expit(middle - reach), bottom + width * expit(middle + reach)
    return np.minimum(low, value), np.maximum(high, value)


def _independent(f: Functional, cells: Array, worth: Array) -> Array:
    """How many questions of a plain proportion would have the standard error that `worth` have.

    p(1 − p) over the variance, both at cells with a few pseudo-counts: there they are never 0.
    """
    padded = cells + f.prior
    bottom, top = f.bounds
    place = (f.value(padded) - bottom) / (top - bottom)
    spread = influence(f, padded) / (top - bottom)
    each = (padded * spread**2).sum(axis=-1) / padded.sum(axis=-1)
    return np.asarray(worth * place * (1 - place) / each)
