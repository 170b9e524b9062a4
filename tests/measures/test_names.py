"""Names: text that round-trips, aliases, parameters, and errors with the nearest names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import abstain as ab
from abstain.measures import definitions
from tests.measures.reference import REFERENCE
from tests.snapshots import refuses, says


@pytest.mark.parametrize("name", REFERENCE)
def test_text_round_trips(name: str) -> None:
    assert str(ab.measure(name)) == name
    assert ab.measure(str(ab.measure(name))) == ab.measure(name)


@given(st.floats(0, 1))
def test_parameters_round_trip(t: float) -> None:
    item = ab.measure(f"credit(t={t!r})")
    assert item.arguments == {"t": t}
    assert ab.measure(str(item)) == item


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("C@1", "c@1"),
        (" c_at_1 ", "c@1"),
        ("f1", "F"),
        ("SimpleQA-F", "F"),
        ("F(beta=1)", "F"),
        ("F(2)", "F(beta=2)"),
        ("f(beta=1/2)", "F(beta=0.5)"),
        ("credit(.25)", "credit(t=0.25)"),
        ("credit( t = 1/4 )", "credit(t=0.25)"),
        ("truthfulness", "answer-all-bound"),
        ("uf_scaled", "UF-scaled"),
        ("UF scaled", "UF-scaled"),
        ("net-benefit(0.2)", "S(t=0.2)"),
        ("selective accuracy", "precision"),
        ("attempted", "coverage"),
        ("abstention precision", "abstention-precision"),
        ("discard precision", "correctly-discarded"),
        ("aurc", "AURC"),
        ("risk@coverage(4/5)", "risk@coverage(c=0.8)"),
        ("Coverage@Risk(r=.05)", "coverage@risk(r=0.05)"),
        ("ece", "ECE"),
        ("ECE(bins=15)", "ECE"),
        ("ece_mass(10)", "ECE-mass(bins=10)"),
    ],
)
def test_other_spellings(text: str, name: str) -> None:
    assert str(ab.measure(text)) == name


def test_every_alias_is_its_measure() -> None:
    pairs = [(a, d) for d in definitions("counts").values() for a in d.aliases]
    assert len(pairs) >= 8
    for alias, definition in pairs:
        given = "(0.5)" if any(p.default is None for p in definition.parameters) else ""
        assert ab.measure(alias + given).name == definition.name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("acuracy", ()),
        ("truthfulnes", ()),
        ("c@2", ("1",)),
        ("zzzz", ("'zzzz'",)),
        ("", ()),
        ("credit(0.5", ()),
        ("credit", ()),
        ("credit(t=2)", ("0", "1", "2")),
        ("credit(t=-1)", ("0", "1", "-1")),
        ("S(t=1)", ("0", "1")),
        ("credit(t=nan)", ("0", "1")),
        ("F(beta=inf)", ()),
        ("F(beta=1e300)", ()),
        ("F(beta=0)", ()),
        ("credit(t=half)", ("'half'",)),
        ("credit(t=1/0)", ()),
        ("credit(k=0.5)", ("'k'",)),
        ("credit(0.5, t=0.5)", ()),
        ("credit(0.5, 0.6)", ("'0.6'",)),
        ("c@1(3)", ("'3'",)),
        ("ECE(bins=7.5)", ("7.5",)),
        ("ECE(bins=0)", ("1", "10000", "0")),
        ("risk@coverage(c=0)", ("0", "1")),
    ],
)
def test_errors_say_what_was_expected(text: str, said: tuple[str, ...]) -> None:
    with pytest.raises(ab.UsageError) as caught:
        ab.measure(text)
    says(str(caught.value), *said)
    assert len(str(caught.value)) < 200


def test_extreme_parameters_still_give_numbers() -> None:
    for text in ("F(beta=1e-6)", "F(beta=1e6)", "S(t=0.9999999999999999)"):
        item = ab.measure(text)
        low, high = item.bounds
        for counts in (ab.Counts(unsplit=3), ab.Counts(1, 1, unsplit=1), ab.Counts(wrong=2)):
            assert low <= item(counts) <= high


def test_a_measure_is_itself() -> None:
    item = ab.measure("c@1")
    assert ab.measure(item) is item
    assert {item, ab.measure("C@1")} == {item}


def test_counts_must_be_counts() -> None:
    with refuses(ab.UsageError, "0"):
        ab.Counts(right=-1)
    with pytest.raises(ab.UsageError, match="right must be a number"):
        ab.Counts(right="3")  # type: ignore[arg-type]
    with refuses(ab.UsageError, "2^53"):
        ab.Counts(right=float("nan"))
