"""The qrels, ready to be looked up.

Queries become numbers, and a row's query and document one 64-bit hash. Two equal hashes are
only a hint: the document ids themselves decide.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.errors import UsageError
from abstain.rankings.layout import Floats, Ints, Pool, spread
from abstain.rankings.order import Codes, RepeatedError

Keys = NDArray[np.uint64]
ODD = np.uint64(0x9E3779B97F4A7C15)
"""Spreads query numbers over 64 bits, so that a document hashes apart in two queries."""


class Judgments:
    """Gold's queries, numbered 0, 1, … in their order, and what is judged for them.

    A negative grade means "not judged", as in trec_eval, and ``nil`` is no document: such rows
    are left out, but their queries stay. ``top`` is the grade worth a gain of 1, by default
    the largest. ``also`` names queries for which nothing may be judged.
    """

    def __init__(
        self,
        qrels: pl.DataFrame,
        *,
        nil: str | None = None,
        top: float | None = None,
        also: Sequence[str] = (),
    ) -> None:
        self._slots = np.zeros(0, np.uint32)
        self._categories = pl.Categories.random()
        names = qrels["query"].unique(maintain_order=True)
        if also:
            names = names.append(pl.Series(also, dtype=pl.String)).unique(maintain_order=True)
        # polars forgets categories of which no column is left, so one is kept
        self._held = names.cast(pl.Categorical(self._categories))
        self.queries: tuple[str, ...] = tuple(names)
        codes = self.encode(qrels["query"])
        keys = row_keys(codes, qrels["doc"])
        self.check_unique(codes, qrels["doc"], keys)
        grades: Floats = qrels["rel"].cast(pl.Float64).to_numpy()
        judged = grades >= 0
        if nil is not None:
            judged &= (qrels["doc"] != nil).to_numpy()
        rows = np.flatnonzero(judged)
        rows = rows[np.lexsort((-grades[rows], codes[rows]))]
        self._keys, self._docs = keys[rows], qrels["doc"].gather(rows)
        largest = float(grades[rows].max(initial=0.0))
        if top is not None and not largest <= top < np.inf:
            raise UsageError(
                f"the top grade must be at least the largest, {largest:g} (got {top:g})"
            )
        lengths = np.bincount(codes[rows], minlength=len(names))
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        self.pool = Pool(offsets, grades[rows], largest if top is None else top)

    def encode(self, queries: pl.Series) -> Codes:
        """Numbers of queries; those not met before get the next ones.

        Where rows of a query stand together, each stretch is looked up once; the first rows
        tell whether they do.
        """
        if 4 * len(queries[:1000].rle()) > len(queries[:1000]):
            return self._numbers(queries)
        stretches = queries.rle().struct
        return np.repeat(self._numbers(stretches.field("value")), stretches.field("len"))

    def _numbers(self, queries: pl.Series) -> Codes:
        return queries.cast(pl.Categorical(self._categories)).to_physical().to_numpy()

    def names(self) -> pl.Series:
        """All queries met so far, by number: gold's, then others."""
        return self._categories.to_series()

    def find(self, codes: Codes, starts: Ints, keys: Keys, docs: pl.Series) -> tuple[Ints, Floats]:
        """The rows whose document is judged, and their grades; queries start at ``starts``."""
        queries = codes[starts]
        queries = queries[queries < len(self.queries)]
        offsets, grades = self.pool.offsets, self.pool.grade
        group, place = spread(offsets[queries + 1] - offsets[queries])
        judged = offsets[queries][group] + place
        gold = pl.DataFrame({"key": self._keys[judged], "judged": judged})
        hits = pl.DataFrame({"key": keys}).with_row_index("row").join(gold, on="key")
        rows, judged = hits["row"].to_numpy().astype(np.int64), hits["judged"].to_numpy()
        same = (docs.gather(rows) == self._docs.gather(judged)).to_numpy()
        same &= codes[rows] == self.pool.query[judged]
        return rows[same], grades[judged[same]]

    def _all_differ(self, keys: Keys) -> bool:
        """Is no key there twice?

        Each row writes its number into the slot of its key, over any other. Only rows that do
        not find themselves there share a slot: they are compared with the one that stayed, and
        with one another. The slots are kept for the next rows: new memory would cost the gain.
        """
        bits = len(keys).bit_length() + 2
        if len(self._slots) < 1 << bits:
            self._slots = np.zeros(1 << bits, np.uint32)
        slots = keys >> np.uint64(64 - bits)
        rows = np.arange(len(keys), dtype=np.uint32)
        self._slots[slots] = rows
        stayed = self._slots[slots]
        lost = np.flatnonzero(stayed != rows)
        among = np.sort(keys[lost])
        return not ((keys[lost] == keys[stayed[lost]]).any() or (among[1:] == among[:-1]).any())

    def check_unique(self, codes: Codes, docs: pl.Series, keys: Keys) -> None:
        """Raises ``RepeatedError`` if a query has a document twice."""
        if self._all_differ(keys):
            return
        rows = pl.Series(keys).is_duplicated().arg_true()
        pairs = pl.DataFrame({"code": codes[rows.to_numpy()], "doc": docs.gather(rows)})
        again = pairs.filter(~pl.struct(pl.all()).is_first_distinct())
        if again.height:
            raise RepeatedError(self.names()[again["code"][0]], doc=again["doc"][0])


def row_keys(codes: Codes, docs: pl.Series) -> Keys:
    """A hash of each row's query and document."""
    hashes: Keys = docs.hash().to_numpy()
    return hashes ^ (codes.astype(np.uint64) * ODD)
