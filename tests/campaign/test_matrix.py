"""Counting by question, however many runs there are."""

from __future__ import annotations

import polars as pl
import pytest

from tests.campaign.asked import overview

ANSWERS = ("a", "b", "")


@pytest.mark.slow
@pytest.mark.parametrize("runs", [1, 254, 255, 256, 600])
def test_a_question_is_counted_over_any_number_of_runs(runs: int) -> None:
    gold = pl.DataFrame({"question": [str(q) for q in range(7)], "correct": ["a"] * 7})
    given = [[ANSWERS[(r * q + r) % 3] if q else "b" for q in range(7)] for r in range(runs)]
    rows = [(f"r{r}", str(q), given[r][q]) for r in range(runs) for q in range(7)]
    table = pl.DataFrame(rows, schema=["run", "question", "answer"], orient="row")
    c = overview(gold, table, references=False)
    for found, wanted in zip(c.tried, ANSWERS, strict=True):
        assert found.tolist() == [sum(own[q] == wanted for own in given) for q in range(7)]
