"""Trials in blocks, and what is compared there: bounded memory, any threads, the same numbers.

Each block has a random stream of its own, named by the seed and the block's place. What is cut
into blocks depends on the data alone, so neither threads nor their order can change a result.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import starmap
from typing import Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from abstain.measures.arrays import Array, BoolArray, IntArray
from abstain.stats.resampling.sources import Pairs, Source, random_parts, stream

Draws: TypeAlias = Literal["paired", "shared"]
ResamplingProgress: TypeAlias = Callable[[str, float], None]
"""Told what is being done and which share of it is."""

SAME = 1e-12
"""Differences of rounding: scores nearer than this share of a measure's scale are equal."""
BLOCK = 1 << 15
"""Comparisons in a block: what stays in a processor's cache."""
HELD = 1 << 22
"""Numbers that a block of weights may hold."""
CHUNK = 1000
"""Trials that are held at once."""

Share: TypeAlias = tuple[float, float]
FEW = 8
BATCHES, FEWEST_BATCHES = 100, 20

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Plan:
    """How to draw."""

    trials: int = 100
    size: int = 0
    draws: Draws = "paired"
    seed: int = 0
    threads: int = 0
    """0: as many as there are processors."""
    progress: ResamplingProgress | None = None

    def chunks(self, held: int) -> Iterator[tuple[int, int, Share]]:
        """Trials that are held at once, of so many numbers each: the chunk's place and size, and
        the share of the trials before it and its own."""
        sizes = list(cut(self.trials, min(self.trials, CHUNK, max(1, HELD // held))))
        for place, trials in enumerate(sizes):
            yield place, trials.stop - trials.start, (place / len(sizes), 1 / len(sizes))


@dataclass(frozen=True, slots=True)
class Block:
    """Some trials of some pairs: the scores of both runs on a subset, and on a disjoint one."""

    pairs: slice
    scores: tuple[Array, ...]
    """Measures × pairs × trials of the first run and of the second, then on the disjoint subset;
    with `ends` measures × runs × trials on the subset, then on the disjoint one."""
    ends: Pairs | None = None

    def of(self, measure: int) -> list[Array]:
        """x and y of one measure, and on the disjoint subset: each pairs × trials."""
        if self.ends is None:
            return [scores[measure] for scores in self.scores]
        return [scores[measure].take(end, axis=0) for scores in self.scores for end in self.ends]


def all_pairs(runs: int) -> tuple[IntArray, IntArray]:
    """Every pair of runs once: the positions of the first and of the second."""
    first, second = np.triu_indices(runs, 1)
    return first.astype(np.int64), second.astype(np.int64)


def subsets(
    source: Source, plan: Plan, use: Callable[[Block], Result], *, part: int, disjoint: bool
) -> Iterator[Iterator[Result]]:
    """What `use` makes of the blocks, a chunk of trials at a time: take all of one, then go on."""
    for number, length, share in plan.chunks(
        source.questions if plan.draws == "shared" else source.cost()
    ):
        yield _chunk(source, plan, use, (part, number), length, share, disjoint=disjoint)


def _chunk(
    source: Source,
    plan: Plan,
    use: Callable[[Block], Result],
    path: tuple[int, int],
    length: int,
    share: Share,
    *,
    disjoint: bool,
) -> Iterator[Result]:
    pairs = all_pairs(len(source.runs))
    most = BLOCK // length
    shared: tuple[Array, ...] = ()
    if plan.draws == "shared":
        rng = stream(plan.seed, *path)
        parts = random_parts(rng, length, source.questions, plan.size, disjoint=disjoint)
        scores = np.split(source.on(np.concatenate(parts)), len(parts), axis=2)
        shared = tuple(np.ascontiguousarray(own) for own in scores)
    else:
        most = min(most, HELD // (length * source.cost()))

    def work(place: int, own: slice) -> Result:
        ends = pairs[0][own], pairs[1][own]
        if shared:
            return use(Block(own, shared, ends))
        first, second = source.subsets(
            stream(plan.seed, *path, place), ends, trials=length, size=plan.size, disjoint=disjoint
        )
        return use(Block(own, (*first, *(second or ()))))

    # A few blocks that only look scores up are done before threads have begun.
    alone = FEW if shared else 0
    doing = f"drawing subsets of {plan.size:,}"
    return in_blocks(plan, doing, len(pairs[0]), most, work, share=share, alone=alone)


def batches(trials: int, room: int = BLOCK) -> npt.NDArray[np.int32]:
    """The batch of each trial: as many as there is `room` for, from twenty to a hundred.

    How much batches differ says how much trials do, at the cost of a few sums each.

    >>> batches(3).tolist(), batches(40, 20)[:6].tolist()
    ([0, 1, 2], [0, 0, 1, 1, 2, 2])
    """
    count = max(FEWEST_BATCHES, min(BATCHES, room))
    return (np.arange(trials) * min(count, trials) // trials).astype(np.int32)


def permutations(source: Source, plan: Plan, *, part: int) -> Iterator[Array]:
    """Scores of runs that swapped their cells at random: measures × trials × runs, in blocks."""

    def work(place: int, trials: slice) -> Array:
        return source.permuted(stream(plan.seed, part, place), trials.stop - trials.start)

    step = HELD // (len(source.runs) * source.questions)
    return in_blocks(plan, "permuting runs", plan.trials, step, work)


def in_blocks(
    plan: Plan,
    doing: str,
    length: int,
    step: int,
    work: Callable[[int, slice], Result],
    *,
    share: Share = (0.0, 1.0),
    alone: int = 0,
) -> Iterator[Result]:
    """What `work` makes of each block of so many items; fewer than `alone` take no threads.

    Progress tells what is being done, and the share before these blocks and of them.
    """
    blocks = list(enumerate(cut(length, max(1, step))))
    threads = 1 if len(blocks) < alone else plan.threads
    for done, result in enumerate(_threaded(blocks, work, threads), 1):
        if plan.progress:
            plan.progress(doing, share[0] + share[1] * done / len(blocks))
        yield result


def _threaded(
    blocks: list[tuple[int, slice]], work: Callable[[int, slice], Result], threads: int
) -> Iterator[Result]:
    """What `work` makes of each block, in order, with a few at work at a time."""
    count = threads or os.cpu_count() or 1
    if count == 1 or len(blocks) == 1:
        yield from starmap(work, blocks)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(count) as pool:
        try:
            for block in blocks:
                waiting.append(pool.submit(work, *block))
                if len(waiting) > 2 * count:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def cut(length: int, step: int) -> Iterator[slice]:
    for start in range(0, length, step):
        yield slice(start, min(length, start + step))


@dataclass(frozen=True, slots=True)
class Gap:
    """How far apart the runs of some pairs are in some trials: pairs × trials."""

    size: Array
    """|x − y|, and 0 where one of the scores does not exist."""
    ahead: BoolArray
    """The first run is, by more than rounding."""
    behind: BoolArray
    missing: BoolArray | None
    """Where a score does not exist; None: nowhere."""

    @property
    def differs(self) -> BoolArray:
        """One of the runs is ahead."""
        return self.ahead | self.behind


def gap_of(x: Array, y: Array, same: float) -> Gap:
    """The gap between scores; what is at most `same` is no difference."""
    size = x - y
    ahead, behind = size > same, size < -same
    np.abs(size, out=size)
    missing = np.isnan(size)
    if not missing.any():
        return Gap(size, ahead, behind, None)
    size[missing] = 0
    return Gap(size, ahead, behind, missing)


def histogram(keys: npt.NDArray[np.integer], *shape: int) -> IntArray:
    """How often each key comes up, as an array of the shape that the keys count through."""
    counted = np.bincount(keys.ravel(), minlength=int(np.prod(shape)))
    return counted.reshape(shape)


class Ratio:
    """A ratio of sums over batches of trials, with its Monte Carlo error.

    Trials are independent, what happens within one is not (pairs share runs, and perhaps
    questions): the error comes from how much batches differ,
    SE² = B/(B−1) Σ (a_b − r·b_b)² / (Σ b_b)².
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.batches = 0
        self.above, self.below = np.zeros(shape), np.zeros(shape)
        self.squares = np.zeros((3, *shape))

    def add(self, above: IntArray, below: IntArray) -> None:
        """Sums of some batches: batches × the shape of the ratios."""
        a, b = np.broadcast_arrays(above.astype(np.float64), below.astype(np.float64))
        self.batches += len(a)
        self.above += a.sum(axis=0)
        self.below += b.sum(axis=0)
        for square, (p, q) in zip(self.squares, ((a, a), (a, b), (b, b)), strict=True):
            square += (p * q).sum(axis=0)

    def values(self) -> Array:
        """The ratios; nan where there is nothing to divide by."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.above / self.below

    def errors(self) -> Array:
        """Their Monte Carlo errors; nan for a single batch."""
        with np.errstate(divide="ignore", invalid="ignore"):
            r = self.above / self.below
            aa, ab, bb = self.squares
            spread = np.maximum(aa - 2 * r * ab + r * r * bb, 0)
            scale = self.batches / (self.batches - 1) if self.batches > 1 else np.nan
            return np.asarray(np.sqrt(scale * spread) / self.below)
