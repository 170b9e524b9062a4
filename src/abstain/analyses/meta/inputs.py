"""The ways in: gold and runs, judged rows, counts per question, ready score matrices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.analyses.meta.cells import BLANK, EXCLUDED, of_outcomes
from abstain.analyses.meta.evaluation import evaluate
from abstain.analyses.meta.result import MetaResult
from abstain.analyses.meta.sources import Source, of_counts, of_scores
from abstain.errors import InputError, UsageError, plural
from abstain.io.frames import check_mapping
from abstain.judging.gold import read_gold
from abstain.judging.opening import old_reading
from abstain.judging.responses import describe, told
from abstain.measures import Measure, count_measure
from abstain.outcomes import OUTCOMES, Policy, Why, blanks_by_reason, reasons_named
from abstain.rankings.scores import read_scores

if TYPE_CHECKING:
    from abstain.outcomes import Array

DEFAULT_MEASURES = ("c@1", "accuracy", "UF")


def meta(
    gold: Any,
    runs: Any,
    *,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    policy: Policy | Mapping[str, str] | Iterable[str] | None = None,
    align: str = "id",
    match: str = "id",
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    **options: Any,
) -> MetaResult:
    """Judge measures by how they order the runs of a campaign; `options` as in `Settings`."""
    from abstain.analyses.campaign.matrix import outcome_matrix
    from abstain.judging.judge import check_align, judge
    from abstain.judging.opening import open_runs

    chosen = _measures(measures)
    rules = Policy.of(policy)
    standard = read_gold(gold, old_reading(columns, format))
    sources = open_runs(runs, columns=columns, format=format)
    check_mapping(columns or {}, [standard.table, *(s.table for s in sources)])
    judged = judge(standard, sources, match=match, align=check_align(align))
    matrix = outcome_matrix(judged, rules)
    source = of_outcomes(matrix.runs, matrix.outcomes, chosen)
    return evaluate(
        source,
        notes=[*describe(standard, sources), *_missing_note(matrix.runs, matrix.kinds)],
        policy=rules.to_dict(),
        touched=reasons_named(blanks_by_reason(matrix.kinds).sum(axis=0)),
        **options,
    )


def meta_judged(
    runs: Any,
    *,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    policy: Policy | Mapping[str, str] | Iterable[str] | None = None,
    grades: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    **options: Any,
) -> MetaResult:
    """The same for rows that carry their own outcome: run, question, and outcome or grade."""
    from abstain.judging.evaluation import refuse_undecided
    from abstain.judging.grades import grade_matrix
    from abstain.judging.opening import open_runs

    chosen = _measures(measures)
    rules = Policy.of(policy)
    sources = open_runs(runs, columns=columns, format=format)
    check_mapping(columns or {}, [s.table for s in sources])
    found = grade_matrix(sources, grades=grades or {})
    kinds = found.tallies()
    refuse_undecided(blanks_by_reason(kinds), found.runs, rules)
    ends = rules.outcomes(EXCLUDED).astype(np.uint8)
    return evaluate(
        of_outcomes(found.runs, ends[found.kinds], chosen),
        notes=[*told(s.table for s in sources), *_missing_note(found.runs, kinds)],
        policy=rules.to_dict(),
        touched=reasons_named(blanks_by_reason(kinds).sum(axis=0)),
        **options,
    )


def meta_counts(
    counts: Any,
    *,
    measures: Sequence[str | Measure] = DEFAULT_MEASURES,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    **options: Any,
) -> MetaResult:
    """The same for counts per question: run, question, right, wrong, unanswered…

    A question may have been asked several times, so that a row has several outcomes.
    """
    from abstain.judging.sources import read_counts

    chosen = _measures(measures)
    given = read_counts(counts, columns=columns, format=format)
    found, notes = given.counted(["question"]), list(given.notes)
    runs = sorted(set(found.runs))
    cells = {
        (run, str(question)): found.counts[i]
        for i, (run, (question,)) in enumerate(zip(found.runs, found.slices, strict=True))
    }
    asked = sorted({question for _, question in cells})
    shared = [q for q in asked if all((run, q) in cells for run in runs)]
    if not shared:
        raise InputError(f"no question is common to the {plural(len(runs), 'run')}")
    if len(shared) < len(asked):
        notes.append(
            f"{len(asked) - len(shared):,} of {plural(len(asked), 'question')} were not asked "
            "of every run and are left out"
        )
    names = ("right", "wrong", *OUTCOMES[2:], "unsplit")
    table = np.array([[[getattr(cells[r, q], n) for n in names] for q in shared] for r in runs])
    return evaluate(_counted(runs, table, chosen), notes=notes, **options)


def _counted(runs: Sequence[str], table: Array, measures: Sequence[Measure]) -> Source:
    """Counts of one outcome a question are outcomes, which are quicker."""
    unsplit = table[..., -1].any()
    fine = any(m.definition.needs_candidates for m in measures)
    if (table.sum(axis=-1) == 1).all() and not (unsplit and fine):
        outcomes = table.argmax(axis=-1).astype(np.uint8)
        return of_outcomes(runs, np.where(outcomes == EXCLUDED, BLANK, outcomes), measures)
    return of_counts(runs, table, measures)


def meta_scores(
    matrices: Any, *, columns: Mapping[str, str] | None = None, format: str | None = None,
    **options: Any,
) -> MetaResult:  # fmt: skip
    """The same for ready scores by topic and system: all that `read_scores` takes."""
    found = read_scores(matrices, columns=columns, format=format).complete()
    scores = {name: found.scores(name) for name in found.measures}
    return evaluate(of_scores(found.runs, scores), notes=found.notes, **options)


# ----------------------------------------------------------------------------------- small


def _measures(names: Sequence[str | Measure]) -> list[Measure]:
    listed = [names] if isinstance(names, (str, Measure)) else names
    chosen = list(dict.fromkeys(count_measure(name) for name in listed))
    if not chosen:
        raise UsageError("there is no measure to judge")
    return chosen


def _missing_note(runs: Sequence[str], kinds: Any) -> list[str]:
    """Runs that lack questions which others have."""
    missing = blanks_by_reason(kinds)[:, list(Why).index(Why.MISSING)]
    short = [runs[int(k)] for k in np.flatnonzero(missing)]
    if not short:
        return []
    some = ", ".join(short[:3]) + (f" and {len(short) - 3} more" if len(short) > 3 else "")
    return [
        f"{plural(int(missing.sum()), 'response')} of {plural(len(short), 'run')} are missing "
        f"({some}): the runs are not over the same questions"
    ]
