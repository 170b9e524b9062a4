"""The pictures of docs/images are of the page as it is today."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from abstain.cli import run

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
STALE = "docs/images shows an older page: run `python tools/report_images.py`, look, and commit"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    path = ROOT / "tools" / "report_images.py"
    if not path.exists() or not IMAGES.exists():
        pytest.skip("tools/ and docs/ are not here: this is no checkout")
    spec = importlib.util.spec_from_file_location("report_images", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("images") / "demo"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder.parent)
        assert run(["demo", "-o", "demo"]) == 0
    return (folder / "index.html").read_text("utf-8")


def test_the_pictures_were_taken_of_this_page(tool: ModuleType, page: str) -> None:
    assert tool.taken(IMAGES)["the page"] == tool.page_digest(page), STALE


def test_the_pictures_are_the_ones_that_were_taken(tool: ModuleType) -> None:
    told = tool.taken(IMAGES)
    assert set(told) == {"the page", *tool.PICTURES}
    for name in tool.PICTURES:
        assert told[name] == tool.digest((IMAGES / name).read_bytes()), f"{name}: {STALE}"


@pytest.mark.parametrize("old", ["--right: #0072b2", "const ON_PAPER = 200", "jucs1302enen", "<h2"])
def test_a_change_of_look_or_of_content_is_noticed(tool: ModuleType, page: str, old: str) -> None:
    assert old in page
    assert tool.page_digest(page.replace(old, old[:-1], 1)) != tool.page_digest(page)


def test_another_version_of_numpy_is_no_change(
    tool: ModuleType, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy as np

    before = tool.page_digest(page)
    other = page.replace(f"numpy {np.__version__}", "numpy 99.0")
    assert other != page
    monkeypatch.setattr(np, "__version__", "99.0")
    assert tool.page_digest(other) == before


def test_the_last_digits_of_another_processor_are_no_change(tool: ModuleType, page: str) -> None:
    longest = max(tool.LONG_NUMBER.findall(page), key=len)
    other = page.replace(longest, f"{float(longest) + 1e-15!r}")
    assert other != page
    assert tool.page_digest(other) == tool.page_digest(page)
