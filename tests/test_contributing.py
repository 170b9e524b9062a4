"""CONTRIBUTING's new feature, added to a copy of the package as it says; and features removed."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import ROOT

BLOCK = re.compile(r"```python file=(src/\S+)\n(.*?)```", re.S)
REGISTRY = "src/abstain/registry.py"

CHECK = """
import polars as pl
import abstain as ab
found = ab.read("gold.csv", ["a.csv", "b.csv"]).silence()
assert ab.silence("gold.csv", ["a.csv", "b.csv"]) == found
assert repr(found) == "<SilenceResult: 1 question>", repr(found)
assert found.to_frame()["question"].to_list() == ["q2"]
found.to_json("silence.json")
assert ab.load("silence.json") == found
assert "q2" in found.page()
marked = {"question": ["q1", "q2", "q3"], "correct": ["A", "B", None]}
marked = pl.DataFrame({**marked, "answerable": [False, True, False]})
assert ab.silence(marked, ["a.csv", "b.csv"]).rows == found.rows
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package, with a gold and two runs beside it."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "gold.csv").write_text("question,correct\nq1,A\nq2,B\nq3,A\n")
    (tmp_path / "a.csv").write_text("question,answer\nq1,A\nq2,\nq3,\n")
    (tmp_path / "b.csv").write_text("question,answer\nq1,\nq2,\nq3,B\n")
    return tmp_path


@pytest.mark.slow
def test_a_new_feature_is_what_the_guide_says(copy: Path) -> None:
    blocks = BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert len(blocks) == 5
    for name, text in blocks:
        path = copy / name
        path.parent.mkdir(exist_ok=True)
        if name == REGISTRY:
            registry = path.read_text(encoding="utf-8")
            text = registry.replace("FEATURES = (\n", f"FEATURES = (\n{text.rstrip()},\n", 1)
        path.write_text(text, encoding="utf-8")
    out = _python(copy, "-m", "abstain", "silence", "gold.csv", "a.csv", "b.csv")
    assert out.splitlines()[2].split() == ["q2"]
    assert "List the questions that nobody answered." in _python(copy, "-m", "abstain", "--help")
    assert '"kind": "silence"' in _python(
        copy, "-m", "abstain", "silence", "gold.csv", "a.csv", "b.csv", "--format", "json"
    )
    _python(copy, "-c", CHECK)
    # The tests that go over every command and every kind of result take it as it is.
    nets = ("test_every_result.py", "test_public_names.py", "cli/test_every_option.py")
    every = [str(ROOT / "tests" / name) for name in nets]
    chosen = [
        "-k",
        "silence or (public or function) and not test_what_can_be_asked_of_an_evaluation_is_few",
        "-n",
        "0",
    ]
    out = _python(ROOT, "-m", "pytest", *every, *chosen, "-rp", package=copy)
    assert len(re.findall(r"PASSED .*silence", out)) >= 20, out


GONE = """
import abstain as ab
from abstain.report.result import RESULT_KINDS
for name in {names!r}:
    assert name not in RESULT_KINDS
    assert not hasattr(ab, name), name
    assert not hasattr(ab.Evaluation, name) and not hasattr(ab.Rankings, name), name
    assert name not in ab.__all__, name
ab.score("gold.csv", "a.csv")
import generate
assert not {{f"commands/{{name}}.md" for name in {names!r}}} & generate.pages().keys()
"""


@pytest.mark.slow
@pytest.mark.parametrize("names", [["cut"], ["audit"], ["cut", "audit", "refusals"]])
def test_deleting_a_folder_and_its_declaration_removes_a_feature(
    copy: Path, names: list[str]
) -> None:
    for name in names:
        shutil.rmtree(copy / "src/abstain/features" / name)
    path = copy / REGISTRY
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    for call in ast.walk(ast.parse(text)):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Feature":
            (name,) = (str(ast.literal_eval(k.value)) for k in call.keywords if k.arg == "name")
            if name in names:
                assert call.end_lineno is not None
                lines[call.lineno - 1 : call.end_lineno] = [""] * (
                    call.end_lineno - call.lineno + 1
                )
    path.write_text("".join(lines), encoding="utf-8")
    help = _python(copy, "-m", "abstain", "--help")
    for name in names:
        assert not re.search(rf"^  {name} ", help, re.M)
    _python(copy, "-c", GONE.format(names=names))
    assert "0.5556" in _python(copy, "-m", "abstain", "score", "gold.csv", "a.csv")


COMPOSED = re.compile(
    r"import_module\(\s*f[\"']|import_module\([^()]*[+%]|getattr\([^()]*,\s*f[\"']"
    r"|getattr\([^()]*,[^(),]*[\"']\s*[+%]|getattr\([^()]*\.format\(|\.__name__\s*=="
    r"|__import__|\bexec\("
)
IMPORTERS = {"registry.py", "measures/registry.py", "measures/definition.py"}
"""Where modules are imported by a declared name: features, families of measures, numpy."""


def test_no_code_is_looked_up_by_a_composed_name() -> None:
    places, importers = [], set()
    for path in (ROOT / "src" / "abstain").rglob("*.py"):
        name, text = path.relative_to(ROOT / "src" / "abstain").as_posix(), path.read_text("utf-8")
        places += [f"{name}: {match[0]}" for match in COMPOSED.finditer(text)]
        importers |= {name} if "import_module(" in text else set()
    assert places == []
    assert importers == IMPORTERS


@pytest.mark.parametrize(
    "line",
    [
        'import_module(f"abstain.{name}")',
        'import_module("abstain." + name)',
        'getattr(module, f"_{name}")',
        'getattr(module, "read_" + name)',
        'getattr(module, "read_{}".format(name))',
        '__import__("abstain")',
    ],
)
def test_a_composed_name_is_noticed(line: str) -> None:
    assert COMPOSED.search(line)


def _python(folder: Path, *words: str, package: Path | None = None) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        check=False,
        cwd=folder,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(
                [
                    str((package or folder) / "src"),
                    *(str(ROOT / part) for part in ("docs", "tools")),
                ]
            ),
        },
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout
