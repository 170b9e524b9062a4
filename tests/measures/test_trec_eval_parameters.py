"""What may stand after the point of a name of trec_eval's, and what may not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import abstain as ab
from abstain.measures.trec_eval import (
    asked,
    decimal,
    figures,
    parse_trec_names,
    printed_name,
    whole,
)
from tests.snapshots import refuses, says


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ndcg.1=3", ("3",)),
        ("Rndcg.1=3", ("3",)),
        ("11pt_avg.0.5,1", ("1",)),
    ],
)
def test_gains_and_points_are_no_measures_of_ours(text: str, said: tuple[str, ...]) -> None:
    with pytest.raises(ab.UsageError) as caught:
        parse_trec_names(text)
    says(str(caught.value), *said)
    assert [str(own) for own in parse_trec_names("Rprec_mult.0.4")] == ["Rprec(mult=0.4)"]
    bare = text.partition(".")[0]
    assert len(parse_trec_names(bare)) == 1


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        (
            "ndcg",
            "-1=2",
            ("0", "-1"),
        ),
        ("ndcg", "1", ("3,2", "9", "'1'")),
        ("ndcg", "1=2=3", ("3,2", "9", "'1=2=3'")),
        ("P", "0", ("0", "'0'")),
        ("P", "5,-1", ("0", "'5,-1'")),
        ("P", "5,5", ("'5,5'",)),
        ("iprec_at_recall", "0.5,0.50", ()),
        ("utility", "1,2,3,4,5", ("4", "5")),
    ],
)
def test_parameters_that_do_not_fit(name: str, parameters: str, said: tuple[str, ...]) -> None:
    with pytest.raises(ab.UsageError) as caught:
        figures(name, parameters)
    says(str(caught.value), *said)


@pytest.mark.parametrize(
    ("name", "parameters", "names", "arguments"),
    [
        ("ndcg", "0=1,2=9", ["ndcg_0=1,2=9"], [{"gains": {0: 1, 2: 9}}]),
        ("ndcg", "1=3,1=4", ["ndcg_1=3,1=4"], [{"gains": {1: 3}}]),
        ("ndcg", "", ["ndcg"], [{"gains": None}]),
        ("P", "10,1", ["P_1", "P_10"], [{"k": 1}, {"k": 10}]),
        ("P", "2.9", ["P_2"], [{"k": 2}]),
        ("iprec_at_recall", "0", ["iprec_at_recall_0.00"], [{"recall": 0}]),
        ("set_F", "0.5", ["set_F_0.5"], [{"x": 0.5}]),
        ("11pt_avg", "1,0.5", ["11pt_avg_1,0.5"], [{"points": (1, 0.5)}]),
        ("map", "", ["map"], [{}]),
        ("utility", "", ["utility"], [{"a": 1, "b": -1, "c": 0, "d": 0}]),
        ("set_F", "", ["set_F"], [{"x": 1}]),
        ("11pt_avg", "", ["11pt_avg"], [{"points": tuple(i / 10 for i in range(11))}]),
    ],
)
def test_parameters_as_they_are_read(
    name: str, parameters: str, names: list[str], arguments: list[dict[str, Any]]
) -> None:
    found = figures(name, parameters)
    assert [own.name for own in found] == names
    assert [own.arguments for own in found] == arguments


def test_numbers_as_c_reads_them() -> None:
    assert [whole(text) for text in ("12x", " -3", "+4.9", "", "x1")] == [12, -3, 4, 0, 0]
    assert [decimal(text) for text in ("1.5x", " -.5", "1e2", "2.", "", "x")] == [
        *(1.5, -0.5, 100.0, 2.0, 0.0, 0.0)
    ]
    assert np.isinf(decimal("inf"))


def test_names_that_are_asked_for_stand_in_the_order_of_the_output() -> None:
    assert asked(["P_10", "map", "P_5", "ndcg.1=2", "ndcg.1=3"]) == {
        "map": "",
        "P": "10,5",
        "ndcg": "1=2",
    }
    assert [*asked(["relstring", "P", "recall", "runid"])] == ["runid", "P", "relstring", "recall"]
    assert [*asked(["set"])][:4] == ["runid", "num_q", "num_ret", "num_rel"]
    assert "yaap" not in asked(["all_trec"])
    with refuses(ab.UsageError, "'P.'"):
        asked(["P."])
    with pytest.raises(ab.UsageError, match="'maps'"):
        asked(["maps"])


@pytest.mark.parametrize(
    ("text", "level", "name"),
    [
        ("P@5", 1, "P_5"),
        ("AP", 1, "map"),
        ("AP@5", 1, "map_cut_5"),
        ("R", 1, "set_recall"),
        ("R@7", 1, "recall_7"),
        ("AP(rel=2)", 1, "AP(rel=2)"),
        ("AP(rel=2)", 2, "map"),
        ("AP", 2, "AP"),
        ("NDCG", 2, "ndcg"),
        ("IPrec@0.5", 1, "iprec_at_recall_0.50"),
        ("Rprec", 1, "Rprec"),
        ("Rprec(mult=0.4)", 1, "Rprec_mult_0.40"),
        ("set_F(x=2)", 1, "set_F(x=2)"),
        ("set_F(x=1)", 1, "set_F"),
        ("RR@5", 1, "RR@5"),
        ("ERR", 1, "ERR"),
    ],
)
def test_a_measure_is_printed_by_its_name_there_if_it_has_one(
    text: str, level: float, name: str
) -> None:
    assert printed_name(ab.measure(text), level) == name
