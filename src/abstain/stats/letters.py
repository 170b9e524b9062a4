"""Groups that cannot be told apart, as letters beside a leaderboard (a compact letter display).

Two runs share a letter exactly if they were not found different. Piepho (2004), insert and absorb:
every difference splits each column that holds both runs; columns inside others are absorbed.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from itertools import combinations

MOST = 2_000


def letter_groups(size: int, different: Sequence[tuple[int, int]]) -> list[list[int]] | None:
    """The columns as lists of members, in the order of their members; None: too many to show.

    >>> letter_groups(3, [(0, 2)])
    [[0, 1], [1, 2]]
    """
    columns = [(1 << size) - 1] if size else []
    for a, b in different:
        both = 1 << a | 1 << b
        split = [c for c in columns if c & both == both]
        if not split:
            continue
        kept = [c for c in columns if c & both != both]
        made = [c & ~(1 << x) for c in split for x in (a, b)]
        made = sorted(set(made), key=int.bit_count, reverse=True)
        for column in made:
            if not any(column & ~other == 0 for other in kept):
                kept.append(column)
        columns = kept
        if len(columns) > MOST:
            return None
    members = [[i for i in range(size) if column >> i & 1] for column in columns]
    return sorted(_swept(members))


def _swept(groups: list[list[int]]) -> list[list[int]]:
    """Without the columns whose every pair stands together in another one."""

    def pairs(group: list[int]) -> set[tuple[int, int]]:
        return {(i, i) for i in group} | set(combinations(group, 2))

    times: dict[tuple[int, int], int] = {}
    for group in groups:
        for pair in pairs(group):
            times[pair] = times.get(pair, 0) + 1
    kept = []
    for group in sorted(groups, key=len):
        own = pairs(group)
        if all(times[pair] > 1 for pair in own):
            for pair in own:
                times[pair] -= 1
        else:
            kept.append(group)
    return kept


def letters(size: int, groups: Sequence[Sequence[int]]) -> list[str]:
    """The letters of each run; four and more in a row are written as a range.

    >>> letters(3, [[0, 1], [1, 2]])
    ['a', 'ab', 'b']
    """
    own: list[list[int]] = [[] for _ in range(size)]
    for number, group in enumerate(groups):
        for member in group:
            own[member].append(number)
    return [_written(numbers) for numbers in own]


def _written(numbers: list[int]) -> str:
    pieces: list[str] = []
    start = 0
    for end in range(1, len(numbers) + 1):
        if end < len(numbers) and numbers[end] == numbers[end - 1] + 1:
            continue
        stretch = numbers[start:end]
        if len(stretch) > 3:
            pieces.append(f"{_name(stretch[0])}–{_name(stretch[-1])}")
        else:
            pieces += [_name(n) for n in stretch]
        start = end
    return "".join(pieces)


def _name(number: int) -> str:
    sign = string.ascii_letters[number % 52]
    return sign if number < 52 else f"{sign}{number // 52}"
