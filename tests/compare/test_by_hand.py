"""Intervals, tests and bounds where a change of one sign or number would go unnoticed."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

import abstain as ab
from abstain.errors import UsageError
from abstain.features.compare import judge_errors as bounds
from abstain.features.compare.judge_errors import bounds_of, correct_for_judge
from abstain.measures import measure
from abstain.outcomes import Counts, CountsArray
from abstain.stats import intervals, randomisation
from abstain.stats.hypotheses import Flips, Mean, bootstrap_p, wilcoxon
from abstain.stats.intervals import Interval, between, check_level, interval
from abstain.stats.randomisation import Tosses, after_swaps, extreme, p_of, randomise, swappable
from tests.snapshots import refuses, says

RNG = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def _same_numbers_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.RNG", np.random.default_rng(11))


# --------------------------------------------------------------------------------- p-values


def test_wilcoxon_is_exact_for_16_differences_and_for_50_without_ties() -> None:
    untied = np.arange(1.0, 60) * np.where(np.arange(59) % 3, 1, -1)
    tied = np.repeat(np.arange(1.0, 31), 2)[:59] * np.where(np.arange(59) % 3, 1, -1)
    assert [wilcoxon(tied[:n]).exact for n in (15, 16, 17, 50)] == [True, True, False, False]
    assert [wilcoxon(untied[:n]).exact for n in (16, 17, 50, 51)] == [True, True, True, False]
    for n in (20, 50, 51):
        assert wilcoxon(untied[:n]).p == pytest.approx(stats.wilcoxon(untied[:n]).pvalue)


def test_few_clusters_are_flipped_in_all_ways_up_to_16() -> None:
    assert [Flips(n, trials=5, seed=0).exact for n in (16, 17)] == [True, False]


def test_students_t_as_scipy_and_where_there_is_none() -> None:
    values = np.array([0.1, 0.4, -0.2, 0.3])
    mean, error = float(values.mean()), float(values.std(ddof=1)) / 2
    assert Mean(mean, error, 0.0, 3).p() == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    assert not math.isnan(Mean(0.1, 0.2, 0.0, 1).p())
    assert math.isnan(Mean(0.1, 0.2, 0.0, 0).p())
    assert math.isnan(Mean(0.1, 0.0, 0.0, 4).p())
    assert Mean(0.0, 0.0, 0.0, 4).p() == 1


def test_a_bootstraps_p_by_hand() -> None:
    assert bootstrap_p(np.arange(1.0, 10)) == pytest.approx(2 * 1 / 10)
    assert bootstrap_p(np.array([-1.0, *range(1, 39)])) == pytest.approx(2 * 2 / 40)
    assert bootstrap_p(-np.array([-1.0, *range(1, 39)])) == pytest.approx(2 * 2 / 40)
    assert bootstrap_p(np.array([0.0, *range(1, 39)])) == pytest.approx(2 * 2 / 40)  # 0 is both
    assert bootstrap_p(np.array([-1.0, 1.0])) == 1


def test_what_is_extreme_and_its_share() -> None:
    drawn = np.array([-0.3, -0.2, 0.1, 0.2, np.nan])
    assert extreme(drawn, -0.2).tolist() == [True, True, False, True, True]
    assert p_of(3, 10, exact=True) == pytest.approx(3 / 10)
    assert p_of(3, 10, exact=False) == pytest.approx(4 / 11)


# ------------------------------------------------------------------------------------ swaps


@pytest.mark.parametrize("m", [0, 1, 2, 39, 40, 41, 200])
def test_chances_of_heads_are_binomial(m: int) -> None:
    found = randomisation.binomial(m)
    assert found == pytest.approx(stats.binom.pmf(np.arange(m + 1), m, 0.5), rel=1e-9)
    if m <= 40:
        assert found.tolist() == [math.comb(m, k) / 2**m for k in range(m + 1)]


@pytest.mark.parametrize("m", [0, 1, 63, 64, 65, 127, 128, 180])
def test_heads_among_the_first_coins_one_by_one(m: int) -> None:
    words = RNG.integers(0, 1 << 63, size=(5, 3), dtype=np.uint64)
    coins = [[int(word) >> bit & 1 for word in row for bit in range(64)] for row in words]
    tosses = Tosses(words)
    assert tosses.heads(m).tolist() == [sum(row[:m]) for row in coins]
    assert tosses.heads(m).tolist() == [sum(row[:m]) for row in coins]  # looked up


def test_tables_after_swaps_by_hand() -> None:
    joint = np.array([[5, 2, 1], [4, 6, 3], [0, 7, 8]])
    assert swappable(joint).tolist() == [2 + 4, 1 + 0, 3 + 7]
    (found,) = after_swaps(joint, [np.array([1]), np.array([0]), np.array([10])])
    assert found.tolist() == [[5, 1, 0], [5, 6, 10], [1, 0, 8]]


@pytest.mark.parametrize("name", ["c@1", "precision", "forced-accuracy"])
def test_random_p_is_the_share_of_a_hand_count(name: str) -> None:
    """Equal runs: every trial is as extreme as what was seen, which is nothing."""
    size = 5 if name == "forced-accuracy" else 3
    joint = np.full((1, size, size), 4)
    (found,) = randomise(measure(name), joint, trials=9, exact=False)
    assert (found.p, found.exact) == (1.0, False)
    steps: list[int] = []
    randomise(measure(name), np.repeat(joint, 3, axis=0), trials=9, progress=steps.append)
    assert sum(steps) == 3


def test_a_large_difference_has_the_smallest_p_of_its_trials() -> None:
    joint = np.zeros((1, 3, 3), np.int64)
    joint[0, 0, 1] = 500
    (found,) = randomise(measure("accuracy"), joint, trials=99, exact=False)
    assert found.p == pytest.approx(1 / 100)


# -------------------------------------------------------------------------------- intervals


def test_an_interval_holds_its_ends() -> None:
    own = Interval(0.2, 0.4, "beta")
    assert [value in own for value in (0.19, 0.2, 0.3, 0.4, 0.41)] == [
        False,
        True,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95.0])
def test_a_level_lies_strictly_between_0_and_1(level: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        check_level(level)


def test_one_question_or_one_cluster_has_no_interval() -> None:
    own = measure("accuracy")
    says(interval(own, Counts(right=1)).why_not)
    assert interval(own, Counts(right=1, wrong=1)).why_not == ""
    cluster = np.array([1.0, 1, 0, 0, 0, 0])
    one, empty = cluster[None], np.zeros((1, 6))
    for clusters in (one, np.concatenate([one, empty])):
        found = interval(own, cluster, clusters=clusters)
        says(found.why_not)
    found = interval(own, 2 * cluster, clusters=np.concatenate([one, one, empty]))
    assert found.why_not == ""


def test_a_percentile_interval_lies_between_its_quantiles() -> None:
    values = np.append(np.arange(101.0), np.nan)
    found = between(values, (0.025, 0.975), "percentile")
    assert (found.low, found.high) == (2.5, 97.5)
    says(found.why_not, "1", "102")
    assert between(values[:-1], (0.1, 0.9), "percentile").why_not == ""
    assert between(np.full(3, np.nan), (0.1, 0.9), "bca").why_not == "no resample has a value"


def test_resamples_that_are_the_same_have_no_width() -> None:
    assert between(np.ones(9), (0.1, 0.9), "bca").why_not == intervals.NO_WIDTH
    near = np.linspace(1, 1.01, 101)
    assert between(near, (0.1, 0.9), "bca").why_not == ""
    assert between(near, (0.1, 0.9), "bca", close=0.02).why_not == intervals.NO_WIDTH


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("method", ["percentile", "jeffreys"])
def test_levels_of_drawn_intervals_are_theirs(method: str, level: float) -> None:
    """Of 400 of 1,000 the normal approximation is good to a tenth of the standard error."""
    counts, error = Counts(right=400, wrong=600), math.sqrt(0.4 * 0.6 / 1000)
    found = interval(measure("accuracy"), counts, method=method, level=level)
    reach = stats.norm.ppf((1 + level) / 2) * error
    assert found.low == pytest.approx(0.4 - reach, abs=error / 10)
    assert found.high == pytest.approx(0.4 + reach, abs=error / 10)


def test_the_same_clusters_are_drawn_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many fit at once, there are as many resamples as asked for."""
    clusters = RNG.integers(0, 4, size=(6, 3)).astype(np.float64)
    for block in (1, 6, 13, 6 * 25, 1 << 22):
        monkeypatch.setattr(intervals, "BLOCK", block)
        values = intervals.resampled(
            lambda cells: cells.sum(axis=-1),
            clusters.sum(axis=0),
            clusters,
            trials=25,
            generator=np.random.default_rng(0),
        )
        assert len(values) == 25
        assert np.all((values >= 6 * clusters.sum(axis=1).min()) & (values <= 6 * 9))


# ----------------------------------------------------------------------------------- bounds


def slow_bounds(name: str, known: list[int], unknown: int) -> tuple[float, float]:
    own: Any = measure(name)
    spots = (0, 1, 2, 3, 4) if own.definition.needs_candidates else (0, 1, 4)
    tables = []
    for ways in product(range(unknown + 1), repeat=len(spots)):
        if sum(ways) == unknown:
            table = [*known, 0]
            for spot, more in zip(spots, ways, strict=True):
                table[spot] += more
            tables.append(table)
    values = own(CountsArray(np.array(tables)))
    return float(np.nanmin(values)), float(np.nanmax(values))


BOUNDED = ["c@1", "F", "precision", "UF", "S(t=0.75)", "validation-F", "qa-performance"]
BOUNDED += ["correctly-discarded", "over-abstention", "discard-recall"]


@pytest.mark.parametrize("most", [1_000_000, 20])
@pytest.mark.parametrize("name", BOUNDED)
def test_bounds_are_those_of_all_ways(
    name: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every way, and every so many with what lies near them."""
    monkeypatch.setattr(bounds, "MOST_WAYS", most)
    known = [3, 2, 1, 1, 1]
    for unknown in (0, 1, 2, 7):
        found = bounds_of(measure(name), np.array([*known, 0]), unknown)
        assert found == pytest.approx(slow_bounds(name, known, unknown))


def test_a_judges_errors_are_undone_by_hand() -> None:
    """A judge that calls a tenth of the wrong answers right: 0.55 judged right are 0.5."""
    confusion = np.array([[50.0, 0, 0], [5, 45, 0], [0, 0, 50]])
    judged = np.array([55.0, 45, 0])
    score, found = correct_for_judge(measure("accuracy"), judged, confusion, drawn="truth")
    assert score == pytest.approx(0.5)
    assert score in found
    narrow = correct_for_judge(measure("accuracy"), judged, confusion, drawn="truth", level=0.5)[1]
    assert found.low < narrow.low < 0.5 < narrow.high < found.high
    # by verdict: of 55 judged right 50 were, so 0.55 · 50/55 are
    by_verdict, _ = correct_for_judge(measure("accuracy"), judged, confusion, drawn="verdict")
    assert by_verdict == pytest.approx(0.55 * 50 / 55)


def test_a_judge_that_does_not_look_is_useless() -> None:
    same = np.array([[5.0, 5, 0], [5, 5, 0], [0, 0, 5]])
    with refuses(ab.UsageError):
        correct_for_judge(measure("accuracy"), np.array([5.0, 5, 0]), same)


def test_a_judge_without_errors_leaves_a_binomial_interval() -> None:
    """A judge checked 100,000 times without an error: only the run's 400 of 1,000 are uncertain."""
    confusion = np.eye(3) * 100_000
    cells, error = np.array([400.0, 600, 0]), math.sqrt(0.4 * 0.6 / 1000)
    score, found = correct_for_judge(measure("accuracy"), cells, confusion, drawn="truth")
    assert score == pytest.approx(0.4)
    assert found.low == pytest.approx(0.4 - 1.96 * error, abs=error / 8)
    assert found.high == pytest.approx(0.4 + 1.96 * error, abs=error / 8)
