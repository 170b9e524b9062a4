"""Some of the runs, some of the questions: what is asked of them is what is asked of such files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import abstain as ab

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
    "compare": lambda read: read.compare(trials=100).pairs,
    "curve": lambda read: read.curve().runs,
    "tune": lambda read: read.tune(folds=2).runs,
    "meta": lambda read: read.meta(parts="stability", trials=5).stability,
    "campaign": lambda read: read.campaign(by="type", topic_by="type").rows,
    "histogram": lambda read: read.histogram().runs,
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
    assert read.kinds.shape == (2, 24)
    assert read.runs == before == ("a", "z")


def test_counts_know_their_runs_and_no_policy() -> None:
    read = ab.read_counts({"b": ab.Counts(right=1), "a": ab.Counts(wrong=1)})
    assert read.runs == ("b", "a")
    assert read
    with pytest.raises(ab.UsageError, match="counted already"):
        read.with_policy({"empty": "wrong"})


@pytest.mark.parametrize("ask", ["curve", "histogram", "tune", "meta", "several", "validate"])
def test_clusters_without_effect_are_said(ask: str) -> None:
    more: dict[str, Any] = {"trials": 3, "parts": "stability"} if ask == "meta" else {}
    note = "clusters (topic) have no effect here: every question is taken by itself"
    plain = getattr(ab.read(GOLD, RUNS), ask)(**more)
    told = getattr(ab.read(GOLD, RUNS, cluster="topic"), ask)(**more)
    assert note not in plain.notes
    assert note in told.notes
    assert told.to_frame().equals(plain.to_frame())
