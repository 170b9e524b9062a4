"""The order of rows on a page, in a real browser."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.campaign.slow import make
from tests.helpers import Here
from tests.report.browser import visit
from tests.report.saved import META, write_inputs


@pytest.mark.parametrize(
    ("measure", "falling"), [("over-abstention", False), ("forced-accuracy", True), ("c@1", True)]
)
def test_a_slice_has_its_best_run_on_top(
    here: Here, browser: Any, measure: str, falling: bool
) -> None:
    make(here.folder, seed=4, runs=6)
    assert here("campaign", "gold.csv", "runs.csv", "-o", "out", "-m", measure).code == 0
    seen = visit(browser, here.folder / "out" / "index.html")
    seen.page.locator("[data-table=leaderboard] [data-slice]").select_option(label="Beta")
    heads = seen.page.locator("[data-table=leaderboard] thead th").all_inner_texts()
    assert heads[:4] == ["#", "run", measure, "outcomes"]
    scores = [float(text) for text in seen.column(measure) if text != "–"]
    assert scores == sorted(scores, reverse=falling)
    assert len(set(scores)) > 2
    assert next(place for place in seen.column("#") if place) in ("1", "1=")
    seen.page.close()


@pytest.mark.parametrize("runs", [3, 25])
def test_ranks_stand_at_whole_numbers(here: Here, browser: Any, runs: int) -> None:
    """A label that is rounded would stand twice."""
    make(here.folder, seed=4, runs=runs)
    assert here("campaign", "gold.csv", "runs.csv", "-o", "out").code == 0
    seen = visit(browser, here.folder / "out" / "index.html")
    chart = seen.page.locator("[data-chart=ranks]")
    chart.scroll_into_view_if_needed()
    chart.locator("svg").wait_for()
    texts = chart.locator(".role-axis-label text").all_text_contents()
    labels = [int(text) for text in texts if text.isdigit()]
    assert len(labels) >= 3
    assert labels == sorted(set(labels))
    seen.page.close()


def test_numbers_in_text_are_ordered_as_numbers(here: Here, browser: Any) -> None:
    here.write("gold.csv", "question,correct\n" + "".join(f"q{n},A\n" for n in range(4)))
    sure = ("0.9", "0.85", "0.1", "")
    rows = [f"q{n},A,{own}\n" for n, own in enumerate(sure)]
    here.write("run.csv", "".join(["question,answer,confidence\n", *rows]))
    assert here("curve", "gold.csv", "run.csv", "-o", "c.html").code == 0
    seen = visit(browser, here.folder / "c.html")
    seen.page.locator("details:has([data-table=risk_points]) > summary").click()
    seen.page.locator("[data-table=risk_points] thead button", has_text="threshold").click()
    ordered = seen.column("threshold", "risk_points")
    assert ordered[:3] == ["0.1", "0.85", "0.9"]
    assert {word[:4] for word in ordered[3:]} == {"none", "noth"}
    seen.page.close()


def test_small_differences_are_ordered_among_large_ones(here: Here, browser: Any) -> None:
    write_inputs(here.folder)
    assert here("meta", "gold.csv", "runs.csv", *META, "-o", "m.json").code == 0
    plain = json.loads((here.folder / "m.json").read_text())
    for row, value in zip(plain["power"], (0.03, 0.0005, 0.2), strict=True):
        row["honest_difference"] = value
    here.write("m.json", json.dumps(plain))
    assert here("report", "m.json").code == 0
    seen = visit(browser, here.folder / "m.html")
    head = "honest difference"
    seen.page.locator("[data-table=table-4] thead button", has_text=head).click()
    assert [float(text) for text in seen.column(head, "table-4")] == [0.2, 0.03, 0.0005]
    seen.page.close()
