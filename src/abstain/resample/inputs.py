"""The ways in: gold and runs, judged rows, counts per question, ready score matrices."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from abstain.errors import InputError, UsageError, plural, shown
from abstain.formats.files import bare_name
from abstain.formats.tables import ROW, Table
from abstain.measures import Measure, measure
from abstain.outcomes import KINDS, OUTCOMES, Policy, Why, blanks_by_reason
from abstain.questions import (
    check_mapping,
    collect,
    describe,
    into_lazy,
    open_table,
    read_gold,
    told,
)
from abstain.resample.cells import BLANK, EXCLUDED, of_outcomes
from abstain.resample.evaluation import evaluate
from abstain.resample.result import MetaResult
from abstain.resample.sources import Source, of_counts, of_scores

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array

DEFAULT_MEASURES = ("c@1", "accuracy", "UF")
TOPICS = ("topic", "question", "query", "qid", "id", "")
LARGEST = 1e150
"""Sums and squares of scores within it are numbers."""
MISSING = ("", "na", "nan", "null", "none", "-", "–")


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
    from abstain.campaign.matrix import outcome_matrix
    from abstain.judge import check_align, judge
    from abstain.scoring import open_runs

    chosen = _measures(measures)
    rules = Policy.of(policy)
    standard = read_gold(gold, columns=columns, format=format if _is_path(gold) else None)
    sources = open_runs(runs, columns=columns, format=format)
    check_mapping(columns or {}, [standard.table, *(s.table for s in sources)])
    judged = judge(standard, sources, match=match, align=check_align(align))
    matrix = outcome_matrix(judged, rules)
    source = of_outcomes(matrix.runs, matrix.outcomes, chosen)
    return evaluate(
        source,
        notes=[*describe(standard, sources), *_missing_note(matrix.runs, matrix.kinds)],
        policy=rules.to_dict(),
        touched=_touched(matrix.kinds),
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
    from abstain.grades import grade_matrix
    from abstain.scoring import open_runs, refuse_undecided

    chosen = _measures(measures)
    rules = Policy.of(policy)
    sources = open_runs(runs, columns=columns, format=format)
    check_mapping(columns or {}, [s.table for s in sources])
    found = grade_matrix(sources, grades=grades or {})
    kinds = np.stack([np.bincount(own, minlength=KINDS) for own in found.kinds])
    refuse_undecided(blanks_by_reason(kinds), found.runs, rules)
    becomes = [rules.outcome_of(kind) for kind in range(KINDS)]
    lookup = np.array([EXCLUDED if o is None else o for o in becomes], np.uint8)
    return evaluate(
        of_outcomes(found.runs, lookup[found.kinds], chosen),
        notes=[*told(s.table for s in sources), *_missing_note(found.runs, kinds)],
        policy=rules.to_dict(),
        touched=_touched(kinds),
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
    from abstain.given_counts import read_counts

    chosen = _measures(measures)
    rows, notes = read_counts(counts, by=["question"], columns=columns, format=format)
    runs = sorted({run for run, _, _ in rows})
    cells = {(run, str(question)): own for run, (question,), own in rows}
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
    """The same for ready scores: matrices of topics × systems, one a measure.

    `matrices` is a path or a dataframe, a sequence of them, or a mapping of measures to them.
    """
    named = _named(matrices)
    notes: list[str] = []
    read = {name: _matrix(data, name, format) for name, data in named.items()}
    systems = _common_systems(read, notes)
    topics = _common_topics(read, notes)
    scores = {
        name: np.stack([own.values[own.systems.index(s)][topics[name]] for s in systems])
        for name, own in read.items()
    }
    gone = np.any([np.isnan(table).any(axis=0) for table in scores.values()], axis=0)
    if gone.any():
        notes.append(
            f"{int(gone.sum()):,} of {plural(len(gone), 'topic')} lack the score of some system "
            "and are left out"
        )
        scores = {name: table[:, ~gone] for name, table in scores.items()}
    if not next(iter(scores.values())).shape[1]:
        raise InputError("no topic has a score for every system", next(iter(read.values())).name)
    return evaluate(of_scores(systems, scores), notes=notes, **options)


# --------------------------------------------------------------------------- score matrices


class _Matrix:
    """Systems × topics of one measure."""

    def __init__(
        self, name: str, systems: list[str], topics: list[str] | None, values: Array
    ) -> None:
        self.name, self.systems, self.topics, self.values = name, systems, topics, values


def _named(matrices: Any) -> dict[str, Any]:
    if isinstance(matrices, Mapping):
        return {str(name): data for name, data in matrices.items()}
    listed = (
        list(matrices)
        if isinstance(matrices, Sequence) and not isinstance(matrices, (str, bytes))
        else [matrices]
    )
    if not listed:
        raise UsageError("there is no score matrix")
    names = [
        bare_name(os.fspath(data)) if _is_path(data) else f"measure {k + 1}"
        for k, data in enumerate(listed)
    ]
    short = _without_prefix(names)
    if len(set(short)) < len(short):
        twice = next(n for n in short if short.count(n) > 1)
        raise UsageError(f"two matrices are called '{twice}'; a measure belongs in one")
    return dict(zip(short, listed, strict=True))


def _without_prefix(names: list[str]) -> list[str]:
    """Names of files that begin alike, without what they share."""
    if len(names) < 2:
        return names
    low, high = min(names), max(names)
    same = next((k for k, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    cut = max(low[:same].rfind(sign) for sign in "_-. ") + 1
    return [name[cut:] for name in names] if all(name[cut:] for name in names) else names


def _matrix(data: Any, name: str, format: str | None) -> _Matrix:
    table = open_table(data, name=name, format=format)
    frame = collect(into_lazy(table.frame), table.name)
    frame = frame.drop(ROW) if ROW in frame.columns else frame
    if frame.is_empty():
        raise InputError("has no rows, expected a topic a row", table.name)
    first = frame.columns[0]
    is_id = first.strip().lower() in TOPICS or _is_text(frame[first])
    topics = frame[first].cast(pl.String).to_list() if is_id else None
    if topics is not None and len(set(topics)) < len(topics):
        row = int((~frame[first].is_first_distinct()).arg_max() or 0)
        raise InputError(f"topic {shown(str(topics[row]))} stands twice", table.place(row))
    systems = [c for c in frame.columns if not (is_id and c == first)]
    if not systems:
        raise InputError("has no column of scores, expected a system a column", table.name)
    values = np.stack([_numbers(frame[c], table) for c in systems])
    return _Matrix(table.name, systems, topics, values)


def _is_text(column: pl.Series) -> bool:
    """Whether a column names things: some cell is neither a number nor empty."""
    if column.dtype != pl.String:
        return False
    lower = column.str.strip_chars().str.to_lowercase()
    filled = column.filter(~lower.is_in(MISSING) & lower.is_not_null())
    return filled.cast(pl.Float64, strict=False).is_null().any()


def _numbers(column: pl.Series, table: Table) -> npt.NDArray[np.float64]:
    """A column of scores; an empty cell is missing, anything else that is no number refused."""
    if column.dtype == pl.String:
        text = column.str.strip_chars()
        text = text.set(text.str.to_lowercase().is_in(MISSING), None)
    else:
        text = column
    try:
        values = text.cast(pl.Float64, strict=False)
    except pl.exceptions.PolarsError:
        raise InputError(
            f"column '{column.name}' holds {column.dtype}, expected scores", table.name
        ) from None
    bad = values.is_null() & text.is_not_null()
    boundless = (values.abs() > LARGEST).fill_null(value=False) & ~values.is_nan()
    expected = ("a number", f"a number within ±{LARGEST:g}")
    for wrong, what in zip((bad, boundless), expected, strict=True):
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            raise InputError(
                f"the score of {shown(column.name)} is {shown(str(column[row]))}, expected {what}",
                table.place(row),
            )
    return values.fill_null(float("nan")).to_numpy().astype(np.float64)


def _common_systems(read: Mapping[str, _Matrix], notes: list[str]) -> list[str]:
    first = next(iter(read.values()))
    common = [s for s in first.systems if all(s in own.systems for own in read.values())]
    if len(common) < 2:
        raise InputError(
            f"{plural(len(common), 'system is', 'systems are')} common to "
            f"{plural(len(read), 'matrix', 'matrices')}, expected at least 2",
            first.name,
        )
    seen = {s for own in read.values() for s in own.systems}
    if len(common) < len(seen):
        notes.append(
            f"{len(seen) - len(common):,} of {plural(len(seen), 'system')} are not in every "
            "matrix and are left out"
        )
    return common


def _common_topics(
    read: Mapping[str, _Matrix], notes: list[str]
) -> dict[str, npt.NDArray[np.int64]]:
    """For each matrix the rows to take, in one order for all."""
    lengths = {name: own.values.shape[1] for name, own in read.items()}
    if any(own.topics is None for own in read.values()):
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{own.name} {lengths[name]:,}" for name, own in read.items())
            raise InputError(f"the matrices have different numbers of topics ({said})")
        return {name: np.arange(length) for name, length in lengths.items()}
    positions = {
        name: {topic: k for k, topic in enumerate(own.topics or ())} for name, own in read.items()
    }
    first = next(iter(positions.values()))
    common = [t for t in first if all(t in own for own in positions.values())]
    seen = {t for own in positions.values() for t in own}
    if len(common) < len(seen):
        notes.append(
            f"{len(seen) - len(common):,} of {plural(len(seen), 'topic')} are not in every matrix "
            "and are left out"
        )
    return {name: np.array([own[t] for t in common], np.int64) for name, own in positions.items()}


# ----------------------------------------------------------------------------------- small


def _measures(names: Sequence[str | Measure]) -> list[Measure]:
    chosen = list(dict.fromkeys(measure(name) for name in names))
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


def _touched(kinds: Any) -> dict[str, int]:
    reasons = blanks_by_reason(kinds).sum(axis=0)
    return {why.value: int(n) for why, n in zip(Why, reasons, strict=True) if n}


def _is_path(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike))
