"""What abstain tells a user when something is wrong.

                             code             meaning
AbstainError                 error            anything that ends in one clear line, exit code 2
├── InputError               input            a file or frame is not what was expected, and where
│   ├── MissingColumnError   missing-column   a table lacks a column that is needed
│   ├── RepeatedError        repeated         a question or another id appears twice
│   ├── TooLargeError        too-large        a file exceeds a bound (ABSTAIN_MAX_BYTES)
│   └── UndecidedError       undecided        the policy does not say what a response counts as
└── UsageError               usage            an argument is not what was expected
    └── UnknownNameError     unknown-name     there is no such name; with the nearest ones

`error.code` stays the same from version to version; the message may change.
A message may advise an option, written with `option`. `str(error)` names it as Python's argument,
`error.on_command_line()` as it is typed.
"""

from __future__ import annotations

import copyreg
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct

OPTION_NAMES = {
    "format": "from",
    "columns": "column",
    "grades": "grade",
    "names": "name",
    "measures": "measure",
    "parts": "part",
    "targets": "target",
}
"""Python's arguments whose options have another name; others differ by hyphens at most."""

_MARK = f"\0{os.urandom(8).hex()}\0"
"""Delimits a text in two wordings. It is random in each process, so no input can contain it."""


def option(name: str, value: str | float | Mapping[str, str] | None = None) -> str:
    """An option, by the name of its argument in Python, for the message of an error.

    >>> error = UsageError(f"say what it counts as: {option('policy', {'error': 'wrong'})}")
    >>> str(error)
    'say what it counts as: policy={"error": "wrong"}'
    >>> error.on_command_line()
    'say what it counts as: --policy error=wrong'
    """
    flag = "--" + OPTION_NAMES.get(name, name).replace("_", "-")
    if value is None:
        return _in_two_wordings(name, flag)
    if value is True:
        return _in_two_wordings(f"{name}=True", flag)
    import json
    from shlex import quote

    typed = value.items() if isinstance(value, Mapping) else ()
    texts = [f"{key}={item}" for key, item in typed] or [str(value)]
    return _in_two_wordings(
        f"{name}={json.dumps(value, ensure_ascii=False)}",
        " ".join(f"{flag} {quote(text)}" for text in texts),
    )


def _in_two_wordings(python: str, command_line: str) -> str:
    return f"{_MARK}{python}{_MARK}{command_line}{_MARK}"


class Place(Struct, frozen=True):
    """A place in the input: a file (or the name of a frame) and perhaps a line.

    Input without lines (Parquet, a frame) has rows instead.
    """

    path: str
    line: int | None = None
    row: int | None = None
    """Counted from 1."""

    def __str__(self) -> str:
        if self.row is not None:
            return f"{self.path}: row {self.row:,}"
        return self.path if self.line is None else f"{self.path}:{self.line}"


class AbstainError(Exception):
    code: ClassVar[str] = "error"

    def __init__(self, message: str, place: Place | None = None) -> None:
        pieces = message.split(_MARK)  # plain, Python's, the command line's, plain, …
        self.message = "".join(piece for at, piece in enumerate(pieces) if at % 3 != 2)
        self.typed = "".join(piece for at, piece in enumerate(pieces) if at % 3 != 1)
        self.place = place
        super().__init__(self._placed(self.message))

    def on_command_line(self) -> str:
        """The error with `--level 0.9` where Python has `level=0.9`."""
        return self._placed(self.typed)

    def quoted(self) -> str:
        """The message for another error, with its options in both wordings."""
        return _in_two_wordings(self.message, self.typed)

    def __reduce__(self) -> tuple[Any, ...]:
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]

    def _placed(self, text: str) -> str:
        return text if self.place is None else f"{self.place}: {text}"


class InputError(AbstainError):
    code = "input"

    def __init__(self, message: str, place: Place | str | None = None) -> None:
        super().__init__(message, Place(place) if isinstance(place, str) else place)


class MissingColumnError(InputError):
    code = "missing-column"


class RepeatedError(InputError):
    code = "repeated"


class TooLargeError(InputError):
    code = "too-large"


class UndecidedError(InputError):
    code = "undecided"


class UsageError(AbstainError):
    code = "usage"

    def __init__(self, message: str) -> None:
        super().__init__(message)


class UnknownNameError(UsageError):
    code = "unknown-name"

    def __init__(self, what: str, name: str, known: Iterable[str], *, hint: str = "") -> None:
        self.name = name
        self.nearest = nearest(str(name), known)
        tail = f" (nearest: {', '.join(self.nearest)})" if self.nearest else ""
        text = shown(str(name), most=200)
        super().__init__(f"there is no {what} {text}{tail}{f'; {hint}' if hint else ''}")


def check_name(what: str, name: str, known: Collection[str]) -> None:
    """Refuse a name that is not among the known ones, which the error lists."""
    if name not in known:
        there = "there is only" if len(known) == 1 else "there are"
        raise UnknownNameError(what, name, known, hint=f"{there} {', '.join(known) or 'none'}")


def nearest(name: str, known: Iterable[str], *, most: int = 3) -> list[str]:
    """The known names that look most like a name, the best first."""
    from difflib import get_close_matches

    by_fold = {candidate.casefold(): candidate for candidate in reversed(list(known))}
    result = get_close_matches(name.casefold(), by_fold, n=most, cutoff=0.6)
    return [by_fold[fold] for fold in result]


def plural(count: int, noun: str, many: str | None = None) -> str:
    """A count with its noun."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def shown(text: str, *, most: int = 60) -> str:
    """A text from user data, quoted, escaped and truncated for an error line."""
    short = text if len(text) <= most else text[: most - 1] + "…"
    return "'" + "".join(c if c.isprintable() else repr(c)[1:-1] for c in short) + "'"


def some_of(names: Sequence[str], most: int = 3) -> str:
    """The first few names from user data, quoted."""
    return ", ".join(map(shown, names[:most])) + (", …" if names[most:] else "")


def reason_of(error: BaseException | str) -> str:
    """The first line of an error or a text, at most 200 characters of it."""
    text = (getattr(error, "strerror", None) or str(error)).strip()
    return text.splitlines()[0][:200] if text else type(error).__name__
