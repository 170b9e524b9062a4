"""Tests at their edges: where they stop to be exact, ties, nothing to compare, one of a kind."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri
from statsmodels.stats.multitest import multipletests

import abstain as ab
from abstain.stats import hypotheses
from abstain.stats.hypotheses import (
    Flips,
    Mean,
    adjust,
    bootstrap_p,
    counted_scores,
    interval_p,
    mcnemar,
    randomise_clusters,
    signed_gaps,
    wilcoxon,
)


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "exact"), [(1, True), (2, True), (16, True), (17, False)])
def test_all_flips_of_up_to_sixteen_clusters(groups: int, exact: bool) -> None:
    """Half of the 2^g, since a change of all signs changes no size."""
    flips = Flips(groups, trials=77, seed=3)
    rows = np.concatenate(list(flips.blocks()))
    assert flips.exact == exact
    assert rows.shape == (2 ** (groups - 1) if exact else 77, groups)
    assert set(np.unique(rows)) <= {-1.0, 1.0}
    if exact:
        both = {tuple(row) for row in rows} | {tuple(-row) for row in rows}
        assert len(both) == 2**groups
    else:
        assert abs(rows.mean()) < 0.15  # as many of either, by 5 standard deviations
        assert len({tuple(row) for row in rows}) > 70
    np.testing.assert_array_equal(np.concatenate(list(flips.blocks())), rows)


def test_flips_times_a_table_are_flipped_sums() -> None:
    table = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    found = Flips(3, trials=0, seed=0) @ table
    sums = {(a + 2 * b + 4 * c) for a, b, c in product((-1, 1), repeat=3)}
    assert {abs(x) for x in found[:, 0]} == {abs(x) for x in sums}
    np.testing.assert_array_equal(found[:, 1], 10 * found[:, 0])


@pytest.mark.parametrize("name", ["accuracy", "c@1", "precision"])
def test_what_flips_make_of_a_run_may_be_kept_or_made_anew(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = np.random.default_rng(5).integers(1, 5, size=(3, 6, 3)).astype(float)
    pairs, flips = [(0, 1), (1, 2), (0, 2)], Flips(6, trials=0, seed=0)
    done: list[int] = []
    kept = randomise_clusters(ab.measure(name), tables, pairs, flips, done.append)
    assert done == [1, 1, 1]
    monkeypatch.setattr(hypotheses, "MOST_KEPT", 0)
    assert randomise_clusters(ab.measure(name), tables, pairs, flips) == kept


@pytest.mark.parametrize(("one", "other"), [(0, 0), (0, 1), (3, 3), (3, 4), (2, 9), (40, 12)])
def test_mcnemar_is_the_binomial_test(one: int, other: int) -> None:
    expected = stats.binomtest(one, one + other).pvalue if one + other else 1.0
    assert mcnemar(one, other) == mcnemar(other, one) == pytest.approx(expected)
    differences = np.array([0.5] * one + [-0.1] * other + [0.0, math.nan, 1e-12])
    signed = signed_gaps(differences)
    assert mcnemar((signed > 0).sum(), (signed < 0).sum()) == pytest.approx(expected)


def test_students_t_as_scipy_has_it() -> None:
    own = np.array([0.1, -0.2, 0.4, 0.35, 0.0])
    error = own.std(ddof=1) / math.sqrt(5)
    assert Mean(own.mean(), error, 0.0, 4).p() == pytest.approx(stats.ttest_1samp(own, 0).pvalue)
    assert Mean(-own.mean(), error, 0.0, 4).p() == pytest.approx(stats.ttest_1samp(own, 0).pvalue)
    assert Mean(0, 0, 0.0, 4).p() == 1
    assert Mean(0, 0.1, 0.0, 4).p() == 1
    assert math.isnan(Mean(0.1, 0, 0.0, 4).p())
    assert math.isnan(Mean(1.0, 1e-9, 0.0, 4).p())  # no more than rounding
    assert Mean(1.0, 1e-8, 0.0, 4).p() < 1e-12


def slow_wilcoxon(differences: list[float]) -> float:
    known = [d for d in differences if d]
    ranks = stats.rankdata([abs(d) for d in known])
    seen = abs(sum(r * np.sign(d) for r, d in zip(ranks, known, strict=True)))
    sums = [
        abs(sum(r * s for r, s in zip(ranks, signs, strict=True)))
        for signs in product((-1, 1), repeat=len(known))
    ]
    return float(np.mean([s >= seen - 1e-9 for s in sums]))


@pytest.mark.parametrize(
    "differences",
    [[0.3], [0.1, -0.2], [0.1, 0.1, -0.1, 0.4], [0.0, 0.5, 0.5, 0.25, 0.0, -0.125, 1.0]],
)
def test_wilcoxon_with_ties_by_all_signs(differences: list[float]) -> None:
    found = wilcoxon(np.array(differences))
    assert found.exact
    assert found.p == pytest.approx(slow_wilcoxon(differences))


@pytest.mark.parametrize(
    ("size", "tied", "exact"),
    [
        (16, True, True),
        (17, True, False),
        (17, False, True),
        (50, False, True),
        (51, False, False),
    ],
)
def test_where_wilcoxon_is_exact(size: int, tied: bool, exact: bool) -> None:
    draw = np.random.default_rng(size)
    own = (np.arange(size) + 1.0) * draw.choice([-1, 1], size, p=[0.3, 0.7])
    own[0] = own[1] if tied else own[0]
    found = wilcoxon(np.append(own, [0.0, math.nan]))
    assert found.exact == exact
    if size > 16:
        how = "exact" if exact else "asymptotic"
        assert found.p == pytest.approx(stats.wilcoxon(own, method=how).pvalue)
    assert wilcoxon(np.array([0.0, 0.0])).p == 1


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0] * 9, 2 * 1 / 10),
        ([-1.0] * 9, 2 * 1 / 10),
        ([1.0] * 7 + [-1.0, 0.0], 2 * 3 / 10),  # no difference is on either side
        ([1.0] * 18 + [math.nan], 2 * 2 / 20),  # what has no value speaks for neither
        ([1.0, -1.0], 1.0),
        ([0.0, 0.0, 0.0], 1.0),
    ],
)
def test_the_bootstraps_p_by_hand(values: list[float], expected: float) -> None:
    assert bootstrap_p(np.array(values)) == pytest.approx(expected)


@pytest.mark.parametrize("z", [0.5, 1.2816, 1.96, 3.0])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_p_of_a_normal_interval(z: float, sign: int) -> None:
    """An interval z ± ndtri((1 + level)/2) reaches 0 just where 2Φ(−z) is left."""

    def limits(level: float) -> tuple[np.ndarray, np.ndarray]:
        reach = ndtri((1 + level) / 2)
        return np.asarray(sign * z - reach), np.asarray(sign * z + reach)

    assert interval_p(limits) == pytest.approx(2 * stats.norm.sf(z), abs=2**-23)


def test_an_interval_that_ends_at_no_difference_holds_it() -> None:
    assert interval_p(lambda _: (np.array(0.0), np.array(1.0))) == pytest.approx(1, abs=1e-6)
    assert interval_p(lambda _: (np.array(-1.0), np.array(0.0))) == pytest.approx(1, abs=1e-6)
    assert interval_p(lambda _: (np.array(0.1), np.array(1.0))) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ours", "theirs"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh")]
)
def test_corrections_as_statsmodels(ours: str, theirs: str) -> None:
    for p in ([0.2], [0.01, 0.01], [0.04, 0.9, 0.001, 0.03, 0.03, 0.6], [1.0, 0.5, 0.7]):
        expected = multipletests(p, method=theirs)[1]
        assert adjust(np.array(p), ours) == pytest.approx(expected)
        among = adjust(np.array([*p, math.nan]), ours)
        assert among[:-1] == pytest.approx(expected)
        assert math.isnan(among[-1])
        assert adjust(np.array(p), "none") == pytest.approx(p)


def test_sums_that_only_rounding_tells_apart_are_equal() -> None:
    differences = np.array([0.1, 0.2, -0.3])  # 0.1 + 0.2 − 0.3 is 5.6e-17
    assert counted_scores(np.array([0.0, 0.2, -0.2, 0.0]), differences, exact=True).p == 1
    ones = np.array([1.0, 1.0, 1.0])
    drawn = np.array([3 - 1e-8, 3 - 1e-10, -3 + 1e-10, 1.0])
    assert counted_scores(drawn, ones, exact=True).p == 0.5
    none = np.array([])
    assert counted_scores(Flips(0, trials=0, seed=0) @ none, none, exact=True).p == 1
