"""The net for commands that read something else than a gold and its runs.

Each takes an option of reading with the effect it has everywhere, or refuses it in one line.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import abstain as ab
from abstain.cli import run
from abstain.cli.options import OPTIONS
from tests.cli.test_every_option import FRAMES, by_pick, gold_rows, write

SAMPLES = {
    "format": "csv",
    "pick": "filter=strict",
    "columns": "question=id",
    "policy": "empty=wrong",
    "unanswerable": "blank",
    "match": "text",
    "align": "position",
    "detect_refusals": "en",
    "refusal_pattern": "don't know",
    "grades": "meh=wrong",
    "partial": "0-1",
    "cluster": "topic",
    "engine": "duckdb",
    "master": "local[1]",
    "names": "mine",
    "corrections": "q1=none",
}
"""A value that each option takes where it means something."""

QRELS = pl.DataFrame({"query": ["q1", "q1", "q2"], "doc": ["x", "y", "x"], "rel": [1, 0, 1]})
RUN = pl.DataFrame(
    {
        "query": ["q1", "q1", "q2", "q2"],
        "doc": ["y", "x", "x", "y"],
        "score": [2.0, 1.0, 2.0, 1.0],
        "run": ["r"] * 4,
    }
)
RR = (1 / 2 + 1) / 2
"""By hand: the relevant document is second for q1, first for q2."""

TEXTS = pl.DataFrame(
    {"question": ["q1", "q2", "q3"], "answer": ["Paris", "I don't know.", ""], "run": ["a"] * 3}
)
COUNTS = pl.DataFrame({"run": ["a"], "right": [5], "wrong": [1], "unanswered": [2], "c@1": [0.78]})

Case = Callable[[Path], list[str]]
Told = Callable[[Path, str], Any]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def commas(frame: pl.DataFrame, path: Path) -> str:
    """Commas in a file whose name says tabs."""
    frame.write_csv(path)
    return path.name


def renamed(frame: pl.DataFrame, **names: str) -> pl.DataFrame:
    return frame.rename(names)


# ------------------------------------------------------------------------ what each command found


def reciprocal_rank(_: Path, out: str) -> Any:
    (row,) = json.loads(out)["results"]
    return row["scores"]["RR"]


def answers(_: Path, out: str) -> Any:
    return [row["answer"] for row in csv.DictReader(io.StringIO(out))]


def converted(folder: Path, _: str) -> Any:
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    blank = ("why", "refusal")
    return [
        (row["question"], row["answer"] or "", next((row[n] for n in blank if row.get(n)), None))
        for row in rows
    ]


def refused(_: Path, out: str) -> Any:
    return [row["question"] for row in json.loads(out)["hits"]]


def agrees(_: Path, out: str) -> Any:
    return json.loads(out)["agrees"]


PLAIN = [("q1", "Paris", None), ("q2", "I don't know.", None), ("q3", "", None)]
SHOWN: dict[str, tuple[list[str], Told, Any]] = {
    "rank": (["-m", "RR", "--format", "json"], reciprocal_rank, RR),
    "baseline": (["oracle"], answers, ["A"] * 8),
    "convert": (["out.jsonl"], converted, PLAIN),
    "refusals": (["--format", "json"], refused, ["q2"]),
    "audit": (["-n", "8", "--format", "json"], agrees, True),
}
"""What each command is asked besides its files, where it says what it found, and what that is."""


def files_of(command: str, folder: Path, how: Callable[[pl.DataFrame, Path], str]) -> list[str]:
    """The command's input, written somehow under names that end in .tsv."""
    if command == "rank":
        return [how(QRELS, folder / "qrels.tsv"), how(RUN, folder / "run.tsv")]
    table = {"baseline": gold_rows(), "audit": COUNTS}.get(command, TEXTS)
    return [how(table, folder / "table.tsv")]


def mapped(command: str, folder: Path) -> list[str]:
    """The command's input under other column names, and the options that tell them."""
    if command == "rank":
        names = {"query": "qid", "doc": "docno"}
        files = [
            write(renamed(QRELS, **names), folder / "qrels.csv"),
            write(renamed(RUN, **names), folder / "run.csv"),
        ]
    elif command == "baseline":
        names = {"question": "id", "correct": "label"}
        files = [write(renamed(gold_rows(), **names), folder / "table.csv")]
    elif command == "audit":
        names = {"right": "R", "wrong": "W"}
        files = [write(renamed(COUNTS, **names), folder / "table.csv")]
    else:
        names = {"question": "id", "answer": "output"}
        files = [write(renamed(TEXTS, **names), folder / "table.csv")]
    return [*files, *(text for ours, own in names.items() for text in ("-c", f"{ours}={own}"))]


def picked(folder: Path) -> list[str]:
    """A log whose answers two filters read: only the strict one leaves two of them blank."""
    (log, *_), _ = by_pick(folder)
    return [log, "--pick", "filter=strict"]


CASES: dict[tuple[str, str], Case] = {
    **{
        (name, "format"): lambda folder, name=name: [  # type: ignore[misc]
            *files_of(name, folder, commas),
            *("--from", "csv"),
        ]
        for name in SHOWN
    },
    **{
        (name, "columns"): lambda folder, name=name: mapped(name, folder)  # type: ignore[misc]
        for name in SHOWN
    },
    ("rank", "engine"): lambda folder: [
        *files_of("rank", folder, lambda frame, path: write(frame, path.with_suffix(".parquet"))),
        *("--engine", "duckdb"),
    ],
    ("baseline", "pick"): picked,
    ("convert", "pick"): picked,
    ("convert", "detect_refusals"): lambda folder: [
        write(TEXTS, folder / "table.csv"),
        *("--detect-refusals", "en"),
    ],
    ("convert", "refusal_pattern"): lambda folder: [
        write(TEXTS, folder / "table.csv"),
        *("--refusal-pattern", "DON.T know"),
    ],
    ("refusals", "refusal_pattern"): lambda folder: [
        write(TEXTS, folder / "table.csv"),
        *("--refusal-pattern", "^paris$"),
    ],
    ("refusals", "pick"): picked,
    ("refusals", "policy"): lambda folder: [
        write(TEXTS, folder / "table.csv"),
        *("--policy", "empty=wrong"),
    ],
}
"""What a command reads with an option that means something to it."""

ELSE: dict[tuple[str, str], Any] = {
    ("baseline", "pick"): ["A"] * 8,
    ("convert", "pick"): [
        *((f"hash{n}", "A", None) for n in range(5)),
        ("hash5", "B", None),
        *((f"hash{n}", "", "unparseable") for n in (6, 7)),
    ],
    ("convert", "detect_refusals"): [
        ("q1", "Paris", None),
        ("q2", "I don't know.", "en/do-not-know"),
        ("q3", "", None),
    ],
    ("convert", "refusal_pattern"): [
        ("q1", "Paris", None),
        ("q2", "I don't know.", "own/1"),
        ("q3", "", None),
    ],
    ("refusals", "refusal_pattern"): ["q1", "q2"],
    ("refusals", "pick"): [],
}
"""What is found where the option changes it."""


@pytest.mark.slow
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("command", SHOWN)
def test_every_option_is_taken_or_refused_in_one_line(
    command: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = CASES.get((command, option))
    more, told, expected = SHOWN.get(command, ([], refused, None))
    if case is not None:
        if option == "engine":
            pytest.importorskip("duckdb")
        files, flags = _split(case(tmp_path))
        capsys.readouterr()
        code = run([command, *files, *more, *flags])
        out, err = capsys.readouterr()
        assert code == 0, err
        assert told(tmp_path, out) == ELSE.get((command, option), expected)
        return
    files = files_of(command, tmp_path, lambda f, path: write(f, path.with_suffix(".csv")))
    flag = OPTIONS[option][0].split()[0]
    also = ["--engine", "polars"] if (command, option) == ("rank", "master") else []
    code = run([command, *files, *more, flag, SAMPLES[option], *also])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert flag in err
    assert not (tmp_path / "out.jsonl").exists()


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """Files, and the options after them."""
    first = next(i for i, word in enumerate(words) if word.startswith("-"))
    return words[:first], words[first:]


# ----------------------------------------------------------------------- rankings in every format


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize("command", SHOWN)
def test_every_format_of_a_table_is_read_alike(
    command: str, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more, told, expected = SHOWN[command]
    files = files_of(command, tmp_path, lambda f, path: write(f, path.with_suffix(f".{ending}")))
    code = run([command, *files, *more])
    out, err = capsys.readouterr()
    assert code == 0, err
    assert told(tmp_path, out) == expected


def test_rankings_as_trec_has_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{query} 0 {doc} {rel}\n" for query, doc, rel in QRELS.rows())
    )
    (tmp_path / "run.txt").write_text(
        "".join(f"{query} Q0 {doc} 1 {score} {run}\n" for query, doc, score, run in RUN.rows())
    )
    assert run(["rank", "qrels.txt", "run.txt", "-m", "RR", "--format", "json"]) == 0
    assert reciprocal_rank(tmp_path, capsys.readouterr().out) == RR


@pytest.mark.slow
@pytest.mark.parametrize("kind", FRAMES)
def test_rankings_in_every_frame_can_be_asked_everything(kind: str) -> None:
    make = FRAMES[kind]
    other = RUN.with_columns(score=-pl.col("score"), run=pl.lit("other"))
    read = ab.read_rankings(make(QRELS), make(pl.concat([RUN, other])))
    means = {row.run: row.scores["RR"] for row in read.score("RR").rows}
    assert means == {"r": RR, "other": RR}
    (pair,) = read.compare("RR", resamples=100).pairs
    assert pair.difference == 0
    assert read.meta(["RR", "AP"], parts="agreement").runs == read.runs
    assert set(read.truncation().lengths) == {"r", "other"}


@pytest.mark.parametrize("kind", FRAMES)
def test_scores_in_every_frame_can_be_asked_everything(kind: str) -> None:
    frame = pl.DataFrame({"topic": ["t1", "t2", "t3"], "a": [0.1, 0.4, 0.7], "b": [0.3, 0.3, 0.3]})
    read = ab.read_scores(FRAMES[kind](frame))
    (pair,) = read.compare(resamples=100).pairs
    assert (pair.run, pair.against) == ("b", "a")
    assert pair.difference == pytest.approx(-0.1)
    assert set(read.meta(parts="stability", subsets=2).runs) == {"a", "b"}
