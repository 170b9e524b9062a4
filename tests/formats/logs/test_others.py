"""AbstentionBench, deepeval, and what holds for every reader: good and broken logs."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import abstain as ab
from abstain.io.readers import plain_text
from abstain.io.tables import json_text, read_table
from tests.formats.logs.helpers import JUDGED, counts
from tests.formats.logs.test_openai_evals import SPEC, event
from tests.formats.logs.test_promptfoo import promptfoo, result
from tests.helpers import Here, counts_of
from tests.snapshots import says

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


@pytest.mark.slow
def test_abstentionbench(here: Here) -> None:
    here.write("SquadDataset_Llama/2025-01-01/Eval.json", json.dumps({"responses": RESPONSES}))
    path = "SquadDataset_Llama/2025-01-01/Eval.json"
    assert counts(here, path) == {"SquadDataset_Llama": [2, 2, 1, 2]}
    said = here("score", path, path, "--by", "should_abstain", *JUDGED)
    parts = {r["slice"]["should_abstain"]: r["counts"] for r in said.data["results"]}
    assert (parts["yes"]["right"], parts["yes"]["wrong"]) == (1, 1)
    assert here("campaign", path, path, "-o", "out", *JUDGED[2:]).code == 0


def test_abstentionbench_pairs_by_what_is_asked(here: Here) -> None:
    """Subsets are drawn in a random order: the place of a response says nothing."""
    asked = [
        {**own, "prompt": {**own["prompt"], "question": f"question {n}"}}
        for n, own in enumerate(RESPONSES)
    ]
    again = {**RESPONSES[3], "prompt": asked[3]["prompt"]}
    here.write("a/1/E.json", json.dumps({"responses": [*asked, again]}))
    here.write("b/1/E.json", json.dumps({"responses": [again, *asked[::-1]]}))
    here.write("c/1/E.json", json.dumps({"responses": asked[:-1]}))
    said = here("score", "--judged", "a/1/E.json", "b/1/E.json", *JUDGED)
    assert said.data["questions"] == 8
    assert not any("not in all logs" in note for note in said.data.get("notes", []))
    said = here("score", "--judged", "a/1/E.json", "c/1/E.json", *JUDGED)
    assert any(
        "2 of 8 documents are not in all logs (compared by question, reference" in note
        for note in said.data["notes"]
    )


@pytest.mark.parametrize(
    ("responses", "expected"),
    [
        ([response(None, True, None)], "$.responses[0].prompt.should_abstain"),
        ([response(True, None, None)], "1 response got no verdict"),
        ([{"response": "x"}], "missing required field `prompt`"),
        ([], "has no responses"),
    ],
)
def test_broken_abstentionbench(here: Here, responses: Any, expected: str) -> None:
    here.write("e.json", json.dumps({"responses": responses}))
    assert expected in here.refuses("score", "--judged", "e.json", "--from", "abstentionbench")


# ------------------------------------------------------------------------------------- deepeval


def test_deepevals_own_passes_are_ours(data: Path) -> None:
    own = json.loads((data / "deepeval.json").read_text())
    result = ab.read_judged(str(data / "deepeval.json")).score(measures=["accuracy"])
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
    here.write("run.json", json.dumps({"testCases": cases}))
    assert counts(here, "run.json") == {"run": [1, 1, 1, 2]}
    picked = counts(
        here, "run.json", "--from", "deepeval", "--pick", "metric=Exact", "--pick", "right-at=0.5"
    )
    assert picked == {"run": [1, 1, 1, 2]}


def test_flaky_metrics_do_not_decide(here: Here) -> None:
    tone = {"name": "Tone", "success": False, "score": 0.0, "flaky": True}
    exact = {"name": "Exact", "success": True, "score": 1.0, "flaky": False}
    cases = [case(True, metricsData=[exact, tone]), case(True, metricsData=[tone])]
    here.write("run.json", json.dumps({"testCases": cases}))
    assert counts(here, "run.json") == {"run": [1, 0, 0, 1]}
    assert counts(here, "run.json", "--from", "deepeval", "--pick", "metric=Tone") == {
        "run": [0, 2, 0, 0]
    }


@pytest.mark.parametrize(
    ("metric", "plain", "at_half"),
    [
        ({"success": None, "score": 0.9}, "unscored", "right"),
        ({"success": None, "score": 0.1}, "unscored", "wrong"),
        ({"success": True, "score": None}, "right", "unscored"),
        ({"success": False, "score": None}, "wrong", "unscored"),
    ],
)
def test_deepeval_says_nothing_a_metric_does_not(
    here: Here, metric: Any, plain: str, at_half: str
) -> None:
    here.write("run.json", json.dumps({"testCases": [case(True, metric=metric)]}))
    for pick, outcome in (({}, plain), ({"right-at": "0.5"}, at_half)):
        frame = read_table("run.json", format="deepeval", pick=pick).frame.collect()
        assert frame["outcome"].to_list() == [outcome], pick


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ({"testCases": [case(None)]}, "1 response got no verdict"),
        ({"testCase": []}, "missing required field `testCases`"),
        ({"testCases": []}, "has no responses"),
        ({"testCases": [{"metricsData": [{"score": 1}]}]}, "missing required field `name`"),
    ],
)
def test_broken_deepeval(here: Here, text: Any, expected: str) -> None:
    here.write("run.json", json.dumps(text))
    assert expected in here.refuses("score", "--judged", "run.json", "--from", "deepeval")


# ----------------------------------------------------------------------------------- all of them

HUGE = "1" * 401


@pytest.mark.parametrize(
    ("format", "text", "expected"),
    [
        (
            "lm-eval",
            '{"doc_id": 0, "filtered_resps": ["x"], "acc": %s}',
            "1…' is neither",
        ),
        (
            "inspect",
            '{"eval": {"model": "m"}, "samples": [{"id": 1, "scores": {"s": {"value": %s}}}]}',
            "1…' is neither",
        ),
        ("pan", '{"id": "a", "value": %s}', "expected a number from 0 to 1"),
        ("pan", '{"id": "a", "value": -%s}', "expected a number from 0 to 1"),
        (
            "openai-evals",
            SPEC + '{"type": "metrics", "sample_id": "s", "data": {"score": %s}}',
            "1…' is neither",
        ),
        (
            "deepeval",
            '{"testCases": [{"metricsData": [{"name": "m", "score": %s}]}]}',
            "Number out of range",
        ),
    ],
)
def test_a_number_that_is_too_large_is_refused(
    here: Here, format: str, text: str, expected: str
) -> None:
    here.write("x", text % HUGE + "\n")
    assert expected in here.refuses("score", "--judged", "x", "--from", format)


@pytest.mark.parametrize(("value", "text"), [(2.0, "2"), (2.5, "2.5"), (" x ", "x"), (None, "")])
def test_a_whole_number_reads_as_in_a_table(value: Any, text: str) -> None:
    assert plain_text(value) == text
    assert value is None or json_text(value) == text


def test_half_a_document_is_refused_by_every_reader(here: Here) -> None:
    from abstain.io.readers import log_readers

    here.write("x.json", '{"version": 2, "responses": [{"a": ')
    for name in log_readers():
        line = here.refuses("score", "--judged", "x.json", "--from", name)
        assert line.startswith("x.json"), (name, line)


def test_endless_nesting_is_refused(here: Here) -> None:
    here.write("x.json", '{"testCases": ' + "[" * 200_000)
    line = here.refuses("score", "--judged", "x.json", "--from", "deepeval")
    assert "is not complete JSON" in line or "known structure" in line


def test_a_document_that_is_too_large_is_refused(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ABSTAIN_MAX_BYTES", "1000")
    here.write("x.json", json.dumps({"testCases": [case(True)] * 100}))
    line = here.refuses("score", "--judged", "x.json", "--from", "deepeval")
    says(line, "1,000")


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


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["lm-eval", "inspect", "abstentionbench", "promptfoo", "openai-evals", "deepeval"]
)
def test_what_is_not_needed_takes_no_memory(here: Here, name: str) -> None:
    here.write("small", bulky(name, "x"))
    assert read_table("small", format=name).frame.collect().height == 1
    lines = [["x" * 1000] * 7000]  # 7 MB; a line of JSONL may have 8
    here.write("large", bulky(name, lines))  # type: ignore[arg-type]
    tracemalloc.start()
    try:
        assert read_table("large", format=name).frame.collect().height == 1
        most = 45 if name in ("lm-eval", "openai-evals") else 15  # its bytes, at most twice
        assert tracemalloc.get_traced_memory()[1] < most << 20
    finally:
        tracemalloc.stop()


def test_a_large_document_with_nan(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:

    own = {"id": "a NaN", "scores": {"s": {"value": float("nan"), "explanation": "-Infinity"}}}
    here.write("x.json", json.dumps({"eval": {"model": "m"}, "samples": [own]}))
    frame = read_table("x.json", format="inspect").frame.collect()
    assert frame.select("question", "outcome", "reason").row(0) == (
        "a NaN",
        "unscored",
        "-Infinity",
    )
