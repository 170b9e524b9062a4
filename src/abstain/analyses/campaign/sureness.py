"""The confidence of a campaign's best runs, where they state one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from abstain.analyses.curve.result import CurveResult
    from abstain.judging.evaluation import Evaluation
    from abstain.measures import Measure

MOST_RUNS = 6
MOST_CELLS = 5_000_000
SUMMED = ("AUROC", "AURC", "ECE", "Brier")


def sure_curves(
    evaluation: Evaluation, order: Sequence[int], measure: Measure
) -> CurveResult | None:
    """The curves of the best runs that state a confidence; None where none of them does.

    `order` has the positions of runs, the best first.
    """
    if not evaluation.states_confidence:
        return None
    sure = evaluation.confidence
    chosen = [i for i in order if not np.isnan(sure[i]).all()][:MOST_RUNS]
    if not chosen:
        return None
    best = evaluation.where(np.ones(len(evaluation), bool), chosen)
    return best.curve((*SUMMED, measure))
