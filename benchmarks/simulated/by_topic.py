"""Scores by topic: every test of `compare --scores`."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulated.compared import matrix_of, of_scores
from simulated.drawing import (
    LEVEL,
    TRIALS,
    Array,
    Generator,
    Groups,
    of_sizes,
    probed,
    row,
    said,
    table,
    unequal,
)

TOPICS = (3, 5, 10, 20, 40, 200)
SHIFT = 0.1
RUNS = 10
ALIKE = ("near normal", "few differ", "heavy tails")
"""Differences that are symmetric about 0: every test's null hypothesis holds."""
SKEWED = ("unlike", "mildly skewed", "exponential", "lognormal", "a third differ", "one in ten")
"""Differences whose mean is 0, and no more: what a test of the means is about."""
WIDE = "near normal, one three times as wide"
ABOUT_MEDIAN = "exponential, median 0"
"""What a sign test is about."""


def differences(generator: Generator, kind: str, shape: tuple[int, ...]) -> Array:
    """Of mean 0 (one kind: of median 0), and a standard deviation of about 1.

    The skewness is 1 (mildly skewed), 2 (exponential), 6 (lognormal), 3.5 (a third differ) and
    2.5 (one in ten), of which no test of a mean knows anything until one is drawn.
    """
    drawn = generator.exponential(size=shape)
    match kind:
        case "heavy tails":
            return np.asarray(generator.standard_t(3, size=shape) / np.sqrt(3))
        case "mildly skewed":
            return np.asarray((generator.chisquare(8, size=shape) - 8) / 4)
        case "exponential":
            return drawn - 1
        case "lognormal":
            own = generator.lognormal(size=shape) - np.exp(0.5)
            return np.asarray(own / np.sqrt((np.e - 1) * np.e))
        case "a third differ":
            return np.asarray(np.where(generator.random(shape) < 1 / 3, drawn - 1, 0) * np.sqrt(3))
        case "one in ten" | "one in 20":
            share = 0.1 if kind == "one in ten" else 0.05
            rare = generator.random(shape) < share
            large, small = generator.uniform(2, 4.5, size=shape), generator.normal(size=shape)
            return np.asarray(np.where(rare, large, 0.3 * small - 3.25 * share / (1 - share)))
    return np.asarray(drawn - np.log(2))


def drawn(generator: Generator, kind: str, shape: tuple[int, ...], groups: Groups | None) -> Array:
    """Scores (samples, runs, topics) of equal mean."""
    samples, runs, topics = shape
    hard = generator.normal(size=(samples, 1, topics))
    own = generator.normal(size=shape)
    if groups is not None:
        of = generator.normal(size=(samples, runs, int(groups.max()) + 1))
        if kind in SKEWED:
            of[:, 0] = differences(generator, kind, of[:, 0].shape)
        own = np.sqrt(0.5) * own + np.sqrt(0.5) * of[..., groups]
    if kind == "near normal" or groups is not None:
        return np.asarray(0.4 + 0.1 * hard + 0.1 * own)
    if kind == WIDE:
        own[:, 0] *= 3
        return np.asarray(0.4 + 0.1 * hard + 0.1 * own)
    if kind == "few differ":
        differs = generator.random((samples, 1, topics)) < 0.2
        return np.asarray(0.4 + 0.1 * hard + np.where(differs, 0.2 * own, 0))
    if kind == "unlike":
        found = generator.beta(3, 6, size=shape)
        found[:, 0] = generator.beta(1, 2, size=(samples, topics))
        return found
    found = 0.4 + 0.1 * hard + (0.05 * own if runs > 2 else np.zeros(shape))
    found[:, 0] = found[:, 0] + 0.14 * differences(generator, kind, (samples, topics))
    return np.asarray(found)


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
    nulls = {"t": SKEWED, "bootstrap": SKEWED, "randomisation": ("unlike",)}
    cells = [
        Cell({"test": test}, kind, topics)
        for test in ("t", "randomisation", "bootstrap", "wilcoxon", "sign")
        for kind in (*ALIKE, *nulls.get(test, ()), *((ABOUT_MEDIAN,) if test == "sign" else ()))
        for topics in TOPICS
    ]
    cells += [Cell({"test": "t"}, "one in 20", topics) for topics in (40, 60, 200)]
    for sizes in ([5] * 6, unequal(20), [5] * 30, unequal(40), unequal(60)):
        for test, kind in itertools.product(("t", "randomisation"), ("near normal", "exponential")):
            cells.append(Cell({"test": test}, kind, sum(sizes), 2, tuple(sizes)))
    for topics, how in itertools.product((10, 50), ({}, {"against": "r0"})):
        kinds = ("near normal", "unlike", "exponential", "lognormal", "one in ten")
        cells += [Cell(how, kind, topics, RUNS) for kind in kinds]
    for number, cell in enumerate(cells):
        own = max(20, samples if cell.runs == 2 else samples // 2)
        text = ", ".join(f"{key} {value}" for key, value in cell.how.items()) or "t, Holm"
        many = cell.sizes
        of = f"{len(many)} of {many[0]} to {many[-1]}" if many else "–"
        found = cell.measured(own, [seed, number])
        row(text, cell.kind, cell.runs, cell.topics, of, found)


def student(samples: int, seed: int) -> None:
    """What Student's t alone would find, were there a verdict on any number of topics."""
    from scipy.stats import ttest_1samp

    print("| differences |" + "".join(f" {topics} topics |" for topics in TOPICS))
    print("| --- |" + " ---: |" * len(TOPICS))
    generator = np.random.default_rng(seed)
    for kind in SKEWED[1:]:
        rates = []
        for topics in TOPICS:
            gaps = differences(generator, kind, (10 * samples, topics))
            gaps = gaps[gaps.std(axis=1) > 0]
            rates.append((ttest_1samp(gaps, 0, axis=1).pvalue <= LEVEL).mean())
        row(kind, *(f"{rate:.1%}" for rate in rates))


def meta(samples: int, seed: int) -> None:
    """`meta` of equal runs: pairs found by its bootstrap, families by Tukey's test; its power."""
    print("| scores | runs | topics | pairs by the bootstrap | families by Tukey's test | power |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    kinds = ("near normal", "unlike", WIDE, "exponential", "lognormal", "one in ten")
    for cell in itertools.product(kinds, (3, RUNS), (10, 40, 50)):
        row(*cell, *of_meta(*cell, samples, [seed, cell[-1]]))


def of_meta(
    kind: str, runs: int, topics: int, samples: int, seed: list[int]
) -> tuple[str, str, str]:
    """What the two tests find of equal runs, and how often Tukey's finds one that is better."""
    generator = np.random.default_rng(seed)

    def found(many: int, shift: float) -> tuple[float, float]:
        pairs = families = 0.0
        for own in drawn(generator, kind, (many, runs, topics), None):
            own[1] += shift
            (power,) = matrix_of(own).meta(parts=["power"], subsets=TRIALS).power
            pairs += power.discriminative_power or 0.0
            families += np.nan if power.tukey is None else power.tukey > 0
        return pairs / many, families / many

    (pairs, rate), (_, power) = found(samples, 0.0), found(max(1, samples // 5), SHIFT)
    if np.isnan(rate):
        return f"{pairs:.1%}", "–", "–"
    return (
        f"{pairs:.1%}",
        f"{rate:.1%} ± {np.sqrt(rate * (1 - rate) / samples):.1%}",
        f"{power:.0%}",
    )
