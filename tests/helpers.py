"""What several tests share: running the command line, writing files, finding real data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import abstain as ab

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("ABSTAIN_SHARED", ROOT.parent / "shared"))

GOLD = "question,correct,topic\nq1,a,x\nq2,b,x\nq3,c,y\nq4,d,y\n"
RUN = "question,answer\nq1,a\nq2,c\nq3,\nq4,d\n"
"""Two right, one wrong, one blank: c@1 = 2/4 · (1 + 1/4) = 0.625."""


@dataclass(frozen=True)
class Said:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)

    @property
    def line(self) -> str:
        """The one line of an error."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        return lines[0]


def abstain(
    *args: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Said:
    """Run the command line in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "abstain", *map(str, args)],
        capture_output=True,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "80", **(env or {})},
        timeout=120,
        check=False,
    )
    return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


class Here:
    """The command line in this process and in a folder: quick, for the many cases."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(folder)
        self.folder, self.capfd = folder, capfd

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def __call__(self, *args: str | Path) -> Said:
        from abstain.cli import run

        self.capfd.readouterr()
        code = run([str(arg) for arg in args])
        out, err = self.capfd.readouterr()
        return Said(code, out, err)

    def refuses(self, *args: str | Path) -> str:
        """The one line of a refusal: exit code 2, nothing on stdout, no file left behind."""
        before = sorted(p.name for p in self.folder.iterdir())
        said = self(*args)
        assert said.code == 2, said
        assert said.out == ""
        assert "Traceback" not in said.err
        assert sorted(p.name for p in self.folder.iterdir()) == before
        return said.line


def counts_of(result: ab.ScoreResult) -> dict[str, tuple[float, ...]]:
    """Run to its counts, for results without slices; blanks of unknown candidate count as empty."""
    return {
        row.run: (
            row.counts.right,
            row.counts.wrong,
            row.counts.unanswered_right,
            row.counts.unanswered_wrong,
            row.counts.unanswered_empty + row.counts.unsplit,
        )
        for row in result.rows
        if row.reference is None
    }


def outcomes(right: int, wrong: int, ur: int, uw: int, ue: int) -> list[str]:
    """Outcomes one by one, as a slow reference wants them."""
    return ["R"] * right + ["W"] * wrong + ["UR"] * ur + ["UW"] * uw + ["UE"] * ue


def mean(values: Iterable[int | Fraction]) -> Fraction | None:
    """The mean as a fraction; None of nothing."""
    listed = [Fraction(v) for v in values]
    return sum(listed, Fraction(0)) / len(listed) if listed else None


def csv_text(rows: Sequence[Sequence[str]]) -> str:
    """Rows of harmless cells as CSV."""
    return "".join(",".join(row) + "\n" for row in rows)


def needs(relative: str) -> Path:
    """A file of the shared real data, or a skip that says what is missing."""
    path = SHARED / relative
    if not path.exists():
        pytest.skip(f"real data is not here: {relative} (ABSTAIN_SHARED names its folder)")
    return path


def words(text: str) -> str:
    """Text without its line breaks."""
    return " ".join(text.split())
