"""`score`: the scores of every run, by slices where asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from msgspec import structs

from abstain import outcomes
from abstain.errors import InputError, UsageError, option
from abstain.features.score.result import Reference, Row, ScoreResult
from abstain.io.frames import collect
from abstain.io.tables import cells
from abstain.measures import Measure, count_measure, measure, swept
from abstain.measures.registry import set_named
from abstain.outcomes import EXCLUDED, WRONG, Counts, CountsArray, DecisionsArray, reasons_named
from abstain.report.result import Ends, defined, number, ranked, read_as
from abstain.runs.evaluation import Counted, Evaluation
from abstain.runs.gold import numbered_slices
from abstain.runs.judge import INDEX
from abstain.runs.sources import GoldRuns, JudgedRows, answers_of

if TYPE_CHECKING:
    from abstain.measures.definition import BoolArray, Takes
    from abstain.stats.confidence_intervals import Sample
    from abstain.stats.intervals import IntervalMethod

OF_RESPONSES: tuple[Takes, ...] = ("confidence", "decisions", "columns")
"""What measures may take beside counts where there are responses."""

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
    takes = {item.definition.takes for item in chosen}
    fitting: tuple[Takes, ...] = OF_RESPONSES if evaluation.data.kind != "counts" else ()
    if not takes <= {"counts", *fitting}:
        chosen = tuple(count_measure(item, *fitting) for item in chosen)  # names what does not fit
    if not interval and evaluation.reading.cluster is not None:
        raise UsageError(
            f"{option('cluster')} needs {option('interval')}: clusters change intervals, not scores"
        )
    of_answers = [m for m in chosen if m.definition.takes in ("confidence", "columns")]
    known = _beyond_counts(evaluation, of_answers, by)
    counted = evaluation.data.counted(by)
    decided = evaluation.data.decided(by) if "decisions" in takes else None
    rows = rows_of(counted, by, chosen, known, decided)
    if references:
        rows += list(reference_rows(rows, by, chosen))
    if break_even:
        paying = {str(m): m.break_even for m in chosen if m.definition.break_even is not None}
        rows = [
            structs.replace(row, break_even={k: number(of(row.counts)) for k, of in paying.items()})
            for row in rows
        ]
    slices: dict[tuple[str | None, ...], list[Row]] = {}
    for row in rows:
        slices.setdefault(tuple(row.slice.values()), []).append(row)
    ordered = (ranked(slice_, chosen[0]) for slice_ in slices.values())
    result = ScoreResult(
        **read_as(evaluation, *{m.definition.note: 0 for m in of_columns if m.definition.note}),
        policy=evaluation.policy.to_dict() if evaluation.data.kind != "counts" else {},
        touched={} if counted.blanks is None else reasons_named(counted.blanks.sum(axis=0)),
        measures=tuple(map(str, chosen)),
        by=by,
        questions=counted.questions,
        samples=evaluation.data.samples,
        rows=tuple(chain.from_iterable(ordered)),
    )
    if not interval:
        return result
    method = "" if interval is True else interval
    return with_intervals(result, evaluation, chosen, method=method, level=level, seed=seed)


def _without_sets(
    values: Sequence[str | Measure] | str | Measure, evaluation: Evaluation
) -> list[str | Measure]:
    names: list[str | Measure] = []
    for value in [values] if isinstance(values, (str, Measure)) else values:
        of_set = set_named(value) if isinstance(value, str) else None
        names += [value] if of_set is None else of_set.measures
        for name in () if of_set is None else of_set.where_there:
            if _columns(evaluation).issuperset(measure(name).definition.columns):
                names.append(name)
    return names


def chosen_measures(values: Sequence[str | Measure] | str | Measure) -> tuple[Measure, ...]:
    chosen = tuple(dict.fromkeys(map(measure, swept(values))))
    if not chosen:
        raise UsageError("name at least one measure")
    return chosen


def rows_of(
    counted: Counted,
    by: Sequence[str],
    measures: Sequence[Measure],
    known: Known,
    decided: DecisionsArray | None = None,
) -> list[Row]:
    """Counts and decisions of runs in slices, scored; what these do not give is `known`."""
    named = {str(item): item for item in measures}
    tables = {"counts": counted.counts} | ({} if decided is None else {"decisions": decided})
    taken = {k: tables.get(m.definition.takes) for k, m in named.items()}
    scored = {k: named[k](table) for k, table in taken.items() if table is not None}
    built = []
    for i, (run, values) in enumerate(zip(counted.runs, counted.slices, strict=True)):
        count = counted.counts[i]
        arguments = known.get((run, values), {})

        def why(name: str, i: int = i) -> str:
            if (table := taken[name]) is None:
                return "counts alone do not give it"
            return named[name].why_undefined(table[i]) or "undefined"

        every = {k: scored[k][i] if k in scored else arguments.get(k, math.nan) for k in named}
        scores, undefined = defined(every, why)
        built.append(
            Row(
                run=run,
                slice=dict(zip(by, values, strict=True)),
                numbers=count.to_dict(),
                scores=scores,
                undefined=undefined,
                decisions={} if decided is None else decided[i].to_dict(),
                blanks={} if counted.blanks is None else reasons_named(counted.blanks[i]),
                excluded=0 if counted.excluded is None else int(counted.excluded[i]),
            )
        )
    return built


def _beyond_counts(evaluation: Evaluation, measures: Sequence[Measure], by: Sequence[str]) -> Known:
    if not measures:
        return {}
    from abstain.measures.evaluators import Columns

    of_columns = [item for item in measures if item.definition.takes == "columns"]
    data, texts = evaluation.data, _texts(evaluation, of_columns) if of_columns else {}
    result: Known = {}
    for part, where in slices_by(data.with_attributes(by), by):
        for at, (run, codes) in enumerate(zip(evaluation.runs, data.codes, strict=True)):
            taken: dict[str, Any] = {}
            if of_columns:
                inside = where & (codes < EXCLUDED)
                some = {name: values[inside] for name, values in texts[run].items()}
                taken["columns"] = Columns(codes[inside] < WRONG, codes[inside] > WRONG, some)
            if len(of_columns) < len(measures):
                sure = data.confidence[at]
                taken["confidence"] = answers_of(codes, sure, where if by else None)
            result[run, part] = {str(m): m(taken[m.definition.takes]) for m in measures}
    return result


def _columns(evaluation: Evaluation) -> set[str]:
    gold = evaluation.data.source.gold
    named = {name for item in evaluation.data.source.responses for name in item.table.columns}
    return named.union(() if gold is None else gold.attributes)


def _texts(evaluation: Evaluation, measures: Sequence[Measure]) -> dict[str, dict[str, Any]]:
    """By run and column what each question has there, None where it has nothing."""
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
) -> Iterator[tuple[tuple[str | None, ...], BoolArray]]:
    slices, places = numbered_slices(questions, by)
    for at, part in enumerate(slices):
        yield part, places == at


def reference_rows(
    rows: Sequence[Row], by: Sequence[str], measures: Sequence[Measure]
) -> Iterator[Row]:
    """By slice "answer nothing"; by run the best, and random blanks if all have candidates."""
    silent: set[tuple[str | None, ...]] = set()
    for row in rows:
        part, k = tuple(row.slice.values()), row.counts
        made: list[tuple[str, Reference, Counts]] = []
        if part not in silent:
            silent.add(part)
            made.append(("(nobody)", "answer nothing", Counts(unsplit=k.n)))
        if k.n and k.unanswered and not k.unsplit and not k.unanswered_empty:
            made.append((row.run, "random blanking", outcomes.blanked_at_random(k)))
        if k.n:
            made.append((row.run, "best blanking", outcomes.blanked_at_best(k)))
        for run, reference, counts in made:
            one = Counted([run], [part], CountsArray.of([counts]), None)
            yield structs.replace(rows_of(one, by, measures, {})[0], reference=reference)


def with_intervals(
    result: ScoreResult, evaluation: Evaluation, measures: Sequence[Measure], **made: Any
) -> ScoreResult:
    """The result with intervals, which are `made` by a method, at a level, from a seed."""
    from abstain.stats.confidence_intervals import TRIALS, method_of
    from abstain.stats.delta_method import few_clusters
    from abstain.stats.intervals import RANDOM, check_level, check_method

    method, level = check_method(made["method"]), check_level(made["level"])
    if evaluation.data.source.shares is not None:
        from abstain.runs.partial import check_interval

        check_interval(method)
    confident = [m for m in measures if m.definition.takes == "confidence"]
    resampled = method_of(confident[0], method) if confident else None
    made |= {"method": method, "level": level}
    groups = evaluation.data.by_cluster(result.by)
    return structs.replace(
        result,
        notes=(*result.notes, *(few_clusters(groups) if evaluation.data.cluster else ())),
        rows=tuple(interval_rows(result.rows, evaluation, result.by, measures, **made)),
        interval_method=resampled if resampled and len(confident) == len(measures) else method,
        resampled_method=resampled,
        trials=TRIALS if confident else None,
        level=level,
        cluster=None if groups is None else evaluation.data.cluster,
        seed=made["seed"] if method in RANDOM or confident else None,
    )


def interval_rows(
    rows: Iterable[Row],
    evaluation: Evaluation,
    by: Sequence[str],
    measures: Sequence[Measure],
    **made: Any,
) -> Iterator[Row]:
    from abstain.stats.confidence_intervals import confidence_interval
    from abstain.stats.intervals import interval

    data, takes = evaluation.data, {m.definition.takes for m in measures}
    groups = {kind: data.by_cluster(by, decisions=kind == "decisions") for kind in takes}
    confident = "confidence" in takes
    for row in rows:
        if row.reference is not None:
            yield row
            continue
        part = row.run, tuple(row.slice.values())
        sample = _sample(evaluation, row, by) if confident else None
        ends: dict[str, Ends] = {}
        reasons: dict[str, str] = {}
        for item in measures:
            name, kind = str(item), item.definition.takes
            clusters = None if (tables := groups[kind]) is None else tables[part]
            if kind == "columns":
                ends[name] = (None, None)
                reasons[name] = "figures of other evaluators have none"
                continue
            if sample is not None and kind == "confidence":
                result = confidence_interval(item, sample, clustered=clusters is not None, **made)
            else:
                counts = row.decided if kind == "decisions" else row.counts
                result = interval(item, counts, clusters=clusters, **made)
            ends[name] = number(result.low), number(result.high)
            if result.why_not and name not in row.undefined:
                reasons[name] = result.why_not
        yield structs.replace(row, intervals=ends, no_interval=reasons)


def _sample(evaluation: Evaluation, row: Row, by: Sequence[str]) -> Sample:
    from abstain.stats.confidence_intervals import sample_of

    data, run = evaluation.data, evaluation.runs.index(row.run)
    questions, codes = data.with_attributes(by), data.codes[run]
    usable = codes < EXCLUDED
    for name in by:
        usable = usable & cells(questions, name).eq_missing(row.slice[name]).to_numpy()
    return sample_of(np.where(usable, codes, EXCLUDED), data.confidence[run], data.clusters())
