"""What abstain says, kept in one file, so that a sentence is changed in one place.

A test says where it looks and which places and values must be there; the words around them stand in
`tests/snapshots.json`, by test. `make snapshots` writes that file anew: read its diff.

    with refuses(ab.InputError, "run.csv:3", "'q7'"):
        ab.score("gold.csv", "run.csv")
    says(result.notes[0], "12")
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).with_suffix(".json")
RENEWED = os.environ.get("ABSTAIN_SNAPSHOTS")
"""A folder that collects what tests see now; unset: compare with the file."""

LONGEST = 20_000
"""Characters of a text that a person would read in a diff."""
ROOT = Path(__file__).parents[1]
TEMPORARY = re.compile(
    rf"{re.escape(tempfile.gettempdir())}/pytest-of-[^/\s]+/pytest-\d+/(?:popen-gw\d+/)?[\w.-]+"
)
"""The folder of a test, whichever process runs it."""
SHARED = os.environ.get("ABSTAIN_SHARED", str(ROOT.parent / "shared"))
SECONDS = re.compile(r" in \d+\.\d+s\b")

_position: dict[str, int] = {}


@contextmanager
def refuses(
    kind: type[Exception] | tuple[type[Exception], ...], *parts: str
) -> Iterator[pytest.ExceptionInfo[Any]]:
    """As `pytest.raises`; the message has these parts, and the words that are on file."""
    with pytest.raises(kind) as caught:
        yield caught
    says(str(caught.value), *parts)


def says(text: Any, *parts: str) -> None:
    """A text (or plain data with texts) has these parts, and the words that are on file."""
    shown = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, default=list)
    missing = [part for part in parts if part not in shown]
    assert not missing, f"{missing} not in: {shown}"
    plain = (
        TEMPORARY.sub("<folder>", SECONDS.sub("", shown))
        .replace(str(ROOT), "<root>")
        .replace(SHARED, "<shared>")
    )
    assert len(plain) <= LONGEST, "too long for a snapshot: choose the part that matters"
    test, at = _entry()
    if RENEWED:
        _note([test, at, plain])
        return
    texts = _texts().get(test, [])
    on_file = _joined(texts[at]) if at < len(texts) else None
    assert plain == on_file, "other words than on file: `make snapshots`, then read the diff"


def to_renew(tests: list[pytest.Item]) -> list[pytest.Item]:
    """The tests that show words, all noted, so that the file forgets those that are gone."""
    chosen = [test for test in tests if _shows_words(test)]
    _note(*([_key(test.nodeid), -1, ""] for test in chosen))
    return chosen


def _shows_words(test: Any) -> bool:
    """Whether a test calls `says` or `refuses`, itself or by a function beside it."""
    called = set(test.function.__code__.co_names)
    beside = (vars(test.module).get(name) for name in called)
    helpers = (getattr(function, "__code__", None) for function in beside)
    called.update(*(code.co_names for code in helpers if code is not None))
    return not called.isdisjoint(("says", "refuses"))


def _note(*entries: list[Any]) -> None:
    with (Path(RENEWED or "") / str(os.getpid())).open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(entry) + "\n" for entry in entries)


def _key(test: str) -> str:
    return test if len(test) <= 160 else f"{test[:150]}…{zlib.crc32(test.encode()):08x}"


def _entry() -> tuple[str, int]:
    """The running test and how many texts it has shown before."""
    test = _key(os.environ["PYTEST_CURRENT_TEST"].rpartition(" (")[0])
    if test not in _position:
        _position.clear()
    at = _position[test] = _position.get(test, -1) + 1
    return test, at


@cache
def _texts() -> dict[str, list[str | list[str]]]:
    texts: dict[str, list[str | list[str]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return texts


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "\n".join(text)


def renew(folder: Path) -> None:
    """Put what tests saw into the file; tests that did not run keep what they have."""
    seen: dict[str, dict[int, str]] = {}
    for path in folder.iterdir():
        for line in path.read_text(encoding="utf-8").splitlines():
            test, at, text = json.loads(line)
            seen.setdefault(test, {})[at] = text
    functions = {test.partition("[")[0] for test in seen}
    before = _texts() if FILE.exists() else {}
    texts = {k: v for k, v in before.items() if k in seen or k.partition("[")[0] not in functions}
    for test, entries in seen.items():
        lines = [entries[at].split("\n") for at in sorted(entries) if at >= 0]
        if lines:
            texts[test] = [each[0] if len(each) == 1 else each for each in lines]
    ordered = {test: texts[test] for test in sorted(texts) if _is_there(test)}
    FILE.write_text(json.dumps(ordered, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _is_there(test: str) -> bool:
    """Whether a test still exists."""
    path, _, name = test.partition("[")[0].partition("::")
    file = ROOT / path
    return file.exists() and f"def {name}(" in file.read_text(encoding="utf-8")


if __name__ == "__main__":
    import sys

    renew(Path(sys.argv[1]))
