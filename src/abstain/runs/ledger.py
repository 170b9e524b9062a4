"""The ledger of a season: what was received and what teams asked for.

A row is never changed: the state of a receipt follows from all rows and the settings of the season.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from msgspec import Struct, convert
from msgspec.structs import replace

from abstain.errors import InputError

if TYPE_CHECKING:
    import sqlite3

    from abstain.runs.season import Settings

LEDGER, VERSION = "ledger.sqlite", 1
PATIENCE = 120.0  # seconds to wait for other receivers
COUNTS, SUPERSEDED, LATE, INVALID = "counts", "superseded", "late", "invalid"
OVER, WITHDRAWN, NOT_PRIMARY = "over the limit", "withdrawn", "not primary"


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
                    ledger.executescript(Path(__file__).with_suffix(".sql").read_text())
                with suppress(FileExistsError):
                    os.link(draft, path)
        with closing(sqlite3.connect(uri, PATIENCE, isolation_level=None, uri=True)) as ledger:
            (version,) = ledger.execute("PRAGMA user_version").fetchone()
            if version != VERSION:
                raise InputError(f"has version {version}, expected {VERSION}", str(path))
            ledger.execute(
                "BEGIN" if read else "BEGIN IMMEDIATE"
            )  # to close without a commit rolls back
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
    return with_states(convert(plain, list[Receipt], strict=False), requests, settings)


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
            continue
        today[day := (r.team, r.time[:10])] += r.valid
        state = LATE if end and r.time > end else COUNTS
        if not r.valid:
            state = INVALID
        elif (per_day and today[day] > per_day) or (most and len(runs[r.team] | {r.run}) > most):
            state = OVER
        else:
            for before in (number for number in earlier if states[number] == state):
                states[before], replaces[r.number] = SUPERSEDED, before
            runs[r.team].add(r.run)
        if r.valid:
            earlier.append(r.number)
        states[r.number] = state
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
