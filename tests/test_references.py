"""Rows to read a score by, against every possible blanking of small runs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import pytest

import abstain as ab
from tests.helpers import Here, mean
from tests.measures.reference import REFERENCE
from tests.snapshots import says

# The exceptions are quadratic in R, or divide by what varies: their rows are the scores of the
# expected counts, not the means.
LINEAR = [n for n in REFERENCE if n not in ("estimated-qa-performance", "hallucination-rate")]
PAYS_TO_BE_RIGHT = (
    "c@1",
    "accuracy",
    "F",
    "F(beta=2)",
    "UF",
    "UF-scaled",
    "credit(t=0.25)",
    "S(t=0.75)",
)

RUNS = [
    ab.Counts(right=2, wrong=2, unanswered_right=1, unanswered_wrong=2),
    ab.Counts(right=3, wrong=0, unanswered_right=2, unanswered_wrong=1),
    ab.Counts(right=1, wrong=3, unanswered_right=0, unanswered_wrong=2),
]


def candidates(k: ab.Counts) -> list[str]:
    """Every answer and candidate of a run, R or W, whatever was answered."""
    right, wrong = int(k.right + k.unanswered_right), int(k.wrong + k.unanswered_wrong)
    return ["R"] * right + ["W"] * wrong


def blanked(given: Sequence[str], blank: Sequence[int]) -> list[str]:
    return ["U" + o if i in blank else o for i, o in enumerate(given)]


def reference_row(k: ab.Counts, name: str, reference: str) -> float:
    result = ab.read_counts({"run": k}).score(measures=[name], references=True)
    return next(r.score(name) for r in result.rows if r.reference == reference)


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("k", RUNS)
def test_random_blanking_is_the_mean_over_all_blankings(name: str, k: ab.Counts) -> None:
    given = candidates(k)
    scores = [
        REFERENCE[name](blanked(given, blank))
        for blank in itertools.combinations(range(len(given)), int(k.unanswered))
    ]
    expected = mean(Fraction(s) for s in scores if s is not None)
    assert expected is not None
    assert reference_row(k, name, "random blanking") == pytest.approx(float(expected))


@pytest.mark.parametrize("name", PAYS_TO_BE_RIGHT)
@pytest.mark.parametrize("k", RUNS)
def test_best_blanking_is_the_best_of_all(name: str, k: ab.Counts) -> None:
    given = candidates(k)
    best = max(
        score
        for size in range(len(given) + 1)
        for blank in itertools.combinations(range(len(given)), size)
        if (score := REFERENCE[name](blanked(given, blank))) is not None
    )
    assert reference_row(k, name, "best blanking") == pytest.approx(float(best))


@pytest.mark.parametrize("name", ["c@1", "UF-scaled", "precision"])
def test_answering_nothing(name: str) -> None:
    score = reference_row(RUNS[0], name, "answer nothing")
    expected = REFERENCE[name](["UE"] * 7)
    assert math.isnan(score) if expected is None else score == float(expected)


def test_no_luck_without_candidates() -> None:
    for k in (ab.Counts(2, 1, unanswered_empty=1), ab.Counts(2, 1, unsplit=1), ab.Counts(2, 1)):
        rows = ab.read_counts({"run": k}).score(references=True).rows
        assert [r.reference for r in rows if r.reference == "random blanking"] == []


def test_references_have_no_rank_and_push_nobody_down(here: Here) -> None:
    here.write("c.csv", "run,right,wrong,unanswered\na,1,2,1\nb,2,2,0\n")
    said = here("score", "--counts", "c.csv", "--references", "-f", "csv", "-m", "c@1")
    rows = [line.split(",")[:2] for line in said.out.splitlines()[1:]]
    assert ["1", "b"] in rows
    assert ["2", "a"] in rows
    assert ["", "answer nothing"] in rows
    assert ["", "a: best blanking"] in rows
    assert len(rows) == 5


def test_undefined_references_are_named_as_the_table_names_them(here: Here) -> None:
    here.write("c.csv", "run,right,wrong,unanswered\na,1,2,1\n")
    said = here("score", "--counts", "c.csv", "--references", "-m", "precision")
    flat = " ".join(said.out.split())
    says(flat)
