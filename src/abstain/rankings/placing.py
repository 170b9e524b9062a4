"""The ranks of the judged documents in some rows of a run.

Rows are placed by numbers alone: their queries, the keys of their documents, their scores. Each
query's rows stand together, and nothing is sorted that stands in order. Only then are document
ids looked at, those of the rows that matter: they say whether a document is the judged one, and
they order equal scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TypeVar

import numpy as np
import polars as pl

from abstain.measures.ranked_lists import Bools, Floats, Ints, spread
from abstain.rankings.judgments import Codes, Judgments, Keys, RepeatedError, TextOf


@dataclass(frozen=True)
class Rows:
    """Some rows of a run as numbers."""

    codes: Codes
    keys: Keys
    scores: Floats
    number: Ints | None = None
    """What the rows are called, where that is not their place."""

    def numbers(self, rows: Ints) -> Ints:
        """What these rows are called."""
        return rows if self.number is None else self.number[rows]

    def between(self, start: int, end: int) -> Rows:
        """The rows from one place up to another."""
        return Rows(self.codes[start:end], self.keys[start:end], self.scores[start:end])


@dataclass(frozen=True)
class Placed:
    """The rows that may hold judged documents, with ranks that are right but for ties."""

    code: Ints
    """Its query."""
    row: Ints
    rank: Ints
    judged: Ints
    """What it may hold."""
    tied: Bools
    """Whether another row of its query has its score."""
    group_rows: Ints
    """Of each score that one of them shares: all rows that have it, group after group."""
    group_lengths: Ints
    group_ranks: Ints
    """The first rank of each group."""


@dataclass(frozen=True)
class Found:
    """The judged documents of some rows."""

    code: Ints
    """Its query."""
    rank: Ints
    grade: Floats
    """NIL where the row says so."""


NOTHING_FOUND = Found(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
Part = TypeVar("Part", Placed, Found)


def together(parts: Sequence[Part]) -> Part:
    """What was placed or found in several chunks, each of which has its own queries."""
    names = [field.name for field in fields(parts[0])]
    return type(parts[0])(*(np.concatenate([getattr(p, n) for p in parts]) for n in names))


def text_in(chunks: Sequence[pl.Series]) -> TextOf:
    """Looks up a column of text in chunks as they came, which are never put together."""
    if len(chunks) == 1:
        return chunks[0].gather
    starts = np.cumsum([0, *(len(chunk) for chunk in chunks)])

    def gather(rows: Ints) -> pl.Series:
        order = np.argsort(rows)
        ends = np.searchsorted(rows, starts, sorter=order)
        parts = [
            chunk[rows[order[a:b]] - start]
            for chunk, start, (a, b) in zip(
                chunks, starts[:-1], pairwise(ends.tolist()), strict=True
            )
            if b > a
        ]
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return pl.concat(parts)[back] if parts else chunks[0][:0]

    return gather


def place(judgments: Judgments, rows: Rows, text_of: TextOf, *, given_ranks: bool) -> Placed:
    """Finds the rows that may hold judged documents or NILs, and their ranks.

    With ``given_ranks`` the scores stand for ranks, no two of which may be equal in a query.
    """
    codes, scores = rows.codes, rows.scores
    starts = block_starts(codes)
    hits, judged = judgments.candidates(
        codes, starts, rows.keys, lambda some: text_of(rows.numbers(some))
    )
    order = by_score(scores, starts)
    places = hits if order is None else places_of(hits, order)
    scores = scores if order is None else scores[order]
    changes = np.ones(len(scores), bool)
    np.not_equal(scores[1:], scores[:-1], out=changes[1:])
    changes[starts] = True
    if given_ranks and not changes.all():
        repeated = np.flatnonzero(~changes)[0]
        raise RepeatedError(judgments.names()[int(codes[repeated])], rank=-int(scores[repeated]))
    groups, lengths, tied = tied_groups(changes, places)
    group, within = spread(lengths)
    members = groups[group] + within
    return Placed(
        code=codes[hits].astype(np.int64),
        row=rows.numbers(hits),
        rank=_ranks(places, starts),
        judged=judged,
        tied=tied,
        group_rows=rows.numbers(members if order is None else order[members]),
        group_lengths=lengths,
        group_ranks=_ranks(groups, starts),
    )


def settle(judgments: Judgments, placed: Placed, text_of: TextOf) -> Found:
    """The document ids decide which candidates are judged, and how equal scores are ordered."""
    same, grades = judgments.confirm(text_of(placed.row), placed.judged)
    last = judgments.nil if judgments.nil_ends else None
    rank = _settled_ranks(placed, text_of, last) if placed.tied.any() else placed.rank
    return Found(placed.code[same], rank[same], grades[same])


def _settled_ranks(placed: Placed, text_of: TextOf, last: str | None) -> Ints:
    """The ranks once rows of equal score are in falling order of document id.

    ``last`` stands behind all others: a list ends after the documents that are worth as much.
    """
    group, within = spread(placed.group_lengths)
    rows = placed.group_rows
    members = pl.DataFrame({"group": group, "row": rows, "doc": text_of(rows)})
    by = ["group", pl.col("doc").ne_missing(last), "doc"] if last is not None else ["group", "doc"]
    members = members.sort(by, descending=[False, *[True] * (len(by) - 1)])
    ranks = placed.rank.copy()
    ranks[placed.tied] = look_up(
        placed.row[placed.tied], members["row"].to_numpy(), placed.group_ranks[group] + within
    )
    return ranks


def _ranks(places: Ints, starts: Ints) -> Ints:
    return places - starts[np.searchsorted(starts, places, "right") - 1] + 1


# --------------------------------------------------- rank order, with as little sorting as it needs


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
