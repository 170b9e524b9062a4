"""The page of a campaign in a real browser: no error, no network, everything within reach."""

from __future__ import annotations

import csv
import re
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import abstain as ab
from abstain.features.campaign.view import write_campaign
from tests.campaign.slow import make
from tests.report.browser import HOSTILE, serious, visit


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    make(folder, seed=11, runs=30)
    for name in ("gold.csv", "runs.csv"):
        text = (folder / name).read_text().replace("Alpha", HOSTILE).replace("teama13", HOSTILE)
        (folder / name).write_text(text)
    c = ab.campaign(folder / "gold.csv", folder / "runs.csv", title=f"Trial {HOSTILE}")
    write_campaign(c, folder / "out")
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


@pytest.mark.parametrize(("scheme", "width"), [("dark", 1200), ("light", 360)])
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
def test_paper_is_in_ink_and_opens_no_table(browser: Any, page_file: Path, scheme: str) -> None:
    seen = visit(browser, page_file, color_scheme=scheme)
    seen.page.locator("details:has([data-table]) > summary").first.click()
    seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    seen.page.emulate_media(media="print")
    open_ones = seen.page.locator("details[open]:has([data-table])")
    assert open_ones.count() == 1
    assert open_ones.locator("tbody tr").first.is_visible()
    assert seen.page.locator("details:not([open])").count() > 3
    ink = seen.page.evaluate("getComputedStyle(document.body).color")
    assert ink == "rgb(0, 0, 0)"
    assert not seen.page.locator("nav").is_visible()
    assert not seen.page.locator(".tools").first.is_visible()


def curves_in(pdf: bytes) -> int:
    """Bézier curves that the pages of a PDF draw: of dots and of rounded corners."""
    parts = []
    for start in re.finditer(rb"stream\r?\n", pdf):
        with suppress(zlib.error):
            parts.append(zlib.decompressobj().decompress(pdf[start.end() :]))
    return len(re.findall(rb"\sc\n", b"".join(parts)))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_that_nobody_scrolled_to_are_on_paper(
    browser: Any, page_file: Path, scheme: str
) -> None:
    seen = visit(browser, page_file, color_scheme=scheme)
    seen.page.evaluate(
        """() => addEventListener("beforeprint", () => {
          const count = (what) => document.querySelectorAll(what).length;
          window.printed = {
            figures: count("figure"), charts: count("figure svg"),
            dots: count("figure .mark-symbol path"), light: count("figure text[fill='#c9d1da']") };
        })"""
    )
    assert seen.page.locator("figure svg").count() < seen.page.locator("figure").count()
    whole = curves_in(seen.page.pdf())
    printed = seen.page.evaluate("window.printed")
    assert printed["charts"] == printed["figures"] > 4
    assert printed["dots"] > 100
    assert printed["light"] == 0
    seen.page.evaluate("document.querySelectorAll('figure').forEach((n) => n.remove())")
    assert whole - curves_in(seen.page.pdf()) >= 2 * printed["dots"]  # a dot is two arcs or more
    assert seen.said == []


def test_after_printing_the_screen_is_as_it_was(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file, color_scheme="dark")
    seen.draw_everything()
    seen.page.locator("#reading details summary").first.click()
    look = """() => JSON.stringify({
      open: [...document.querySelectorAll("details")].map((fold) => fold.open),
      rows: [...document.querySelectorAll("[data-table=leaderboard] tbody tr")].length,
      ink: [...document.querySelectorAll("figure text")].map((n) => n.getAttribute("fill")) })"""
    before = seen.page.evaluate(look)
    assert "#c9d1da" in before
    seen.page.pdf()
    seen.page.wait_for_function(f"(before) => ({look})() === before", arg=before)


def test_turning_pages_keeps_the_keyboards_place(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file)
    table = seen.page.locator("[data-table=questions]")
    following = table.get_by_role("button", name="Next rows")
    first = seen.column("question", "questions")
    following.focus()
    for _ in range(5):
        seen.page.keyboard.press("Enter")
    assert following.get_attribute("aria-disabled") == "true"
    assert following.evaluate("(node) => node === document.activeElement")
    last = seen.column("question", "questions")
    assert not set(first) & set(last)
    seen.page.keyboard.press("Shift+Tab")
    seen.page.keyboard.press("Enter")
    assert seen.column("question", "questions") != last
    assert following.get_attribute("aria-disabled") == "false"


def test_scripts_of_strangers_do_not_run(browser: Any, page_file: Path, tmp_path: Path) -> None:
    """Even if markup slipped in: only the page's own scripts may run, and nothing is sent."""
    text = page_file.read_text("utf-8")
    evil = (
        "<script>document.title = 'inline'</script>"
        "<img src=data:, onerror=\"document.title = 'handler'\">"
        '<base href="https://example.org/">'
    )
    bad = tmp_path / "bad.html"
    bad.write_text(text.replace("<main", f"{evil}<main", 1), "utf-8")
    seen = visit(browser, bad)

    def refused() -> int:
        return sum("Content Security Policy" in line for line in seen.said)

    while refused() < 3:
        seen.page.wait_for_event("console")
    assert seen.page.title().startswith("Trial")
    assert seen.page.evaluate("document.baseURI") == bad.as_uri()
    assert refused() == 3


def test_nothing_moves_after_the_page_stands(browser: Any, page_file: Path) -> None:
    seen = visit(browser, page_file)
    seen.page.evaluate(
        """() => { window.moved = 0; new PerformanceObserver((list) => {
          for (const e of list.getEntries()) if (!e.hadRecentInput) window.moved += e.value;
        }).observe({ type: "layout-shift", buffered: true }); }"""
    )
    seen.draw_everything()
    assert seen.page.evaluate("window.moved") < 0.1  # what web.dev calls good
