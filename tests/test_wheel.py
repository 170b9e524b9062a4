"""The wheel: it holds all that the package needs, and every command works from it elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from abstain.cli.app import COMMANDS
from tests.helpers import GOLD, ROOT, RUN

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
    (tmp_path / "gold.csv").write_text(GOLD)
    (tmp_path / "run.csv").write_text(RUN)
    code = (
        "import abstain, sys\n"
        "from abstain.cli import run\n"
        f"assert abstain.__file__.startswith({str(installed)!r}), abstain.__file__\n"
        f"for name in {sorted(COMMANDS)!r}:\n"
        "    assert run([name, '--help']) == 0, name\n"
        "assert run(['score', 'gold.csv', 'run.csv', '-o', 'page.html']) == 0\n"
        "assert run(['demo', '-o', 'demo']) == 0\n"
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
