"""Some of the runs, some of the questions: what is asked of them is what is asked of such files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import abstain as ab
from abstain.measures.registry import example_measure
from tests.helpers import words
from tests.snapshots import refuses

QUESTIONS = [f"q{n:02}" for n in range(24)]
GOLD = pl.DataFrame(
    {
        "question": QUESTIONS,
        "correct": ["A", "B", "A", "C"] * 6,
        "options": ["A|B|C"] * 24,
        "topic": ["x"] * 12 + ["y"] * 12,
        "type": ["who", "when"] * 12,
    }
)
ANSWERS = {
    "one": "ABAC" * 5 + "BBBB",
    "two": "AAAA" * 6,
    "three": "".join("-" if n % 3 else "A" for n in range(24)),
}
RUNS = {
    run: pl.DataFrame(
        {
            "question": QUESTIONS,
            "answer": [answer.strip("-") for answer in given],
            "confidence": [(7 * n % 24) / 24 for n in range(24)],
        }
    )
    for run, given in ANSWERS.items()
}
IN_X = GOLD["topic"] == "x"

ASKED: dict[str, Callable[[ab.Evaluation], Any]] = {
    "score": lambda read: read.score(["c@1", "AUROC"], by="type", interval=True).rows,
    "compare": lambda read: read.compare(resamples=100).pairs,
    "curve": lambda read: read.curve().runs,
    "tune": lambda read: read.tune(folds=2).runs,
    "meta": lambda read: read.meta(parts="stability", subsets=5).stability,
    "campaign": lambda read: read.campaign(by="type", topic_by="type").rows,
    "histogram": lambda read: ab.histogram(read).runs,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_some_questions_are_as_if_only_they_had_been_read(name: str) -> None:
    some = ab.read(GOLD, RUNS).only(where={"topic": "x"})
    alone = ab.read(GOLD.filter(IN_X), {run: own.filter(IN_X) for run, own in RUNS.items()})
    assert ASKED[name](some) == ASKED[name](alone)


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_some_runs_are_as_if_only_they_had_been_read(name: str) -> None:
    some = ab.read(GOLD, RUNS).only(runs=["one", "three"])
    alone = ab.read(GOLD, {run: own for run, own in RUNS.items() if run != "two"})
    assert ASKED[name](some) == ASKED[name](alone)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ASKED if name != "meta"])
def test_another_policy_is_as_if_it_had_been_read_so(name: str) -> None:
    policy = {"empty": "wrong"}
    assert ASKED[name](ab.read(GOLD, RUNS).with_policy(policy)) == ASKED[name](
        ab.read(GOLD, RUNS, policy=policy)
    )


def test_one_run_is_named_by_its_name() -> None:
    assert ab.read(GOLD, RUNS).only(runs="two").runs == ("two",)


def test_what_is_not_there_is_told() -> None:
    read = ab.read(GOLD, RUNS)
    with pytest.raises(ab.UnknownNameError, match="no run 'for'"):
        read.only(runs=["for"])
    with pytest.raises(ab.UnknownNameError, match="no question with topic 'z'"):
        read.only(where={"topic": "z"})


def test_the_runs_are_in_one_order_before_and_after_questions() -> None:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.from_arrow(RUNS["one"].to_arrow())
    read = ab.read(GOLD, {"z": RUNS["two"], "a": relation})
    before = read.runs
    assert read.data.kinds.shape == (2, 24)
    assert read.runs == before == ("a", "z")


def test_compared_runs_keep_their_names_where_a_response_is_missing() -> None:
    """`zed` has three of three right, `abe` one of the three that both have; given in any order."""
    gold = pl.DataFrame({"question": ["q1", "q2", "q3", "q4"], "correct": ["A"] * 4})
    runs = {
        "zed": pl.DataFrame({"question": ["q1", "q2", "q3"], "answer": ["A", "A", "A"]}),
        "abe": pl.DataFrame({"question": ["q1", "q2", "q3", "q4"], "answer": [*"ABBB"]}),
    }
    for order in (("zed", "abe"), ("abe", "zed")):
        result = ab.read(gold, {run: runs[run] for run in order}).compare("accuracy")
        assert result.questions == 3
        found = {row.run: row.scores["accuracy"] for row in result.rows}
        assert found == pytest.approx({"zed": 1.0, "abe": 1 / 3})
        (pair,) = result.pairs
        sign = 1 if pair.run == "zed" else -1
        assert pair.difference == pytest.approx(sign * 2 / 3)


def test_counts_know_their_runs_and_no_policy() -> None:
    read = ab.read_counts({"b": ab.Counts(right=1), "a": ab.Counts(wrong=1)})
    assert read.runs == ("b", "a")
    assert read
    with pytest.raises(ab.UsageError, match="needs responses, not counts"):
        read.with_policy({"empty": "wrong"})


# ------------------------------------------------------------------------ a subset says so


WHOLE: dict[str, Callable[[ab.Evaluation], ab.Result]] = {
    "score": lambda read: read.score("c@1"),
    "compare": lambda read: read.compare(resamples=100),
    "curve": lambda read: read.curve(),
    "tune": lambda read: read.tune(folds=2),
    "meta": lambda read: read.meta(parts="stability", subsets=5),
    "campaign": lambda read: read.campaign(),
    "histogram": ab.histogram,
}


@pytest.mark.parametrize("name", WHOLE)
def test_every_result_of_a_subset_says_that_it_is_one(name: str, tmp_path: Path) -> None:
    read = ab.read(GOLD, RUNS)
    assert WHOLE[name](read).subset is None
    some = read.with_policy({"empty": "wrong"}).only(where={"topic": ["x"]})
    result = WHOLE[name](some.only(runs=["three", "one"]))
    assert result.to_dict()["subset"] == {
        "runs": ("one", "three"),
        "of_runs": 3,
        "where": {"topic": ("x",)},
        "questions": 12,
        "of_questions": 24,
    }
    said = "Subset: 2 of 3 runs ('one', 'three'), 12 of 24 questions (topic 'x')."
    assert said in words(str(result))
    result.to_json(tmp_path / "saved.json")
    loaded = ab.load(tmp_path / "saved.json")
    assert loaded == result
    assert loaded.subset == some.only(runs=["three", "one"]).subset


def test_all_of_it_is_no_subset() -> None:
    read = ab.read(GOLD, RUNS)
    assert read.only().subset is None
    assert read.only(runs=list(RUNS), where={"topic": ["x", "y"]}).subset is None


def test_subsets_of_subsets_are_counted_from_the_whole() -> None:
    first = ab.read(GOLD, RUNS).only(runs=["one", "two"], where={"topic": "x"})
    found = first.only(runs="two", where={"type": "who"}).subset
    said = "subset: 1 of 3 runs ('two'), 6 of 24 questions (topic 'x'; type 'who')"
    assert str(found) == said


def test_no_question_may_be_left() -> None:
    gold = GOLD.with_columns(half=pl.Series(["a"] * 12 + ["b"] * 12))
    with refuses(ab.UsageError):
        ab.read(gold, RUNS).only(where={"topic": "x", "half": "b"})


# ------------------------------------------------------------------------------- of counts


COUNTS = pl.DataFrame(
    {
        "run": ["a", "a", "b", "b", "c"],
        "topic": ["x", "y", "x", "y", "y"],
        "right": [3, 1, 2, 2, 4],
        "wrong": [1, 2, 0, 1, 0],
        "unanswered": [0, 1, 2, 1, 0],
    }
)


def test_some_runs_of_counts_are_as_if_only_they_had_been_given() -> None:
    some = ab.read_counts(COUNTS).only(runs=["b", "a"])
    alone = ab.read_counts(COUNTS.filter(pl.col("run") != "c"))
    assert some.runs == ("a", "b")
    result = some.score(by="topic")
    assert result.rows == alone.score(by="topic").rows
    assert "Subset: 2 of 3 runs ('a', 'b')." in words(str(result))
    assert ab.read_counts(COUNTS).only(runs="c").score(by="topic").rows[0].scores["c@1"] == 1


def test_some_rows_of_counts_are_chosen_by_their_attributes() -> None:
    found = ab.read_counts(COUNTS).only(where={"topic": "x"})
    result = found.score("accuracy")
    assert {row.run: row.scores["accuracy"] for row in result.rows} == {"a": 3 / 4, "b": 1 / 2}
    assert result.notes == ("subset: 2 of 3 runs ('a', 'b'), rows (topic 'x')",)
    by_name = ab.read_counts({"a": ab.Counts(right=1), "b": ab.Counts(wrong=1)})
    assert by_name.only(runs="b").runs == ("b",)
    with pytest.raises(ab.UsageError, match="have no attributes"):
        by_name.only(where={"topic": "x"})
    with pytest.raises(ab.UnknownNameError, match="no run 'd'"):
        ab.read_counts(COUNTS).only(runs="d")
    with pytest.raises(ab.UnknownNameError, match="no row with topic 'z'"):
        ab.read_counts(COUNTS).only(where={"topic": "z"})


# ----------------------------------------------------------------------------- of rankings


def some_lists(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judgments and three runs over twelve queries, some of them nil, some lists missing."""
    rng = np.random.default_rng(seed)
    queries = [f"t{n}" for n in range(12)]
    grades = {
        q: rng.choice(4, 6, p=[0.5, 0.3, 0.1, 0.1]) * (n % 5 > 0) for n, q in enumerate(queries)
    }
    qrels = {q: {f"d{k}": int(g) for k, g in enumerate(own)} for q, own in grades.items()}
    runs: dict[str, Any] = {}
    for run in ("one", "two", "three"):
        lengths = rng.integers(0, 9, len(queries))
        runs[run] = {
            q: {f"d{k}": float(len(queries) - at) for at, k in enumerate(rng.permutation(10)[:n])}
            for q, n in zip(queries, lengths, strict=True)
        }
    return qrels, runs


@pytest.mark.parametrize("missing", ["empty", "skip"])
def test_some_queries_of_rankings_are_as_if_only_they_had_been_read(missing: Any) -> None:
    qrels, runs = some_lists(2016)
    kept = ["t1", "t3", "t5", "t6", "t10"]
    how: dict[str, Any] = {"limit": 6, "missing": missing, "top": 3}
    some = ab.read_rankings(qrels, runs, **how).only(queries=kept[::-1], runs=["three", "one"])
    alone = ab.read_rankings(
        {q: qrels[q] for q in kept},
        {run: {q: runs[run][q] for q in kept} for run in ("one", "three")},
        **how,
    )
    assert (some.runs, some.queries) == (("one", "three"), tuple(kept))
    assert some.nil_queries == alone.nil_queries
    assert {"t5", "t10"} <= set(some.nil_queries)
    names = [example_measure(name) for name in ab.list_measures("ranking")]
    measures: list[str | ab.Measure] = [*names, "P@3", "Success@2", "AP(rel=2)"]
    assert some.score(measures, per_query=True).rows == alone.score(measures).rows
    own = some.score(measures, per_query=True).per_query
    assert own == alone.score(measures, per_query=True).per_query
    assert some.truncation().pairs == alone.truncation().pairs
    assert some.truncation().lengths == alone.truncation().lengths
    assert some.compare("AP'", resamples=100).pairs == alone.compare("AP'", resamples=100).pairs


def test_a_subset_of_rankings_says_that_it_is_one(tmp_path: Path) -> None:
    qrels, runs = some_lists(1)
    read = ab.read_rankings(qrels, runs, limit=6)
    assert read.only().subset is None
    some = read.only(runs=["one", "two"]).only(queries=["t1", "t2", "t3", "t4"])
    said = "Subset: 2 of 3 runs ('one', 'two'), 4 of 12 queries ('t1', 't2', 't3', …)."
    results: list[ab.Result] = [some.score(), some.truncation(), some.compare("AP'", resamples=100)]
    results.append(some.meta(["AP'", "RR'"], parts="agreement"))
    for result in results:
        assert said in words(str(result))
        result.to_json(tmp_path / "saved.json")
        loaded = ab.load(tmp_path / "saved.json")
        assert loaded == result
        assert loaded.subset == some.subset
    with pytest.raises(ab.UnknownNameError, match="no query 't99'"):
        read.only(queries="t99")
    with refuses(ab.UnknownNameError, "'tree'"):
        read.only(runs=["tree"])
    with refuses(ab.UsageError):
        read.only(queries=[])


def test_unjudged_queries_are_those_of_the_runs_that_are_left() -> None:
    qrels = {"t1": {"d": 1}, "t2": {"d": 1}}
    runs = {"one": {"t1": {"d": 1.0}, "t9": {"d": 1.0}}, "two": {"t2": {"d": 1.0}}}
    read = ab.read_rankings(qrels, runs)
    unjudged = read.score("RR").unjudged
    assert unjudged is not None
    assert unjudged.first == ("t9",)
    assert read.only(runs="one").score("RR").unjudged is not None
    assert read.only(runs="two").score("RR").unjudged is None
    assert read.only(queries="t1").score("RR").unjudged is None


def test_some_runs_of_scores_are_a_subset() -> None:
    table = pl.DataFrame({"topic": ["1", "2"], "a": [0.1, 0.2], "b": [0.3, 0.1], "c": [0.5, 0.2]})
    read = ab.read_scores(table)
    assert read.only(measures=["score"]).subset is None
    result = read.only(runs=["c", "a"]).compare(resamples=100)
    assert result.notes == ("subset: 2 of 3 runs ('c', 'a')",)
    assert {row.run for row in result.rows} == {"a", "c"}


@pytest.mark.parametrize("ask", ["curve", "histogram", "meta", "several", "validate"])
def test_clusters_without_effect_are_said(ask: str) -> None:
    more: dict[str, Any] = {"subsets": 3, "parts": "stability"} if ask == "meta" else {}
    note = "clusters (topic) have no effect here: each question counts by itself"
    asked = getattr(ab.Evaluation, ask, ab.histogram)
    plain = asked(ab.read(GOLD, RUNS), **more)
    told = asked(ab.read(GOLD, RUNS, cluster="topic"), **more)
    assert note not in plain.notes
    assert note in told.notes
    assert told.to_frame().equals(plain.to_frame())
