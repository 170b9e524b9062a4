"""What both algorithms compare, and how sure a share of comparisons is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array, IntArray

SAME = 1e-12
"""Differences of rounding: scores nearer than this share of a measure's scale are equal."""


@dataclass(frozen=True, slots=True)
class Gap:
    """How far apart the runs of some pairs are in some trials: pairs × trials."""

    size: Array
    """|x − y|, and 0 where one of the scores does not exist."""
    ahead: npt.NDArray[np.bool_]
    """The first run is, by more than rounding."""
    behind: npt.NDArray[np.bool_]
    missing: npt.NDArray[np.bool_] | None
    """Where a score does not exist; None: nowhere."""

    @property
    def differs(self) -> npt.NDArray[np.bool_]:
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


def plain(values: Array) -> tuple[float | None, ...]:
    """Numbers as plain data: what does not exist is None."""
    return tuple(None if v != v else float(v) for v in values)
