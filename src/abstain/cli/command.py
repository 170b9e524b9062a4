"""What every command does before it begins: look at where it is to write."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperGroup

from abstain.cli.help import FittingHelp
from abstain.cli.showing import ENDINGS
from abstain.errors import UsageError
from abstain.io.files import refuse_unwritable

OTHERS = (".html", ".htm", ".parquet", ".jsonl", ".tsv", ".xlsx", ".xml", ".pdf", ".svg", ".png")
"""Endings of what no command with a choice of formats writes."""

WRITTEN = {
    "output": "-o",
    "target": "OUT",
    "chart": "--chart",
    "threshold_file": "--threshold-file",
}
"""Parameters that name a file to write, and what people call them."""

RUN_WRITER = "tune"
"""The command whose -o is a run, in any format of one, and not its result."""

FOLDERS = ("campaign", "demo")
"""Commands whose output is a folder, which they make with all above it."""


class Group(FittingHelp, TyperGroup):
    """The program itself."""


class Command(FittingHelp, TyperCommand):
    """A command that refuses an output it cannot or must not write before it works for it."""

    def invoke(self, ctx: Any) -> Any:
        """Check the outputs, then run."""
        if self.name not in FOLDERS:
            check_outputs(ctx.params)
            if self.name != RUN_WRITER and any("--format" in own.opts for own in self.params):
                _refuse_ending(ctx.params.get("output"), ctx.params.get("format"))
        return super().invoke(ctx)


def check_outputs(given: Mapping[str, Any]) -> None:
    """Refuse an output that is an input or another output, or that lies in no folder."""
    inputs = {os.path.realpath(text): f"{text}, which is read" for text in _inputs(given)}
    for name, called in WRITTEN.items():
        output = given.get(name)
        if not isinstance(output, Path):
            continue
        refuse_unwritable(output)
        real = os.path.realpath(output)
        if real in inputs:
            raise UsageError(f"{called} {output} would overwrite {inputs[real]}")
        inputs[real] = f"what {called} writes"


def _refuse_ending(output: Path | None, format: Any) -> None:
    """Refuse a name that promises what is not going to be in the file."""
    ending = "" if output is None else output.suffix.lower()
    if format is not None or ending not in OTHERS:
        return
    hint = "; for a page write it as .json, then `abstain report`" if ending == ".html" else ""
    known = ", ".join(ENDINGS)
    raise UsageError(f"-o {output}: expected a name that ends in {known}{hint}")


def _inputs(given: Mapping[str, Any]) -> Iterator[str]:
    """Everything among the arguments that names a file which is there."""
    for name, value in given.items():
        if name in WRITTEN:
            continue
        several = value if isinstance(value, (list, tuple)) else [value]
        texts = (str(item) for item in several if isinstance(item, (str, Path)))
        yield from (text for text in texts if os.path.isfile(text))
