"""The paragraph: the difference required, how many questions, and what is only extrapolated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from abstain.features.meta.analysis import questions_needed
from abstain.features.meta.result import MetaResult
from abstain.features.meta.view import advice_of
from abstain.stats.resampling.samplers import of_scores
from tests.resample.judge import evaluate
from tests.snapshots import says


def advice(tables: dict[str, Any], **options: Any) -> str:
    return " ".join(advice_of(judged(tables, **options)))


def judged(tables: dict[str, Any], **options: Any) -> MetaResult:
    runs = [f"r{k}" for k in range(len(next(iter(tables.values()))))]
    return evaluate(of_scores(runs, tables), parts=["sensitivity"], **options)


def scores(low: float, high: float, seed: int = 0) -> Any:
    """Six runs of rising ability over 60 questions, between two scores."""
    rng = np.random.default_rng(seed)
    drawn = np.clip(rng.normal(0.5, 0.15, (6, 60)) + np.linspace(-0.3, 0.3, 6)[:, None], 0, 1)
    return low + (high - low) * drawn.round(3)


def test_each_measure_has_its_required_difference() -> None:
    """A measure whose scores are all below 0 has no relative difference, but a required one."""
    result = judged({"loss": scores(-100, -1), "ap": scores(0, 1)}, subsets=200)
    assert [row.relative is None for row in result.sensitivity] == [True, False]
    loss, ap = (row.required for row in result.sensitivity)
    says(" ".join(advice_of(result)), f"{loss:g}", f"{ap:g}")


def test_what_was_not_tried_is_said_to_be_reckoned() -> None:
    tables = {"m": scores(0, 1)}
    reckoned = "Beyond the 8 that were tried, the required difference is assumed to fall"
    few = judged(tables, subsets=200, size=8, sizes=[8])
    required = few.sensitivity[0].required or 0
    assert required > 0
    half = advice(tables, subsets=200, size=8, sizes=[8], difference=required / 2)
    assert f"{4 * 8} with m. {reckoned}" in half
    enough = advice(tables, subsets=200, size=8, sizes=[8], difference=required)
    assert ": 8 with m." in enough
    assert "Beyond" not in enough


def test_the_size_of_the_table_is_tried_too() -> None:
    """30 questions were drawn for the table: no law need say what they do."""
    tables = {"m": scores(0, 1)}
    found = judged(tables, subsets=200, sizes=[5])
    required = found.sensitivity[0].required or 0
    assert required < (found.required_by_questions[0].required or 0)
    said = advice(tables, subsets=200, sizes=[5], difference=required)
    assert ": 30 with m." in said
    assert "Beyond" not in said


@pytest.mark.parametrize("difference", [1e-200, 5e-324])
def test_a_difference_of_next_to_nothing(difference: float) -> None:
    assert questions_needed({10: 0.3}, difference) == 10**15
    assert questions_needed({10: 0.3}, 0.03) == 1000
    said = advice({"m": scores(0, 1)}, subsets=200, difference=difference)
    assert f"a difference of {difference:g}: over 10^15 with m." in said
