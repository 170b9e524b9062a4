"""`compare`: are the differences between runs real, and where do they come from?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.analyses.compare.bounds import (
    all_ways,
    bounds_of,
    correct_for_judge,
    never_checked,
    read_confusion,
)
from abstain.analyses.compare.confident import compare_confidence
from abstain.analyses.compare.inputs import Paired, from_gold, from_judged
from abstain.analyses.compare.outcome_pairs import (
    against_reference,
    difference_intervals,
    errors_to_plan_with,
    tested_pairs,
)
from abstain.analyses.compare.pairs import (
    adjusted_pairs,
    best_first,
    letters_of,
    made_pairs,
    plan_of,
    wanted_pairs,
)
from abstain.analyses.compare.result import Comparison, Progress, RunRow, Settings
from abstain.analyses.compare.table import PairedTable
from abstain.analyses.compare.transitions import Origin, in_slices, origin
from abstain.errors import UsageError, option
from abstain.measures import Measure, count_measure, measure
from abstain.outcomes import Policy
from abstain.stats.functional import THREE
from abstain.stats.intervals import interval
from abstain.stats.planning import check_plan

if TYPE_CHECKING:
    from abstain.outcomes import Array

# ------------------------------------------------------------------------------------ ways in


def compare(
    gold: Any,
    runs: Any,
    *,
    measure_name: str | Measure = "c@1",
    by: Sequence[str] = (),
    policy: Policy | Mapping[str, str] | Iterable[str] | None = None,
    align: str = "id",
    match: str = "id",
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    progress: Progress = lambda _, __: None,
    **settings: Any,
) -> Comparison:
    """Compare runs against a gold, paired by question; `settings` are those of `Settings`."""
    chosen = _comparable(measure_name)
    rules = Settings(**settings).checked()
    paired = from_gold(
        gold,
        runs,
        cluster=rules.cluster,
        by=tuple(dict.fromkeys(by)),
        policy=policy,
        align=align,
        match=match,
        columns=columns,
        format=format,
        confident=chosen.definition.takes == "confidence",
    )
    return compare_outcomes(paired, chosen, rules, progress=progress)


def compare_judged(
    runs: Any,
    *,
    measure_name: str | Measure = "c@1",
    by: Sequence[str] = (),
    policy: Policy | Mapping[str, str] | Iterable[str] | None = None,
    grades: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    progress: Progress = lambda _, __: None,
    **settings: Any,
) -> Comparison:
    """Compare runs whose rows carry their own outcome, paired by question."""
    chosen = _comparable(measure_name)
    rules = Settings(**settings).checked()
    paired = from_judged(
        runs,
        cluster=rules.cluster,
        by=tuple(dict.fromkeys(by)),
        policy=policy,
        grades=grades,
        columns=columns,
        format=format,
        confident=chosen.definition.takes == "confidence",
    )
    return compare_outcomes(paired, chosen, rules, progress=progress)


def _comparable(name: str | Measure) -> Measure:
    """A measure of counts or of confidence."""
    found = measure(name)
    return found if found.definition.takes == "confidence" else count_measure(found)


# ----------------------------------------------------------------------------- what is computed


def compare_outcomes(
    paired: Paired,
    chosen: Measure,
    settings: Settings,
    *,
    progress: Progress = lambda _, __: None,
) -> Comparison:
    """Compare runs that are paired already."""
    if chosen.definition.takes == "confidence":
        return compare_confidence(paired, chosen, settings, progress=progress)
    check_plan(
        detect=settings.detect,
        power=settings.power,
        level=settings.level,
        widest=chosen.bounds[1] - chosen.bounds[0],
    )
    if settings.test == "wilcoxon":
        raise UsageError("wilcoxon is for per-query scores; take randomisation here")
    if settings.test == "mcnemar" and paired.clusters is not None:
        raise UsageError("McNemar's test knows no clusters; take randomisation")
    confusion = None if settings.judge_error is None else read_confusion(settings.judge_error)
    table = PairedTable(paired, chosen)
    order = best_first(table.scores, paired.runs, higher=chosen.higher_is_better)
    two = len(paired.runs) == 2
    if paired.parts and not two:
        raise UsageError(
            f"{option('by')} shows which slices carry the difference of two runs "
            f"(got {len(paired.runs)})"
        )
    wanted = wanted_pairs(paired.runs, order, settings.reference)
    joint = table.joint(wanted)
    differences = np.array([table.scores[i] - table.scores[j] for i, j in wanted])
    spans, errors = difference_intervals(table, wanted, joint, settings)
    tested = tested_pairs(table, wanted, joint, settings, progress)
    if settings.reference is not None:
        adjusted = against_reference(table, wanted, differences, settings)
    else:
        adjusted = adjusted_pairs(differences, tested, settings)
    pairs = made_pairs(
        paired.runs,
        wanted,
        differences=differences,
        spans=spans,
        errors=errors,
        tested=tested,
        adjusted=adjusted,
        questions=len(paired.questions),
    )
    scored = [i for i in order if not np.isnan(table.scores[i])]
    marks = letters_of(pairs, [paired.runs[i] for i in scored], settings)
    return Comparison(
        measure=str(chosen),
        settings=settings,
        rows=tuple(_rows(table, order, marks, settings, confusion)),
        pairs=pairs,
        questions=len(paired.questions),
        in_all=paired.in_all,
        absent=paired.absent,
        clusters=None if paired.clusters is None else table.groups,
        origin=_origin(table, wanted[0]) if two else None,
        question_ids=tuple(paired.questions),
        plan=plan_of(
            errors_to_plan_with(chosen, joint, errors), table.size, settings, table.groups or None
        ),
        policy=paired.policy,
        touched=paired.touched,
        notes=paired.notes,
        grouped=marks is not None,
        widest=chosen.bounds[1] - chosen.bounds[0],
        judge_sample=0 if confusion is None else int(confusion.sum()),
        never_checked=() if confusion is None else never_checked(confusion),
        higher_is_better=chosen.higher_is_better,
        studentised=chosen.definition.studentised,
    )


def _rows(
    table: PairedTable,
    order: Sequence[int],
    marks: Sequence[str] | None,
    settings: Settings,
    confusion: Array | None,
) -> list[RunRow]:
    paired, chosen = table.paired, table.measure
    found = []
    for at, i in enumerate(order):
        counts = table.counts[i]
        unknown = int(paired.unknown[i])
        found.append(
            RunRow(
                paired.runs[i],
                chosen(counts),
                interval(
                    chosen,
                    counts,
                    clusters=table.six_by_cluster(i),
                    method=settings.method,
                    level=settings.level,
                    trials=settings.trials,
                    seed=settings.seed,
                ),
                counts,
                marks[at] if marks is not None and at < len(marks) else "",
                bounds_of(chosen, paired.known[i], unknown) if paired.unknown.any() else None,
                unknown,
                all_ways(chosen, unknown),
                None
                if confusion is None
                else correct_for_judge(
                    chosen,
                    THREE.merge(table.counts.table[i]),
                    confusion,
                    clusters=table.clustered(i),
                    level=settings.level,
                    seed=settings.seed,
                ),
            )
        )
    return found


def _origin(table: PairedTable, pair: tuple[int, int]) -> Origin:
    own, other = (table.paired.outcomes[i] for i in pair)
    found = origin(table.measure, other, own)
    undefined = math.isnan(table.scores[pair[0]] - table.scores[pair[1]])
    if undefined:
        found = replace(
            found,
            worth=np.full((3, 3), np.nan),
            contributions=np.full(len(own), np.nan),
            knowing=math.nan,
            abstaining=math.nan,
        )
    slices, reversals = in_slices(
        table.measure, other, own, found.contributions, table.paired.parts
    )
    return replace(found, slices=slices, reversals=() if undefined else reversals)
