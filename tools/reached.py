"""Which tests reach which statements: recorded once, by test file, and kept.

Tests run on a copy of the package in which each statement tells that it was reached; every file of
them in a fork of its own.
"""

from __future__ import annotations

import ast
import builtins
import compileall
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from itertools import zip_longest
from keyword import iskeyword
from pathlib import Path
from typing import Any

import pytest
from mutations import ROOT, SOURCE, Mutant, named, plain, probed, statements

KEPT = ROOT / ".mutants.json"
SLOW = 0.7
"""Seconds of processor time after which a test is left out."""
IMPORT = 0.3
"""Seconds that a fresh import of a file of tests takes, about."""
HANGS = 600
"""Seconds on the wall after which a test hangs, whatever else the machine does."""
PYTEST = ["-x", "-p", "no:xdist", "--hypothesis-profile", "quick", "-m", "not browser"]
PYTEST += ["-W", "ignore::pytest.PytestAssertRewriteWarning", "--tb", "no"]


def _too_slow(*_: object) -> None:
    raise TimeoutError


def forget() -> None:
    """Empty the caches of the package."""
    for name, module in list(sys.modules.items()):
        if name.startswith("abstain."):
            for own in list(vars(module).values()):
                getattr(own, "cache_clear", int)()


class Record:
    """Which tests of a file reach which statements, and how long they take: a pytest plug-in."""

    def __init__(self, numbers: dict[str, int]) -> None:
        self.numbers, self.hits, self.failed = numbers, set[str](), set[str]()
        self.imported, self.tests, self.threads = 0, dict[str, tuple[float, str]](), False
        builtins.__reach__ = self.hits.add  # type: ignore[attr-defined]

    def _mask(self) -> int:
        mask = bytearray(len(self.numbers) // 8 + 1)
        for hit in self.hits:
            number = self.numbers[hit]
            mask[number // 8] |= 1 << number % 8
        return int.from_bytes(mask, "little")

    def pytest_collection_finish(self) -> None:
        self.imported = self._mask()
        names = [own.read_text() for own in Path("/proc/self/task").glob("*/comm")]
        self.threads = any(re.match(r"polars-\d|tokio|async", name) for name in names)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        forget()  # what an earlier test left in a cache is reached anew
        self.hits.clear()
        signal.signal(signal.SIGPROF, _too_slow)
        signal.setitimer(signal.ITIMER_PROF, SLOW)
        start = time.process_time()
        done = yield
        signal.setitimer(signal.ITIMER_PROF, 0)
        if item.nodeid not in self.failed:
            spent = time.process_time() - start
            self.tests[item.nodeid] = (round(spent, 4), f"{self._mask() | self.imported:x}")
        return done

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.failed.add(report.nodeid)


def file_of(test: str) -> str:
    return test.partition("::")[0]


class Reached:
    """Which tests reach a mutant."""

    def __init__(
        self, numbers: dict[str, int], files: dict[str, Any], mutants: list[Mutant]
    ) -> None:
        self.numbers = numbers
        self.tests = [
            (test, seconds, int(mask, 16))
            for own in files.values()
            for test, (seconds, mask) in own["tests"].items()
        ]
        self.imported = 0  # what imports in a fork is later than the change
        for own in files.values():
            self.imported |= 0 if own["threads"] else int(own["imported"], 16)
        self.inside = dict[str, int]()
        for mutant in mutants:
            if mutant.in_function:
                known = self.inside.get(mutant.module, 0)
                self.inside[mutant.module] = known | self._bit(mutant)

    def _bit(self, mutant: Mutant) -> int:
        return 1 << self.numbers[named(mutant.module, mutant.statement)]

    def on_import(self, mutant: Mutant) -> bool:
        """Whether its statement runs while modules are imported."""
        return not mutant.in_function or bool(self._bit(mutant) & self.imported)

    def _uses(self, mutant: Mutant) -> int:
        """What runs later of a statement at import: the body of a function, uses of its name."""
        own = named(mutant.module, mutant.statement)
        nodes = ast.walk(ast.parse(plain(mutant.module)))
        whole = next(n for n in nodes if isinstance(n, ast.stmt) and n.lineno == mutant.statement)
        lines = [each.lineno for each in ast.walk(whole) if isinstance(each, ast.stmt)]
        found = {named(mutant.module, line) for line in lines}
        name = re.match(r"[\w/]+\.py: (?:def |class )?(\w+)", own)
        if name and not iskeyword(name[1]):
            used = re.compile(rf"\.py: .*\b{name[1]}\b")
            found |= {each for each in self.numbers if used.search(each)}
        uses = sum(1 << self.numbers[each] for each in found - {own})
        return uses & ~self.imported

    def tests_of(self, mutant: Mutant, budget: float) -> dict[str, float]:
        """The tests that reach a mutant with their seconds, in order, within a budget."""
        mask, inside = self._bit(mutant), self.inside.get(mutant.module, 0)
        near = f"tests/{mutant.module.partition('/')[0]}/"
        tests = [own for own in self.tests if own[2] & mask]
        if self.on_import(mutant) or not tests:
            uses = self._uses(mutant)
            mask |= inside | uses
            tests = [own for own in self.tests if own[2] & mask]
            tests.sort(key=lambda own: (-(own[2] & inside).bit_count(), own[1]))
            tests.sort(key=lambda own: (0, own[1]) if own[2] & uses else (1, 0))
            others = [own for own in self.tests if own[0].startswith(near)]
            others.sort(key=lambda own: own[1])
            both = (own for pair in zip_longest(tests, others) for own in pair if own)
            tests = list(dict.fromkeys(both))
        else:
            tests.sort(key=lambda own: own[1])
        chosen, spent, files = dict[str, float](), 0.0, set[str]()
        for test, seconds, _ in tests:
            again = not self.on_import(mutant) or file_of(test) in files
            spent += seconds if again else seconds + IMPORT
            if spent > budget and chosen:
                break
            files.add(file_of(test))
            chosen[test] = seconds
        return chosen


def recorded(modules: list[str], jobs: int, folder: Path, *, stale: bool) -> dict[str, Any]:
    """What each test file reaches, taken anew where it or the package changed."""
    helpers = [own for own in (ROOT / "tests").rglob("*.py") if not own.name.startswith("test_")]
    package = _digest([*SOURCE.rglob("*.py"), *helpers], " ".join(modules))
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    if not kept or (kept["package"] != package and not stale):
        kept = {"package": package, "numbers": {}, "files": {}}
    numbers, files = kept["numbers"], kept["files"]
    for module in modules:
        for name in statements(module):
            numbers.setdefault(name, len(numbers))
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    digests = {str(own.relative_to(ROOT)): _digest([own]) for own in tests}
    for name in [name for name in files if files[name]["digest"] != digests.get(name)]:
        del files[name]
    waiting = [name for name in digests if name not in files]
    copies = copied(folder / "record", jobs, {module: probed(module) for module in modules})

    def record(slot: int, name: str) -> int:
        def work() -> int:
            own = Record(numbers)
            code = pytest.main([*PYTEST[1:], name], plugins=[own])
            said = {
                "digest": digests[name],
                "tests": own.tests,
                "failed": sorted(own.failed),
                "threads": own.threads,
                "imported": f"{own.imported:x}",
            }
            (folder / name.replace("/", ".")).write_text(json.dumps(said), encoding="utf-8")
            return int(code)

        return fork(copies[slot], work)

    ended = in_turn(jobs, waiting, record)
    try:
        for number, (name, code) in enumerate(ended, 1):
            said = folder / name.replace("/", ".")
            nothing = {"digest": digests[name], "tests": {}, "failed": [name], "threads": True}
            files[name] = json.loads(said.read_text("utf-8")) if said.exists() else nothing
            print(f"recorded {number}/{len(waiting)} {name} ({code})", flush=True)
    finally:
        ended.close()
        KEPT.write_text(json.dumps(kept), encoding="utf-8")
    return kept


def _digest(paths: Sequence[Path], text: str = "") -> str:
    whole = hashlib.sha256(text.encode())
    for path in sorted(paths):
        whole.update(path.read_bytes())
    return whole.hexdigest()


def copied(folder: Path, jobs: int, texts: dict[str, str]) -> list[Path]:
    """Copies of the package, some of its modules with another text."""
    copies = [folder / str(job) for job in range(jobs)]
    shutil.copytree(SOURCE, copies[0] / "abstain")
    for module, text in texts.items():
        (copies[0] / "abstain" / module).write_text(text, encoding="utf-8")
    compileall.compile_dir(copies[0], quiet=2)
    for copy in copies[1:]:
        shutil.copytree(copies[0], copy)
    return copies


def fork(copy: Path, work: Callable[[], int]) -> int:
    """Run something in a process of its own that finds the package in a folder."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code = 3
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (HANGS, HANGS))
        quiet = os.open(copy / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number in (1, 2):
            os.dup2(quiet, number)
        os.chdir(ROOT)
        tempfile.tempdir = str(copy / "temporary")
        shutil.rmtree(tempfile.tempdir, ignore_errors=True)
        os.mkdir(tempfile.tempdir)
        os.environ.update(PYTHONPATH=str(copy), PYTHONDONTWRITEBYTECODE="1")
        os.environ["TMPDIR"] = tempfile.tempdir
        sys.path.insert(0, str(copy))
        code = work()
    finally:
        os._exit(code)


def in_turn(
    jobs: int, tasks: Sequence[Any], start: Callable[[int, Any], int]
) -> Generator[Any, None, None]:
    """Start each task in a process, so many at a time; each with how its process ended."""
    free, running = list(range(jobs)), dict[int, tuple[int, Any]]()
    waiting = list(reversed(tasks))
    try:
        while waiting or running:
            while waiting and free:
                task, slot = waiting.pop(), free.pop()
                running[start(slot, task)] = slot, task
            child, status = os.wait()
            _end(child)  # what its tests had started
            slot, task = running.pop(child)
            free.append(slot)
            yield task, os.waitstatus_to_exitcode(status)
    finally:
        for child in running:
            _end(child)


def _end(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
