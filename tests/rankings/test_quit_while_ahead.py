"""Table 3, Figures 2 and 3 of Liu, Moffat, Baldwin and Zhang (2016), on simulated runs."""

from __future__ import annotations

import io
import math
import sys
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import abstain as ab
from tests.helpers import Here
from tests.snapshots import says

LIMIT, P = 5, 0.5
Lists = dict[str, dict[str, list[str]]]
"""Of each run and query, the documents in the order of their ranks; NIL is one of them."""


def simulated(runs: int, queries: int) -> tuple[dict[str, dict[str, int]], Lists]:
    """Five answers a question as in TREC 2001, a third of the questions without a right one."""
    rng = np.random.default_rng(runs)
    qrels = {
        f"q{q}": {f"d{d}": int(d < (q % 3) * 2) for d in range(12)} for q in range(1, queries + 1)
    }
    lists: Lists = {}
    for run in range(runs):
        lists[f"r{run}"] = {}
        for query in qrels:
            found = [f"d{d}" for d in rng.permutation(14)[: rng.integers(0, LIMIT + 1)]]
            if len(found) < LIMIT and rng.random() < 0.2 + 0.06 * run:
                found.insert(int(rng.integers(0, len(found) + 1)), "NIL")
            if found:
                lists[f"r{run}"][query] = found
    return qrels, lists


# ------------------------------------------------------------------- what the paper says, in loops


def discounted(gains: list[float]) -> float:
    return sum(gain / math.log2(1 + rank) for rank, gain in enumerate(gains, 1))


def averaged(gains: list[float], there: float) -> float:
    return sum(g * sum(gains[: i + 1]) / (i + 1) for i, g in enumerate(gains)) / there


def biased(gains: list[float]) -> float:
    return (1 - P) * sum(gain * P**i for i, gain in enumerate(gains))


def original(listed: list[str], judged: dict[str, int]) -> list[float]:
    """RR, RBP, NDCG, AP of a list as it was sent in: NIL is the answer where there is no other."""
    right = {doc for doc, grade in judged.items() if grade} or {"NIL"}
    gains = [float(doc in right) for doc in listed]
    first = next((1 / rank for rank, gain in enumerate(gains, 1) if gain), 0.0)
    ideal = discounted([1.0] * min(len(right), LIMIT))
    return [first, biased(gains), discounted(gains) / ideal, averaged(gains, len(right))]


def primed(listed: list[str], judged: dict[str, int]) -> list[float]:
    """The same of the transformed list, with a terminal document where the system ended it."""
    right = {doc for doc, grade in judged.items() if grade}
    kept = listed[: listed.index("NIL")] if "NIL" in listed else listed
    gains = [float(doc in right) for doc in kept]
    first = next((1 / rank for rank, gain in enumerate(gains, 1) if gain), 0.0)
    depth, there = len(kept), len(right)
    if depth == LIMIT:
        if not right:
            return [0.0] * 4
        ideal = discounted([1.0] * min(there, LIMIT))
        return [first, biased(gains), discounted(gains) / ideal, averaged(gains, there)]
    terminal = sum(gains) / there if right else 1.0
    with_end = [*gains, terminal]
    ideal = discounted([1.0] * min(there + 1, depth + 1))
    return [
        first if right else 1 / (depth + 1),
        biased(gains) + terminal * P**depth,
        discounted(with_end) / ideal,
        averaged(with_end, there + 1),
    ]


def tau(first: list[float], second: list[float]) -> float:
    """Kendall's τ-b, pair by pair; what only rounding tells apart is tied."""
    signs = [
        tuple(0 if abs(x[i] - x[j]) < 1e-12 else math.copysign(1, x[i] - x[j]) for x in both)
        for both in [(first, second)]
        for i, j in combinations(range(len(first)), 2)
    ]
    untied = [sum(1 for sign in signs if sign[side]) for side in (0, 1)]
    return sum(a * b for a, b in signs) / math.sqrt(untied[0] * untied[1])


def means(lists: Lists, qrels: dict[str, dict[str, int]], score: Any) -> dict[str, list[float]]:
    return {
        run: [
            sum(values) / len(qrels)
            for values in zip(*(score(own.get(q, []), qrels[q]) for q in qrels), strict=True)
        ]
        for run, own in lists.items()
    }


def scored(lists: Lists) -> dict[str, dict[str, dict[str, float]]]:
    """Runs as they are read: the higher a document stands, the higher its score."""
    return {
        run: {q: {doc: -float(i) for i, doc in enumerate(docs)} for q, docs in own.items()}
        for run, own in lists.items()
    }


# --------------------------------------------------------------------------------------- the tests


@pytest.mark.parametrize("runs", [12, 16])
def test_table_3_and_both_figures_as_transcribed(runs: int) -> None:
    qrels, lists = simulated(runs, 30)
    found = ab.read_rankings(qrels, scored(lists), nil="NIL", limit=LIMIT).truncation()
    before, after = means(lists, qrels, original), means(lists, qrels, primed)
    assert [(pair.original, pair.primed) for pair in found.pairs] == [
        ("RR", "RR'"),
        ("RBP(p=0.5)", "RBP'(p=0.5)"),
        ("NDCG@5", "NDCG'"),
        ("AP", "AP'"),
    ]
    for at, pair in enumerate(found.pairs):
        for run, both in pair.scores.items():
            assert both.original == pytest.approx(before[run][at], abs=1e-12)
            assert both.primed == pytest.approx(after[run][at], abs=1e-12)
        expected = tau([own[at] for own in before.values()], [own[at] for own in after.values()])
        assert pair.kendall_tau == pytest.approx(expected, abs=1e-12), pair.original
        assert expected < 1
    for run, own in lists.items():
        ends = [q for q in qrels if "NIL" in own.get(q, []) or len(own.get(q, [])) < LIMIT]
        assert found.lengths[run].truncated == len(ends)


def test_the_same_report_whichever_way_nil_was_read() -> None:
    """`nil_as_answer` is about the scores that were asked for, not about the report."""
    qrels, lists = simulated(5, 9)
    given: Any = {"nil": "NIL", "limit": LIMIT}
    ends = ab.read_rankings(qrels, scored(lists), **given).truncation()
    answers = ab.read_rankings(qrels, scored(lists), **given, nil_as_answer=True)
    assert answers.truncation().pairs == ends.pairs
    assert answers.truncation().lengths == ends.lengths
    some = answers.only(runs=["r3", "r1"], queries=["q2", "q4"])
    assert some.truncation().lengths.keys() == {"r1", "r3"}


def test_nil_among_equal_scores_stands_last_or_where_its_id_puts_it() -> None:
    """As an answer NIL comes before A (ids fall); as an end it comes behind it."""
    found = ab.read_rankings({"q": {"A": 1}}, {"q": {"A": 1.0, "NIL": 1.0}}, nil="NIL")
    (rr, *_) = found.truncation().pairs
    assert (rr.scores["run"].original, rr.scores["run"].primed) == (0.5, 1.0)


def test_p_is_the_one_that_is_asked_for() -> None:
    qrels, lists = simulated(3, 6)
    found = ab.read_rankings(qrels, scored(lists), nil="NIL", limit=LIMIT)

    def asked(*measures: str, **how: bool) -> list[str]:
        report = found.score(measures, **how).truncation  # type: ignore[arg-type]
        assert report is not None
        return [pair.original for pair in report.pairs if pair.original.startswith("RBP")]

    assert asked("AP", truncation=True) == ["RBP(p=0.5)"]
    assert asked("AP", same_lists=True) == ["RBP(p=0.8)"]
    assert asked("RBP'(p=0.95)", truncation=True) == ["RBP(p=0.95)"]
    twice = found.score(["RBP(p=0.7)", "RBP'(p=0.9)"], truncation=True)
    assert asked("RBP(p=0.7)", "RBP'(p=0.9)", truncation=True) == ["RBP(p=0.7)", "RBP(p=0.9)"]
    assert sum(name.startswith("original-primed-rbp") for name in twice.charts()) == 2


def test_what_the_original_measures_score_is_said(here: Here) -> None:
    here.write("qrels", "1 0 a 1\n2 0 b 0\n")
    here.write("run", "1 Q0 a 1 9 r\n2 Q0 NIL 1 1 r\n")
    args = ("rank", "qrels", "run", "--nil", "NIL", "-m", "RR")
    zero = "If a query has nothing relevant, the original measures count 0;"
    right = "If a query has nothing relevant, the original measures count NIL as a right answer;"

    def said(*more: str) -> str:
        return " ".join(here(*args, *more).out.split())

    assert right in said("--truncation")
    says(said("--truncation"))
    assert zero in said("--same-lists")
    again = said("--same-lists", "--nil-as-answer")
    assert right in again
    assert zero not in again
    report = here(*args, "--truncation", "-f", "json").data["truncation"]
    assert report["measures"][0]["scores"]["r"] == {"original": 1.0, "primed": 1.0}
    assert report["nil_is_right"]
    alike = here(*args, "--same-lists", "-f", "json").data["truncation"]
    assert alike["measures"][0]["scores"]["r"] == {"original": 0.5, "primed": 1.0}
    assert alike["same_lists"]


def test_runs_from_a_pipe_are_read_both_ways(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    here.write("qrels", "1 0 a 1\n2 0 b 0\n")
    run = b"1 Q0 a 1 9 r\n2 Q0 NIL 1 1 r\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(run)))
    args = ("rank", "qrels", "-", "--nil", "NIL", "-m", "RR", "--truncation", "-f", "json")
    report = here(*args).data["truncation"]
    assert report["measures"][0]["scores"]["r"] == {"original": 1.0, "primed": 1.0}
