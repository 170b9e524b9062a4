"""Options in the words of who asked: `--from csv` on the command line, `format="csv"` in Python.

Rooms write their advice as for the command line. Errors pass through `in_callers_words`, which is
the one place where it is turned into Python's arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

ARGUMENTS = {
    "from": "format",
    "column": "columns",
    "grade": "grades",
    "measure": "measures",
}
"""Arguments that Python calls otherwise; those of other options differ by hyphens at most."""

MAPPINGS = ("column", "grade")
"""Options that are given again for each pair; in Python they are one mapping."""

WORDS = (
    *("position", "rank", "given", "polars", "duckdb", "spark"),
    *("randomisation", "bootstrap", "bh", "agreement", "stability"),
)
"""Values that stand in advice as words of their own; any other word goes on with the sentence."""

_PAIR = r"(?:'[^'=]+=[^']+'|[^\s=;,()']+=[^\s;,()']+)"
_PAIRS = re.compile(rf"--({'|'.join(MAPPINGS)}) {_PAIR}(?: (?:--\1 )?{_PAIR})*")
_VALUE = re.compile(
    r"--([a-z][a-z-]*[a-z]) "
    rf"({_PAIR}|[\w-]+:[^\s;,()]+|\d[\d,.]*|[A-Z]{{2,}}|(?:{'|'.join(WORDS)})\b)"
)
_BARE = re.compile(r"(?<![\w'/-])--([a-z][a-z-]*[a-z])")

_on_command_line = False


@contextmanager
def command_line() -> Iterator[None]:
    """While it lasts, a person at the command line asks."""
    global _on_command_line  # noqa: PLW0603
    before, _on_command_line = _on_command_line, True
    try:
        yield
    finally:
        _on_command_line = before


def in_callers_words(message: str) -> str:
    """A message whose advice names options, as this caller would write them.

    >>> in_callers_words("say what they count as: --policy error=wrong")
    'say what they count as: policy="error=wrong"'
    >>> in_callers_words("mapped with --column question=id --column answer=output")
    'mapped with columns={"question": "id", "answer": "output"}'
    >>> in_callers_words("--cluster goes with --interval: it makes intervals")
    'cluster goes with ci: it makes intervals'
    """
    if _on_command_line or "--" not in message:
        return message
    parts = re.split(r"(`abstain [^`]*`)", message)  # a command to run stays one
    return "".join(part if part.startswith("`abstain ") else _in_python(part) for part in parts)


def _in_python(text: str) -> str:
    text = _PAIRS.sub(_mapping, text)
    text = _VALUE.sub(lambda found: f"{_argument(found[1])}={_literal(found[2])}", text)
    return _BARE.sub(lambda found: _argument(found[1]), text)


def _argument(option: str) -> str:
    return ARGUMENTS.get(option, option.replace("-", "_"))


def _mapping(found: re.Match[str]) -> str:
    pairs = [pair.strip("'").rpartition("=") for pair in re.findall(_PAIR, found[0])]
    shown = ", ".join(f'"{name}": "{value}"' for name, _, value in pairs)
    return f"{_argument(found[1])}={{{shown}}}"


def _literal(value: str) -> str:
    number = value.rstrip(".,")
    if re.fullmatch(r"[\d,.]+", number):
        return number.replace(",", "_") + value[len(number) :]
    return value if value.isupper() and "=" not in value else f'"{value}"'
