"""SQuAD 2: hand-worked cases with ties, the official rules, broken files."""

from __future__ import annotations

import json
import string
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import abstain as ab
from abstain.io.logs.benchmarks import exact_match, f1_of_words
from abstain.io.tables import read_table
from abstain.measures.evaluators import best_threshold
from tests.helpers import Here
from tests.snapshots import says


def data(**answers: Sequence[str]) -> str:
    items = [
        {
            "id": name,
            "question": "?",
            "answers": [{"text": t, "answer_start": 0} for t in texts],
            "is_impossible": not texts,
        }
        for name, texts in answers.items()
    ]
    paragraphs = [{"context": "", "qas": items}]
    return json.dumps({"version": "v2.0", "data": [{"title": "T", "paragraphs": paragraphs}]})


GOLD = data(a=["the Nile", "river Nile"], b=["Rhine"], c=["Paris"], d=[], e=[])
SAID = {"a": "Nile", "b": "river Rhine", "c": "", "d": "", "e": "Rome"}
"""Right; half right; empty though there is an answer; right; an answer though there is none."""


def squad_scores(here: Here, *more: str) -> dict[str, float]:
    """What the official script prints of p.json, as shares."""
    said = here("score", "--judged", "p.json", *DEV, *more, "-m", "squad", "--format", "json")
    scores: dict[str, float] = said.data["results"][0]["scores"]
    return scores


DEV = ("--from", "squad", "--pick", "gold=dev.json")
PICKS = (*DEV, "--pick", "na-prob=na.json")


def test_a_hand_worked_table(here: Here) -> None:
    here.write("dev.json", GOLD)
    here.write("p.json", json.dumps(SAID))
    scores = squad_scores(here)
    assert scores["SQuAD-exact"] == pytest.approx(2 / 5)
    assert scores["HasAns-exact"] == pytest.approx(1 / 3)
    assert scores["NoAns-exact"] == pytest.approx(1 / 2)
    assert scores["SQuAD-F1"] == pytest.approx((1 + 2 / 3 + 0 + 1 + 0) / 5)
    assert scores["HasAns-F1"] == pytest.approx((1 + 2 / 3) / 3)
    assert scores["NoAns-F1"] == pytest.approx(1 / 2)


def test_a_threshold_holds_answers_back(here: Here) -> None:
    here.write("dev.json", GOLD)
    here.write("p.json", json.dumps(SAID))
    here.write("na.json", json.dumps({"a": 0.1, "b": 0.5, "c": 0.5, "d": 0.5, "e": 0.9}))
    scores = squad_scores(here, "--pick", "na-prob=na.json", "--pick", "threshold=0.5")
    assert scores["SQuAD-exact"] == pytest.approx(3 / 5)  # a, d, and e is held back
    # At 0.1: a 1, d and e empty: 3. At 0.5: b adds nothing exact, 2/3 in F1. At 0.9: e costs 1.
    assert scores["best-exact"] == pytest.approx(3 / 5)
    assert scores["best-exact-at"] == pytest.approx(0.1)
    assert scores["best-F1"] == pytest.approx((1 + 2 / 3 + 2) / 5)
    assert scores["best-F1-at"] == pytest.approx(0.5)
    data = here("score", "--judged", "p.json", *PICKS, "-m", "squad", "--format", "json").data
    assert any("do not report" in note for note in data["notes"])


def best_of(scores: Any, answered: Any, has: Any, chances: Any) -> tuple[float, float]:
    flags = np.array(answered, bool), np.array(has, bool)
    return best_threshold(np.array(scores, float), *flags, np.array(chances))


def test_ties_change_sides_together() -> None:
    # Three questions of one probability: two right answers and one given where there is none.
    # Taken one by one in a lucky order 1 + 2 of 3 could be had; no threshold does that.
    best, at = best_of([1, 1, 0], [1, 1, 1], [1, 1, 0], [0.3, 0.3, 0.3])
    assert best == pytest.approx(2 / 3)
    assert at == pytest.approx(0.3)
    best, at = best_of([1, 0, 0], [1, 1, 1], [1, 0, 0], [0.3, 0.3, 0.3])
    assert best == pytest.approx(2 / 3)
    assert at == -1.0  # answering nothing is better


def slow_best(scores: Any, given: Any, has: Any, chances: Any) -> float:
    totals = []
    for t in [-1.0, *chances]:
        kept = [
            (s if h else float(not g)) if c <= t else float(not h)
            for s, g, h, c in zip(scores, given, has, chances, strict=True)
        ]
        totals.append(sum(kept) / len(kept))
    return max(totals)


def test_the_best_threshold_is_that_of_trying_each() -> None:
    chance = np.random.default_rng(3)
    for _ in range(200):
        n = int(chance.integers(1, 12))
        has = chance.integers(0, 2, n).astype(bool)
        given = chance.integers(0, 2, n).astype(bool)
        scores = np.where(has, given * chance.integers(0, 3, n) / 2, ~given)
        chances = chance.integers(0, 4, n) / 4
        best, _ = best_threshold(scores, given, has, chances)
        assert best == pytest.approx(slow_best(scores, given, has, chances))


@pytest.mark.parametrize(
    ("said", "golds", "exact", "f1"),
    [
        ("The Nile!", ["nile"], 1, 1),
        ("an Eiffel-Tower", ["Eiffel Tower"], 0, 0),  # the hyphen goes, the words grow together
        ("Eiffel tower in Paris", ["tower", "Eiffel Tower"], 0, 4 / 6),
        ("the", ["a"], 1, 1),  # nothing is left of either
        ("", ["x"], 0, 0),
        ("x", [], 0, 0),
        ("x x y", ["x y y"], 0, 4 / 6),
    ],
)
def test_words(said: str, golds: list[str], exact: float, f1: float) -> None:
    assert exact_match(said, golds) == exact
    assert f1_of_words(said, golds) == pytest.approx(f1)
    assert set(string.punctuation) >= {"-", "!"}


@pytest.mark.slow
def test_other_commands_read_predictions(here: Here) -> None:
    here.write("dev.json", GOLD)
    here.write("p.json", json.dumps(SAID))
    here.write("na.json", json.dumps({"a": 0.9, "b": 0.8, "c": 0.5, "d": 0.5, "e": 0.1}))
    plain = here("score", "--judged", "p.json", *DEV, "--format", "json")
    assert plain.code == 0, plain
    counts = plain.data["results"][0]["counts"]
    assert ab.Counts.from_dict(counts) == ab.Counts(2, 2, unsplit=1)
    held = here("score", "--judged", "p.json", "--format", "json", "--by", "kind",
                *PICKS, "--pick", "threshold=0.7")  # fmt: skip
    by_kind = {
        row["slice"]["kind"]: ab.Counts.from_dict(row["counts"]) for row in held.data["results"]
    }
    assert by_kind == {"HasAns": ab.Counts(unsplit=3), "NoAns": ab.Counts(1, 1)}
    assert here("campaign", "p.json", "p.json", *PICKS, "-o", "out").code == 0
    assert here("curve", "--judged", "p.json", *PICKS).code == 0
    assert here("convert", "dev.json", "gold.csv").code == 0


@pytest.mark.parametrize(
    ("gold", "said", "chances", "expected"),
    [
        (GOLD, {"zz": "x"}, None, ("p.json", "'zz'")),
        (GOLD, {"a": 3}, None, ()),
        (GOLD, ["a"], None, ()),
        (GOLD, SAID, {"a": 0.1}, ("na.json", "'b'")),
        (GOLD[:-20], SAID, None, ("dev.json",)),
        ('{"version": "v2.0", "data": []}', SAID, None, ()),
        ('{"version": "v9", "dat": []}', SAID, None, ()),
    ],
)
def test_broken_files_are_refused(
    here: Here, gold: str, said: Any, chances: Any, expected: tuple[str, ...]
) -> None:
    here.write("dev.json", gold)
    here.write("p.json", json.dumps(said))
    more = []
    if chances is not None:
        here.write("na.json", json.dumps(chances))
        more = ["--pick", "na-prob=na.json"]
    says(here.refuses("score", "--judged", "p.json", *DEV, *more, "-m", "squad"), *expected)


@pytest.mark.parametrize("chance", [1.5, -3.25])
def test_what_is_no_probability_gives_no_confidence(here: Here, chance: float) -> None:
    here.write("dev.json", GOLD)
    here.write("p.json", json.dumps(SAID))
    here.write("na.json", json.dumps({"a": 0.1, "b": 0.5, "c": chance, "d": 0.5, "e": 0.9}))
    said = here("score", "--judged", "p.json", *PICKS, "-m", "AUROC", "--format", "json")
    assert said.data["results"][0]["scores"]["AUROC"] is None
    assert squad_scores(here, "--pick", "na-prob=na.json")["best-exact"] == pytest.approx(3 / 5)


def test_an_empty_prediction_is_as_sure_as_its_no_answer_probability(here: Here) -> None:
    """It says that there is no answer: that is what it is sure of."""
    here.write("dev.json", GOLD)
    here.write("p.json", json.dumps(SAID))
    here.write("na.json", json.dumps({"a": 0.1, "b": 0.6, "c": 0.7, "d": 0.8, "e": 0.3}))
    picks = {"gold": "dev.json", "na-prob": "na.json"}
    frame = read_table("p.json", format="squad", pick=picks).frame.collect()
    assert frame["confidence"].to_list() == pytest.approx([0.9, 0.4, 0.7, 0.8, 0.7])
    # Above 0.5 b is held back and stays a candidate; e, held back, has no answer.
    frame = read_table("p.json", format="squad", pick={**picks, "threshold": "0.2"}).frame.collect()
    assert frame["confidence"].to_list() == pytest.approx([0.9, 0.4, 0.7, 0.8, 0.3])
    assert frame["outcome"].to_list() == [
        *("right", "unanswered_wrong", "declined", "declined", "unanswered_wrong"),
    ]


def test_sure_readers_have_a_perfect_order(here: Here) -> None:
    here.write("dev.json", data(a=["Nile"], b=["Rhine"], c=[], d=[], e=[]))
    here.write("p.json", json.dumps({"a": "Nile", "b": "Po", "c": "", "d": "", "e": ""}))
    here.write("na.json", json.dumps({"a": 0.1, "b": 0.4, "c": 0.97, "d": 0.98, "e": 0.99}))
    said = here("score", "--judged", "p.json", *PICKS, "-m", "AUROC", "--format", "json")
    assert said.data["results"][0]["scores"]["AUROC"] == 1.0


@pytest.mark.parametrize("said", [SAID, {**SAID, "e": "the"}, {**SAID, "a": "a", "e": "A."}])
def test_accuracy_is_the_exact_match_of_squad(here: Here, said: dict[str, str]) -> None:
    here.write("dev.json", GOLD)
    here.write("p.json", json.dumps(said))
    data = here("score", "--judged", "p.json", *DEV, "-m", "accuracy", "--format", "json").data
    scores = data["results"][0]["scores"]
    assert scores["accuracy"] == pytest.approx(squad_scores(here)["SQuAD-exact"])


def test_a_best_threshold_below_all_answers_nothing(here: Here) -> None:
    here.write("dev.json", data(a=["x"], b=[], c=[]))
    here.write("p.json", json.dumps({"a": "y", "b": "z", "c": "z"}))
    here.write("na.json", json.dumps({"a": 0.1, "b": 0.2, "c": 0.3}))
    assert squad_scores(here, "--pick", "na-prob=na.json")["best-exact-at"] == -1


def test_a_question_without_a_prediction_has_an_empty_one(here: Here) -> None:
    here.write("dev.json", GOLD)
    here.write("p.json", json.dumps({"a": "Nile"}))
    scores = squad_scores(here)
    assert scores["SQuAD-exact"] == pytest.approx(3 / 5)
    assert scores["NoAns-exact"] == 1


def test_an_answer_may_be_the_word_data(here: Here) -> None:
    here.write("dev.json", data(a=["data"], b=[]))
    here.write("p.json", json.dumps({"a": "data", "b": '"data": ['}))
    said = here("score", "--judged", "p.json", *DEV, "--format", "json")
    assert said.code == 0, said
    assert said.data["results"][0]["counts"]["right"] == 1
    assert "are predictions" in here.refuses("score", "--judged", "p.json", "--from", "squad")


def test_a_picked_file_may_have_a_comma_in_its_name(here: Here) -> None:
    here.write("dev,v2.0.json", GOLD)
    here.write("p.json", json.dumps(SAID))
    assert (
        here("score", "--judged", "p.json", "--from", "squad", "--pick", "gold=dev,v2.0.json").code
        == 0
    )


def test_predictions_need_their_data_set(here: Here) -> None:
    here.write("p.json", json.dumps(SAID))
    assert "--pick gold=" in here.refuses("score", "--judged", "p.json", "--from", "squad")
    here.write("dev.json", GOLD)
    assert "SQuAD prediction file" in here.refuses("score", "--judged", "dev.json", *DEV)
    assert "threshold needs" in here.refuses(
        "score",
        "--judged",
        "p.json",
        *DEV,
        "--pick",
        "threshold=0.5",
    )
