"""Gates: how often does a run pass that should not, and one that should?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl

import abstain as ab
from abstain import testing
from abstain.measures import measure
from simulated.drawing import Codes, Generator, Groups, of_sizes, outcomes, unequal

KINDS = np.array(["right", "wrong", "", "", "empty"])
CERTAIN = 40_000
"""Questions by which the score of a run is known."""
BETTER, MARGIN, SURER = 0.15, 0.05, 1.0


def judged(generator: Generator, codes: Codes, groups: Groups | None = None) -> pl.DataFrame:
    """A run's judged rows, right answers with the higher confidence."""
    place = generator.normal(size=len(codes)) + (codes == 0) * SURER
    return pl.DataFrame(
        {
            "run": "a",
            "question": np.arange(len(codes)),
            "outcome": KINDS[codes],
            "confidence": 1 / (1 + np.exp(-place)),
            "doc": np.arange(len(codes)) if groups is None else groups,
        }
    )


@cache
def true_score(name: str, right: float, covers: float) -> float:
    """By very many questions."""
    generator = np.random.default_rng(0)
    shape = 1, 1, CERTAIN
    (codes,) = outcomes(generator, shape, np.array([covers]), np.array([right]))[0]
    found = ab.read_judged(judged(generator, codes)).score([name]).rows[0].scores[name]
    assert found is not None
    return found


@dataclass(frozen=True)
class Cell:
    """A gate on a measure, so many questions, the precision and the coverage of runs."""

    side: str
    name: str
    questions: int
    right: float
    covers: float
    sizes: tuple[int, ...] = ()

    def passes(self, generator: Generator, off: float) -> bool:
        """Whether a run passes whose precision is by so much above what the gate asks for."""
        groups = of_sizes(self.sizes) if self.sizes else None
        asked = self.right - MARGIN if self.side == "not worse" else self.right
        right = np.array([self.right, min(0.99, asked + off)])
        shape, covers = (1, 2, self.questions), np.full(2, self.covers)
        (codes,) = outcomes(generator, shape, covers, right, groups=groups, within=0.3)
        before, own = (judged(generator, one, groups) for one in codes)
        how: Any = {"by": [], **({} if groups is None else {"cluster": "doc"})}
        wanted = true_score(self.name, asked, self.covers)
        try:
            if self.side == "not worse":
                margin = abs(true_score(self.name, self.right, self.covers) - wanted)
                testing.assert_not_worse(own, None, before, self.name, margin=margin, **how)
            elif measure(self.name).higher_is_better:
                testing.assert_at_least(own, None, self.name, wanted, **how)
            else:
                testing.assert_at_most(own, None, self.name, wanted, **how)
        except testing.GateError:
            return False
        return True


def gates(samples: int, seed: int) -> None:
    """A row a gate: passes at its very edge (5 % may) and with a precision that is better."""
    print("| gate | measure | questions | precision | coverage | clusters | passes | ± | power |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    cells = [
        Cell(side, name, n, right, covers)
        for side, name in (("alone", "c@1"), ("alone", "precision"), ("not worse", "c@1"))
        for n, right, covers in ((20, 0.7, 0.9), (60, 0.95, 0.5), (200, 0.7, 0.2), (200, 0.95, 0.9))
    ]
    cells += [Cell("not worse", "precision", n, 0.7, share) for n, share in ((60, 0.2), (200, 0.5))]
    cells += [
        Cell("alone", name, n, 0.7, 0.9) for name in ("Brier", "AUROC") for n in (20, 60, 200)
    ]
    cells += [Cell("not worse", name, 200, 0.7, 0.9) for name in ("Brier",)]
    cells += [
        Cell(side, "c@1", sum(sizes), 0.7, 0.9, tuple(sizes))
        for side in ("alone", "not worse")
        for sizes in ([5] * 20, unequal(20))
    ]
    for number, cell in enumerate(cells):
        generator = np.random.default_rng([seed, number])
        rate = sum(cell.passes(generator, 0.0) for _ in range(samples)) / samples
        power = sum(cell.passes(generator, BETTER) for _ in range(samples // 5)) / (samples // 5)
        error = math.sqrt(max(rate, 0.01) * (1 - rate) / samples)
        of = f"{len(cell.sizes)} of {cell.sizes[0]} to {cell.sizes[-1]}" if cell.sizes else "–"
        print(
            f"| {cell.side} | {cell.name} | {cell.questions} | {cell.right} | {cell.covers} | {of} "
            f"| {rate:.1%} | {error:.1%} | {power:.0%} |",
            flush=True,
        )
