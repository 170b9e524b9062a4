"""The page of a campaign in a real browser: no error, no network, everything within reach."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from abstain.campaign import run_campaign
from abstain.report.campaign_folder import write_campaign
from tests.campaign.slow import make
from tests.report.browser import HOSTILE, needs_chromium, serious, visit

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


def test_a_tooltip_shows_a_name_as_text(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file)
    seen.draw_everything()
    chart = seen.page.locator("[data-chart=topics]")
    chart.scroll_into_view_if_needed()
    shown: set[str] = set()
    for dot in chart.locator(".mark-symbol path").all():
        dot.hover(force=True)
        shown.add(seen.page.locator("#vg-tooltip-element").inner_text())
        if any(HOSTILE in text for text in shown):
            break
    assert any(HOSTILE in text for text in shown)
    assert seen.page.locator("img").count() == 0
    assert seen.said == []


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


def test_a_slice_shows_the_leaderboard_of_its_questions(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file)
    seen.page.locator("[data-table=leaderboard] [data-slice]").select_option(label="Beta")
    folder = page_file.parent / "tables"
    with (folder / "topics.csv").open(newline="") as file:
        own = {row["run"]: float(row["Beta"]) for row in csv.DictReader(file)}
    runs, scores = seen.column("run"), [float(text) for text in seen.column("c@1")]
    assert scores == sorted(scores, reverse=True)
    for run, score in zip(runs, scores, strict=True):
        name = run if run in own else f"'{run}"
        assert score == pytest.approx(own[name], abs=0.0051)
    right = [float(text) for text in seen.column("right")]
    assert max(right) <= 27  # three of the six tests, nine questions each
    assert set(seen.column("low")) == {"–"}
    seen.page.locator("[data-table=leaderboard] [data-slice]").select_option("")
    assert set(seen.column("low")) != {"–"}


def test_the_keyboard_alone_reaches_everything(browser: Any, page_file: Path) -> None:
    """Tab visits every link, field, button, fold and table that a mouse could use, in order."""
    seen = visit(browser, page_file)
    seen.draw_everything()
    seen.page.evaluate("scrollTo(0, 0)")
    expected = seen.page.evaluate(
        """() => {
          const all = [...document.querySelectorAll(
            "a[href], button, input, select, summary, [tabindex='0']")];
          const live = all.filter((n) => !n.disabled && n.checkVisibility());
          live.forEach((n, i) => { n.dataset.stop = i; });
          return live.length;
        }"""
    )
    reached: list[str] = []
    for _ in range(expected + 20):  # a browser also stops at what scrolls
        seen.page.keyboard.press("Tab")
        stop = seen.page.evaluate("document.activeElement.dataset.stop ?? ''")
        if stop:
            reached.append(stop)
        if len(reached) == expected:
            break
    assert reached == [str(n) for n in range(expected)]
    assert expected > 100
    shown = seen.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert shown == "solid"


def test_the_keyboard_alone_sorts_filters_and_unfolds(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file)
    seen.page.locator("[data-table=leaderboard] thead button").first.focus()
    for _ in range(12):
        if seen.page.evaluate("document.activeElement.innerText") == "right":
            break
        seen.page.keyboard.press("Tab")
    seen.page.keyboard.press("Enter")
    values = [float(text.replace(",", "")) for text in seen.column("right")]
    assert values == sorted(values, reverse=True)
    seen.page.locator("[data-table=leaderboard] select").first.focus()
    seen.page.keyboard.press("ArrowDown")
    assert len(seen.column("run")) < len(values)
    fold = seen.page.locator("#reading details").first
    fold.locator("summary").focus()
    seen.page.keyboard.press("Enter")
    fold.locator("tbody tr").first.wait_for()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 1200), ("light", 360)])
def test_axe_finds_nothing_serious(browser: Any, page_file: Path, scheme: str, width: int) -> None:
    seen = visit(browser, page_file, viewport={"width": width, "height": 900}, color_scheme=scheme)
    seen.draw_everything()
    for fold in seen.page.locator("details").all():
        fold.locator("summary").click()
    assert serious(seen) == []


def test_axe_would_have_found_something(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file)
    seen.page.evaluate(
        "document.querySelector('select').parentElement.replaceWith(document.querySelector('select'))"
    )
    assert any(line.startswith("select-name") for line in serious(seen))


def test_charts_are_saved_as_pictures_and_as_data(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file, color_scheme="dark")
    seen.draw_everything()
    figure = seen.page.locator("[data-chart=decision]")
    with seen.page.expect_download() as saved:
        figure.locator("[data-save=svg]").click()
    picture = Path(saved.value.path()).read_text("utf-8")
    assert saved.value.suggested_filename == "decision.svg"
    assert picture.startswith("<svg")
    assert 'fill="white"' in picture  # on paper, whatever the screen looks like
    with seen.page.expect_download() as saved:
        figure.locator("[data-save=csv]").click()
    rows = list(csv.DictReader(Path(saved.value.path()).read_text("utf-8").splitlines()))
    assert {"t", "S", "run"} <= set(rows[0])
    assert any(row["run"] == "answering nothing" for row in rows)
    assert (
        seen.page.locator("figure svg[aria-label]").count() == seen.page.locator("figure").count()
    )


def test_a_table_is_saved_as_it_is_filtered(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file)
    seen.page.locator("[data-table=leaderboard] input").fill("teamb")
    with seen.page.expect_download() as saved:
        seen.page.locator("[data-table=leaderboard] .pager button", has_text="CSV").click()
    rows = list(csv.DictReader(Path(saved.value.path()).read_text("utf-8").splitlines()))
    assert [row["run"] for row in rows] == seen.column("run")


def test_questions_show_their_options_and_what_was_chosen(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file)
    decks = seen.page.locator("#questions .deck")
    assert decks.count() == 3
    with (page_file.parent / "tables" / "questions.csv").open(newline="") as file:
        table = {row["question"]: row for row in csv.DictReader(file)}
    fewest = min(int(row["right"]) for row in table.values())
    most = max(int(row["right"]) for row in table.values())
    blanks = max(int(row["blank"]) for row in table.values())
    for deck, (column, value) in zip(
        decks.all(), (("right", fewest), ("right", most), ("blank", blanks)), strict=True
    ):
        card = deck.locator(".card").first
        row = table[card.locator("h4").inner_text()]
        assert int(row[column]) == value
        counts = [int(text) for text in card.locator(".count").all_inner_texts()]
        assert len(counts) == 5
        assert sum(counts) == int(row["right"]) + int(row["wrong"])
        right = card.locator("li.ok")
        assert right.locator(".what").inner_text().split()[0] == row["correct"]
        assert int(right.locator(".count").inner_text()) == int(row["right"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_nothing_spills_over_the_side(
    browser: Any, page_file: Path, scheme: str, width: int
) -> None:
    seen = visit(browser, page_file, viewport={"width": width, "height": 800}, color_scheme=scheme)
    seen.draw_everything()
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert seen.said == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_paper_shows_every_folded_table_in_ink(browser: Any, page_file: Path, scheme: str) -> None:
    seen = visit(browser, page_file, color_scheme=scheme)
    seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    seen.page.wait_for_function(
        "[...document.querySelectorAll('[data-table]')].every((t) => t.querySelector('tbody tr'))"
    )
    pdf = seen.page.pdf()
    assert pdf.startswith(b"%PDF")
    assert len(pdf) > 20_000
    seen.page.emulate_media(media="print")
    ink = seen.page.evaluate("getComputedStyle(document.body).color")
    assert ink == "rgb(0, 0, 0)"
    assert not seen.page.locator("nav").is_visible()
    assert not seen.page.locator(".tools").first.is_visible()


def test_nothing_moves_after_the_page_stands(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file)
    seen.page.evaluate(
        """() => { window.moved = 0; new PerformanceObserver((list) => {
          for (const e of list.getEntries()) if (!e.hadRecentInput) window.moved += e.value;
        }).observe({ type: "layout-shift", buffered: true }); }"""
    )
    seen.draw_everything()
    assert seen.page.evaluate("window.moved") < 0.1  # what web.dev calls good
