"""A threshold put to work: a run that is silent where it is not sure enough."""

import os
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from msgspec import structs

from abstain.errors import InputError, UsageError, check_name, plural, shown
from abstain.features.tune.analysis import thresholded
from abstain.features.tune.choose import Threshold
from abstain.features.tune.result import TuneResult
from abstain.io.frames import collect, require, text_column
from abstain.io.normalise import matcher
from abstain.io.tables import ROW, Table, cells, col
from abstain.outcomes import OUTCOME_WORDS
from abstain.reading import Reading
from abstain.report.result import load
from abstain.runs.evaluation import Evaluation
from abstain.runs.faults import bad_confidence
from abstain.runs.gold import Gold, read_gold
from abstain.runs.judge import NO, not_numbers
from abstain.runs.responses import RULE, read_responses

RUN, QUESTION, CONFIDENCE, SLICE = "__run", "__question", "__confidence", "__slice"
BLANK = pl.lit("")


def read_thresholds(path: str | os.PathLike[str]) -> dict[str, Threshold]:
    result = load(path)
    by_run: dict[str, Threshold] | None = getattr(result, "by_run", None)
    if by_run is None:
        what = f"is a result of `abstain {result.kind}`, expected thresholds of `tune` or `cascade`"
        raise InputError(what, os.fspath(path))
    return by_run


def apply_thresholds(
    run: Any,
    thresholds: Mapping[str, Threshold],
    reading: Reading | None = None,
    *,
    gold: Any = None,
    only: str | None = None,
) -> tuple[pl.DataFrame, list[str]]:
    """A run's table with answers, or candidates, that are sure enough, and what was done."""
    how = structs.replace(reading or Reading(), engine=None, master=None)
    table = read_responses(run, how, name="run").table
    answer = "which holds the answer (empty: there is none)"
    require(table, {"answer": answer, "confidence": "which is compared with the threshold"})
    rows = _rows(table, only)
    per = next((t.per for t in thresholds.values() if t.per), None)
    questions = None
    if gold is not None:
        standard = gold if isinstance(gold, Gold) else read_gold(gold, how)
        standard.check_attributes([] if per is None else [per])
        questions = standard.frame
    if RULE in rows.columns and how.refusals:
        rows = _without_refusals(rows, questions, how.align)
    rows = rows.with_columns(_slices(rows, per, questions, how.align, table).alias(SLICE))
    answered, notes = _sure_enough(rows, thresholds, table.name)
    decided, changes = _decided(rows, answered)
    if table.run_id is not None and "run" not in decided.columns:
        decided = decided.with_columns(run=pl.lit(table.run_id[0]))
    return decided, [*changes, *notes]


def _rows(table: Table, only: str | None) -> pl.DataFrame:
    rows = collect(nw.from_native(table.frame), table.name)
    if table.verdicts is not None:
        rows = rows.drop("outcome")  # a log's verdicts are about what it answered before
    if ROW not in rows.columns:
        rows = rows.with_row_index(ROW)
    kind = rows["confidence"].dtype
    if kind.is_nested() or kind == pl.Binary:
        raise not_numbers(kind, table.name)
    lazy = nw.from_native(rows.lazy())
    nothing = nw.lit(None, nw.String)
    for name, column in ((RUN, "run"), (QUESTION, "question")):
        there = column in rows.columns
        text = text_column(lazy, column, table.name, trim=True) if there else nothing
        lazy = lazy.with_columns(text.alias(name))
    number = _text("confidence").cast(pl.Float64, strict=False).alias(CONFIDENCE)
    rows = lazy.to_native().with_columns(number).collect()
    if only is not None and "run" in rows.columns:
        rows = rows.filter(pl.col(RUN) == only)
    inside = pl.col(CONFIDENCE).is_between(0, 1).fill_null(value=False)
    bad = rows.filter((_text("confidence") != "") & ~inside)
    if bad.height:
        message = bad_confidence(str(bad["confidence"][0]).strip())
        raise InputError(message, table.place(bad[ROW][0]))
    return rows


def _without_refusals(
    rows: pl.DataFrame, questions: pl.DataFrame | None, align: str
) -> pl.DataFrame:
    from abstain.runs.refusals import blanked

    if questions is None or align != "id":
        return blanked(rows)
    normal = matcher("text")
    accepted = dict(zip(questions["question"], questions["accepted"].to_list(), strict=True))
    refusals = rows.filter(pl.col(RULE).is_not_null())
    right = [
        at
        for at, question, answer in refusals.select(ROW, QUESTION, "answer").iter_rows()
        if normal(str(answer or "")) in map(normal, accepted.get(question, ()))
    ]
    return blanked(rows, stands=pl.col(ROW).is_in(right))


def _slices(
    rows: pl.DataFrame, per: str | None, questions: pl.DataFrame | None, align: str, table: Table
) -> pl.Series:
    if questions is None:
        if per is None:
            return pl.repeat("", rows.height, eager=True)
        if per not in rows.columns:
            raise UsageError(
                f"the thresholds are per {per}, which {table.name} does not have: give the gold "
                "before the run"
            )
        return cells(rows, per).cast(pl.String).fill_null("")
    value = BLANK if per is None else col(per).cast(pl.String).fill_null("")
    known = questions.select(pl.col("question").alias(QUESTION), value.alias(SLICE))
    on = QUESTION
    if align == "position":
        on, known = "at", known.with_columns(at=pl.int_range(pl.len()))
        rows = rows.with_columns(at=pl.col(ROW).rank("ordinal").over(RUN).cast(pl.Int64) - 1)
    joined = rows.join(known, on=on, how="left", maintain_order="left")
    strange = joined.filter(pl.col(SLICE).is_null())
    if strange.height:
        message = f"question {shown(strange[QUESTION][0] or '')} is not in the gold"
        raise InputError(message, table.place(strange[ROW][0]))
    return joined[SLICE]


def _sure_enough(
    rows: pl.DataFrame, thresholds: Mapping[str, Threshold], name: str
) -> tuple[pl.Series, list[str]]:
    confidence, slices = rows[CONFIDENCE].fill_null(float("nan")).to_numpy(), rows[SLICE].to_numpy()
    runs = rows[RUN].drop_nulls().unique(maintain_order=True).to_list()
    if len(thresholds) == 1 and len(runs) < 2:
        ((tuned, threshold),) = thresholds.items()
        other = bool(runs) and runs[0] != tuned
        notes = [f"run {shown(runs[0])} uses the threshold of {shown(tuned)}"] if other else []
        return pl.Series(threshold.answered(confidence, slices)), notes
    if not runs:
        raise UsageError(
            f"{name} names no run, but there are thresholds for {len(thresholds)} runs"
        )
    answered = np.zeros(rows.height, bool)
    for run in runs:
        check_name("threshold for run", run, thresholds)
        its = (rows[RUN] == run).fill_null(value=False).to_numpy()
        answered[its] = thresholds[run].answered(confidence[its], slices[its])
    return pl.Series(answered), []


def _text(column: str) -> pl.Expr:
    return col(column).cast(pl.String).str.strip_chars().fill_null("")


def _decided(rows: pl.DataFrame, answered: pl.Series) -> tuple[pl.DataFrame, list[str]]:
    columns = ("answer", "candidate", "answered", "why")
    answer, candidate, flag, why = (_text(c) if c in rows.columns else BLANK for c in columns)
    before = (answer != "") & ~flag.str.to_lowercase().is_in(list(NO))
    best = pl.when(answer != "").then(answer).otherwise(candidate)
    kept = pl.lit(answered) & (best != "")
    left, became = rows.select(left=(before & ~kept).sum(), became=(kept & ~before).sum()).row(0)
    notes = [f"{plural(left, 'answer')} left blank"]
    if {"answered", "candidate"} & set(rows.columns):
        notes.append(f"{plural(became, 'candidate')} became the answer")
    if silent := rows[CONFIDENCE].null_count():
        have = plural(silent, "response has", "responses have")
        notes.append(f"{have} no confidence: left blank")
    decided = rows.with_columns(
        answer=pl.when(kept).then(best).otherwise(BLANK),
        candidate=pl.when(kept).then(BLANK).otherwise(best),
        answered=pl.when(kept).then(pl.lit("YES")).otherwise(pl.lit("NO")),
        **({"why": pl.when(kept).then(BLANK).otherwise(why)} if "why" in rows.columns else {}),
    )
    return decided.drop(ROW, RUN, QUESTION, CONFIDENCE, SLICE), notes


def thresholded_rows(evaluation: Evaluation, result: TuneResult) -> pl.DataFrame:
    by, data = result.by, evaluation.data
    questions = data.with_attributes([] if by is None else [by])
    slices = None if by is None else questions[by].cast(pl.String).fill_null("").to_list()
    parts = []
    for run, codes, confidence in zip(evaluation.runs, data.codes, data.confidence, strict=True):
        if (threshold := result.by_run.get(run)) is not None:
            decided = thresholded(codes, threshold.answered(confidence, slices))
            rows = questions.select(
                pl.lit(run).alias("run"),
                "question",
                outcome=pl.Series(OUTCOME_WORDS).gather(decided),
                confidence=pl.Series(confidence).fill_nan(None),
            )
            parts.append(rows.drop_nulls("outcome"))
    return pl.concat(parts)
