"""Randomisation piece by piece: the statistic by a loop, coins, chances, what is written down."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import abstain as ab
from abstain.stats.hypotheses import Flips, adjust
from abstain.stats.randomisation import (
    Tosses,
    after_swaps,
    binomial,
    exact_p,
    extreme,
    few_states,
    likely_heads,
    of_clusters,
    p_of,
    randomise,
    sampled_p,
    statistic,
    swappable,
)

PRECISION = ab.measure("precision")


def psi(counts: list[float]) -> list[float]:
    """What one more of each outcome does to precision, times n: r/(r + w) with ½ more of each."""
    right, wrong, blank = (x + 0.5 for x in counts)
    each = (right + wrong + blank) / (right + wrong) ** 2
    return [wrong * each, -right * each, 0.0]


def slow_statistic(joint: Any) -> float:
    """The difference over its error: a loop over every pair of outcomes, 1/6 more of each."""
    other = [float(sum(row)) for row in joint]
    own = [float(sum(row[k] for row in joint)) for k in range(3)]
    spread = sum(
        (joint[a][b] + 0.5 / 3) * (psi(own)[b] - psi(other)[a]) ** 2
        for a in range(3)
        for b in range(3)
    )
    value = own[0] / (own[0] + own[1]) - other[0] / (other[0] + other[1])
    return value * sum(own) / math.sqrt(spread)


@pytest.mark.parametrize("more", [0, 500, 600 - 33, 600 - 32, 5000])
def test_the_statistic_by_a_loop(more: int) -> None:
    """600 questions and fewer are looked up in a table of all counts."""
    joint = np.array([[5.0 + more, 3, 2], [1, 4, 6], [7, 2, 3]])
    found = statistic(PRECISION, np.stack([joint, joint.T, joint]))
    assert found[0] == found[2] == pytest.approx(slow_statistic(joint.tolist()), rel=1e-6)
    assert found[1] == pytest.approx(-found[0], rel=1e-6)
    assert float(statistic(PRECISION, joint)) == pytest.approx(found[0], rel=1e-6)


def test_the_statistic_of_tables_of_different_sizes() -> None:
    small, large = np.eye(3) * 4 + 1, np.eye(3) * 40 + np.arange(9).reshape(3, 3)
    found = statistic(PRECISION, np.stack([small, large]))
    assert found == pytest.approx(
        [slow_statistic(small), slow_statistic(large)], rel=1e-6, abs=1e-9
    )


def test_the_statistic_of_clusters_by_a_loop() -> None:
    own = np.array([[3.0, 1, 0], [2, 2, 1], [0, 3, 2], [4, 0, 1]])
    other = np.array([[2.0, 1, 1], [1, 3, 1], [1, 1, 3], [2, 2, 1]])
    for signs in Flips(4, trials=0, seed=0) @ np.eye(4):
        first = [own[g] if signs[g] > 0 else other[g] for g in range(4)]
        second = [other[g] if signs[g] > 0 else own[g] for g in range(4)]
        a, b = sum(first), sum(second)
        sums = [x @ psi(list(a)) - y @ psi(list(b)) for x, y in zip(first, second, strict=True)]
        spread = 4 / 3 * sum(s * s for s in sums)
        spread += 0.5 / 3 * sum((x - y) ** 2 for x in psi(list(a)) for y in psi(list(b)))
        value = a[0] / (a[0] + a[1]) - b[0] / (b[0] + b[1])
        found = of_clusters(PRECISION, own, other, signs[None])
        assert found[0] == pytest.approx(value * a.sum() / math.sqrt(spread), rel=1e-6)


@pytest.mark.parametrize("m", [0, 1, 2, 63, 64, 65, 127, 128, 190])
def test_heads_among_the_first_coins(m: int) -> None:
    words = np.random.default_rng(m).integers(0, 1 << 64, size=(5, 3), dtype=np.uint64)
    coins = [[int(w) >> bit & 1 for w in row for bit in range(64)] for row in words]
    assert Tosses(words).heads(m).tolist() == [sum(row[:m]) for row in coins]


@pytest.mark.parametrize("m", [0, 1, 2, 39, 40, 41, 600, 5000])
def test_the_chances_of_heads(m: int) -> None:
    found = binomial(m)
    assert found == pytest.approx(stats.binom.pmf(np.arange(m + 1), m, 0.5), rel=1e-9, abs=1e-300)
    if m <= 40:  # whole numbers over 2^m
        assert [x * 2**m for x in found] == [math.comb(m, k) for k in range(m + 1)]


@pytest.mark.parametrize("m", [0, 1, 10, 99, 100, 400, 10_000])
def test_what_is_left_out_is_more_than_ten_standard_deviations_away(m: int) -> None:
    found = likely_heads(m)
    assert (np.diff(found) == 1).all()
    for k in (found[0] - 1, found[-1] + 1):
        assert k < 0 or k > m or abs(k - m / 2) > 5 * math.sqrt(m)
    assert found[0] >= 0
    assert found[-1] <= m


def swaps(first: int, second: int, third: int) -> Any:
    """A table with so many questions of each disagreement."""
    joint = np.diag([5, 5, 5])
    joint[0, 1], joint[0, 2], joint[1, 2] = first, second, third
    return joint


@pytest.mark.parametrize(
    ("name", "table", "few"),
    [
        ("precision", swaps(19, 24, 39), True),  # 20 · 25 · 40 = 20,000
        ("precision", swaps(19, 24, 40), False),
        ("precision", swaps(20, 24, 39), False),
        ("c@1", swaps(19, 24, 40), True),
        ("c@1", swaps(90_000, 90_000, 90_000), False),
        ("c@1", swaps(1_000_000, 0, 1_000_000), False),
        ("c@1", swaps(1_000_000, 0, 0), True),
        ("c@1", swaps(0, 0, 1_000_000), True),
        ("c@1", swaps(0, 1_000_000, 0), False),
    ],
)
def test_when_a_distribution_is_written_down(name: str, table: Any, few: bool) -> None:
    assert few_states(ab.measure(name), table) == few


@pytest.mark.parametrize(("last", "few"), [(39, True), (40, False)])
def test_when_a_distribution_with_candidates_is_written_down(last: int, few: bool) -> None:
    """10 · 10 · 10 · 10 · 40 = 400,000 ways."""
    table = np.zeros((5, 5), np.int64)
    table[0, 1:] = 9
    table[1, 2] = last
    assert few_states(ab.measure("forced-accuracy"), table) == few


def test_swaps_move_questions_between_the_two_runs() -> None:
    joint = np.array([[7, 3, 2], [1, 8, 5], [4, 0, 9]])
    assert swappable(joint).tolist() == [4, 6, 5]
    one, two = after_swaps(joint, [np.array([3, 0]), np.array([2, 6]), np.array([5, 1])])
    assert one.tolist() == joint.tolist()
    assert two.tolist() == [[7, 0, 6], [4, 8, 1], [0, 4, 9]]
    (alone,) = after_swaps(joint, [np.array([4]), np.array([0]), np.array([0])])
    assert alone.tolist() == [[7, 4, 0], [0, 8, 0], [6, 5, 9]]


def test_extreme_is_as_far_from_0_as_what_was_seen() -> None:
    drawn = np.array([0.2, -0.2, 0.2 - 1e-13, 0.2 - 1e-11, -0.3, 0.1, math.nan])
    expected = [True, True, True, False, True, False, True]
    assert extreme(drawn, -0.2).tolist() == expected
    assert extreme(drawn, 0.2).tolist() == expected
    assert extreme(np.array([0.1]), math.nan).tolist() == [True]
    assert p_of(3, 8, exact=True) == 3 / 8
    assert p_of(3, 8, exact=False) == 4 / 9


def test_random_swaps_of_a_pair_that_never_differs() -> None:
    same, apart = np.diag([3, 4, 5]), swaps(12, 0, 0)
    done: list[int] = []
    found = sampled_p(
        ab.measure("accuracy"), np.stack([same, apart]), trials=99, seed=1, progress=done.append
    )
    assert done == [1, 1]
    assert found[0] == 1
    # 12 of 12: 2/4096 is exact; of 99 trials hardly any is as far
    assert found[1] == pytest.approx(1 / 100, abs=0.011)
    assert exact_p(ab.measure("accuracy"), apart) == pytest.approx(2 / 4096)
    asked = randomise(
        ab.measure("accuracy"), np.stack([same, apart]), trials=99, seed=1, progress=done.append
    )
    assert [own.exact for own in asked] == [True, True]
    assert done == [1] * 4


def test_no_adjusted_chance_is_above_one() -> None:
    assert adjust(np.array([0.4, 0.9, 0.8]), "holm").tolist() == [1, 1, 1]
