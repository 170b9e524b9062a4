"""How sure a leaderboard is: intervals of the runs, and which of them can be told apart."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.analyses.compare import compare
from abstain.judging.evaluation import Evaluation
from abstain.measures import Measure
from abstain.outcomes import EXCLUDED
from abstain.stats.intervals import interval

if TYPE_CHECKING:
    from abstain.analyses.compare.result import CompareResult
    from abstain.analyses.score.result import Ends
    from abstain.outcomes import CountsArray

MOST_RUNS = 100
"""Beyond this many runs, all pairs take longer than the rest of a campaign."""

WIDTH = EXCLUDED + 1


def run_intervals(
    evaluation: Evaluation,
    overall: CountsArray,
    measure: Measure,
    comparison: CompareResult | None,
    *,
    method: str,
    level: float,
    seed: int,
) -> list[Ends]:
    """An interval for each run's score; a comparison on all questions has made them already."""
    if comparison is not None and comparison.questions == comparison.questions_in_all:
        made = {row.run: row.intervals[str(measure)] for row in comparison.rows}
        return [made[run] for run in evaluation.runs]
    clusters = evaluation.clusters()
    found: list[Ends] = []
    for i, own in enumerate(evaluation.codes):
        groups = None
        if clusters is not None:
            size = WIDTH * (int(clusters.max()) + 1)
            counts = np.bincount(clusters * WIDTH + own, minlength=size).reshape(-1, WIDTH)
            groups = counts.astype(np.float64)
            groups[:, EXCLUDED] = 0
        span = interval(measure, overall[i], clusters=groups, method=method, level=level, seed=seed)
        low, high = (None if math.isnan(end) else float(end) for end in (span.low, span.high))
        found.append((low, high))
    return found


def told_apart(
    evaluation: Evaluation,
    measure: Measure,
    *,
    method: Any,
    level: float,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> CompareResult | None:
    """All pairs of runs, on the questions that count for all; None where that cannot be had."""
    if not 2 <= len(evaluation.runs) <= MOST_RUNS:
        return None
    if not (evaluation.codes < EXCLUDED).all(axis=0).any():
        return None
    # What the campaign's policy makes of missing responses holds here too.
    alike = evaluation.with_policy(evaluation.policy)
    return compare(alike, measure, interval=method, level=level, seed=seed, progress=progress)
