"""A season: the folder of a `season.toml` stands for a gold, runs and what is known of them.

A row of its ledger, which says what was received and what teams asked for, is never changed: the
state of a receipt follows from all rows and the settings.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property, reduce
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

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
NOT_RECEIVED = "in the table of runs, but not received"
TIME, NUMBER = "a time with its offset, such as 2013-05-10T23:59:00Z", "a whole number from 1 on"
EXPECTED = {
    "deadline": TIME,
    "late": "listed or refused",
    "counts": "latest or primary",
    "secret": 'a list of attributes, such as ["topic"]',
    "limits": "a table, such as { team = 2, day = 3 }",
    "limits.team": NUMBER,
    "limits.day": NUMBER,
    "hosting": "a table, such as { shown = true }",
    "hosting.opens": TIME,
    "hosting.image": "a text",
    "hosting.shown": "true or false",
    "reading": 'a table, such as { match = "id" }',
}
"""What is expected of a key; of the others a text."""
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
    late: Literal["listed", "refused"] = "listed"
    counts: Literal["latest", "primary"] = "latest"
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
        unknown = []
        for row in table.iter_rows(named=True):  # a run by its name here, or as it was sent
            run, every = row["run"], reversed(self.named.items())
            called = {r.team: n for n, r in every if run in (n, r.run, f"{r.team}/{r.run}")}
            one = called.popitem()[1] if len(called) == 1 else ""
            name = run if run in rows else called.get(row.get("team") or "", one)
            facts = {key: text for key, text in row.items() if text and text.strip()}
            rows.get(name, {}).update(facts | {"run": name})
            unknown += [] if name else [run]
        over = [(r.team, r.run) for r in self.receipts if r.state == OVER]
        lists = {OVER: ["/".join(one) for one in over], NOT_RECEIVED: unknown}
        remarks = [f"{what}: {some_of(sorted(runs))}" for what, runs in lists.items() if runs]
        frame = pl.DataFrame([*rows.values()], infer_schema_length=None)
        return RunsInfo("", frame, (*remarks,), (*over,))


def is_season(data: Any) -> bool:
    """Whether it names the folder of a season."""
    return isinstance(data, (str, os.PathLike)) and os.path.isfile(os.path.join(data, SETTINGS))


def gold_of(gold: Any, reading: Reading) -> tuple[Any, Reading]:
    """A gold and how to read it, where the folder of a season may stand for it."""
    if not is_season(gold):
        return gold, reading
    season = read_season(gold)
    return season.gold, season.reading_with(reading)


def read_season(folder: str | os.PathLike[str]) -> Season:
    """Open the folder of a season; whatever is wrong with its settings is named by its key."""
    if not isinstance(folder, (str, os.PathLike)) or os.path.isfile(folder):
        raise UsageError(f"name the gold and the runs, or a folder with a {SETTINGS}")
    path = Path(folder, SETTINGS)
    if not path.is_file():
        raise InputError(f"holds no {SETTINGS}, expected the folder of a season", str(folder))
    table: dict[str, Any] = {}
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        known = [field.encode_name for field in msgspec.structs.fields(Settings)]
        within = [key for key in EXPECTED if "." in key]
        tables = {part: keys for part, keys in table.items() if part in ("limits", "hosting")}
        parts = [f"{part}.{k}" for part, t in tables.items() if isinstance(t, dict) for k in t]
        for key in (*table, *parts):
            check_name("key", key, [*known, *within])
        s = msgspec.convert(table, Settings)
        if s.measure:
            from abstain.measures.registry import count_measure

            count_measure(s.measure)
        options = {name.replace("-", "_"): value for name, value in s.reading.items()}
        return Season(Path(folder), s, os.path.join(folder, s.gold), Reading.of(**options))
    except msgspec.ValidationError as error:
        raise InputError(_wrong(str(error), table), str(path)) from None
    except (ValueError, UsageError) as error:
        message = error.quoted() if isinstance(error, UsageError) else str(error)
        raise InputError(message, str(path)) from None


def _wrong(error: str, table: dict[str, Any]) -> str:
    """What is wrong with a value, by its key, and what was expected."""
    place = re.search(r"\$\.([\w.-]*\w)", error)
    if place is None:
        return 'has no gold, expected a line such as gold = "gold.csv"'
    key, value = place[1], reduce(dict.__getitem__, place[1].split("."), table)
    if key == "limits" and isinstance(value, dict):  # msgspec does not say which
        key, value = next(
            (f"limits.{k}", n) for k, n in value.items() if type(n) is not int or n < 1
        )
    text = f"'{value}'" if isinstance(value, str) else value
    return f"{key} is {text}, expected {EXPECTED.get(key, 'a text')}"


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
    replaces: int | None = None
    """The receipt of the version of its run that it superseded."""


class Request(Struct, frozen=True):
    """What a team asked for: a row of the ledger."""

    time: str
    request: str
    team: str
    run: str


def as_time(moment: datetime) -> str:
    """A moment as the ledger writes it: such texts sort by time."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@contextmanager
def open_ledger(folder: Path, *, read: bool = False) -> Iterator[sqlite3.Connection]:
    """One transaction on the ledger of a season, which is made where there is none.

    To `read` it needs no permission to write, unless rows still lie in the log beside it.
    """
    import sqlite3

    path, log = folder / LEDGER, folder / f"{LEDGER}-wal"
    archived = read and not os.access(folder, os.W_OK) and not (log.exists() and log.stat().st_size)
    uri = f"{path.absolute().as_uri()}?mode={'ro&immutable=1' if archived else 'rw'}"
    try:
        if not path.exists():  # whole at once: of several makers one is first
            with TemporaryDirectory(prefix=".", dir=folder) as room:
                with closing(sqlite3.connect(draft := Path(room, LEDGER))) as ledger:
                    ledger.executescript(Path(__file__).with_name("ledger.sql").read_text())
                with suppress(FileExistsError):
                    os.link(draft, path)
        with closing(sqlite3.connect(uri, PATIENCE, isolation_level=None, uri=True)) as ledger:
            (version,) = ledger.execute("PRAGMA user_version").fetchone()
            if version != VERSION:
                raise InputError(f"has version {version}, expected {VERSION}", str(path))
            # to close without a commit rolls back
            ledger.execute("BEGIN" if read else "BEGIN IMMEDIATE")
            yield ledger
            ledger.execute("COMMIT")
    except sqlite3.Error as error:
        raise InputError(f"cannot be used: {error}", str(path)) from None


def read_receipts(folder: Path, settings: Settings) -> list[Receipt]:
    """All receipts by time, each with its state; none where nothing was received yet."""
    if not (folder / LEDGER).exists():
        return []
    with open_ledger(folder, read=True) as ledger:
        rows = ledger.execute("SELECT * FROM receipts ORDER BY time, number").fetchall()
        asked = "SELECT time, request, team, run FROM requests ORDER BY time, number"
        requests = [Request(*row) for row in ledger.execute(asked)]
    plain = [dict(zip(Receipt.__struct_fields__, row, strict=False)) for row in rows]
    return with_states(msgspec.convert(plain, list[Receipt], strict=False), requests, settings)


def with_states(
    rows: Sequence[Receipt], requests: Sequence[Request], settings: Settings
) -> list[Receipt]:
    """Receipts in the order of time, each with its state and what its team has left.

    The latest version of a run counts, but a late one does not replace one that was in time. What
    is over a limit when it is received stays so.
    """
    end = settings.deadline and as_time(settings.deadline)
    most, per_day = (settings.limits.get(name) for name in ("team", "day"))
    primary = {q.team: q.run for q in requests if q.request == "primary"}
    states: dict[int, str] = {}
    replaces: dict[int, int] = {}
    versions: dict[tuple[str, str], list[int]] = defaultdict(list)
    runs: dict[str, set[str]] = defaultdict(set)
    today: Counter[tuple[str, str]] = Counter()
    events: list[Receipt | Request] = [*rows, *requests]
    for r in sorted(events, key=attrgetter("time")):  # at one time receipts come first
        earlier = versions[r.team, r.run]
        if isinstance(r, Request):
            if r.request == "withdraw":
                states |= dict.fromkeys(earlier, WITHDRAWN)
                runs[r.team].discard(r.run)
        elif not r.valid:
            states[r.number] = INVALID
        else:
            today[day := (r.team, r.time[:10])] += 1
            too_many = most and len(runs[r.team] | {r.run}) > most
            state = LATE if end and r.time > end else COUNTS
            if too_many or (per_day and today[day] > per_day):
                state = OVER
            else:
                runs[r.team].add(r.run)
                for before in (number for number in earlier if states[number] == state):
                    states[before], replaces[r.number] = SUPERSEDED, before
            states[r.number] = state
            earlier.append(r.number)
    for r in rows if settings.counts == "primary" else ():
        if states[r.number] == COUNTS and primary.get(r.team) != r.run:
            states[r.number] = NOT_PRIMARY
    return [
        replace(
            r,
            state=states[r.number],
            left=most and most - len(runs[r.team]),
            replaces=replaces.get(r.number),
        )
        for r in rows
    ]
