"""Coefficients against scipy, against published values, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from abstain.features.meta.analysis import agreements
from abstain.stats.orderings import (
    kendall_tau_b,
    rank_biased_overlap,
    spearman_rho,
    tau_ap,
)
from tests.snapshots import says

scores = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=20)

# The data and the values of the tests of ircor and pyircor (Urbano and Marrero 2017).
SETS = [
    (
        [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
        0.9111,
        0.8333,
    ),
    (
        [0.9, 0.4, 0.9, 0.9, 0.7, 0.1, 0.2, 0.4, 0.5, 1],
        [0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1],
        0.9398,
        0.7321,
    ),
    (
        [0.3, 0.6, 0.2, 0.9, 0.6, 0.2, 0.7, 0.8, 0.7, 0.4],
        [0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6],
        0.3765,
        0.297,
    ),
    (
        [0.2, 0.6, 0.9, 0.1, 0.5, 0.6, 0.8, 0.4, 1, 0.4],
        [0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0, 0.2],
        -0.6510,
        -0.7047,
    ),
]


@pytest.mark.parametrize(("x", "y", "tau", "ap"), SETS)
def test_published_values(x: list[float], y: list[float], tau: float, ap: float) -> None:
    a, b = np.array(x), np.array(y)
    assert kendall_tau_b(a, b) == pytest.approx(tau, abs=5e-5)
    assert tau_ap(a, b) == pytest.approx(ap, abs=5e-5)
    assert tau_ap(b, a) == pytest.approx(ap, abs=5e-5)


@given(scores)
def test_kendall_and_spearman_are_scipys(pairs: list[tuple[int, int]]) -> None:
    from scipy.stats import kendalltau, spearmanr

    x, y = (np.array(v, float) for v in zip(*pairs, strict=True))
    assume(np.ptp(x) > 0 and np.ptp(y) > 0)
    assert kendall_tau_b(x, y) == pytest.approx(kendalltau(x, y).statistic)
    assert spearman_rho(x, y) == pytest.approx(spearmanr(x, y).statistic)


def test_tau_ap_by_hand() -> None:
    """a b c d against b a c d. Read from the second: a has b above it, which the first puts
    below: 0; c has two of two, d three of three: (0 + 1 + 1)/3, so 2·2/3 − 1 = 1/3."""
    x, y = np.array([4.0, 3, 2, 1]), np.array([3.0, 4, 2, 1])
    assert tau_ap(x, y) == pytest.approx(1 / 3)
    assert tau_ap(x, x) == 1
    assert tau_ap(x, -x) == -1


def test_tau_ap_with_ties_by_hand() -> None:
    """x: a, b and c tied, d. y: a and b tied, c, d.

    Read from x: b has a above, tied in y: 0; c has a above in both: 1; d three of three: 1;
    (0 + 1 + 1)/3. Read from y: c has a and b above, x keeps a only: 1/2; d three of three: 1;
    (1/2 + 1)/2. So 2·2/3 − 1 = 1/3 and 2·3/4 − 1 = 1/2, and their mean is 5/12.
    """
    x, y = np.array([3.0, 2, 2, 1]), np.array([3.0, 3, 2, 1])
    assert tau_ap(x, y) == pytest.approx(5 / 12)


def test_rank_biased_overlap_by_hand() -> None:
    """a b c against b a c, p = 1/2: agreements 0, 1, 1; the rest is extrapolated at 1.

    (1/2)(0 + 1/2 + 1/4) + 1/8 = 1/2.
    """
    assert rank_biased_overlap(np.array([3, 2, 1]), np.array([2, 3, 1]), p=0.5) == 0.5


def test_rank_biased_overlap_with_ties_by_hand() -> None:
    """a and b tied before c, against a b c, p = 1/2: at depth 1 two items against one, one of
    them common: 2·1/3; then 1 and 1. (1/2)(2/3 + 1/2 + 1/4) + 1/8 = 5/6."""
    assert rank_biased_overlap(np.array([2, 2, 1]), np.array([3, 2, 1]), p=0.5) == pytest.approx(
        5 / 6
    )


@given(scores)
def test_bounds_symmetry_and_identity(pairs: list[tuple[int, int]]) -> None:
    x, y = (np.array(v, float) for v in zip(*pairs, strict=True))
    assume(np.ptp(x) > 0 and np.ptp(y) > 0)
    for coefficient in (kendall_tau_b, tau_ap, spearman_rho, rank_biased_overlap):
        value = coefficient(x, y)
        assert -1 - 1e-9 <= value <= 1 + 1e-9
        assert value == pytest.approx(coefficient(y, x))
        assert coefficient(x, x) == pytest.approx(1)
        order = np.argsort(x + 10 * y)
        assert coefficient(x[order], y[order]) == pytest.approx(value)


def test_direction_undefined_and_constant_scores() -> None:
    table = np.array([[1.0, 2, 3], [3, 2, 1], [5, 5, 5], [1, np.nan, np.nan]])
    found = {a.measures: a for a in agreements(list("abcd"), table, (1, -1, 1, 1))}
    assert found["a", "b"].tau_b == 1  # less is better for b
    assert found["a", "c"].tau_b is None
    says(found["a", "c"].reason)
    says(found["a", "d"].reason, "1")
