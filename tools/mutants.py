"""Mutation testing: small changes to the code, each of which some test must notice.

`python tools/mutants.py 300` draws so many mutants from a seed, over the modules that compute what
is published. Each is put in its module, the tests of that module run with a time limit, and the
module is put back. What no test notices is listed: kill it with a test, or say in `EQUIVALENT`
why it changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "abstain"

EDGES = "tests/measures/test_edges.py"
MEASURES = f"{EDGES} tests/measures/test_measures.py"
CONFIDENT = f"{EDGES} tests/measures/test_confidence.py tests/measures/test_resamples.py"
LISTS = "tests/measures/test_ranking.py tests/measures/test_truncated.py"
TESTS = {
    "measures/families/credit.py": MEASURES,
    "measures/families/validation.py": MEASURES,
    "measures/families/confidence.py": CONFIDENT,
    "measures/families/calibration.py": CONFIDENT,
    "measures/families/handed_in.py": f"{CONFIDENT} tests/confidence/test_plaut.py",
    "measures/families/ranking.py": f"{LISTS} tests/measures/test_trec_eval.py",
    "measures/families/truncated.py": LISTS,
    "measures/ranked_lists.py": f"{LISTS} tests/measures/test_trec_eval.py",
    "measures/answers.py": f"{CONFIDENT} tests/confidence/test_curves.py",
    "outcomes.py": "tests/test_judge.py tests/measures/test_measures.py tests/test_given_counts.py",
    "judging/judge.py": f"{EDGES} tests/test_judge.py tests/test_ways_alike.py "
    "tests/test_joining.py",
    "judging/grades.py": "tests/test_grades.py",
    "judging/gold.py": "tests/test_judge.py tests/formats/test_tables.py",
    "judging/given_counts.py": "tests/test_given_counts.py",
    "judging/refusals/detect.py": "tests/refusals",
    "stats/intervals.py": "tests/compare/test_intervals.py",
    "stats/randomisation.py": "tests/compare",
    "stats/hypotheses.py": f"{EDGES} tests/compare/test_hypotheses.py",
    "analyses/compare/bounds.py": "tests/compare",
    "analyses/tune/choose.py": "tests/measures/test_edges.py tests/confidence/test_bounds.py "
    "tests/confidence/test_tuning.py",
    "analyses/tune/tuning.py": "tests/confidence/test_tuning.py",
    "analyses/tune/apply.py": "tests/confidence/test_tuning.py",
}
"""Modules with the tests that are to notice a change."""

EQUIVALENT: dict[str, str] = {
    "measures/answers.py:118: 0 → 1": "one more harmonic number is made than is looked up",
}
"""Mutants that change nothing that can be seen, as they are listed, each with why."""

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
    """One change: the module, the place of the node in it, and how it reads."""

    module: str
    place: int
    told: str


def mutants_of(module: str) -> list[Mutant]:
    """Every change that a module allows: operators swapped, numbers one more, conditions turned."""
    tree = ast.parse((SOURCE / module).read_text("utf-8"))
    found: list[Mutant] = []
    for place, node in enumerate(_nodes(tree)):
        before = ast.unparse(node)
        after = _changed(node)
        if after is not None:
            line = getattr(node, "lineno", 0)
            found.append(Mutant(module, place, f"{module}:{line}: {before} → {after}"))
    return found


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """The expressions that are computed: no docstrings, no types."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.BinOp, ast.Compare, ast.BoolOp, ast.Constant, ast.If, ast.IfExp)):
            yield node


def _changed(node: ast.AST) -> str | None:
    """Change a node in place; how it reads now, or None where there is nothing to change."""
    if isinstance(node, (ast.BinOp, ast.BoolOp)):
        other = SWAPPED.get(type(node.op))
        if other is None or _is_type(node):
            return None
        node.op = other()  # type: ignore[assignment]
    elif isinstance(node, ast.Compare):
        other = SWAPPED.get(type(node.ops[0]))
        if other is None:
            return None
        node.ops[0] = other()  # type: ignore[call-overload]
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            return None
        node.value = node.value + 1
    elif isinstance(node, (ast.If, ast.IfExp)):
        if "TYPE_CHECKING" in ast.unparse(node.test):
            return None
        node.test = ast.UnaryOp(ast.Not(), node.test)
        return f"not {ast.unparse(node.test.operand)}"[:80]
    return ast.unparse(node)


def _is_type(node: ast.AST) -> bool:
    """Whether an expression is a union of types, as `str | None`."""
    text = ast.unparse(node)
    return " | " in text and ("None" in text or "str" in text or "Array" in text)


def is_killed(mutant: Mutant, copy: Path, seconds: float) -> bool:
    """Whether a test notices a change, made in a copy of the package."""
    target = copy / "abstain" / mutant.module
    original = target.read_text("utf-8")
    tree = ast.parse(original)
    for place, node in enumerate(_nodes(tree)):
        if place == mutant.place:
            _changed(node)
    target.write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-n",
        "0",
        "-m",
        "not browser and not slow",
    ]
    command += ["--hypothesis-profile", "quick", *TESTS[mutant.module].split()]
    env = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=env, capture_output=True, timeout=seconds, check=False
        )
        return done.returncode != 0
    except subprocess.TimeoutExpired:
        return True  # a change that never ends is noticed
    finally:
        target.write_text(original, encoding="utf-8")


def main() -> None:
    """Draw mutants, run the tests against each, and print the score and the survivors."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("mutants", type=int, nargs="?", default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="modules whose name has this in it")
    parser.add_argument("--seconds", type=float, default=300)
    given = parser.parse_args()
    every = [own for module in TESTS if given.only in module for own in mutants_of(module)]
    every = [own for own in every if own.told not in EQUIVALENT]
    drawn = random.Random(given.seed).sample(every, min(given.mutants, len(every)))
    survived = []
    with tempfile.TemporaryDirectory(prefix="abstain-mutants-") as folder:
        copy = Path(folder)
        shutil.copytree(SOURCE, copy / "abstain")
        for number, mutant in enumerate(drawn, 1):
            killed = is_killed(mutant, copy, given.seconds)
            print(
                f"{number}/{len(drawn)} {'killed' if killed else 'SURVIVED'} {mutant.told}",
                flush=True,
            )
            survived += [] if killed else [mutant]
    score = 100 * (1 - len(survived) / len(drawn))
    print(f"{len(drawn):,} of {len(every):,} mutants: {score:.1f} % killed")
    for mutant in survived:
        print(f"survived: {mutant.told}")


if __name__ == "__main__":
    main()
