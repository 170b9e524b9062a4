"""Curves of runs that no memory holds: the engine counts confidences into bins.

At the edge of a bin every count is that of the exact curve. Inside a bin nobody knows the order;
the area under the curve lies between its best and its worst.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import polars as pl

from abstain.analyses.curve.analysis import check_points, held_points
from abstain.analyses.curve.curves import Curve, top
from abstain.analyses.curve.result import POINT, Points, curve_columns, stacked
from abstain.analyses.result import Facts, Result, finite, read_as
from abstain.errors import UsageError, option
from abstain.judging.judge import KIND
from abstain.measures import Measure, count_measure
from abstain.measures.answers import Groups
from abstain.measures.arrays import Array, IntArray
from abstain.outcomes import OUTCOMES, Policy, reasons_named

if TYPE_CHECKING:
    from abstain.judging.evaluation import Evaluation

BINS = 1024
MOST_BINS = 1 << 20


class BinnedRun(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A run over the edges of the bins."""

    run: str
    numbers: dict[str, int] = msgspec.field(name="counts")
    """The counts of the run as it was handed in."""
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
    runs: tuple[BinnedRun, ...] = msgspec.field(name="results")

    TABLES = ("main", "points")

    def check(self) -> None:
        """There are runs, and bins whose edges are exact."""
        if not self.runs:
            raise ValueError("has no results, expected at least one run")
        check_bins(self.bins)
        for own in self.runs:
            if own.points is not None and not own.points.complete(own.questions):
                raise ValueError(f"the curve of run {own.run!r} lacks points or numbers")

    def _frame(self, table: str) -> pl.DataFrame:
        return self.thinned(table)

    def thinned(self, table: str, points: int = 0) -> pl.DataFrame:
        """As `to_frame`, with at most so many points of each curve; 0: all that are held."""
        if table == "points":
            blocks = (
                (own.run, curve_columns(own.points.thin(points), own.questions, self.along))
                for own in self.runs
                if own.points is not None
            )
            return stacked(POINT | {"risk": pl.Float64(), self.along: pl.Float64()}, blocks)
        names = ("AURC", "at best", "at worst", f"best {self.along}", "threshold")
        rows = [
            (
                *(own.run, own.aurc, own.aurc_at_best, own.aurc_at_worst, own.best),
                math.inf if own.threshold is None and own.best is not None else own.threshold,
            )
            for own in self.runs
        ]
        schema = {"run": pl.String(), **dict.fromkeys(names, pl.Float64())}
        return pl.DataFrame(rows, schema=schema, orient="row")


def histogram(
    evaluation: Evaluation, measure: str | Measure = "c@1", *, bins: int = BINS, points: int = 500
) -> HistogramResult:
    """Risk, coverage and a measure over the thresholds k/bins, counted by the runs' own engine.

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
    evaluation.require_confidence()
    counted = evaluation.counted()
    binned = evaluation.binned(bins)
    runs = []
    for number, run in enumerate(counted.runs):
        own = binned.filter(pl.col("run") == run)
        numbers = counted.counts.table[number, : len(OUTCOMES)].tolist()
        runs.append(_binned(run, numbers, own, evaluation.policy, along, bins, points))
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


def _binned(
    run: str,
    numbers: list[int],
    counted: pl.DataFrame,
    policy: Policy,
    along: Measure,
    bins: int,
    points: int,
) -> BinnedRun:
    """The curve of a run; candidates behind blanks are answers, as in every curve."""
    table = np.zeros((bins + 2, 2), np.int64)  # from the surest down, the unsure last; wrong, right
    for kind, end in enumerate(policy.outcomes(excluded=-1).tolist()):
        if 0 <= end <= 3:
            part = counted.filter(pl.col(KIND) == kind)
            np.add.at(table[:, 1 - end % 2], bins - part["bin"].to_numpy(), part["n"].to_numpy())
    filled = np.flatnonzero(table.sum(axis=1))
    wrong, right = table[filled].T
    areas: tuple[float | None, ...] = (None,) * 3
    best = threshold = held = None
    if table[:-1].any():
        areas = _areas(wrong, right)
        level: Array = np.where(filled == bins + 1, np.nan, (bins - filled) / bins)
        groups = Groups(level, np.cumsum(wrong + right), np.cumsum(right))
        curve = Curve.from_groups(groups, sum(numbers))
        scores = along(curve.counts)
        held = held_points(curve, scores, points)
        if (at := top(scores, along)) is not None:
            best, threshold = float(scores[at]), finite(curve.thresholds[at])
    return BinnedRun(
        run=run,
        numbers=dict(zip(OUTCOMES, numbers, strict=True)),
        answers=int(table.sum()),
        stated=int(table[:-1].sum()),
        aurc=areas[0],
        aurc_at_best=areas[1],
        aurc_at_worst=areas[2],
        best=best,
        threshold=threshold,
        points=held,
    )


def _areas(wrong: IntArray, right: IntArray) -> tuple[float, float, float]:
    """AURC with the answers of a bin tied, with the right ones first, with the wrong ones first."""
    nothing = np.zeros_like(wrong)
    right_first = np.stack([nothing, wrong], 1).ravel(), np.stack([right, nothing], 1).ravel()
    wrong_first = np.stack([wrong, nothing], 1).ravel(), np.stack([nothing, right], 1).ravel()
    return _aurc(wrong, right), _aurc(*right_first), _aurc(*wrong_first)


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
