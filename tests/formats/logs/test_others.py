"""SimpleQA grades, AbstentionBench, promptfoo, openai/evals, deepeval: good and broken logs."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import abstain as ab
from abstain.formats.logs.simpleqa import grade_of
from tests.helpers import Here, counts_of, needs

JUDGED = ("--format", "json", "--policy", "error=excluded", "--policy", "unscored=excluded")


def counts(here: Here, *args: str) -> dict[str, list[float]]:
    said = here("score", "--judged", *args, *JUDGED)
    assert said.code == 0, said
    return {
        r["run"]: [r["counts"][k] for k in ("right", "wrong")]
        + [sum(r["counts"].values()) - r["counts"]["right"] - r["counts"]["wrong"]]
        + [r.get("excluded", 0)]
        for r in said.data["results"]
    }


# ------------------------------------------------------------------------------------- SimpleQA


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        *[("A", "right"), ("b", "wrong"), (" C.", "declined"), ("(B)", "wrong")],
        *[("CORRECT", "right"), ("Incorrect.", "wrong"), ("NOT_ATTEMPTED", "declined")],
        *[("not attempted", "declined"), ("A: CORRECT", "right"), ("B) INCORRECT", "wrong")],
        *[("The grade is B", "wrong"), ("My answer: 'C'", "declined")],
        *[("It was INCORRECT because …", "wrong"), ("**A**", "right")],
        # What leaves it open is nothing: neither a letter inside a word nor an article.
        *[("not correct", None), ("A: INCORRECT", None), ("CORRECT or INCORRECT", None)],
        *[("A or B", None), ("A good answer", None), ("Abstained", None), ("", None)],
        *[("ABC", None), ("INCORRECTLY graded", None), ("isn't correct", None), ("D", None)],
    ],
)
def test_grades_are_whole_words(text: str, outcome: str | None) -> None:
    assert grade_of(text) == outcome


def test_grades_of_a_table(here: Here) -> None:
    here.write(
        "g.csv",
        "run,id,grade,topic\nx,1,A: CORRECT,s\nx,2,INCORRECT,s\nx,3,NOT_ATTEMPTED,t\nx,4,?!,t\n",
    )
    assert counts(here, "g.csv", "--from", "simpleqa") == {"x": [1, 1, 1, 1]}
    said = here("score", "--judged", "g.csv", "--from", "simpleqa", *JUDGED)
    assert any("1 of 4 grades leave it open" in note for note in said.data["notes"])
    assert "unscored" in here.refuses("score", "--judged", "g.csv", "--from", "simpleqa")


def test_flags_are_grades_too(here: Here) -> None:
    rows = [
        {"id": "a", "is_correct": True, "is_incorrect": False, "is_not_attempted": False},
        {"id": "b", "is_correct": False, "is_incorrect": False, "is_not_attempted": True},
        {"id": "c", "is_correct": True, "is_incorrect": True, "is_not_attempted": False},
    ]
    here.write("g.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert counts(here, "g.jsonl", "--from", "simpleqa") == {"g": [1, 0, 1, 1]}


def test_simpleqa_in_czech_has_its_published_f() -> None:
    folder = needs("data/czech_simpleqa")
    published = {"gpt-4o-mini-2024-07-18": 0.081, "claude-3-5-haiku-20241022": 0.093}
    paths = [str(folder / f"{name}.csv.gz") for name in published]
    result = ab.score_judged(paths, measures=["F"], format="simpleqa")
    assert {row.run: round(row.scores["F"], 3) for row in result.rows} == published


@pytest.mark.parametrize(
    ("text", "format", "expected"),
    [
        ("id,note\n1,x\n", "simpleqa", "has no column of grades (its columns: id, note)"),
        ("id,note\n1,x\n", "simpleqa:grade=nota", "has no column 'nota' (nearest: note)"),
        ("id,grade\n1,A\n1,B\n", "simpleqa", "question '1' stands twice"),
        ("id,grade\n", "simpleqa", "has a header but no rows"),
    ],
)
def test_broken_tables_of_grades(here: Here, text: str, format: str, expected: str) -> None:
    here.write("g.csv", text)
    assert expected in here.refuses("score", "--judged", "g.csv", "--from", format)


# ------------------------------------------------------------------------------ AbstentionBench


def response(should: bool | None, abstained: bool | None, correct: bool | None) -> dict[str, Any]:
    return {
        "prompt": {
            "question": "?",
            "reference_answers": None if should else ["42"],
            "should_abstain": should,
            "metadata": {"category": "x", "nested": {}},
        },
        "response": "text",
        "response_or_abstention": "text",
        "is_abstention": abstained,
        "is_abstention_correct": None,
        "is_response_correct": correct,
        "full_judge_response": "…",
    }


RESPONSES = [
    response(should=True, abstained=True, correct=None),  # right
    response(should=True, abstained=False, correct=None),  # wrong
    response(should=False, abstained=True, correct=None),  # blank
    response(should=False, abstained=False, correct=True),  # right
    response(should=False, abstained=False, correct=False),  # wrong
    response(should=False, abstained=False, correct=None),  # unscored
    response(should=True, abstained=None, correct=None),  # unscored
]


def test_abstentionbench(here: Here) -> None:
    here.write("SquadDataset_Llama/2025-01-01/Eval.json", json.dumps({"responses": RESPONSES}))
    path = "SquadDataset_Llama/2025-01-01/Eval.json"
    assert counts(here, path) == {"SquadDataset_Llama": [2, 2, 1, 2]}
    said = here("score", path, path, "--by", "should_abstain", *JUDGED)
    parts = {r["slice"]["should_abstain"]: r["counts"] for r in said.data["results"]}
    assert (parts["yes"]["right"], parts["yes"]["wrong"]) == (1, 1)
    assert here("campaign", path, path, "-o", "out", *JUDGED[2:]).code == 0


@pytest.mark.parametrize(
    ("responses", "expected"),
    [
        ([response(None, True, None)], "row 1: has no 'should_abstain'"),
        ([response(True, None, None)], "has no 'is_abstention' in any response"),
        ([{"response": "x"}], "missing required field `prompt`"),
        ([], "has no 'is_abstention' in any response"),
    ],
)
def test_broken_abstentionbench(here: Here, responses: Any, expected: str) -> None:
    here.write("e.json", json.dumps({"responses": responses}))
    assert expected in here.refuses("score", "--judged", "e.json", "--from", "abstentionbench")


# ------------------------------------------------------------------------------------ promptfoo


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
    said = here("score", "--judged", "r.json", "--ci", "--format", "json")
    assert said.data["questions"] == 6
    assert any("clustered by test" in note for note in said.data["notes"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            promptfoo({"a": 1}),
            "Expected `array`, got `object` - at `$.results.results` (version 3;",
        ),
        (
            promptfoo([{"testIdx": 1}]),
            "field `success` - at `$.results.results[0]` (version 3",
        ),
        (promptfoo([result(0, True, testIdx=None)]), "row 1: has no 'testIdx'"),
        (promptfoo([result(0, True), result(0, True)]), "has question '0' again"),
        (promptfoo([]), "has no responses"),
        (promptfoo([result(0, True)])[:-30], "is not whole JSON"),
    ],
)
def test_broken_promptfoo(here: Here, text: str, expected: str) -> None:
    here.write("r.json", text)
    assert expected in here.refuses("score", "--judged", "r.json", "--from", "promptfoo")


# --------------------------------------------------------------------------------- openai/evals


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
    here.write("cut.jsonl", SPEC + MATCHES + REPORT[:10])
    said = here("score", "--judged", "cut.jsonl", *JUDGED)
    assert said.code == 0, said
    notes = " ".join(said.data["notes"])
    assert "the last line was cut off" in notes
    assert "it did not end well" in notes
    here.write("odd.jsonl", SPEC + MATCHES + REPORT.replace("0.3", "0.9"))
    said = here("score", "--judged", "odd.jsonl", *JUDGED)
    assert any("its own accuracy is" in note for note in said.data["notes"])


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
        (MATCHES, "has no 'spec', with which a recording of openai/evals begins"),
        (SPEC + event("a", "match", correct="yes"), "'correct' is 'yes', expected true or false"),
        (SPEC + MATCHES + MATCHES, "log.jsonl:9: is a second verdict on sample 'sums.dev.0'"),
        (SPEC + '{"run_id": "r"}\n', "log.jsonl:2: has no 'type'"),
        (SPEC + '{"run_id"\n' + MATCHES, "log.jsonl:2: is not whole JSON"),
        (SPEC + REPORT, "has no responses"),
    ],
)
def test_broken_openai_evals(here: Here, text: str, expected: str) -> None:
    here.write("log.jsonl", text)
    assert expected in here.refuses("score", "--judged", "log.jsonl", "--from", "openai-evals")


# ------------------------------------------------------------------------------------- deepeval


def test_deepevals_own_passes_are_ours(data: Path) -> None:
    own = json.loads((data / "deepeval.json").read_text())
    result = ab.score_judged(str(data / "deepeval.json"), measures=["accuracy"])
    ((name, found),) = counts_of(result).items()
    assert found[:2] == (own["testPassed"], own["testFailed"])
    assert name == (own.get("identifier") or "deepeval")


def case(success: bool | None, **more: Any) -> dict[str, Any]:
    score = None if success is None else float(success)
    metric = {"name": "Exact", "threshold": 1.0, "success": success, "score": score}
    metric |= more.pop("metric", {})
    return {"name": "t", "input": "?", "actualOutput": "x", "metricsData": [metric], **more}


def test_deepeval_errors_and_empties(here: Here) -> None:
    cases = [
        case(True),
        case(False),
        case(False, actualOutput=""),
        case(None, metric={"error": "the judge timed out"}),
        case(None, metricsData=[]),
    ]
    here.write("run.json", json.dumps({"testCases": cases, "conversationalTestCases": [{}]}))
    assert counts(here, "run.json") == {"run": [1, 1, 1, 2]}
    said = here("score", "--judged", "run.json", *JUDGED)
    assert any("1 conversation left out" in note for note in said.data["notes"])
    picked = counts(here, "run.json", "--from", "deepeval:metric=Exact,right-at=0.5")
    assert picked == {"run": [1, 1, 1, 2]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ({"testCases": [case(None)]}, "the metric 'Exact' has neither 'success' nor 'score'"),
        ({"testCase": []}, "missing required field `testCases`"),
        ({"testCases": []}, "has no responses"),
        ({"testCases": [{"metricsData": [{"score": 1}]}]}, "missing required field `name`"),
    ],
)
def test_broken_deepeval(here: Here, text: Any, expected: str) -> None:
    here.write("run.json", json.dumps(text))
    assert expected in here.refuses("score", "--judged", "run.json", "--from", "deepeval")


# ----------------------------------------------------------------------------------- all of them


def test_half_a_document_is_refused_by_every_reader(here: Here) -> None:
    from abstain.formats.logs.registry import READERS

    here.write("x.json", '{"version": 2, "responses": [{"a": ')
    for name in READERS:
        line = here.refuses("score", "--judged", "x.json", "--from", name)
        assert line.startswith("x.json"), (name, line)


def test_endless_nesting_is_refused(here: Here) -> None:
    here.write("x.json", '{"testCases": ' + "[" * 200_000)
    line = here.refuses("score", "--judged", "x.json", "--from", "deepeval")
    assert "is not whole JSON" in line or "known shape" in line


def test_a_document_that_is_too_large_is_refused(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ABSTAIN_MAX_BYTES", "1000")
    here.write("x.json", json.dumps({"testCases": [case(True)] * 100}))
    line = here.refuses("score", "--judged", "x.json", "--from", "deepeval")
    assert "more than the 1,000 that one JSON document may have" in line


@pytest.mark.parametrize("strange", ["a\ud800b", "\x1b[31mred"])
def test_strange_text_does_no_harm(here: Here, strange: str) -> None:
    odd = {"testCases": [case(True, name=strange, metadata={"answer": strange, "run": "x"})]}
    here.write("x.json", json.dumps(odd))
    said = here("score", "--judged", "x.json", "--from", "deepeval", "--by", "run (metadata)")
    assert said.code == 0, said
    assert "\x1b" not in said.out


def bulky(name: str, bulk: str) -> str:
    """A log of the named tool with one response, in which something long is not needed."""
    match name:
        case "lm-eval":
            row = {"doc_id": 0, "doc": bulk, "target": "x", "resps": [["x"]]}
            return json.dumps({**row, "filtered_resps": ["x"], "metrics": ["acc"], "acc": 1.0})
        case "inspect":
            own = {"id": "a", "events": bulk, "scores": {"s": {"value": "C"}}}
            return json.dumps({"eval": {"model": "m"}, "stats": bulk, "samples": [own]})
        case "abstentionbench":
            own = response(should=False, abstained=False, correct=True)
            return json.dumps({"responses": [{**own, "full_judge_response": bulk}]})
        case "promptfoo":
            return promptfoo([{**result(0, True), "gradingResult": bulk}])
        case "openai-evals":
            return SPEC + event("s", "raw_sample", data=bulk) + event("s", "match", correct=True)
        case _:
            return json.dumps({"testCases": [{**case(True), "context": bulk}], "other": bulk})


@pytest.mark.parametrize(
    "name", ["lm-eval", "inspect", "abstentionbench", "promptfoo", "openai-evals", "deepeval"]
)
def test_what_is_not_needed_takes_no_memory(here: Here, name: str) -> None:
    from abstain.formats.tables import read_table

    here.write("small", bulky(name, "x"))
    assert read_table("small", format=name).frame.collect().height == 1
    lines = [["x" * 1000] * 7000]  # 7 MB; a line of JSONL may have 8
    here.write("large", bulky(name, lines))  # type: ignore[arg-type]
    tracemalloc.start()
    try:
        assert read_table("large", format=name).frame.collect().height == 1
        most = 45 if name in ("lm-eval", "openai-evals") else 2  # a line is held, then dropped
        assert tracemalloc.get_traced_memory()[1] < most << 20
    finally:
        tracemalloc.stop()


def test_a_large_document_with_nan(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    from abstain.formats.logs import documents
    from abstain.formats.tables import read_table

    monkeypatch.setattr(documents, "LARGE", 10)
    own = {"id": "a NaN", "scores": {"s": {"value": float("nan"), "explanation": "-Infinity"}}}
    here.write("x.json", json.dumps({"eval": {"model": "m"}, "samples": [own]}))
    frame = read_table("x.json", format="inspect").frame.collect()
    assert frame.select("question", "outcome", "reason").row(0) == (
        "a NaN",
        "unscored",
        "-Infinity",
    )
