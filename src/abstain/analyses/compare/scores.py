"""Per-query scores: a matrix of topics by systems, compared by their means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.analyses.compare.pairs import (
    adjusted_pairs,
    bootstrap_p,
    letters_of,
    made_pairs,
    plan_of,
    wanted_pairs,
)
from abstain.analyses.compare.result import Comparison, Progress, RunRow, Settings
from abstain.analyses.compare.score_sample import ScoreSample
from abstain.errors import UsageError
from abstain.rankings.scores import read_scores
from abstain.stats.hypotheses import wilcoxon
from abstain.stats.planning import check_plan
from abstain.stats.randomisation import PValue
from abstain.stats.swaps import counted_scores, max_t

if TYPE_CHECKING:
    from abstain.outcomes import Array

METHODS = ("delta", "percentile", "bca")


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
    table = read_scores(source, columns=columns, format=format, cluster=rules.cluster)
    table = table.single(measure_name)
    absent, in_all = table.absent, len(table.topics)
    table = table.complete()
    systems, scores, clusters = list(table.runs), table.scores(), table.clusters()
    means = scores.mean(axis=1)
    order = sorted(range(len(systems)), key=lambda i: (-means[i], systems[i]))
    wanted = wanted_pairs(systems, order, rules.reference)
    rules = replace(rules, method=method)
    sample = ScoreSample(scores, clusters, rules)
    differences = np.array([means[i] - means[j] for i, j in wanted])
    spans, errors = sample.intervals(wanted)
    tested = _tested(scores, sample, wanted, rules, progress)
    if rules.reference is not None:
        flipped = sample.flipped
        drawn = np.stack([flipped[:, i] - flipped[:, j] for i, j in wanted], axis=1)
        size = float(np.abs(drawn).max(initial=0.0)) or 1.0
        seen = differences * scores.shape[1]
        adjusted = max_t(drawn / size, seen / size, exact=sample.flips.exact)
    else:
        adjusted = adjusted_pairs(differences, tested, rules)
    pairs = made_pairs(
        systems,
        wanted,
        differences=differences,
        spans=spans,
        errors=errors,
        tested=tested,
        adjusted=adjusted,
        questions=scores.shape[1],
    )
    marks = letters_of(pairs, [systems[i] for i in order], rules)
    own_spans, _ = sample.intervals([(i, None) for i in order])
    rows = [
        RunRow(systems[i], float(means[i]), span, None, "" if marks is None else marks[at])
        for at, (i, span) in enumerate(zip(order, own_spans, strict=True))
    ]
    return Comparison(
        measure=f"mean {table.measures[0]}",
        settings=rules,
        rows=tuple(rows),
        pairs=pairs,
        questions=scores.shape[1],
        in_all=in_all,
        absent=absent,
        clusters=None if clusters is None else sample.groups,
        question_ids=table.topics,
        plan=plan_of(errors, scores.shape[1], rules, None if clusters is None else sample.groups),
        grouped=marks is not None,
        unit=table.unit,
    )


def _tested(
    scores: Array,
    sample: ScoreSample,
    wanted: Sequence[tuple[int, int]],
    settings: Settings,
    progress: Progress,
) -> list[PValue]:
    """The p of each pair; all pairs share flips and resamples."""
    drawn = None
    if settings.test == "bootstrap":
        drawn = sample.resampled
    elif settings.test == "randomisation":
        drawn = sample.flipped
    found = []
    for number, (i, j) in enumerate(wanted):
        if drawn is None:
            found.append(wilcoxon(scores[i] - scores[j]))
        elif settings.test == "bootstrap":
            found.append(PValue(bootstrap_p(drawn[:, i] - drawn[:, j]), exact=False))
        else:
            own = sample.totals[i] - sample.totals[j]
            found.append(counted_scores(drawn[:, i] - drawn[:, j], own, exact=sample.flips.exact))
        progress(number + 1, len(wanted))
    return found
