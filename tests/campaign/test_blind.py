"""A blind phase: no count of a few questions, or of a secret slice, follows from what is shown."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

import abstain as ab
from abstain.features.campaign.blind import blinded
from abstain.features.campaign.overview import Overview
from abstain.features.campaign.result import CampaignResult
from abstain.features.campaign.tables import all_tables

KEYS = "ABCD"


def shown(attributes: dict[str, list[str]], **how: object) -> list[str]:
    """The breakdowns of a blind campaign over questions with these attributes."""
    n = len(next(iter(attributes.values())))
    ids = [f"q{at}" for at in range(n)]
    right = np.random.default_rng(1).choice([*KEYS], n)
    gold = pl.DataFrame({"question": ids, "correct": right} | attributes)
    runs = {
        name: pl.DataFrame({"question": ids, "answer": np.roll(right, at)})
        for at, name in enumerate("xyz")
    }
    result = ab.campaign(gold, runs, by=list(attributes), **how)  # type: ignore[arg-type]
    return [breakdown.attribute for breakdown in blinded(result).breakdowns]


def column(**sizes: int) -> list[str]:
    return [name for name, size in sizes.items() for _ in range(size)]


def test_no_question_is_left_over_from_three_slices() -> None:
    """right(A) - right(B) - right(C) is the one question of kind D in topic A."""
    topic = column(A=30, other=30)
    kind = column(B=15, C=14, D=11, E=20)
    assert shown({"topic": topic, "kind": kind}) == ["topic"]
    whole = column(B=15, C=15, D=10, E=20)
    assert shown({"topic": topic, "kind": whole}) == ["topic", "kind"]


def test_few_questions_of_several_kinds_are_not_left_over_either() -> None:
    """Topic A without kinds B and C has two questions, one each of kinds D and F."""
    kind = column(B=14, C=14, D=1, F=1) + column(D=10, F=10, G=10)
    assert shown({"topic": column(A=30, other=30), "kind": kind}) == ["topic"]


def test_kinds_that_cross_topics_are_shown() -> None:
    """A cell of two questions is no matter where no sum gives it."""
    cells = [(t, k) for t, k in product("AB", "xyz") for _ in range(2 if t + k == "Ax" else 12)]
    topic, kind = (list(names) for names in zip(*cells, strict=True))
    assert shown({"topic": topic, "kind": kind}) == ["topic", "kind"]


@pytest.mark.parametrize("secret", ["topic", "test"])
def test_what_adds_up_to_a_secret_slice_is_hidden(secret: str) -> None:
    """Tests lie within topics: those of a topic add up to it, but no topic tells a test."""
    attributes = {"topic": column(A=30, B=30), "test": column(a=15, b=15, c=15, d=15)}
    found = shown(attributes, secret=[secret])
    assert found == ([] if secret == "topic" else ["topic"])


def test_questions_without_a_value_are_a_slice_too() -> None:
    """All minus the slices that are named is the rest, of three questions."""
    assert shown({"kind": ["x"] * 20 + ["y"] * 20 + [""] * 3}) == []
    assert shown({"kind": ["x"] * 20 + ["y"] * 20 + [""] * 10}) == ["kind"]


@pytest.mark.parametrize("seed", range(6))
def test_no_cell_of_few_follows_by_least_squares(seed: int) -> None:
    """By another way: the rank of the slices does not grow by what follows from them."""
    draw = np.random.default_rng(seed)
    attributes = {
        name: [f"{name}{value}" for value in draw.choice(4, 60, p=[0.4, 0.25, 0.2, 0.15])]
        for name in ("one", "two", "three")
    }
    for name in ("two", "three"):  # so that some slices lie in others
        attributes[name] = [
            f"{name}9" if other == "one3" else value
            for other, value in zip(attributes["one"], attributes[name], strict=True)
        ]
    found = shown(attributes)
    columns = [[1] * 60]
    columns += [[v == each for v in attributes[a]] for a in found for each in {*attributes[a]}]
    slices = np.array(columns, float)
    cells = list(zip(*(attributes[name] for name in found), strict=True))
    for cell in {*cells} if found else ():
        alone = np.array([each == cell for each in cells], float)
        follows = np.linalg.matrix_rank(np.vstack([slices, alone])) == np.linalg.matrix_rank(slices)
        assert alone.sum() >= 10 or not follows


@pytest.fixture(scope="module")
def partly() -> CampaignResult:
    """Of 12 questions each y answered 2 of test a, 3 of b and all of c, x and z everything."""
    ids = [f"q{at}" for at in range(36)]
    right = [*"ABCDBACDBADC" * 3]
    gold = {"question": ids, "correct": right, "test": column(a=12, b=12, c=12)}
    gold["topic"] = ["T"] * 36
    wrong = ["B" if answer == "A" else "A" for answer in right]
    some = [*right[:2], *[""] * 10, *right[12:15], *[""] * 9, *wrong[24:]]
    answers = {"x": right, "y": some, "z": wrong}
    runs = {run: {"question": ids, "answer": given} for run, given in answers.items()}
    frames = {run: pl.DataFrame(table) for run, table in runs.items()}
    return blinded(ab.campaign(pl.DataFrame(gold), frames))


def test_a_summary_over_a_hidden_score_is_not_shown(partly: CampaignResult) -> None:
    reading = {row["run"]: row for row in partly.to_frame("reading").iter_rows(named=True)}
    assert (reading["x"]["mean"], reading["z"]["mean"]) == (1, 0)
    assert [reading["y"][name] for name in ("tests passed", "mean", "median")] == [None] * 3


def test_a_summary_over_runs_says_of_how_many(partly: CampaignResult) -> None:
    """The means of tests a and b are those of x and z."""
    over = {row["test"]: row for row in partly.to_frame("over_test").iter_rows(named=True)}
    assert {name: (row["runs"], row["mean"]) for name, row in over.items()} == {
        "a": (2, 1 / 2),
        "b": (2, 1 / 2),
        "c": (3, 1 / 3),
    }
    tables = {table.name: table for table in all_tables(Overview(partly))}
    assert tables["over_test"].title == "Over the runs shown, by test"
    assert "are over the runs shown" in tables["tests"].reading
