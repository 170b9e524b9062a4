"""Logs of lm-evaluation-harness: the tool's own scores are ours, and broken rows are refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import abstain as ab
from abstain.io.tables import read_table
from tests.helpers import Here, counts_of
from tests.snapshots import says

DATE = "2026-01-01T00-00-00.000000"

STRICT = ("--from", "lm-eval", "--pick", "filter=strict")


def log(data: Path, model: str, task: str) -> str:
    return str(data / "lm_eval" / model / f"samples_{task}_{DATE}.jsonl")


@pytest.mark.parametrize("model", ["bold", "careful"])
@pytest.mark.parametrize(
    ("task", "metric", "filter"),
    [
        ("sums", "exact_match", "strict"),
        ("sums", "exact_match", "flexible"),
        ("capitals", "acc", "none"),
        ("capitals", "acc_norm", "none"),
    ],
)
def test_accuracy_is_the_tools_own(
    data: Path, model: str, task: str, metric: str, filter: str
) -> None:
    own = json.loads((data / "lm_eval.own.json").read_text())[model][task][f"{metric},{filter}"]
    result = ab.read_judged(
        log(data, model, task), format="lm-eval", pick={"filter": filter, "metric": metric}
    ).score(measures=["accuracy"])
    assert result.rows[0].scores["accuracy"] == pytest.approx(own, abs=1e-12)
    assert result.rows[0].run == model


def test_an_empty_response_is_a_blank_and_an_unread_one_unparseable(data: Path) -> None:
    # careful says: 2, I don't know., I am not sure., 8, nothing, It is 12 (see tools/logs).
    strict = ab.read_judged(
        log(data, "careful", "sums"), format="lm-eval", pick={"filter": "strict"}
    ).score()
    assert strict.touched == {"empty": 1}
    assert counts_of(strict) == {"careful": (2, 3, 0, 0, 1)}
    flexible = ab.read_judged(
        log(data, "careful", "sums"), format="lm-eval", pick={"filter": "flexible"}
    ).score()
    assert flexible.touched == {"empty": 1, "unparseable": 2}
    assert counts_of(flexible) == {"careful": (3, 2, 0, 0, 1)}


def test_softmax_of_the_choices_is_the_confidence(data: Path, here: Here) -> None:
    said = here("convert", log(data, "careful", "capitals"), "capitals.jsonl")
    assert said.code == 0, said
    rows = [json.loads(line) for line in Path("capitals.jsonl").read_text().splitlines()]
    # Log probabilities of the four documents, as tools/logs gave them to the model.
    logs = [[-1.0, -1.1, -1.2], [-2.0, -0.25, -3.0], [-2.0, -2.0, -0.5], [-4.0, -4.0, -4.5]]
    expected = [max(map(math.exp, own)) / sum(map(math.exp, own)) for own in logs]
    assert [row["confidence"] for row in rows] == pytest.approx(expected, abs=1e-12)
    assert [row["answer"] for row in rows] == ["0", "1", "2", "0"]
    assert [row["outcome"] for row in rows] == ["right", "right", "right", "wrong"]
    assert rows[0]["options"] == ["0", "1", "2"]


@pytest.mark.slow
def test_every_command_takes_a_log(data: Path, here: Here) -> None:
    capitals = [log(data, model, "capitals") for model in ("bold", "careful")]
    one = capitals[1]
    for command in (
        ["score", "--judged", *capitals],
        ["score", one, *capitals, "--by", "task"],
        ["validate", one, *capitals],
        ["compare", one, *capitals],
        ["compare", "--judged", *capitals],
        ["curve", "--judged", one],
        ["curve", one, one],
        ["tune", "--judged", one, "--folds", "2"],
        ["campaign", one, *capitals, "-o", "overview"],
        ["meta", one, *capitals, "--size", "2"],
    ):
        said = here(*command)
        assert said.code == 0, (command, said)


def test_a_logs_verdicts_count_where_the_gold_is_a_log(data: Path, here: Here) -> None:
    sums = log(data, "careful", "sums")
    by_log = here("score", sums, sums, *STRICT, "--format", "json").data
    judged = here("score", "--judged", sums, *STRICT, "-f", "json").data
    assert by_log["results"][0]["counts"] == judged["results"][0]["counts"]
    says(by_log["notes"], "1")


def test_answers_are_judged_where_the_gold_is_a_table(data: Path, here: Here) -> None:
    rows = [f"{i},{2 * (i + 1)}\n" for i in range(6)]
    rows[0] = "0,99\n"  # the table says otherwise than the log
    here.write("gold.csv", "question,correct\n" + "".join(rows))
    said = here(
        *(
            "score",
            "gold.csv",
            log(data, "careful", "sums"),
            *STRICT,
        ),
        *("--column", "run:question=doc_id", "--format", "json"),
    )
    assert said.code == 0, said
    assert said.data["results"][0]["counts"]["right"] == 1
    assert any("not by their verdicts" in note for note in said.data["notes"])


def test_runs_are_paired_by_the_hash_of_their_documents(data: Path, here: Here) -> None:
    lines = Path(log(data, "bold", "capitals")).read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    rows = [{**row, "doc_id": number} for number, row in enumerate(rows[:0:-1])]  # other ids
    rows[0]["doc_hash"] = "f" * 64  # and one other document
    here.write("b/samples_capitals_2026-01-02T00.jsonl", "\n".join(map(json.dumps, rows)))
    shutil_copy = here.write("a/samples_capitals_2026-01-01T00.jsonl", "\n".join(lines))
    assert shutil_copy.exists()
    said = here(
        *("score", "--judged", "a/samples_capitals_2026-01-01T00.jsonl"),
        *("b/samples_capitals_2026-01-02T00.jsonl", "--format", "json"),
    )
    assert said.code == 0, said
    assert said.data["questions"] == 5
    assert said.data["touched"] == {"missing": 3}
    notes = [note for note in said.data["notes"] if "doc_hash" in note]
    assert len(notes) == 2
    assert "2 of 4 documents" in notes[0]
    says(notes[1], "1", "3")


def row(**more: Any) -> str:
    usual = {
        "doc_id": 0,
        "doc": {},
        "target": "4",
        "resps": [["4"]],
        "filtered_resps": ["4"],
        "filter": "none",
        "metrics": ["exact_match"],
        "exact_match": 1.0,
    }
    kept = {k: v for k, v in {**usual, **more}.items() if v is not ...}
    return json.dumps(kept) + "\n"


def test_squadv2_logs_what_its_metric_takes(here: Here) -> None:
    def pair(said: str, golds: list[str], sure: float) -> list[Any]:
        return [
            {"id": "x", "prediction_text": said, "no_answer_probability": sure},
            {"id": "x", "answers": {"text": golds, "answer_start": [0] * len(golds)}},
        ]

    metrics = ["exact", "f1", "HasAns_exact"]
    cases = [
        pair("The Nile", ["Nile", "the river Nile"], 0.1),  # right: articles do not count
        pair("Amazon", ["Nile"], 0.2),  # wrong
        pair("", ["Nile"], 0.9),  # a blank
        pair("", [], 0.8),  # right: there is no answer
        pair("Rhine", [], 0.3),  # wrong: there is none
    ]
    here.write(
        "squad.jsonl",
        "".join(
            row(doc_id=n, metrics=metrics, exact=p, f1=p, HasAns_exact=p, exact_match=...)
            for n, p in enumerate(cases)
        ),
    )
    said = here("score", "--judged", "squad.jsonl", "-m", "accuracy", "--format", "json")
    assert said.code == 0, said
    counts = said.data["results"][0]["counts"]
    assert (counts["right"], counts["wrong"], counts["unanswered"]) == (2, 2, 1)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (row() + '{"doc_id": 1, "filt', ("log.jsonl:2",)),
        (row() + row(doc_id=1, filtered_resps=...), ("log.jsonl:2", "'filtered_resps'")),
        (row() + row(doc_id=1, exact_match=...), ("log.jsonl:2", "'exact_match'")),
        (row() + row(doc_id=1, exact_match=0.5), ("0.5",)),
        (row() + row(doc_id=1, exact_match="yes"), ()),
        (row() + row(doc_id=1, exact_match=[0.1, 3]), ()),
        (row(metrics=["a", "b"], a=1, b=0), ("2",)),
        (row() + row(filter="other"), ("2",)),
        (row(metrics=[]), ()),
        (row() + row(), ("log.jsonl:2", "'0'")),
        (row() + "[1, 2]\n", ()),
    ],
)
def test_broken_rows_are_refused(here: Here, lines: str, expected: tuple[str, ...]) -> None:
    here.write("log.jsonl", lines)
    line = here.refuses("score", "--judged", "log.jsonl", "--from", "lm-eval")
    says(line, *expected)


def test_a_score_that_is_not_a_number_is_unscored(here: Here) -> None:
    here.write("log.jsonl", row() + row(doc_id=1, exact_match=float("nan")))
    line = here.refuses("score", "--judged", "log.jsonl")
    says(line, "1")
    said = here(
        "score", "--judged", "log.jsonl", "--policy", "unscored=excluded", "--format", "json"
    )
    assert said.data["results"][0]["counts"]["right"] == 1
    assert said.data["results"][0]["excluded"] == 1


def test_scores_between_are_right_from_where_one_says(here: Here) -> None:
    here.write("log.jsonl", row(exact_match=0.5) + row(doc_id=1, exact_match=0.49))
    said = here(
        *(
            "score",
            "--judged",
            "log.jsonl",
            "--from",
            "lm-eval",
            "--pick",
            "right-at=0.5",
            "--format",
            "json",
        )
    )
    counts = said.data["results"][0]["counts"]
    assert (counts["right"], counts["wrong"]) == (1, 1)


def test_a_filter_that_leaves_nothing_of_a_text_found_nothing(here: Here) -> None:
    texts = [("The answer is seven", ""), ("seven", "[invalid]"), ("", ""), (" ", "[invalid]")]
    rows = [
        row(doc_id=i, resps=[[said]], filtered_resps=[left], exact_match=0.0)
        for i, (said, left) in enumerate(texts)
    ]
    here.write("log.jsonl", "".join(rows))
    frame = read_table("log.jsonl").frame.collect()
    assert frame["outcome"].to_list() == ["unparseable", "unparseable", "empty", "empty"]


def test_acc_norm_has_no_confidence(here: Here) -> None:
    """It picks by sums divided by length, of which a row says nothing."""
    logs = [["-1.0", "False"], ["-5.0", "False"]]
    own = row(filtered_resps=logs, resps=[logs], metrics=["acc", "acc_norm"], acc=1.0, acc_norm=0.0)
    here.write("log.jsonl", own)
    table = read_table("log.jsonl", format="lm-eval", pick={"metric": "acc_norm"})
    assert "confidence" not in table.columns
    sure = read_table("log.jsonl", format="lm-eval", pick={"metric": "acc"}).frame.collect()[
        "confidence"
    ]
    assert sure[0] == pytest.approx(1 / (1 + math.exp(-4)))


def test_booleans_and_nulls(here: Here) -> None:
    here.write(
        "log.jsonl",
        row(exact_match=True) + row(doc_id=1, exact_match=False) + row(doc_id=2, exact_match=None),
    )
    frame = read_table("log.jsonl").frame.collect()
    assert frame["outcome"].to_list() == ["right", "wrong", "unscored"]


def test_logs_with_and_without_hashes_are_told_apart(here: Here) -> None:
    old = "".join(row(doc_id=i, exact_match=1.0, doc_hash=None) for i in range(2))
    here.write("old.jsonl", old.replace('"doc_hash": null, ', ""))
    here.write("new.jsonl", "".join(row(doc_id=i, doc_hash=f"{i:064}") for i in range(2)))
    said = here("score", "--judged", "old.jsonl", "new.jsonl", "--format", "json")
    assert any("old.jsonl: 2 of 2 documents are not in" in note for note in said.data["notes"])
    paired = here(
        *("score", "--judged", "old.jsonl", "new.jsonl", "--column", "question=doc_id"),
        *("--format", "json"),
    )
    assert paired.data["questions"] == 2


@pytest.mark.parametrize("chance", [1.5, -0.1])
def test_a_no_answer_probability_is_one(here: Here, chance: float) -> None:
    pair = [
        {"id": "a", "prediction_text": "x", "no_answer_probability": chance},
        {"id": "a", "answers": {"text": ["x"]}},
    ]
    here.write("log.jsonl", row(metrics=["exact"], exact=pair))
    line = here.refuses("score", "--judged", "log.jsonl")
    says(line, "log.jsonl:1")


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        ("lm-eval --pick filter=loose", "has no filter 'loose' (there are strict, flexible)"),
        (
            "lm-eval --pick metric=f1 --pick filter=strict",
            "has no metric 'f1' (there are exact_match)",
        ),
        ("lm-eval --pick scorer=x", "there is no pick of lm-eval 'scorer'"),
        ("lm-eval --pick filter", "--pick must be NAME=VALUE"),
        ("lm-eval:filter=strict", "there is no table or log format 'lm-eval:filter=strict'"),
        (
            "lm-evil",
            "there is no table or log format 'lm-evil' (nearest: lm-eval); there are ",
        ),
        ("csv --pick filter=x", "csv has nothing to pick"),
    ],
)
def test_picks_that_do_not_exist(data: Path, here: Here, format: str, expected: str) -> None:
    sums = log(data, "careful", "sums")
    assert expected in here.refuses("score", "--judged", sums, "--from", *format.split())


def test_a_table_that_only_has_similar_names_stays_a_table(here: Here) -> None:
    here.write("t.jsonl", '{"doc_id": 1, "question": "a", "grade": "A"}\n')
    said = here("score", "--judged", "t.jsonl", "--grade", "A=right", "--format", "json")
    assert said.code == 0, said
    assert said.data["results"][0]["counts"]["right"] == 1
