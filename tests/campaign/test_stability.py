"""Ranks over resamples, against plain loops, and the curves of runs that say how sure they are."""

from __future__ import annotations

import random
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from tests.campaign.asked import overview
from tests.campaign.slow import make

room = import_module("abstain.features.campaign.resampling")


def test_ranks_are_those_of_a_plain_count() -> None:
    draw = random.Random(3)
    rows = [[draw.choice([0.1, 0.2, 0.3, 0.4]) for _ in range(6)] for _ in range(40)]
    slow = [[1 + sum(other > own for other in row) for own in row] for row in rows]
    assert room.ranks(np.array(rows)).tolist() == slow


def test_a_run_that_is_right_everywhere_is_always_first(tmp_path: Path) -> None:
    lines = ["question,correct", *(f"q{n},A" for n in range(40))]
    (tmp_path / "gold.csv").write_text("\n".join(lines))
    for name, correct in (("all", 40), ("half", 20), ("none", 0)):
        own = [f"q{n},{'A' if n < correct else 'B'}" for n in range(40)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["question,answer", *own]))
    files = [tmp_path / f"{name}.csv" for name in ("none", "half", "all")]
    c = overview(tmp_path / "gold.csv", files, seed=4)
    s = c.result.stability
    assert s is not None
    assert s.seed == 4
    runs = [row.run for row in c.result.rows]
    assert dict(zip(runs, s.first, strict=True)) == {"all": 1, "half": 0, "none": 0}
    ranks = dict(zip(runs, s.low, strict=True))
    assert ranks == dict(zip(runs, s.high, strict=True))
    assert ranks == {"all": 1, "half": 2, "none": 3}


def test_the_chance_of_being_first_is_that_of_the_resamples(tmp_path: Path) -> None:
    """Two runs, each right on its own half: first in about half of the resamples, ties in both."""
    lines = ["question,correct", *(f"q{n},A" for n in range(50))]
    (tmp_path / "gold.csv").write_text("\n".join(lines))
    for name, low in (("even", 0), ("odd", 1)):
        own = [f"q{n},{'A' if n % 2 == low else 'B'}" for n in range(50)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["question,answer", *own]))
    c = overview(tmp_path / "gold.csv", [tmp_path / "even.csv", tmp_path / "odd.csv"])
    assert c.result.stability is not None
    draws = np.random.default_rng(1).binomial(50, 0.5, 200_000)
    expected = float((draws >= 25).mean())  # at least as many draws from the own half
    assert c.result.stability.first == pytest.approx([expected, expected], abs=0.05)


def test_too_many_responses_are_left_to_meta(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, seed=2)
    c = overview(tmp_path / "gold.csv", tmp_path / "runs.csv")
    assert c.result.stability is not None
    assert c.result.stability.trials == 1_000
    monkeypatch.setattr(room, "MOST_CELLS", 10)
    c = overview(tmp_path / "gold.csv", tmp_path / "runs.csv")
    assert c.result.stability is None


def test_runs_that_say_how_sure_they_are_have_curves(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("question,correct\nq1,A\nq2,A\nq3,A\nq4,A\n")
    (tmp_path / "sure.csv").write_text(
        "question,answer,confidence\nq1,A,0.9\nq2,B,0.5\nq3,A,0.5\nq4,,\n"
    )
    (tmp_path / "mute.csv").write_text("question,answer\nq1,A\nq2,A\nq3,A\nq4,A\n")
    c = overview(tmp_path / "gold.csv", [tmp_path / "sure.csv", tmp_path / "mute.csv"])
    assert c.result.curves is not None
    (curve,) = c.result.curves.runs
    assert curve.run == "sure"
    assert curve.points is not None
    assert curve.points.answered == (0, 1, 3)
    assert curve.points.right == (0, 1, 2)
    plain = overview(tmp_path / "gold.csv", tmp_path / "mute.csv")
    assert plain.result.curves is None
    assert plain.result.stability is None  # one run has no rank to lose
