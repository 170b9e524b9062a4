"""`receive`: keep a submission once, as it was sent, and give a receipt for it.

First files take their place, then rows are entered: a kill leaves a whole receipt or none.
"""

import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec.structs import replace

from abstain.errors import AbstainError, InputError, UsageError, check_name, option, shown
from abstain.features.validate.analysis import examine, hindering, result_of
from abstain.io.files import Opened, bare_name, is_bundle, open_file, read_errors, write_errors
from abstain.io.submissions import runs_in
from abstain.reading import Reading
from abstain.runs import read_golds
from abstain.runs.responses import Responses, RunInput, read_responses
from abstain.runs.run_names import WITHDRAWN, name_runs, runs_of
from abstain.runs.season import (
    INVALID,
    SUBMISSIONS,
    Receipt,
    Season,
    as_time,
    open_ledger,
    read_season,
)


def receive(
    files: Any = (),
    *,
    into: str | os.PathLike[str],
    team: str = "",
    withdraw: str | None = None,
    primary: str | None = None,
    at: str | datetime | None = None,
    again: bool = False,
) -> list[Receipt]:
    """Keep submissions of a team in the folder of a season; without files list its receipts.

    A folder or a zip archive stands for the runs in it. `withdraw` and `primary` name a run that
    the team takes back, or puts first. `at` is the time of arrival where that was not now; `again`
    receives anew what was received before.
    """
    season, team = read_season(into), team.strip()
    paths = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    listed, row = not (paths or withdraw or primary), _times(at) | {"team": team}
    if not (listed or team):
        raise UsageError(f"say whose it is: {option('team', 'NAME')}")
    if listed and team and season.receipts:
        check_name("team", team, sorted({r.team for r in season.receipts}))
    numbers: list[int] = []
    for request, run in (("withdraw", withdraw), ("primary", primary)):
        if run:
            known = [r for r in season.receipts if r.team == team]
            check_name(f"run of team {shown(team)}", run, list(dict.fromkeys(r.run for r in known)))
            valid = [r for r in known if r.run == run and r.state not in (INVALID, WITHDRAWN)]
            if request == "withdraw" and not any(r.time <= row["time"] or not at for r in valid):
                when = f" that had come by {row['time']}" if at else ""
                raise UsageError(f"run {shown(run)} has no valid version{when} to take back")
            numbers += _entered(season, row | {"run": run, "request": request})
    if paths:
        end = season.settings.deadline and as_time(season.settings.deadline)
        if end and row["time"] > end and season.settings.late == "refused":
            raise InputError(f"late runs are refused: the deadline was {end}", str(into))
        read_golds(season.gold, season.reading, answers=False)  # first: nothing is kept if it fails
    sent = [each for path in paths for each in _sent(path, season)]
    kept = {opened.name: _kept(season, opened, name) for opened, name in sent}
    for file, run in _with_runs(kept, season.reading):
        numbers += _entered(season, row | _checked(season, file, run), again=again)
    every = read_season(into).receipts
    return [r for r in every if r.number in numbers or (listed and team in ("", r.team))]


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
    """The files of a path and their names as sent; of a broken archive all of it."""
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
            whole = next(place for place in Path(opened.name, "_").parents if place.is_file())
            opened = Opened(opened.name, whole, broken=opened.broken)
        yield opened, sent.encode(errors="replace").decode()


def _kept(season: Season, opened: Opened, name: str) -> Opened:
    """A file that took its place, by its name as sent."""
    folder = season.folder / SUBMISSIONS
    with write_errors(str(folder)):
        folder.mkdir(exist_ok=True)
        with TemporaryDirectory(prefix=".", dir=folder) as room:
            draft = Path(room, "draft")
            with draft.open("xb") as out, opened.raw() as source:
                shutil.copyfileobj(source, out)
                out.flush()
                os.fsync(out.fileno())
            sha256 = Opened(name, draft).sha256()
            draft.chmod(0o444)
            draft.replace(folder / sha256)
    return Opened(name, folder / sha256, broken=opened.broken)


def _with_runs(kept: Mapping[str, Opened], reading: Reading) -> Iterator[tuple[Opened, str]]:
    """Files, by their paths, with the names of their runs: `score` tells alike ones apart so."""
    keys: dict[str, tuple[Path | None, str]] = {}
    runs: dict[tuple[Path | None, str], Responses] = {}
    for path, file in kept.items():
        # `_checked` says what is wrong
        with suppress(AbstainError), read_errors(path, engine=True):
            item = read_responses(file, reading)
            (run,) = runs_of(item)
            keys[path] = file.path, run  # the same bytes are one version
            table = replace(item.table, name=path)
            runs.setdefault(keys[path], replace(item, run=run, table=table))
    try:
        named = [item.run for item in name_runs([*runs.values()])]
    except UsageError:  # one says what another is called: they have their names as sent
        named = [kept[item.table.name].name for item in runs.values()]
    names = dict(zip(runs, named, strict=True))
    for path, file in kept.items():
        run = names.get(keys.get(path, (None, ""))) or bare_name(file.name)
        yield file, run.encode(errors="replace").decode()


def _checked(season: Season, file: Opened, run: str) -> dict[str, Any]:
    """What a receipt says of a file that took its place."""
    place, how = file.path or Path(), season.reading
    facts = {"run": run, "file": file.name, "sha256": place.name, "bytes": place.stat().st_size}
    try:
        with read_errors(file.name, engine=True, doing="checked"):
            seen = examine(season.gold, [RunInput(file, run)], how, answers=False)
            result = result_of(seen, None)
    except AbstainError as error:
        return facts | {"valid": False, "found": str(error)}
    facts["valid"] = not hindering(result, how)
    return facts | {"found": "\n".join(map(str, result.problems + result.warnings))}


LAST = """SELECT max(time) FROM (SELECT time FROM receipts UNION ALL
    SELECT strftime('%Y-%m-%dT%H:%M:%fZ', time, '+0.001 seconds') FROM requests)"""
"""The least time of what is entered next: a request is about what came before it."""


def _entered(season: Season, row: dict[str, Any], *, again: bool = False) -> list[int]:
    """Enter a file or a request; the receipts it is about: what was sent before has one already."""
    table = "requests" if (request := "request" in row) else "receipts"
    alike = ("team", "run") if request else ("team", "run", "sha256", "valid")
    same = " AND ".join(f"{name} = :{name}" for name in alike)
    values = ", ".join(f":{name}" for name in row)
    with open_ledger(season.folder) as ledger:
        sent = ledger.execute(f"SELECT number FROM receipts WHERE {same} ORDER BY number", row)
        numbers = [number for (number,) in sent]
        if numbers and not (request or again):
            return numbers[-1:]
        if not row["entered"]:  # others may have been quicker, and a clock may go back
            (last,), end = ledger.execute(LAST).fetchone(), season.settings.deadline
            time = max(row["time"], last or "")
            in_time = end and row["time"] <= as_time(end)
            row = row | {"time": min(time, as_time(end)) if end and in_time else time}
        done = ledger.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({values})", row)
        return numbers if request else [done.lastrowid or 0]


def seal(path: str | os.PathLike[str], *, draw: bool = True) -> str:
    """The SHA-256 of a salt and a file, to publish while the file is secret.

    Without the salt nobody can try out which gold gives it; with it any tool can verify it. The
    salt stands in a file beside, with `.salt` after its name, drawn (unless not `draw`) where there
    is none: the same file and salt give the same text.
    """
    opened, beside = open_file(path), Path(f"{os.fspath(path)}.salt")
    if draw and not beside.exists():
        with open(beside, "x", opener=lambda name, flags: os.open(name, flags, 0o600)) as out:
            out.write(f"{secrets.token_hex(32)}\n")
    text = open_file(beside).read()
    if not re.fullmatch(rb"[0-9a-f]{64}\n", text):
        raise InputError("is no salt of `abstain seal`", str(beside))
    return opened.sha256(text)
