"""Runs that come in an unusual shape, and what is said of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import abstain as ab
from tests.engines import needs
from tests.helpers import Here
from tests.snapshots import says

QRELS = "q1 0 a 1\nq2 0 b 1\n"
RUN = "q1 Q0 a 1 2 r\nq2 Q0 x 1 2 r\nq2 Q0 b 2 1 r\n"


@pytest.fixture
def files(here: Here) -> Here:
    here.write("qrels", QRELS)
    here.write("run", RUN)
    return here


def test_a_missing_query_that_is_skipped_has_no_row(files: Here) -> None:
    files.write("one", "q1 Q0 x 1 2 r\nq1 Q0 a 2 1 r\n")
    args = ("rank", "qrels", "one", "-m", "RR", "--per-query", "-f", "json")
    skipped = files(*args, "--missing", "skip").data
    assert [(row["query"], row["scores"]["RR"]) for row in skipped["per_query"]] == [("q1", 0.5)]
    assert [row["scores"]["RR"] for row in skipped["results"]] == [0.5]
    counted = files(*args).data
    assert [row["scores"]["RR"] for row in counted["per_query"]] == [0.5, 0.0]
    assert [row["scores"]["RR"] for row in counted["results"]] == [0.25]


def test_without_a_list_that_stopped_the_two_orderings_are_one(here: Here) -> None:
    """At the limit, primed and original are the same measure, NDCG over as many documents."""
    many = "".join(f"{q} 0 r{n} 1\n" for q in ("q2", "q3") for n in range(10))
    here.write("qrels", "q1 0 r 1\n" + many)
    here.write("a", "q1 Q0 r 1 1 a\nq2 Q0 z 1 1 a\nq3 Q0 z 1 1 a\n")
    here.write("b", "q1 Q0 z 1 1 b\nq2 Q0 r1 1 1 b\nq3 Q0 r1 1 1 b\n")
    said = here("rank", "qrels", "a", "b", "--limit", "1", "-m", "RR", "--truncation", "-f", "json")
    for pair in said.data["truncation"]["measures"]:
        assert pair["kendall_tau"] == 1.0, pair["original"]
        assert all(own["original"] == own["primed"] for own in pair["scores"].values())
    assert said.data["truncation"]["measures"][2]["original"] == "NDCG@1"


def test_fractions_of_a_grade_are_relevant_to_both_or_to_none(here: Here) -> None:
    here.write("qrels.csv", "query,doc,rel\nq1,a,0.5\nq2,b,0\n")
    here.write("run", "q1 Q0 a 1 2 r\nq2 Q0 x 1 2 r\n")
    args = ("rank", "qrels.csv", "run", "-m", "RR", "-m", "P@1", "--truncation", "-f")
    said = here(*args, "json")
    names = [(own["original"], own["primed"]) for own in said.data["truncation"]["measures"]]
    assert names[0] == ("RR", "RR'(rel=1)")
    assert names[3] == ("AP", "AP'(rel=1)")
    assert said.data["nothing_relevant"] == {"RR": 2, "P@1": 2}
    says(here(*args, "markdown").out, "RR, P@1")


def test_the_word_for_nothing_is_the_one_that_was_given(here: Here) -> None:
    here.write("qrels", "q1 0 a 1\nq2 0 b 0\n")
    here.write("run", "q1 Q0 a 1 2 r\nq2 Q0 -1 1 2 r\n")
    args = ("--nil-as-answer", "--nil", "-1", "--limit", "1", "-m", "RR")
    notes = here("rank", "qrels", "run", *args, "-f", "markdown").out
    says(notes, "-1", "1", "2")


@pytest.mark.parametrize("run", [RUN, "", "\n\n"])
def test_an_engine_scores_what_polars_does(files: Here, run: str) -> None:
    needs("duckdb")
    files.write("run", run)
    args = ("rank", "qrels", "run", "--nil", "NIL", "-m", "AP", "-m", "APt", "-f", "json")
    ours, theirs = files(*args), files(*args, "--engine", "duckdb")
    assert ours.code == theirs.code == 0
    assert ours.data["results"] == theirs.data["results"]


def test_parquet_without_a_line_end_in_its_beginning(files: Here) -> None:
    # one row of a document id that is longer than any line may be
    rows = {"query": ["q1", "q1"], "doc": ["a", "é" * (2 << 20)], "score": [2.0, 1.0]}
    pl.DataFrame(rows).write_parquet("long.parquet", compression="uncompressed", statistics=False)
    assert b"\n" not in Path("long.parquet").read_bytes()[: 1 << 20]
    said = files("rank", "qrels", "long.parquet", "-m", "RR", "-f", "json")
    assert said.data["results"][0]["scores"] == {"RR": 0.5}


def test_a_record_longer_than_a_line_of_trec(files: Here) -> None:
    pad = "x" * (2 << 20)
    files.write("run.jsonl", f'{{"query": "q1", "pad": "{pad}", "doc": "a", "score": 1}}\n')
    said = files("rank", "qrels", "run.jsonl", "-m", "RR", "-f", "json")
    assert said.data["results"][0]["scores"] == {"RR": 0.5}


@pytest.mark.slow
def test_old_line_ends_in_a_file_of_any_length(files: Here) -> None:
    rows = "".join(f"q1 Q0 d{n} 1 {n / 1e6} r\r" for n in range(90_000)) + "q1 Q0 a 1 2 r\r"
    assert len(rows) > 2 << 20
    Path("mac").write_bytes(rows.encode())
    said = files("rank", "qrels", "mac", "-m", "RR", "-m", "NumRet", "-f", "json")
    assert said.data["results"][0]["scores"] == {"RR": 0.5, "NumRet": 90_001}
    Path("bad").write_bytes(rows.encode() + b"q2 Q0 a 1 high r\r")
    assert files("rank", "qrels", "bad").err == (
        "bad:90002: the score must be a number (got 'high')\n"
    )


def test_a_header_alone_and_an_empty_frame_are_runs_that_answered_nothing(files: Here) -> None:
    files.write("none.csv", "query,doc,score\n")
    said = files("rank", "qrels", "none.csv", "-m", "RR", "-f", "json")
    assert (said.data["results"][0]["missing"], said.data["results"][0]["scores"]["RR"]) == (2, 0)
    frame = pl.DataFrame(schema={"query": pl.String, "doc": pl.String, "score": pl.Float64})
    assert ab.rank("qrels", frame, measures=["RR"]).rows[0].missing == 2
    files.write("other.csv", "question,answer\n")
    assert files("rank", "qrels", "other.csv").code == 2


def test_utf16_is_named(files: Here) -> None:
    Path("wide").write_bytes(RUN.encode("utf-16"))
    assert "is UTF-16, expected UTF-8" in files("rank", "qrels", "wide").err


def test_a_name_that_promises_another_format_is_refused(files: Here) -> None:
    assert files("rank", "qrels", "run", "-o", "rows.parquet").code == 2
    assert not Path("rows.parquet").exists()
    assert files("rank", "qrels", "run", "-o", "page.html").code == 0
    assert Path("page.html").read_text().startswith("<!doctype html>")
    assert files("rank", "qrels", "run", "-o", "plain.out").code == 0


@pytest.mark.slow
def test_a_reader_who_leaves_is_no_failure(files: Here) -> None:
    program = "import os, sys; os.close(0); from abstain.cli import main; main(sys.argv[1:])"
    with subprocess.Popen(
        [sys.executable, "-c", program, "rank", "qrels", "run", "-m", "AP"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (0, b"")


def test_many_runs_read_at_once_are_as_each_alone(here: Here) -> None:
    """Twenty runs with queries of their own that nobody judged: the same names, every time."""
    rng = np.random.default_rng(3)
    here.write("qrels", "".join(f"q{q} 0 d{d} {d % 3}\n" for q in range(9) for d in range(8)))
    names = []
    for run in range(20):
        rows = [
            f"{query} Q0 d{d} 0 {rng.random():.3f} r{run}\n"
            for query in [*(f"q{q}" for q in range(9)), f"z{run % 7}", f"a{run % 5}"]
            for d in rng.permutation(20)[:12]
        ]
        names.append(f"run{run}.txt")
        here.write(names[-1], "".join(rows))
    together = ab.read_rankings("qrels", names)
    again = ab.read_rankings("qrels", names)
    assert together.runs == tuple(f"r{run}" for run in range(20))
    assert together.lists.unjudged == again.lists.unjudged
    assert together.lists.unjudged == tuple((f"z{run % 7}", f"a{run % 5}") for run in range(20))
    for run, name in enumerate(names):
        alone = ab.read_rankings("qrels", name).score(["AP", "NDCG@10"]).rows[0]
        both = together.only(runs=[f"r{run}"]).score(["AP", "NDCG@10"]).rows[0]
        assert both.scores == alone.scores


def test_of_several_faults_the_first_file_s_is_told(here: Here) -> None:
    here.write("qrels", "1 0 a 1\n")
    for name in ("b", "c", "d"):
        here.write(name, f"1 Q0 a 1 wrong-{name} t\n")
    here.write("a", "1 Q0 a 1 1 t\n")
    says(here.refuses("rank", "qrels", "a", "b", "c", "d"), "1")
