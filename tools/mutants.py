"""Mutation testing: small changes to the code, each of which some test must notice.

`python tools/mutants.py 300` draws so many mutants from a seed, over the modules that compute what
is published. What no test notices is listed: kill it with a test, delete the code, or say in
`EQUIVALENT` why it changes nothing. With `--null` the changes are drawn but not made: all must
survive, or the verdicts of this machine are not to be trusted.

First, once, every test file runs on a copy of the package in which each statement tells that it was
reached. That is kept in `.mutants.json`, by file, until the file or the package changes. A mutant
is then tried on the tests that reach its statement, the quickest first, until one fails. A mutant
outside functions, or that nothing was seen to reach, is tried on all tests that reach a function of
its module or stand in a folder of that name. Tests that need a browser or compute for more than
0.7 s are left out, and so is what goes beyond `--seconds` of tests for one mutant: a mutant that
only these notice counts as a survivor.

All tests are collected once. For each mutant that process forks, and the fork exchanges the code of
the functions that differ; what is computed while modules are imported is tried on a fresh import.
(Tests whose import starts the threads of polars, which no fork has, are imported in the fork.) A
test that takes ten times the processor time that it took without the change, and ten seconds, has
noticed it. The clock on the wall ends only what hangs. It needs Linux.
"""

from __future__ import annotations

import argparse
import builtins
import compileall
import gc
import hashlib
import importlib
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from mutations import (
    EQUIVALENT,
    ROOT,
    SOURCE,
    Mutant,
    modules_named,
    mutants_of,
    mutated,
    named,
    plain,
    probed,
    statements,
    told,
)

KEPT = ROOT / ".mutants.json"
SLOW = 0.7
"""Seconds of processor time after which a test is left out."""
IMPORT = 0.3
"""Seconds that a fresh import of a file of tests takes, about."""
PATIENCE = 10.0
"""How many times its processor time a test may take, and so many seconds more."""
HANGS = 600
"""Seconds on the wall after which a test hangs, whatever else the machine does."""
LIBRARIES = ("numpy", "scipy.stats", "polars", "hypothesis", "pandas", "duckdb", "sklearn.metrics")
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


class Chosen:
    """Runs some tests, the quickest first, each with a limit of its time: a pytest plug-in."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        from hypothesis import Phase, settings

        brief = settings.get_profile("quick")  # one failing example will do
        settings.register_profile("brief", brief, phases=[Phase.explicit, Phase.generate])
        settings.load_profile("brief")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        own = [item for item in items if item.nodeid in self.seconds]
        items[:] = sorted(own, key=lambda item: self.seconds[item.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        limited(self.seconds[item.nodeid])
        done = yield
        limited(SLOW)
        return done


class Collected(Chosen):
    """Tests that are collected once and then run in forks: a pytest plug-in."""

    def __init__(self, seconds: dict[str, float], loop: Callable[[Collected], None]) -> None:
        super().__init__(seconds)
        self.loop, self.functions = loop, dict[CodeType, list[FunctionType]]()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.session, self.items = session, {item.nodeid: item for item in session.items}
        for module in modules_named():
            importlib.import_module("abstain." + module[:-3].replace("/", "."))
        for own in gc.get_objects():
            if isinstance(own, FunctionType) and (own.__module__ or "").startswith("abstain"):
                self.functions.setdefault(own.__code__, []).append(own)
        gc.freeze()
        self.loop(self)
        return True

    def exchange(self, mutant: Mutant) -> None:
        """Let the functions of a module do what they do in the mutant."""
        texts = plain(mutant.module), mutated(mutant)
        old, new = (list(_codes(compile(text, mutant.module, "exec"))) for text in texts)
        for before, after in zip(old, new, strict=True):
            for function in self.functions.get(before, []) if before != after else []:
                function.__code__ = after
        forget()

    def run(self, seconds: dict[str, float], temporary: Path) -> int:
        """Run some of the tests, the quickest first, until one fails."""
        factory = self.session.config._tmp_path_factory  # type: ignore[attr-defined]
        factory._given_basetemp, factory._basetemp = temporary, None
        items = [self.items[test] for test in sorted(seconds, key=seconds.__getitem__)]
        for item, after in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self.session.testsfailed:
                return 1
        return 0


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code and all within it."""
    yield code
    for own in code.co_consts:
        if isinstance(own, CodeType):
            yield from _codes(own)


def limited(seconds: float) -> None:
    """End this process once it computes far longer, or if it hangs."""
    signal.setitimer(signal.ITIMER_PROF, PATIENCE * (1 + seconds))
    signal.alarm(HANGS)


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

    def tests_of(self, mutant: Mutant, budget: float) -> dict[str, float]:
        """The tests that reach a mutant with their seconds, the quickest first, within a budget."""
        mask = self._bit(mutant)
        if not mutant.in_function or not any(own[2] & mask for own in self.tests):
            mask |= self.inside.get(mutant.module, 0)
        near = f"tests/{mutant.module.partition('/')[0]}/"
        chosen, spent, files = dict[str, float](), 0.0, set[str]()
        for test, seconds, reached in sorted(self.tests, key=lambda own: own[1]):
            if reached & mask or (not mutant.in_function and test.startswith(near)):
                again = not self.on_import(mutant) or file_of(test) in files
                spent += seconds if again else seconds + IMPORT
                if spent > budget and chosen:
                    break
                files.add(file_of(test))
                chosen[test] = seconds
        return chosen


def file_of(test: str) -> str:
    return test.partition("::")[0]


def afresh(tests: dict[str, float]) -> int:
    """Import and run some tests, the files with the quickest first; 0 where none fails."""
    total = Counter[str]()
    for test, seconds in tests.items():
        total[file_of(test)] += seconds  # type: ignore[assignment]
    files, size = sorted(total, key=total.__getitem__), 1
    while files:
        batch, files, size = files[:size], files[size:], 2 * size
        limited(SLOW)
        temporary = ["--basetemp", f"{tempfile.gettempdir()}/{size}"]
        own = {test: seconds for test, seconds in tests.items() if file_of(test) in batch}
        if code := pytest.main([*PYTEST, *temporary, *batch], plugins=[Chosen(own)]):
            return int(code)
    return 0


class Trial:
    """Tries mutants, so many at a time, and keeps what survived."""

    def __init__(
        self, given: argparse.Namespace, drawn: list[Mutant], kept: Any, folder: Path
    ) -> None:
        every = [own for module in modules_named() for own in mutants_of(module)]
        self.given, self.drawn, self.files = given, drawn, kept["files"]
        self.reached = Reached(kept["numbers"], self.files, every)
        texts = {module: plain(module) for module in modules_named()}
        *self.copies, self.pristine = copied(folder / "try", given.jobs + 1, texts)
        self.survived = list[Mutant]()
        self.tried = 0

    def all(self) -> None:
        """Try what runs on import, then everything else with the tests collected once."""
        fresh = [own for own in self.drawn if self.given.afresh or self.reached.on_import(own)]
        self._each(fresh, lambda mutant: afresh(self._tests(mutant)))
        rest = [own for own in self.drawn if own not in fresh]
        if not rest:
            return
        files = [name for name, own in self.files.items() if own["tests"] and not own["threads"]]
        seconds = {
            test: own[0] for name in files for test, own in self.files[name]["tests"].items()
        }
        sys.path.insert(0, str(self.pristine))
        os.environ["PYTHONPATH"] = str(self.pristine)

        def loop(collected: Collected) -> None:
            self._each(rest, lambda mutant: self._exchanged(mutant, collected))

        os.chdir(ROOT)
        if pytest.main([*PYTEST, "-s", *files], plugins=[Collected(seconds, loop)]):
            sys.exit(1)

    def _tests(self, mutant: Mutant) -> dict[str, float]:
        return self.reached.tests_of(mutant, self.given.seconds)

    def _exchanged(self, mutant: Mutant, collected: Collected) -> int:
        if not self.given.null:
            collected.exchange(mutant)
        tests = self._tests(mutant)
        own = {test: seconds for test, seconds in tests.items() if test in collected.items}
        code = collected.run(own, Path(tempfile.gettempdir()) / "collected")
        return code or afresh({test: tests[test] for test in tests if test not in own})

    def _each(self, mutants: list[Mutant], work: Callable[[Mutant], int]) -> None:
        def start(slot: int, mutant: Mutant) -> int:
            copy = self.copies[slot]
            for module in modules_named():  # as it was, after the mutant before
                shutil.copy2(self.pristine / "abstain" / module, copy / "abstain" / module)
            if not self.given.null:
                (copy / "abstain" / mutant.module).write_text(mutated(mutant), encoding="utf-8")
            return fork(copy, lambda: work(mutant))

        with closing(in_turn(self.given.jobs, mutants, start)) as ended:
            for mutant, code in ended:
                self.tried += 1
                before, after = told(mutant)
                word = {0: "SURVIVED", -signal.SIGALRM: "killed, for it hangs"}.get(code, "killed")
                print(
                    f"{self.tried}/{len(self.drawn)} {word} ({code}) {before}\n  → {after}",
                    flush=True,
                )
                self.survived += [mutant] if code == 0 else []


def end_on_signals() -> None:
    """Let what ends this process end its children first."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))


def main() -> None:
    """Draw mutants, run the tests against each, and print the score and the survivors."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("mutants", type=int, nargs="?", default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="modules whose name has this in it")
    parser.add_argument("--line", default="", help="mutants whose changed line has this in it")
    parser.add_argument("--seconds", type=float, default=30, help="of tests for a mutant")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--null", action="store_true", help="change nothing: all must survive")
    parser.add_argument("--afresh", action="store_true", help="import all anew for each mutant")
    parser.add_argument("--stale", action="store_true", help="keep what an older package reached")
    given = parser.parse_args()
    end_on_signals()
    start = time.monotonic()
    for library in LIBRARIES:
        importlib.import_module(library)
    every = [own for module in modules_named() for own in mutants_of(module)]
    drawn, known = _drawn(every, given)
    with tempfile.TemporaryDirectory(prefix="abstain-mutants-") as folder:
        kept = recorded(modules_named(), given.jobs, Path(folder), stale=given.stale)
        trial = Trial(given, drawn, kept, Path(folder))
        trial.all()
    minutes = (time.monotonic() - start) / 60
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    computed = (time.process_time() + spent.ru_utime + spent.ru_stime) / 60
    killed = len(drawn) - len(trial.survived)
    share = 100 * killed / max(1, len(drawn))
    print(f"{killed:,} of {len(drawn):,} killed ({share:.1f} %), seed {given.seed}")
    print(f"{len(known)} more were drawn that are equivalent; {len(every):,} mutants in all")
    print(f"{minutes:.0f} minutes, {computed:.0f} of computing")
    if given.null:
        sys.exit(1 if killed else 0)
    for mutant in trial.survived:
        tests = trial.reached.tests_of(mutant, given.seconds)
        print("survived: {}\n  → {}".format(*told(mutant)))
        print(f"  tried on {len(tests):,} tests")


def _drawn(every: list[Mutant], given: argparse.Namespace) -> tuple[list[Mutant], list[str]]:
    """So many mutants in random order; those known to be equivalent on the way."""
    drawn, known = list[Mutant](), list[str]()
    equivalent = {line for lines in EQUIVALENT.values() for line in lines}
    for mutant in random.Random(given.seed).sample(every, len(every)):
        if given.only not in mutant.module:
            continue
        before, after = told(mutant)
        if before in equivalent or after in equivalent:
            known.append(after)
        elif given.line in after:
            drawn.append(mutant)
            if len(drawn) == given.mutants:
                break
    return drawn, known


if __name__ == "__main__":
    main()
