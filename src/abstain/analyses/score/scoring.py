"""`score`: the scores of every run, by slices where asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from abstain.analyses.result import defined, number, ranked, read_as
from abstain.analyses.score.result import Reference, Row, ScoreResult
from abstain.errors import UsageError, option
from abstain.judging.answers import answers_of
from abstain.judging.slices import slice_numbers, slice_sizes
from abstain.measures import Measure, count_measure, measure
from abstain.outcomes import Counts, CountsArray, reasons_named

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

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
            f"{option('cluster')} needs {option('interval')}: clusters change intervals, not scores"
        )
    known: Known = {}
    if any(item.definition.takes == "confidence" for item in chosen):
        known = _by_confidence(evaluation, chosen, by)
    found = evaluation.counted(by)
    rows = rows_of(found, by, chosen, known)
    if references:
        rows += [_reference(by, chosen, *one) for one in reference_counts(rows)]
    if break_even:
        rows = [structs.replace(row, break_even=_break_even(row, chosen)) for row in rows]
    slices: dict[tuple[str | None, ...], list[Row]] = {}
    for row in rows:
        slices.setdefault(tuple(row.slice.values()), []).append(row)
    first, higher = str(chosen[0]), chosen[0].higher_is_better
    ordered = (ranked(own, first, higher_is_better=higher) for own in slices.values())
    result = ScoreResult(
        **read_as(evaluation),
        policy=evaluation.policy.to_dict() if evaluation.kind != "counts" else {},
        touched={} if found.blanks is None else reasons_named(found.blanks.sum(axis=0)),
        measures=tuple(str(item) for item in chosen),
        by=by,
        questions=found.questions,
        rows=tuple(row for own in ordered for row in own),
    )
    if not interval:
        return result
    from abstain.analyses.score.intervals import with_intervals

    method = "" if interval is True else interval
    return with_intervals(result, evaluation, chosen, method, level=level, seed=seed)


def chosen_measures(given: Sequence[str | Measure] | str | Measure) -> tuple[Measure, ...]:
    """The measures that are asked for, each once."""
    listed = [given] if isinstance(given, str) or not isinstance(given, Iterable) else given
    chosen = tuple(dict.fromkeys(measure(item) for item in listed))
    if not chosen:
        raise UsageError("name at least one measure")
    return chosen


def rows_of(
    found: Counted, by: Sequence[str], measures: Sequence[Measure], known: Known
) -> list[Row]:
    """Counts of runs in slices, scored; what counts alone do not give is `known`."""
    named = {str(item): item for item in measures}
    scored = {k: m(found.counts) for k, m in named.items() if m.definition.takes == "counts"}
    built = []
    for i, (run, values) in enumerate(zip(found.runs, found.slices, strict=True)):
        own = found.counts[i]
        given = known.get((run, values), {})

        def why(name: str, own: Counts = own) -> str:
            if name not in scored:
                return "counts alone do not give it"
            return named[name].why_undefined(own) or "undefined"

        every = {k: scored[k][i] if k in scored else given.get(k, math.nan) for k in named}
        scores, undefined = defined(every, why)
        built.append(
            Row(
                run=run,
                slice=dict(zip(by, values, strict=True)),
                numbers=own.to_dict(),
                scores=scores,
                undefined=undefined,
                blanks={} if found.blanks is None else reasons_named(found.blanks[i]),
                excluded=0 if found.excluded is None else int(found.excluded[i]),
            )
        )
    return built


def _by_confidence(evaluation: Evaluation, measures: Sequence[Measure], by: Sequence[str]) -> Known:
    """The score of every run in every slice, for those measures that take a confidence."""
    chosen = [m for m in measures if m.definition.takes == "confidence"]
    confidence, codes = evaluation.confidence, evaluation.codes
    found = {}
    for part, where in slices_by(evaluation.with_attributes(by), by):
        for run, own, sure in zip(evaluation.runs, codes, confidence, strict=True):
            answers = answers_of(own, sure, where if by else None)
            found[run, part] = {str(item): item(answers) for item in chosen}
    return found


def slices_by(
    questions: pl.DataFrame, by: Sequence[str]
) -> Iterator[tuple[tuple[str | None, ...], npt.NDArray[np.bool_]]]:
    """The slices by some attributes, each with the questions that are in it."""
    sizes = slice_sizes(questions, by)
    places = slice_numbers(questions, sizes, by)
    for at, part in enumerate(sizes.drop("size").rows() if by else [()]):
        yield part, places == at


def _break_even(row: Row, measures: Sequence[Measure]) -> dict[str, float | None]:
    chosen = [m for m in measures if m.definition.break_even is not None]
    return {str(m): number(m.break_even(row.counts)) for m in chosen}


def reference_counts(rows: Sequence[Row]) -> Iterator[tuple[Row, str, Reference, Counts]]:
    """For each slice "answer nothing"; for each run its blanks drawn at random, and the best.

    Random blanking needs a candidate behind every blank.
    """
    silent: set[tuple[str | None, ...]] = set()
    for row in rows:
        part, k = tuple(row.slice.values()), row.counts
        if part not in silent:
            silent.add(part)
            yield row, "(nobody)", "answer nothing", Counts(unanswered_empty=k.n)
        if k.n == 0:
            continue
        if k.unanswered and not k.unsplit and not k.unanswered_empty:
            yield row, row.run, "random blanking", blanked_at_random(k)
        yield row, row.run, "best blanking", blanked_at_best(k)


def blanked_at_random(k: Counts) -> Counts:
    """What a run would have had on average, had it drawn its blanks at random.

    It keeps the run's coverage and its candidates: with share a of the candidates right and
    coverage v, a·v·n are right on average. Every credit measure is linear in c for a given u, so
    its expected score is its score of these expected counts.
    """
    right, has = k.right + k.unanswered_right, k.n - k.unanswered_empty - k.unsplit
    share, blank = (right / has if has else 0.0), has - k.answered
    return Counts(
        right=share * k.answered,
        wrong=(1 - share) * k.answered,
        unanswered_right=share * blank,
        unanswered_wrong=(1 - share) * blank,
        unanswered_empty=k.unanswered_empty,
        unsplit=k.unsplit,
    )


def blanked_at_best(k: Counts) -> Counts:
    """Every right answer or candidate given, every other left blank."""
    return Counts(
        right=k.right + k.unanswered_right,
        unanswered_wrong=k.wrong + k.unanswered_wrong,
        unanswered_empty=k.unanswered_empty,
        unsplit=k.unsplit,
    )


def _reference(
    by: Sequence[str],
    measures: Sequence[Measure],
    like: Row,
    run: str,
    reference: Reference,
    counts: Counts,
) -> Row:
    from abstain.judging.evaluation import Counted

    one = Counted([run], [tuple(like.slice.values())], CountsArray.of([counts]), None)
    return structs.replace(rows_of(one, by, measures, {})[0], reference=reference)
