"""The decision curve: values, crossings, bands that hold, words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import abstain as ab
from abstain.features.curve.decision import decision
from abstain.features.curve.result import Band
from abstain.features.curve.view import decision_words
from tests.confidence.data import Row, informed, read_arrays, read_rows
from tests.snapshots import says


def test_values_against_responses_decided_one_by_one() -> None:
    rows = informed(200, levels=10)
    found = decision(read_rows({"a": rows}))
    for i in (0, 10, 37, 50, 90):
        t = i / 100
        right = sum(o == "right" and c is not None and c >= t for o, c in rows)
        wrong = sum(o == "wrong" and c is not None and c >= t for o, c in rows)
        assert found.curves["a"].S[i] == pytest.approx((right - t / (1 - t) * wrong) / 200)
        kept = ab.Counts(right=right, wrong=wrong, unanswered_empty=200 - right - wrong)
        assert found.curves["a"].S[i] == pytest.approx(ab.measure(f"S(t={t!r})")(kept))


def test_as_given_the_crossing_is_exact() -> None:
    """A: 6 right, 3 wrong; B: 4 right, 1 wrong of 10: they meet where 2 = t/(1−t)·2.

    Forty times as many questions, so that the data can tell at the ends.
    """
    right, wrong, blank = ("right", None), ("wrong", None), ("unanswered_empty", None)
    a: list[Row] = [*[right] * 6, *[wrong] * 3, blank]
    b: list[Row] = [*[right] * 4, wrong, *[blank] * 5]
    (compared,) = decision(read_rows({"A": a * 40, "B": b * 40}), "given").comparisons
    assert compared.crossings == pytest.approx((0.5,))
    assert decision_words(compared).startswith("A scores higher than B below t = 0.50")


def test_words_for_one_that_always_leads_and_for_equals() -> None:
    good: list[Row] = [*[("right", 0.9)] * 300, *[("wrong", 0.1)] * 10]
    bad: list[Row] = [*[("wrong", 0.9)] * 300, *[("right", 0.1)] * 10]
    (compared,) = decision(read_rows({"good": good, "bad": bad})).comparisons
    assert decision_words(compared).startswith("good scores higher")
    (compared,) = decision(read_rows({"one": good, "two": good})).comparisons
    says(decision_words(compared))


def test_few_questions_cannot_tell() -> None:
    a, b = informed(20, seed=1), informed(20, seed=2)
    (compared,) = decision(read_rows({"A": a, "B": b})).comparisons
    assert "cannot tell" in decision_words(compared)


def leaves(truth: Any, band: Band) -> bool:
    """Whether the true curve lies outside of the band at some t."""
    low, high = np.array(band.low, np.float64), np.array(band.high, np.float64)
    return bool(((truth < low) | (truth > high)).any())


@pytest.mark.slow
@pytest.mark.parametrize(("size", "samples"), [(24, 80), (100, 40)])
def test_the_band_holds_at_every_t_at_once(size: int, samples: int) -> None:
    """Calibrated answers: S_t is known; about one in twenty samples may leave the band.

    At every t, also where hardly any answers are left.
    """
    t = np.arange(100) / 100
    # confidence uniform on [0, 1], right with that chance: ∫_t^1 p dp − t/(1−t) ∫_t^1 (1−p) dp
    truth = (1 - t**2) / 2 - t / (1 - t) * (1 - t) ** 2 / 2
    outside = 0
    for seed in range(samples):
        rng = np.random.default_rng(seed)
        sure = rng.random(size)
        right = rng.random(size) < sure
        outside += leaves(truth, decision(read_arrays(~right[None], sure[None])).curves["a"])
    assert outside <= 0.05 * samples + 4 * math.sqrt(0.05 * 0.95 * samples)


@pytest.mark.slow
def test_the_band_holds_for_a_run_that_is_too_sure() -> None:
    """Confidence as the largest of eight uniform numbers, right with a chance of 0.6 at any."""
    t = np.arange(100) / 100
    truth = (1 - t**8) * (0.6 - t / (1 - t) * 0.4)
    outside = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        sure = rng.random((8, 300)).max(axis=0)
        wrong = rng.random(300) >= 0.6
        outside += leaves(truth, decision(read_arrays(wrong[None], sure[None])).curves["a"])
    assert outside <= 12


@pytest.mark.slow
def test_the_band_of_a_difference_holds_where_few_answers_are_left() -> None:
    """Two runs alike: the true difference is 0 at every t, and the data should seldom tell."""
    told = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        sure = rng.random((2, 60))
        wrong = rng.random((2, 60)) >= sure
        (compared,) = decision(read_arrays(wrong, sure)).comparisons
        told += compared.undecided != ((0.0, 1.0),)
    assert told <= 10  # 3 expected; P(more than 10 | 5 %) is below 1 in 1,000


def test_three_questions_tell_nothing() -> None:
    """All right against all wrong, three times: by a sign test that has a chance of 1 in 4."""
    a: list[Row] = [("right", 0.99)] * 3
    b: list[Row] = [("wrong", 0.99)] * 3
    found = decision(read_rows({"a": a, "b": b}))
    own = found.curves["a"]
    assert all(high > low for low, high in zip(own.low, own.high, strict=True))  # type: ignore[operator]
    (compared,) = found.comparisons
    says(decision_words(compared))
    (compared,) = decision(read_rows({"a": a * 10, "b": b * 10})).comparisons
    says(decision_words(compared))


def test_pointwise_intervals_would_not_hold() -> None:
    """The simultaneous band is wider than 1.96 standard errors."""
    rows = informed(500)
    band = decision(read_rows({"a": rows})).curves["a"]
    t = 0.5
    values = [
        0.0 if c is None or c < t else (1.0 if o == "right" else -t / (1 - t)) for o, c in rows
    ]
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    low, high = band.low[50], band.high[50]
    assert low is not None
    assert high is not None
    assert (high - low) / 2 > 2.2 * error


def test_the_seed_decides_alone() -> None:
    read = read_rows({"a": informed(100), "b": informed(100, seed=3)})
    one, same, other = (decision(read, seed=seed).curves["a"] for seed in (1, 1, 2))
    assert one == same
    assert one.low != other.low
    assert one.S == other.S


def test_bad_arguments_are_refused() -> None:
    read = read_rows({"a": [("right", None)]})
    with pytest.raises(ab.UsageError, match="confidence, given"):
        decision(read, "both")  # type: ignore[arg-type]
    with pytest.raises(ab.UsageError, match="no run has a confidence"):
        decision(read, "confidence")
    assert decision(read).way == "given"
