"""The wheel: it holds all that the package needs, and every command works from it elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from abstain.registry import COMMANDS
from tests.helpers import GOLD, ROOT, RUN

SURE = "question,answer,confidence\nq1,a,0.9\nq2,c,0.4\nq3,,0.1\nq4,d,0.8\n"
QRELS, RANKING = "q 0 d1 1\nq 0 d2 0\n", "q Q0 d1 1 2.0 a\nq Q0 d2 2 1.0 a\n"
COUNTS = "run,right,wrong,unanswered,c@1\na,5,1,2,0.78125\n"
COMMANDS_TRIED: dict[str, str] = {
    "score": "score gold.csv run.csv -o page.html",
    "compare": "compare gold.csv run.csv sure.csv --resamples 100 -o compared.json",
    "report": "report compared.json -o compared.html",
    "curve": "curve gold.csv sure.csv",
    "tune": "tune gold.csv sure.csv --maximise c@1 --folds 2",
    "meta": "meta gold.csv run.csv sure.csv --subsets 50",
    "campaign": "campaign gold.csv run.csv sure.csv -o site",
    "validate": "validate gold.csv run.csv",
    "baseline": "baseline gold.csv oracle",
    "convert": "convert run.csv run.jsonl",
    "refusals": "refusals run.csv",
    "audit": "audit counts.csv -n 8",
    "rank": "rank qrels.txt ranking.txt",
    "measures": "measures",
    "explain": "explain c@1",
    "demo": "demo -o demo",
}
"""A line for each command that small files are enough for; the others are asked for their help."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as a wheel has it, unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    made = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if made.returncode:
        pytest.skip(f"pip cannot build a wheel here: {made.stderr.strip().splitlines()[-1]}")
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def test_every_command_works_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """In one process, in an empty folder, with nothing of the checkout in reach."""
    files = {"gold.csv": GOLD, "run.csv": RUN, "sure.csv": SURE, "counts.csv": COUNTS}
    for name, text in (files | {"qrels.txt": QRELS, "ranking.txt": RANKING}).items():
        (tmp_path / name).write_text(text)
    lines = [[name, "--help"] for name in sorted(COMMANDS)]
    lines += [line.split() for line in COMMANDS_TRIED.values()]
    code = (
        "import abstain, sys\n"
        "from abstain.cli import run\n"
        f"assert abstain.__file__.startswith({str(installed)!r}), abstain.__file__\n"
        f"for line in {lines!r}:\n"
        "    assert run(line) == 0, line\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.html").stat().st_size > 10_000
    assert (tmp_path / "demo" / "index.html").exists()


def test_what_an_index_shows_has_only_absolute_links(installed: Path) -> None:
    (facts,) = installed.glob("*.dist-info/METADATA")
    text = facts.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)", text)
    assert len(links) > 30
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    assert text.count("Project-URL: ") == 4


def test_twine_has_no_complaint(installed: Path) -> None:
    pytest.importorskip("twine", reason="twine is not installed")
    (wheel,) = installed.parent.glob("*.whl")
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", str(wheel)],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_wheel_has_the_types_and_the_licence(installed: Path) -> None:
    assert (installed / "abstain" / "py.typed").exists()
    assert (installed / "abstain" / "__init__.pyi").exists()
    (facts,) = installed.glob("*.dist-info/METADATA")
    text = facts.read_text(encoding="utf-8")
    assert "License-Expression: MIT" in text
    needed = [line for line in text.splitlines() if line.startswith("Requires-Dist: ")]
    assert len([line for line in needed if "extra ==" not in line]) <= 11


def test_a_script_prints_what_the_wheel_costs(installed: Path) -> None:
    (wheel,) = installed.parent.glob("*.whl")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "wheel_size.py"), str(wheel)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    lines = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    with zipfile.ZipFile(wheel) as archive:
        size = sum(own.file_size for own in archive.infolist())
    assert lines["installed"].startswith(f"{size / 2**20:.2f} MiB in ")
    (facts,) = installed.glob("*.dist-info/METADATA")
    needed = [
        line
        for line in facts.read_text(encoding="utf-8").splitlines()
        if line.startswith("Requires-Dist: ") and "extra ==" not in line
    ]
    assert lines["dependencies"].startswith(f"{len(needed)} direct (")
    assert size < 5 * 2**20
