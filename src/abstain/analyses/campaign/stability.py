"""Would other questions have ranked the runs the same? Ranks over resamples of the questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.campaign.result import Stability
from abstain.stats.resampling.cells import of_outcomes
from abstain.stats.resampling.sources import random_multiplicities, stream

if TYPE_CHECKING:
    from abstain.judging.evaluation import Evaluation
    from abstain.measures import Measure
    from abstain.outcomes import Array, IntArray

MOST_CELLS = 5_000_000
"""Responses beyond which an overview does without: `abstain meta` has all the time."""

MANY_CELLS = 1_000_000
TRIALS, FEW_TRIALS = 1_000, 200
HELD = 1 << 22
"""Numbers that a block of trials may hold."""


def rank_stability(
    evaluation: Evaluation, measure: Measure, order: Sequence[int], seed: int
) -> Stability | None:
    """Ranks over resamples, runs in a given order; None for one run or too many responses."""
    codes = evaluation.codes
    runs, questions = codes.shape
    if runs < 2 or codes.size > MOST_CELLS:
        return None
    trials = TRIALS if codes.size <= MANY_CELLS else FEW_TRIALS
    source = of_outcomes(list(evaluation.runs), codes, [measure])
    sign = 1 if measure.higher_is_better else -1
    step = max(1, HELD // max(questions, 3 * runs))
    found = np.empty((trials, runs), np.int64)
    for number, start in enumerate(range(0, trials, step)):
        rows = min(step, trials - start)
        weights = random_multiplicities(stream(seed, 7, number), rows, questions)
        found[start : start + rows] = ranks(sign * source.weighed(weights)[0].T)
    low, high = np.quantile(found, (0.025, 0.975), axis=0, method="inverted_cdf")
    first = (found == 1).mean(axis=0)
    return Stability(
        trials=trials,
        seed=seed,
        low=low[order].tolist(),
        high=high[order].tolist(),
        first=first[order].tolist(),
    )


def ranks(scores: Array) -> IntArray:
    """Rank 1 for the highest of each row; equal scores share the better rank.

    >>> ranks(np.array([[0.2, 0.5, 0.5, np.nan]])).tolist()
    [[3, 1, 1, 4]]
    """
    values = np.round(np.nan_to_num(-scores, nan=np.inf), 12)
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    place = np.arange(values.shape[1])
    begins = np.ones(values.shape, bool)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    shared = np.maximum.accumulate(np.where(begins, place, 0), axis=1)
    found = np.empty(values.shape, np.int64)
    np.put_along_axis(found, order, shared + 1, axis=1)
    return found
