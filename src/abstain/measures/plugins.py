"""Plug-ins of other packages: what they name in an entry point, loaded with care."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Any

from abstain.errors import AbstainError, UsageError, reason_of, shown


def loaded(group: str) -> Iterator[tuple[str, Any]]:
    """Every object that packages name in a group, with words for whose it is.

    The first that cannot be loaded is named in one line.
    """
    for what, found, fault in each_loaded(group):
        if fault:
            raise UsageError(fault)
        yield what, found


def each_loaded(group: str) -> Iterator[tuple[str, Any, str]]:
    """As `loaded`, with why an object cannot be loaded where that is so, in one line."""
    for point in entry_points(group=group):
        home = "" if point.dist is None else f" of {point.dist.name} {point.dist.version}"
        what = f"plug-in {shown(point.name)}{home} ({point.value})"
        found, fault = None, ""
        try:
            found = point.load()
        except Exception as error:
            kind = "" if isinstance(error, AbstainError) else f"{type(error).__name__}: "
            fault = f"{what} cannot be loaded: {kind}{reason_of(error)}"
        yield what, found, fault
