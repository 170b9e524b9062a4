"""Mutation testing: small changes to the code, each of which some test must notice.

`python tools/mutants.py 300` draws so many mutants from a seed, over the modules that compute what
is published. What no test notices is listed: kill it with a test, delete the code, or say in
`EQUIVALENT` why it changes nothing.

A mutant changes one arithmetic, bitwise or logical operator, one comparison, one number (by 1) or
one condition (negated). Everything is changed that is computed, numbers in messages too; types
(annotations, what is under TYPE_CHECKING) and texts are not.

First, once, every test file runs on a copy of the package in which each statement tells that it was
reached. That is kept in `.mutants.json`, by file, until the file or the package changes. A mutant
is then tried on the tests that reach its statement, the quickest files first, until one fails; a
statement outside functions is reached by all that reaches a function of its module. Tests that need
a browser, are marked slow or take more than three seconds are left out, and so is what goes beyond
`--seconds` of tests for one mutant: a mutant that only these notice counts as a survivor. A test
that takes far longer than it did without the change has noticed it. All runs are forks of a process
in which the large libraries are loaded.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import compileall
import gc
import hashlib
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "abstain"
KEPT = ROOT / ".mutants.json"
QUICK = 0.25
SLOW = 3.0
"""Seconds after which a test waits for the quicker ones of all files, and beyond which it is left
out."""
MODULES = (
    "measures/**/*.py",
    "outcomes.py",
    "judging/**/*.py",
    "stats/intervals.py",
    "stats/randomisation.py",
    "stats/hypotheses.py",
    "analyses/compare/bounds.py",
    "analyses/tune/*.py",
)
LIBRARIES = ("numpy", "scipy.stats", "polars", "hypothesis", "pandas", "duckdb", "sklearn.metrics")
PYTEST = ["-x", "-p", "no:xdist", "--hypothesis-profile", "quick", "-m", "not browser and not slow"]
PYTEST += ["-W", "ignore::pytest.PytestAssertRewriteWarning", "--tb", "no"]

EQUIVALENT: dict[str, tuple[str, ...]] = {
    "how much is held or drawn at once; the same numbers come out": (
        "stats/intervals.py: BLOCK = 2 << 22",
        "stats/intervals.py: BLOCK = 1 << 23",
        "stats/intervals.py: size = max(2, BLOCK // max(groups, 1))",
        "stats/intervals.py: size = max(1, BLOCK // max(groups, 2))",
        "stats/randomisation.py: AT_ONCE = 2 << 16",
        "stats/randomisation.py: AT_ONCE = 1 << 17",
        "stats/randomisation.py: BLOCK_BYTES = 2 << 26",
        "stats/randomisation.py: BLOCK_BYTES = 1 << 27",
        "stats/randomisation.py: block = max(1, min(trials, BLOCK_BYTES // "
        "(9 * words * len(kinds))))",
        "stats/randomisation.py: if len(self.known) >= 500:",
        "stats/randomisation.py: if len(self.known) > 501:",
        "stats/hypotheses.py: MOST_KEPT = 2 << 24",
        "stats/hypotheses.py: MOST_KEPT = 1 << 25",
        "stats/hypotheses.py: block = max(1, min(AT_ONCE, BLOCK_BYTES // (9 * self.groups)))",
        "judging/cells.py: BATCH = 2 << 19",
        "judging/cells.py: BATCH = 1 << 20",
    ),
    "what is kept in a cache; the same numbers come out": (
        "stats/randomisation.py: @lru_cache(maxsize=9)",
        "stats/randomisation.py: @lru_cache(maxsize=4097)",
        "stats/randomisation.py: MOST_LISTED = 601",
        "stats/randomisation.py: few = counts.shape[-1] == 3 and n < MOST_LISTED and "
        "(counts.ndim > 1)",
        "stats/randomisation.py: few = counts.shape[-1] == 3 and n <= MOST_LISTED and "
        "(counts.ndim >= 1)",
        "stats/randomisation.py: few = counts.shape[-1] == 3 and n <= MOST_LISTED and "
        "(counts.ndim > 2)",
    ),
    "chances below 1e-20, which no double near 1 holds": (
        "stats/randomisation.py: BEYOND = 3 / 2 * math.exp(-50)",
        "stats/randomisation.py: BEYOND = 4 * 2 * math.exp(-50)",
        "stats/randomisation.py: BEYOND = 3 * 3 * math.exp(-50)",
        "stats/randomisation.py: BEYOND = 3 * 2 * math.exp(-51)",
        "stats/randomisation.py: reach = 6 * np.sqrt(m) + 1",
        "stats/randomisation.py: reach = 5 * np.sqrt(m) + 2",
        "stats/randomisation.py: return np.arange(max(0, int(m / 2 - reach)), "
        "min(m, int(m / 2 + reach) + 2) + 1)",
    ),
    "only a quicker way to what the other branch says": (
        "judging/judge.py: visible = (given > '!') & (given < '\\x7f')",
    ),
    "any bound near rounding will do": (
        "stats/intervals.py: acceleration = float((weights * off ** 3).sum()) / "
        "(6 * second ** 1.5) if second > close ** 3 else 0.0",
    ),
    "one more harmonic number is made than is looked up": (
        "measures/answers.py: return np.concatenate([[0.0], "
        "np.cumsum(1 / np.arange(1, most + 2))])",
    ),
}
"""Why some mutants change nothing that can be seen: their module and changed line by reason."""

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


class Mutant(NamedTuple):
    """One change: the module, which of its changes, the statement it is in."""

    module: str
    place: int
    statement: int
    in_function: bool


@cache
def plain(module: str) -> str:
    """A module's code without its layout: a statement is a line, so a mutant changes one line."""
    return ast.unparse(ast.parse((SOURCE / module).read_text("utf-8")))


def mutants_of(module: str) -> list[Mutant]:
    """Every change that a module allows."""
    found = enumerate(_changes(ast.parse(plain(module))))
    return [Mutant(module, place, line, inside) for place, (_, line, inside) in found]


def mutated(mutant: Mutant) -> str:
    """The module's code with the change made."""
    tree = ast.parse(plain(mutant.module))
    make, _, _ = list(_changes(tree))[mutant.place]
    make()
    return ast.unparse(ast.fix_missing_locations(tree))


def told(mutant: Mutant) -> tuple[str, str]:
    """The line that a mutant changes, with its module, before and after."""
    before, after = plain(mutant.module).splitlines(), mutated(mutant).splitlines()
    for old, new in zip(before, after, strict=True):
        if old != new:
            return f"{mutant.module}: {old.strip()}", f"{mutant.module}: {new.strip()}"
    return "", ""


def _changes(
    node: ast.AST, line: int = 0, inside: bool = False
) -> Iterator[tuple[Callable[[], object], int, bool]]:
    """What makes each change under a node, with its statement and whether a function has it."""
    line = node.lineno if isinstance(node, ast.stmt) else line
    for change in _changes_of(node):
        yield change, line, inside
    is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    for name, field in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        if name == "body" and isinstance(node, ast.If) and _is_for_types(node):
            continue
        within = inside or (is_function and name == "body")
        for own in field if isinstance(field, list) else [field]:
            if isinstance(own, ast.AST):
                yield from _changes(own, line, within)


def _changes_of(node: ast.AST) -> Iterator[Callable[[], object]]:
    """What changes a node in place, one way after the other."""
    if isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in SWAPPED:
        yield partial(setattr, node, "op", SWAPPED[type(node.op)]())
    elif isinstance(node, ast.Compare):
        for number, op in enumerate(node.ops):
            if type(op) in SWAPPED:
                yield partial(node.ops.__setitem__, number, SWAPPED[type(op)]())
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        if node.value + 1 != node.value:  # type: ignore[operator]
            yield partial(setattr, node, "value", node.value + 1)  # type: ignore[operator]
    elif isinstance(node, (ast.If, ast.IfExp)) and not _is_for_types(node):
        yield partial(setattr, node, "test", ast.UnaryOp(ast.Not(), node.test))


def _is_for_types(node: ast.If | ast.IfExp) -> bool:
    return "TYPE_CHECKING" in ast.unparse(node.test)


def _too_slow(*_: object) -> None:
    raise TimeoutError


class Record:
    """Which tests of a file reach which statements, and how long they take: a pytest plug-in."""

    def __init__(self, numbers: dict[str, int]) -> None:
        self.numbers, self.hits, self.failed = numbers, set[str](), set[str]()
        self.imported, self.tests = 0, dict[str, tuple[float, str]]()
        builtins.__reach__ = self.hits.add  # type: ignore[attr-defined]

    def _mask(self) -> int:
        mask = bytearray(len(self.numbers) // 8 + 1)
        for hit in self.hits:
            number = self.numbers[hit]
            mask[number // 8] |= 1 << number % 8
        return int.from_bytes(mask, "little")

    def pytest_collection_finish(self) -> None:
        self.imported = self._mask()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        for name, module in list(sys.modules.items()):
            if name.startswith("abstain."):  # what an earlier test left in a cache is reached anew
                for own in list(vars(module).values()):
                    getattr(own, "cache_clear", int)()
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
        signal.setitimer(signal.ITIMER_PROF, 10 + 10 * self.seconds[item.nodeid])
        done = yield
        signal.setitimer(signal.ITIMER_PROF, 60)
        return done


def probed(module: str) -> str:
    """A module's code in which each statement first tells that it is reached."""
    tree = ast.parse(plain(module))
    for node in list(ast.walk(tree)):
        for field in ("body", "orelse", "finalbody"):
            listed = getattr(node, field, None)
            if isinstance(listed, list):
                setattr(node, field, [new for own in listed for new in _probe(module, own)])
    return ast.unparse(ast.fix_missing_locations(tree))


def _probe(module: str, own: ast.stmt) -> list[ast.stmt]:
    is_text = isinstance(own, ast.Expr) and isinstance(own.value, ast.Constant)
    if is_text or (isinstance(own, ast.ImportFrom) and own.module == "__future__"):
        return [own]
    return [ast.parse(f"__reach__({named(module, own.lineno)!r})").body[0], own]


def named(module: str, line: int) -> str:
    """What a statement is called: its module and its text, which other statements may have too."""
    return f"{module}: {plain(module).splitlines()[line - 1].strip()}"


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
        signal.alarm(1800)
        quiet = os.open(copy / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for number in (1, 2):
            os.dup2(quiet, number)
        os.chdir(ROOT)
        os.environ.update(PYTHONPATH=str(copy), PYTHONDONTWRITEBYTECODE="1")
        sys.path.insert(0, str(copy))
        code = work()
    finally:
        os._exit(code)


def in_turn(jobs: int, tasks: Sequence[Any], start: Callable[[int, Any], int]) -> Iterator[Any]:
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
        for own in ast.walk(ast.parse(plain(module))):
            if isinstance(own, ast.stmt):
                numbers.setdefault(named(module, own.lineno), len(numbers))
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
            said = {"digest": digests[name], "tests": own.tests, "failed": sorted(own.failed)}
            (folder / name.replace("/", ".")).write_text(json.dumps(said), encoding="utf-8")
            return int(code)

        return fork(copies[slot], work)

    try:
        for number, (name, code) in enumerate(in_turn(jobs, waiting, record), 1):
            said = folder / name.replace("/", ".")
            nothing = {"digest": digests[name], "tests": {}, "failed": [name]}
            files[name] = json.loads(said.read_text("utf-8")) if said.exists() else nothing
            print(f"recorded {number}/{len(waiting)} {name} ({code})", flush=True)
    finally:
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
            (name, test, seconds, int(mask, 16))
            for name, own in files.items()
            for test, (seconds, mask) in own["tests"].items()
        ]
        self.inside = dict[str, int]()
        for own in mutants:
            if own.in_function:
                self.inside[own.module] = self.inside.get(own.module, 0) | self._bit(own)

    def _bit(self, mutant: Mutant) -> int:
        return 1 << self.numbers[named(mutant.module, mutant.statement)]

    def tests_of(self, mutant: Mutant, budget: float) -> list[tuple[str, dict[str, float]]]:
        """The tests that reach a mutant, by file, the quickest first, within a budget."""
        mask = self._bit(mutant)
        if not mutant.in_function:
            mask |= self.inside.get(mutant.module, 0)
        groups = dict[tuple[bool, str], dict[str, float]]()
        for name, test, seconds, reached in self.tests:
            if reached & mask:
                groups.setdefault((seconds > QUICK, name), {})[test] = seconds
        chosen, spent = list[tuple[str, dict[str, float]]](), 0.0
        for is_slow, name in sorted(groups, key=lambda own: (own[0], sum(groups[own].values()))):
            own = groups[is_slow, name]
            spent += sum(own.values())
            if spent > budget and chosen:
                break
            chosen.append((name, own))
        return chosen


def tried(mutant: Mutant, copy: Path, files: list[tuple[str, dict[str, float]]]) -> int:
    """Run the tests that reach a mutant, in a process that has it; 0 where none notices."""
    (copy / "abstain" / mutant.module).write_text(mutated(mutant), encoding="utf-8")
    sys.dont_write_bytecode = True
    size = 1
    while files:
        batch, files, size = files[:size], files[size:], 2 * size
        seconds = {test: own for _, tests in batch for test, own in tests.items()}
        signal.setitimer(signal.ITIMER_PROF, 60)
        names = {name: None for name, _ in batch}
        if code := pytest.main([*PYTEST, *names], plugins=[Chosen(seconds)]):
            return int(code)
    return 0


def main() -> None:
    """Draw mutants, run the tests against each, and print the score and the survivors."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("mutants", type=int, nargs="?", default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="modules whose name has this in it")
    parser.add_argument("--line", default="", help="mutants whose changed line has this in it")
    parser.add_argument("--seconds", type=float, default=60, help="of tests for a mutant")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--stale", action="store_true", help="keep what an older package reached")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    modules = sorted(
        {str(own.relative_to(SOURCE)) for each in MODULES for own in SOURCE.glob(each)}
    )
    every = [own for module in modules for own in mutants_of(module)]
    start = time.monotonic()
    for library in LIBRARIES:
        importlib.import_module(library)
    gc.freeze()
    drawn, known = _drawn(every, given)
    with tempfile.TemporaryDirectory(prefix="abstain-mutants-") as folder:
        kept = recorded(modules, given.jobs, Path(folder), stale=given.stale)
        reached = Reached(kept["numbers"], kept["files"], every)
        *copies, pristine = copied(Path(folder) / "try", given.jobs + 1, {})
        survived = []

        def attempt(slot: int, mutant: Mutant) -> int:
            files = reached.tests_of(mutant, given.seconds)
            for module in modules:  # as it was, after the mutant before
                shutil.copy2(pristine / "abstain" / module, copies[slot] / "abstain" / module)
            return fork(copies[slot], lambda: tried(mutant, copies[slot], files))

        for number, (mutant, code) in enumerate(in_turn(given.jobs, drawn, attempt), 1):
            before, after = told(mutant)
            word = "SURVIVED" if code == 0 else "killed"
            print(f"{number}/{len(drawn)} {word} ({code}) {before}\n  → {after}", flush=True)
            survived += [mutant] if code == 0 else []
    minutes = (time.monotonic() - start) / 60
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    computed = (time.process_time() + spent.ru_utime + spent.ru_stime) / 60
    share = 100 * (1 - len(survived) / max(1, len(drawn)))
    print(f"{len(drawn):,} of {len(every):,} mutants, seed {given.seed}: {share:.1f} % killed")
    print(f"{len(known)} more were drawn that are equivalent")
    print(f"{minutes:.0f} minutes, {computed:.0f} of computing")
    for mutant in survived:
        tests = sum(len(own) for _, own in reached.tests_of(mutant, given.seconds))
        print("survived: {}\n  → {}".format(*told(mutant)))
        print(f"  tried on {tests:,} tests")


def _drawn(every: list[Mutant], given: argparse.Namespace) -> tuple[list[Mutant], list[str]]:
    """So many mutants in random order; those known to be equivalent on the way."""
    drawn, known = list[Mutant](), list[str]()
    equivalent = {line for lines in EQUIVALENT.values() for line in lines}
    for mutant in random.Random(given.seed).sample(every, len(every)):
        if given.only not in mutant.module:
            continue
        _, after = told(mutant)
        if after in equivalent:
            known.append(after)
        elif given.line in after:
            drawn.append(mutant)
            if len(drawn) == given.mutants:
                break
    return drawn, known


if __name__ == "__main__":
    main()
