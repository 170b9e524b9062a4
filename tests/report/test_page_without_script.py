"""Pages without JavaScript, and what a phone shows: no name is broken, nothing must be scrolled."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

import pytest

from abstain.cli import run
from tests.campaign.messy import Messy
from tests.report.browser import visit

pytestmark = pytest.mark.slow

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}
FIRST = ["#", "run", "c@1", "outcomes"]


@pytest.fixture(scope="module")
def messy(tmp_path_factory: pytest.TempPathFactory) -> Messy:
    made = Messy(tmp_path_factory.mktemp("plain"))
    made.write("kiloteam/reconstructed_baseline_with_retrieval", made.answers(0.5))
    assert run(made.asked("--reveal")) == 1
    return made


@pytest.fixture(params=[True, False], ids=["script", "no script"])
def seen(request: pytest.FixtureRequest, browser: Any, messy: Messy) -> Iterator[Any]:
    opened = visit(
        browser,
        messy.here / "out" / "index.html",
        viewport=PHONE,
        java_script_enabled=request.param,
    )
    yield opened.page
    opened.page.close()


def board(messy: Messy) -> list[dict[str, str]]:
    path = messy.here / "out" / "tables" / "leaderboard.csv"
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_table_is_there_without_a_script(browser: Any, messy: Messy) -> None:
    """Rows and numbers as in the files; what needs the script is not shown."""
    opened = visit(
        browser, messy.here / "out" / "index.html", viewport=DESK, java_script_enabled=False
    )
    page = opened.page
    for host in page.locator("[data-table]").all():
        name = host.get_attribute("data-table")
        file = messy.here / "out" / "tables" / f"{name}.csv"
        if not file.exists():  # it is of the page alone
            assert host.locator("tbody tr").count() > 0
            continue
        rows = list(csv.reader(file.read_text("utf-8").splitlines()))
        assert host.locator("tbody tr").count() == len(rows) - 1, name
    shown = page.locator("[data-table=leaderboard] tbody tr").all_inner_texts()
    for row, text in zip(board(messy), shown, strict=True):
        words = text.split()
        assert {row["run"], f"{float(row['c@1']):.2f}", row["right"]} <= {*words}
    bars = page.locator("[data-table=leaderboard] .bar").all()
    first = board(messy)[0]
    share = 100 * int(first["right"]) / 60
    assert bars[0].get_attribute("aria-label").startswith(f"{share:.1f} % right")
    assert page.locator("button:visible, select:visible, figure .holder:visible").count() == 0
    assert page.locator("figcaption:visible").count() == page.locator("figure").count() > 0
    page.locator("summary").first.click()
    assert page.locator("details[open]").count() == 1
    page.close()


def test_a_phone_shows_rank_run_score_and_outcomes(seen: Any, messy: Messy) -> None:
    frame = seen.locator("[data-table=leaderboard] .scroll")
    edge = frame.bounding_box()
    heads = frame.locator("thead th")
    assert [head.strip() for head in heads.all_inner_texts()[:4]] == FIRST
    for row in frame.locator("tbody tr").all():
        last = row.locator(":scope > *").nth(3).bounding_box()
        assert last["x"] + last["width"] <= edge["x"] + edge["width"] + 0.5
    width = seen.locator("html").bounding_box()["width"]
    assert width <= PHONE["width"]
    assert frame.locator("tbody tr").count() == len(board(messy))


def test_no_name_is_broken_inside_of_a_word(seen: Any) -> None:
    """A name in several lines has one more than it needs; each part has a line to itself."""
    for name in seen.locator("[data-table=leaderboard] .name").all():
        text = name.inner_text()
        parts = name.locator("wbr").count() + 1
        box, style = name.bounding_box(), 1.55 * 14
        lines = round(box["height"] / style)
        assert lines <= parts, text
        if parts == 1:
            assert lines == 1, text
    long = seen.locator("[data-table=leaderboard] .name", has_text="reconstructed")
    assert long.inner_text() == "kiloteam/reconstructed_baseline_with_retrieval".partition("/")[2]
    assert long.locator("wbr").count() == 3


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_a_teams_page_opens_with_rank_and_score(
    browser: Any, messy: Messy, size: dict[str, int], script: bool
) -> None:
    file = messy.here / "teams" / "alfateam" / "index.html"
    opened = visit(browser, file, viewport=size, java_script_enabled=script)
    tiles = opened.page.locator(".tiles dd")
    assert tiles.all_inner_texts() == ["1=", f"{messy.c_at_1('alfateam/run1'):.2f}"]
    for tile in tiles.all():
        box = tile.bounding_box()
        assert box["y"] + box["height"] <= size["height"]
    opened.page.close()


def test_the_script_takes_the_place_of_the_plain_table(browser: Any, messy: Messy) -> None:
    opened = visit(browser, messy.here / "out" / "index.html", viewport=DESK)
    page = opened.page
    assert page.locator("table.plain").count() == page.locator("details table.plain").count()
    page.locator("summary", has_text="best run of each team").click()
    page.locator("[data-table=teams] .pager").wait_for()
    assert page.locator("[data-table=teams] table.plain").count() == 0
    assert page.locator("[data-table=leaderboard] [role=status]").last.inner_text() == "9 rows"
    assert opened.said == []
    page.close()
