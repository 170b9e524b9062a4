"""What every command does before it begins: look at where it is to write."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from abstain.errors import InputError, UsageError

WRITTEN = {
    "output": "-o",
    "target": "OUT",
    "chart": "--chart",
    "threshold_file": "--threshold-file",
}
"""Parameters that name a file to write, and what people call them."""

FOLDERS = ("campaign", "demo")
"""Commands whose output is a folder, which they make with all above it."""


class Command(TyperCommand):
    """A command that refuses an output it cannot or must not write before it works for it."""

    def invoke(self, ctx: Any) -> Any:
        """Check the outputs, then run."""
        if self.name not in FOLDERS:
            check_outputs(ctx.params)
        return super().invoke(ctx)


def check_outputs(given: Mapping[str, Any]) -> None:
    """Refuse an output that is one of the inputs, or that lies in no folder."""
    for name, called in WRITTEN.items():
        output = given.get(name)
        if not isinstance(output, Path):
            continue
        folder = Path(os.path.realpath(output)).parent
        if not folder.is_dir():
            raise InputError(f"cannot be written: there is no folder {folder.name}", str(output))
        if not output.is_file():
            continue
        for text in _texts(given, but=name):
            if os.path.isfile(text) and os.path.samefile(text, output):
                raise UsageError(f"{called} {output} is one of the inputs; it is left as it is")


def _texts(given: Mapping[str, Any], *, but: str) -> Iterator[str]:
    """Everything among the arguments that may name a file to read."""
    for name, value in given.items():
        if name == but:
            continue
        several = value if isinstance(value, (list, tuple)) else [value]
        yield from (str(item) for item in several if isinstance(item, (str, Path)))
