"""The qrels, ready to be looked up: queries become numbers, query and document one key."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from abstain.errors import UsageError
from abstain.measures.ranked_lists import Bools, Floats, Ints, Pool, spread
from abstain.rankings.keys import KeyIndex, Keys, find_any, row_keys
from abstain.rankings.order import Codes, RepeatedError

NIL = -1.0
"""Stands for a grade where a row says that there is nothing more to find."""

TextOf = Callable[[Ints], pl.Series]
"""The document ids of some rows."""


class Judgments:
    """Gold's queries, numbered 0, 1, … in their order, and what is judged for them.

    A negative grade means "not judged", as in trec_eval, and ``nil`` is no document: such rows
    are left out, but their queries stay. ``top`` is the grade worth a gain of 1, by default
    the largest. ``also`` names queries for which nothing may be judged. With ``nil_ends`` a
    run's NIL ends its list, and stands behind documents of the same score.
    """

    def __init__(
        self,
        qrels: pl.DataFrame,
        *,
        nil: str | None = None,
        nil_ends: bool = True,
        top: float | None = None,
        also: Sequence[str] = (),
    ) -> None:
        self.nil, self.nil_ends = nil, nil_ends
        self._categories = pl.Categories.random()
        names = qrels["query"].unique(maintain_order=True)
        given = len(names)
        if also:
            names = names.append(pl.Series(also, dtype=pl.String)).unique(maintain_order=True)
        # polars forgets categories of which no column is left, so one is kept
        self._held = names.cast(pl.Categorical(self._categories))
        self.queries: tuple[str, ...] = tuple(names)
        codes = self.encode(qrels["query"])
        keys = row_keys(codes, qrels["doc"].hash().to_numpy())
        if not KeyIndex(keys).all_differ:
            self.refuse_repeats(codes, keys, qrels["doc"].gather)
        grades: Floats = qrels["rel"].cast(pl.Float64).to_numpy()
        judged = known = grades >= 0
        if nil is not None:
            documents = (qrels["doc"] != nil).to_numpy()
            judged, known = judged & documents, known | ~documents
        self.unknown = self._without(codes[known], given)
        """Queries of which the qrels say no more than that nothing was judged."""
        self.added = self.queries[given:]
        """Those of ``also`` that the qrels lack."""
        rows = np.flatnonzero(judged)
        rows = rows[np.lexsort((-grades[rows], codes[rows]))]
        self._keys = keys[rows]
        # NIL stands after the judged documents, as if it were one
        ends = pl.Series([nil], dtype=pl.String)
        self._docs = qrels["doc"].gather(rows).append(ends).rechunk()
        self._grades = np.append(grades[rows], NIL)
        largest = float(grades[rows].max(initial=0.0))
        if top is not None and not largest <= top < np.inf:
            raise UsageError(
                f"the top grade must be at least the largest, {largest:g} (got {top:g})"
            )
        lengths = np.bincount(codes[rows], minlength=len(names))
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        self.pool = Pool(offsets, grades[rows], largest if top is None else top)

    def _without(self, codes: Codes, among: int) -> tuple[str, ...]:
        """Those of the first queries that no code names."""
        counts = np.bincount(codes, minlength=among)[:among]
        return tuple(self.queries[i] for i in np.flatnonzero(counts == 0))

    def encode(self, queries: pl.Series, begins: Bools | None = None) -> Codes:
        """Numbers of queries; those not met before get the next ones.

        Where rows of a query stand together each stretch is looked up once, if ``begins`` says
        where they begin.
        """
        if begins is None or 4 * np.count_nonzero(begins) > len(begins):
            return self._numbers(queries)
        starts = np.flatnonzero(begins)
        return np.repeat(self._numbers(queries[starts]), np.diff(starts, append=len(begins)))

    def _numbers(self, queries: pl.Series) -> Codes:
        return queries.cast(pl.Categorical(self._categories)).to_physical().to_numpy()

    def names(self) -> pl.Series:
        """All queries met so far, by number: gold's, then others."""
        return self._categories.to_series()

    def candidates(
        self, codes: Codes, starts: Ints, keys: Keys, text_of: TextOf
    ) -> tuple[Ints, Ints]:
        """The rows that, by their keys, hold a judged document or NIL, and which of them.

        Each query's rows stand together, from ``starts`` on. Raises ``RepeatedError`` if a
        query has a document twice.
        """
        index = KeyIndex(keys)
        if not index.all_differ:
            self.refuse_repeats(codes, keys, text_of)
        heads = codes[starts]
        queries = heads[heads < len(self.queries)]
        offsets = self.pool.offsets
        group, place = spread(offsets[queries + 1] - offsets[queries])
        judged = offsets[queries][group] + place
        wanted = self._keys[judged]
        rows, which = index.find(wanted) if index.all_differ else find_any(keys, wanted)
        same = codes[rows] == self.pool.row[judged[which]]
        rows, which = rows[same], judged[which[same]]
        if self.nil is None:
            return rows, which
        nil_keys = row_keys(heads, pl.Series([self.nil]).hash().to_numpy())
        ends = np.flatnonzero(keys == np.repeat(nil_keys, np.diff(starts, append=len(keys))))
        return np.append(rows, ends), np.append(which, np.full(len(ends), len(self._keys)))

    def confirm(self, docs: pl.Series, judged: Ints) -> tuple[Bools, Floats]:
        """Which candidates are what their keys say, and the grades of all."""
        return (docs == self._docs[judged]).to_numpy(), self._grades[judged]

    def refuse_repeats(self, codes: Codes, keys: Keys, text_of: TextOf) -> None:
        """Raises ``RepeatedError`` if rows of equal keys have the same query and document."""
        rows = pl.Series(keys).is_duplicated().arg_true().to_numpy().astype(np.int64)
        pairs = pl.DataFrame({"code": codes[rows], "doc": text_of(rows)})
        again = pairs.filter(~pl.struct(pl.all()).is_first_distinct())
        if again.height:
            raise RepeatedError(self.names()[again["code"][0]], doc=again["doc"][0])
