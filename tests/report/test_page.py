"""The page of a campaign in a real browser: no error, no network, everything within reach."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from abstain.campaign import run_campaign
from abstain.campaign.write import write_campaign
from tests.campaign.slow import make

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
HOSTILE = "<img src=x onerror=alert(1)>"

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no chromium here (apt-get install chromium)"
)


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


class Visit:
    """An opened page with what it said and asked for."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("dialog", lambda dialog: self.said.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: self.asked.append(request.url))

    def column(self, name: str, table: str = "leaderboard") -> list[str]:
        index = self.page.eval_on_selector_all(
            f"[data-table={table}] thead th", "(all) => all.map((n) => n.innerText.trim())"
        ).index(name)
        found: list[str] = self.page.eval_on_selector_all(
            f"[data-table={table}] tbody tr",
            "(rows, i) => rows.map((row) => row.children[i].innerText)",
            index,
        )
        return found

    def draw_everything(self) -> None:
        height = self.page.evaluate("document.documentElement.scrollHeight")
        for y in range(0, height, 500):
            self.page.evaluate(f"window.scrollTo(0, {y})")
            self.page.wait_for_timeout(30)
        self.page.wait_for_function(
            "[...document.querySelectorAll('figure')].every((f) => f.querySelector('svg'))"
        )


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield opened
        opened.close()


def visit(browser: Any, file: Path, **more: Any) -> Visit:
    page = browser.new_page(**{"viewport": {"width": 1200, "height": 900}, **more})
    found = Visit(page)
    page.goto(file.as_uri())
    page.wait_for_selector("[data-table=leaderboard] tbody tr")
    return found


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
