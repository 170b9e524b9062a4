"""Thresholds that keep the share of wrong answers below a bound, surely enough.

Thresholds are tried from the surest down, in an order fixed before any verdict is looked at; each
passes with few enough wrong answers, the first that fails ends it (fixed-sequence testing).

Where to begin is a matter of power alone. Few answers must all be right to pass, so a sequence
begins with three times the fewest that could, with a tenth of all answers if these are more, and
with half of them at most. Where there are few answers that may be deep in the wrong ones, so a
tenth of δ goes to a second sequence that begins as early as it can; with both the chance of a
broken promise is at most δ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.analyses.curve.curves import Curve
from abstain.analyses.tune.choose import SILENCE, Maximise
from abstain.errors import UsageError, option

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.outcomes import Array, IntArray

STEPS = 100
FEWEST = 3
"""A sequence begins with so many times the fewest answers that could pass."""
EARLY = 0.1
"""The share of δ for a sequence that begins before that."""
EARLIER = 1.5
"""It is worth it where it begins with so many times fewer answers."""
CELLS = 32
SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class KeepRisk:
    """The smallest threshold, of those tried until one fails, whose risk is surely at most α.

    The risk is what the share of wrong answers tends to over more and more questions of the same
    kind. A threshold passes while the exact binomial test says that a risk above α would have
    shown no more than so many wrong answers with a chance of at most δ. Of the thresholds with a
    risk above α the first to be tried passes with a chance of at most δ, and those behind it are
    reached only if it does: so the chosen one has a risk above α with a chance of at most δ.
    """

    alpha: float
    delta: float = 0.1
    """What is left of the level: δ = 1 − level."""

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise UsageError(f"{option('risk')} must be between 0 and 1 (got {self.alpha:g})")

    @property
    def least(self) -> int:
        """The fewest answers that could pass: all right, (1 − α)^a ≤ δ."""
        return math.ceil(math.log(self.delta) / math.log1p(-self.alpha) - 1e-9)

    def choose(self, curve: Curve, ahead: Curve | int = 0) -> float:
        """The smallest threshold that passes: 0 where all do, ∞ (answer nothing) where none does.

        `ahead` is what comes next: its curve, of which only the confidences are looked at, or
        how many questions there will be.
        """
        reached = curve.reached()
        found = [
            replace(self, delta=delta)._lowest(reached, tried, ahead)
            for delta, tried in self.sequences(reached)
        ]
        return min(found, default=SILENCE)

    def _lowest(self, curve: Curve, tried: npt.NDArray[np.int64], ahead: Curve | int) -> float:
        """The last threshold of a sequence before one fails."""
        failed = np.flatnonzero(~self._passes(curve, tried, ahead))
        passed = int(failed[0]) if len(failed) else len(tried)
        if passed == len(tried):
            return 0.0
        return float(curve.thresholds[tried[passed - 1]]) if passed else SILENCE

    def _passes(
        self, curve: Curve, tried: npt.NDArray[np.int64], ahead: Curve | int
    ) -> npt.NDArray[np.bool_]:
        wrong, answered = curve.wrong[tried], curve.answered[tried]
        return _at_most(wrong, answered, np.asarray(self.alpha)) <= self.delta

    def sequences(self, curve: Curve) -> list[tuple[float, npt.NDArray[np.int64]]]:
        """The points to try, evenly over coverage, and the δ for them; verdicts have no say."""
        total = int(curve.answered[-1])
        if total < self.least:
            return []
        start = min(max(FEWEST * self.least, total // 10), max(self.least, total // 2))
        early = max(replace(self, delta=EARLY * self.delta).least, total // 10)
        if EARLIER * early > start:
            return [(self.delta, _evenly(curve, start))]
        return [
            (EARLY * self.delta, _evenly(curve, early)),
            ((1 - EARLY) * self.delta, _evenly(curve, start)),
        ]

    def hindsight(self, curve: Curve) -> float:
        """The threshold that answers most with a share wrong of at most α, verdicts known."""
        reached = curve.reached()
        within = reached.wrong <= self.alpha * reached.answered + 1e-9
        return float(reached.thresholds[np.flatnonzero(within)[-1]])

    def refuted(self, wrong: float, answered: float) -> bool:
        """Whether so many wrong answers speak against a risk of α (exact binomial test, 5 %)."""
        return self.chance(wrong, answered) < SIGNIFICANT

    def chance(self, wrong: float, answered: float) -> float:
        """The chance of so many wrong answers or more where the risk is α."""
        below = _at_most(np.array([wrong - 1]), np.array([answered]), np.asarray(self.alpha))
        return 1 - float(below[0])


@dataclass(frozen=True, slots=True)
class KeepNext(KeepRisk):
    """The smallest threshold that keeps the share wrong *seen* on the next questions at most α.

    A sample has noise of its own, so this asks for more than a risk of at most α. `allowed_wrong`
    says how many wrong answers a threshold may have had.
    """

    def _passes(
        self, curve: Curve, tried: npt.NDArray[np.int64], ahead: Curve | int
    ) -> npt.NDArray[np.bool_]:
        if isinstance(ahead, int):
            share = curve.answered[tried] / max(curve.questions, 1)
            coming = np.floor(ahead * share).astype(np.int64)
        else:
            coming = ahead.reached().answered_at(curve.thresholds[tried])
        wrong, answered = curve.wrong[tried], curve.answered[tried]
        # Alone a threshold may have more wrong answers than among others: most ends are here.
        if wrong[0] > allowed_wrong(answered[:1], coming[:1], self.alpha, self.delta)[0]:
            return np.zeros(len(tried), bool)
        return np.asarray(wrong <= allowed_wrong(answered, coming, self.alpha, self.delta))


Aim = Maximise | KeepRisk


def _evenly(curve: Curve, start: int) -> npt.NDArray[np.int64]:
    """Points of a curve from so many answers up to all of them."""
    wanted = np.unique(np.linspace(start, int(curve.answered[-1]), STEPS).astype(np.int64))
    return np.unique(np.searchsorted(curve.answered, wanted))


def allowed_wrong(answered: IntArray, coming: IntArray, alpha: float, delta: float) -> IntArray:
    """How many of `answered` may be wrong so that at most a share α of `coming` will be.

    One entry for each threshold in the order they are tried; −1: not even none.

    Let threshold j pass with at most m_j wrong answers, and let X_j(p) be the chance of that where
    its risk is p. For every x the first threshold with X_j < x at its true risk passes with a
    chance below x, so the one that is chosen in the end has X < x with a chance of at most x. The
    questions to come are others: where the risk is p they break the bound with a chance g_j(p).
    The bound is then broken with a chance of

        ∫ P(g > y) dy  ≤  ∫ max_j X_j(p_j(y)) dy,   p_j(y) the risk at which g_j is y,

    and the m_j are the largest for which that is at most δ. For one threshold it is the exact
    prediction bound of the binomial (a beta-binomial, hence hypergeometric tail). The integral is
    bounded from above by a sum.
    """
    from scipy.special import betaincinv

    most_coming = np.floor(alpha * coming + 1e-9)
    edges = (np.arange(CELLS + 1) / CELLS) ** 2
    width = np.diff(edges)
    more = most_coming[:, None] + 1
    risk = betaincinv(more, np.maximum(coming[:, None] - more + 1, 1), edges[:-1])
    breaks = (coming > 0)[:, None]

    def passing(most: IntArray) -> Array:
        chance = _at_most(most[:, None], answered[:, None], risk)
        return np.where(breaks, chance, 0.0)

    most = _largest(lambda m: passing(m) @ width <= delta, answered)
    level = delta
    while (chance := float(passing(most).max(axis=0) @ width)) > delta:
        level *= 0.999 * delta / chance
        most = most - (passing(most) @ width > level)
    return most


def _largest(allowed: Any, highest: IntArray) -> IntArray:
    """The largest whole number that is allowed, from −1 to the highest, each by halving."""
    low, high = np.full(len(highest), -1), np.array(highest)
    while (low < high).any():
        middle = (low + high + 1) // 2
        fits = allowed(middle)
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
    return low


def _at_most(wrong: Array | IntArray, answered: Array | IntArray, risk: Array) -> Array:
    """The chance of at most so many wrong answers: the binomial distribution."""
    from scipy.special import betainc

    inside = betainc(np.maximum(answered - wrong, 1), np.maximum(wrong, 0) + 1.0, 1 - risk)
    chance = np.where(wrong >= answered, 1.0, inside)
    return np.where(wrong < 0, 0.0, chance)
