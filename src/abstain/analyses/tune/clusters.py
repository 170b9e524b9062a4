"""A risk that is kept for clustered questions: answers count for as many independent ones.

Answers of one cluster are right or wrong together, so they say less. What they are worth is their
number over the design effect 1 + (Σa²/Σa − 1)·ρ, where a are the answers of each cluster and ρ is
the correlation within clusters. ρ is the larger of that at the threshold and that of all answers,
with a standard error added, and drawn towards 1 where few clusters have a wrong answer: what is not
seen is taken for the worst. Few clusters count for less still, by the quantiles of t.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.tune.choose import SIGNIFICANT, SILENCE, KeepRisk, chance_of_at_most
from abstain.measures.arrays import Array, BoolArray, IntArray

if TYPE_CHECKING:
    from abstain.analyses.curve.curves import Curve

UNSEEN = 1.0
"""As so many clusters with a wrong answer, in which all answers are wrong together."""


@dataclass(frozen=True, slots=True, eq=False)
class Clustered:
    """Sums over the clusters of the answers at each point of a curve, the surest answers first.

    Each array has an entry for every number of answers, from none on.
    """

    confidence: Array
    """Falling."""
    wrong: Array
    squares: Array
    """Σ a², a the answers of a cluster."""
    wrong_squares: Array
    """Σ w², w the wrong answers of a cluster."""
    products: Array
    """Σ a·w."""
    with_wrong: Array
    """Clusters that have a wrong answer."""

    @classmethod
    def of(cls, confidence: Array, wrong: BoolArray, cluster: IntArray) -> Clustered:
        """The sums of answers, each with its confidence and its cluster."""
        order = np.argsort(-confidence, kind="stable")
        y = wrong[order].astype(np.int64)
        before = _before(cluster[order], np.ones_like(y))
        wrong_before = _before(cluster[order], y)
        grown = (
            y,
            2 * before + 1,
            y * (2 * wrong_before + 1),
            wrong_before + y * (before + 1),
            (y == 1) & (wrong_before == 0),
        )
        return cls(confidence[order], *(np.concatenate([[0.0], np.cumsum(each)]) for each in grown))

    def correlation(self, answered: IntArray) -> Array:
        """ρ within clusters among so many of the surest answers, on the careful side."""
        a, w = answered.astype(np.float64), self.wrong[answered]
        aa, groups = self.squares[answered], self.groups(answered)
        with np.errstate(divide="ignore", invalid="ignore"):
            p = w / a
            spread = p * (1 - p)
            off = self.wrong_squares[answered] - 2 * p * self.products[answered] + p**2 * aa
            seen = (off * groups / (groups - 1) - a * spread) / ((aa - a) * spread)
            seen = np.clip(np.nan_to_num(seen), 0, 1)  # of 0 over 0: none
            size = aa / a
            error = (1 - seen) * (1 + (size - 1) * seen) * np.sqrt(2 / (groups - 1) / size)
            error /= np.sqrt(np.maximum(size - 1, 1e-9))
        careful = np.minimum(seen + np.nan_to_num(error, nan=np.inf), 1)
        told = self.with_wrong[answered]
        return np.asarray((told * careful + UNSEEN) / (told + UNSEEN))

    def groups(self, answered: IntArray) -> Array:
        """As many clusters of equal size: (Σa)² / Σa²."""
        return np.asarray(answered**2 / np.maximum(self.squares[answered], 1))  # 0 of none

    def worth(self, answered: IntArray, tail: float) -> Array:
        """What one of so many answers counts for in a test at the level `tail`, from 0 to 1."""
        from scipy.special import ndtri, stdtrit

        every = self.correlation(np.array([len(self.confidence)]))
        rho = np.where(
            self.with_wrong[answered] > 1, np.maximum(self.correlation(answered), every), every
        )
        size = self.squares[answered] / np.maximum(answered, 1)
        degrees = np.maximum(self.groups(answered) - 1, 0.1)
        shrunk = np.where(size <= 1, 1.0, (ndtri(tail) / stdtrit(degrees, tail)) ** 2)
        return np.asarray(shrunk / (1 + np.maximum(size - 1, 0) * rho))


def _before(cluster: IntArray, counted: IntArray) -> IntArray:
    """For each row the sum of `counted` over earlier rows of its cluster."""
    order = np.argsort(cluster, kind="stable")
    sums = np.cumsum(counted[order]) - counted[order]
    own = cluster[order]
    first = np.searchsorted(own, own)
    found = np.empty_like(counted)
    found[order] = sums - (sums[first] if len(own) else sums)
    return found


@dataclass(frozen=True, slots=True)
class KeepClusters(KeepRisk):
    """The smallest threshold, of those tried until one fails, whose risk is surely at most α.

    A threshold passes as for independent questions, with as many answers as the clustered ones are
    worth.
    """

    def choose_by_clusters(self, curve: Curve, own: Clustered) -> float:
        """The smallest threshold that passes: 0 where all do, ∞ (answer nothing) where none."""
        reached = curve.reached()
        worth = reached.answered * own.worth(reached.answered, self.delta)
        units = np.maximum.accumulate(np.floor(worth + 1e-9).astype(np.int64))
        return min(
            (
                replace(self, delta=delta)._lowest_of(reached, tried, own)
                for delta, tried in self.sequences(reached, units)
            ),
            default=SILENCE,
        )

    def _lowest_of(self, curve: Curve, tried: IntArray, own: Clustered) -> float:
        answered, wrong = curve.answered[tried], curve.wrong[tried]
        worth = own.worth(answered, self.delta)
        chance = chance_of_at_most(wrong * worth, answered * worth, np.asarray(self.alpha))
        return self.last_before_failing(curve, tried, chance <= self.delta)

    def spoken_against(self, own: Clustered, threshold: float) -> bool:
        """Whether judged clusters show a risk above α (5 %)."""
        answered = np.array([np.count_nonzero(own.confidence >= threshold)])
        worth = own.worth(answered, SIGNIFICANT)
        wrong, number = own.wrong[answered] * worth, answered * worth
        right = chance_of_at_most(number - wrong, number, np.asarray(1 - self.alpha))
        return bool(answered[0] and right[0] <= SIGNIFICANT)
