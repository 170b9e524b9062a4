"""CONTRIBUTING's new command, added to a copy of the package as it says, and run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import ROOT

BLOCK = re.compile(r"```python file=(src/\S+)\n(.*?)```", re.S)

CHECK = """
import abstain as ab
read = ab.read("gold.csv", ["a.csv", "b.csv"])
found = read.silence()
assert repr(found) == "<SilenceResult: 1 question>", repr(found)
assert found.to_frame()["question"].to_list() == ["q2"]
found.to_json("silence.json")
assert ab.load("silence.json") == found
assert "q2" in found.page()
"""


@pytest.mark.slow
def test_a_new_command_is_what_the_guide_says(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    blocks = BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert len(blocks) == 3
    for name, text in blocks:
        (tmp_path / name).write_text(text, encoding="utf-8")
    _add(tmp_path / "src/abstain/judging/evaluation.py", "    else:\n        score =", "silence")
    with (tmp_path / "src/abstain/__init__.pyi").open("a", encoding="utf-8") as stub:
        for name in ("SilenceResult", "silence"):
            stub.write(f"from abstain.analyses.silence import {name} as {name}\n")
    (tmp_path / "gold.csv").write_text("question,correct\nq1,A\nq2,B\nq3,A\n")
    (tmp_path / "a.csv").write_text("question,answer\nq1,A\nq2,\nq3,\n")
    (tmp_path / "b.csv").write_text("question,answer\nq1,\nq2,\nq3,B\n")
    said = _python(tmp_path, "-m", "abstain", "silence", "gold.csv", "a.csv", "b.csv")
    assert said.splitlines()[2:3] == ["q2"]
    assert "What did nobody answer?" in _python(tmp_path, "-m", "abstain", "--help")
    assert '"kind": "silence"' in _python(
        tmp_path, "-m", "abstain", "silence", "gold.csv", "a.csv", "b.csv", "--format", "json"
    )
    _python(tmp_path, "-c", CHECK)
    # The tests that go over every command and every kind of result take it as it is.
    nets = ("test_every_result.py", "test_public_names.py", "cli/test_every_option.py")
    every = [str(ROOT / "tests" / name) for name in nets]
    chosen = ["-k", "silence or public or function", "-n", "0"]
    said = _python(ROOT, "-m", "pytest", *every, *chosen, "-rp", package=tmp_path)
    assert len(re.findall(r"PASSED .*silence", said)) >= 20, said


def _add(path: Path, before: str, name: str) -> None:
    text = path.read_text(encoding="utf-8")
    line = f'    else:\n        {name} = abstain.Asked("{name}")\n        score ='
    assert text.count(before) == 1
    path.write_text(text.replace(before, line), encoding="utf-8")


def _python(folder: Path, *words: str, package: Path | None = None) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        check=False,
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str((package or folder) / "src")},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
