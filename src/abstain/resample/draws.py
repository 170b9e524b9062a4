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

from abstain.resample.sources import Source, random_parts

if TYPE_CHECKING:
    from abstain.outcomes import Array, IntArray

Draws: TypeAlias = Literal["paired", "shared"]
Progress: TypeAlias = Callable[[str, float], None]
"""Told what is being done and which share of it is."""

BLOCK = 1 << 15
"""Comparisons in a block: what stays in a processor's cache."""
HELD = 1 << 22
"""Numbers that a block of weights may hold."""
CHUNK = 1000
"""Trials that are held at once."""

FEW = 8

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
    progress: Progress | None = None

    def of_size(self, size: int) -> Plan:
        """The same with subsets of another size."""
        return replace(self, size=size)


@dataclass(frozen=True, slots=True)
class Block:
    """Some trials of some pairs: scores of both runs on a subset, and perhaps on a disjoint one.

    All arrays are measures × pairs × trials.
    """

    pairs: slice
    trials: slice
    x: Array
    y: Array
    x2: Array | None
    y2: Array | None


def all_pairs(runs: int) -> tuple[IntArray, IntArray]:
    """Every pair of runs once: the positions of the first and of the second."""
    first, second = np.triu_indices(runs, 1)
    return first.astype(np.int64), second.astype(np.int64)


def stream(seed: int, *path: int) -> np.random.Generator:
    """The random stream of a place."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=path)))


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
    shared: list[Array] = []
    if plan.draws == "shared":
        rng = stream(plan.seed, *path)
        weights = random_parts(rng, length, source.questions, plan.size, disjoint=disjoint)
        shared = [np.ascontiguousarray(source.weighed(w).transpose(0, 2, 1)) for w in weights]
    else:
        most = min(most, HELD // (length * source.cost()))
    blocks = list(enumerate(cut(len(pairs[0]), max(1, most))))

    def work(item: tuple[int, slice]) -> Result:
        place, own = item
        ends = pairs[0][own], pairs[1][own]
        if shared:
            x, y, *more = (s.take(end, axis=1) for s in shared for end in ends)
            return use(Block(own, trials, x, y, *(more or (None, None))))
        first, second = source.subsets(
            stream(plan.seed, *path, place), ends, trials=length, size=plan.size, disjoint=disjoint
        )
        return use(Block(own, trials, *first, *(second or (None, None))))

    # A few blocks that only look scores up are done before threads have begun.
    threads = 1 if shared and len(blocks) < FEW else plan.threads
    for count, result in enumerate(threaded(blocks, work, threads), 1):
        if plan.progress:
            share = done[0] + done[1] * count / len(blocks)
            plan.progress(f"drawing subsets of {plan.size:,}", share)
        yield result


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
