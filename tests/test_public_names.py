"""What `abstain` offers: every command's function, no more than is documented."""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest

import abstain as ab
from abstain.registry import COMMANDS
from tests.helpers import ROOT

NAMED_OTHERWISE = {"report": "load", "measures": "list_measures"}
"""Commands whose function has another name: a package has theirs."""


def test_every_command_has_its_function() -> None:
    for name in COMMANDS:
        assert callable(getattr(ab, NAMED_OTHERWISE.get(name, name))), name


def test_only_what_is_said_to_be_public_is_there() -> None:
    for name in ab.__all__:
        assert getattr(ab, name) is not None
    own = {name for name, value in vars(ab).items() if not isinstance(value, ModuleType)}
    shown = {name for name in own if not name.startswith("_")}
    assert shown - set(ab.__all__) == set()
    assert set(dir(ab)) == set(ab.__all__)


def test_the_top_level_has_few_modules() -> None:
    modules = {path.stem for path in (ROOT / "src" / "abstain").glob("*.py")}
    names = {"__init__", "__main__", "entry_points", "errors", "outcomes", "reading", "registry"}
    names |= {"sklearn"}  # `abstain.sklearn` is short for `abstain.integrations.sklearn`
    assert modules == names


@pytest.mark.slow
def test_one_class_keeps_runs_by_questions() -> None:
    """Whatever is asked, one `Matrix` keeps the kinds, and `RunData` alone their outcomes."""
    runs, questions = 7, 37
    rng = np.random.default_rng(0)
    answers = rng.choice(["A", "B", ""], (runs, questions))
    names = [f"q{n}" for n in range(questions)]
    gold = pl.DataFrame({"question": names, "correct": ["A"] * questions, "topic": ["x"] * 37})
    asked = ab.read(
        gold,
        {
            f"run {n}": pl.DataFrame(
                {"question": names, "answer": own, "confidence": rng.random(37)}
            )
            for n, own in enumerate(answers)
        },
    )
    kept = [
        asked.score(["c@1", "AUROC"], by="topic", interval=True),
        asked.compare(resamples=100),
        asked.curve(),
        asked.tune(folds=2),
        asked.meta(subsets=5, resamples=20),
        asked.campaign(),
        asked.validate(),
    ]
    holders = {
        type(owner).__name__
        for owner in gc.get_objects()
        if str(type(owner).__module__).startswith("abstain.")
        for held in gc.get_referents(owner)
        for one in (
            held.values() if type(held) is dict else (*held,) if type(held) is tuple else [held]
        )
        if isinstance(one, np.ndarray) and one.shape == (runs, questions) and one.dtype.kind in "iu"
    }
    assert len(kept) == 7
    assert holders == {"Matrix", "RunData"}


def test_importing_loads_neither_numpy_nor_polars(tmp_path: Path) -> None:
    code = (
        "import sys, abstain; abstain.measure('c@1'); "
        "print(sorted({'numpy', 'polars', 'narwhals', 'rich', 'click'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.strip() == "[]"


def test_what_can_be_asked_of_an_evaluation_is_few() -> None:
    members = {name for name in dir(ab.Evaluation) if not name.startswith("_")}
    held = {"reading", "data"}
    assert len(members | held) <= 20


def private_imports(text: str) -> list[str]:
    """The names with an underscore that a module imports from the package."""
    return [
        f"{node.module}.{name.name}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("abstain")
        for name in node.names
        if any(part.startswith("_") for part in f"{node.module}.{name.name}".split("."))
    ]


def test_tests_import_no_private_name() -> None:
    places = {
        path.relative_to(ROOT).as_posix(): names
        for folder in ("tests", "benchmarks", "tools")
        for path in (ROOT / folder).rglob("*.py")
        if (names := private_imports(path.read_text("utf-8")))
    }
    assert places == {}
    assert private_imports("from abstain.io.files import _all_of") == ["abstain.io.files._all_of"]
