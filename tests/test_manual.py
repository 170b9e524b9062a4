"""The manual: generated pages are fresh, links lead somewhere, the site builds and stands alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from abstain.measures import definitions, measure
from tests.helpers import ROOT, abstain
from tests.snapshots import says

pytestmark = pytest.mark.slow

DOCS = ROOT / "docs"
FORMULAS = tomllib.loads((DOCS / "formulas.toml").read_text(encoding="utf-8"))
PAGES = sorted(
    [*ROOT.glob("*.md"), *DOCS.rglob("*.md")], key=lambda p: p.relative_to(ROOT).as_posix()
)


LONGEST_GUIDE = 1_500
"""Words; what is longer becomes two guides, or goes to docs/background/."""


def generate(docs: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(docs / "generate.py"), *args],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_generated_pages_are_fresh() -> None:
    done = generate(DOCS, "--check")
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_stale_pages_are_noticed_and_mended(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    shutil.copytree(DOCS, docs)
    there = docs / "reference"
    (there / "measures.md").write_text("# Measures\n")
    (there / "measures" / "f.md").unlink()
    header = (DOCS / "reference" / "measures.md").read_text().splitlines()[0]
    (there / "measures" / "old.md").write_text(f"{header}\n\n# A measure that is no more\n")
    drawn = there / "measures" / "c-at-1.svg"
    drawn.write_text(drawn.read_text().replace("0.5", "0.6", 1))
    done = generate(docs, "--check")
    assert done.returncode == 1
    stale = {line.split()[0].removeprefix("docs/reference/") for line in done.stdout.splitlines()}
    assert stale == {"measures.md", "measures/f.md", "measures/old.md", "measures/c-at-1.svg"}
    assert generate(docs).returncode == 0
    for name in sorted(stale - {"measures/old.md"}):
        assert (there / name).read_text() == (DOCS / "reference" / name).read_text()
    assert not (there / "measures" / "old.md").exists()


def test_what_the_generator_did_not_make_it_does_not_remove(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    shutil.copytree(DOCS, docs)
    (docs / "reference" / "thesis.md").write_text("# Years of work\n")
    done = generate(docs)
    assert done.returncode == 1
    assert "0 written, 0 removed" in done.stdout
    says(done.stdout)
    assert (docs / "reference" / "thesis.md").read_text() == "# Years of work\n"


def test_every_measure_has_a_page_that_tells_all() -> None:
    index = (DOCS / "reference" / "measures.md").read_text()
    found = re.findall(r"\]\((measures/.*?\.md)\)", index)
    assert len(found) == len(set(found)) == len(definitions())
    for name, d in zip(found, definitions().values(), strict=True):
        page = (DOCS / "reference" / name).read_text()
        assert FORMULAS[d.name] in page
        assert d.formula in page
        assert "## Source" in page
        assert ("## Example" in page) == (d.takes != "columns")
        assert [f"## {name}\n" in page for name in ("To game it", "Note")] == [
            d.gaming != "",
            d.note != "",
        ]
        assert d.gaming or d.note
        for text in (d.kappa_text, d.break_even_text, *d.aliases):
            assert text == "–" or f"`{text}`" in page, (name, text)
        assert all(rule.reason in page for rule in d.undefined)
        drawn = (DOCS / "reference" / name).with_suffix(".svg")
        assert drawn.exists() == (f"({drawn.name})" in page)
        assert d.takes != "counts" or "## Lines of equal score" in page
        assert not drawn.exists() or drawn.stat().st_size < 40_000


def test_every_command_has_its_help() -> None:
    listed = abstain("--help").out.partition("Commands:\n")[2]
    commands = re.findall(r"^  (\w+)  ", listed, re.M)
    assert len(commands) > 10
    listing = (DOCS / "reference" / "commands.md").read_text()
    assert re.findall(r"\[abstain (\w+)\]\(commands/\1\.md\)", listing) == commands
    for name in commands:
        page = (DOCS / "reference" / "commands" / f"{name}.md").read_text()
        sections = re.split(r"^\w[\w ]*:$", abstain(name, "--help").out, flags=re.M)[1:]
        options = re.findall(r"^  (?:-\w, )?--([\w-]+)", "".join(sections), re.M)
        assert "help" in options
        assert not [o for o in options if page.count(f'id="{o}"') != 1], name


@pytest.fixture(scope="module")
def tools(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The modules beside the manual's pages."""
    sys.path.insert(0, str(DOCS))
    import hooks
    import isolines

    yield {"hooks": hooks, "isolines": isolines}
    sys.path.remove(str(DOCS))


def test_every_formula_becomes_mathml(tools: Any) -> None:
    for d in definitions().values():
        made = tools["hooks"].formula(FORMULAS[d.name])
        assert made.startswith('<div class="formula"><math'), d.name
        assert "\\" not in made, f"{d.name}: something of it is not understood"


@pytest.mark.parametrize(
    ("name", "score"),
    [
        ("c@1", lambda c, u: c * (1 + u)),
        ("precision", lambda c, u: c / (1 - u)),
        ("F", lambda c, u: 2 * c / (2 - u)),
        ("UF", lambda c, u: c - (1 - c - u)),
        ("coverage", lambda c, u: 1 - u),
        ("over-abstention", lambda c, u: (u / 2) / (c + u / 2)),
    ],
)
def test_lines_of_equal_score_have_that_score(name: str, score: Any, tools: Any) -> None:
    found = tools["isolines"].isolines(measure(name))
    low, high = measure(name).bounds
    step = (high - low) / 10
    assert sorted({level for level, _ in found}) == pytest.approx(
        [low + step * k for k in range(1, 10)]
    )
    for level, line in found:
        for (c, u), (d, v) in pairwise(line):
            for x, y in ((c, u), ((c + d) / 2, (u + v) / 2)):
                # Near the corner where every precision is met, a small step is a large change.
                if y < 0.9 and x + y > 0.1:
                    assert score(x, y) == pytest.approx(level, abs=0.02)


def test_a_score_that_never_changes_has_no_lines(tools: Any) -> None:
    assert tools["isolines"].picture(measure("correctly-discarded")) is None


# Links.

CODE = re.compile(r"^(?P<fence>`{3,})[^\n]*\n.*?^(?P=fence)\s*$|`[^`\n]*`", re.M | re.S)
LINK = re.compile(r"!?\[[^\]]*\]\((?P<to>[^)\s]+)\)")
HEADING = re.compile(r"^#+ +(?P<text>.*?)\s*$", re.M)


def links(text: str) -> list[str]:
    """Where the links and images of a page lead, network addresses aside."""
    found = [m["to"] for m in LINK.finditer(CODE.sub("", text))]
    return [to for to in found if not re.match(r"[a-z]+:", to)]


def anchors(text: str) -> set[str]:
    """What can be linked to on a page: its headings as mkdocs and GitHub name them."""
    fenced = re.compile(r"^(`{3,})[^\n]*\n.*?^\1\s*$", re.M | re.S)
    names = set()
    for found in HEADING.finditer(fenced.sub("", text)):
        bare = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", found["text"])
        names.add(re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", bare).strip().lower()))
    return names


def broken(page: Path) -> list[str]:
    """The links of a page that lead nowhere."""
    wrong = []
    for to in links(page.read_text()):
        path, _, anchor = to.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.is_file() or (anchor and anchor not in anchors(target.read_text())):
            wrong.append(to)
        elif page.is_relative_to(DOCS) and not target.is_relative_to(DOCS):
            wrong.append(f"{to} (outside the manual)")
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_of(page: Path) -> None:
    assert broken(page) == []


def test_the_link_check_notices_what_is_wrong(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    (tmp_path / "b.md").write_text("# One, two\n```sh\n# no heading\n```\n")
    page.write_text(
        "[x](b.md) [x](b.md#one-two) [x](https://example.org/) `[x](not a link)`\n"
        "[x](c.md) [x](b.md#three) [x](b.md#no-heading) ![x](c.png) [x](#here)\n"
        "## There\n[x](#there)\n"
    )
    assert broken(page) == ["c.md", "b.md#three", "b.md#no-heading", "c.png", "#here"]


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda p: p.name)
def test_a_guide_is_read_in_one_sitting(page: Path) -> None:
    assert len(page.read_text("utf-8").split()) <= LONGEST_GUIDE


def test_speed_lists_every_benchmark_and_what_make_bench_runs() -> None:
    text = (DOCS / "speed.md").read_text()
    there = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    told = re.findall(r"`python benchmarks/(\w+)\.py([^`]*)`", text)
    assert {name for name, _ in told} == there
    made = re.search(r"^BENCH := (.*)$", (ROOT / "Makefile").read_text(), re.M)
    assert made is not None
    assert set(made[1].split()) == there - {"spark"}  # said to be run by hand
    assert sum(bool(options) for _, options in told) == 2  # "all but the two with an option"


def test_every_picture_of_the_manual_is_shown_and_told_of() -> None:
    shown = {
        path.resolve(): words
        for page in PAGES
        for words, target in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text())
        if not target.startswith("http")
        for path in [page.parent / target]
    }
    assert [str(p) for p in shown if not p.is_file()] == []
    assert [str(p) for p, words in shown.items() if len(words.split()) < 3] == []
    every = (DOCS / "images").rglob("*")
    there = {p.resolve() for p in every if p.is_file() and p.suffix != ".txt"}
    assert len(there) > 3
    assert there <= set(shown)


# The site.


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manual, built as `make docs` builds it."""
    there = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(there)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return there


def test_the_site_builds_without_a_warning_and_has_every_page(site: Path) -> None:
    pages = [p.relative_to(DOCS).with_suffix(".html") for p in DOCS.rglob("*.md")]
    assert len(pages) > len(definitions())
    assert [str(p) for p in pages if not (site / p).is_file()] == []


def test_the_site_fetches_nothing_from_the_network(site: Path) -> None:
    fetched = re.compile(
        r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//"""
        r"""|<link\b(?![^>]*rel=["']?canonical)[^>]*\bhref=["']?(?:https?:)?//"""
        r"""|@import|url\(["']?(?:https?:)?//""",
        re.I,
    )
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(pages) > len(definitions())
    for page in pages:
        assert not fetched.search(page.read_text()), page.relative_to(site)
    example = '<script src="https://example.org/x.js">'
    assert fetched.search(example)


def test_the_site_shows_formulas_pictures_and_files(site: Path) -> None:
    page = (site / "reference" / "measures" / "c-at-1.html").read_text()
    assert '<div class="formula"><math' in page
    assert 'src="c-at-1.svg"' in page
    assert '<span class="filename">gold.csv</span>' in (site / "scoring.html").read_text()
    assert not [p for p in site.rglob("*.html") if "file=" in p.read_text()]


READY = "/Type to/.test(document.querySelector('.md-search-result__meta').textContent)"


@pytest.mark.parametrize(
    "name", ["index", "tutorials/retrieval", "reference/measures/ndcg-prime", "coming-from/pan"]
)
def test_the_site_reads_and_searches_from_disk(site: Path, browser: Any, name: str) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 800})
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda m: said.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / f"{name}.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    for formula in page.locator("math").all():
        assert formula.bounding_box()["width"] > 20
    page.set_viewport_size({"width": 1300, "height": 800})
    page.locator(".md-search__input").click()
    page.wait_for_function(READY)
    page.keyboard.type("abstention recall")
    page.wait_for_selector(".md-search-result__item")
    first = page.locator(".md-search-result__item").first.inner_text()
    assert "abstention" in first.lower()
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
