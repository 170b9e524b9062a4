"""Ids that name other questions than a run answered are told from slips and from other orders."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstain.features.validate.problems import misnumbered

GOLD = [f"1/{test}/{number}" for test in (1, 2, 3) for number in range(1, 6)]


def shifted(by: int) -> list[str]:
    return [f"1/{test}/{number + by}" for test in (1, 2, 3) for number in range(1, 6)]


def test_sound_ids_have_no_cause() -> None:
    assert misnumbered(GOLD, GOLD) == []
    assert misnumbered(GOLD[::-1], GOLD) == []
    assert misnumbered([*GOLD[5:10], *GOLD[:5], *GOLD[10:]], GOLD) == []


def test_every_number_shifted() -> None:
    assert misnumbered(shifted(1), GOLD) == misnumbered(shifted(-1), GOLD) == list(range(15))


def test_one_flat_list_shifted() -> None:
    gold = [f"q{n}" for n in range(1, 11)]
    assert misnumbered([f"q{n}" for n in range(2, 12)], gold) == list(range(10))


def test_a_test_with_gaps() -> None:
    ids = [*GOLD[:5], *(f"1/2/{n}" for n in (1, 2, 4, 5, 7)), *GOLD[10:]]
    assert misnumbered(ids, GOLD) == [7, 8, 9]


def test_every_test_with_one_id() -> None:
    ids = [f"1/1/{n}" for _ in range(3) for n in range(1, 6)]
    assert misnumbered(ids, GOLD) == list(range(5, 15))


def test_ids_of_another_kind() -> None:
    assert misnumbered([f"x/{whole}" for whole in GOLD], GOLD) == list(range(15))
    assert misnumbered([f"x/{whole}" for whole in GOLD[1:]], GOLD) == []


def test_a_slip_is_no_renumbering() -> None:
    assert misnumbered([*GOLD[:4], "1/1/55", *GOLD[5:]], GOLD) == []
    assert misnumbered([*GOLD[:2], "1/1/x", *GOLD[3:]], GOLD) == []


def test_another_order_with_a_slip_is_no_renumbering() -> None:
    assert misnumbered([*GOLD[4:0:-1], "1/1/9", *GOLD[5:]], GOLD) == []


def test_a_run_that_lacks_a_test_does_not_fit_in_order() -> None:
    assert misnumbered(shifted(1)[5:], GOLD) == []


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.text("123/q", max_size=6), max_size=20), st.lists(st.text("12/q"), min_size=1))
def test_any_ids_are_looked_at_without_a_fault(ids: list[str], gold: list[str]) -> None:
    assert all(0 <= at < len(ids) for at in misnumbered(ids, gold))
