"""`score`: the scores of every run, by slices where asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from abstain.analyses.score.references import reference_counts
from abstain.analyses.score.result import Reference, Row, ScoreResult
from abstain.errors import UsageError, option
from abstain.measures import Measure, count_measure, measure
from abstain.outcomes import CountsArray, reasons_named
from abstain.stats.ties import places

if TYPE_CHECKING:
    from abstain.judging.evaluation import Counted, Evaluation
    from abstain.stats.intervals import IntervalMethod

DEFAULT_MEASURES = ("c@1", "accuracy", "precision", "coverage")

Known = dict[tuple[str, tuple[str | None, ...]], dict[str, float]]
"""Run and slice to scores that counts alone do not give."""


def score(
    evaluation: Evaluation,
    measures: Sequence[str | Measure] | str | Measure = (),
    *,
    by: Sequence[str] | str = (),
    interval: IntervalMethod | bool = False,
    level: float = 0.95,
    references: bool = False,
    break_even: bool = False,
    seed: int = 0,
) -> ScoreResult:
    """Score every run; with `interval` each score has one, by question or cluster."""
    by = (by,) if isinstance(by, str) else tuple(dict.fromkeys(by))
    chosen = chosen_measures(measures or DEFAULT_MEASURES)
    if evaluation.kind == "counts":
        chosen = tuple(count_measure(item) for item in chosen)
    if not interval and evaluation.reading.cluster is not None:
        raise UsageError(
            f"{option('cluster')} goes with {option('interval')}: it makes intervals, not scores"
        )
    known: Known = {}
    if any(item.definition.takes == "confidence" for item in chosen):
        from abstain.analyses.score.confident import scores_by_slice

        known = scores_by_slice(evaluation, chosen, by)
    found = evaluation.counted(by)
    rows = rows_of(found, by, chosen, known=known)
    if references:
        rows += [
            _reference(by, chosen, *one)
            for one in reference_counts([(row.run, row.slice, row.counts) for row in rows])
        ]
    if break_even:
        rows = [structs.replace(row, break_even=_break_even(row, chosen)) for row in rows]
    result = ScoreResult(
        reading=evaluation.reading,
        notes=evaluation.notes,
        policy=evaluation.policy.to_dict() if evaluation.kind != "counts" else {},
        touched={} if found.blanks is None else reasons_named(found.blanks.sum(axis=0)),
        measures=tuple(str(item) for item in chosen),
        by=by,
        questions=found.questions,
        rows=tuple(_ranked(rows, chosen[0], by)),
    )
    if not interval:
        return result
    from abstain.analyses.score.intervals import with_intervals

    method = "" if interval is True else interval
    return with_intervals(result, evaluation, chosen, method, level=level, seed=seed)


def chosen_measures(given: Sequence[str | Measure] | str | Measure) -> tuple[Measure, ...]:
    """The measures that are asked for, each once."""
    listed = [given] if isinstance(given, (str, Measure)) else given
    chosen = tuple(dict.fromkeys(measure(item) for item in listed))
    if not chosen:
        raise UsageError("name at least one measure")
    return chosen


def rows_of(
    found: Counted,
    by: Sequence[str],
    measures: Sequence[Measure],
    *,
    known: Known | None = None,
    reference: Reference | None = None,
) -> list[Row]:
    """Counts of runs in slices, scored; what counts alone do not give is `known`."""
    scores = {str(m): m(found.counts) for m in measures if m.definition.takes == "counts"}
    built = []
    for i, (run, values) in enumerate(zip(found.runs, found.slices, strict=True)):
        own = found.counts[i]
        given = (known or {}).get((run, values), {})
        defined: dict[str, float | None] = {}
        undefined: dict[str, str] = {}
        for item in measures:
            name = str(item)
            value = float(scores[name][i]) if name in scores else given.get(name, math.nan)
            if math.isnan(value):
                defined[name] = None
                undefined[name] = _why_not(item, own, value)
            else:
                defined[name] = float(value)
        built.append(
            Row(
                run=run,
                slice=dict(zip(by, values, strict=True)),
                numbers=own.to_dict(),
                scores=defined,
                undefined=undefined,
                blanks={} if found.blanks is None else reasons_named(found.blanks[i]),
                excluded=0 if found.excluded is None else int(found.excluded[i]),
                reference=reference,
            )
        )
    return built


def _why_not(item: Measure, counts: object, value: float) -> str:
    if item.definition.takes == "counts":
        return item.why_undefined(counts) or "undefined"
    return getattr(value, "reason", "counts alone do not give it")


def _reference(
    by: Sequence[str],
    measures: Sequence[Measure],
    run: str,
    part: dict[str, str | None],
    reference: Reference,
    counts: object,
) -> Row:
    from abstain.judging.evaluation import Counted

    slices = [tuple(part[name] for name in by)]
    one = Counted([run], slices, CountsArray.of([counts]), None)  # type: ignore[list-item]
    return rows_of(one, by, measures, reference=reference)[0]


def _break_even(row: Row, measures: Sequence[Measure]) -> dict[str, float | None]:
    values = {
        str(m): m.break_even(row.counts) for m in measures if m.definition.break_even is not None
    }
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def _ranked(rows: list[Row], first: Measure, by: Sequence[str]) -> list[Row]:
    """By slice, then by the first measure, the undefined last; ties share their rank."""
    name = str(first)
    sign = -1 if first.higher_is_better else 1
    slices: dict[tuple[str | None, ...], list[Row]] = {}
    for row in rows:
        slices.setdefault(tuple(row.slice[b] for b in by), []).append(row)
    ordered: list[Row] = []
    for members in slices.values():
        members.sort(key=lambda r: (r.scores[name] is None, sign * (r.scores[name] or 0.0), r.run))
        ranked = [row.score(name) for row in members if row.reference is None]
        ranks = iter(places(ranked, higher_is_better=first.higher_is_better))
        ordered += [
            row if row.reference is not None else structs.replace(row, rank=next(ranks))
            for row in members
        ]
    return ordered
