"""Tables from the standard input and from pipes, which can be read only once."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import GOLD, RUN, Here
from tests.snapshots import says

GRADES = "id,predicted_answer,grade\nq1,Lima,A\nq2,,C\nq3,Quito,B\nq4,Cusco,A\n"
PIPES = ("-", "/dev/stdin")


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    def stdin(content: str | bytes) -> None:
        data = content if isinstance(content, bytes) else content.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return stdin


def piped(folder: Path, content: bytes, *args: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "abstain", *args],
        input=content,
        capture_output=True,
        cwd=folder,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_run_from_the_standard_input(here: Here, typed, pack) -> None:  # type: ignore[no-untyped-def]
    here.write("gold.csv", GOLD)
    typed(pack(RUN.encode()))
    said = here("score", "gold.csv", "-", "-m", "c@1", "--format", "json")
    assert said.code == 0, said
    assert said.data["results"][0]["scores"]["c@1"] == 0.625
    assert said.data["results"][0]["run"] == "standard input"


def test_it_is_read_once_however_often_it_is_needed(here: Here, typed) -> None:  # type: ignore[no-untyped-def]
    here.write("gold.csv", GOLD)
    sure = "question,answer,confidence\nq1,a,0.9\nq2,c,0.2\nq4,d,0.7\n"
    typed(sure)  # counted, then read again for the confidences
    said = here("score", "gold.csv", "-", "-m", "AURC", "-m", "c@1", "--format", "json")
    assert said.code == 0, said
    here.write("sure.csv", sure)
    same = here("score", "gold.csv", "sure.csv", "-m", "AURC", "-m", "c@1", "--format", "json")
    assert said.data["results"][0]["scores"] == same.data["results"][0]["scores"]
    typed(GOLD)
    here.write("run.csv", RUN)
    assert here("score", "-", "run.csv", "--from", "csv", "-f", "json").data["questions"] == 4


@pytest.mark.slow
@pytest.mark.parametrize("name", PIPES)
def test_a_real_pipe(tmp_path: Path, name: str) -> None:
    done = piped(tmp_path, GRADES.encode(), "score", "--judged", name, "--from", "simpleqa")
    assert done.returncode == 0, done.stderr
    assert "4 questions" in done.stdout.decode()
    (tmp_path / "gold.csv").write_text(GOLD)
    checked = piped(tmp_path, RUN.encode(), "validate", "gold.csv", name)
    assert checked.returncode == 0, checked
    made = piped(tmp_path, RUN.encode(), "convert", name, f"{len(name)}.jsonl")
    assert made.returncode == 0, made
    assert (tmp_path / f"{len(name)}.jsonl").read_text().count("\n") == 4


def test_a_ranking_from_the_standard_input(here: Here, typed) -> None:  # type: ignore[no-untyped-def]
    here.write("qrels", "q1 0 a 1\nq1 0 b 0\n")
    typed("q1 Q0 b 1 2.0 tag\nq1 Q0 a 2 1.0 tag\n")
    said = here("rank", "qrels", "-", "-m", "RR", "--format", "json")
    assert said.code == 0, said
    assert said.data["results"][0]["scores"]["RR"] == 0.5


def test_what_is_wrong_with_it_says_where(here: Here, typed) -> None:  # type: ignore[no-untyped-def]
    here.write("gold.csv", GOLD)
    typed("")
    assert here.refuses("score", "gold.csv", "-").startswith("standard input: is empty")
    typed(RUN.replace("q4", "q9"))
    assert here.refuses("score", "gold.csv", "-").startswith("standard input:5: question 'q9'")
    typed(RUN)
    says(here.refuses("score", "gold.csv", "-", "-"))


def test_a_table_to_audit_from_the_standard_input(here: Here, typed) -> None:  # type: ignore[no-untyped-def]
    typed("run,c@1,right,wrong,unanswered\na,0.9,138,87,59\n")
    said = here("audit", "-", "--format", "json")
    assert (said.code, said.data["files"]) == (1, ["standard input"])
    assert [f["column"] for f in said.data["findings"]] == ["c@1"]
