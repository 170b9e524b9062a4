"""What can be wrong with runs: response by response, and across the runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import polars as pl

from abstain.errors import Place, shown
from abstain.io.frames import collect, in_engine
from abstain.io.normalise import matcher
from abstain.io.tables import ROW
from abstain.judging.faults import Problem
from abstain.judging.gold import NONE_WORDS, Gold
from abstain.judging.judge import FILE, INDEX, KIND, YES, Judged
from abstain.judging.responses import Responses
from abstain.judging.run_names import parse_run_name
from abstain.outcomes import KINDS

MOST = 10_000
"""Problems of one kind that are looked up; a file with more is not a submission with slips."""

HINTS = 100
"""Unknown ids for which the nearest known ones are looked up."""


def faults(judged: Judged) -> list[Problem]:
    """Responses that cannot be judged."""
    found: list[Problem] = []
    for frame in judged.frames:
        rows = _first_rows(frame.filter(nw.col(KIND) >= KINDS), judged)
        found += [
            judged.fault(row, hints=number < HINTS)
            for number, row in enumerate(rows.iter_rows(named=True))
        ]
    return found


def no_answers(judged: Judged) -> list[Problem]:
    """Questions said to be answered, without an answer: they count as blanks."""
    gold, found = judged.gold, []
    said_yes = nw.col("answered").str.to_lowercase().is_in(YES)
    nothing = nw.col("answer").is_null() | (nw.col("answer") == "")
    for frame in judged.frames:
        if "answered" not in frame.collect_schema().names():
            continue
        lacking = frame.filter(nw.col(KIND) < KINDS, said_yes, nothing)
        for row in _first_rows(lacking, judged).iter_rows(named=True):
            question = gold.frame["question"][row[INDEX]]
            message = (
                f"question {shown(question)} is said to be answered but has no answer, "
                "expected one, or answered=NO"
            )
            found.append(
                Problem("answer lacking", judged.place(row), message, row["run"], question)
            )
    return found


def not_options(judged: Judged, match: str) -> list[Problem]:
    """Answers and candidates that are not among their question's options."""
    gold: Gold = judged.gold
    if "options" not in gold.frame.columns:
        return []
    allowed = _normalised(gold.frame["options"], match)
    found: list[Problem] = []
    for frame in judged.frames:
        names = frame.collect_schema().names()
        for column in (c for c in ("answer", "candidate") if c in names):
            given = frame.filter(nw.col(KIND) < KINDS, ~nw.col(column).is_null())
            pairs = collect(given.select(INDEX, column).unique(), judged.sources[0].table.name)
            unknown = _outside_options(pairs, allowed)
            if unknown.is_empty():
                continue
            bad = given.join(in_engine(unknown, frame), on=[INDEX, column], how="inner")
            for row in _first_rows(bad, judged).iter_rows(named=True):
                question = gold.frame["question"][row[INDEX]]
                options = ", ".join(gold.frame["options"][row[INDEX]].to_list()[:10])
                message = (
                    f"{column} {shown(row[column])} is not an option of question "
                    f"{shown(question)} (its options: {options})"
                )
                found.append(
                    Problem("unknown option", judged.place(row), message, row["run"], question)
                )
    return found


def _normalised(options: pl.Series, match: str) -> pl.Series:
    """Options in the form that answers have once they are judged."""
    if match == "id":
        return options
    normal = matcher(match)
    changed = [None if own is None else [normal(text) for text in own] for own in options.to_list()]
    return pl.Series(options.name, changed, dtype=options.dtype)


def _outside_options(pairs: pl.DataFrame, options: pl.Series) -> pl.DataFrame:
    """Of pairs of a question's position and a text, those whose question has no such option."""
    text, allowed = pl.col(pairs.columns[1]), pl.col("__options")
    known = pairs.with_columns(options.gather(pairs[INDEX]).alias("__options"))
    return known.filter(
        text != "",
        allowed.list.len() > 0,
        ~allowed.list.contains(text),
        ~text.is_in(NONE_WORDS),  # "there is no answer" needs no option of its own
    ).drop("__options")


def _first_rows(chosen: nw.LazyFrame[Any], judged: Judged) -> pl.DataFrame:
    """Rows in the order of their files, so many at most."""
    order = [c for c in (FILE, ROW) if c in chosen.collect_schema().names()]
    return collect(chosen.sort(order).head(MOST), judged.sources[0].table.name)


# ------------------------------------------------------------------------- across the runs


def shared_ids(sources: Sequence[Responses]) -> list[Problem]:
    """A run id that several files claim."""
    first: dict[str, Place] = {}
    found = []
    for source in sources:
        if source.table.run_id is None:
            continue
        run, line = source.table.run_id
        here = Place(source.table.name, line)
        if run in first:
            message = f"run id {shown(run)} is taken (first: {first[run]}), expected one of its own"
            found.append(Problem("shared run id", here, message, source.run))
        first.setdefault(run, here)
    return found


def too_many(sources: Sequence[Responses], most: int) -> list[Problem]:
    """Runs of a team beyond those it may send."""
    teams: dict[str, int] = {}
    found = []
    for source in sources:
        for run, line in _claimed(source):
            name = parse_run_name(run)
            if name is None:
                continue
            count = teams[name.team] = teams.get(name.team, 0) + 1
            if count > most:
                message = (
                    f"run {shown(run)} is run {count} of team {shown(name.team)}, "
                    f"expected at most {most}"
                )
                place = Place(source.table.name, line)
                found.append(Problem("too many runs", place, message, source.run or run))
    return found


def _claimed(source: Responses) -> list[tuple[str, int | None]]:
    """The names that a table gives its runs, each with the line that says so."""
    if source.table.run_id is not None:
        return [source.table.run_id]
    if source.run is not None:
        return [(source.run, None)]
    runs = collect(source.frame.select(nw.col("run").cast(nw.String)), source.table.name)["run"]
    return [(run, None) for run in runs.drop_nulls().unique().sort()]
