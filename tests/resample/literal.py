"""The papers' algorithms, line by line and slowly, in exact fractions."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt

Score = Callable[[Sequence[int]], Fraction | None]
"""From the outcomes of some questions: 0 right, 1 wrong, 4 blank."""
Pair = tuple[int, int]
Subsets = Mapping[Pair, Sequence[Sequence[int]]]


def accuracy(outcomes: Sequence[int]) -> Fraction:
    return Fraction(sum(o == 0 for o in outcomes), len(outcomes))


def c_at_1(outcomes: Sequence[int]) -> Fraction:
    n = len(outcomes)
    right, blank = sum(o == 0 for o in outcomes), sum(o == 4 for o in outcomes)
    return Fraction(right + Fraction(right, n) * blank, n)


def uf(outcomes: Sequence[int]) -> Fraction:
    return accuracy(outcomes) - Fraction(sum(o == 1 for o in outcomes), len(outcomes))


def precision(outcomes: Sequence[int]) -> Fraction | None:
    answered = sum(o != 4 for o in outcomes)
    return Fraction(sum(o == 0 for o in outcomes), answered) if answered else None


MEASURES: dict[str, Score] = {
    "c@1": c_at_1,
    "accuracy": accuracy,
    "UF": uf,
    "precision": precision,
}


def stability(
    matrix: Sequence[Sequence[int]], score: Score, subsets: Subsets, fuzziness: Fraction
) -> tuple[Fraction, Fraction, int]:
    """Error rate, proportion of ties, comparisons (Buckley and Voorhees 2000)."""
    upsets = ties = total = 0
    for x, y in combinations(range(len(matrix)), 2):
        greater = smaller = equal = 0
        for chosen in subsets[x, y]:
            a = score([matrix[x][q] for q in chosen])
            b = score([matrix[y][q] for q in chosen])
            if a is None or b is None:
                continue
            margin = fuzziness * max(a, b)
            if abs(a - b) < abs(margin) or a == b:
                equal += 1
            elif a > b:
                greater += 1
            else:
                smaller += 1
        upsets += min(greater, smaller)
        ties += equal
        total += greater + smaller + equal
    return Fraction(upsets, total), Fraction(ties, total), total


def swap(
    matrix: Sequence[Sequence[int]], score: Score, first: Subsets, second: Subsets, bins: int = 21
) -> tuple[list[int], list[int], Fraction]:
    """Comparisons and swaps by bin, and the highest score (Voorhees and Buckley 2002)."""
    counter, swapped = [0] * bins, [0] * bins
    highest = Fraction(-10)
    for x, y in combinations(range(len(matrix)), 2):
        for here, there in zip(first[x, y], second[x, y], strict=True):
            scores = [score([matrix[run][q] for q in on]) for on in (here, there) for run in (x, y)]
            highest = max([highest, *(s for s in scores if s is not None)])
            if any(s is None for s in scores):
                continue
            a, b, c, d = (s for s in scores if s is not None)
            place = min(int(abs(a - b) * 100), bins - 1)
            counter[place] += 1
            if (a - b) * (c - d) < 0:
                swapped[place] += 1
    return counter, swapped, highest


def own_subsets(
    runs: int, questions: int, size: int, trials: int, seed: int, *, shared: bool
) -> tuple[Subsets, Subsets]:
    """Disjoint subsets by Python's own generator: each pair its own, or one for all."""
    rng = random.Random(seed)
    first: dict[Pair, list[list[int]]] = {}
    second: dict[Pair, list[list[int]]] = {}
    common = [rng.sample(range(questions), 2 * size) for _ in range(trials)]
    for pair in combinations(range(runs), 2):
        drawn = (
            common if shared else [rng.sample(range(questions), 2 * size) for _ in range(trials)]
        )
        first[pair] = [d[:size] for d in drawn]
        second[pair] = [d[size:] for d in drawn]
    return first, second


def campaign(
    runs: int, questions: int, seed: int, *, blanks: Sequence[float] = (0, 0.1, 0.2, 0.3)
) -> npt.NDArray[np.uint8]:
    """Runs of different ability over questions of different difficulty: 0, 1 or 4."""
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(0, 1, questions)
    matrix = np.empty((runs, questions), np.uint8)
    for run in range(runs):
        chance = 1 / (1 + np.exp(-(rng.normal(0, 0.7) - 0.3 + 0.9 * difficulty)))
        right = rng.random(questions) < chance
        blank = rng.random(questions) < rng.choice(blanks) * np.where(right, 0.6, 1.3)
        matrix[run] = np.where(blank, 4, np.where(right, 0, 1))
    return matrix
