"""Runs with several answers a question: K and MRR.

A question has as many rows as a run gives answers to it, each with a confidence, perhaps with a
rank. An answer that says again what a surer one said is a repeat.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np
import polars as pl

from abstain.analyses.result import Facts, Result, check_rows, defined, ranked, read_as
from abstain.analyses.score.scoring import chosen_measures, slices_by
from abstain.errors import InputError, UsageError, option, shown
from abstain.io.frames import collect
from abstain.io.normalise import matcher
from abstain.io.tables import ROW
from abstain.judging.counting import first_fault, refuse_empty, refuse_shared
from abstain.judging.evaluation import Evaluation, refuse_undecided
from abstain.judging.gold import Gold
from abstain.judging.judge import FILE, INDEX, KIND, Judged
from abstain.judging.responses import Responses
from abstain.judging.sources import GoldRuns, JudgedRows
from abstain.measures import Measure
from abstain.measures.answers import Answers
from abstain.measures.arrays import IntArray
from abstain.measures.families.handed_in import said_before
from abstain.outcomes import (
    KINDS,
    RIGHT,
    WRONG,
    Effect,
    Policy,
    Why,
    blanks_by_reason,
    reasons_named,
)

MEASURES = ("K", "MRR")
KNOWN = "known"
ORDERS = ("confidence", "rank")


class Given(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """The answers of a run."""

    given: int
    right: int
    repeated: int
    """Those that say again what was said before."""


class SeveralRow(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One run in one slice."""

    rank: str = ""
    run: str
    slice: dict[str, str | None]
    questions: int
    answers: Given
    unanswered: int
    """Questions without an answer."""
    scores: dict[str, float | None]
    undefined: dict[str, str]
    """Why the scores that do not exist do not."""


class SeveralResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="several"):
    """Scores of runs that may give several answers to a question."""

    measures: tuple[str, ...]
    conventions: dict[str, str] = {}
    by: tuple[str, ...] = ()
    questions: int
    rows: tuple[SeveralRow, ...] = msgspec.field(name="results")

    def check(self) -> None:
        """Every row has the scores and slices that were asked for."""
        check_rows(self.rows, self.measures, self.by)

    def _frame(self, table: str) -> pl.DataFrame:
        counts = ("answers", "right", "repeated", "unanswered")
        rows = [
            (
                *(row.rank, row.run, *row.slice.values(), *row.scores.values()),
                *(row.answers.given, row.answers.right, row.answers.repeated, row.unanswered),
            )
            for row in self.rows
        ]
        schema: dict[str, pl.DataType] = {
            **dict.fromkeys(("rank", "run", *self.by), pl.String()),
            **dict.fromkeys(self.measures, pl.Float64()),
            **dict.fromkeys(counts, pl.Int64()),
        }
        return pl.DataFrame(rows, schema=schema, orient="row")


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
            raise UsageError(
                f"only {' and '.join(MEASURES)} score several answers per question (got {item})"
            )
    by = (by,) if isinstance(by, str) else tuple(dict.fromkeys(by))
    reading = evaluation.reading
    if reading.align != "id":
        raise UsageError(
            f"several answers per question are paired by id, not by {option('align', 'position')}"
        )
    rules = evaluation.policy
    if any(e is Effect.EXCLUDED for why, e in rules.effects.items() if why is not Why.UNASKED):
        raise UsageError(
            "with several answers per question the policy cannot exclude responses: use "
            "unanswered instead of excluded"
        )
    source = evaluation.source
    if isinstance(source, GoldRuns):
        rows, questions, known, notes = _of_gold(source, by)
    elif isinstance(source, JudgedRows):
        rows, questions, known, notes = _of_rows(source, by)
    else:
        raise UsageError(
            "several answers per question are scored from all responses: not from counts, and not "
            "from a selection of runs or questions"
        )
    names = sorted(rows["run"].unique())
    touched = refuse_open(rows, rules)
    outcome = pl.Series(rules.outcomes(excluded=-1)[rows[KIND].to_numpy()])
    own = rows.with_columns(outcome=outcome).filter(pl.col("outcome").is_in([RIGHT, WRONG]))
    _refuse_both_ways(own)
    if not any(name in rows.columns and rows[name].is_not_null().any() for name in ORDERS):
        notes.append(
            "no answer has a confidence or a rank: all answers to a question are tied and take the "
            "last rank"
        )
    return SeveralResult(
        **read_as(evaluation, *notes, clusters=False),
        policy=rules.to_dict(),
        touched=touched,
        measures=tuple(str(item) for item in chosen),
        conventions={str(item): item.definition.convention for item in chosen},
        by=by,
        questions=questions.height,
        rows=tuple(_scored(_with_repeats(own), names, questions, known, chosen, by)),
    )


Lists = tuple[pl.DataFrame, pl.DataFrame, "IntArray | None", list[str]]
"""The answers, the questions, how many right answers each has, what there is to say of that."""


def _of_gold(source: GoldRuns, by: Sequence[str]) -> Lists:
    questions = source.questions(by)
    rows = _rows(source.judged(keep=("rank",)))
    known, how = _known(source.gold, source.match)
    return rows, questions, known, [how]


def _of_rows(source: JudgedRows, by: Sequence[str]) -> Lists:
    responses = source.responses
    with_known = all(KNOWN in own.table.columns for own in responses)
    wanted = (*by, KNOWN) if with_known else tuple(by)
    judged = source.lists(wanted, keep=("answer", "rank"))
    rows, questions = _rows(judged), judged.gold.frame
    known: IntArray | None = None
    notes = ["each question has one known answer, because there is no column 'known'"]
    if with_known:
        known = _whole(questions, responses[0].table.name)
        notes = ["the number of known answers to a question is in the column 'known'"]
    if "answer" not in rows.columns:
        rows = rows.with_columns(answer=pl.lit(""))
        notes.append(
            "there is no column 'answer' to find repeated answers by: none counts as a repeat"
        )
    return rows, questions, known, notes


def _rows(judged: Judged) -> pl.DataFrame:
    """The rows of every run, after making sure that there is nothing to refuse."""
    label = judged.sources[0].table.name
    tables = [collect(frame, label) for frame in judged.frames]
    rows = pl.concat(tables, how="diagonal_relaxed")
    refuse_empty(judged.sources, set(rows["run"]))
    faults = int((rows[KIND] >= KINDS).sum())
    if faults:
        raise first_fault(judged, faults)
    refuse_shared(rows.select("run", FILE).unique()["run"].sort().to_list())
    return _ranked(rows, judged.sources)


def _ranked(rows: pl.DataFrame, sources: Sequence[Responses]) -> pl.DataFrame:
    """Rows with their rank, where there is one, as a number."""
    if "rank" not in rows.columns:
        return rows
    number = pl.col("rank").cast(pl.Float64, strict=False)
    given = pl.col("rank").fill_null("") != ""
    bad = rows.filter(given & ~(number.is_finite() & (number >= 1)).fill_null(value=False))
    if bad.height:
        order = [column for column in (FILE, ROW) if column in bad.columns]
        row = bad.sort(order).row(0, named=True)  # a join keeps no order
        place = sources[row[FILE]].table.place(row.get(ROW))
        raise InputError(f"rank is {shown(row['rank'])}, expected 1 or more", place)
    return rows.with_columns(rank=number)


def refuse_open(rows: pl.DataFrame, policy: Policy) -> dict[str, int]:
    """Stop where the policy leaves a kind of blank open; how many of each there are."""
    names = sorted(rows["run"].unique())
    number = rows["run"].replace_strict(names, range(len(names)), return_dtype=pl.Int64).to_numpy()
    width = len(names) * KINDS
    counts = np.bincount(number * KINDS + rows[KIND].to_numpy(), minlength=width)
    reasons = blanks_by_reason(counts.reshape(len(names), KINDS))
    refuse_undecided(reasons, names, policy)
    return reasons_named(reasons.sum(axis=0))


def _known(gold: Gold, match: str) -> tuple[IntArray, str]:
    """How many right answers each question has, and where that was found."""
    if KNOWN in gold.attributes:
        return (
            _whole(gold.frame, gold.name),
            "the number of known answers to a question is in the column 'known'",
        )
    normal = matcher(match)
    different = [len({normal(text) for text in own}) for own in gold.frame["accepted"]]
    found = np.where(gold.frame["nothing_right"].to_numpy(), 1, np.array(different))
    return found, "the known answers to a question are those that the gold accepts"


def _whole(questions: pl.DataFrame, name: str) -> IntArray:
    numbers = questions[KNOWN].cast(pl.Int64, strict=False)
    bad = questions.filter((numbers < 1) | numbers.is_null())
    if bad.height:
        value = bad[KNOWN][0]
        got = "empty" if value is None else shown(value)
        question = shown(bad["question"][0])
        raise InputError(f"'known' is {got} for question {question}, expected 1 or more", name)
    return numbers.to_numpy()


def _refuse_both_ways(rows: pl.DataFrame) -> None:
    """One answer of a run to a question is right or wrong, however often it is said."""
    said = rows.filter(pl.col("answer").fill_null("") != "")
    verdicts = said.group_by("run", "question", "answer").agg(pl.col("outcome").n_unique())
    both = verdicts.filter(pl.col("outcome") > 1).sort("run", "question", "answer")
    if both.height:
        run, question, answer = (shown(both[name][0]) for name in ("run", "question", "answer"))
        raise UsageError(
            f"run {run}: answer {answer} to question {question} is graded right and wrong"
        )


def _with_repeats(rows: pl.DataFrame) -> pl.DataFrame:
    """Answers in order of run and question, each marked if a surer one said the same."""
    sure = [pl.col("confidence")] if "confidence" in rows.columns else []
    rank = [-pl.col("rank")] if "rank" in rows.columns else []
    order = [pl.col("run"), pl.col(INDEX), *sure, *rank]
    falling = [False, False, *([True] * (len(sure) + len(rank)))]
    placed = rows.sort(order, descending=falling, nulls_last=True, maintain_order=True)
    said = pl.struct("run", INDEX, "answer")
    repeat = ~said.is_first_distinct() & (pl.col("answer").fill_null("") != "")
    return placed.with_columns(repeat=repeat)


def _scored(
    rows: pl.DataFrame,
    names: Sequence[str],
    questions: pl.DataFrame,
    known: IntArray | None,
    measures: Sequence[Measure],
    by: Sequence[str],
) -> list[SeveralRow]:
    found: list[SeveralRow] = []
    first, higher = str(measures[0]), measures[0].higher_is_better
    for part, where in slices_by(questions, by):
        asked = int(where.sum())
        inside = rows.filter(pl.Series(where[rows[INDEX].to_numpy()]))
        block = []
        for run in names:
            own = inside.filter(pl.col("run") == run)
            question, answers = _answers(own, known, asked)
            scores, undefined = defined({str(item): item(answers) for item in measures})
            given = Given(
                given=own.height,
                right=int(answers.right.sum()),
                repeated=int(said_before(answers, question).sum()),
            )
            block.append(
                SeveralRow(
                    run=run,
                    slice=dict(zip(by, part, strict=True)),
                    questions=asked,
                    answers=given,
                    unanswered=asked - own[INDEX].n_unique(),
                    scores=scores,
                    undefined=undefined,
                )
            )
        found += ranked(block, first, higher_is_better=higher)
    return found


def _answers(rows: pl.DataFrame, known: IntArray | None, asked: int) -> tuple[IntArray, Answers]:
    """The answers of a run, and the number of the question of each."""
    index, question = np.unique(rows[INDEX].to_numpy(), return_inverse=True)
    missing = pl.Series([None] * rows.height, dtype=pl.Float64)
    sure = rows["confidence"] if "confidence" in rows.columns else missing
    rank = rows["rank"].fill_null(math.inf).to_numpy() if "rank" in rows.columns else None
    return question, Answers(
        (rows["outcome"] == RIGHT).to_numpy(),
        sure.cast(pl.Float64).fill_null(math.nan).to_numpy(),
        asked,
        question=question,
        known=None if known is None else known[index],
        repeat=rows["repeat"].to_numpy(),
        rank=rank,
    )
