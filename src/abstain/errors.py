"""What abstain tells a user when something is wrong.

AbstainError                 anything that ends in one clear line and exit code 2
├── InputError               a file or frame is not what was expected, with its place
└── UsageError               an argument is not what was expected
    └── UnknownNameError     a name nobody knows, with the nearest ones

A message may advise an option, written with `option`. `str(error)` names it as Python's argument,
`error.on_command_line()` as it is typed.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, wraps
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeVar, cast

from msgspec import Struct

if TYPE_CHECKING:
    from inspect import Signature

OPTION_NAMES = {
    "format": "from",
    "columns": "column",
    "grades": "grade",
    "names": "name",
    "measures": "measure",
    "parts": "part",
    "next_questions": "next",
}
"""Python's arguments whose options have another name; others differ by hyphens at most."""

_MARK = f"\0{os.urandom(8).hex()}\0"
"""Stands around a text in two wordings. No input can hold it: each process draws its own."""


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
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_literal(key)}: {_literal(own)}" for key, own in value.items())
        typed = " ".join(f"{flag} {_typed(f'{key}={own}')}" for key, own in value.items())
        return _in_two_wordings(f"{name}={{{pairs}}}", typed)
    return _in_two_wordings(f"{name}={_literal(value)}", f"{flag} {_typed(str(value))}")


def _in_two_wordings(python: str, command_line: str) -> str:
    return f"{_MARK}{python}{_MARK}{command_line}{_MARK}"


def _wordings(message: str) -> tuple[str, str]:
    """A message in Python's words and in those of the command line."""
    pieces = message.split(_MARK)  # plain, Python's, the command line's, plain, …
    python = "".join(piece for at, piece in enumerate(pieces) if at % 3 != 2)
    command_line = "".join(piece for at, piece in enumerate(pieces) if at % 3 != 1)
    return python, command_line


def _literal(value: str | float) -> str:
    if not isinstance(value, str):
        return str(value)
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_printable(escaped)}"'


def _typed(text: str) -> str:
    import shlex

    return shlex.quote(text)


class Place(Struct, frozen=True):
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

    def __init__(self, message: str, place: Place | None = None) -> None:
        self.message, self.typed = _wordings(message)
        self.place = place
        super().__init__(self._placed(self.message))

    def on_command_line(self) -> str:
        """The error with `--level 0.9` where Python has `level=0.9`."""
        return self._placed(self.typed)

    def quoted(self) -> str:
        """The message for another error, with its options in both wordings."""
        return _in_two_wordings(self.message, self.typed)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.args, vars(self))

    def _placed(self, text: str) -> str:
        return text if self.place is None else f"{self.place}: {text}"


def _again(kind: type[AbstainError], args: tuple[str, ...], held: dict[str, Any]) -> AbstainError:
    """An error from another process, as it was."""
    error = kind.__new__(kind, *args)
    vars(error).update(held)
    return error


class InputError(AbstainError):
    """A file or frame is not what was expected."""

    def __init__(self, message: str, place: Place | str | None = None) -> None:
        super().__init__(message, Place(place) if isinstance(place, str) else place)


class UsageError(AbstainError):
    """An argument is not what was expected."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


LONGEST_NAME = 200
"""Characters of a name that nobody knows."""


class UnknownNameError(UsageError):
    """A name that nobody knows; the nearest known ones are shown."""

    def __init__(self, what: str, name: str, known: Iterable[str], *, hint: str = "") -> None:
        self.name = name
        self.nearest = nearest(str(name), known)
        tail = f" (nearest: {', '.join(self.nearest)})" if self.nearest else ""
        said = shown(str(name), most=LONGEST_NAME)
        super().__init__(f"there is no {what} {said}{tail}{f'; {hint}' if hint else ''}")


def check_name(what: str, name: str, known: Collection[str]) -> None:
    """Refuse a name that is not among the known ones, which the error lists."""
    if name not in known:
        raise UnknownNameError(what, name, known, hint=f"there are {', '.join(known) or '–'}")


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


_SHORT = {"str | Measure": "Measure", "str | os.PathLike[str]": "Path"}
_ALIASES = {
    "Paths": "Path | Sequence[Path]",
    **dict.fromkeys(("Progress", "ResamplingProgress"), "Callable"),
    **dict.fromkeys(("Test", "Correction", "IntervalMethod", "Way", "Part", "Draws"), "str"),
    **dict.fromkeys(("Missing", "Ties", "BaselineKind", "Takes", "Match", "Align"), "str"),
    "Shape": "str",
    **dict.fromkeys(("Engine", "EngineName"), "str"),
}
"""Names of types in signatures, written out. Which texts there are is for whoever takes them."""

_TAKES: dict[str, tuple[str, str, Callable[[Any], bool]]] = {
    "None": ("", "", lambda value: value is None),
    "bool": ("True or False", "", lambda value: isinstance(value, bool)),
    "int": ("a whole number", "whole numbers", lambda value: _number(value, Integral)),
    "float": ("a number", "numbers", lambda value: _number(value, Real)),
    "str": ("a text", "texts", lambda value: isinstance(value, str)),
    "Path": (
        "the path of a file",
        "paths of files",
        lambda value: isinstance(value, (str, os.PathLike)),
    ),
    "Callable": ("a function", "functions", callable),
    "Measure": (
        "the name of a measure",
        "names of measures",
        lambda value: isinstance(value, str) or _is_measure(value),
    ),
}
"""Plain types as they are written: what to call one, what to call several, which values fit."""


def _is_measure(value: Any) -> bool:
    """Whether it is of a class above this layer, which is known by its name."""
    return any(kind.__name__ == "Measure" for kind in type(value).__mro__)


def _number(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _split(text: str, mark: str) -> list[str]:
    """A type's text at a mark that stands in no brackets."""
    found, depth = [""], 0
    for word in re.split(rf"({re.escape(mark)}|[\[\]])", text):
        depth += (word == "[") - (word == "]")
        if word == mark and not depth:
            found.append("")
        else:
            found[-1] += word
    return found


class _Kind(Struct, frozen=True):
    said: str
    many: str
    fits: Callable[[Any], bool]


@cache
def _kind(text: str) -> _Kind | None:
    """What a type in a signature asks for; None where that is for whoever takes the argument.

    >>> _kind("Sequence[str | Measure] | str | Measure").said
    'a list of names of measures or the name of a measure'
    """
    for written, short in _SHORT.items():
        text = text.replace(written, short)
    parts = _split(text, " | ")
    name, _, inner = text.partition("[")
    if text in _TAKES:
        return _Kind(*_TAKES[text])
    if text in _ALIASES:
        return _kind(_ALIASES[text])
    if len(parts) == 1 and name == "Callable":
        return _kind(name)
    if len(parts) == 1:
        parts = _split(inner.removesuffix("]"), ", ")
    kinds = [_kind(part) for part in parts if part]
    known = [kind for kind in kinds if kind is not None]
    if not known or len(known) < len(kinds):
        return None
    if len(_split(text, " | ")) == 1:
        return _several(name, known)
    return _Kind(
        " or ".join(dict.fromkeys(kind.said for kind in known if kind.said)),
        " or ".join(dict.fromkeys(kind.many for kind in known if kind.many)),
        lambda value: any(kind.fits(value) for kind in known),
    )


def _several(name: str, own: Sequence[_Kind]) -> _Kind | None:
    """A list, a mapping or a tuple of what `own` says."""
    if name == "Mapping":
        key, _ = own  # values may be numbers where they are texts: {"year": 2013}
        fits = lambda given: isinstance(given, Mapping) and all(map(key.fits, given))  # noqa: E731
        return _Kind(f"a mapping of {key.many}", "mappings", fits)
    if name == "tuple":
        pair = lambda given: (  # noqa: E731
            isinstance(given, (tuple, list))
            and len(given) == len(own)
            and all(kind.fits(value) for kind, value in zip(own, given, strict=True))
        )
        return _Kind("a pair", "pairs", pair)
    if name not in ("Sequence", "Collection", "Iterable"):
        return None
    (one,) = own

    def listed(given: Any) -> bool:
        alone = isinstance(given, (str, bytes))
        return isinstance(given, Collection) and not alone and all(map(one.fits, given))

    return _Kind(f"a list of {one.many}", "lists", listed)


F = TypeVar("F", bound=Callable[..., Any])


def checked(function: F) -> F:
    """A decorator: arguments that a function cannot take are refused in a line, by name."""

    @wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        check_call(function, args, named)
        return function(*args, **named)

    if "Unpack" in str(function.__annotations__):
        vars(call)["__signature__"] = spelled(function)
    return cast(F, call)


def spelled(function: Callable[..., Any]) -> Signature:
    """A signature that names each argument which `**reading: Unpack[Options]` stands for."""
    from inspect import Parameter, signature

    whole, named = signature(function), []
    for own in whole.parameters.values():
        if own.kind is not Parameter.VAR_KEYWORD:
            named.append(own)
            continue
        options = vars(sys.modules[function.__module__])[own.annotation[len("Unpack[") : -1]]
        for name, text in options.__annotations__.items():
            taken = f"{text.__forward_arg__.removesuffix(' | None')} | None"
            named.append(Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=taken))
    return whole.replace(parameters=named)


@cache
def _types(function: Callable[..., Any]) -> dict[str, str]:
    return {name: str(own.annotation) for name, own in spelled(function).parameters.items()}


def check_call(function: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Refuse arguments that a function does not take, by name or by their type."""
    types = _types(function)
    given = {**dict(zip(types, args, strict=False)), **named}
    check_types(types, given)
    if isinstance(seed := given.get("seed", 0), Integral):
        if int(seed) < 0:
            raise UsageError(f"the seed must be 0 or more (got {seed})")
        if int(seed) >= 2**63:
            raise UsageError("the seed must be below 2^63")


def check_types(types: Mapping[str, str], given: Mapping[str, Any]) -> None:
    """Refuse arguments of an unknown name or of another type than theirs, as signatures have it."""
    for name, value in given.items():
        if name not in types:
            raise UnknownNameError("argument", name, types)
        kind = _kind(types[name])
        if kind is not None and not kind.fits(value):
            raise UsageError(f"{name} is {kind.said} (got {shown(repr(value))[1:-1]})")


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
    return f"'{_printable(short)}'"


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def some_of(names: Sequence[str], most: int = 3) -> str:
    """The first few of somebody's names.

    >>> some_of(["q1", "q2", "q3", "q4"])
    "'q1', 'q2', 'q3', …"
    """
    return ", ".join(map(shown, names[:most])) + (", …" if names[most:] else "")


def reason_of(error: BaseException) -> str:
    """An error of the system in a few words."""
    text = (getattr(error, "strerror", None) or str(error)).strip()
    return text.splitlines()[0][:200] if text else type(error).__name__
