"""The confidence of a campaign's best runs, where they state one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import narwhals as nw
import numpy as np
import polars as pl

from abstain.io.frames import collect
from abstain.judging.judge import INDEX, Judged

if TYPE_CHECKING:
    from abstain.analyses.campaign.matrix import OutcomeMatrix
    from abstain.analyses.curve.result import CurveResult
    from abstain.measures import Measure
    from abstain.outcomes import Policy

MOST_RUNS = 6
MOST_CELLS = 5_000_000


def sure_curves(
    judged: Judged, matrix: OutcomeMatrix, order: Sequence[int], measure: Measure, policy: Policy
) -> CurveResult | None:
    """The curves of the best runs that state a confidence; None where none of them does."""
    from abstain.analyses.curve.curve import curves
    from abstain.analyses.curve.matrix import EXCLUDED, ConfidenceMatrix
    from abstain.analyses.curve.result import CurveResult
    from abstain.measures import measure as named

    stated = [f for f in judged.frames if "confidence" in f.collect_schema().names()]
    if matrix.outcomes.size > MOST_CELLS or not stated:
        return None
    cells = pl.concat(
        collect(
            frame.filter(~nw.col("confidence").is_null()).select("run", INDEX, "confidence"),
            judged.sources[0].table.name,
        )
        for frame in stated
    )
    able = set(cells["run"].unique().to_list())
    chosen = [i for i in order if matrix.runs[i] in able][:MOST_RUNS]
    if not chosen:
        return None
    names = [matrix.runs[i] for i in chosen]
    placed = cells.join(
        pl.DataFrame({"run": names, "number": np.arange(len(names))}), on="run", how="inner"
    )
    sure = np.full((len(names), matrix.questions.height), np.nan)
    sure[placed["number"].to_numpy(), placed[INDEX].to_numpy()] = placed["confidence"].to_numpy()
    outcomes = matrix.outcomes[chosen].astype(np.int8)
    outcomes[outcomes > 4] = EXCLUDED
    small = ConfidenceMatrix(names, matrix.questions, outcomes, sure, policy)
    summed = tuple(named(name) for name in ("AUROC", "AURC", "ECE", "Brier"))
    return CurveResult(small, curves(small), summed, measure)
