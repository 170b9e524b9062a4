"""promptfoo: its documents, lines and versions; what a test, a run and an error are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from abstain.io.tables import read_table
from tests.formats.logs.helpers import counts
from tests.helpers import Here
from tests.snapshots import says


def result(test: int, success: bool, output: Any = "x", **more: Any) -> dict[str, Any]:
    return {
        "promptIdx": 0,
        "testIdx": test,
        "success": success,
        "score": float(success),
        "provider": {"id": "openai:gpt", "label": more.pop("label", "gpt")},
        "prompt": {"raw": "…", "label": "…"},
        "vars": {"q": f"question {test}"},
        "response": {"output": output, **more.pop("response", {})},
        "failureReason": 0 if success else 1,
        "testCase": {
            "description": f"test {test}",
            "metadata": {"topic": "a"},
            "assert": [{"type": "equals", "value": "x"}],
        },
        "gradingResult": None,
        **more,
    }


def promptfoo(results: Any, version: int = 3) -> str:
    inner = {"version": version, "timestamp": "2026-01-01T00:00:00Z", "results": results}
    return json.dumps({"evalId": "eval-abc", "results": inner, "config": {}})


def test_promptfoo(here: Here) -> None:
    results = [
        result(0, True),
        result(1, False, "y"),
        result(2, False, "I'm sorry", response={"isRefusal": True}),
        result(3, False, None, error="API error: 429\nmore", failureReason=2),
        result(4, False, ""),
        result(0, True, label="other"),
        result(1, True, label="other", promptIdx=0),
    ]
    here.write("r.json", promptfoo(results))
    assert counts(here, "r.json") == {"gpt": [1, 1, 2, 1], "other": [2, 0, 3, 0]}
    here.write("plain.json", json.dumps(json.loads(promptfoo(results))["results"]))
    assert counts(here, "plain.json") == counts(here, "r.json")
    said = here("compare", "--judged", "r.json", "--policy", "error=wrong")
    assert said.code == 0, said


def test_promptfoo_repeats_are_clusters(here: Here) -> None:
    repeats = [{**result(n, n % 2 == 0), "vars": {"q": n // 2}} for n in range(6)]
    for n, own in enumerate(repeats):
        own["testCase"]["description"] = f"test {n // 2}"
    here.write("r.json", promptfoo(repeats))
    said = here("score", "--judged", "r.json", "--interval", "--format", "json")
    assert said.data["questions"] == 6
    assert said.data["cluster"] == "test"


def test_promptfoo_metadata_do_not_replace_the_cluster(here: Here) -> None:
    repeats = [{**result(n, n % 3 == 0), "vars": {"q": n // 2}} for n in range(8)]
    for n, own in enumerate(repeats):
        own["testCase"] |= {"description": f"test {n // 2}", "metadata": {"test": n % 2}}
    here.write("r.json", promptfoo(repeats))
    frame = read_table("r.json").frame.collect()
    assert frame["test"].to_list() == ["0", "0", "2", "2", "4", "4", "6", "6"]
    assert frame["test (metadata)"].to_list() == [0, 1] * 4


def test_promptfoo_runs_are_called_by_their_prompts(here: Here) -> None:
    """promptIdx counts the columns of the table, providers and prompts together."""
    labels = [("A", "short"), ("A", "long"), ("B", "short"), ("B", "long")]
    results = [
        result(test, True, label=who, promptIdx=at, prompt={"raw": "…", "label": label})
        for test in range(2)
        for at, (who, label) in enumerate(labels)
    ]
    here.write("r.json", promptfoo(results))
    assert set(counts(here, "r.json")) == {"A (short)", "A (long)", "B (short)", "B (long)"}
    for own in results:
        own["prompt"]["label"] = "the same for all"
    here.write("r.json", promptfoo(results))
    names = {f"{who} (prompt {n})" for who in "AB" for n in (1, 2)}
    assert set(counts(here, "r.json")) == names


def test_promptfoo_as_lines(here: Here) -> None:
    results = [result(0, True), result(1, False, "y"), result(2, False, "")]
    here.write("r.jsonl", "".join(json.dumps(own) + "\n" for own in results))
    here.write("r.json", promptfoo(results))
    assert counts(here, "r.jsonl") == counts(here, "r.json") == {"gpt": [1, 1, 1, 0]}


def test_promptfoo_before_tests_had_numbers(here: Here) -> None:
    """Summary version 2: a test is what it asks, a prompt is its text."""
    results = []
    for who in ("x", "y"):
        for test, passed in ((0, True), (1, False), (1, True)):
            own = result(test, passed, label=who)
            results.append({k: v for k, v in own.items() if k not in ("testIdx", "promptIdx")})
            del results[-1]["failureReason"]
    here.write("r.json", promptfoo(results, version=2))
    assert counts(here, "r.json") == {"x": [2, 1, 0, 0], "y": [2, 1, 0, 0]}
    frame = read_table("r.json").frame.collect()
    assert frame["question"].to_list() == ["0", "1", "1#2"] * 2
    assert frame["test"].to_list() == ["0", "1", "1"] * 2


def test_promptfoo_errors_of_older_versions(here: Here) -> None:
    failed = result(1, False, error="API error: 429", response={"error": "API error: 429"})
    asserted = result(2, False, "y", error="Expected output to equal x")
    for own in (failed, asserted):
        del own["failureReason"]
    del failed["response"]["output"]
    here.write("r.json", promptfoo([result(0, True), failed, asserted]))
    frame = read_table("r.json").frame.collect()
    assert frame["outcome"].to_list() == ["right", "error", "wrong"]


def test_promptfoo_says_what_nothing_checked(here: Here) -> None:
    here.write("r.json", promptfoo([result(0, True), result(1, True, testCase={"vars": {}})]))
    notes = read_table("r.json").notes
    assert any("1 response passed without an assertion" in n for n in notes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            promptfoo({"a": 1}),
            (),
        ),
        (
            promptfoo([{"testIdx": 1}]),
            ("0",),
        ),
        (promptfoo([result(0, True), result(0, True)]), ("'0'",)),
        (promptfoo([]), ()),
        (promptfoo([result(0, True)])[:-30], ()),
    ],
)
def test_broken_promptfoo(here: Here, text: str, expected: tuple[str, ...]) -> None:
    here.write("r.json", text)
    says(here.refuses("score", "--judged", "r.json", "--from", "promptfoo"), *expected)
