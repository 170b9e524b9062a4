"""Returning nothing as a decision, against loops; slices of nil queries; one denominator."""

from __future__ import annotations

import io
import math
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.outcomes import Decisions
from abstain.stats.intervals import exact, exact_f1
from tests.helpers import Here
from tests.rankings.collections_by_hand import frames
from tests.snapshots import says

QRELS = "q1 0 a 1\nq2 0 b 1\nq3 0 c 1\nn1 0 z 0\nn2 0 z 0\n"
RUN = "q1 Q0 a 1 3 t\nq2 Q0 NIL 1 3 t\nn1 Q0 NIL 1 8 t\nn2 Q0 x 1 8 t\n"
"""q1 answered; q2 wrongly empty by NIL, q3 wrongly by missing; n1 rightly empty, n2 answered."""
ASKED = ("rank", "qrels", "run", "--nil", "NIL", "--silence", "-m", "AP", "-m", "P@2")


@pytest.fixture
def files(here: Here) -> Here:
    here.write("qrels", QRELS)
    here.write("run", RUN)
    return here


def clopper_pearson(x: int, n: int, level: float) -> tuple[float, float]:
    """By bisection: the ends are where a tail of the binomial has the probability (1 − level)/2."""

    def at_least(k: int, p: float) -> float:
        return sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1))

    def where(rising: Any, wanted: float) -> float:
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if rising(middle) < wanted else (low, middle)
        return (low + high) / 2

    tail = (1 - level) / 2
    low = 0.0 if x == 0 else where(lambda p: at_least(x, p), tail)
    high = 1.0 if x == n else where(lambda p: at_least(x + 1, p), 1 - tail)
    return low, high


def slow_rates(qrels: Any, run: Any, limit: int | None) -> dict[str, tuple[int, int]]:
    counts = dict.fromkeys(("right", "wrong", "answered", "missed"), 0)
    for query, judged in qrels.items():
        listed = sorted(run.get(query, {}), key=lambda doc: -run[query][doc])
        kept = listed[: listed.index("NIL")] if "NIL" in listed else listed
        nil = not any(grade > 0 for grade in judged.values())
        if not kept[:limit]:
            counts["right" if nil else "wrong"] += 1
        else:
            counts["missed" if nil else "answered"] += 1
    right, wrong, answered, missed = counts.values()
    return {
        "over-refusal": (wrong, wrong + answered),
        "under-refusal": (missed, missed + right),
        "abstention-precision": (right, right + wrong),
        "abstention-recall": (right, right + missed),
        "abstention-F1": (2 * right, 2 * right + wrong + missed),
    }


def decided(rates: dict[str, tuple[int, int]]) -> Decisions:
    """The same as decisions on questions: each relevant query that was answered counts as right."""
    (wrong, relevant), (missed, nil) = rates["over-refusal"], rates["under-refusal"]
    return Decisions(
        right=relevant - wrong,
        wrongly_declined=wrong,
        wrongly_answered=missed,
        rightly_declined=nil - missed,
    )


documents = st.permutations(["a", "b", "NIL"]).flatmap(
    lambda docs: st.integers(0, 3).map(lambda n: {d: -float(i) for i, d in enumerate(docs[:n])})
)
grades = st.sampled_from([{"a": 1}, {"a": 0}, {"b": 0, "a": 2}])


@given(st.dictionaries(st.sampled_from("123456"), grades, min_size=1), st.data())
def test_the_rates_are_those_of_a_slow_loop(qrels: Any, data: Any) -> None:
    run = {query: data.draw(documents) for query in qrels}
    limit = data.draw(st.sampled_from([None, 1, 2]))
    gold, rows = frames(qrels, run)
    read = ab.read_rankings(gold, rows if rows.height else rows.lazy(), nil="NIL", limit=limit)
    found = read.score("P@1", silence=True, level=0.9).silence
    expected = slow_rates(qrels, run, limit)
    assert {each.rate: (each.count, each.of) for each in found} == expected
    for each in found:
        if not each.of:
            assert (each.value, each.low, each.high) == (None, None, None)
            continue
        assert each.value == float(Fraction(each.count, each.of))
        assert each.value == pytest.approx(ab.measure(each.rate)(decided(expected)))
        ends = clopper_pearson(each.count, each.of, 0.9)
        if each.rate == "abstention-F1":  # 2J / (1 + J) of J = tp / (tp + fp + fn)
            hits = each.count // 2
            shares = clopper_pearson(hits, each.of - hits, 0.9)
            ends = 2 * shares[0] / (1 + shares[0]), 2 * shares[1] / (1 + shares[1])
        assert (each.low, each.high) == pytest.approx(ends, abs=1e-9)


@pytest.mark.parametrize("n", [4, 12, 40])
@pytest.mark.parametrize(
    "cells", [(0.2, 0.1, 0.2, 0.5), (0.45, 0.02, 0.03, 0.5), (0.1, 0.4, 0.1, 0.4)]
)
def test_intervals_hold_for_few_queries(n: int, cells: tuple[float, ...]) -> None:
    """Of queries drawn with these chances of tp, fp, fn and the rest, 95 % or more."""
    tp, fp, fn, _ = np.random.default_rng(n).multinomial(n, cells, size=4000).T
    for (low, high), truth in (
        (
            exact_f1(2 * tp, 2 * tp + fp + fn, level=0.95),
            2 * cells[0] / (2 * cells[0] + cells[1] + cells[2]),
        ),
        (exact(tp, tp + fp, level=0.95), cells[0] / (cells[0] + cells[1])),
    ):
        there = ~np.isnan(low)
        assert ((low <= truth) & (truth <= high))[there].mean() > 0.94


def test_the_command_shows_the_rates(files: Here) -> None:
    says(files(*ASKED).out, "over-refusal", "0.6667")
    rates = {each["rate"]: each for each in files(*ASKED, "-f", "json").data["silence"]}
    assert (rates["over-refusal"]["count"], rates["over-refusal"]["of"]) == (2, 3)
    assert rates["abstention-F1"]["value"] == pytest.approx(2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2))
    (row,) = pl.read_csv(io.StringIO(files(*ASKED, "-f", "csv").out)).iter_rows(named=True)
    assert row["abstention-recall"] == 1 / 2
    assert row["abstention-recall low"] == pytest.approx(clopper_pearson(1, 2, 0.95)[0])
    assert "with --silence, CSV" in files.refuses(*ASKED, "--by", "nil", "-f", "csv")
    assert ab.rank("qrels", "run", nil="NIL", silence=True).to_frame("silence").height == 5


@pytest.mark.slow
def test_the_page_shows_the_rates(files: Here) -> None:
    page = files(*ASKED, "-f", "html").out
    assert "Returning nothing" in page
    assert "under-refusal" in page


def test_nil_as_answer_changes_scores_and_not_the_rates(files: Here) -> None:
    ends = ab.rank("qrels", "run", nil="NIL", silence=True).silence
    assert ab.rank("qrels", "run", nil="NIL", nil_as_answer=True, silence=True).silence == ends


def test_a_skipped_query_is_no_decision(files: Here) -> None:
    rates = ab.rank("qrels", "run", nil="NIL", missing="skip", silence=True).silence
    assert (rates[0].rate, rates[0].count, rates[0].of) == ("over-refusal", 1, 2)


# ------------------------------------------------------------------------- slices, denominators


def test_nil_queries_are_a_slice_without_a_table(files: Here) -> None:
    rows = ab.rank("qrels", "run", ["P@2", "AP'"], by="nil", nil="NIL").rows
    assert {(row.slice["nil"], row.queries) for row in rows} == {("nil", 2), ("relevant", 3)}
    files.write("queries.csv", "query,nil,type\nq1,x,t\nq2,x,t\nq3,y,t\nn1,y,t\nn2,y,t\n")
    rows = ab.rank("qrels", "run", "P@2", by=["type", "nil"], queries="queries.csv").rows
    assert {row.slice["nil"] for row in rows} == {"x", "y"}  # the column of the table
    files.write("types.csv", "query,type\nq1,t\nq2,t\nq3,t\nn1,t\nn2,t\n")
    rows = ab.rank("qrels", "run", "P@2", by=["nil", "type"], queries="types.csv").rows
    assert {tuple(row.slice.items()) for row in rows} == {
        (("nil", "nil"), ("type", "t")),
        (("nil", "relevant"), ("type", "t")),
    }


MEANS = {  # AP is 1 for q1, 0 for q2 and q3, undefined for n1 and n2; P@2 is 1/2 for q1
    "each": {"AP": (1 / 3, 3), "P@2": (1 / 10, 5)},
    "relevant": {"AP": (1 / 3, 3), "P@2": (1 / 6, 3)},
    "all": {"AP": (1 / 5, 5), "P@2": (1 / 10, 5)},
}


@pytest.mark.parametrize("which", MEANS)
def test_all_means_are_over_the_queries_that_are_asked_for(files: Here, which: str) -> None:
    rankings = ab.read_rankings("qrels", "run", nil="NIL", queries=which)
    (row,) = rankings.score(["AP", "P@2"]).rows
    for name, (mean, count) in MEANS[which].items():
        assert row.scores[name] == pytest.approx(mean)
        assert row.over[name] == count
    args = ("rank", "qrels", "run", "--nil", "NIL", "-m", "AP", "-m", "P@2", "--queries", which)
    (data,) = files(*args, "-f", "json").data["results"]
    assert data["over"] == row.over
    out = files(*args).out
    assert ("AP (3)" in out) == (which == "each")
    assert ("AP queries" in files(*args, "-f", "csv").out) == (which == "each")
    assert ("P@2 (5)" in files(*args, "-f", "latex").out) == (which == "each")
    says(out)
    scores = rankings.scores("AP")
    assert len(scores.topics) == (3 if which == "relevant" else 5)
    assert int(scores.undefined.sum()) == (2 if which == "each" else 0)


def test_a_table_and_the_queries_of_means_are_asked_for_together(files: Here) -> None:
    files.write("queries.csv", "query,type\nq1,x\nq2,x\nq3,y\nn1,y\nn2,y\n")
    args = ("rank", "qrels", "run", "-m", "AP", "--by", "type", "--queries", "queries.csv")
    data = files(*args, "--queries", "all", "-f", "json").data
    assert {row["slice"]["type"]: row["scores"]["AP"] for row in data["results"]} == {
        "x": 0.5,
        "y": 0,
    }
    both = ab.rank("qrels", "run", "AP", by="type", queries=["queries.csv", "all"])
    assert both.settings.queries == "all"
    says(files.refuses(*args, "--queries", "all", "--queries", "relevant"), "one table")
    line = files.refuses(*args, "--queries", "relevant", "--trec-eval")
    says(line, "--trec-eval", "--queries relevant")


def test_all_is_the_mean_of_trec_eval(files: Here) -> None:
    """Where no query is missing, which trec_eval leaves out."""
    files.write("whole", RUN + "q3 Q0 x 1 1 t\n")
    given = ("AP", "NDCG@10", "P@10", "RR", "bpref")
    for_all = ab.rank("qrels", "whole", given, queries="all").rows[0].scores
    assert ab.rank("qrels", "whole", given, trec_eval=True).rows[0].scores == for_all
