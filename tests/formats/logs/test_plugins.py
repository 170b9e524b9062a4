"""Readers of other packages: found by their entry point, held to what ours are held to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import ROOT
from tests.snapshots import says

EXAMPLE = Path(__file__).parent / "third_party" / "quiz_logs.py"
LOG = """\
{"quiz": "q1", "said": "Paris", "right": true}
{"quiz": "q2", "said": "Rome", "right": false}
{"quiz": "q3", "said": "", "right": null}
"""


def install(folder: Path, text: str, value: str = "quiz_logs:READER") -> None:
    """What an installer leaves behind of a package with one module and its entry point."""
    (folder / "quiz_logs.py").write_text(text, encoding="utf-8")
    known = folder / "quiz_logs-1.0.dist-info"
    known.mkdir()
    (known / "METADATA").write_text("Metadata-Version: 2.1\nName: quiz-logs\nVersion: 1.0\n")
    (known / "entry_points.txt").write_text(f"[abstain.readers]\nquiz = {value}\n")


def abstain(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line with the folder's packages."""
    path = os.pathsep.join([str(folder), str(ROOT / "src")])
    return subprocess.run(
        [sys.executable, "-m", "abstain", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path, "COLUMNS": "80", "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.slow
def test_a_log_of_another_packages_tool_is_sniffed_and_scored(tmp_path: Path) -> None:
    install(tmp_path, EXAMPLE.read_text(encoding="utf-8"))
    (tmp_path / "log.jsonl").write_text(LOG)
    for more in ([], ["--from", "quiz"]):
        done = abstain(
            tmp_path, "score", "--judged", "log.jsonl", "-m", "c@1", "--format", "json", *more
        )
        assert done.returncode == 0, done.stderr
        (row,) = json.loads(done.stdout)["results"]
        assert (row["counts"]["right"], row["counts"]["wrong"]) == (1, 1)
        assert row["blanks"] == {"declined": 1}
        assert row["scores"]["c@1"] == pytest.approx((1 + 1 / 3) / 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        ("READER = 1", "quiz_logs:READER", "is a int, expected a Reader"),
        ("import nowhere", "quiz_logs:READER", "cannot be loaded: ModuleNotFoundError"),
        ("", "quiz_logs:READER", "cannot be loaded: AttributeError"),
        ("from abstain.io.logs.benchmarks import PAN", "quiz_logs:PAN", "a reader 'pan' already"),
    ],
)
def test_a_broken_reader_is_named_in_one_line(
    tmp_path: Path, text: str, value: str, said: str
) -> None:
    install(tmp_path, text, value)
    (tmp_path / "log.jsonl").write_text(LOG)
    done = abstain(tmp_path, "score", "--judged", "log.jsonl", "--from", "quiz")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    says(done.stderr, "'quiz'", "1.0")
    assert said in done.stderr
