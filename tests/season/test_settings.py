"""`season.toml`: what it says, and what is refused by its key."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import abstain as ab
from abstain.reading import Reading
from abstain.runs.season import read_season
from tests.season.conftest import Organiser
from tests.snapshots import refuses, says


def test_all_keys_are_read(tmp_path: Path) -> None:
    (tmp_path / "season.toml").write_text(
        """
        title = "Reading for answers"
        gold = "gold.xml"
        deadline = 2013-05-11T01:59:00+02:00
        late = "refused"
        counts = "primary"
        measure = "F"
        secret = ["topic"]
        runs-info = "runs.csv"

        [limits]
        team = 10
        day = 3

        [reading]
        match = "text"
        detect-refusals = "en"
        columns = { question = "id" }
        """
    )
    season = read_season(tmp_path)
    s = season.settings
    assert season.gold == str(tmp_path / "gold.xml")
    assert s.deadline is not None
    assert s.deadline.astimezone(UTC) == datetime(2013, 5, 10, 23, 59, tzinfo=UTC)
    assert (s.late, s.counts, s.runs_info) == ("refused", "primary", "runs.csv")
    assert s.limits == {"team": 10, "day": 3}
    assert season.options == {
        "title": "Reading for answers",
        "measure": "F",
        "secret": ("topic",),
    }
    assert season.reading == Reading.of(
        match="text", detect_refusals="en", columns={"question": "id"}
    )


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("deadlin = 2013-05-10T23:59:00Z", "nearest: deadline"),
        ("deadline = 2013-05-10", "deadline"),
        ("deadline = 2013-05-10T23:59:00", "deadline"),
        ('late = "refuse"', "late is 'refuse', expected listed or refused"),
        ('counts = "best"', "latest or primary"),
        ("limits = 3", "limits"),
        ("limits = { team = 0 }", "limits.team is 0, expected a whole number from 1 on"),
        ("hosting = { opens = 2013-05-01 }", "hosting.opens is 2013-05-01, expected a time"),
        ('measure = "c@11"', "nearest: c@1"),
        ("title = 3", "title is 3, expected a text"),
        ("limits = { teams = 3 }", "nearest: limits.team"),
        ('secret = "topic"', "secret"),
        ('reading = { math = "id" }', "nearest: match"),
        ('reading = { align = "idd" }', "align"),
        ("title = ", "line 2"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, line: str, part: str) -> None:
    (tmp_path / "season.toml").write_text(f'gold = "gold.csv"\n{line}\n')
    with refuses(ab.InputError, "season.toml", part):
        read_season(tmp_path)


def test_a_byte_order_mark_is_no_part_of_a_key(tmp_path: Path) -> None:
    (tmp_path / "season.toml").write_text('\ufeffgold = "gold.csv"\n')
    assert read_season(tmp_path).settings.gold == "gold.csv"


def test_a_season_names_its_gold(tmp_path: Path) -> None:
    (tmp_path / "season.toml").write_text('title = "x"\n')
    with refuses(ab.InputError, "season.toml", "gold"):
        read_season(tmp_path)


def test_what_is_no_season_is_refused(organiser: Organiser) -> None:
    for folder in (".", "nowhere"):
        with refuses(ab.InputError, f"{folder}: holds no season.toml"):
            ab.receive("a.csv", team="amber", into=folder)
    with refuses(ab.UsageError, "season.toml"):
        ab.read("season/gold.csv")
    says(organiser.here.refuses("score", "season", "season/gold.csv"), "season")


def test_options_on_the_command_line_win(organiser: Organiser) -> None:
    """A default too, if it is typed."""
    organiser.settings('reading = { match = "text", policy = { missing = "wrong" } }')
    organiser.write("amber1.csv")
    organiser("amber1.csv")
    for words, match in (((), "text"), (("--match", "id"), None), (("--match", "squad"), "squad")):
        reading = organiser.here("score", "season", *words, "-f", "json").data["reading"]
        assert reading.get("match") == match
        assert reading["policy"] == {"missing": "wrong"}
    assert ab.read("season").reading.match == "text"
    assert ab.read("season", match="squad").reading.match == "squad"
