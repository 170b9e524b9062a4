"""How fast a large campaign's page opens, and how large it is: 500 runs × 2,000 questions.

    python benchmarks/report.py [--runs 500] [--questions 2000]

Against the page of the bundled campaign (54 runs, 284 questions), in one chromium, by turns. A
page is open when its load event has come and the leaderboard stands; the best of some rounds
counts. Verdicts: under 3 times the time and under 10 MB. The slowest of ten sorts of the
leaderboard is shown besides.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from abstain.cli import run

FLAGS = ["--no-sandbox", "--disable-gpu"]
MOST_TIMES, MOST_MB = 3.0, 10.0
OPEN = "document.querySelector('[data-table=leaderboard] tbody tr') !== null"


def make(folder: Path, runs: int, questions: int) -> None:
    """A random campaign of the shape of a reading task."""
    draw = np.random.default_rng(7)
    correct = draw.integers(1, 6, questions)
    lines = ["question,correct,options,topic,test,type"]
    for q in range(questions):
        test = q * 40 // questions
        lines.append(f"q{q:05d},{correct[q]},1|2|3|4|5,topic {test % 8},{test},type {q % 5}")
    (folder / "gold.csv").write_text("\n".join(lines) + "\n")
    ease = draw.random(questions)
    with (folder / "runs.csv").open("w") as out:
        out.write("run,question,answer\n")
        for r in range(runs):
            skill = 0.2 + 0.6 * r / runs
            right = draw.random(questions) < skill * (0.5 + ease)
            blank = draw.random(questions) < 0.1
            given = np.where(right, correct, draw.integers(1, 6, questions))
            for q in range(questions):
                out.write(f"team{r % 40:02d}run{r:03d},q{q:05d},{'' if blank[q] else given[q]}\n")


def opened(browser: Any, file: Path) -> float:
    """Seconds until a page stands."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    begun = time.perf_counter()
    page.goto(file.as_uri(), wait_until="load")
    page.wait_for_function(OPEN)
    took = time.perf_counter() - begun
    page.close()
    return took


def paging(browser: Any, file: Path) -> float:
    """Milliseconds that the slowest of ten turns of the leaderboard takes."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(file.as_uri())
    page.wait_for_function(OPEN)
    worst = page.evaluate(
        """() => { let worst = 0;
          const head = [...document.querySelectorAll('[data-table=leaderboard] thead button')];
          for (let i = 0; i < 10; i += 1) {
            const begun = performance.now();
            head[i % head.length].click();
            document.body.getBoundingClientRect();
            worst = Math.max(worst, performance.now() - begun);
          }
          return worst; }"""
    )
    page.close()
    return float(worst)


def main() -> None:
    """Measure and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=7)
    wanted = parser.parse_args()
    names = ("chromium-headless-shell", "chromium", "chromium-browser")
    chromium = next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        print("report: no chromium here, nothing measured")
        return
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name, sync_playwright() as play:
        folder = Path(name)
        make(folder, wanted.runs, wanted.questions)
        large, small = folder / "large", folder / "small"
        begun = time.perf_counter()
        gold, runs = str(folder / "gold.csv"), str(folder / "runs.csv")
        quiet(["campaign", gold, runs, "-o", str(large)])
        made = time.perf_counter() - begun
        quiet(["demo", "-o", str(small)])
        files = [folder / "index.html" for folder in (large, small)]
        browser = play.chromium.launch(executable_path=chromium, args=FLAGS)
        times = [[opened(browser, file) for file in files] for _ in range(wanted.rounds)]
        turn = paging(browser, files[0])
        browser.close()
        best = [min(own) for own in zip(*times, strict=True)]
        size = files[0].stat().st_size / 1e6
        small_size = files[1].stat().st_size / 1e6
    ratio = best[0] / best[1]
    print(f"{wanted.runs} runs × {wanted.questions:,} questions, made in {made:.1f} s")
    print(f"opens in {best[0]:.2f} s, the bundled campaign's in {best[1]:.2f} s: {ratio:.2f} times")
    print(f"{size:.2f} MB, the bundled campaign's {small_size:.2f} MB; slowest sort {turn:.0f} ms")
    good = ratio < MOST_TIMES and size < MOST_MB
    print(f"{'ok' if good else 'NOT OK'}: wanted under {MOST_TIMES:g} times and {MOST_MB:g} MB")
    sys.exit(0 if good else 1)


def quiet(args: list[str]) -> None:
    """Run a command without its words."""
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()):
        if run(args):
            raise SystemExit(f"{args[0]} failed")


if __name__ == "__main__":
    main()
