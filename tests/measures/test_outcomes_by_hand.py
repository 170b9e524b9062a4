"""Counts, kinds of blanks and policies, written out case by case."""

from __future__ import annotations

import dataclasses
import math
import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest

from abstain.errors import UsageError
from abstain.outcomes import (
    CANDIDATES,
    CODES,
    COUNTED,
    EMPTY,
    EXCLUDED,
    KIND_OF_WORD,
    KINDS,
    MOST,
    OUTCOMES,
    UNSPLIT,
    WITHHELD,
    Counts,
    CountsArray,
    Effect,
    Policy,
    Undefined,
    Why,
    blank_kind,
    blanks_by_reason,
    reasons_named,
    stated_effects,
)
from tests.snapshots import refuses, says

SIX = Counts.of([1, 2, 4, 8, 16, 32])
NAMES = ("right", "wrong", "unanswered_right", "unanswered_wrong", "unanswered_empty", "unsplit")


def test_counts_add_up() -> None:
    many = CountsArray.of([SIX, Counts(), Counts(5)])
    for own in (SIX, many[0]):
        assert (own.answered, own.unanswered, own.n) == (3, 60, 63)
    assert (many.n.tolist(), many.answered.tolist()) == ([63, 0, 5], [3, 0, 5])
    assert (many.unanswered.tolist(), len(many)) == ([60, 0, 0], 3)
    for place, name in enumerate(NAMES):
        assert getattr(many, name).tolist() == [2**place, 0, 5 if place == 0 else 0]
        assert getattr(Counts(), name) == 0
    assert CountsArray.of([]).table.shape == (0, 6)
    assert many[1] == Counts()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (True, ()),
        ("3", ("'3'",)),
        (np.array([1]), ()),
        (MOST + 1, ("0", "2", "53")),
        (-MOST - 1, ("0", "2", "53")),
        (10**400, ("0", "2", "53")),
        (-MOST, ("0",)),
        (-1, ("0",)),
        (math.nan, ("0",)),
        (math.inf, ("0",)),
        (2.0 * MOST, ("2", "53")),
    ],
)
def test_what_is_no_count(value: Any, said: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        Counts(right=value)
    says(str(caught.value), *said)
    assert Counts(right=MOST, wrong=float(MOST), unsplit=0).n == 2 * MOST


@pytest.mark.parametrize(
    "value", [0, 0.5, MOST, float(MOST), np.int8(3), np.array(3), np.float64(2)]
)
def test_what_is_a_count(value: Any) -> None:
    own = Counts(unsplit=value)
    assert own.unsplit == value
    assert type(own.unsplit) in (int, float)


def test_an_array_of_counts_holds_six_numbers_each() -> None:
    for shape in ((), (5,), (7,), (6, 2)):
        with refuses(UsageError, "6"):
            CountsArray(np.zeros(shape))
    with pytest.raises(UsageError, match="counts must be numbers"):
        CountsArray(np.full((1, 6), "1"))
    for kind, wide in (("u1", "int64"), ("i4", "int64"), ("?", "int64"), ("f4", "float64")):
        assert CountsArray(np.ones((2, 6), kind)).table.dtype == wide
    assert CountsArray(np.full(6, 200, np.uint8)).n == 1200


def test_counts_as_a_dictionary_and_back() -> None:
    split = Counts.of([1, 2, 4, 8, 16])
    assert split.to_dict() == dict(zip(OUTCOMES, (1, 2, 4, 8, 16), strict=True))
    unsplit = {"right": 1, "wrong": 2, **dict.fromkeys(OUTCOMES[2:]), "unanswered": 60}
    assert SIX.to_dict() == unsplit
    assert Counts.from_dict(split.to_dict()) == split
    assert Counts.from_dict(unsplit) == Counts(1, 2, unsplit=60)
    assert Counts.from_dict({"wrong": 3}) == Counts(wrong=3)
    assert Counts.from_dict({"right": None, "unanswered": 0}) == Counts()
    assert Counts.from_dict({"unanswered_wrong": 2, "unanswered": 5}) == Counts(unsplit=5)
    with refuses(UsageError, "1", "2"):
        Counts.from_dict({"unanswered_wrong": 2, "unanswered": 1})


WAYS = [(None, None, 0), ("blank", None, 0), ("right", 0, 1), ("wrong", 1, 1)]
"""What declining becomes (None: what the policy says), and the answer that was withheld."""


def test_each_reason_and_candidate_has_a_kind_of_its_own() -> None:
    kinds = [blank_kind(why, candidate) for why, candidate in product(Why, CANDIDATES)]
    assert kinds == list(range(2, WITHHELD))
    assert KINDS == WITHHELD + 1
    assert CODES == 2 * KINDS
    assert blank_kind(Why.EMPTY) == blank_kind(Why.EMPTY, "unknown") == 2 + 4 + 3
    assert blank_kind(Why.EMPTY, "empty") == 2 + 4 + 2
    assert [KIND_OF_WORD[word] for word in OUTCOMES] == [0, 1, 2, 3, 4]
    assert KIND_OF_WORD["unanswered"] == KIND_OF_WORD["declined"] == 5
    assert [KIND_OF_WORD[why] for why in Why] == list(range(5, WITHHELD, 4))
    assert (EMPTY, UNSPLIT, EXCLUDED) == (4, 5, 6)
    assert tuple(field.name for field in dataclasses.fields(Counts)) == COUNTED


def test_what_a_policy_makes_of_every_kind() -> None:
    policy = Policy.of(["error=excluded", "unscored=unanswered"])
    left = {Why.DECLINED, Why.EMPTY, Why.MISSING, Why.UNSCORED}
    wrong = {Why.UNPARSEABLE, Why.LIMIT}
    one_side = [0, 1]
    for why in Why:
        blank = [2, 3, 4, 5] if why in left else [1] * 4 if why in wrong else [9] * 4
        one_side += blank
    expected = 2 * [*one_side, 0]  # without a word on unanswerable questions both sides are alike
    assert policy.outcomes(excluded=9).tolist() == expected
    assert policy.outcomes(excluded=-1)[:3].tolist() == [0, 1, 2]
    assert policy.outcomes(excluded=-1)[blank_kind(Why.ERROR)] == -1
    once = policy.apply(np.eye(CODES, dtype=np.int64))
    for row, end in zip(once.tolist(), expected, strict=True):
        assert row == [int(place == end) for place in range(6)]


def test_blanks_by_their_reason() -> None:
    counts = np.arange(CODES) + 1
    found = blanks_by_reason(np.stack([counts, 0 * counts]))
    slow = [
        sum(counts[side + blank_kind(why, own)] for side in (0, KINDS) for own in CANDIDATES)
        for why in Why
    ]
    assert found.tolist() == [slow, [0] * len(Why)]
    few = np.array([2, 0, 0, 1, 0, 0, 0, 0, 3])
    assert reasons_named(few) == {"declined": 2, "error": 1, "unanswerable": 3}


@pytest.mark.parametrize(("way", "declined", "withheld"), WAYS)
def test_what_each_way_makes_of_unanswerable_questions(
    way: Any, declined: int | None, withheld: int
) -> None:
    """Only declining and the answer that was withheld change; the other side never does."""
    plain = Policy.of(["empty=wrong"]).outcomes(excluded=9)
    ends = dataclasses.replace(Policy.of(["empty=wrong"]), unanswerable=way).outcomes(excluded=9)
    assert ends[:KINDS].tolist() == plain[:KINDS].tolist()
    expected = plain[:KINDS].copy()
    expected[WITHHELD] = withheld
    for why, candidate in product((Why.DECLINED, Why.EMPTY), CANDIDATES):
        if declined is not None:
            expected[blank_kind(why, candidate)] = declined
    assert ends[KINDS:].tolist() == expected.tolist()


def test_what_a_policy_touches_of_both_sides() -> None:
    counts = np.zeros(CODES, dtype=np.int64)
    counts[[blank_kind(Why.DECLINED), blank_kind(Why.MISSING)]] = 2, 3
    counts[[KINDS + blank_kind(Why.EMPTY), KINDS + blank_kind(Why.MISSING)]] = 4, 5
    as_blanks = {"declined": 2, "empty": 4, "missing": 8}
    apart = {"declined": 2, "missing": 8, "unanswerable": 4}
    for way, touched in ((None, as_blanks), ("blank", as_blanks), ("right", apart)):
        policy = Policy(unanswerable=way)  # type: ignore[arg-type]
        assert reasons_named(policy.touched(counts)) == touched


def test_what_a_caller_may_say_of_blanks() -> None:
    assert stated_effects(None) == {}
    wrong = {Why.ERROR: Effect.WRONG}
    assert stated_effects("error=wrong") == stated_effects(["error=wrong"]) == wrong
    assert stated_effects({"error": "wrong"}) == wrong
    with refuses(UsageError, "3"):
        stated_effects(3)  # type: ignore[arg-type]
    own = Policy.of([" Error = Wrong ", "error=wrong"])
    assert own.effects[Why.ERROR] is Effect.WRONG
    assert pickle.loads(pickle.dumps(own)).to_dict() == own.to_dict()
    assert own.to_dict()["limit"] == "wrong"
    for texts, said in (
        (["error"], r"a policy reads KIND=EFFECT, such as error=wrong \(got 'error'\)"),
        (["error=wrong", "error=stop"], "the policy says both error=wrong and error=stop"),
        (["bored=wrong"], "bored"),
        (["error=right"], "right"),
    ):
        with pytest.raises(UsageError, match=said):
            Policy.of(texts)


def test_a_score_that_does_not_exist_knows_why() -> None:
    own = Undefined("nothing was asked")
    assert math.isnan(own)
    assert (repr(own), own.reason) == ("undefined (nothing was asked)", "nothing was asked")
