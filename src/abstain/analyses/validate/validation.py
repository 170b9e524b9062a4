"""Would a submission be accepted? Every problem of every run, not the first alone.

Where one cause explains many problems (every number one too high, a whole test left out), that
cause is the problem and what it explains are its details.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from abstain.analyses.validate import result as facts
from abstain.analyses.validate.checks import (
    faults,
    no_answers,
    not_options,
    shared_ids,
    too_many,
)
from abstain.analyses.validate.misnumbering import misnumbered, split_id
from abstain.analyses.validate.result import ValidateResult
from abstain.errors import InputError, Place, UsageError, plural, shown
from abstain.io.frames import check_mapping, collect
from abstain.io.tables import ROW
from abstain.judging.faults import Problem
from abstain.judging.joining import join_tasks, logs_in
from abstain.judging.judge import Judged, judge
from abstain.judging.opening import is_path, named
from abstain.judging.reading import Reading, refuse_meaningless
from abstain.judging.responses import Responses, in_its_engine, read_responses, told
from abstain.judging.run_names import name_runs
from abstain.judging.sources import GoldRuns, golds_of
from abstain.judging.tally import missing_problems, repeats

if TYPE_CHECKING:
    from abstain.judging.evaluation import Evaluation

FLOOD = 20
"""More problems of one kind in one run are told as one."""

ID_KINDS = ("unknown question", "repeated question", "missing question")


def validate(evaluation: Evaluation, *, max_runs: int | None = None) -> ValidateResult:
    """Check runs against their gold; `max_runs` is how many a team may send."""
    source = evaluation.source
    if not isinstance(source, GoldRuns):
        raise UsageError("validate checks whole runs against a gold, as they were read")
    return _result(source, evaluation.reading, _problems(source, evaluation.reading, max_runs))


def validate_runs(
    gold: Any, runs: Any, reading: Reading, *, max_runs: int | None = None
) -> ValidateResult:
    """As `validate`, for runs that are not read yet: one that cannot be is a problem of its own."""
    refuse_meaningless(reading, "gold")
    golds, standard = golds_of(gold, reading)
    problems: list[Problem] = []
    sources: list[Responses] = []
    files = _files(runs, reading, problems)
    for name, data in files:
        try:
            source = read_responses(data, reading, name=name)
            judge(standard, [source], match=reading.match, align=reading.align)
            sources.append(source)
        except InputError as error:
            problems.append(_unreadable(error, data))
    unread = len(files) - len(sources)
    if sources:
        tables = [*(own.table for own in golds), *(own.table for own in sources)]
        check_mapping(reading.columns, tables)
    named_runs = name_runs(join_tasks(sources))
    read = GoldRuns(standard, [in_its_engine(own, reading) for own in named_runs], reading)
    if sources:
        problems += _problems(read, reading, max_runs)
    order = {_label(name, data): number for number, (name, data) in enumerate(files)}
    return _result(read, reading, problems, unread=unread, order=order)


def _result(
    source: GoldRuns,
    reading: Reading,
    problems: Sequence[Problem],
    *,
    unread: int = 0,
    order: Mapping[str, int] | None = None,
) -> ValidateResult:
    tables = [own.table for own in source.responses]
    places = order or {table.name: number for number, table in enumerate(tables)}
    ordered = sorted(
        problems,
        key=lambda p: (
            places.get(p.place.path, len(places)),
            p.place.line or p.place.row or 1 << 62,
        ),
    )
    return ValidateResult(
        reading=reading,
        notes=tuple(told([source.gold.table, *tables])),
        valid=not problems,
        questions=len(source.gold),
        runs=len(tables) + unread,
        problems=tuple(facts.Problem.of(problem) for problem in ordered),
    )


def _problems(source: GoldRuns, reading: Reading, max_runs: int | None) -> list[Problem]:
    """Everything that is wrong with runs that could be read."""
    judged = source.judged()
    found = [*faults(judged), *repeats(judged), *missing_problems(judged)]
    if reading.align == "id":
        found = _explained(found, judged)
    found += no_answers(judged)
    found += not_options(judged, reading.match)
    found = [*_without_floods(found), *shared_ids(judged.sources)]
    return found if max_runs is None else [*found, *too_many(judged.sources, max_runs)]


def _files(runs: Any, reading: Reading, problems: list[Problem]) -> list[tuple[str, Any]]:
    """The runs by name: a folder stands for the logs in it, and one without is a problem."""
    if isinstance(runs, Mapping):
        return named(runs, reading)
    several = isinstance(runs, Sequence) and not isinstance(runs, (str, bytes))
    kept: list[Any] = []
    for data in runs if several else [runs]:
        try:
            is_folder = is_path(data) and os.path.isdir(data)
            kept += logs_in(os.fspath(data), reading.format) if is_folder else [data]
        except InputError as error:
            problems.append(_unreadable(error, data))
    return named(kept, reading) if kept or not problems else []


def _unreadable(error: InputError, data: Any) -> Problem:
    place = error.place or Place(_label("", data))
    return Problem("unreadable", place, error.message, typed=error.typed)


def _label(name: str, data: Any) -> str:
    """What a run's table is called in messages."""
    return os.fspath(data) if is_path(data) else name or "the frame"


# ------------------------------------------------------------------------ one cause for many


def _explained(problems: Sequence[Problem], judged: Judged) -> list[Problem]:
    """Problems with ids, told by their cause where they have one."""
    left = list(problems)
    gold_ids = judged.gold.frame["question"].to_list()
    for source in judged.sources:
        runs = {p.run for p in left if p.kind in ID_KINDS and p.place.path == source.table.name}
        if not runs or len(runs) > 1 or source.run is None or source.run not in runs:
            continue
        if ROW not in source.frame.collect_schema().names():
            continue  # an engine does not say in which order they stand
        rows = collect(source.frame.select("question", ROW), source.table.name)
        ids = rows["question"].fill_null("").to_list()
        for finding in misnumbered(ids, gold_ids):
            mine = [
                p
                for p in left
                if p.run == source.run
                and p.kind in ID_KINDS
                and (not finding.tests or split_id(p.question or "")[0] in finding.tests)
            ]
            gone = {id(p) for p in mine}
            left = [p for p in left if id(p) not in gone]
            left.append(
                Problem(
                    finding.kind,
                    source.place(rows[ROW][finding.at]),
                    finding.message,
                    source.run,
                    ids[finding.at],
                    tuple(mine),
                )
            )
    return left


def _without_floods(problems: Sequence[Problem]) -> list[Problem]:
    """Whatever is many of a kind in one run, told as one."""
    groups: dict[tuple[str, str | None, str], list[Problem]] = {}
    for problem in problems:
        groups.setdefault((problem.place.path, problem.run, problem.kind), []).append(problem)
    told: list[Problem] = []
    for (_, run, kind), members in groups.items():
        plain = [p for p in members if not p.details]
        told += [p for p in members if p.details]
        if len(plain) <= FLOOD:
            told += plain
            continue
        first = plain[0]
        questions = [p.question for p in plain if p.question is not None]
        which = ", ".join(shown(q) for q in questions[:3])
        whose = f"run {shown(run)} has " if run else ""
        message = f"{whose}{plural(len(plain), 'problem')} of one kind ({kind}: {which}, …); "
        told.append(
            replace(first, message=message + f"the first: {first.message}", details=tuple(plain))
        )
    return told
