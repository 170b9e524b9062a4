"""Runs as a caller names them, opened: paths, folders, frames, a mapping of names to them.

Harnesses write a log for each task. Logs that name the same model and different tasks are one run
whose questions have their task as an attribute; a folder stands for the logs in it.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import InputError, UsageError, plural, shown, some_of
from abstain.io.files import bare_name, open_plain
from abstain.io.readers import READERS
from abstain.io.tables import ROW, Table, sniff
from abstain.judging.reading import Reading
from abstain.judging.responses import Responses, in_its_engine, read_responses
from abstain.judging.submissions import (
    TABLES,
    Submission,
    folders_of,
    is_archive,
    submissions_in,
    with_teams,
)

TASK = "task"
ENDINGS = (".jsonl", ".json", ".eval", ".gz", ".zst")
MAX_FILES = 10_000
_CLEF = re.compile(
    r"(?P<team>\S*\w)(?P<year>\d{2})(?P<number>\d{2})(?P<source>[a-z]{2})(?P<target>[a-z]{2})"
    r"(?:[_-]\S+)?",
    re.IGNORECASE | re.ASCII,
)


def open_sources(runs: Any, reading: Reading, *, judged: bool = False) -> list[Responses]:
    """The tables of responses that a caller named, each with the name of its run.

    Logs of one model and several tasks are one run; nothing is counted yet.
    """
    sources = [
        own
        for name, data in named(runs, reading)
        for own in (
            [_one_run(name, data, reading, judged=judged)]
            if name and _is_folder(data)
            else [read_responses(data, reading, name=name, judged=judged)]
        )
    ]
    return [in_its_engine(own, reading) for own in name_runs(join_tasks(sources))]


def named(runs: Any, reading: Reading) -> list[tuple[str, Any]]:
    """The runs with the names that the caller gave.

    A folder stands for the logs in it, or for the submissions in it, and so does a zip archive; a
    text `name=path` gives a path its name.
    """
    if isinstance(runs, Mapping):
        found = [(str(name), data) for name, data in runs.items()]
    elif isinstance(runs, Sequence) and not isinstance(runs, (str, bytes)):
        every = _of_teams([own for data in runs for own in _named_logs(data, reading)], runs)
        several = sum(not _is_file(data) for _, data in every) > 1
        found = [
            (f"run {i + 1}" if several and not _is_file(data) else name, data)
            for i, (name, data) in enumerate(every)
        ]
    else:
        found = _of_teams(_named_logs(runs, reading), [runs])
    if not found:
        raise UsageError("there is no run to read")
    return found


def _named_logs(data: Any, reading: Reading) -> list[tuple[str, Any]]:
    """A run and the name it was given, or the logs of a folder without one."""
    if isinstance(data, str) and "=" in data and not os.path.exists(data):
        name, _, path = data.partition("=")
        if name.strip() and (path == "-" or os.path.exists(path)):
            return [(name.strip(), path)]
    if is_archive(data) and os.path.isfile(data):
        return [("", own) for own in submissions_in(os.fspath(data))]
    if not _is_folder(data):
        return [("", data)]
    return [("", own) for own in runs_in(os.fspath(data), reading.format)]


def runs_in(folder: str, format: str | None) -> list[str] | list[Submission]:
    """The logs in a folder and below; where there are more runs of other forms, all submissions."""
    try:
        logs = logs_in(folder, format)
    except InputError:
        logs = []
    found = submissions_in(folder)
    others = sum(own.name.lower().endswith(TABLES) or bool(own.entry) for own in found)
    if logs and others <= len(logs):
        return logs
    if not others:
        raise InputError("is a directory, expected a file", folder)
    return found


def _of_teams(found: Sequence[tuple[str, Any]], given: Sequence[Any]) -> list[tuple[str, Any]]:
    """Files in folders by teams know their team; other files stay what they are."""
    paths = [os.fspath(own) for own in given if is_path(own) and own != "-"]
    own = [
        Submission(os.fspath(data), os.fspath(data)) if is_path(data) else data
        for name, data in found
        if not name and _is_file(data) and data != "-"
    ]
    if len(paths) < len(given) or len(own) < len(found):
        return list(found)
    teams = with_teams(own, paths)
    return [
        (name, team if team.team or isinstance(data, Submission) else data)
        for (name, data), team in zip(found, teams, strict=True)
    ]


def _is_file(data: Any) -> bool:
    return is_path(data) or isinstance(data, Submission)


def _is_folder(data: Any) -> bool:
    return is_path(data) and os.path.isdir(data)


def _one_run(name: str, folder: Any, reading: Reading, *, judged: bool) -> Responses:
    """The logs of a folder as the one run that they were named."""
    logs = logs_in(os.fspath(folder), reading.format)
    found = join_tasks([read_responses(path, reading, judged=judged) for path in logs])
    if len(found) != 1:
        some = some_of([str(own.run) for own in found])
        raise InputError(
            f"holds {len(found)} runs ({some}), expected one to be called {shown(name)}",
            os.fspath(folder),
        )
    return replace(found[0], run=name)


def is_path(data: Any) -> bool:
    """Whether it names a file or a folder."""
    return isinstance(data, (str, os.PathLike))


# -------------------------------------------------------------------- tasks of one model


class _Log(Struct, frozen=True):
    """A log of one task, by its place among the sources."""

    at: int
    source: Responses
    task: str
    questions: pl.Series

    @property
    def folder(self) -> str:
        return os.path.dirname(os.path.abspath(self.source.table.name))

    @property
    def model(self) -> str:
        """The model by its own word; logs that say none are of one if they share a folder."""
        return self.folder if self.is_nameless else str(self.source.run)

    @property
    def is_nameless(self) -> bool:
        return self.source.table.format == "lm-eval" and self.source.run == self.task


def join_tasks(sources: Sequence[Responses]) -> list[Responses]:
    """The sources, with logs of one model and different tasks made one run."""
    logs = [log for at, source in enumerate(sources) if (log := _log(at, source))]
    models: dict[str, list[_Log]] = defaultdict(list)
    for log in logs:
        models[log.model].append(log)
    groups = [group for own in models.values() for group in _groups(own)]
    if not groups:
        return list(sources)
    shared = _in_two_tasks(logs)
    if shared is not None:
        logs = [_with_task(log) for log in logs]
    now = {log.at: log for log in logs}
    first = {group[0].at: group for group in groups}
    gone = {log.at for group in groups for log in group[1:]}
    return [
        _joined([now[log.at] for log in first[at]], shared)
        if at in first
        else (now[at].source if at in now else source)
        for at, source in enumerate(sources)
        if at not in gone
    ]


def _log(at: int, source: Responses) -> _Log | None:
    table = source.table
    by_itself = table.run_id is not None and source.run == table.run_id[0]
    if not by_itself or TASK not in table.columns:
        return None
    if table.format not in READERS or not READERS[table.format].one_task:
        return None
    rows = table.frame.select("question", TASK).collect()
    tasks = rows[TASK].cast(pl.String).unique().to_list()
    if len(tasks) != 1 or not tasks[0]:
        return None
    return _Log(at, source, tasks[0], rows["question"].cast(pl.String).unique())


def _groups(own: Sequence[_Log]) -> list[list[_Log]]:
    """The runs that the logs of one model are: by their tasks, or by their folders too."""
    tasks = {log.task for log in own}
    if len(tasks) == 1:
        return []  # the same task again and again is as many runs
    if len(tasks) == len(own):
        return [list(own)]
    folders: dict[str, list[_Log]] = defaultdict(list)
    for log in own:
        folders[log.folder].append(log)
    for group in folders.values():
        seen: dict[str, _Log] = {}
        for log in group:
            if log.task in seen:
                raise UsageError(
                    f"model {shown(str(own[0].source.run))} has task {shown(log.task)} twice "
                    f"({seen[log.task].source.table.name} and {log.source.table.name}) beside "
                    "other tasks; name one of them, or put runs in folders of their own"
                )
            seen[log.task] = log
    return [group for group in folders.values() if len(group) > 1]


def _in_two_tasks(logs: Sequence[_Log]) -> str | None:
    """A question's id that stands in two tasks, if one does."""
    found = pl.concat(
        pl.DataFrame({"question": log.questions}).with_columns(task=pl.lit(log.task))
        for log in logs
    ).unique()
    twice = found.filter(pl.col("question").is_duplicated())["question"]
    return None if twice.is_empty() else str(twice.min())


def _with_task(log: _Log) -> _Log:
    """The log with its task before each question's id and before each cluster's."""
    table = log.source.table
    ids = ["question", *([table.cluster] if table.cluster else [])]
    named = [pl.concat_str(pl.lit(f"{log.task}/"), pl.col(name)).alias(name) for name in ids]
    table = replace(table, frame=table.frame.with_columns(named))
    return replace(log, source=replace(log.source, table=table))


def _joined(logs: Sequence[_Log], shared: str | None) -> Responses:
    run = os.path.basename(logs[0].folder) if logs[0].is_nameless else str(logs[0].source.run)
    tables = [log.source.table for log in logs]
    table = together(tables, _name(tables, run))
    tasks = [log.task for log in logs]
    listed = ", ".join(tasks[:5]) + (" …" if tasks[5:] else "")
    note = f"{plural(len(logs), 'log')} of {run} made one run, a task each ({listed})"
    if shared is not None:
        note += f"; ids stand in several tasks ({shown(shared)}), so questions are named task/id"
    table = replace(table, notes=(*table.notes, note), run_id=(run, 1))
    return Responses(table, run)


def _name(tables: Sequence[Table], run: str) -> str:
    """What the run's file is called in messages: the folder of its logs."""
    folders = [os.path.dirname(table.name) for table in tables]
    try:
        return os.path.commonpath(folders) or run
    except ValueError:  # one of them is absolute
        return folders[0] or run


def together(tables: Sequence[Table], name: str) -> Table:
    """Tables of logs as one, whose rows still know their places."""
    cluster = next((table.cluster for table in tables if table.cluster), None)
    frames, parts, start = [], [], 0
    for table in tables:
        frame = table.frame.collect()
        if cluster is not None and table.cluster is None:
            frame = frame.with_columns(pl.col("question").alias(cluster))
        frames.append(frame.with_columns((pl.col(ROW) + start).cast(pl.UInt32)))
        parts.append((start, table))
        start += frame.height
    whole = pl.concat(frames, how="diagonal_relaxed")
    return replace(
        tables[0],
        name=name,
        columns=tuple(column for column in whole.columns if column != ROW),
        frame=whole.lazy(),
        notes=tuple(dict.fromkeys(note for table in tables for note in table.notes)),
        cluster=cluster,
        lines=None,
        parts=tuple(parts),
    )


def logs_in(folder: str, format: str | None) -> list[str]:
    """The logs in a folder and below, told by their bytes, in the order of their names."""
    wanted = format or ""
    if wanted and (wanted not in READERS or READERS[wanted].sniff is None):
        raise InputError("is a directory, expected a file", folder)
    names = sorted(
        os.path.join(place, name)
        for place, _, files in os.walk(folder)
        for name in files
        if name.lower().endswith(ENDINGS) and not name.startswith(".")
    )
    if len(names) > MAX_FILES:
        raise InputError(f"has more than {MAX_FILES:,} files, expected a folder of logs", folder)
    found = [name for name in names if _sniffed(name) in ((wanted,) if wanted else READERS)]
    if not found:
        raise InputError("is a directory, expected a file", folder)
    return found


def _sniffed(name: str) -> str | None:
    try:
        return sniff(open_plain(name))
    except InputError:
        return None


def gold_of_folder(folder: str, reading: Reading) -> Table:
    """The rows of all logs in a folder, from which its questions are taken."""
    logs = logs_in(folder, reading.format)
    sources = join_tasks([read_responses(path, reading) for path in logs])
    if len(sources) == 1:
        return sources[0].table
    return together([source.table for source in sources], folder)


class RunName(Struct, frozen=True):
    """A run id of the CLEF way (jucs1302enen), taken apart."""

    team: str
    year: int
    number: int
    """The team's own count of its runs, from 1."""
    source: str
    """The language of the questions."""
    target: str
    """The language of the documents."""


def parse_run_name(run: str) -> RunName | None:
    """Team, year, number and languages of a run id; None where it is of another form.

    >>> parse_run_name("jucs1302enen")
    RunName(team='jucs', year=2013, number=2, source='en', target='en')
    >>> parse_run_name("team07_run1") is None
    True
    """
    found = _CLEF.fullmatch(run.strip().rpartition("/")[2])  # folders tell files apart
    if found is None:
        return None
    return RunName(
        found["team"],
        2000 + int(found["year"]),
        int(found["number"]),
        found["source"].lower(),
        found["target"].lower(),
    )


def name_runs(tables: Sequence[Responses]) -> list[Responses]:
    """Tell apart tables whose run names came out alike, by as much of the path as it takes.

    A run id that several files claim names none of them: their file names do.
    """
    claimed = [item.run for item in tables]
    tables = [
        replace(item, run=bare_name(item.table.name))
        if item.table.run_id and item.run == item.table.run_id[0] and claimed.count(item.run) > 1
        else item
        for item in tables
    ]
    taken: dict[str, list[int]] = {}
    for index, item in enumerate(tables):
        if item.run is not None:
            taken.setdefault(item.run, []).append(index)
    named = list(tables)
    for name, indices in taken.items():
        if len(indices) < 2:
            continue
        paths = [tables[i].table.name for i in indices]
        if len(set(paths)) < len(paths):
            raise UsageError(f"two runs are called '{name}' ({paths[0]} and {paths[1]})")
        for index, folders in zip(indices, _telling_folders(paths), strict=True):
            named[index] = replace(tables[index], run="/".join((*folders, name)))
    names = [item.run for item in named if item.run is not None]
    if len(set(names)) < len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise UsageError(f"two runs are called '{twice}'; give them names of their own")
    return named


def _telling_folders(paths: Sequence[str]) -> list[tuple[str, ...]]:
    """The last folders of each path, as few of them as tell all the paths apart."""
    folders = folders_of(paths)
    deepest = max(map(len, folders))
    for depth in range(1, deepest):
        last = [own[-depth:] for own in folders]
        if len(set(last)) == len(last):
            return last
    return folders
