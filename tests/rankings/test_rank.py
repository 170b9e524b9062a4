"""`rank`: means over the gold's queries, nothing lost, everything said."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from tests.helpers import Here
from tests.rankings import slow
from tests.rankings.collections_by_hand import frames
from tests.snapshots import says

QRELS = "q1 0 a 1\nq1 0 b 1\nq2 0 a 0\nq3 0 c 1\nq4 0 d 1\n"
"""q2 is a nil query."""
LONG = (
    "q1 Q0 a 1 3 long\nq1 Q0 b 2 2 long\nq1 Q0 x 3 1 long\n"
    "q2 Q0 x 1 2 long\nq2 Q0 y 2 1 long\nq3 Q0 x 1 2 long\nq3 Q0 c 2 1 long\nq9 Q0 a 1 1 long\n"
)
SHORT = "q1 Q0 a 1 3 short\nq2 Q0 NIL 1 1 short\nq3 Q0 c 1 2 short\nq3 Q0 NIL 2 1 short\n"
QUERIES = "query,type\nq1,list\nq2,fact\nq3,fact\nq4,\nq5,fact\n"


@pytest.fixture
def files(here: Here) -> Here:
    here.write("qrels", QRELS)
    here.write("long", LONG)
    here.write("short", SHORT)
    here.write("queries.csv", QUERIES)
    return here


def scores(said: object) -> dict[str, dict[str, float]]:
    data = said.data  # type: ignore[attr-defined]
    return {row["run"]: row["scores"] for row in data["results"]}


def test_means_run_over_the_gold(files: Here) -> None:
    said = files("rank", "qrels", "long", "short", "-m", "AP", "-m", "RR", "-f", "json")
    # AP of long: q1 1, q3 1/2, q4 missing 0; q2 has nothing to find and is left out
    assert scores(said)["long"] == {"AP": (1 + 1 / 2 + 0) / 3, "RR": (1 + 0 + 1 / 2 + 0) / 4}
    assert scores(said)["short"] == {"AP": (1 / 2 + 1 + 0) / 3, "RR": (1 + 0 + 1 + 0) / 4}
    rows = {row["run"]: row for row in said.data["results"]}
    assert said.data["queries"] == 4
    assert said.data["nil_queries"] == 1
    assert rows["long"]["missing"] == rows["short"]["missing"] == 1
    assert rows["long"]["unjudged"] == 1
    assert rows["long"]["over"]["AP"] == rows["long"]["queries"] - 1
    assert [row["undefined"] for row in said.data["results"]] == [{}, {}]


def test_the_primed_measures_score_nil_queries(files: Here) -> None:
    args = ("--nil", "NIL", "--limit", "3", "-m", "RRt", "-m", "RR", "-f", "json")
    said = files("rank", "qrels", "long", "short", *args)
    # RR' of long: q1 reaches the limit (1), q2 lists 2 in vain (1/3), q3 1/2, q4 nothing (0)
    assert scores(said)["long"]["RR'"] == pytest.approx((1 + 1 / 3 + 1 / 2 + 0) / 4)
    # of short: q1 1, q2 NIL at once (1), q3 1, q4 0
    assert scores(said)["short"]["RR'"] == pytest.approx((1 + 1 + 1 + 0) / 4)
    rows = {row["run"]: row for row in said.data["results"]}
    assert rows["long"]["truncated"] == 3
    assert rows["short"]["truncated"] == 4


def test_nil_as_trec_2001_answered(files: Here) -> None:
    args = ("--nil", "NIL", "--nil-as-answer", "-m", "RR", "-f", "json")
    said = files("rank", "qrels", "short", "long", *args)
    assert scores(said)["short"]["RR"] == pytest.approx((1 + 1 + 1 + 0) / 4)
    assert scores(said)["long"]["RR"] == pytest.approx((1 + 0 + 1 / 2 + 0) / 4)
    says(files.refuses("rank", "qrels", "long", "--nil-as-answer"))


def test_nil_in_the_judgments_is_no_document(here: Here) -> None:
    """The Qur'an QA tasks judge -1 relevant where there is no answer, and runs list -1."""
    here.write("qrels", "1 0 a 1\n2 0 -1 1\n")
    here.write("run", "1 Q0 a 1 1 t\n2 Q0 -1 1 1 t\n")
    said = here("rank", "qrels", "run", "--nil", "-1", "-m", "AP'", "-m", "NumRel", "-f", "json")
    assert scores(said)["t"] == {"AP'": 1.0, "NumRel": 1.0}
    assert said.data["nil_queries"] == 1


def test_missing_queries_are_empty_refused_or_skipped(files: Here) -> None:
    empty = files("rank", "qrels", "long", "-m", "RR", "-f", "json")
    skipped = files("rank", "qrels", "long", "-m", "RR", "--missing", "skip", "-f", "json")
    assert scores(empty)["long"]["RR"] == pytest.approx(1.5 / 4)
    assert scores(skipped)["long"]["RR"] == pytest.approx(1.5 / 3)
    line = files.refuses("rank", "qrels", "long", "--missing", "error")
    assert line == "run 'long' lacks 1 query: 'q4'"
    assert "nearest: skip" in files.refuses("rank", "qrels", "long", "--missing", "skipp")


def test_averages_of_trec_eval(files: Here) -> None:
    said = files("rank", "qrels", "long", "-m", "AP", "--trec-eval", "-f", "json")
    assert scores(said)["long"]["AP"] == pytest.approx((1 + 0 + 1 / 2) / 3)
    said = files(
        "rank", "qrels", "long", "-m", "AP", "--trec-eval", "--missing", "empty", "-f", "json"
    )
    assert scores(said)["long"]["AP"] == pytest.approx((1 + 0 + 1 / 2 + 0) / 4)


def test_the_table_says_how_many_of_each_there_were(files: Here) -> None:
    said = files("rank", "qrels", "long", "short", "--nil", "NIL", "--limit", "3")
    text = " ".join(said.out.split())
    says(text, "2", "4", "1", "10", "'q9'", "8", "7", "3")


def test_what_looks_like_nil_is_pointed_out(files: Here) -> None:
    def hint(*args: str) -> list[str]:
        data = files("rank", "qrels", *args, "-f", "json").data
        said = files("rank", "qrels", *args, "-f", "markdown").out
        words: list[str] = data.get("nil_words", [])
        told = [line for line in said.splitlines() if "pass it with the option nil." in line]
        assert len(told) == len(words)
        assert all(f"- Some list has a document called '{word}'" in said for word in words)
        return words

    assert hint("long") == []
    assert hint("long", "short", "--nil", "NIL") == []
    assert hint("long", "short") == ["NIL"]
    files.write("short", SHORT.replace("NIL", "-1"))
    assert hint("short") == ["-1"]


def test_queries_of_a_table_without_judgments_are_named(files: Here) -> None:
    files.write("run.csv", "doc,query,score\na,q1,2\nb,q8,1\n\nb,q9,1\na,q8,3\n")
    said = files("rank", "qrels", "run.csv")
    text = " ".join(said.out.split())
    says(text, "2", "'q8'", "'q9'")


def test_slices_and_queries_that_nobody_judged(files: Here) -> None:
    args = ("--queries", "queries.csv", "--by", "type", "-m", "RR'", "-f", "json")
    said = files("rank", "qrels", "long", *args)
    by_type = {row["slice"]["type"]: row for row in said.data["results"]}
    assert by_type["list"]["scores"]["RR'"] == 1.0
    assert by_type["fact"]["scores"]["RR'"] == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert by_type[None]["queries"] == 1
    said = files("rank", "qrels", "long", "--all-queries", *args)
    by_type = {row["slice"]["type"]: row for row in said.data["results"]}
    # q5, which nobody judged, is a nil query for which the run rightly has nothing
    assert by_type["fact"]["scores"]["RR'"] == pytest.approx((1 / 3 + 1 / 2 + 1) / 3)
    assert said.data["queries"] == 5
    assert said.data["nil_queries"] == 2


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--by", "type"), ("--by", "--queries")),
        (("--all-queries",), ("--all-queries",)),
        (("--by", "typ", "--queries", "queries.csv"), ("'typ'",)),
        (("-m", "c@1"), ("1",)),
        (("-m", "NDGC@10"), ("'NDGC'",)),
        (("-m", "RelP"), ()),
        (("-m", "MRR"), ()),
        (("-m", "mrr(rel=2)@10"), ("2", "10")),
        (("--limit", "9" * 20), ("1", "18", "99999999999999999999")),
        (("--limit", "0"), ("'--limit'",)),
        (("--top", "nan"), ("1",)),
        (("--ties", "random"), ("'random'",)),
        (("--top", "0.5"), ("1", "0.5")),
        (("--nil", " "), ("--nil",)),
        (("--from", "xml"), ("'xml'",)),
        (("--chart", "qrels"), ()),
        (("--truncation", "--chart", "qrels/charts"), ()),
        (("--chart", "charts"), ()),
    ],
)
def test_arguments_that_make_no_sense(
    files: Here, args: tuple[str, ...], message: tuple[str, ...]
) -> None:
    says(files.refuses("rank", "qrels", "long", *args), *message)


def test_a_query_twice_in_the_table_of_queries(files: Here) -> None:
    files.write("queries.csv", "query,type\nq1,a\nq1,b\n")
    line = files.refuses("rank", "qrels", "long", "--queries", "queries.csv", "--by", "type")
    says(line, "queries.csv:3", "'q1'")


def test_each_query_and_undefined_ones(files: Here) -> None:
    said = files("rank", "qrels", "long", "-m", "AP", "--per-query", "-f", "json")
    rows = said.data["per_query"]
    assert [(r["query"], r["scores"]["AP"]) for r in rows] == [
        ("q1", 1.0),
        ("q2", None),
        ("q3", 0.5),
        ("q4", 0.0),
    ]
    assert rows[1]["undefined"] == {"AP": "the query has no relevant document"}
    assert [r["missing"] for r in rows] == [False, False, False, True]
    table = files("rank", "qrels", "long", "-m", "AP", "--per-query", "-f", "csv")
    assert table.out == (
        "#,run,query,AP\n,long,q1,1.0\n,long,q2,\n,long,q3,0.5\n,long,q4,0.0\n1,long,all,0.5\n"
    )


def test_a_mean_of_nothing_is_undefined_and_says_why(here: Here) -> None:
    here.write("qrels", "q1 0 a 0\n")
    here.write("run", "q1 Q0 a 1 1 t\n")
    said = here("rank", "qrels", "run", "-m", "AP", "-f", "json")
    assert said.data["results"][0]["scores"] == {"AP": None}
    reason = "the query has no relevant document"
    assert said.data["results"][0]["undefined"] == {"AP": reason}
    assert f"AP is undefined (–) where {reason}: t." in here("rank", "qrels", "run", "-m", "AP").out
    here.write("run", "")
    said = here("rank", "qrels", "run", "-m", "RR", "--missing", "skip", "-f", "json")
    assert said.data["results"][0]["undefined"] == {"RR": "the run has none of these queries"}


def test_grades_are_scaled_and_it_is_said(here: Here) -> None:
    here.write("qrels", "q1 0 a 3\nq1 0 b 1\n")
    here.write("run", "q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\n")
    said = here("rank", "qrels", "run", "-m", "RBP(p=0.5)")
    assert f"{0.5 * (1 / 3 + 0.5):.4f}" in said.out
    says(said.out, "0.5", "3")
    said = here("rank", "qrels", "run", "-m", "RBP(p=0.5)", "--top", "4", "-f", "json")
    assert scores(said)["t"]["RBP(p=0.5)"] == pytest.approx(0.5 * (1 / 4 + 0.5 * 3 / 4))


def test_equal_scores_share_their_rank(files: Here) -> None:
    files.write("again", LONG.replace("long", "again"))
    said = files("rank", "qrels", "long", "again", "short", "-m", "RR", "-f", "csv")
    assert [line.split(",")[:2] for line in said.out.splitlines()[1:]] == [
        ["1", "short"],
        ["2=", "again"],
        ["2=", "long"],
    ]


def test_written_whole_in_every_format(files: Here) -> None:
    """The score asked for, 2/5 + 0 + 1/5 + 0 over 4, and the report, AP' of all four queries."""
    for name in ("out.json", "out.csv", "out.md", "out.tex", "out.txt"):
        said = files("rank", "qrels", "long", "-m", "P@5", "--truncation", "-o", name)
        assert (said.code, said.out) == (0, "")
        text = (files.folder / name).read_text()
        assert "0.15" in text, name
        for word in ("P@5", "RBP(p=0.5)", "NDCG'"):
            assert word in text.replace("$'$", "'"), (name, word)


@pytest.mark.slow
def test_csv_is_one_table_with_what_was_asked_for(files: Here) -> None:
    args = ("rank", "qrels", "long", "short", "-m", "P@5", "-m", "AP", "-f", "csv")
    plain = pl.read_csv(files(*args).out.encode())
    drawn = pl.read_csv(files(*args, "--chart", "drawn").out.encode())
    assert drawn.equals(plain)
    both = pl.read_csv(files(*args, "--truncation").out.encode())
    assert both.select(plain.columns).equals(plain)
    report = files(*args[:-1], "json", "--truncation").data["truncation"]["measures"]
    for pair in report:
        for kind in ("original", "primed"):
            own = dict(both.select("run", f"{pair[kind]} (truncation)").iter_rows())
            assert own == {run: pair["scores"][run][kind] for run in ("long", "short")}
    for more in (("--per-query",), ("--by", "type", "--queries", "queries.csv")):
        line = files.refuses(*args, "--truncation", *more)
        assert line.startswith("with --truncation, CSV")


def test_a_query_may_be_called_all(here: Here) -> None:
    here.write("qrels", "all 0 a 1\nb 0 c 1\n")
    here.write("run", "all Q0 a 1 1 t\n")
    said = here("rank", "qrels", "run", "-m", "AP", "--per-query", "-f", "csv")
    assert said.out == "#,run,query,AP\n,t,all,1.0\n,t,b,0.0\n1,t,(all),0.5\n"
    here.write("other", "b Q0 c 1 1 u\n")
    args = ("-m", "AP", "--per-query", "-o", "scores.csv")
    assert here("rank", "qrels", "run", "other", *args).code == 0
    said = here("compare", "--scores", "scores.csv", "-m", "AP")
    assert "on 2 " in said.out, said


def test_the_report_says_nil_as_the_runs_do(here: Here) -> None:
    here.write("qrels", "q1 0 a 1\n")
    here.write("run", "q1 Q0 a 1 2 t\nq1 Q0 -1 2 1 t\n")
    said = here("rank", "qrels", "run", "--nil", "-1", "--truncation").out
    assert "by -1" in said
    says(said, "-1")
    assert "NIL" not in said


def test_a_limit_of_numpys_will_do() -> None:
    gold, run = frames({"q": {"a": 1}}, {"q": {"a": 1.0}})
    result = ab.rank(gold, run, limit=np.int64(2), top=np.float64(2))
    settings = result.to_dict()["settings"]
    assert (settings["limit"], settings["top"]) == (2, 2.0)
    assert result.top_grade == 2


def test_names_of_strangers_do_no_harm(here: Here) -> None:
    here.write("qrels", "q1 0 a 1\n")
    here.write("run", "q1 Q0 a 1 1 \x1b[31m=evil|\n")
    assert "\x1b" not in here("rank", "qrels", "run", "--per-query").out
    assert "\x1b" not in here("rank", "qrels", "run", "-f", "json").out


def test_frames_and_plain_data() -> None:
    gold, run = frames({"q": {"a": 1}, "r": {"b": 0}}, {"q": {"x": 2.0, "a": 1.0}})
    result = ab.rank(gold, run, measures=["AP", "RR'"], per_query=True)
    means, queries = result.to_frame(), result.to_frame("queries")
    assert means.columns[:4] == ["rank", "run", "AP", "RR'"]
    assert means.select("AP", "RR'").rows() == [(0.5, 0.75)]
    assert queries.select("run", "query", "AP", "RR'", "nil", "missing").rows() == [
        ("run", "q", 0.5, 0.5, False, False),
        ("run", "r", None, 1.0, True, True),
    ]
    assert result.per_query[1].undefined == {"AP": "the query has no relevant document"}
    assert result.to_dict()["settings"]["missing"] == "empty"


# ---------------------------------------------------------------------------------- truncation


def test_truncation_by_hand(files: Here) -> None:
    args = ("--nil", "NIL", "--limit", "3", "--same-lists", "-f", "json")
    report = files("rank", "qrels", "long", "short", *args).data["truncation"]
    assert report["lengths"]["long"] == {
        "lists": 4,
        "mean_before": (3 + 2 + 2 + 0) / 4,
        "mean_after": (3 + 2 + 2 + 0) / 4,
        "median_before": 2.0,
        "median_after": 2.0,
        "empty": 1,
        "by_nil": 0,
        "at_limit": 1,
        "truncated": 3,
    }
    assert report["lengths"]["short"]["mean_before"] == (1 + 1 + 2 + 0) / 4
    assert report["lengths"]["short"]["mean_after"] == (1 + 0 + 1 + 0) / 4
    assert report["lengths"]["short"]["by_nil"] == 2
    pairs = {each["original"]: each for each in report["measures"]}
    assert pairs["RR"]["scores"]["long"]["original"] == pytest.approx(1.5 / 4)
    assert pairs["RR"]["scores"]["short"]["primed"] == pytest.approx(3 / 4)
    assert pairs["RR"]["kendall_tau"] == 1.0
    # AP: long 1 + 0 + 1/2 + 0, short 1/2 + 0 + 1 + 0: a tie, so there is no order to compare
    assert pairs["AP"]["kendall_tau"] is None
    says(pairs["AP"]["undefined"])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=8))
def test_inversions_and_tau_by_counting_pairs(points: list[tuple[int, int]]) -> None:
    from abstain.features.rank.truncation import agreement, inversions

    first, second = (np.array(side, float) / 7 for side in zip(*points, strict=True))
    runs = [f"r{i}" for i in range(len(points))]
    agree, disagree = 0, set()
    for i in range(len(points)):
        for j in range(i):
            (a, b), (c, d) = points[i], points[j]
            agree += (a - c) * (b - d) > 0
            if (a - c) * (b - d) < 0:
                disagree.add(frozenset((runs[i], runs[j])))
    found = inversions(runs, first, second)
    assert {frozenset((each.first, each.second)) for each in found} == disagree
    assert len(found) == len(disagree)
    sizes = [
        sum(p[side] != q[side] for n, p in enumerate(points) for q in points[:n]) for side in (0, 1)
    ]
    tau = agreement(first, second)
    if 0 in sizes:
        assert isinstance(tau, ab.Undefined)
    else:
        assert tau == pytest.approx((agree - len(disagree)) / math.sqrt(sizes[0] * sizes[1]))


def test_inverted_pairs_are_named(here: Here) -> None:
    here.write("qrels", "1 0 a 1\n1 0 b 1\n2 0 a 0\n")
    here.write("long", "1 Q0 a 1 9 long\n1 Q0 b 2 8 long\n2 Q0 x 1 9 long\n2 Q0 y 2 8 long\n")
    here.write("short", "1 Q0 a 1 9 short\n2 Q0 NIL 1 1 short\n")
    said = here("rank", "qrels", "long", "short", "--nil", "NIL", "--same-lists")
    line = next(x for x in said.out.splitlines() if x.startswith("AP / AP'") and "long" in x)
    assert re.split(r"\s{2,}", line)[1:3] == ["long", "short"]


@pytest.mark.slow
def test_charts_are_drawn(files: Here) -> None:
    args = ("rank", "qrels", "long", "short", "--nil", "NIL", "--truncation")
    said = files(*args, "--chart", "drawn")
    assert said.code == 0, said.err
    names = sorted(p.name for p in (files.folder / "drawn").iterdir())
    assert len(names) == 10
    assert {
        "scores.svg",
        "lengths.svg",
        "original-primed-ap.svg",
        "share-truncated-ndcg.svg",
    } <= set(names)
    for name in names:
        assert (files.folder / "drawn" / name).read_text().startswith("<svg")


# ------------------------------------------------------------------------------------- fuzzing

WORDS = ("query", "doc", "score", "rel", "run", "rank", "q1", "q2", "a", "b", "", "1", "-1", "nan")
cell = st.sampled_from([*WORDS, "1e400", "0.5", "NIL", '"', ",", "\x00", "é", "\ufeff", " "])
broken = st.lists(st.lists(cell, min_size=1, max_size=6), max_size=6)


@given(gold=broken, run=broken, between=st.sampled_from([",", " ", "\t"]), named=st.booleans())
def test_any_table_is_scored_or_refused(
    files: Here, gold: list[list[str]], run: list[list[str]], between: str, named: bool
) -> None:
    head = {"gold": "query,doc,rel\n", "run": "query,doc,score\n"} if named else {}
    for name, rows in (("gold", gold), ("run", run)):
        text = head.get(name, "") + "".join(between.join(row) + "\n" for row in rows)
        files.write(f"{name}.csv", text)
    said = files("rank", "gold.csv", "run.csv", "-f", "json")
    assert said.code in (0, 2), said
    assert "Traceback" not in said.err
    if said.code == 2:
        assert said.line.startswith(("gold.csv", "run.csv", "run '")), said.err
    else:
        for row in said.data["results"]:
            assert all(s is None or 0 <= s <= 1 for s in row["scores"].values())


numbers = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 2), min_size=1)


@given(
    gold=st.dictionaries(st.sampled_from("123"), numbers, min_size=1),
    run=st.dictionaries(st.sampled_from("1234"), numbers, min_size=1),
    limit=st.none() | st.integers(1, 4),
)
def test_means_are_what_a_loop_gives(
    gold: dict[str, dict[str, float]], run: dict[str, dict[str, float]], limit: int | None
) -> None:
    result = ab.rank(*frames(gold, run), measures=["AP", "NDCG'"], nil="d", limit=limit)
    plain = slow.ones(gold, run, nil="d", limit=limit)
    known = [slow.average_precision(each) for each in plain if slow.num_rel(each)]
    primed = [slow.ndcg_t(each) for each in plain]  # of every query
    row = result.rows[0]
    for name, own in (("AP", known), ("NDCG'", primed)):
        if own:
            assert row.scores[name] == pytest.approx(sum(own) / len(own))
        else:
            assert isinstance(row.score(name), ab.Undefined)
            assert row.scores[name] is None
        assert row.queries - row.over[name] == len(plain) - len(own)


def test_a_parquet_run_of_many_queries(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    queries = [f"q{i // 20}" for i in range(2000)]
    run = pl.DataFrame(
        {"query": queries, "doc": [f"d{i % 20}" for i in range(2000)], "score": rng.random(2000)}
    )
    gold = run.select("query", "doc").with_columns(rel=pl.Series(rng.integers(0, 2, 2000)))
    run.sample(fraction=1, shuffle=True, seed=1).write_parquet(tmp_path / "run.parquet")
    scored = ab.rank(gold, tmp_path / "run.parquet", measures=["NumRet", "NumRel", "NumRelRet"])
    relevant = int(gold["rel"].sum())
    assert scored.rows[0].scores == {"NumRet": 2000, "NumRel": relevant, "NumRelRet": relevant}
