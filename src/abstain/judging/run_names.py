"""What runs are called: ids of the CLEF way (jucs1302enen) taken apart, and names told apart."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from abstain.errors import UsageError
from abstain.io.files import bare_name

if TYPE_CHECKING:
    from abstain.judging.responses import Responses

_CLEF = re.compile(
    r"(?P<team>\S*\w)(?P<year>\d{2})(?P<number>\d{2})(?P<source>[a-z]{2})(?P<target>[a-z]{2})"
    r"(?:[_-]\S+)?",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class RunName:
    """A run id taken apart."""

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
    folders = [Path(os.path.abspath(path)).parts[1:-1] for path in paths]
    deepest = max(map(len, folders))
    for depth in range(1, deepest):
        last = [own[-depth:] for own in folders]
        if len(set(last)) == len(last):
            return last
    return folders
