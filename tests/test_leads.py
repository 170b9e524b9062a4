"""Who leads over t, against trying every t."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain.stats.orderings import leads

SIZE = 20
shares = st.tuples(st.integers(0, SIZE), st.integers(0, SIZE)).filter(lambda p: sum(p) <= SIZE)


@given(st.lists(shares, min_size=1, max_size=8))
def test_the_leader_has_the_highest_score_at_every_t(points: list[tuple[int, int]]) -> None:
    right = np.array([a for a, _ in points]) / SIZE
    wrong = np.array([b for _, b in points]) / SIZE
    found = leads(right, wrong)
    assert found[0].start == 0
    assert found[-1].stop == 1
    assert all(a.stop == b.start for a, b in pairwise(found))
    assert all(a.run != b.run for a, b in pairwise(found))
    for t in np.linspace(0, 0.99, 100):
        lead = next(each for each in found if each.start <= t <= each.stop)
        best = max(0.0, *(c - t / (1 - t) * w for c, w in zip(right, wrong, strict=True)))
        own = 0.0
        if lead.run is not None:
            own = right[lead.run] - t / (1 - t) * wrong[lead.run]
        assert abs(own - best) < 1e-9


def test_a_run_without_questions_leads_nowhere() -> None:
    assert [lead.run for lead in leads([np.nan, 0.5], [np.nan, 0.5])] == [1, None]


def test_a_run_that_is_never_wrong_stays_ahead_of_silence() -> None:
    found = leads([0.2, 0.6], [0.0, 0.4])
    assert [lead.run for lead in found] == [1, 0]
    assert found[1].start == pytest.approx(0.5)  # 0.6 − o·0.4 = 0.2 at o = 1
