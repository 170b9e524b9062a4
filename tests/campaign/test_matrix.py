"""Counting by question, however many runs there are."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from abstain.analyses.campaign.matrix import OutcomeMatrix


@pytest.mark.parametrize("runs", [1, 254, 255, 256, 600])
def test_a_question_is_counted_over_any_number_of_runs(runs: int) -> None:
    outcomes = np.random.default_rng(runs).integers(0, 6, (runs, 7)).astype(np.uint8)
    outcomes[:, 0] = 1
    questions = pl.DataFrame({"question": [str(n) for n in range(7)]})
    kinds = np.zeros((runs, 1), np.int64)
    matrix = OutcomeMatrix([str(n) for n in range(runs)], questions, outcomes, kinds)
    for wanted in ((0,), (1,), (2, 3, 4)):
        slow = [sum(int(o) in wanted for o in outcomes[:, q].tolist()) for q in range(7)]
        assert matrix.per_question(*wanted).tolist() == slow
