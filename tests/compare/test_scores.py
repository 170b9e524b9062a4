"""Scores by topic: intervals of means, clusters, many runs against one; peers, slow references."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from abstain.errors import UsageError
from abstain.features.compare import comparison as work
from abstain.stats.hypotheses import Mean, Paired
from tests.compare.asked import scores as compared
from tests.compare.asked import told
from tests.helpers import Here
from tests.snapshots import says

RNG = np.random.default_rng(13)


@pytest.fixture(autouse=True)
def _same_numbers_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.RNG", np.random.default_rng(13))


def frame(scores: Any, **more: list[str]) -> pl.DataFrame:
    """A column a system, from scores (systems, topics)."""
    columns = dict(zip("xyzvw", scores, strict=False))
    return pl.DataFrame({"topic": [str(i) for i in range(len(scores[0]))], **columns, **more})


def ends(found: Any) -> tuple[float, float]:
    return found.interval[0], found.interval[1]


# ----------------------------------------------------------------------------------- intervals


def test_delta_is_scipys_interval_of_a_mean() -> None:
    scores = RNG.random((2, 30))
    found = compared(frame(scores), interval="delta")
    gap = scores[1] - scores[0]
    expected = stats.ttest_1samp(gap, 0).confidence_interval(0.95)
    assert ends(found.pairs[0]) == pytest.approx(tuple(expected), abs=1e-12)
    assert found.pairs[0].standard_error == pytest.approx(stats.sem(gap))
    for row in found.rows:
        own = scores["xy".index(row.run)]
        assert ends(row) == pytest.approx(
            tuple(stats.ttest_1samp(own, 0).confidence_interval(0.95))
        )


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstraps_as_scipys(method: str) -> None:
    scores = RNG.beta(1, 4, size=(2, 40))
    theirs = stats.bootstrap(
        (scores[1] - scores[0],),
        np.mean,
        n_resamples=20_000,
        method="BCa" if method == "bca" else "percentile",
        rng=np.random.default_rng(1),
    ).confidence_interval
    found = compared(frame(scores), interval=method, resamples=20_000)
    assert ends(found.pairs[0]) == pytest.approx((theirs.low, theirs.high), abs=0.004)


def test_clusters_by_hand() -> None:
    """The mean of eight over sums of deviations in three clusters of 3, 3 and 2.

    A sum is divided by 1 − 2w + Σw², the share of its variance that is left beside the mean: w are
    3/8, 3/8 and 1/4, Σw² is 22/64. So they are worth 64/22 clusters, one more than t's degrees.
    """
    scores = RNG.random((2, 8))
    own = ["a", "a", "a", "b", "b", "b", "c", "c"]
    asked: Any = {"cluster": "doc", "interval": "delta"}
    found = compared(frame(scores, doc=own), test="randomisation", **asked)
    gap = scores[1] - scores[0]
    sums = [sum(g - gap.mean() for g, c in zip(gap, own, strict=True) if c == k) for k in "abc"]
    left = [1 - 2 * w + 22 / 64 for w in (3 / 8, 3 / 8, 1 / 4)]
    error = math.sqrt(sum(s * s / part for s, part in zip(sums, left, strict=True))) / 8
    degrees = 64 / 22 - 1
    reach = stats.t(degrees).ppf(0.975) * error
    assert found.clusters == 3
    assert found.pairs[0].standard_error == pytest.approx(error)
    assert ends(found.pairs[0]) == pytest.approx((gap.mean() - reach, gap.mean() + reach))
    totals = [sum(g for g, c in zip(gap, own, strict=True) if c == k) for k in "abc"]
    ways = [
        abs(sum(s * t for s, t in zip(signs, totals, strict=True)))
        for signs in product((-1, 1), repeat=3)
    ]
    assert found.pairs[0].p == pytest.approx(np.mean([w >= abs(sum(totals)) - 1e-12 for w in ways]))
    student = Mean.of(np.array(totals), np.array([3.0, 3.0, 2.0]))
    assert student.p() == pytest.approx(2 * stats.t(degrees).sf(abs(gap.mean() / error)))
    assert compared(frame(scores, doc=own), **asked).pairs[0].p is None


def test_a_resample_of_clusters_keeps_them_whole() -> None:
    """Five copies of each topic, clustered: the bootstrap is that of the topics themselves."""
    scores = RNG.random((2, 12))
    asked = {"interval": "bca", "test": "randomisation"}
    plain = compared(frame(scores), **asked)
    doc = [str(i // 5) for i in range(60)]
    copies = compared(frame(np.repeat(scores, 5, axis=1), doc=doc), cluster="doc", **asked)
    assert ends(copies.pairs[0]) == pytest.approx(ends(plain.pairs[0]), abs=1e-9)
    assert copies.pairs[0].p == pytest.approx(plain.pairs[0].p)


# ------------------------------------------------------------------------- many against one


@pytest.mark.parametrize("test", ["t", "randomisation", "wilcoxon", "sign", "bootstrap"])
def test_runs_against_one_are_corrected_by_holm(test: str) -> None:
    """By any test: what runs answer unlike need not be exchangeable."""
    scores = RNG.random((4, 60))
    scores[1] += 0.15
    found = compared(frame(scores), against="x", test=test, resamples=500)
    assert found.correction == "holm"
    p = [pair.p for pair in found.pairs]
    expected = multipletests(p, method="holm")[1]
    assert [pair.p_adjusted for pair in found.pairs] == pytest.approx(list(expected))


def test_scores_hold_only_so_many_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MOST_DRAWN", 1000)
    with pytest.raises(UsageError, match="use resamples=500 or fewer"):
        compared(frame(RNG.random((2, 20))), against="x", test="randomisation")


# --------------------------------------------------------------------- tests, and their words


def halls_p(gap: Any) -> float:
    """Hall (1992), as written: T + g/(3√n)·T² + g²/(27n)·T³ + g/(6√n)."""
    n, g = len(gap), stats.skew(gap)
    t = n**0.5 * gap.mean() / gap.std(ddof=1)
    mapped = t + g / (3 * n**0.5) * t**2 + g**2 / (27 * n) * t**3 + g / (6 * n**0.5)
    return float(2 * stats.t(n - 1).sf(abs(mapped)))


@pytest.mark.parametrize("topics", [3, 12, 200])
def test_p_of_t_sign_and_wilcoxon_as_scipys(topics: int) -> None:
    """Rounded scores, so that topics tie; the better run lower or higher."""
    scores = np.round(RNG.beta(1, 3, size=(2, topics)), 2 if topics > 3 else 9)
    gap = scores[1] - scores[0]
    wins, losses = int((gap > 1e-12).sum()), int((gap < -1e-12).sum())
    expected = {
        "t": max(stats.ttest_rel(scores[1], scores[0]).pvalue, halls_p(gap[np.abs(gap) > 1e-12])),
        "sign": stats.binomtest(wins, wins + losses).pvalue,
        "wilcoxon": stats.wilcoxon(
            np.round(gap, 9)[np.abs(gap) > 1e-12],
            method="asymptotic" if topics > 50 else stats.PermutationMethod(n_resamples=np.inf),
        ).pvalue,
    }
    if wins + losses < 30:
        (few,) = compared(frame(scores)).pairs
        assert (few.p, few.differs) == (None, None)
        says(few.no_test, "30")
        del expected["t"]
    for test, p in expected.items():
        (pair,) = compared(frame(scores), test=test).pairs
        assert pair.p == pytest.approx(p, rel=1e-9), test
    assert compared(frame(scores)).test == "t"
    effect = pair.effect
    assert (effect.wins, effect.ties, effect.losses) == (wins, topics - wins - losses, losses)
    assert effect.standardised == pytest.approx(gap.mean() / gap.std(ddof=1))
    assert effect.skewness == pytest.approx(stats.skew(gap))


def test_randomisation_sign_by_sign() -> None:
    scores = np.round(RNG.random((2, 9)), 1)
    gap = scores[1] - scores[0]
    sums = [abs(gap @ np.array(signs)) for signs in product((-1, 1), repeat=9)]
    (pair,) = compared(frame(scores), test="randomisation").pairs
    assert pair.p == pytest.approx(np.mean(np.array(sums) >= abs(gap.sum()) - 1e-9), abs=1e-12)


@pytest.mark.parametrize(
    ("test", "of_means"),
    [
        ("t", True),
        ("bootstrap", True),
        ("randomisation", False),
        ("wilcoxon", False),
        ("sign", False),
    ],
)
def test_a_test_that_is_not_of_the_means_says_so(test: str, of_means: bool) -> None:
    result = compared(frame(RNG.random((2, 40))), test=test, resamples=200)
    assert ("not of means" in told(result)) is not of_means


def test_a_test_of_means_needs_30_topics_that_differ() -> None:
    """Ties say nothing of skewness: 29 topics that differ among 200 are 29."""
    gaps = np.r_[RNG.exponential(size=29), np.zeros(171)]
    few = compared(frame([np.zeros(200), gaps]))
    assert few.pairs[0].p is None
    says(told(few), "30")
    assert "could detect" in told(few)
    gaps[40] = 0.1
    enough = compared(frame([np.zeros(200), gaps]))
    assert enough.pairs[0].p is not None
    said = told(enough)
    assert enough.pairs[0].effect.skewness == pytest.approx(stats.skew(gaps))
    assert "rare large difference" not in said
    says(told(compared(frame(RNG.random((2, 40))))), "40")
    short = told(compared(frame(RNG.random((2, 12)))))
    assert "could detect" not in short
    assert "Test:" not in short
    doc = [str(i // 10) for i in range(200)]
    clustered = told(compared(frame([np.zeros(200), gaps], doc=doc), cluster="doc"))
    says(clustered, "30")
    many = compared(frame([np.zeros(200), gaps, 2 * gaps]), test="bootstrap", resamples=200)
    assert all(pair.p is not None for pair in many.pairs)


def test_the_default_interval_leaves_out_0_where_there_is_a_difference() -> None:
    """It holds 0 where p is above 5 %, however skewed differences are and however many tie."""
    seen = set()
    for number in range(300):
        own = np.random.default_rng(number)
        gap = own.lognormal(size=50) - 1.2 - 0.4 * own.random()
        gap[own.random(50) < 0.3] = 0
        (pair,) = compared(frame([np.zeros(50), gap])).pairs
        if pair.p is None:
            continue
        outside = not pair.interval[0] <= 0 <= pair.interval[1]
        assert outside == pair.differs
        seen.add((outside, stats.ttest_1samp(gap, 0).pvalue <= 0.05))
    assert seen == {(True, True), (False, False), (False, True)}


@pytest.mark.parametrize("topics", [40, 60])
def test_skewed_differences_of_mean_0_are_rarely_found_different(topics: int) -> None:
    """Student's t alone finds about 10 % of them; a standard error is 0.5 points."""
    drawn = np.random.default_rng(7).lognormal(size=(2000, topics)) - np.exp(0.5)
    ones, every = np.ones(topics), np.ones(topics, bool)
    found = [Paired.of(gap, ones, every) for gap in drawn]
    alone = np.mean([own.whole.p() <= 0.05 for own in found])
    assert alone == pytest.approx(np.mean(stats.ttest_1samp(drawn, 0, axis=1).pvalue <= 0.05))
    assert alone > 0.07
    assert np.mean([own.p() <= 0.05 for own in found]) <= min(0.07, float(alone) - 0.03)


def test_differences_that_do_not_vary_have_no_t() -> None:
    found = compared(frame([[0.1, 0.2, 0.3], [0.3, 0.4, 0.5]]))
    assert found.pairs[0].p is found.pairs[0].differs is found.pairs[0].effect.standardised is None
    says(told(found))
    same = compared(frame([[0.1, 0.2], [0.1, 0.2]])).pairs[0]
    assert (same.p, same.differs) == (1.0, False)
    one = compared(frame([[0.1], [0.2]]))
    says(told(one))


def test_intervals_stay_in_the_range_of_a_measure_that_is_known() -> None:
    rows = pl.DataFrame(
        {"run": ["a", "a", "b", "b"], "query": ["1", "2"] * 2, "AP": [0.1, 0.9, 0.2, 1.0]}
    )
    found = compared(rows)
    assert [row.interval for row in found.rows] == [(0, 1), (0, 1)]
    assert ends(compared(rows.rename({"AP": "mine"})).rows[0])[0] < 0


def test_effects_are_columns_of_a_frame() -> None:
    found = compared(frame([[0.1, 0.2, 0.3], [0.3, 0.1, 0.3]])).to_frame()
    assert found.select("wins", "ties", "losses").row(0) == (1, 1, 1)


# ------------------------------------------------------------------------------ level and power


@pytest.mark.slow
@pytest.mark.parametrize("test", ["t", "randomisation", "bootstrap", "wilcoxon", "sign"])
def test_the_tests_of_scores_hold_their_level_and_have_power(test: str) -> None:
    """Topics as hard for both systems; then one that is better by half a standard deviation."""
    generator = np.random.default_rng(3)
    times, topics = 120, 50
    hard = generator.normal(size=(times, 1, topics))
    noise = generator.normal(size=(times, 2, topics))
    rates = []
    for lift in (0.0, 0.7):
        scores = hard + noise + np.array([0, lift])[:, None]
        p = [
            compared(frame(own), test=test, interval="delta", resamples=400, seed=k).pairs[0].p
            for k, own in enumerate(scores)
        ]
        rates.append(np.mean(np.array(p) <= 0.05))
    assert rates[0] <= 0.06 + 3 * math.sqrt(0.06 * 0.94 / times)
    assert rates[1] > (0.7 if test == "sign" else 0.8)


@pytest.mark.slow
def test_the_default_interval_covers_with_few_topics_that_differ() -> None:
    """A fifth of 20 topics changes: t covers where BCa does not."""
    generator = np.random.default_rng(5)
    times, covered = 150, {"delta": 0, "bca": 0}
    for seed in range(times):
        first = generator.beta(1, 3, 20)
        second = np.where(generator.random(20) < 0.2, generator.beta(1, 3, 20), first)
        for method in covered:
            asked: Any = {"interval": method, "resamples": 500, "seed": seed}
            asked = {} if method == "delta" else asked
            low, high = ends(compared(frame([first, second]), **asked).pairs[0])
            covered[method] += low <= 0 <= high
    assert covered["delta"] / times >= 0.93
    assert covered["bca"] / times < 0.9


@pytest.mark.slow
def test_a_bootstrap_p_as_the_normal_one() -> None:
    scores = np.random.default_rng(2).normal(size=(2, 400))
    scores[1] += 0.1
    gap = scores[1] - scores[0]
    found = compared(frame(scores), test="bootstrap", interval="delta", resamples=20_000)
    expected = 2 * stats.norm.sf(abs(gap.mean()) / (gap.std() / 20))
    assert 0.01 < expected < 0.9
    assert found.pairs[0].p == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("test", ["t", "randomisation", "wilcoxon", "sign", "bootstrap"])
def test_what_rounding_leaves_is_no_difference(test: str) -> None:
    """0.1 + 0.2 is not 0.3 to a computer; sixty such topics are no evidence."""
    found = compared(frame([[0.3] * 60, [0.1 + 0.2] * 45 + [0.3] * 15]), test=test)
    (pair,) = found.pairs
    assert (pair.effect.wins, pair.effect.ties, pair.effect.losses) == (0, 60, 0)
    assert pair.p in (None, 1.0)
    assert not pair.differs


def test_a_difference_that_is_the_same_everywhere_says_why_it_has_no_test() -> None:
    draw = np.random.default_rng(1)
    first = draw.random(50).round(3) * 0.5
    found = compared(frame([first, first + 0.125, draw.random(50).round(3)]), against="x")
    reasons = {pair.run: pair.no_test for pair in found.pairs}
    says(reasons["y"])
    assert reasons["z"] == ""
    says(told(found))


def test_the_default_interval_of_scores_may_be_named(here: Here) -> None:
    rows = "".join(f"t{n},0.{n * 7 % 10},0.{n * 3 % 10}\n" for n in range(1, 41))
    here.write("s.csv", "topic,a,b\n" + rows)
    plain, named = (
        here("compare", "--scores", "s.csv", *more, "-f", "json").data
        for more in ((), ("--interval", "hall"))
    )
    assert plain["results"] == named["results"]
    here.write("gold.csv", "question,correct\nq1,a\n")
    line = here.refuses("compare", "gold.csv", "gold.csv", "--interval", "hall")
    says(line, "'hall'")
