"""Trials in blocks: bounded memory, any number of threads, the same numbers.

Each block has a random stream of its own, named by the seed and the block's place. What is cut
into blocks depends on the data alone, so neither threads nor their order can change a result.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

import numpy as np

from abstain.stats.chance import random_parts, stream
from abstain.stats.resampling.sources import Pairs, Source

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array, IntArray

Draws: TypeAlias = Literal["paired", "shared"]
ResamplingProgress: TypeAlias = Callable[[str, float], None]
"""Told what is being done and which share of it is."""

BLOCK = 1 << 15
"""Comparisons in a block: what stays in a processor's cache."""
HELD = 1 << 22
"""Numbers that a block of weights may hold."""
CHUNK = 1000
"""Trials that are held at once."""

FEW = 8
BATCHES, FEWEST_BATCHES = 100, 20

Item = TypeVar("Item")
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

    def of_size(self, size: int) -> Plan:
        """The same with subsets of another size."""
        return replace(self, size=size)


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
    held = source.questions if plan.draws == "shared" else source.cost()
    chunks = list(cut(plan.trials, min(plan.trials, CHUNK, max(1, HELD // held))))
    for number, trials in enumerate(chunks):
        done = number / len(chunks), 1 / len(chunks)
        yield _chunk(source, plan, use, (part, number), trials, done, disjoint=disjoint)


def _chunk(
    source: Source,
    plan: Plan,
    use: Callable[[Block], Result],
    path: tuple[int, int],
    trials: slice,
    done: tuple[float, float],
    *,
    disjoint: bool,
) -> Iterator[Result]:
    """Some trials of all pairs; `done` is the share before them and their own."""
    pairs = all_pairs(len(source.runs))
    length = trials.stop - trials.start
    most = BLOCK // length
    shared: tuple[Array, ...] = ()
    if plan.draws == "shared":
        rng = stream(plan.seed, *path)
        parts = random_parts(rng, length, source.questions, plan.size, disjoint=disjoint)
        scores = np.split(source.on(np.concatenate(parts)), len(parts), axis=2)
        shared = tuple(np.ascontiguousarray(own) for own in scores)
    else:
        most = min(most, HELD // (length * source.cost()))
    blocks = list(enumerate(cut(len(pairs[0]), max(1, most))))

    def work(item: tuple[int, slice]) -> Result:
        place, own = item
        ends = pairs[0][own], pairs[1][own]
        if shared:
            return use(Block(own, shared, ends))
        first, second = source.subsets(
            stream(plan.seed, *path, place), ends, trials=length, size=plan.size, disjoint=disjoint
        )
        return use(Block(own, (*first, *(second or ()))))

    # A few blocks that only look scores up are done before threads have begun.
    threads = 1 if shared and len(blocks) < FEW else plan.threads
    for count, result in enumerate(threaded(blocks, work, threads), 1):
        if plan.progress:
            share = done[0] + done[1] * count / len(blocks)
            plan.progress(f"drawing subsets of {plan.size:,}", share)
        yield result


def batches(trials: int, room: int = BLOCK) -> npt.NDArray[np.int32]:
    """The batch of each trial: as many as there is `room` for, from twenty to a hundred.

    How much batches differ says how much trials do, at the cost of a few sums each.

    >>> batches(3).tolist(), batches(40, 20)[:6].tolist()
    ([0, 1, 2], [0, 0, 1, 1, 2, 2])
    """
    count = max(FEWEST_BATCHES, min(BATCHES, room))
    return (np.arange(trials) * min(count, trials) // trials).astype(np.int32)


def permutations(source: Source, plan: Plan, *, part: int) -> Iterator[Array]:
    """Scores of runs that swapped their cells at random: measures × trials × runs, in pieces."""
    step = max(1, HELD // (len(source.runs) * source.questions))
    blocks = list(enumerate(cut(plan.trials, step)))

    def work(item: tuple[int, slice]) -> Array:
        place, trials = item
        return source.permuted(stream(plan.seed, part, place), trials.stop - trials.start)

    for done, result in enumerate(threaded(blocks, work, plan.threads), 1):
        if plan.progress:
            plan.progress("permuting runs", done / len(blocks))
        yield result


def threaded(
    items: Iterable[Item], work: Callable[[Item], Result], threads: int = 0
) -> Iterator[Result]:
    """What `work` makes of each item, in order, with a few at work at a time."""
    count = threads or os.cpu_count() or 1
    listed = list(items)
    if count == 1 or len(listed) == 1:
        yield from map(work, listed)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(count) as pool:
        try:
            for item in listed:
                waiting.append(pool.submit(work, item))
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
