"""Runs as a caller names them, opened: paths, folders, frames, a mapping of names to them.

Harnesses write a log for each task. Logs that name the same model and different tasks are one run
whose questions have their task as an attribute; a folder stands for the logs in it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import InputError, UsageError, option, plural, shown, some_of
from abstain.io.files import Opened, bare_name
from abstain.io.frames import without
from abstain.io.readers import READERS
from abstain.io.submissions import is_bundle, own_name, runs_in, teams_of
from abstain.io.tables import ROW, Plan, Table
from abstain.judging.naming import name_runs, parse_run_name, runs_of
from abstain.judging.reading import Reading
from abstain.judging.responses import Responses, in_its_engine, read_responses

TASK = "task"
SAMPLE = "sample"


def open_sources(runs: Any, reading: Reading, *, judged: bool = False) -> list[Responses]:
    """The tables of responses that a caller named, each in its engine, with the name of its run.

    Logs of one model and several tasks are one run; nothing is counted yet.
    """
    return [in_its_engine(own, reading) for own in opened_runs(runs, reading, judged=judged)]


def opened_runs(runs: Any, reading: Reading, *, judged: bool = False) -> list[Responses]:
    """As `open_sources`, but the rows of logs are still here: they may be looked at and changed."""
    sources = [opened_run(own, reading, judged=judged) for own in named(runs, reading)]
    return name_runs(join_tasks(sources))


class Given(Struct, frozen=True):
    """A run as a caller gave it."""

    data: Any
    """A path, a frame, a file of an archive; a folder or an archive where it has a name."""
    name: str = ""
    """What the caller calls it."""
    label: str = ""
    """What it is called where nothing else says so."""
    team: str | None = None
    """Who handed it in, where a folder says so."""

    @property
    def place(self) -> str:
        """What it is called in messages."""
        if isinstance(self.data, Opened):
            return self.data.name
        return os.fspath(self.data) if is_path(self.data) else self.label or "the frame"


def named(
    runs: Any, reading: Reading, refused: list[tuple[Given, InputError]] | None = None
) -> list[Given]:
    """The runs with the names that the caller gave; folders and archives stand for their runs.

    A text `name=path` gives a path its name. A folder or an archive without runs is `refused` with
    its reason, where the caller keeps a list of those.
    """
    if isinstance(runs, Mapping):
        found = [Given(data, name=str(name)) for name, data in runs.items()]
    elif isinstance(runs, Sequence) and not isinstance(runs, (str, bytes)):
        found = [Given(path, name=name) for name, path in map(own_name, runs)]
    else:
        name, path = own_name(runs)
        found = [Given(path, name=name)]
    if reading.names:
        if len(reading.names) != len(found):
            raise UsageError(
                f"{plural(len(reading.names), 'name')} for {plural(len(found), 'run')}: "
                f"{option('names')} must name every run, in order"
            )
        found = [replace(own, name=n) for own, n in zip(found, reading.names, strict=True)]
    every: list[Given] = []
    for own in found:
        try:
            every += _unfolded(own, reading)
        except InputError as error:
            if refused is None:
                raise
            refused.append((own, error))
    if not every and not refused:
        raise UsageError("no run is given")
    frames = [at for at, own in enumerate(every) if not is_file(own.data)]
    for at in frames if len(frames) > 1 else ():
        every[at] = replace(every[at], label=f"run {at + 1}")
    return _with_teams(every, found)


def _with_teams(every: list[Given], given: Sequence[Given]) -> list[Given]:
    """Files in folders by teams know their team, unless something else was given beside files."""
    if not every or any(own.name or not is_path(own.data) or own.data == "-" for own in given):
        return every
    ids = [parse_run_name(bare_name(own.place)) for own in every]
    if len({None if own is None else own.team.lower() for own in ids} - {None}) == 1 and all(ids):
        return every  # one team: the folders inside its own are none
    paths = [os.fspath(own.data) for own in given]
    teams = teams_of([own.place for own in every], paths)
    return [replace(own, team=team) for own, team in zip(every, teams, strict=True)]


def _unfolded(own: Given, reading: Reading) -> list[Given]:
    """A run as it is, or those in a folder or an archive without a name."""
    if own.name or not is_bundle(own.data):
        return [own]
    return [Given(path) for path in runs_in(own.data, reading.format)]


def opened_run(own: Given, reading: Reading, *, judged: bool = False) -> Responses:
    """One run, opened; what was given a name must hold one run."""
    if not own.name:
        source = read_responses(own.data, reading, name=own.label, judged=judged)
        return replace(source, team=own.team)
    if is_bundle(own.data):
        files = runs_in(own.data, reading.format)
        logs = [read_responses(path, reading, judged=judged) for path in files]
        found = name_runs(join_tasks(logs))
        runs = [run for one in found for run in runs_of(one)]
    else:
        found = [read_responses(own.data, reading, name=own.name, judged=judged)]
        runs = runs_of(found[0])
    if len(found) != 1 or len(runs) > 1:
        raise InputError(
            f"holds {len(runs)} runs ({some_of(runs)}), expected one run for the name "
            f"{shown(own.name)}",
            os.fspath(own.data) if is_path(own.data) else found[0].table.name,
        )
    if found[0].run is None:
        return replace(found[0], run=own.name, table=without(found[0].table, "run"))
    return replace(found[0], run=own.name)


def is_path(data: Any) -> bool:
    """Whether it names a file or a folder."""
    return isinstance(data, (str, os.PathLike))


def is_file(data: Any) -> bool:
    """Whether it is a file, on disk or of an archive."""
    return is_path(data) or isinstance(data, Opened)


# -------------------------------------------------------------------- tasks of one model


class _Log(Struct, frozen=True):
    """A log of one task, by its place among the sources."""

    at: int
    source: Responses
    task: str
    questions: pl.DataFrame
    """Its questions, each once, with what is right."""
    by_itself: bool
    """Whether it has the name that it gives itself: one that a caller named is a run of its own."""
    asks: str = ""
    """The task by which its questions are known: tasks may ask the same ones."""

    @property
    def folder(self) -> str:
        return os.path.dirname(os.path.abspath(self.source.table.name))

    @property
    def model(self) -> str:
        """The model by its own word; logs that say none are of one if they share a folder."""
        return self.folder if self.is_nameless else str((self.source.table.run_id or ("",))[0])

    @property
    def is_nameless(self) -> bool:
        return self.source.table.format == "lm-eval" and self.source.run == self.task

    @property
    def dataset(self) -> str:
        """The data set that it names."""
        return next((value for _, name, value in self.source.table.facts if name == "dataset"), "")

    def asks_what(self, other: _Log) -> bool:
        """Whether it asks the questions of another task: what is right is the same for every id.

        Tasks may number their questions alike, so the logs must name one data set; where none does,
        they must have all ids in common.
        """
        if self.dataset != other.dataset:
            return False
        both = self.questions.join(other.questions, on="question", suffix=" there")
        if not self.dataset and not both.height == self.questions.height == other.questions.height:
            return False
        return both.height > 0 and bool((both["correct"] == both["correct there"]).all())


def join_tasks(sources: Sequence[Responses]) -> list[Responses]:
    """The sources, with logs of one model and different tasks made one run."""
    logs = _with_sets([log for at, source in enumerate(sources) if (log := _log(at, source))])
    models: dict[str, list[_Log]] = defaultdict(list)
    for log in logs:
        if log.by_itself:
            models[log.model].append(log)
    groups = [group for own in models.values() for group in _groups(own)]
    shared = _in_two_tasks(logs) if logs else None
    if shared is not None:
        logs = [_with_task(log, shared) for log in logs]
    now = {log.at: log for log in logs}
    first = {group[0].at: group for group in groups}
    gone = {log.at for group in groups for log in group[1:]}
    return [
        _joined([now[log.at] for log in first[at]])
        if at in first
        else (now[at].source if at in now else source)
        for at, source in enumerate(sources)
        if at not in gone
    ]


def _log(at: int, source: Responses) -> _Log | None:
    table = source.table
    if table.run_id is None or TASK not in table.columns:
        return None
    if table.format not in READERS or not READERS[table.format].one_task:
        return None
    right = pl.col("correct").cast(pl.List(pl.String)).list.join("|")
    right = right if "correct" in table.columns else pl.lit("")
    rows = table.frame.select(
        pl.col("question").cast(pl.String),
        pl.col(TASK).cast(pl.String),
        right.fill_null("").alias("correct"),
    ).collect()
    tasks = rows[TASK].unique().to_list()
    if len(tasks) != 1 or not tasks[0]:
        return None
    by_itself = source.run == table.run_id[0]
    questions = rows.drop(TASK).unique("question", keep="first", maintain_order=True)
    return _Log(at, source, tasks[0], questions, by_itself)


def _with_sets(logs: Sequence[_Log]) -> list[_Log]:
    """The logs, each with the task by which its questions are known."""
    first: dict[str, _Log] = {}
    found = []
    models = {
        task: {log.model for log in logs if log.task == task} for task in {log.task for log in logs}
    }
    for log in logs:
        same = [
            own.asks
            for own in first.values()
            if own.task == log.task
            or ((log.dataset or not models[own.task] & models[log.task]) and log.asks_what(own))
        ]
        found.append(replace(log, asks=same[0] if same else log.task))
        first.setdefault(log.task, found[-1])
    return found


def _groups(own: Sequence[_Log]) -> list[list[_Log]]:
    """The runs that the logs of one model are: by their tasks, or by their folders too."""
    tasks = {log.task for log in own}
    if len(tasks) == 1 or len({log.asks for log in own}) < len(tasks):
        return []  # the same questions again and again are as many runs
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
                    f"model {shown(str(own[0].source.run))} has two logs of task "
                    f"{shown(log.task)} ({seen[log.task].source.table.name} and "
                    f"{log.source.table.name}) as well as other tasks; give only one of the two, "
                    "or put the logs of each run in a folder of their own"
                )
            seen[log.task] = log
    return [group for group in folders.values() if len(group) > 1]


def _in_two_tasks(logs: Sequence[_Log]) -> str | None:
    """A question's id that stands in two tasks with different questions, if one does."""
    found = pl.concat(
        log.questions.select("question", task=pl.lit(log.asks)) for log in logs
    ).unique()
    twice = found.filter(pl.col("question").is_duplicated())["question"]
    return None if twice.is_empty() else str(twice.min())


def _with_task(log: _Log, shared: str) -> _Log:
    """The log with its task before each question's id and before each cluster's."""
    table = with_task(log.source.table, log.asks)
    note = f"several tasks have the same ids (such as {shown(shared)}): questions are named task/id"
    table = replace(table, notes=(*table.notes, note))
    return replace(log, source=replace(log.source, table=table))


def with_task(table: Table, task: str) -> Table:
    """A log's rows, each question and each sample with the task before its id."""
    ids = [name for name in ("question", SAMPLE) if name in table.columns]
    named = [
        pl.concat_str(pl.lit(f"{task}/"), pl.col(name).cast(pl.String)).alias(name) for name in ids
    ]
    return replace(table, frame=table.frame.with_columns(named))


def _joined(logs: Sequence[_Log]) -> Responses:
    run = os.path.basename(logs[0].folder) if logs[0].is_nameless else str(logs[0].source.run)
    tables = [log.source.table for log in logs]
    table = together(tables, _name(tables, run))
    tasks = [log.task for log in logs]
    listed = ", ".join(tasks[:5]) + (" …" if tasks[5:] else "")
    note = (
        f"{plural(len(logs), 'log')} of {run} were joined into one run, one task per log ({listed})"
    )
    table = replace(table, notes=(*table.notes, note), run_id=(run, 1))
    teams = {log.source.team for log in logs}
    return Responses(table, run, teams.pop() if len(teams) == 1 else None)


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
        facts=tuple(fact for fact in tables[0].facts if fact[0] not in (TASK, "dataset")),
        plan=_weakest([table.plan for table in tables]),
        lines=None,
        parts=tuple(parts),
    )


def _weakest(plans: Sequence[Plan]) -> Plan:
    return None if None in plans else "epochs" if "epochs" in plans else "samples"


def gold_of_folder(folder: str, reading: Reading) -> Table:
    """The rows of all logs in a folder, from which its questions are taken."""
    logs = runs_in(folder, reading.format)
    sources = join_tasks([read_responses(path, reading) for path in logs])
    if len(sources) == 1:
        return sources[0].table
    return together([source.table for source in sources], folder)
