"""The decision curve: values, crossings, bands that hold, words."""

from __future__ import annotations

import math

import numpy as np
import pytest

import abstain as ab
from abstain.analyses.curve.decision import decision
from abstain.analyses.curve.matrix import ConfidenceMatrix
from tests.confidence.data import Row, informed, matrix_of


def test_values_against_responses_decided_one_by_one() -> None:
    rows = informed(200, levels=10)
    found = decision(matrix_of({"a": rows}))
    for i in (0, 10, 37, 50, 90):
        t = i / 100
        right = sum(o == "right" and c is not None and c >= t for o, c in rows)
        wrong = sum(o == "wrong" and c is not None and c >= t for o, c in rows)
        assert found.curves["a"].value[i] == pytest.approx((right - t / (1 - t) * wrong) / 200)
        kept = ab.Counts(right=right, wrong=wrong, unanswered_empty=200 - right - wrong)
        assert found.curves["a"].value[i] == pytest.approx(ab.measure(f"S(t={t!r})")(kept))


def test_as_given_the_crossing_is_exact() -> None:
    """A: 6 right, 3 wrong; B: 4 right, 1 wrong of 10: they meet where 2 = t/(1−t)·2.

    Forty times as many questions, so that the data can tell at the ends.
    """
    right, wrong, blank = ("right", None), ("wrong", None), ("unanswered_empty", None)
    a: list[Row] = [*[right] * 6, *[wrong] * 3, blank]
    b: list[Row] = [*[right] * 4, wrong, *[blank] * 5]
    (compared,) = decision(matrix_of({"A": a * 40, "B": b * 40}), way="given").comparisons
    assert compared.crossings == pytest.approx((0.5,))
    assert compared.sentence().startswith("A is better below t = 0.50, B above")


def test_words_for_one_that_always_leads_and_for_equals() -> None:
    good: list[Row] = [*[("right", 0.9)] * 300, *[("wrong", 0.1)] * 10]
    bad: list[Row] = [*[("wrong", 0.9)] * 300, *[("right", 0.1)] * 10]
    (compared,) = decision(matrix_of({"good": good, "bad": bad})).comparisons
    assert compared.sentence().startswith("good is better")
    (compared,) = decision(matrix_of({"one": good, "two": good})).comparisons
    assert compared.sentence() == "one and two score the same at every t."


def test_few_questions_cannot_tell() -> None:
    a, b = informed(20, seed=1), informed(20, seed=2)
    (compared,) = decision(matrix_of({"A": a, "B": b})).comparisons
    assert "cannot tell" in compared.sentence()


@pytest.mark.parametrize(("size", "samples"), [(24, 80), (100, 80), (300, 80)])
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
        matrix = matrix_of({"a": [("right", 0.5)] * size})
        own = ConfidenceMatrix(["a"], matrix.questions, (~right).astype(np.int8)[None], sure[None])
        band = decision(own).curves["a"]
        outside += bool(((truth < band.low) | (truth > band.high)).any())
    assert outside <= 12  # 4 expected; P(more than 12 | 5 %) is below 1 in 1,000


def test_the_band_holds_for_a_run_that_is_too_sure() -> None:
    """Confidence as the largest of eight uniform numbers, right with a chance of 0.6 at any."""
    t = np.arange(100) / 100
    truth = (1 - t**8) * (0.6 - t / (1 - t) * 0.4)
    questions = matrix_of({"a": [("right", 0.5)] * 300}).questions
    outside = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        sure = rng.random((8, 300)).max(axis=0)
        wrong = (rng.random(300) >= 0.6).astype(np.int8)
        band = decision(ConfidenceMatrix(["a"], questions, wrong[None], sure[None])).curves["a"]
        outside += bool(((truth < band.low) | (truth > band.high)).any())
    assert outside <= 12


def test_the_band_of_a_difference_holds_where_few_answers_are_left() -> None:
    """Two runs alike: the true difference is 0 at every t, and the data should seldom tell."""
    told = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        sure = rng.random((2, 60))
        wrong = (rng.random((2, 60)) >= sure).astype(np.int8)
        questions = matrix_of({"a": [("right", 0.5)] * 60}).questions
        (compared,) = decision(ConfidenceMatrix(["a", "b"], questions, wrong, sure)).comparisons
        told += compared.undecided != ((0.0, 1.0),)
    assert told <= 10  # 3 expected; P(more than 10 | 5 %) is below 1 in 1,000


def test_three_questions_tell_nothing() -> None:
    """All right against all wrong, three times: by a sign test that has a chance of 1 in 4."""
    a: list[Row] = [("right", 0.99)] * 3
    b: list[Row] = [("wrong", 0.99)] * 3
    found = decision(matrix_of({"a": a, "b": b}))
    assert (found.curves["a"].high > found.curves["a"].low).all()
    (compared,) = found.comparisons
    assert compared.sentence() == "The data cannot tell a and b apart at any t."
    (compared,) = decision(matrix_of({"a": a * 10, "b": b * 10})).comparisons
    assert compared.sentence().startswith("a is better than b at every t")


def test_pointwise_intervals_would_not_hold() -> None:
    """The simultaneous band is wider than 1.96 standard errors."""
    rows = informed(500)
    band = decision(matrix_of({"a": rows})).curves["a"]
    t = 0.5
    values = [
        0.0 if c is None or c < t else (1.0 if o == "right" else -t / (1 - t)) for o, c in rows
    ]
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    assert (band.high[50] - band.low[50]) / 2 > 2.2 * error


def test_the_seed_decides_alone() -> None:
    matrix = matrix_of({"a": informed(100), "b": informed(100, seed=3)})
    one, same, other = (decision(matrix, seed=seed).curves["a"] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.low, same.low)
    assert (one.low != other.low).any()
    np.testing.assert_array_equal(one.value, other.value)


def test_bad_arguments_are_refused() -> None:
    matrix = matrix_of({"a": [("right", None)]})
    with pytest.raises(ab.UsageError, match="confidence or given"):
        decision(matrix, way="both")
    with pytest.raises(ab.UsageError, match="no run has a confidence"):
        decision(matrix, way="confidence")
    with pytest.raises(ab.UsageError, match="between 0 and 1"):
        decision(matrix, confidence=1.5)
    assert decision(matrix).way == "given"
