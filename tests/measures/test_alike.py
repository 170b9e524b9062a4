"""Measures that order any runs alike: what each says of the others, and that it is so."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import abstain as ab

ALIKE = [
    {"accuracy", "credit(t=0)", "S(t=0)", "qa-accuracy"},
    {"credit(t=0.25)", "S(t=0.25)"},
    {"UF", "UF-scaled", "credit(t=0.5)", "S(t=0.5)"},
    {"credit(t=0.9)", "S(t=0.9)"},
    {"answer-all-bound", "credit(t=1)"},
    {"precision", "validation-precision"},
    {"c@1"},
    {"F"},
    {"wrong-rate-credit"},
    {"coverage"},
]
"""c + t·u is t more than 1 − t times c − t/(1 − t)·w, and UF is S and twice UF-scaled, less 1."""
COUNTS = [
    ab.Counts(c, w, unsplit=6 - c - w) for c, w in product(range(7), repeat=2) if 0 < c + w <= 6
]
"""All ways to answer some of six questions."""


def ordered(name: str) -> list[int]:
    """For each two runs which one has the higher score."""
    values = np.array([float(ab.measure(name)(k)) for k in COUNTS])
    gaps = values[:, None] - values
    return np.where(np.abs(gaps) < 1e-12, 0, np.sign(gaps)).astype(int).ravel().tolist()


ORDERS = {name: ordered(name) for own in ALIKE for name in sorted(own)}


@pytest.mark.parametrize("name", ORDERS)
def test_a_measure_names_those_that_order_runs_as_it_does(name: str) -> None:
    (alike,) = (own for own in ALIKE if name in own)
    assert {*ab.measure(name).ranks_like} == alike - {name}
    for other, order in ORDERS.items():
        assert (order == ORDERS[name]) is (other in alike), other
