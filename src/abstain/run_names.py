"""Run ids of the CLEF campaigns, taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RUN = re.compile(
    r"^(?P<team>[a-z]{2,8})(?P<year>\d\d)(?P<number>\d\d)(?P<source>[a-z]{2})(?P<target>[a-z]{2})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class RunName:
    """A run id such as jucs1302enen: team, year, number, source and target language."""

    team: str
    year: int
    number: str
    source: str
    target: str


def parse_run_name(name: str) -> RunName | None:
    """Take a run id apart; None where it does not fit."""
    match = _RUN.match(name)
    if match is None:
        return None
    return RunName(
        match["team"], 2000 + int(match["year"]), match["number"], match["source"], match["target"]
    )
