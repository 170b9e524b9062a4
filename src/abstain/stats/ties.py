"""Scores compared as numbers of a paper are: equal but for the rounding of their last digits.

Different counts may give one score (9 right of 30 with 20 blank: c@1 is 1/2, as with 15 right and
none blank) while their doubles differ in the last digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array

    Marks = npt.NDArray[np.bool_]


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
