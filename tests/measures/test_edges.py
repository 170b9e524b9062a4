"""Values at the very edge of a rule, where a change of one sign would go unnoticed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import abstain as ab
from abstain.analyses.tune.choose import KeepRisk
from tests.helpers import GOLD, Here


def test_tied_ranks_below_the_first_take_the_last_of_theirs() -> None:
    mrr: Any = ab.measure("MRR")
    value = mrr([0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6], question=["a"] * 4, rank=[1, 2, 2, 3])
    assert value == pytest.approx(1 / 3)
    first = mrr([1, 0, 0, 0], [0.9, 0.8, 0.7, 0.6], question=["a"] * 4, rank=[1, 2, 2, 3])
    assert first == 1


def test_a_threshold_passes_where_its_chance_is_just_delta() -> None:
    # one answer, not wrong: where half are wrong that has a chance of exactly a half
    curve: Any = SimpleNamespace(wrong=np.array([0]), answered=np.array([1]))
    point = np.array([0])
    assert KeepRisk(alpha=0.5, delta=0.5)._passes(curve, point, 0).tolist() == [True]
    assert KeepRisk(alpha=0.5, delta=0.49)._passes(curve, point, 0).tolist() == [False]


def test_a_column_called_refusal_changes_nothing_unless_asked(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("a.csv", "question,answer,refusal\nq1,a,yes\nq2,c,yes\nq3,c,\nq4,d,x\n")
    row = here("score", "gold.csv", "a.csv", "-f", "json").data["results"][0]
    assert (row["counts"]["right"], row["counts"]["wrong"]) == (3, 1)


@pytest.mark.parametrize("top", ["0.5", "0", "-1"])
def test_a_top_grade_below_the_largest(here: Here, top: str) -> None:
    here.write("qrels", "q1 0 d1 1\n")
    here.write("run", "q1 Q0 d1 1 0.5 a\n")
    line = here.refuses("rank", "qrels", "run", "--top", top)
    assert line == f"the top grade must be at least the largest, 1 (got {top})"
    assert here("rank", "qrels", "run", "--top", "1").code == 0


def test_the_largest_beta() -> None:
    assert ab.measure("F(beta=1000000)").arguments == {"beta": 1e6}
    with pytest.raises(ab.UsageError, match="beta"):
        ab.measure("F(beta=1000001)")


def test_k1_reaches_both_of_its_bounds() -> None:
    k1: Any = ab.measure("K1")
    assert k1.bounds == (-1, 1)
    assert k1([1, 1], [1, 1]) == 1
    assert k1([0, 0], [1, 1]) == -1


def test_totals_over_resamples_leave_out_what_has_no_confidence() -> None:
    from abstain.measures.answers import Resamples

    often = np.array([[1, 2], [1, 0]])
    sure = np.array([0.9, np.nan])
    own = Resamples(np.array([True, False]), sure, often.sum(axis=0), numbers=often)
    assert own.total(own.confidence).tolist() == [0.9, 1.8]
