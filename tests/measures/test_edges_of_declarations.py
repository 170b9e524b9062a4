"""Declarations at their edges: bounds that meet, texts that are derived, places, empty pools."""

from __future__ import annotations

import numpy as np
import pytest

import abstain as ab
from abstain.errors import UsageError
from abstain.judging.answers import answers_of
from abstain.measures import trec_names
from abstain.measures.gains import _tops
from abstain.measures.ranked_lists import Pool
from abstain.stats import randomisation
from abstain.stats.hypotheses import signed_gaps
from abstain.stats.randomisation import _few, _likely, swappable


def test_trec_evals_names_have_places_without_a_gap() -> None:
    places = [own.place for own, _ in trec_names.named().values()]
    places += [place for place, _ in trec_names.TEXTS.values()]
    assert sorted(places) == list(range(len(places)))


@pytest.mark.parametrize("t", ["1", "1.5", "2", "-0.1"])
def test_a_chance_that_makes_answering_pay_is_below_1(t: str) -> None:
    with pytest.raises(UsageError, match="S"):
        ab.measure(f"S(t={t})")
    ab.measure("S(t=0.999)")


def test_differences_that_only_rounding_tells_apart_are_ties() -> None:
    found = signed_gaps(np.array([1.0, 0.5, 0.5 + 3e-10, 0.5 + 3e-9, 4e-10, np.nan]))
    assert found[1] == found[2] != found[3]
    assert found[4] == 0
    assert len(found) == 5


def test_a_query_without_a_judged_document_has_no_top_grade() -> None:
    pool = Pool(offsets=np.array([0, 2, 2, 3]), grade=np.array([3.0, 1.0, 2.0]), top=3.0)
    assert _tops(pool).tolist() == [3, -1, 2]


def test_what_was_left_blank_is_no_answer_though_a_candidate_is_right() -> None:
    codes = np.array([0, 1, 2, 3], np.uint8)
    found = answers_of(codes, np.array([0.4, 0.3, 0.2, 0.1]))
    assert found.right.tolist() == [True, False, True, False]
    assert found.given is not None
    assert found.given.tolist() == [True, True, False, False]


def test_as_many_states_as_are_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.array([[4, 3, 2], [5, 4, 1], [2, 2, 3]])
    swaps = swappable(table)
    states = len(_likely(swaps[0] + swaps[1])) * len(_likely(swaps[1] + swaps[2]))
    for most, few in ((states, True), (states - 1, False)):
        monkeypatch.setattr(randomisation, "EXACT_STATES", most)
        assert _few(ab.measure("c@1"), table) is few
