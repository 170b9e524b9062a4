"""Responses: lazy tables with the same column names, each in its engine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import InputError, UsageError, option, plural, shown, some_of
from abstain.io.files import Opened, bare_name, is_bundle, split_name
from abstain.io.frames import collect, into_lazy, open_table, rename, without
from abstain.io.tables import Table
from abstain.reading import PLAIN, Reading

if TYPE_CHECKING:
    from abstain.runs.gold import Gold

RULE = "refusal"
SAMPLE = "sample"
"""The column that names a question where it was asked repeatedly: its repeats are a cluster."""
CLUSTER = "cluster"
OF_A_RUN = (
    *("answer", "answered", "candidate", "confidence", "why", "run"),
    *("outcome", "reason", "response", RULE),
)
"""Columns of a log that speak of a response, not of its question."""

OUTCOME = "which gives the outcome of each response (or 'grade')"

RUN = ("run", "question", "answer", "confidence")
JUDGED = ("run", "question", "grade", "confidence")
"""Columns that are recognised by their usual names, in runs and in judged rows."""
OTHERS = ("answered", "candidate", "why")


class Responses(Struct, frozen=True):
    table: Table
    run: str | None
    """The one run of the table; None when a `run` column names several."""
    team: str | None = None
    """The team that submitted it, if a folder names one."""

    @property
    def is_log(self) -> bool:
        """Whether it is a tool's log, with verdicts or with a plan of what it set out to do."""
        return self.table.verdicts is not None or self.table.plan is not None

    @property
    def frame(self) -> nw.LazyFrame[Any]:
        return into_lazy(self.table.frame)


def read_responses(
    data: Any, reading: Reading = PLAIN, *, name: str = "", judged: bool = False
) -> Responses:
    opened = open_table(data, name=name, format=reading.format, pick=reading.pick)
    opened = replace(opened, refusals=reading.refusals)
    has_verdicts = opened.verdicts is not None  # its rows are in memory: they may move later
    table = opened if has_verdicts else _moved(opened, reading)
    table = rename(table, reading.columns, side="run")
    meanings: tuple[str, ...] = JUDGED if judged else RUN
    if judged and reading.refusals and "response" not in table.columns:
        meanings = (*meanings, "answer")  # the text in which refusals are looked for
    table = with_our_names(table, meanings, reading.grades)
    if table.refusals:
        from abstain.runs.refusals import with_refusals

        table = with_refusals(table, table.refusals)
    graded = {"outcome", "grade"} & {*table.columns}
    if judged and not {*table.columns} <= {*meanings, *OTHERS}:
        from abstain.runs.usual_names import with_repeats

        table = with_repeats(table)
    if graded and table.cluster is None and CLUSTER in table.columns:
        table = replace(table, cluster=CLUSTER)
    if "run" in table.columns:
        return Responses(table, None)
    run = bare_name(table.name) if table.opened is not None else "run"
    run = run if table.run_id is None else table.run_id[0]
    # a file's name may be no text at all
    return Responses(table, name or run.encode(errors="replace").decode())


def with_our_names(
    table: Table, meanings: Sequence[str], grades: Mapping[str, str] | None = None
) -> Table:
    """Rename a table's columns to the known names where usual names and contents identify them."""
    if {*table.columns} <= {*meanings, *OTHERS}:
        return table
    from abstain.runs.usual_names import recognised

    return recognised(table, meanings, grades)


def in_its_engine(item: Responses, reading: Reading) -> Responses:
    """Move the rows of a log to the requested engine; rows of other tables are there already."""
    has_verdicts = item.table.verdicts is not None
    return replace(item, table=_moved(item.table, reading)) if has_verdicts else item


def _moved(table: Table, reading: Reading) -> Table:
    if reading.engine in (None, "polars"):
        return table
    from abstain.io.engines import moved

    return moved(table, reading)


def notes_of_gold(gold: Gold, responses: Sequence[Responses] = ()) -> list[str]:
    notes = notes_of_tables([gold.table, *(item.table for item in responses)])
    logs = sum(item.table.verdicts is not None for item in responses)
    if gold.verdicts and logs:
        notes.append(f"the verdicts are those of {plural(logs, 'log')}")
    elif logs:
        judged = f"were judged against {gold.name}, not by their verdicts"
        notes.append(f"the answers of {plural(logs, 'log')} {judged}")
    return notes


def notes_of_tables(tables: Iterable[Table]) -> list[str]:
    """The notes of tables, one of each kind, and a note where logs differ in their questions."""
    tables = list(tables)
    kinds: dict[str, dict[str, str]] = {}
    for table in tables:
        for note in table.notes:
            kind = re.sub(r"\d[\d,]* of \d[\d,]*", "", note.replace(f"{table.name}: ", "{}: "))
            kinds.setdefault(kind, {}).setdefault(table.name, note)
    notes = []
    for kind, files in kinds.items():
        more = f" (and {plural(len(files) - 1, 'more file')} alike)"
        notes.append(next(iter(files.values())) + more * (kind.startswith("{}") and len(files) > 1))
    for format in dict.fromkeys(table.format for table in tables if table.verdicts is not None):
        from abstain.io.readers import log_readers

        if format in log_readers() and (how := log_readers()[format].paired_by):
            notes += _other_documents([t for t in tables if t.format == format], how)
    return notes


def _other_documents(logs: Sequence[Table], how: str) -> list[str]:
    """Logs of one task are paired by the hash of each document; say where they differ."""
    frames = {log.name: collect(into_lazy(log.frame), log.name) for log in logs}
    asked = {name: set(frame["question"]) for name, frame in frames.items()}
    common = set.intersection(*asked.values())
    return [
        f"{name}: {len(ids - common):,} of {plural(len(ids), 'document')} are not in all logs "
        f"(compared {how})"
        for name, ids in asked.items()
        if ids - common
    ]


def joined_and_named(responses: Sequence[Responses]) -> list[Responses]:
    from abstain.runs.log_tasks import join_tasks
    from abstain.runs.run_names import name_runs

    return name_runs(join_tasks(responses))


def opened_runs(runs: Any, reading: Reading, *, judged: bool = False) -> list[Responses]:
    if isinstance(runs, list) and runs and all(isinstance(item, Responses) for item in runs):
        return runs  # opened already
    responses = [opened_run(item, reading, judged=judged) for item in listed_runs(runs, reading)]
    if len(responses) == 1 and responses[0].table.run_id is None:
        return responses  # a plain table: no tasks to join, no names that are alike
    return joined_and_named(responses)


class RunInput(Struct, frozen=True):
    data: Any
    """A path, a frame, a file of an archive; a folder or an archive where it has a name."""
    name: str = ""
    label: str = ""
    team: str | None = None
    """The team that submitted it, if a folder names one."""

    @property
    def place(self) -> str:
        if isinstance(self.data, Opened):
            return self.data.name
        return os.fspath(self.data) if is_path(self.data) else self.label or "the frame"


def listed_runs(
    runs: Any, reading: Reading, refused: list[tuple[RunInput, InputError]] | None = None
) -> list[RunInput]:
    """The runs with the names that the caller gave; folders and archives stand for their runs.

    A text `name=path` gives a path its name. A folder or an archive without runs raises; with a
    list `refused` it is appended to that, with its error.
    """
    if isinstance(runs, Mapping):
        named = [RunInput(data, str(name)) for name, data in runs.items()]
    else:
        several = isinstance(runs, Sequence) and not isinstance(runs, (str, bytes))
        named = [
            data if isinstance(data, RunInput) else RunInput(data, name)
            for name, data in map(split_name, runs if several else [runs])
        ]
    if reading.names:
        if len(reading.names) != len(named):
            sizes = f"{plural(len(reading.names), 'name')} for {plural(len(named), 'run')}"
            raise UsageError(f"{sizes}: {option('names')} must name every run, in order")
        named = [replace(item, name=n) for item, n in zip(named, reading.names, strict=True)]
    every: list[RunInput] = []
    for item in named:
        try:
            every += [item] if item.name or not is_bundle(item.data) else _bundled(item, reading)
        except InputError as error:
            if refused is None:
                raise
            refused.append((item, error))
    if not every and not refused:
        raise UsageError("name at least one run")
    frames = [at for at, item in enumerate(every) if not isinstance(item.data, (*PATHS, Opened))]
    for at in frames if len(frames) > 1 else ():
        every[at] = replace(every[at], label=f"run {at + 1}")
    return _with_teams(every, named) if len(every) > 1 or every != named else every


def _bundled(item: RunInput, reading: Reading) -> Iterable[RunInput]:
    from abstain.io.submissions import runs_in

    return map(RunInput, runs_in(item.data, reading.format))


def _with_teams(every: list[RunInput], named: Sequence[RunInput]) -> list[RunInput]:
    from abstain.io.submissions import teams_of
    from abstain.runs.run_names import parse_run_name

    if any(item.name or not is_path(item.data) or item.data == "-" for item in named):
        return every
    ids = [parse_run_name(bare_name(item.place)) for item in every]
    if all(ids) and len({run_id.team.lower() for run_id in ids if run_id}) == 1:
        return every  # one team: the folders inside its folder are none
    teams = teams_of([item.place for item in every], [os.fspath(item.data) for item in named])
    return [replace(item, team=team) for item, team in zip(every, teams, strict=True)]


def opened_run(item: RunInput, reading: Reading, *, judged: bool = False) -> Responses:
    """One run, opened; what a caller named must hold one run."""
    if not item.name:
        opened = read_responses(item.data, reading, name=item.label, judged=judged)
        return replace(opened, team=item.team)
    from abstain.runs.run_names import runs_of

    if is_bundle(item.data):
        files = _bundled(item, reading)
        tables = [read_responses(file.data, reading, judged=judged) for file in files]
        responses = joined_and_named(tables)
    else:
        responses = [read_responses(item.data, reading, name=item.name, judged=judged)]
    runs = [run for each in responses for run in runs_of(each)]
    if len(responses) != 1 or len(runs) > 1:
        place = os.fspath(item.data) if is_path(item.data) else responses[0].table.name
        what = f"holds {len(runs)} runs ({some_of(runs)})"
        raise InputError(f"{what}, expected one for the name {shown(item.name)}", place)
    (only,) = responses
    table = without(only.table, "run") if only.run is None else only.table
    return replace(only, run=item.name, table=table, team=item.team)


PATHS = (str, os.PathLike)


def is_path(data: Any) -> bool:
    return isinstance(data, PATHS)


def logs_of_folder(folder: str, reading: Reading) -> Table:
    from abstain.io.submissions import runs_in
    from abstain.runs.log_tasks import as_one_table, join_tasks

    logs = runs_in(folder, reading.format)
    responses = join_tasks([read_responses(path, reading) for path in logs])
    if len(responses) == 1:
        return responses[0].table
    return as_one_table([item.table for item in responses], folder)
