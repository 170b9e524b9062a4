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
from abstain.runs.counting import rows_by_run
from abstain.runs.gold import Gold
from abstain.runs.judge import FILE, INDEX, KIND, UNREAD, Judged
from abstain.runs.usual_names import ANSWERABLE, unreadable

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
        return unreadable(row[ANSWERABLE], table)
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
            asked = frame.filter(nw.col("run").is_in(suspects), ~nw.col(INDEX).is_null())
            rows = _again(asked, judged.label, most - len(problems))
            problems += [_repeat(judged, row) for row in rows.iter_rows(named=True)]
    return problems


def _again(frame: nw.LazyFrame[Any], label: str, most: int) -> pl.DataFrame:
    """The first rows that answer a question again, each with the row that answered it first."""
    key, times = ["run", INDEX], nw.len().alias("times")
    if ROW not in frame.collect_schema().names():  # rows without an order
        again = frame.group_by(key).agg(times, nw.col(FILE).min()).filter(nw.col("times") > 1)
        return collect(again.sort(key).head(most), label)
    seat = nw.col(FILE).cast(nw.Int64) * FILE_SEATS + nw.col(ROW).cast(nw.Int64)
    frame = frame.select(*key, seat.alias(SEAT))  # a sort holds all its rows: of no texts but one
    begins = collect(frame.select(nw.col(SEAT).min()), label).item()
    rows = pl.DataFrame()
    for window in WINDOWS:
        some = frame.filter(nw.col(SEAT) - begins < window)
        keys = some.group_by(key).agg(times, nw.col(SEAT).min().alias("first"))
        joined = some.join(keys.filter(nw.col("times") > 1), on=key, how="inner")
        again = joined.filter(nw.col(SEAT) > nw.col("first")).drop("times")
        rows = collect(again.sort(SEAT).head(most), label)
        if rows.height == most:
            break
    return rows


def _repeat(judged: Judged, row: Mapping[str, Any]) -> Problem:
    def place(seat: int) -> Place:
        file, at = divmod(seat, FILE_SEATS)
        return judged.place({FILE: file, ROW: at})

    question = judged.gold.frame["question"][row[INDEX]]
    first = f" (first: {place(row['first'])})" if SEAT in row else ""
    message = f"run {shown(row['run'])} has question {shown(question)} again{first}"
    where = place(row[SEAT]) if SEAT in row else judged.place(row)
    return problem_at(REPEATED, where, message, row["run"], question)
