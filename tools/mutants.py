"""Mutation testing: small changes to the code, each of which some test must notice.

`python tools/mutants.py 300` draws so many mutants from a seed, over the modules that compute what
is published. What no test notices is listed: kill it with a test, delete the code, or say in
`EQUIVALENT` why it changes nothing. With `--null` the changes are drawn but not made: all must
survive, or the verdicts of this machine are not to be trusted.

First, once, every test file runs on a copy of the package in which each statement tells that it was
reached. That is kept in `.mutants.json`, by file, until the file or the package changes. A mutant
is then tried on the tests that reach its statement, the quickest first, until one fails. A mutant
outside functions, or that nothing was seen to reach, is tried on the tests that reach what uses its
name and on those that reach most of its module, in turn with the quickest ones in a folder of its
name. Tests that need a browser or compute for more than 0.7 s are left out, and so is what goes
beyond `--seconds` of tests for one mutant: a mutant that only these notice counts as a survivor.

All tests are collected once. For each mutant that process forks, and the fork exchanges the code of
the functions that differ; what is computed while modules are imported is tried on a fresh import.
(Tests whose import starts the threads of polars, which no fork has, are imported in the fork.) A
test that takes ten times the processor time that it took without the change, and ten seconds, has
noticed it. The clock on the wall ends only what hangs. It needs Linux.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from mutations import ROOT, Mutant, modules_named, mutants_of, mutated, plain, told
from reached import HANGS, PYTEST, SLOW, Reached, copied, file_of, forget, fork, in_turn, recorded

PATIENCE = 10.0
"""How many times its processor time a test may take, and so many seconds more."""
LIBRARIES = (
    *("numpy", "scipy.stats", "polars", "hypothesis", "pandas", "duckdb", "sklearn.metrics"),
    "statsmodels.stats.multitest",
)


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
        self.loop, self.functions = loop, dict[tuple[str, str, int], list[FunctionType]]()

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.session, self.items = session, {item.nodeid: item for item in session.items}
        for module in modules_named():
            importlib.import_module(dotted(module))
        for own in gc.get_objects():
            if isinstance(own, FunctionType) and (own.__module__ or "").startswith("abstain"):
                key = own.__module__, own.__code__.co_qualname, own.__code__.co_firstlineno
                self.functions.setdefault(key, []).append(own)
        gc.freeze()
        self.loop(self)
        return True

    def exchange(self, mutant: Mutant) -> None:
        """Let the functions of a module do what they do in the mutant."""
        texts = plain(mutant.module), mutated(mutant)
        old, new = (list(_codes(compile(text, mutant.module, "exec"))) for text in texts)
        for before, after in zip(old, new, strict=True):
            key = dotted(mutant.module), before.co_qualname, before.co_firstlineno
            found = self.functions.get(key, []) if before != after else []
            # pytest has rewritten those with assertions; of others there may be two on a line
            for own in [own for own in found if own.__code__ == before] or found:
                own.__code__ = after
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


def dotted(module: str) -> str:
    """A module's file as it is imported."""
    return "abstain." + module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


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


def afresh(tests: dict[str, float]) -> int:
    """Import and run some tests, file by file in their order; 0 where none fails."""
    files, size = list(dict.fromkeys(map(file_of, tests))), 1
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
    for mutant in random.Random(given.seed).sample(every, len(every)):
        if given.only not in mutant.module:
            continue
        after = told(mutant)[1]
        if mutant.is_equivalent:
            known.append(after)
        elif given.line in after:
            drawn.append(mutant)
            if len(drawn) == given.mutants:
                break
    return drawn, known


if __name__ == "__main__":
    main()
