"""The bootstrap and Tukey's test against enumeration and against slow loops."""

from __future__ import annotations

from itertools import combinations, permutations, product
from math import sqrt
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest

import abstain as ab
from abstain.features.meta.analysis import powers
from abstain.features.meta.view import notes_of
from abstain.stats.resampling.draws import Plan
from abstain.stats.resampling.power import (
    exceeding,
    honest_difference,
    honest_ranges,
    significance,
)
from abstain.stats.resampling.samplers import of_outcomes, of_scores, random_multiplicities, stream
from tests.resample import literal
from tests.resample.judge import evaluate
from tests.snapshots import says

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
    found = significance(source, Plan(trials=trials, draws=draws), source.full())[0][0]
    for level, (x, y) in zip(found, combinations(range(3), 2), strict=True):
        exact = sakai((SCORES[x] - SCORES[y]).tolist(), list(product(range(4), repeat=4)))
        assert close(level, exact, trials), (x, y, level, exact)


@pytest.mark.slow
@pytest.mark.parametrize("draws", ["paired", "shared"])
@pytest.mark.parametrize("name", ["c@1", "accuracy", "precision"])
def test_bootstrap_of_outcomes_against_all_resamples(draws: Any, name: str) -> None:
    """A measure of counts is re-scored on each resample and its difference recentred."""
    trials = 20_000
    measure = ab.measure(name)
    source = of_outcomes(list("abc"), OUTCOMES, [measure])
    found = significance(source, Plan(trials=trials, draws=draws), source.full())[0][0]

    def score(run: int, picked: Any) -> float:
        own = OUTCOMES[run][list(picked)]
        return measure(ab.Counts.of(int((own == k).sum()) for k in range(5)))

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
    found = significance(source, Plan(trials=60, draws="shared", seed=3), source.full())[0][0]
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
    largest = honest_ranges(source, Plan(trials=trials))[0][0]
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
    largest = honest_ranges(source, Plan(trials=trials))[0][0]
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
    (power,) = powers(source, Plan(trials=300), source.full(), alpha=0.05)
    assert (power.pairs, power.bootstrap, power.tukey) == (3, 2, 2)
    assert power.asl == tuple(sorted(power.asl))
    assert power.asl[-1] == 1.0
    assert power.honest_difference is None  # of differences over standard errors there is none


@pytest.mark.slow
@pytest.mark.parametrize(
    ("level", "by_tukey"),
    [(0.95, range(7)), (0.5, range(11, 29))],  # 40 · 0.05 = 2 and 40 · 0.5 = 20 expected
)
def test_the_tests_hold_their_level(level: float, by_tukey: range) -> None:
    """Exchangeable runs: about as many pairs by the bootstrap as the level says, and about as
    many campaigns with any pair by Tukey's test."""
    rng = np.random.default_rng(5)
    by_pair = together = 0
    how: dict[str, Any] = {"parts": ["power"], "resamples": 200, "draws": "shared"}
    for seed in range(40):
        codes = rng.choice(np.array([0, 1, 4], np.uint8), size=(5, 60))
        source = of_outcomes(list("abcde"), codes, [ab.measure("c@1")])
        (power,) = evaluate(source, level=level, seed=seed, **how).power
        assert power.bootstrap is not None
        assert power.tukey is not None
        by_pair += power.bootstrap
        together += power.tukey > 0
    alpha = 1 - level
    assert 0.2 * alpha < by_pair / 400 < min(2 * alpha, 0.7)
    assert together in by_tukey


# ------------------------------------------------------------------------ what decides, and when


@pytest.mark.parametrize("alpha", [0.05, 0.07, 0.1, 0.2, 0.3])
def test_a_pair_is_separated_iff_it_exceeds_the_honest_difference(alpha: float) -> None:
    """100 ranges, one a whole number: p of k is (101 − k)/100, below alpha from there on."""
    largest = np.arange(1.0, 101.0)
    honest = honest_difference(largest, alpha)
    assert honest == 101 - round(100 * alpha)  # it is reached by alpha of them, which is not below
    gaps = np.array([honest - 1, honest - 0.5, honest, honest + 0.5, honest + 1])
    assert (exceeding(largest, gaps) < alpha).tolist() == [False, False, False, True, True]


@pytest.mark.parametrize("level", [0.95, 0.9, 0.8])
def test_the_pairs_separated_are_those_beyond_the_honest_difference(level: float) -> None:
    """Scores in few steps: some pairs differ by just as much as the permutations do."""
    rng = np.random.default_rng(2)
    codes = (rng.random((30, 40)) > np.linspace(0.2, 0.8, 30)[:, None]).astype(np.uint8)
    source = of_outcomes([f"r{k}" for k in range(30)], codes, [ab.measure("accuracy")])
    result = evaluate(source, parts=["power"], resamples=100, level=level, draws="shared")
    (power,) = result.power
    right = (codes == 0).sum(axis=1).tolist()
    steps = [abs(a - b) for a, b in combinations(right, 2)]
    assert power.honest_difference is not None
    honest = round(40 * power.honest_difference)
    assert honest in steps
    assert power.tukey == sum(step > honest for step in steps)


@pytest.mark.parametrize(("level", "enough"), [(0.95, 20), (0.9, 10), (0.99, 100)])
def test_a_level_takes_resamples_to_show(level: float, enough: int) -> None:
    """With fewer, below the level means at 0: a single resample would tell nearly all apart."""
    apart = SCORES + np.array([[0.5], [0.0], [-0.5]])
    source = of_scores(list("abc"), {"m": np.tile(apart, (1, 10))})
    for resamples in (1, enough - 1, enough):
        result = evaluate(source, parts=["power"], resamples=resamples, level=level)
        (power,) = result.power
        shows = resamples == enough
        for value in (power.bootstrap, power.tukey, power.discriminative_power):
            assert (value is not None) == shows
        assert (f"at least {enough} resamples are needed" in power.reason) != shows
        assert power.pairs == 3


def shy(questions: int, answers: int) -> Any:
    """A run that answers few questions, and two that answer all."""
    codes = np.zeros((3, questions), np.uint8)
    codes[0, answers:] = 4
    codes[1, ::2] = codes[2, ::3] = 1
    return of_outcomes(["shy", "a", "b"], codes, [ab.measure("precision")])


@pytest.mark.parametrize("draws", ["paired", "shared"])
def test_resamples_without_a_score_are_counted(draws: Any) -> None:
    """One answer to 12 questions is in no resample of (11/12)¹² = 35 %, for two of three pairs."""
    result = evaluate(shy(12, 1), parts=["power"], resamples=2000, draws=draws)
    (power,) = result.power
    assert (power.pairs, power.undefined, power.resamples) == (3, 0, 6000)
    missing = (11 / 12) ** 12
    assert power.undefined_resamples / 4000 == pytest.approx(missing, abs=0.05)
    says(notes_of(result), f"{power.undefined_resamples:,} of 6,000")
    assert result.to_dict()["power"][0]["undefined_resamples"] == power.undefined_resamples


def test_pairs_with_too_few_resamples_are_not_tested() -> None:
    """Of 25 resamples about 9 lack the answer, and 20 are needed."""
    result = evaluate(shy(12, 1), parts=["power"], resamples=25)
    (power,) = result.power
    assert (power.pairs, power.undefined) == (1, 2)
    says(notes_of(result), "2 pairs")


def test_permutations_without_a_score_are_told() -> None:
    """A single answer in three runs: two of them have no precision, however it is swapped."""
    codes = np.full((3, 30), 4, np.uint8)
    codes[0, 0] = 0
    source = of_outcomes(list("abc"), codes, [ab.measure("precision")])
    result = evaluate(source, parts=["power"], resamples=30)
    assert result.power[0].undefined_permutations == 30
    says(notes_of(result), "30 permutations")
