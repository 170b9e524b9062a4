"""A season: a folder with a `season.toml`, what teams sent in, and the ledger of it.

It stands for a gold, runs and what is known of the runs, wherever those are read.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from abstain.errors import OPTION_NAMES, InputError, UsageError, check_name
from abstain.reading import Reading
from abstain.runs.ledger import Receipt, Rules, as_time, read_ledger

SETTINGS = "season.toml"
SUBMISSIONS = "submissions"

Count = Annotated[int, Meta(ge=1)]


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """How much a team may send."""

    team: Count | None = None
    """Its runs: those that count, and late ones."""
    day: Count | None = None
    """Its valid receipts per day (UTC)."""


class Hosting(Struct, frozen=True, forbid_unknown_fields=True):
    """What a platform is told that hosts the task."""

    opens: Annotated[datetime, Meta(tz=True)] | None = None
    """When teams may begin to send runs."""
    image: str = "python:3.12"
    """The container image that scores: with abstain in it, or with pip and a network."""


class Settings(Struct, frozen=True, kw_only=True, rename="kebab"):
    """What `season.toml` says."""

    gold: str
    title: str = ""
    deadline: Annotated[datetime, Meta(tz=True)] | None = None
    late: Literal["listed", "refused"] = "listed"
    """Whether a late run is received: it is scored and listed, but not ranked."""
    counts: Literal["latest", "primary"] = "latest"
    """Which runs of a team are ranked: the latest version of each, or its primary run alone."""
    measure: str = ""
    secret: tuple[str, ...] = ()
    """Attributes whose slices stay hidden in a blind phase."""
    corrections: str | None = None
    runs_info: str | None = None
    limits: Limits = Limits()
    hosting: Hosting = Hosting()
    reading: dict[str, Any] = {}


WORDS = {"late": ("listed", "refused"), "counts": ("latest", "primary")}


class Season(Struct, frozen=True):
    """A season that was opened."""

    folder: Path
    settings: Settings
    reading: Reading
    """How its gold and runs are read."""

    def path(self, name: str) -> str:
        """A file that `season.toml` names, from its folder."""
        return os.fspath(self.folder / name)

    @property
    def gold(self) -> str:
        return self.path(self.settings.gold)

    @property
    def rules(self) -> Rules:
        s = self.settings
        deadline = "" if s.deadline is None else as_time(s.deadline)
        primary = s.counts == "primary"
        limits = s.limits
        return Rules(deadline=deadline, runs=limits.team, per_day=limits.day, primary=primary)

    def receipts(self) -> list[Receipt]:
        """All that was received, by time, each with its state."""
        return read_ledger(self.folder, self.rules)


def is_season(data: Any) -> bool:
    """Whether it names the folder of a season."""
    return isinstance(data, (str, os.PathLike)) and os.path.isfile(os.path.join(data, SETTINGS))


def read_season(folder: str | os.PathLike[str]) -> Season:
    """Open the folder of a season; whatever is wrong with its settings is named by its key."""
    path = Path(folder) / SETTINGS
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"holds no {SETTINGS}, expected the folder of a season", str(folder)
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is not TOML: {error}", str(path)) from None
    try:
        return Season(Path(folder), _settings(table), _reading(table.get("reading", {})))
    except msgspec.ValidationError as error:
        message, _, key = str(error).partition(" - at `$.")
        raise InputError(
            f"{key.rstrip('`')}: {message[:1].lower()}{message[1:]}", str(path)
        ) from None
    except UsageError as error:
        raise InputError(error.quoted(), str(path)) from None


def _settings(table: Mapping[str, Any]) -> Settings:
    _check_keys("key", table, Settings)
    for name, kind in (("limits", Limits), ("hosting", Hosting)):
        if isinstance(table.get(name), dict):
            _check_keys(f"key in [{name}]", table[name], kind)
    for key, words in WORDS.items():
        if isinstance(table.get(key), str):
            check_name(f"value of {key}", table[key], words)
    if "gold" not in table:
        raise UsageError('names no gold: gold = "gold.xml"')
    deadline = table.get("deadline")
    if deadline is not None and getattr(deadline, "tzinfo", None) is None:
        example = "2013-05-10T23:59:00Z"
        raise UsageError(f"deadline: expected a date with its time and offset, such as {example}")
    return msgspec.convert(table, Settings)


def _check_keys(what: str, table: Collection[str], kind: type[Struct]) -> None:
    known = [field.encode_name for field in msgspec.structs.fields(kind)]
    for key in table:
        check_name(what, key, known)


def _reading(table: Any) -> Reading:
    """The options of reading, by their names in Python or on the command line."""
    if not isinstance(table, dict):
        return Reading()
    fields = {option: field for field, option in OPTION_NAMES.items()}
    options = {fields.get(key, key.replace("-", "_")): value for key, value in table.items()}
    for name in options:
        check_name("key in [reading]", name, Reading.__struct_fields__)
    return Reading.of(**options)
