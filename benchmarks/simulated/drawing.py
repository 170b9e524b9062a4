"""Simulated runs, and what is said of a test of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from abstain.measures import measure
from abstain.stats.confidence_intervals import Sample, sample_of
from abstain.stats.delta_method import one_run

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.uint8]
Groups = npt.NDArray[np.int64]
Generator = np.random.Generator

LEVEL, TRIALS, EDGE = 0.05, 299, 1e-9
SHARED = 0.3
"""Of the difficulty of a question, by two runs."""
PROBE = 20
"""Samples after which a row without a verdict ends."""


def outcomes(
    generator: Generator,
    shape: tuple[int, ...],
    covers: Array,
    right: Array,
    shared: float = SHARED,
    *,
    groups: Groups | None = None,
    within: float = 0.0,
) -> Codes:
    """Outcomes (samples, runs, questions): right, wrong or blank.

    Runs share a part of the difficulty of a question. In groups a run's outcomes correlate by
    `within`, what it answers too.
    """
    from scipy.special import ndtri

    samples, runs, questions = shape
    common = generator.normal(size=(samples, 1, questions))
    own, sees = generator.normal(size=shape), generator.normal(size=shape)
    if groups is not None:
        drawn = generator.normal(size=(2, samples, runs, int(groups.max()) + 1))
        own, sees = (
            math.sqrt(1 - within) * each + math.sqrt(within) * of[..., groups]
            for each, of in zip((own, sees), drawn, strict=True)
        )
    knows = math.sqrt(shared) * common + math.sqrt(1 - shared) * own < ndtri(right)[:, None]
    answered = sees < ndtri(covers)[:, None]
    return np.where(answered, np.where(knows, 0, 1), 4).astype(np.uint8)


def of_sizes(sizes: Iterable[int]) -> Groups:
    """The cluster of each question, of clusters of some sizes."""
    many = list(sizes)
    return np.arange(len(many)).repeat(many)


def unequal(groups: int, most: int = 30) -> list[int]:
    """Sizes of clusters from 1 to so many questions."""
    return [round(size) for size in np.linspace(1, most, groups)]


def joint_counts(codes: Codes) -> npt.NDArray[np.int64]:
    """Joint counts (samples, 3, 3) of the first two runs: rows of the second."""
    three = np.array([0, 1, 2, 2, 2])[codes]
    cell = three[:, 1] * 3 + three[:, 0]
    return np.stack([(cell == k).sum(axis=-1) for k in range(9)], axis=-1).reshape(-1, 3, 3)


def answers(
    generator: Generator, codes: Codes, surer: Array | float, groups: Groups | None = None
) -> list[Sample]:
    """The answers of runs (runs, questions), of which right ones are surer by so much."""
    place = generator.normal(size=codes.shape) + (codes == 0) * surer
    sure = 1 / (1 + np.exp(-place))
    return [sample_of(own, said, groups) for own, said in zip(codes, sure, strict=True)]


def equal_by(name: str, right: float, covers: float, other: float) -> float | None:
    """The precision by which a run of other coverage has the same score; None: no run has it."""
    from scipy.optimize import brentq

    f = one_run(measure(name))

    def score(precision: float, share: float) -> float:
        return float(f.value(np.array([share * precision, share * (1 - precision), 1 - share])))

    aim = score(right, covers)
    if (score(1e-6, other) - aim) * (score(1 - 1e-6, other) - aim) > 0:
        return None
    return float(brentq(lambda p: score(p, other) - aim, 1e-6, 1 - 1e-6))


def probed(p_of: Callable[[range], Array], samples: int) -> Array:
    """p of so many samples, or of the first few where none of them has a verdict."""
    p = p_of(range(min(PROBE, samples)))
    if np.isnan(p).all():
        return p
    return np.concatenate([p, p_of(range(len(p), samples))])


def found(p: Array) -> Array:
    """Which of the verdicts find a difference."""
    return np.asarray(p[~np.isnan(p)] <= LEVEL + EDGE)


HEAD = "verdicts | errors | of verdicts | standard error | power"


def said(p: Array, other: Array | None = None) -> str:
    """Verdicts, errors as a share of samples and of verdicts, and power, as cells of a table."""
    errors = found(p)
    rate = errors.mean() if len(errors) else 0.0
    error = f"{math.sqrt(max(rate, 0.01) * (1 - rate) / len(errors)):.1%}" if len(errors) else ""
    power = "" if other is None or not len(found(other)) else f"{found(other).mean():.0%}"
    return (
        f"{len(errors) / len(p):.0%} | {errors.sum() / len(p):.1%} | {rate:.1%} | {error} | {power}"
    )


def table(*columns: str) -> None:
    """The head of a table of errors."""
    names = [*columns, *HEAD.split(" | ")]
    print("| " + " | ".join(names) + " |")
    print("|" + " --- |" * len(columns) + " ---: |" * len(HEAD.split(" | ")))


def row(*cells: object) -> None:
    """A row of it."""
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)
