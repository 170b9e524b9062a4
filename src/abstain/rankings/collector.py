"""Takes the rows of a run batch by batch and ranks them.

In nearly every run file each query's rows stand together: a batch is ranked and forgotten. In
others each batch is sorted by query and kept, and ranked in chunks of queries at the end. Rows are
placed by numbers alone; only the document ids of rows that matter are looked at: whether each is
the judged one, and to order equal scores. Batches are looked at in threads, added in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from abstain.io.files import ahead
from abstain.measures.ranked_lists import Bools, Floats, Ints, offsets_of, spread
from abstain.rankings.judgments import (
    Codes,
    Judgments,
    Keys,
    RepeatedError,
    all_differ,
    row_keys,
)

CHUNK = 1 << 17  # rows ranked at a time when a whole run was gathered
WORKERS = 2  # chunks ranked at a time

NIL_WORDS = ("NIL", "nil", "-1")
"""How runs say that there is nothing more to find, in TREC 2001 and in the Qur'an QA tasks."""

MARKS = (
    pl.col("doc").hash().alias("hash"),
    pl.col("query").ne_missing(pl.col("query").shift()).alias("begins"),
)
"""What is asked of rows while they are read: a document's hash, where a query begins."""


class ScatteredError(Exception):
    """A query's rows stand far apart: the run has to be taken again, gathered whole."""


@dataclass(frozen=True)
class Rows:
    codes: Codes
    keys: Keys
    scores: Floats
    docs: pl.Series
    number: Ints | Codes | None = None
    """The place of each row's document, where it is not that of the row."""

    def documents(self, rows: Ints) -> pl.Series:
        return self.docs.gather(rows if self.number is None else self.number[rows])

    def between(self, start: int, end: int) -> Rows:
        some = slice(start, end)
        return Rows(self.codes[some], self.keys[some], self.scores[some], self.docs[some])

    def by_query(self) -> Rows:
        at = by_code(self.codes)
        number = at.astype(np.uint32)
        return Rows(self.codes[at], self.keys[at], self.scores[at], self.docs, number)

    @classmethod
    def together(cls, parts: Sequence[Rows]) -> Rows:
        if len(parts) == 1:
            return parts[0]
        docs = pl.concat([part.docs for part in parts], rechunk=True)
        names = ("codes", "keys", "scores")
        every = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return cls(docs=docs, **every)


class Hits(NamedTuple):
    """The judged documents of some rows: the query of each, its rank and grade (or NIL)."""

    code: Ints
    rank: Ints
    grade: Floats


@dataclass(frozen=True)
class Collected:
    hits: Hits
    """Its judged documents (and NILs), batch by batch."""
    lengths: Ints
    """Rows of each query, by number; of those that the qrels lack too."""
    nil_words: tuple[str, ...]
    """What looks like a NIL and is not the one that was passed."""
    unjudged: Ints
    """The numbers of its queries that the qrels lack, in the order in which they came."""


def together(parts: Sequence[Hits]) -> Hits:
    none = Hits(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    return Hits(*map(np.concatenate, zip(none, *parts, strict=True)))


def rank_rows(judgments: Judgments, rows: Rows, *, by_rank: bool) -> Hits:
    codes, scores = rows.codes, rows.scores
    starts = block_starts(codes)
    hits, judged = judgments.candidates(codes, starts, rows.keys, rows.documents)
    order = by_score(scores, starts)
    places = hits if order is None else places_of(hits, order)
    ordered = scores if order is None else scores[order]
    changes = np.ones(len(scores) + 1, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=changes[1:-1])
    changes[starts] = True
    if by_rank and not changes.all():
        repeated = np.flatnonzero(~changes)[0]
        raise RepeatedError(judgments.names()[int(codes[repeated])], rank=-int(ordered[repeated]))
    ranks = _ranks(places, starts)
    tied = ~(changes[places] & changes[places + 1])
    if tied.any():
        members, group = tied_rows(changes, places[tied])
        numbers = members if order is None else order[members]
        last = judgments.nil if judgments.nil_ends else None
        sorted_rows = _by_document(numbers, group, rows.documents(numbers), last)
        ranks[tied] = look_up(hits[tied], sorted_rows, _ranks(members, starts))
    same, grades = judgments.confirm(rows.documents(hits), judged)
    return Hits(codes[hits][same].astype(np.int64), ranks[same], grades[same])


def tied_rows(changes: Bools, places: Ints) -> tuple[Ints, Ints]:
    """The places of rows with the scores of some (``changes`` marks new ones), and their groups."""
    edges = np.flatnonzero(changes)
    held = np.unique(np.searchsorted(edges, places, "right") - 1)
    group, within = spread(edges[held + 1] - edges[held])
    return edges[held][group] + within, group


def _by_document(rows: Ints, group: Ints, docs: pl.Series, last: str | None) -> Ints:
    """The rows of each group by falling document id, with ``last`` behind all others."""
    members = pl.DataFrame({"group": group, "row": rows, "doc": docs})
    by = ["group", pl.col("doc").ne_missing(pl.lit(last)), "doc"]
    return members.sort(by, descending=[False, True, True])["row"].to_numpy()


def _ranks(places: Ints, starts: Ints) -> Ints:
    return places - starts[np.searchsorted(starts, places, "right") - 1] + 1


def block_starts(codes: Codes) -> Ints:
    starts = np.ones(len(codes), bool)
    np.not_equal(codes[1:], codes[:-1], out=starts[1:])
    return np.flatnonzero(starts)


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
    sorter = np.argsort(keys)
    return values[sorter[np.searchsorted(keys, wanted, sorter=sorter)]]


class Batch(NamedTuple):
    """Rows of one run that came together, and what can be known before those around them are."""

    rows: Rows
    heads: Codes
    starts: Ints
    inside: Hits | None
    """Of all queries but the first and the last; None where rows are scattered."""
    nil_words: Sequence[str]


def looked_at(
    judgments: Judgments, frames: Iterable[pl.DataFrame], *, by_rank: bool, gather: bool
) -> Iterator[tuple[str, Batch]]:
    """Rows (query, doc, score, run, marks) by run, in their order, each looked at in a thread."""

    def numbered() -> Iterator[tuple[str, pl.DataFrame, Codes]]:
        """Queries get their numbers in the order of rows, whichever thread is ahead."""
        for frame in frames:
            for name, rows in _by_run(frame):
                yield name, rows, judgments.encode(rows["query"], rows["begins"].to_numpy())

    def look(item: tuple[str, pl.DataFrame, Codes]) -> tuple[str, Batch]:
        return item[0], _batch(judgments, *item[1:], by_rank=by_rank, gather=gather)

    yield from ahead(numbered(), look)


def _by_run(frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    if frame.height and (frame["run"] == frame["run"][0]).all():
        yield frame["run"][0], frame
        return
    for (name,), rows in frame.partition_by("run", as_dict=True, maintain_order=True).items():
        yield str(name), rows.with_columns(MARKS)  # other rows stand before them now


def _batch(
    judgments: Judgments, frame: pl.DataFrame, codes: Codes, *, by_rank: bool, gather: bool
) -> Batch:
    keys = row_keys(codes, frame["hash"].to_numpy())
    rows = Rows(codes, keys, frame["score"].to_numpy(), frame["doc"])
    words = [word for word in NIL_WORDS if (rows.docs == word).any()]
    starts = block_starts(codes)
    heads = codes[starts]
    if gather or not all_differ(heads):
        return Batch(rows.by_query(), heads, starts, None, words)
    inside = rows.between(int(starts[:2][-1]), int(starts[-1]))
    return Batch(rows, heads, starts, rank_rows(judgments, inside, by_rank=by_rank), words)


class Collector:
    """Takes one run's batches in their order and finds the judged documents' ranks."""

    def __init__(self, judgments: Judgments, *, by_rank: bool = False) -> None:
        self._judgments, self._by_rank, self._gather = judgments, by_rank, False
        self._kept: list[Rows] = []
        self._hits: list[Hits] = []
        self._nil_words: set[str] = set()
        self._lengths = np.zeros(len(judgments.queries), np.int64)
        self._unjudged: dict[int, None] = {}

    def add(self, batch: Batch) -> None:
        rows, heads, starts, inside, nil_words = batch
        others = heads[heads >= len(self._judgments.queries)]
        self._unjudged |= dict.fromkeys(others.tolist())
        self._nil_words.update(nil_words)
        if inside is None and not self._gather:
            if self._hits:
                raise ScatteredError
            self._gather = True
        if self._gather or inside is None:
            self._kept.append(rows)
            return
        if self._kept and self._kept[-1].codes[-1] != heads[0]:
            self._rank()
        if len(starts) > 1:
            self._kept.append(rows.between(0, int(starts[1])))
            self._rank()
            self._count(heads[1:-1], np.diff(starts)[1:])
            self._hits.append(inside)
        self._kept.append(rows.between(int(starts[-1]), len(rows.codes)))  # it may go on

    def finish(self) -> Collected:
        if self._kept and self._gather:
            self._rank_by_query()
        elif self._kept:
            self._rank()
        words = tuple(sorted(self._nil_words - {self._judgments.nil}))
        others = np.array([*self._unjudged], np.int64)
        return Collected(together(self._hits), self._lengths, words, others)

    def _rank(self) -> None:
        rows = Rows.together(self._kept)
        self._kept = []
        self._count(rows.codes[:1], np.array([len(rows.codes)]))
        self._hits.append(rank_rows(self._judgments, rows, by_rank=self._by_rank))

    def _rank_by_query(self) -> None:
        kept = [rows if rows.number is not None else rows.by_query() for rows in self._kept]
        numbers = max(int(rows.codes[-1]) for rows in kept) + 1
        self._lengths = np.zeros(max(numbers, len(self._lengths)), np.int64)
        for rows in kept:
            self._lengths += np.bincount(rows.codes, minlength=len(self._lengths))
        chunk = np.cumsum(self._lengths) // CHUNK
        ends = np.append(np.flatnonzero(np.diff(chunk)) + 1, len(chunk)).astype(np.uint32)
        cuts = [[0, *np.searchsorted(rows.codes, ends).tolist()] for rows in kept]
        firsts = offsets_of(np.array([len(rows.codes) for rows in kept]))
        docs = pl.concat([rows.docs for rows in kept], rechunk=False)

        def ranked(number: int) -> Hits:
            parts = []
            for rows, first, cut in zip(kept, firsts, cuts, strict=False):
                some = slice(cut[number], cut[number + 1])
                assert rows.number is not None
                place = rows.number[some] + first
                parts.append((rows.codes[some], rows.keys[some], rows.scores[some], place))
            codes, keys, scores, places = map(np.concatenate, zip(*parts, strict=True))
            at = by_code(codes - (ends[number - 1] if number else np.uint32(0)))
            chunk = Rows(codes[at], keys[at], scores[at], docs, places[at])
            return rank_rows(self._judgments, chunk, by_rank=self._by_rank)

        with ThreadPoolExecutor(max_workers=WORKERS) as pool:
            self._hits += pool.map(ranked, range(len(ends)))

    def _count(self, heads: Codes, lengths: Ints) -> None:
        grown = int(heads.max(initial=0)) + 1 - len(self._lengths)
        if grown > 0:
            self._lengths = np.append(self._lengths, np.zeros(grown, np.int64))
        if self._lengths[heads].any():
            raise ScatteredError
        self._lengths[heads] = lengths
