"""Ranges of parameters, the order of trec_eval, and when a measure of counts has no value."""

from __future__ import annotations

import inspect
import math
from itertools import product
from typing import Any

import numpy as np
import pytest

import abstain as ab
from abstain.measures.answers import Answers
from abstain.measures.checks import few_counts
from abstain.measures.definition import Parameter
from abstain.measures.ranked_lists import Prefixes
from abstain.measures.registry import definitions, example_measure
from abstain.measures.trec_eval import figures, log2, parse_trec_names, values_of
from tests.measures.reference import REFERENCE
from tests.snapshots import refuses, says

OPEN, CLOSED = True, False
SHARE = (0, CLOSED, 1, CLOSED)
LIKELIHOOD = (0, OPEN, 1, OPEN)
GRADE = (0, OPEN, math.inf, CLOSED)
WHOLE = (1, CLOSED, math.inf, CLOSED)
ANY = (-math.inf, CLOSED, math.inf, CLOSED)
RANGES = {
    # a level that a document must have, a rank, a likelihood to go on, documents that are expected
    "rel": GRADE,
    "k": WHOLE,
    "p": LIKELIHOOD,
    "mult": GRADE,
    "INST t": (0.5, OPEN, math.inf, CLOSED),
    "recall": SHARE,
    "e": SHARE,
    "r": SHARE,
    # what a blank is worth; where all is lost on one wrong answer no other can make up for it
    "credit t": SHARE,
    "S t": (0, CLOSED, 1, OPEN),
    "c": (0, OPEN, 1, CLOSED),
    # recall may count much more than precision, or much less, but not alone
    "F beta": (1e-6, CLOSED, 1e6, CLOSED),
    "SetF beta": (0, OPEN, 1e6, CLOSED),
    "Q beta": (0, CLOSED, 1e6, CLOSED),
    "x": (0, CLOSED, math.inf, CLOSED),
    "bins": (1, CLOSED, 10_000, CLOSED),
    "size": (1, CLOSED, 1_000_000, CLOSED),
    "Utility n": (0, CLOSED, math.inf, CLOSED),
    "year": (2020, CLOSED, 2023, CLOSED),
    "Utility a": ANY,
    "Utility b": ANY,
    "Utility c": ANY,
    "Utility d": ANY,
}
DEFAULTS = {
    "F beta": 1,
    "Compat p": 0.95,
    "ECE bins": 15,
    "ECE-mass bins": 15,
    "adaptive-ECE bins": 15,
    "size": 100,
    "p": 0.8,
    "Q beta": 1,
    "SetF beta": 1,
    "INST t": 1,
    "e": 0.1,
    "x": 1,
    "year": 2023,
    "mult": 1,
    "Utility a": 1,
    "Utility b": -1,
    "Utility c": 0,
    "Utility d": 0,
    "Utility n": 0,
}
PARAMETERS = [(name, own) for name, d in definitions().items() for own in d.parameters]


@pytest.mark.parametrize(("name", "own"), PARAMETERS, ids=lambda own: getattr(own, "name", own))
def test_a_parameter_has_its_range(name: str, own: Parameter) -> None:
    key = f"{'INST' if name.startswith('INST') else name} {own.name}"
    low, low_open, high, high_open = RANGES.get(key) or RANGES[own.name]
    for end, is_open, side in ((low, low_open, -1), (high, high_open, 1)):
        if math.isinf(end):
            continue
        with pytest.raises(ab.UsageError, match="must be in"):
            own.check(end + side * (1 if own.whole or end > 1 else 1e-7), name)
        if is_open:
            with pytest.raises(ab.UsageError, match="must be in"):
                own.check(end, name)
        else:
            assert own.check(end, name) == end
    with pytest.raises(ab.UsageError, match="must be in"):
        own.check(math.nan, name)
    if own.whole:
        with pytest.raises(ab.UsageError, match="must be a whole number"):
            own.check(own.example + 0.5 - (own.example == own.high), name)
    if own.name != "rel":
        assert own.default == DEFAULTS.get(key, DEFAULTS.get(own.name))


# The order of te_trec_measures in trec_eval 9's measures.c; runid and relstring are no numbers.
TREC_EVAL = [
    *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref"),
    *("recip_rank", "iprec_at_recall", "P", "relstring", "recall", "infAP", "gm_bpref"),
    *("Rprec_mult", "utility", "11pt_avg", "binG", "G", "ndcg", "ndcg_rel", "Rndcg", "ndcg_cut"),
    *("map_cut", "relative_P", "success", "set_P", "set_relative_P", "set_recall", "set_map"),
    *("set_F", "num_nonrel_judged_ret"),
]


def test_names_stand_where_trec_eval_prints_them() -> None:
    found = {own.name: own.place for d in definitions("ranking").values() for own in d.trec}
    assert {name: place for name, place in found.items() if name in TREC_EVAL} == {
        name: place for place, name in enumerate(TREC_EVAL) if name not in ("runid", "relstring")
    }
    assert all(found[name] >= len(TREC_EVAL) for name in found.keys() - {*TREC_EVAL})


@pytest.mark.parametrize("name", REFERENCE)
def test_all_counts_of_up_to_four_questions_as_the_slow_reference(name: str) -> None:
    item = ab.measure(name)
    for numbers in product(range(5), repeat=5):
        if 0 < sum(numbers) <= 4:
            outcomes = [
                letter
                for letter, times in zip(("R", "W", "UR", "UW", "UE"), numbers, strict=True)
                for _ in range(times)
            ]
            expected = REFERENCE[name](outcomes)
            counts = ab.Counts.of(numbers)
            score = item(counts)
            assert (item.why_undefined(counts) is None) == (expected is not None), numbers
            assert float(score) == pytest.approx(
                math.nan if expected is None else float(expected), nan_ok=True
            ), numbers


def test_numbers_after_the_name_of_a_measure_of_trec_eval() -> None:
    """One that takes one number takes the first; one that takes four must have four."""
    (figure,) = figures("set_F", "0.5,3")
    assert figure.arguments == {"x": 0.5}
    (figure,) = figures("utility", "1,2,3,4")
    assert figure.arguments == {"a": 1, "b": 2, "c": 3, "d": 4}
    for given, got in (("1,2,3", 3), ("1,2,3,4,5", 5)):
        with pytest.raises(ab.UsageError, match=rf"utility takes 4 numbers .got {got}."):
            figures("utility", given)


QRELS = {
    "a": {"d1": 1, "d3": 0, "d4": 2, "x": 1},
    "b": {"d3": 1, "d5": 0, "y": 0},
    "c": {"d1": 0, "d2": 2, "d6": 1},
}
RUN = {
    query: {f"d{i}": 9.0 - i for i in range(1, last)}
    for query, last in (("a", 7), ("b", 6), ("c", 4))
}


@pytest.mark.parametrize("name", [*definitions("ranking")])
def test_a_query_has_its_score_whatever_the_others_are(name: str) -> None:
    """Documents that nobody judged stand before, between and after those that somebody did."""
    item: Any = example_measure(name)
    whole = ab.read_rankings(QRELS, {"r": RUN}, top=2)
    together = whole.values(item).ravel()
    for at, query in enumerate(whole.queries):
        alone = ab.read_rankings({query: QRELS[query]}, {"r": {query: RUN[query]}}, top=2)
        assert together[at] == pytest.approx(float(alone.values(item).ravel()[0]), nan_ok=True)


@pytest.mark.parametrize("name", [*definitions()])
def test_a_function_has_the_defaults_of_its_declaration(name: str) -> None:
    own = definitions()[name]
    for function in (own.function, getattr(own, "by_depth", None)):
        said = inspect.signature(function).parameters if function else {}
        for parameter in own.parameters:
            if parameter.name in said and said[parameter.name].default is not inspect._empty:
                assert said[parameter.name].default == parameter.default, parameter.name


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("S(t=0.8)", (-4, 1)),  # one wrong answer costs 0.8/0.2
        ("S(t=0.5)", (-1, 1)),
        ("S(t=0)", (0, 1)),
        ("RBP-effort(e=0.3)", (-0.3, 1)),
        ("credit(t=0.3)", (0, 1)),
    ],
)
def test_bounds_follow_the_parameters(name: str, bounds: tuple[float, float]) -> None:
    assert ab.measure(name).bounds == pytest.approx(bounds)


def test_forty_answers_are_the_fewest_to_test_what_is_divided_by_answers() -> None:
    """As benchmarks/errors.py shows: below, errors are more frequent than promised."""
    assert {getattr(own, "least", 0) for own in definitions().values()} == {0, 40}


@pytest.mark.parametrize(
    ("gains", "by_grade"), [("1=1,2=9", {1: 1, 2: 9}), ("1=3", {1: 3, 2: 2}), ("", {1: 1, 2: 2})]
)
def test_gains_of_grades_by_hand(gains: str, by_grade: dict[int, float]) -> None:
    """DCG of d1, d2 and an unjudged one over that of the gains of all judged, the largest first."""
    judged = {"d1": 1, "d2": 2, "d8": 1, "d9": 0}
    lists = ab.read_rankings({"q": judged}, {"r": {"q": {"d1": 3.0, "d2": 2.0, "x": 1.0}}}).lists
    (figure,) = figures("ndcg", gains)
    ideal = sorted((by_grade[1], by_grade[2], by_grade[1]), reverse=True)
    expected = (by_grade[1] + by_grade[2] / math.log2(3)) / sum(
        gain / math.log2(place + 2) for place, gain in enumerate(ideal)
    )
    assert values_of(figure, lists, 1, 0)[0] == pytest.approx(expected)


def test_the_usual_points_of_trec_eval() -> None:
    """As `trec_eval -h -m P` and the others say."""
    cutoffs = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
    for name in ("P", "recall", "ndcg_cut", "map_cut", "relative_P"):
        assert [own.name for own in figures(name)] == [f"{name}_{k}" for k in cutoffs]
    assert [own.name for own in figures("success")] == ["success_1", "success_5", "success_10"]
    tenths = [f"iprec_at_recall_{i / 10:.2f}" for i in range(11)]
    assert [own.name for own in figures("iprec_at_recall")] == tenths
    assert [own.name for own in figures("Rprec_mult")] == [
        f"Rprec_mult_{i / 5:.2f}" for i in range(1, 11)
    ]


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("credit(t=0)", {"accuracy", "S(t=0)"}),
        ("credit(t=0.5)", {"S(t=0.5)", "UF", "UF-scaled"}),
        ("credit(t=0.25)", {"S(t=0.25)"}),
    ],
)
def test_measures_that_rank_runs_alike(name: str, others: set[str]) -> None:
    """c + t·u is 1 − t less than a multiple of c − t/(1 − t)·w, so both order runs alike."""
    found = ab.measure(name).ranks_like
    assert others <= {*found}
    assert name not in found
    shares = [(0.5, 0.3, 0.2), (0.4, 0.1, 0.5), (0.6, 0.4, 0.0), (0.1, 0.0, 0.9)]
    counts = [ab.Counts(c, w, unanswered_empty=u) for c, w, u in shares]
    own = [float(ab.measure(name)(k)) for k in counts]
    for other in found:
        theirs = [float(ab.measure(other)(k)) for k in counts]
        for i in range(4):
            for j in range(4):
                assert (own[i] > own[j] + 1e-9) == (theirs[i] > theirs[j] + 1e-9), other


def test_the_ideal_gain_of_every_depth_by_hand() -> None:
    """Of d + 1 places, since the end of a list is worth something too."""
    none, one, three = (Prefixes(np.zeros((1, 3)), *[np.array([float(n)])] * 2) for n in (0, 1, 3))
    second, third = 1 / math.log2(3), 1 / 2
    assert none.ideal[0].tolist() == [0, 0, 0, 0]
    assert one.ideal[0].tolist() == [1, 1, 1, 1]
    assert three.ideal[0] == pytest.approx([1, 1 + second, *[1 + second + third] * 2])
    halves = Prefixes(np.zeros((1, 1)), np.array([1.0]), np.array([2.0]))  # two of a gain of 1/2
    assert halves.ideal[0] == pytest.approx([0.5, 0.5 + second / 2])
    graded = Prefixes(np.zeros((1, 2)), np.array([1.5]), np.array([2.0]), np.array([[1.0, 0.5]]))
    assert graded.ideal[0] == pytest.approx([1, 1 + second / 2, 1 + second / 2])


def test_logarithms_where_there_is_none() -> None:
    found = log2(np.array([0.0, -1.0, 1.0, 2.0, 3.0]))
    assert found[0] == -math.inf
    assert math.isnan(found[1])
    assert found[2:].tolist() == [0, 1, math.log2(3)]


def test_trec_evals_names_with_and_without_parameters() -> None:
    def said(text: str) -> list[str]:
        return [str(item) for item in parse_trec_names(text)]

    assert said("P_10") == said("P.10") == ["P@10"]
    assert said("P_x") == said("Q_10") == said("c@1") == []
    # of more numbers than it has parameters the first count, but of several all must be there
    assert figures("set_F", "2,3")[0].arguments == figures("set_F", "2")[0].arguments == {"x": 2}
    assert figures("utility", "1,2,3,4")[0].arguments == {"a": 1, "b": 2, "c": 3, "d": 4}
    with pytest.raises(ab.UsageError, match=r"utility takes 4 numbers \(got 3\)"):
        figures("utility", "1,2,3")


@pytest.mark.parametrize("number", [-1, -0.5, math.inf, -math.inf, math.nan])
def test_a_count_is_0_or_more(number: float) -> None:
    with refuses(ab.UsageError, "0"):
        ab.Counts(right=number, wrong=1)
    assert ab.Counts(right=0, wrong=2**53).wrong == 2**53


def test_a_measure_is_tried_on_all_counts_of_up_to_three_questions() -> None:
    assert len(set(few_counts())) == len(few_counts()) == math.comb(3 + 5, 5) - 1
    assert {k.n for k in few_counts()} == {1, 2, 3}


def test_how_far_the_answers_reach() -> None:
    few: Any = ab.measure("risk@coverage(c=0.5)")
    found = few(Answers.of([1, 0], [0.9, 0.8], questions=8))
    says(str(found.reason), "25.00%")
    assert few(Answers.of([1, 0], [0.9, 0.8], questions=4)) == 0.5
