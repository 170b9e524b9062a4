"""Receivers at once, some of them killed: is any receipt lost, given twice, or untrue?

    python tools/receivers.py [RECEIVERS] [KILLED] [SEED]

Every file is sent by two receivers, so that each must be recognised. Half of those that are killed
die at a random line of what keeps a file and enters its receipt, the others whenever it comes.
Exit code 1 after any fault.
"""

from __future__ import annotations

import hashlib
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from abstain.features.season import intake
from abstain.features.season.intake import receive
from abstain.runs import season as ledger
from abstain.runs.season import read_season

QUESTIONS = 40
TEAMS = 10
CODE = (intake.__file__, ledger.__file__)
LINES = 180
"""About as many lines of it are run for one file."""
ENDED = os.WEXITED | os.WNOHANG | os.WNOWAIT


def lay_out(folder: Path, files: int, draw: random.Random) -> list[tuple[str, Path]]:
    """A season without a ledger, and the files that teams send."""
    season = folder / "season"
    season.mkdir()
    gold = "".join(f"q{n},{draw.choice('ABCD')},A|B|C|D\n" for n in range(QUESTIONS))
    (season / "gold.csv").write_text("question,correct,options\n" + gold)
    (season / "season.toml").write_text('gold = "gold.csv"\n')
    sent = []
    for at in range(files):
        rows = "".join(f"q{n},{draw.choice(['A', 'B', 'C', 'D', ''])}\n" for n in range(QUESTIONS))
        path = folder / f"run{at}.csv"
        path.write_text("question,answer\n" + rows)
        sent.append((f"team{at % TEAMS}", path))
    return sent


def start(folder: Path, number: int, team: str, path: Path, dies_at: int = 0) -> int:
    """A receiver in a process of its own; when it has a receipt, it writes it down."""
    child = os.fork()
    if child:
        return child
    try:
        if dies_at:
            sys.settrace(killed_at(dies_at))
        (receipt,) = receive(path, team=team, into=folder / "season")
        (folder / f"receipt{number}").write_text(f"{receipt.number} {receipt.sha256}")
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def killed_at(line: int) -> Any:
    """What kills this process before that line of those that it runs of the code in question."""
    left = line

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename not in CODE:
            return None
        left -= event == "line"
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    return trace


def wait_for(children: dict[int, int]) -> Counter[str]:
    ends: Counter[str] = Counter()
    for child in children:
        _, status = os.waitpid(child, 0)
        ends["killed" if os.WIFSIGNALED(status) else ("done", "failed")[status != 0]] += 1
    return ends


def faults(folder: Path, sent: list[tuple[str, Path]], *, whole: bool) -> list[str]:
    """What the ledger and the receipts that receivers got say that is not so."""
    receipts = {r.number: r for r in read_season(folder / "season").receipts}
    found = []
    for r in receipts.values():
        kept, original = folder / "season" / "submissions" / r.sha256, folder / r.file
        if not kept.exists() or kept.read_bytes() != original.read_bytes():
            found.append(f"receipt {r.number}: its file is not what was sent")
        if hashlib.sha256(kept.read_bytes()).hexdigest() != r.sha256 or r.state != "counts":
            found.append(f"receipt {r.number} is not true")
    rows = Counter((r.team, r.file) for r in receipts.values())
    found += [f"{key} has {times} receipts" for key, times in rows.items() if times > 1]
    for note in folder.glob("receipt*"):
        number, sha256 = note.read_text().split()
        if int(number) not in receipts or receipts[int(number)].sha256 != sha256:
            found.append(f"{note.name} is not in the ledger")
    if whole and len(receipts) != len(sent):
        found.append(f"{len(receipts)} receipts of {len(sent)} files")
    return found


def main(receivers: int = 200, killed: int = 50, seed: int = 1) -> int:
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sent = lay_out(folder, receivers // 2, draw)
        jobs = sent * 2
        draw.shuffle(jobs)
        begun = time.monotonic()
        at_a_line = killed // 2
        children = {}
        for n, job in enumerate(jobs):
            children[start(folder, n, *job, draw.randint(1, LINES) * (n < at_a_line))] = n
        others = [child for child, n in children.items() if n >= at_a_line]
        for at in range(killed - at_a_line):
            # spread over the work: the next one when so many receivers have a receipt
            while len([*folder.glob("receipt*")]) < at * (len(others) - killed) // killed:
                time.sleep(0.001)
            alive = [c for c in others if os.waitid(os.P_PID, c, ENDED) is None]
            if alive:
                os.kill(victim := draw.choice(alive), signal.SIGKILL)
                others.remove(victim)
        ends = wait_for(children)
        took = time.monotonic() - begun
        first = faults(folder, sent, whole=False)
        rows = len(read_season(folder / "season").receipts)
        again = {start(folder, n, *job): n for n, job in enumerate(sent, receivers)}
        ends_again = wait_for(again)
        second = faults(folder, sent, whole=True)
    print(f"{receivers} receivers of {len(sent)} files in {took:.1f} s: {dict(ends)}")
    print(f"{rows} receipts; after all files were sent again: {len(sent)} ({dict(ends_again)})")
    for fault in (*first, *second):
        print("FAULT", fault)
    failed = ends["failed"] + ends_again["failed"]
    print(f"{len(first) + len(second)} faults, {failed} failures")
    return int(bool(first or second or failed))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
