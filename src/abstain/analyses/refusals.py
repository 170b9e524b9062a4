"""What the rules found in files, and how often verdicts made with them err."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import narwhals as nw
import numpy as np
import polars as pl

from abstain.analyses.compare.bounds import WORDS
from abstain.errors import InputError, shown
from abstain.io.columns import require, require_all
from abstain.io.frames import collect, into_lazy, open_table
from abstain.judging.evaluation import refuse_undecided
from abstain.judging.grades import grade_rows
from abstain.judging.judge import KIND
from abstain.judging.opening import open_runs
from abstain.judging.responses import RULE, Responses
from abstain.outcomes import KINDS, RIGHT, WRONG, Policy, blanks_by_reason

EXCLUDED = "excluded"


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
    files: Sequence[str],
    check: str,
    *,
    columns: Mapping[str, str],
    format: str | None,
    policy: Sequence[str] | None = None,
) -> dict[str, dict[str, int]]:
    """Verdicts with the rules at work against a hand-checked sample: true, then judged.

    A response counts as it does for `score`: by the policy, which leaves some out.
    """
    truth = open_table(check)
    require_all(truth, {"question": "which names each question", "true": "found by hand"})
    keys = ["question", *(["run"] if "run" in truth.columns else [])]
    texts = [pl.col(key).cast(pl.String) for key in keys]
    word = pl.col("true").cast(pl.String).str.strip_chars().str.to_lowercase()
    checked = collect(into_lazy(truth.frame), truth.name).with_columns(*texts, true=word)
    _refuse_repeats(checked, keys, truth.name)
    sources = open_runs(list(files), columns=columns, format=format)
    judged = pl.concat([_verdicts(source, Policy.of(policy)) for source in sources])
    if keys == ["question"] and judged["run"].n_unique() > 1:
        raise InputError("has no column 'run', but the files have several runs", truth.name)
    joined = checked.join(judged, on=keys, how="left")
    lost = joined.filter(pl.col("judged").is_null())
    if lost.height:
        what = shown(str(lost["question"][0]))
        raise InputError(f"question {what} has no verdict in the files", truth.name)
    strange = checked.filter(~pl.col("true").is_in(WORDS).fill_null(value=False))
    if strange.height:
        what = shown(str(strange["true"][0]))
        raise InputError(f"true is {what}, expected {', '.join(WORDS)}", truth.name)
    counted = {(t, j): n for t, j, n in joined.group_by("true", "judged").len().iter_rows()}
    return {t: {j: counted.get((t, j), 0) for j in WORDS} for t in WORDS}


def _rows(source: Responses) -> pl.DataFrame:
    table = source.table
    require(table, "question", "which names each question")
    if RULE not in table.columns:
        raise InputError(
            "has no text of responses to look at (a column 'response' or 'answer')", table.name
        )
    frame = collect(nw.from_native(table.frame), table.name)
    text = pl.col("response").alias("text")
    return frame.select(_run(source), pl.col("question").cast(pl.String), RULE, text)


def _verdicts(source: Responses, policy: Policy) -> pl.DataFrame:
    """What each response counts as: right, wrong, blank, or excluded."""
    table = source.table
    require_all(
        table,
        {
            "question": "which names each question",
            "outcome": "without which there is no verdict to check",
        },
    )
    rows, _ = grade_rows([source], by=(), grades={})
    kinds = rows[KIND].to_numpy()
    names = sorted(rows["run"].unique())
    own = rows["run"].replace_strict(names, range(len(names)), return_dtype=pl.Int64).to_numpy()
    tallies = np.zeros((len(names), KINDS), np.int64)
    np.add.at(tallies, (own, kinds), 1)
    refuse_undecided(blanks_by_reason(tallies), names, policy)
    words = [_word(policy.outcome_of(kind)) for kind in range(KINDS)]
    verdict = pl.Series("judged", np.array(words)[kinds])
    return rows.select("run", "question").with_columns(verdict)


def _word(outcome: int | None) -> str:
    if outcome is None:
        return EXCLUDED
    return WORDS[outcome] if outcome in (RIGHT, WRONG) else "blank"


def _refuse_repeats(rows: pl.DataFrame, keys: Sequence[str], name: str) -> None:
    twice = rows.filter(pl.struct(keys).is_duplicated())
    if twice.height:
        raise InputError(f"question {shown(str(twice['question'][0]))} stands twice", name)


def _run(source: Responses) -> pl.Expr:
    named = pl.col("run").cast(pl.String)
    return (named if source.run is None else pl.lit(source.run)).alias("run")
