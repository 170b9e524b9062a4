"""How sure a leaderboard is: intervals of the runs, and which of them can be told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.compare.common import common_questions
from abstain.analyses.compare.options import Options
from abstain.analyses.compare.outcomes import compare_outcomes
from abstain.analyses.compare.result import CompareResult
from abstain.judging.evaluation import EXCLUDED, Evaluation
from abstain.measures import Measure
from abstain.stats.intervals import Interval, interval

if TYPE_CHECKING:
    from abstain.outcomes import CountsArray

MOST_RUNS = 100
"""Beyond this many runs, all pairs take longer than the rest of a campaign."""


def run_intervals(
    evaluation: Evaluation,
    overall: CountsArray,
    measure: Measure,
    options: Options,
    comparison: CompareResult | None = None,
) -> list[Interval]:
    """An interval for each run's score; a comparison on all questions has made them already."""
    if comparison is not None and comparison.questions == comparison.questions_in_all:
        made = {
            row.run: [np.nan if x is None else x for x in row.interval] for row in comparison.rows
        }
        return [Interval(made[run][0], made[run][1], options.method) for run in evaluation.runs]
    clusters = evaluation.clusters()
    found = []
    for i, own in enumerate(evaluation.codes):
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
                method=options.method,
                level=options.level,
                trials=options.trials,
                seed=options.seed,
            )
        )
    return found


def told_apart(evaluation: Evaluation, measure: Measure, options: Options) -> CompareResult | None:
    """All pairs of runs, on the questions that count for all; None where that cannot be had."""
    if not 2 <= len(evaluation.runs) <= MOST_RUNS:
        return None
    if not (evaluation.codes != EXCLUDED).all(axis=0).any():
        return None
    common = common_questions(evaluation, evaluation.policy, runs=evaluation.runs)
    return compare_outcomes(common, measure, options, bounded=False)
