"""The ranks of the judged documents in some rows of a run.

Each query's rows stand together. Nothing is sorted that stands in order, and document ids are
compared only among equal scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from abstain.rankings.judgments import Judgments, row_keys
from abstain.rankings.layout import Bools, Floats, Ints, spread
from abstain.rankings.order import (
    Codes,
    RepeatedError,
    block_starts,
    by_score,
    look_up,
    places_of,
    tied_groups,
)

NIL = -1.0
"""Stands for a grade where a row says that there is nothing more to find."""


@dataclass(frozen=True)
class Rows:
    """Some rows of a run: query, document, score."""

    codes: Codes
    docs: pl.Series
    scores: Floats

    def between(self, start: int, end: int) -> Rows:
        """The rows from one place up to another."""
        return Rows(self.codes[start:end], self.docs[start:end], self.scores[start:end])


@dataclass(frozen=True)
class Found:
    """The judged documents of some rows."""

    code: Ints
    """Its query."""
    rank: Ints
    grade: Floats
    """NIL where the row says so."""


def rank_piece(judgments: Judgments, rows: Rows, *, nil: str | None, given_ranks: bool) -> Found:
    """Finds the judged documents and NILs, and their ranks.

    With ``given_ranks`` the scores stand for ranks, no two of which may be equal in a query.
    """
    codes, docs, scores = rows.codes, rows.docs, rows.scores
    starts = block_starts(codes)
    keys = row_keys(codes, docs)
    judgments.check_unique(codes, docs, keys)
    hits, grades = judgments.find(codes, starts, keys, docs)
    if nil is not None:
        ends = np.flatnonzero((docs == nil).to_numpy())
        hits = np.append(hits, ends)
        grades = np.append(grades, np.full(len(ends), NIL))
    order = by_score(scores, starts)
    places = hits if order is None else places_of(hits, order)
    scores = scores if order is None else scores[order]
    changes = np.ones(len(scores), bool)
    np.not_equal(scores[1:], scores[:-1], out=changes[1:])
    changes[starts] = True
    if given_ranks and not changes.all():
        place = np.flatnonzero(~changes)[0]
        raise RepeatedError(judgments.names()[int(codes[place])], rank=-int(scores[place]))
    places = _settle_ties(changes, places, hits, order, docs)
    start = starts[np.searchsorted(starts, places, "right") - 1]
    return Found(codes[hits].astype(np.int64), places - start + 1, grades)


def _settle_ties(
    changes: Bools, places: Ints, rows: Ints, order: Ints | None, docs: pl.Series
) -> Ints:
    """The places once rows of equal score are in falling order of document id."""
    starts, lengths, tied = tied_groups(changes, places)
    if not len(starts):
        return places
    group, within = spread(lengths)
    tied_places = starts[group] + within
    tied_rows = tied_places if order is None else order[tied_places]
    members = pl.DataFrame({"group": group, "row": tied_rows, "doc": docs.gather(tied_rows)})
    members = members.sort("group", "doc", descending=[False, True])
    settled = places.copy()
    settled[tied] = look_up(rows[tied], members["row"].to_numpy(), tied_places)
    return settled
