"""The command that was given, as it can be typed again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

ELSEWHERE = ("-o", "--output", "-f", "--format", "--threads")
"""Where a result goes, how it looks and how many help to make it: not what it is."""


def typed(args: Sequence[str]) -> str:
    """Arguments as one line for a shell, without where the result goes; empty without arguments.

    Two results of the same command are the same bytes, wherever they are written.

    >>> typed(["score", "a b.csv", "-o", "x.json", "--output=y", "-fjson", "-m", "c@1"])
    "abstain score 'a b.csv' -m c@1"
    """
    kept: list[str] = []
    skip = False
    for text in args:
        name, equals, _ = text.partition("=")
        if skip:
            skip = False
        elif name in ELSEWHERE:
            skip = not equals
        elif text != "--force" and not _glued(text):
            kept.append(text)
    line = shlex.join(["abstain", *kept]) if kept else ""
    return line.encode("utf-8", "replace").decode()  # a file's name may be any bytes


def _glued(text: str) -> bool:
    return text.startswith(("-o", "-f")) and len(text) > 2
