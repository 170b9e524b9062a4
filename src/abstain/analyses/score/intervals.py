"""Intervals for the rows of `score`: from counts, or from counts by cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from msgspec import structs

from abstain.analyses.result import number
from abstain.analyses.score.result import Ends, Row, ScoreResult
from abstain.io.names import cells
from abstain.measures.arrays import Array, IntArray
from abstain.outcomes import EXCLUDED
from abstain.stats.functional import effective_clusters, few_clusters
from abstain.stats.intervals import RANDOM, check_level, check_method, interval
from abstain.stats.of_confidence import TRIALS, Sample, confidence_interval, method_of, sample_of

if TYPE_CHECKING:
    from abstain.judging.evaluation import Evaluation
    from abstain.measures import Measure

Clusters: TypeAlias = "dict[tuple[str, tuple[str | None, ...]], Array]"
"""Run and slice to the counts of its clusters."""


def with_intervals(
    result: ScoreResult,
    evaluation: Evaluation,
    measures: Sequence[Measure],
    method: str,
    *,
    level: float = 0.95,
    seed: int = 0,
) -> ScoreResult:
    """The result with an interval for every score, by question or by cluster."""
    method, level = check_method(method), check_level(level)
    confident = [m for m in measures if m.definition.takes == "confidence"]
    resampled = method_of(confident[0], method) if confident else None
    made = {"method": method, "level": level, "seed": seed}
    cluster = _cluster(evaluation)
    notes = result.notes
    if cluster is not None:
        counts = _cluster_counts(evaluation, result.by, cluster).values()
        sizes = [own.sum(axis=-1) for own in counts]
        fewest = min((own[own > 0] for own in sizes), key=effective_clusters)
        notes = (*notes, *filter(None, [few_clusters(fewest)]))
    return structs.replace(
        result,
        notes=notes,
        rows=tuple(interval_rows(result.rows, evaluation, result.by, measures, **made)),
        interval_method=resampled if resampled and len(confident) == len(measures) else method,
        resampled_method=resampled,
        trials=TRIALS if confident else None,
        level=level,
        cluster=cluster,
        seed=seed if method in RANDOM or confident else None,
    )


def interval_rows(
    rows: Iterable[Row],
    evaluation: Evaluation,
    by: Sequence[str],
    measures: Sequence[Measure],
    **made: Any,
) -> Iterator[Row]:
    """Rows with intervals, which are `made` by a method, at a level, from a seed."""
    cluster = _cluster(evaluation)
    groups = None if cluster is None else _cluster_counts(evaluation, by, cluster)
    confident = [m for m in measures if m.definition.takes == "confidence"]
    for row in rows:
        if row.reference is not None:
            yield row
            continue
        own = None if groups is None else groups[row.run, tuple(row.slice.values())]
        sample = _sample(evaluation, row, by, cluster) if confident else None
        ends: dict[str, Ends] = {}
        reasons: dict[str, str] = {}
        for item in measures:
            if sample is not None and item in confident:
                found = confidence_interval(item, sample, clustered=cluster is not None, **made)
            else:
                found = interval(item, row.counts, clusters=own, **made)
            ends[str(item)] = number(found.low), number(found.high)
            if found.why_not and str(item) not in row.undefined:
                reasons[str(item)] = found.why_not
        yield structs.replace(row, intervals=ends, no_interval=reasons)


def _cluster(evaluation: Evaluation) -> str | None:
    """The attribute by which questions are clustered; counts alone know of none."""
    return None if evaluation.kind == "counts" else evaluation.cluster


def _cluster_counts(evaluation: Evaluation, by: Sequence[str], cluster: str) -> Clusters:
    """For each run and slice the counts of its clusters; no value makes a cluster of one."""
    grouped = tuple(dict.fromkeys((*by, cluster)))
    fine = evaluation.kind_counts(grouped)
    at = grouped.index(cluster)
    found: dict[tuple[str, tuple[str | None, ...]], list[IntArray]] = {}
    for run, values, row in zip(fine.runs, fine.slices, fine.table, strict=True):
        own = found.setdefault((run, values[: len(by)]), [])
        if values[at] is None:
            own.append(np.repeat(np.eye(len(row), dtype=np.int64), row, axis=0))
        else:
            own.append(row[None])
    policy = evaluation.policy
    return {
        key: policy.apply(np.concatenate(rows)).astype(np.float64) for key, rows in found.items()
    }


def _sample(evaluation: Evaluation, row: Row, by: Sequence[str], cluster: str | None) -> Sample:
    """The questions of a row of scores: those of its slice that the policy does not exclude."""
    run = evaluation.runs.index(row.run)
    questions = evaluation.with_attributes(by)
    codes = evaluation.codes[run]
    usable = codes < EXCLUDED
    for name in by:
        usable = usable & cells(questions, name).eq_missing(row.slice[name]).to_numpy()
    clusters = None if cluster is None else evaluation.clusters(cluster)
    return sample_of(np.where(usable, codes, EXCLUDED), evaluation.confidence[run], clusters)
