"""The paragraph: who needs least, how many questions, and what is only reckoned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from abstain.analyses.meta import MetaResult
from abstain.analyses.meta.parts import questions_needed
from abstain.report.meta_words import advice_of
from abstain.stats.resampling.sources import of_scores
from tests.resample.judge import evaluate


def advice(tables: dict[str, Any], **options: Any) -> str:
    return advice_of(judged(tables, **options))


def judged(tables: dict[str, Any], **options: Any) -> MetaResult:
    runs = [f"r{k}" for k in range(len(next(iter(tables.values()))))]
    return evaluate(of_scores(runs, tables), parts=["sensitivity"], **options)


def scores(low: float, high: float, seed: int = 0) -> Any:
    """Six runs of rising ability over 60 questions, between two scores."""
    rng = np.random.default_rng(seed)
    drawn = np.clip(rng.normal(0.5, 0.15, (6, 60)) + np.linspace(-0.3, 0.3, 6)[:, None], 0, 1)
    return low + (high - low) * drawn.round(3)


def test_a_measure_without_a_highest_score_above_zero_is_not_crowned() -> None:
    result = judged({"loss": scores(-100, -1), "ap": scores(0, 1)}, trials=200)
    assert [row.relative is None for row in result.sensitivity] == [True, False]
    loss, ap = (row.required for row in result.sensitivity)
    needed = (
        f"a reliable comparison on 30 questions, ap needs a difference of {ap:g} or more: other"
    )
    assert needed in advice_of(result)
    assert f"; loss needs {loss:g} (loss cannot be compared: no score is above 0)." in advice_of(
        result
    )
    assert "share" not in advice_of(result)


def test_measures_on_scales_that_nothing_compares() -> None:
    result = judged({"loss": scores(-100, -1), "cost": scores(-1, 0)}, trials=200)
    loss, cost = (row.required for row in result.sensitivity)
    told = f"comparison on 30 questions: loss {loss:g} and cost {cost:g}. Their scales cannot"
    assert told in advice_of(result)


def test_a_share_of_the_highest_score_compares_scales() -> None:
    result = judged({"percent": scores(0, 100), "share": scores(0, 1, seed=5)}, trials=200)
    shares = {row.measure: (row.required or 0) / (row.highest or 1) for row in result.sensitivity}
    least = min(shares, key=lambda name: shares[name])
    assert shares["percent"] != pytest.approx(shares["share"])
    told = f"For a reliable comparison on 30 questions, {least} needs a difference of "
    assert advice_of(result).startswith(told)
    assert "or more, less than other measures (as a share of the highest" in advice_of(result)


def test_what_was_not_tried_is_said_to_be_reckoned() -> None:
    tables = {"m": scores(0, 1)}
    reckoned = "Beyond the 8 that were tried, the required difference is assumed to fall"
    few = judged(tables, trials=200, size=8, sizes=[8])
    required = few.sensitivity[0].required or 0
    assert required > 0
    half = advice(tables, trials=200, size=8, sizes=[8], difference=required / 2)
    assert f"would need about {4 * 8} questions with m. {reckoned}" in half
    enough = advice(tables, trials=200, size=8, sizes=[8], difference=required)
    assert "would need about 8 questions with m." in enough
    assert "Beyond" not in enough


def test_the_size_of_the_table_is_tried_too() -> None:
    """30 questions were drawn for the table: no law need say what they do."""
    tables = {"m": scores(0, 1)}
    found = judged(tables, trials=200, sizes=[5])
    required = found.sensitivity[0].required or 0
    assert required < (found.required_by_questions[0].required or 0)
    said = advice(tables, trials=200, sizes=[5], difference=required)
    assert "would need about 30 questions with m." in said
    assert "Beyond" not in said


@pytest.mark.parametrize("difference", [1e-200, 5e-324])
def test_a_difference_of_next_to_nothing(difference: float) -> None:
    assert questions_needed({10: 0.3}, difference) == 10**15
    assert questions_needed({10: 0.3}, 0.03) == 1000
    said = advice({"m": scores(0, 1)}, trials=200, difference=difference)
    assert f"A difference of {difference:g} would need over 10^15 questions with m." in said
