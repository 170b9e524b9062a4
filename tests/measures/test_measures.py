"""Each measure: worked by hand, and against the slow reference."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.measures import definitions
from tests.helpers import outcomes
from tests.measures.reference import REFERENCE

# 4 right, 2 wrong, 1 blank with a right candidate, 2 with a wrong one, 1 without: n = 10.
K = ab.Counts(right=4, wrong=2, unanswered_right=1, unanswered_wrong=2, unanswered_empty=1)
BY_HAND = {
    "accuracy": 4 / 10,
    "c@1": (4 + 4 * 4 / 10) / 10,  # each of 4 blanks is worth 0.4
    "F": 2 * (4 / 10) * (4 / 6) / (4 / 10 + 4 / 6),  # harmonic mean of 0.4 and 2/3 = 0.5
    "F(beta=0.5)": 1.25 * (4 / 6) * 0.4 / (0.25 * (4 / 6) + 0.4),
    "F(beta=2)": 5 * (4 / 6) * 0.4 / (4 * (4 / 6) + 0.4),
    "precision": 4 / 6,
    "UF": 2 / 10,
    "UF-scaled": 6 / 10,
    "answer-all-bound": 8 / 10,
    "wrong-rate-credit": (4 + 4 / 3) / 10,  # 2 of 6 answers are wrong: each blank earns 1/3
    "credit(t=0)": 4 / 10,
    "credit(t=0.25)": 5 / 10,
    "credit(t=0.5)": 6 / 10,
    "credit(t=1)": 8 / 10,
    "S(t=0)": 4 / 10,
    "S(t=0.25)": (4 - 2 / 3) / 10,
    "S(t=0.5)": 2 / 10,
    "S(t=0.75)": (4 - 6) / 10,
    "coverage": 6 / 10,
    "selective-risk": 2 / 6,
    "wrong-rate": 2 / 10,
    "hallucination-rate": 2 / 6,
    "forced-accuracy": 5 / 10,
    "correctly-discarded": 3 / 4,
    "discard-recall": 3 / 5,
    "discard-F": 2 * (3 / 4) * (3 / 5) / (3 / 4 + 3 / 5),
    "over-abstention": 1 / 5,
    "under-abstention": 2 / 5,
    "qa-accuracy": 4 / 10,
    "qa-rej-accuracy": 3 / 10,
    "qa-performance": 7 / 10,
    "estimated-qa-performance": 0.4 * 1.3,
    "validation-precision": 4 / 6,
    "validation-recall": 4 / 5,
    "validation-F": 2 * (4 / 6) * (4 / 5) / (4 / 6 + 4 / 5),
}

small = st.integers(0, 12)


@pytest.mark.parametrize("name", ["precision", "validation-precision"])
def test_all_right_is_exactly_1_whatever_is_blank(name: str) -> None:
    item = ab.measure(name)
    for right in range(1, 30):
        for blank in range(30):
            assert item(ab.Counts(right, unsplit=blank)) == 1


def test_every_measure_has_a_reference_and_a_worked_case() -> None:
    named = {ab.measure(name).name for name in REFERENCE}
    assert named == set(ab.list_measures("counts"))
    assert REFERENCE.keys() == BY_HAND.keys()


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str) -> None:
    assert ab.measure(name)(K) == pytest.approx(BY_HAND[name], abs=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCE)
@given(numbers=st.tuples(small, small, small, small, small).filter(any))
def test_against_slow_reference(name: str, numbers: tuple[int, int, int, int, int]) -> None:
    expected = REFERENCE[name](outcomes(*numbers))
    score = ab.measure(name)(ab.Counts.of(numbers))
    if expected is None:
        assert isinstance(score, ab.Undefined)
        assert score.reason
    else:
        assert score == pytest.approx(float(expected), rel=1e-13, abs=1e-15)


def test_clef_2009_best_run_step_by_step() -> None:
    # 237 right, 156 wrong, 107 blank of 500: (237 + 107 · 237/500) / 500
    assert ab.measure("c@1")(ab.Counts(237, 156, unsplit=107)) == pytest.approx(
        float((237 + 107 * Fraction(237, 500)) / 500)
    )


SPLIT = [name for name, d in definitions("counts").items() if d.needs_candidates]


@pytest.mark.parametrize("name", SPLIT)
def test_unknown_candidates_leave_no_score(name: str) -> None:
    score = ab.measure(name)(ab.Counts(right=3, wrong=2, unsplit=4))
    assert isinstance(score, ab.Undefined)
    assert "not known" in score.reason


def test_which_measures_look_at_candidates() -> None:
    assert set(SPLIT) == {
        *("forced-accuracy", "correctly-discarded", "qa-rej-accuracy", "qa-performance"),
        *("estimated-qa-performance", "validation-recall", "validation-F"),
        *("discard-recall", "discard-F", "over-abstention", "under-abstention"),
    }


@pytest.mark.parametrize("name", REFERENCE)
def test_no_questions_leave_no_score(name: str) -> None:
    score = ab.measure(name)(ab.Counts())
    assert isinstance(score, ab.Undefined)
    assert score.reason == "there are no questions"
    assert math.isnan(score)


def test_huge_counts_are_exact_enough() -> None:
    big = 10**15
    assert ab.measure("c@1")(ab.Counts(right=big, wrong=big, unsplit=2 * big)) == pytest.approx(
        0.25 * 1.5, rel=1e-15
    )
