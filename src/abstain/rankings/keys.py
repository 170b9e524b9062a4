"""A row's query and document as one 64-bit number, and finding rows by it.

Two equal numbers are only a hint: the document ids themselves decide.
"""

from __future__ import annotations

import threading

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.measures.ranked_lists import Bools, Ints
from abstain.rankings.order import Codes

Keys = NDArray[np.uint64]
ODD = np.uint64(0x9E3779B97F4A7C15)
"""Spreads query numbers over 64 bits, so that a document hashes apart in two queries."""


def row_keys(codes: Codes, hashes: Keys) -> Keys:
    """A hash of each row's query and document, whose own hash is given."""
    return hashes ^ (codes.astype(np.uint64) * ODD)


KEPT = 1 << 22
"""Slots that are kept at most; more are made for one index and given back."""


class _Room(threading.local):
    """Memory for slots, kept by each thread for the next rows: new memory would cost the gain."""

    slots: NDArray[np.uint32] = np.zeros(0, np.uint32)


_room = _Room()


def _slots(size: int) -> NDArray[np.uint32]:
    if size > KEPT:
        return np.zeros(size, np.uint32)
    if len(_room.slots) < size:
        _room.slots = np.zeros(size, np.uint32)
    return _room.slots


class KeyIndex:
    """Where each key stands among some rows.

    Each row writes its number into the slot of its key, over any other. Only rows that do not
    find themselves there share a slot with one that stayed: these few are sorted. An index is
    good until its thread makes the next one, which takes its slots.
    """

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._bits = len(keys).bit_length() + 2
        self._slots = _slots(1 << self._bits)
        slots = self._slots_of(keys)
        rows = np.arange(len(keys), dtype=np.uint32)
        self._slots[slots] = rows
        stayed = self._slots[slots]
        lost = np.flatnonzero(stayed != rows)
        order = np.argsort(keys[lost])
        self._lost, self._lost_keys = lost[order], keys[lost[order]]
        repeats = (keys[lost] == keys[stayed[lost]]).any()
        self.all_differ = not (repeats or (self._lost_keys[1:] == self._lost_keys[:-1]).any())
        """Is no key there twice?"""

    def find(self, wanted: Keys) -> tuple[Ints, Ints]:
        """Rows that have a wanted key, and which one; each key may be in one row only."""
        # a slot that none of these rows wrote into holds any number
        rows = np.minimum(self._slots[self._slots_of(wanted)], len(self._keys) - 1)
        stayed: Bools = self._keys[rows] == wanted
        others = np.flatnonzero(~stayed)
        places = np.searchsorted(self._lost_keys, wanted[others])
        there = places < len(self._lost)
        others, places = others[there], places[there]
        there = self._lost_keys[places] == wanted[others]
        which = np.flatnonzero(stayed)
        return (
            np.concatenate((rows[which].astype(np.int64), self._lost[places[there]])),
            np.concatenate((which, others[there])),
        )

    def _slots_of(self, keys: Keys) -> Keys:
        return keys >> np.uint64(64 - self._bits)


def find_any(keys: Keys, wanted: Keys) -> tuple[Ints, Ints]:
    """The same where a key may be in several rows, which is next to never."""
    these = pl.DataFrame({"key": keys, "row": np.arange(len(keys))})
    those = pl.DataFrame({"key": wanted, "which": np.arange(len(wanted))})
    found = these.join(those, on="key")
    return found["row"].to_numpy(), found["which"].to_numpy()
