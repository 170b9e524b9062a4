"""What a run's id tells, where it follows the CLEF way: jucs1302enen."""

from __future__ import annotations

import re
from dataclasses import dataclass

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
