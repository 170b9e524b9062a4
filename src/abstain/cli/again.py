"""The command that was given, as it can be typed again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

ELSEWHERE = ("-o", "--output", "-f", "--format", "--threads")
"""Where a result goes, how it looks and how many help to make it: not what it is."""

_given: list[str] = []


def remember(args: Sequence[str]) -> None:
    """Keep the arguments of the command that is about to run."""
    _given[:] = args


def command() -> str:
    """The command, without where its result went: two such results are the same bytes."""
    return typed(_given)


def typed(args: Sequence[str]) -> str:
    """Arguments as one line for a shell; empty where there are none.

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


def with_command(data: Mapping[str, Any] | list[Any]) -> Mapping[str, Any] | list[Any]:
    """A result that says what it is, with the command that gave it."""
    if isinstance(data, list) or "kind" not in data or not _given:
        return data
    first = {name: data[name] for name in ("abstain", "kind")}
    return {**first, "command": command(), **data}
