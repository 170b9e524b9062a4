"""Takes the rows of a run batch by batch and ranks them.

Where each query's rows stand together, as in nearly every run file, a batch is dealt with and
forgotten; where they do not, all are kept and put together at the end, piece by piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from abstain.rankings.judgments import Judgments
from abstain.rankings.layout import Floats, Ints
from abstain.rankings.order import block_starts, by_code, in_blocks
from abstain.rankings.piece import Found, Rows, rank_piece

PIECE = 1 << 16
"""Rows ranked at a time when a whole run was gathered."""


class ScatteredError(Exception):
    """A query's rows stand far apart: the run has to be taken again, gathered whole."""


@dataclass(frozen=True)
class Collected:
    """All that is kept of a run, by query and rank."""

    code: Ints
    """Query of each judged document (and of each NIL)."""
    rank: Ints
    grade: Floats
    lengths: Ints
    """Rows of each query, by number; those of no gold query too."""


class Collector:
    """Takes one run's rows (query, doc, score) and finds the ranks of the judged documents."""

    def __init__(
        self,
        judgments: Judgments,
        *,
        nil: str | None = None,
        given_ranks: bool = False,
        gather: bool = False,
    ) -> None:
        self._judgments = judgments
        self._nil = nil
        self._given_ranks = given_ranks
        self._gather = gather
        self._kept: list[Rows] = []
        self._found: list[Found] = []
        self._lengths = np.zeros(len(judgments.queries), np.int64)

    def add(self, rows: pl.DataFrame) -> None:
        """Takes the run's next rows."""
        if not rows.height:
            return
        batch = Rows(self._judgments.encode(rows["query"]), rows["doc"], rows["score"].to_numpy())
        if not self._gather and not in_blocks(batch.codes):
            if self._found:
                raise ScatteredError
            self._gather = True
        if not self._gather:
            if self._kept and self._kept[-1].codes[-1] != batch.codes[0]:
                self._rank(self._taken())
            last = int(block_starts(batch.codes)[-1])
            if last:
                self._kept.append(batch.between(0, last))
                self._rank(self._taken())
                batch = batch.between(last, rows.height)
        self._kept.append(batch)  # the last query may go on in the next batch

    def finish(self) -> Collected:
        """All that was found."""
        if self._kept:
            finally_rank = self._rank_by_query if self._gather else self._rank
            finally_rank(self._taken())
        none = Found(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
        found = [none, *self._found]
        code = np.concatenate([each.code for each in found])
        rank = np.concatenate([each.rank for each in found])
        grade = np.concatenate([each.grade for each in found])
        order = np.lexsort((rank, code))
        return Collected(code[order], rank[order], grade[order], self._lengths)

    def _taken(self) -> Rows:
        kept, self._kept = self._kept, []
        if len(kept) == 1:
            return kept[0]
        codes, docs, scores = zip(*((r.codes, r.docs, r.scores) for r in kept), strict=True)
        kept.clear()
        # column by column, so that no more than one is there twice
        all_scores = np.concatenate(scores)
        del scores
        all_codes = np.concatenate(codes)
        del codes
        return Rows(all_codes, pl.concat(docs, rechunk=self._gather), all_scores)

    def _rank_by_query(self, rows: Rows) -> None:
        order = by_code(rows.codes)
        codes = rows.codes[order]
        starts = block_starts(codes)
        pieces = np.unique(np.searchsorted(starts, np.arange(0, starts[-1] + 1, PIECE)))
        for start, end in pairwise([*starts[pieces], len(order)]):
            some = order[start:end]
            self._rank(Rows(codes[start:end], rows.docs.gather(some), rows.scores[some]))

    def _rank(self, rows: Rows) -> None:
        starts = block_starts(rows.codes)
        heads = rows.codes[starts]
        grown = int(heads.max()) + 1 - len(self._lengths)
        if grown > 0:
            self._lengths = np.append(self._lengths, np.zeros(grown, np.int64))
        if self._lengths[heads].any():
            raise ScatteredError
        self._lengths[heads] = np.diff(starts, append=len(rows.codes))
        nil, given_ranks = self._nil, self._given_ranks
        self._found.append(rank_piece(self._judgments, rows, nil=nil, given_ranks=given_ranks))
