"""The action and the hook: what their files say is run, as GitHub and pre-commit do."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import GOLD, ROOT, RUN

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "gold.csv").write_text(GOLD)
    (tmp_path / "run.csv").write_text(RUN)
    (tmp_path / "odd.csv").write_text("question,answer\nq9,a\n")
    rows = "".join(f"q{i},{'right' if i % 5 else 'wrong'}\n" for i in range(200))
    (tmp_path / "graded.csv").write_text("question,outcome\n" + rows)
    return tmp_path


def act(folder: Path, **inputs: str) -> tuple[int, str, str]:
    """Every step of the action, until one fails: its exit code, what it says, the job summary."""
    values = {name: known.get("default", "") for name, known in ACTION["inputs"].items()}
    values |= {"install": ""} | {name.replace("_", "-"): text for name, text in inputs.items()}
    summary, said = folder / "summary.md", ""
    summary.touch()
    for step in ACTION["runs"]["steps"]:
        if "inputs.install" in step.get("if", ""):
            continue
        env = {
            name: values[text.removeprefix("${{ inputs.").removesuffix(" }}")]
            for name, text in step["env"].items()
        }
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder,
            env={**os.environ, "PATH": PATH, "GITHUB_STEP_SUMMARY": str(summary), **env},
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        said += done.stdout + done.stderr
        if done.returncode:
            break
    return done.returncode, said, summary.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_gate_passes_and_the_summary_has_the_table(here: Path) -> None:
    code, said, summary = act(here, run="graded.csv", measure="accuracy", at_least="0.7")
    assert (code, said.count("\n")) == (0, 1)
    assert "surely reaches 0.7" in said
    assert "| accuracy |" in " ".join(summary.split())
    assert "0.8000" in summary


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        {"at_least": "0.7"},
        {"at_least": "0.7", "measure": "accuracy", "options": "--by topic"},
        {"at_most": "0.1", "measure": "wrong-rate"},
        {"baseline": "gold_run.csv", "margin": "0.01"},
    ],
)
def test_a_gate_that_fails_ends_the_job_and_says_why(here: Path, asked: dict[str, str]) -> None:
    (here / "gold_run.csv").write_text("question,answer\nq1,a\nq2,b\nq3,c\nq4,d\n")
    code, said, summary = act(here, gold="gold.csv", run="run.csv", **asked)
    assert code == 1
    assert "Traceback" not in said
    assert "'run'" in said
    assert "```text" in summary


@pytest.mark.slow
def test_a_file_that_is_not_there_is_one_line(here: Path) -> None:
    code, said, _ = act(here, gold="gold.csv", run="nothing.csv", at_least="0.5")
    assert code == 2
    assert said.strip() == "nothing.csv: there is no such file"


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "code"), [(["run.csv"], 0), (["run.csv", "odd.csv"], 1)])
def test_the_hook_validates_what_is_committed(here: Path, runs: list[str], code: int) -> None:
    words = [*shlex.split(HOOK["entry"]), "gold.csv", *runs]
    done: Any = subprocess.run(
        words,
        cwd=here,
        env={**os.environ, "PATH": PATH},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert ("odd.csv" in done.stdout) == (code == 1)
