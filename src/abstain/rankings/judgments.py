"""The qrels, ready to be looked up: queries become numbers, query and document one key.

A key is a 64-bit number. Two equal keys are only a hint: the document ids themselves decide.
"""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.errors import UsageError
from abstain.measures.ranked_lists import Bools, Floats, Ints, Pool, offsets_of, spread

Codes = NDArray[np.uint32]  # the query of each row, as a number
Keys = NDArray[np.uint64]  # the query and the document of each row, as a number
NIL = -1.0  # stands for a grade where a row says that there is nothing more to find
UNJUDGED = -2.0  # stands for a grade where a document was in the pool and was not judged
DocumentsOf = Callable[[Ints], pl.Series]  # the document ids of some rows
ODD = np.uint64(0x9E3779B97F4A7C15)
"""Spreads query numbers over 64 bits, so that a document hashes apart in two queries."""


class RepeatedError(Exception):
    """A document, or where ranks are asked for a rank, twice in one query."""

    def __init__(self, query: str, *, doc: str | None = None, rank: int | None = None) -> None:
        super().__init__(query, doc, rank)
        self.query, self.doc, self.rank = query, doc, rank


class Judgments:
    """The queries of the qrels, numbered 0, 1, … in their order, and what is judged for them.

    A negative grade means "in the pool, not judged", as in trec_eval: such documents are matched
    in runs, but are not in ``pool``. ``nil`` is no document: its rows are left out, but their
    queries stay; with ``nil_ends`` it ends a run's list, behind documents of the same score.
    ``top`` is the grade worth a gain of 1, by default the largest, and ``also`` lists queries for
    which nothing may be judged.
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
        judged = len(names)
        if also:
            names = names.append(pl.Series(also, dtype=pl.String)).unique(maintain_order=True)
        # polars forgets categories of which no column is left, so one is kept
        self._held = names.cast(pl.Categorical(self._categories))
        self.queries: tuple[str, ...] = tuple(names)
        codes = self.encode(qrels["query"])
        keys = row_keys(codes, qrels["doc"].hash().to_numpy())
        if not all_differ(keys):
            self.refuse_repeats(codes, keys, qrels["doc"].gather)
        grades: Floats = qrels["rel"].cast(pl.Float64).to_numpy()
        known = grades >= 0
        documents: Bools = np.ones(len(grades), bool)
        if nil is not None:
            documents = (qrels["doc"] != nil).to_numpy()
            known = known | ~documents
        counts = np.bincount(codes[known], minlength=judged)[:judged]
        self.negative_only = tuple(self.queries[i] for i in np.flatnonzero(counts == 0))
        """Queries that the qrels give negative grades only: nothing was judged for them."""
        self.added = self.queries[judged:]
        """Those of ``also`` that the qrels lack."""
        rows = np.flatnonzero(documents)
        rows = rows[np.lexsort((-grades[rows], codes[rows]))]
        lengths = np.bincount(codes[rows], minlength=len(names))
        self._offsets = offsets_of(lengths)
        self._row = np.repeat(np.arange(len(names)), lengths)
        self._keys = keys[rows]
        # NIL stands after the judged documents, as if it were one
        ends = pl.Series([nil], dtype=pl.String)
        self._docs = qrels["doc"].gather(rows).append(ends).rechunk()
        self._grades = np.append(np.where(grades[rows] < 0, UNJUDGED, grades[rows]), NIL)
        rows = rows[grades[rows] >= 0]
        largest = float(grades[rows].max(initial=0.0))
        if top is not None and not largest <= top < np.inf:
            least = f"{largest:g}, the largest, or more"
            raise UsageError(f"the top grade must be {least} (got {top:g})")
        offsets = offsets_of(np.bincount(codes[rows], minlength=len(names)))
        self.pool = Pool(offsets, grades[rows], largest if top is None else top)

    def encode(self, queries: pl.Series, begins: Bools | None = None) -> Codes:
        """Numbers of queries, new ones the next; ``begins`` marks where a stretch of one begins."""
        if begins is None or 4 * np.count_nonzero(begins) > len(begins):
            return self._numbers(queries)
        starts = np.flatnonzero(begins)
        return np.repeat(self._numbers(queries[starts]), np.diff(starts, append=len(begins)))

    def _numbers(self, queries: pl.Series) -> Codes:
        return queries.cast(pl.Categorical(self._categories)).to_physical().to_numpy()

    def names(self) -> pl.Series:
        """All queries met so far, by number: those of the qrels, then others."""
        return self._categories.to_series()

    def candidates(
        self, codes: Codes, starts: Ints, keys: Keys, documents_of: DocumentsOf
    ) -> tuple[Ints, Ints]:
        """The rows, query by query, whose keys are those of a judged document or NIL, and which."""
        if not all_differ(keys):
            self.refuse_repeats(codes, keys, documents_of)
        heads = codes[starts]
        queries = heads[heads < len(self.queries)]
        offsets = self._offsets
        group, place = spread(offsets[queries + 1] - offsets[queries])
        judged = offsets[queries][group] + place
        rows, which = find(keys, self._keys[judged])
        same = codes[rows] == self._row[judged[which]]
        rows, which = rows[same], judged[which[same]]
        if self.nil is None:
            return rows, which
        nil_keys = row_keys(heads, pl.Series([self.nil]).hash().to_numpy())
        ends = np.flatnonzero(keys == np.repeat(nil_keys, np.diff(starts, append=len(keys))))
        return np.append(rows, ends), np.append(which, np.full(len(ends), len(self._keys)))

    def confirm(self, docs: pl.Series, judged: Ints) -> tuple[Bools, Floats]:
        return (docs == self._docs[judged]).to_numpy(), self._grades[judged]

    def refuse_repeats(self, codes: Codes, keys: Keys, documents_of: DocumentsOf) -> None:
        rows = pl.Series(keys).is_duplicated().arg_true().to_numpy().astype(np.int64)
        pairs = pl.DataFrame({"code": codes[rows], "doc": documents_of(rows)})
        again = pairs.filter(~pl.struct(pl.all()).is_first_distinct())
        if again.height:
            raise RepeatedError(self.names()[again["code"][0]], doc=again["doc"][0])


def row_keys(codes: Codes, hashes: Keys) -> Keys:
    return hashes ^ (codes.astype(np.uint64) * ODD)


def all_differ(keys: Keys | Codes) -> bool:
    ordered = np.sort(keys)
    return not (ordered[1:] == ordered[:-1]).any()


def find(keys: Keys, wanted: Keys) -> tuple[Ints, Ints]:
    these = pl.DataFrame({"key": keys, "row": np.arange(len(keys))})
    those = pl.DataFrame({"key": wanted, "which": np.arange(len(wanted))})
    pairs = these.join(those, on="key")
    return pairs["row"].to_numpy(), pairs["which"].to_numpy()
