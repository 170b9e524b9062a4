"""The pages of saved results in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from abstain.cli import run
from tests.report.browser import HOSTILE, needs_chromium, serious, visit
from tests.report.saved import COMMANDS, save, write_inputs

pytestmark = needs_chromium
KINDS = [*COMMANDS, "campaign"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("results")
    write_inputs(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in KINDS:
            assert run(["report", str(save(folder, name)), "-o", f"{name}.html"]) == 0
    return {name: folder / f"{name}.html" for name in KINDS}


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
    seen.page.close()


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
    seen.page.close()


def test_slices_are_filtered(browser: Any, pages: dict[str, Path]) -> None:
    seen = visit(browser, pages["score"])
    everything = seen.column("run", "runs")
    seen.page.locator("[data-table=runs] thead button", has_text="wrong").first.click()
    falling = [float(text) for text in seen.column("wrong", "runs")]
    assert falling == sorted(falling, reverse=True)
    assert sorted(seen.column("run", "runs")) == sorted(everything)
    assert HOSTILE in everything
    seen.page.close()
