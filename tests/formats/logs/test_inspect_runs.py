"""Inspect logs beside each other: prompts, epochs, tasks and a log that failed, made by hand.

Four samples: the model has two right, one wrong, and declines one. c@1 = 2/4 · (1 + 1/4) = 0.625.
"""

from __future__ import annotations

import json
import zipfile
from typing import Any

import pytest

import abstain as ab
from tests.helpers import Here
from tests.snapshots import says

C_AT_1 = 2 / 4 * (1 + 1 / 4)


def log(
    values: str = "CCIN",
    *,
    model: str = "lab/m",
    task: str = "qa",
    epochs: int = 1,
    status: str = "success",
    written: int | None = None,
    prompt: str = "",
    dataset: str = "",
    **spec: Any,
) -> str:
    """A log as Inspect writes it; `written` samples of those that it set out to do."""
    ids = [f"s{n}" for n in range(len(values))]
    samples = [
        {
            "id": own,
            "epoch": epoch,
            "target": "x",
            "output": {"completion": "x"},
            "scores": {"judge": {"value": value}},
        }
        for epoch in range(1, epochs + 1)
        for own, value in zip(ids, values, strict=True)
    ]
    steps = [{"solver": "system_message", "params": {"template": prompt}}] if prompt else []
    head = {
        "task": task,
        "model": model,
        "dataset": {"name": dataset or None, "samples": len(ids), "sample_ids": ids},
        "config": {"epochs": epochs},
        **spec,
    }
    log = {"version": 2, "status": status, "eval": head, "plan": {"steps": steps}}
    return json.dumps({**log, "samples": samples[:written]})


def asked(here: Here, *words: str) -> dict[str, Any]:
    said = here(*words, "-m", "c@1", "--format", "json")
    assert said.code == 0, said
    data: dict[str, Any] = said.data
    return data


def scores(here: Here, *words: str) -> dict[str, float]:
    return {r["run"]: r["scores"]["c@1"] for r in asked(here, "score", *words)["results"]}


# ------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("one", "two", "names"),
    [
        (
            {"prompt": "Answer in a word."},
            {"prompt": "Think step by step."},
            [
                "lab/m (system_message=Answer in a word.)",
                "lab/m (system_message=Think step by step.)",
            ],
        ),
        (
            {"model_generate_config": {"temperature": 0.0, "max_tokens": 9}},
            {"model_generate_config": {"temperature": 0.7, "max_tokens": 9}},
            ["lab/m (temperature=0)", "lab/m (temperature=0.7)"],
        ),
        (
            {"task_args": {"shots": 5}},
            {},
            ["lab/m (no shots)", "lab/m (shots=5)"],
        ),
        (
            {"created": "2026-01-05T10:00:00+00:00"},
            {"created": "2026-01-05T10:07:30+00:00"},
            ["lab/m (2026-01-05T10:00:00+00:00)", "lab/m (2026-01-05T10:07:30+00:00)"],
        ),
        (
            {"created": "2026-01-05T10:00:00+00:00"},
            {"created": "2026-01-06T10:00:00+00:00"},
            ["lab/m (2026-01-05T10:00:00+00:00)", "lab/m (2026-01-06T10:00:00+00:00)"],
        ),
        (
            {"created": "2026-01-05T10:00:00+00:00", "task_args": {"cot": True}},
            {"created": "2026-01-06T10:00:00+00:00", "task_args": {"cot": False}},
            ["lab/m (cot=false)", "lab/m (cot=true)"],
        ),
        (  # two prompts as two tasks over one data set: the same questions, so two runs
            {"task": "qa_short", "dataset": "qa.csv"},
            {"task": "qa_long", "dataset": "qa.csv"},
            ["lab/m (qa_long)", "lab/m (qa_short)"],
        ),
        ({}, {}, ["2026_first_log", "2026_second_log"]),
    ],
)
def test_logs_of_one_model_are_told_apart_by_what_differs(
    here: Here, one: dict[str, Any], two: dict[str, Any], names: list[str]
) -> None:
    here.write("2026_first_log.json", log(**one))
    here.write("2026_second_log.json", log("CIIN", **two))
    found = scores(here, "--judged", "2026_first_log.json", "2026_second_log.json")
    assert sorted(found) == names
    assert sorted(found.values()) == pytest.approx([1 / 4 * 5 / 4, C_AT_1])


def test_prompts_that_begin_alike_leave_the_names_of_files(here: Here) -> None:
    same = "You are a careful assistant that answers questions. "
    here.write("1.json", log(prompt=same + "Be brief."))
    here.write("2.json", log(prompt=same + "Explain."))
    found = scores(here, "--judged", "1.json", "2.json")
    assert sorted(found) == ["1", "2"]


def test_names_of_ones_own(here: Here) -> None:
    here.write("1.json", log())
    here.write("2.json", log("CIIN"))
    by_path = scores(here, "--judged", "short=1.json", "long=2.json")
    by_name = scores(here, "--judged", "1.json", "2.json", "--name", "short", "--name", "long")
    in_python = ab.read_judged(["1.json", "2.json"], names=["short", "long"]).score("c@1")
    assert by_path == by_name == {r.run: r.scores["c@1"] for r in in_python.rows}
    assert by_path == pytest.approx({"short": C_AT_1, "long": 1 / 4 * 5 / 4})
    line = here.refuses("score", "--judged", "1.json", "2.json", "--name", "short")
    says(line, "1", "2", "--name")
    line = here.refuses("score", "--judged", "1.json", "2.json", "--name", "a", "--name", "a")
    says(line, "'a'")


def test_a_name_is_for_one_run(here: Here) -> None:
    here.write("two.csv", "model,id,grade\na,1,A\nb,1,B\n")
    here.write("one.csv", "model,id,grade\na,1,A\na,2,B\n")
    line = here.refuses("score", "--judged", "mine=two.csv")
    says(line, "two.csv", "2", "'a'", "'b'", "'mine'")
    assert scores(here, "--judged", "mine=one.csv") == {"mine": 0.5}


# ------------------------------------------------------------------------------------- epochs


@pytest.mark.parametrize("words", [("--judged",), ("three.json",), ("one.json",)])
def test_a_run_is_judged_on_the_epochs_that_it_set_out_to_do(here: Here, words: Any) -> None:
    here.write("three.json", log(model="lab/three", epochs=3))
    here.write("one.json", log(model="lab/one"))
    data = asked(here, "score", *words, "three.json", "one.json")
    found = {r["run"]: (r["scores"]["c@1"], r["counts"]["right"]) for r in data["results"]}
    assert found == {
        "lab/three": (pytest.approx(C_AT_1), 6),
        "lab/one": (pytest.approx(C_AT_1), 2),
    }
    assert data["touched"] == {"declined": 4, "unasked": 8}
    says(data["notes"], "4", "12")
    compared = asked(here, "compare", *words, "three.json", "one.json")
    assert compared["cluster"] == "sample"
    assert {r["run"]: r["scores"]["c@1"] for r in compared["results"]} == pytest.approx(
        {"lab/three": C_AT_1, "lab/one": C_AT_1}
    )
    printed = here("compare", *words, "three.json", "one.json").out
    assert "4 clusters (sample)" in printed
    assert "(None)" not in printed
    assert here("validate", "three.json", "three.json", "one.json").code == 0


def test_a_gold_of_ones_own_has_each_sample_once(here: Here) -> None:
    """The epochs of a run repeat its questions; what a run lacks of the gold is missing."""
    here.write("gold.csv", "question,correct\ns0,x\ns1,x\ns2,y\ns3,y\ns4,y\n")
    here.write("three.json", log(model="lab/three", epochs=3))
    here.write("one.json", log(model="lab/one"))
    data = asked(here, "score", "gold.csv", "three.json", "one.json")
    assert data["touched"] == {"declined": 4, "missing": 2, "unasked": 8}
    counts = {r["run"]: r["counts"] for r in data["results"]}
    assert (counts["lab/three"]["right"], counts["lab/three"]["wrong"]) == (6, 3)
    assert (counts["lab/one"]["right"], counts["lab/one"]["wrong"]) == (2, 1)


def test_samples_that_a_run_was_not_to_answer_are_excluded(here: Here) -> None:
    here.write("all.json", log("CCINCC", model="lab/all"))
    here.write("four.json", log("CCIN", model="lab/four"))
    data = asked(here, "score", "--judged", "all.json", "four.json")
    assert data["touched"] == {"declined": 2, "unasked": 2}
    wrong = here(
        "score", "--judged", "all.json", "four.json", "-m", "accuracy", "--policy",
        "unasked=wrong", "--format", "json",
    )  # fmt: skip
    found = {r["run"]: r["scores"]["accuracy"] for r in wrong.data["results"]}
    assert found == pytest.approx({"lab/all": 4 / 6, "lab/four": 2 / 6})


# ------------------------------------------------------------------------------- tasks, failures


def test_two_tasks_of_one_model(here: Here) -> None:
    here.write("1.json", log("CCIN", task="a"))
    here.write("2.json", log("CIIN", task="b"))
    joined = asked(here, "score", "--judged", "1.json", "2.json")
    assert joined["questions"] == 8
    assert [r["run"] for r in joined["results"]] == ["lab/m"]
    apart = asked(here, "score", "--judged", "a=1.json", "b=2.json")
    assert apart["questions"] == 8  # s0 of one task is not s0 of the other
    found = {r["run"]: r["scores"]["c@1"] for r in apart["results"]}
    assert found == pytest.approx({"a": C_AT_1, "b": 1 / 4 * 5 / 4})
    assert apart["touched"] == {"declined": 2, "unasked": 8}
    assert "no question" in here.refuses("compare", "--judged", "a=1.json", "b=2.json")
    assert scores(here, "1.json", "a=1.json") == pytest.approx({"a": C_AT_1})


def test_a_failed_log_lacks_what_it_set_out_to_do(here: Here) -> None:
    here.write("good.json", log(model="lab/good"))
    here.write("bad.json", log(model="lab/bad", status="error", written=2))
    data = asked(here, "score", "--judged", "good.json", "bad.json")
    assert data["touched"] == {"declined": 1, "missing": 2}
    says(data["notes"], "bad.json", "2", "4", "'error'")
    assert not any("was asked" in note for note in data["notes"])


# ------------------------------------------------------------------------ folders and archives

GOLD = "question,correct\nq1,a\nq2,b\n"
ONE, TWO = "question,answer\nq1,a\nq2,b\n", "question,answer\nq1,a\nq2,c\n"


@pytest.fixture
def submitted(here: Here) -> Here:
    """A folder of two submissions and its archive."""
    here.write("gold.csv", GOLD)
    files = {"x/run.csv": ONE, "y/run.jsonl": '{"question": "q1", "answer": "a"}\n'}
    for name, text in (files | {"README.md": "no run"}).items():
        here.write(f"subs/{name}", text)
    with zipfile.ZipFile(here.folder / "subs.zip", "w") as archive:
        for name, text in (files | {"README.md": "no run", "__MACOSX/._run.csv": "x"}).items():
            archive.writestr(name, text)
    return here


@pytest.mark.parametrize("runs", ["subs", "subs.zip"])
@pytest.mark.parametrize("command", ["score", "compare", "validate", "curve --histogram"])
def test_a_folder_and_an_archive_are_taken_where_runs_are(
    submitted: Here, command: str, runs: str
) -> None:
    if command.startswith("curve"):
        assert "confidence" in submitted.refuses("curve", "gold.csv", runs)
        return
    said = submitted(command, "gold.csv", runs, "--format", "json")
    assert said.code == (1 if command == "validate" else 0), said
    if command == "score":
        assert {r["run"]: r["counts"]["right"] for r in said.data["results"]} == {
            "x/run": 2,
            "y/run": 1,
        }


def test_archives_are_checked(here: Here) -> None:
    here.write("gold.csv", GOLD)
    with zipfile.ZipFile(here.folder / "up.zip", "w") as archive:
        archive.writestr("run.csv", ONE)
    with zipfile.ZipFile(here.folder / "nested.zip", "w") as archive:
        archive.write(here.folder / "up.zip", "inner.zip")
    assert "is an archive in another" in here.refuses("score", "gold.csv", "nested.zip")
    with zipfile.ZipFile(here.folder / "none.zip", "w") as archive:
        archive.writestr("notes.txt", "none")
    line = here.refuses("score", "gold.csv", "none.zip")
    says(line, "none.zip")
    line = here.refuses("score", "none.zip", "none.zip")
    assert "Inspect" not in line
    says(line, "header.json")
    data = bytearray((here.folder / "none.zip").read_bytes())
    here.write("cut.zip", bytes(data[:20]))
    assert "not a zip file" in here.refuses("score", "gold.csv", "cut.zip")


def test_rankings_come_in_folders_and_archives_too(here: Here) -> None:
    here.write("qrels.txt", "q 0 d1 1\nq 0 d2 0\n")
    here.write("runs/input.a", "q Q0 d1 1 2.0 a\nq Q0 d2 2 1.0 a\n")
    here.write("runs/b.txt", "q Q0 d2 1 2.0 b\nq Q0 d1 2 1.0 b\n")
    here.write("runs/README.md", "Runs of this year, with notes\n")
    with zipfile.ZipFile(here.folder / "runs.zip", "w") as archive:
        for name in ("input.a", "b.txt", "README.md"):
            archive.write(here.folder / "runs" / name, name)
    for runs in ("runs", "runs.zip"):
        said = here("rank", "qrels.txt", runs, "-m", "RR", "--format", "json")
        assert {r["run"]: r["scores"]["RR"] for r in said.data["results"]} == {"a": 1.0, "b": 0.5}
    said = here("rank", "qrels.txt", "mine=runs/b.txt", "-m", "RR", "--format", "json")
    assert [r["run"] for r in said.data["results"]] == ["mine"]
