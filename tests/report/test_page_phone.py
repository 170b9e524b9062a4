"""A page on a phone: what is in sight, what a finger reaches, and drawings that go wrong."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

import abstain as ab
from abstain.cli import run
from abstain.features.campaign.view import write_campaign
from tests.campaign.slow import make
from tests.report.browser import visit
from tests.report.saved import save, write_inputs

PHONE = {"width": 360, "height": 740}
FINGER = 24
"""Pixels that a target needs at least (WCAG 2.2, 2.5.8)."""


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("phone")
    make(folder, seed=11, runs=30, tests=12, size=6)
    write_campaign(ab.campaign(folder / "gold.csv", folder / "runs.csv"), folder / "out")
    return folder / "out" / "index.html"


@pytest.fixture(scope="module")
def sliced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sliced")
    write_inputs(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run(["report", str(save(folder, "sliced")), "-o", "sliced.html"]) == 0
    return folder / "sliced.html"


def heat_map(seen: Any) -> Any:
    figure = seen.page.locator("[data-chart=tests]")
    figure.scroll_into_view_if_needed()
    figure.locator("svg[role=img]").wait_for()
    return figure


def test_the_cells_of_a_heat_map_are_as_large_as_a_finger(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file, viewport=PHONE)
    figure = heat_map(seen)
    cell = figure.locator(".mark-rect.role-mark path").first.bounding_box()
    assert cell["width"] >= FINGER
    assert cell["height"] >= 20
    assert figure.locator(".hint").is_visible()
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    seen.page.close()


def test_a_heat_map_that_has_room_does_not_scroll(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file)
    figure = heat_map(seen)
    assert not figure.locator(".hint").is_visible()
    assert figure.locator(".kept").count() == 0
    seen.page.close()


def test_names_stay_in_sight_where_cells_scroll(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file, viewport=PHONE)
    figure = heat_map(seen)
    names = figure.locator(".kept text").all_text_contents()
    with (page_file.parent / "tables" / "leaderboard.csv").open(newline="") as file:
        assert names == [row["run"] for row in csv.DictReader(file) if row["#"]]
    before = figure.locator(".kept svg").bounding_box()
    figure.locator(".plot").evaluate("(plot) => { plot.scrollLeft = plot.scrollWidth }")
    seen.page.wait_for_function(
        "() => !document.querySelector('[data-chart=tests] .holder').classList.contains('further')"
    )
    assert figure.locator(".kept svg").bounding_box() == before
    last = figure.locator(".mark-rect.role-mark path").last.bounding_box()
    assert last["x"] + last["width"] <= PHONE["width"]
    seen.page.close()


def test_a_tap_says_what_a_pointer_would(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file, viewport=PHONE, has_touch=True)
    with (page_file.parent / "tables" / "tests.csv").open(newline="") as file:
        best = next(csv.DictReader(file))
    heat_map(seen).locator(".mark-rect.role-mark path").first.tap(force=True)
    tip = seen.page.locator("#vg-tooltip-element.visible")
    tip.wait_for()
    words = tip.inner_text().split()
    test = words[words.index("test") + 1]
    assert words[words.index("run") + 1] == best["run"]
    assert float(words[words.index("c@1") + 1]) == pytest.approx(float(best[test]), abs=5.1e-5)
    seen.page.locator("#reading h2").tap()
    tip.wait_for(state="hidden")
    seen.page.close()


def test_a_sliced_table_shows_its_bars_and_each_rows_slice(browser: Any, sliced: Path) -> None:
    seen = visit(browser, sliced, viewport=PHONE)
    frame = seen.page.locator("[data-table=runs] .scroll").bounding_box()
    bar = seen.page.locator("[data-table=runs] .bar").first.bounding_box()
    assert bar["x"] + bar["width"] <= frame["x"] + frame["width"]
    first = seen.page.locator("[data-table=runs] tbody tr").first
    assert first.locator("th .beneath").inner_text() == first.locator("td.apart").text_content()
    assert not first.locator("td.apart").is_visible()
    seen.page.set_viewport_size({"width": 1200, "height": 900})
    assert first.locator("td.apart").is_visible()
    assert not first.locator("th .beneath").is_visible()
    seen.page.close()


def test_a_drawing_that_fails_does_not_stop_the_next(browser: Any, page_file: Path) -> None:
    """The console hears of it, and the chart is drawn again when the light changes."""
    seen = visit(browser, page_file)
    figure = heat_map(seen)
    seen.page.evaluate(
        """() => {
          const real = window.vegaEmbed;
          window.vegaEmbed = async () => { throw new Error("no ink"); };
          window.mend = () => { window.vegaEmbed = real; };
        }"""
    )
    with seen.page.expect_console_message(lambda said: "The chart tests" in said.text) as heard:
        seen.page.emulate_media(color_scheme="dark")
    assert heard.value.type == "error"
    assert "no ink" in heard.value.text
    figure.locator("svg[role=img]").evaluate("(old) => { old.dataset.old = ''; mend(); }")
    seen.page.emulate_media(color_scheme="light")
    figure.locator("svg[role=img]:not([data-old])").wait_for()
    seen.page.close()
