"""The page of a campaign in a real browser: no error, no network, everything within reach."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from abstain.campaign import run_campaign
from abstain.campaign.write import write_campaign
from tests.campaign.slow import make
from tests.report.browser import HOSTILE, needs_chromium, visit

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    make(folder, seed=11, runs=30)
    for name in ("gold.csv", "runs.csv"):
        text = (folder / name).read_text().replace("Alpha", HOSTILE).replace("teama13", HOSTILE)
        (folder / name).write_text(text)
    c = run_campaign(folder / "gold.csv", folder / "runs.csv")
    write_campaign(c, folder / "out", title=f"Trial {HOSTILE}")
    return folder / "out" / "index.html"


def test_charts_are_drawn_without_error_and_without_the_network(
    browser: Any, page_file: Path
) -> None:
    seen = visit(browser, page_file)
    seen.draw_everything()
    assert seen.said == []
    assert seen.asked == [page_file.as_uri()]
    assert seen.page.locator("figure svg").count() == seen.page.locator("figure").count() >= 5


def test_names_stay_text(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file)
    seen.draw_everything()
    assert seen.page.locator("img").count() == 0
    assert any(HOSTILE in name for name in seen.column("run"))
    assert HOSTILE in seen.page.title()


def test_a_heading_sorts_by_its_column(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file)
    button = seen.page.locator("[data-table=leaderboard] thead button", has_text="wrong").nth(0)
    button.click()
    falling = [float(text.replace(",", "")) for text in seen.column("wrong")]
    assert falling == sorted(falling, reverse=True)
    assert len(set(falling)) > 3
    button.click()
    rising = [float(text.replace(",", "")) for text in seen.column("wrong")]
    assert rising == sorted(rising)
    head = seen.page.locator("[data-table=leaderboard] th[aria-sort]")
    assert head.get_attribute("aria-sort") == "ascending"


def test_finding_and_filtering_leave_what_fits(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file)
    everything = seen.column("run")
    seen.page.locator("[data-table=leaderboard] input").fill("teamb")
    found = seen.column("run")
    assert 0 < len(found) < len(everything)
    assert all("teamb" in name for name in found)
    seen.page.locator("[data-table=leaderboard] input").fill("")
    seen.page.locator("[data-table=leaderboard] select").first.select_option("teamc")
    assert {name[:5] for name in seen.column("run")} == {"teamc"}


def test_the_keyboard_alone_sorts(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file)
    seen.page.locator("[data-table=leaderboard] thead button").first.focus()
    for _ in range(12):
        if seen.page.evaluate("document.activeElement.innerText") == "right":
            break
        seen.page.keyboard.press("Tab")
    seen.page.keyboard.press("Enter")
    values = [float(text.replace(",", "")) for text in seen.column("right")]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_nothing_spills_over_the_side(
    browser: Any, page_file: Path, scheme: str, width: int
) -> None:
    seen = visit(browser, page_file, viewport={"width": width, "height": 800}, color_scheme=scheme)
    seen.draw_everything()
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert seen.said == []


def test_paper_shows_every_folded_table(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file)
    seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    seen.page.wait_for_function(
        "[...document.querySelectorAll('[data-table]')].every((t) => t.querySelector('tbody tr'))"
    )
    pdf = seen.page.pdf()
    assert pdf.startswith(b"%PDF")
    assert len(pdf) > 20_000
