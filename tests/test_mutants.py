"""The runner of mutants: what it counts as noticed, and that nothing outlives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers import ROOT

TOOLS = ROOT / "tools"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not TOOLS.exists(), reason="tools/ is not here: this is no checkout"),
]

LIMITS = """
import time
from pathlib import Path

import mutants

mutants.PATIENCE = 0.3

def spin():
    while True:
        pass

def start(slot, task):
    work, hangs = task
    def limited():
        mutants.HANGS = hangs
        mutants.limited(0)
        work()
        return 0
    return mutants.fork(Path({folder!r}), limited)

works = [(spin, 600), (lambda: time.sleep(1), 600), (lambda: time.sleep(600), 1)]
print([code for _, code in mutants.in_turn(1, works, start)])
"""


def test_what_computes_too_long_or_hangs_is_noticed_and_what_only_waits_is_not(
    tmp_path: Path,
) -> None:
    """0.3 s of computing are allowed: a second of waiting for the processor is no more than that.

    On a machine that others use a test waits as that one sleeps.
    """
    done = subprocess.run(
        [sys.executable, "-c", LIMITS.format(folder=str(tmp_path))],
        capture_output=True,
        text=True,
        cwd=TOOLS,
        timeout=100,
        check=True,
    )
    assert done.stdout == f"{[-signal.SIGPROF, 0, -signal.SIGALRM]}\n"


def test_every_equivalent_change_is_one_that_the_code_has() -> None:
    """An entry of EQUIVALENT whose function or operator is gone is deleted, or follows its code."""
    program = "import mutations; print(*mutations.unmatched(), sep='\\n', end='')"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=TOOLS, check=True
    )
    assert done.stdout.splitlines() == []


STOPPED = """
import subprocess, time
from pathlib import Path

import mutants

def start(slot, name):
    def work():
        child = subprocess.Popen(["sleep", "300"])
        Path({folder!r}, "pids").write_text(f"{{mutants.os.getpid()}} {{child.pid}} ")
        return child.wait()
    return mutants.fork(Path({folder!r}), work)

mutants.end_on_signals()
list(mutants.in_turn(1, ["one"], start))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_its_children_end_with_it(tmp_path: Path, number: int) -> None:
    runner = subprocess.Popen(
        [sys.executable, "-c", STOPPED.format(folder=str(tmp_path))],
        cwd=TOOLS,
        stderr=subprocess.DEVNULL,
    )
    pids: list[str] = []
    while len(pids) < 2 and runner.poll() is None:
        time.sleep(0.05)
        if (tmp_path / "pids").exists():
            pids = (tmp_path / "pids").read_text("utf-8").split()
    runner.send_signal(number)
    assert runner.wait(timeout=60) != 0
    for _ in range(100):
        if not any(is_alive(pid) for pid in pids):
            break
        time.sleep(0.05)
    assert len(pids) == 2
    assert not [pid for pid in pids if is_alive(pid)]


def is_alive(pid: str) -> bool:
    """Whether a process still runs: one that has ended and that nobody asked about does not."""
    if not os.path.exists(f"/proc/{pid}"):
        return False
    return ") Z " not in Path(f"/proc/{pid}/stat").read_text("utf-8")
