"""Outcomes of paired runs, counted in every way that a comparison asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.compare.inputs import Paired
from abstain.measures import Measure
from abstain.outcomes import CountsArray
from abstain.stats.functional import cells_of

if TYPE_CHECKING:
    from abstain.outcomes import Array, IntArray


class PairedTable:
    """Outcomes of paired runs, counted in every way that a comparison asks for."""

    def __init__(self, paired: Paired, chosen: Measure) -> None:
        self.paired, self.measure = paired, chosen
        self.cells = cells_of(chosen)
        self.codes = self.cells.of(paired.outcomes)
        self.size = len(paired.questions)
        counts = np.stack([np.bincount(own, minlength=6) for own in paired.outcomes])
        self.counts = CountsArray(counts.astype(np.int64))
        self.scores = np.asarray(chosen(self.counts))
        self.of = paired.clusters
        self.groups = 0 if self.of is None else int(self.of.max()) + 1

    def joint(self, wanted: Sequence[tuple[int, int]]) -> IntArray:
        """Joint counts (pairs, k, k): rows the other run's outcome, columns the run's own."""
        k, runs = len(self.cells), len(self.codes)
        others = sorted({j for _, j in wanted})
        total = np.zeros((len(others) * k, runs * k))
        for start in range(0, self.size, 1 << 16):
            part = self.codes[:, start : start + (1 << 16)]
            hot = (part[:, None, :] == np.arange(k)[:, None]).reshape(runs * k, -1)
            hot = hot.astype(np.float32)
            total += hot.reshape(runs, k, -1)[others].reshape(len(others) * k, -1) @ hot.T
        whole = np.rint(total).astype(np.int64).reshape(len(others), k, runs, k)
        place = {run: at for at, run in enumerate(others)}
        own, other = [i for i, _ in wanted], [place[j] for _, j in wanted]
        return whole[other, :, own, :]

    def clustered(self, run: int) -> Array | None:
        """A run's cell counts by cluster."""
        if self.of is None:
            return None
        k = len(self.cells)
        bins = np.bincount(self.of * k + self.codes[run], minlength=self.groups * k)
        return bins.reshape(self.groups, k).astype(np.float64)

    def six_by_cluster(self, run: int) -> Array | None:
        """A run's six counts by cluster."""
        if self.of is None:
            return None
        bins = np.bincount(self.of * 6 + self.paired.outcomes[run], minlength=self.groups * 6)
        return bins.reshape(self.groups, 6).astype(np.float64)

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
        if self.of is None:
            return None
        k = len(self.cells) ** 2
        cell = self.codes[other].astype(np.int64) * len(self.cells) + self.codes[own]
        bins = np.bincount(self.of * k + cell, minlength=self.groups * k)
        return bins.reshape(self.groups, k).astype(np.float64)

    def by_unit(self, run: int) -> Array:
        """One row a question: 1 in the cell of its outcome; or a row a cluster."""
        clustered = self.clustered(run)
        return np.eye(len(self.cells))[self.codes[run]] if clustered is None else clustered
