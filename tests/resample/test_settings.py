"""What is refused of options in Python: one clear line, never a bare TypeError."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

import abstain as ab
from abstain.errors import UsageError
from abstain.stats.resampling.sources import of_scores
from tests.resample.judge import evaluate

SOURCE = of_scores(list("abc"), {"m": np.random.default_rng(0).random((3, 20))})


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("fuzziness", 0.05, "fuzziness is a list of numbers (got 0.05)"),
        ("fuzziness", ["0.05"], "fuzziness is a list of numbers (got ['0.05'])"),
        ("sizes", 5, "sizes is a list of whole numbers (got 5)"),
        ("sizes", [5.5], "sizes is a list of whole numbers (got [5.5])"),
        ("parts", 5, "parts is a list of texts or a text (got 5)"),
        ("parts", None, "parts is a list of texts or a text (got None)"),
        ("seed", None, "seed is a whole number (got None)"),
        ("seed", 1.0, "seed is a whole number (got 1.0)"),
        ("seed", -1, "the seed must be 0 or more (got -1)"),
        ("trials", 5.5, "trials is a whole number (got 5.5)"),
        ("trials", "5", "trials is a whole number (got '5')"),
        ("size", 5.5, "size is a whole number (got 5.5)"),
        ("bins", 21.0, "bins is a whole number (got 21.0)"),
        ("resamples", None, "resamples is a whole number (got None)"),
        ("threads", "two", "threads is a whole number (got 'two')"),
        ("width", "0.01", "width is a number (got '0.01')"),
        ("difference", [0.1], "difference is a number (got [0.1])"),
        ("level", None, "level is a number (got None)"),
    ],
)
def test_an_option_of_another_kind_is_refused(option: str, value: Any, said: str) -> None:
    scores = np.random.default_rng(0).random((20, 3))
    matrix = ab.read_scores(pl.DataFrame(scores, schema=list("abc")))
    with pytest.raises(UsageError) as refused:
        matrix.meta(**{option: value})
    assert str(refused.value) == said


def test_numbers_and_sequences_of_numpy_will_do() -> None:
    plain: dict[str, Any] = {"trials": 20, "size": 5, "sizes": [5, 8], "fuzziness": [0.01, 0.05]}
    of_numpy: dict[str, Any] = {
        "trials": np.int64(20),
        "size": np.int32(5),
        "sizes": np.array([5, 8]),
        "fuzziness": np.array([0.01, 0.05]),
        "level": np.float64(0.95),
        "seed": np.uint8(0),
    }
    found = evaluate(SOURCE, **plain, parts=["stability", "sensitivity"])
    again = evaluate(SOURCE, **of_numpy, parts=("stability", "sensitivity"))
    assert json.dumps(again.to_dict()) == json.dumps(found.to_dict())


def test_one_measure_may_be_given_as_it_is() -> None:
    rows = [(run, f"q{k}", "right" if k % n else "wrong") for run, n in (("a", 2), ("b", 3))
            for k in range(12)]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["run", "question", "outcome"], orient="row")
    for one in ("c@1", ab.measure("c@1")):
        found = ab.read_judged(frame).meta(one, parts="stability")
        assert found.measures == ("c@1",)
