"""What other packages add by entry points: named by their metadata, loaded when used."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from msgspec import Struct

from abstain.errors import AbstainError, UsageError, reason_of, shown

GROUPS = {
    "abstain.measures": "measures",
    "abstain.readers": "reader",
    "abstain.features": "feature",
}
"""The groups of entry points, and what each adds."""


class Plugin:
    """An entry point of another package; its metadata are read without importing it."""

    def __init__(self, point: Any) -> None:
        text = (point.dist and point.dist.read_text("METADATA")) or ""
        facts = dict(re.findall(r"^(Name|Version|Summary): (.*)$", text.partition("\n\n")[0], re.M))
        self.name, self.value, self.group = str(point.name), str(point.value), str(point.group)
        self.package, self.version = facts.get("Name", ""), facts.get("Version", "")
        self.summary = facts.get("Summary", "")
        self.point = point

    def __str__(self) -> str:
        home = f" of {self.package} {self.version}" if self.package else ""
        return f"plug-in {shown(self.name)}{home} ({self.value})"

    def load(self) -> Any:
        """What it names; whatever is wrong with it is one line that names it."""
        try:
            return self.point.load()
        except Exception as error:
            kind = "" if isinstance(error, AbstainError) else f"{type(error).__name__}: "
            raise UsageError(f"{self} cannot be loaded: {kind}{reason_of(error)}") from None


@cache
def plugins(group: str) -> tuple[Plugin, ...]:
    """The entry points of a group that packages declare; none of them is loaded yet."""
    from importlib.metadata import entry_points

    return tuple(map(Plugin, sorted(entry_points(group=group), key=lambda p: (p.name, p.value))))


class Loaded(Struct, frozen=True):
    """The plug-ins of a group by what each adds, and what is wrong with those that are left out."""

    items: dict[str, Any]
    names: dict[Plugin, str]
    """The key of what each adds."""
    faults: dict[Plugin, str]


def load_plugins(group: str, take: Callable[[Plugin, Any], tuple[str, Any]]) -> Loaded:
    """Load the plug-ins of a group; `take` names and checks each. A broken one stops no other."""
    loaded = Loaded({}, {}, {})
    for plugin in plugins(group):
        try:
            name, item = take(plugin, plugin.load())
            if name in loaded.items:
                raise UsageError(f"{plugin}: another plug-in has a {GROUPS[group]} '{name}'")
        except AbstainError as error:
            loaded.faults[plugin] = error.message
        else:
            loaded.items[name], loaded.names[plugin] = item, name
    return loaded
