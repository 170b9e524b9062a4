"""Intervals for the rows of `score`: from counts, or from counts by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from abstain.analyses.compare.inputs import clusters_of
from abstain.analyses.score.result import Row, ScoreResult
from abstain.errors import plural
from abstain.judging.tally import Tallies
from abstain.outcomes import Policy
from abstain.stats.intervals import METHODS, RANDOM, check_level, check_method, interval
from abstain.stats.of_confidence import (
    TRIALS,
    Sample,
    confidence_interval,
    method_of,
    sample_of,
)

if TYPE_CHECKING:
    from abstain.analyses.curve.matrix import ConfidenceMatrix
    from abstain.outcomes import IntArray

Clusters: TypeAlias = "dict[tuple[str, tuple[str | None, ...]], IntArray]"


def regroup(fine: Tallies, parts: int, at: int) -> tuple[Tallies, Clusters]:
    """Tallies by slice and cluster to tallies by slice, with the tallies of each one's clusters.

    `parts` attributes make a slice, the one at position `at` the clusters. Questions without a
    value are clusters of one.
    """
    clusters: dict[tuple[str, tuple[str | None, ...]], list[IntArray]] = {}
    for run, values, row in zip(fine.runs, fine.slices, fine.table, strict=True):
        own = clusters.setdefault((run, values[:parts]), [])
        if values[at] is None:
            own.append(np.repeat(np.eye(len(row), dtype=np.int64), row, axis=0))
        else:
            own.append(row[None])
    found = {key: np.concatenate(rows) for key, rows in clusters.items()}
    return (
        Tallies(
            [run for run, _ in found],
            [values for _, values in found],
            np.stack([rows.sum(axis=0) for rows in found.values()]),
            fine.questions,
        ),
        found,
    )


def with_intervals(
    result: ScoreResult,
    method: str,
    clusters: Clusters | None,
    *,
    cluster: str | None,
    level: float = 0.95,
    seed: int = 0,
    matrix: ConfidenceMatrix | None = None,
) -> ScoreResult:
    """The result with an interval for every score, and a note on how they were made.

    Measures of confidence need the `matrix` that they were computed from.
    """
    method, level = check_method(method), check_level(level)
    confident = [m for m in result.measures if m.definition.takes == "confidence"]
    resampled = method_of(confident[0], method) if confident else method
    policy = result.policy or Policy()
    rows: list[Row] = []
    reasons: dict[str, int] = {}
    for row in result.rows:
        if row.reference is not None:
            rows.append(row)
            continue
        groups = None
        if clusters is not None:
            kinds = clusters[row.run, tuple(row.slice[name] for name in result.by)]
            groups = policy.apply(kinds).astype(np.float64)
        ends: dict[str, tuple[float, float]] = {}
        sample = None
        if confident and matrix is not None:
            sample = _sample(matrix, row, result.by, cluster)
        for item in result.measures:
            if item in confident:
                assert sample is not None
                found = confidence_interval(
                    item,
                    sample,
                    clustered=cluster is not None,
                    method=method,
                    level=level,
                    seed=seed,
                )
            else:
                found = interval(
                    item, row.counts, clusters=groups, method=method, level=level, seed=seed
                )
            ends[str(item)] = (found.low, found.high)
            if found.why_not and str(item) not in row.undefined:
                reasons[found.why_not] = reasons.get(found.why_not, 0) + 1
        rows.append(replace(row, intervals=ends))
    used = resampled if len(confident) == len(result.measures) else method
    said = f"intervals: {100 * level:g} %, {METHODS[used]} ({used})"
    if cluster is not None:
        said += f", questions clustered by {cluster}"
    if resampled != used:
        said += f"; of measures of confidence: {resampled}"
    if confident:
        said += f", {TRIALS:,} trials"
    if method in RANDOM or confident:
        said += f", seed {seed}"
    notes = [*result.notes, said]
    notes += [f"{plural(n, 'interval')}: {reason}" for reason, n in reasons.items()]
    return replace(
        result,
        rows=tuple(rows),
        notes=tuple(notes),
        interval_method=used,
        level=level,
        cluster=cluster,
    )


def _sample(matrix: ConfidenceMatrix, row: Row, by: Sequence[str], cluster: str | None) -> Sample:
    """The questions of a row of scores: those of its slice that the policy does not exclude."""
    run = matrix.runs.index(row.run)
    usable = matrix.outcomes[run] >= 0
    for name in by:
        usable = usable & matrix.questions[name].eq_missing(row.slice[name]).to_numpy()
    clusters = None if cluster is None else clusters_of(matrix.questions, cluster)
    return sample_of(np.where(usable, matrix.outcomes[run], -1), matrix.confidence[run], clusters)
