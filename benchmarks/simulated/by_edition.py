"""Editions of a campaign that do not differ: is a change from year to year found?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from abstain.features.editions.analysis import (
    Campaign,
    Means,
    best_rows,
    changes_of,
)
from abstain.measures import measure
from abstain.outcomes import CountsArray
from simulated.drawing import LEVEL, Array, Generator, probed, row, said, table

MORE = 0.6
"""By which a better edition's teams are better, on the scale of a normal deviate."""


@dataclass(frozen=True)
class Cell:
    """Teams with so many runs each, questions in reading tests, and how much they vary."""

    name: str
    what: str
    teams: tuple[int, int]
    """Of the first and of the second edition."""
    tests: int
    questions: int
    """In each test."""
    within: float = 0.3
    """The variance of a test's difficulty; that of questions is 1."""
    runs: tuple[int, ...] = (1, 2, 5)
    """Of teams, in turn."""
    spread: float = 0.5
    """The standard deviation of teams."""
    covers: tuple[float, float] = (0.9, 0.9)
    skewed: bool = False

    def edition(self, generator: Generator, at: int, lift: float) -> Campaign:
        """One of two, its teams better by so much."""
        sizes = [many for many, _ in zip(itertools.cycle(self.runs), range(self.teams[at]))]
        teams = np.arange(self.teams[at]).repeat(sizes)
        able = generator.exponential(size=self.teams[at]) - 1 if self.skewed else None
        able = generator.normal(size=self.teams[at]) if able is None else able
        skill = lift + self.spread * able[teams] + 0.2 * generator.normal(size=len(teams))
        tests = np.arange(self.tests).repeat(self.questions)
        hard = np.sqrt(self.within) * generator.normal(size=self.tests)[tests]
        hard = hard + generator.normal(size=len(tests))
        shape = len(teams), len(tests)
        right = generator.normal(size=shape) < skill[:, None] - hard
        blank = generator.random(shape) >= self.covers[at]
        codes = np.where(blank, 4, np.where(right, 0, 1))
        counts = np.stack([(codes == kind).sum(axis=1) for kind in range(6)], axis=-1)
        return Campaign(
            name=str(at),
            runs=[str(number) for number in range(len(teams))],
            teams=[str(team) for team in teams],
            languages=[""] * len(teams),
            counts=CountsArray(counts.astype(np.float64)),
            measure=self.name,
            asked=pl.DataFrame(
                {"right": (codes == 0).mean(axis=0), "blank": blank.mean(axis=0), "cluster": tests}
            ),
        )

    def measured(self, samples: int, seed: list[int]) -> str:
        """Errors and power."""
        generator, chosen = np.random.default_rng(seed), measure(self.name)

        def p_of(some: range, lift: float) -> Array:
            found = []
            for _ in some:
                both = [self.edition(generator, at, at * lift) for at in range(2)]
                best = [best_rows(own, chosen, range(len(own.runs))) for own in both]
                means = {o.name: Means.of(o, chosen, b) for o, b in zip(both, best, strict=True)}
                changes = changes_of(means, chosen, 1 - LEVEL)
                change = next(own for own in changes if own.what == self.what)
                found.append(np.nan if change.p_value is None else change.p_value)
            return np.array(found)

        p = probed(lambda some: p_of(some, 0.0), samples)
        other = None if np.isnan(p).all() else p_of(range(samples // 5), MORE)
        return said(p, other)


def cells() -> Iterator[Cell]:
    """Few and many teams, tests and questions; unlike coverage; skewed teams; teams alike."""
    for what, teams in itertools.product(
        ("all runs", "best runs"), ((2, 2), (3, 3), (5, 5), (15, 15), (3, 15))
    ):
        for tests, questions in ((3, 5), (4, 10), (16, 10)):
            yield Cell("c@1", what, teams, tests, questions)
    for what, within in itertools.product(("all runs", "best runs"), (0.0, 1.0)):
        yield Cell("c@1", what, (8, 8), 4, 10, within)
        yield Cell("c@1", what, (8, 8), 12, 10, within, spread=0.0)
        yield Cell("c@1", what, (8, 8), 12, 10, within, spread=1.5)
        yield Cell("c@1", what, (8, 8), 12, 10, within, skewed=True)
        yield Cell("c@1", what, (3, 3), 40, 5, within, skewed=True, spread=1.5)
        yield Cell("c@1", what, (8, 8), 40, 1, within)
        yield Cell("precision", what, (8, 8), 12, 10, within, covers=(0.9, 0.2))


def editions(samples: int, seed: int) -> None:
    """A row a cell."""
    table("measure", "mean of", "teams", "tests", "questions in each", "ρ", "coverage", "spread")
    for number, cell in enumerate(cells()):
        found = cell.measured(samples, [seed, number])
        spread = f"{cell.spread}{', skewed' if cell.skewed else ''}"
        row(
            *(cell.name, cell.what, "{}, {}".format(*cell.teams), cell.tests, cell.questions),
            *(cell.within, "{}, {}".format(*cell.covers), spread, found),
        )
