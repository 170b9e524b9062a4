"""Tukey's test of mean scores: against loops over topics, pairs and all permutations."""

from __future__ import annotations

import math
from itertools import combinations, permutations, product
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest
from scipy import stats

from abstain.stats.resampling import power
from abstain.stats.resampling.draws import Plan, all_pairs
from abstain.stats.resampling.power import exceeding, honest_ranges
from abstain.stats.resampling.samplers import of_scores
from tests.resample.judge import evaluate

RNG = np.random.default_rng(8)


def students(gaps: Any) -> float:
    """|t| of paired differences; without a spread 0, or beyond all bounds."""
    values = [float(x) for x in gaps]
    if max(values) - min(values) < 1e-12:
        return math.inf if abs(mean(values)) > 1e-12 else 0.0
    return abs(mean(values)) / (stdev(values) / math.sqrt(len(values)))


def halls(gaps: Any) -> float:
    """The |t| of n − 1 degrees that has Hall's p, over the topics that differ; not above t."""
    own = np.array([x for x in gaps if x != 0])
    n, g = len(own), stats.skew(own)
    t = n**0.5 * own.mean() / own.std(ddof=1)
    mapped = t + g / (3 * n**0.5) * t**2 + g**2 / (27 * n) * t**3 + g / (6 * n**0.5)
    p = 2 * stats.t(n - 1).sf(abs(mapped))
    return float(min(students(gaps), stats.t(len(gaps) - 1).isf(p / 2)))


def test_the_largest_t_by_a_loop() -> None:
    trials = RNG.exponential(size=(20, 7, 5)) + RNG.normal(size=(20, 7, 1)) * 50
    trials[3, :, 1] = trials[3, :, 0]
    trials[4, :, 1] = trials[4, :, 0] + 0.25
    found = power.largest_t(trials)
    for own, t in zip(trials, found, strict=True):
        pairs = combinations(own.T, 2)
        assert t == pytest.approx(max(students(x - y) for x, y in pairs), rel=1e-6)
    assert math.isinf(found[4])
    assert power.largest_t(np.ones((2, 4, 3))).tolist() == [0.0, 0.0]


def test_what_was_observed_is_corrected_for_skewness() -> None:
    scores = np.random.default_rng(3).exponential(size=(5, 40))
    scores[1, ::3] = scores[0, ::3]  # on these topics two runs tie
    first, second = all_pairs(5)
    found = power.observed_t(scores, (first, second))
    expected = [halls(scores[x] - scores[y]) for x, y in zip(first, second, strict=True)]
    plain = [students(scores[x] - scores[y]) for x, y in zip(first, second, strict=True)]
    assert found == pytest.approx(expected, rel=1e-6)
    assert any(own < 0.99 * other for own, other in zip(found, plain, strict=True))


def test_runs_that_do_not_vary() -> None:
    scores = np.stack([np.full(6, 0.5), np.full(6, 0.5), np.arange(6) / 6 + 0.1])
    scores = np.vstack([scores, scores[2] + 0.25])
    pairs = np.array([0, 2]), np.array([1, 3])
    assert power.observed_t(scores, pairs).tolist() == [0.0, math.inf]


def test_p_against_all_permutations() -> None:
    """Three systems and four topics have 6⁴ permutations: the exact p of each pair."""
    scores, trials = RNG.random((3, 4)), 20_000
    exact = []
    for orders in product(permutations(range(3)), repeat=4):
        rows = [[scores[order[run], q] for q, order in enumerate(orders)] for run in range(3)]
        exact.append(max(students(np.subtract(x, y)) for x, y in combinations(rows, 2)))
    pairs = all_pairs(3)
    (found,) = power.all_pairs_p(of_scores(list("abc"), {"m": scores}), Plan(trials=trials), pairs)
    for x, y, p in zip(*pairs, found, strict=True):
        seen = halls(scores[x] - scores[y])
        expected = sum(value >= seen - 1e-6 for value in exact) / len(exact)
        assert p == pytest.approx(expected, abs=5 * math.sqrt(0.25 / trials))


def test_blocks_of_any_size_find_the_same_share(monkeypatch: pytest.MonkeyPatch) -> None:
    source = of_scores(list("abcd"), {name: RNG.random((4, 30)) for name in "mn"})
    pairs, plan = all_pairs(4), Plan(trials=4000)
    whole = power.all_pairs_p(source, plan, pairs)
    monkeypatch.setattr(power, "HELD", 4 * 30 * 700)
    assert power.all_pairs_p(source, plan, pairs) == pytest.approx(whole, abs=0.05)


def test_a_run_that_spreads_more_is_not_taken_for_a_better_one() -> None:
    """Ten runs of equal mean, one with three times the spread: plain differences find it often."""
    rng, plan = np.random.default_rng(4), Plan(trials=200, threads=1)
    pairs, by_t, by_range = all_pairs(10), 0, 0
    for _ in range(150):
        scores = rng.normal(size=(10, 30)) * np.array([3.0] + [1.0] * 9)[:, None]
        source = of_scores([str(k) for k in range(10)], {"m": scores})
        by_t += bool((power.all_pairs_p(source, plan, pairs) < 0.05).any())
        gaps = np.abs(scores.mean(axis=1)[pairs[0]] - scores.mean(axis=1)[pairs[1]])
        by_range += bool((exceeding(honest_ranges(source, plan)[0][0], gaps) < 0.05).any())
    assert by_t <= 15  # 7.5 are expected at the level; 15 are 2.8 standard errors more
    assert by_range >= 15


def test_few_topics_have_no_verdict() -> None:
    scores = RNG.random((3, 40)) + np.array([[0.9], [0.0], [0.0]])
    for topics, verdict in ((39, False), (40, True)):
        source = of_scores(list("abc"), {"m": scores[:, :topics]})
        result = evaluate(source, parts=["power"], resamples=200)
        (power,) = result.power
        assert (power.tukey == 2) == verdict
        assert (power.tukey is None) != verdict
        assert power.bootstrap is not None
        said = " ".join(str(result).split())
        assert ("needs 40 topics or more (there are 39)" in said) != verdict
        assert "honest difference" not in said
