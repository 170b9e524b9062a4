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
from abstain.analyses.pan import overall, pan_measures
from abstain.errors import UsageError
from abstain.outcomes import Undefined
from tests.helpers import Here, needs


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
    result = ab.pan(truth, sorted(folder.iterdir()), year=2020)
    assert {own.run for own in result.rows} == official.keys()
    for own in result.rows:
        for name in ("AUC", "c@1", "F1"):
            assert own.scores[name] == pytest.approx(official[own.run][name], abs=1e-9)
        if own.blank == 0:  # the published F0.5u differs only where there are blanks
            assert own.scores["F0.5u"] == pytest.approx(official[own.run]["F0.5u"], abs=1e-9)
            assert own.scores["overall"] == pytest.approx(official[own.run]["Overall"], abs=1e-9)
    assert sum(own.blank > 0 for own in result.rows) == 2


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
    found = pan_measures(y, v)
    # Pairs won: 0.9 beats all 3; 0.5 beats 0.1, ties 0.5; 0.3 beats 0.1.
    assert found["AUC"] == pytest.approx((3 + 1.5 + 1) / 9)
    assert found["c@1"] == pytest.approx(2 / 6 * (1 + 2 / 6))
    assert found["F1"] == pytest.approx(2 * 1 / (2 * 1 + 1 + 1))
    assert found["F0.5u"] == pytest.approx(1.25 / (1.25 + 0.25 * (1 + 2) + 1))
    squares = [0.01, 0.25, 0.49, 0.01, 0.36, 0.25]
    assert found["Brier"] == pytest.approx(1 - sum(squares) / 6)
    four = [found[n] for n in ("AUC", "c@1", "F1", "F0.5u")]
    assert overall(found, 2020) == pytest.approx(sum(four) / 4)
    assert overall(found, 2023) == pytest.approx((sum(four) + found["Brier"]) / 5)


@pytest.mark.slow
def test_auc_and_brier_are_scikit_learns() -> None:
    from sklearn.metrics import brier_score_loss, roc_auc_score

    chance = np.random.default_rng(7)
    for _ in range(20):
        y = chance.integers(0, 2, 50)
        v = chance.integers(0, 11, 50) / 10  # many ties
        found = pan_measures(y, v)
        assert found["AUC"] == pytest.approx(roc_auc_score(y, v), abs=1e-12)
        assert found["Brier"] == pytest.approx(1 - brier_score_loss(y, v), abs=1e-12)


def test_what_does_not_exist() -> None:
    found = pan_measures([0, 0], [0.1, 0.5])
    assert isinstance(found["AUC"], Undefined)
    assert isinstance(pan_measures([0, 0], [0.1, 0.2])["F1"], Undefined)
    assert isinstance(overall(found, 2020), Undefined)
    with pytest.raises(UsageError, match="years"):
        overall(found, 2019)


TRUTH = "".join(
    json.dumps({"id": name, "same": same}) + "\n"
    for name, same in [("a", True), ("b", True), ("c", False), ("d", False)]
)


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
    own = here("pan", "truth.jsonl", "x.jsonl", "--format", "json").data["results"][0]
    assert own["scores"]["c@1"] == row["scores"]["c@1"] == 1 / 4 * (1 + 2 / 4)
    assert (own["blank"], own["missing"]) == (2, 1)
    said = here("convert", "x.jsonl", "x.csv", "--from", "pan")
    assert said.code == 0, said
    assert Path("x.csv").read_text().splitlines()[1] == "a,,same,0.9,0.9"
    assert here("curve", "truth.jsonl", "x.jsonl", "--from", "pan").code == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (answers(("a", 1.2)), "x.jsonl:1: 'value' is 1.2, expected 0 to 1"),
        (answers(("a", "0.3")), "'value' is '0.3', expected a number"),
        (answers(("a", [0.1, 0.2])), "expected a number"),
        (answers(("a", True)), "expected a number"),
        (answers(("a", float("nan"))), "expected 0 to 1"),
        (answers(("aa", 0.3)), "problem 'aa' is not in the truth (nearest: 'a')"),
        (answers(("a", 0.3), ("a", 0.4)), "problem 'a' is answered twice (2 lines)"),
        (answers(("a", 0.3)) + '{"value": 1}\n', "x.jsonl:2: has no 'id'"),
        (answers(("a", 0.3)) + TRUTH, "x.jsonl:2: has both 'same' and 'value' lines"),
        (TRUTH, "is a truth, expected answers"),
        ("not json\n", "x.jsonl:1: is not complete JSON"),
        ("", "is empty"),
    ],
)
def test_broken_answers_are_refused(here: Here, text: str, expected: str) -> None:
    here.write("truth.jsonl", TRUTH)
    here.write("x.jsonl", text)
    assert expected in here.refuses("pan", "truth.jsonl", "x.jsonl")


def test_broken_truths_are_refused(here: Here) -> None:
    here.write("x.jsonl", answers(("a", 0.9)))
    here.write("t.jsonl", '{"id": "a", "same": "yes"}\n')
    assert "t.jsonl:1: 'same' is 'yes'" in here.refuses("pan", "t.jsonl", "x.jsonl")
    assert "expected PAN's truth" in here.refuses("pan", "x.jsonl", "x.jsonl")
    here.write("t.jsonl", TRUTH + TRUTH)
    assert "problem 'a' appears twice" in here.refuses("pan", "t.jsonl", "x.jsonl")


def test_a_run_that_answers_nothing_has_no_f1_and_says_so(here: Here) -> None:
    here.write("truth.jsonl", TRUTH)
    here.write("x.jsonl", answers(("a", 0.5)))
    said = here("pan", "truth.jsonl", "x.jsonl")
    assert "F1 is undefined (–) where no problem was answered: x." in " ".join(said.out.split())
