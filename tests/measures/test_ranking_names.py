"""Names of the measures of rankings: cutoffs, parameters and primes, in every spelling."""

from __future__ import annotations

import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.measures import definitions
from abstain.measures.kinds import RankingMeasure
from abstain.measures.registry import example_measure
from tests.snapshots import says

RANKING = definitions("ranking")


@pytest.mark.parametrize(
    "name",
    [
        *("P@10", "R@100", "R", "Success@5", "RR", "RR@10", "AP", "Rprec", "NDCG", "NDCG@10"),
        *("bpref", "RBP(p=0.8)", "RBP-residual(p=0.8)", "Q(beta=1)", "NumRet", "NumRel"),
        *("NumRelRet", "RR'", "RBP'(p=0.5)", "NDCG'", "AP'", "P(rel=2)@10", "AP(rel=2)@100"),
        *("RBP(p=0.8, rel=2)@20", "NDCG'(rel=2)", "RBP-residual(p=0.95)@10", "Q(beta=0.5, rel=2)"),
    ],
)
def test_text_round_trips(name: str) -> None:
    assert str(ab.measure(name)) == name
    assert isinstance(ab.measure(name), RankingMeasure)
    assert ab.measure(name.upper()) == ab.measure(name.lower()) == ab.measure(name)


@given(p=st.floats(0.001, 0.999), k=st.integers(1, 10**9), rel=st.integers(1, 9))
def test_parameters_round_trip(p: float, k: int, rel: int) -> None:
    for text in (f"RBP(p={p!r}, rel={rel})@{k}", f"RBP@{k}({p!r}, {rel})"):
        item = ab.measure(text)
        assert item.arguments == {"p": p, "rel": rel, "k": k}
        assert ab.measure(str(item)) == item


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("P@10(rel=2)", "P(rel=2)@10"),
        ("P(2)@10", "P(rel=2)@10"),
        ("P(k=10)", "P@10"),
        ("P(rel=1)@10", "P@10"),
        ("recall@5", "R@5"),
        ("MAP", "AP"),
        ("map@100", "AP@100"),
        ("recip-rank@10", "RR@10"),
        ("num_rel_ret", "NumRelRet"),
        ("rbp'(p=.5)", "RBP'(p=0.5)"),
        ("RBPt(p=0.5)", "RBP'(p=0.5)"),
        ("RBP′(p=1/2)", "RBP'(p=0.5)"),
        ("RBP’(0.5)", "RBP'(p=0.5)"),
        ("RBP", "RBP(p=0.8)"),
        ("RRt", "RR'"),
        ("ndcgT", "NDCG'"),
        ("APt(rel=2)", "AP'(rel=2)"),
        ("Q-measure", "Q(beta=1)"),
    ],
)
def test_other_spellings(text: str, name: str) -> None:
    assert str(ab.measure(text)) == name


def test_every_alias_is_its_measure() -> None:
    for definition in RANKING.values():
        for alias in definition.aliases:
            assert example_measure(alias).name == definition.name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("P", ("10",)),
        ("P@0", ("1", "0")),
        ("P@1.5", ("1.5",)),
        ("P@ten", ("'ten'",)),
        ("P@", ()),
        ("P@10()@20", ()),
        ("P(k=5)@10", ()),
        ("AP'@10", ("'@10'",)),
        ("Rprec@10", ()),
        ("c@1@5", ("1",)),
        ("NDGC@10", ()),
        ("AP(rel=0)", ("0",)),
        ("RBP(p=1)", ("0", "1")),
        ("NDCG(rel=2)", ("'rel'",)),
    ],
)
def test_errors_say_what_was_expected(text: str, said: tuple[str, ...]) -> None:
    with pytest.raises(ab.UsageError) as caught:
        ab.measure(text)
    says(str(caught.value), *said)


@pytest.mark.parametrize("name", RANKING)
def test_what_is_known_of_each(name: str) -> None:
    known = RANKING[name]
    assert known.summary.endswith(".")
    assert all((known.formula, known.source, known.example))
    assert known.gaming or known.note
    assert known.kappa is None


@pytest.mark.parametrize("name", RANKING)
def test_the_example_on_the_card_is_right(name: str) -> None:
    """Its text names a measure and ends in the score of the gains 1, 0, 1 with 3 to find."""
    text, _, result = RANKING[name].example.rpartition("=")
    named = re.split(r" =", text)[0].strip()
    item = ab.measure(named)
    assert item.name == name
    assert item([1, 0, 1], pool=3) == pytest.approx(float(result), abs=5e-5)


def test_a_measure_of_rankings_credits_no_blanks() -> None:
    with pytest.raises(ab.UsageError, match="has no κ"):
        ab.measure("AP").kappa(ab.Counts(right=1))
    with pytest.raises(ab.UsageError, match="expected one of counts"):
        ab.read_counts({"a": ab.Counts(right=1)}).score(measures=["AP"])
    rows = [{"run": "a", "question": "q", "outcome": "right"}]
    with pytest.raises(ab.UsageError, match="P@5 is a measure of ranking, expected one of counts"):
        ab.read_judged(pl.DataFrame(rows)).score(measures=["P@5,10"])
