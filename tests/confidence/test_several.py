"""Several answers a question: K and MRR from files, against a slow loop and by hand."""

from __future__ import annotations

import random
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from tests.helpers import Here
from tests.snapshots import says

GOLD = """question,correct,type
q1,France|Spain|Italy,list
q2,Paris,factoid
q3,,factoid
q4,1969,factoid
"""
LISTS = """run,question,answer,confidence
careful,q1,France,0.9
careful,q1,Spain,0.6
careful,q1,France,0.3
careful,q2,Lyon,0.4
careful,q2,Paris,0.8
careful,q3,none,0.5
bold,q1,France,1
bold,q1,Greece,1
bold,q2,Paris,1
bold,q3,Atlantis,1
bold,q4,1968,1
bold,q4,1969,1
"""


@pytest.fixture
def files(here: Here) -> Here:
    here.write("gold.csv", GOLD)
    here.write("lists.csv", LISTS)
    return here


def test_by_hand(files: Here) -> None:
    """careful: q1 (0.9 + 0.6 + 0)/3, q2 (0.8 − 0.4)/2, q3 0.5/1, q4 nothing; bold's cancel out.

    First right answers of careful at 1, 1, 1 and none; bold is as sure of right as of wrong, so
    its right answers of q1 and q4 stand second.
    """
    said = files("score", "--several", "gold.csv", "lists.csv", "-f", "json")
    assert said.code == 0, said.err
    careful, bold = said.data["results"]
    assert careful["scores"]["K"] == pytest.approx((0.5 + 0.2 + 0.5) / 4)
    assert careful["scores"]["MRR"] == pytest.approx(3 / 4)
    assert careful["answers"] == {"given": 6, "right": 5, "repeated": 1}
    assert careful["unanswered"] == 1
    assert bold["scores"]["K"] == pytest.approx((0 + 1 - 1 + 0) / 4)
    assert bold["scores"]["MRR"] == pytest.approx((1 / 2 + 1 + 0 + 1 / 2) / 4)


def test_by_slice(files: Here) -> None:
    said = files(
        *("score", "--several", "gold.csv", "lists.csv", "-m", "MRR", "--by", "type", "-f", "json")
    )
    found = {(r["run"], r["slice"]["type"]): r["scores"] for r in said.data["results"]}
    assert found["careful", "list"] == {"MRR": 1.0}
    assert found["careful", "factoid"]["MRR"] == pytest.approx(2 / 3)
    assert found["bold", "factoid"]["MRR"] == pytest.approx((1 + 0 + 1 / 2) / 3)


def test_a_rank_goes_before_confidence(files: Here) -> None:
    files.write("r.csv", "question,answer,rank,confidence\nq2,Lyon,1,0.1\nq2,Paris,2,0.9\n")
    (row,) = ab.several("gold.csv", "r.csv").rows
    assert row.scores["MRR"] == pytest.approx(1 / 2 / 4)
    assert row.scores["K"] == pytest.approx((0.9 - 0.1) / 2 / 4)


@pytest.mark.parametrize(
    ("rows", "mrr"),
    [
        ("q2,Lyon,1,\nq2,Paris,,\n", 1 / 2),  # no rank: behind what has one
        ("q2,Lyon,,0.9\nq2,Paris,3,0.1\n", 1),
        ("q2,Lyon,,0.2\nq2,Paris,,0.9\n", 1),  # none has a rank: by confidence
        ("q2,Lyon,1,\nq2,Oslo,,0.9\nq2,Paris,,0.4\n", 1 / 3),
        ("q2,Lyon,1,0.2\nq2,Paris,1,0.9\n", 1 / 2),  # of one rank: tied, however sure
    ],
)
def test_answers_without_a_rank(files: Here, rows: str, mrr: float) -> None:
    files.write("r.csv", "question,answer,rank,confidence\n" + rows)
    (row,) = ab.several("gold.csv", "r.csv", "MRR").rows
    assert row.scores["MRR"] == pytest.approx(mrr / 4)


def test_ranks_of_one_run_are_nothing_to_another(files: Here) -> None:
    files.write("sure.csv", "question,answer,confidence\nq2,Lyon,0.1\nq2,Paris,0.9\n")
    files.write("ranked.csv", "question,answer,rank\nq2,Lyon,2\nq2,Paris,1\n")
    alone = ab.several("gold.csv", "sure.csv", "MRR").rows[0]
    both = ab.several("gold.csv", ["sure.csv", "ranked.csv"], "MRR").rows
    assert alone.scores["MRR"] == pytest.approx(1 / 4)
    assert [row.scores["MRR"] for row in both] == [1 / 4, 1 / 4]


def test_spellings_beyond_the_known_answers_are_repeats(files: Here) -> None:
    """One known answer, said as Paris and as City of Paris: the second earns nothing, 1/2."""
    files.write("g.csv", "question,correct,known\nq1,Paris|City of Paris|Rome,2\n")
    files.write(
        "r.csv", "question,answer,confidence\nq1,Paris,1\nq1,City of Paris,0.5\nq1,Rome,0.25\n"
    )
    (row,) = ab.several("g.csv", "r.csv", "K").rows
    assert (row.answers.right, row.answers.repeated) == (3, 1)
    assert row.scores["K"] == pytest.approx((1 + 0.5 + 0) / 3)
    files.write("g.csv", "question,correct,known\nq1,Paris|City of Paris|Rome,1\n")
    (row,) = ab.several("g.csv", "r.csv", "K").rows
    assert row.answers.repeated == 2
    assert row.scores["K"] == pytest.approx(1 / 3)
    files.write("j.csv", "question,grade,confidence,known\n" + "q1,right,1,1\n" * 3)
    (row,) = ab.read_judged("j.csv").several("K").rows
    assert row.answers.repeated == 2
    assert row.scores["K"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("grades", [("right", "wrong"), ("wrong", "right")])
def test_one_answer_graded_both_ways_is_refused(here: Here, grades: tuple[str, str]) -> None:
    rows = "".join(f"q1,{grade},Paris,0.5\n" for grade in grades)
    here.write("j.csv", "question,grade,answer,confidence\n" + rows)
    line = here.refuses("score", "--several", "--judged", "j.csv")
    says(line, "'j'", "'Paris'", "'q1'")


def test_known_answers_as_the_gold_says(files: Here) -> None:
    """Spellings of one answer are one known answer."""
    files.write("g.csv", "question,correct,known\nq1,Paris|City of Paris,1\n")
    files.write("r.csv", "question,answer,confidence\nq1,Paris,0.8\n")
    (row,) = ab.several("g.csv", "r.csv", "K").rows
    assert row.scores["K"] == pytest.approx(0.8)
    files.write("g.csv", "question,correct\nq1,Paris|City of Paris\n")
    (row,) = ab.several("g.csv", "r.csv", "K").rows
    assert row.scores["K"] == pytest.approx(0.4)
    files.write("g.csv", "question,correct,known\nq1,Paris,0\n")
    line = files.refuses("score", "--several", "g.csv", "r.csv")
    says(line, "g.csv", "'known'", "'0'", "'q1'", "1")


def test_matching_as_text_sees_repeats(files: Here) -> None:
    files.write("r.csv", "question,answer,confidence\nq2,paris,0.5\nq2,Paris!,0.4\n")
    (row,) = ab.several("gold.csv", "r.csv", "K", match="text").rows
    assert (row.answers.right, row.answers.repeated) == (2, 1)
    assert row.scores["K"] == pytest.approx(0.5 / 2 / 4)


answers = st.lists(
    st.tuples(
        st.sampled_from(["q1", "q2", "q3"]),
        st.sampled_from(["a", "b", "c", "x"]),
        st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    ),
    min_size=1,
    max_size=12,
)
RIGHT = {"q1": {"a", "b"}, "q2": {"c"}, "q3": {"a"}}


def slow(rows: list[tuple[str, str, float]]) -> tuple[float, float]:
    """K and MRR, question by question."""
    k = mrr = 0.0
    for question, right in RIGHT.items():
        own = sorted((r for r in rows if r[0] == question), key=lambda r: -r[2])
        seen: set[str] = set()
        earned = 0.0
        for _, answer, sure in own:
            if answer not in seen:
                earned += sure if answer in right else -sure
            seen.add(answer)
        if own:
            k += earned / max(len(right), len(own))
        best = max((sure for _, answer, sure in own if answer in right), default=None)
        if best is not None:
            mrr += 1 / sum(sure >= best for _, _, sure in own)
    return k / len(RIGHT), mrr / len(RIGHT)


@given(rows=answers, seed=st.integers(0, 5))
def test_against_a_slow_loop_in_any_order(rows: list[tuple[str, str, float]], seed: int) -> None:
    gold = pl.DataFrame({"question": list(RIGHT), "correct": ["|".join(r) for r in RIGHT.values()]})
    shuffled = random.Random(seed).sample(rows, len(rows))
    frame = pl.DataFrame(shuffled, schema=["question", "answer", "confidence"], orient="row")
    (row,) = ab.several(gold, frame).rows
    assert (row.scores["K"], row.scores["MRR"]) == pytest.approx(slow(rows))


def test_no_confidence_and_no_answers(files: Here) -> None:
    files.write("r.csv", "question,answer\nq1,France\nq1,Peru\n")
    said = files("score", "--several", "gold.csv", "r.csv")
    out = " ".join(said.out.split())
    says(out)
    files.write("r.csv", "question,answer,confidence\nq1,,\n")
    (row,) = ab.several("gold.csv", "r.csv").rows
    assert (row.answers.total, row.unanswered, row.scores["MRR"], row.scores["K"]) == (
        0,
        4,
        0.0,
        0.0,
    )


@pytest.mark.parametrize("format", ["table", "json", "csv", "markdown", "latex"])
def test_every_format(files: Here, format: str) -> None:
    said = files("score", "--several", "gold.csv", "lists.csv", "--by", "type", "-f", format)
    assert said.code == 0, said.err
    assert "careful" in said.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["gold.csv", "lists.csv", "-m", "c@1"],
            ("1",),
        ),
        (["gold.csv"], ()),
        (["gold.csv", "lists.csv", "--interval"], ("--several", "--interval")),
        (["--judged", "lists.csv"], ("'outcome'",)),
        (["gold.csv", "lists.csv", "--by", "typ"], ("'typ'",)),
        (["gold.csv", "bad.csv"], ("bad.csv:2", "'first'", "1")),
        (["gold.csv", "far.csv"], ("far.csv:2", "'q9'")),
        (["gold.csv", "sure.csv"], ("sure.csv:2", "2", "0", "1")),
        (
            ["gold.csv", "lists.csv", "--policy", "empty=excluded"],
            (),
        ),
        (["gold.csv", "lists.csv", "lists.csv"], ("'bold'",)),
    ],
)
def test_refusals(files: Here, arguments: list[str], said: tuple[str, ...]) -> None:
    files.write("bad.csv", "question,answer,rank\nq1,France,first\n")
    files.write("far.csv", "question,answer,rank\nq9,France,1\n")
    files.write("sure.csv", "question,answer,confidence\nq1,France,2\n")
    says(files.refuses("score", "--several", *arguments), *said)


def test_the_frame(files: Here) -> None:
    result: Any = ab.several("gold.csv", "lists.csv", by=["type"])
    frame = result.to_frame()
    assert frame.columns[:5] == ["rank", "run", "type", "K", "MRR"]
    assert frame.height == 4


JUDGED = """run,question,answer,grade,confidence,known,type
careful,q1,France,right,0.9,3,list
careful,q1,Spain,right,0.6,3,list
careful,q1,France,right,0.3,3,list
careful,q2,Lyon,wrong,0.4,1,factoid
careful,q2,Paris,right,0.8,1,factoid
bold,q1,Greece,wrong,1,3,list
bold,q2,Paris,right,1,1,factoid
"""


def test_judged_rows(here: Here) -> None:
    """As against a gold: (0.9 + 0.6 + 0)/3 and (0.8 − 0.4)/2; −1/3 and 1."""
    here.write("j.csv", JUDGED)
    said = here("score", "--several", "--judged", "j.csv", "-f", "json")
    assert said.code == 0, said.err
    found = {r["run"]: r for r in said.data["results"]}
    assert found["careful"]["scores"]["K"] == pytest.approx((0.5 + 0.2) / 2)
    assert found["careful"]["answers"]["repeated"] == 1
    assert found["bold"]["scores"]["K"] == pytest.approx((-1 / 3 + 1) / 2)
    assert found["bold"]["scores"]["MRR"] == pytest.approx(1 / 2)
    said = here("score", "--several", "--judged", "j.csv", "--by", "type", "-m", "K", "-f", "json")
    slices = {(r["run"], r["slice"]["type"]): r["scores"]["K"] for r in said.data["results"]}
    assert slices["careful", "list"] == pytest.approx(0.5)


def test_judged_rows_without_known_or_answer(here: Here) -> None:
    here.write("j.csv", "question,grade,confidence\nq1,right,0.5\nq1,wrong,0.25\n")
    said = here("score", "--several", "--judged", "j.csv")
    out = " ".join(said.out.split())
    says(out, "'answer'")
    (row,) = ab.read_judged("j.csv").several().rows
    assert row.scores["K"] == pytest.approx((0.5 - 0.25) / 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("question,grade,confidence\nq1,right,7\n", ("j.csv:2", "7", "0", "1")),
        ("question,grade,rank\nq1,right,0\n", ("j.csv:2", "'0'", "1")),
        ("grade,rank\nright,1\n", ("'question'",)),
        ("question,grade\n,right\n", ("j.csv:2",)),
        (
            "question,grade,known\nq1,right,2\nq1,wrong,3\n",
            ("'q1'",),
        ),
        ("question,grade,known\nq1,right,\n", ("'known'", "'q1'")),
    ],
)
def test_judged_refusals(here: Here, text: str, said: tuple[str, ...]) -> None:
    here.write("j.csv", text)
    says(here.refuses("score", "--several", "--judged", "j.csv"), *said)
