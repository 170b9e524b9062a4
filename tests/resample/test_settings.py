"""What is refused of options in Python, and which numbers will do."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

import abstain as ab
from abstain.errors import UsageError
from abstain.stats.resampling.samplers import of_scores
from tests.resample.judge import evaluate

SOURCE = of_scores(list("abc"), {"m": np.random.default_rng(0).random((3, 20))})


@pytest.mark.parametrize(
    "options",
    [
        {"subsets": 0},
        {"subsets": 100_001},
        {"resamples": 0},
        {"bins": 1},
        {"bins": 1001},
        {"level": 1.0},
        {"width": 0.0},
        {"difference": float("inf")},
        {"fuzziness": []},
        {"fuzziness": [1.5]},
        {"draws": "both"},
        {"parts": ["stabilty"]},
        {"size": 11},
        {"size": 21, "parts": ["stability"]},
        {"sizes": [11]},
    ],
)
def test_an_option_out_of_range_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        evaluate(SOURCE, **options)


def test_numbers_and_sequences_of_numpy_will_do() -> None:
    plain: dict[str, Any] = {"subsets": 20, "size": 5, "sizes": [5, 8], "fuzziness": [0.01, 0.05]}
    of_numpy: dict[str, Any] = {
        "subsets": np.int64(20),
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
