"""The run that a cascade makes of its stages."""

from __future__ import annotations

import math

import polars as pl

from abstain.features.cascade.analysis import staged_runs
from abstain.features.cascade.result import CascadeResult
from abstain.io.frames import collect
from abstain.outcomes import OUTCOMES
from abstain.runs.evaluation import Evaluation
from abstain.runs.judge import INDEX, columns_as_text
from abstain.runs.responses import Responses
from abstain.runs.sources import GoldRuns

TEXTS = ("question", "answer", "candidate")


def resulting_run(evaluation: Evaluation, result: CascadeResult) -> pl.DataFrame:
    """What the stages answer that are reached, or the outcome where others judged them."""
    stages, questions = staged_runs(evaluation, result.stages, result.stage_costs, result.measure)
    rule = tuple(math.inf if each is None else each for each in result.chosen.thresholds)
    stage, decided = stages.asked(rule).sum(axis=0) - 1, stages.decided(rule)
    rows = questions.select(
        INDEX,
        "question",
        run=pl.lit("cascade"),
        stage=pl.Series(stages.names).gather(stage),
        outcome=pl.Series(OUTCOMES).gather(decided),
        confidence=pl.Series(stages.confidence[stage, range(len(stage))]).fill_nan(None),
    )
    source = evaluation.data.source
    if not isinstance(source, GoldRuns):
        return rows.select("run", "question", "outcome", "confidence", "stage")
    texts = pl.concat(map(_texts, source.responses), how="diagonal_relaxed")
    key = "question"
    if evaluation.reading.align == "position":
        key, number = INDEX, pl.int_range(pl.len(), dtype=pl.UInt32)
        texts = texts.drop("question", strict=False)
        texts = texts.with_columns(number.over("stage").alias(INDEX))
    rows = rows.join(texts, on=["stage", key], how="left", maintain_order="left")
    best = pl.when(pl.col("answer") != "").then("answer").otherwise("candidate").fill_null("")
    answered, nothing = pl.col("outcome").is_in(OUTCOMES[:2]), pl.lit("")
    answer, candidate = (
        pl.when(there).then(best).otherwise(nothing) for there in (answered, ~answered)
    )
    columns = {"answer": answer, "candidate": candidate}
    return rows.with_columns(**columns).select("run", "question", *columns, "confidence", "stage")


def _texts(responses: Responses) -> pl.DataFrame:
    """The answer and the candidate of every response."""
    frame = columns_as_text(responses, 0, TEXTS, trim=TEXTS, confidence=False)
    rows = collect(frame, responses.table.name).rename({"run": "stage"})
    lacking = [pl.lit("").alias(name) for name in TEXTS[1:] if name not in rows.columns]
    return rows.with_columns(lacking)
