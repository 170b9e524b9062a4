"""Gains of grades as trec_eval takes them, where they are no whole numbers or not above 0."""

from __future__ import annotations

import math

import pytest

import abstain as ab
from abstain.measures.ranked_lists import one
from abstain.measures.trec_eval import figures, listed_and_ideal, sorted_levels, values_of


@pytest.mark.parametrize(
    ("top", "gains", "levels"),
    [
        (-1, {}, []),
        (0, {}, [(0, 0.0)]),
        (2, {}, [(0, 0.0), (1, 1.0), (2, 2.0)]),
        (2, {1: 3.0}, [(0, 0.0), (2, 2.0), (1, 3.0)]),
        # differences below 1 are none, so what is said first stays first
        (1, {1: 0.5}, [(1, 0.5), (0, 0.0)]),
        (0, {3: 9.0}, [(0, 0.0), (3, 9.0)]),
    ],
)
def test_levels_by_rising_gain(
    top: int, gains: dict[int, float], levels: list[tuple[int, float]]
) -> None:
    assert sorted_levels(top, gains) == levels


@pytest.mark.parametrize(
    ("gains", "ideal"),
    [
        (None, [2, 1]),
        ({1: 3.0}, [3, 2]),
        ({1: 0.0}, [2]),
        ({2: 0.0}, [1]),
        ({1: 0.0, 2: 0.0}, []),
        ({1: -1.0}, [2]),
        ({1: 0.0, 2: 0.5}, []),  # the level that counts as the highest, 0, has no gain
        ({0: 5.0}, [5, 5, 2, 1]),
    ],
)
def test_the_ideal_list_ends_at_its_first_gain_that_is_not_above_0(
    gains: dict[int, float] | None, ideal: list[float]
) -> None:
    rankings = one([1, 0, 0, 2], [2, 1], top=2)
    listed, found = listed_and_ideal(rankings, gains)
    assert found.grade.tolist() == ideal
    assert found.offsets.tolist() == [0, len(ideal)]
    assert listed.tolist() == [(gains or {}).get(g, g) for g in (1, 0, 0, 2)]


def test_rndcg_without_a_gain_is_0_over_0_and_0_without_a_relevant_document() -> None:
    """As m_Rndcg.c of trec_eval: `sum / num_changed_ideal_gain`, and `num_rel == 0` before it."""
    qrels = {"a": {"d1": 1}, "b": {"d1": 0}}
    lists = ab.read_rankings(qrels, {"r": {key: {"d1": 2.0, "d2": 1.0} for key in qrels}}).lists
    (figure,), (plain,), (other,) = (
        figures("Rndcg", "1=0"),
        figures("Rndcg"),
        figures("ndcg", "1=0"),
    )
    assert values_of(figure, lists, 1, 0) == pytest.approx([math.nan, 0], nan_ok=True)
    assert values_of(plain, lists, 1, 0).tolist() == [1, 0]
    assert values_of(other, lists, 1, 0).tolist() == [0, 0]


def test_each_query_has_its_own_ideal_list() -> None:
    """The highest grade of a query says which levels it has; one without judgments has none."""
    qrels = {"a": {"d1": 1}, "b": {"d1": 2, "d2": 0}, "c": {"d1": 0}}
    run = {"a": {"d1": 1.0}, "b": {"d2": 2.0, "d1": 1.0}, "c": {"d1": 1.0}}
    lists = ab.read_rankings(qrels, {"r": run}).lists
    _, ideal = listed_and_ideal(lists, {1: 0.5})
    assert ideal.offsets.tolist() == [0, 0, 1, 1]
    assert ideal.grade.tolist() == [2]
