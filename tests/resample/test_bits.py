"""Sets as bits against sets as sets."""

from __future__ import annotations

import numpy as np
import pytest

from abstain.stats.resampling import samplers
from abstain.stats.resampling.samplers import in_common, packed


@pytest.mark.parametrize("questions", [1, 7, 63, 64, 65, 500])
@pytest.mark.parametrize("room", [1, 1 << 15])
def test_what_two_sets_share(questions: int, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samplers, "ROOM", room)
    rng = np.random.default_rng(questions)
    ours, theirs = rng.random((5, questions)) < 0.7, rng.random((3, questions)) < 0.4
    found = in_common(packed(ours), packed(theirs))
    sets = [[set(np.flatnonzero(row).tolist()) for row in table] for table in (ours, theirs)]
    assert found.tolist() == [[len(a & b) for b in sets[1]] for a in sets[0]]
