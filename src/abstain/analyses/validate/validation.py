"""Would a submission be accepted? Every problem of every run, not the first alone.

Where one cause explains many problems (every number one too high, a whole test left out), that
cause is the problem and what it explains are its details.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import polars as pl
from msgspec.structs import replace

from abstain.analyses.result import without_clusters
from abstain.analyses.validate import result as facts
from abstain.analyses.validate.misnumbering import misnumbered, split_id
from abstain.analyses.validate.result import ValidateResult
from abstain.errors import InputError, Place, UsageError, plural, shown
from abstain.io.files import Opened
from abstain.io.frames import check_mapping, collect, in_engine
from abstain.io.normalise import matcher
from abstain.io.submissions import is_bundle, runs_in
from abstain.io.tables import ROW
from abstain.judging.cells import refuse_counts, run_count
from abstain.judging.counting import missing_problems, repeats
from abstain.judging.evaluation import Evaluation
from abstain.judging.faults import Problem
from abstain.judging.gold import NONE_WORDS
from abstain.judging.judge import FILE, INDEX, KIND, YES, Judged, judge
from abstain.judging.naming import name_runs, parse_run_name
from abstain.judging.opening import Given, is_path, join_tasks, named, opened_run
from abstain.judging.plans import agreed, planned
from abstain.judging.reading import Reading, refuse_meaningless
from abstain.judging.responses import Responses, in_its_engine, told
from abstain.judging.sources import GoldRuns, golds_of
from abstain.outcomes import KINDS

NO_POLICY = "the policy has no effect here: responses are checked, not counted"
MOST_TIMES = 4
"""A run with more than so many times the gold's questions is not looked at for misnumbering."""

FLOOD = 20
"""More problems of one kind in one run are told as one."""

MOST = 10_000
"""Problems of one kind that are looked up; a file with more is not a submission with slips."""

HINTS = 100
"""Unknown ids for which the nearest known ones are looked up."""

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
    for own in files:
        try:
            source = opened_run(own, reading)
            judge(standard, [source], match=reading.match, align=reading.align)
            sources.append(source)
        except InputError as error:
            problems.append(_unreadable(error, own.data))
    unread = len(files) - len(sources)
    if sources:
        tables = [*(own.table for own in golds), *(own.table for own in sources)]
        check_mapping(reading.columns, tables)
    standard, named_runs = agreed(standard, name_runs(join_tasks(sources)))
    named_runs = [in_its_engine(own, reading) for own in planned(named_runs, standard)]
    read = GoldRuns(standard, named_runs, reading)
    if sources:
        problems += _problems(read, reading, max_runs)
    order = {_label(own.label, own.data): number for number, own in enumerate(files)}
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
        notes=(
            *told([source.gold.table, *tables]),
            *without_clusters(reading.cluster),
            *([NO_POLICY] if reading.policy else []),
        ),
        valid=not problems,
        questions=len(source.gold),
        runs=len(tables) + unread,
        problems=tuple(facts.Problem.of(problem) for problem in ordered),
    )


def _problems(source: GoldRuns, reading: Reading, max_runs: int | None) -> list[Problem]:
    """Everything that is wrong with runs that could be read."""
    judged = source.judged()
    for own in judged.sources:
        refuse_counts(run_count(own), 1, own.table.name)
    found = [*_faults(judged), *repeats(judged), *missing_problems(judged)]
    if reading.align == "id":
        found = _explained(found, judged)
    found += _no_answers(judged)
    found += _not_options(judged, reading.match)
    found = [*_without_floods(found), *_shared_ids(judged.sources)]
    return found if max_runs is None else [*found, *_too_many(judged.sources, max_runs)]


def _files(runs: Any, reading: Reading, problems: list[Problem]) -> list[Given]:
    """The runs as given: a folder stands for the runs in it, and one without is a problem."""
    several = isinstance(runs, Sequence) and not isinstance(runs, (str, bytes))
    if isinstance(runs, Mapping) or reading.names:
        return named(runs, reading)
    kept: list[Any] = []
    for data in runs if several else [runs]:
        try:
            kept += runs_in(data, reading.format) if is_bundle(data) else [data]
        except InputError as error:
            problems.append(_unreadable(error, data))
    return named(kept, reading) if kept or not problems else []


def _unreadable(error: InputError, data: Any) -> Problem:
    place = error.place or Place(_label("", data))
    return Problem("unreadable", place, error.message, typed=error.typed)


def _label(name: str, data: Any) -> str:
    """What a run's table is called in messages."""
    if isinstance(data, Opened):
        return data.name
    return os.fspath(data) if is_path(data) else name or "the frame"


def _explained(problems: Sequence[Problem], judged: Judged) -> list[Problem]:
    """Problems with ids, told by their cause where they have one."""
    left = list(problems)
    gold_ids = judged.gold.frame["question"].to_list()
    for source in judged.sources:
        runs = {p.run for p in left if p.kind in ID_KINDS and p.place.path == source.table.name}
        if not runs or len(runs) > 1 or source.run is None or source.run not in runs:
            continue
        if ROW not in source.frame.collect_schema().names() or source.table.plan:
            continue  # an engine does not say in which order they stand; a log names its samples
        rows = collect(source.frame.select("question", ROW), source.table.name)
        if rows.height > MOST_TIMES * len(gold_ids) + FLOOD:
            continue  # so many more rows than questions are no slip of numbers
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
                    source.table.place(rows[ROW][finding.at]),
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


def _faults(judged: Judged) -> list[Problem]:
    found: list[Problem] = []
    for frame in judged.frames:
        rows = _first_rows(frame.filter(nw.col(KIND) >= KINDS), judged)
        found += [
            judged.fault(row, hints=number < HINTS)
            for number, row in enumerate(rows.iter_rows(named=True))
        ]
    return found


def _no_answers(judged: Judged) -> list[Problem]:
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
            place = judged.place(row)
            found.append(Problem("answer lacking", place, message, row["run"], question))
    return found


def _not_options(judged: Judged, match: str) -> list[Problem]:
    """Answers and candidates that are not among their question's options."""
    gold = judged.gold
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
                place = judged.place(row)
                found.append(Problem("unknown option", place, message, row["run"], question))
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


def _shared_ids(sources: Sequence[Responses]) -> list[Problem]:
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


def _too_many(sources: Sequence[Responses], most: int) -> list[Problem]:
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
