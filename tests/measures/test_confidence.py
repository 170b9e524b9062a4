"""Measures of confidence: by hand, against slow loops and scikit-learn, identities, no order."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.measures.answers import Answers, Groups
from tests.measures.confidence_reference import REFERENCE, TOLERANCE, Answer
from tests.snapshots import refuses

few = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5, 2 / 3, 0.9, 1.0])
answers = st.lists(st.tuples(st.integers(0, 1), few), min_size=1, max_size=6)
with_gaps = st.lists(st.tuples(st.integers(0, 1), st.none() | few), min_size=1, max_size=6)
NEEDS_ALL = {"K1", "K"}


def score(name: str, own: list[Answer], n: int | None = None) -> float:
    item: Any = ab.measure(name)
    right = [r for r, _ in own]
    sure = [math.nan if s is None else s for _, s in own]
    return item(right, sure, questions=len(own) if n is None else n)  # type: ignore[no-any-return]


def test_every_measure_has_a_slow_reference() -> None:
    assert {ab.measure(name).name for name in REFERENCE} == set(ab.list_measures("confidence"))


@pytest.mark.parametrize("name", REFERENCE)
def test_names_round_trip(name: str) -> None:
    assert str(ab.measure(name)) == name
    assert ab.measure(str(ab.measure(name))) == ab.measure(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCE)
@given(own=with_gaps, blank=st.integers(0, 3))
def test_against_slow_reference(name: str, own: list[Answer], blank: int) -> None:
    n = len(own) + blank
    value = score(name, own, n)
    if isinstance(value, ab.Undefined):
        right, sure = {r for r, _ in own}, {s for _, s in own} - {None}
        assert value.reason
        stated = {r for r, s in own if s is not None}
        odd = not sure or len(right) == 1 or len(stated) == 1 or len(sure) == 1
        some = None in {s for _, s in own}
        assert odd or (some and name in NEEDS_ALL) or "coverage" in name or "HLE" in name
        return
    expected = REFERENCE[name](own, n)
    assert expected is not None
    assert value == pytest.approx(expected, rel=1e-12, abs=TOLERANCE.get(name, 1e-12))
    low, high = ab.measure(name).bounds
    assert low - 1e-12 <= value <= high + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCE)
@given(own=answers, seed=st.randoms(use_true_random=False))
def test_the_order_of_rows_never_changes_a_value(name: str, own: list[Answer], seed: Any) -> None:
    """Heavy ties: eight levels for up to 30 answers, shuffled; the very same bits."""
    own = own * 5
    shuffled = list(own)
    seed.shuffle(shuffled)
    one, two = score(name, own), score(name, shuffled)
    assert one == two or (math.isnan(one) and math.isnan(two)) or one == pytest.approx(two, 1e-14)


def test_a_naive_sum_does_depend_on_row_order() -> None:
    """What peers do: sort by confidence, let the order of rows decide ties."""
    own = [(1, 0.5), (0, 0.5), (1, 0.5)]
    naive = set()
    for order in permutations(own):
        right = [r for r, _ in sorted(order, key=lambda a: -a[1])]
        risks = [1 - sum(right[: i + 1]) / (i + 1) for i in range(3)]
        naive.add(round(sum(risks) / 3, 12))
    assert len(naive) == 3
    assert score("AURC", [*own]) == pytest.approx(sum(naive) / 3)
    assert len({score("AURC", list(order)) for order in permutations(own)}) == 1


# --------------------------------------------------------------------------- scikit-learn


@pytest.mark.slow
@given(
    own=st.lists(st.tuples(st.integers(0, 1), st.floats(0, 1) | few), min_size=2, max_size=60).map(
        lambda rows: [*rows, (1, 0.3), (0, 0.6)]
    )
)
def test_against_scikit_learn(own: list[Answer]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    right, sure = np.array([r for r, _ in own]), np.array([s for _, s in own], dtype=float)
    theirs = {
        "AUROC": metrics.roc_auc_score(right, sure),
        "AUPR-success": metrics.average_precision_score(right, sure),
        "AUPR-error": metrics.average_precision_score(1 - right, -sure),
        "Brier": metrics.brier_score_loss(right, sure),
        "log-score": metrics.log_loss(right, sure),
    }
    for name, value in theirs.items():
        assert score(name, own) == pytest.approx(value, rel=1e-9, abs=1e-12), name


# -------------------------------------------------------------------------------- by hand


def test_cws_by_hand() -> None:
    # right, right, wrong, right: (1/1 + 2/2 + 2/3 + 3/4)/4
    own: list[Answer] = [(1, 0.9), (1, 0.8), (0, 0.7), (1, 0.6)]
    assert score("CWS", own) == pytest.approx((1 + 1 + 2 / 3 + 3 / 4) / 4)
    # a fifth question left blank: one more to divide by
    assert score("CWS", own, 5) == pytest.approx((1 + 1 + 2 / 3 + 3 / 4) / 5)


def test_k1_by_hand() -> None:
    own: list[Answer] = [(1, 0.9), (0, 0.4), (1, 0.5)]
    assert score("K1", own, 5) == pytest.approx((0.9 - 0.4 + 0.5) / 5)


def test_k_by_hand() -> None:
    """a: three answers known, four given (right, wrong, a repeat, right); b: one of two."""
    item: Any = ab.measure("K")
    value = item(
        [1, 0, 1, 1, 1],
        [0.9, 0.5, 0.8, 0.6, 1.0],
        question=["a", "a", "a", "a", "b"],
        repeat=[0, 0, 1, 0, 0],
        known=[3, 2],
        questions=4,
    )
    a = (0.9 - 0.5 + 0 + 0.6) / 4
    b = 1.0 / 2
    assert value == pytest.approx((a + b) / 4)


def test_known_goes_with_its_question() -> None:
    """z has four known answers and comes first, a has one: (1/4 + 1/1)/2."""
    item: Any = ab.measure("K")
    for known in ([4, 1], {"a": 1, "z": 4, "not asked": 9}):
        assert item([1, 1], [1, 1], question=["z", "a"], known=known) == pytest.approx(5 / 8)
    # one right answer is known, two right ones are given: the less sure one repeats it
    assert item([1, 1], [0.5, 1], question=[7, 7], known=[1]) == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"question": [1, 1], "known": [-3]}, ("1",)),
        ({"question": [1, 1], "known": [1.5]}, ()),
        ({"question": [1, 2], "known": {1: 1}}, ("2",)),
        ({"question": [1, 1], "known": [1, 1]}, ("1",)),
        ({"question": [1]}, ("2",)),
        ({"repeat": [1]}, ("2",)),
        ({"rank": [0, 1]}, ("1",)),
        ({"rank": ["first", "last"]}, ()),
    ],
)
def test_what_does_not_fit_is_refused(more: dict[str, Any], said: tuple[str, ...]) -> None:
    item: Any = ab.measure("K")
    with refuses(ab.UsageError, *said):
        item([1, 1], [1, 0.5], **more)


def test_mrr_by_hand() -> None:
    item: Any = ab.measure("MRR")
    # a: right second; b: right among two tied at the top, so second; c: never right
    value = item(
        [0, 1, 1, 0, 0],
        [0.9, 0.5, 0.7, 0.7, 0.2],
        question=["a", "a", "b", "b", "c"],
    )
    assert value == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)


# ----------------------------------------------------------------------------- identities


mixed = answers.map(lambda own: [*own, (1, 0.7), (0, 0.3)])


@given(own=mixed)
def test_augrc_from_auroc_and_accuracy(own: list[Answer]) -> None:
    """Traub et al. 2024: AUGRC = (1 − AUROC)·a·(1 − a) + (1 − a)²/2."""
    a = sum(r for r, _ in own) / len(own)
    expected = (1 - score("AUROC", own)) * a * (1 - a) + (1 - a) ** 2 / 2
    assert score("AUGRC", own) == pytest.approx(expected, abs=1e-12)


@given(right=st.integers(1, 30), wrong=st.integers(1, 30), tied=st.booleans())
def test_a_perfect_order_costs_nothing(right: int, wrong: int, tied: bool) -> None:
    own: list[Answer] = [(1, 0.8 if tied else 0.6 + i / 100) for i in range(right)]
    own += [(0, 0.2 if tied else i / 100) for i in range(wrong)]
    assert score("E-AURC", own) == pytest.approx(0, abs=1e-12)
    assert score("PRR", own) == pytest.approx(1)
    assert score("AUROC", own) == 1


@given(own=mixed)
def test_a_random_order_is_the_middle(own: list[Answer]) -> None:
    equal: list[Answer] = [(r, 0.5) for r, _ in own]
    assert score("AURC", equal) == pytest.approx(sum(1 - r for r, _ in own) / len(own))
    assert score("PRR", equal) == pytest.approx(0, abs=1e-12)
    assert score("AUROC", equal) == 0.5


@given(own=mixed)
def test_cws_of_an_order_reversed(own: list[Answer]) -> None:
    """C'(i) = R − C(n − i); and CWS = 1 − AURC where nothing is blank."""
    n, right = len(own), sum(r for r, _ in own)
    distinct: list[Answer] = [(r, (i + 1) / (n + 2)) for i, (r, _) in enumerate(own)]
    reverse: list[Answer] = [(r, 1 - s) for r, s in distinct if s is not None]
    order = [r for r, _ in sorted(distinct, key=lambda a: -(a[1] or 0))]
    expected = sum((right - sum(order[: n - i])) / i for i in range(1, n + 1)) / n
    assert score("CWS", reverse) == pytest.approx(expected)
    assert score("CWS", distinct) == pytest.approx(1 - score("AURC", distinct))


@given(own=mixed)
def test_rejection_with_the_rejected_put_right_is_gini(own: list[Answer]) -> None:
    wrong = sum(1 - r for r, _ in own) / len(own)
    ratio = (wrong / 2 - score("AUGRC", own)) / (wrong / 2 - wrong**2 / 2)
    assert ratio == pytest.approx(2 * score("AUROC", own) - 1, abs=1e-12)


@given(own=mixed)
def test_k_is_k1_for_one_answer_a_question(own: list[Answer]) -> None:
    assert score("K", own) == pytest.approx(score("K1", own))


# ------------------------------------------------------------------------------ edge cases


@pytest.mark.parametrize("name", REFERENCE)
@pytest.mark.parametrize(
    "own",
    [
        [],
        [(1, 0.7)],
        [(0, 0.7)],
        [(1, None)],
        [(1, 0.5), (0, 0.5), (0, 0.5)],
        [(1, 0.1), (1, 0.9)],
        [(0, 0.1), (0, 0.9)],
        [(1, 0.0), (0, 1.0)],
        [(1, None), (0, 0.4)],
        [(1, None), (0, None)],
    ],
)
def test_few_equal_all_right_all_wrong_missing(name: str, own: list[Answer]) -> None:
    value = score(name, own, max(len(own), 2))
    if math.isnan(value):
        assert isinstance(value, ab.Undefined)
        assert len(value.reason) > 10
    else:
        low, high = ab.measure(name).bounds
        assert low - 1e-12 <= value <= high + 1e-12


def test_candidates_behind_blanks_count_for_the_order_alone() -> None:
    own = Answers.of([1, 0, 1], [0.9, 0.8, 0.1], submitted=[True, True, False])
    item: Any = ab.measure("CWS")
    assert item(own) == pytest.approx((1 + 1 / 2) / 3)
    item = ab.measure("AURC")
    assert item(own) == pytest.approx((0 + 1 / 2 + 1 / 3) / 3)


def test_many_at_once() -> None:
    item: Any = ab.measure("AUROC")
    right = np.array([[1, 0, 1], [0, 1, 1]])
    sure = np.array([[0.9, 0.2, 0.5], [0.9, 0.2, 0.5]])
    assert item(right, sure).tolist() == [1.0, 0.0]


@given(
    right=st.lists(st.booleans(), min_size=1, max_size=40),
    data=st.data(),
)
def test_groups_keep_every_bit(right: list[bool], data: st.DataObject) -> None:
    """Neighbouring doubles are two groups: nothing of a confidence is lost in sorting."""
    level = st.sampled_from([0.0, 5e-324, 0.1, math.nextafter(0.1, 1), 1.0, math.nan])
    sure = data.draw(st.lists(level, min_size=len(right), max_size=len(right)))
    groups = Groups.of(right, sure)
    stated = sorted({s for s in sure if not math.isnan(s)}, reverse=True)
    expected = stated + ([math.nan] if any(map(math.isnan, sure)) else [])
    np.testing.assert_array_equal(groups.level, expected)
    for at, value in enumerate(groups.level):
        kept = [r for r, s in zip(right, sure, strict=True) if math.isnan(value) or s >= value]
        assert (groups.answered[at], groups.right[at]) == (len(kept), sum(kept))


@pytest.mark.parametrize(
    ("right", "sure", "said"),
    [
        ([1], [1.5], "from 0 to 1"),
        ([1, 0], [0.5], "confidence must be 2 numbers"),
        ([2], [0.5], "right must be"),
        (["x"], [0.5], "right must be"),
    ],
)
def test_bad_input_is_refused(right: Any, sure: Any, said: str) -> None:
    item: Any = ab.measure("AURC")
    with pytest.raises(ab.UsageError) as caught:
        item(right, sure)
    assert said in str(caught.value)


def test_counts_are_not_enough() -> None:
    with pytest.raises(ab.UsageError, match="how confident it is"):
        ab.measure("AURC")(ab.Counts(right=3, wrong=1))


@pytest.mark.parametrize("marks", [[True, True, False], [1, 1, 0], np.array([1.0, 1.0, 0.0])])
def test_marks_may_be_ones_and_zeros(marks: Any) -> None:
    right, sure = [1, 1, 0], [0.9, 0.8, 0.5]
    item: Any = ab.measure("CWS")
    assert item(right, sure, submitted=marks) == pytest.approx(2 / 3)
    for name in ("K", "K1"):
        item = ab.measure(name)
        assert item(right, sure, submitted=marks) == pytest.approx((0.9 + 0.8) / 3)
        with refuses(ab.AbstainError):
            item(right, sure, submitted=[2, 1, 0])


def test_candidates_behind_blanks_are_not_handed_in() -> None:
    """Whatever else is known of the answers: the third is a candidate only."""
    right, sure, given = [1, 1, 0], [0.9, 0.8, 0.5], [True, True, False]
    k: Any = ab.measure("K")
    assert k(right, sure, submitted=given, repeat=[0, 1, 0]) == pytest.approx(0.9 / 3)
    assert k(right, sure, submitted=given, known=[3, 3, 3]) == pytest.approx((0.9 + 0.8) / 3 / 3)
    assert k(right, sure, submitted=given, question=["a", "b", "c"]) == pytest.approx(1.7 / 3)
    known = {"a": 1, "b": 2, "c": 1}
    assert k(right, sure, submitted=given, question=["a", "b", "c"], known=known) == pytest.approx(
        (0.9 + 0.8 / 2) / 3
    )
    mrr: Any = ab.measure("MRR")
    assert mrr([0, 1, 1], [0.9, 0.8, 0.5], submitted=[0, 1, 1], question=["a", "a", "b"]) == 1.0
