"""The ledger of a season: what was received and what teams asked for, in the order of its time.

A row is never changed. The state of a receipt follows from all rows and the rules of the season.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from abstain.errors import InputError

if TYPE_CHECKING:
    import sqlite3

LEDGER = "ledger.sqlite"
VERSION = 1
SCHEMA = f"""
PRAGMA journal_mode = WAL;
PRAGMA user_version = {VERSION};
CREATE TABLE receipts (
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,     -- UTC, 2013-05-09T12:00:00.000Z
    entered TEXT NOT NULL,  -- the time on the clock, where somebody entered another one; or empty
    team TEXT NOT NULL,
    run TEXT NOT NULL,
    file TEXT NOT NULL,     -- its name as it was sent
    sha256 TEXT NOT NULL,   -- its name in submissions/
    bytes INTEGER NOT NULL,
    valid INTEGER NOT NULL,
    found TEXT NOT NULL     -- what validation found: a JSON list of lines
);
CREATE TABLE requests (
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    entered TEXT NOT NULL,
    team TEXT NOT NULL,
    run TEXT NOT NULL,
    request TEXT NOT NULL CHECK (request IN ('withdraw', 'primary'))
);
"""
PATIENCE = 120.0
"""Seconds to wait for other receivers."""

COUNTS, SUPERSEDED, LATE, INVALID = "counts", "superseded", "late", "invalid"
OVER, WITHDRAWN, NOT_PRIMARY = "over the limit", "withdrawn", "not primary"
Request: TypeAlias = Literal["withdraw", "primary"]


class Receipt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One file of one run, as it was received."""

    number: int
    time: str
    """UTC, to the millisecond."""
    team: str
    run: str
    file: str
    """Its name as it was sent."""
    sha256: str
    bytes: int
    valid: bool
    found: tuple[str, ...] = ()
    """What validation found."""
    entered: str = ""
    """The time on the clock, where somebody entered the time by hand."""
    state: str = ""
    """What became of it: counts, superseded, late, over the limit, withdrawn, invalid, or not
    primary where each team names a primary run."""
    left: int | None = None
    """How many more runs the team may have; None: there is no limit."""

    @property
    def day(self) -> str:
        return self.time[:10]


class Rules(Struct, frozen=True, kw_only=True):
    """What the state of receipts depends on besides the ledger."""

    deadline: str = ""
    """As times in the ledger; empty: there is none."""
    runs: int | None = None
    """The most runs of a team."""
    per_day: int | None = None
    """The most valid receipts of a team per day (UTC)."""
    primary: bool = False
    """Whether only a team's primary run counts."""


def as_time(moment: datetime) -> str:
    """A moment as the ledger writes it; such texts sort by time.

    >>> as_time(datetime(2013, 5, 9, 12, 0, tzinfo=UTC))
    '2013-05-09T12:00:00.000Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@contextmanager
def opened_ledger(folder: Path) -> Iterator[sqlite3.Connection]:
    """The ledger of a season; what SQLite refuses is one line."""
    import sqlite3

    path = folder / LEDGER
    try:
        with closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as ledger:
            (version,) = ledger.execute("PRAGMA user_version").fetchone()
            if version != VERSION:
                what = f"has version {version}, expected the ledger of a season, version {VERSION}"
                raise InputError(what, str(path))
            yield ledger
    except sqlite3.Error as error:
        raise InputError(f"cannot be used: {error}", str(path)) from None


def read_ledger(folder: Path, rules: Rules) -> list[Receipt]:
    """All receipts, each with its state; none where nothing was received yet."""
    if not (folder / LEDGER).exists():
        return []
    with opened_ledger(folder) as ledger:
        return receipts_in(ledger, rules)


def receipts_in(ledger: sqlite3.Connection, rules: Rules) -> list[Receipt]:
    """The receipts of an open ledger, by time."""
    rows = ledger.execute(f"SELECT {', '.join(COLUMNS)} FROM receipts ORDER BY time, number")
    receipts = [_receipt(row) for row in rows]
    asked = ledger.execute("SELECT team, run, request, time FROM requests ORDER BY time, number")
    return with_states(receipts, asked.fetchall(), rules)


COLUMNS = tuple(name for name in Receipt.__struct_fields__ if name not in ("state", "left"))
"""The columns of receipts, as the fields are called."""


def _receipt(row: Sequence[Any]) -> Receipt:
    values = dict(zip(COLUMNS, row, strict=True))
    found = tuple(json.loads(values["found"]))
    return Receipt(**values | {"found": found, "valid": bool(values["valid"])})


def with_states(
    receipts: Sequence[Receipt], requests: Sequence[tuple[str, str, str, str]], rules: Rules
) -> list[Receipt]:
    """Receipts in the order of time, each with its state and what its team has left.

    The latest version of a run counts, but a late one does not replace one that was in time.
    """
    withdrawn = {(team, run): time for team, run, what, time in requests if what == "withdraw"}
    primary = {team: run for team, run, what, _ in requests if what == "primary"}
    states: dict[int, str] = {}
    latest: dict[tuple[str, str, bool], Receipt] = {}
    runs: dict[str, set[str]] = defaultdict(set)
    today: Counter[tuple[str, str]] = Counter()
    for receipt in receipts:
        team, run = receipt.team, receipt.run
        today[team, receipt.day] += receipt.valid
        if not receipt.valid:
            state = INVALID
        elif receipt.time <= withdrawn.get((team, run), ""):
            state = WITHDRAWN
        elif today[team, receipt.day] > (rules.per_day or len(receipts)) or (
            run not in runs[team] and len(runs[team]) >= (rules.runs or len(receipts))
        ):
            state = OVER
        else:
            runs[team].add(run)
            late = bool(rules.deadline) and receipt.time > rules.deadline
            if before := latest.get((team, run, late)):
                states[before.number] = SUPERSEDED
            latest[team, run, late] = receipt
            state = LATE if late else COUNTS
        states[receipt.number] = state
    if rules.primary:
        counting = [r for r in latest.values() if states[r.number] == COUNTS]
        alone = Counter(r.team for r in counting)
        for r in counting:
            if primary.get(r.team, r.run if alone[r.team] == 1 else None) != r.run:
                states[r.number] = NOT_PRIMARY
    return [
        replace(
            r,
            state=states[r.number],
            left=None if rules.runs is None else rules.runs - len(runs[r.team]),
        )
        for r in receipts
    ]
