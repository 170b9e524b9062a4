"""Intervals of measures that take a confidence: a bootstrap over questions or clusters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import abstain as ab
from abstain.measures.answers import Answers
from abstain.stats.confidence_intervals import Sample, confidence_interval, sample_of
from abstain.stats.intervals import Interval
from tests.helpers import Here
from tests.snapshots import says

RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def _same_numbers_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.RNG", np.random.default_rng(5))


def answers(size: int) -> tuple[Any, Any]:
    """Answers whose confidence says something, but not all."""
    sure = RNG.beta(3, 2, size)
    return RNG.random(size) < sure**1.3, sure


def sample(right: Any, sure: Any, clusters: Any = None) -> Sample:
    return sample_of(np.where(right, 0, 1).astype(np.int8), sure, clusters)


def made(name: str, own: Sample, **settings: Any) -> Interval:
    rules: dict[str, Any] = {"clustered": False, "method": "logit"} | settings
    return confidence_interval(ab.measure(name), own, **rules)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_brier_as_scipys_bootstrap_of_a_mean(method: str) -> None:
    right, sure = answers(120)
    theirs = stats.bootstrap(
        ((sure - right) ** 2,),
        np.mean,
        n_resamples=4000,
        method="percentile" if method == "percentile" else "BCa",
        rng=np.random.default_rng(1),
    ).confidence_interval
    found = made("Brier", sample(right, sure), method=method, trials=4000)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.005)


def test_clusters_stay_whole() -> None:
    """Copies of a question in its cluster tell nothing new: the interval is that of the few."""
    right, sure = answers(40)
    copied = sample(np.repeat(right, 25), np.repeat(sure, 25), np.repeat(np.arange(40), 25))
    few = made("Brier", sample(right, sure))
    found = made("Brier", copied, clustered=True)
    assert (found.low, found.high) == pytest.approx((few.low, few.high), abs=1e-9)
    blind = made("Brier", sample(np.repeat(right, 25), np.repeat(sure, 25)))
    assert blind.high - blind.low < (few.high - few.low) / 3


@pytest.mark.slow
def test_auroc_covers() -> None:
    true = float(ab.measure("AUROC")(Answers(*answers(200_000), 200_000)))
    hits = sum(
        true in made("AUROC", sample(*answers(100)), trials=200, seed=seed) for seed in range(150)
    )
    assert 0.95 - 3 * math.sqrt(0.05 * 0.95 / 150) - 0.01 <= hits / 150


def test_what_has_no_interval_says_why() -> None:
    right, sure = answers(50)
    says(made("ECE", sample(right, sure)).why_not)
    lone = made("Brier", sample(right, sure, np.zeros(50, int)), clustered=True)
    says(lone.why_not)
    all_right = made("AUROC", sample(np.ones(50, bool), sure))
    assert all_right.why_not == "the value is undefined"


def test_score_shows_them(here: Here) -> None:
    here.write(
        "gold.csv", "question,correct,doc\n" + "".join(f"q{i},a,d{i // 3}\n" for i in range(12))
    )
    rows = "".join(f"q{i},{'aab'[i % 3]},0.{9 - i % 5}\n" for i in range(12))
    here.write("run.csv", "question,answer,confidence\n" + rows)
    args = ("score", "gold.csv", "run.csv", "-m", "Brier", "-m", "c@1")
    said = here(*args, "--interval", "--cluster", "doc")
    assert said.code == 0, said.err
    text = " ".join(said.out.split())
    says(text, "1,000")
    (row,) = here(*args, "--interval", "--format", "json").data["results"]
    squares = [((9 - i % 5) / 10 - (i % 3 < 2)) ** 2 for i in range(12)]
    low, high = row["intervals"]["Brier"]
    assert row["scores"]["Brier"] == pytest.approx(np.mean(squares))
    assert min(squares) < low < np.mean(squares) < high < max(squares)
    for part in here(*args, "--interval", "--by", "doc", "--format", "json").data["results"]:
        assert part["intervals"]["Brier"][0] <= part["scores"]["Brier"]
    line = here.refuses(*args, "--interval", "delta")
    says(line)


def test_judged_rows_have_them_by_cluster(here: Here) -> None:
    rows = "".join(
        f"a,q{i},{'CORRECT' if i % 3 else 'INCORRECT'},0.{i % 9},d{i // 2}\n" for i in range(20)
    )
    here.write("judged.csv", "run,question,grade,confidence,doc\n" + rows)
    said = here("score", "--judged", "judged.csv", "-m", "Brier", "--interval", "--cluster", "doc")
    assert said.code == 0, said.err
    says(" ".join(said.out.split()))
