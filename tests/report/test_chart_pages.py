"""Charts as pages of their own: drawn offline, with strangers' names as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from abstain.report.charts import chart, lines, write_charts
from tests.helpers import Here
from tests.report.browser import Visit
from tests.report.saved import META, write_inputs

BREAKOUT = "</script><img src=x onerror=alert(1)>"


def opened(browser: Any, file: Path) -> Visit:
    seen = Visit(browser.new_page())
    seen.page.goto(file.as_uri())
    seen.page.wait_for_selector("svg.marks")
    return seen


def test_a_name_cannot_end_the_script_it_stands_in(tmp_path: Path) -> None:
    rows = [{"x": n, "y": n, "run": BREAKOUT} for n in range(3)]
    spec = chart(BREAKOUT, rows, [lines("x", "y", colour="run")])
    write_charts({"": spec}, tmp_path / "c.html")
    text = (tmp_path / "c.html").read_text("utf-8")
    assert "<img" not in text.partition('<script type="module">')[0]
    assert "default-src 'none'" in text


def test_a_hostile_run_is_drawn_and_not_run(here: Here, browser: Any) -> None:
    write_inputs(here.folder)
    given = (here.folder / "runs.csv").read_text().replace("bold,", f"{BREAKOUT},")
    here.write("runs.csv", given)
    assert here("curve", "gold.csv", "runs.csv", "--chart", "e.html").code == 0
    seen = opened(browser, here.folder / "e.html")
    assert seen.said == []
    assert seen.asked == [(here.folder / "e.html").as_uri()]
    assert seen.page.locator("img").count() == 0
    assert BREAKOUT[:20] in seen.page.locator("svg.marks").text_content()  # a legend cuts names
    seen.page.close()


def test_charts_below_one_another_are_one_page(here: Here, browser: Any) -> None:
    write_inputs(here.folder)
    assert here("meta", "gold.csv", "runs.csv", *META, "--chart", "m.html").code == 0
    seen = opened(browser, here.folder / "m.html")
    assert seen.said == []
    drawn = seen.page.locator("svg.marks").text_content()
    assert "Stability" in drawn
    assert "Achieved significance levels" in drawn
    seen.page.close()
