"""What a declaration leaves out, parameters at the ends of their ranges, and how names are read."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import abstain as ab
from abstain.measures import kinds, registry
from abstain.measures.definition import Parameter, Proportion, number_text
from abstain.measures.registry import KINDS, definitions, measure_of
from abstain.measures.trec_eval import figures, values_of
from tests.snapshots import says

COUNTS, ANSWERS = definitions("counts"), definitions("confidence")


@pytest.mark.parametrize("name", COUNTS)
def test_a_proportion_of_fewer_than_all_questions_divides_by_them(name: str) -> None:
    own = COUNTS[name]
    if own.proportion is not None:
        fewer = own.proportion.trials != "n"
        assert own.divides_by == (own.proportion.trials if fewer else "")
        assert own.studentised is fewer
    assert (own.kappa_text == "–") is (own.kappa is None)
    assert (own.break_even_text == "–") is (own.break_even is None)
    assert own.least in ((0, 40) if own.divides_by else (0,))


def test_texts_of_a_blanks_worth_are_the_declared_ones() -> None:
    said = {name: (own.kappa_text, own.break_even_text) for name, own in COUNTS.items()}
    assert said["c@1"] == ("c", "c/(1 + u)")
    assert said["precision"] == ("c/(1 − u)", "precision")
    assert said["UF"] == ("–", "1/2")
    assert said["wrong-rate-credit"] == ("w/(c + w)", "–")
    assert said["coverage"] == ("–", "–")


@pytest.mark.parametrize("name", ANSWERS)
def test_a_measure_that_divides_by_answers_needs_forty_of_them_for_a_test(name: str) -> None:
    own = ANSWERS[name]
    by_questions = own.mean is not None and own.mean.over == "questions"
    assert own.least == (0 if by_questions else 40)
    assert own.studentised is (own.influence is not None or name in ("Brier", "log-score"))


def test_measures_stand_by_what_they_take_and_then_by_family(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = [
        (own.takes, own.home.rpartition(".")[0].rpartition(".")[2])
        for own in definitions().values()
    ]
    order = [
        ("counts", "of_counts"),
        ("decisions", "decisions"),
        *(("confidence", own) for own in ("weighted_answers", "confidence")),
        ("confidence", "calibration_errors"),
        *(("ranking", own) for own in ("ranking", "recall_and_gain", "user_models")),
        *(("ranking", "truncated"), ("columns", "evaluators")),
    ]
    assert list(dict.fromkeys(found)) == order
    assert [*KINDS] == ["counts", "decisions", "confidence", "ranking", "columns"]
    others = dict(reversed(kinds.REGISTRY.items()))  # whatever was declared first
    monkeypatch.setattr(registry, "REGISTRY", others)
    again = [(own.takes, own.home.split(".")[-2]) for own in definitions().values()]
    assert list(dict.fromkeys(again)) == order
    for takes in KINDS:
        assert {own.takes for own in definitions(takes).values()} == {takes}


UNUSUAL = {
    "UF": (-1, 1),
    "decision-J": (-1, 1),
    "S": (-1, 1),  # with t = 1/2
    "K1": (-1, 1),
    "K": (-1, 1),
    "Pearson-r": (-1, 1),
    "PRR": (-math.inf, 1),
    "AUGRC": (0, 0.5),
    "log-score": (0, 52 * math.log(2)),  # a confidence of 1 is one of 1 − 2^−52
    "INST-residual": (-1, 1),
    "RBP-effort": (-0.1, 1),  # nothing but effort, of 0.1
    "RBP-total": (0, 5),  # 1/(1 − p) with p = 0.8
    "NDCG'": (0, math.inf),
    **dict.fromkeys(
        ("pDCG", "Utility", "yaap", "best-exact-at", "best-F1-at"), (-math.inf, math.inf)
    ),
    **dict.fromkeys(("RBP-depth", "INST-depth"), (1, math.inf)),
    **dict.fromkeys(("INST-total", "NumRet", "NumRel", "NumRelRet"), (0, math.inf)),
    **dict.fromkeys(("NumUnjudged", "NumNonRelRet", "NumQ"), (0, math.inf)),
}


@pytest.mark.parametrize("name", [*definitions()])
def test_a_measure_goes_from_0_to_1_unless_it_is_one_of_these(name: str) -> None:
    own = definitions()[name]
    found = measure_of(own, own.example_text).bounds
    assert found == pytest.approx(UNUSUAL.get(name, (0, 1)), abs=1e-12)


def test_with_gains_of_1_and_0_no_end_of_a_list_is_worth_more_than_1() -> None:
    assert ab.measure("NDCG'(rel=1)").bounds == (0, 1)
    assert ab.measure("NDCG'").bounds == (0, math.inf)


CREDITED = ["accuracy", "c@1", "F", "F(beta=2)", "precision", "UF", "UF-scaled", "answer-all-bound"]
CREDITED += ["wrong-rate-credit", "credit(t=0.3)", "S(t=0.3)"]


@pytest.mark.parametrize("name", CREDITED)
def test_what_a_blank_is_worth_and_when_answering_it_pays(name: str) -> None:
    """M = c + κ·u, and turning a few blanks into right answers with chance p* changes nothing."""
    item = ab.measure(name)
    assert item(ab.Counts(right=1)) == item.bounds[1] == 1
    for c, w, u in ((0.5, 0.3, 0.2), (0.2, 0.2, 0.6), (0.1, 0.4, 0.5)):
        here = ab.Counts(c, w, unsplit=u)
        assert item(ab.Counts(10 * c, 10 * w, unsplit=10 * u)) == pytest.approx(item(here))
        if item.definition.kappa is not None:
            assert item(here) == pytest.approx(c + item.kappa(here) * u)
        if item.definition.break_even is not None:
            pays, few = item.break_even(here), 1e-6
            answered = ab.Counts(c + few * pays, w + few * (1 - pays), unsplit=u - few)
            assert item(answered) == pytest.approx(item(here), abs=1e-11)


# --------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("facts", "example"),
    [
        ({}, 0.5),
        ({"low": 2}, 2),
        ({"high": 0.25}, 0.25),
        ({"whole": True}, 10),
        ({"whole": True, "low": 20}, 20),
        ({"whole": True, "high": 4}, 4),
        ({"default": 0.3, "low": 0}, 0.3),
        ({"default": 0}, 0),
    ],
)
def test_a_parameter_is_shown_with_a_value_in_its_range(facts: Any, example: float) -> None:
    assert Parameter("x", "a number", **facts).example == example


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({}, "(−∞, ∞)"),
        ({"low": 0, "high": 1}, "[0, 1]"),
        ({"low": 0, "high": 1, "low_open": True}, "(0, 1]"),
        ({"low": 0, "high": 1, "high_open": True}, "[0, 1)"),
        ({"low": 0.5}, "[0.5, ∞)"),
        ({"high": -1}, "(−∞, -1]"),
    ],
)
def test_a_range_is_written_with_its_open_and_closed_ends(facts: Any, text: str) -> None:
    assert Parameter("x", "a number", **facts).range_text == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-3.0, "-3"),
        (0.1, "0.1"),
        (1e15, "1000000000000000"),
        (1e16, "1e+16"),
        (-1e16, "-1e+16"),
        (9999999999999998.0, "9999999999999998"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "not a number"),
    ],
)
def test_a_number_has_its_shortest_text(value: float, text: str) -> None:
    assert number_text(value) == text


def test_sums_of_counts_by_their_letters() -> None:
    counts = ab.Counts.of([1, 2, 4, 8, 16, 32])
    assert Proportion("R + UR", "n").of(counts) == (5, 63)
    assert Proportion("UW + UE", "W + U").of(counts) == (24, 62)
    assert Proportion("UW + UE", "U").formula == "(UW + UE)/U"


# -------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("F(BETA=2)", "F(beta=2)"),
        ("F(Beta = 2)", "F(beta=2)"),
        ("rbp(P=0.5, REL=2)", "RBP(p=0.5, rel=2)"),
        ("RBP(0.5, 2)", "RBP(p=0.5, rel=2)"),
        ("AP(2)@5", "AP(rel=2)@5"),
        ("AP@5", "AP@5"),
        ("AP(,rel=2,)", "AP(rel=2)"),
        ("NDCG′", "NDCG'"),
        ("NDCG’", "NDCG'"),
    ],
)
def test_parameters_by_name_in_any_case_and_by_place(text: str, name: str) -> None:
    assert str(ab.measure(text)) == name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("F(Gamma=2)", ("'Gamma'",)),
        ("c@1(t=2)", ("1", "'t'")),
        ("F(1, 2)", ("'2'",)),
        ("AUROC@5", ("'@5'",)),
        ("P@5(2)@6", ("5", "6")),
        ("P(1, 2)@6", ()),
        ("P", ("10",)),
        ("credit", ("0.5",)),
        ("P@1.5", ("1.5",)),
        ("P@0", ("1", "0")),
        ("AP(rel=0)", ("0",)),
    ],
)
def test_what_cannot_be_a_parameter(text: str, said: tuple[str, ...]) -> None:
    with pytest.raises(ab.UsageError) as caught:
        ab.measure(text)
    says(str(caught.value), *said)


def test_a_bare_name_has_values_to_show_it_with() -> None:
    for name, own in definitions().items():
        shown = measure_of(own, own.example_text)
        assert shown.name == name
        for parameter in own.parameters:
            if not parameter.optional:
                assert shown.arguments[parameter.name] == parameter.example


def test_an_empty_list_has_no_precision_at_recall_0() -> None:
    """trec_eval divides 0 by 0 there; at a higher recall, and of a list with documents, it is 0."""
    qrels = {"a": {"d1": 1}, "b": {"d1": 1, "d2": 0}}
    lists = ab.read_rankings(qrels, {"r": {"b": {"d2": 1.0}}}).lists
    for point, expected in ((0.0, [math.nan, 0.0]), (0.5, [0.0, 0.0])):
        (figure,) = figures("iprec_at_recall", str(point))
        found = values_of(figure, lists, 1, 0)
        assert np.array_equal(found, np.array(expected), equal_nan=True)
    (figure,) = figures("map")
    assert values_of(figure, lists, 1, 0).tolist() == [0, 0]
