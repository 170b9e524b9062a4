"""What the charts of a run show: what every depth is worth, and how its scores lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.cut.distributions import fit_mixture
from abstain.analyses.cut.result import Bin, Point

if TYPE_CHECKING:
    from abstain.analyses.cut.distributions import Mixture
    from abstain.analyses.cut.lists import Lists
    from abstain.measures.ranked_lists import Floats

DEPTHS = 120
"""Depths that a chart shows at most: all of the first, ever fewer then."""
BINS = 40
POOLED = 4000
"""Scores that a mixture is fitted to at most."""


def points_of(lists: Lists) -> tuple[Point, ...]:
    """What cutting every list at one depth scores and keeps."""
    most = lists.values.shape[1] - 1
    depths = np.unique(np.geomspace(1, most + 1, DEPTHS).astype(np.int64) - 1)
    if most < DEPTHS:
        depths = np.arange(most + 1)
    best = lists.values.argmax(axis=1)
    reached = np.searchsorted(np.sort(best), depths, side="right")
    listed = lists.found[:, -1]
    some = listed > 0
    return tuple(
        Point(
            depth=int(depth),
            score=float(lists.values[:, depth].mean()),
            kept=float(np.minimum(lists.scores.length, depth).mean()),
            recall=float((lists.found[some, depth] / listed[some]).mean()) if some.any() else None,
            best_for=int(count),
        )
        for depth, count in zip(depths, np.diff(reached, prepend=0), strict=True)
    )


def bins_of(lists: Lists) -> tuple[Bin, ...]:
    """How many documents have which score, relevant or not, and what a mixture makes of them."""
    scores = lists.scores.table[lists.scores.inside]
    relevant = lists.relevant[lists.scores.inside]
    if not len(scores) or scores.min() == scores.max():
        return ()
    edges = np.linspace(scores.min(), scores.max(), BINS + 1)
    hits, _ = np.histogram(scores[relevant], edges)
    others, _ = np.histogram(scores[~relevant], edges)
    ordered = np.sort(scores)
    some = ordered[:: max(1, len(ordered) // POOLED)] - edges[0]
    fitted = fit_mixture(some[None])
    normal, exponential = _densities(fitted, (edges[:-1] + edges[1:]) / 2 - edges[0])
    width = len(scores) * (edges[1] - edges[0])
    return tuple(
        Bin(
            low=float(edges[i]),
            high=float(edges[i + 1]),
            relevant=int(hits[i]),
            others=int(others[i]),
            fitted_relevant=float(normal[i] * width),
            fitted_others=float(exponential[i] * width),
        )
        for i in range(BINS)
    )


def _densities(fitted: Mixture, at: Floats) -> tuple[Floats, Floats]:
    from scipy.special import ndtr

    share, mean, deviation, scale = (float(part[0]) for part in fitted)
    normal = np.exp(-0.5 * ((at - mean) / deviation) ** 2) / (deviation * np.sqrt(2 * np.pi))
    exponential = np.exp(-at / scale) / scale
    return share * normal / ndtr(mean / deviation), (1 - share) * exponential
