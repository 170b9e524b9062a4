"""Would a submission be accepted? Every problem of every run, not the first alone."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import polars as pl

from abstain import __version__
from abstain.errors import InputError, Place, shown
from abstain.formats.tables import ROW
from abstain.judge import FILE, INDEX, KIND, Judged, Problem, check_align, fault_problem, judge
from abstain.outcomes import KINDS
from abstain.questions import (
    NONE_WORDS,
    Gold,
    Responses,
    check_mapping,
    collect,
    name_runs,
    read_gold,
    read_responses,
)
from abstain.tally import missing_problems, repeats

MOST = 10_000
"""Problems of one kind that are looked up; a file with more is not a submission with slips."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was checked and what is wrong with it."""

    questions: int
    runs: int
    problems: tuple[Problem, ...]

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data: what `--format json` prints."""
        return {
            "abstain": __version__,
            "valid": not self.problems,
            "questions": self.questions,
            "runs": self.runs,
            "problems": [
                {
                    "kind": p.kind,
                    "file": p.place.path,
                    "line": p.place.line,
                    "run": p.run,
                    "question": p.question,
                    "message": p.message,
                }
                for p in self.problems
            ],
        }


def validate_runs(
    gold: Any,
    runs: Sequence[str],
    *,
    align: str = "id",
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
) -> Verdict:
    """Check runs against a gold; a run that cannot be read is a problem of its own."""
    standard = read_gold(gold, columns=columns, format=format)
    problems: list[Problem] = []
    sources: list[Responses] = []
    for run in runs:
        if not os.path.exists(run):
            raise InputError("there is no such file", run)
        try:
            source = read_responses(run, columns=columns, format=format)
            judge(standard, [source], align=check_align(align))
            sources.append(source)
        except InputError as error:
            place = error.place or Place(run)
            problems.append(Problem("unreadable", place, error.message))
    if sources:
        check_mapping(columns or {}, [standard.table, *(s.table for s in sources)])
        judged = judge(standard, name_runs(sources), align=align)
        problems += _faults(judged)
        problems += repeats(judged)
        problems += missing_problems(judged)
        problems += _not_options(judged)
    order = {run: number for number, run in enumerate(runs)}
    problems.sort(key=lambda p: (order.get(p.place.path, len(order)), p.place.line or 1 << 62))
    return Verdict(len(standard), len(runs), tuple(problems))


def _faults(judged: Judged) -> list[Problem]:
    found: list[Problem] = []
    for frame in judged.frames:
        faulty = frame.filter(nw.col(KIND) >= KINDS).head(MOST)
        rows = collect(faulty, judged.sources[0].table.name)
        rows = rows.sort([c for c in (FILE, ROW) if c in rows.columns])
        found += [fault_problem(judged, row) for row in rows.iter_rows(named=True)]
    return found


def _not_options(judged: Judged) -> list[Problem]:
    """Answers and candidates that are not among their question's options."""
    gold: Gold = judged.gold
    if "options" not in gold.frame.columns:
        return []
    options = gold.frame["options"].to_list()
    found: list[Problem] = []
    for frame in judged.frames:
        rows = collect(frame.filter(nw.col(KIND) < KINDS), judged.sources[0].table.name)
        rows = rows.sort([c for c in (FILE, ROW) if c in rows.columns])
        given = [c for c in ("answer", "candidate") if c in rows.columns]
        allowed = pl.Series(
            "__options", [options[i] for i in rows[INDEX]], dtype=pl.List(pl.String)
        )
        for column in given:
            value = pl.col(column)
            bad = rows.with_columns(allowed).filter(
                value.is_not_null()
                & (value != "")
                & (pl.col("__options").list.len() > 0)
                & ~pl.col("__options").list.contains(value)
                & ~value.is_in(NONE_WORDS)  # "there is no answer" needs no option of its own
            )
            found += [
                Problem(
                    "unknown option",
                    judged.place(row),
                    f"{column} {shown(row[column])} is not an option of question "
                    f"{shown(gold.frame['question'][row[INDEX]])} "
                    f"(its options: {', '.join(row['__options'][:10])})",
                    row["run"],
                    gold.frame["question"][row[INDEX]],
                )
                for row in bad.iter_rows(named=True)
            ]
    return found
