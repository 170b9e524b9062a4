"""Calibration errors by name: by hand, and against the code that publishes numbers with them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import abstain as ab
from abstain.measures.definition import Array


def score(name: str, right: Any, sure: Any) -> float:
    item: Any = ab.measure(name)
    return item(right, sure)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # bins (.2 wrong, .4 right), (.6 wrong, .8 right, .9 right): off by .4 of 2 and −.3 of 3
        ("RMSCE(size=2)", math.sqrt((0.4**2 / 2 + 0.3**2 / 3) / 5)),
        ("RMSCE-HLE(size=2)", math.sqrt(0.4**2 / 2 / 5)),
        # one bin: 3 right, confidences that add up to 2.9
        ("RMSCE", 0.1 / 5),
        # edges at ranks 5/3 and 10/3: .4 + ⅔·.2 and .8 + ⅓·.1
        ("adaptive-ECE(bins=3)", (0.4 + abs(-0.6 + 0.2) + 0.1) / 5),
    ],
)
def test_by_hand(name: str, expected: float) -> None:
    right, sure = [0, 1, 0, 1, 1], [0.2, 0.4, 0.6, 0.8, 0.9]
    assert score(name, right, sure) == pytest.approx(expected)


def test_a_tie_between_two_bins_is_shared_evenly() -> None:
    """.5 three times, one right: a bin of two has ⅔ right, the other ⅓ and the right one of .9."""
    expected = math.sqrt(((2 / 3 - 1) ** 2 / 2 + (1 / 3 + 1 - 1.4) ** 2 / 2) / 4)
    for right in ([1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]):
        assert score("RMSCE(size=2)", right, [0.5, 0.5, 0.5, 0.9]) == pytest.approx(expected)


def calib_err(sure: Array, right: Array, *, size: int, last: bool) -> float:
    """What the code of Humanity's Last Exam computes, bin by bin; `last`: without its slip."""
    order = np.argsort(sure)
    sure, right = sure[order], right[order]
    starts = [b * size for b in range(len(sure) // size)]
    ends = [*starts[1:], len(sure)]
    total = 0.0
    for at in range(len(starts) - (not last)):
        inside = slice(starts[at], ends[at])
        apart = abs(np.mean(sure[inside]) - np.mean(right[inside]))
        total += float(len(sure[inside]) / len(sure) * apart**2)
    return math.sqrt(total)


def quantile_error(sure: Array, right: Array, bins: int, *, least: bool) -> float:
    """What AdaptiveECELoss computes; `least`: with the least sure answers, which it leaves out."""
    size = len(sure)
    edges = np.interp(np.linspace(0, size, bins + 1), np.arange(size), np.sort(sure))
    total = 0.0
    for at in range(bins):
        inside = (sure > edges[at]) & (sure <= edges[at + 1])
        inside |= (sure == edges[0]) & (at == 0) & least
        if inside.any():
            total += abs(np.mean(sure[inside]) - np.mean(right[inside])) * inside.mean()
    return total


@pytest.mark.parametrize("seed", range(5))
def test_against_published_code(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(200, 1500))
    sure = rng.beta(3, 1, size)
    right = (rng.random(size) < sure**1.5).astype(float)
    assert score("RMSCE", right, sure) == pytest.approx(calib_err(sure, right, size=100, last=True))
    hle = calib_err(sure, right, size=100, last=False)
    assert score("RMSCE-HLE", right, sure) == pytest.approx(hle)
    ours = score("adaptive-ECE", right, sure)
    assert ours == pytest.approx(quantile_error(sure, right, 15, least=True))
    assert ours == pytest.approx(quantile_error(sure, right, 15, least=False), abs=2 / size)


def test_what_is_left_out_is_not_perfect() -> None:
    """Of 150 answers the code has one bin and leaves it out, which gives 0."""
    right, sure = np.zeros(150), np.full(150, 0.9)
    value = score("RMSCE-HLE", right, sure)
    assert isinstance(value, ab.Undefined)
    assert "200" in value.reason
    assert score("RMSCE", right, sure) == pytest.approx(0.9)
    assert calib_err(sure, right, size=100, last=False) == 0


@pytest.mark.parametrize("seed", range(4))
def test_against_relplot(seed: int) -> None:
    metrics = pytest.importorskip("relplot").metrics
    rng = np.random.default_rng(seed)
    sure = rng.beta(2, 1 + seed % 2, 800)
    right = (rng.random(800) < sure ** (1 + seed / 4)).astype(float)
    assert score("smooth-ECE", right, sure) == pytest.approx(metrics.smECE(sure, right), abs=0.002)


def test_smoothing_by_hand() -> None:
    """One answer at ½ that is off by ½: a width of ½ leaves |off| as it is, whatever the place."""
    assert score("smooth-ECE", [0], [0.5]) == pytest.approx(0.5, abs=1e-6)
    assert score("smooth-ECE", [1, 0], [1.0, 0.0]) == pytest.approx(0, abs=1e-6)
    # always 0.7, right 7 times of 10: nothing is off on average
    assert score("smooth-ECE", [1] * 7 + [0] * 3, [0.7] * 10) == pytest.approx(0, abs=1e-6)
    # two far apart, off by −.3 and +.3: at the widths near the error they hardly meet
    far = score("smooth-ECE", [1] * 10 + [0] * 10, [0.7] * 10 + [0.3] * 10)
    assert 0.1 < far < 0.3


@pytest.mark.parametrize("name", ["RMSCE", "adaptive-ECE", "smooth-ECE"])
def test_many_answers_are_quick_and_near_the_truth(name: str) -> None:
    """Half as often right as promised: off by s/2 everywhere, which no smoothing changes."""
    rng = np.random.default_rng(1)
    sure = rng.random(200_000)
    right = rng.random(200_000) < sure / 2
    expected = math.sqrt(1 / 12) if name == "RMSCE" else 1 / 4
    assert score(name, right, sure) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("AdaECE", "adaptive-ECE(bins=15)"),
        ("smECE", "smooth-ECE"),
        ("RMS-calibration-error", "RMSCE(size=100)"),
        ("HLE-calibration-error", "RMSCE-HLE(size=100)"),
        ("equal-mass-ECE(10)", "ECE-mass(bins=10)"),
    ],
)
def test_the_names_that_others_use(alias: str, name: str) -> None:
    assert ab.measure(alias) == ab.measure(name)
