"""`compare` and `meta` read judgments and runs as `rank` does, by name or by detection."""

from __future__ import annotations

import json
from typing import Any

import pytest

import abstain as ab
from abstain.cli.options import LISTS
from abstain.registry import HOME, part
from tests.helpers import Here, words
from tests.rankings.collections_by_hand import write_collection
from tests.snapshots import says

META = ("--part", "agreement")


@pytest.fixture
def files(here: Here) -> Here:
    """Three runs of twelve queries, some of them nil, and a table of the queries."""
    write_collection(here.folder, runs=3)
    here.write("queries.csv", "query,type\n" + "".join(f"q{k},{'ab'[k % 2]}\n" for k in range(13)))
    return here


RUNS = ("r00.run", "r01.run", "r02.run")
ALL = ("qrels.txt", *RUNS)


def saved(result: Any) -> Any:
    return json.loads(result.to_json())


@pytest.mark.parametrize("how", [(), ("--rankings",)])
def test_trec_files_are_detected_or_named(files: Here, how: tuple[str, ...]) -> None:
    data = files("compare", *how, *ALL, "-m", "AP", "-m", "AP'", "--limit", "8", "-f", "json").data
    expected = saved(ab.read_rankings("qrels.txt", list(RUNS), limit=8).compare(["AP", "AP'"]))
    assert data["pairs"] == expected["pairs"]
    assert data["more"] == expected["more"]
    meta = files("meta", *how, *ALL, "-m", "AP", "-m", "AP'", "--limit", "8", *META, "-f", "json")
    own = ab.read_rankings("qrels.txt", list(RUNS), limit=8).meta(["AP", "AP'"], parts="agreement")
    assert meta.data["agreement"] == saved(own)["agreement"]


def test_tables_are_read_as_rankings_where_the_command_says_so(files: Here) -> None:
    files.write("q.csv", "qid,docid,grade\nq1,d1,1\nq2,d2,1\nq3,d3,1\n")
    files.write("a.csv", "qid,docid,score,run\nq1,d1,2,x\nq1,d4,1,x\nq2,d4,2,x\nq2,d2,1,x\n")
    files.write("b.csv", "qid,docid,score,run\nq1,d1,2,y\nq2,d2,1,y\nq3,d3,1,y\n")
    named = ("-c", "query=qid", "-c", "doc=docid", "-c", "gold:rel=grade")
    data = files("compare", "--rankings", "q.csv", "a.csv", "b.csv", *named, "-f", "json").data
    assert data["pairs"][0]["difference"] == pytest.approx(1 - (1 + 0.5 + 0) / 3)
    says(files.refuses("compare", "q.csv", "a.csv", "b.csv", *named), "'query'")


SET: dict[str, tuple[list[str], Any]] = {
    "nil": (["--nil", "d1-0"], "d1-0"),
    "limit": (["--limit", "3"], 3),
    "nil_as_answer": (["--nil-as-answer", "--nil", "d1-0"], True),
    "missing": (["--missing", "skip"], "skip"),
    "ties": (["--ties", "rank"], "rank"),
    "trec_eval": (["--trec-eval"], True),
    "relevance_level": (["-l", "1"], 1.0),
    "judged_only": (["-J"], True),
    "top": (["--top", "3"], 3.0),
    "queries": (["--queries", "queries.csv"], "queries.csv"),
    "all_queries": (["--all-queries", "--queries", "queries.csv"], True),
}
"""A value of each option of `LISTS`, typed and as Python's argument."""


@pytest.mark.parametrize("command", ["compare", "meta"])
def test_every_option_of_rank_that_reads_lists_is_there(command: str) -> None:
    made: Any = part(f"{HOME}.{command}.command:{command}")
    assert set(LISTS) <= {param.name for param in made.params}


@pytest.mark.parametrize("name", [name for name in LISTS if name in SET])
def test_every_option_of_reading_lists_holds(files: Here, name: str) -> None:
    if name == "ties":  # the ranks of these files say nothing
        for run in RUNS:
            lines = files.folder.joinpath(run).read_text().splitlines()
            numbered = [line.replace(" 1 ", f" {k} ", 1) for k, line in enumerate(lines, 1)]
            files.write(run, "\n".join(numbered) + "\n")
    typed, value = SET[name]
    options: dict[str, Any] = {name: value}
    options |= {"nil": "d1-0"} if name == "nil_as_answer" else {}
    options |= {"queries": "queries.csv"} if name == "all_queries" else {}
    measures = ("AP", "NDCG@5", "AP'")
    asked = [text for m in measures for text in ("-m", m)]
    rk = ab.read_rankings("qrels.txt", list(RUNS), **options)
    expected = saved(rk.compare(list(measures)))
    data = files("compare", *ALL, *typed, *asked, "-f", "json").data
    for key in ("settings", "pairs", "results", "more"):
        assert data.get(key) == expected.get(key), key
    scores = files("meta", *ALL, *typed, *asked, *META, "-f", "json").data["scores"]
    assert scores == saved(rk.meta(list(measures), parts="agreement"))["scores"]
    refused = files.refuses("compare", "--scores", "queries.csv", *typed)
    assert refused.endswith("needs rankings (--rankings)")


def test_clusters_of_queries(files: Here) -> None:
    how = ("--queries", "queries.csv", "--cluster", "type", "-m", "P@5", "-f", "json")
    data = files("compare", *ALL, *how).data
    assert (data["cluster"], data["clusters"]) == ("type", 2)
    rk = ab.read_rankings("qrels.txt", list(RUNS), queries="queries.csv", cluster="type")
    assert saved(rk.compare("P@5"))["pairs"] == data["pairs"]
    assert rk.scores("P@5").cluster == "type"
    says(files.refuses("compare", *ALL, "--cluster", "type"), "--queries")


def test_what_means_nothing_there_is_refused(files: Here) -> None:
    for option in (("--match", "text"), ("--policy", "missing=wrong"), ("--name", "x")):
        says(files.refuses("compare", *ALL, *option))
    says(files.refuses("compare", "qrels.txt"), "at least one run")
    says(files.refuses("compare", *ALL[:2]), "two runs")
    says(files.refuses("compare", *ALL, "-c", "question=x"), "'question'")
    says(files.refuses("compare", "--rankings", "--judged", *ALL), "--judged")
    says(files.refuses("compare", *ALL, "-m", "c@1"), "c@1")
    says(files.refuses("compare", *ALL, "--by", "type"))
    files.write("gold.csv", "question,correct\nq1,a\n")
    refused = files.refuses("compare", "gold.csv", "gold.csv", "--nil", "x")
    assert refused == "--nil needs rankings (--rankings)"


def test_a_command_for_answers_says_which_ones_are_for_rankings(files: Here) -> None:
    says(files.refuses("score", *ALL), "qrels.txt:1", "`abstain rank`")


def test_nil_queries_stay_where_measures_know_them(files: Here) -> None:
    said = words(files("meta", *ALL, "--limit", "8", "-m", "AP", "-m", "AP'", *META).out)
    assert "Left out" not in said
    says(said, "Means of AP leave out")
    compared = files("compare", *ALL, "--limit", "8", "-m", "AP", "-m", "AP'").out
    nil = len(ab.read_rankings("qrels.txt", list(RUNS)).nil_queries)
    assert compared.splitlines()[0].split()[:3] == ["run", "AP'"[:2], f"({12 - nil})"]
