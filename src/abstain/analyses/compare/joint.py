"""Outcomes of runs on common questions: counts of each run, joint counts of pairs, clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.compare.work import Options, Work
from abstain.measures import Measure
from abstain.stats.functional import cells_of, effective, few_clusters, one_run
from abstain.stats.hypotheses import Flips

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.analyses.compare.comparing import Common
    from abstain.outcomes import Array, IntArray

AT_ONCE = 1 << 16
"""Questions whose joint counts are taken at once."""
BLOCK = 1 << 21


class JointOutcomes(Work):
    """Runs by the counts of their outcomes, pairs by their joint counts."""

    def __init__(self, common: Common, chosen: Measure, options: Options) -> None:
        self.common, self.chosen, self.options = common, chosen, options
        view = common.evaluation
        self.measure, self.runs, self.questions = str(chosen), list(view.runs), len(view)
        self.codes, self.cells = view.codes, cells_of(chosen)
        self.counts = view.overall()
        self.scores = np.asarray(chosen(self.counts))
        self.higher_is_better = chosen.higher_is_better
        self.widest = chosen.bounds[1] - chosen.bounds[0]
        self.of = view.clusters()
        self.clusters = None if self.of is None else int(self.of.max()) + 1

    @cached_property
    def joint(self) -> IntArray:
        """Joint counts (pairs, k, k): rows the other run's outcome, columns the run's own."""
        k, runs = len(self.cells), len(self.runs)
        others = sorted({j for _, j in self.wanted})
        total = np.zeros((len(others) * k, runs * k))
        for start in range(0, self.questions, AT_ONCE):
            part = self.cells.of(self.codes[:, start : start + AT_ONCE])
            hot = (part[:, None, :] == np.arange(k)[:, None]).reshape(runs * k, -1)
            hot = hot.astype(np.float32)
            total += hot.reshape(runs, k, -1)[others].reshape(len(others) * k, -1) @ hot.T
        whole = np.rint(total).astype(np.int64).reshape(len(others), k, runs, k)
        place = {run: at for at, run in enumerate(others)}
        own, other = [i for i, _ in self.wanted], [place[j] for _, j in self.wanted]
        return whole[other, :, own, :]

    def cells_of(self, run: int) -> npt.NDArray[np.uint8]:
        """A run's outcomes, question by question, as far as the measure tells them apart."""
        return self.cells.of(self.codes[run])

    def by_unit(self, run: int) -> Array:
        """One row a question: 1 in the cell of its outcome; or a row a cluster."""
        cells, kinds = self.cells_of(run), len(self.cells)
        clustered = self._by_cluster(cells, kinds)
        return np.eye(kinds)[cells] if clustered is None else clustered

    def clustered_joint(self, own: int, other: int) -> Array | None:
        """Joint cell counts of two runs by cluster."""
        k = len(self.cells)
        cell = self.cells_of(other).astype(np.int64) * k + self.cells_of(own)
        return self._by_cluster(cell, k * k)

    def _by_cluster(self, cells: npt.NDArray[np.integer], kinds: int) -> Array | None:
        """How often each of some kinds of cell stands in each cluster."""
        if self.of is None or self.clusters is None:
            return None
        bins = np.bincount(self.of * kinds + cells, minlength=self.clusters * kinds)
        return bins.reshape(self.clusters, kinds).astype(np.float64)

    @property
    def flips(self) -> Flips:
        """Which questions are swapped, or which clusters."""
        return Flips(
            self.clusters or self.questions, trials=self.options.trials, seed=self.options.seed
        )

    def joint_cells(self, of: Sequence[int]) -> Iterator[tuple[list[int], Array, Array | None]]:
        """Some pairs with their joint counts (pairs, k²), and those by cluster, block by block."""
        size = len(self.cells) ** 2
        at_once = max(1, BLOCK // (size * max(self.clusters or 0, size)))
        for start in range(0, len(of), at_once):
            some = list(of[start : start + at_once])
            cells = self.joint[some].reshape(len(some), -1).astype(np.float64)
            groups = None
            if self.clusters is not None:
                groups = np.empty((len(cells), self.clusters, size))
                for k, number in enumerate(some):
                    groups[k] = self.clustered_joint(*self.wanted[number])
            yield some, cells, groups

    @property
    def shows_spread(self) -> bool:
        """Whether there is more than one question, and more than one cluster."""
        return self.questions > 1 and self.clusters != 1

    @cached_property
    def worth(self) -> Array:
        """How many independent questions a question of each run is worth: 1 without clusters."""
        if self.of is None:
            return np.ones(len(self.runs))
        f, level = one_run(self.chosen), self.options.level
        tables = [self.by_unit(run) for run in range(len(self.runs))]
        found = [
            float(effective(f, own.sum(axis=0), own, level=level)) / self.questions
            for own in tables
        ]
        return np.minimum(np.nan_to_num(found, nan=1.0), 1.0)

    def clusters_note(self) -> str:
        of = self.of
        return "" if of is None else few_clusters(np.bincount(of).astype(np.float64))
