"""Outcomes of runs on common questions, counted in every way that a comparison asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from abstain.judging.evaluation import Evaluation
from abstain.measures import Measure
from abstain.stats.functional import cells_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array, IntArray

BLOCK = 1 << 16


class OutcomeTable:
    """Counts of runs and of pairs of runs, by question and by cluster."""

    def __init__(self, common: Evaluation, chosen: Measure) -> None:
        self.common, self.measure = common, chosen
        self.runs = list(common.runs)
        self.cells = cells_of(chosen)
        self.size = len(common)
        self.counts = common.overall()
        self.scores = np.asarray(chosen(self.counts))
        self.of = common.clusters()
        self.groups = 0 if self.of is None else int(self.of.max()) + 1
        self.units = self.groups or self.size

    def cells_of(self, run: int) -> npt.NDArray[np.uint8]:
        """A run's outcomes, question by question, as far as the measure tells them apart."""
        return self.cells.of(self.common.codes[run])

    def joint(self, wanted: Sequence[tuple[int, int]]) -> IntArray:
        """Joint counts (pairs, k, k): rows the other run's outcome, columns the run's own."""
        k, runs = len(self.cells), len(self.runs)
        others = sorted({j for _, j in wanted})
        total = np.zeros((len(others) * k, runs * k))
        for start in range(0, self.size, BLOCK):
            part = self.cells.of(self.common.codes[:, start : start + BLOCK])
            hot = (part[:, None, :] == np.arange(k)[:, None]).reshape(runs * k, -1)
            hot = hot.astype(np.float32)
            total += hot.reshape(runs, k, -1)[others].reshape(len(others) * k, -1) @ hot.T
        whole = np.rint(total).astype(np.int64).reshape(len(others), k, runs, k)
        place = {run: at for at, run in enumerate(others)}
        own, other = [i for i, _ in wanted], [place[j] for _, j in wanted]
        return whole[other, :, own, :]

    def clustered(self, run: int) -> Array | None:
        """A run's cell counts by cluster."""
        return self._by_cluster(self.cells_of(run), len(self.cells))

    def six_by_cluster(self, run: int) -> Array | None:
        """A run's six counts by cluster."""
        return self._by_cluster(self.common.codes[run], 6)

    def joints(self, wanted: Sequence[tuple[int, int]]) -> Array | None:
        """Joint cell counts by cluster of several pairs (pairs, groups, k²)."""
        if self.of is None:
            return None
        found = np.empty((len(wanted), self.groups, len(self.cells) ** 2))
        for number, (own, other) in enumerate(wanted):
            found[number] = self.clustered_joint(own, other)
        return found

    def clustered_joint(self, own: int, other: int) -> Array | None:
        """Joint cell counts of two runs by cluster."""
        k = len(self.cells)
        cell = self.cells_of(other).astype(np.int64) * k + self.cells_of(own)
        return self._by_cluster(cell, k * k)

    def by_unit(self, run: int) -> Array:
        """One row a question: 1 in the cell of its outcome; or a row a cluster."""
        clustered = self.clustered(run)
        return np.eye(len(self.cells))[self.cells_of(run)] if clustered is None else clustered

    def _by_cluster(self, cells: npt.NDArray[np.integer], kinds: int) -> Array | None:
        """How often each of some kinds of cell stands in each cluster."""
        if self.of is None:
            return None
        bins = np.bincount(self.of * kinds + cells, minlength=self.groups * kinds)
        return bins.reshape(self.groups, kinds).astype(np.float64)
