"""Would a submission be accepted? Every problem of every run, not the first alone.

Where one cause explains many problems (every number one too high, a whole test left out), that
cause is the problem and what it explains are its details.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from abstain.analyses.result import without_clusters
from abstain.analyses.runs_info import WITHDRAWN, RunsInfo, alike, read_info, team_of
from abstain.analyses.validate import result as facts
from abstain.analyses.validate.misnumbering import misnumbered, split_id
from abstain.analyses.validate.odd import misspelt, odd_things
from abstain.analyses.validate.result import ValidateResult
from abstain.errors import InputError, Place, UsageError, plural, shown, some_of
from abstain.io.files import bare_name
from abstain.io.frames import check_mapping, collect, in_engine
from abstain.io.normalise import matcher
from abstain.io.submissions import without_runs
from abstain.io.tables import ROW
from abstain.judging.aliases import refuse_pooled
from abstain.judging.cells import refuse_counts, run_count
from abstain.judging.counting import MOST_REPEATS, REPEATED, missing_problems, repeats
from abstain.judging.evaluation import Evaluation
from abstain.judging.faults import Problem
from abstain.judging.gold import NONE_WORDS
from abstain.judging.judge import FILE, INDEX, KIND, YES, Judged, judge
from abstain.judging.naming import name_runs, runs_of
from abstain.judging.opening import Given, join_tasks, named, opened_run
from abstain.judging.plans import agreed, planned
from abstain.judging.reading import Reading, refuse_meaningless
from abstain.judging.responses import Responses, in_its_engine, told
from abstain.judging.slices import natural
from abstain.judging.sources import GoldRuns, golds_of, with_ids
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

ID_KINDS = ("unknown question", REPEATED, "missing question")


def validate(
    evaluation: Evaluation, *, max_runs: int | None = None, runs_info: Any = None
) -> ValidateResult:
    """Check runs against their gold.

    Args:
        evaluation: Runs that were read against a gold.
        max_runs: How many runs a team may send.
        runs_info: A table of what is known of the runs: run, team, align.
    """
    source = evaluation.source
    if not isinstance(source, GoldRuns):
        raise UsageError(
            "validate needs a gold and whole runs: not judged rows, counts or a selection"
        )
    info = read_info(runs_info)
    fixed = info.repaired(source.responses, source.gold)
    source = GoldRuns(source.gold, fixed, evaluation.reading)
    found = _problems(source, evaluation.reading)
    return _result(Examined(source, found, info), evaluation.reading, max_runs)


class Examined(Struct):
    """Submissions that were looked through: those that could be read, and all problems."""

    source: GoldRuns
    problems: list[Problem]
    info: RunsInfo
    files: list[Given] = []
    """Every run as it was given, where they were opened here."""
    unread: int = 0
    silent: list[str] = []
    """Folders with files of which none is a run."""

    @property
    def order(self) -> dict[str, int]:
        """The files by name, each with its place."""
        if self.files:
            return {own.place: at for at, own in enumerate(self.files)}
        return {own.table.name: at for at, own in enumerate(self.source.responses)}


def validate_runs(
    gold: Any, runs: Any, reading: Reading, *, max_runs: int | None = None, runs_info: Any = None
) -> ValidateResult:
    """As `validate`, for runs that are not read yet: one that cannot be is a problem of its own.

    The gold may be the test set without its answers.
    """
    seen = examine(gold, runs, reading, runs_info, answers=False)
    return _result(seen, reading, max_runs)


def examine(
    gold: Any, runs: Any, reading: Reading, runs_info: Any = None, *, answers: bool = True
) -> Examined:
    """Open submissions one by one and look for everything that is wrong with them."""
    refuse_meaningless(reading, "gold")
    read = golds_of(gold, reading, answers=answers)
    info = read_info(runs_info)
    opened: list[Responses] = []
    refused: list[tuple[Given, InputError]] = []
    files = named(runs, reading, refused)
    problems = [_unreadable(error, own.place) for own, error in refused]
    for own in files:
        try:
            opened.append(opened_run(own, reading))
        except InputError as error:
            problems.append(_unreadable(error, own.place))
    unread = len(files) - len(opened)
    sources: list[Responses] = []
    golds, standard = with_ids(read, gold, opened, reading, answers=answers)
    standard, named_runs = agreed(standard, name_runs(join_tasks(opened)))
    for run in named_runs:
        try:
            refuse_pooled(run.table, judged=False)
            fixed = info.repaired([run], standard)
            judge(standard, fixed, match=reading.match, align=reading.align)
            sources += fixed
        except InputError as error:
            problems.append(_unreadable(error, run.table.name, run.run))
            unread += 1
    if sources:
        tables = [*(own.table for own in golds), *(own.table for own in sources)]
        check_mapping(reading.columns, tables)
    sources = [in_its_engine(own, reading) for own in planned(sources, standard)]
    source = GoldRuns(standard, sources, reading)
    if sources:
        problems += _problems(source, reading)
    silent = without_runs(runs, [own.place for own in files])
    return Examined(source, problems, info, files, unread, silent)


def valid_runs(
    gold: Any, runs: Any, reading: Reading, *, max_runs: int | None = None, runs_info: Any = None
) -> tuple[Evaluation, ValidateResult]:
    """The runs that can be scored, and what is wrong with all of them.

    A missing response is no reason to leave a run out where the policy says what it becomes.
    """
    seen = examine(gold, runs, reading, runs_info)
    result = _result(seen, reading, max_runs)
    allowed = ("missing question",) if "missing" in reading.policy else ()
    bad = [own for own in result.problems if own.kind not in allowed]
    kept = [own for part in seen.source.responses for own in _without(part, bad)]
    if not kept:
        first = result.problems[0]
        raise InputError(
            f"no run is valid (the first problem: {first.place}: {first.message}); "
            "`abstain validate` lists them all"
        )
    left = {run for own in kept for run in runs_of(own)}
    told_here = tuple(note for note in result.notes if note != NO_POLICY)
    result = replace(result, notes=told_here, skipped=tuple(sorted({*_all_runs(seen)} - left)))
    return Evaluation(GoldRuns(seen.source.gold, kept, reading), reading), result


def _all_runs(seen: Examined) -> list[str]:
    """Every run that was handed in; a file that cannot be read is one, by its path."""
    read = {own.table.name for own in seen.source.responses}
    lost = [
        p.run or p.place.path
        for p in seen.problems
        if p.kind == "unreadable" and p.place.path not in read
    ]
    return [*(run for own in seen.source.responses for run in runs_of(own)), *lost]


def _without(own: Responses, problems: Sequence[facts.Problem]) -> list[Responses]:
    """The responses without those of runs that have a problem, in whichever file it is."""
    mine = {problem.run for problem in problems if problem.file == own.table.name}
    if None in mine or (mine and own.table.chunks is not None):
        return []
    bad = {problem.run for problem in problems}
    runs = runs_of(own)
    left = [run for run in runs if run not in bad]
    if len(left) == len(runs):
        return [own]
    if not left:
        return []
    frame = own.frame.filter(nw.col("run").cast(nw.String).is_in(left))
    return [replace(own, table=replace(own.table, frame=frame.to_native()))]


def _result(seen: Examined, reading: Reading, max_runs: int | None) -> ValidateResult:
    source, order = seen.source, seen.order
    tables = [own.table for own in source.responses]
    runs = [(own, name, line) for own in source.responses for name, line in _claimed(own)]
    teams = teams_by_file(seen)
    problems, notes = list(seen.problems), []
    if max_runs is not None:
        problems += _too_many(runs, seen.info, max_runs)
        notes = _counted_by(runs, seen.info)
    notes += alike(teams.values())
    notes += [f"{place} holds no runs" for place in seen.silent]

    def told_in_order(found: Sequence[Problem]) -> tuple[facts.Problem, ...]:
        ordered = sorted(
            found,
            key=lambda p: (
                order.get(p.place.path, len(order)),
                p.place.line or p.place.row or 1 << 62,
            ),
        )
        return tuple(facts.Problem.of(own, teams.get(own.place.path)) for own in ordered)

    return ValidateResult(
        reading=reading,
        notes=(
            *told([source.gold.table, *tables]),
            *misspelt(source.gold),
            *without_clusters(reading.cluster),
            *([NO_POLICY] if reading.policy else []),
            *notes,
        ),
        valid=not problems,
        questions=len(source.gold),
        runs=len(tables) + seen.unread,
        problems=told_in_order(problems),
        warnings=told_in_order(odd_things(source) if tables else []),
    )


def teams_by_file(seen: Examined) -> dict[str, str]:
    """The team of every file that names one run or cannot be read."""
    found = {own.place: own.team for own in seen.files if own.team}
    said = seen.info.of("team")
    for path in seen.order:
        if (team := team_of(bare_name(path), found.get(path), said)) is not None:
            found[path] = team.name
    for own in seen.source.responses:
        if own.run is not None and (team := team_of(own.run, own.team, said)) is not None:
            found[own.table.name] = team.name
    return found


def _problems(source: GoldRuns, reading: Reading) -> list[Problem]:
    """Everything that is wrong with runs that could be read."""
    judged = source.judged()
    for own in judged.sources:
        refuse_counts(run_count(own), 1, own.table.name)
    found = [*_faults(judged), *repeats(judged), *missing_problems(judged)]
    if reading.align == "id":
        found = _explained(found, judged)
    found += _no_answers(judged)
    found += _not_options(judged, reading.match)
    return [*_without_floods(found), *_shared_ids(judged.sources)]


def _unreadable(error: InputError, place: str, run: str | None = None) -> Problem:
    return Problem("unreadable", error.place or Place(place), error.message, run, typed=error.typed)


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
        least = "at least " if len(plain) >= (MOST_REPEATS if kind == REPEATED else MOST) else ""
        counted = f"{least}{plural(len(plain), 'problem')}"
        message = f"{whose}{counted} of one kind ({kind}: {which}, …); "
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
                f"question {shown(question)} is marked as answered but has no answer, "
                "expected an answer, or answered=NO"
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
            message = (
                f"run id {shown(run)} is already used (first: {first[run]}), expected a different "
                "id for each run"
            )
            found.append(Problem("shared run id", here, message, source.run))
        first.setdefault(run, here)
    return found


Claims = Sequence[tuple[Responses, str, "int | None"]]
"""Every run with the table that it is in and the line that names it."""


def _too_many(runs: Claims, info: RunsInfo, most: int) -> list[Problem]:
    """Runs of a team beyond those it may send, by name; withdrawn ones do not count."""
    teams: dict[str, int] = {}
    found = []
    said, status = info.of("team"), info.of("status")
    for own, run, line in sorted(runs, key=lambda claim: natural(claim[1].rpartition("/")[2])):
        team = team_of(run, own.team, said)
        if team is None or status.get(run) == WITHDRAWN:
            continue
        count = teams[team.name] = teams.get(team.name, 0) + 1
        if count > most:
            message = (
                f"run {shown(run)} is number {count} of team {shown(team.name)} "
                f"(team by {team.by}), expected at most {most}"
            )
            place = Place(own.table.name, line)
            found.append(Problem("too many runs", place, message, own.run or run))
    return found


def _counted_by(runs: Claims, info: RunsInfo) -> list[str]:
    """What told the teams whose runs were counted, and which runs have none."""
    said = info.of("team")
    teams = [(run, team_of(run, own.team, said)) for own, run, _ in runs]
    by = Counter(team.by for _, team in teams if team is not None)
    how = ", ".join(f"{plural(count, 'run')} by {what}" for what, count in by.most_common())
    notes = [f"runs were counted per team; the team was found for {how}"] if how else []
    lost = [run for run, team in teams if team is None]
    if lost:
        some = some_of(lost)
        notes.append(
            f"the team of {plural(len(lost), 'run')} is unknown, so the limit does not "
            f"apply to {'it' if len(lost) == 1 else 'them'} ({some}): give each team a folder, use "
            "run ids such as jucs1302enen, or add a column 'team' to the table of runs"
        )
    return notes


def _claimed(source: Responses) -> list[tuple[str, int | None]]:
    """The names that a table gives its runs, each with the line that says so."""
    if source.table.run_id is not None:
        return [source.table.run_id]
    return [(run, None) for run in runs_of(source)]
