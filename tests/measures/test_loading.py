"""Plug-ins as they are loaded, without a package: who named them, and what is wrong with them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from abstain.errors import UsageError
from abstain.measures.registry import load_plugins
from tests.snapshots import says

ENTRY_POINTS = "importlib.metadata.entry_points"


def point(name: str, dist: Any, fault: Exception | None = None) -> Any:
    def load() -> str:
        if fault is not None:
            raise fault
        return f"what {name} names"

    return SimpleNamespace(name=name, value=f"{name}.module", dist=dist, load=load)


def test_a_plug_in_is_named_with_its_package_if_it_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    package = SimpleNamespace(name="half", version="1.5")
    points = [point("a", package), point("b", None)]
    monkeypatch.setattr(ENTRY_POINTS, lambda group: points if group == "own" else [])
    assert [*load_plugins("own")] == [
        ("plug-in 'a' of half 1.5 (a.module)", "what a names"),
        ("plug-in 'b' (b.module)", "what b names"),
    ]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (ValueError("bad"), ("'a'",)),
        (UsageError("bad"), ("'a'",)),
    ],
)
def test_a_plug_in_that_fails_is_named(
    monkeypatch: pytest.MonkeyPatch, fault: Exception, said: tuple[str, ...]
) -> None:
    points = [point("a", None, fault), point("b", None)]
    monkeypatch.setattr(ENTRY_POINTS, lambda group: points)
    with pytest.raises(UsageError) as caught:
        list(load_plugins("own"))
    says(str(caught.value), *said)
