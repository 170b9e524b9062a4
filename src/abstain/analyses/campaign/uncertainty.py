"""How sure a leaderboard is: intervals of the runs, and which of them can be told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from abstain.analyses.campaign.matrix import EXCLUDED, OutcomeMatrix
from abstain.analyses.compare.comparing import compare_outcomes
from abstain.analyses.compare.inputs import Paired
from abstain.analyses.compare.result import Comparison, Progress, Settings
from abstain.errors import UsageError, nearest
from abstain.judging.slices import cluster_numbers
from abstain.measures import Measure
from abstain.outcomes import Policy
from abstain.stats.intervals import Interval, interval

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import CountsArray

MOST_RUNS = 100
"""Beyond this many runs, all pairs take longer than the rest of a campaign."""


def run_intervals(
    matrix: OutcomeMatrix,
    overall: CountsArray,
    measure: Measure,
    settings: Settings,
    comparison: Comparison | None = None,
) -> list[Interval]:
    """An interval for each run's score; a comparison on all questions has made them already."""
    if comparison is not None and comparison.questions == comparison.in_all:
        made = {row.run: row.interval for row in comparison.rows}
        return [made[run] for run in matrix.runs]
    clusters = _clusters(matrix.questions, settings.cluster)
    found = []
    for i, own in enumerate(matrix.outcomes):
        groups = None
        if clusters is not None:
            bins = np.bincount(clusters * 6 + own, minlength=6 * (int(clusters.max()) + 1))
            groups = bins.reshape(-1, 6).astype(np.float64)
            groups[:, EXCLUDED] = 0
        found.append(
            interval(
                measure,
                overall[i],
                clusters=groups,
                method=settings.method,
                level=settings.level,
                trials=settings.trials,
                seed=settings.seed,
            )
        )
    return found


def told_apart(
    matrix: OutcomeMatrix,
    measure: Measure,
    settings: Settings,
    policy: Policy,
    *,
    progress: Progress = lambda _, __: None,
) -> Comparison | None:
    """All pairs of runs, on the questions that count for all; None where that cannot be had."""
    if not 2 <= len(matrix.runs) <= MOST_RUNS:
        return None
    common = (matrix.outcomes != EXCLUDED).all(axis=0)
    if not common.any():
        return None
    kept = matrix.questions.filter(pl.Series(common))
    outcomes = matrix.outcomes[:, common]
    runs = len(matrix.runs)
    paired = Paired(
        runs=matrix.runs,
        questions=kept["question"].to_list(),
        outcomes=outcomes,
        in_all=matrix.questions.height,
        absent={},
        clusters=_clusters(kept, settings.cluster),
        parts=(),
        known=np.zeros((runs, 6)),
        unknown=np.zeros(runs, np.int64),
        policy=policy,
        touched={},
    )
    return compare_outcomes(paired, measure, settings, progress=progress)


def _clusters(questions: pl.DataFrame, attribute: str | None) -> npt.NDArray[np.int64] | None:
    if attribute is None:
        return None
    if attribute not in questions.columns:
        near = nearest(attribute, questions.columns)
        hint = f" (nearest: {', '.join(near)})" if near else ""
        raise UsageError(f"the gold has no attribute '{attribute}' to cluster by{hint}")
    return cluster_numbers(questions, attribute)
