"""How runs stand: their places and ties, averages over them, who leads, groups told apart.

Scores are compared as numbers of a paper are: equal but for the rounding of their last digits.
Different counts may give one score (9 right of 30 with 20 blank: c@1 is 1/2, as with 15 right and
none blank) while their doubles differ in the last digit.
"""

from __future__ import annotations

import string
import warnings
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct

from abstain.measures.arrays import Array, BoolArray

Marks = BoolArray


def same(scores: Array | Sequence[float], value: float) -> Marks:
    """Which scores equal a value; one that does not exist equals none."""
    return _close(np.asarray(scores, np.float64), value)


def at_least(scores: Array | Sequence[float], value: float) -> Marks:
    """Which scores reach a value."""
    return (np.asarray(scores, np.float64) >= value) | same(scores, value)


def above(scores: Array | Sequence[float], value: float) -> Marks:
    """Which scores are higher than a value."""
    return (np.asarray(scores, np.float64) > value) & ~same(scores, value)


def places(scores: Array | Sequence[float], *, higher_is_better: bool = True) -> list[str]:
    """The place of every score; ties share theirs, and a score that does not exist has none.

    >>> places([0.5, 0.7, 0.5])
    ['2=', '1', '2=']
    """
    values = np.asarray(scores, np.float64)
    if len(values) == 1:  # as in each of many slices of one run
        return ["" if np.isnan(values[0]) else "1"]
    best_first = np.argsort(-values if higher_is_better else values)  # what is not a number last
    best_first = best_first[: np.count_nonzero(~np.isnan(values))]
    ordered = values[best_first]
    begins = np.flatnonzero(np.append(True, ~_close(ordered[1:], ordered[:-1])))
    sizes = np.diff(np.append(begins, len(ordered)))
    found = [""] * len(values)
    for first, size in zip(begins.tolist(), sizes.tolist(), strict=True):
        for at in best_first[first : first + size]:
            found[at] = f"{first + 1}{'=' if size > 1 else ''}"
    return found


def _close(a: Array, b: Array | float) -> Marks:
    return np.isclose(a, b, rtol=1e-12, atol=1e-15)


def following(tied: Sequence[str]) -> str:
    """Who comes next, one run or several that are level.

    >>> following(["a"]), following(["a", "b"]), following(["a", "b", "c", "d"])
    ('the next is a', 'the next are a and b', 'the next are a and 3 others')
    """
    if len(tied) == 1:
        return f"the next is {tied[0]}"
    others = tied[1] if len(tied) == 2 else f"{len(tied) - 1} others"
    return f"the next are {tied[0]} and {others}"


def over_runs(scores: Array) -> dict[str, Array]:
    """Mean, median and standard deviation over the first axis; NaN stays out of each.

    The deviation is that of a population (divided by n): it describes the runs that there are, as
    the QA4MRE overviews do. A column without a single number has none of them.
    """
    whole = scores.size and not np.isnan(scores).any()
    of_whole, of_some = (np.mean, np.median, np.std), (np.nanmean, np.nanmedian, np.nanstd)
    mean, median, deviation = of_whole if whole else of_some
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return {
            "mean": mean(scores, axis=0),
            "median": median(scores, axis=0),
            "standard deviation": deviation(scores, axis=0),
        }


class Lead(Struct, frozen=True):
    """A stretch of t over which one run is ahead; `run` is None where silence is."""

    start: float
    stop: float
    run: int | None


def leads(right: Array | Sequence[float], wrong: Array | Sequence[float]) -> list[Lead]:
    """Who leads from t = 0 to 1, by the shares right and wrong; of equals the first.

    With o = t/(1−t), the penalised score S = c − o·w of a run is a straight line in o. The best of
    all runs is the upper hull of these lines, and answering nothing is the line that stays at 0.
    At odds of 1 (t = 1/2) the first, bolder run falls behind the second, at 3 silence takes over:

    >>> [(round(lead.start, 3), lead.run) for lead in leads([0.6, 0.3], [0.4, 0.1])]
    [(0.0, 0), (0.5, 1), (0.75, None)]
    """
    c = np.append(np.asarray(right, np.float64), 0.0)
    w = np.append(np.asarray(wrong, np.float64), 0.0)
    silence = len(c) - 1
    exists = ~(np.isnan(c) | np.isnan(w))
    c, w = np.where(exists, c, -1.0), np.where(exists, w, 2.0)
    odds = 0.0
    best = int(np.lexsort((np.arange(len(c)), w, -c))[0])
    found: list[Lead] = []
    while True:
        gentler = w < w[best] - 1e-15
        stop = np.inf
        follows = best
        if gentler.any():
            meets = np.where(gentler, (c[best] - c) / np.where(gentler, w[best] - w, 1.0), np.inf)
            stop = max(odds, float(meets.min()))
            at = np.flatnonzero(np.isclose(meets, stop, rtol=1e-12, atol=1e-15) | (meets <= stop))
            follows = int(at[np.lexsort((at, w[at]))[0]])
        run = None if best == silence else best
        if stop > odds or not found:
            ends = 1.0 if np.isinf(stop) else stop / (1 + stop)
            if ends > odds / (1 + odds):
                found.append(Lead(odds / (1 + odds), ends, run))
        if np.isinf(stop):
            return found
        odds, best = stop, follows


MOST = 2_000
"""Columns of letters that are shown."""


def letter_groups(size: int, different: Sequence[tuple[int, int]]) -> list[list[int]] | None:
    """Runs that cannot be told apart, as letters beside a leaderboard (a compact letter display).

    The columns as lists of members, in the order of their members; None: too many to show. Two runs
    share a letter exactly if they were not found different. Piepho (2004), insert and absorb: every
    difference splits each column that holds both runs; columns inside others are absorbed.

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
