"""What people read on a narrow terminal keeps within it, and loses nothing."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest

import abstain as ab
from abstain.cli import run
from abstain.features.curve.command import SHOWN
from abstain.measures import definitions
from abstain.registry import COMMANDS
from tests.helpers import GOLD, RUN, Here, abstain

NARROW = 40


def said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int, *words: str
) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    assert run(words) == 0
    return capsys.readouterr().out


def wide_lines(text: str, width: int) -> list[str]:
    return [line for line in text.splitlines() if len(line) > width]


def columns_of(text: str) -> int:
    """What a text takes on a terminal, where a wide character takes two columns."""
    return sum(1 + (unicodedata.east_asian_width(sign) in "WF") for sign in text)


def signs(text: str) -> str:
    """What it says, however it is laid out; a backslash only says that a line goes on."""
    return re.sub(r"[\s\\]+", "", text)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["", *COMMANDS])
@pytest.mark.parametrize("width", [60, 80])
def test_help_keeps_within_the_terminal(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    width: int,
) -> None:
    call = [command, "--help"] if command else ["--help"]
    narrow = said(capsys, monkeypatch, width, *call)
    prose = "\n".join(line for line in narrow.splitlines() if not line.startswith("  abstain "))
    assert wide_lines(prose, 80) == []
    assert signs(narrow) == signs(said(capsys, monkeypatch, 200, *call))


@pytest.mark.parametrize("name", [d.name for d in definitions().values()])
def test_a_card_keeps_within_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    card = said(capsys, monkeypatch, NARROW, "explain", name)
    assert wide_lines(card, NARROW) == []
    assert signs(card) == signs(said(capsys, monkeypatch, 80, "explain", name))


def test_the_list_of_measures_is_stacked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = said(capsys, monkeypatch, NARROW, "measures")
    assert wide_lines(text, NARROW) == []
    blocks = text.split("\n\n")
    assert "c@1\n  formula  c·(1 + u)\n  κ        c\n  p*       c/(1 + u)" in blocks
    assert {d.signature for d in definitions().values()} <= {b.splitlines()[0] for b in blocks}


# ----------------------------------------------------------------------------------- in a pipe

SAID = {
    "gold.csv": "question,correct,options,topic,test\n"
    + "".join(f"q{n},{'AB'[n % 2]},A|B,{'xyz'[n % 3]},{n % 2}\n" for n in range(12)),
    "runs.csv": "run,question,answer,confidence\n"
    + "".join(f"bold,q{n},A,{0.4 + n / 20}\n" for n in range(12))
    + "".join(f"shy,q{n},{['A', 'B', ''][n % 3]},{0.9 - n / 20}\n" for n in range(12)),
    "odd.csv": "question,answer\nq1,E\nq3,A\n" + "".join(f"x{n},A\n" for n in range(9)),
    "table.csv": "run,right,wrong,unanswered,questions\na,1,1,1,3\nb,1,1,1,4\n",
    "texts.csv": "run,question,answer\na,q1,I am sorry but I cannot answer that.\na,q2,Paris\n",
    "qrels.txt": "".join(f"t{t} 0 d{t}{d} {d % 2}\n" for t in range(4) for d in range(3)),
    "long.txt": "".join(f"t{t} Q0 d{t}{d} {d} {9 - d} long\n" for t in range(4) for d in range(3)),
    "brief.txt": "".join(f"t{t} Q0 d{t}1 1 9 brief\n" for t in range(4)),
    "truth.jsonl": "".join(f'{{"id": "{n}", "same": {str(n in "02").lower()}}}\n' for n in "0123"),
    "said.jsonl": "".join(f'{{"id": "{n}", "value": 0.{n}}}\n' for n in "0123"),
    "dev.json": '{"version": "v2.0", "data": [{"title": "t", "paragraphs": [{"context": "", "qas": '
    '[{"id": "1", "question": "?", "answers": [{"text": "a cat"}], "is_impossible": false}]}]}]}',
    "said.json": '{"1": "the cat"}',
    "season.toml": 'gold = "gold.csv"',
    "scores.json": ab.read_counts({n: ab.Counts(2, 1) for n in "ab"}).score("c@1").to_json(),
}
"""Inputs whose names are short."""

MANY = "-m c@1 -m F -m accuracy -m precision -m credit(t=0.25)"
PIPED = {
    "score": (
        "",
        f"{MANY} --by topic --by test --interval --break-even --candidates",
        f"{MANY} --references",
        "--several",
    ),
    "decisions": ("--column answerable=test", "--column answerable=test --by topic"),
    "compare": ("--resamples 100", "--resamples 100 --by topic", "--resamples 100 --correction bh"),
    "curve": ("", *(f"--show {name}" for name in SHOWN), "--bins 20 -m F", "--histogram 64"),
    "tune": ("--folds 2", "--folds 2 --by topic", "--folds 2 --risk 0.3"),
    "targets": ("--target bold=0 --target shy=0.5",),
    "cascade": ("--stages shy,bold", "--stages bold,shy --risk 0.5 --folds 2"),
    "meta": (f"{MANY} --subsets 4",),
    "campaign": ("-o out --force",),
    "validate": ("gold.csv odd.csv",),
    "rank": (
        "qrels.txt long.txt brief.txt",
        "qrels.txt long.txt brief.txt --limit 5 --truncation --per-query",
        "qrels.txt long.txt -m AP -m RR -m NDCG@10 -m P@5 -m RBP(p=0.8) -m APt -m RRt -m NDCGt",
    ),
    "trec_eval": ("-q -m all_trec qrels.txt brief.txt",),
    "cut": ("qrels.txt long.txt --maximise SetF",),
    "baseline": ("gold.csv oracle",),
    "testset": ("gold.csv -o test.csv --force",),
    "audit": ("table.csv",),
    "refusals": ("texts.csv", "--rules"),
    "report": (),
    "convert": (),
    "measures": ("",),
    "explain": ("c@1",),
    "plugins": ("",),
    "receive": ("odd.csv --team a --into .", "--list --into ."),
    "seal": ("gold.csv",),
    "bundle": ("codabench . -o task.zip",),
    "tasks": ("lm-eval -o written",),
    "demo": ("-o demo",),
    "editions": ("2013=scores.json 2014=scores.json",),
}
"""What every command is asked: its files where they are not a gold and two runs."""
ALONE = (
    *("measures", "explain", "demo", "baseline", "testset", "audit", "refusals", "rank"),
    *("trec_eval", "cut", "editions", "plugins", "tasks", "receive", "seal"),
    "bundle",
)


def calls() -> list[list[str]]:
    found = []
    for command, options in PIPED.items():
        for text in options:
            files = [] if command in (*ALONE, "validate") else ["gold.csv", "runs.csv"]
            found.append([command, *files, *text.split()])
    return found


def test_every_command_is_piped_somewhere() -> None:
    assert set(PIPED) == set(COMMANDS)


@pytest.mark.parametrize("call", calls(), ids=" ".join)
def test_what_is_piped_keeps_within_80_columns(
    call: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, text in SAID.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    code, shown = run(call), capsys.readouterr()
    assert code in (0, 1), shown.err
    assert shown.out
    assert [line for line in shown.out.splitlines() if columns_of(line) > 80] == []


def test_a_pipe_cuts_no_name_and_takes_another_width(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "漢字" * 50
    (tmp_path / "gold.csv").write_text(SAID["gold.csv"])
    (tmp_path / "runs.csv").write_text(SAID["runs.csv"].replace("bold", name))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    assert run(["curve", "gold.csv", "runs.csv"]) == 0
    blocks = capsys.readouterr().out.split("\n\n")
    assert [block.splitlines()[0].split()[:2] for block in blocks[:2]] == [
        ["run", "AUROC"],
        ["run", "best"],
    ]
    assert all(block.count(name) == 1 for block in blocks[:2])
    table = said(capsys, monkeypatch, 300, "curve", "gold.csv", "runs.csv").split("\n\n")[0]
    assert "AUROC" in table
    assert "c@1 as submitted" in table


@pytest.mark.parametrize("letters", [41, 70])
@pytest.mark.parametrize(
    ("command", "blocks"), [("score -m c@1 -m F -m accuracy -m precision --interval", 3),
                            ("curve", 2), ("compare --resamples 100", 1)],
)  # fmt: skip
def test_a_long_name_does_not_split_a_table_into_columns(
    command: str,
    blocks: int,
    letters: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beside a name that is not cut stand as many columns as beside one of 24 letters."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    (tmp_path / "gold.csv").write_text(SAID["gold.csv"])
    name, *more = command.split()
    shown = []
    for size in (24, letters):
        run_name = "m" * size
        (tmp_path / "runs.csv").write_text(SAID["runs.csv"].replace("bold", run_name))
        assert run([name, "gold.csv", "runs.csv", *more]) == 0
        text = capsys.readouterr().out
        heads = [block.splitlines()[0].split() for block in text.split("\n\n")]
        shown.append([head for head in heads if "run" in head[:2] and "against" not in head])
        assert run_name in text
    assert shown[0] == shown[1]
    assert len(shown[1]) == blocks


def test_a_pipe_that_takes_ascii_gets_signs_that_it_can_write(here: Here) -> None:
    here.write("gold.csv", GOLD)
    here.write("run.csv", RUN)
    done = abstain(
        "score", "gold.csv", "run.csv", cwd=here.folder, env={"PYTHONIOENCODING": "ascii"}
    )
    assert "??" not in done.out
    assert "---" in done.out
