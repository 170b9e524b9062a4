"""How often intervals cover: simulated runs over a grid of shares, sizes and cluster correlations.

    python benchmarks/coverage.py [--samples N] [--seed N] [--bootstrap]

Each line is a method over the whole grid; the worst cells of the default stand below, then a few
cells that no grid asked for. `naive` is
the standard error of a mean of independent questions. `--bootstrap` adds the slow methods on a
part of the grid.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from abstain.measures import measure
from abstain.stats.functional import Functional, delta, influence, logit, one_run
from abstain.stats.intervals import cell_interval

Array = npt.NDArray[np.float64]

MEASURES = ("c@1", "F", "precision", "S(t=0.5)")
SIZES = (100, 400)
CLUSTERS = ((1, 0.0), (5, 0.1), (5, 0.3), (10, 0.1), (10, 0.2))
"""Questions a cluster, and the correlation of outcomes within one."""


@dataclass(frozen=True)
class Setting:
    """One cell of the grid: shares right and blank, questions, cluster size, correlation."""

    right: float
    blank: float
    questions: int
    cluster: int
    correlation: float

    @property
    def shares(self) -> Array:
        return np.array([self.right, 1 - self.right - self.blank, self.blank])


Line = tuple[str, Setting, dict[str, float]]
BEYOND = (
    Setting(0.98, 0.01, 100, 1, 0.0),
    Setting(0.025, 0.025, 100, 10, 0.2),
    Setting(0.9, 0.05, 60, 6, 0.1),
    Setting(0.9, 0.05, 100, 20, 0.1),
    Setting(0.95, 0.025, 100, 10, 0.4),
    Setting(0.35, 0.5, 150, 15, 0.3),
)
PART = 10_000
"""Samples held at once."""


def grid() -> Iterator[Setting]:
    """c from 0.05 to 0.95; u of nothing, a tenth, four tenths and half of what is not right."""
    for n, (size, rho), c in itertools.product(SIZES, CLUSTERS, (0.05, 0.2, 0.5, 0.8, 0.95)):
        for u in sorted({0.0, 0.1, 0.4, round((1 - c) / 2, 3)}):
            if c + u <= 1:
                yield Setting(c, u, n, size, rho)


def simulate(s: Setting, samples: int, generator: np.random.Generator) -> Array:
    """Counts (samples, clusters, 3): each cluster has its own shares, Dirichlet around the true."""
    groups = s.questions // s.cluster
    if s.correlation == 0:
        return generator.multinomial(s.cluster, s.shares, size=(samples, groups)).astype(float)
    strength = (1 - s.correlation) / s.correlation
    drawn = generator.standard_gamma(
        np.maximum(s.shares * strength, 1e-12), size=(samples, groups, 3)
    )
    total = drawn.sum(axis=-1, keepdims=True)
    own = np.where(total > 0, drawn / np.where(total > 0, total, 1), s.shares)
    return generator.multinomial(s.cluster, own).astype(float)


def naive(f: Functional, cells: Array) -> tuple[Array, Array]:
    """The standard error of a mean: every question on its own, normal quantile."""
    n = cells.sum(axis=-1)
    error = np.sqrt((cells * influence(f, cells) ** 2).sum(axis=-1)) / n
    value = f.value(cells)
    return value - 1.96 * error, value + 1.96 * error


def coverage(name: str, s: Setting, table: Array) -> dict[str, float]:
    """The share of samples whose interval holds the true value, by method."""
    f = one_run(measure(name))
    true = float(f.value(s.shares))
    cells = table.sum(axis=1)
    usable = ~np.isnan(f.value(cells))
    cells, table = cells[usable], table[usable]
    clusters = table if s.cluster > 1 else None
    found = {}
    for method, (low, high) in {
        "logit": logit(f, cells, clusters, level=0.95),
        "delta": delta(f, cells, clusters, level=0.95),
        "naive": naive(f, cells),
    }.items():
        found[method] = float(np.mean((low <= true + 1e-12) & (high >= true - 1e-12)))
    return found


def slow_coverage(name: str, s: Setting, table: Array) -> dict[str, float]:
    """The same for methods that draw at random, one sample at a time."""
    f = one_run(measure(name))
    true = float(f.value(s.shares))
    hits = dict.fromkeys(("percentile", "bca", "jeffreys"), 0)
    for number, own in enumerate(table):
        clusters = own if s.cluster > 1 else None
        for method in hits:
            found = cell_interval(
                f, own.sum(axis=0), clusters=clusters, method=method, trials=1000, seed=number
            )
            hits[method] += found.low <= true <= found.high
    return {method: count / len(table) for method, count in hits.items()}


def measured(setting: Setting, samples: int, generator: np.random.Generator) -> list[Line]:
    """Every measure's coverage in one cell, drawn in parts so that memory stays small."""
    total: dict[str, dict[str, float]] = {name: {} for name in MEASURES}
    for start in range(0, samples, PART):
        size = min(PART, samples - start)
        table = simulate(setting, size, generator)
        for name in MEASURES:
            for method, share in coverage(name, setting, table).items():
                total[name][method] = total[name].get(method, 0) + share * size / samples
    return [(name, setting, shares) for name, shares in total.items()]


def summary(lines: list[Line]) -> None:
    """The range of each method, and how many cells lie within 93 to 97 %."""
    for method in ("logit", "delta", "naive"):
        values = np.array([shares[method] for *_, shares in lines])
        inside = int(((values >= 0.93) & (values <= 0.97)).sum())
        print(
            f"  {method:6} {100 * values.min():5.1f} to {100 * values.max():5.1f} %, "
            f"{inside} of {len(values)} cells within 93 to 97 %"
        )


def listed(lines: list[Line]) -> None:
    """Cells one by one."""
    for name, s, shares in lines:
        print(
            f"  {name:9} c={s.right} u={s.blank} n={s.questions} clusters of {s.cluster}, "
            f"rho={s.correlation}: {100 * shares['logit']:.1f} % (delta "
            f"{100 * shares['delta']:.1f}, naive {100 * shares['naive']:.1f})"
        )


def main() -> None:
    """Print the range of coverage by method, and where the default does worst."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--samples", type=int, default=10_000)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--bootstrap", action="store_true")
    given = arguments.parse_args()
    generator = np.random.default_rng(given.seed)
    lines = [line for s in grid() for line in measured(s, given.samples, generator)]
    noise = 100 * np.sqrt(0.05 * 0.95 / given.samples)
    print(
        f"{len(lines)} cells of {given.samples:,} samples, seed {given.seed}; 95 % intervals of "
        f"{', '.join(MEASURES)}; standard error of a coverage of 95 %: {noise:.2f} points"
    )
    for clustered in (False, True):
        print("clustered questions" if clustered else "independent questions")
        summary([line for line in lines if (line[1].cluster > 1) == clustered])
    print("where the default is farthest from 95 %")
    listed(sorted(lines, key=lambda line: -abs(line[2]["logit"] - 0.95))[:10])
    print("beyond the grid: nearer the bounds, fewer clusters, stronger correlation")
    listed([line for s in BEYOND for line in measured(s, given.samples, generator)])
    if given.bootstrap:
        slow = [
            slow_coverage("c@1", s, simulate(s, 400, generator))
            for s in grid()
            if s.questions == SIZES[0]
        ]
        for method in slow[0]:
            drawn = [100 * shares[method] for shares in slow]
            print(f"  {method}: {min(drawn):.1f} to {max(drawn):.1f} % (c@1, n = 100)")


if __name__ == "__main__":
    main()
