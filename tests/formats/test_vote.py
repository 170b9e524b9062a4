"""`convert --vote`: several samples of a run become one, agreement is its confidence."""

from __future__ import annotations

import csv
import random
from collections import Counter

import pytest

from tests.helpers import Here
from tests.snapshots import says

SAMPLES = """question,answer,model
q1,Rome,m
q1,Paris,m
q1,paris.,m
q2,,m
q2,,m
q2,Oslo,m
q3,a,m
q3,b,m
q4,,m
q4,,m
q1,Rome,n
q1,Rome,n
"""


def rows_of(here: Here, name: str) -> list[dict[str, str]]:
    with (here.folder / name).open(newline="") as file:
        return list(csv.DictReader(file))


def test_by_hand(here: Here) -> None:
    here.write("samples.csv", SAMPLES)
    said = here("convert", "samples.csv", "voted.csv", "--vote")
    says(said.err, "12 samples", "5 responses", "1 of them tied")
    rows = rows_of(here, "voted.csv")
    found = [(r["run"], r["question"], r["answer"], r["candidate"]) for r in rows]
    assert found == [
        ("m", "q1", "Paris", ""),
        ("m", "q2", "", "Oslo"),  # more blanks than of any answer
        ("m", "q3", "a", ""),  # tied: sampled first
        ("m", "q4", "", ""),
        ("n", "q1", "Rome", ""),
    ]
    sure = [float(r["confidence"]) if r["confidence"] else None for r in rows]
    assert sure == pytest.approx([2 / 3, 1 / 3, 1 / 2, None, 1])


def test_refusals_that_are_looked_for_are_blanks(here: Here) -> None:
    here.write("samples.csv", "question,answer\nq1,Rome\nq1,I do not know\nq1,I am not sure.\n")
    said = here("convert", "samples.csv", "voted.csv", "--vote", "--detect-refusals", "en")
    says(said.err, "2 of 3 responses", "1 response")
    assert "tied" not in said.err
    (row,) = rows_of(here, "voted.csv")
    assert (row["answer"], row["candidate"]) == ("", "Rome")
    assert float(row["confidence"]) == pytest.approx(1 / 3)


def test_an_answer_and_as_many_blanks_are_a_tie(here: Here) -> None:
    here.write("samples.csv", "question,answer\nq1,\nq1,Rome\nq2,\nq2,\n")
    said = here("convert", "samples.csv", "voted.csv", "--vote")
    says(said.err, "4 samples", "2 responses", "1 of them tied")
    row = rows_of(here, "voted.csv")[0]
    assert (row["answer"], row["candidate"], row["confidence"]) == ("Rome", "", "0.5")


def test_by_a_slow_loop(here: Here) -> None:
    draw = random.Random(7)
    samples = [(f"q{n}", draw.choice(["A", "B", "C", ""])) for n in range(30) for _ in range(5)]
    text = "".join(f"{question},{answer}\n" for question, answer in samples)
    here.write("samples.csv", "question,answer\n" + text)
    assert here("convert", "samples.csv", "voted.csv", "--vote").code == 0
    for row in rows_of(here, "voted.csv"):
        answers = [answer for question, answer in samples if question == row["question"]]
        votes = Counter(filter(None, answers))
        if not votes:
            assert (row["answer"], row["confidence"]) == ("", "")
            continue
        most = max(votes.values())
        first = next(a for a in answers if votes[a] == most)
        blank = answers.count("") > most
        assert (row["answer"], row["candidate"]) == (("", first) if blank else (first, ""))
        assert float(row["confidence"]) == pytest.approx(most / 5)


def test_a_grade_goes_with_its_answer_and_a_curve_follows(here: Here) -> None:
    lines = ["question,answer,grade"]
    for n in range(6):
        lines += [f"q{n},x,{'right' if n % 2 else 'wrong'}"] * (2 + n % 3) + [f"q{n},y,wrong"]
    here.write("samples.csv", "\n".join(lines) + "\n")
    assert here("convert", "samples.csv", "voted.csv", "--vote").code == 0
    grades = {row["question"]: row["grade"] for row in rows_of(here, "voted.csv")}
    assert grades == {f"q{n}": "right" if n % 2 else "wrong" for n in range(6)}
    said = here("curve", "--judged", "voted.csv", "-f", "json")
    assert said.data["results"][0]["as_submitted"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    "text", ["question,answer\nq1,a\nq2,a\n", "question,correct\nq1,a\nq1,a\n"], ids=["one", "gold"]
)
def test_what_cannot_be_voted_on(here: Here, text: str) -> None:
    here.write("samples.csv", text)
    says(here.refuses("convert", "samples.csv", "voted.csv", "--vote"), "samples.csv")
