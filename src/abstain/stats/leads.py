"""Who leads as a wrong answer costs more: the upper hull of straight lines.

With o = t/(1−t), the penalised score S = c − o·w of a run is a straight line in o. The best of all
runs is the upper hull of these lines, and answering nothing is the line that stays at 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from abstain.outcomes import Array


@dataclass(frozen=True, slots=True)
class Lead:
    """A stretch of t over which one run is ahead; `run` is None where silence is."""

    start: float
    stop: float
    run: int | None


def leads(right: Array | Sequence[float], wrong: Array | Sequence[float]) -> list[Lead]:
    """Who leads from t = 0 to 1, by the shares right and wrong; of equals the first.

    At odds of 1 (t = 1/2) the first, bolder run falls behind the second, at 3 silence takes over:

    >>> [(round(lead.start, 3), lead.run) for lead in leads([0.6, 0.3], [0.4, 0.1])]
    [(0.0, 0), (0.5, 1), (0.75, None)]
    """
    c = np.append(np.asarray(right, np.float64), 0.0)
    w = np.append(np.asarray(wrong, np.float64), 0.0)
    silence = len(c) - 1
    exists = ~(np.isnan(c) | np.isnan(w))
    c, w = np.where(exists, c, -1.0), np.where(exists, w, 2.0)
    odds = 0.0
    best = int(np.lexsort((np.arange(len(c)), w, -c))[0])
    found: list[Lead] = []
    while True:
        gentler = w < w[best] - 1e-15
        stop = np.inf
        follows = best
        if gentler.any():
            meets = np.where(gentler, (c[best] - c) / np.where(gentler, w[best] - w, 1.0), np.inf)
            stop = max(odds, float(meets.min()))
            at = np.flatnonzero(np.isclose(meets, stop, rtol=1e-12, atol=1e-15) | (meets <= stop))
            follows = int(at[np.lexsort((at, w[at]))[0]])
        run = None if best == silence else best
        if stop > odds or not found:
            ends = 1.0 if np.isinf(stop) else stop / (1 + stop)
            if ends > odds / (1 + odds):
                found.append(Lead(odds / (1 + odds), ends, run))
        if np.isinf(stop):
            return found
        odds, best = stop, follows
