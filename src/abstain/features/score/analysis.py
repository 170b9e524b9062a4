"""`score`: the scores of every run, by slices where asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec import structs

from abstain.errors import InputError, UsageError, option
from abstain.features.score.result import Reference, Row, ScoreResult
from abstain.measures import Measure, count_measure, measure
from abstain.measures.registry import set_named
from abstain.outcomes import (
    EXCLUDED,
    WRONG,
    Counts,
    CountsArray,
    blanked_at_best,
    blanked_at_random,
    reasons_named,
)
from abstain.report.result import defined, number, ranked, read_as
from abstain.runs.gold import numbered_slices

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from abstain.runs.evaluation import Counted, Evaluation
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
    chosen = chosen_measures(_without_sets(measures or DEFAULT_MEASURES, evaluation))
    of_columns = [item for item in chosen if item.definition.takes == "columns"]
    if evaluation.data.kind == "counts":
        chosen = tuple(count_measure(item) for item in chosen)
    if not interval and evaluation.reading.cluster is not None:
        raise UsageError(
            f"{option('cluster')} needs {option('interval')}: clusters change intervals, not scores"
        )
    known: Known = {}
    if "confidence" in [item.definition.takes for item in chosen]:
        known = _by_confidence(evaluation, chosen, by)
    matches = evaluation.data.counted(by)
    if of_columns:
        for key, scores in _by_columns(evaluation, of_columns, by).items():
            known.setdefault(key, {}).update(scores)
    rows = rows_of(matches, by, chosen, known)
    if references:
        rows += [_reference(by, chosen, *one) for one in reference_counts(rows)]
    if break_even:
        rows = [structs.replace(row, break_even=_break_even(row, chosen)) for row in rows]
    slices: dict[tuple[str | None, ...], list[Row]] = {}
    for row in rows:
        slices.setdefault(tuple(row.slice.values()), []).append(row)
    ordered = (ranked(slice_, chosen[0]) for slice_ in slices.values())
    result = ScoreResult(
        **read_as(evaluation, *{m.definition.note: 0 for m in of_columns if m.definition.note}),
        policy=evaluation.policy.to_dict() if evaluation.data.kind != "counts" else {},
        touched={} if matches.blanks is None else reasons_named(matches.blanks.sum(axis=0)),
        measures=tuple(map(str, chosen)),
        by=by,
        questions=matches.questions,
        rows=tuple(chain.from_iterable(ordered)),
    )
    if not interval:
        return result
    from abstain.features.score.intervals import with_intervals

    method = "" if interval is True else interval
    return with_intervals(result, evaluation, chosen, method, level=level, seed=seed)


def _without_sets(
    values: Sequence[str | Measure] | str | Measure, evaluation: Evaluation
) -> list[str | Measure]:
    """The measures, with those of a set in place of its name."""
    names: list[str | Measure] = []
    for value in [values] if isinstance(values, (str, Measure)) else values:
        known = set_named(value) if isinstance(value, str) else None
        names += [value] if known is None else known.measures
        for name in () if known is None else known.where_there:
            if _columns(evaluation).issuperset(measure(name).definition.columns):
                names.append(name)
    return names


def chosen_measures(values: Sequence[str | Measure] | str | Measure) -> tuple[Measure, ...]:
    """The measures that are asked for, each once."""
    listed = [values] if isinstance(values, str) or not isinstance(values, Iterable) else values
    chosen = tuple(dict.fromkeys(map(measure, listed)))
    if not chosen:
        raise UsageError("name at least one measure")
    return chosen


def rows_of(
    result: Counted, by: Sequence[str], measures: Sequence[Measure], known: Known
) -> list[Row]:
    """Counts of runs in slices, scored; what counts alone do not give is `known`."""
    named = {str(item): item for item in measures}
    scored = {k: m(result.counts) for k, m in named.items() if m.definition.takes == "counts"}
    built = []
    for i, (run, values) in enumerate(zip(result.runs, result.slices, strict=True)):
        count = result.counts[i]
        arguments = known.get((run, values), {})

        def why(name: str, count: Counts = count) -> str:
            if name not in scored:
                return "counts alone do not give it"
            return named[name].why_undefined(count) or "undefined"

        every = {k: scored[k][i] if k in scored else arguments.get(k, math.nan) for k in named}
        scores, undefined = defined(every, why)
        built.append(
            Row(
                run=run,
                slice=dict(zip(by, values, strict=True)),
                numbers=count.to_dict(),
                scores=scores,
                undefined=undefined,
                blanks={} if result.blanks is None else reasons_named(result.blanks[i]),
                excluded=0 if result.excluded is None else int(result.excluded[i]),
            )
        )
    return built


def _by_confidence(evaluation: Evaluation, measures: Sequence[Measure], by: Sequence[str]) -> Known:
    """The score of every run in every slice, for those measures that take a confidence."""
    from abstain.runs.matrix import answers_of

    chosen = [m for m in measures if m.definition.takes == "confidence"]
    confidence, codes = evaluation.data.confidence, evaluation.data.codes
    result = {}
    for part, where in slices_by(evaluation.data.with_attributes(by), by):
        for run, one, sure in zip(evaluation.runs, codes, confidence, strict=True):
            answers = answers_of(one, sure, where if by else None)
            result[run, part] = {str(item): item(answers) for item in chosen}
    return result


def _by_columns(evaluation: Evaluation, measures: Sequence[Measure], by: Sequence[str]) -> Known:
    """The score of every run in every slice, for those measures that take columns."""
    from abstain.measures.evaluators import Columns

    texts = _texts(evaluation, measures)
    result = {}
    for part, where in slices_by(evaluation.data.with_attributes(by), by):
        for run, codes in zip(evaluation.runs, evaluation.data.codes, strict=True):
            inside = where & (codes < EXCLUDED)
            some = {name: values[inside] for name, values in texts[run].items()}
            columns: Any = Columns(codes[inside] < WRONG, codes[inside] > WRONG, some)
            result[run, part] = {str(item): item(columns) for item in measures}
    return result


def _columns(evaluation: Evaluation) -> set[str]:
    """The columns that gold and runs have besides ours."""
    gold = evaluation.data.source.gold
    named = {name for item in evaluation.data.source.responses for name in item.table.columns}
    return named.union(() if gold is None else gold.attributes)


def _texts(evaluation: Evaluation, measures: Sequence[Measure]) -> dict[str, dict[str, Any]]:
    """By run and column what each question has there, None where it has nothing."""
    import numpy as np
    import polars as pl

    from abstain.io.frames import collect
    from abstain.runs.judge import INDEX
    from abstain.runs.sources import GoldRuns, JudgedRows

    source, there = evaluation.data.source, _columns(evaluation)
    needed = {name: item for item in measures for name in item.definition.columns}
    for name, item in needed.items():
        if name not in there:
            why = item.definition.convention
            raise InputError(f"there is no column '{name}', which {item} needs ({why})")
    if not isinstance(source, (GoldRuns, JudgedRows)):
        raise UsageError(f"{measures[0]} needs all responses, not a selection of them")
    of_gold = [name for name in needed if source.gold and name in source.gold.attributes]
    shared = {name: np.array(source.questions([name])[name].to_list(), object) for name in of_gold}
    of_runs = [name for name in needed if name not in shared]
    frames = source.judged(keep=of_runs).frames
    rows = pl.concat([collect(f, "the runs") for f in frames], how="diagonal_relaxed")
    result: dict[str, dict[str, Any]] = {}
    for run in evaluation.runs:
        one = rows.filter(pl.col("run") == run)
        result[run] = dict(shared)
        for name in of_runs:
            values = result[run][name] = np.full(len(evaluation), None, object)
            if name in one.columns:
                values[one[INDEX].to_numpy()] = np.array(one[name].to_list(), object)
    return result


def slices_by(
    questions: pl.DataFrame, by: Sequence[str]
) -> Iterator[tuple[tuple[str | None, ...], npt.NDArray[np.bool_]]]:
    """The slices by some attributes, each with the questions that are in it."""
    slices, places = numbered_slices(questions, by)
    for at, part in enumerate(slices):
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


def _reference(
    by: Sequence[str],
    measures: Sequence[Measure],
    like: Row,
    run: str,
    reference: Reference,
    counts: Counts,
) -> Row:
    from abstain.runs.evaluation import Counted

    one = Counted([run], [tuple(like.slice.values())], CountsArray.of([counts]), None)
    return structs.replace(rows_of(one, by, measures, {})[0], reference=reference)
