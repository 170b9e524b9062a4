"""What a page shows at first sight, on a desk and on a phone, and what a pointer finds on it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

import abstain as ab
from abstain.cli import run
from abstain.features.campaign.view import write_campaign
from tests.campaign.slow import make
from tests.report.browser import HOSTILE, visit
from tests.report.saved import save, write_inputs
from tests.snapshots import says

PHONE = {"width": 360, "height": 740}
DESK = {"width": 1280, "height": 900}
ESSENTIAL = ("#", "run", "c@1", "outcomes", "low", "high", "right", "wrong", "blank")


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("look")
    make(folder, seed=11, runs=30)
    for name in ("gold.csv", "runs.csv"):
        text = (folder / name).read_text().replace("teama13", HOSTILE)
        (folder / name).write_text(text)
    write_campaign(ab.campaign(folder / "gold.csv", folder / "runs.csv"), folder / "out")
    return folder / "out" / "index.html"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("looks")
    write_inputs(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in ("curve", "meta"):
            assert run(["report", str(save(folder, name)), "-o", f"{name}.html"]) == 0
    return {name: folder / f"{name}.html" for name in ("curve", "meta")}


def in_sight(seen: Any) -> list[str]:
    """The columns of the leaderboard that lie whole within its frame, unscrolled."""
    found: list[str] = seen.page.evaluate(
        """() => {
          const frame = document.querySelector("[data-table=leaderboard] .scroll");
          const edge = frame.getBoundingClientRect().right;
          return [...frame.querySelectorAll("thead th")]
            .filter((head) => head.checkVisibility() && head.getBoundingClientRect().right <= edge)
            .map((head) => head.innerText.trim());
        }"""
    )
    return found


def test_a_phone_shows_score_and_outcomes_whole(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file, viewport=PHONE)
    assert in_sight(seen)[:4] == ["#", "run", "c@1", "outcomes"]
    assert seen.page.locator("[data-table=leaderboard] .hint").is_visible()
    seen.page.close()


def test_a_desk_shows_what_is_essential_and_the_rest_when_asked(
    browser: Any, page_file: Path
) -> None:
    seen = visit(browser, page_file, viewport=DESK)
    first = in_sight(seen)
    assert set(ESSENTIAL) <= set(first)
    assert "forced-accuracy" not in first
    assert not seen.page.locator("[data-table=leaderboard] .hint").is_visible()
    switch = seen.page.locator("[data-table=leaderboard] .switch", has_text="columns")
    switch.focus()
    seen.page.keyboard.press("Enter")
    assert switch.get_attribute("aria-pressed") == "true"
    heads = seen.page.locator("[data-table=leaderboard] thead th:visible").all_inner_texts()
    assert "forced-accuracy" in [head.strip() for head in heads]
    seen.page.close()


def test_headings_say_what_they_mean_to_a_pointer_and_to_a_finger(
    browser: Any, page_file: Path
) -> None:
    seen = visit(browser, page_file, viewport=PHONE)
    group = seen.page.locator("[data-table=leaderboard] thead button", has_text="group")
    meaning = group.get_attribute("title")
    assert "told apart" in meaning
    legend = seen.page.locator("[data-table=leaderboard] + .legend")
    assert legend.is_visible()
    assert f"group: {meaning}" in legend.inner_text().replace("group ", "group: ").splitlines()
    seen.page.close()


def test_only_the_page_scrolls_down(browser: Any, page_file: Path) -> None:
    for viewport in (DESK, PHONE):
        seen = visit(browser, page_file, viewport=viewport)
        inner = seen.page.eval_on_selector_all(
            ".scroll", "(all) => all.map((n) => n.scrollHeight - n.clientHeight)"
        )
        assert max(inner) <= 20  # the bar that scrolls sideways
        seen.page.close()


def test_the_count_of_rows_is_said_and_all_can_be_shown(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file)
    with (page_file.parent / "tables" / "leaderboard.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    said = seen.page.locator("[data-table=leaderboard] [role=status]").last
    says(said.inner_text(), "1", "25", f"{len(rows)}")
    seen.page.locator("[data-table=leaderboard] .pager button", has_text="Show all").click()
    assert len(seen.column("run")) == len(rows)
    assert said.inner_text() == f"{len(rows)} rows"
    seen.page.locator("[data-table=leaderboard] input").fill("no run is called this")
    assert said.inner_text() == "0 rows"
    assert "No row fits." in seen.page.locator("[data-table=leaderboard] tbody").inner_text()
    seen.page.close()


def test_a_slice_says_what_it_is_and_is_saved_with_its_name(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file, viewport=DESK)
    seen.page.locator("[data-table=leaderboard] [data-slice]").select_option(label="Beta")
    assert "low" not in in_sight(seen)
    note = seen.page.locator("[data-table=leaderboard] .note").inner_text()
    says(note)
    assert "low, high" in note
    with seen.page.expect_download() as saved:
        seen.page.locator("[data-table=leaderboard] .pager button", has_text="CSV").click()
    assert saved.value.suggested_filename == "leaderboard-topic-beta.csv"
    rows = list(csv.DictReader(Path(saved.value.path()).read_text("utf-8").splitlines()))
    assert {row["topic"] for row in rows} == {"Beta"}
    assert "low" not in rows[0]
    seen.page.close()


def tooltip_near(seen: Any, chart: str) -> str:
    """What a pointer finds in the middle of a chart."""
    figure = seen.page.locator(f"[data-chart={chart}]")
    figure.scroll_into_view_if_needed()
    figure.locator("svg").wait_for()
    box = figure.locator(".mark-line path").first.bounding_box()
    x, y = box["x"] + box["width"] * 0.45, box["y"] + box["height"] * 0.5
    seen.page.mouse.move(x - 4, y)
    seen.page.mouse.move(x, y)
    tip = seen.page.locator("#vg-tooltip-element.visible")
    tip.wait_for(timeout=3000)
    found: str = tip.inner_text()
    return found


@pytest.mark.parametrize(
    ("page", "chart", "says"),
    [
        ("campaign", "decision", ("run", "t:", "S(t)")),
        ("curve", "risk", ("run", "answered", "wrong")),
        ("curve", "along", ("run", "answered", "c@1")),
        ("meta", "stability", ("measure", "ties", "error")),
        ("meta", "swap", ("measure", "difference", "swap rate")),
    ],
)
def test_lines_answer_a_pointer_near_them(
    browser: Any, page_file: Path, results: dict[str, Path], page: str, chart: str, says: Any
) -> None:
    file = page_file if page == "campaign" else results[page]
    seen = visit(browser, file, viewport=DESK, color_scheme="dark")
    words = tooltip_near(seen, chart).split()
    assert set(" ".join(says).split()) <= set(words)
    assert "undefined" not in words
    assert all(len(word) <= 8 for word in words if word.replace(".", "").isdigit())
    background = seen.page.eval_on_selector(
        "#vg-tooltip-element", "(n) => getComputedStyle(n).backgroundColor"
    )
    assert background == "rgb(25, 31, 38)"  # the card's own, in the dark
    assert seen.said == []
    seen.page.close()


def test_a_saved_picture_has_no_points_that_only_a_pointer_needs(
    browser: Any, page_file: Path
) -> None:
    seen = visit(browser, page_file)
    seen.draw_everything()
    figure = seen.page.locator("[data-chart=decision]")
    assert figure.locator("svg .mark-symbol[class*=nearest], svg g[class*=nearest]").count() > 0
    with seen.page.expect_download() as saved:
        figure.locator("[data-save=svg]").click()
    assert "nearest" not in Path(saved.value.path()).read_text("utf-8")
    seen.page.close()


def test_the_campaign_draws_intervals(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file)
    seen.draw_everything()
    figure = seen.page.locator("[data-chart=scores]")
    assert figure.locator(".role-mark.mark-rule line").count() == 30
    assert figure.locator(".role-mark.mark-symbol path").count() == 30
    seen.page.close()


def test_titles_have_no_place_left_to_fill(browser: Any, results: dict[str, Path]) -> None:
    seen = visit(browser, results["curve"])
    titles = seen.page.locator("summary, h2, h3").all_inner_texts()
    assert "c@1 and coverage: the points" in titles
    assert not any("{" in title for title in titles)
    seen.page.close()


def test_paper_has_only_open_tables_and_no_buttons(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file, color_scheme="dark")
    seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    seen.page.emulate_media(media="print")
    summaries = seen.page.locator("details > summary").all()
    assert len(summaries) > 5
    for summary in summaries:
        opened = summary.evaluate("(own) => own.parentElement.open")
        assert summary.is_visible() == opened, summary.inner_text()
    assert seen.page.locator("button:visible:not(thead button)").count() == 0
    assert not seen.page.get_by_text("Click a heading to sort by its column").is_visible()
    link = seen.page.eval_on_selector("a[href]", "(n) => getComputedStyle(n).color")
    assert link == "rgb(11, 74, 138)"
    seen.page.close()
