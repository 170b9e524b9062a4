"""What runs are called: ids of the CLEF way taken apart, names that came out alike told apart."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import takewhile

import narwhals as nw
from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import UsageError
from abstain.io.files import bare_name
from abstain.io.frames import collect
from abstain.io.submissions import folders_of
from abstain.io.tables import Table
from abstain.judging.responses import Responses

_CLEF = re.compile(
    r"(?P<team>\S*\w)(?P<year>\d{2})(?P<number>\d{2})(?P<source>[a-z]{2})(?P<target>[a-z]{2})"
    r"(?:[_-]\S+)?",
    re.IGNORECASE | re.ASCII,
)
LONGEST = 30
"""Letters of a setting's value that a name shows."""
MOST_SETTINGS = 3
"""Settings that a name shows, where no single one tells all logs apart."""


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
    """Tell apart tables whose run names came out alike.

    Logs that claim one run id are told apart by what differs: task, settings, folder, time. Where
    nothing does, their file names tell; other tables by as much of the path as it takes.
    """
    named = _by_facts(tables)
    taken: dict[str, list[int]] = {}
    for index, item in enumerate(named):
        if item.run is not None:
            taken.setdefault(item.run, []).append(index)
    for name, indices in taken.items():
        if len(indices) < 2:
            continue
        paths = [named[i].table.name for i in indices]
        again = next((path for path in paths if paths.count(path) > 1), None)
        if again is not None:
            raise UsageError(f"two runs are called '{name}' ({again} and {again})")
        for index, folders in zip(indices, _telling_folders(paths), strict=True):
            last = folders[:-1] if folders and folders[-1] == name else folders
            named[index] = replace(named[index], run="/".join((*last, name)))
    names = [item.run for item in named if item.run is not None]
    if len(set(names)) < len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise UsageError(f"two runs are called '{twice}'; give them names of their own")
    return _by_teams(named)


def _by_teams(named: Sequence[Responses]) -> list[Responses]:
    """The tables; a run that several teams name alike in a column gets its team before it."""
    teams = {item.team for item in named if item.team}
    if len(teams) < 2 or not any(item.run is None and item.team for item in named):
        return list(named)
    claims = [runs_of(item) for item in named]
    claimed: dict[str, set[str | None]] = defaultdict(set)
    for item, runs in zip(named, claims, strict=True):
        for run in runs:
            claimed[run].add(item.team)
    shared = {run for run, own in claimed.items() if len(own) > 1}
    return [
        _with_team(item, shared) if item.run is None and item.team and shared & {*runs} else item
        for item, runs in zip(named, claims, strict=True)
    ]


def runs_of(item: Responses) -> list[str]:
    """The runs of a table, by name."""
    if item.run is not None:
        return [item.run]
    runs = collect(item.frame.select(nw.col("run").cast(nw.String)).unique(), item.table.name)
    return sorted(runs["run"].drop_nulls())


def _with_team(item: Responses, shared: set[str]) -> Responses:
    run = nw.col("run").cast(nw.String)
    longer = nw.concat_str(nw.lit(f"{item.team}/"), run)
    named = nw.when(run.is_in(sorted(shared))).then(longer).otherwise(run).alias("run")
    frame = item.frame.with_columns(named).to_native()
    return replace(item, table=replace(item.table, frame=frame, chunks=None))


def _by_facts(tables: Sequence[Responses]) -> list[Responses]:
    """The tables, those that claim one run id renamed by what differs between them."""
    claims: dict[str, list[int]] = defaultdict(list)
    for index, item in enumerate(tables):
        if item.run is not None and item.table.run_id and item.run == item.table.run_id[0]:
            claims[item.run].append(index)
    named = list(tables)
    for name, indices in claims.items():
        if sum(item.run == name for item in tables) < 2:
            continue
        own = [tables[i].table for i in indices]
        folders = {os.path.dirname(os.path.abspath(table.name)) for table in own}
        apart = len(folders) == len(own) > 1
        told = told_apart(own, ("task", "settings") if apart else ("task", "settings", "time"))
        if told is None and apart:
            continue  # their folders tell them apart
        for position, index in enumerate(indices):
            run = bare_name(own[position].name) if told is None else f"{name} ({told[position]})"
            named[index] = replace(tables[index], run=run)
    return named


def told_apart(logs: Sequence[Table], groups: Sequence[str]) -> list[str] | None:
    """What tells each log from the others, in few words; None where nothing does."""
    parts: list[list[str]] = [[] for _ in logs]
    for group in groups:
        facts = [{name: value for kind, name, value in log.facts if kind == group} for log in logs]
        names = list(dict.fromkeys(name for own in facts for name in own))
        values = {name: [own.get(name) for own in facts] for name in names}
        differ = {name: own for name, own in values.items() if len(set(own)) > 1}
        alone = [name for name, own in differ.items() if len(set(own)) == len(logs)]
        for name in alone[:1] or [*differ][:MOST_SETTINGS]:
            for part, text in zip(parts, _labels(group, name, differ[name]), strict=True):
                part.append(text)
        labels = [", ".join(part) for part in parts]
        if len(set(labels)) == len(logs) > 1:
            return labels
    return None


def _labels(group: str, name: str, values: Sequence[str | None]) -> list[str]:
    """How the values of one fact are shown in names: as short as tells them apart."""
    if group == "time":
        return _moments([value or "" for value in values])
    texts = ["" if value is None else " ".join(value.split()) for value in values]
    if len({text[:LONGEST] for text in texts}) < len(set(texts)):  # they begin alike
        letters = zip(*(text for text in texts if text), strict=False)
        shared = sum(1 for _ in takewhile(lambda same: len(set(same)) == 1, letters))
        texts = [f"…{text[shared:]}" if text and shared else text for text in texts]
    texts = [f"{text[: LONGEST - 1]}…" if len(text) > LONGEST else text for text in texts]
    if group == "task":
        return [text or "no task" for text in texts]
    if {"used", None} == set(values):
        return [name if value else f"no {name}" for value in values]
    return [
        f"no {name}" if value is None else f"{name}={text}"
        for value, text in zip(values, texts, strict=True)
    ]


def _moments(times: Sequence[str]) -> list[str]:
    """Times, no longer than it takes to tell them apart: days, or hours and minutes of one day."""
    try:
        read = [datetime.fromisoformat(time) for time in times]
    except ValueError:
        return list(times)
    one_day = len({time.date() for time in read}) == 1
    ways = ("%H:%M", "%H:%M:%S") if one_day else ("%Y-%m-%d", "%Y-%m-%d %H:%M")
    for way in ways:
        shown = [time.strftime(way) for time in read]
        if len(set(shown)) == len(times):
            return shown
    return list(times)


def _telling_folders(paths: Sequence[str]) -> list[tuple[str, ...]]:
    """The last folders of each path, as few of them as tell all the paths apart."""
    folders = folders_of(paths)
    deepest = max(map(len, folders))
    for depth in range(1, deepest):
        last = [own[-depth:] for own in folders]
        if len(set(last)) == len(last):
            return last
    return folders
