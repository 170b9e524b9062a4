"""Frames, objects and scores of ir_measures, PyTerrier and ranx, and the provider."""

from __future__ import annotations

import sys
from typing import Any

import pandas as pd
import polars as pl
import pytest

import abstain as ab
from abstain.errors import UsageError
from tests.snapshots import refuses

QRELS = {"q1": {"d1": 1, "d2": 1, "d9": 0}, "q2": {"d3": 0}, "q3": {"d4": 1}, "q4": {"d1": 1}}
RUN = {"q1": {"d1": 0.9}, "q2": {"NIL": 1.0}, "q3": {"d4": 0.8, "NIL": 0.1}}
AP_PRIMED = (0.4583333333333333 + 1 + 1 + 0) / 4
"""By hand: (1 + ½ · 3/2 / 2) / 3 for q1, which has one of two; q4 is missing and finds nothing."""


def frame(lists: dict[str, dict[str, Any]], *names: str) -> pl.DataFrame:
    rows = [(query, doc, value) for query, own in lists.items() for doc, value in own.items()]
    return pl.DataFrame(rows, schema=list(names), orient="row")


@pytest.mark.parametrize("kind", ["polars", "pandas"])
@pytest.mark.parametrize(
    ("query", "doc", "rel"),
    [("query_id", "doc_id", "relevance"), ("qid", "docno", "label"), ("query", "doc", "rel")],
)
def test_frames_by_the_names_of_ir_measures_and_pyterrier(
    query: str, doc: str, rel: str, kind: str
) -> None:
    gold, run = frame(QRELS, query, doc, rel), frame(RUN, query, doc, "score")
    given: list[Any] = [gold, run]
    if kind == "pandas":
        given = [pd.DataFrame(own.to_dict(as_series=False)) for own in given]
    (row,) = ab.rank(given[0], given[1], ["AP'"], nil="NIL").rows
    assert row.scores["AP'"] == pytest.approx(AP_PRIMED)


def test_a_name_that_was_said_comes_first() -> None:
    gold = frame(QRELS, "qid", "docno", "label")
    run = frame(RUN, "qid", "docno", "score").with_columns(own=pl.lit("q1"))
    mapped = ab.read_rankings(gold, run.head(1), columns={"run:query": "own"})
    assert mapped.score("RR").rows[0].missing == 3
    both = run.with_columns(query_id=pl.lit("q9"))
    with pytest.raises(ab.InputError, match="'query'"):
        ab.rank(gold, both)


def test_the_table_of_queries_may_say_qid() -> None:
    queries = pl.DataFrame({"qid": list(QRELS), "type": ["a", "a", "b", "b"]})
    found = ab.read_rankings(QRELS, RUN, queries=queries).score("RR", by="type")
    assert [row.slice["type"] for row in found.rows] == ["a", "b"]


class _Held:
    """What ranx's Qrels and Run have in common."""

    def __init__(self, lists: Any, name: str | None = None) -> None:
        self.lists, self.name = lists, name

    def to_dict(self) -> Any:
        return self.lists


def test_qrels_and_runs_of_ranx_by_their_dicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Held, "__module__", "ranx.data_structures.run")
    gold, one, other = _Held(QRELS), _Held(RUN, "mine"), _Held(RUN)
    assert ab.rank(gold, one, ["AP'"], nil="NIL").rows[0].run == "mine"
    found = ab.read_rankings(gold, [one, other], nil="NIL")
    assert found.runs == ("mine", "run 2")
    assert found.score("AP'").rows[0].scores["AP'"] == pytest.approx(AP_PRIMED)
    assert ab.read_rankings(gold, {"theirs": one}).runs == ("theirs",)


def test_scores_by_query_in_the_shapes_of_others() -> None:
    read = ab.read_rankings(QRELS, {"a": RUN, "b": {"q3": {"d4": 1.0}}}, nil="NIL")
    result = read.score(["AP", "RR"], per_query=True)
    for given in (result, read.scores(["AP", "RR"])):
        rows = given.to_shape("pyterrier")
        assert rows.columns == ["name", "qid", "measure", "value"]
        assert given.to_shape("ir_measures").columns == ["run", "query_id", "measure", "value"]
        assert rows.filter(name="a", measure="AP")["qid"].to_list() == ["q1", "q3", "q4"]
        assert given.to_shape("ranx")["a"]["RR"] == {"q1": 1.0, "q2": 0.0, "q3": 1.0, "q4": 0.0}
        assert given.to_shape("pytrec_eval")["b"]["q3"] == {"AP": 1.0, "RR": 1.0}
    with refuses(UsageError, "'trec'"):
        result.to_shape("trec")  # type: ignore[arg-type]
    with refuses(UsageError):
        read.score("AP").to_shape("ranx")


# ------------------------------------------------------------------- the provider, with its host


@pytest.fixture
def host() -> Any:
    return pytest.importorskip("ir_measures", reason="ir_measures is not installed")


def test_ir_measures_computes_ours_by_name(host: Any) -> None:
    import abstain.integrations.ir_measures as provider

    judged = [host.Qrel(q, d, g) for q, own in QRELS.items() for d, g in own.items()]
    listed = [host.ScoredDoc(q, d, s) for q, own in RUN.items() for d, s in own.items()]
    names = ["APt(nil='NIL')", "RBPt(nil='NIL',p=0.5)", "NDCGt(nil='NIL')@1", "RRt(nil='NIL')"]
    measures = [host.parse_measure(name) for name in names]
    found = host.calc_aggregate([*measures, host.AP @ 10], iter(judged), iter(listed))
    assert found[measures[0]] == pytest.approx(AP_PRIMED)
    ours = {
        None: ab.rank(QRELS, RUN, ["AP'", "RBP'(p=0.5)", "RR'"], nil="NIL").rows[0],
        1: ab.rank(QRELS, RUN, ["NDCG'"], nil="NIL", limit=1).rows[0],
    }
    assert found[measures[1]] == pytest.approx(ours[None].scores["RBP'(p=0.5)"], abs=1e-15)
    assert found[measures[2]] == pytest.approx(ours[1].scores["NDCG'"], abs=1e-15)
    assert found[measures[3]] == pytest.approx(ours[None].scores["RR'"], abs=1e-15)
    each = {m.query_id: m.value for m in measures[0].iter_calc(QRELS, RUN)}
    assert list(each) == ["q1", "q2", "q3", "q4"]
    for theirs in (host.AP, host.nDCG @ 10, host.P @ 5, host.RR, host.R @ 3, host.AP(rel=1) @ 2):
        own = provider.abstain.calc_aggregate([theirs], judged, listed)[theirs]
        assert own == pytest.approx(theirs.calc_aggregate(judged, listed)), theirs


def test_what_does_not_exist_is_left_out_of_our_means(host: Any) -> None:
    from abstain.integrations.ir_measures import MEASURES

    q = MEASURES["Q"]
    found = q.calc(QRELS, RUN)
    (mean,) = ab.rank(QRELS, RUN, ["Q"]).rows[0].scores.values()
    assert found.aggregated == pytest.approx(mean)
    assert len(found.per_query) == 4


def test_nobody_needs_ir_measures() -> None:
    if "ir_measures" not in sys.modules:
        assert "abstain.integrations.ir_measures" not in sys.modules
