"""Scores by topic: intervals of means, clusters, max-T, against peers and slow references."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from abstain.analyses.compare import work
from abstain.errors import UsageError
from tests.compare.asked import scores as compared

RNG = np.random.default_rng(13)


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
    found = compared(frame(scores), interval=method, trials=20_000)
    assert ends(found.pairs[0]) == pytest.approx((theirs.low, theirs.high), abs=0.004)


def test_clusters_by_hand() -> None:
    """The mean of eight over sums of deviations in three clusters of 3, 3 and 2."""
    scores = RNG.random((2, 8))
    own = ["a", "a", "a", "b", "b", "b", "c", "c"]
    found = compared(frame(scores, doc=own), cluster="doc", interval="delta")
    gap = scores[1] - scores[0]
    sums = [sum(g - gap.mean() for g, c in zip(gap, own, strict=True) if c == k) for k in "abc"]
    error = math.sqrt(3 / 2 * sum(s * s for s in sums)) / 8
    reach = stats.t(2).ppf(0.975) * error
    assert found.clusters == 3
    assert found.pairs[0].standard_error == pytest.approx(error)
    assert ends(found.pairs[0]) == pytest.approx((gap.mean() - reach, gap.mean() + reach))
    totals = [sum(g for g, c in zip(gap, own, strict=True) if c == k) for k in "abc"]
    ways = [
        abs(sum(s * t for s, t in zip(signs, totals, strict=True)))
        for signs in product((-1, 1), repeat=3)
    ]
    assert found.pairs[0].p == pytest.approx(np.mean([w >= abs(sum(totals)) - 1e-12 for w in ways]))


def test_a_resample_of_clusters_keeps_them_whole() -> None:
    """Five copies of each topic, clustered: the bootstrap is that of the topics themselves."""
    scores = RNG.random((2, 12))
    plain = compared(frame(scores))
    doc = [str(i // 5) for i in range(60)]
    copies = compared(frame(np.repeat(scores, 5, axis=1), doc=doc), cluster="doc")
    assert ends(copies.pairs[0]) == pytest.approx(ends(plain.pairs[0]), abs=1e-9)
    assert copies.pairs[0].p == pytest.approx(plain.pairs[0].p)


# --------------------------------------------------------------------------------------- max-T


def test_max_t_flip_by_flip() -> None:
    """Two systems against one on eight topics: all 2⁸ signs, each gap over its own spread."""
    scores = RNG.random((3, 8))
    scores[1] += 0.3
    found = compared(frame(scores), against="x")
    gaps = scores[1:] - scores[0]
    drawn = np.array([gaps @ np.array(signs) for signs in product((-1, 1), repeat=8)])
    spread = np.sqrt((drawn**2).mean(axis=0))
    largest = (np.abs(drawn) / spread).max(axis=1)
    for pair in found.pairs:
        at = "yz".index(pair.run)
        seen = abs(gaps[at].sum()) / spread[at]
        assert pair.p_adjusted == pytest.approx((largest >= seen - 1e-9).mean())


def test_scores_hold_only_so_many_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MOST_DRAWN", 1000)
    with pytest.raises(UsageError, match="take trials=500 or fewer"):
        compared(frame(RNG.random((2, 20))), against="x")


# ------------------------------------------------------------------------------ level and power


@pytest.mark.slow
@pytest.mark.parametrize("test", ["randomisation", "bootstrap", "wilcoxon"])
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
            compared(frame(own), test=test, interval="delta", trials=400, seed=k).pairs[0].p
            for k, own in enumerate(scores)
        ]
        rates.append(np.mean(np.array(p) <= 0.05))
    assert rates[0] <= 0.06 + 3 * math.sqrt(0.06 * 0.94 / times)
    assert rates[1] > 0.8


@pytest.mark.slow
def test_a_bootstrap_p_as_the_normal_one() -> None:
    scores = RNG.normal(size=(2, 400))
    scores[1] += 0.1
    gap = scores[1] - scores[0]
    found = compared(frame(scores), test="bootstrap", interval="delta", trials=20_000)
    expected = 2 * stats.norm.sf(abs(gap.mean()) / (gap.std() / 20))
    assert 0.01 < expected < 0.9
    assert found.pairs[0].p == pytest.approx(expected, abs=0.02)
