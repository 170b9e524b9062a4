"""A season: the folder of a `season.toml` stands for a gold, runs and what is known of them.

A row of its ledger, which says what was received and what teams asked for, is never changed: the
state of a receipt follows from all rows and the settings.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import polars as pl
from msgspec import Meta, Struct
from msgspec.structs import replace

from abstain.errors import InputError, UsageError, check_name, some_of
from abstain.io.files import Opened
from abstain.reading import PLAIN, Reading
from abstain.runs.responses import RunInput
from abstain.runs.run_names import LATE, OFFICIAL, UNOFFICIAL, WITHDRAWN, RunsInfo, read_info

if TYPE_CHECKING:
    import sqlite3

SETTINGS, SUBMISSIONS = "season.toml", "submissions"
LEDGER, VERSION = "ledger.sqlite", 1
PATIENCE = 120.0  # seconds to wait for other receivers
COUNTS, SUPERSEDED, NOT_PRIMARY = "counts", "superseded", "not primary"
INVALID, OVER = "invalid", "over the limit"
WORDS = {"late": ("listed", "refused"), "counts": ("latest", "primary")}
STATUS = {  # in a campaign, of the versions that stand
    COUNTS: OFFICIAL,
    NOT_PRIMARY: UNOFFICIAL,
    LATE: LATE,
    INVALID: UNOFFICIAL,  # if it is valid now, because the gold was mended
    WITHDRAWN: WITHDRAWN,
}
HANDED_IN = tuple(state for state in STATUS if state != WITHDRAWN)


class Hosting(Struct, frozen=True):
    """What a platform is told that hosts the task."""

    opens: Annotated[datetime, Meta(tz=True)] | None = None
    """When teams may begin to send runs."""
    image: str = "python:3.12"
    """The container image that scores: with abstain in it, or with pip and a network."""
    shown: bool = False
    """Whether teams see scores at once: from a few of them answers can be worked out."""


class Settings(Struct, frozen=True, kw_only=True, rename="kebab"):
    """What `season.toml` says."""

    gold: str
    title: str = ""
    deadline: Annotated[datetime, Meta(tz=True)] | None = None
    late: str = "listed"
    counts: str = "latest"
    measure: str = ""
    secret: tuple[str, ...] = ()
    corrections: str = ""
    runs_info: str = ""
    limits: dict[str, Annotated[int, Meta(ge=1)]] = {}
    """The most runs of a team, and the most valid receipts of a team per day (UTC)."""
    hosting: Hosting = Hosting()
    reading: dict[str, Any] = {}


class Season(Struct, frozen=True, dict=True):
    """A season that was opened."""

    folder: Path
    settings: Settings
    gold: str
    reading: Reading

    @property
    def options(self) -> dict[str, Any]:
        """What `season.toml` says of a campaign, as far as it does."""
        asked = {name: getattr(self.settings, name) for name in ("title", "measure", "secret")}
        return {name: value for name, value in asked.items() if value}

    def reading_with(self, asked: Reading, names: Sequence[str] | None = None) -> Reading:
        """How it is read, but for the fields that a caller set (by `names`, or to no default)."""
        if names is None:
            names = [n for n in asked.__struct_fields__ if getattr(asked, n) != getattr(PLAIN, n)]
        made, listed = self.reading, self.settings.corrections
        if listed:  # but submissions are checked without corrections
            path = os.path.join(self.folder, listed)
            made = replace(made, corrections=Reading.of(corrections=[path]).corrections)
        return replace(made, **{name: getattr(asked, name) for name in names})

    @cached_property
    def receipts(self) -> list[Receipt]:
        """All that was received so far, by time, each with its state."""
        return read_receipts(self.folder, self.settings)

    @cached_property
    def named(self) -> dict[str, Receipt]:
        """The versions of runs that stand, by unique names: with the team, if need be."""
        every = [r for r in self.receipts if r.state in STATUS]
        last = {(r.team, r.run, r.state): r for r in every}
        newest = {(r.team, r.run): r for r in every}
        states, named = [*STATUS], dict[str, Receipt]()
        for r in sorted(last.values(), key=lambda r: (states.index(r.state), r.number)):
            if r.state in (INVALID, WITHDRAWN) and newest[r.team, r.run] is not r:
                continue  # a later version stands in its place
            has_team = re.match(rf"{re.escape(r.team)}(?![a-z])", r.run, re.IGNORECASE)
            name = r.run if has_team else f"{r.team}/{r.run}"
            named[f"{name} ({r.state} {r.number})" if name in named else name] = r
        return named

    def runs(self, *states: str) -> list[RunInput]:
        """The runs of these states (default: those that count), their bytes as received."""
        runs = []
        for name, r in self.named.items():
            if r.state in (states or (COUNTS,)):
                path = self.folder / SUBMISSIONS / r.sha256
                if Opened(str(path), path).sha256() != r.sha256:
                    raise InputError(f"was changed after receipt {r.number}", str(path))
                runs.append(RunInput(Opened(f"#{r.number} {r.file}", path), name, team=r.team))
        if not runs:
            raise InputError("no run counts; `abstain receive --list` lists all", str(self.folder))
        return runs

    def info(self, source: Any = None) -> RunsInfo:
        """What the ledger and a table (default: that of `season.toml`) say of the runs.

        Where both say something, the table does: it is the word of the organiser.
        """
        rows: dict[str, dict[str, str]] = {
            name: {"run": name, "team": r.team, "status": STATUS[r.state]}
            for name, r in self.named.items()
        }
        listed = self.settings.runs_info and os.path.join(self.folder, self.settings.runs_info)
        table = read_info(source or listed or None).frame
        for row in table.iter_rows(named=True):
            rows.get(row["run"], {}).update((k, v) for k, v in row.items() if v and v.strip())
        over = [f"{r.team}/{r.run}" for r in self.receipts if r.state == OVER]
        lists = {OVER: over, "in the table of runs, but not received": {*table["run"]} - {*rows}}
        remarks = [f"{what}: {some_of(sorted(names))}" for what, names in lists.items() if names]
        return RunsInfo("", pl.DataFrame([*rows.values()], infer_schema_length=None), (*remarks,))


def is_season(data: Any) -> bool:
    """Whether it names the folder of a season."""
    return isinstance(data, (str, os.PathLike)) and os.path.isfile(os.path.join(data, SETTINGS))


def read_season(folder: str | os.PathLike[str]) -> Season:
    """Open the folder of a season; whatever is wrong with its settings is named by its key."""
    if not is_season(folder):
        raise UsageError(f"name the gold and the runs, or a folder with a {SETTINGS}")
    path = Path(folder, SETTINGS)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        s = msgspec.convert(table, Settings)
        known = [field.encode_name for field in msgspec.structs.fields(Settings)]
        parts = [f"{part}.{name}" for part in ("limits", "hosting") for name in table.get(part, ())]
        within = ["limits.team", "limits.day", "hosting.opens", "hosting.image", "hosting.shown"]
        for key in (*table, *parts):
            check_name("key", key, [*known, *within])
        for key, words in WORDS.items():
            check_name(f"value of {key}", getattr(s, key), words)
        options = {name.replace("-", "_"): value for name, value in s.reading.items()}
        return Season(Path(folder), s, os.path.join(folder, s.gold), Reading.of(**options))
    except (ValueError, msgspec.ValidationError, UsageError) as error:
        message = error.quoted() if isinstance(error, UsageError) else str(error).replace("$.", "")
        raise InputError(message, str(path)) from None


class Receipt(Struct, frozen=True, kw_only=True):
    """A file of one run as it was received: a row of the ledger, then what became of it."""

    number: int
    time: str
    """UTC, to the millisecond."""
    entered: str
    """The time on the clock, where somebody entered another one."""
    team: str
    run: str
    file: str
    sha256: str
    bytes: int
    valid: bool
    found: str
    """What validation found, a line each."""
    state: str = ""
    left: int | None = None
    """How many more runs the team may have; None: there is no limit."""


def as_time(moment: datetime) -> str:
    """A moment as the ledger writes it: such texts sort by time."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@contextmanager
def open_ledger(folder: Path) -> Iterator[sqlite3.Connection]:
    """One transaction on the ledger of a season, which is made where there is none."""
    import sqlite3

    path = folder / LEDGER
    try:
        if not path.exists():  # whole at once: of several makers one is first
            with TemporaryDirectory(prefix=".", dir=folder) as room:
                with closing(sqlite3.connect(draft := Path(room, LEDGER))) as ledger:
                    ledger.executescript(Path(__file__).with_name("ledger.sql").read_text())
                with suppress(FileExistsError):
                    os.link(draft, path)
        with closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as ledger:
            (version,) = ledger.execute("PRAGMA user_version").fetchone()
            if version != VERSION:
                raise InputError(f"has version {version}, expected {VERSION}", str(path))
            ledger.execute("BEGIN IMMEDIATE")  # to close without a commit rolls back
            yield ledger
            ledger.execute("COMMIT")
    except sqlite3.Error as error:
        raise InputError(f"cannot be used: {error}", str(path)) from None


def read_receipts(folder: Path, settings: Settings) -> list[Receipt]:
    """All receipts by time, each with its state; none where nothing was received yet."""
    if not (folder / LEDGER).exists():
        return []
    with open_ledger(folder) as ledger:
        rows = ledger.execute("SELECT * FROM receipts ORDER BY time, number").fetchall()
        asked = "SELECT request, team, run, time FROM requests ORDER BY time, number"
        requests = {(what, team, run): time for what, team, run, time in ledger.execute(asked)}
    plain = [dict(zip(Receipt.__struct_fields__, row, strict=False)) for row in rows]
    return with_states(msgspec.convert(plain, list[Receipt], strict=False), requests, settings)


def with_states(
    rows: Sequence[Receipt], requests: Mapping[tuple[str, str, str], str], settings: Settings
) -> list[Receipt]:
    """Receipts in the order of time, each with its state and what its team has left.

    `requests` is what teams asked for (request, team, run), each with its time. The latest version
    of a run counts, but a late one does not replace one that was in time.
    """
    end = settings.deadline and as_time(settings.deadline)
    most, per_day = (settings.limits.get(name) for name in ("team", "day"))
    in_order = sorted(requests, key=lambda request: requests[request])
    primary = {team: run for what, team, run in in_order if what == "primary"}
    states: dict[int, str] = {}
    latest: dict[tuple[str, str, str], int] = {}
    runs: dict[str, set[str]] = defaultdict(set)
    today: Counter[tuple[str, str]] = Counter()
    for r in rows:
        today[day := (r.team, r.time[:10])] += r.valid
        state = LATE if end and r.time > end else COUNTS
        if not r.valid:
            state = INVALID
        elif r.time <= requests.get(("withdraw", r.team, r.run), ""):
            state = WITHDRAWN
        elif (per_day and today[day] > per_day) or (most and len(runs[r.team] | {r.run}) > most):
            state = OVER
        else:
            if before := latest.get((r.team, r.run, state)):
                states[before] = SUPERSEDED
            latest[r.team, r.run, state] = r.number
            runs[r.team].add(r.run)
            if state == COUNTS and settings.counts == "primary" and primary.get(r.team) != r.run:
                state = NOT_PRIMARY
        states[r.number] = state
    left = {team: most and most - len(names) for team, names in runs.items()}
    return [replace(r, state=states[r.number], left=left.get(r.team, most)) for r in rows]
