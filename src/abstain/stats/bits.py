"""Sets of questions as strings of bits: what two sets share, 64 questions at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import IntArray

    Words = npt.NDArray[np.uint64]

WORD = 64
ROOM = 1 << 15
"""Counts that are worked on at once: what stays in a processor's cache."""


def packed(members: npt.NDArray[np.bool_]) -> Words:
    """Sets (sets × questions) as words (words × sets).

    >>> packed(np.array([[True, False, True]]))
    array([[160]], dtype=uint64)
    """
    tight = np.packbits(members, axis=-1)
    words = -(-members.shape[-1] // WORD)
    wide = np.zeros((len(members), words * WORD // 8), np.uint8)
    wide[:, : tight.shape[-1]] = tight
    whole: Any = wide.view(np.uint64).astype(np.uint64, copy=False)
    return np.ascontiguousarray(whole.T)


def in_common(ours: Words, theirs: Words) -> IntArray:
    """How many questions each of our sets shares with each of theirs: ours × theirs.

    >>> sets = packed(np.array([[True, True, False], [False, True, True]]))
    >>> in_common(sets, sets)
    array([[2, 1],
           [1, 2]])
    """
    rows, columns = ours.shape[1], theirs.shape[1]
    found = np.zeros((rows, columns), np.int64)
    step = max(1, ROOM // max(1, columns))
    for start in range(0, rows, step):
        own = found[start : start + step]
        for a, b in zip(ours[:, start : start + step], theirs, strict=True):
            own += np.bitwise_count(a[:, None] & b)
    return found
