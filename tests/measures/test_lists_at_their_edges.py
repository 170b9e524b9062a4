"""Lists in which nothing is judged, queries without a relevant document, lists of some queries."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest

import abstain as ab
from abstain.measures.answers import Groups
from abstain.measures.kinds import RankingMeasure
from abstain.measures.ranked_lists import Listed
from abstain.measures.registry import definitions

QRELS = {"a": {"d1": 1, "d2": 0}, "b": {"d1": 1, "d3": 1}}
NIL = [
    name
    for name, own in definitions("ranking").items()
    if own.leaves_out_nil and any(p.name == "rel" for p in own.parameters)
]


@pytest.mark.parametrize("name", NIL)
def test_without_a_document_of_the_lowest_grade_there_is_no_score(name: str) -> None:
    """Documents of lower grades do not count, though they have a gain."""
    own = definitions("ranking")[name]
    cut = "" if not any(p.cutoff and not p.optional for p in own.parameters) else "@1"
    item: Any = ab.measure(f"{name}(rel=2){cut}")
    lists = ab.read_rankings(
        QRELS, {"r": {"a": {"d1": 2.0, "x": 1.5, "y": 1.0}, "b": {"d3": 1.0}}}
    ).lists
    assert np.isnan(item.values(lists)).all()
    assert item.reasons(lists) == ["the query has no relevant document"] * 2


@pytest.mark.parametrize("listed", [{}, {"x": 2.0, "y": 1.0}])
def test_where_nothing_is_judged_inst_could_still_be_1(listed: dict[str, float]) -> None:
    rankings = ab.read_rankings(QRELS, {"r": {"a": listed, "b": {"d1": 1.0}}})
    residual, score = (
        rankings.values(cast("RankingMeasure", ab.measure(name))).ravel()
        for name in ("INST-residual", "INST")
    )
    assert residual[0] == 1
    assert 0 < residual[1] < 1
    assert score[0] == 0


def test_a_pool_that_was_judged_whole_has_no_document_that_nobody_judged() -> None:
    own = Listed.none(3)
    assert (own.offsets.tolist(), own.rank.tolist(), own.size) == ([0, 0, 0, 0], [], 3)


def test_what_gold_does_not_have_is_told_of_all_queries_together() -> None:
    run = {"a": {"d1": 1.0}, "b": {"d1": 1.0}, "z": {"d1": 1.0}}
    lists = ab.read_rankings(QRELS, {"r": run, "s": run}).lists
    assert lists.unjudged == (("z",), ("z",))
    assert lists.only([1], [0, 1]).unjudged == (("z",),)
    assert lists.only([0, 1], [1]).unjudged == ((), ())


def test_a_confidence_of_minus_0_is_0() -> None:
    own = Groups.of([True, False, True], [-0.0, 0.0, 0.5])
    assert own.answered.tolist() == [1, 3]
    assert own.level.tolist() == [0.5, 0]
    assert math.copysign(1, own.level[-1]) == 1


def test_a_correlation_stays_within_its_bounds_however_it_is_rounded() -> None:
    item: Any = ab.measure("Pearson-r")
    found = []
    for right in range(1, 12):
        for wrong in range(1, 12):
            verdict = np.repeat([1, 0], [right, wrong])
            for high, low in ((0.9, 0.1), (0.7, 0.3), (1.0, 0.95)):
                sure = np.where(verdict, high, low)
                found += [item(verdict, sure), -item(verdict, high + low - sure)]
    assert max(found) <= 1
    assert min(found) == pytest.approx(1)
