"""Per-query scores: a matrix of topics by systems, compared by their means."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.compare.bootstrap import levels_from_jackknife
from abstain.compare.hypotheses import wilcoxon
from abstain.compare.inputs import clusters_of
from abstain.compare.intervals import NO_WIDTH, Interval
from abstain.compare.multiplicity import adjust
from abstain.compare.pairs import bootstrap_p, letters_of, made_pairs, plan_of, wanted_pairs
from abstain.compare.planning import check_plan
from abstain.compare.randomisation import PValue
from abstain.compare.result import Comparison, Progress, RunRow, Settings
from abstain.compare.score_table import ScoreTable, read_scores
from abstain.compare.swaps import Flips, max_t, randomise_scores
from abstain.errors import InputError, UnknownNameError, UsageError
from abstain.outcomes import Undefined

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array

METHODS = ("delta", "percentile", "bca")
BLOCK = 1 << 22


def compare_scores(
    source: Any,
    *,
    measure_name: str | None = None,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    progress: Progress = lambda _, __: None,
    **settings: Any,
) -> Comparison:
    """Compare systems by their scores on the topics that all of them have."""
    method = settings.pop("method", "") or "bca"
    if method in ("default", "auto"):
        method = "bca"
    rules = Settings(**settings, method="delta").checked()
    check_plan(detect=rules.detect, power=rules.power, level=rules.level)
    if method not in METHODS:
        raise UsageError(f"scores take the interval methods {', '.join(METHODS)} (got '{method}')")
    if rules.test == "mcnemar":
        raise UsageError("McNemar's test is for right and wrong; scores take wilcoxon")
    if rules.test == "wilcoxon" and rules.cluster:
        raise UsageError("Wilcoxon's test knows no clusters; take randomisation")
    table = read_scores(source, measure=measure_name, columns=columns, format=format)
    if rules.cluster:
        table = _without(table, rules.cluster)
    systems, scores = table.systems, table.scores
    known: npt.NDArray[np.bool_] = ~np.any(np.isnan(scores), axis=0)
    if not known.any():
        raise InputError("there is no topic on which all systems have a score")
    gone = np.isnan(scores).sum(axis=1)
    absent = {system: int(n) for system, n in zip(systems, gone, strict=True) if n}
    clusters = None
    if rules.cluster:
        clusters = clusters_of(table.attributes.filter(known), rules.cluster)
    scores = scores[:, known]
    means = scores.mean(axis=1)
    order = sorted(range(len(systems)), key=lambda i: (-means[i], systems[i]))
    wanted = wanted_pairs(systems, order, rules.reference)
    groups = None if clusters is None else int(clusters.max()) + 1
    flips = Flips(groups or scores.shape[1], trials=rules.trials, seed=rules.seed)
    rules = replace(rules, method=method)
    found: list[tuple[float, Interval, float, PValue]] = []
    for number, (i, j) in enumerate(wanted):
        own = scores[i] - scores[j]
        value, span, error = mean_interval(own, clusters, rules)
        found.append((value, span, error, _p(own, clusters, flips, rules)))
        progress(number + 1, len(wanted))
    p = np.array([f[3].p for f in found])
    if rules.reference is not None:
        drawn = np.stack(
            [flips @ _summed(scores[i] - scores[j], clusters) for i, j in wanted], axis=1
        )
        seen = np.array([f[0] for f in found]) * scores.shape[1]
        size = float(np.abs(drawn).max(initial=0.0)) or 1.0
        adjusted = max_t(drawn / size, seen / size, exact=flips.exact)
    else:
        adjusted = adjust(p, rules.correction)
    pairs = made_pairs(
        systems,
        wanted,
        differences=np.array([f[0] for f in found]),
        spans=[f[1] for f in found],
        errors=np.array([f[2] for f in found]),
        tested=[f[3] for f in found],
        adjusted=adjusted,
        questions=scores.shape[1],
    )
    marks = letters_of(pairs, [systems[i] for i in order], rules)
    rows = []
    for at, i in enumerate(order):
        value, span, _ = mean_interval(scores[i], clusters, rules)
        rows.append(RunRow(systems[i], value, span, None, "" if marks is None else marks[at]))
    return Comparison(
        measure=table.measure,
        settings=rules,
        rows=tuple(rows),
        pairs=pairs,
        questions=scores.shape[1],
        in_all=len(table.topics),
        absent=absent,
        clusters=groups,
        question_ids=tuple(t for t, keep in zip(table.topics, known, strict=True) if keep),
        plan=plan_of(np.array([f[2] for f in found]), scores.shape[1], rules),
        grouped=marks is not None,
    )


def _without(table: ScoreTable, cluster: str) -> ScoreTable:
    """The table without the system that is no system but the clusters' column."""
    import polars as pl

    if cluster not in table.attributes.columns:
        there_are = f"there are {', '.join(table.attributes.columns)}"
        raise UnknownNameError("column", cluster, table.attributes.columns, hint=there_are)
    keep = [i for i, system in enumerate(table.systems) if system != cluster]
    return replace(
        table,
        systems=[table.systems[i] for i in keep],
        scores=table.scores[keep],
        attributes=table.attributes.with_columns(pl.col(cluster).cast(pl.String)),
    )


def _summed(values: Array, clusters: npt.NDArray[np.int64] | None) -> Array:
    return values if clusters is None else np.bincount(clusters, values).astype(np.float64)


def mean_interval(
    values: Array, clusters: npt.NDArray[np.int64] | None, settings: Settings
) -> tuple[float, Interval, float]:
    """The mean of paired scores, its interval and its standard error; clusters stay whole."""
    from scipy.special import stdtrit

    n = len(values)
    mean = float(values.mean())
    sums = _summed(values - mean, clusters)
    groups = len(sums)
    level = settings.level
    if groups < 2:
        what = "one question" if clusters is None else "one cluster"
        none = Interval(math.nan, math.nan, settings.method, f"there is only {what}")
        return (mean if n else Undefined("there are no scores")), none, math.nan
    error = math.sqrt(groups / (groups - 1) * float((sums**2).sum())) / n
    if settings.method == "delta":
        reach = float(stdtrit(groups - 1, (1 + level) / 2)) * error
        return mean, Interval(mean - reach, mean + reach, "delta"), error
    totals = _summed(values, clusters)
    sizes = np.ones(n) if clusters is None else np.bincount(clusters).astype(np.float64)
    generator = np.random.default_rng(settings.seed)
    block = max(1, BLOCK // groups)
    parts = []
    for start in range(0, settings.trials, block):
        chosen = generator.integers(
            0, groups, size=(min(block, settings.trials - start), groups), dtype=np.int32
        )
        parts.append(totals[chosen].sum(axis=1) / sizes[chosen].sum(axis=1))
    drawn = np.concatenate(parts)
    tails = (1 - level) / 2, (1 + level) / 2
    if settings.method == "bca":
        jackknife = (totals.sum() - totals) / (n - sizes)
        tails = levels_from_jackknife(mean, drawn, jackknife, np.ones(groups), level=level)
    low, high = np.quantile(drawn, tails)
    why = NO_WIDTH if math.isclose(low, high, rel_tol=1e-12) else ""
    return mean, Interval(float(low), float(high), settings.method, why), error


def _p(
    own: Array, clusters: npt.NDArray[np.int64] | None, flips: Flips, settings: Settings
) -> PValue:
    if settings.test == "wilcoxon":
        return PValue(wilcoxon(own), exact=False)
    if settings.test == "bootstrap":
        sums = _summed(own, clusters)
        generator = np.random.default_rng(settings.seed)
        chosen = generator.integers(0, len(sums), size=(settings.trials, len(sums)))
        return PValue(bootstrap_p(sums[chosen].sum(axis=1)), exact=False)
    return randomise_scores(_summed(own, clusters), flips)
