"""Slow and obvious references: question by question, swap by swap."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from tests.measures.reference import REFERENCE

Score = Callable[[Sequence[str]], float | None]


def score(name: str, outcomes: Sequence[str]) -> float:
    """A measure of outcomes given as letters, by the reference of the measures' own tests."""
    value = REFERENCE[name](outcomes)
    return math.nan if value is None else float(value)


def randomisation(name: str, one: Sequence[str], other: Sequence[str]) -> float:
    """The exact p of a paired randomisation: every way of swapping, one by one."""
    seen = abs(score(name, one) - score(name, other))
    hits = 0
    for swaps in product((False, True), repeat=len(one)):
        first = [b if s else a for a, b, s in zip(one, other, swaps, strict=True)]
        second = [a if s else b for a, b, s in zip(one, other, swaps, strict=True)]
        hits += not abs(score(name, first) - score(name, second)) < seen - 1e-12
    return float(hits / 2 ** len(one))


def precision_statistic(one: Sequence[str], other: Sequence[str]) -> float:
    """Precision's difference over its standard error, the joint table cell by cell.

    Each run has ½ an outcome of each kind more: p = (R + ½)/(R + W + 1), and an answer moves it by
    (right − p)/(R + W + 1).
    """
    difference = score("precision", one) - score("precision", other)
    kinds = ("R", "W", "UE")

    def influence(outcomes: Sequence[str], kind: str) -> float:
        right, wrong = outcomes.count("R") + 0.5, outcomes.count("W") + 0.5
        if kind == "UE":
            return 0.0
        return ((kind == "R") - right / (right + wrong)) / (right + wrong)

    variance = 0.0
    for a in kinds:
        for b in kinds:
            number = sum(x == a and y == b for x, y in zip(one, other, strict=True)) + 0.5 / 3
            variance += number * (influence(one, a) - influence(other, b)) ** 2
    return difference / math.sqrt(variance)


def studentised_precision(one: Sequence[str], other: Sequence[str]) -> float:
    """The exact p of precision's difference over its standard error: every way of swapping."""
    seen = abs(precision_statistic(one, other))
    hits = 0
    for swaps in product((False, True), repeat=len(one)):
        first = [b if s else a for a, b, s in zip(one, other, swaps, strict=True)]
        second = [a if s else b for a, b, s in zip(one, other, swaps, strict=True)]
        hits += not abs(precision_statistic(first, second)) < seen - 1e-6
    return float(hits / 2 ** len(one))


def c_at_1_error(outcomes: Sequence[str], clusters: Sequence[int] | None = None) -> float:
    """c@1's standard error by the formula, question by question."""
    n = len(outcomes)
    c = sum(o == "R" for o in outcomes) / n
    u = sum(o.startswith("U") for o in outcomes) / n
    psi = [(1 + u) * ((o == "R") - c) + c * (o.startswith("U") - u) for o in outcomes]
    groups = list(range(n)) if clusters is None else list(clusters)
    sums = [sum(p for p, g in zip(psi, groups, strict=True) if g == k) for k in set(groups)]
    return math.sqrt(len(sums) / (len(sums) - 1) * sum(s * s for s in sums)) / n


def wilcoxon(differences: Sequence[float]) -> float:
    """The exact two-sided p of the signed-rank test: every way of signing the ranks."""
    kept = [d for d in differences if d]
    order = sorted(range(len(kept)), key=lambda i: abs(kept[i]))
    ranks = {i: rank + 1 for rank, i in enumerate(order)}
    plus = sum(ranks[i] for i in range(len(kept)) if kept[i] > 0)
    total = len(kept) * (len(kept) + 1) // 2
    small = min(plus, total - plus)
    ways = 0
    for signs in product((0, 1), repeat=len(kept)):
        ways += sum(r for r, s in zip(range(1, len(kept) + 1), signs, strict=True) if s) <= small
    return float(min(1.0, 2 * ways / 2 ** len(kept)))


def mcnemar(b: int, c: int) -> Fraction:
    """The exact two-sided p of McNemar's test with whole numbers."""
    n = b + c
    if not n:
        return Fraction(1)
    tail = sum(math.comb(n, k) for k in range(min(b, c) + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**n))


def holm(p: Sequence[float]) -> list[float]:
    """Holm's adjusted p: the smallest level at which the step-down procedure still rejects."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    found, running = [0.0] * len(p), 0.0
    for step, i in enumerate(order):
        running = max(running, (len(p) - step) * p[i])
        found[i] = min(1.0, running)
    return found


def letters_agree(texts: Sequence[set[int]], different: set[tuple[int, int]]) -> bool:
    """Whether runs share a letter exactly where they were not found different."""
    return all(
        bool(texts[i] & texts[j]) == ((i, j) not in different)
        for i in range(len(texts))
        for j in range(i + 1, len(texts))
    )


def letters_of(
    joint: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
) -> tuple[list[str], list[str]]:
    """Outcomes one by one from joint counts (rows the first run's)."""
    names = ["R", "W", "UE"] if len(joint) == 3 else ["R", "W", "UR", "UW", "UE"]
    one: list[str] = []
    other: list[str] = []
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            one += [a] * int(joint[i, j])
            other += [b] * int(joint[i, j])
    return one, other
