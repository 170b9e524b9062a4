"""Decisions to answer of two runs: few questions cannot be answered, and difficulty is shared."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from scipy.special import ndtri

from abstain.measures import definitions
from simulated.compared import Drawn, of_runs
from simulated.drawing import Array, Codes, Generator, row, said, table

SIDES = ((30, 10), (90, 10), (60, 40))
"""Questions that can and that cannot be answered."""
RATES = ((0.1, 0.3), (0.3, 0.1), (0.2, 0.5))
"""Over-refusal and under-refusal of both runs."""
SHARED = (0.0, 0.6)
RIGHT, APART = 0.7, 0.3


def drawn(
    generator: Generator, samples: int, sides: tuple[int, int], rates: Array, shared: float
) -> Iterator[Codes]:
    """Samples of the decisions of two runs (2, questions); `rates` (2, 2) are those of each."""
    can, cannot = sides
    for _ in range(samples):
        noise = generator.normal(size=(2, can + cannot)) * np.sqrt(1 - shared)
        noise += generator.normal(size=can + cannot) * np.sqrt(shared)
        declines = np.repeat(np.stack([rates[:, 0], 1 - rates[:, 1]], axis=1), sides, axis=1)
        declined = noise < ndtri(declines)
        right = generator.random(declined.shape) < RIGHT
        due = np.where(declined, 2, np.where(right, 0, 1))
        codes = np.where(np.arange(can + cannot) < can, due, np.where(declined, 4, 3))
        yield codes.astype(np.uint8)


def decisions(samples: int, seed: int) -> None:
    """Measures of decisions: errors of runs with equal rates, and power where one differs."""
    table("measure", "answerable", "not", "over", "under", "shared")
    names = list(definitions("decisions"))
    settings = itertools.product(names, SIDES, RATES, SHARED)
    for number, (name, sides, rates, shared) in enumerate(settings):
        generator = np.random.default_rng([seed, number])
        same, apart = np.array([rates, rates]), np.array([rates, rates])
        apart[1] += APART
        found = [
            np.array([of_runs(Drawn(own), name, seed=k) for k, own in enumerate(runs)])
            for runs in (
                drawn(generator, samples, sides, same, shared),
                drawn(generator, max(20, samples // 5), sides, apart, shared),
            )
        ]
        row(name, *sides, *rates, shared, said(*found))
