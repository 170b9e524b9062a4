"""One model's tasks as one run: counted together, sliced by task, told apart when repeated."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

import abstain as ab
from abstain.io.tables import ROW
from abstain.reading import Reading
from abstain.runs.log_tasks import as_one_table, join_tasks
from abstain.runs.responses import Responses, opened_runs, read_responses
from tests.engines import ENGINES, needs
from tests.helpers import Here
from tests.snapshots import refuses, says


def lm_eval(values: str, *, hashes: str = "", said: str = "x") -> str:
    """A log with a document for each digit: 1 right, 0 wrong."""
    rows = [
        {"doc_id": i, "target": "x", "resps": [[said]], "filtered_resps": [said],
         "filter": "none", "metrics": ["exact_match"], "exact_match": float(v),
         **({"doc_hash": f"{hashes}{i}"} if hashes else {})}
        for i, v in enumerate(values)
    ]  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in rows)


def inspect(model: str, task: str, values: str, *, scorer: str = "judge", epochs: int = 1) -> str:
    samples = [
        {"id": str(i), "epoch": epoch, "target": "x", "output": {"completion": "I don't know."},
         "scores": {scorer: {"value": "C" if v == "1" else "I"}}}
        for i, v in enumerate(values) for epoch in range(1, epochs + 1)
    ]  # fmt: skip
    head = {"task": task, "model": model, "dataset": {}, "config": {"epochs": epochs}}
    return json.dumps({"version": 2, "status": "success", "eval": head, "samples": samples})


def path(folder: str, task: str, day: int = 1) -> str:
    return f"{folder}/samples_{task}_2026-01-0{day}T00-00-00.jsonl"


def scored(here: Here, *args: str) -> dict[Any, list[int]]:
    """Right and wrong of each run and slice; nothing may be missing."""
    said = here("score", *args, "-m", "accuracy", "--format", "json")
    assert said.code == 0, said
    assert "missing" not in said.data["touched"], said.data
    return {
        (r["run"], *r["slice"].values()): [r["counts"]["right"], r["counts"]["wrong"]]
        for r in said.data["results"]
    }


@pytest.fixture
def two_models(here: Here) -> Here:
    here.write(path("out/m1", "a"), lm_eval("110", hashes="aa"))
    here.write(path("out/m1", "b"), lm_eval("10", hashes="bb"))
    here.write(path("out/m2", "a"), lm_eval("000", hashes="aa"))
    here.write(path("out/m2", "b"), lm_eval("11", hashes="bb"))
    here.write("out/m1/results_2026-01-01T00-00-00.json", '{"results": {}, "configs": {}}')
    return here


FILES = [path(f"out/{m}", t) for m in ("m1", "m2") for t in ("a", "b")]


def test_files_of_one_model_are_one_run(two_models: Here) -> None:
    assert scored(two_models, "--judged", *FILES) == {("m1",): [3, 2], ("m2",): [2, 3]}
    sliced = scored(two_models, "--judged", *FILES, "--by", "task")
    assert sliced == {
        ("m1", "a"): [2, 1], ("m1", "b"): [1, 1], ("m2", "a"): [0, 3], ("m2", "b"): [2, 0],
    }  # fmt: skip
    said = two_models("score", "--judged", *FILES, "--format", "json")
    says(said.data["notes"], "2")


@pytest.mark.slow
def test_a_folder_stands_for_its_logs(two_models: Here) -> None:
    expected = {("m1",): [3, 2], ("m2",): [2, 3]}
    assert scored(two_models, "--judged", "out/m1", "out/m2") == expected
    assert scored(two_models, "--judged", "out") == expected
    assert scored(two_models, "out/m1", "out/m1", "out/m2") == expected
    compared = two_models("compare", "--judged", "out/m1", "out/m2", "-m", "accuracy", "-f", "json")
    assert compared.code == 0, compared
    assert compared.data["questions"] == 5
    made = two_models("campaign", "out/m1", "out/m1", "out/m2", "-o", "site")
    assert made.code == 0, made
    two_models.write("empty/notes.txt", "nothing")
    says(two_models.refuses("score", "--judged", "empty"))
    line = two_models.refuses("score", "--judged", "out", "--from", "simpleqa")
    assert "out: is a directory that holds no runs" in line


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_counts_a_joined_run(two_models: Here, engine: str) -> None:
    needs(engine)
    found = scored(two_models, "--judged", "out", "--engine", engine)
    assert found == {("m1",): [3, 2], ("m2",): [2, 3]}


def test_logs_that_name_no_model_share_a_folder(
    two_models: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(two_models.folder / "out" / "m1")
    names = [name.rpartition("/")[2] for name in FILES[:2]]
    assert scored(two_models, "--judged", *names) == {("m1",): [3, 2]}
    assert scored(two_models, "--judged", names[0]) == {("a",): [2, 1]}


def test_ids_that_stand_in_two_tasks_are_told_apart(here: Here) -> None:
    here.write("logs/1.json", inspect("m", "a", "110", epochs=2))
    here.write("logs/2.json", inspect("m", "b", "10"))
    here.write("logs/3.json", inspect("n", "a", "000", epochs=2))
    here.write("logs/4.json", inspect("n", "b", "11"))
    assert scored(here, "--judged", "logs") == {("m",): [5, 3], ("n",): [2, 6]}
    said = here("score", "--judged", "logs", "-m", "accuracy", "--interval", "--format", "json")
    assert any("questions are named task/id" in note for note in said.data["notes"])
    # Samples '0' of both tasks are two clusters: the answer to one says nothing of the other.
    rows = [f"{t}{i}#{e},{'right' if v == '1' else 'wrong'},{t}{i}\n"
            for t, values, epochs in (("a", "110", 2), ("b", "10", 1))
            for i, v in enumerate(values) for e in range(epochs)]  # fmt: skip
    here.write("by_hand.csv", "question,outcome,cluster\n" + "".join(rows))
    hand = here(
        "score", "--judged", "by_hand.csv", "-m", "accuracy", "--interval", "--format", "json"
    )
    own = next(r for r in said.data["results"] if r["run"] == "m")
    assert own["intervals"] == hand.data["results"][0]["intervals"]


def test_one_task_twice_stays_two_runs(here: Here) -> None:
    first, second = path("m", "a", 1), path("m", "a", 2)
    here.write(first, lm_eval("110"))
    here.write(second, lm_eval("111"))
    found = scored(here, "--judged", first, second)
    assert sorted(found.values()) == [[2, 1], [3, 0]]
    here.write(path("m", "b"), lm_eval("1"))
    line = here.refuses("score", "--judged", first, second, path("m", "b"))
    says(line, "'m'", "'a'")
    assert f"({first} and {second})" in line


def test_the_same_tasks_in_two_folders_are_two_runs(here: Here) -> None:
    for folder, values in (("zero/m", "000"), ("five/m", "111")):
        for task in "ab":
            here.write(path(folder, task), lm_eval(values, hashes=task))
    assert scored(here, "--judged", "zero", "five") == {("zero/m",): [0, 6], ("five/m",): [6, 0]}


def test_folders_name_runs_before_their_settings_do(here: Here) -> None:
    """A folder's name is what its author called the run; its arguments are long."""
    model = "peft=/checkpoints/{}/adapter,dtype=bfloat16"
    for folder, values in (("base", "00"), ("tuned", "11")):
        log = json.loads(inspect("m", "a", values))
        log["eval"]["model_args"] = {"pretrained": model.format(folder)}
        here.write(f"{folder}/log.json", json.dumps(log))
    found = scored(here, "--judged", "base", "tuned")
    assert found == {("base/m",): [0, 2], ("tuned/m",): [2, 0]}


@pytest.mark.slow
def test_refusals_are_looked_for_by_who_judged_each_task(here: Here) -> None:
    here.write("logs/1.json", inspect("m", "a", "00", scorer="match"))  # compares texts
    here.write("logs/2.json", inspect("m", "b", "00", scorer="judge"))  # a judge's label wins
    found = scored(here, "--judged", "logs", "--detect-refusals", "en", "--by", "task")
    assert found == {("m", "a"): [0, 0], ("m", "b"): [0, 2]}


def test_a_fault_is_found_in_its_own_file(here: Here) -> None:
    here.write(path("m", "a"), lm_eval("11", hashes="a"))
    here.write(path("m", "b"), lm_eval("11", hashes="b"))
    here.write("gold.csv", "question,correct\na0,x\na1,x\nb0,x\n")
    line = here.refuses("score", "gold.csv", path("m", "a"), path("m", "b"))
    says(line, f"{path('m', 'b')}", "2", "'b1'")


# ------------------------------------------------- other commands take what score takes


@pytest.mark.slow
def test_validate_joins_what_score_joins(two_models: Here) -> None:
    """Two tasks of a model are a whole run: none of its files alone has every question."""
    for runs in (FILES, ["out/m1", "out/m2"], ["out"]):
        said = two_models("validate", "out", *runs, "--format", "json")
        assert said.code == 0, said
        assert (said.data["questions"], said.data["runs"]) == (5, 2)
        says(said.data["notes"], "2")
    two_models.write(path("out/m2", "b"), lm_eval("1", hashes="bb"))
    said = two_models("validate", "out", "out", "--format", "json")
    assert said.code == 1
    (problem,) = said.data["problems"]
    says(problem["message"], "'m2'", "'bb1'")


def test_a_folder_without_logs_is_a_problem_among_others(two_models: Here) -> None:
    two_models.write("empty/notes.txt", "nothing")
    said = two_models("validate", "out", "empty", "out/m1", "--format", "json")
    assert said.code == 1
    assert [(p["kind"], p["file"]) for p in said.data["problems"]] == [("unreadable", "empty")]


def test_convert_takes_a_folder_as_score_does(two_models: Here) -> None:
    expected = {("m1",): [3, 2], ("m2",): [2, 3]}
    assert two_models("convert", "out", "all.jsonl").code == 0
    assert scored(two_models, "--judged", "all.jsonl") == expected
    sliced = scored(two_models, "--judged", "all.jsonl", "--by", "task")
    assert sliced == scored(two_models, "--judged", "out", "--by", "task")
    said = two_models("convert", "out/m1", "m1.csv")
    assert said.code == 0
    assert "m1.csv: 5 rows" in said.err
    assert scored(two_models, "--judged", "m1.csv") == {("m1",): [3, 2]}
    two_models.write("empty/notes.txt", "nothing")
    says(two_models.refuses("convert", "empty", "x.csv"))


def test_convert_tells_apart_ids_of_two_tasks(here: Here) -> None:
    here.write(path("logs/m", "a"), lm_eval("10"))
    here.write(path("logs/m", "b"), lm_eval("11"))
    said = here("convert", "logs", "all.csv")
    assert said.code == 0, said
    says(said.err)
    assert scored(here, "--judged", "all.csv") == {("m",): [3, 1]}


# ---------------------------------------------------------------------------- names of one's own


def test_a_path_is_given_a_name(two_models: Here) -> None:
    one, two, *_ = FILES
    named = scored(two_models, "--judged", f"easy={one}", f"again={one}")
    assert named == {("easy",): [2, 1], ("again",): [2, 1]}
    folders = scored(two_models, "--judged", "first=out/m1", "second=out/m2")
    assert folders == {("first",): [3, 2], ("second",): [2, 3]}
    # tasks of one model that have names are runs of their own; nothing is joined
    said = two_models("score", "--judged", f"task a={one}", f"task b={two}", "--format", "json")
    assert [row["run"] for row in said.data["results"]] == ["task a", "task b"]


def test_a_mapping_names_folders_too(two_models: Here) -> None:
    runs = ab.read_judged({"first": "out/m1", "second": "out/m2"})
    assert runs.runs == ("first", "second")
    with refuses(ab.InputError, "2", "'all'"):
        ab.read_judged({"all": "out"})


def test_a_file_whose_name_has_an_equals_sign_is_a_file(here: Here) -> None:
    here.write("t=0.csv", "question,grade\nq1,right\n")
    assert scored(here, "--judged", "t=0.csv") == {("t=0",): [1, 0]}
    says(here.refuses("score", "--judged", "x=no.csv"), "no.csv")


# ------------------------------------------------------------------------------ piece by piece


def opened(here: Here, *paths: str) -> list[Responses]:
    return [read_responses(own, Reading(), judged=True) for own in paths]


def test_joined_logs_keep_their_team_if_it_is_one(two_models: Here) -> None:
    one, two = opened(two_models, path("out/m1", "a"), path("out/m1", "b"))
    for teams, expected in ((("x", "x"), "x"), (("x", "y"), None), ((None, None), None)):
        logs = [replace(own, team=team) for own, team in zip((one, two), teams, strict=True)]
        (joined,) = join_tasks(logs)
        assert joined.team == expected
        assert joined.table.frame.collect().height == 5
        says((joined.table.notes), "2")


def test_at_most_five_tasks_are_named(here: Here) -> None:
    for number in range(6):
        here.write(path("out/m1", f"t{number}"), lm_eval("10", hashes=f"h{number}"))
    paths = [path("out/m1", f"t{number}") for number in range(6)]
    for size, listed in ((5, "(t0, t1, t2, t3, t4)"), (6, "(t0, t1, t2, t3, t4 …)")):
        (joined,) = join_tasks(opened(here, *paths[:size]))
        assert any(note.endswith(listed) for note in joined.table.notes)


def test_one_log_or_a_table_that_is_none_stays_as_it_is(two_models: Here) -> None:
    two_models.write("run.csv", "question,outcome,task\nq1,right,a\n")
    log, table = opened(two_models, path("out/m1", "a"), "run.csv")
    assert join_tasks([log, table]) == [log, table]
    assert join_tasks([]) == []


def test_rows_of_joined_logs_know_their_places(two_models: Here) -> None:
    logs = opened(two_models, path("out/m1", "a"), path("out/m1", "b"))
    whole = as_one_table([own.table for own in logs], "both")
    rows = whole.frame.collect()
    assert rows.height == 5
    assert rows[ROW].to_list() == [*range(3), *range(3, 5)]
    assert [start for start, _ in whole.parts] == [0, 3]
    assert str(whole.place(0)) == f"{path('out/m1', 'a')}:1"
    assert str(whole.place(3)) == f"{path('out/m1', 'b')}:1"
    assert str(whole.place(4)) == f"{path('out/m1', 'b')}:2"


def test_a_gold_without_tasks_names_the_questions_of_one_task(here: Here) -> None:
    """`a/0` in the gold is document 0 of a log of task a; of two tasks nobody can tell."""
    here.write(path("m1", "a"), inspect("m", "a", "10"))
    here.write("gold.csv", "question,correct\na/0,x\na/1,x\n")
    here.write("log.json", inspect("m", "a", "10"))
    said = here("score", "gold.csv", "log.json", "-m", "accuracy", "--format", "json")
    assert said.code == 0, said
    counts = said.data["results"][0]["counts"]
    assert counts["right"] + counts["wrong"] == 2


def test_a_log_and_a_table_of_one_name_are_told_apart_by_their_files(here: Here) -> None:
    here.write("log.json", inspect("m", "a", "10"))
    here.write("m.csv", "question,answer\n0,x\n1,x\n")
    assert [own.run for own in opened_runs(["log.json", "m.csv"], Reading())] == ["log", "m"]
