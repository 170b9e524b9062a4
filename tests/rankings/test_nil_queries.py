"""Nothing is relevant, or too little: what such queries count, and that the output says so."""

from __future__ import annotations

import pytest

import abstain as ab
from tests.helpers import Here
from tests.rankings.collections_by_hand import frames
from tests.snapshots import says

PRIMED = ("RR'", "RBP'(p=0.8)", "NDCG'", "AP'")
QRELS = "q1 0 a 1\nq2 0 b 1\nn1 0 z 0\n"
"""n1 is a nil query."""
MODEST = "q1 Q0 a 1 3 modest\nq2 Q0 b 1 3 modest\nn1 Q0 x 1 3 modest\n"
PADDER = (
    "q1 Q0 a 1 3 padder\nq2 Q0 b 1 3 padder\n"
    "n1 Q0 x 1 8 padder\nn1 Q0 y 2 7 padder\nn1 Q0 w 3 6 padder\n"
)


@pytest.fixture
def files(here: Here) -> Here:
    here.write("qrels", QRELS)
    here.write("modest", MODEST)
    here.write("padder", PADDER)
    return here


def words(here: Here, *args: str) -> str:
    return " ".join(here("rank", *args).out.split())


@pytest.mark.parametrize("name", PRIMED)
def test_filling_a_list_up_to_the_limit_never_pays(name: str) -> None:
    """For a nil query a longer list is worse, and one that reaches the limit worst of all: 0."""
    scores = []
    for length in range(4):
        docs = {f"x{i}": float(-i) for i in range(length)}
        gold, run = frames({"q": {"a": 1}, "n": {"z": 0}}, {"q": {"a": 1.0}, "n": docs})
        (row,) = ab.rank(gold, run, measures=[name], limit=3).rows
        assert row.over == {name: row.queries}
        scores.append(row.score(name))
    assert scores == sorted(set(scores), reverse=True)
    assert scores[0] == 1
    assert scores[3] == pytest.approx(1 / 2)


def test_both_tables_give_the_same_primed_scores(files: Here) -> None:
    asked = [part for name in PRIMED for part in ("-m", name)]
    args = ("--limit", "3", *asked, "--truncation", "-f", "json")
    data = files("rank", "qrels", "modest", "padder", *args).data
    rows = {row["run"]: row["scores"] for row in data["results"]}
    for pair in data["truncation"]["measures"]:
        for run, both in pair["scores"].items():
            assert both["primed"] == pytest.approx(rows[run][pair["primed"]], abs=1e-15)
    assert rows["padder"]["AP'"] == pytest.approx(2 / 3)
    assert rows["modest"]["AP'"] == pytest.approx((1 + 1 + 1 / 2) / 3)


def test_full_lists_where_nothing_is_relevant_are_pointed_out(files: Here) -> None:
    args = ("-m", "AP'", "-m", "RR'", "-m", "AP", "--truncation")
    said = words(files, "qrels", "padder", "modest", "--limit", "3", *args)
    says(said, "1", "0")
    said = words(files, "qrels", "padder", "modest", "--limit", "4", *args)
    assert "at the limit, though nothing" not in said
    assert "the original measures count 0;" in said


def test_a_higher_bar_leaves_queries_out_and_says_so(here: Here) -> None:
    here.write("qrels", "q1 0 a 1\nq2 0 b 2\nq3 0 c 0\n")
    here.write("run", "q1 Q0 a 1 1 t\nq2 Q0 b 1 1 t\n")
    asked = ("-m", "AP(rel=2)", "-m", "AP", "-m", "AP'(rel=2)", "-m", "P(rel=2)@5")
    said = words(here, "qrels", "run", *asked)
    says(said, "3", "1", "2", "0", "5")
    said = words(here, "qrels", "run", *asked, "--trec-eval")
    says(said, "0", "2", "5")
    assert "no document of grade" not in words(here, "qrels", "run", "-m", "AP", "-m", "NDCG")
    said = words(here, "qrels", "run", "--limit", "1", "-m", "AP'(rel=2)")
    says(said, "1", "2")


def test_grades_below_one_are_not_relevant_to_all(here: Here) -> None:
    here.write("qrels.csv", "query,doc,rel\nq1,a,0.5\nq2,b,1\n")
    here.write("run.csv", "query,doc,score\nq1,a,1\nq2,b,1\n")
    said = words(here, "qrels.csv", "run.csv", "-m", "AP", "-m", "NDCG")
    says(said, "2", "1")


def test_skipped_lists_are_in_no_count(here: Here) -> None:
    here.write("qrels", "q1 0 a 1\nq2 0 b 1\nq3 0 c 0\n")
    here.write("one", "q1 Q0 a 1 1 one\n")
    here.write("none", "")
    args = ("qrels", "one", "none", "--limit", "5", "--missing", "skip", "-m", "RR", "--truncation")
    says(words(here, *args), "1", "0", "5")
    data = here("rank", *args, "-f", "json").data
    one, none = data["results"]
    assert (one["queries"], one["nil_queries"], one["missing"], one["truncated"]) == (1, 0, 2, 1)
    assert (none["queries"], none["missing"], none["truncated"]) == (0, 3, 0)
    lengths = data["truncation"]["lengths"]
    assert lengths["one"]["lists"] == lengths["one"]["mean_after"] == 1
    assert (lengths["one"]["empty"], lengths["one"]["truncated"]) == (0, 1)
    assert (lengths["none"]["lists"], lengths["none"]["median_before"]) == (0, None)
    counted = here("rank", *args[:-5], "-m", "RR", "--missing", "empty", "-f", "json").data
    assert [row["truncated"] for row in counted["results"]] == [3, 3]


def test_queries_that_a_table_lacks_or_adds_are_named(files: Here) -> None:
    files.write("queries.csv", "query,type\nq1,x\nN1,y\n")
    said = words(files, "qrels", "modest", "--queries", "queries.csv", "--by", "type")
    says(said, "2", "'q2'", "'n1'")
    assert "nobody judged" not in said
    said = words(files, "qrels", "modest", "--queries", "queries.csv", "--all-queries")
    says(said, "1")
    assert "not in the table" not in said
    files.write("queries.csv", "query,type\nq1,x\nq2,\nn1,y\n")
    said = words(
        files, "qrels", "modest", "--queries", "queries.csv", "--by", "type", "--all-queries"
    )
    assert "not in the table" not in said
    assert "nobody judged" not in said


def test_queries_of_negative_grades_alone_are_named(here: Here) -> None:
    here.write("qrels", "q1 0 a 1\nq2 0 b -1\nq3 0 c -1\nq3 0 d 0\nq4 0 NIL -2\n")
    here.write("run", "q1 Q0 a 1 1 t\n")
    told = (
        'with negative grades only (which mean "not judged"): counted as nil, with nothing relevant'
    )
    assert f"1 query {told} ('q2')." in words(here, "qrels", "run", "--nil", "NIL")
    assert f"2 queries {told} ('q2', 'q4')." in words(here, "qrels", "run")
    here.write("qrels", "q1 0 a 1\nq3 0 c -1\nq3 0 d 0\n")
    assert told not in words(here, "qrels", "run")


@pytest.mark.parametrize(
    ("nil", "written", "hint"),
    [
        ("nil", "NIL", "'NIL', which is not 'nil'"),
        ("NIL", "nil", "'nil', which is not 'NIL'"),
        ("-1", "NIL", "'NIL', which is not '-1'"),
        ("none", "none", None),
        ("-1", "-1", None),
    ],
)
def test_another_nil_than_the_one_named_is_pointed_out(
    files: Here, nil: str, written: str, hint: str | None
) -> None:
    files.write("run", f"q1 Q0 a 1 1 t\nn1 Q0 {written} 1 1 t\n")
    found = ab.rank("qrels", "run", nil=nil)
    assert found.nil_words == (() if hint is None else (written,))
    said = " ".join(str(found).split())
    assert said.count("Some list has a document") == (hint is not None)
    if hint is not None:
        told = "if it marks the end of a list, pass it with the option nil."
        says(said, f"{hint}", f"{told}")


def test_grades_that_keep_a_perfect_list_below_one_are_pointed_out(here: Here) -> None:
    here.write("qrels", "q1 0 a 1\nq1 0 b 1\nq2 0 c 2\n")
    here.write("run", "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 c 1 1 t\n")
    asked = ("-m", "AP'", "-m", "AP'(rel=1)", "-m", "NDCG'", "-m", "RR'", "--per-query")
    scores = here("rank", "qrels", "run", *asked, "-f", "json").data["per_query"][0]["scores"]
    # gains 1/2 and 1/2 of R = 1, then r_t = 1: (1/2 · 1/2 + 1/2 · 1/2 + 1 · 2/3) / 2
    assert scores["AP'"] == pytest.approx((1 / 4 + 1 / 4 + 2 / 3) / 2)
    assert scores["AP'(rel=1)"] == scores["NDCG'"] == scores["RR'"] == 1
    told = "AP': a relevant document of a grade below 2"
    assert told in words(here, "qrels", "run", *asked)
    assert "a perfect list" not in words(here, "qrels", "run", *asked[2:])
    here.write("qrels", "q1 0 a 2\nq1 0 b 2\nq2 0 c 2\n")
    assert "a perfect list" not in words(here, "qrels", "run", *asked)
