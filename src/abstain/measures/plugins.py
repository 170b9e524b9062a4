"""Plug-ins of other packages: what they name in an entry point, loaded with care."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from abstain.errors import AbstainError, UsageError, reason_of, shown


def loaded(group: str) -> Iterator[tuple[str, Any]]:
    """Every object that packages name in a group, with words for whose it is.

    The first that cannot be loaded is named in one line.
    """
    for point in entry_points(group=group):
        what = plugin(point)
        try:
            found = point.load()
        except Exception as error:
            raise UsageError(f"{what} cannot be loaded: {why(error)}") from None
        yield what, found


def plugin(point: EntryPoint) -> str:
    """A plug-in in words: its name, its package, where its code is."""
    home = "" if point.dist is None else f" of {point.dist.name} {point.dist.version}"
    return f"plug-in {shown(point.name)}{home} ({point.value})"


def why(error: Exception) -> str:
    """Why it cannot be loaded, in one line."""
    kind = "" if isinstance(error, AbstainError) else f"{type(error).__name__}: "
    return f"{kind}{reason_of(error)}"
