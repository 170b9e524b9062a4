"""`receive`: keep a submission once, as it was sent, and give a receipt for it.

First the file takes its place, then its row, each whole: a receiver that is killed leaves a true
receipt or none.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from abstain.errors import AbstainError, InputError, UsageError, check_name, option, shown
from abstain.features.season.result import ReceiveResult
from abstain.features.validate.analysis import examine, result_of
from abstain.io.files import Opened, bare_name, failures, is_bundle, open_file, write_errors
from abstain.io.submissions import runs_in
from abstain.runs import read_golds
from abstain.runs.ledger import as_time, lost, open_ledger
from abstain.runs.responses import RunInput, read_responses
from abstain.runs.run_names import runs_of, team_spellings
from abstain.runs.season import SUBMISSIONS, Season, read_season

MOST_LINES = 50
"""Lines of what validation found that a receipt keeps."""


def receive(
    files: Any = (),
    *,
    into: str | os.PathLike[str],
    team: str = "",
    withdraw: str | None = None,
    primary: str | None = None,
    at: str | datetime | None = None,
    again: bool = False,
) -> ReceiveResult:
    """Keep submissions of a team in the folder of a season; without files list its receipts.

    A folder or a zip archive stands for the runs in it. `withdraw` and `primary` name a run that
    the team takes back, or puts first. `at` is the time of arrival where that was not now; `again`
    receives anew what was received before.
    """
    season, team = read_season(into), team.strip()
    paths = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    requests = {name: run for name, run in (("withdraw", withdraw), ("primary", primary)) if run}
    if (paths or requests) and not team:
        raise UsageError(f"say whose it is: {option('team', 'NAME')}")
    row = _times(at) | {"team": team}
    numbers = [
        n for name, run in requests.items() for n in _asked(season, name, row | {"run": run})
    ]
    if paths:
        end = season.settings.deadline and as_time(season.settings.deadline)
        if end and row["time"] > end and season.settings.late == "refused":
            raise InputError(f"late runs are refused: the deadline was {end}", str(into))
        read_golds(season.gold, season.reading, answers=False)  # first: nothing is kept if it fails
    before = []
    for opened, name in [each for path in paths for each in _sent(path, season)]:
        number, is_new = _entered(season, row | _kept(season, opened, name), again=again)
        numbers.append(number)
        before += [] if is_new else [number]
    listed = not (paths or requests)
    every = [r for r in season.receipts() if r.team == team or (listed and not team)]
    chosen = tuple(r for r in every if listed or r.number in numbers)
    notes = (*lost(every), *team_spellings(r.team for r in every))
    return ReceiveResult(receipts=chosen, again=tuple(before), notes=notes)


def _times(at: str | datetime | None) -> dict[str, Any]:
    """When it arrived; and the time on the clock, where somebody says another one."""
    now = datetime.now(UTC)
    try:
        time = datetime.fromisoformat(at) if isinstance(at, str) else at or now
    except ValueError:
        time = None
    if time is None or time.tzinfo is None or time > now:
        expected = "expected a past time with its offset, such as 2013-05-09T12:00Z"
        raise UsageError(f"{option('at')} is {shown(str(at))}, {expected}")
    return {"time": as_time(time), "entered": as_time(now) if at else ""}


def _sent(path: str | os.PathLike[str], season: Season) -> Iterator[tuple[Opened, str]]:
    """The files that a path stands for, each with its name as it was sent.

    What cannot be read of an archive is kept with the whole archive.
    """
    name = os.fspath(path).rstrip(os.sep) or os.sep
    try:
        files = runs_in(name, season.reading.format) if is_bundle(name) else [name]
    except InputError:
        if os.path.isdir(name):
            raise
        files = [name]
    for file in files:
        opened = file if isinstance(file, Opened) else open_file(file)
        sent = opened.name.removeprefix(os.path.join(os.path.dirname(name), ""))
        if opened.broken:
            places = (Path(opened.name), *Path(opened.name).parents)
            whole = next(place for place in places if place.is_file())
            opened = Opened(opened.name, whole, broken=opened.broken)
        yield opened, sent.encode(errors="replace").decode()


def _kept(season: Season, opened: Opened, name: str) -> dict[str, Any]:
    """What a receipt says of a file, after its bytes took their place."""
    folder = season.folder / SUBMISSIONS
    with write_errors(str(folder)):
        folder.mkdir(exist_ok=True)
        with TemporaryDirectory(prefix=".", dir=folder) as room:
            draft = Path(room, "draft")
            with draft.open("xb") as out, opened.raw() as source:
                shutil.copyfileobj(source, out)
                out.flush()
                os.fsync(out.fileno())
            sha256, size = Opened(name, draft).sha256(), draft.stat().st_size
            draft.chmod(0o444)
            draft.replace(folder / sha256)
    kept = Opened(name, folder / sha256, broken=opened.broken)
    run, valid = bare_name(name), False
    refused: Any = (AbstainError, *failures())
    try:
        names = runs_of(read_responses(kept, season.reading))
        run = names[0] if len(names) == 1 else run
        runs = [RunInput(kept, run)]
        result = result_of(examine(season.gold, runs, season.reading, answers=False), None)
        allowed = ("missing question",) if "missing" in season.reading.policy else ()
        valid = all(problem.kind in allowed for problem in result.problems)
        found = [str(problem) for problem in (*result.problems, *result.warnings)]
    except refused as error:
        found = [str(error)]
    if len(found) > MOST_LINES:
        found[MOST_LINES:] = [f"and {len(found) - MOST_LINES:,} more"]
    facts = {"run": run, "file": name, "sha256": sha256, "bytes": size}
    return facts | {"valid": valid, "found": "\n".join(found)}


def _entered(season: Season, row: dict[str, Any], *, again: bool) -> tuple[int, bool]:
    """The number of the receipt, and whether it is new: what was sent before has one already."""
    with open_ledger(season.folder) as ledger:
        alike = "team = :team AND run = :run AND sha256 = :sha256 AND valid = :valid"
        before = f"SELECT max(number) FROM receipts WHERE {alike}"
        (number,) = ledger.execute(before, row).fetchone()
        if number is not None and not again:
            return number, False
        return _insert(ledger, "receipts", row), True


def _asked(season: Season, request: str, row: dict[str, Any]) -> list[int]:
    """Enter what a team asks for a run; the numbers of its receipts."""
    with open_ledger(season.folder) as ledger:
        receipts = "SELECT run, number FROM receipts WHERE team = :team"
        sent = ledger.execute(receipts, row).fetchall()
        check_name(f"run of team {shown(row['team'])}", row["run"], list(dict(sent)))
        _insert(ledger, "requests", row | {"request": request})
    return [number for run, number in sent if run == row["run"]]


def _insert(ledger: Any, table: str, row: dict[str, Any]) -> int:
    values = ", ".join(f":{name}" for name in row)
    done = ledger.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({values})", row)
    return int(done.lastrowid)
