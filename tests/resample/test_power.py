"""The bootstrap and Tukey's test against enumeration and against slow loops."""

from __future__ import annotations

from itertools import combinations, permutations, product
from math import sqrt
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest

import abstain as ab
from abstain.resample import evaluate
from abstain.resample.cells import of_outcomes
from abstain.resample.chance import random_multiplicities, stream
from abstain.resample.draws import Plan
from abstain.resample.power import discriminative_power, exceeding, honest_ranges, significance
from abstain.resample.sources import of_scores
from tests.resample import literal

SCORES = np.array([[0.9, 0.4, 0.7, 0.8], [0.2, 0.3, 0.6, 0.5], [0.8, 0.1, 0.9, 0.3]])
OUTCOMES = np.array([[0, 0, 4, 0], [1, 0, 4, 1], [0, 4, 4, 1]], np.uint8)


def t_of(values: list[float]) -> float:
    spread = stdev(values)
    if spread < 1e-12:
        return 0.0 if abs(mean(values)) < 1e-12 else float("inf")
    return mean(values) / (spread / sqrt(len(values)))


def sakai(z: list[float], resamples: Any) -> float:
    """Sakai 2006: recentre, resample, count the t's that are as large."""
    observed = abs(t_of(z))
    w = [v - mean(z) for v in z]
    found = [abs(t_of([w[k] for k in picked])) >= observed - 1e-9 for picked in resamples]
    return sum(found) / len(found)


def close(found: float, exact: float, trials: int) -> bool:
    return abs(found - exact) <= 4.5 * sqrt(max(exact * (1 - exact), 1e-4) / trials) + 1e-9


@pytest.mark.parametrize("draws", ["paired", "shared"])
def test_bootstrap_of_scores_against_all_resamples(draws: Any) -> None:
    """Four topics have 256 resamples: the exact level of each pair."""
    trials = 20_000
    source = of_scores(list("abc"), {"m": SCORES})
    found = significance(source, Plan(trials=trials, draws=draws), source.full())[0]
    for level, (x, y) in zip(found, combinations(range(3), 2), strict=True):
        exact = sakai((SCORES[x] - SCORES[y]).tolist(), list(product(range(4), repeat=4)))
        assert close(level, exact, trials), (x, y, level, exact)


@pytest.mark.parametrize("draws", ["paired", "shared"])
@pytest.mark.parametrize("name", ["c@1", "accuracy", "precision"])
def test_bootstrap_of_outcomes_against_all_resamples(draws: Any, name: str) -> None:
    """A measure of counts is re-scored on each resample and its difference recentred."""
    trials = 20_000
    measure = ab.measure(name)
    source = of_outcomes(list("abc"), OUTCOMES, [measure])
    found = significance(source, Plan(trials=trials, draws=draws), source.full())[0]

    def score(run: int, picked: Any) -> float:
        own = OUTCOMES[run][list(picked)]
        return measure(ab.Counts(*(int((own == k).sum()) for k in range(5))))

    for level, (x, y) in zip(found, combinations(range(3), 2), strict=True):
        observed = score(x, range(4)) - score(y, range(4))
        null = [score(x, p) - score(y, p) - observed for p in product(range(4), repeat=4)]
        exists = [d for d in null if d == d]
        exact = sum(abs(d) >= abs(observed) - 1e-9 for d in exists) / len(exists)
        assert close(level, exact, trials), (x, y, level, exact)


def test_bootstrap_equals_a_loop_over_the_same_resamples() -> None:
    rng = np.random.default_rng(1)
    scores = rng.random((5, 20))
    source = of_scores(list("abcde"), {"m": scores})
    found = significance(source, Plan(trials=60, draws="shared", seed=3), source.full())[0]
    weights = random_multiplicities(stream(3, 2, 0), 60, 20).astype(int)
    picked = [[k for k, times in enumerate(row) for _ in range(times)] for row in weights]
    expected = [
        sakai((scores[x] - scores[y]).tolist(), picked) for x, y in combinations(range(5), 2)
    ]
    assert found.tolist() == pytest.approx(expected)


def test_tukey_of_scores_against_all_permutations() -> None:
    """Three systems and four topics have 6⁴ permutations: the exact p of each pair."""
    trials = 20_000
    source = of_scores(list("abc"), {"m": SCORES})
    largest = honest_ranges(source, Plan(trials=trials))[0]
    exact = []
    for orders in product(permutations(range(3)), repeat=4):
        sums = [sum(SCORES[order[run], q] for q, order in enumerate(orders)) for run in range(3)]
        exact.append((max(sums) - min(sums)) / 4)
    for x, y in combinations(range(3), 2):
        gap = abs(SCORES[x].mean() - SCORES[y].mean())
        p = sum(value >= gap - 1e-9 for value in exact) / len(exact)
        assert close(float(exceeding(largest, np.array([gap]))[0]), p, trials)


def test_tukey_of_outcomes_against_all_permutations() -> None:
    trials = 20_000
    measure = ab.measure("c@1")
    source = of_outcomes(list("abc"), OUTCOMES, [measure])
    largest = honest_ranges(source, Plan(trials=trials))[0]
    exact = []
    for orders in product(permutations(range(3)), repeat=4):
        scores = []
        for run in range(3):
            own = [int(OUTCOMES[order[run], q]) for q, order in enumerate(orders)]
            scores.append(float(literal.c_at_1(own)))
        exact.append(max(scores) - min(scores))
    for gap in (0.1, 0.2, 0.3, 0.5):
        p = sum(value >= gap - 1e-9 for value in exact) / len(exact)
        assert close(float(exceeding(largest, np.array([gap]))[0]), p, trials)


def test_pairs_are_counted_and_the_curve_is_sorted() -> None:
    """One run far ahead of two equal ones: two pairs are told apart, the third cannot be."""
    rng = np.random.default_rng(0)
    weak = rng.random(60) * 0.2
    scores = np.stack([weak + 0.6, weak, weak])
    source = of_scores(list("abc"), {"m": scores})
    (power,) = discriminative_power(source, Plan(trials=300), source.full())
    assert (power.pairs, power.bootstrap, power.tukey) == (3, 2, 2)
    assert power.asl == tuple(sorted(power.asl))
    assert power.asl[-1] == 1.0
    assert power.honest_difference is not None
    assert 0 < power.honest_difference < 0.6


def test_the_tests_hold_their_level() -> None:
    """Exchangeable runs: about one pair in twenty by the bootstrap, hardly ever one by Tukey's."""
    rng = np.random.default_rng(5)
    by_pair = together = 0
    for seed in range(40):
        codes = rng.choice(np.array([0, 1, 4], np.uint8), size=(5, 60))
        source = of_outcomes(list("abcde"), codes, [ab.measure("c@1")])
        result = evaluate(source, only=["power"], resamples=200, draws="shared", seed=seed)
        by_pair += result.power[0].bootstrap
        together += result.power[0].tukey > 0
    assert 0.01 < by_pair / 400 < 0.10
    assert together <= 6  # 40 · 0.05 = 2 expected
