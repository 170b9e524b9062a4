"""One text with several values of a parameter or a cutoff names several measures."""

from __future__ import annotations

from itertools import product

import pytest

import abstain as ab
from abstain.measures import definitions, measure, swept
from tests.helpers import Here

SWEEPS = {
    "P@5,10": ["P@5", "P@10"],
    "NDCG@5, 10,20": ["NDCG@5", "NDCG@10", "NDCG@20"],
    "RBPt(p=0.5,0.8,0.95)": ["RBP'(p=0.5)", "RBP'(p=0.8)", "RBP'(p=0.95)"],
    "RBP(p=1/2, 0.8, rel=2)@5,10": [
        f"RBP(p={p}, rel=2)@{k}" for p, k in product((0.5, 0.8), (5, 10))
    ],
    "P(rel=1,2)@10": ["P@10", "P(rel=2)@10"],
    "credit(t=0.2,0.5)": ["credit(t=0.2)", "credit(t=0.5)"],
    "f(beta=1,2)": ["F", "F(beta=2)"],
    "IPrec@0.1,0.5": ["IPrec@0.1", "IPrec@0.5"],
}


@pytest.mark.parametrize("text", SWEEPS)
def test_a_sweep_is_the_measures_that_it_stands_for(text: str) -> None:
    names = [str(measure(each)) for each in swept(text)]
    assert names == [str(measure(each)) for each in SWEEPS[text]]
    assert [str(measure(name)) for name in names] == names  # each text round-trips
    with pytest.raises(ab.UsageError, match=r"names [2-9]: "):
        measure(text)


def test_every_measure_with_a_number_can_be_swept() -> None:
    for name, definition in definitions().items():
        for parameter in definition.parameters:
            if parameter.cutoff:
                text = f"{name}@{parameter.example:g},{parameter.example:g}"
                assert swept(text) == [f"{name}@{parameter.example:g}"] * 2


@pytest.mark.parametrize("text", ["c@1", "RBP(p=0.5, rel=2)", "ndcg_cut.5,10", "a, b", "F(1)"])
def test_other_texts_stay(text: str) -> None:
    assert swept(text) == [text]
    assert swept([text, "AP"]) == [text, "AP"]


def test_every_command_with_several_measures_takes_them(here: Here) -> None:
    here.write("gold.csv", "question,correct\n1,A\n2,B\n")
    here.write("run.csv", "question,answer\n1,A\n2,\n")
    here.write("other.csv", "question,answer\n1,B\n2,B\n")
    here.write("qrels", "1 0 a 1\n")
    here.write("list", "1 Q0 a 1 1 t\n")
    data = here("score", "gold.csv", "run.csv", "-m", "credit(t=0.2,0.5)", "-f", "json").data
    assert data["results"][0]["scores"] == {"credit(t=0.2)": 0.6, "credit(t=0.5)": 0.75}
    data = here("rank", "qrels", "list", "-m", "P@1,2", "-m", "RR", "-f", "json").data
    assert data["results"][0]["scores"] == {"P@1": 1.0, "P@2": 0.5, "RR": 1.0}
    assert ab.rank("qrels", "list", "P@1,2").measures == ("P@1", "P@2")
    assert ab.score("gold.csv", "run.csv", ["F(beta=1,2)"]).measures == ("F", "F(beta=2)")
    meta = ("meta", "gold.csv", "run.csv", "other.csv", "-m", "credit(t=0.2,0.5)")
    assert "credit(t=0.5)" in here(*meta, "--part", "agreement").out
    line = here.refuses("tune", "gold.csv", "run.csv", "-m", "credit(t=0.2,0.5)")
    assert "names 2: credit(t=0.2), credit(t=0.5)" in line
