"""Bundles: run as their platforms run them, they give the numbers of a campaign."""

from __future__ import annotations

import importlib.util
import json
import shlex
import subprocess
import sys
import zipfile
from datetime import datetime
from pathlib import Path

import pytest
import yaml

import abstain as ab
from abstain.features.bundle.analysis import Platform
from tests.helpers import GOLD, RUN, abstain

SEASON = """\
title = "Reading"
gold = "gold.csv"
deadline = 2027-05-10T23:59:00+02:00
measure = "c@1"
[limits]
team = 10
day = 3
[hosting]
opens = 2027-04-01T00:00:00Z
[reading]
policy = {empty = "wrong"}
"""
OTHER = "question,answer\nq1,b\nq2,b\nq3,\nq4,\n"


@pytest.fixture
def season(tmp_path: Path) -> Path:
    folder = tmp_path / "season"
    folder.mkdir()
    (folder / "season.toml").write_text(SEASON)
    (folder / "gold.csv").write_text(GOLD)
    return folder


def unpacked(season: Path, platform: Platform) -> Path:
    archive, folder = season.parent / f"{platform}.zip", season.parent / platform
    names = ab.bundle(platform, season, archive)
    with zipfile.ZipFile(archive) as opened:
        assert tuple(opened.namelist()) == names
        opened.extractall(folder)
    return folder


def hosted(folder: Path, files: dict[str, str], app: Path) -> subprocess.CompletedProcess[str]:
    """Score a submission as Codabench's worker does: its folders, its working directory."""
    for name in ("input/res", "input/ref", "output"):
        (app / name).mkdir(parents=True)
    (folder / "scoring_program").rename(app / "program")
    (folder / "reference_data").rename(app / "input/ref")
    for name, text in files.items():
        path = app / "input/res" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    command = yaml.safe_load((app / "program/metadata.yaml").read_text())["command"]
    python, *args = shlex.split(command.replace("/app/", f"{app}/"))
    assert python == "python3"
    where = app / "program"
    return subprocess.run(
        [sys.executable, *args], cwd=where, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("text", [RUN, OTHER], ids=["one blank", "two blanks"])
def test_codabench_gives_the_numbers_of_a_campaign(season: Path, text: str, tmp_path: Path) -> None:
    done = hosted(
        unpacked(season, "codabench"),
        {"run.csv": text, "__MACOSX/._run.csv": "x", ".DS_Store": "x", "README.txt": "Ours."},
        tmp_path / "app",
    )
    assert (done.returncode, done.stderr) == (0, "")
    scores = json.loads((tmp_path / "app/output/scores.json").read_text())
    (tmp_path / "run.csv").write_text(text)
    evaluation = ab.read(season / "gold.csv", tmp_path / "run.csv", policy={"empty": "wrong"})
    campaign = evaluation.campaign(measure="c@1", interval="beta")
    (row,) = campaign.rows
    low, high = row.intervals["c@1"]
    right, wrong, blank = row.outcomes
    of_campaign = row.scores["c@1"], low, high, right, wrong, blank
    names = "c_at_1", "c_at_1_low", "c_at_1_high", "right", "wrong", "blank"
    assert scores == dict(zip(names, of_campaign, strict=True))


REQUIRED = {
    "competition": {
        "version",
        "title",
        "image",
        "terms",
        "pages",
        "tasks",
        "phases",
        "leaderboards",
    },
    "pages": {"title", "file"},
    "phases": {"name", "start", "tasks"},
    "tasks": {"index", "name", "scoring_program"},
    "leaderboards": {"title", "key", "columns"},
    "columns": {"title", "key", "index"},
}
OPTIONAL = {
    "competition": {"description", "docker_image"},
    "pages": set[str](),
    "phases": {"index", "end", "max_submissions", "max_submissions_per_day", "hide_score_output"},
    "tasks": {"reference_data"},
    "leaderboards": {"submission_rule", "hidden"},
    "columns": {"sorting", "precision"},
}
"""The keys that docs.codabench.org documents (Competition YAML Structure): those in use."""


def test_the_metadata_are_those_that_codabench_documents(season: Path) -> None:
    folder = unpacked(season, "codabench")
    data = yaml.safe_load((folder / "competition.yaml").read_text())
    (board,) = data["leaderboards"]
    parts = {name: data[name] for name in ("pages", "phases", "tasks", "leaderboards")}
    for name, items in {**parts, "columns": board["columns"], "competition": [data]}.items():
        for item in items:
            assert REQUIRED[name] <= item.keys() <= REQUIRED[name] | OPTIONAL[name], name
    assert data["version"] == 2
    files = [data["image"], data["terms"], *(page["file"] for page in data["pages"])]
    (task,), (phase,) = data["tasks"], data["phases"]
    files += [task["scoring_program"], task["reference_data"]]
    assert all((folder / file).exists() for file in files)
    assert all((folder / file).stat().st_size for file in files)  # an empty page is refused
    assert phase["tasks"] == [task["index"]]
    # a time that YAML itself understands loses its hour there, so it must be a text, in UTC
    assert (phase["start"], phase["end"]) == ("2027-04-01 00:00:00", "2027-05-10 21:59:00")
    assert (phase["max_submissions"], phase["max_submissions_per_day"]) == (10, 3)
    assert board["submission_rule"] == "Force_Last"
    columns = board["columns"]
    assert [column["index"] for column in columns] == list(range(len(columns)))
    assert all(len(column[name]) <= 36 for column in columns for name in ("title", "key"))
    assert len({column["key"] for column in columns}) == len(columns)
    assert {column["sorting"] for column in columns} <= {"asc", "desc"}
    keys = {"c_at_1", "c_at_1_low", "c_at_1_high", "right", "wrong", "blank"}
    assert {column["key"] for column in columns} == keys


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, ""),
        ({"a.csv": RUN, "b.csv": RUN}, "expected one run, got 2: "),
        ({"a.csv": "question,answer\nq1,a\n"}, ""),
        ({"a.csv": "question,answer\nq9,a\n"}, ""),
    ],
    ids=["none", "two", "missing answers", "unknown question"],
)
def test_a_submission_that_cannot_be_scored_fails_in_a_line(
    season: Path, files: dict[str, str], words: str, tmp_path: Path
) -> None:
    done = hosted(unpacked(season, "codabench"), files, tmp_path / "app")
    assert done.returncode == 1
    assert done.stderr.startswith(f"the submission cannot be scored: {words}")
    assert done.stderr.count("\n") == 1
    assert not list((tmp_path / "app/output").iterdir())


def test_a_run_without_answers_gets_no_score(season: Path, tmp_path: Path) -> None:
    path = season / "season.toml"
    path.write_text(SEASON.replace('"wrong"', '"unanswered"'))
    nothing = "question,answer\nq1,\nq2,\nq3,\nq4,\n"
    done = hosted(unpacked(season, "codabench"), {"run.csv": nothing}, tmp_path / "app")
    scores = json.loads((tmp_path / "app/output/scores.json").read_text())
    assert scores == {"right": 0, "wrong": 0, "blank": 4}
    assert done.stdout == "it answers no question, so it has no rank\n"


def test_evalai_imports_a_function(season: Path, tmp_path: Path) -> None:
    folder = unpacked(season, "evalai")
    spec = importlib.util.spec_from_file_location(
        "evaluation_script", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["evaluation_script"] = module
    try:
        spec.loader.exec_module(module)
        (tmp_path / "run.csv").write_text(RUN)
        gold, run = str(season / "gold.csv"), str(tmp_path / "run.csv")
        output = module.evaluate(gold, run, "test", submission_metadata={})
    finally:
        del sys.modules["evaluation_script"], sys.modules["evaluation_script.main"]
    schema = json.loads((folder / "leaderboard.json").read_text())
    (split,) = output["result"]
    assert split["test"].keys() == set(schema["labels"])
    assert schema["default_order_by"] == "c_at_1"
    assert split["test"]["c_at_1"] == pytest.approx(2 / 4)  # its blank is wrong


def test_tira_runs_a_command(season: Path, tmp_path: Path) -> None:
    folder = unpacked(season, "tira")
    run, gold, output = (tmp_path / name for name in ("run", "truth", "out"))
    run.mkdir()
    gold.mkdir()
    (run / "run.csv").write_text(RUN)
    (gold / "gold.csv").write_text(GOLD)
    command = (folder / "command.txt").read_text()
    places = {"$inputRun": run, "$inputDataset": gold, "$outputDir": output, "/scoring": folder}
    for name, place in places.items():
        command = command.replace(name, str(place), 1)
    _, *args = shlex.split(command)
    subprocess.run([sys.executable, *args], check=True)
    text = (output / "evaluation.prototext").read_text()
    assert 'measure {\n  key: "c_at_1"\n  value: "0.5"\n}' in text
    assert (folder / "Dockerfile").read_text().startswith("FROM python:3.12\n")


def test_the_same_season_gives_the_same_bytes(season: Path, tmp_path: Path) -> None:
    archives = [tmp_path / "a.zip", tmp_path / "b.zip"]
    for archive in archives:
        ab.bundle("codabench", season, archive)
    assert archives[0].read_bytes() == archives[1].read_bytes()


def test_a_season_that_never_opens_is_refused(season: Path, tmp_path: Path) -> None:
    text = SEASON.replace("2027-05-10T23:59:00+02:00", "2027-03-01T00:00:00Z")
    (season / "season.toml").write_text(text)
    done = abstain("bundle", "codabench", season, "-o", tmp_path / "x.zip")
    assert done.code == 2
    assert "the deadline is not after" in done.line
    assert not (tmp_path / "x.zip").exists()


def test_a_primary_run_is_chosen_by_its_team(season: Path) -> None:
    (season / "season.toml").write_text('counts = "primary"\n' + SEASON)
    data = yaml.safe_load((unpacked(season, "codabench") / "competition.yaml").read_text())
    assert data["leaderboards"][0]["submission_rule"] == "Add_And_Delete"
    start = datetime.fromisoformat(data["phases"][0]["start"])
    assert start == datetime(2027, 4, 1)


def test_yaml_keeps_any_title(season: Path) -> None:
    title = 'A: "b" #c — \\ ’ {x}'
    (season / "season.toml").write_text(f"title = '''{title}'''\n" + SEASON.partition("\n")[2])
    folder = unpacked(season, "codabench")
    assert yaml.safe_load((folder / "competition.yaml").read_text())["title"] == title
    assert title in (folder / "overview.md").read_text()


def test_a_question_that_is_void_is_void_on_the_platform(season: Path, tmp_path: Path) -> None:
    """q2 is right for everyone: 3 of 4 right and a blank, which counts as wrong here."""
    (season / "corrections.csv").write_text("question,correction\nq2,everyone\n")
    (season / "season.toml").write_text('corrections = "corrections.csv"\n' + SEASON)
    done = hosted(unpacked(season, "codabench"), {"run.csv": RUN}, tmp_path / "app")
    assert (done.returncode, done.stderr) == (0, "")
    scores = json.loads((tmp_path / "app/output/scores.json").read_text())
    assert (scores["right"], scores["wrong"], scores["blank"]) == (3, 1, 0)


def test_teams_see_scores_only_if_the_season_says_so(season: Path) -> None:
    """From exact counts after each of many submissions a team could work out the answers."""
    for text, hidden in (
        (SEASON, True),
        (SEASON.replace("[reading]", "shown = true\n[reading]"), False),
    ):
        (season / "season.toml").write_text(text)
        ab.bundle("codabench", season, season.parent / "codabench.zip", force=True)
        with zipfile.ZipFile(season.parent / "codabench.zip") as archive:
            data = yaml.safe_load(archive.read("competition.yaml"))
        assert data["leaderboards"][0]["hidden"] is hidden
        assert data["phases"][0]["hide_score_output"] is hidden


def test_what_is_there_is_not_overwritten(season: Path) -> None:
    before = (season / "gold.csv").read_bytes()
    done = abstain("bundle", "evalai", season, "-o", season / "gold.csv")
    assert done.code == 2
    assert "is there already" in done.line
    assert (season / "gold.csv").read_bytes() == before


@pytest.mark.parametrize(("change", "words"), [("AUROC", "counts"), ("c@2", "c@1")])
def test_a_measure_that_a_campaign_refuses_is_refused(
    season: Path, change: str, words: str, tmp_path: Path
) -> None:
    (season / "season.toml").write_text(SEASON.replace("c@1", change))
    done = abstain("bundle", "tira", season, "-o", tmp_path / "x.zip")
    assert done.code == 2
    assert words in done.line
