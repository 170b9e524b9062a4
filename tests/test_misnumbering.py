"""Ids that name other questions than a run answered are told from slips and from other orders."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstain.features.validate.problems import misnumbered
from tests.snapshots import says

GOLD = [f"1/{test}/{number}" for test in (1, 2, 3) for number in range(1, 6)]


def kinds(ids: list[str], gold: list[str] = GOLD) -> list[str]:
    return [finding.kind for finding in misnumbered(ids, gold)]


def shifted(by: int) -> list[str]:
    return [f"1/{test}/{number + by}" for test in (1, 2, 3) for number in range(1, 6)]


def test_sound_ids_have_no_cause() -> None:
    assert kinds(GOLD) == []
    assert kinds(GOLD[::-1]) == []


def test_every_number_shifted() -> None:
    high, low = misnumbered(shifted(1), GOLD), misnumbered(shifted(-1), GOLD)
    assert [f.kind for f in high + low] == ["shifted ids"] * 2
    says(high[0].message, "1", "3")
    assert "1 too low" in low[0].message
    assert all("align them by position" in f.message for f in high + low)


def test_one_flat_list_shifted() -> None:
    gold = [f"q{n}" for n in range(1, 11)]
    assert kinds([f"q{n}" for n in range(2, 12)], gold) == ["shifted ids"]


def test_a_test_with_gaps() -> None:
    ids = [*GOLD[:5], *(f"1/2/{n}" for n in (1, 2, 4, 5, 7)), *GOLD[10:]]
    found = misnumbered(ids, GOLD)
    assert [(f.kind, f.at, f.tests) for f in found] == [("renumbered test", 7, ("1/2",))]
    says(found[0].message, "'1/2'", "5", "4", "3")


def test_every_test_with_one_id() -> None:
    found = misnumbered([f"1/1/{n}" for _ in range(3) for n in range(1, 6)], GOLD)
    assert [(f.kind, f.at) for f in found] == [("repeated test", 5)]
    says(found[0].message, "3", "'1/1'")


def test_ids_of_another_kind() -> None:
    assert kinds([f"x/{whole}" for whole in GOLD]) == ["other ids"]
    assert kinds([f"x/{whole}" for whole in GOLD[1:]]) == []


def test_a_slip_is_no_renumbering() -> None:
    assert kinds([*GOLD[:4], "1/1/55", *GOLD[5:]]) == []
    assert kinds([*GOLD[:2], "1/1/x", *GOLD[3:]]) == []


def test_another_order_with_a_slip_is_no_renumbering() -> None:
    assert kinds([*GOLD[4:0:-1], "1/1/9", *GOLD[5:]]) == []


def test_a_shift_in_a_run_that_lacks_a_test_advises_no_position() -> None:
    found = misnumbered(shifted(1)[5:], GOLD)
    assert [f.kind for f in found] == ["shifted ids"]
    assert "--align position" not in found[0].message


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.text("123/q", max_size=6), max_size=20), st.lists(st.text("12/q"), min_size=1))
def test_any_ids_are_looked_at_without_a_fault(ids: list[str], gold: list[str]) -> None:
    for finding in misnumbered(ids, gold):
        assert 0 <= finding.at < len(ids)
