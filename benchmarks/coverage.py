"""How often intervals cover: simulated runs over a grid of shares, sizes and clusters.

    python benchmarks/coverage.py [--samples N] [--seed N] [--bootstrap]

Independent questions: n from 25 to 1,000, shares from the middle down to one expected event and
below it, S near its bounds. Clusters: equal ones, and unequal ones of 1 to 30 questions; clusters
with correlations up to 0.8 in which errors or right answers are rare, down to 1 %. For each
measure the minimum, the 5 % quantile and the median of the coverage over all cells, of the default
and of the methods beside it, with the mean width in the middle of the range; the worst cells of the
default stand below. Then the rates of `decisions` where ten questions or forty cannot be
answered. Last the exact coverage of accuracy, without any simulation, at every share.
`naive` is the standard error of a mean of independent questions. `--bootstrap` adds the slow
methods on a part of the grid.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from abstain.measures import definitions, measure
from abstain.stats.delta_method import Functional, beta, delta, influence, logit, one_run
from abstain.stats.delta_method import effective_clusters as worth
from abstain.stats.intervals import cell_interval

Array = npt.NDArray[np.float64]

MEASURES = ("accuracy", "c@1", "F", "UF", "precision", "coverage", "S(t=0.5)", "S(t=0.95)")
SIZES = (25, 60, 100, 400, 1000)
EVENTS = (0.33, 1.0, 2.5, 5.0)
"""How many rare events are expected."""
EQUAL = ((20, 5, 0.1), (40, 10, 0.2), (80, 5, 0.3))
"""Clusters, questions in each, and the correlation of outcomes within one."""
UNEQUAL = ((8, 0.5), (20, 0.2), (50, 0.5), (100, 0.5))
"""Clusters of 1 to 30 questions, and the correlation."""
RARE = (
    *((4,) * 30, (5,) * 60, (3,) * 100, (10,) * 25, (2,) * 40, (8,) * 200),
    tuple(1 + i * 29 // 49 for i in range(50)),
)
"""Clusters in which errors are rare: often there is none, so the data cannot show a correlation."""
MIDDLE = ((0.5, 0.2), (0.3, 0.4), (0.5, 0.0))
METHODS = ("beta", "logit", "delta", "naive")
SHOWN = 8


@dataclass(frozen=True)
class Setting:
    """One cell of the grid: shares right and blank, the sizes of clusters, correlation."""

    right: float
    blank: float
    sizes: tuple[int, ...]
    correlation: float = 0.0

    @property
    def shares(self) -> Array:
        return np.array([self.right, max(1 - self.right - self.blank, 0.0), self.blank])

    @property
    def questions(self) -> int:
        return sum(self.sizes)

    @property
    def clustered(self) -> bool:
        return len(self.sizes) > 1

    def __str__(self) -> str:
        text = f"c={self.right:.4g} u={self.blank:.4g} n={self.questions}"
        if not self.clustered:
            return text
        of = worth(np.array(self.sizes, float))
        return f"{text}, {len(self.sizes)} clusters (worth {of:.1f}), rho={self.correlation}"


Line = tuple[str, Setting, dict[str, tuple[float, float]]]


def shares_of(n: int) -> Iterator[tuple[float, float]]:
    """Shares right and blank: the middle, and rare right, wrong or blank answers."""
    yield from MIDDLE
    yield from ((0.8, 0.1), (0.9, 0.05), (0.1, 0.8), (0.05, 0.05))
    for events in EVENTS:
        rare = events / n
        yield from ((1 - rare, 0.0), (rare, 0.0), (0.5, 0.5 - rare), (0.2, 0.8 - rare))
        yield from ((0.97 - rare, 0.03), (1 - 2 * rare, rare), (rare, 0.5))


def independent() -> Iterator[Setting]:
    """Questions on their own."""
    for n in SIZES:
        yield from (Setting(c, u, (n,)) for c, u in shares_of(n) if min(c, u, 1 - c - u) > -1e-9)


def clusters() -> Iterator[Setting]:
    """Equal and unequal clusters; the sizes of the latter are spread evenly from 1 to 30."""
    shares = ((0.5, 0.2), (0.85, 0.05), (0.2, 0.7), (0.04, 0.95), (0.9, 0.01))
    kinds = [((size,) * groups, rho) for groups, size, rho in EQUAL]
    for groups, rho in UNEQUAL:
        kinds.append((tuple(1 + i * 29 // (groups - 1) for i in range(groups)), rho))
    for (c, u), (sizes, rho) in itertools.product(shares, kinds):
        yield Setting(c, u, sizes, rho)


def rare() -> Iterator[Setting]:
    """Clusters with 10 % of errors, 3 % and 1 %, or as few right answers, and high correlation."""
    for sizes, rho, few in itertools.product(RARE, (0.1, 0.5, 0.8), (0.01, 0.03, 0.1)):
        yield Setting(1 - few, 0.0, sizes, rho)
        yield Setting(few, 0.5 - few, sizes, rho)


def simulate(s: Setting, samples: int, generator: np.random.Generator) -> Array:
    """Counts (samples, clusters, 3): each cluster has its own shares, Dirichlet around the true."""
    if not s.clustered:
        return generator.multinomial(s.questions, s.shares, size=(samples, 1)).astype(float)
    strength = (1 - s.correlation) / s.correlation
    drawn = generator.standard_gamma(
        np.maximum(s.shares * strength, 1e-12), size=(samples, len(s.sizes), 3)
    )
    total = drawn.sum(axis=-1, keepdims=True)
    own = np.where(total > 0, drawn / np.where(total > 0, total, 1), s.shares)
    return generator.multinomial(np.array(s.sizes), own).astype(float)


def naive(f: Functional, cells: Array) -> tuple[Array, Array]:
    """The standard error of a mean: every question on its own, normal quantile."""
    n = cells.sum(axis=-1)
    error = np.sqrt((cells * influence(f, cells) ** 2).sum(axis=-1)) / n
    value = f.value(cells)
    return value - 1.96 * error, value + 1.96 * error


def coverage(name: str, s: Setting, table: Array) -> dict[str, tuple[float, float]]:
    """By method the share of samples whose interval holds the true value, and its mean width.

    Independent samples that are the same table are scored once.
    """
    f = one_run(measure(name))
    true = float(f.value(s.shares))
    cells, times = table.sum(axis=1), np.ones(len(table))
    if not s.clustered:
        cells, numbers = np.unique(cells, axis=0, return_counts=True)
        times = numbers.astype(np.float64)
    usable = ~np.isnan(f.value(cells))
    cells, times = cells[usable], times[usable]
    groups = table[usable] if s.clustered else None
    found = {}
    for method, (low, high) in {
        "beta": beta(f, cells, groups, level=0.95),
        "logit": logit(f, cells, groups, level=0.95),
        "delta": delta(f, cells, groups, level=0.95),
        "naive": naive(f, cells),
    }.items():
        holds = (low <= true + 1e-12) & (high >= true - 1e-12)
        found[method] = (
            float(np.average(holds, weights=times)),
            float(np.average(high - low, weights=times)),
        )
    return found


def measured(
    settings: Sequence[Setting], samples: int, generator: np.random.Generator
) -> list[Line]:
    """Every measure's coverage in every cell; a share that never varies is none."""
    found = []
    for setting in settings:
        table = simulate(setting, samples, generator)
        for name in MEASURES:
            if not np.isnan(float(one_run(measure(name)).value(setting.shares))):
                found.append((name, setting, coverage(name, setting, table)))
    return found


def summary(lines: list[Line]) -> None:
    """For each measure and method the minimum, the 5 % quantile and the median."""
    for name in MEASURES:
        own = [line for line in lines if line[0] == name]
        middle = [x for x in own if (x[1].right, x[1].blank) in MIDDLE] or own
        old = np.mean([shares["logit"][1] for *_, shares in middle])
        for method in METHODS:
            values = 100 * np.array([shares[method][0] for *_, shares in own])
            width = np.mean([shares[method][1] for *_, shares in middle]) / old
            low, five, half = values.min(), np.quantile(values, 0.05), np.median(values)
            print(
                f"  {name:10} {method:6} minimum {low:5.1f} %, 5 % quantile {five:5.1f}, median "
                f"{half:5.1f}; width in the middle {100 * width:3.0f} % of logit's"
            )


def exact_accuracy() -> None:
    """The coverage of accuracy at every expected number of rare events, by the binomial."""
    from scipy.stats import binom

    f = one_run(measure("accuracy"))
    for n in SIZES:
        x = np.arange(n + 1)
        events = np.concatenate([np.linspace(0.02, 12, 600), np.linspace(12, n / 2, 200)])
        chances = binom.pmf(x[:, None], n, events / n)
        for name, make in (("beta", beta), ("logit", logit)):
            low, high = make(f, np.stack([n - x, x, 0 * x], axis=-1), None, level=0.95)
            truth = 1 - events / n
            holds = (low[:, None] <= truth + 1e-12) & (high[:, None] >= truth - 1e-12)
            covered = (chances * holds).sum(axis=0)
            at = events[covered.argmin()]
            print(
                f"  n = {n:5} {name:6} minimum {100 * covered.min():.1f} % (where {at:.2f} rare "
                f"events are expected), mean {100 * covered.mean():.1f} %"
            )


def decisions(samples: int, generator: np.random.Generator) -> None:
    """Rates of decisions where few questions cannot be answered, alone and in clusters of five.

    In a cluster one question cannot be answered; what is declined is correlated.
    """
    rates = list(itertools.product((0.02, 0.1, 0.3), (0.05, 0.1, 0.3, 0.5)))
    for rho, (can, cannot) in itertools.product((0.0, 0.3), ((30, 10), (90, 10), (160, 40))):
        if rho and 4 * cannot != can:
            continue
        lowest: dict[str, list[float]] = {}
        for over, under in rates:
            groups = cannot if rho else 1
            shape, strength = (samples, groups), (1 - rho) / max(rho, 1e-9)
            chances = [
                generator.beta(p * strength, (1 - p) * strength, shape)
                if rho
                else np.full(shape, p)
                for p in (over, under)
            ]
            sizes = can // groups, cannot // groups
            d, a = (generator.binomial(n, p) for n, p in zip(sizes, chances, strict=True))
            r = generator.binomial(sizes[0] - d, 0.7)
            table = np.stack([r, sizes[0] - d - r, d, a, sizes[1] - a], axis=-1).astype(float)
            truth = np.array([0.7 * can * (1 - over), 0.3 * can * (1 - over), can * over])
            truth = np.append(truth, [cannot * under, cannot * (1 - under)])
            for name in definitions("decisions"):
                f = one_run(measure(name))
                true, cells = float(f.value(truth)), table.sum(axis=1)
                usable = ~np.isnan(f.value(cells))
                low, high = beta(f, cells[usable], table[usable] if rho else None, level=0.95)
                holds = (low <= true + 1e-12) & (high >= true - 1e-12)
                lowest.setdefault(name, []).append(100 * float(holds.mean()))
        of = f"{cannot} clusters of 5, rho={rho}" if rho else "alone"
        print(f"decisions: {can} questions can be answered, {cannot} cannot; {of}")
        for name, values in lowest.items():
            print(f"  {name:20} minimum {min(values):5.1f} %, median {np.median(values):5.1f} %")


def slow_coverage(name: str, s: Setting, table: Array) -> dict[str, float]:
    """The same for methods that draw at random, one sample at a time."""
    f = one_run(measure(name))
    true = float(f.value(s.shares))
    hits = dict.fromkeys(("percentile", "bca", "jeffreys"), 0)
    for number, own in enumerate(table):
        clusters = own if s.clustered else None
        for method in hits:
            found = cell_interval(
                f, own.sum(axis=0), clusters=clusters, method=method, trials=1000, seed=number
            )
            hits[method] += found.low <= true <= found.high
    return {method: count / len(table) for method, count in hits.items()}


def main() -> None:
    """Print the coverage by measure and method, and where the default does worst."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--samples", type=int, default=4_000)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--bootstrap", action="store_true")
    given = arguments.parse_args()
    generator = np.random.default_rng(given.seed)
    noise = 100 * np.sqrt(0.05 * 0.95 / given.samples)
    print(
        f"95 % intervals, {given.samples:,} samples a cell, seed {given.seed}; standard error of a "
        f"coverage of 95 %: {noise:.2f} points"
    )
    alone = measured(list(independent()), given.samples, generator)
    together = measured(list(clusters()), max(given.samples // 2, 1), generator)
    for title, small in (("independent questions, n = 25", True), ("n of 60 and more", False)):
        lines = [line for line in alone if (line[1].questions == SIZES[0]) == small]
        print(f"{title}: {len(lines)} cells")
        summary(lines)
        worst(lines)
    lines = measured(list(rare()), max(given.samples // 4, 1), generator)
    print(f"clusters in which errors or right answers are rare: {len(lines)} cells")
    summary(lines)
    worst(lines)
    for title, few in (("clusters worth 20 or more", False), ("fewer: a warning", True)):
        lines = [x for x in together if (worth(np.array(x[1].sizes, float)) < 20) == few]
        print(f"{title}: {len(lines)} cells")
        summary(lines)
        worst(lines)
    decisions(given.samples, generator)
    print("accuracy, exactly")
    exact_accuracy()
    if given.bootstrap:
        slow = [
            slow_coverage("c@1", s, simulate(s, 400, generator))
            for s in independent()
            if s.questions == 100
        ]
        for method in slow[0]:
            drawn = [100 * shares[method] for shares in slow]
            print(f"  {method}: {min(drawn):.1f} to {max(drawn):.1f} % (c@1, n = 100)")


def worst(lines: list[Line]) -> None:
    """The cells in which the default covers least."""
    print("  where the default covers least")
    for name, s, shares in sorted(lines, key=lambda line: line[2]["beta"][0])[:SHOWN]:
        other = ", ".join(f"{m} {100 * shares[m][0]:.1f}" for m in METHODS[1:])
        print(f"    {name} {s}: {100 * shares['beta'][0]:.1f} % ({other})")


if __name__ == "__main__":
    main()
