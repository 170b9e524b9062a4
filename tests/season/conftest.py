"""A season's folder with a gold, and runs to send."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from abstain.runs.season import Receipt
from tests.campaign.season import Season as Made
from tests.helpers import Here, Said

EARLY, DEADLINE, LATE = "2013-05-09T12:00Z", "2013-05-10T23:59:00Z", "2013-05-11T00:00Z"


@dataclass
class Organiser:
    """Who keeps the season `season/`, from the folder beside it."""

    here: Here
    made: Made = field(default_factory=lambda: Made(1, 24))

    def __post_init__(self) -> None:
        self.here.write("season/gold.csv", self.made.gold())
        self.settings()

    def settings(self, *lines: str) -> None:
        self.here.write("season/season.toml", "\n".join(['gold = "gold.csv"', *lines]) + "\n")

    def write(self, name: str, chance: float = 0.5) -> Path:
        """A run in a file."""
        return self.here.write(name, self.made.run(chance))

    def __call__(self, *words: str | Path, team: str = "amber", at: str = EARLY) -> Said:
        """`abstain receive` by this team, at this time."""
        return self.here("receive", *words, "--team", team, "--at", at, "--into", "season")

    def receipts(self, **asked: Any) -> list[Receipt]:
        from abstain import receive

        return receive(into="season", **asked)

    def states(self) -> list[str]:
        return [r.state for r in self.receipts()]


@pytest.fixture
def organiser(here: Here) -> Organiser:
    return Organiser(here)
