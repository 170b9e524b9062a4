"""Whole comparisons of simulated runs, as `compare` makes them: a table a part."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from abstain.measures import measure
from simulated.compared import Drawn, of_runs
from simulated.drawing import (
    Array,
    Generator,
    Groups,
    equal_by,
    of_sizes,
    outcomes,
    probed,
    row,
    said,
    table,
    unequal,
)

ANSWERS = (3, 5, 10, 20, 40, 200)
APART, SURER, MUCH_SURER = 0.3, 1.0, 2.5
RUNS = 10
ALIKE, UNLIKE = "alike", "one answers all"
COVERAGES = (ALIKE, UNLIKE)


@dataclass(frozen=True)
class Cell:
    """A measure and how it is tested; runs, the last of which answers so many of the questions."""

    name: str
    answers: int
    questions: int
    right: float = 0.7
    kind: str = ALIKE
    how: dict[str, Any] = field(default_factory=dict)
    runs: int = 2
    sizes: tuple[int, ...] = ()
    within: float = 0.0
    fewer: int = 1
    """How many times fewer samples it takes."""

    @property
    def groups(self) -> Groups | None:
        """The cluster of each question."""
        return of_sizes(self.sizes) if self.sizes else None

    def truth(self) -> tuple[Array, Array] | None:
        """The coverage and the precision of each run, all of equal score; None: there are none."""
        few = self.answers / self.questions
        covers = np.linspace(1.0 if self.kind == UNLIKE else few, few, self.runs)
        right = np.full(self.runs, self.right)
        known = measure(self.name).definition
        if self.kind == UNLIKE and known.takes == "counts":
            found = [equal_by(self.name, self.right, few, share) for share in covers]
            if None in found:
                return None
            right = np.array(found)
        return np.minimum(covers, 1 - 1e-12), right

    def drawn(
        self, generator: Generator, truth: tuple[Array, Array], surer: Array | float, some: range
    ) -> Iterator[tuple[int, Drawn]]:
        """Samples of runs by their numbers."""
        shape = len(some), self.runs, self.questions
        codes = outcomes(generator, shape, *truth, groups=self.groups, within=self.within)
        if measure(self.name).definition.needs_candidates:
            behind = generator.random(codes.shape) < truth[1][:, None]
            codes = np.where(codes == 4, np.where(behind, 2, 3), codes).astype(np.uint8)
        place = generator.normal(size=codes.shape) + (codes == 0) * surer
        sure = 1 / (1 + np.exp(-place))
        for number, own, said_sure in zip(some, codes, sure, strict=True):
            yield number, Drawn(own, said_sure, self.groups)

    def measured(self, samples: int, seed: list[int]) -> str | None:
        """Errors and power; None where no two runs are of equal score."""
        truth, generator = self.truth(), np.random.default_rng(seed)
        if truth is None:
            return None

        def p_of(some: range, own: tuple[Array, Array], surer: Array | float) -> Array:
            each = self.drawn(generator, own, surer, some)
            return np.array([of_runs(drawn, self.name, seed=k, **self.how) for k, drawn in each])

        p, other = probed(lambda some: p_of(some, truth, SURER), samples), None
        if self.runs == 2 and not np.isnan(p).all():
            apart, surer = truth, np.array([[MUCH_SURER], [0.0]])
            if measure(self.name).definition.takes == "counts":
                least = 1 if truth[1].min() < APART else -1
                apart = truth[0], np.clip(truth[1] + [0.0, least * APART], 0.01, 0.99)
                surer = np.array(SURER)
            other = p_of(range(samples, samples + max(1, samples // 5)), apart, surer)
        return said(p, other)


def rows(samples: int, seed: int, cells: list[Cell]) -> None:
    """A row a cell."""
    table("measure", "test", "runs", "answers", "of", "precision", "coverage", "clusters")
    for number, cell in enumerate(cells):
        text = ", ".join(f"{key} {value}" for key, value in cell.how.items()) or "default"
        sizes = cell.sizes
        of = "–"
        if sizes:
            size = f"{sizes[0]}" if sizes[0] == sizes[-1] else f"{sizes[0]} to {sizes[-1]}"
            of = f"{len(sizes)} of {size}, ρ {cell.within}"
        found = cell.measured(max(20, samples // cell.fewer), [seed, number])
        if found is not None:
            about = (cell.runs, cell.answers, cell.questions, cell.right, cell.kind, of)
            row(cell.name, text, *about, found)


def counted(samples: int, seed: int) -> None:
    """Measures of counts: few questions, few answers; other tests than the default."""
    boot, names = {"test": "bootstrap"}, ("c@1", "F", "S(t=0.9)", "accuracy")
    cells = [Cell(name, n, n) for name in names for n in ANSWERS]
    cells += [
        Cell(name, few, max(60, 2 * few), 0.8 if few != 10 else 0.6, UNLIKE)
        for name, few in itertools.product(names, ANSWERS)
    ]
    cells += [Cell("c@1", 1, 10, 0.5, UNLIKE), Cell("F", 2, 20, 0.5, UNLIKE)]
    cells += [Cell("S(t=0.9)", 8, 10, 0.9, UNLIKE), Cell("S(t=0.9)", 16, 20, 0.9, UNLIKE)]
    cells += [
        Cell(name, few, 2 * few, 0.7, kind, fewer=2)
        for name in ("wrong-rate-credit", "validation-F", "discard-F")
        for few in (20, 40, 200)
        for kind in COVERAGES
        if kind == ALIKE or name == "wrong-rate-credit"  # blanks are not what the others count
    ]
    cells += [
        Cell(name, few, max(few, most), 0.8, kind, boot)
        for name in ("c@1", "S(t=0.9)", "precision")
        for few, most in ((10, 0), (20, 40), (40, 0), (60, 200))
        for kind in COVERAGES
        if kind == ALIKE or most
    ]
    cells += [Cell("accuracy", n, n, p, how={"test": "mcnemar"}) for n in (10, 60) for p in (0.9,)]
    rows(samples, seed, cells)


def clustered(samples: int, seed: int) -> None:
    """Clusters, few and many, of equal and of unequal sizes."""
    kinds = [(5,) * 8, (5,) * 20, tuple(unequal(8)), tuple(unequal(20)), tuple(unequal(40))]
    cells = [
        Cell(name, round(share * sum(sizes)), sum(sizes), 0.8, kind, {}, 2, sizes, within)
        for name, share in (("precision", 0.3), ("c@1", 0.7), ("S(t=0.9)", 0.7))
        for sizes, within in itertools.product(kinds, (0.3, 0.7))
        for kind in COVERAGES
        if name == "precision" or kind == UNLIKE
    ]
    cells += [
        Cell(name, round(0.5 * sum(sizes)), sum(sizes), 0.7, kind, {}, 2, sizes, 0.3, fewer=2)
        for name in ("Brier", "AUROC")
        for sizes in ((5,) * 20, tuple(unequal(8)), tuple(unequal(20)))
        for kind in COVERAGES
    ]
    cells += [
        Cell(name, round(0.5 * sum(sizes)), sum(sizes), 0.8, UNLIKE, how, 2, sizes, 0.3)
        for name in ("c@1", "precision")
        for sizes in (tuple(unequal(20)), tuple(unequal(40)), (5,) * 40)
        for how in ({"test": "bootstrap"},)
    ]
    rows(samples, seed, cells)


def confidence(samples: int, seed: int) -> None:
    """Measures of confidence."""
    by_answers = ("Brier", "log-score", "AUROC", "AURC", "E-AURC", "Pearson-r")
    by_coverage = ("CWS", "ECE", "coverage@risk(r=0.2)", "K1")
    cells = [
        Cell(name, few, max(100, 2 * few), 0.6 if few < 200 else 0.85, kind, fewer=1 + few // 100)
        for name in (*by_answers, *by_coverage)
        for few in (*ANSWERS[:4], 45, 200)
        for kind in COVERAGES
        if kind == ALIKE or name in by_answers  # who answers less differs in the others
    ]
    cells += [
        Cell(name, 45, 100, 0.6, kind, {"test": "bootstrap"})
        for name in ("Brier", "AUROC", "E-AURC")
        for kind in COVERAGES
    ]
    rows(samples, seed, cells)


def families(samples: int, seed: int) -> None:
    """Ten runs, all pairs or against one: an error is any pair that is found different."""
    against = {"against": "r0"}
    cells = [
        *(Cell("precision", few, 100, 0.7, UNLIKE, {}, RUNS) for few in (5, 20)),
        Cell("precision", 40, 100, 0.9, ALIKE, {"correction": "bh"}, RUNS),
        *(Cell("precision", few, 100, 0.7, UNLIKE, against, RUNS) for few in (5, 20)),
        *(Cell("c@1", few, 60, 0.7, kind, {}, RUNS) for few in (5, 40) for kind in COVERAGES),
        *(Cell("c@1", few, 60, 0.7, UNLIKE, against, RUNS) for few in (5, 40)),
        Cell("Brier", 45, 100, 0.6, UNLIKE, {}, RUNS),
        Cell("Brier", 45, 100, 0.6, UNLIKE, against, RUNS),
        Cell("AUROC", 45, 100, 0.6, UNLIKE, {**against, "resamples": 499}, RUNS, fewer=2),
    ]
    rows(samples, seed, cells)
