"""A measure as a function of cells: what intervals and tests need to know of it, and no more.

One run's measure depends on the counts of (right, wrong, blank), or of all five outcomes where
candidates matter. A difference of two runs depends on the joint counts in the same way. So
gradients, resamples and posteriors are written once, for a function of any cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from abstain.measures import Measure
from abstain.outcomes import CountsArray

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array

STEP = 1e-5
MOST_STEP = 1e-3
"""In questions: less than the smallest number that a measure may divide by."""
JEFFREYS = 0.5


@dataclass(frozen=True, slots=True)
class Cells:
    """The outcomes that a measure tells apart."""

    names: tuple[str, ...]
    of_count: tuple[int, ...]
    """The cell of each of the six counts."""
    columns: tuple[int, ...]
    """The count that stands for each cell."""

    def __len__(self) -> int:
        return len(self.names)

    def of(self, outcomes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
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


@dataclass(frozen=True, slots=True)
class Functional:
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
