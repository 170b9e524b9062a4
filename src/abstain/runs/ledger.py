"""The ledger of a season: what was received and what teams asked for.

A row is never changed: the state of a receipt follows from all rows and the settings of the season.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
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
                    ledger.executescript(Path(__file__).with_suffix(".sql").read_text())
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
    return with_states(convert(plain, list[Receipt], strict=False), requests, settings)


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
