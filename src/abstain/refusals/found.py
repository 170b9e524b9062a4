"""What the rules found in files, and how often verdicts made with them err."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import narwhals as nw
import polars as pl

from abstain.columns import require, require_all
from abstain.compare.bounds import WORDS
from abstain.errors import InputError, shown
from abstain.questions import Responses, collect, into_lazy, open_table
from abstain.refusals.detect import RULE
from abstain.scoring import open_runs


@dataclass(frozen=True, slots=True)
class Found:
    """Responses that decline: run, question, rule, text."""

    hits: pl.DataFrame
    responses: int
    notes: tuple[str, ...]

    @property
    def by_rule(self) -> dict[str, int]:
        """How many texts each rule found, the busiest first."""
        counted = self.hits.group_by(RULE).len().sort("len", RULE, descending=[True, False])
        return dict(counted.iter_rows())


def find(files: Sequence[str], *, columns: Mapping[str, str], format: str | None) -> Found:
    """Every response that a rule finds to decline."""
    sources = open_runs(list(files), columns=columns, format=format)
    every = pl.concat([_rows(source) for source in sources])
    notes = tuple(note for source in sources for note in source.table.notes)
    return Found(every.filter(pl.col(RULE).is_not_null()), every.height, notes)


def confusion(
    files: Sequence[str], check: str, *, columns: Mapping[str, str], format: str | None
) -> dict[str, dict[str, int]]:
    """Verdicts with the rules at work against a hand-checked sample: true, then judged."""
    truth = open_table(check)
    require_all(truth, {"question": "which names each question", "true": "found by hand"})
    checked = collect(into_lazy(truth.frame), truth.name)
    keys = ["question", *(["run"] if "run" in checked.columns else [])]
    sources = open_runs(list(files), columns=columns, format=format)
    judged = pl.concat([_verdicts(source) for source in sources])
    if keys == ["question"] and judged["run"].n_unique() > 1:
        raise InputError("has no column 'run', but the files have several runs", truth.name)
    texts = [pl.col(key).cast(pl.String) for key in keys]
    word = pl.col("true").cast(pl.String).str.strip_chars().str.to_lowercase()
    joined = checked.with_columns(*texts, true=word).join(judged, on=keys, how="left")
    lost = joined.filter(pl.col("judged").is_null())
    if lost.height:
        what = shown(str(lost["question"][0]))
        raise InputError(f"question {what} has no verdict in the files", truth.name)
    strange = joined.filter(~pl.col("true").is_in(WORDS).fill_null(value=False))
    if strange.height:
        what = shown(str(strange["true"][0]))
        raise InputError(f"true is {what}, expected {', '.join(WORDS)}", truth.name)
    counted = {(t, j): n for t, j, n in joined.group_by("true", "judged").len().iter_rows()}
    return {t: {j: counted.get((t, j), 0) for j in WORDS} for t in WORDS}


def _rows(source: Responses) -> pl.DataFrame:
    table = source.table
    require(table, "question", "which names each question")
    if RULE not in table.columns:
        raise InputError("has no text of responses to look at (a column 'answer')", table.name)
    frame = collect(nw.from_native(table.frame), table.name)
    text = pl.col("response").alias("text")
    return frame.select(_run(source), pl.col("question").cast(pl.String), RULE, text)


def _verdicts(source: Responses) -> pl.DataFrame:
    """What each response counts as: right, wrong or blank."""
    table = source.table
    require_all(
        table,
        {
            "question": "which names each question",
            "outcome": "without which there is no verdict to check",
        },
    )
    frame = collect(nw.from_native(table.frame), table.name)
    own = pl.col("outcome")
    verdict = pl.when(own.is_in(["right", "wrong"])).then(own).otherwise(pl.lit("blank"))
    return frame.select(_run(source), pl.col("question").cast(pl.String), verdict.alias("judged"))


def _run(source: Responses) -> pl.Expr:
    named = pl.col("run").cast(pl.String)
    return (named if source.run is None else pl.lit(source.run)).alias("run")
