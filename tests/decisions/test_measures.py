"""Measures of decisions: by hand, against slow references and peers, and what holds for all."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.measures import definitions
from abstain.stats.intervals import interval
from tests.decisions.reference import REFERENCE, Question, questions_of, trust_align
from tests.snapshots import refuses

# Of 10 that can be answered 5 right, 3 wrong, 2 declined; of 5 that cannot 1 answered, 4 declined.
TABLE = ab.Decisions(right=5, wrong=3, wrongly_declined=2, wrongly_answered=1, rightly_declined=4)
BY_HAND = {
    "over-refusal": 2 / 10,
    "under-refusal": 1 / 5,
    "abstention-precision": 4 / 6,
    "abstention-recall": 4 / 5,
    "abstention-F1": 2 * (4 / 6) * (4 / 5) / (4 / 6 + 4 / 5),
    "grounded-refusal-F1": (8 / 11 + 2 * (8 / 9) * (8 / 10) / (8 / 9 + 8 / 10)) / 2,
    "decision-accuracy": 12 / 15,
    "balanced-accuracy": (8 / 10 + 4 / 5) / 2,
    "decision-J": 8 / 10 + 4 / 5 - 1,
}
NAMES = list(definitions("decisions"))
small = st.integers(0, 9)
tables = st.tuples(small, small, small, small, small).filter(any)


def test_every_measure_has_a_reference_and_a_worked_case() -> None:
    assert list(BY_HAND) == list(REFERENCE) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_by_hand(name: str) -> None:
    assert ab.measure(name)(TABLE) == pytest.approx(BY_HAND[name], abs=1e-15)


@pytest.mark.parametrize("name", NAMES)
@given(numbers=tables)
def test_against_the_slow_reference(name: str, numbers: tuple[int, ...]) -> None:
    item = ab.measure(name)
    expected, score = REFERENCE[name](questions_of(*numbers)), item(ab.Decisions(*numbers))
    if expected is None:
        assert isinstance(score, ab.Undefined)
        assert score.reason
    else:
        low, high = item.bounds
        assert score == pytest.approx(float(expected), abs=1e-14)
        assert low - 1e-12 <= score <= high + 1e-12


def confusion(run: list[Question]) -> tuple[list[int], list[int]]:
    """Whether declining was due and whether it was done, as scikit-learn takes them."""
    return [int(not can) for can, _ in run], [int(did == "D") for _, did in run]


@given(numbers=tables.filter(lambda t: t[0] + t[1] + t[2] and t[3] + t[4] and t[2] + t[4]))
def test_as_scikit_learn_and_abstentionbench(numbers: tuple[int, ...]) -> None:
    """AbstentionBench takes precision, recall and F1 of scikit-learn; declining is positive."""
    sk = pytest.importorskip("sklearn.metrics")
    due, did = confusion(questions_of(*numbers))
    theirs = {
        "abstention-precision": sk.precision_score(due, did),
        "abstention-recall": sk.recall_score(due, did),
        "abstention-F1": sk.f1_score(due, did),
        "decision-accuracy": sk.accuracy_score(due, did),
        "balanced-accuracy": sk.balanced_accuracy_score(due, did),
        "decision-J": sk.balanced_accuracy_score(due, did, adjusted=True),
    }
    table = ab.Decisions(*numbers)
    assert {k: ab.measure(k)(table) for k in theirs} == pytest.approx(theirs, abs=1e-12)


@given(numbers=tables)
def test_as_trust_align_where_both_f1_have_a_denominator(numbers: tuple[int, ...]) -> None:
    score = ab.measure("grounded-refusal-F1")(ab.Decisions(*numbers))
    if not math.isnan(score):
        assert score == pytest.approx(trust_align(questions_of(*numbers)), abs=1e-12)


@given(numbers=tables)
def test_rates_add_up(numbers: tuple[int, ...]) -> None:
    table = ab.Decisions(*numbers)
    over, under, recall, j = (
        ab.measure(name)(table)
        for name in ("over-refusal", "under-refusal", "abstention-recall", "decision-J")
    )
    if not math.isnan(j):
        assert j == pytest.approx(1 - over - under, abs=1e-12)
        assert recall == pytest.approx(1 - under, abs=1e-12)


@given(rows=st.lists(tables, min_size=1, max_size=6))
def test_one_or_many_at_once_agree(rows: list[tuple[int, ...]]) -> None:
    many = ab.DecisionsArray.of(ab.Decisions(*row) for row in rows)
    assert [many[at].to_dict() for at in range(len(many))] == [
        ab.Decisions(*row).to_dict() for row in rows
    ]
    for name in NAMES:
        item = ab.measure(name)
        one_by_one = [item(ab.Decisions(*row)) for row in rows]
        np.testing.assert_array_equal(item(many), one_by_one, err_msg=name)


@pytest.mark.parametrize("name", NAMES)
@given(numbers=tables)
def test_a_better_decision_never_costs(name: str, numbers: tuple[int, ...]) -> None:
    """An answer where one was due, a refusal where that was: up in what is high, down in rates."""
    item, sign = ab.measure(name), 1 if ab.measure(name).higher_is_better else -1
    r, w, d, a, n = numbers
    better = [(r + 1, w, d - 1, a, n)] * (d > 0) + [(r, w, d, a - 1, n + 1)] * (a > 0)
    before = item(ab.Decisions(*numbers))
    for after in (item(ab.Decisions(*row)) for row in better):
        if not math.isnan(before) and not math.isnan(after):
            assert sign * (after - before) >= -1e-12


@pytest.mark.parametrize("name", NAMES)
def test_whether_an_answer_is_right_has_no_influence(name: str) -> None:
    other = ab.Decisions(0, 8, 2, 1, 4)
    assert ab.measure(name)(other) == ab.measure(name)(TABLE)


def test_what_is_taken_is_not_mistaken() -> None:
    counts = ab.Counts(right=3, wrong=1)
    with refuses(ab.UsageError, "Decisions", "Counts"):
        ab.measure("over-refusal")(counts)
    with refuses(ab.UsageError, "Counts", "Decisions"):
        ab.measure("c@1")(TABLE)
    with refuses(ab.UsageError, "DecisionsArray"):
        ab.measure("c@1")(ab.DecisionsArray.of([TABLE]))


@pytest.mark.parametrize(("method", "peer"), [("wilson", "wilson"), ("clopper-pearson", "exact")])
@pytest.mark.parametrize(
    ("name", "successes", "trials"),
    [("over-refusal", 2, 10), ("under-refusal", 1, 5), ("abstention-precision", 4, 6)],
)
def test_intervals_of_rates_as_scipy(
    name: str, successes: int, trials: int, method: Any, peer: Any
) -> None:
    stats = pytest.importorskip("scipy.stats")
    found = interval(ab.measure(name), TABLE, method=method)
    theirs = stats.binomtest(successes, trials).proportion_ci(0.95, method=peer)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_names_that_people_know() -> None:
    known = {
        "abstention_F": "abstention-F1",
        "F1-GR": "grounded-refusal-F1",
        "false refusal rate": "over-refusal",
        "Youden-J": "decision-J",
        "omniscience-index": "UF",
        "discard-F1": "discard-F",
    }
    assert {text: str(ab.measure(text)) for text in known} == known
    for name, other in (
        ("discard-recall", "abstention-recall"),
        ("over-abstention", "over-refusal"),
        ("under-abstention", "under-refusal"),
        ("abstention-F1", "discard-F"),
        ("UF", "100 times"),
        ("hallucination-rate", "wrong-rate"),
    ):
        assert other in " ".join(str(ab.explain(name)).split())
