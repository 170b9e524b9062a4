"""`receive`: keep a submission once, as it was sent, and give a receipt for it.

First the file takes its place, then its row: one that is killed leaves a true receipt or none.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from abstain.errors import AbstainError, InputError, UsageError, check_name, option, shown
from abstain.features.validate.analysis import examine, hindering, result_of
from abstain.io.files import Opened, bare_name, is_bundle, open_file, read_errors, write_errors
from abstain.io.submissions import runs_in
from abstain.runs import read_golds
from abstain.runs.responses import RunInput, read_responses
from abstain.runs.run_names import runs_of
from abstain.runs.season import SUBMISSIONS, Receipt, Season, as_time, open_ledger, read_season


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
    numbers: list[int] = []
    for request, run in (("withdraw", withdraw), ("primary", primary)):
        if run:
            known = [r.run for r in season.receipts if r.team == team]
            check_name(f"run of team {shown(team)}", run, known)
            numbers += _entered(season, row | {"run": run, "request": request})
    if paths:
        end = season.settings.deadline and as_time(season.settings.deadline)
        if end and row["time"] > end and season.settings.late == "refused":
            raise InputError(f"late runs are refused: the deadline was {end}", str(into))
        read_golds(season.gold, season.reading, answers=False)  # first: nothing is kept if it fails
    for opened, name in [each for path in paths for each in _sent(path, season)]:
        numbers += _entered(season, row | _kept(season, opened, name), again=again)
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
    run = bare_name(name)
    facts = {"run": run, "file": name, "sha256": sha256, "bytes": size, "valid": False}
    how = season.reading
    try:
        with read_errors(name, engine=True, doing="checked"):
            names = runs_of(read_responses(kept, how))
            facts["run"] = run = names[0] if len(names) == 1 else run
            result = result_of(
                examine(season.gold, [RunInput(kept, run)], how, answers=False), None
            )
    except AbstainError as error:
        return facts | {"found": str(error)}
    facts["valid"] = not hindering(result, how)
    return facts | {"found": "\n".join(map(str, result.problems + result.warnings))}


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
