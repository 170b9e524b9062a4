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
    pairs = all_pairs(len(source.runs))
    chunk = min(plan.trials, CHUNK, max(1, HELD // source.cost()))
    chunks = list(cut(plan.trials, chunk))
    for number, trials in enumerate(chunks):
        length = trials.stop - trials.start
        most = BLOCK // length
        if plan.draws == "paired":
            most = min(most, HELD // (length * source.cost()))
        blocks = list(enumerate(cut(len(pairs[0]), max(1, most))))
        shared: list[Array] = []
        if plan.draws == "shared":
            weights = random_parts(
                stream(plan.seed, part, number),
                length,
                source.questions,
                plan.size,
                disjoint=disjoint,
            )
            shared = [np.ascontiguousarray(source.weighed(w).transpose(0, 2, 1)) for w in weights]

        def work(
            item: tuple[int, slice],
            number: int = number,
            trials: slice = trials,
            shared: list[Array] = shared,
        ) -> Result:
            place, own = item
            ends = pairs[0][own], pairs[1][own]
            if shared:
                scores = [s.take(end, axis=1) for s in shared for end in ends]
                if not disjoint:
                    return use(Block(own, trials, scores[0], scores[1], None, None))
                return use(Block(own, trials, scores[0], scores[1], scores[2], scores[3]))
            rng = stream(plan.seed, part, number, place)
            length = trials.stop - trials.start
            first, second = source.subsets(
                rng, ends, trials=length, size=plan.size, disjoint=disjoint
            )
            return use(Block(own, trials, *first, *(second or (None, None))))

        # A few blocks that only look scores up are done before threads have begun.
        threads = 1 if shared and len(blocks) < FEW else plan.threads

        def results(
            number: int = number,
            blocks: list[tuple[int, slice]] = blocks,
            work: Callable[[tuple[int, slice]], Result] = work,
            threads: int = threads,
        ) -> Iterator[Result]:
            for done, result in enumerate(threaded(blocks, work, threads), 1):
                if plan.progress:
                    share = (number + done / len(blocks)) / len(chunks)
                    plan.progress("drawing subsets", share)
                yield result

        yield results()


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
