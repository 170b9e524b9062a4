"""The numbers and words of pages, where they were easy to get wrong."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest

from tests.helpers import Here
from tests.report.saved import META, write_inputs
from tests.report.test_report import cells, data_of, lead


@pytest.fixture
def inputs(here: Here) -> Here:
    write_inputs(here.folder)
    return here


def paged(here: Here, *command: str) -> str:
    """The page of what a command saves."""
    said = here(*command, "-o", "saved.json")
    assert said.code == 0, said.err
    return of_saved(here)


def of_saved(here: Here, **changed: Any) -> str:
    """The page of the saved result, with some of its fields replaced."""
    if changed:
        plain = json.loads((here.folder / "saved.json").read_text())
        here.write("saved.json", json.dumps(plain | changed))
    said = here("report", "saved.json", "-o", "saved.html")
    assert said.code == 0, said.err
    return (here.folder / "saved.html").read_text("utf-8")


def saved(here: Here, field: str) -> Any:
    return json.loads((here.folder / "saved.json").read_text())[field]


def caption(text: str, figure: str) -> str:
    found = re.search(rf'data-chart="{figure}">.*?<figcaption>(.*?)</figcaption>', text, re.S)
    assert found is not None, figure
    return unescape(found[1])


def test_a_score_below_zero_keeps_its_sign(here: Here) -> None:
    here.write("counts.csv", "run,right,wrong,unanswered\na,1,9,0\nb,2,8,0\n")
    text = paged(here, "score", "--counts", "counts.csv", "-m", "UF", "-m", "c@1")
    scores = dict(
        zip(cells(text, "rewards", "measure"), cells(text, "rewards", "score"), strict=True)
    )
    assert scores["UF"] == pytest.approx((2 - 8) / 10)
    assert scores["c@1"] == pytest.approx(0.2)
    firsts = cells(text, "rewards", "puts first")
    assert set(firsts) == {"b"}


def test_millions_are_whole_numbers(here: Here) -> None:
    counts = "run,right,wrong,unanswered\na,1234567,2345678,0\nb,2000000,1580243,2\n"
    here.write("counts.csv", counts)
    text = paged(here, "score", "--counts", "counts.csv")
    assert "2,000,000 right, 1,580,243 wrong, 2 blank" in lead(text)


def test_moves_of_millions_are_whole_numbers(inputs: Here) -> None:
    inputs.write("two.csv", "".join(_first_runs(inputs, 2)))
    paged(inputs, "compare", "gold.csv", "two.csv")
    origin = saved(inputs, "origin")
    origin["transitions"] = {
        "right → right": {"questions": 2_000_000, "worth": 0.0},
        "right → wrong": {"questions": 1_234_567, "worth": -0.1},
    }
    text = of_saved(inputs, origin=origin)
    assert caption(text, "moves").startswith("2,000,000 of 3,234,567 questions kept")


def _first_runs(here: Here, number: int) -> list[str]:
    """The lines of the first runs."""
    lines = (here.folder / "runs.csv").read_text().splitlines(keepends=True)
    return lines[: 1 + number * 60]


def test_every_measure_of_a_stability_is_on_the_page(inputs: Here) -> None:
    names = ("c@1", "accuracy", "UF", "precision", "F", "coverage")
    chosen = [part for name in names for part in ("-m", name)]
    text = paged(inputs, "meta", "gold.csv", "runs.csv", *META, *chosen)
    tables = data_of(text)["tables"]
    heads = [c["name"] for k, t in tables.items() if "stability" in k for c in t["columns"]]
    assert [head for head in heads if head.endswith(" error")] == [f"{n} error" for n in names]


def test_a_small_required_difference_is_not_rounded_away(inputs: Here) -> None:
    paged(inputs, "meta", "gold.csv", "runs.csv", *META)
    rows = saved(inputs, "sensitivity")
    row = rows[0]
    row |= {"width": 0.0005, "required": 0.0035, "sensitivity": 0.5}
    text = of_saved(inputs, sensitivity=rows)
    assert f"must differ by 0.0035 in {row['measure']}" in lead(text)
    assert f"{row['measure']} requires 0.0035" in caption(text, "chart_swap")


def test_power_that_could_not_be_tested_has_a_page(inputs: Here) -> None:
    few = ("--trials", "10", "--resamples", "10", "--draws", "shared")
    text = paged(inputs, "meta", "gold.csv", "runs.csv", *few)
    assert [row["bootstrap"] for row in saved(inputs, "power")] == [None] * 3
    assert "c@1 could not be tested" in caption(text, "chart_power")
