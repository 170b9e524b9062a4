"""Scores that are equal on paper are equal here, whatever their last digit."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import abstain as ab
from abstain.features.campaign.tables import leaderboard
from abstain.features.campaign.tables import tests_passed as passed_tests
from abstain.report.result import places
from abstain.stats.orderings import above, at_least
from tests.campaign.asked import overview

HALF = {"few": (9, 1, 20), "all": (15, 15, 0)}
"""Right, wrong and blank of 30: (9/30)·(1 + 20/30) = 15/30 = 1/2."""


def test_a_test_is_passed_with_exactly_the_mark_and_ties_share_a_place() -> None:
    gold = pl.DataFrame(
        {"question": [f"q{i}" for i in range(30)], "correct": ["a"] * 30, "test": ["t"] * 30}
    )
    runs = {
        name: gold.select("question").with_columns(
            answer=pl.Series(["a"] * right + ["b"] * wrong + [""] * blank)
        )
        for name, (right, wrong, blank) in HALF.items()
    }
    c = overview(gold, runs, pass_mark=0.5, references=False)
    assert passed_tests(c) == [1, 1]
    assert [row[0] for row in leaderboard(c).grid.rows] == ["1=", "1="]


def test_a_score_is_the_double_nearest_to_its_exact_value() -> None:
    for n in (30, 59):
        for right in range(n + 1):
            for blank in range(n - right + 1):
                k = ab.Counts(right, n - right - blank, unsplit=blank)
                c, u = Fraction(right, n), Fraction(blank, n)
                assert ab.measure("c@1")(k) == float(c * (1 + u))
                assert ab.measure("F")(k) == float(2 * c / (2 - u))
                if u < 1:
                    assert ab.measure("precision")(k) == float(c / (1 - u))


def test_score_ranks_as_a_campaign_does() -> None:
    counts = {name: ab.Counts(r, w, unsplit=u) for name, (r, w, u) in HALF.items()}
    assert [row.rank for row in ab.read_counts(counts).score(measures=["c@1"]).rows] == ["1=", "1="]


def test_comparisons() -> None:
    low = math.nextafter(0.5, 0)
    scores = np.array([low, 0.5, 0.6, 0.4, math.nan])
    assert at_least(scores, 0.5).tolist() == [True, True, True, False, False]
    assert above(scores, 0.5).tolist() == [False, False, True, False, False]


@pytest.mark.parametrize(
    ("higher", "expected"),
    [(True, ["2", "1", "3=", "3=", ""]), (False, ["3", "4", "1=", "1=", ""])],
)
def test_places(higher: bool, expected: list[str]) -> None:
    scores = [0.6, 0.9, 0.5, math.nextafter(0.5, 1), math.nan]
    assert places(scores, higher_is_better=higher) == expected
    assert places([], higher_is_better=higher) == []
    assert places([math.nan], higher_is_better=higher) == [""]
