"""Takes the rows of a run batch by batch and ranks them.

In nearly every run file each query's rows stand together: a batch is ranked and forgotten. In
others all rows are kept, and ranked in chunks at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from abstain.measures.ranked_lists import Ints
from abstain.rankings.judgments import Codes, Judgments, TextOf, row_keys
from abstain.rankings.placing import (
    NOTHING_FOUND,
    Found,
    Placed,
    Rows,
    block_starts,
    by_code,
    in_blocks,
    place,
    settle,
    text_in,
    together,
)

CHUNK = 1 << 16
"""Rows ranked at a time when a whole run was gathered."""

NIL_WORDS = ("NIL", "-1")
"""How runs say that there is nothing more to find, in TREC 2001 and in the Qur'an QA tasks."""

MARKS = (
    pl.col("doc").hash().alias("hash"),
    pl.col("query").ne_missing(pl.col("query").shift()).alias("begins"),
)
"""What is asked of rows while they are read: a document's hash, where a query begins."""

WORKERS = 2
"""Chunks ranked at a time."""


def nil_words(nil: str | None) -> list[str]:
    """What may be meant for a NIL, beside the one that was named.

    >>> nil_words("nil")
    ['NIL', '-1']
    """
    words = NIL_WORDS if nil is None else (*NIL_WORDS, nil.upper(), nil.lower())
    return [word for word in dict.fromkeys(words) if word != nil]


class ScatteredError(Exception):
    """A query's rows stand far apart: the run has to be taken again, gathered whole."""


@dataclass(frozen=True)
class Collected(Found):
    """All that is kept of a run: its judged documents (and NILs), by query and rank."""

    lengths: Ints
    """Rows of each query, by number; those of no gold query too."""
    nil_words: tuple[str, ...]
    """What looks like a NIL and is not the one that was named."""
    strangers: Ints
    """The numbers of its queries that are none of gold's, in the order in which they came: which
    numbers they have depends on what else is read at the same time."""

    @classmethod
    def of(
        cls,
        parts: Sequence[Found],
        lengths: Ints,
        nil_words: tuple[str, ...],
        strangers: Sequence[int] = (),
    ) -> Collected:
        """What was found of a run, in any order."""
        found = together([NOTHING_FOUND, *parts])
        order = np.lexsort((found.rank, found.code))
        others = np.array(strangers, np.int64)
        code, rank, grade = found.code[order], found.rank[order], found.grade[order]
        return cls(code, rank, grade, lengths, nil_words, others)


class Collector:
    """Takes one run's rows (query, doc, score, marks) and finds the judged documents' ranks."""

    def __init__(
        self,
        judgments: Judgments,
        *,
        given_ranks: bool = False,
        gather: bool = False,
    ) -> None:
        self._judgments = judgments
        self._given_ranks = given_ranks
        self._gather = gather
        self._kept: list[tuple[Rows, pl.Series]] = []
        self._found: list[Found] = []
        self._nil_words = dict.fromkeys(nil_words(judgments.nil), False)
        self._lengths = np.zeros(len(judgments.queries), np.int64)
        self._strangers: dict[int, None] = {}

    def add(self, rows: pl.DataFrame) -> None:
        """Takes the run's next rows."""
        if not rows.height:
            return
        codes = self._judgments.encode(rows["query"], rows["begins"].to_numpy())
        self._meet(codes)
        docs, keys = rows["doc"], row_keys(codes, rows["hash"].to_numpy())
        batch = Rows(codes, keys, rows["score"].to_numpy())
        for word, seen in self._nil_words.items():
            self._nil_words[word] = seen or bool((docs == word).any())
        if not self._gather and not in_blocks(codes):
            if self._found:
                raise ScatteredError
            self._gather = True
        if not self._gather:
            if self._kept and self._kept[-1][0].codes[-1] != codes[0]:
                self._rank(*self._taken())
            last = int(block_starts(codes)[-1])
            if last:
                self._kept.append((batch.between(0, last), docs[:last]))
                self._rank(*self._taken())
                batch, docs = batch.between(last, rows.height), docs[last:]
        self._kept.append((batch, docs))  # the last query may go on in the next batch

    def finish(self) -> Collected:
        """All that was found."""
        if self._kept:
            finally_rank = self._rank_by_query if self._gather else self._rank
            finally_rank(*self._taken())
        seen = tuple(word for word, there in self._nil_words.items() if there)
        return Collected.of(self._found, self._lengths, seen, tuple(self._strangers))

    def _meet(self, codes: Codes) -> None:
        """Notes queries that are none of gold's."""
        others = codes[codes >= len(self._judgments.queries)]
        if len(others):
            self._strangers |= dict.fromkeys(others[block_starts(others)].tolist())

    def _taken(self) -> tuple[Rows, TextOf]:
        kept, self._kept = self._kept, []
        text_of = text_in([docs for _, docs in kept])
        if len(kept) == 1:
            return kept[0][0], text_of
        codes, keys, scores = zip(*((b.codes, b.keys, b.scores) for b, _ in kept), strict=True)
        kept.clear()
        # column by column, so that no more than one is there twice
        all_scores = np.concatenate(scores)
        del scores
        all_keys = np.concatenate(keys)
        del keys
        return Rows(np.concatenate(codes), all_keys, all_scores), text_of

    def _rank(self, rows: Rows, text_of: TextOf) -> None:
        self._count(rows.codes)
        placed = place(self._judgments, rows, text_of, given_ranks=self._given_ranks)
        self._found.append(settle(self._judgments, placed, text_of))

    def _rank_by_query(self, rows: Rows, text_of: TextOf) -> None:
        order = by_code(rows.codes)
        codes = rows.codes[order]
        starts = self._count(codes)
        chunks = np.unique(np.searchsorted(starts, np.arange(0, starts[-1] + 1, CHUNK)))

        def placed(bounds: tuple[int, int]) -> Placed:
            some = order[slice(*bounds)]
            chunk = Rows(codes[slice(*bounds)], rows.keys[some], rows.scores[some], some)
            return place(self._judgments, chunk, text_of, given_ranks=self._given_ranks)

        with ThreadPoolExecutor(max_workers=WORKERS) as pool:
            bounds = pairwise([*starts[chunks].tolist(), len(order)])
            every = together(list(pool.map(placed, bounds)))
        self._found.append(settle(self._judgments, every, text_of))

    def _count(self, codes: Codes) -> Ints:
        """Notes how many rows each query has, and gives where they start."""
        starts = block_starts(codes)
        heads = codes[starts]
        grown = int(heads.max()) + 1 - len(self._lengths)
        if grown > 0:
            self._lengths = np.append(self._lengths, np.zeros(grown, np.int64))
        if self._lengths[heads].any():
            raise ScatteredError
        self._lengths[heads] = np.diff(starts, append=len(codes))
        return starts
