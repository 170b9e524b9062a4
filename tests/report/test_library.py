"""The chart library is made once, and never taken from a broken cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from abstain.report import charts as library


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """How often the bundle was made; its stand-in is short and has a closing tag in it."""
    import vl_convert

    calls: list[str] = []

    def bundle(snippet: str) -> str:
        calls.append(snippet)
        return f"{snippet} // Ünïcode </script>"

    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return calls


def fresh() -> str:
    """The script as a new process gets it."""
    library.chart_library.cache_clear()
    return library.chart_library()


@pytest.fixture(autouse=True)
def _forget() -> Any:
    yield
    library.chart_library.cache_clear()


def test_the_bundle_is_made_once(made: list[str], tmp_path: Path) -> None:
    first = fresh()
    assert first == f"{library.SNIPPET} // Ünïcode <\\/script>{library.SNIPPET_ENDS}"
    assert fresh() == first
    assert len(made) == 1
    assert [path.suffix for path in (tmp_path / "cache" / "abstain").iterdir()] == [".js"]


@pytest.mark.parametrize("harm", [lambda b: b[:-5], lambda b: b"", lambda b: b + b"alert(1)"])
def test_a_kept_script_that_is_not_whole_is_made_again(
    made: list[str], tmp_path: Path, harm: Any
) -> None:
    first = fresh()
    (kept,) = (tmp_path / "cache" / "abstain").iterdir()
    kept.write_bytes(harm(kept.read_bytes()))
    assert fresh() == first
    assert len(made) == 2
    assert fresh() == first
    assert len(made) == 2


def test_no_cache_is_no_fault(made: list[str], tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, not a folder")
    assert fresh() == fresh()
    assert len(made) == 2
