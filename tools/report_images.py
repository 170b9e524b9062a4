"""Take the pictures of the bundled campaign's page that README and docs show.

    python tools/report_images.py [FOLDER]

Needs playwright and a chromium. The page is drawn twice, at the width of a desk and of a phone.
Beside the pictures lies `taken.txt`: the SHA-256 of each, and of the page that they show, by which
a test finds out that the page has changed since.
"""

from __future__ import annotations

import argparse
import hashlib
import re
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
PICTURES = tuple(f"{name}.png" for name in (*SHOTS, *PARTS))
TAKEN = "taken.txt"
LONG_NUMBER = re.compile(r"\d+\.\d{6,}(?:e[+-]?\d+)?|\d+(?:\.\d+)?e-\d+")


def main() -> None:
    """Make the page and its pictures."""
    from playwright.sync_api import sync_playwright

    from abstain.cli import run

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("docs/images"))
    target = parser.parse_args().folder
    target.mkdir(parents=True, exist_ok=True)
    names = ("chromium", "chromium-headless-shell", "chromium-browser")
    chromium = next(filter(None, map(shutil.which, names)), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        if run(["demo", "-o", f"{folder}/demo"]):
            raise SystemExit("the demo failed")
        page_file = Path(folder) / "demo" / "index.html"
        browser = play.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, settings in SHOTS.items():
            page: Any = browser.new_page(reduced_motion="reduce", **settings)
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
        digests = {"the page": page_digest(page_file.read_text("utf-8"))}
    digests |= {name: digest((target / name).read_bytes()) for name in PICTURES}
    lines = [f"{text}  {name}\n" for name, text in digests.items()]
    (target / TAKEN).write_text("".join(lines), "utf-8")


def digest(content: bytes) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(content).hexdigest()


def page_digest(html: str) -> str:
    """The SHA-256 of a page without what another machine or version of a tool changes in it.

    Numbers are taken to five decimals: the last of their digits may differ by processor.
    """
    from abstain.report.charts import chart_library
    from abstain.report.page import versions

    own = html.replace(chart_library(), "").replace(versions(), "")
    own = LONG_NUMBER.sub(lambda found: f"{float(found[0]):.5f}", own)
    return digest(re.sub(r"'sha256-[^']+'", "", own).encode())


def taken(folder: Path) -> dict[str, str]:
    """What `taken.txt` says: the SHA-256 of the page and of each picture."""
    lines = (folder / TAKEN).read_text("utf-8").splitlines()
    return {name: text for text, _, name in (line.partition("  ") for line in lines)}


def draw(page: Any) -> None:
    """Wait until every chart stands."""
    for figure in page.locator("figure").all():
        figure.scroll_into_view_if_needed()
        figure.locator("svg[role=img]").wait_for()
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_function("() => scrollY === 0")
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


if __name__ == "__main__":
    main()
