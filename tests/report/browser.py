"""A real browser for the tests of pages: what a page said, what it asked for, what it shows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser")
"""The shell first: the whole browser without a window at times stops drawing frames."""
NAMED = os.environ.get("ABSTAIN_CHROMIUM") or None
CHROMIUM = next(filter(None, map(shutil.which, (NAMED,) if NAMED else NAMES)), NAMED)
"""The one that the environment names, found or not; or else the first that is installed."""
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
FRAME = """new Promise((resolve) => {
    requestAnimationFrame(() => resolve("the page draws frames"));
    setTimeout(() => resolve("the browser has stopped drawing frames"), 2000);
})"""
TO_THE_MIDDLE = """(one) => {
    const { top, height } = one.getBoundingClientRect();
    scrollBy({ top: top + (height - innerHeight) / 2, behavior: "instant" });
}"""
"""As a wheel scrolls: `scrollIntoView` also moves the place from which Tab goes on, in some."""
TRIES = 4
"""A browser on a busy machine may stop drawing frames until somebody looks at it."""
HOSTILE = "<img src=x onerror=alert(1)>"


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
        """Bring each chart into view and wait until it is drawn; what is missing is said."""
        for figure in self.page.locator("figure").all():
            for _ in range(TRIES):
                figure.evaluate(TO_THE_MIDDLE)
                try:
                    figure.locator("svg").first.wait_for(state="attached", timeout=10_000)
                    break
                except Exception:
                    self.wake()
            else:
                name = figure.get_attribute("data-chart")
                frame = self.page.evaluate(FRAME)
                raise AssertionError(f"{name} is not drawn ({frame}): {self.said}")

    def wake(self) -> None:
        """Make a busy browser draw a frame: a chart is drawn when it comes into view."""
        self.page.bring_to_front()
        self.page.screenshot(clip={"x": 0, "y": 0, "width": 1, "height": 1})


def opened_browser() -> Iterator[Any]:
    """A browser that is closed at the end; without one, the tests that ask for it are skipped."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium here (apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


def visit(browser: Any, file: Path, **more: Any) -> Visit:
    """Open a page and wait for its first table."""
    page = browser.new_page(**{"viewport": {"width": 1200, "height": 900}, **more})
    found = Visit(page)
    page.goto(file.as_uri())
    page.wait_for_selector("[data-table] tbody tr")
    return found


def serious(visited: Visit) -> list[str]:
    """What axe-core finds that is serious or critical."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(visited.page).response["violations"]
    return [
        f"{v['id']}: {v['nodes'][0]['html'][:160]}"
        for v in found
        if v["impact"] in ("serious", "critical")
    ]
