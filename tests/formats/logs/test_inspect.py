"""Inspect's logs: its own scores are ours; errors, limits, epochs; killed and damaged logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import abstain as ab
from abstain.errors import InputError
from abstain.io.tables import read_table
from tests.helpers import Here, counts_of
from tests.snapshots import says


def test_accuracy_is_inspects_own(data: Path) -> None:
    own = json.loads((data / "inspect.own.json").read_text())["inspect.eval"]["careful"]
    result = ab.read_judged(str(data / "inspect.eval"), policy={"unscored": "excluded"}).score(
        measures=["accuracy"]
    )
    row = result.rows[0]
    assert row.scores["accuracy"] == pytest.approx(own["accuracy"], abs=1e-12)
    assert row.counts.n == own["scored"]
    assert row.excluded == own["unscored"]
    # 2, I don't know, 7, 8, nothing (NaN), 12 to 1 + 1, 2 + 2, …
    assert counts_of(result) == {"mockllm/model": (3, 1, 0, 0, 1)}
    assert result.touched == {"declined": 1, "unscored": 1}


@pytest.mark.parametrize("scorer", ["careful", "match"])
def test_epochs_are_repeats_of_one_question(data: Path, scorer: str) -> None:
    own = json.loads((data / "inspect.own.json").read_text())["inspect_epochs.json"][scorer]
    result = ab.read_judged(
        str(data / "inspect_epochs.json"),
        format="inspect",
        pick={"scorer": scorer},
        policy=["error=excluded", "unscored=excluded"],
    ).score(measures=["accuracy"], interval="delta")
    assert result.questions == 12
    assert result.cluster == "sample"
    if scorer == "match":  # every sample has both epochs, so Inspect's mean of means is the mean
        assert result.rows[0].scores["accuracy"] == pytest.approx(own["accuracy"], abs=1e-12)
    assert result.touched["error"] == 2
    assert result.touched["limit"] == 2


def test_metadata_are_attributes_and_reasons_are_kept(data: Path, here: Here) -> None:
    here("convert", str(data / "inspect.eval"), "log.jsonl")
    rows = {r["question"]: r for r in map(json.loads, Path("log.jsonl").read_text().splitlines())}
    assert rows["q5"]["reason"] == "the grader gave up"
    assert rows["q5"]["why"] == "unscored"
    assert rows["q2"]["response"] == "I don't know"
    assert rows["q2"]["answer"] == ""
    assert [rows[f"q{i}"]["topic"] for i in (3, 4)] == ["small", "large"]
    assert rows["q1"]["correct"] == ["2"]
    assert "parts" not in rows["q1"]  # a list is no attribute


def test_a_log_must_say_what_its_errors_become(data: Path, here: Here) -> None:
    log = str(data / "inspect_epochs.json")
    says(here.refuses("score", "--judged", log), "2")
    line = here.refuses("score", "--judged", log, "--from", "inspect", "--pick", "scorer=match")
    assert "2 responses failed (error)" in line


def test_a_killed_run_counts_what_it_lacks_as_missing(data: Path, here: Here) -> None:
    log = str(data / "inspect_killed.eval")
    said = here("score", "--judged", log, "--format", "json")
    assert said.code == 0, said
    assert said.data["questions"] == 6
    assert said.data["touched"] == {"declined": 1, "missing": 3}
    assert any("lacks 3 of 6 samples" in note for note in said.data["notes"])
    assert any("its status is 'started'" in note for note in said.data["notes"])
    checked = here("validate", str(data / "inspect.eval"), log)
    assert checked.code == 1
    assert checked.out.count("has no response to question") == 3


@pytest.mark.slow
def test_a_log_cut_short_anywhere_is_refused(data: Path, tmp_path: Path) -> None:
    whole = (data / "inspect.eval").read_bytes()
    path = tmp_path / "cut.eval"
    for size in [*range(0, len(whole), 97), len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(InputError):
            rows_of(path)


def rows_of(path: Path) -> dict[str, str]:
    frame = read_table(str(path)).frame.collect()
    return dict(zip(frame["question"], frame["outcome"], strict=True))


# --------------------------------------------------------------------------- logs made by hand


def sample(name: str, value: Any = "C", **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "epoch": 1,
        "input": "?",
        "target": "x",
        "output": {"choices": [{"message": {"content": "x"}}]},
        "scores": {"s": {"value": value, "answer": "x"}},
        **more,
    }


def header(samples: list[str] | None = None, **more: Any) -> dict[str, Any]:
    dataset = {"samples": len(samples), "sample_ids": samples} if samples else {}
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "task": "t",
            "model": "m",
            "dataset": dataset,
            "config": {"epochs": 1},
            "packages": {"inspect_ai": "0.3.285"},
        },
        **more,
    }


def json_log(samples: list[dict[str, Any]], **more: Any) -> str:
    return json.dumps({**header(), "samples": samples, **more})


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        *[("C", "right"), ("I", "wrong"), ("N", "declined"), (1, "right"), (0.0, "wrong")],
        *[(True, "right"), (False, "wrong"), ("1.0", "right"), ("no", "wrong")],
        (float("nan"), "unscored"),
    ],
)
def test_values(here: Here, value: Any, outcome: str) -> None:
    path = here.write("log.json", json_log([sample("a", value)]))
    assert rows_of(path) == {"a": outcome}


def test_metadata_do_not_replace_the_cluster(here: Here) -> None:
    own = header(config=None)
    own["eval"]["config"] = {"epochs": 2}
    samples = [
        sample(name, epoch=epoch, metadata={"sample": "all", "epoch": 9, "task": 1, "topic": "x"})
        for name in "ab"
        for epoch in (1, 2)
    ]
    path = here.write("log.json", json.dumps({**own, "samples": samples}))
    table = read_table(str(path))
    frame = table.frame.collect()
    assert table.cluster == "sample"
    assert frame["sample"].to_list() == ["a", "a", "b", "b"]
    assert frame["epoch"].to_list() == [1, 2, 1, 2]
    assert frame["task"].to_list() == ["t"] * 4
    assert frame["sample (metadata)"].to_list() == ["all"] * 4
    assert frame["topic"].to_list() == ["x"] * 4


@pytest.mark.parametrize(
    ("config", "lacking"),
    [
        ({"limit": 4}, 1),
        ({"limit": [0, 4]}, 1),
        ({"limit": 3}, 0),
        ({"sample_id": ["q0", "q1", "q2"]}, 0),
        ({"sample_id": "q[0-4]"}, 2),
        ({}, 7),
    ],
)
def test_only_what_was_to_be_run_is_missing(here: Here, config: Any, lacking: int) -> None:
    """Older versions announce every sample of the data set, whatever the limit."""
    own = header([f"q{i}" for i in range(10)])
    own["eval"]["config"] |= config
    path = here.write(
        "log.json", json.dumps({**own, "samples": [sample(f"q{i}") for i in range(3)]})
    )
    found = list(rows_of(path).values())
    assert (found.count("right"), found.count("missing")) == (3, lacking)


def test_shuffled_samples_are_not_called_missing(here: Here) -> None:
    own = header([f"q{i}" for i in range(10)])
    own["eval"]["config"] |= {"limit": 3}
    path = here.write("log.json", json.dumps({**own, "samples": [sample("q7"), sample("q2")]}))
    assert rows_of(path) == {"q7": "right", "q2": "right"}
    assert any("has 2 of 3 samples" in note for note in read_table(str(path)).notes)


def test_a_log_of_epochs_beside_one_without(here: Here) -> None:
    several = header()
    several["eval"] |= {"config": {"epochs": 2}, "model": "other"}
    twice = [sample(name, epoch=epoch) for name in "ab" for epoch in (1, 2)]
    here.write("several.json", json.dumps({**several, "samples": twice}))
    here.write("one.json", json_log([sample("a"), sample("b", "I")]))
    said = here("score", "--judged", "several.json", "one.json", "--interval", "--format", "json")
    assert said.code == 0, said
    assert said.data["cluster"] == "sample"


def test_a_limit_that_came_after_the_answer_changes_nothing(here: Here) -> None:
    limit = {"type": "token", "limit": 100}
    samples = [sample("a", "C", limit=limit), sample("b", "I", limit=limit)]
    path = here.write("log.json", json_log(samples))
    assert rows_of(path) == {"a": "right", "b": "limit"}


@pytest.mark.parametrize(
    ("pick", "outcome"), [("partial=wrong", "wrong"), ("partial=right", "right")]
)
def test_partial(here: Here, pick: str, outcome: str) -> None:
    here.write("log.json", json_log([sample("a", "P"), sample("b")]))
    assert "--pick partial=wrong" in here.refuses("score", "--judged", "log.json")
    said = here("score", "--judged", "log.json", "--pick", pick, "--format", "json")
    assert said.data["results"][0]["counts"]["wrong"] == (outcome == "wrong")


def test_a_score_of_several_values(here: Here) -> None:
    here.write("log.json", json_log([sample("a", {"exact": 1, "style": 0.2})]))
    assert "--pick scorer=s.exact" in here.refuses("score", "--judged", "log.json")
    said = here(*("score", "--judged", "log.json", "--pick", "scorer=s.exact", "--format", "json"))
    assert said.data["results"][0]["counts"]["right"] == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (json_log([sample("a"), sample("a")]), ("'a'", "1")),
        (json_log([sample("a", 0.5)]), ("--pick", "0.5")),
        (json_log([sample("a", "maybe")]), ("'maybe'",)),
        (json_log([sample("a", [1, 0])]), ()),
        (json_log([{"epoch": 1}]), ()),
        (
            json_log([sample("a", scores={"s": {"grade": "C"}})]),
            (),
        ),
        (json.dumps(header()), ()),
        (json_log([sample("a")])[:-200], ("log.json",)),
        (json_log([]), ("log.json",)),
    ],
)
def test_broken_json_logs_are_refused(here: Here, text: str, expected: tuple[str, ...]) -> None:
    here.write("log.json", text)
    says(here.refuses("score", "--judged", "log.json"), *expected)
