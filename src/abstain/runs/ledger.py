"""The ledger of a season: what was received and what teams asked for.

A row is never changed: the state of a receipt follows from all rows and the settings of the season.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from msgspec import Struct, convert
from msgspec.structs import replace

from abstain.errors import InputError, shown
from abstain.io.files import write_errors

if TYPE_CHECKING:
    import sqlite3

    from abstain.runs.season import Settings

LEDGER, VERSION = "ledger.sqlite", 1
PATIENCE = 120.0
"""Seconds to wait for other receivers."""

COUNTS, SUPERSEDED, LATE, INVALID = "counts", "superseded", "late", "invalid"
OVER, WITHDRAWN, NOT_PRIMARY = "over the limit", "withdrawn", "not primary"


class Receipt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file of one run, as it was received."""

    number: int
    time: str
    """UTC, to the millisecond."""
    entered: str = ""
    """The time on the clock, where somebody entered another one."""
    team: str
    run: str
    file: str
    sha256: str
    bytes: int
    valid: bool
    found: str = ""
    """What validation found, a line each."""
    state: str = ""
    left: int | None = None
    """How many more runs the team may have; None: there is no limit."""

    @property
    def hash(self) -> str:
        return f"{self.sha256[:8]}…"


COLUMNS = [name for name in Receipt.__struct_fields__ if name not in ("state", "left")]


def as_time(moment: datetime) -> str:
    """A moment as the ledger writes it: such texts sort by time."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@contextmanager
def open_ledger(folder: Path) -> Iterator[sqlite3.Connection]:
    """One transaction on the ledger of a season, which is made where there is none."""
    import sqlite3

    path = folder / LEDGER
    try:
        if not path.exists():
            _make(path)
        with closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as ledger:
            (version,) = ledger.execute("PRAGMA user_version").fetchone()
            if version != VERSION:
                raise InputError(f"has version {version}, expected {VERSION}", str(path))
            ledger.execute("BEGIN IMMEDIATE")  # to close without a commit rolls back
            yield ledger
            ledger.execute("COMMIT")
    except sqlite3.Error as error:
        raise InputError(f"cannot be used: {error}", str(path)) from None


def _make(path: Path) -> None:
    """Make an empty ledger, whole at once: of several makers one is first."""
    import sqlite3

    with write_errors(str(path)), TemporaryDirectory(prefix=".", dir=path.parent) as room:
        draft = Path(room, LEDGER)
        with closing(sqlite3.connect(draft)) as ledger:
            ledger.executescript(Path(__file__).with_suffix(".sql").read_text())
        with suppress(FileExistsError):
            os.link(draft, path)


def read_receipts(folder: Path, settings: Settings) -> list[Receipt]:
    """All receipts by time, each with its state; none where nothing was received yet."""
    if not (folder / LEDGER).exists():
        return []
    with open_ledger(folder) as ledger:
        columns = ", ".join(COLUMNS)
        rows = ledger.execute(f"SELECT {columns} FROM receipts ORDER BY time, number").fetchall()
        requests = "SELECT team, run, request, time FROM requests ORDER BY time, number"
        asked = ledger.execute(requests).fetchall()
    plain = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    return with_states(convert(plain, list[Receipt], strict=False), asked, settings)


def with_states(
    receipts: Sequence[Receipt], requests: Sequence[tuple[str, str, str, str]], settings: Settings
) -> list[Receipt]:
    """Receipts in the order of time, each with its state and what its team has left.

    The latest version of a run counts, but a late one does not replace one that was in time.
    """
    limits, end = settings.limits, settings.deadline and as_time(settings.deadline)
    most, per_day = limits.team or len(receipts), limits.day or len(receipts)
    withdrawn = {(team, run): time for team, run, what, time in requests if what == "withdraw"}
    primary = {team: run for team, run, what, _ in requests if what == "primary"}
    states: dict[int, str] = {}
    latest: dict[tuple[str, str, str], Receipt] = {}
    runs: dict[str, set[str]] = defaultdict(set)
    today: Counter[tuple[str, str]] = Counter()
    for r in receipts:
        today[day := (r.team, r.time[:10])] += r.valid
        if not r.valid:
            states[r.number] = INVALID
        elif r.time <= withdrawn.get((r.team, r.run), ""):
            states[r.number] = WITHDRAWN
        elif today[day] > per_day or len(runs[r.team] | {r.run}) > most:
            states[r.number] = OVER
        else:
            runs[r.team].add(r.run)
            state = LATE if end and r.time > end else COUNTS
            if before := latest.get((r.team, r.run, state)):
                states[before.number] = SUPERSEDED
            latest[r.team, r.run, state] = r
            states[r.number] = state
    if settings.counts == "primary":
        counting = [r for (*_, state), r in latest.items() if state == COUNTS]
        several = {team for team, n in Counter(r.team for r in counting).items() if n > 1}
        for r in counting:
            named = primary.get(r.team, "" if r.team in several else r.run)
            states[r.number] = COUNTS if r.run == named else NOT_PRIMARY
    left = {team: limits.team and limits.team - len(names) for team, names in runs.items()}
    whole = limits.team
    return [replace(r, state=states[r.number], left=left.get(r.team, whole)) for r in receipts]


def lost(receipts: Sequence[Receipt]) -> Iterator[str]:
    """Notes on teams that sent something of which nothing counts."""
    for team in sorted({r.team for r in receipts}):
        states = Counter(r.state for r in receipts if r.team == team)
        if COUNTS not in states:
            how = ", ".join(f"{n} {state}" for state, n in states.items())
            yield f"no run of team {shown(team)} counts (receipts: {how})"
