"""Runs with several answers a question: K and MRR.

A question has as many rows as a run gives answers to it, each with a confidence, perhaps with a
rank. An answer that says again what a surer one said is a repeat.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from abstain import __version__
from abstain.errors import InputError, UsageError, shown
from abstain.io.frames import check_mapping, collect
from abstain.io.normalise import matcher
from abstain.io.tables import ROW
from abstain.judging.evaluation import refuse_undecided
from abstain.judging.gold import Gold, read_gold
from abstain.judging.grades import checked_confidence, graded_lists
from abstain.judging.judge import FILE, INDEX, KIND, Judged, judge
from abstain.judging.opening import old_reading, open_runs
from abstain.judging.responses import describe
from abstain.judging.slices import slice_numbers, slice_sizes
from abstain.judging.tally import first_fault, refuse_empty
from abstain.measures import Measure, measure
from abstain.measures.answers import Answers
from abstain.measures.families.handed_in import said_before
from abstain.outcomes import (
    KINDS,
    RIGHT,
    WRONG,
    Effect,
    Policy,
    Undefined,
    blanks_by_reason,
    reasons_named,
)
from abstain.stats.ties import places

if TYPE_CHECKING:
    from abstain.judging.responses import Responses
    from abstain.outcomes import IntArray

MEASURES = ("K", "MRR")
KNOWN = "known"
ORDERS = ("confidence", "rank")


@dataclass(frozen=True, slots=True)
class SeveralRow:
    """One run in one slice."""

    run: str
    slice: dict[str, str | None]
    questions: int
    answers: int
    right: int
    repeated: int
    """Answers that say again what was said before."""
    unanswered: int
    """Questions without an answer."""
    scores: dict[str, float]
    place: str = ""

    @property
    def undefined(self) -> dict[str, str]:
        """Why the scores that do not exist do not."""
        return {k: v.reason for k, v in self.scores.items() if isinstance(v, Undefined)}

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data; a score that does not exist is None."""
        return {
            "run": self.run,
            "slice": self.slice,
            "answers": {"given": self.answers, "right": self.right, "repeated": self.repeated},
            "unanswered": self.unanswered,
            "scores": {k: None if math.isnan(v) else v for k, v in self.scores.items()},
            "undefined": self.undefined,
        }


@dataclass(frozen=True, slots=True)
class SeveralResult:
    """Scores of runs that may give several answers to a question."""

    measures: tuple[Measure, ...]
    by: tuple[str, ...]
    rows: tuple[SeveralRow, ...]
    questions: int
    policy: Policy
    touched: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data: what `--format json` prints."""
        return {
            "abstain": __version__,
            "questions": self.questions,
            "policy": self.policy.to_dict(),
            "touched": self.touched,
            "notes": list(self.notes),
            "results": [row.to_dict() for row in self.rows],
        }

    def to_frame(self) -> pl.DataFrame:
        """One row a run and slice (polars)."""
        return pl.DataFrame(
            [
                {
                    "rank": row.place,
                    "run": row.run,
                    **row.slice,
                    **{k: None if math.isnan(v) else v for k, v in row.scores.items()},
                    "answers": row.answers,
                    "right": row.right,
                    "repeated": row.repeated,
                    "unanswered": row.unanswered,
                }
                for row in self.rows
            ],
            infer_schema_length=None,
        )


def score_several(
    gold: Any,
    runs: Any,
    *,
    measures: Sequence[str | Measure] = MEASURES,
    by: Sequence[str] = (),
    policy: Policy | Mapping[str, str] | Iterable[str] | None = None,
    match: str = "id",
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
) -> SeveralResult:
    """Score runs with several rows a question: answers with a confidence, perhaps with a rank.

    A question has as many known answers as its gold accepts, or as its attribute `known` says.
    """
    standard = read_gold(gold, old_reading(columns))
    by = (by,) if isinstance(by, str) else tuple(by)
    standard.check_attributes(by)
    sources = open_runs(runs, columns=columns, format=format)
    check_mapping(columns or {}, [standard.table, *(s.table for s in sources)])
    judged = judge(standard, sources, match=match, keep=("rank",))
    rows = _rows(judged)
    known, how = _known(standard, match)
    notes = [*describe(standard), how]
    return _result(rows, standard.frame, known, _chosen(measures), by, policy, notes)


def score_several_judged(
    runs: Any,
    *,
    measures: Sequence[str | Measure] = MEASURES,
    by: Sequence[str] = (),
    policy: Policy | Mapping[str, str] | Iterable[str] | None = None,
    grades: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
) -> SeveralResult:
    """As `score_several`, for rows that carry their own outcome.

    A column `answer` shows repeats; a column `known` says how many right answers a question has:
    those beyond are repeats. Without it a question counts as having one, and repeats are those
    that `answer` shows.
    """
    sources = open_runs(runs, columns=columns, format=format)
    check_mapping(columns or {}, [s.table for s in sources])
    by = (by,) if isinstance(by, str) else tuple(by)
    with_known = all(KNOWN in s.table.columns for s in sources)
    tables, questions = graded_lists(
        sources,
        by=(*by, KNOWN) if with_known else by,
        grades=grades or {},
        keep=("answer", "rank"),
    )
    checked = [checked_confidence(s, t) for s, t in zip(sources, tables, strict=True)]
    rows = _ranked(pl.concat(checked, how="diagonal_relaxed"), sources)
    _refuse_shared(rows)
    rows = rows.join(questions.select("question").with_row_index(INDEX), on="question", how="left")
    known: IntArray | None
    if with_known:
        known = _whole(questions, sources[0].table.name)
        notes = ["known answers of a question: as the column 'known' says"]
    else:
        known = None
        notes = ["known answers of a question: one, as no column 'known' says otherwise"]
    if "answer" not in rows.columns:
        rows = rows.with_columns(answer=pl.lit(""))
        notes.append("no column 'answer' shows repeats: there are none")
    return _result(rows, questions, known, _chosen(measures), by, policy, notes)


def _result(
    rows: pl.DataFrame,
    questions: pl.DataFrame,
    known: IntArray | None,
    measures: tuple[Measure, ...],
    by: tuple[str, ...],
    policy: Policy | Mapping[str, str] | Iterable[str] | None,
    notes: list[str],
) -> SeveralResult:
    rules = Policy.of(policy)
    if Effect.EXCLUDED in rules.effects.values():
        raise UsageError("with several answers a question none can be excluded: say unanswered")
    names = sorted(rows["run"].unique())
    kinds = rows[KIND].to_numpy()
    touched = _refuse(rows, names, kinds, rules)
    own = rows.with_columns(outcome=pl.Series(rules.outcomes(excluded=-1)[kinds])).filter(
        pl.col("outcome").is_in([RIGHT, WRONG])
    )
    _refuse_both_ways(own)
    if not any(name in rows.columns and rows[name].is_not_null().any() for name in ORDERS):
        notes.append("no answer has a confidence or a rank: those to a question share a last place")
    return SeveralResult(
        measures,
        by,
        tuple(_scored(_with_repeats(own), names, questions, known, measures, by)),
        questions.height,
        rules,
        touched,
        tuple(notes),
    )


def _chosen(measures: Sequence[str | Measure]) -> tuple[Measure, ...]:
    given = [measures] if isinstance(measures, (str, Measure)) else measures
    chosen = tuple(dict.fromkeys(measure(item) for item in given))
    for item in chosen:
        if not item.definition.several:
            raise UsageError(
                f"several answers a question are for {' and '.join(MEASURES)}, not for {item}"
            )
    return chosen


def _rows(judged: Judged) -> pl.DataFrame:
    """The rows of every run, after making sure that there is nothing to refuse."""
    label = judged.sources[0].table.name
    tables = [collect(frame, label) for frame in judged.frames]
    rows = pl.concat(tables, how="diagonal_relaxed")
    refuse_empty(judged.sources, set(rows["run"]))
    faults = int((rows[KIND] >= KINDS).sum())
    if faults:
        raise first_fault(judged, faults)
    _refuse_shared(rows)
    return _ranked(rows, judged.sources)


def _refuse_shared(rows: pl.DataFrame) -> None:
    home = rows.group_by("run").agg(pl.col(FILE).n_unique().alias("tables"))
    shared = home.filter(pl.col("tables") > 1).sort("run")
    if shared.height:
        raise UsageError(f"run '{shared['run'][0]}' is in two tables; a run belongs in one")


def _ranked(rows: pl.DataFrame, sources: Sequence[Responses]) -> pl.DataFrame:
    """Rows with their rank, where there is one, as a number."""
    if "rank" not in rows.columns:
        return rows
    number = pl.col("rank").cast(pl.Float64, strict=False)
    given = pl.col("rank").fill_null("") != ""
    bad = rows.filter(given & ~(number.is_finite() & (number >= 1)).fill_null(value=False))
    if bad.height:
        row = bad.row(0, named=True)
        place = sources[row[FILE]].place(row.get(ROW))
        raise InputError(f"rank is {shown(row['rank'])}, expected 1 or more", place)
    return rows.with_columns(rank=number)


def _refuse(
    rows: pl.DataFrame, names: Sequence[str], kinds: IntArray, policy: Policy
) -> dict[str, int]:
    """Stop where the policy leaves a kind of blank open; how many of each there are."""
    number = rows["run"].replace_strict(list(names), range(len(names))).to_numpy()
    tallies = np.bincount(number * KINDS + kinds, minlength=len(names) * KINDS)
    reasons = blanks_by_reason(tallies.reshape(len(names), KINDS))
    refuse_undecided(reasons, names, policy)
    return reasons_named(reasons.sum(axis=0))


def _known(gold: Gold, match: str) -> tuple[IntArray, str]:
    """How many right answers each question has, and where that was found."""
    if KNOWN in gold.attributes:
        return (
            _whole(gold.frame, gold.name),
            "known answers of a question: as the column 'known' says",
        )
    normal = matcher(match)
    different = [len({normal(text) for text in own}) for own in gold.frame["accepted"]]
    found = np.where(gold.frame["nothing_right"].to_numpy(), 1, np.array(different))
    return found, "known answers of a question: those that the gold accepts"


def _whole(questions: pl.DataFrame, name: str) -> IntArray:
    numbers = questions[KNOWN].cast(pl.Int64, strict=False)
    bad = questions.filter((numbers < 1) | numbers.is_null())
    if bad.height:
        value = bad[KNOWN][0]
        got = "empty" if value is None else shown(value)
        question = shown(bad["question"][0])
        raise InputError(f"known is {got} for question {question}, expected 1 or more", name)
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
    sizes = slice_sizes(questions, by)
    slices: list[tuple[str | None, ...]] = sizes.drop("size").rows() if by else [()]
    place_of = slice_numbers(questions, sizes, by)
    found: list[SeveralRow] = []
    for at, part in enumerate(slices):
        asked = int(sizes["size"][at])
        inside = rows.filter(pl.Series(place_of[rows[INDEX].to_numpy()] == at))
        block = []
        for run in names:
            own = inside.filter(pl.col("run") == run)
            question, answers = _answers(own, known, asked)
            block.append(
                SeveralRow(
                    run,
                    dict(zip(by, part, strict=True)),
                    asked,
                    own.height,
                    int(answers.right.sum()),
                    int(said_before(answers, question).sum()),
                    asked - own[INDEX].n_unique(),
                    {str(item): item(answers) for item in measures},
                )
            )
        found += _placed(block, measures[0])
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


def _placed(rows: list[SeveralRow], first: Measure) -> list[SeveralRow]:
    """Best first by the first measure, with places; what has no score comes last."""
    scores = np.array([row.scores[str(first)] for row in rows])
    ranks = places(scores)
    order = np.argsort(-scores, kind="stable")
    return [replace(rows[i], place=ranks[i]) for i in order]
