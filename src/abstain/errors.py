"""What abstain tells a user when something is wrong.

AbstainError                 anything that ends in one clear line and exit code 2
├── InputError               a file or frame is not what was expected, with its place
└── UsageError               an argument is not what was expected
    └── UnknownNameError     a name nobody knows, with the nearest ones
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from abstain.callers import in_callers_words


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was found: a file (or the name of a frame) and perhaps a line.

    What has no lines (Parquet, a frame) has rows.
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
    """Anything that ends in one clear line."""


class InputError(AbstainError):
    """A file or frame is not what was expected."""

    def __init__(self, message: str, place: Place | str | None = None) -> None:
        self.message = message = in_callers_words(message)
        self.place = Place(place) if isinstance(place, str) else place
        super().__init__(message if self.place is None else f"{self.place}: {message}")


class UsageError(AbstainError):
    """An argument is not what was expected."""

    def __init__(self, message: str) -> None:
        super().__init__(in_callers_words(message))


class UnknownNameError(UsageError):
    """A name that nobody knows; the nearest known ones are shown."""

    def __init__(self, what: str, name: str, known: Iterable[str], *, hint: str = "") -> None:
        self.name = name
        self.nearest = nearest(name, known)
        tail = f" (nearest: {', '.join(self.nearest)})" if self.nearest else ""
        super().__init__(f"there is no {what} '{name}'{tail}{f'; {hint}' if hint else ''}")


def nearest(name: str, known: Iterable[str], *, most: int = 3) -> list[str]:
    """The known names that look most like a given one, the best first.

    >>> nearest("acuracy", ["accuracy", "c@1", "coverage"])
    ['accuracy']
    """
    from difflib import get_close_matches

    by_fold: dict[str, str] = {}
    for candidate in known:
        by_fold.setdefault(candidate.casefold(), candidate)
    found = get_close_matches(name.casefold(), by_fold, n=most, cutoff=0.6)
    return [by_fold[fold] for fold in found]


def plural(count: int, noun: str, many: str | None = None) -> str:
    """A count with its noun.

    >>> plural(1, "question"), plural(1200, "question")
    ('1 question', '1,200 questions')
    """
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def shown(text: str, *, most: int = 60) -> str:
    """A piece of somebody's data, quoted, made harmless and short enough for an error line.

    >>> shown("q7"), shown("a\\x1b[31m")
    ("'q7'", "'a\\\\x1b[31m'")
    """
    short = text if len(text) <= most else text[: most - 1] + "…"
    return "'" + "".join(c if c.isprintable() else repr(c)[1:-1] for c in short) + "'"


def some_of(names: Sequence[str], most: int = 3) -> str:
    """The first few of somebody's names.

    >>> some_of(["q1", "q2", "q3", "q4"])
    "'q1', 'q2', 'q3', …"
    """
    return ", ".join(map(shown, names[:most])) + (", …" if names[most:] else "")


def reason_of(error: BaseException) -> str:
    """An error of the system in a few words."""
    text = getattr(error, "strerror", None) or str(error)
    return text.splitlines()[0][:200] if text else type(error).__name__
