"""Resamples at once against each resample written out answer by answer."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.measures.answers import Answers
from abstain.stats.confidence_intervals import sample_of
from tests.measures.confidence_reference import REFERENCE

levels = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5000001, 0.9, 1.0, float("nan")])
questions = st.lists(st.tuples(st.sampled_from([-1, 0, 0, 1, 1, 2, 3, 4]), levels), min_size=1)


def written_out(outcomes: Any, sure: Any, times: Any) -> Answers:
    """The answers of one resample, each as often as its question is drawn."""
    rows = [
        (o in (0, 2), s, o < 2)
        for o, s, n in zip(outcomes, sure, times, strict=True)
        for _ in range(n)
        if 0 <= o < 4
    ]
    right, confidence, given = ([row[i] for row in rows] for i in range(3))
    asked = sum(n for o, n in zip(outcomes, times, strict=True) if o >= 0)
    return Answers(np.array(right, bool), np.array(confidence, float), asked, np.array(given, bool))


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCE)
@given(own=questions, seed=st.integers(0, 1000), clustered=st.booleans())
def test_as_each_by_itself(
    name: str, own: list[tuple[int, float]], seed: int, clustered: bool
) -> None:
    item: Any = ab.measure(name)
    outcomes = np.array([o for o, _ in own], np.int8)
    sure = np.array([s for _, s in own])
    rng = np.random.default_rng(seed)
    clusters = rng.integers(0, 4, len(own)) if clustered else np.arange(len(own))
    times = rng.integers(0, 3, (len(own) + 4, 6))[clusters]
    usable = outcomes >= 0
    sample = sample_of(outcomes, sure, clusters)
    if not usable.any():
        return
    _, first = np.unique(clusters[usable], return_index=True)
    found = sample.values(item, times[usable][first])
    each = [float(item(written_out(outcomes, sure, column))) for column in times.T]
    assert found == pytest.approx(each, rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.slow
def test_comparing_first_keeps_the_order_of_measures() -> None:
    """Importing what compares declares nothing by itself."""
    code = "import abstain.measures as m\nprint(m.list_measures())"
    said = [
        subprocess.run(
            [sys.executable, "-c", start + code], capture_output=True, text=True, check=True
        ).stdout
        for start in ("", "import abstain.features.compare.analysis\n")
    ]
    assert said[0] == said[1] != ""
