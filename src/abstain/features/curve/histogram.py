"""Curves of runs that no memory holds: the engine counts confidences into bins.

At the edge of a bin every count is that of the exact curve. Inside a bin nobody knows the order;
the area under the curve lies between its best and its worst.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np
import polars as pl

from abstain.errors import UsageError, option
from abstain.features.curve.analysis import check_points, held_points
from abstain.features.curve.result import Points, curve_frame, numbers_of_runs
from abstain.measures import Measure, count_measure
from abstain.measures.answers import Groups
from abstain.measures.definition import Array, IntArray
from abstain.outcomes import OUTCOMES, Policy, reasons_named
from abstain.report.result import Facts, Result, finite, read_as
from abstain.runs.judge import KIND
from abstain.stats.curves import Curve, top

if TYPE_CHECKING:
    from abstain.runs.evaluation import Evaluation

BINS = 1024
MOST_BINS = 1 << 20


class BinnedRun(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A run over the edges of the bins."""

    run: str
    numbers: dict[str, int] = msgspec.field(name="counts")
    """The counts of the run as submitted."""
    answers: int
    stated: int
    """How many of the answers have a confidence. Where none has, there is no curve."""
    aurc: float | None
    """With the answers of a bin tied."""
    aurc_at_best: float | None
    aurc_at_worst: float | None
    best: float | None
    """The best score of those at edges."""
    threshold: float | None
    points: Points | None = None
    """Those at the edges of bins that hold answers, as many as were asked for."""

    @property
    def questions(self) -> int:
        """All questions that count."""
        return sum(self.numbers.values())


class HistogramResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="histogram"):
    """Curves counted in bins, with all that it takes to read them."""

    questions: int
    bins: int
    along: str
    runs: Annotated[tuple[BinnedRun, ...], msgspec.Meta(min_length=1)] = msgspec.field(
        name="results"
    )

    TABLES = ("main", "points")

    def check(self) -> None:
        """Bins have exact edges, and every point has all its numbers."""
        check_bins(self.bins)
        for run in self.runs:
            if run.points is not None:
                run.points.check(run.run, run.questions)

    def _frame(self, table: str) -> pl.DataFrame:
        return self.thinned(table)

    def thinned(self, table: str, points: int = 0) -> pl.DataFrame:
        """As `to_frame`, with at most so many points of each curve; 0: all that are held."""
        if table == "points":
            curves = [(run.run, run.points, run.questions) for run in self.runs]
            return curve_frame(curves, self.along, points)
        rows: list[tuple[Any, ...]] = []
        for run in self.runs:
            nothing = run.threshold is None and run.best is not None
            areas = (run.aurc, run.aurc_at_best, run.aurc_at_worst)
            rows.append((run.run, *areas, run.best, math.inf if nothing else run.threshold))
        return numbers_of_runs(
            rows, "AURC", "at best", "at worst", f"best {self.along}", "threshold"
        )


def histogram(
    evaluation: Evaluation, measure: str | Measure = "c@1", *, bins: int = BINS, points: int = 500
) -> HistogramResult:
    """Risk, coverage and a measure over the thresholds k/bins, counted by the engine of the runs.

    Args:
        evaluation: What was read.
        measure: Of counts, to follow along the curve.
        bins: A power of two: only then are the edges exact.
        points: So many points of each curve are in the result, evenly over coverage, besides those
            that tables and charts show; 0: all.
    """
    along = count_measure(measure)
    check_bins(bins)
    check_points(points)
    evaluation.data.require_confidence()
    counted = evaluation.data.counted()
    binned = evaluation.data.binned(bins)
    runs = []
    for run, outcomes in zip(counted.runs, counted.counts.table.tolist(), strict=True):
        table = _table(binned.filter(pl.col("run") == run), evaluation.policy, bins)
        runs.append(_binned(run, outcomes[: len(OUTCOMES)], table, along, points))
    return HistogramResult(
        **read_as(evaluation, clusters=False),
        policy=evaluation.policy.to_dict(),
        touched={} if counted.blanks is None else reasons_named(counted.blanks.sum(axis=0)),
        questions=counted.questions or 0,
        bins=bins,
        along=str(along),
        runs=tuple(runs),
    )


def check_bins(bins: int) -> None:
    """Bins are a power of two: only then are their edges exact."""
    if not 2 <= bins <= MOST_BINS or bins & (bins - 1):
        raise UsageError(
            f"{option('histogram')} is a power of two, from 2 to {MOST_BINS:,} (got {bins:,})"
        )


def _table(counted: pl.DataFrame, policy: Policy, bins: int) -> IntArray:
    """Wrong and right answers by bin, from the surest down, those without a confidence last.

    Candidates behind blanks are answers, as in every curve.
    """
    table = np.zeros((bins + 2, 2), np.int64)
    for kind, end in enumerate(policy.outcomes(excluded=-1).tolist()):
        if 0 <= end <= 3:
            part = counted.filter(pl.col(KIND) == kind)
            np.add.at(table[:, 1 - end % 2], bins - part["bin"].to_numpy(), part["n"].to_numpy())
    return table


def _binned(
    run: str, numbers: list[int], table: IntArray, along: Measure, points: int
) -> BinnedRun:
    """The curve of a run."""
    bins = len(table) - 2
    filled = np.flatnonzero(table.sum(axis=1))
    wrong, right = table[filled].T
    facts: dict[str, Any] = dict.fromkeys(
        ("aurc", "aurc_at_best", "aurc_at_worst", "best", "threshold")
    )
    if table[:-1].any():
        level: Array = np.where(filled == bins + 1, np.nan, (bins - filled) / bins)
        groups = Groups(level, np.cumsum(wrong + right), np.cumsum(right))
        curve = Curve.from_groups(groups, sum(numbers))
        scores = along(curve.counts)
        facts["aurc"] = _aurc(wrong, right)
        facts["aurc_at_best"] = _aurc(*_in_turn(wrong, right, slice(None, None, -1)))
        facts["aurc_at_worst"] = _aurc(*_in_turn(wrong, right, slice(None)))
        facts["points"] = held_points(curve, scores, points)
        if (at := top(scores, along)) is not None:
            facts |= {"best": float(scores[at]), "threshold": finite(curve.thresholds[at])}
    return BinnedRun(
        run=run,
        numbers=dict(zip(OUTCOMES, numbers, strict=True)),
        answers=int(table.sum()),
        stated=int(table[:-1].sum()),
        **facts,
    )


def _in_turn(wrong: IntArray, right: IntArray, order: slice) -> IntArray:
    """Wrong and right answers of each bin as two bins, the wrong ones first unless reversed."""
    nothing = np.zeros_like(wrong)
    both = np.stack([[wrong, nothing], [nothing, right]], axis=2)[:, :, order]
    return both.reshape(2, -1)


def _aurc(wrong: IntArray, right: IntArray) -> float:
    """(1/N) Σ_i E[wrong(i)]/i, as `Groups.mean_share` has it but with H(b) − H(a) from digamma."""
    from scipy.special import digamma

    some = wrong + right > 0
    added, sizes = wrong[some], (wrong + right)[some]
    after = np.cumsum(sizes)
    start, before = after - sizes, np.cumsum(added) - added
    slope = added / sizes
    spread = digamma(after + 1) - digamma(start + 1)
    return float((added + (before - start * slope) * spread).sum() / after[-1])
