"""Scores by topic: every test of `compare --scores`."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulated.compared import of_scores
from simulated.drawing import Array, Generator, Groups, of_sizes, probed, row, said, table, unequal

TOPICS = (3, 5, 10, 20, 40, 200)
SHIFT = 0.1
RUNS = 10


def drawn(generator: Generator, kind: str, shape: tuple[int, ...], groups: Groups | None) -> Array:
    """Scores (samples, runs, topics) of equal mean."""
    samples, runs, topics = shape
    hard = generator.normal(size=(samples, 1, topics))
    own = generator.normal(size=shape)
    if groups is not None:
        of = generator.normal(size=(samples, runs, int(groups.max()) + 1))
        own = np.sqrt(0.5) * own + np.sqrt(0.5) * of[..., groups]
    if kind == "near normal":
        return np.asarray(0.4 + 0.1 * hard + 0.1 * own)
    if kind == "few differ":
        differs = generator.random((samples, 1, topics)) < 0.2
        return np.asarray(0.4 + 0.1 * hard + np.where(differs, 0.2 * own, 0))
    found = generator.beta(3, 6, size=shape)
    found[:, 0] = generator.beta(1, 2, size=(samples, topics))
    return found


@dataclass(frozen=True)
class Cell:
    """A test, a kind of scores, so many runs and topics, perhaps in clusters."""

    how: dict[str, Any]
    kind: str
    topics: int
    runs: int = 2
    sizes: tuple[int, ...] = ()

    def measured(self, samples: int, seed: list[int]) -> str:
        """Errors and power."""
        generator = np.random.default_rng(seed)
        groups = of_sizes(self.sizes) if self.sizes else None

        def p_of(some: range, shift: float) -> Array:
            found = drawn(generator, self.kind, (len(some), self.runs, self.topics), groups)
            found[:, 0] += shift
            each = zip(some, found, strict=True)
            return np.array([of_scores(own, groups, seed=k, **self.how) for k, own in each])

        p, other = probed(lambda some: p_of(some, 0.0), samples), None
        if not np.isnan(p).all():
            other = p_of(range(samples, samples + samples // 5), SHIFT)
        return said(p, other)


def scores(samples: int, seed: int) -> None:
    """A row a test, a number of topics and a kind of scores."""
    table("test", "scores", "runs", "topics", "clusters")
    alike = ("near normal", "few differ")
    cells = [
        Cell({"test": test}, kind, topics)
        for test in ("t", "randomisation", "bootstrap", "wilcoxon", "sign")
        for kind in (*alike, "unlike")
        for topics in TOPICS
        if kind in alike or test not in ("wilcoxon", "sign")  # their null is not of the means
    ]
    for sizes in ([5] * 6, unequal(6), unequal(10), unequal(20), [1, 2, 4, 9, 20, 45, 100]):
        for test in ("t", "randomisation"):
            cells.append(Cell({"test": test}, "near normal", sum(sizes), 2, tuple(sizes)))
    for topics, how in itertools.product((10, 50), ({}, {"against": "r0"})):
        cells += [Cell(how, kind, topics, RUNS) for kind in ("near normal", "unlike")]
    for number, cell in enumerate(cells):
        own = max(20, samples if cell.runs == 2 else samples // 2)
        text = ", ".join(f"{key} {value}" for key, value in cell.how.items()) or "t, Holm"
        many = cell.sizes
        of = f"{len(many)} of {many[0]} to {many[-1]}" if many else "–"
        found = cell.measured(own, [seed, number])
        row(text, cell.kind, cell.runs, cell.topics, of, found)
