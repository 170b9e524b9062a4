"""Take the pictures of the bundled campaign's page that README and docs show.

    python tools/report_images.py [FOLDER]

Needs playwright and a chromium. The page is drawn twice, at the width of a desk and of a phone.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any

FLAGS = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-color-profile=srgb"]
SHOTS: dict[str, dict[str, Any]] = {
    "report": {"viewport": {"width": 1280, "height": 1400}},
    "report-dark": {"viewport": {"width": 1280, "height": 1000}, "color_scheme": "dark"},
    "report-phone": {"viewport": {"width": 390, "height": 1500}, "device_scale_factor": 1.5},
}
TALLEST = 1000
PARTS = {"report-rewards": "#measure", "report-questions": "#questions"}


def main() -> None:
    """Make the page and its pictures."""
    from playwright.sync_api import sync_playwright

    from abstain.cli import run

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("docs/images"))
    target = parser.parse_args().folder
    target.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        if run(["demo", "-o", f"{folder}/demo"]):
            raise SystemExit("the demo failed")
        page_file = Path(folder) / "demo" / "index.html"
        browser = play.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, settings in SHOTS.items():
            page = browser.new_page(reduced_motion="reduce", **settings)
            page.goto(page_file.as_uri())
            draw(page)
            page.screenshot(path=target / f"{name}.png")
            if name == "report":
                page.add_style_tag(content="nav { position: static !important }")
                for part, selector in PARTS.items():
                    box = page.locator(selector).bounding_box()
                    clip = {"x": 0, "y": box["y"], "width": 1280, "height": TALLEST}
                    page.screenshot(path=target / f"{part}.png", clip=clip, full_page=True)
            page.close()
        browser.close()


def draw(page: Any) -> None:
    """Wait until every chart stands."""
    for figure in page.locator("figure").all():
        figure.scroll_into_view_if_needed()
        figure.locator("svg[role=img]").wait_for()
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(200)


if __name__ == "__main__":
    main()
