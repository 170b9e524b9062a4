"""The organiser's gate for QA4MRE runs: every fault is found, named and placed."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import abstain as ab
from abstain.cli import run as command
from abstain.reading import Align
from abstain.registry import view_of
from abstain.report.terminal import print_grid
from tests.qa4mre_files import GOLD, RUN, gold_xml, real, run_xml
from tests.snapshots import says

TESTS = (4, 3, 5)
SOUND = [(str(r), range(1, n + 1)) for r, n in enumerate(TESTS, 1)]


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write(tmp_path, "gold.xml", gold_xml(TESTS))


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def verdict(
    gold: Path, *runs: Path, align: Align = "id", max_runs: int | None = None
) -> ab.ValidateResult:
    return ab.validate(gold, list(runs), align=align, max_runs=max_runs)


def found(result: ab.ValidateResult) -> list[tuple[str, int | None, str | None]]:
    return [(p.kind, p.line, p.question) for p in result.problems]


def run_of(folder: Path, tests: Sequence[tuple[str, Sequence[int]]], **more: str) -> Path:
    return write(folder, "run.xml", run_xml(tests, **more))


def test_a_sound_run_passes(gold: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = run_of(tmp_path, SOUND)
    assert command(["validate", str(gold), str(path)]) == 0
    assert "nothing wrong" in capfd.readouterr().out


def test_a_candidate_in_an_unanswered_question_is_fine(tmp_path: Path) -> None:
    result = verdict(write(tmp_path, "g.xml", GOLD), write(tmp_path, "r.xml", RUN))
    assert result.problems == ()


def test_missing_extra_and_repeated_questions(gold: Path, tmp_path: Path) -> None:
    path = run_of(tmp_path, [("1", [1, 2, 4]), ("2", [1, 2, 3, 9]), ("3", [1, 2, 3, 3, 4, 5])])
    assert found(verdict(gold, path)) == [
        ("unknown question", 12, "1/2/9"),
        ("repeated question", 18, "1/3/3"),
        ("missing question", None, "1/1/3"),
    ]


def test_options_that_do_not_exist_and_answers_that_are_not_given(
    gold: Path, tmp_path: Path
) -> None:
    text = run_xml(SOUND).replace('a_id="1"', 'a_id="6"', 1)
    text = text.replace('<question q_id="2" answered="YES"><answer a_id="1"/></question>', "@", 2)
    text = text.replace("@", '<question q_id="2" answered="YES"/>', 1)
    text = text.replace("@", '<question q_id="2" answered="MAYBE"/>', 1)
    assert found(verdict(gold, write(tmp_path, "r.xml", text))) == [
        ("unknown option", 4, "1/1/1"),
        ("answer lacking", 5, "1/1/2"),
        ("unreadable 'answered'", 11, "1/2/2"),
    ]


def test_shifted_ids_are_unknown_and_fit_by_position(gold: Path, tmp_path: Path) -> None:
    path = run_of(tmp_path, [(r, [n + 1 for n in numbers]) for r, numbers in SOUND])
    assert found(verdict(gold, path)) == [
        ("unknown question", 7, "1/1/5"),
        ("unknown question", 12, "1/2/4"),
        ("unknown question", 19, "1/3/6"),
        ("missing question", None, "1/1/1"),
        ("missing question", None, "1/2/1"),
        ("missing question", None, "1/3/1"),
    ]
    assert verdict(gold, path, align="position").problems == ()


def test_repeated_tests_are_repeated_and_missing_questions(gold: Path, tmp_path: Path) -> None:
    path = run_of(tmp_path, [("1", numbers) for _, numbers in SOUND])
    kinds = {problem.kind for problem in verdict(gold, path).problems}
    assert kinds == {"repeated question", "unknown question", "missing question"}
    assert verdict(gold, path, align="position").problems == ()


def test_floods_are_told_as_one(tmp_path: Path) -> None:
    gold = write(tmp_path, "gold.xml", gold_xml([30, 30]))
    path = run_of(tmp_path, [("1", range(1, 31))])
    (problem,) = verdict(gold, path).problems
    assert problem.kind == "missing question"
    says((problem.message), "30", "'1/2/1'", "'1/2/2'", "'1/2/3'")
    assert len(problem.details) == 30


@pytest.mark.slow
def test_shared_run_ids_and_too_many_runs(gold: Path, tmp_path: Path) -> None:
    runs = [
        write(tmp_path, f"{name}.xml", run_xml(SOUND, run_id=run_id))
        for name, run_id in (
            ("a", "jucs1301enen"),
            ("b", "jucs1301enen"),
            ("c", "jucs1302enen"),
            ("d", "uaic1301enen"),
            ("e", "nothing-known"),
        )
    ]
    result = verdict(gold, *runs, max_runs=2)
    assert [(p.kind, Path(p.file).name, p.line) for p in result.problems] == [
        ("shared run id", "b.xml", 1),
        ("too many runs", "c.xml", 1),
    ]
    says(result.problems[1].message, "'jucs1302enen'", "3", "'jucs'", "2")
    assert len(verdict(gold, *runs).problems) == 1


def test_runs_of_a_team_in_one_table_are_counted(gold: Path, tmp_path: Path) -> None:
    rows = "".join(f"1/1/1,1,jucs130{n}enen\n" for n in (1, 2, 3))
    path = write(tmp_path, "runs.csv", "question,answer,run\n" + rows)
    kinds = [p.kind for p in verdict(gold, path, max_runs=2).problems]
    assert kinds.count("too many runs") == 1


def test_runs_that_cannot_be_read_stand_beside_the_others(gold: Path, tmp_path: Path) -> None:
    page = write(tmp_path, "page.xml", "<!DOCTYPE html><html></html>")
    latin = tmp_path / "latin.xml"
    latin.write_bytes(run_xml(SOUND, run_id="Peñas").encode("latin-1"))
    sound = run_of(tmp_path, SOUND)
    result = verdict(gold, page, latin, sound)
    assert [(p.kind, p.line) for p in result.problems] == [("unreadable", 1)] * 2
    assert "HTML page" in result.problems[0].message
    assert "not UTF-8" in result.problems[1].message


def test_json_and_tables_of_problems(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    gold = write(tmp_path, "gold.xml", gold_xml([30, 30]))
    path = run_of(tmp_path, [("1", range(1, 31))])
    assert command(["validate", str(gold), str(path), "--format", "json"]) == 1
    data: dict[str, Any] = json.loads(capfd.readouterr().out)
    assert data["valid"] is False
    (problem,) = data["problems"]
    assert (problem["kind"], problem["line"], problem["file"]) == (
        *("missing question", None),
        str(path),
    )
    assert {"kind", "file", "line", "run", "question", "message"} <= problem["details"][0].keys()
    assert command(["validate", str(gold), str(path)]) == 1
    short = capfd.readouterr().out
    says(short, "30", "--most", "0")
    assert command(["validate", str(gold), str(path), "--most", "0"]) == 1
    assert len(capfd.readouterr().out.splitlines()) > len(short.splitlines())


def test_a_narrow_terminal_shows_the_whole_message(
    gold: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.chdir(tmp_path)
    run_of(tmp_path, [(r, [n + 1 for n in numbers]) for r, numbers in SOUND])
    result = verdict(gold, Path("run.xml"))
    screen = Terminal()
    print_grid(*view_of(result).on_terminal(), file=screen)
    lines = screen.getvalue().splitlines()
    assert all(len(line) <= 100 for line in lines)
    assert result.problems[0].message in " ".join(" ".join(lines[2:8]).split())


# -------------------------------------------------------------------------------- real files

IDS = {"unknown question", "missing question"}
FAULTS = {
    "oaqa_output_a": IDS,
    "team03_run1": IDS,
    "team07_output_old": {*IDS, "repeated question"},
    "not_xml_at_all": {"unreadable"},
    "team07_run1": set(),
    "team07_run2": set(),
    "team07_run3": set(),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_real_runs(name: str) -> None:
    paths = real("gold", "cmu11791_GS.xml"), real("runs", f"{name}.xml")
    assert {problem.kind for problem in verdict(*paths).problems} == FAULTS[name]
    if "unreadable" not in FAULTS[name]:
        assert verdict(*paths, align="position").problems == ()


def test_real_runs_together() -> None:
    runs = [real("runs", f"{name}.xml") for name in sorted(FAULTS)]
    result = verdict(real("gold", "cmu11791_GS.xml"), *runs, max_runs=2)
    kinds = {(Path(p.file).stem, p.kind) for p in result.problems}
    alone = {(name, kind) for name, kinds in FAULTS.items() for kind in kinds}
    more = {("team07_run2", "shared run id"), ("team07_run3", "shared run id")}
    assert kinds == alone | more | {("team07_run3", "too many runs")}


@pytest.mark.parametrize("run", [["a", "a", None, None], [None, None, None, None]])
def test_a_row_without_a_run_that_answers_twice_is_a_problem(
    tmp_path: Path, run: list[str | None]
) -> None:
    columns = {"run": run, "question": ["q1", "q2", "q1", "q1"], "answer": ["A", "B", "A", "B"]}
    frame = pl.DataFrame(columns, schema_overrides={"run": pl.String})
    frame.write_parquet(tmp_path / "runs.parquet")
    gold = pl.DataFrame({"question": ["q1", "q2"], "correct": ["A", "B"]})
    problems = ab.validate(gold, tmp_path / "runs.parquet").problems
    assert [problem.kind for problem in problems] == ["no run name"] * run.count(None)
    assert [problem.row for problem in problems] == [n for n, r in enumerate(run, 1) if r is None]
