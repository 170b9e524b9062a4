"""Scores that no bins of the asked width can hold are refused, not overflowed."""

from __future__ import annotations

import pytest

from abstain.errors import UsageError
from abstain.resample.swap import fine_bins


@pytest.mark.parametrize(("span", "width"), [(1.0, 1e-300), (1e200, 0.01), (float("inf"), 0.01)])
def test_a_span_beyond_all_bins_is_refused(span: float, width: float) -> None:
    with pytest.raises(UsageError, match="--width names a wider one"):
        fine_bins([span], width, 21)


def test_ordinary_spans_have_enough_bins() -> None:
    assert fine_bins([1.0, 0.1], 0.01, 21) == [102, 21]
