"""openai/evals: matches, graded choices, accuracies; recordings that did not finish."""

from __future__ import annotations

import json
from typing import Any

import pytest

from abstain.io.tables import read_table
from tests.formats.logs.helpers import JUDGED, counts
from tests.helpers import Here
from tests.snapshots import says


def event(sample: str, kind: str, **data: Any) -> str:
    own = {"run_id": "r", "event_id": 0, "sample_id": sample, "type": kind, "data": data}
    return json.dumps(own) + "\n"


SPEC = json.dumps({"spec": {"completion_fns": ["gpt-x"], "eval_name": "sums.dev.v0"}}) + "\n"
REPORT = json.dumps({"final_report": {"accuracy": 1 / 3}}) + "\n"
MATCHES = (
    event("sums.dev.0", "sampling", prompt="…", sampled=["2"])
    + event("sums.dev.0", "match", correct=True, expected="2", picked="2", sampled="2")
    + event("sums.dev.1", "match", correct=False, expected=["4"], picked=None, sampled="5")
    + event("sums.dev.2", "match", correct=False, expected="6", picked=None, sampled="")
    + event("sums.dev.3", "error", type="APIError", message="timeout")
    + event("sums.dev.4", "sampling", prompt="…", sampled=["8"])
)


def test_openai_evals(here: Here) -> None:
    here.write("log.jsonl", SPEC + MATCHES + REPORT)
    assert counts(here, "log.jsonl") == {"gpt-x": [1, 1, 1, 2]}
    here.write("killed.jsonl", SPEC + MATCHES + "")
    said = here("score", "--judged", "killed.jsonl", *JUDGED)
    assert said.code == 0, said
    notes = " ".join(said.data["notes"])
    says(notes)
    assert "it did not finish" in notes


def test_openai_evals_keeps_the_answer_not_the_graders_text(here: Here) -> None:
    here.write(
        "log.jsonl",
        SPEC
        + event("s.0", "sampling", prompt="?", sampled=["Lima"])
        + event("s.0", "sampling", prompt="grade it", sampled=["Reasoning: … Yes"])
        + event("s.0", "metrics", choice="Yes", score=1.0),
    )
    frame = read_table("log.jsonl").frame.collect()
    assert frame.select("answer", "response").row(0) == ("Lima", "Lima")


def test_openai_evals_choices_without_scores(here: Here) -> None:
    choices = ["A", "C", "D", "__invalid__"]
    here.write(
        "log.jsonl",
        SPEC + "".join(event(f"s.{i}", "metrics", choice=c) for i, c in enumerate(choices)),
    )
    line = here.refuses("score", "--judged", "log.jsonl")
    says(line, "log.jsonl:2", "'A'")
    picked = counts(here, "log.jsonl", "--from", "openai-evals", "--pick", "right=A+C")
    assert picked == {"gpt-x": [2, 1, 0, 1]}


def test_openai_evals_of_the_first_version(here: Here) -> None:
    """Includes recorded its accuracy, sample by sample."""
    here.write(
        "log.jsonl",
        SPEC
        + event("s.0", "sampling", prompt="?", sampled="Lima")
        + event("s.0", "metrics", accuracy=1.0)
        + event("s.1", "metrics", accuracy=0.0)
        + json.dumps({"final_report": {"accuracy": 0.5}}),
    )
    assert counts(here, "log.jsonl") == {"gpt-x": [1, 1, 0, 0]}


def test_openai_evals_graded_by_a_model(here: Here) -> None:
    here.write(
        "log.jsonl",
        SPEC
        + event("s.0", "metrics", choice="Yes", score=1.0)
        + event("s.1", "metrics", choice="No", score=0.0)
        + event("s.2", "metrics", choice="__invalid__", score=0.0)
        + json.dumps({"final_report": {"counts/Yes": 1}}),
    )
    assert counts(here, "log.jsonl") == {"gpt-x": [1, 1, 0, 1]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MATCHES, ("'spec'",)),
        (SPEC + event("a", "match", correct="yes"), ("'correct'", "'yes'")),
        (SPEC + MATCHES + MATCHES, ("log.jsonl:9", "'sums.dev.0'")),
        (SPEC + '{"run_id"\n' + MATCHES, ("log.jsonl:2",)),
        (SPEC + REPORT, ()),
        (SPEC + MATCHES + "[1, 2]", ("log.jsonl:8",)),
        (SPEC + MATCHES + "true", ("log.jsonl:8",)),
        (SPEC + MATCHES + '{"a": nothing', ("log.jsonl:8",)),
    ],
)
def test_broken_openai_evals(here: Here, text: str, expected: tuple[str, ...]) -> None:
    here.write("log.jsonl", text)
    says(here.refuses("score", "--judged", "log.jsonl", "--from", "openai-evals"), *expected)
