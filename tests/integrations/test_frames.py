"""`frame.abstain` on pandas and polars; torchmetrics; numbers as everywhere else."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import polars as pl
import pytest

import abstain as ab
import abstain.integrations.pandas
import abstain.integrations.polars

GOLD = {"question": ["q1", "q2", "q3", "q4"], "correct": ["a", "b", "c", "d"], "topic": [*"xxyy"]}
RUN = {
    "question": ["q1", "q2", "q3", "q4"],
    "answer": ["a", "c", None, "d"],
    "confidence": [0.9, 0.4, None, 0.8],
}
FRAMES: dict[str, Any] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy polars": pl.LazyFrame,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_asks_for_what_an_evaluation_answers(kind: str) -> None:
    """2 right, 1 wrong, 1 blank: c@1 = 2/4 · (1 + 1/4)."""
    frame = FRAMES[kind](RUN)
    (row,) = frame.abstain.score(pl.DataFrame(GOLD), ["c@1"]).rows
    assert row.scores["c@1"] == 0.625
    by_topic = frame.abstain.score(FRAMES[kind](GOLD), by="topic", policy={"empty": "wrong"})
    assert [(row.counts.right, row.counts.wrong) for row in by_topic.rows] == [(1, 1), (1, 1)]
    assert frame.abstain.curve(pl.DataFrame(GOLD)) == ab.curve(pl.DataFrame(GOLD), frame)
    assert frame.abstain.read(pl.DataFrame(GOLD)).counts()["right"].to_list() == [2]


@pytest.mark.parametrize("kind", FRAMES)
def test_graded_rows_need_no_gold(kind: str) -> None:
    frame = FRAMES[kind]({"question": ["a", "b", "c"], "outcome": ["right", "wrong", "declined"]})
    (row,) = frame.abstain.score(measures=["c@1", "coverage"]).rows
    assert row.scores == {"c@1": pytest.approx(1 / 3 * 4 / 3), "coverage": pytest.approx(2 / 3)}


def test_what_is_no_analysis_is_no_attribute() -> None:
    accessor = pl.DataFrame(RUN).abstain  # type: ignore[attr-defined]
    for name in ("nothing", "runs", "policy", "_private"):
        assert not hasattr(accessor, name)


def test_torchmetrics_adds_up_exactly() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("torchmetrics", reason="torchmetrics is not installed")
    from abstain.integrations.torchmetrics import AbstentionMetric

    draw = torch.Generator().manual_seed(0)
    labels = torch.randint(0, 3, (1000,), generator=draw)
    answers = torch.randint(-1, 3, (1000,), generator=draw)
    metric, halves = AbstentionMetric("c@1"), [AbstentionMetric("c@1") for _ in range(2)]
    for at in range(0, 1000, 7):
        metric.update(answers[at : at + 7], labels[at : at + 7])
        halves[at % 2].update(answers[at : at + 7], labels[at : at + 7])
    blank = answers == -1
    right, u = int(((answers == labels) & ~blank).sum()), int(blank.sum())
    counts = ab.Counts(right, 1000 - right - u, unsplit=u)
    assert metric.counts.tolist() == [counts.right, counts.wrong, 0, 0, 0, u]
    assert float(metric.compute()) == ab.measure("c@1")(counts)
    assert (halves[0].counts + halves[1].counts).tolist() == metric.counts.tolist()
    proba = torch.tensor([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.5, 0.5]])
    sure = AbstentionMetric("validation-recall", threshold=0.65)
    sure.update(proba, torch.tensor([0, 0, 0, 0]))
    assert sure.counts.tolist() == [1, 1, 2, 0, 0, 0]  # argmax of a tie is the first
    metric.reset()
    assert math.isnan(float(metric.compute()))
    assert AbstentionMetric("wrong-rate").higher_is_better is False
