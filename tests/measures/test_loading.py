"""Plug-ins as they are loaded, without a package: who named them, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from abstain.entry_points import load_plugins, plugins
from abstain.errors import UsageError
from tests.snapshots import says

ENTRY_POINTS = "importlib.metadata.entry_points"
METADATA = "Metadata-Version: 2.1\nName: half\nVersion: 1.5\nSummary: Halves.\n\nName: no\n"


def point(name: str, dist: Any, fault: Exception | None = None) -> Any:
    def load() -> str:
        if fault is not None:
            raise fault
        return f"what {name} names"

    return SimpleNamespace(
        name=name, value=f"{name}.module", group="abstain.readers", dist=dist, load=load
    )


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    plugins.cache_clear()
    yield
    plugins.cache_clear()


def test_a_plug_in_is_named_with_its_package_if_it_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    package = SimpleNamespace(read_text=lambda name: METADATA)
    points = [point("b", None), point("a", package)]
    monkeypatch.setattr(ENTRY_POINTS, lambda group: points if group == "own" else [])
    first, second = plugins("own")
    assert [str(first), str(second)] == [
        "plug-in 'a' of half 1.5 (a.module)",
        "plug-in 'b' (b.module)",
    ]
    assert (first.summary, second.summary) == ("Halves.", "")
    assert [first.load(), second.load()] == ["what a names", "what b names"]
    assert plugins("other") == ()


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (ValueError("bad"), ("'a'",)),
        (UsageError("bad"), ("'a'",)),
    ],
)
def test_a_plug_in_that_fails_is_named_and_stops_no_other(
    monkeypatch: pytest.MonkeyPatch, fault: Exception, said: tuple[str, ...]
) -> None:
    points = [point("a", None, fault), point("b", None)]
    monkeypatch.setattr(ENTRY_POINTS, lambda group: points)
    loaded = load_plugins("abstain.readers", lambda plugin, item: (plugin.name, item))
    assert loaded.items == {"b": "what b names"}
    ((broken, text),) = loaded.faults.items()
    assert broken.name == "a"
    says(text, *said)
