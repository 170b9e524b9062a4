"""`compare`: are the differences between runs real, and where do they come from?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.compare.bootstrap import resampled
from abstain.compare.bounds import bounds_of, correct_for_judge, read_confusion
from abstain.compare.delta_method import delta, logit, standard_error
from abstain.compare.functional import THREE, difference
from abstain.compare.hypotheses import mcnemar
from abstain.compare.inputs import Paired, from_gold, from_judged
from abstain.compare.intervals import (
    DEFAULT,
    OF_ONE_PROPORTION,
    Interval,
    cell_interval,
    interval,
)
from abstain.compare.letters import letter_groups, letters
from abstain.compare.multiplicity import adjust
from abstain.compare.planning import Plan, plan
from abstain.compare.randomisation import (
    Flips,
    PValue,
    common_swaps,
    max_t,
    randomise,
    randomise_clusters,
)
from abstain.compare.result import Comparison, Pair, Progress, RunRow, Settings
from abstain.compare.table import PairedTable
from abstain.compare.transitions import Origin, in_slices, origin
from abstain.errors import UnknownNameError, UsageError
from abstain.measures import Measure, measure
from abstain.outcomes import Policy

if TYPE_CHECKING:
    from abstain.outcomes import Array, IntArray

MOST_PAIRS = 20_000
BLOCK = 1 << 21


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
    chosen = measure(measure_name)
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
    chosen = measure(measure_name)
    rules = Settings(**settings).checked()
    paired = from_judged(
        runs,
        cluster=rules.cluster,
        by=tuple(dict.fromkeys(by)),
        policy=policy,
        grades=grades,
        columns=columns,
        format=format,
    )
    return compare_outcomes(paired, chosen, rules, progress=progress)


# ----------------------------------------------------------------------------- what is computed


def compare_outcomes(
    paired: Paired,
    chosen: Measure,
    settings: Settings,
    *,
    progress: Progress = lambda _, __: None,
) -> Comparison:
    """Compare runs that are paired already."""
    if settings.test == "wilcoxon":
        raise UsageError("wilcoxon is for per-query scores (--scores); take randomisation here")
    if settings.test == "mcnemar" and paired.clusters is not None:
        raise UsageError("McNemar's test knows no clusters; take randomisation")
    table = PairedTable(paired, chosen)
    order = table.best_first()
    two = len(paired.runs) == 2
    wanted = wanted_pairs(paired.runs, order, settings.reference)
    joint = table.joint(wanted)
    differences = np.array([table.scores[i] - table.scores[j] for i, j in wanted])
    spans, errors = _difference_intervals(table, wanted, joint, settings)
    tested = _test(table, wanted, joint, settings, progress)
    p = np.where(np.isnan(differences), np.nan, [t.p for t in tested])
    if settings.reference is not None:
        adjusted = _against_reference(table, wanted, differences, settings)
    else:
        adjusted = adjust(p, settings.correction)
    pairs = tuple(
        Pair(
            paired.runs[i],
            paired.runs[j],
            float(differences[k]),
            spans[k],
            float(errors[k]),
            float(p[k]),
            float(adjusted[k]),
            tested[k].exact,
            len(paired.questions),
        )
        for k, (i, j) in enumerate(wanted)
    )
    marks = letters_of(pairs, [paired.runs[i] for i in order], settings)
    return Comparison(
        measure=str(chosen),
        settings=settings,
        rows=tuple(_rows(table, order, marks, settings)),
        pairs=pairs,
        questions=len(paired.questions),
        in_all=paired.in_all,
        absent=paired.absent,
        clusters=None if paired.clusters is None else table.groups,
        origin=_origin(table, wanted[0]) if two else None,
        question_ids=tuple(paired.questions),
        plan=plan_of(errors, table.size, settings),
        policy=paired.policy,
        touched=paired.touched,
        notes=paired.notes,
        grouped=marks is not None,
    )


def wanted_pairs(
    runs: Sequence[str], order: Sequence[int], reference: str | None
) -> list[tuple[int, int]]:
    """The pairs (run, against): all of them, the better first; or each against a reference."""
    if reference is not None:
        if reference not in runs:
            raise UnknownNameError("run", reference, runs, hint="--reference names one of the runs")
        at = runs.index(reference)
        return [(i, at) for i in order if i != at]
    if len(runs) == 2:
        return [(1, 0)]
    if len(runs) * (len(runs) - 1) // 2 > MOST_PAIRS:
        raise UsageError(
            f"{len(runs):,} runs make more than {MOST_PAIRS:,} pairs; compare them with one: "
            "--reference RUN"
        )
    return [(i, j) for at, i in enumerate(order) for j in order[at + 1 :]]


def _difference_intervals(
    table: PairedTable, wanted: Sequence[tuple[int, int]], joint: IntArray, settings: Settings
) -> tuple[list[Interval], Array]:
    f = difference(table.measure)
    flat = joint.reshape(len(joint), -1).astype(np.float64)
    spans: list[Interval] = []
    errors: list[float] = []
    at_once = max(1, BLOCK // (f.size * max(table.groups, f.size)))
    for start in range(0, len(wanted), at_once):
        some = wanted[start : start + at_once]
        cells = flat[start : start + at_once]
        groups = table.joints(some)
        enough = table.size > 1 and (groups is None or table.groups > 1)
        error = standard_error(f, cells, groups) if enough else np.full(len(some), np.nan)
        errors += [float(e) for e in error]
        if enough and settings.method in ("logit", "delta"):
            make = logit if settings.method == "logit" else delta
            low, high = make(f, cells, groups, level=settings.level)
            spans += [
                Interval(float(a), float(b), settings.method)
                for a, b in zip(low, high, strict=True)
            ]
            continue
        method = DEFAULT if settings.method in OF_ONE_PROPORTION else settings.method
        spans += [
            cell_interval(
                f,
                cells[k],
                clusters=None if groups is None else groups[k],
                method=method,
                level=settings.level,
                trials=settings.trials,
                seed=settings.seed,
            )
            for k in range(len(some))
        ]
    return spans, np.array(errors)


def _test(
    table: PairedTable,
    wanted: Sequence[tuple[int, int]],
    joint: IntArray,
    settings: Settings,
    progress: Progress,
) -> list[PValue]:
    done = 0

    def step(more: int) -> None:
        nonlocal done
        done += more
        progress(done, len(wanted))

    found: list[PValue] = []
    if settings.test == "mcnemar":
        for pair in joint:
            only_own = int(pair[1:, 0].sum())
            only_other = int(pair[0, 1:].sum())
            found.append(PValue(mcnemar(only_own, only_other), exact=True))
        return found
    if settings.test == "bootstrap":
        f = difference(table.measure)
        for k, (i, j) in enumerate(wanted):
            values = resampled(
                f.value,
                joint[k].ravel().astype(np.float64),
                table.clustered_joint(i, j),
                trials=settings.trials,
                generator=np.random.default_rng(settings.seed),
            )
            found.append(PValue(bootstrap_p(values), exact=False))
            step(1)
        return found
    if table.of is None:
        return randomise(
            table.measure, joint, trials=settings.trials, seed=settings.seed, progress=step
        )
    flips = Flips(table.groups, trials=settings.trials, seed=settings.seed)
    tables = [table.by_question(run) for run in range(len(table.codes))]
    for i, j in wanted:
        found.append(randomise_clusters(table.measure, tables[i], tables[j], flips))
        step(1)
    return found


def bootstrap_p(values: Array) -> float:
    """Twice the smaller share of resamples on either side of no difference."""
    low = int(np.count_nonzero(~(values > 0)))
    high = int(np.count_nonzero(~(values < 0)))
    return min(1.0, 2 * (min(low, high) + 1) / (len(values) + 1))


def _against_reference(
    table: PairedTable, wanted: Sequence[tuple[int, int]], differences: Array, settings: Settings
) -> Array:
    rows = table.groups if table.of is not None else table.size
    flips = Flips(rows, trials=settings.trials, seed=settings.seed)
    reference = table.by_question(wanted[0][1])
    at_once = max(1, BLOCK // (flips.trials * len(table.cells)) * 8)
    parts = [
        common_swaps(
            table.measure,
            [table.by_question(i) for i, _ in wanted[start : start + at_once]],
            reference,
            flips,
        )
        for start in range(0, len(wanted), at_once)
    ]
    return max_t(np.concatenate(parts, axis=1), differences, exact=flips.exact)


def letters_of(
    pairs: Sequence[Pair], ordered: Sequence[str], settings: Settings
) -> list[str] | None:
    if settings.reference is not None or len(ordered) < 3:
        return None
    place = {run: i for i, run in enumerate(ordered)}
    alpha = 1 - settings.level + 1e-12
    different = [(place[p.run], place[p.against]) for p in pairs if p.adjusted <= alpha]
    groups = letter_groups(len(ordered), different)
    return None if groups is None else letters(len(ordered), groups)


def _rows(
    table: PairedTable, order: Sequence[int], marks: list[str] | None, settings: Settings
) -> list[RunRow]:
    paired, chosen = table.paired, table.measure
    confusion = None if settings.judge_error is None else read_confusion(settings.judge_error)
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
                "" if marks is None else marks[at],
                bounds_of(chosen, paired.known[i], unknown) if paired.unknown.any() else None,
                unknown,
                None
                if confusion is None
                else correct_for_judge(
                    chosen,
                    THREE.merge(table.counts.table[i]),
                    confusion,
                    level=settings.level,
                    seed=settings.seed,
                ),
            )
        )
    return found


def _origin(table: PairedTable, pair: tuple[int, int]) -> Origin:
    own, other = (table.paired.outcomes[i] for i in pair)
    found = origin(table.measure, other, own)
    slices, reversals = in_slices(
        table.measure, other, own, found.contributions, table.paired.parts
    )
    return replace(found, slices=slices, reversals=reversals)


def plan_of(errors: Array, questions: int, settings: Settings) -> Plan | None:
    """A plan from the middle standard error of all pairs."""
    known = errors[~np.isnan(errors) & (errors > 0)]
    return plan(
        float(np.median(known)) if len(known) else math.nan,
        questions,
        detect=settings.detect,
        power=settings.power,
        level=settings.level,
    )
