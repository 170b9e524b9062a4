"""The command: what it prints, how it ends, what it says of wrong input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import abstain as ab
from abstain.cli import run
from tests.audit.tables import TABLE_14, TABLE_15, write
from tests.snapshots import says

CAPTURE = pytest.CaptureFixture[str]


def test_a_table_that_agrees_says_what_was_checked(tmp_path: Path, capsys: CAPTURE) -> None:
    rows = [{"run": "a", "c@1": "0.59", "right": "138", "wrong": "87", "unanswered": "59"}]
    assert run(["audit", write(tmp_path / "t.csv", rows), "--questions", "284"]) == 0
    out = capsys.readouterr().out
    assert out == (
        "1 file, 4 cells checked (counts add up 1, scores follow from the counts 1):\n"
        "nothing disagrees.\n"
    )


def test_findings_as_json(capsys: CAPTURE) -> None:
    assert run(["audit", str(TABLE_14), "--format", "json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["agrees"] is False
    assert data["cells"] == 432
    finding = next(f for f in data["findings"] if f["row"] == "csui1308enen")
    assert finding == {
        "rule": "counts add up",
        "file": str(TABLE_14),
        "line": 25,
        "row": "csui1308enen",
        "column": "answered",
        "printed": "234",
        "follows": "60 right + 165 wrong = 225, not 234 answered",
        "corrections": [
            {
                "changes": [{"row": "csui1308enen", "column": "right", "from": "60", "to": "69"}],
                "checks": 5,
            }
        ],
    }


@pytest.mark.parametrize("format", ["table", "csv", "markdown", "latex"])
def test_findings_in_every_look(format: str, capsys: CAPTURE) -> None:
    assert run(["audit", str(TABLE_14), "-f", format]) == 1
    assert "60 → 69" in capsys.readouterr().out


def test_the_command_finds_what_no_outcome_gives(capsys: CAPTURE) -> None:
    files = [str(TABLE_15), "--with", str(TABLE_14), "--sizes", "auxiliary=44"]
    assert run(["audit", *files, "-f", "csv"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all("of 44 questions with at most 0 unanswered" in line for line in lines[1:])


def test_columns_of_other_names(tmp_path: Path, capsys: CAPTURE) -> None:
    rows = [{"system": "a", "R": "3", "W": "1", "U": "1", "score": "72", "half": "0.7"}]
    path = write(tmp_path / "t.csv", rows)
    mapped = ["run=system", "right=R", "wrong=W", "unanswered=U", "c@1=score", "credit(t=0.5)=half"]
    options = [piece for name in mapped for piece in ("-c", name)]
    assert run(["audit", path, *options]) == 0
    says(capsys.readouterr().out.replace("\n", " "), "2")
    rows[0]["half"] = "0.6"
    assert run(["audit", write(tmp_path / "t.csv", rows), *options]) == 1
    assert "the counts give 0.7" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["no.csv"], ("no.csv",)),
        (["t.csv", "--questions", "0"], ("'--questions'",)),
        (["t.csv", "--sizes", "main=x"], ("--sizes", "44")),
        (["t.csv", "--sizes", "a=1", "--sizes", "a=2"], ("--sizes", "'a'")),
        (["t.csv", "--sizes", "t.csv"], ("t.csv",)),
        (["t.csv", "--column", "right"], ("--column",)),
        (["t.csv", "--column", "rihgt=a"], ("'rihgt'",)),
        (["t.csv", "--column", "right=z"], ("'z'",)),
        (["t.csv", "--column", "right=a", "-c", "wrong=a"], ("--column", "'a'")),
        (["t.csv", "--column", "credit(t=2)=a"], ("0", "1", "2")),
        (["t.csv", "--ignore", "q"], ("'q'",)),
        (["empty.csv"], ("empty.csv",)),
        (["header.csv"], ("header.csv",)),
    ],
)
def test_wrong_input_is_one_line(
    arguments: list[str],
    line: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: CAPTURE,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "t.csv", [{"run": "x", "a": "1"}])
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("run,right\n")
    assert run(["audit", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    says(captured.err, *line)


# --------------------------------------------------------------------------- single rules


def audit_of(tmp_path: Path, text: str, **options: int) -> list[tuple[str, str, str]]:
    (tmp_path / "t.csv").write_text(text)
    audit = ab.audit([tmp_path / "t.csv"], **options)  # type: ignore[arg-type]
    return [(f.row, f.column, f.follows) for f in audit.findings]


def test_truncation_is_named(tmp_path: Path) -> None:
    ((_, column, follows),) = audit_of(
        tmp_path, "run,c@1,right,wrong,unanswered\na,0.58,138,87,59\n"
    )
    assert column == "c@1"
    assert follows == "the counts give 0.586863; truncated"


def test_columns_in_any_order_and_other_formats(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("c@1;right;wrong;unanswered;run\n0,58;138;87;59;a\n")
    record = '{"right": 138, "wrong": 87, "c@1": 0.58, "unanswered": 59, "run": "a"}'
    (tmp_path / "t.jsonl").write_text(record)
    for name in ("t.csv", "t.jsonl"):
        (finding,) = ab.audit([tmp_path / name]).findings
        assert (finding.row, finding.column) == ("a", "c@1")
        assert "truncated" in finding.follows


def test_an_exact_half_may_go_either_way(tmp_path: Path) -> None:
    text = "run,accuracy,right,wrong\na,0.12,1,7\nb,0.13,1,7\n"
    assert audit_of(tmp_path, text, questions=8) == []


def test_a_score_that_does_not_exist(tmp_path: Path) -> None:
    text = "run,precision,right,wrong,unanswered\na,0.00,0,0,8\n"
    ((_, _, follows),) = audit_of(tmp_path, text)
    says(follows)


def test_two_scores_that_no_outcome_gives_together(tmp_path: Path) -> None:
    text = "run,accuracy,precision\na,0.20,0.50\nb,0.20,0.60\n"
    ((row, _, follows),) = audit_of(tmp_path, text, questions=10)
    assert row == "b"
    says(follows, "10")


def test_cells_that_are_no_numbers_and_counts_that_are_none(tmp_path: Path) -> None:
    text = "run,right,wrong,answered\na,3,1,4\nb,2.5,1,4\nc,l0,1,11\nd,3,–,4\n"
    assert audit_of(tmp_path, text) == [
        ("b", "right", "a count is a whole number, 0 or more"),
        ("c", "right", "expected a number, like the other cells of its column"),
    ]


def test_huge_counts_are_bounded(tmp_path: Path) -> None:
    text = "run,right,wrong,answered\na,9007199254740000,1,9007199254740002\n"
    ((_, _, follows),) = audit_of(tmp_path, text)
    assert "= 9007199254740001, not 9007199254740002" in follows
    text = f"run,right,wrong,answered\na,{10**30},1,3\n"
    assert audit_of(tmp_path, text)[0][1] == "right"
    assert audit_of(tmp_path, "run,c@1\na,0.4\n", questions=10**9) == []


def test_blocks_with_their_own_totals(tmp_path: Path) -> None:
    text = "name,x\na,1\nb,2\nTOTAL,3\nc,4\nd,5\nTOTAL,9\n"
    assert audit_of(tmp_path, text) == []
    assert audit_of(tmp_path, text.replace("d,5", "d,6")) == [
        ("TOTAL", "x", "its 2 parts add up to 10")
    ]
