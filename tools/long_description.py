"""Make the links of the README absolute where a package index shows it.

The build asks for it (`tool.hatch.metadata.hooks.custom` in pyproject.toml). A link in the README
leads to a file of the repository; elsewhere it has to say where that is, which is the project's URL
`Source`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(?P<start>(?P<picture>!?)\[[^\]]*\]\()(?P<path>(?![a-z]+:|#)[^)\s]+)")


def absolute(text: str, source: str) -> str:
    """The text with links and pictures of the repository at its address."""

    def at(found: re.Match[str]) -> str:
        kind = "raw" if found["picture"] else "blob"
        return f"{found['start']}{source}/{kind}/main/{found['path']}"

    return LINK.sub(at, text)


class LongDescription(MetadataHookInterface):
    """The README as the long description."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README with absolute links."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": absolute(text, metadata["urls"]["Source"]),
        }
