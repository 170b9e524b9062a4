"""Runs with several answers a question: K and MRR.

A question has as many rows as a run has answers to it, each with a confidence, perhaps with a rank.
An answer that repeats a surer one counts as a repeat.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import numpy as np
import polars as pl

from abstain.errors import InputError, UsageError, option, plural, shown
from abstain.features.score.analysis import chosen_measures, slices_by
from abstain.features.score.result import RANK, SLICE
from abstain.io.frames import collect
from abstain.io.normalise import matcher
from abstain.io.tables import ROW
from abstain.measures import Measure
from abstain.measures.answers import Answers
from abstain.measures.definition import IntArray
from abstain.measures.weighted_answers import is_repeat
from abstain.outcomes import CODES, RIGHT, WRONG, Effect, Why
from abstain.report import view
from abstain.report.grid import Column, Grid, frame_of_rows
from abstain.report.result import Facts, Result, defined, ranked, read_as
from abstain.report.view import measure_summary, policy_words, sentence, undefined_sentences
from abstain.runs.counting import refuse_faults, refuse_runs
from abstain.runs.evaluation import Evaluation, refuse_undecided_rows
from abstain.runs.judge import FILE, INDEX, KIND, Judged
from abstain.runs.sources import GoldRuns, JudgedRows, Source

MEASURES = ("K", "MRR")
KNOWN = "known"
ORDERS = ("confidence", "rank")
ANSWERS = (
    Column("answers", "count", means="all answers"),
    Column("right", "count", means="right answers"),
    Column("repeated", "count", means="answers that repeat a surer one"),
)


class AnswerCounts(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """The answers of a run."""

    total: int = msgspec.field(name="given")
    right: int
    repeated: int
    """Those that repeat a surer answer."""


class SeveralRow(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One run in one slice."""

    rank: Annotated[str, RANK] = ""
    run: str
    slice: Annotated[dict[str, str | None], SLICE]
    questions: int
    answers: AnswerCounts
    unanswered: Annotated[int, Column(kind="count", means="questions without an answer")]
    scores: Annotated[dict[str, float | None], Column(kind="score", means=measure_summary)]
    undefined: dict[str, str]

    @property
    def answered(self) -> Annotated[tuple[int, int, int], *ANSWERS]:
        return self.answers.total, self.answers.right, self.answers.repeated


COLUMNS = ("rank", "run", "slice", "scores", "answered", "unanswered")


class SeveralResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="several"):
    """Scores of runs that may give several answers to a question."""

    measures: tuple[str, ...]
    conventions: dict[str, str] = {}
    by: tuple[str, ...] = ()
    questions: int
    rows: tuple[SeveralRow, ...] = msgspec.field(name="results")

    def _frame(self, table: str) -> pl.DataFrame:
        return frame_of_rows(SeveralRow, self.rows, *COLUMNS)


class View(view.View[SeveralResult]):
    def title(self) -> str:
        return f"{self.result.measures[0]} of several answers"

    def tables(self, **options: Any) -> list[Grid]:
        result, rows = self.result, self.result.rows
        runs = plural(len({row.run for row in rows}), "run")
        grid = Grid.of_rows(SeveralRow, rows, *COLUMNS)
        grid.breaks = {n for n in range(1, len(rows)) if rows[n].slice != rows[n - 1].slice}
        grid.notes = [
            f"{runs}, {plural(result.questions, 'question')}.",
            *map(sentence, result.notes),
            *(f"{name}: {text}." for name, text in result.conventions.items()),
            *policy_words(result.policy, result.touched),
            *undefined_sentences((row.run, row.undefined) for row in rows),
        ]
        return [grid]


def several(
    evaluation: Evaluation,
    measures: Sequence[str | Measure] | str | Measure = MEASURES,
    *,
    by: Sequence[str] | str = (),
) -> SeveralResult:
    """Score runs with several rows a question: answers with a confidence, perhaps with a rank.

    A question has as many known answers as its gold accepts, or as its attribute `known` says.
    Of judged rows a column `answer` shows repeats, and a column `known` says how many right answers
    a question has: those beyond are repeats. Without it a question counts as having one.
    """
    chosen = chosen_measures(measures)
    for item in chosen:
        if not item.definition.several:
            raise UsageError(f"expected {' or '.join(MEASURES)} of several answers (got {item})")
    by = (by,) if isinstance(by, str) else tuple(dict.fromkeys(by))
    policy = evaluation.policy
    if evaluation.reading.align != "id":
        raise UsageError(f"several answers per question take no {option('align')}")
    if any(e is Effect.EXCLUDED for why, e in policy.effects.items() if why is not Why.UNASKED):
        raise UsageError("with several answers per question the policy cannot exclude responses")
    rows, questions, known, notes = _answers(evaluation.data.source, by)
    touched = refuse_undecided_rows(rows, policy)
    outcome = pl.Series(policy.outcomes(excluded=-1)[rows[KIND].to_numpy()])
    answers = rows.with_columns(outcome=outcome).filter(pl.col("outcome").is_in([RIGHT, WRONG]))
    _refuse_both_ways(answers)
    if not any(name in rows.columns and rows[name].is_not_null().any() for name in ORDERS):
        notes.append("no answer has a confidence or a rank: all answers to a question are tied")
    answers = _with_repeats(answers)
    scored: list[SeveralRow] = []
    for part, where in slices_by(questions, by):
        inside = answers.filter(pl.Series(where[answers[INDEX].to_numpy()]))
        slice_, size = dict(zip(by, part, strict=True)), int(where.sum())
        block = [
            _row(run, slice_, inside.filter(pl.col("run") == run), known, size, chosen)
            for run in sorted(rows["run"].unique())
        ]
        scored += ranked(block, chosen[0])
    return SeveralResult(
        **read_as(evaluation, *notes, clusters=False),
        policy=policy.to_dict(),
        touched=touched,
        measures=tuple(str(item) for item in chosen),
        conventions={str(item): item.definition.convention for item in chosen},
        by=by,
        questions=questions.height,
        rows=tuple(scored),
    )


Lists = tuple[pl.DataFrame, pl.DataFrame, "IntArray | None", list[str]]
"""The answers, the questions, how many right answers each has, what there is to say of that."""


def _answers(source: Source, by: Sequence[str]) -> Lists:
    if isinstance(source, GoldRuns):
        gold, normal = source.gold, matcher(source.match)
        if KNOWN in gold.attributes:
            known = _whole(gold.frame, gold.name)
        else:
            accepted = [len({normal(text) for text in item}) for item in gold.frame["accepted"]]
            known = np.where(gold.frame["nothing_right"].to_numpy(), 1, np.array(accepted))
        return _rows(source.judged(keep=("rank",))), source.questions(by), known, []
    if not isinstance(source, JudgedRows):
        raise UsageError(
            "several answers per question are scored from all responses: not from counts, and not "
            "from a selection of runs or questions"
        )
    with_known = all(KNOWN in response.table.columns for response in source.responses)
    wanted = (*by, KNOWN) if with_known else tuple(by)
    judged = source.lists(wanted, keep=("answer", "rank"))
    rows, questions = _rows(judged), judged.gold.frame
    notes = [] if with_known else ["each question has one known answer: there is no column 'known'"]
    if "answer" not in rows.columns:
        rows = rows.with_columns(answer=pl.lit(""))
        notes.append("there is no column 'answer': no answer counts as a repeat")
    whole = _whole(questions, source.responses[0].table.name) if with_known else None
    return rows, questions, whole, notes


def _rows(judged: Judged) -> pl.DataFrame:
    tables = [collect(frame, judged.label) for frame in judged.frames]
    rows = pl.concat(tables, how="diagonal_relaxed")
    refuse_faults(judged, int((rows[KIND] >= CODES).sum()))
    refuse_runs(judged.responses, rows.select("run", FILE).unique()["run"].sort().to_list())
    if "rank" not in rows.columns:
        return rows
    number = pl.col("rank").cast(pl.Float64, strict=False)
    values = pl.col("rank").fill_null("") != ""
    bad = rows.filter(values & ~(number.is_finite() & (number >= 1)).fill_null(value=False))
    if bad.height:
        order = [column for column in (FILE, ROW) if column in bad.columns]
        row = bad.sort(order).row(0, named=True)  # a join keeps no order
        what = f"rank is {shown(row['rank'])}, expected 1 or more"
        raise InputError(what, judged.place(row))
    return rows.with_columns(rank=number)


def _whole(questions: pl.DataFrame, name: str) -> IntArray:
    numbers = questions[KNOWN].cast(pl.Int64, strict=False)
    bad = questions.filter((numbers < 1) | numbers.is_null())
    if bad.height:
        got = "empty" if bad[KNOWN][0] is None else shown(bad[KNOWN][0])
        question = shown(bad["question"][0])
        raise InputError(f"'known' is {got} for question {question}, expected 1 or more", name)
    return numbers.to_numpy()


def _refuse_both_ways(rows: pl.DataFrame) -> None:
    """One answer of a run to a question is right or wrong, however often it stands there."""
    text = rows.filter(pl.col("answer").fill_null("") != "")
    verdicts = text.group_by("run", "question", "answer").agg(pl.col("outcome").n_unique())
    both = verdicts.filter(pl.col("outcome") > 1).sort("run", "question", "answer")
    if both.height:
        run, question, answer = map(shown, both.row(0)[:3])
        raise UsageError(
            f"run {run}: answer {answer} to question {question} is graded right and wrong"
        )


def _with_repeats(rows: pl.DataFrame) -> pl.DataFrame:
    """Answers in order of run and question, each marked if a surer one is the same."""
    sure = [pl.col("confidence")] if "confidence" in rows.columns else []
    rank = [-pl.col("rank")] if "rank" in rows.columns else []
    falling = [False, False, *(True for _ in (*sure, *rank))]
    order = [pl.col("run"), pl.col(INDEX), *sure, *rank]
    placed = rows.sort(order, descending=falling, nulls_last=True, maintain_order=True)
    repeat = ~pl.struct("run", INDEX, "answer").is_first_distinct()
    return placed.with_columns(repeat=repeat & (pl.col("answer").fill_null("") != ""))


def _row(
    run: str,
    slice_: dict[str, str | None],
    rows: pl.DataFrame,
    known: IntArray | None,
    questions: int,
    measures: Sequence[Measure],
) -> SeveralRow:
    index, question = np.unique(rows[INDEX].to_numpy(), return_inverse=True)
    missing = pl.Series([None] * rows.height, dtype=pl.Float64)
    sure = rows["confidence"] if "confidence" in rows.columns else missing
    answers = Answers(
        (rows["outcome"] == RIGHT).to_numpy(),
        sure.cast(pl.Float64).fill_null(math.nan).to_numpy(),
        questions,
        question=question,
        known=None if known is None else known[index],
        repeat=rows["repeat"].to_numpy(),
        rank=rows["rank"].fill_null(math.inf).to_numpy() if "rank" in rows.columns else None,
    )
    scores, undefined = defined({str(item): item(answers) for item in measures})
    right, repeated = int(answers.right.sum()), int(is_repeat(answers, question).sum())
    return SeveralRow(
        run=run,
        slice=slice_,
        questions=questions,
        answers=AnswerCounts(total=rows.height, right=right, repeated=repeated),
        unanswered=questions - len(index),
        scores=scores,
        undefined=undefined,
    )
