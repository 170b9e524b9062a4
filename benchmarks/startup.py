"""How fast a small question is answered: commands on tiny files against `import polars`.

    python benchmarks/startup.py [--runs 15]

Every command runs in a process of its own, in turn with the others. A ratio is the median time of a
command over that of `python -c "import polars"`, which no command that reads a table can beat.

How much of abstain a score of two questions runs through is counted too: calls of its functions
(and comprehensions and module bodies), and the modules that have one, from the entry point to the
printed table.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GOLD = "question,correct\nq1,a\nq2,b\n"
RUN = "question,answer\nq1,a\nq2,\n"
QRELS = "q1 0 d1 1\nq2 0 d2 1\n"
RANKING = "q1 Q0 d1 1 1.0 r\nq2 Q0 d3 1 1.0 r\n"

YARDSTICK = "import polars"
COMMANDS: dict[str, tuple[tuple[str, ...], float]] = {
    "score": (("score", "gold.csv", "run.csv"), 1.4),
    "rank": (("rank", "qrels.txt", "run.txt"), 1.4),
    "--help": (("--help",), 1.2),
    "explain": (("explain", "c@1"), 1.2),
}
"""The commands, and how many times the yardstick they may take."""


AIMS = {"calls": 1_300, "modules": 35}
"""How much of abstain a score of two questions may run through."""

COUNT = """
import sys
import abstain
from abstain.cli import run

home, calls, modules = abstain.__path__[0], 0, set()

def count(frame, event, argument):
    global calls
    if event == "call" and frame.f_code.co_filename.startswith(home):
        calls += 1
        modules.add(frame.f_code.co_filename)

sys.setprofile(count)
run(["score", "gold.csv", "run.csv"])
sys.setprofile(None)
print(calls, len(modules), file=sys.stderr)
"""


def counted(folder: Path) -> dict[str, int]:
    """The calls and the modules of a score."""
    done = subprocess.run(
        [sys.executable, "-c", COUNT], cwd=folder, capture_output=True, text=True, check=True
    )
    return dict(zip(AIMS, map(int, done.stderr.split()), strict=True))


def seconds(args: list[str], folder: Path) -> float:
    """How long a process takes, from its start to its end."""
    # Modules are compiled once, as after an installation.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    begun = time.perf_counter()
    subprocess.run(args, cwd=folder, env=env, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begun


def main() -> int:
    """Print the times and ratios; 1 where a command takes longer than it may."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    cases = {YARDSTICK: [sys.executable, "-c", YARDSTICK]}
    cases |= {
        name: [sys.executable, "-m", "abstain", *args] for name, (args, _) in COMMANDS.items()
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in (("gold.csv", GOLD), ("run.csv", RUN)):
            (folder / file).write_text(text)
        for file, text in (("qrels.txt", QRELS), ("run.txt", RANKING)):
            (folder / file).write_text(text)
        times: dict[str, list[float]] = {case: [] for case in cases}
        for args in cases.values():  # the first time compiles modules and fills the disk's cache
            seconds(args, folder)
        for _ in range(runs):
            for case, args in cases.items():
                times[case].append(seconds(args, folder))
        counts = counted(folder)
    yardstick = statistics.median(times[YARDSTICK])
    print(f"{YARDSTICK:<14} {1000 * yardstick:6.0f} ms")
    missed = 0
    for case, (_, aim) in COMMANDS.items():
        own = statistics.median(times[case])
        ratio = own / yardstick
        missed += ratio > aim
        verdict = "" if ratio <= aim else "   missed"
        print(f"{case:<14} {1000 * own:6.0f} ms   {ratio:4.2f} × (aim {aim}){verdict}")
    for what, number in counts.items():
        missed += number > AIMS[what]
        verdict = "" if number <= AIMS[what] else "   missed"
        print(f"{what:<14} {number:6,}      (aim {AIMS[what]:,}){verdict}")
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main())
