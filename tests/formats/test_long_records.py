"""Logs whose first record, or whose only line, is long."""

from __future__ import annotations

import gzip
import json

import pytest

from abstain.io.files import MAX_LINE as BLOCK
from tests.helpers import Here
from tests.snapshots import says

LONG = "y" * (1 << 17)


def lm_eval_rows(question: str) -> str:
    rows = [
        {"doc_id": i, "doc": {"q": question}, "target": "2", "arguments": question,
         "resps": [["2"]], "filtered_resps": ["2"], "filter": "none",
         "metrics": ["exact_match"], "exact_match": float(i)}
        for i in range(2)
    ]  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in rows)


def abstention_bench(question: str) -> str:
    prompt = {"question": question, "reference_answers": ["2"], "should_abstain": False}
    said = {"response_or_abstention": "2", "is_abstention": False, "is_response_correct": True}
    return json.dumps({"responses": [{"prompt": prompt, **said}, {"prompt": prompt, **said}]})


@pytest.mark.parametrize("make", [lm_eval_rows, abstention_bench])
def test_a_long_first_record_tells_its_tool(here: Here, make) -> None:  # type: ignore[no-untyped-def]
    here.write("short.jsonl", make("y"))
    here.write("long.jsonl", make(LONG))
    found = [
        here("score", "--judged", name, "-m", "accuracy", "--format", "json")
        for name in ("short.jsonl", "long.jsonl")
    ]
    assert [said.code for said in found] == [0, 0], found
    first, second = (said.data["results"][0]["counts"] for said in found)
    assert first == second


@pytest.mark.slow
@pytest.mark.parametrize("packed", [False, True])
def test_a_log_on_one_long_line(here: Here, packed: bool) -> None:
    text = abstention_bench("y" * (BLOCK + BLOCK // 8))  # two of them: over two blocks
    assert len(text) > 2 * BLOCK
    assert "\n" not in text
    here.write("log.json", gzip.compress(text.encode(), 1) if packed else text)
    said = here("score", "--judged", "log.json", "--from", "abstentionbench", "-f", "json")
    assert said.code == 0, said
    assert said.data["results"][0]["counts"]["right"] == 2


@pytest.mark.slow
def test_a_table_with_an_endless_line_is_still_refused(here: Here) -> None:
    here.write("gold.csv", "question,correct\nq1,a\n")
    endless = '{"question": "q1", "answer": "' + "y" * (2 * BLOCK)
    for name, content in (
        ("run.jsonl", endless.encode()),
        ("run.jsonl.gz", gzip.compress(endless.encode(), 1)),
        ("run.csv.gz", gzip.compress(b"y" * (3 * BLOCK), 1)),
    ):
        here.write(name, content)
        says(here.refuses("score", "gold.csv", name), "8")
