"""Scores that do not exist, in words, and whose they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

BLANK_RUN = "answer nothing"
"""The reference that is the same beside every run."""


def label(run: str, reference: str | None = None) -> str:
    """A run, or the reference beside it.

    >>> label("a"), label("a", "oracle"), label("a", "answer nothing")
    ('a', 'a: oracle', 'answer nothing')
    """
    if reference == BLANK_RUN:
        return BLANK_RUN
    return f"{run}: {reference}" if reference else run


def first_few(names: Iterable[str], most: int = 3) -> str:
    """Names in a sentence, each once; of many the first and how many more there are.

    >>> first_few("abba"), first_few("abcde")
    ('a, b', 'a, b, c and 2 more')
    """
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - most} more" if len(unique) > most else ""
    return ", ".join(unique[:most]) + more


def undefined_sentences(found: Iterable[tuple[str, Mapping[str, str]]]) -> list[str]:
    """For every measure that somebody lacks and every reason a sentence: who, measure → reason.

    >>> undefined_sentences([("a", {"F": "nothing is right"}), ("b", {"F": "nothing is right"})])
    ['F is undefined (–) where nothing is right: a, b.']
    """
    whose: dict[tuple[str, str], list[str]] = {}
    for who, reasons in found:
        for item in reasons.items():
            whose.setdefault(item, []).append(who)
    return [
        f"{name} is undefined (–) where {reason}: {first_few(own)}."
        for (name, reason), own in whose.items()
    ]
