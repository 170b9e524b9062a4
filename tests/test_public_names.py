"""What `abstain` offers: every command's function, no more than is documented."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import abstain as ab
from abstain.cli.app import COMMANDS
from tests.helpers import ROOT

NAMED_OTHERWISE = {"report": "load", "measures": "list_measures", "explain": "measure"}
"""Commands whose function has another name: a module has theirs, or there is more to it."""

NO_FUNCTION = {"demo"}
"""It runs `campaign` on data that is bundled."""


def test_every_command_has_its_function() -> None:
    for name in set(COMMANDS) - NO_FUNCTION:
        assert callable(getattr(ab, NAMED_OTHERWISE.get(name, name))), name


def test_only_what_is_said_to_be_public_is_there() -> None:
    assert dir(ab) == sorted(ab.__all__)
    for name in ab.__all__:
        assert getattr(ab, name) is not None
    manual = (ROOT / "docs" / "python.md").read_text()
    functions = [n for n in ab.__all__ if n.islower() and not n.startswith("_")]
    undocumented = [n for n in functions if f"abstain.{n}\n" not in manual]
    assert undocumented == []


def test_the_top_level_has_five_modules() -> None:
    modules = {path.stem for path in (ROOT / "src" / "abstain").glob("*.py")}
    assert modules == {"__init__", "__main__", "errors", "outcomes", "testing"}


def test_exactly_one_class_holds_runs_by_questions() -> None:
    """`kinds`, `codes` or a matrix of outcomes as an attribute of a class: Evaluation alone."""
    holders = []
    for path in (ROOT / "src" / "abstain").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for line in text.splitlines():
            if line.startswith("class ") and "Matrix" in line and "ScoreMatrix" not in line:
                holders.append(f"{path.name}: {line}")
    assert holders == []


def test_importing_loads_neither_numpy_nor_polars(tmp_path: Path) -> None:
    code = (
        "import sys, abstain; abstain.measure('c@1'); "
        "print(sorted({'numpy', 'polars', 'narwhals', 'rich', 'click'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.strip() == "[]"
