"""What `compare` finds of simulated runs: its own work on them, without reading any file."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from abstain.features.compare.comparison import Comparison, Options
from abstain.features.compare.outcomes import OutcomeComparison
from abstain.features.compare.resampled import ConfidenceComparison, ScoreComparison
from abstain.measures import measure
from abstain.outcomes import CountsArray, DecisionsArray
from abstain.rankings.scores import ScoreMatrix
from abstain.stats.hypotheses import adjust
from abstain.stats.intervals import DEFAULT
from simulated.drawing import TRIALS, Array, Codes, Groups

FAMILY_TRIALS = 1999
"""For the corrected p of many pairs."""


@dataclass
class Drawn:
    """Outcomes (runs, questions), perhaps with confidences and clusters, as analyses see them."""

    codes: Codes
    confidence: Array | None = None
    groups: Groups | None = None
    runs: list[str] = field(default_factory=list)
    cluster: str | None = None

    def __post_init__(self) -> None:
        self.runs = [f"r{number}" for number in range(len(self.codes))]
        self.evaluation = self.data = self.whole = self

    def __len__(self) -> int:
        return len(self.codes[0])

    def overall(self) -> CountsArray:
        """Counts of each run."""
        return CountsArray(np.stack([(self.codes == k).sum(axis=1) for k in range(6)], axis=-1))

    @property
    def decision_codes(self) -> Codes:
        """The same numbers as decisions."""
        return self.codes

    def decided(self) -> DecisionsArray:
        """Decisions of each run."""
        return DecisionsArray(self.overall().table)

    def clusters(self) -> Groups | None:
        """The cluster of each question."""
        return self.groups

    def unknown(self) -> tuple[Array, npt.NDArray[np.int64]]:
        """All responses are known."""
        return self.overall().table.astype(np.float64), np.zeros(len(self.codes), np.int64)


def of_runs(drawn: Drawn, name: str, **how: Any) -> float:
    """The least corrected p of simulated runs by a measure; NaN without a verdict."""
    own: Any = drawn
    chosen, options = measure(name), _options(len(drawn.codes), DEFAULT, how)
    if chosen.definition.takes == "confidence":
        return _least(ConfidenceComparison(own, chosen, options))
    return _least(OutcomeComparison(own, chosen, options, ()))


def of_scores(scores: Array, groups: Groups | None = None, **how: Any) -> float:
    """The same of scores (runs, topics)."""
    options = _options(len(scores), "delta", {"test": "t", **how})
    return _least(ScoreComparison(matrix_of(scores, groups), options))


def matrix_of(scores: Array, groups: Groups | None = None) -> ScoreMatrix:
    """Scores (runs, topics) as analyses see them."""
    runs, topics = scores.shape
    names = [str(of) for of in (np.arange(topics) if groups is None else groups)]
    return ScoreMatrix(
        measures=("score",),
        runs=tuple(f"r{number}" for number in range(runs)),
        topics=tuple(str(number) for number in range(topics)),
        values=scores[None],
        attributes=pl.DataFrame({"doc": names}),
        cluster=None if groups is None else "doc",
    )


def _options(runs: int, method: str, how: dict[str, Any]) -> Options:
    trials = TRIALS if runs == 2 else FAMILY_TRIALS
    return Options(**{"resamples": trials, "method": method, **how})


def _least(work: Comparison) -> float:
    adjusted = adjust(np.array([one.p for one in work.p_values]), work.options.correction)
    return min(adjusted[~np.isnan(adjusted)].tolist(), default=math.nan)
