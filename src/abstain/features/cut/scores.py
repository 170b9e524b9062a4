"""Lists of scores: what rules see of them, logistic models, and what each depth is worth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from abstain.errors import InputError, option, plural, shown
from abstain.measures.kinds import RankingMeasure
from abstain.measures.ranked_lists import Bools, Floats, Ints, Prefixes, RankedLists, spread
from abstain.measures.ranking import gains
from abstain.rankings.sources import RunOrigin
from abstain.report.result import Facts

STEPS, HALVED = 50, 30
CLOSE = 1e-6
CERTAIN = 40.0  # log odds of what was never, or always, seen
DOCUMENT = ("score", "share", "z", "log rank", "top", "spread", "gap")
"""What is known of each document."""
LIST = ("top", "spread", "length", "drop", "mean")
"""What is known of each list; `drop` is how far the tenth score lies below the first."""
TINY, LEAST = 1e-12, 1e-300
"""A spread below this part of the largest number is rounding; and what is never divided by less."""
IN_CACHE = 1 << 16  # numbers that are worked on at a time where each is looked at often
MOST_SCORES = 1 << 27  # queries times the longest list: more scores than that are not held at once
LARGEST = 1e100  # a score beyond is taken as infinite: its square would be


class Model(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A logistic model of some numbers; without weights the chance is always the same."""

    bias: float
    weights: tuple[float, ...] = ()
    middle: tuple[float, ...] = ()

    def fits(self, width: int) -> bool:
        return {len(self.weights), len(self.middle)} in ({0}, {width})

    def chance(self, known: Floats) -> Floats:
        """The chance of what is known, along the last axis."""
        return sigmoid(self.logit(np.moveaxis(known, -1, 0), known.shape[:-1]))

    def logit(self, known: Iterable[Floats], shape: tuple[int, ...]) -> Floats:
        """The log odds, from each number that the model looks at for all documents at once."""
        odds = np.full(shape, self.bias)
        for weight, middle, numbers in zip(self.weights, self.middle, known, strict=False):
            odds += weight * (numbers - middle)
        return odds

    @classmethod
    def of(cls, bias: float, weights: Floats, middle: Floats, scale: Floats) -> Model:
        """The model of standardised numbers, written with few digits; `bias` makes up for them."""
        slopes = [short(weight) for weight in weights / scale]
        digits = np.maximum(1 - np.floor(np.log10(scale)), -300).astype(int)
        middles = [round(m, d) + 0.0 for m, d in zip(middle.tolist(), digits.tolist(), strict=True)]
        moved = bias + float(np.dot(slopes, np.subtract(middles, middle)))
        return cls(bias=short(moved), weights=tuple(slopes), middle=tuple(middles))


def short(number: float) -> float:
    """A number with six digits: a rule is printed, and pasted."""
    return float(f"{number:.6g}")


def sigmoid(logit: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(logit, -500, 500))))


def logistic(known: Floats, happened: Bools, *, ridge: float, times: Floats | None = None) -> Model:
    """The model of greatest likelihood by Newton's method, weights drawn towards 0 by `ridge`.

    Sums are einsum's: with so few columns the threads of `@` only wait for each other.
    """
    sums = np.einsum
    count = np.ones(len(known)) if times is None else times
    total, positive = float(count.sum()), float((count * happened).sum())
    if not len(known) or positive in (0.0, total):
        return Model(bias=CERTAIN if len(known) and positive else -CERTAIN)
    middle = sums("i,ij->j", count, known) / total
    z = np.ones((known.shape[1] + 1, len(known)))
    np.subtract(known.T, middle[:, None], out=z[1:])
    scale = np.sqrt(sums("i,ji,ji->j", count, z[1:], z[1:]) / total)
    same = scale <= TINY * np.abs(known).max(axis=0)
    scale = np.where(same, 1.0, scale)
    z[1:] /= scale[:, None]
    z[1:][same] = 0.0  # what rounding leaves of large numbers that are all the same
    w = np.zeros(len(z))
    w[0] = np.log(positive / (total - positive))
    pull = np.append(1e-6, np.full(len(w) - 1, ridge))

    def missed(w: Floats, odds: Floats) -> float:
        return float((count * (np.logaddexp(0.0, odds) - happened * odds)).sum() + pull @ w**2 / 2)

    odds = sums("j,ji->i", w, z)
    least = missed(w, odds)
    for _ in range(STEPS):
        p = sigmoid(odds)
        slope = sums("ji,i->j", z, count * (p - happened)) + pull * w
        curve = sums("ji,ki->jk", z * (count * p * (1 - p)), z) + np.diag(pull)
        step = np.linalg.solve(curve, slope)
        for _ in range(HALVED):  # a whole step may lead up the other side
            odds = sums("j,ji->i", w - step, z)
            if (lower := missed(w - step, odds)) <= least:
                break
            step /= 2
        else:
            break  # nothing below differs from rounding
        w, least = w - step, lower
        if np.abs(step).max() < CLOSE:
            break
    return Model.of(float(w[0]), w[1:], middle, scale)


class Scores:
    """Lists of scores in falling order: queries × ranks, NaN behind a list's end."""

    def __init__(self, table: Floats, origin: float = 0.0) -> None:
        self.table, self.origin = table, origin
        self.inside = ~np.isnan(table)
        self.length: Ints = self.inside.sum(axis=1)
        self.filled = np.where(self.inside, table, 0.0)
        self.top, self.lowest = self.filled[:, 0], self.place(self.length)

    def only(self, some: Ints | slice) -> Scores:
        return Scores(self.table[some], self.origin)

    def place(self, rank: Ints) -> Floats:
        """Each list's score at a rank from 0, or its last if that is above; 0 of an empty one."""
        last = np.maximum(self.length - 1, 0)
        return np.asarray(self.filled[np.arange(len(self.table)), np.minimum(rank, last)])

    @cached_property
    def mean(self) -> Floats:
        return np.asarray(self.filled.sum(axis=1) / np.maximum(self.length, 1))

    @cached_property
    def spread(self) -> Floats:
        away = np.where(self.inside, self.table - self.mean[:, None], 0.0)
        spread = np.sqrt((away**2).sum(axis=1) / np.maximum(self.length, 1))
        return np.asarray(spread + TINY * np.abs(self.filled).max(axis=1) + LEAST)

    @cached_property
    def share(self) -> Floats:
        """Each score as a share of its list's first, from the origin; 1 where that is nothing."""
        top = (self.top - self.origin)[:, None]
        share = np.where(top > 0, (self.table - self.origin) / np.where(top > 0, top, 1.0), 1.0)
        return np.where(self.inside, share, np.nan)

    def documents(self) -> Iterator[Floats]:
        """What is known of each document, number by number as in DOCUMENT: queries × ranks."""
        table, spread = self.table, self.spread[:, None]
        yield table
        yield self.share
        yield (table - self.mean[:, None]) / spread
        yield np.log(np.arange(1.0, table.shape[1] + 1))[None]
        yield self.top[:, None]
        yield spread
        yield np.nan_to_num(-np.diff(table, axis=1, append=np.nan)) / spread

    def at(self, query: Ints, place: Ints) -> Floats:
        """Documents × what is known of each, of documents by query and place."""
        every = (np.broadcast_to(known, self.table.shape) for known in self.documents())
        return np.column_stack([known[query, place] for known in every])

    def chance(self, model: Model) -> Floats:
        """The chance that a model gives each document; NaN behind a list's end."""
        made = np.empty(self.table.shape)
        step = max(1, IN_CACHE // self.table.shape[1])
        for start in range(0, len(made), step):
            part = self.only(slice(start, start + step))
            odds = model.logit(part.documents(), part.table.shape)
            made[start : start + step] = np.where(part.inside, sigmoid(odds), np.nan)
        return made

    @cached_property
    def lists(self) -> Floats:
        """Queries × what is known of each list; an empty list is all zeros."""
        away = self.top - self.origin
        drop = (self.top - self.place(np.array(9))) / np.where(away > 0, away, 1.0)
        drop = np.where(away > 0, drop, 0.0)
        made = np.column_stack([self.top, self.spread, self.length, drop, self.mean])
        return np.where(self.length[:, None] > 0, made, 0.0)


def finite(table: Floats) -> tuple[Floats, int]:
    """Infinite scores as the largest or smallest there is, and how many there were."""
    infinite = np.abs(table) > LARGEST
    if not infinite.any():
        return table, 0
    known = table[np.abs(table) <= LARGEST]
    low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    return np.clip(table, low, high), int(infinite.sum())


def origin_of(table: Floats) -> float:
    """Where shares are counted from: 0, or the lowest score where some are negative."""
    return short(float(np.nanmin(table, initial=0.0)))


CHUNK = 1 << 21  # numbers that are worked on at a time
LEARNT = 30_000
"""Documents that a model is learnt from, about: of long lists ever fewer behind the first ranks."""


@dataclass(frozen=True)
class Lists:
    scores: Scores
    relevant: Bools
    """Queries × ranks: which documents are relevant."""
    there: Ints
    """How many relevant documents each query has, listed or not."""
    values: Floats
    """Queries × depths: what a list cut there scores; behind its end, what the whole scores."""
    gain: float = 1.0
    """The mean gain of a relevant document."""

    @property
    def size(self) -> int:
        return len(self.values)

    @cached_property
    def nil(self) -> Bools:
        return np.equal(self.there, 0)

    @cached_property
    def hits(self) -> Ints:
        """Queries × depths: how many relevant documents are kept."""
        none = np.zeros((self.size, 1), np.int64)
        return np.concatenate([none, np.cumsum(self.relevant, axis=1)], axis=1)

    @cached_property
    def sample(self) -> tuple[Ints, Ints, Floats]:
        """The documents to learn from: query, place and weight; of those far behind a sample."""
        place = np.arange(self.relevant.shape[1])
        deep = int(np.clip(LEARNT // (6 * max(self.size, 1)), 8, 64))
        step = np.maximum(place // deep, 1)
        taken = (place % step == step // 2) & self.scores.inside
        query, at = np.nonzero(taken | self.relevant)
        return query, at, np.where(self.relevant[query, at], 1.0, step[at])

    @cached_property
    def known(self) -> Floats:
        return self.scores.at(*self.sample[:2])

    def only(self, some: Ints) -> Lists:
        parts = self.relevant[some], self.there[some], self.values[some]
        return Lists(self.scores.only(some), *parts, self.gain)

    def at(self, depth: Ints, where: Ints | slice = slice(None)) -> Floats:
        """What the lists of some queries score at some depths."""
        rows = np.arange(self.size)[where]
        return np.asarray(self.values[rows, depth])


def of_run(lists: RankedLists, table: Floats, measure: RankingMeasure, origin: float) -> Lists:
    queries, width = table.shape
    pool = lists.pool
    arguments = {p.name: p.default for p in measure.definition.parameters} | measure.arguments
    ideal = gains(pool.grade, pool, arguments.get("rel"))
    gain = np.zeros((queries, width))
    gain[lists.row, lists.rank - 1] = gains(lists.grade, pool, arguments.get("rel"))
    there = pool.count(ideal > 0)
    by_depth = measure.definition.by_depth
    values = np.empty((queries, width + 1))
    if by_depth is None:
        for depth in range(width + 1):
            values[:, depth] = measure.values(lists.first(np.full(queries, depth)))
    else:
        total, lengths = pool.total(ideal), np.diff(pool.offsets)
        best = np.zeros((queries, int(lengths.max(initial=0))))
        best[spread(lengths)] = ideal  # the gains of each pool, the largest first
        step = max(1, CHUNK // (width + 1))
        for start in range(0, queries, step):
            some = slice(start, start + step)
            part = Prefixes(gain[some], total[some], there[some].astype(np.float64), best[some])
            values[some] = by_depth(part, **measure.arguments).values
    whole = measure.values(lists)  # a list that reaches the limit was not ended
    ended = np.arange(width + 1) >= lists.depth[:, None]
    values = np.where(ended, whole[:, None], values)
    positive = ideal[ideal > 0]
    mean_gain = float(positive.mean()) if len(positive) else 1.0
    return Lists(Scores(table, origin), gain > 0, there, values, mean_gain)


def score_tables(origins: Sequence[RunOrigin], lists: RankedLists) -> dict[str, Floats]:
    """Of each run queries × ranks: the scores in falling order, NaN behind a list's end."""
    queries = pl.Enum(lists.queries)
    depths = dict(zip(lists.runs, lists.by_run(lists.depth), strict=True))
    sources = {id(origin.source): origin.source for origin in origins}
    names = {(id(origin.source), origin.tag): origin.run for origin in origins}
    parts: dict[str, list[pl.DataFrame]] = {run: [] for run in lists.runs}
    for key, source in sources.items():
        for batch in source.batches(by_rank=False):
            code = pl.col("query").cast(queries, strict=False).to_physical()
            coded = batch.select("run", "score", code=code).drop_nulls("code")
            for (tag,), rows in coded.partition_by("run", as_dict=True).items():
                if (run := names.get((key, str(tag)))) in parts:
                    parts[run].append(rows.drop("run"))
    return {run: _score_table(parts.pop(run), depths[run], run) for run in lists.runs}


def _score_table(parts: Sequence[pl.DataFrame], depth: Ints, run: str) -> Floats:
    longest = max(1, int(depth.max(initial=0)))
    if len(depth) * longest > MOST_SCORES:
        size = f"{plural(len(depth), 'list')} of up to {longest:,} documents"
        shorter = f"shorten the lists with {option('limit', '1000')}"
        raise InputError(f"run {shown(run)} has {size}: too many scores to hold; {shorter}")
    table = np.full((len(depth), longest), np.nan)
    if not parts:
        return table
    rows = pl.concat(parts).sort("code", "score", descending=[False, True])
    code, score = rows["code"].to_numpy().astype(np.int64), rows["score"].to_numpy()
    place = np.arange(len(code)) - np.searchsorted(code, np.arange(len(depth)))[code]
    inside = place < depth[code]
    table[code[inside], place[inside]] = score[inside]
    return table
