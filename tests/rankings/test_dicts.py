"""Rankings as dicts of dicts, as pytrec_eval and ranx take them."""

from __future__ import annotations

from typing import Any

import pytest

import abstain as ab
from tests.snapshots import refuses

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}, "q3": {}}
RUN = {"q1": {"b": 2.5, "a": 1.0}, "q2": {"c": 1}}


def means(runs: Any, *names: str) -> dict[str, list[float]]:
    found = ab.rank(QRELS, runs, measures=names)
    return {row.run: [row.score(name) for name in names] for row in found.rows}


def test_a_dict_of_dicts_is_one_run() -> None:
    # q1: "01", q2: "1"; q3 has nothing to find and nothing listed
    assert means(RUN, "RR") == {"run": [(1 / 2 + 1 + 0) / 3]}
    assert means(RUN, "RR'") == {"run": [(1 / 2 + 1 + 1) / 3]}


def test_pytrec_eval_agrees() -> None:
    trec = pytest.importorskip("pytrec_eval")
    judged = {query: own for query, own in QRELS.items() if own}
    there = trec.RelevanceEvaluator(judged, {"map", "ndcg"}).evaluate(RUN)
    for ours, theirs in (("AP", "map"), ("NDCG", "ndcg")):
        expected = sum(own[theirs] for own in there.values()) / 2
        assert means(RUN, ours)["run"] == pytest.approx([expected], abs=1e-12)


def test_several_are_named_or_numbered() -> None:
    other: dict[str, dict[str, float]] = {"q1": {"a": 1.0}, "q2": {}}
    expected = [(1 / 2 + 1) / 3, 1 / 3]
    assert means({"mine": RUN, "yours": other}, "RR") == {
        "mine": [expected[0]],
        "yours": [expected[1]],
    }
    assert means([RUN, other], "RR") == {"run 1": [expected[0]], "run 2": [expected[1]]}


def test_a_query_that_nobody_judged_counts_and_is_said() -> None:
    found = ab.rank(QRELS, RUN, measures=["RR'"])
    assert (found.queries, found.nil_queries) == (3, 1)
    assert any(
        note.startswith("1 query in the list of queries but not in the judgments: counted as nil")
        for note in found.notes
    )


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ({"q1": {"a": "x"}}, ("'a'", "'q1'", "'x'")),
        ({"q1": {"a": None}}, ("'a'", "'q1'")),
        ({"mine": {"q1": {"a": True}}}, ("'a'", "'q1'")),
        ({"mine": {"q1": {"a": 1.0}, "q2": 3}}, ()),
        ({"q1": {"a": float("nan")}}, ("'score'",)),
    ],
)
def test_what_is_no_ranking_is_told(runs: Any, message: tuple[str, ...]) -> None:
    with refuses(ab.AbstainError, *message):
        ab.rank(QRELS, runs)


def test_judgments_that_are_no_grades_are_told() -> None:
    with refuses(ab.AbstainError, "'a'", "'q1'"):
        ab.rank({"q1": {"a": "yes"}}, RUN)
    with pytest.raises(ab.AbstainError, match="qrels: has no rows"):
        ab.rank({}, RUN)
