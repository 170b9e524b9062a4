"""The input of measures of rankings: many ranked lists at once, as arrays.

Only judged documents are kept, each with its rank: an unjudged document adds only to the length of
the list, which is kept as a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias, TypeVar

from abstain.errors import UsageError
from abstain.measures.definition import Array, BoolArray, IntArray, np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = Array
Ints: TypeAlias = IntArray
Bools: TypeAlias = BoolArray
Value = TypeVar("Value", bound="np.generic")

EXACT = 2.0**53
"""Integers below it are exact as doubles."""


@dataclass(frozen=True)
class DocumentRows:
    """Documents by row, stored contiguously."""

    PER_DOCUMENT: ClassVar[tuple[str, ...]] = ()
    """The fields that have an entry for each document."""
    offsets: Ints
    """Row i's documents are ``offsets[i]:offsets[i + 1]``."""

    @property
    def size(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def row(self) -> Ints:
        return np.repeat(np.arange(self.size), np.diff(self.offsets))

    def count(self, chosen: Bools) -> Ints:
        """How many of the chosen documents each row has."""
        return np.bincount(self.row[chosen], minlength=self.size)

    def where(self, chosen: Bools) -> Self:
        return self._with(offsets_of(self.count(chosen)), chosen)

    def of_rows(self, rows: Ints) -> Self:
        lengths = np.diff(self.offsets)[rows]
        owner, place = spread(lengths)
        return self._with(offsets_of(lengths), self.offsets[rows][owner] + place)

    def _with(self, offsets: Ints, documents: Ints | Bools) -> Self:
        kept = {name: getattr(self, name)[documents] for name in self.PER_DOCUMENT}
        return replace(self, offsets=offsets, **kept)

    def total(self, weights: Floats) -> Floats:
        """Sum of the weights of each row's documents, added in order."""
        # bincount returns integers for an empty input
        return np.bincount(self.row, weights, self.size).astype(np.float64, copy=False)

    def running(self, weights: NDArray[np.generic]) -> Floats:
        """Sum of the weights of a document and of those before it in its row.

        Exact for whole numbers, which grades nearly always are: scale the result, not them.
        """
        if not _adds_exactly(weights):
            return _accumulated(np.add, weights, self.offsets)
        sums: Floats = np.concatenate(([0.0], np.cumsum(weights, dtype=np.float64)))
        return np.asarray(sums[1:] - np.repeat(sums[self.offsets[:-1]], np.diff(self.offsets)))

    def product(self, weights: Floats) -> Floats:
        """Product of the weights of a document and of those before it in its row."""
        return _accumulated(np.multiply, weights, self.offsets)

    def total_of_first(self, weights: Floats, row: Ints, length: Ints) -> Floats:
        """Sum of the weights of the first documents of some rows, added in order."""
        length = np.minimum(length, np.diff(self.offsets)[row])
        sums = np.append(self.running(weights), 0.0)  # the last is of rows without documents
        return np.where(length > 0, sums[self.offsets[row] + length - 1], 0.0)

    def highest_from(self, weights: Floats) -> Floats:
        """The highest of the weights of a document and of those after it in its row."""
        ends = offsets_of(np.diff(self.offsets)[::-1])
        return _accumulated(np.maximum, weights[::-1], ends)[::-1]


@dataclass(frozen=True)
class Pool(DocumentRows):
    """What is known to be relevant: a row a query, its judged grades, highest first."""

    PER_DOCUMENT = ("grade",)
    grade: Floats
    """0 is judged and not relevant; what is not judged is not here."""
    top: float
    """The grade that counts as a gain of 1: the largest one by default."""

    @cached_property
    def place(self) -> Ints:
        """The place of each grade in its query's ideal ranking, from 1."""
        return np.arange(len(self.grade)) - self.offsets[self.row] + 1

    def nothing(self, lowest: float | None = None) -> Bools:
        """Queries without a relevant document: one of this grade or above, or of any above 0."""
        relevant = self.grade > 0 if lowest is None else self.grade >= lowest
        return np.equal(self.count(relevant), 0)


@dataclass(frozen=True)
class Listed(DocumentRows):
    """Documents of lists with their ranks, ascending in each row: a row a run and query."""

    PER_DOCUMENT: ClassVar[tuple[str, ...]] = ("rank",)
    rank: Ints
    """From 1."""

    @staticmethod
    def none(rows: int) -> Listed:
        return Listed(np.zeros(rows + 1, np.int64), np.zeros(0, np.int64))

    def before(self, row: Ints, rank: Ints) -> Ints:
        """How many of a row are above a rank."""
        if not len(self.rank):
            return np.zeros(len(row), np.int64)
        step = int(max(self.rank.max(), rank.max(initial=0))) + 1
        return np.searchsorted(self.row * step + self.rank, row * step + rank) - self.offsets[row]

    def up_to(self, depth: Ints) -> Self:
        return self.where(self.rank <= depth[self.row])


@dataclass(frozen=True)
class RankedLists(Listed):
    """The judged documents of the rankings of some runs for the same queries, run by run."""

    PER_DOCUMENT = ("rank", "grade")
    runs: tuple[str, ...]
    queries: tuple[str, ...]
    pool: Pool
    depth: Ints
    """Documents in each row's list, judged or not, where the list is taken to end."""
    grade: Floats
    missing: Bools
    """Rows whose query the run does not mention: their lists are empty."""
    stopped: Bools
    """Rows whose list the system ended itself, rather than the limit on its length."""
    returned: Ints
    """Lines the run has for each row, before NIL and the limit were applied."""
    nil: Bools
    """Queries for which nothing is relevant."""
    sampled: Listed
    """Listed documents of a negative grade: in the pool, and judged by nobody."""
    unjudged: tuple[tuple[str, ...], ...] = ()
    """Of each run, the queries that gold does not have; they are not scored."""
    nil_words: tuple[str, ...] = ()
    """Documents that look like a NIL marker but are not it."""
    remarks: tuple[str, ...] = ()
    """What else was noticed of the queries."""

    @cached_property
    def query(self) -> Ints:
        return np.tile(np.arange(len(self.queries)), len(self.runs))

    def per_row(self, per_query: NDArray[np.generic]) -> Floats:
        """A value of each query, repeated for every run."""
        return np.tile(per_query, len(self.runs)).astype(np.float64)

    def by_run(self, values: NDArray[Value]) -> NDArray[Value]:
        """Values of rows as a table: a line a run, a column a query."""
        return values.reshape(len(self.runs), len(self.queries))

    def first(self, depth: Ints) -> RankedLists:
        depth, sampled = np.minimum(self.depth, depth), self.sampled.up_to(depth)
        return replace(self.up_to(depth), depth=depth, sampled=sampled)

    def judged_only(self) -> RankedLists:
        """The same lists without the documents that nobody judged: the others move up."""
        lengths = np.diff(self.offsets)
        return replace(
            self, depth=lengths, rank=spread(lengths)[1] + 1, sampled=Listed.none(self.size)
        )

    def only(self, runs: Sequence[int], queries: Sequence[int]) -> RankedLists:
        """The lists of some runs for some queries, by position; a gain of 1 stays what it is."""
        columns, whole = np.array(queries, np.int64), len(queries) == len(self.queries)
        rows = (np.array(runs, np.int64)[:, None] * len(self.queries) + columns).ravel()
        return replace(
            self.of_rows(rows),
            runs=tuple(self.runs[i] for i in runs),
            queries=tuple(self.queries[i] for i in queries),
            pool=self.pool.of_rows(columns),
            depth=self.depth[rows],
            missing=self.missing[rows],
            stopped=self.stopped[rows],
            returned=self.returned[rows],
            nil=self.nil[columns],
            sampled=self.sampled.of_rows(rows),
            unjudged=tuple(self.unjudged[i] if whole else () for i in runs if self.unjudged),
        )


def offsets_of(counts: Ints | Bools) -> Ints:
    """Where rows with so many documents begin, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(counts)))


@dataclass(frozen=True)
class Prefixes:
    """Lists of one length, and of each all its prefixes: what they score at every depth."""

    gain: Floats
    """Lists × ranks: the gain of each document; there may be more axes before."""
    there: Floats
    relevant: Floats
    """How many documents of each list's pool have a gain."""
    best: Floats | None = None
    """Lists × places: the gains of the pool, the largest first; None: all alike."""

    @cached_property
    def depth(self) -> Floats:
        return np.arange(self.gain.shape[-1] + 1.0)

    @cached_property
    def rank(self) -> Floats:
        return self.depth[1:]

    @cached_property
    def cumulative(self) -> Floats:
        """The cumulative gain at each depth."""
        if self.best is not None:
            return running(self.gain)
        counts = running(self.gain > 0, np.int32)  # far quicker than of floats
        return np.asarray(counts * self.each[..., None])

    @property
    def each(self) -> Floats:
        """The gain of a relevant document, where all are alike."""
        return np.asarray(self.there / np.maximum(self.relevant, 1))

    @cached_property
    def ideal(self) -> Floats:
        """The discounted gain of the first d + 1 documents of the ideal list, for each depth d."""
        places = np.arange(self.gain.shape[-1] + 1)
        weight = 1 / np.log2(2.0 + places)
        if self.best is not None:
            best = self.best[..., : len(places)]
            missing = len(places) - best.shape[-1]
            padded = np.pad(best, [*[(0, 0)] * (best.ndim - 1), (0, missing)])
            return np.cumsum(padded * weight, axis=-1)
        full = np.append(0.0, np.cumsum(weight))
        length = np.minimum(places + 1, self.relevant[..., None]).astype(np.int64)
        return np.asarray(self.each[..., None] * full[length])


class ByDepth(NamedTuple):
    """What lists score at every depth."""

    ended: Floats | float
    """Lists × depths: what ending there scores."""
    added: Floats | None = None
    """Lists × ranks: what each adds to the scores of all depths from it on."""

    def mean(self) -> Floats:
        """The mean of the scores over the first axis; sums are linear, so one is enough."""
        ended = self.ended if isinstance(self.ended, float) else self.ended.mean(axis=0)
        return ByDepth(ended, None if self.added is None else self.added.mean(axis=0)).values

    @property
    def values(self) -> Floats:
        return np.asarray(self.ended if self.added is None else running(self.added) + self.ended)


def running(weights: NDArray[np.generic], dtype: Any = float) -> Floats:
    """Sums of the weights up to each depth, 0 for none."""
    sums = np.zeros((*weights.shape[:-1], weights.shape[-1] + 1), dtype)
    np.cumsum(weights, axis=-1, out=sums[..., 1:])
    return sums


def _accumulated(combine: np.ufunc, weights: NDArray[np.generic], offsets: Ints) -> Floats:
    sums = np.zeros(len(weights))
    lengths = np.diff(offsets)
    # blocks of one length are the lines of a matrix; there are at most √(2·weights) lengths
    for length in np.unique(lengths[lengths > 0]):
        places = offsets[:-1][lengths == length, None] + np.arange(length)
        sums[places] = combine.accumulate(weights[places], axis=1)
    return sums


def _adds_exactly(weights: NDArray[np.generic]) -> bool:
    """Whether no sum of any of these is rounded: whole numbers, together below 2^53."""
    if weights.dtype == np.bool_:
        return True
    numbers = weights.astype(np.float64, copy=False)
    return bool(numbers.sum() < EXACT and (numbers == np.floor(numbers)).all())


def spread(lengths: Ints) -> tuple[Ints, Ints]:
    """Of consecutive pieces with these lengths: each item's piece, and its place there from 0."""
    owner = np.repeat(np.arange(len(lengths)), lengths)
    starts = np.cumsum(lengths) - lengths
    return owner, np.arange(len(owner)) - starts[owner]


def one(
    gains: Sequence[float], pool: int | Sequence[float], *, top: float | None = None
) -> RankedLists:
    """A single ranking by its gains, with its pool: the number of relevant documents, or gains.

    Gains lie in [0, 1] unless ``top`` says which grade is worth 1; grades above 1 without it
    are scaled by the largest of the pool.
    """
    listed = _gains(gains, "gains")
    if np.ndim(pool) == 0:
        if not isinstance(pool, (int, np.integer)) or not np.isin(listed, (0.0, 1.0)).all():
            raise UsageError(
                f"graded gains need those of the pool, as pool=[3, 2, 1] (got {pool!r})"
            )
        pool = [1.0] * int(pool)
    ideal = np.sort(_gains(pool, "the pool's gains"))[::-1]
    hits = np.sort(listed[listed > 0])[::-1]
    if len(hits) > np.count_nonzero(ideal) or (hits > ideal[: len(hits)]).any():
        raise UsageError("the ranking has gains that its pool lacks")
    largest = float(ideal.max(initial=0.0))
    others = int(np.count_nonzero(listed == 0) - np.count_nonzero(ideal == 0))
    ideal = np.append(ideal, np.zeros(max(others, 0)))  # what is listed is judged
    if top is not None and not largest <= top < np.inf:
        raise UsageError(f"top must be at least the largest gain, {largest:g} (got {top:g})")
    return RankedLists(
        runs=("",),
        queries=("",),
        pool=Pool(np.array([0, len(ideal)]), ideal, max(1.0, largest) if top is None else top),
        depth=np.array([len(listed)]),
        offsets=np.array([0, len(listed)]),
        rank=np.arange(1, len(listed) + 1),
        grade=listed,
        missing=np.zeros(1, bool),
        stopped=np.ones(1, bool),
        returned=np.array([len(listed)]),
        nil=np.array([largest == 0]),
        sampled=Listed.none(1),
    )


def _gains(gains: object, what: str) -> Floats:
    try:
        values = np.array(gains, np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.ndim != 1 or not np.isfinite(values).all() or (values < 0).any():
        raise UsageError(f"{what} must be a list of finite numbers of 0 or more")
    return values
