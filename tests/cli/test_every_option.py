"""The net: every command × every option of reading × every kind of input, and what must happen.

One set of responses, known by hand. However it is written down and whatever option it takes to read
it, every command finds the same scores; where an option can mean nothing, one line says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click import Context

import abstain as ab
from abstain.cli import app, run
from abstain.cli.options import OPTIONS
from abstain.registry import COMMANDS
from tests.qa4mre_files import gold_as_xml

QUESTIONS = [f"q{n}" for n in range(1, 9)]
GIVEN = {"a": "AAAAAB--", "b": "AAABBBBB"}
"""The answers of two runs to eight questions whose right answer is A; - is a blank."""
SURE = {"A": 0.9, "B": 0.4}

BASE = {"a": 5 / 8 * (1 + 2 / 8), "b": 3 / 8}
"""c@1, by hand: 5 right and 2 blank of 8; 3 right of 8."""

OTHERS = {"rank", "trec_eval", "baseline", "report", "audit", "convert", "refusals"}
OTHERS |= {"measures", "explain", "demo", "editions", "cut", "decisions", "plugins", "tasks"}
OTHERS |= {"receive", "seal", "testset", "bundle"}
"""Commands that judge no responses to questions (test_every_option_elsewhere.py has those), or need
marks that these files lack (tests/decisions has `decisions`)."""

READING = [name for name in COMMANDS if name not in OTHERS]
"""Commands that do."""

MORE = {
    "tune": ["--folds", "2"],
    "targets": ["--target", "a=0", "--target", "b=0.5"],
    "cascade": ["--stages", "a,b", "--folds", "2"],
    "meta": ["--part", "stability", "--subsets", "2"],
    "campaign": ["-o", "overview", "--force"],
}
"""What a command needs besides, or what keeps it quick."""

# ----------------------------------------------------------------------------- the same data


def gold_rows(**changed: Any) -> pl.DataFrame:
    topics = [topic for topic in "wxyz" for _ in range(2)]
    return pl.DataFrame({"question": QUESTIONS, "correct": ["A"] * 8, "topic": topics} | changed)


def run_rows(words: dict[str, str] | None = None) -> pl.DataFrame:
    said = {"A": "A", "B": "B", "-": ""} | (words or {})
    return pl.DataFrame(
        [
            {"run": run, "question": q, "answer": said[a], "confidence": SURE.get(a)}
            for run, answers in GIVEN.items()
            for q, a in zip(QUESTIONS, answers, strict=True)
        ]
    )


def judged_rows(words: dict[str, str] | None = None) -> pl.DataFrame:
    grades = {"A": "right", "B": "wrong", "-": "declined"} | (words or {})
    return (
        run_rows()
        .with_columns(grade=pl.Series([grades[a] for answers in GIVEN.values() for a in answers]))
        .drop("answer")
        .with_columns(topic=pl.Series([*gold_rows()["topic"]] * 2))
    )


def counts_rows(by_question: bool = False) -> pl.DataFrame:
    rows = judged_rows().with_columns(
        right=(pl.col("grade") == "right").cast(pl.Int64),
        wrong=(pl.col("grade") == "wrong").cast(pl.Int64),
        unanswered=(pl.col("grade") == "declined").cast(pl.Int64),
    )
    key = ["run", "question"] if by_question else ["run"]
    return rows.group_by(key, maintain_order=True).agg(pl.col("right", "wrong", "unanswered").sum())


def scores_rows() -> pl.DataFrame:
    """One point for a right answer: their means are 5/8 and 3/8."""
    return pl.DataFrame(
        {"topic": QUESTIONS}
        | {run: [float(a == "A") for a in answers] for run, answers in GIVEN.items()}
    )


def write(frame: pl.DataFrame, path: Path) -> str:
    match path.suffix:
        case ".csv":
            frame.write_csv(path)
        case ".tsv":
            frame.write_csv(path, separator="\t")
        case ".jsonl":
            frame.write_ndjson(path)
        case ".parquet":
            frame.write_parquet(path)
    return path.name


def written(folder: Path, ending: str = "csv") -> list[str]:
    """A gold and its runs, in files of a format."""
    if ending == "xml":
        table = gold_as_xml(gold_rows(options=["A|B"] * 8).write_csv())
        (folder / "gold.xml").write_text(table)
        own = run_rows().partition_by("run", as_dict=True, include_key=False)
        for (name,), rows in own.items():
            assert run(["convert", write(rows, folder / f"{name}.csv"), f"{name}.xml"]) == 0
        return ["gold.xml", "a.xml", "b.xml"]
    return [
        write(gold_rows(), folder / f"gold.{ending}"),
        write(run_rows(), folder / f"runs.{ending}"),
    ]


# ----------------------------------------------------------------------- what a command found


def asked(command: str, *arguments: str) -> int:
    """Run a command for its JSON."""
    shown = [] if command == "convert" else ["--format", "json"]
    return run([command, *arguments, *MORE.get(command, []), *shown])


def found(command: str, text: str) -> dict[str, float]:
    """c@1 of every run as it was handed in, wherever a command says it."""
    data = json.loads(text)
    match command:
        case "meta":
            return {run: float(value) for run, value in data["scores"]["c@1"].items()}
        case "curve":
            return {row["run"]: row["as_submitted"] for row in data["results"]}
        case "cascade":
            alone = {row["rule"]: row["score"] for row in data["rows"]}
            return {run: alone[run] for run in data["stages"]}
        case "tune":
            return {row["run"]: row["as_submitted"]["score"] for row in data["results"]}
        case "validate":
            assert data["valid"], data["problems"]
            return dict(BASE)
        case "score" | "compare" | "campaign":
            return {row["run"]: row["scores"]["c@1"] for row in data["results"]}
        case _:  # it states no c@1: the blanks it read, and what they become, say which it is
            assert sum(data["touched"].values()) == 2, data["touched"]
            wrong = data["policy"]["empty"] == "wrong"
            return {"a": 5 / 8, "b": 3 / 8} if wrong else dict(BASE)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# -------------------------------------------------------------- option × command: gold and runs

Case = Callable[[Path], tuple[list[str], dict[str, float]]]


def by_format(folder: Path) -> tuple[list[str], dict[str, float]]:
    """Commas in files whose names say tabs."""
    files = []
    for name, rows in (("gold", gold_rows()), ("runs", run_rows())):
        rows.write_csv(folder / f"{name}.tsv")
        files.append(f"{name}.tsv")
    return [*files, "--from", "csv"], BASE


def by_pick(folder: Path) -> tuple[list[str], dict[str, float]]:
    """Logs whose answers two filters read: strictly they are those of the runs."""
    files = []
    for name, answers in GIVEN.items():
        lines = []
        for number, answer in enumerate(answers):
            strict = {"A": "A", "B": "B", "-": "[invalid]"}[answer]
            for which, text in (("strict", strict), ("flexible", "A")):
                lines.append(
                    {
                        "doc_id": number,
                        "doc": {"question": f"q{number}"},
                        "target": "A",
                        "arguments": {},
                        "resps": [[text]],
                        "filtered_resps": [text],
                        "filter": which,
                        "metrics": ["exact_match"],
                        "doc_hash": f"hash{number}",
                        "exact_match": float(text == "A"),
                    }
                )
        own = folder / name
        own.mkdir()
        path = own / "samples_quiz_2026-01-01T00-00-00.000000.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        files.append(str(path.relative_to(folder)))
    # What no filter could read is no answer, and counts as wrong unless the policy says otherwise.
    return [files[0], *files, "--pick", "filter=strict", "--policy", "unparseable=unanswered"], BASE


def by_columns(folder: Path) -> tuple[list[str], dict[str, float]]:
    gold = gold_rows().rename({"question": "id", "correct": "label"})
    runs = run_rows().rename({"question": "id", "answer": "output"})
    files = [write(gold, folder / "gold.csv"), write(runs, folder / "runs.csv")]
    mapped = ("question=id", "gold:correct=label", "run:answer=output")
    return [*files, *(text for pair in mapped for text in ("-c", pair))], BASE


def by_policy(folder: Path) -> tuple[list[str], dict[str, float]]:
    return [*written(folder), "--policy", "empty=wrong"], {"a": 5 / 8, "b": 3 / 8}


def by_unanswerable(folder: Path) -> tuple[list[str], dict[str, float]]:
    """Every question is marked as unanswerable, but as a blank each response stays what it is."""
    files = written(folder)
    write(gold_rows(answerable=["no"] * 8), folder / "gold.csv")
    return [*files, "--unanswerable", "blank"], BASE


def by_match(folder: Path) -> tuple[list[str], dict[str, float]]:
    files = [
        write(gold_rows(correct=["Paris"] * 8), folder / "gold.csv"),
        write(run_rows({"A": "paris.", "B": "Rome"}), folder / "runs.csv"),
    ]
    return [*files, "--match", "text"], BASE


def by_align(folder: Path) -> tuple[list[str], dict[str, float]]:
    other = run_rows().with_columns(question=pl.lit("x") + pl.col("question"))
    files = [write(gold_rows(), folder / "gold.csv"), write(other, folder / "runs.csv")]
    return [*files, "--align", "position"], BASE


def by_refusals(folder: Path) -> tuple[list[str], dict[str, float]]:
    files = [
        write(gold_rows(), folder / "gold.csv"),
        write(run_rows({"-": "I don't know."}), folder / "runs.csv"),
    ]
    return [*files, "--detect-refusals", "en"], BASE


def by_refusal_pattern(folder: Path) -> tuple[list[str], dict[str, float]]:
    files = [
        write(gold_rows(), folder / "gold.csv"),
        write(run_rows({"-": "Ask the help desk."}), folder / "runs.csv"),
    ]
    return [*files, "--refusal-pattern", r"help[- ]desk\b"], BASE


def by_cluster(folder: Path) -> tuple[list[str], dict[str, float]]:
    return [*written(folder), "--cluster", "topic"], BASE


def by_engine(folder: Path) -> tuple[list[str], dict[str, float]]:
    pytest.importorskip("duckdb")
    return [*written(folder, "parquet"), "--engine", "duckdb"], BASE


def by_corrections(folder: Path) -> tuple[list[str], dict[str, float]]:
    """Two keys that were wrong when runs were handed in, one of them corrected by a table."""
    write(gold_rows(correct=["B", "C", *"AAAAAA"]), folder / "gold.csv")
    (folder / "changes.csv").write_text("question,correction\nq2,A\n")
    files = ["gold.csv", write(run_rows(), folder / "runs.csv")]
    return [*files, "--void", "q1=A", "--corrections", "changes.csv"], BASE


def by_names(folder: Path) -> tuple[list[str], dict[str, float]]:
    """Each run in a file of another name, called as it should be."""
    rows = run_rows()
    files = [write(gold_rows(), folder / "gold.csv")]
    for name in GIVEN:
        own = rows.filter(pl.col("run") == name).drop("run")
        files.append(write(own, folder / f"file of {name}.csv"))
    return [*files, *(word for name in GIVEN for word in ("--name", name))], BASE


CASES: dict[str, Case] = {
    "format": by_format,
    "pick": by_pick,
    "columns": by_columns,
    "policy": by_policy,
    "unanswerable": by_unanswerable,
    "match": by_match,
    "align": by_align,
    "detect_refusals": by_refusals,
    "refusal_pattern": by_refusal_pattern,
    "cluster": by_cluster,
    "engine": by_engine,
    "names": by_names,
    "corrections": by_corrections,
}

NO_EFFECT = {*(("cluster", name) for name in ("curve", "meta", "validate"))}
NO_EFFECT |= {("policy", "validate"), ("unanswerable", "validate")}
"""Options that an analysis has no use for: its result says so."""

WITHOUT = {
    ("pick", "validate"): "",
    ("pick", "curve"): "",
    ("pick", "tune"): "",
    ("pick", "cascade"): "",
}
"""Options that mean nothing to a command: it says so, naming them; empty: it is not asked."""

ALSO = {("cluster", "score"): ["--interval"]}
"""What an option goes with."""


def test_every_option_has_its_case() -> None:
    assert set(OPTIONS) == {*CASES, "grades", "partial", "master"}


@pytest.mark.slow
@pytest.mark.parametrize("option", CASES)
@pytest.mark.parametrize("command", READING)
def test_every_option_has_one_effect_in_every_command(
    command: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = WITHOUT.get((option, command))
    if refused == "":
        pytest.skip("such logs are judged already, and state no confidence")
    arguments, expected = CASES[option](tmp_path)
    capsys.readouterr()
    code = asked(command, *arguments, *ALSO.get((option, command), []))
    out, err = capsys.readouterr()
    if refused:
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
        assert refused in err
        return
    assert code == 0, err
    unused = (option, command) in NO_EFFECT
    assert any("no effect here" in note for note in json.loads(out)["notes"]) is unused
    assert found(command, out) == pytest.approx(BASE if unused else expected, abs=1e-12)


@pytest.mark.parametrize("command", READING)
def test_a_master_asks_for_spark(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = written(tmp_path)
    assert asked(command, *files, "--engine", "polars", "--master", "local[1]") == 2
    assert "--master needs --engine spark" in capsys.readouterr().err


@pytest.mark.parametrize("command", READING)
def test_grades_are_for_judged_rows(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(command, *written(tmp_path), "--grade", "meh=wrong") == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "--grade" in err


# ------------------------------------------------------------------------ input × command: files


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "xml"])
@pytest.mark.parametrize("command", READING)
def test_every_format_is_read_alike_by_every_command(
    command: str, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = written(tmp_path, ending)
    capsys.readouterr()
    assert asked(command, *files) == 0
    assert found(command, capsys.readouterr().out) == pytest.approx(BASE, abs=1e-12)


KINDS = {
    "score": ("judged", "counts"),
    "compare": ("judged", "scores"),
    "curve": ("judged",),
    "tune": ("judged",),
    "meta": ("judged", "counts", "scores"),
    "campaign": (),
    "validate": (),
}
"""The kinds of input that a command takes besides a gold and runs; others are asked for theirs."""


def kinds_of(command: str) -> set[str]:
    """The kinds of input that a command takes besides a gold and runs."""
    if command in KINDS:
        return set(KINDS[command])
    found = app.get_command(Context(app), command)
    assert found is not None
    return {"judged", "counts", "scores"} & {own.name for own in found.params}


@pytest.mark.slow
@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize("kind", ["judged", "counts", "scores"])
def test_every_kind_of_input_is_taken_or_refused_in_one_line(
    command: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {
        "judged": judged_rows(),
        "counts": counts_rows(by_question=command == "meta"),
        "scores": scores_rows(),
    }
    file = write(rows[kind], tmp_path / f"{kind}.csv")
    one = ["--part", "stability", "--subsets", "5"] if (command, kind) == ("meta", "scores") else []
    code = run([command, f"--{kind}", file, *(one or MORE.get(command, [])), "--format", "json"])
    out, err = capsys.readouterr()
    if kind not in kinds_of(command):
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
        return
    assert code == 0, err
    if kind == "scores":
        assert "0.625" in out
        assert "0.375" in out
        return
    assert found(command, out) == pytest.approx(BASE, abs=1e-12)


@pytest.mark.parametrize("command", [name for name in READING if "judged" in kinds_of(name)])
def test_an_unusual_grade_means_what_is_said_everywhere(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(judged_rows({"B": "meh"}), tmp_path / "judged.csv")
    assert asked(command, "--judged", file) == 2
    assert "meh" in capsys.readouterr().err
    assert asked(command, "--judged", file, "--grade", "meh=wrong") == 0
    assert found(command, capsys.readouterr().out) == pytest.approx(BASE, abs=1e-12)


def test_the_net_knows_every_command() -> None:
    assert set(COMMANDS) >= OTHERS


# ----------------------------------------------------------------------- input × analysis: frames


def as_pandas(frame: pl.DataFrame) -> Any:
    return frame.to_pandas()


def as_arrow(frame: pl.DataFrame) -> Any:
    return frame.to_arrow()


def as_relation(frame: pl.DataFrame) -> Any:
    duckdb = pytest.importorskip("duckdb")
    return duckdb.from_arrow(frame.to_arrow())


FRAMES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "pandas": as_pandas,
    "pyarrow": as_arrow,
    "duckdb": as_relation,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FRAMES)
def test_every_frame_can_be_asked_everything(kind: str) -> None:
    make = FRAMES[kind]
    for read in (
        ab.read(make(gold_rows()), make(run_rows())),
        ab.read_judged(make(judged_rows())),
    ):
        scored = read.score("c@1")
        assert {row.run: row.scores["c@1"] for row in scored.rows} == pytest.approx(BASE)
        compared = read.compare("c@1")
        assert {row.run: row.scores["c@1"] for row in compared.rows} == pytest.approx(BASE)
        curves = read.curve()
        assert {own.run: own.as_submitted for own in curves.runs} == pytest.approx(BASE)
        judged = read.meta(parts=("agreement",))
        assert json.loads(judged.to_json())["scores"]["c@1"] == pytest.approx(BASE)
        tuned = read.tune(folds=2)
        assert {row.run: row.as_submitted.score for row in tuned.runs} == pytest.approx(BASE)


# --------------------------------------------------------------------------- a page everywhere


@pytest.mark.slow
@pytest.mark.parametrize("how", ["--format", "-o"])
@pytest.mark.parametrize("command", [name for name in READING if name != "campaign"])
def test_every_command_makes_a_page_in_one_step(
    command: str, how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    value = "html" if how == "--format" else "page.html"
    assert run([command, *written(tmp_path), *MORE.get(command, []), how, value]) == 0
    page = capsys.readouterr().out or (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
