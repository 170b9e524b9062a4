"""Intervals for the rows of `score`: from counts, or from counts by cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from msgspec import structs

from abstain.features.score.result import Row, ScoreResult
from abstain.io.tables import cells
from abstain.measures.definition import Array, IntArray
from abstain.outcomes import EXCLUDED
from abstain.report.result import Ends, number
from abstain.stats.confidence_intervals import (
    TRIALS,
    Sample,
    confidence_interval,
    method_of,
    sample_of,
)
from abstain.stats.delta_method import effective_clusters, few_clusters
from abstain.stats.intervals import RANDOM, check_level, check_method, interval

if TYPE_CHECKING:
    from abstain.measures import Measure
    from abstain.runs.evaluation import Evaluation

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
    note = ""
    if cluster is not None:
        counts = _cluster_counts(evaluation, result.by, cluster).values()
        sizes = [count.sum(axis=-1) for count in counts]
        note = few_clusters(min((size[size > 0] for size in sizes), key=effective_clusters))
    return structs.replace(
        result,
        notes=(*result.notes, *filter(None, [note])),
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
        one = None if groups is None else groups[row.run, tuple(row.slice.values())]
        sample = _sample(evaluation, row, by, cluster) if confident else None
        ends: dict[str, Ends] = {}
        reasons: dict[str, str] = {}
        for item in measures:
            name = str(item)
            if item.definition.takes == "columns":
                ends[name] = (None, None)
                reasons[name] = "figures of other evaluators have none"
                continue
            if sample is not None and item in confident:
                result = confidence_interval(item, sample, clustered=cluster is not None, **made)
            else:
                result = interval(item, row.counts, clusters=one, **made)
            ends[name] = number(result.low), number(result.high)
            if result.why_not and name not in row.undefined:
                reasons[name] = result.why_not
        yield structs.replace(row, intervals=ends, no_interval=reasons)


def _cluster(evaluation: Evaluation) -> str | None:
    """The attribute by which questions are clustered; counts alone know of none."""
    return None if evaluation.data.kind == "counts" else evaluation.data.cluster


def _cluster_counts(evaluation: Evaluation, by: Sequence[str], cluster: str) -> Clusters:
    """For each run and slice the counts of its clusters; no value makes a cluster of one."""
    grouped = tuple(dict.fromkeys((*by, cluster)))
    fine = evaluation.data.kind_counts(grouped)
    at = grouped.index(cluster)
    result: dict[tuple[str, tuple[str | None, ...]], list[IntArray]] = {}
    for run, values, row in zip(fine.runs, fine.slices, fine.table, strict=True):
        item = result.setdefault((run, values[: len(by)]), [])
        if values[at] is None:
            item.append(np.repeat(np.eye(len(row), dtype=np.int64), row, axis=0))
        else:
            item.append(row[None])
    policy = evaluation.policy
    return {
        key: policy.apply(np.concatenate(rows)).astype(np.float64) for key, rows in result.items()
    }


def _sample(evaluation: Evaluation, row: Row, by: Sequence[str], cluster: str | None) -> Sample:
    """The questions of a row of scores: those of its slice that the policy does not exclude."""
    run = evaluation.runs.index(row.run)
    questions = evaluation.data.with_attributes(by)
    codes = evaluation.data.codes[run]
    usable = codes < EXCLUDED
    for name in by:
        usable = usable & cells(questions, name).eq_missing(row.slice[name]).to_numpy()
    clusters = None if cluster is None else evaluation.data.clusters(cluster)
    return sample_of(np.where(usable, codes, EXCLUDED), evaluation.data.confidence[run], clusters)
