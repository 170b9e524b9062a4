"""Single draws: from cells, of subsets, of multiplicities; and the streams that they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import IntArray

Rng: TypeAlias = np.random.Generator


def stream(seed: int, *path: int) -> Rng:
    """The random stream of a place."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=path)))


def random_cells(rng: Rng, cells: IntArray, size: int, trials: int) -> IntArray:
    """Draws without replacement from cells (cells × pairs × 1 or trials): the multivariate
    hypergeometric, cell by cell, each given what the ones before it took."""
    left = np.full((cells.shape[1], trials), size, np.int64)
    rest = cells.sum(axis=0)
    drawn = np.zeros((len(cells), *left.shape), np.int64)
    present = [k for k in range(len(cells)) if cells[k].any()]
    for k in present[:-1]:
        rest = rest - cells[k]
        drawn[k] = rng.hypergeometric(cells[k], rest, left)
        left = left - drawn[k]
    drawn[present[-1]] = left
    return drawn


def random_parts(
    rng: Rng, rows: int, questions: int, size: int, *, disjoint: bool
) -> list[npt.NDArray[np.bool_]]:
    """For each row a random subset, and perhaps one that shares nothing with it."""
    labels = np.zeros((rows, questions), np.uint8)
    labels[:, :size] = 1
    if disjoint:
        labels[:, size : 2 * size] = 2
    rng.permuted(labels, axis=1, out=labels)
    return [labels == k for k in ((1, 2) if disjoint else (1,))]


def random_multiplicities(rng: Rng, rows: int, questions: int) -> npt.NDArray[np.float32]:
    """For each row how often each question comes up in as many draws with replacement."""
    drawn = rng.integers(questions, size=(rows, questions))
    drawn += (np.arange(rows) * questions)[:, None]
    return (
        np.bincount(drawn.ravel(), minlength=rows * questions)
        .reshape(rows, questions)
        .astype(np.float32)
    )
