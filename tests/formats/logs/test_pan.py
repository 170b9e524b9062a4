"""PAN: the official scores of four systems of 2020, hand-worked cases, broken files."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import abstain as ab
from abstain.measures.evaluators import Columns
from abstain.outcomes import Undefined
from tests.helpers import Here, needs
from tests.snapshots import says

NAMES = {"AUC": "PAN-AUC", "c@1": "c@1", "F1": "PAN-F1", "F0.5u": "F0.5u", "Brier": "PAN-Brier"}


def pan_measures(same: Any, value: Any) -> dict[str, Any]:
    """The figures of one system."""
    texts = {
        "same": np.array(["yes" if y else "no" for y in same], object),
        "value": np.array([str(v) for v in value], object),
    }
    right, blank = np.zeros(len(same), bool), np.zeros(len(same), bool)
    columns: Any = Columns(right, blank, texts)
    names = [name for name in NAMES.values() if name != "c@1"]
    names += ["PAN-overall(year=2020)", "PAN-overall"]
    return {name: ab.measure(name)(columns) for name in names}


@pytest.fixture(scope="module")
def official() -> dict[str, dict[str, float]]:
    path = needs("data/pan20/official_metrics.csv")
    with path.open() as file:
        return {
            row["system"]: {k: float(v) for k, v in row.items() if k != "system"}
            for row in csv.DictReader(file)
        }


@pytest.mark.slow
def test_the_official_scores_of_2020(official: dict[str, dict[str, float]]) -> None:
    folder = needs("data/pan20/submissions")
    truth = needs("data/pan20/truth.jsonl.gz")
    measures = ["pan", "PAN-overall(year=2020)"]
    result = ab.score(truth, sorted(folder.iterdir()), measures, format="pan")
    assert {row.run for row in result.rows} == official.keys()
    for row in result.rows:
        published, scores = official[row.run], row.scores
        for name in ("AUC", "c@1", "F1"):
            assert scores[NAMES[name]] == pytest.approx(published[name], abs=1e-9)
        if row.counts.unanswered == 0:  # the published F0.5u differs only where there are blanks
            assert scores["F0.5u"] == pytest.approx(published["F0.5u"], abs=1e-9)
            overall = scores["PAN-overall(year=2020)"]
            assert overall == pytest.approx(published["Overall"], abs=1e-9)
    assert sum(row.counts.unanswered > 0 for row in result.rows) == 2


@pytest.mark.slow
def test_the_published_f05u_takes_a_blank_for_an_answer(
    official: dict[str, dict[str, float]],
) -> None:
    """The evaluator of 2020 read 0.5 as 'same' there, and so saw no blank."""
    truth = {r["id"]: r["same"] for r in lines("data/pan20/truth.jsonl.gz")}
    for system in ("boenninghoff20-small", "halvani20-small"):
        tp = fp = fn = 0
        for record in lines(f"data/pan20/submissions/{system}.jsonl.gz"):
            value = record["value"][0] if isinstance(record["value"], list) else record["value"]
            same = truth[record["id"]]
            tp += same and value >= 0.5
            fp += not same and value >= 0.5
            fn += same and value < 0.5
        as_published = 1.25 * tp / (1.25 * tp + 0.25 * fn + fp)
        assert as_published == pytest.approx(official[system]["F0.5u"], abs=1e-9)


def lines(relative: str) -> list[Any]:
    with gzip.open(needs(relative), "rt") as file:
        return [json.loads(line) for line in file]


def test_a_hand_worked_case() -> None:
    # same, same, same, different, different, different; two blanks.
    y = [1, 1, 1, 0, 0, 0]
    v = [0.9, 0.5, 0.3, 0.1, 0.6, 0.5]
    scores = pan_measures(y, v)
    # Pairs won: 0.9 beats all 3; 0.5 beats 0.1, ties 0.5; 0.3 beats 0.1.
    assert scores["PAN-AUC"] == pytest.approx((3 + 1.5 + 1) / 9)
    c_at_1 = 2 / 6 * (1 + 2 / 6)
    assert scores["PAN-F1"] == pytest.approx(2 * 1 / (2 * 1 + 1 + 1))
    assert scores["F0.5u"] == pytest.approx(1.25 / (1.25 + 0.25 * (1 + 2) + 1))
    squares = [0.01, 0.25, 0.49, 0.01, 0.36, 0.25]
    assert scores["PAN-Brier"] == pytest.approx(1 - sum(squares) / 6)
    four = [scores["PAN-AUC"], c_at_1, scores["PAN-F1"], scores["F0.5u"]]
    assert scores["PAN-overall(year=2020)"] == pytest.approx(sum(four) / 4)
    assert scores["PAN-overall"] == pytest.approx((sum(four) + scores["PAN-Brier"]) / 5)


@pytest.mark.slow
def test_auc_and_brier_are_scikit_learns() -> None:
    from sklearn.metrics import brier_score_loss, roc_auc_score

    chance = np.random.default_rng(7)
    for _ in range(20):
        y = chance.integers(0, 2, 50)
        v = chance.integers(0, 11, 50) / 10  # many ties
        scores = pan_measures(y, v)
        assert scores["PAN-AUC"] == pytest.approx(roc_auc_score(y, v), abs=1e-12)
        assert scores["PAN-Brier"] == pytest.approx(1 - brier_score_loss(y, v), abs=1e-12)


def test_what_does_not_exist() -> None:
    scores = pan_measures([0, 0], [0.1, 0.5])
    assert isinstance(scores["PAN-AUC"], Undefined)
    assert isinstance(pan_measures([0, 0], [0.1, 0.2])["PAN-F1"], Undefined)
    assert isinstance(scores["PAN-overall"], Undefined)
    with pytest.raises(ab.UsageError, match="2020"):
        ab.measure("PAN-overall(year=2019)")


TRUTH = "".join(
    json.dumps({"id": name, "same": same}) + "\n"
    for name, same in [("a", True), ("b", True), ("c", False), ("d", False)]
)


PAN = ("--from", "pan", "-m", "pan")


def answers(*values: tuple[str, object]) -> str:
    return "".join(json.dumps({"id": name, "value": value}) + "\n" for name, value in values)


def test_other_commands_read_the_same_files(here: Here) -> None:
    here.write("truth.jsonl", TRUTH)
    here.write("x.jsonl", answers(("a", 0.9), ("b", [0.5]), ("c", 0.7)))
    said = here("score", "truth.jsonl", "x.jsonl", "--from", "pan", "--format", "json", "-m", "c@1")
    assert said.code == 0, said
    row = said.data["results"][0]
    assert (row["counts"]["right"], row["counts"]["wrong"]) == (1, 1)
    assert row["blanks"] == {"declined": 1, "missing": 1}
    assert row["scores"]["c@1"] == 1 / 4 * (1 + 2 / 4)
    said = here("convert", "x.jsonl", "x.csv", "--from", "pan")
    assert said.code == 0, said
    assert Path("x.csv").read_text().splitlines()[1] == "a,,same,0.9,0.9"
    assert here("curve", "truth.jsonl", "x.jsonl", "--from", "pan").code == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (answers(("a", 1.2)), ("x.jsonl:1", "'value'", "'1.2'")),
        (answers(("a", [0.1, 0.2])), ()),
        (answers(("a", True)), ()),
        (answers(("a", float("nan"))), ()),
        (answers(("a", 0.3)) + '{"value": 1}\n', ("x.jsonl:2",)),
        ("not json\n", ("x.jsonl:1",)),
        ("", ()),
    ],
)
def test_broken_answers_are_refused(here: Here, text: str, expected: tuple[str, ...]) -> None:
    here.write("truth.jsonl", TRUTH)
    here.write("x.jsonl", text)
    says(here.refuses("score", "truth.jsonl", "x.jsonl", *PAN), *expected)


def test_broken_truths_are_refused(here: Here) -> None:
    here.write("x.jsonl", answers(("a", 0.9)))
    here.write("t.jsonl", '{"id": "a", "same": "yes"}\n')
    says(here.refuses("score", "t.jsonl", "x.jsonl", *PAN), "t.jsonl:1")
    assert "'correct'" in here.refuses("score", "x.jsonl", "x.jsonl", *PAN)
    here.write("t.jsonl", TRUTH + TRUTH)
    assert "'a'" in here.refuses("score", "t.jsonl", "x.jsonl", *PAN)


def test_a_run_that_answers_nothing_has_no_f1_and_says_so(here: Here) -> None:
    here.write("truth.jsonl", TRUTH)
    here.write("x.jsonl", answers(("a", 0.5)))
    (row,) = here("score", "truth.jsonl", "x.jsonl", *PAN, "--format", "json").data["results"]
    assert (
        row["undefined"]["PAN-F1"] == row["undefined"]["PAN-overall"] == "no problem was answered"
    )


def test_a_set_is_all_that_the_evaluator_prints(here: Here) -> None:
    here.write("truth.jsonl", TRUTH)
    here.write("x.jsonl", answers(("a", 0.9), ("b", 0.2), ("c", 0.7)))
    here.write("y.jsonl", answers(("a", 0.9), ("b", 0.6), ("c", 0.7), ("d", 0.1)))
    data = here("score", "truth.jsonl", "x.jsonl", "y.jsonl", *PAN, "--format", "json").data
    assert data["measures"] == ["PAN-overall", "PAN-AUC", "c@1", "PAN-F1", "F0.5u", "PAN-Brier"]
    assert [row["run"] for row in data["results"]] == ["y", "x"]
    direct = pan_measures([1, 1, 0, 0], [0.9, 0.2, 0.7, 0.5])
    scores = data["results"][1]["scores"]
    assert {k: v for k, v in scores.items() if k in direct} == {
        k: direct[k] for k in scores if k in direct
    }


def test_a_set_needs_its_columns_and_is_no_measure(here: Here) -> None:
    here.write("gold.csv", "question,correct\n1,a\n")
    here.write("run.csv", "question,answer\n1,a\n")
    assert "'same'" in here.refuses("score", "gold.csv", "run.csv", "-m", "pan")
    assert "nearest: pan" in here.refuses("score", "gold.csv", "run.csv", "-m", "pam")
    assert "PAN-AUC" in here.refuses("meta", "gold.csv", "run.csv", "-m", "pan")
    assert "PAN-AUC" in here.refuses("explain", "pan")
