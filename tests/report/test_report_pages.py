"""The pages of saved results in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from abstain.cli import run
from tests.report.browser import HOSTILE, serious, visit
from tests.report.saved import COMMANDS, save, write_inputs

KINDS = [*COMMANDS, "campaign"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("results")
    write_inputs(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in KINDS:
            assert run(["report", str(save(folder, name)), "-o", f"{name}.html"]) == 0
        many = ["score", "gold.csv", "runs.csv", "--by", "topic", "--references", "-o", "many.json"]
        assert run(many) == run(["report", "many.json"]) == 0
    return {name: folder / f"{name}.html" for name in (*KINDS, "many")}


@pytest.mark.parametrize("name", KINDS)
def test_a_page_draws_everything_and_keeps_to_itself(
    browser: Any, pages: dict[str, Path], name: str
) -> None:
    seen = visit(browser, pages[name])
    seen.draw_everything()
    assert seen.said == []
    assert seen.asked == [pages[name].as_uri()]
    assert seen.page.locator("img, b").count() == 0
    assert seen.page.locator("figure svg").count() == seen.page.locator("figure").count()
    assert serious(seen) == []


@pytest.mark.parametrize("name", ["score", "compare", "meta"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_has_no_need_to_scroll_sideways(
    browser: Any, pages: dict[str, Path], name: str, scheme: str
) -> None:
    seen = visit(browser, pages[name], viewport={"width": 360, "height": 740}, color_scheme=scheme)
    seen.draw_everything()
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert seen.said == []
    assert serious(seen) == []


def test_slices_are_filtered(browser: Any, pages: dict[str, Path]) -> None:
    seen = visit(browser, pages["many"])
    table = seen.page.locator("[data-table=runs]")
    everything = list(zip(seen.column("run", "runs"), seen.column("topic", "runs"), strict=True))
    assert {topic for _, topic in everything} == {"law", "art", HOSTILE}
    table.locator("label", has_text="topic").locator("select").select_option("art")
    left = list(zip(seen.column("run", "runs"), seen.column("topic", "runs"), strict=True))
    assert left == [row for row in everything if row[1] == "art"]
    assert len(left) == len(everything) / 3


def test_a_heading_sorts_scores(browser: Any, pages: dict[str, Path]) -> None:
    seen = visit(browser, pages["score"])
    everything = seen.column("run", "runs")
    seen.page.locator("[data-table=runs] thead button", has_text="wrong").first.click()
    falling = [float(text) for text in seen.column("wrong", "runs")]
    assert falling == sorted(falling, reverse=True)
    assert len(set(falling)) > 2
    assert sorted(seen.column("run", "runs")) == sorted(everything)
    assert HOSTILE in everything


def test_what_rounds_to_nothing_has_no_sign(browser: Any, tmp_path: Path) -> None:
    given = {"a": -0.00001, "b": -0.00006, "c": 0.0}
    rows = [{"run": name, "scores": {"UF": score}} for name, score in given.items()]
    saved = {"abstain": "0.1.0", "kind": "score", "measures": ["UF"], "results": rows}
    (tmp_path / "scores.json").write_text(json.dumps(saved))
    assert run(["report", str(tmp_path / "scores.json")]) == 0
    seen = visit(browser, tmp_path / "scores.html")
    shown = dict(zip(seen.column("run", "runs"), seen.column("UF", "runs"), strict=True))
    assert shown == {"a": "0.0000", "b": "−0.0001", "c": "0.0000"}
