"""Cascades of five language models on ARC and TruthfulQA (Plaut et al.)."""

from __future__ import annotations

import pytest

import abstain as ab
from tests.helpers import needs


def cascade(name: str, small: str, **how: float) -> ab.CascadeResult:
    runs = ab.read_judged(needs(f"data/plaut/{name}.csv.gz"))
    return ab.cascade(runs, stages=(small, "Llama3-70b"), **how)  # type: ignore[arg-type]


def test_a_good_guide_sends_less_than_half() -> None:
    result = cascade("arc", "Yi-34b", recover=0.8)
    guide = result.routing[0]
    assert guide.informative
    assert guide.apgr == pytest.approx(0.78, abs=0.005)
    assert guide.cpt["0.8"] == pytest.approx(0.40, abs=0.01)
    chosen = result.chosen  # on questions that had no say
    assert chosen.asked["Llama3-70b"] < 0.5
    assert chosen.recovered == pytest.approx(0.8, abs=0.05)
    gains = {gain.over: gain for gain in result.gains}
    assert (gains["random routing"].interval[0] or 0) > 0.02
    assert (gains["Yi-34b alone"].interval[0] or 0) > 0.05


def test_no_guide_is_called_useless() -> None:
    result = cascade("truthfulqa", "Llama-7b")
    guide = result.routing[0]
    low, high = guide.interval
    assert guide.apgr == pytest.approx(0.505, abs=0.001)
    assert (low or 1) < 0.5 < (high or 0)
    assert not guide.informative
    assert "worth nothing for routing to Llama3-70b" in str(result)
    assert all(
        (gain.interval[0] or 0) <= 0 for gain in result.gains if gain.over != "Llama-7b alone"
    )
