"""Intervals at their edges: one cluster, two questions, draws without a value, levels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import abstain as ab
from abstain.errors import UsageError
from abstain.outcomes import Counts
from abstain.stats.delta_method import effective, one_run
from abstain.stats.intervals import (
    NO_WIDTH,
    PROPORTIONS,
    Interval,
    bca_levels,
    between,
    cell_interval,
    check_level,
    check_repeats,
    interval,
    levels_from_jackknife,
    posterior,
    resampled,
)
from tests.snapshots import says

ACCURACY, C1 = one_run(ab.measure("accuracy")), one_run(ab.measure("c@1"))
TABLE = np.array([[3.0, 1, 0], [2, 2, 1], [0, 3, 2], [4, 0, 1]])
SIX = np.column_stack([TABLE[:, :2], np.zeros((4, 2)), TABLE[:, 2], np.zeros(4)])


def test_levels_lie_strictly_between_0_and_1() -> None:
    assert check_level(0.5) == 0.5
    for level in (0, 1, -0.1, 1.1):
        with pytest.raises(UsageError, match="between 0 and 1"):
            check_level(level)


def test_cross_fits_are_from_1_to_a_thousand() -> None:
    check_repeats(1)
    check_repeats(1000)
    for repeats in (0, 1001):
        with pytest.raises(UsageError, match="from 1 to 1,000"):
            check_repeats(repeats)


def test_an_interval_holds_its_ends() -> None:
    own = Interval(0.2, 0.4, "beta")
    assert 0.2 in own
    assert 0.4 in own
    assert 0.19 not in own
    assert 0.41 not in own


def test_quantiles_of_what_was_drawn() -> None:
    values = np.array([3.0, 1.0, math.nan, 2.0, 5.0, 4.0, math.nan])
    found = between(values, (0.25, 0.75), "percentile")
    assert (found.low, found.high) == (2, 4)  # of 1 to 5
    says(found.why_not, "2", "7")
    assert between(values[3:6], (0, 1), "percentile").why_not == ""
    none = between(np.array([math.nan, math.nan]), (0.025, 0.975), "percentile")
    assert none.why_not == "no resample has a value"
    assert math.isnan(none.low)


def test_resamples_that_are_all_the_same_have_no_width() -> None:
    assert between(np.full(9, 0.3), (0.025, 0.975), "bca").why_not == NO_WIDTH
    near = np.array([0.3, 0.3 + 1e-6])
    assert between(near, (0, 1), "bca").why_not == ""
    assert between(near, (0, 1), "bca", close=1e-5).why_not == NO_WIDTH


@pytest.mark.parametrize("method", ["beta", "delta", "percentile", "jeffreys", "bca"])
def test_two_questions_and_two_clusters_are_the_fewest(method: str) -> None:
    one, two = np.array([1.0, 0, 0]), np.array([1.0, 1, 0])
    says(cell_interval(C1, one, method=method).why_not)
    assert not math.isnan(cell_interval(C1, two, method=method).low)
    clusters = np.stack([one, two - one])
    assert not math.isnan(cell_interval(C1, two, clusters=clusters, method=method).low)
    alone = cell_interval(C1, two, clusters=two[None], method=method)
    says(alone.why_not)


def test_empty_clusters_are_none() -> None:
    counts = SIX.sum(axis=0)
    with_empty = np.insert(SIX, 2, np.zeros(6), axis=0)
    for method in ("beta", "bca", "wilson"):
        name = "accuracy" if method == "wilson" else "c@1"
        plain = interval(ab.measure(name), counts, clusters=SIX, method=method)
        assert interval(ab.measure(name), counts, clusters=with_empty, method=method) == plain
    lone = interval(ab.measure("c@1"), SIX[0], clusters=np.stack([SIX[0], np.zeros(6)]))
    says(lone.why_not)


def test_a_bootstrap_takes_whole_questions() -> None:
    with pytest.raises(UsageError, match="whole numbers of questions"):
        cell_interval(C1, np.array([3.5, 2, 1]), method="percentile")


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_the_percentile_bootstrap_of_accuracy_is_binomial(level: float) -> None:
    found = cell_interval(
        ACCURACY, np.array([60.0, 40, 0]), method="percentile", level=level, trials=40_000
    )
    tails = stats.binom.ppf([(1 - level) / 2, (1 + level) / 2], 100, 0.6) / 100
    assert (found.low, found.high) == pytest.approx(tuple(tails), abs=0.0101)


def test_resamples_are_of_as_many_questions_or_clusters() -> None:
    generator = np.random.default_rng(2)
    seen: list[np.ndarray] = []

    def value(cells: np.ndarray) -> np.ndarray:
        seen.append(cells)
        return cells[..., 0]

    drawn = resampled(value, np.array([6.0, 3, 1]), None, trials=4000, generator=generator)
    assert drawn.shape == (4000,)
    assert (seen[-1].sum(axis=1) == 10).all()
    assert seen[-1].mean(axis=0) == pytest.approx([6, 3, 1], abs=0.15)
    drawn = resampled(value, TABLE.sum(axis=0), TABLE, trials=4000, generator=generator)
    assert drawn.shape == (4000,)
    assert seen[-1].mean(axis=0) == pytest.approx(TABLE.sum(axis=0), abs=0.3)
    # each cluster's answers are there 0 to 4 times: the last column is whole ones of 0, 1, 2, 1
    assert drawn.min() >= 0
    assert drawn.max() == 16  # four times the last


def test_the_posterior_of_shares_is_dirichlet() -> None:
    """Accuracy of 6 right of 10 under ½ of each of the three outcomes: Beta(6.5, 5)."""
    drawn = posterior(
        ACCURACY, np.array([6.0, 3, 1]), None, level=0.95, generator=np.random.default_rng(0)
    )
    assert len(drawn) == 20_000
    expected = stats.beta(6.5, 5)
    assert drawn.mean() == pytest.approx(expected.mean(), abs=0.004)
    assert drawn.std() == pytest.approx(expected.std(), rel=0.03)


def slow_levels(
    observed: float, values: list[float], left: list[float], level: float
) -> list[float]:
    share = np.mean([(v < observed) + 0.5 * (v == observed) for v in values])
    bias = stats.norm.ppf(share)
    off = np.mean(left) - np.array(left)
    a = (off**3).sum() / (6 * (off**2).sum() ** 1.5)
    ends = [stats.norm.ppf((1 - level) / 2), stats.norm.ppf((1 + level) / 2)]
    return [float(stats.norm.cdf(bias + (bias + z) / (1 - a * (bias + z)))) for z in ends]


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_bca_of_clusters_leaves_out_each(level: float) -> None:
    def c_at_1(cells: np.ndarray) -> float:
        n = cells.sum()
        return float(cells[0] / n * (1 + cells[2] / n))

    total = TABLE.sum(axis=0)
    left = [c_at_1(total - own) for own in TABLE]
    values = [0.1, 0.4, c_at_1(total), 0.7, 0.55, 0.9]
    found = bca_levels(C1.value, total, TABLE, np.array([*values, math.nan]), level=level)
    assert found == pytest.approx(slow_levels(c_at_1(total), values, left, level))


def test_bca_leaves_out_a_question_of_each_outcome_that_there_is() -> None:
    cells = np.array([4.0, 0, 6])
    values = [0.3, 0.5, 0.64, 0.7, 0.8]  # c@1 = 0.4 · 1.6 = 0.64
    left = [3 / 9 * (1 + 6 / 9)] * 4 + [4 / 9 * (1 + 5 / 9)] * 6
    found = bca_levels(C1.value, cells, None, np.array(values), level=0.9)
    assert found == pytest.approx(slow_levels(0.64, values, left, 0.9))


@pytest.mark.parametrize(
    ("values", "jackknife"),
    [
        ([0.6, 0.7], [0.4, 0.6]),  # all above what was seen
        ([0.1, 0.2], [0.4, 0.6]),  # all below
        ([math.nan], [0.4, 0.6]),
        ([0.4, 0.6], [math.nan, math.nan]),
    ],
)
def test_where_nothing_can_be_corrected_the_levels_are_plain(
    values: list[float], jackknife: list[float]
) -> None:
    found = levels_from_jackknife(
        0.5, np.array(values), np.array(jackknife), np.ones(len(jackknife)), level=0.9
    )
    assert found == pytest.approx((0.05, 0.95))


def test_where_leaving_out_changes_nothing_only_the_bias_is_corrected() -> None:
    values, same = np.array([0.1, 0.2, 0.5, 0.9]), np.full(3, 0.5)
    found = levels_from_jackknife(0.5, values, same, np.ones(3), level=0.9)
    bias = stats.norm.ppf((2 + 0.5) / 4)
    expected = [stats.norm.cdf(2 * bias + stats.norm.ppf(p)) for p in (0.05, 0.95)]
    assert found == pytest.approx(tuple(expected))


def test_a_weight_stands_for_as_many_leave_one_out_values() -> None:
    values = np.array([0.1, 0.2, 0.5, 0.9, 0.6])
    by_weight = levels_from_jackknife(
        0.5, values, np.array([0.4, math.nan, 0.7]), np.array([3.0, 5.0, 2.0]), level=0.9
    )
    assert by_weight == pytest.approx(slow_levels(0.5, list(values), [0.4] * 3 + [0.7] * 2, 0.9))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@pytest.mark.parametrize(("x", "n"), [(0, 7), (1, 7), (4, 7), (7, 7), (1, 1), (0, 1)])
def test_proportions_at_any_level(x: int, n: int, level: float) -> None:
    theirs = stats.binomtest(x, n)
    for ours, name in (("wilson", "wilson"), ("clopper-pearson", "exact")):
        expected = theirs.proportion_ci(level, method=name)
        assert PROPORTIONS[ours](x, n, level=level) == pytest.approx(
            (expected.low, expected.high), abs=1e-12
        )
    low, high = PROPORTIONS["jeffreys"](x, n, level=level)
    ends = stats.beta(x + 0.5, n - x + 0.5).ppf([(1 - level) / 2, (1 + level) / 2])
    assert low == pytest.approx(ends[0] if x else 0)
    assert high == pytest.approx(ends[1] if x < n else 1)


def test_a_proportion_of_clustered_questions_counts_by_what_they_are_worth() -> None:
    measure, counts = ab.measure("accuracy"), SIX.sum(axis=0)
    worth = float(effective(one_run(measure), TABLE.sum(axis=0), TABLE, level=0.9)) / 19
    found = interval(measure, counts, clusters=SIX, method="clopper-pearson", level=0.9)
    x, n = 9 * worth, 19 * worth
    assert found.low == pytest.approx(stats.beta(x, n - x + 1).ppf(0.05))
    assert found.high == pytest.approx(stats.beta(x + 1, n - x).ppf(0.95))
    assert worth != pytest.approx(1)


def test_counts_may_be_given_as_an_array() -> None:
    own = Counts(right=7, wrong=2, unanswered_empty=4)
    row = np.array([7.0, 2, 0, 0, 4, 0])
    assert interval(ab.measure("c@1"), own) == interval(ab.measure("c@1"), row)
