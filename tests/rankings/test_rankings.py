"""`Rankings`: read once, asked everything; results that look the same fresh and loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import abstain as ab
from tests.helpers import Here
from tests.snapshots import refuses, says

QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}, "q3": {"d": 0}}
"""q3 is a nil query."""
RUNS = {
    "long": {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}, "q2": {"x": 2.0, "c": 1.0}, "q3": {"x": 1.0}},
    "short": {"q1": {"a": 1.0}, "q2": {"c": 1.0}},
}
AP = {"long": [(1 + 2 / 3) / 2, 1 / 2], "short": [1 / 2, 1.0]}
QUERIES = pl.DataFrame({"query": ["q1", "q2"], "type": ["list", "fact"]})


def rankings(**options: Any) -> ab.Rankings:
    return ab.read_rankings(QRELS, RUNS, queries=QUERIES, **options)


# ---------------------------------------------------------------------------------- read once


def test_everything_is_asked_of_what_was_read_once(here: Here) -> None:
    lines = [f"{q} 0 {d} {g}" for q, own in QRELS.items() for d, g in own.items()]
    files = [here.write("qrels", "\n".join(lines) + "\n")]
    for name, run in RUNS.items():
        lines = [f"{q} Q0 {d} 1 {s} {name}" for q, own in run.items() for d, s in own.items()]
        files.append(here.write(name, "\n".join(lines) + "\n"))
    files.append(here.write("queries.csv", QUERIES.write_csv()))
    found = ab.read_rankings("qrels", ["long", "short"], queries="queries.csv", limit=3)
    for path in files:
        path.unlink()
    means = {row.run: row.scores["AP"] for row in found.score("AP").rows}
    assert means == {run: pytest.approx(sum(own) / 2) for run, own in AP.items()}
    by_type = {
        (row.run, row.slice["type"]): row.scores["AP"] for row in found.score("AP", by="type").rows
    }
    assert by_type["long", "fact"] == 1 / 2
    assert by_type["short", "list"] == 1 / 2
    assert by_type["long", None] is None
    assert found.scores("AP").complete().scores().tolist() == [
        pytest.approx(AP["long"]),
        pytest.approx(AP["short"]),
    ]
    assert found.truncation().lengths["long"].at_limit == 1


def test_what_it_holds() -> None:
    found = rankings(nil="NIL")
    assert repr(found) == "<Rankings: 2 runs × 3 queries>"
    assert (found.runs, found.queries) == (("long", "short"), ("q1", "q2", "q3"))
    assert found.nil_queries == ("q3",)
    assert found.settings.nil == "NIL"


def test_scores_are_a_matrix_of_runs_and_queries() -> None:
    found = rankings().scores(["AP", "NumRet"], cluster="type")
    assert repr(found) == "<ScoreMatrix: 2 measures × 2 runs × 3 queries>"
    assert found.scores("NumRet").tolist() == [[3, 2, 1], [1, 1, 0]]
    assert np.isnan(found.scores("AP")[:, 2]).all()
    assert (found.absent, found.undefined_on) == ({}, {"long": 1, "short": 1})
    assert found.clusters() == pytest.approx([0, 1, 2])
    kept = found.complete()
    left_out = "left out: 1 of 3 queries, where some system has no score"
    says(kept.notes[-1], f"{left_out}")
    assert rankings().scores().measures == ("AP", "NDCG@10", "P@10", "RR")
    assert rankings(limit=9).scores().measures[-1] == "RR'"
    skipped = rankings(missing="skip").scores("RR")
    assert skipped.absent == {"short": 1}
    assert rankings(trec_eval=True, missing="empty").scores("AP").absent == {}
    with pytest.raises(ab.UsageError, match="no attribute 'typ'"):
        rankings().scores("AP", cluster="typ")


def test_runs_are_compared_and_measures_judged_by_the_scores_of_queries() -> None:
    found = rankings().compare("AP", resamples=200)
    (pair,) = found.pairs
    assert pair.difference == pytest.approx((sum(AP["long"]) - sum(AP["short"])) / 2 * _sign(pair))
    assert found == rankings().scores("AP").compare(resamples=200)
    judged = rankings().meta(["AP", "RR"], parts="agreement")
    assert judged.measures == ("AP", "RR")
    with pytest.raises(ab.UsageError, match="does not support clusters"):
        rankings().scores("AP", cluster="type").compare(test="wilcoxon")


def _sign(pair: Any) -> int:
    return 1 if (pair.run, pair.against) == ("long", "short") else -1


def test_scores_know_which_way_is_better() -> None:
    assert ab.measure("RBP-residual(p=0.8)").higher_is_better is False
    found = rankings().scores(["AP", "RBP-residual(p=0.8)"])
    assert found.higher_is_better == (True, False)
    assert found.single("RBP-residual(p=0.8)").higher_is_better == (False,)


def test_slices_need_a_table_of_queries() -> None:
    with refuses(ab.UsageError):
        ab.read_rankings(QRELS, RUNS).score(by="type")


def test_the_same_numbers_as_the_line_that_reads_and_asks() -> None:
    once = rankings(limit=2).score(["AP'", "RR"], by="type", per_query=True, truncation=True)
    line = ab.rank(
        *(QRELS, RUNS, ["AP'", "RR"]),
        by="type",
        per_query=True,
        truncation=True,
        limit=2,
        queries=QUERIES,
    )
    assert once == line


# ----------------------------------------------------------------------------- results, loaded


def results() -> dict[str, ab.Result]:
    found = rankings(limit=2)
    return {
        "plain": found.score(),
        "sliced": found.score("AP", by="type"),
        "queries": found.score(["AP", "RR'"], per_query=True),
        "whole": found.score("AP", per_query=True, truncation=True),
        "truncation": found.truncation(p=0.5),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", list(results()))
def test_a_loaded_result_is_and_looks_as_the_fresh_one(name: str, tmp_path: Path) -> None:
    fresh = results()[name]
    fresh.to_json(tmp_path / "saved.json")
    loaded = ab.load(tmp_path / "saved.json")
    assert loaded == fresh
    assert str(loaded) == str(fresh)
    assert repr(loaded) == repr(fresh)
    assert "\n" not in repr(fresh)
    assert loaded.charts() == fresh.charts()
    assert loaded.page() == fresh.page()
    for table in fresh.TABLES:
        assert loaded.to_frame(table).equals(fresh.to_frame(table))
    for ending in ("csv", "md", "tex", "txt", "html"):
        if (name, ending) == ("whole", "csv"):
            continue  # two tables of different rows
        for which, result in (("a", fresh), ("b", loaded)):
            result.save(tmp_path / f"{which}.{ending}")
        one, two = ((tmp_path / f"{which}.{ending}").read_text() for which in "ab")
        assert one == two


@pytest.mark.slow
@pytest.mark.parametrize("name", list(results()))
def test_a_notebook_shows_every_table(name: str, tmp_path: Path) -> None:
    found = results()[name]
    found.save(tmp_path / "tables.md")
    shown = found._repr_html_()
    assert shown.count("<table") == (tmp_path / "tables.md").read_text().count("\n| -")
    assert "<script" not in shown


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"results": []}, ()),
        ({"measures": []}, ()),
        ({"nothing_relevant": {}}, ("'nothing_relevant'",)),
        ({"per_query": [{"run": "a"}]}, ()),
        ({"settings": {"missing": "maybe"}}, ("'maybe'",)),
    ],
)
def test_a_result_that_is_not_whole_is_refused(
    change: dict[str, Any], said: tuple[str, ...], tmp_path: Path
) -> None:
    import json

    plain = rankings().score("AP").to_dict() | change
    (tmp_path / "r.json").write_text(json.dumps(plain))
    with refuses(ab.InputError, *said):
        ab.load(tmp_path / "r.json")


# ----------------------------------------------------------------------------- facts, by hand


def test_the_facts_behind_the_notes() -> None:
    runs = RUNS | {"odd": {"q1": {"NIL": 9.0, "a": 1.0}, "q7": {"a": 1.0}, "q8": {"a": 1.0}}}
    found = ab.rank(QRELS, runs, ["AP", "AP'", "P(rel=2)@5"], limit=1)
    assert (found.queries, found.nil_queries, found.top_grade) == (3, 1, 1)
    assert found.nothing_relevant == {"AP": 1, "AP'": 1, "P(rel=2)@5": 3}
    # The nil query's lists: one document of `long`, which is the limit; none of the others.
    assert found.full_for_nothing == {"AP'": 1}
    assert found.nil_words == ("NIL",)
    assert found.unjudged is not None
    assert (found.unjudged.queries, found.unjudged.first) == (2, ("q7", "q8"))
    ends = [(own.run, own.lists, own.missing, own.truncated, own.at_limit) for own in found.lists]
    assert ends == [("long", 3, 0, 0, 3), ("short", 3, 1, 1, 2), ("odd", 3, 2, 2, 1)]
    assert not found.graded
    assert ab.rank({"q": {"a": 1, "b": 3}}, {"q": {"a": 1.0}}).graded


def test_lengths_in_ranges() -> None:
    found = rankings().truncation().histogram
    # before and after are the same here: 3, 2, 1 of long and 1, 1, 0 of short
    assert found.edges == (0, 1, 2, 3, 4)
    assert found.before == found.after == (1, 3, 1, 1)


def test_frames_of_truncation() -> None:
    found = rankings(limit=3).truncation()
    table = found.to_frame()
    assert table.columns[:4] == ["run", "share_truncated", "RR", "RR'"]
    assert table["share_truncated"].to_list() == [2 / 3, 1.0]
    assert [each.mean_after for each in found.lengths.values()] == [2.0, 2 / 3]
    assert [pair.original for pair in found.pairs] == ["RR", "RBP(p=0.5)", "NDCG@3", "AP"]


# -------------------------------------------------------------------- how they were read


def test_every_result_of_rankings_says_how_they_were_read(here: Here) -> None:
    lines = [f"{q},{d},{g}" for q, own in QRELS.items() for d, g in own.items()]
    here.write("qrels.csv", "\n".join(["topic,doc,rel", *lines]) + "\n")
    lines = [
        f"{run},{q},{d},{s}"
        for run, own in RUNS.items()
        for q, docs in own.items()
        for d, s in docs.items()
    ]
    here.write("runs.csv", "\n".join(["run,topic,doc,score", *lines]) + "\n")
    found = ab.read_rankings(
        "qrels.csv",
        "runs.csv",
        columns={"query": "topic"},
        format="csv",
        engine="polars",
        nil="NIL",
        limit=3,
        missing="skip",
        top=2,
    )
    asked = {
        "rank": found.score("AP'"),
        "truncation": found.truncation(),
        "compare": found.compare("AP'", resamples=100),
        "meta": found.meta(["AP'", "RR'"], parts="agreement"),
        "compared scores": found.scores("RR'").compare(resamples=100),
        "judged scores": found.scores(["AP'", "RR'"]).meta(parts="agreement"),
    }
    for name, result in asked.items():
        plain = result.to_dict()
        assert plain["reading"] == {
            "format": "csv",
            "columns": {"query": "topic"},
            "engine": "polars",
        }, name
        settings = plain["settings"]
        assert (settings["nil"], settings["limit"]) == ("NIL", 3)
        assert (settings["missing"], settings["top"]) == ("skip", 2.0)
        result.to_json("saved.json")
        assert ab.load("saved.json") == result
        assert "nil NIL, limit 3, missing skip" in result.page()
    inside = found.score("AP'", truncation=True).to_dict()["truncation"]
    assert not {"reading", "settings", "subset"} & set(inside)


def test_results_of_scores_say_how_they_were_read(here: Here) -> None:
    here.write("ap.csv", "qid,set,a,b\n1,x,.1,.2\n2,x,.3,.4\n3,y,.5,.9\n4,y,.2,.6\n")
    found = ab.read_scores("ap.csv", columns={"question": "qid"}, cluster="set")
    reading = {"columns": {"question": "qid"}, "cluster": "set"}
    for result in (found.compare(resamples=100), found.meta(parts="power", resamples=50)):
        plain = result.to_dict()
        assert plain["reading"] == reading
        assert "settings" not in plain
        result.to_json("saved.json")
        assert ab.load("saved.json") == result


def test_a_geometric_mean_is_not_compared() -> None:
    """Its queries' scores have an arithmetic mean that nobody asked for."""
    with refuses(ab.AbstainError):
        rankings().scores("GMAP")


def test_a_level_of_relevance_for_every_measure() -> None:
    """Grades 1 and 2, and the document of grade 2 second: RR is 1, and 1/2 from grade 2 on."""
    given = ab.read_rankings(
        {"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}, relevance_level=2
    )
    assert given.score(["RR", "RR(rel=3)", "NDCG"]).rows[0].scores == {
        "RR(rel=2)": 0.5,
        "RR(rel=3)": 0.0,
        "NDCG": pytest.approx((1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3))),
    }


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_documents_of_a_pool_that_was_sampled(tmp_path: Path, engine: Any) -> None:
    """Ranked: pool, relevant, stranger, pool, relevant; negative grades were not judged.

    At rank 2: 1/2 + 1/2 · 1/1 · 1/2. At rank 5: 1/5 + 4/5 · 3/4 · 1, but for the smoothing.
    """
    qrels = {"p": {"a": 1}, "q": {"a": 1, "b": -1, "c": 0, "d": 2, "e": -2}}
    scores = {"e": 9.0, "a": 8.0, "x": 7.0, "b": 6.0, "d": 5.0}
    run = pl.DataFrame({"doc": list(scores), "score": list(scores.values())})
    run.with_columns(query=pl.lit("q")).write_parquet(tmp_path / "run.parquet")
    given = ab.read_rankings(qrels, tmp_path / "run.parquet", engine=engine)
    for asked in (given, given.only(queries=["q"])):
        (score,) = asked.score("infAP", per_query=True).per_query[-1].scores.values()
        assert score == pytest.approx((0.75 + 0.8) / 2, abs=1e-5)
    assert given.score("NumUnjudged").rows[0].scores == {"NumUnjudged": 3}
