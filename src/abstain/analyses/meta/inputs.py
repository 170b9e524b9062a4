"""What is resampled: the outcomes of an evaluation, counts per question, ready scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from abstain.errors import InputError, UsageError, plural
from abstain.io.columns import require_all
from abstain.judging.given_counts import GivenCounts
from abstain.measures import Measure, count_measure
from abstain.outcomes import EXCLUDED, OUTCOMES, Why, blanks_by_reason
from abstain.rankings.scores import ScoreMatrix
from abstain.stats.resampling.cells import BLANK, of_outcomes
from abstain.stats.resampling.sources import Source, of_counts, of_scores

if TYPE_CHECKING:
    from abstain.judging.evaluation import Evaluation
    from abstain.outcomes import Array

DEFAULT_MEASURES = ("c@1", "accuracy", "UF")


def source_of(
    asked: Evaluation | ScoreMatrix, measures: Sequence[str | Measure] | str | Measure
) -> tuple[Source, tuple[str, ...]]:
    """What can be scored on any draw of the questions, and what is to be said of it."""
    listed = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    if isinstance(asked, ScoreMatrix):
        return _of_matrix(asked, listed)
    chosen = list(dict.fromkeys(count_measure(name) for name in listed or DEFAULT_MEASURES))
    if asked.kind == "counts":
        return _of_counts(asked, chosen)
    codes = asked.codes
    notes = [*asked.notes, *_missing_note(asked)]
    if asked.reading.cluster is not None:
        notes.append(
            f"questions are drawn one by one, though they are clustered by {asked.reading.cluster}"
        )
    return of_outcomes(asked.runs, codes, chosen), tuple(notes)


def _of_matrix(
    matrix: ScoreMatrix, measures: Sequence[str | Measure]
) -> tuple[Source, tuple[str, ...]]:
    chosen = matrix.only(measures=[str(name) for name in measures]) if measures else matrix
    found = chosen.complete()
    source = of_scores(
        found.runs,
        dict(zip(found.measures, found.values, strict=True)),
        directions=[1 if higher else -1 for higher in found.higher_is_better],
    )
    return source, found.notes


def _of_counts(
    evaluation: Evaluation, measures: Sequence[Measure]
) -> tuple[Source, tuple[str, ...]]:
    """Counts per question: a question may have been asked several times."""
    given = evaluation.source
    assert isinstance(given, GivenCounts)
    if given.table is None:
        raise UsageError(
            "meta draws questions, which counts by name do not have: expected a table of counts "
            "with a row for each run and question"
        )
    require_all(given.table, {"question": "which meta draws: a row for each run and question"})
    found, notes = evaluation.counted(["question"]), list(evaluation.notes)
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
    names = (*OUTCOMES, "unsplit")
    table = np.array([[[getattr(cells[r, q], n) for n in names] for q in shared] for r in runs])
    return _counted(runs, table, measures), tuple(notes)


def _counted(runs: Sequence[str], table: Array, measures: Sequence[Measure]) -> Source:
    """Counts of one outcome a question are outcomes, which are quicker."""
    unsplit = table[..., -1].any()
    fine = any(m.definition.needs_candidates for m in measures)
    if (table.sum(axis=-1) == 1).all() and not (unsplit and fine):
        outcomes = table.argmax(axis=-1).astype(np.uint8)
        return of_outcomes(runs, np.where(outcomes == EXCLUDED, BLANK, outcomes), measures)
    return of_counts(runs, table, measures)


def _missing_note(evaluation: Evaluation) -> list[str]:
    """Runs that lack questions which others have."""
    found = evaluation.tallies(())
    missing = blanks_by_reason(found.table)[:, list(Why).index(Why.MISSING)]
    short = [found.runs[int(k)] for k in np.flatnonzero(missing)]
    if not short:
        return []
    some = ", ".join(short[:3]) + (f" and {len(short) - 3} more" if len(short) > 3 else "")
    return [
        f"{plural(int(missing.sum()), 'response')} of {plural(len(short), 'run')} are missing "
        f"({some}): the runs are not over the same questions"
    ]
