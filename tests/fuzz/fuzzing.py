"""A fuzzer: cases made from a seed, run in this process, held to what must always be true.

`python -m tests.fuzz.fuzzing 1000` runs cases 0 to 999; `--first N` begins elsewhere, `--jobs 2`
shares them among processes, `--case N` shows one.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from tests.fuzz.making import Case, case_of

MOST_SAID = 4_000
"""Characters on stderr: a few lines, never a traceback."""

MOST_GROWTH = 500 << 20
"""Bytes by which one case may make the process grow at its largest."""

MOST_SECONDS = 10
"""Seconds of work that a case may take; a case that waits is stopped after six times as many."""

PLAIN = {"csv", "--format=csv", "-fcsv", "convert", "baseline", "trec_eval"}
"""What is typed for output that is data for another program: names stay as they are."""

MEMORY = Path("/dev/shm")
"""Where files live in memory, so that no disk has to keep up."""

PART = 250
"""Cases that a process takes at a time."""


class Failed(Struct, frozen=True):
    """Why a case is a failure."""

    seed: int
    why: str
    case: Case


class Hung(BaseException):
    """A case that does not end."""


def failure_of(case: Case, folder: Path) -> str:
    """What is wrong with how a case ends; nothing, as it should be."""
    from abstain.cli import run
    from abstain.io import files

    _lay(case, folder)
    files.read_before.clear()  # a process has one standard input
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    out, err = io.StringIO(), io.StringIO()
    stdin = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(case.stdin))
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = run(case.args)
        except BaseException as error:
            return f"{type(error).__name__} came through: {str(error)[:200]}"
        finally:
            sys.stdin = stdin
    said = err.getvalue()
    if code not in (0, 1, 2):
        return f"exit {code}: {said[:300]}"
    if len(said) > MOST_SAID or "Traceback" in said:
        return f"stderr has {len(said):,} characters: {said[:300]}"
    if "Warning: " in said:
        return f"a library's warning: {said[:300]}"
    if "\x1b" in said or ("\x1b" in out.getvalue() and not PLAIN.intersection(case.args)):
        return "a name reaches the terminal as it is"
    if code == 2 and not said.strip():
        return "exit 2 without a word"
    took = time.process_time() - began
    if took > MOST_SECONDS:
        return f"took {took:.0f} s"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    if grown > MOST_GROWTH:
        return f"took {grown >> 20:,} MiB"
    return _left(case, folder, code)


def _lay(case: Case, folder: Path) -> None:
    for name, data in case.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    for name, target in case.links.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if target:
            (folder / name).symlink_to(target)
        else:
            (folder / name).mkdir()


def _left(case: Case, folder: Path, code: int) -> str:
    """What a command left that it should not have: drafts, changed inputs, a part of an output."""
    overwrites = "--force" in case.args
    for name, data in case.files.items():
        same = (folder / name).is_file() and (folder / name).read_bytes() == data
        if not same and not (overwrites and name in case.args):
            return f"changed {name}"
    given = {name.partition("/")[0] for name in (*case.files, *case.links)}
    new = {path.name for path in folder.iterdir()} - given
    hidden = sorted({path.name for path in folder.rglob(".*")} - given)
    if hidden:
        return f"left {hidden[0]}"
    if code == 2 and new:
        return f"exit 2, and yet wrote {sorted(new)[0]}"
    if "cut" in case.args[:1]:  # a run of which nothing is kept has no lines
        return ""
    empty = sorted(name for name in new if (folder / name).stat().st_size == 0)
    return f"wrote an empty {empty[0]}" if empty else ""


def failures(seeds: range) -> Iterator[Failed]:
    """The cases of some seeds that fail."""
    root = Path(tempfile.mkdtemp(prefix="abstain-fuzz-", dir=MEMORY if MEMORY.is_dir() else None))

    def hung(*_: object) -> None:
        raise Hung(f"more than {6 * MOST_SECONDS} s")

    earlier = signal.signal(signal.SIGALRM, hung)
    try:
        for seed in seeds:
            folder = root / str(seed)
            folder.mkdir()
            case = case_of(seed)
            signal.alarm(6 * MOST_SECONDS)
            if why := failure_of(case, folder):
                yield Failed(seed, why, case)
            signal.alarm(0)
            shutil.rmtree(folder)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, earlier)
        shutil.rmtree(root, ignore_errors=True)


def _failures_of(seeds: range) -> list[Failed]:
    return list(failures(seeds))


def _found(seeds: range, jobs: int) -> Iterator[list[Failed]]:
    parts = [seeds[at : at + PART] for at in range(0, len(seeds), PART)]
    if jobs == 1:
        yield from map(_failures_of, parts)
        return
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(_failures_of, parts)


def main() -> None:
    """Run so many cases and say how many failed."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("cases", type=int, nargs="?", default=1_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--case", type=int)
    given = parser.parse_args()
    if given.case is not None:
        case = case_of(given.case)
        print("abstain", *map(repr, case.args))
        for name, data in case.files.items():
            print(f"{name}: {data[:400]!r}")
        print(*(f"{name} -> {target}" for name, target in case.links.items()))
        given.first, given.cases = given.case, 1
    os.environ.setdefault("RUST_BACKTRACE", "0")
    began, failed, done = time.monotonic(), 0, 0
    seeds = range(given.first, given.first + given.cases)
    for found in _found(seeds, given.jobs):
        done += PART
        for own in found:
            failed += 1
            print(f"case {own.seed}: {own.why}\n  {own.case.args}", flush=True)
        if done % (4 * PART) == 0:
            print(f"{done:,} cases so far, {time.monotonic() - began:.0f} s", flush=True)
    took = time.monotonic() - began
    print(f"{given.cases:,} cases from {given.first:,} on, {failed:,} failed, {took:.0f} s")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
