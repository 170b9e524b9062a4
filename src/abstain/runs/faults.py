"""Error messages for rejected rows: those that cannot be judged, and repeated questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import polars as pl
from msgspec import Struct

from abstain.errors import InputError, Place, RepeatedError, nearest, shown
from abstain.io.frames import collect
from abstain.io.tables import ROW, Table
from abstain.outcomes import CODES, Why
from abstain.runs import judge
from abstain.runs.answerable import ANSWERABLE, marking, unreadable
from abstain.runs.counting import rows_by_run
from abstain.runs.gold import Gold
from abstain.runs.judge import FILE, INDEX, KIND, UNREAD, Judged

LACKS = {judge.NO_QUESTION: "no question id", judge.NO_RUN: "no run name"}
FAULTS = {
    judge.UNKNOWN_QUESTION: "unknown question",
    **LACKS,
    judge.BAD_ANSWERED: "unreadable 'answered'",
    judge.BAD_WHY: "unknown reason",
    judge.CONFLICT: "contradiction",
    judge.BAD_CONFIDENCE: "bad confidence",
    judge.BAD_ANSWERABLE: "unreadable 'answerable'",
}
REPEATED = "repeated question"
MOST_REPEATS = 1_000
"""Repeated questions that are looked up one by one; a file with more is no slip."""


class Problem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something wrong with a run, with its place."""

    kind: str
    team: str | None = None
    """The team that submitted the file, if that is known."""
    file: str
    line: int | None
    row: int | None = None
    """Its row, in a file without lines."""
    run: str | None
    question: str | None
    message: str
    typed: str = ""
    """The message as the command line words it, where that differs."""
    details: tuple[Problem, ...] = ()
    """The problems that this one explains."""

    @property
    def place(self) -> Place:
        return Place(self.file, self.line, self.row)

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"

    def error(self, others: int, *, listed: bool = True) -> InputError:
        """The problem as an error that says how many more there are, and what lists them."""
        how = "; `abstain validate` lists them" if listed else ""
        tail = f" (and {others:,} more{how})" if others else ""
        kind = RepeatedError if self.kind == REPEATED else InputError
        return kind(self.message + tail, self.place)


def problem_at(
    kind: str, place: Place, message: str, run: str | None = None, question: str | None = None
) -> Problem:
    return Problem(
        kind=kind,
        file=place.path,
        line=place.line,
        row=place.row,
        run=run,
        question=question,
        message=message,
    )


def fault_problem(judged: Judged, row: Mapping[str, Any], *, hints: bool = True) -> Problem:
    table = judged.responses[row[FILE]].table
    message = _message(row[KIND], row, judged.gold, table, hints=hints)
    where = judged.place(row)
    return problem_at(FAULTS[row[KIND]], where, message, row.get("run"), row.get("question"))


def _message(fault: int, row: Mapping[str, Any], gold: Gold, table: Table, *, hints: bool) -> str:
    question = row.get("question")
    if fault in LACKS:
        column = table.in_file("run" if fault == judge.NO_RUN else "question")
        return f"the row has {LACKS[fault]}{_column(column, ('run', 'question'))}"
    if fault == judge.UNKNOWN_QUESTION:
        near = nearest(str(question), _alike(str(question), gold)) if hints else []
        return f"question {shown(str(question))} is not in the gold{_hint(map(shown, near))}"
    if fault == judge.BAD_ANSWERED:
        name = table.in_file("answered")
        return f"'{name}' is {shown(row['answered'])}, expected yes or no"
    if fault == judge.BAD_ANSWERABLE:
        return unreadable(row[ANSWERABLE], marking(table), table)
    if fault == judge.BAD_WHY:
        near = nearest(row["why"], tuple(Why))[:1]
        name = table.in_file("why")
        return f"'{name}' is {shown(row['why'])}, expected one of {', '.join(Why)}{_hint(near)}"
    if fault == judge.CONFLICT:
        names = ("grade", "answer", "answered", "candidate", "why")
        values = [f"{table.in_file(name)} {shown(row[name])}" for name in names if row.get(name)]
        return f"the row contradicts itself: {', '.join(values)}"
    column = _column(table.in_file("confidence"), ("confidence",))
    return bad_confidence(row.get(UNREAD) or row["confidence"]) + column


def _column(name: str, known: Sequence[str]) -> str:
    return "" if name in known else f" (column '{name}')"


def _hint(near: Any) -> str:
    return f" (nearest: {names})" if (names := ", ".join(near)) else ""


def bad_confidence(value: float | str) -> str:
    """What is wrong with a confidence: a number, or a text that is none."""
    if not isinstance(value, str):
        return f"confidence is {value:g}, expected 0 to 1"
    point = ", with a decimal point" if "," in value else ""
    return f"confidence is {shown(value)}, expected a number from 0 to 1{point}"


def _alike(question: str, gold: Gold) -> list[str]:
    """Candidates for a nearest id: of similar length, few enough to compare one by one."""
    ids = gold.frame["question"]
    lengths = ids.str.len_chars().cast(pl.Int64)
    return ids.filter((lengths - len(question)).abs() <= 2).head(5_000).to_list()


def first_fault(judged: Judged, count: int) -> Exception:
    for frame in judged.frames:
        order = [c for c in (FILE, ROW) if c in frame.collect_schema().names()]
        first = frame.filter(nw.col(KIND) >= CODES).sort(order).head(1)
        for row in collect(first, judged.label).iter_rows(named=True):
            return fault_problem(judged, row).error(count - 1, listed=not judged.graded)
    raise AssertionError("a fault was counted, but no row has one")


SEAT = "__seat"
"""The order of a row among all: its file and its row number, packed into one integer."""
FILE_SEATS = 1 << 40
WINDOWS = (1 << 16, 1 << 20, 1 << 62)
"""Windows of rows that are searched for repeats, one after another, which saves memory."""


def first_repeat(judged: Judged, times: Mapping[str, int]) -> Exception:
    first = repeats(judged, most=1, runs=list(times))[0]
    return first.error(sum(times.values()) - 1, listed=not judged.graded)


def repeats(
    judged: Judged, *, most: int = MOST_REPEATS, runs: Sequence[str] | None = None
) -> list[Problem]:
    """At most `most` responses to a question that their run (one of `runs`) answered before."""
    problems: list[Problem] = []
    for frame in judged.frames:
        suspects = runs
        if suspects is None:
            sizes = rows_by_run(judged, frame)
            again = sizes.filter(pl.col("rows") > pl.col("distinct"))
            suspects = again["run"].drop_nulls().to_list()
        if suspects and len(problems) < most:
            frame = frame.filter(nw.col("run").is_in(suspects))
            pairs = _again(frame, judged.label, most - len(problems))
            problems += [_repeat(judged, row, first) for row, first in pairs]
    return problems


def _again(
    frame: nw.LazyFrame[Any], label: str, most: int
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The first rows that answer a question again, each with the row that answered it first."""
    schema = frame.collect_schema().names()
    names = [c for c in schema if not c.startswith("__")]
    extra = [c for c in (FILE, ROW, INDEX, KIND) if c in schema]
    frame = frame.select(*names, *extra).filter(~nw.col(INDEX).is_null())
    key = ["run", INDEX]
    if ROW not in schema:  # no order but that of the questions: those of one stand together
        order = key
        keys = frame.group_by(key).agg(nw.len().alias("times")).filter(nw.col("times") > 1)
        frame = frame.join(keys, on=key, how="inner").sort(key).head(2 * most + 1)
    else:
        order = [FILE, ROW]
        seat = nw.col(FILE).cast(nw.Int64) * FILE_SEATS + nw.col(ROW).cast(nw.Int64)
        frame = frame.with_columns(seat.alias(SEAT))
        begins = collect(frame.select(nw.col(FILE).min()), label).item() * FILE_SEATS
        for window in WINDOWS:
            seats = _seats_again(frame.filter(nw.col(SEAT) < begins + window), label, most)
            if seats.height == most:
                break
        frame = frame.filter(nw.col(SEAT).is_in(pl.concat([seats[SEAT], seats["first"]]).to_list()))
    rows = collect(frame, label).sort(order, maintain_order=True).with_row_index("__at")
    every = rows.with_columns(__first=pl.col("__at").min().over(key)).to_dicts()
    again = [(row, every[row["__first"]]) for row in every if row["__at"] > row["__first"]]
    return again[:most]


def _seats_again(frame: nw.LazyFrame[Any], label: str, most: int) -> pl.DataFrame:
    """The first rows (by seat) that repeat a run and question, each with the first such row."""
    key = ["run", INDEX]
    frame = frame.select(*key, SEAT)  # a sort holds all its rows: of no texts but the run
    times = nw.len().alias("times"), nw.col(SEAT).min().alias("first")
    keys = frame.group_by(key).agg(*times).filter(nw.col("times") > 1)
    joined = frame.join(keys, on=key, how="inner").filter(nw.col(SEAT) > nw.col("first"))
    return collect(joined.select(SEAT, "first").sort(SEAT).head(most), label)


def _repeat(judged: Judged, row: dict[str, Any], first: dict[str, Any]) -> Problem:
    question = judged.gold.frame["question"][row[INDEX]]
    what = "grade" if judged.graded else "answer"
    same = row.get(what) == first.get(what) and (judged.graded or row[KIND] == first[KIND])
    where = f" (first: {judged.place(first)})" if ROW in row else ""
    again = f"again, with {'the same' if same else 'another'} {what}{where}"
    message = f"run {shown(row['run'])} has question {shown(question)} {again}"
    return problem_at(REPEATED, judged.place(row), message, row["run"], question)
