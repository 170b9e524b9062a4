"""Would a submission be accepted? Every problem of every run, not the first alone.

Where one cause explains many problems (every number one too high, a whole test left out), that
cause is the problem and what it explains are its details.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Unpack

import narwhals as nw
from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import InputError, Place, UsageError, plural, shown, some_of
from abstain.features.validate.gold import validate_gold
from abstain.features.validate.problems import REFUSALS, misspelt, odd_things, problems_of
from abstain.features.validate.result import ValidateResult
from abstain.io.files import bare_name
from abstain.io.frames import check_mapping
from abstain.io.submissions import without_runs
from abstain.reading import Reading, ReadingOptions, refuse_meaningless
from abstain.report.result import without_clusters
from abstain.runs import read_golds, with_ids
from abstain.runs.corrections import corrected
from abstain.runs.evaluation import Evaluation
from abstain.runs.faults import Problem, problem_at
from abstain.runs.gold import Gold, natural_key
from abstain.runs.judge import judge
from abstain.runs.log_tasks import with_shared_ids, with_unasked
from abstain.runs.responses import (
    Responses,
    RunInput,
    in_its_engine,
    joined_and_named,
    listed_runs,
    notes_of_tables,
    opened_run,
)
from abstain.runs.run_names import WITHDRAWN, RunsInfo, read_info, runs_of, team_of, team_spellings
from abstain.runs.season import HANDED_IN, is_season, read_season
from abstain.runs.sources import GoldRuns
from abstain.runs.usual_names import refuse_pooled

UNREADABLE = "unreadable"
NO_POLICY = "the policy has no effect here: responses are checked, not counted"


def validate(
    evaluation: Evaluation, *, max_runs: int | None = None, runs_info: Any = None
) -> ValidateResult:
    """Check runs against their gold.

    Args:
        evaluation: Runs that were read against a gold.
        max_runs: How many runs a team may send.
        runs_info: A table of what is known of the runs: run, team, align.
    """
    source = evaluation.data.source
    if not isinstance(source, GoldRuns):
        raise UsageError(
            "validate needs a gold and whole runs: not judged rows, counts or a selection"
        )
    info = read_info(runs_info)
    whole = source.gold.before or source.gold
    source = GoldRuns(whole, info.repaired(source.responses, whole), evaluation.reading)
    problems = problems_of(source, evaluation.reading)
    return result_of(Examined(source, evaluation.reading, problems, info), max_runs)


class Examined(Struct):
    """Submissions that were looked through: those that could be read, and all problems."""

    source: GoldRuns
    reading: Reading
    problems: list[Problem]
    info: RunsInfo
    files: list[RunInput] = []
    """Every run as it was submitted, where they were opened here."""
    silent: list[str] = []
    """Folders with files of which none is a run."""
    gold: Gold | None = None
    """The gold with its corrections, by which runs are scored: they are checked without."""


def validate_files(
    gold: Any,
    runs: Any = None,
    *,
    max_runs: int | None = None,
    runs_info: Any = None,
    **reading: Unpack[ReadingOptions],
) -> ValidateResult:
    """Everything that is wrong with runs; one that cannot be read is a problem too.

    The gold may lack `correct`: participants check against the test set. `max_runs` is how many
    runs a team may send; teams are known by `runs_info`, by folders, or by ids such as
    jucs1302enen. The folder of a season stands for a gold, runs and what is known of them. Without
    runs a gold itself is checked.

    >>> import polars as pl
    >>> gold = pl.DataFrame({"question": ["q1", "q2"], "correct": ["A", "B"]})
    >>> run = pl.DataFrame({"question": ["q1", "q3"], "answer": ["A", "B"]})
    >>> [problem.kind for problem in validate_files(gold, run).problems]
    ['unknown question', 'missing question']
    """
    how = Reading.of(**reading)
    if runs is None and not is_season(gold):
        return validate_gold(gold, how)
    if runs is None:
        season = read_season(gold)
        gold, runs, how = season.gold, season.runs(*HANDED_IN), season.reading_with(how)
        runs_info = season.info(runs_info)
    seen = examine(gold, runs, how, runs_info, answers=False)
    return result_of(seen, max_runs)


def examine(
    gold: Any, runs: Any, reading: Reading, runs_info: Any = None, *, answers: bool = True
) -> Examined:
    """Open submissions one by one and look for everything that is wrong with them.

    Without `answers` the gold may be the test set alone.
    """
    refuse_meaningless(reading, "gold")
    standard = read_golds(gold, reading, answers=answers)
    info = read_info(runs_info)
    opened: list[Responses] = []
    refused: list[tuple[RunInput, InputError]] = []
    files = listed_runs(runs, reading, refused)
    problems = [_unreadable(error, submission.place) for submission, error in refused]
    for submission in files:
        try:
            opened.append(opened_run(submission, reading))
        except InputError as error:
            problems.append(_unreadable(error, submission.place, submission.name or None))
    sources: list[Responses] = []
    standard = with_ids(standard, gold, opened, reading, answers=answers)
    standard, named_runs = with_shared_ids(standard, joined_and_named(opened))
    for run in named_runs:
        try:
            refuse_pooled(run.table, judged=False)
            fixed = info.repaired([run], standard)
            judge(standard, fixed, match=reading.match, align=reading.align)
            sources += fixed
        except InputError as error:
            problems.append(_unreadable(error, run.table.name, run.run))
    if sources:
        check_mapping(reading.columns, [*standard.tables, *(source.table for source in sources)])
    sources = [in_its_engine(submission, reading) for submission in with_unasked(sources, standard)]
    source = GoldRuns(standard, sources, reading)
    now, reading = corrected(standard, reading)
    if sources:
        problems += problems_of(source, reading)
    silent = without_runs(runs, [submission.place for submission in files])
    return Examined(source, reading, problems, info, files, silent, now)


def valid_runs(
    gold: Any, runs: Any, reading: Reading, *, max_runs: int | None = None, runs_info: Any = None
) -> tuple[Evaluation, ValidateResult]:
    """The runs that can be scored, and what is wrong with all of them.

    A missing response is no reason to leave a run out where the policy says what it becomes.
    """
    seen = examine(gold, runs, reading, runs_info)
    result = result_of(seen, max_runs)
    bad = hindering(result, reading)
    responses = seen.source.responses
    kept = [submission for part in responses for submission in _without(part, bad)]
    if not kept:
        first = f"{result.problems[0].place}: {result.problems[0].message}"
        lists = "`abstain validate` lists them all"
        raise InputError(f"no run is valid (the first problem: {first}); {lists}")
    everything = {run for submission in responses for run in runs_of(submission)}
    everything |= {p.run or p.file for p in seen.problems if p.kind == UNREADABLE}
    left = {run for submission in kept for run in runs_of(submission)}
    notes = tuple(note for note in result.notes if note != NO_POLICY)
    odd = tuple(w for w in result.warnings if w.kind != REFUSALS or w.run in left)
    skipped = tuple(sorted(everything - left))
    result = replace(result, notes=notes, warnings=odd, skipped=skipped)
    assert seen.gold is not None
    return Evaluation(GoldRuns(seen.gold, kept, seen.reading), seen.reading), result


def hindering(result: ValidateResult, reading: Reading) -> list[Problem]:
    """The problems for which runs are not scored."""
    allowed = ("missing question",) if "missing" in reading.policy else ()
    return [problem for problem in result.problems if problem.kind not in allowed]


def _without(submission: Responses, problems: Sequence[Problem]) -> list[Responses]:
    mine = {problem.run for problem in problems if problem.file == submission.table.name}
    if None in mine or (mine and submission.table.chunks is not None):
        return []
    bad = {problem.run for problem in problems}
    runs = runs_of(submission)
    left = [run for run in runs if run not in bad]
    if not left or left == runs:
        return [submission] if runs == left else []
    frame = submission.frame.filter(nw.col("run").cast(nw.String).is_in(left))
    return [replace(submission, table=replace(submission.table, frame=frame.to_native()))]


def result_of(seen: Examined, max_runs: int | None) -> ValidateResult:
    """What was seen, in the order of the files, with the runs that are too many."""
    source, reading = seen.source, seen.reading
    tables = [submission.table for submission in source.responses]
    paths = [submission.place for submission in seen.files] or [table.name for table in tables]
    order = {path: at for at, path in enumerate(paths)}
    teams = _teams_by_file(seen, paths)
    beyond, notes = ([], []) if max_runs is None else _too_many(seen, max_runs)
    problems = [*seen.problems, *beyond]

    def where(problem: Problem) -> tuple[int, int]:
        return order.get(problem.file, len(order)), problem.line or problem.row or 1 << 62

    def in_order(problems: Sequence[Problem]) -> tuple[Problem, ...]:
        return tuple(_with_team(p, teams.get(p.file)) for p in sorted(problems, key=where))

    return ValidateResult(
        reading=reading,
        notes=(
            *notes_of_tables([source.gold.table, *tables]),
            *misspelt(source.gold),
            *without_clusters(reading.cluster),
            *([NO_POLICY] if reading.policy or reading.unanswerable else []),
            *notes,
            *team_spellings(teams.values()),
            *(f"{place} holds no runs" for place in seen.silent),
        ),
        valid=not problems,
        questions=len(source.gold),
        runs=len(tables) + sum(problem.kind == UNREADABLE for problem in problems),
        problems=in_order(problems),
        warnings=in_order(odd_things(source) if tables else []),
    )


def _teams_by_file(seen: Examined, paths: Sequence[str]) -> dict[str, str]:
    """The team of every file that names one run or cannot be read."""
    folders = {submission.place: submission.team for submission in seen.files}
    runs = {submission.table.name: submission.run for submission in seen.source.responses}
    by_table = seen.info.of("team")
    teams = {}
    for path in {**dict.fromkeys(paths), **runs}:
        for run in (runs.get(path), bare_name(path)):
            if run and path not in teams and (team := team_of(run, folders.get(path), by_table)):
                teams[path] = team.name
    return teams


def _unreadable(error: InputError, place: str, run: str | None = None) -> Problem:
    problem = problem_at(UNREADABLE, error.place or Place(place), error.message, run)
    return problem if error.typed == error.message else replace(problem, typed=error.typed)


def _with_team(problem: Problem, team: str | None) -> Problem:
    details = tuple(_with_team(detail, team) for detail in problem.details)
    return replace(problem, team=team, details=details)


def _too_many(seen: Examined, most: int) -> tuple[list[Problem], list[str]]:
    by_table, status = seen.info.of("team"), seen.info.of("status")
    claims: list[tuple[Responses, str, int | None]] = []
    for submission in seen.source.responses:
        alone = submission.table.run_id
        named = [(run, None) for run in runs_of(submission)] if alone is None else [alone]
        claims += [(submission, *claim) for claim in named]
    claims.sort(key=lambda claim: natural_key(claim[1].rpartition("/")[2]))
    count: Counter[str] = Counter()
    by: Counter[str] = Counter()
    problems: list[Problem] = []
    lost: list[str] = []
    for submission, run, line in claims:
        team = team_of(run, submission.team, by_table)
        if team is None:
            lost.append(run)
            continue
        by[team.by] += 1
        if status.get(run) == WITHDRAWN:
            continue
        count[team.name] += 1
        if count[team.name] > most:
            message = (
                f"run {shown(run)} is number {count[team.name]} of team {shown(team.name)} "
                f"(team by {team.by}), expected at most {most}"
            )
            place = Place(submission.table.name, line)
            problems.append(problem_at("too many runs", place, message, submission.run or run))
    how = ", ".join(f"{plural(n, 'run')} by {what}" for what, n in by.most_common())
    notes = [f"runs were counted per team; the team is known for {how}"] if by else []
    if lost:
        notes.append(
            f"the limit does not apply to {plural(len(lost), 'run')} of an unknown team "
            f"({some_of(lost)}): give each team a folder, or name it in a table of runs"
        )
    return problems, notes
