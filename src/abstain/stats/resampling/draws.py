"""Trials in blocks: bounded memory, and the same numbers with any number of threads, since blocks
depend on the data alone, and the random stream of a block on the seed and its place."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import starmap
from typing import Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from abstain.measures.definition import Array, IntArray
from abstain.stats.resampling.samplers import Source, random_parts, stream

Draws: TypeAlias = Literal["paired", "shared"]
ResamplingProgress: TypeAlias = Callable[[str, float], None]
Share: TypeAlias = tuple[float, float]

SAME = 1e-12
"""Scores nearer than this share of a measure's scale differ by rounding only."""
BLOCK = 1 << 15
"""Comparisons in a block, which should fit the processor's cache."""
HELD = 1 << 22
CHUNK = 1000
BATCHES, FEWEST_BATCHES = 100, 20

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Plan:
    """How to draw; 0 threads are as many as there are processors."""

    trials: int = 100
    size: int = 0
    draws: Draws = "paired"
    seed: int = 0
    threads: int = 0
    progress: ResamplingProgress | None = None

    def chunks(self, held: int) -> Iterator[tuple[int, int, Share]]:
        sizes = list(cut(self.trials, min(self.trials, CHUNK, max(1, HELD // held))))
        for place, trials in enumerate(sizes):
            yield place, trials.stop - trials.start, (place / len(sizes), 1 / len(sizes))


def all_pairs(runs: int) -> tuple[IntArray, IntArray]:
    first, second = np.triu_indices(runs, 1)
    return first.astype(np.int64), second.astype(np.int64)


Use: TypeAlias = Callable[[slice, tuple[Array, ...]], Result]
"""Takes some pairs and their scores (measures × pairs × trials): of the first run and of the second
on a subset, then of both on a disjoint subset."""


def subsets(
    source: Source, plan: Plan, use: Use[Result], *, part: int, disjoint: bool
) -> Iterator[Iterator[Result]]:
    pairs = all_pairs(len(source.runs))
    is_shared = plan.draws == "shared"

    def chunk(number: int, length: int, share: Share) -> Iterator[Result]:
        step, shared = BLOCK // length, list[Array]()
        if is_shared:
            rng = stream(plan.seed, part, number)
            parts = random_parts(rng, length, source.questions, plan.size, disjoint=disjoint)
            split = np.split(source.on(np.concatenate(parts)), len(parts), axis=2)
            shared = [np.ascontiguousarray(scores) for scores in split]
        else:
            step = min(step, HELD // (length * source.cost))

        def work(place: int, some: slice) -> Result:
            ends = pairs[0][some], pairs[1][some]
            if is_shared:
                return use(some, tuple(each.take(end, axis=1) for each in shared for end in ends))
            rng = stream(plan.seed, part, number, place)
            scores = source.subsets(rng, ends, trials=length, size=plan.size, disjoint=disjoint)
            return use(some, scores)

        doing = f"drawing subsets of {plan.size:,}"
        return in_blocks(plan, doing, len(pairs[0]), step, work, share=share)

    for each in plan.chunks(source.questions if is_shared else source.cost):
        yield chunk(*each)


def batches(trials: int, room: int = BLOCK) -> npt.NDArray[np.int32]:
    """The batch of each trial: as many as there is `room` for, from twenty to a hundred."""
    count = max(FEWEST_BATCHES, min(BATCHES, room))
    return (np.arange(trials) * min(count, trials) // trials).astype(np.int32)


def in_blocks(
    plan: Plan,
    doing: str,
    length: int,
    step: int,
    work: Callable[[int, slice], Result],
    *,
    share: Share = (0.0, 1.0),
) -> Iterator[Result]:
    blocks = list(enumerate(cut(length, max(1, step))))
    threads = plan.threads or os.cpu_count() or 1
    with ThreadPoolExecutor(threads) as pool:
        alone = threads == 1 or len(blocks) == 1
        results = starmap(work, blocks) if alone else pool.map(work, *zip(*blocks, strict=True))
        for done, result in enumerate(results, 1):
            if plan.progress:
                plan.progress(doing, share[0] + share[1] * done / len(blocks))
            yield result


def cut(length: int, step: int) -> Iterator[slice]:
    for start in range(0, length, step):
        yield slice(start, min(length, start + step))


class Ratio:
    """A ratio of sums over batches of trials, with its Monte Carlo error.

    Trials are independent, comparisons within one are not (pairs share runs): the error comes from
    the variance between batches, SE² = B/(B−1) Σ (a_b − r·b_b)² / (Σ b_b)².
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.batches = 0
        self.above, self.below = np.zeros(shape), np.zeros(shape)
        self.squares = np.zeros((3, *shape))
        self._chunk: Array | None = None

    def add(self, above: IntArray, below: IntArray) -> None:
        """Sums over some pairs in a chunk of trials: batches × the shape of the ratios."""
        both = np.stack(np.broadcast_arrays(above, below)).astype(np.float64)
        self._chunk = both if self._chunk is None else self._chunk + both

    def close(self) -> None:
        if self._chunk is None:
            return
        a, b = self._chunk
        self.batches += len(a)
        self.above += a.sum(axis=0)
        self.below += b.sum(axis=0)
        self.squares += np.stack([a * a, a * b, b * b]).sum(axis=1)
        self._chunk = None

    @np.errstate(divide="ignore", invalid="ignore")
    def values(self) -> Array:
        return self.above / self.below

    @np.errstate(divide="ignore", invalid="ignore")
    def errors(self) -> Array:
        r, (aa, ab, bb) = self.values(), self.squares
        spread = np.maximum(aa - 2 * r * ab + r * r * bb, 0)
        scale = self.batches / (self.batches - 1) if self.batches > 1 else np.nan
        return np.asarray(np.sqrt(scale * spread) / self.below)
