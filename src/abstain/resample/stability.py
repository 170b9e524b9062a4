"""Stability (Buckley and Voorhees 2000): how often another sample reverses two runs.

For every pair of runs and every trial, a random subset of the questions: the runs tie when they
differ by less than `fuzziness` times the larger score, else the larger one wins. The error rate is
the share of comparisons that the minority direction of each pair wins; ties are counted apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from abstain.resample.draws import Block

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array, IntArray

Gap: TypeAlias = "tuple[Array, npt.NDArray[np.bool_] | None]"
FUZZINESS = tuple(round(0.01 * k, 2) for k in range(1, 11))
SAME = 1e-12
"""Differences of rounding: scores nearer than this (of the largest score, if above 1) are equal."""


@dataclass(frozen=True, slots=True)
class Stability:
    """The curve of one measure: an error rate and a share of ties for each fuzziness."""

    measure: str
    fuzziness: tuple[float, ...]
    error: tuple[float | None, ...]
    error_se: tuple[float | None, ...]
    """Monte Carlo error: what other trials of as many draws would change."""
    ties: tuple[float | None, ...]
    ties_se: tuple[float | None, ...]
    comparisons: int
    undefined: int
    """Comparisons left out: the measure did not exist for one of the runs."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        names = ("error", "error_se", "ties", "ties_se")
        points = [
            {"fuzziness": f, **{name: getattr(self, name)[k] for name in names}}
            for k, f in enumerate(self.fuzziness)
        ]
        return {
            "measure": self.measure,
            "comparisons": self.comparisons,
            "undefined": self.undefined,
            "curve": points,
        }


@dataclass(frozen=True, slots=True)
class BlockWins:
    """What one block says: wins by pair and direction, and the trials' own sums."""

    pairs: slice
    wins: IntArray
    """Measures × pairs × directions × fuzziness."""
    trial_wins: IntArray
    trial_upsets: IntArray
    """Measures × trials × fuzziness; an upset is a win of the run that is behind on all."""
    trial_defined: IntArray
    """Measures × trials."""


def block_wins(
    block: Block, levels: Array, ahead: Array, same: Array, gaps: Sequence[Gap]
) -> BlockWins:
    """Count wins for all fuzziness values in one pass.

    A comparison is won at a fuzziness f iff |difference| ≥ f·|larger score|, so one number says
    at how many of the (ascending) values it is.
    """
    measures, pairs, trials = block.x.shape
    steps = len(levels) + 1
    wins = np.empty((measures, pairs, 2, len(levels)), np.int64)
    trial_wins = np.empty((measures, trials, len(levels)), np.int64)
    trial_upsets = np.empty_like(trial_wins)
    trial_defined = np.empty((measures, trials), np.int64)
    of_pair = np.arange(pairs)[:, None] * (2 * steps)
    of_trial = np.arange(trials)[None, :] * steps
    for m in range(measures):
        x, y = block.x[m], block.y[m]
        difference, missing = gaps[m]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = (np.abs(difference) + same[m]) / np.abs(np.maximum(x, y))
        won = _reached(ratio, levels)
        won[difference == 0] = 0
        behind = difference < 0
        both = np.bincount((of_pair + behind * steps + won).ravel(), minlength=pairs * 2 * steps)
        wins[m] = _at_least(both.reshape(pairs, 2, steps))
        at = of_trial + won
        trial_wins[m] = _at_least(_binned(at, trials, steps))
        upset = behind == (ahead[m, block.pairs] >= 0)[:, None]
        trial_upsets[m] = _at_least(_binned(at[upset], trials, steps))
        trial_defined[m] = pairs - (0 if missing is None else missing.sum(axis=0))
    return BlockWins(block.pairs, wins, trial_wins, trial_upsets, trial_defined)


def _reached(ratio: Array, levels: Array) -> IntArray:
    """How many of a few levels each ratio reaches: quicker than a search in them."""
    found = np.zeros(ratio.shape, np.uint8 if len(levels) < 256 else np.uint16)
    for level in levels:
        found += ratio >= level
    return found.astype(np.int64)


def gaps_of(x: Array, y: Array, same: Array) -> list[Gap]:
    """The differences of each measure."""
    return [differences(*own) for own in zip(x, y, same, strict=True)]


def differences(x: Array, y: Array, same: float) -> Gap:
    """x − y with what is only rounding set to 0; and where one does not exist (or None)."""
    difference = x - y
    difference[np.abs(difference) <= same] = 0
    missing = np.isnan(difference)
    if not missing.any():
        return difference, None
    difference[missing] = 0
    return difference, missing


def _binned(keys: IntArray, rows: int, steps: int) -> IntArray:
    return np.bincount(keys.ravel(), minlength=rows * steps).reshape(rows, steps)


def _at_least(counts: IntArray) -> IntArray:
    """From how many were won at exactly k values to how many at the k-th value."""
    return counts[..., :0:-1].cumsum(axis=-1)[..., ::-1]


class StabilityTally:
    """Adds blocks up."""

    def __init__(self, measures: Sequence[str], pairs: int, fuzziness: Sequence[float]) -> None:
        shape = (len(measures), len(fuzziness))
        self.measures, self.fuzziness = list(measures), tuple(fuzziness)
        self.wins = np.zeros((len(measures), pairs, 2, len(fuzziness)), np.int64)
        self.upsets, self.ties = Ratio(shape), Ratio(shape)
        self.total = 0
        self.chunk: list[IntArray] = []

    def add(self, block: BlockWins) -> None:
        """A block of the chunk of trials that is being drawn."""
        self.wins[:, block.pairs] += block.wins
        own = [block.trial_upsets, block.trial_wins, block.trial_defined]
        self.chunk = [a + b for a, b in zip(self.chunk, own, strict=True)] if self.chunk else own
        pairs = block.pairs.stop - block.pairs.start
        self.total += pairs * block.trial_defined.shape[1]

    def close(self) -> None:
        """All pairs of the chunk are in: its trials say how much trials differ."""
        if self.chunk:
            upsets, wins, defined = self.chunk
            self.upsets.add(upsets, defined[..., None])
            self.ties.add(defined[..., None] - wins, defined[..., None])
            self.chunk = []

    def results(self) -> list[Stability]:
        """One curve a measure."""
        minority = self.wins.min(axis=2).sum(axis=1)
        found = []
        for m, name in enumerate(self.measures):
            defined = int(self.ties.below[m, 0])
            error = [int(k) / defined if defined else None for k in minority[m]]
            found.append(
                Stability(
                    name,
                    self.fuzziness,
                    tuple(error),
                    tuple(self.upsets.errors()[m]),
                    tuple(self.ties.values()[m]),
                    tuple(self.ties.errors()[m]),
                    defined,
                    self.total - defined,
                )
            )
        return found


class Ratio:
    """A ratio of sums over trials, with its Monte Carlo error.

    Trials are independent, what happens within one is not (pairs share runs, and perhaps
    questions): the error comes from how much trials differ, SE² = T/(T−1) Σ (a_t − r·b_t)² / B².
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.trials = 0
        self.above, self.below = np.zeros(shape), np.zeros(shape)
        self.squares = np.zeros((3, *shape))

    def add(self, above: IntArray, below: IntArray) -> None:
        """Sums of some trials: measures × trials × values."""
        a, b = np.broadcast_arrays(above.astype(np.float64), below.astype(np.float64))
        self.trials += a.shape[1]
        self.above += a.sum(axis=1)
        self.below += b.sum(axis=1)
        self.squares += np.stack([(a * a).sum(axis=1), (a * b).sum(axis=1), (b * b).sum(axis=1)])

    def values(self) -> list[list[float | None]]:
        """The ratios; None where there is nothing to divide by."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return _plain(self.above / self.below)

    def errors(self) -> list[list[float | None]]:
        """Their Monte Carlo errors; None for a single trial."""
        with np.errstate(divide="ignore", invalid="ignore"):
            r = self.above / self.below
            aa, ab, bb = self.squares
            spread = np.maximum(aa - 2 * r * ab + r * r * bb, 0)
            scale = self.trials / (self.trials - 1) if self.trials > 1 else np.nan
            return _plain(np.sqrt(scale * spread) / self.below)


def _plain(values: Array) -> list[list[float | None]]:
    return [[None if v != v else float(v) for v in row] for row in values]
