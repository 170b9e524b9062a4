"""Putting the rows of many queries in rank order with as little sorting as they need."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstain.measures.ranked_lists import Bools, Floats, Ints

Codes = NDArray[np.uint32]
"""The query of each row, as a number."""


class RepeatedError(Exception):
    """A document, or where ranks are asked for a rank, twice in one query."""

    def __init__(self, query: str, *, doc: str | None = None, rank: int | None = None) -> None:
        super().__init__(query, doc, rank)
        self.query, self.doc, self.rank = query, doc, rank


def block_starts(codes: Codes) -> Ints:
    """Where a stretch of rows of one query begins."""
    starts = np.ones(len(codes), bool)
    np.not_equal(codes[1:], codes[:-1], out=starts[1:])
    return np.flatnonzero(starts)


def in_blocks(codes: Codes) -> bool:
    """Do each query's rows stand together?"""
    return len(block_starts(codes)) == np.count_nonzero(np.bincount(codes))


def by_code(codes: Codes) -> Ints:
    """A stable order by code; numpy sorts 16-bit numbers in linear time, so 16 bits at a time."""
    order = np.argsort(codes.astype(np.uint16), kind="stable")
    high = (codes >> np.uint32(16)).astype(np.uint16)
    return order[np.argsort(high[order], kind="stable")] if high.any() else order


def by_score(scores: Floats, starts: Ints) -> Ints | None:
    """Each block by falling score, equal scores in any order; None if that is how they stand."""
    rising = scores[1:] > scores[:-1]
    rising[starts[1:] - 1] = False
    if not rising.any():
        return None
    order = np.arange(len(scores))
    lengths = np.diff(starts, append=len(scores))
    # blocks of one length are the lines of a matrix; there are at most √(2·rows) lengths
    for length in np.unique(lengths[lengths > 1]):
        rows = starts[lengths == length, None] + np.arange(length)
        order[rows] = np.take_along_axis(rows, np.argsort(-scores[rows], axis=1), axis=1)
    return order


def places_of(rows: Ints, order: Ints) -> Ints:
    """Where a few of the rows stand in an order of all."""
    marked = np.zeros(len(order), bool)
    marked[rows] = True
    places = np.flatnonzero(marked[order])
    return look_up(rows, order[places], places)


def look_up(wanted: Ints, keys: Ints, values: Ints) -> Ints:
    """The value of each wanted key; every one is there."""
    sorter = np.argsort(keys)
    return values[sorter[np.searchsorted(keys, wanted, sorter=sorter)]]


def tied_groups(changes: Bools, places: Ints) -> tuple[Ints, Ints, Bools]:
    """Groups of several equal rows that hold one of the places: starts, lengths, places in one.

    ``changes`` marks the rows that differ from the one before.
    """
    begins = np.append(changes, True)
    tied = ~(begins[places] & begins[places + 1])
    if not tied.any():
        return places[:0], places[:0], tied
    edges = np.flatnonzero(begins)
    held = np.unique(np.searchsorted(edges, places[tied], "right") - 1)
    return edges[held], edges[held + 1] - edges[held], tied
