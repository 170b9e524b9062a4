"""Per-topic scores: one reader for every shape, and what can be asked of what it read."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import abstain as ab
from abstain.errors import InputError, UsageError
from tests.helpers import Here, words
from tests.snapshots import refuses, says

QRELS = """\
q1 0 d1 1
q1 0 d2 1
q2 0 d1 1
q3 0 d3 1
q4 0 d9 0
"""
RUNS = {
    "a": "q1 Q0 d1 1 3 a\nq1 Q0 d7 2 2 a\nq2 Q0 d5 1 3 a\nq2 Q0 d1 2 2 a\nq3 Q0 d3 1 1 a\n",
    "b": "q1 Q0 d7 1 3 b\nq1 Q0 d1 2 2 b\nq2 Q0 d1 1 3 b\nq3 Q0 d8 1 2 b\nq3 Q0 d3 2 1 b\n",
}
AP = {"a": [0.5, 0.5, 1.0], "b": [0.25, 1.0, 0.5]}
"""Of q1 (one of two found, at rank 1 or 2), q2 and q3; q4 has nothing relevant and so none."""

QUICK = ("--subsets", "20", "--resamples", "20")


@pytest.fixture
def ranked(here: Here) -> Here:
    """A folder with judgments and two runs."""
    here.write("qrels.txt", QRELS)
    for name, text in RUNS.items():
        here.write(f"{name}.txt", text)
    return here


def ap(matrix: ab.ScoreMatrix) -> dict[str, list[float]]:
    own = matrix.single("AP").complete()
    assert own.topics == ("q1", "q2", "q3")
    return dict(zip(own.runs, own.scores().tolist(), strict=True))


# ------------------------------------------------------------------------------ the same in all


def test_what_rank_writes_is_read_back(ranked: Here) -> None:
    name = "scores.csv"
    done = ranked(
        *("rank", "qrels.txt", "a.txt", "b.txt", "-m", "AP", "-m", "P@2", "--per-query"),
        *("-o", name),
    )
    assert done.code == 0, done.err
    found = ab.read_scores(name)
    assert found.measures == ("AP", "P@2")
    assert found.unit == "query"
    assert set(found.topics) == {"q1", "q2", "q3", "q4"}
    assert ap(found) == AP
    assert np.isnan(found.scores("AP")).sum() == 2
    assert "nan" not in str(found.to_frame())
    # Both commands take it: what one writes, the others read.
    compared = ranked("compare", "--scores", name, "-m", "AP", "-f", "json")
    assert compared.data["pairs"][0]["difference"] == pytest.approx((1.75 - 2) / 3)
    # AP is undefined on the nil query, which no run lacks.
    assert "absent" not in compared.data
    assert compared.data["undefined_on"] == {"a": 1, "b": 1}
    said = words(ranked("compare", "--scores", name, "-m", "AP").out)
    says(said, "3", "4", "1")
    judged = ranked("meta", "--scores", name, *QUICK, "--part", "stability", "-f", "json")
    (note,) = judged.data["notes"]
    says(note, "1", "4")
    assert judged.data["scores"]["AP"] == {"a": pytest.approx(2 / 3), "b": pytest.approx(1.75 / 3)}
    assert judged.data["measures"] == ["AP", "P@2"]


def test_rows_in_jsonl_are_those_in_csv(ranked: Here) -> None:
    how = ("rank", "qrels.txt", "a.txt", "b.txt", "-m", "AP", "--per-query", "-o", "rows.csv")
    assert ranked(*how).code == 0
    whole = ab.read_scores("rows.csv")
    whole.to_frame().write_ndjson("rows.jsonl")
    again = ab.read_scores("rows.jsonl")
    assert again.runs == whole.runs
    assert np.array_equal(again.values, whole.values, equal_nan=True)


@pytest.mark.parametrize("cell", ["-", "–", "", "NA", "n/a", "nan", "None", " - "])
def test_a_missing_cell_is_missing_for_both_commands(here: Here, cell: str) -> None:
    here.write("m.csv", f"topic,a,b\nt1,0.1,0.2\nt2,0.4,{cell}\nt3,0.2,0.5\nt4,1,0\n")
    compared = here("compare", "--scores", "m.csv", "-f", "json").data
    assert compared["questions"] == 3
    (pair,) = compared["pairs"]
    assert (pair["run"], pair["against"]) == ("b", "a")
    assert pair["difference"] == pytest.approx((0.1 + 0.3 - 1) / 3)
    judged = here("meta", "--scores", "m.csv", *QUICK, "--part", "stability", "-f", "json").data
    assert judged["questions"] == 3
    says(judged["notes"], "1", "4")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("topic,a,b\nt1,1,2\nt2,1e120,1\n", ("m.csv:3", "'a'", "'1e120'")),
        ("topic,a,b\nt1,1,2\nt2,-inf,1\n", ("m.csv:3", "'a'", "'-inf'")),
        ("topic,a,b\nt1,1,x\nt2,1,1\n", ("m.csv:2", "'b'", "'x'")),
        ("topic,a,b\nt1,1,0\nt1,1,1\n", ("m.csv:3", "'t1'")),
        ("topic,a,b\nt1,-,0\nt2,1,-\n", ("m.csv",)),
        ("topic,a\nt1,1\nt2,1\n", ("m.csv", "1", "2")),
        ("n,a,b\n7,.1,.2\n8,.3,.4\n9,.5,.6\n", ("m.csv", "'n'")),
        ("run,query,s\na,1,1\na,2,x\nb,1,1\n", ("m.csv:3", "'s'", "'x'")),
        (
            "run,query,s\na,1,1\n,2,1\nb,1,1\n",
            ("m.csv:3", "'run'"),
        ),
        ("run,query,s\na,1,1\na,,1\nb,1,1\n", ("m.csv:3", "'query'")),
        ("run,query,s\na,1,1\na,1,2\nb,1,1\n", ("m.csv:3", "'1'", "'a'")),
        (
            "run,name,s\na,1,1\nb,1,1\n",
            ("m.csv",),
        ),
        ("run,query,s\na,1,x\nb,1,y\n", ("m.csv",)),
    ],
)
def test_both_commands_refuse_the_same_in_the_same_words(
    here: Here, text: str, said: tuple[str, ...]
) -> None:
    here.write("m.csv", text)
    for command in ("compare", "meta"):
        says(here.refuses(command, "--scores", "m.csv"), *said)


# ------------------------------------------------------------------------------------- shapes


WIDE = pl.DataFrame({"topic": ["t1", "t2", "t3"], "a": [0.1, 0.2, 0.3], "b": [0.4, None, 0.6]})


def test_a_column_a_system() -> None:
    found = ab.read_scores(WIDE)
    assert repr(found) == "<ScoreMatrix: 1 measure × 2 runs × 3 topics>"
    assert (found.measures, found.runs) == (("score",), ("a", "b"))
    assert found.absent == {"b": 1}
    assert found.complete().scores().tolist() == [[0.1, 0.3], [0.4, 0.6]]
    assert found.to_frame().to_dicts()[4] == {"run": "b", "topic": "t2", "score": None}


def test_several_tables_have_what_all_have() -> None:
    other = pl.DataFrame({"topic": ["t3", "t1", "t9"], "b": [6.0, 4.0, 0.0], "a": [3.0, 1.0, 0.0]})
    found = ab.read_scores({"x": WIDE, "y": other})
    assert (found.measures, found.topics) == (("x", "y"), ("t1", "t3"))
    assert found.scores("y").tolist() == [[1.0, 3.0], [4.0, 6.0]]
    assert found.notes == ("left out: 2 of 4 topics, not in every table",)
    with refuses(InputError):
        ab.read_scores([WIDE, WIDE.with_columns(topic=pl.lit("u") + pl.col("topic"))])


def test_rows_and_columns_may_stand_beside_each_other() -> None:
    rows = WIDE.unpivot(index="topic", variable_name="system", value_name="AP")
    found = ab.read_scores({"wide": WIDE, "rows": rows})
    assert found.measures == ("wide", "AP")
    assert np.array_equal(found.scores("wide"), found.scores("AP"), equal_nan=True)
    with refuses(UsageError):
        ab.read_scores({"x": rows, "y": rows})


def test_a_system_may_be_called_run() -> None:
    found = ab.read_scores(WIDE.rename({"a": "run"}))
    assert found.runs == ("run", "b")


def test_runs_may_be_numbers() -> None:
    rows = WIDE.drop_nulls().unpivot(index="topic", variable_name="run", value_name="AP")
    found = ab.read_scores(rows.with_columns(run=pl.col("run").replace({"a": "1", "b": "2"})))
    assert found.runs == ("1", "2")


def test_columns_can_be_named(here: Here) -> None:
    rows = "team,qid,place,AP\nx,7,u,0.5\nx,8,v,0.25\ny,7,u,0.75\ny,8,v,-\n"
    here.write("rows.csv", rows)
    found = ab.read_scores("rows.csv", columns={"run": "team", "question": "qid"}, cluster="place")
    assert (found.runs, found.topics, found.unit) == (("x", "y"), ("7", "8"), "question")
    assert found.attributes["place"].to_list() == ["u", "v"]
    with refuses(UsageError):
        ab.read_scores("rows.csv", columns={"answer": "AP"})
    with pytest.raises(UsageError, match="no column 'q'"):
        ab.read_scores("rows.csv", columns={"question": "q"})


def test_names_of_measures_as_everywhere() -> None:
    rows = WIDE.drop_nulls().unpivot(index="topic", variable_name="run", value_name="AP'")
    found = ab.read_scores(rows.with_columns(RR=pl.lit(1.0)))
    assert found.single("APt").measures == found.single("ap′").measures == ("AP'",)
    with pytest.raises(UsageError, match="say which with measure"):
        found.single()
    with refuses(UsageError, "'PA'"):
        found.single("PA")
    with pytest.raises(UsageError, match="there is no run 'z'"):
        found.only(runs=["z"])
    assert found.only(runs=["b"]).runs == ("b",)


# ----------------------------------------------------------------------------------- clusters


def test_clusters_have_numbers_and_who_has_none_is_alone() -> None:
    frame = WIDE.with_columns(doc=pl.Series(["u", None, "u"]))
    assert ab.read_scores(frame, cluster="doc").clusters() == pytest.approx([0, 1, 0])
    assert ab.read_scores(frame).clusters() is None
    noted = ab.read_scores(frame).notes
    assert noted == ("column 'doc' of score does not hold scores and is left out",)
    assert ab.read_scores(frame, cluster="doc").notes == ()


def test_a_column_of_numbers_may_be_the_clusters() -> None:
    found = ab.read_scores(WIDE.with_columns(doc=pl.Series([1, 2, 1])), cluster="doc")
    assert found.runs == ("a", "b")
    assert found.clusters() == pytest.approx([0, 1, 0])
    kept = found.complete()
    assert kept.clusters() == pytest.approx([0, 0])
    with pytest.raises(UsageError, match="no column 'dock'"):
        ab.read_scores(WIDE, cluster="dock")


# ------------------------------------------------------------------------------ saved results


def test_slices_of_a_result_are_attributes(ranked: Here) -> None:
    ranked.write("queries.csv", "query,type\nq1,x\nq2,y\nq3,x\nq4,y\n")
    how: tuple[Any, ...] = ("rank", "qrels.txt", "a.txt", "b.txt", "-m", "AP", "--per-query")
    how += ("--queries", "queries.csv", "--by", "type", "-o")
    assert ranked(*how, "r.csv").code == 0
    found = ab.read_scores("r.csv", cluster="type")
    assert found.measures == ("AP",)
    types = dict(zip(found.topics, found.attributes["type"], strict=True))
    assert types == {"q1": "x", "q2": "y", "q3": "x", "q4": "y"}
    assert math.isnan(found.scores()[0][found.topics.index("q4")])
