"""A threshold, and the ways to choose one: the best score, or a risk that is kept surely enough.

To keep a risk thresholds are tried from the surest down, in an order fixed before any verdict is
looked at, until one fails (fixed-sequence testing). Several sequences share δ, so that a few sure
but wrong answers do not end all of them. Clustered answers count for as many independent ones as
they are worth. The manual has the reasons: docs/background/confidence.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np
import polars as pl

from abstain.errors import UsageError, option
from abstain.measures import Measure
from abstain.measures.definition import Array, BoolArray, IntArray
from abstain.outcomes import CountsArray
from abstain.report.result import finite
from abstain.stats.curves import Curve, top

SHRINK = 50.0
SILENCE = math.inf
STEPS = 100
FEWEST = 3
"""A sequence begins with so many times the fewest answers that could pass."""
EARLY, LATE = 0.1, 0.05
"""Shares of δ: for a sequence that begins earlier; for one with half of the answers, or all."""
APART = 1.5
"""Such a sequence begins with so many times fewer or more answers."""
CELLS = 32
SIGNIFICANT = 0.05
UNSEEN = 1.0
"""As so many clusters with a wrong answer, in which all answers are wrong together."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """Answer where confidence is at least `value`; ∞ answers nothing.

    Slices of `per` may have separate values; one that is not among them takes `value`.
    A response without a confidence is left blank.
    """

    value: float
    per: str | None = None
    values: Mapping[str, float] = field(default_factory=dict)

    def answered(self, confidence: Array, slices: Any = None) -> BoolArray:
        limit: Any = self.value
        if self.per is not None:
            limit = np.array([self.values.get(str(s), self.value) for s in slices], np.float64)
        with np.errstate(invalid="ignore"):
            return np.asarray(confidence >= limit)

    @property
    def facts(self) -> dict[str, Any]:
        values = {name: finite(value) for name, value in self.values.items()}
        return {"threshold": finite(self.value), "thresholds": values}

    @classmethod
    def of(
        cls, value: float | None, per: str | None, values: Mapping[str, float | None]
    ) -> Threshold:
        levels = {name: SILENCE if level is None else level for name, level in values.items()}
        return cls(SILENCE if value is None else value, per, levels)


@dataclass(frozen=True, slots=True)
class Maximise:
    """The threshold with the best score; of several equal ones that which answers most.

    It lies midway to the next less sure answer, so that new answers between the two are not all
    left blank; 0 where everything is answered.
    """

    measure: Measure

    def choose(self, curve: Curve, ahead: Any = 0) -> float:
        """The best threshold of a curve, in hindsight; what is ahead has no say."""
        reached = curve.reached()
        return self._best(reached.thresholds, reached.counts)

    hindsight = choose

    def choose_with(self, part: Curve, everything: Curve, shrink: float) -> float:
        """The best threshold for a slice that borrows `shrink` questions' worth from the whole.

        Counts of the slice and of the whole are added before they are scored, so a large slice
        follows its questions and a small one the common threshold.
        """
        part, everything = part.reached(), everything.reached()
        levels = np.unique(np.concatenate([part.thresholds, everything.thresholds]))[::-1]
        inside, whole = (c.counts.table[c.points_at(levels)] for c in (part, everything))
        return self._best(levels, CountsArray(inside + shrink / everything.questions * whole))

    def _best(self, levels: Array, counts: CountsArray) -> float:
        best = top(self.measure(counts), self.measure)
        if best is None or math.isinf(levels[best]):
            return SILENCE
        return float(levels[best : best + 2].mean()) if best + 1 < len(levels) else 0.0


@dataclass(frozen=True, slots=True)
class KeepRisk:
    """The smallest threshold, of those tried until one fails, whose risk is surely at most α.

    A threshold passes while the exact binomial test says that a risk above α would have shown no
    more than so many wrong answers with a chance of at most δ. Of the thresholds with a risk above
    α the first to be tried passes with a chance of at most δ; those behind it need it to pass.
    """

    alpha: float
    delta: float = 0.1
    HANDS_ON: ClassVar[bool] = True
    """Whether a sequence that passes leaves its δ to the next, as a test of one risk may."""

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise UsageError(f"{option('risk')} must be between 0 and 1 (got {self.alpha:g})")

    @property
    def least(self) -> int:
        """The fewest answers that could pass: all right, (1 − α)^a ≤ δ."""
        return math.ceil(math.log(self.delta) / math.log1p(-self.alpha) - 1e-9)

    def choose(self, curve: Curve, ahead: Any = 0) -> float:
        """The smallest threshold that passes: 0 where all do, ∞ (answer nothing) where none does.

        `ahead` is what a subclass needs to know besides the curve.
        """
        reached, threshold, spare = curve.reached(), SILENCE, 0.0
        for delta, tried in self.sequences(reached, self.units(reached, ahead)):
            level = delta + spare
            passes = replace(self, delta=level).passes(reached, tried, ahead)
            threshold = min(threshold, self.last_before_failing(reached, tried, passes))
            spare = level if passes.all() else 0.0
        return threshold

    def units(self, curve: Curve, ahead: Any) -> IntArray | None:
        """What the answers at each point of a curve are worth, where they are not independent."""

    @staticmethod
    def last_before_failing(curve: Curve, tried: IntArray, passes: BoolArray) -> float:
        """The last threshold of those tried before one fails: ∞ of none, 0 of all answers."""
        passed = int(np.append(passes, False).argmin())
        if not passed:
            return SILENCE
        last = tried[passed - 1]
        return 0.0 if last == len(curve.answered) - 1 else float(curve.thresholds[last])

    def passes(self, curve: Curve, tried: IntArray, ahead: Any) -> BoolArray:
        wrong, answered = curve.wrong[tried], curve.answered[tried]
        return chance_of_at_most(wrong, answered, np.asarray(self.alpha)) <= self.delta

    def sequences(
        self, curve: Curve, units: IntArray | None = None
    ) -> list[tuple[float, IntArray]]:
        """The points to try, evenly over coverage, and the δ for them; verdicts have no say.

        Each ends where the next begins, to which it hands on its δ if all of it passes; where
        none is handed on, each goes on to the end.
        """
        answered = curve.answered if units is None else units
        total = int(answered[-1])
        if total < self.least:
            return []
        begins = [
            (share, len(answered) - 1 if k == total else int(answered.searchsorted(k)))
            for share, k in self._begins(total)
        ]
        firsts, after = [first for _, first in begins], len(curve.answered)
        evenly = np.linspace(curve.answered[firsts[0]], curve.answered[-1], STEPS).astype(int)
        tried = np.unique([*np.searchsorted(curve.answered, evenly), *firsts])
        ends = [*firsts[1:], after] if self.HANDS_ON else [after] * len(firsts)
        return [
            (share * self.delta, tried[(tried >= first) & (tried < end)])
            for (share, first), end in zip(begins, ends, strict=True)
        ]

    def _begins(self, total: int) -> list[tuple[float, int]]:
        shares = 1 - EARLY - 2 * LATE, EARLY, LATE
        main, early, late = (replace(self, delta=s * self.delta).least for s in shares)
        start = min(max(FEWEST * self.least, total // 10), max(main, total // 2), total)
        early = max(early, total // 10)
        others = [(EARLY, early)] if APART * early <= start else []
        others += [(LATE, k) for k in (total // 2, total) if k >= max(APART * start, late)]
        rest = 1 - sum(share for share, _ in others)
        return sorted([(rest, start), *others], key=itemgetter(1))

    def hindsight(self, curve: Curve) -> float:
        reached = curve.reached()
        within = reached.wrong <= self.alpha * reached.answered + 1e-9
        return float(reached.thresholds[np.flatnonzero(within)[-1]])

    def refuted(self, wrong: float, answered: float) -> bool:
        return self.chance(wrong, answered) <= SIGNIFICANT

    def chance(self, wrong: float, answered: float) -> float:
        alpha, fewer = np.asarray(self.alpha), np.array([wrong - 1])
        return 1 - float(chance_of_at_most(fewer, np.array([answered]), alpha)[0])


@dataclass(frozen=True, slots=True)
class KeepNext(KeepRisk):
    """The smallest threshold that keeps the share wrong *seen* on the next questions at most α.

    A sample has noise too, so this asks for more than a risk of at most α. What is ahead is a
    curve, of which only the confidences are looked at, or how many questions there will be.
    """

    HANDS_ON: ClassVar[bool] = False

    def passes(self, curve: Curve, tried: IntArray, ahead: Any) -> BoolArray:
        if isinstance(ahead, int):
            share = curve.answered[tried] / curve.questions
            coming = np.floor(ahead * share).astype(np.int64)
        else:
            reached = ahead.reached()
            coming = reached.answered[reached.points_at(curve.thresholds[tried])]
        wrong, answered = curve.wrong[tried], curve.answered[tried]
        # Alone a threshold may have more wrong answers than among others: most ends are here.
        if wrong[0] > allowed_wrong(answered[:1], coming[:1], self.alpha, self.delta)[0]:
            return np.zeros(len(tried), bool)
        return np.asarray(wrong <= allowed_wrong(answered, coming, self.alpha, self.delta))


def allowed_wrong(answered: IntArray, coming: IntArray, alpha: float, delta: float) -> IntArray:
    """How many of `answered` may be wrong so that at most a share α of `coming` will be.

    One entry for each threshold in the order they are tried; −1: not even none.

    Let threshold j pass with at most m_j wrong answers, and let X_j(p) be the chance of that where
    its risk is p. For every x the first threshold with X_j < x at its true risk passes with a
    chance below x, so the one that is chosen in the end has X < x with a chance of at most x. The
    questions to come are others: where the risk is p they break the bound with a chance g_j(p).
    The bound is then broken with a chance of at most ∫ max_j X_j(p_j(y)) dy, where p_j(y) is the
    risk at which g_j is y, and the m_j are the largest for which that, bounded by a sum, is at most
    δ. For one threshold it is the exact prediction bound of the binomial.
    """
    from scipy.special import betaincinv

    most_coming = np.floor(alpha * coming + 1e-9)
    edges = (np.arange(CELLS + 1) / CELLS) ** 2
    width = np.diff(edges)
    more = most_coming[:, None] + 1
    risk = betaincinv(more, np.maximum(coming[:, None] - more + 1, 1), edges[:-1])
    breaks = (coming > 0)[:, None]

    def passing(most: IntArray) -> Array:
        chance = chance_of_at_most(most[:, None], answered[:, None], risk)
        return np.where(breaks, chance, 0.0)

    most = _largest(lambda m: passing(m) @ width <= delta, answered)
    level = delta
    while (chance := float(passing(most).max(axis=0) @ width)) > delta:
        level *= 0.999 * delta / chance
        most = most - (passing(most) @ width > level)
    return most


def _largest(allowed: Any, highest: IntArray) -> IntArray:
    low, high = np.full(len(highest), -1), np.array(highest)
    while (low < high).any():
        middle = (low + high + 1) // 2
        fits = allowed(middle)
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
    return low


def chance_of_at_most(wrong: Array | IntArray, answered: Array | IntArray, risk: Array) -> Array:
    from scipy.special import betainc

    inside = betainc(np.maximum(answered - wrong, 1), np.maximum(wrong, 0) + 1.0, 1 - risk)
    chance = np.where(wrong >= answered, 1.0, inside)
    return np.where(wrong < 0, 0.0, chance)


@dataclass(frozen=True, slots=True, eq=False)
class Clustered:
    """Sums over the clusters of so many of the surest answers, from none on."""

    confidence: Array
    """Falling."""
    wrong: Array
    squares: Array
    """Σ a², a the answers of a cluster."""
    wrong_squares: Array
    """Σ w², w the wrong answers of a cluster."""
    products: Array
    with_wrong: Array

    @classmethod
    def of(cls, confidence: Array, wrong: BoolArray, cluster: IntArray) -> Clustered:
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
        seen_wrong = self.with_wrong[answered]
        return np.asarray((seen_wrong * careful + UNSEEN) / (seen_wrong + UNSEEN))

    def groups(self, answered: IntArray) -> Array:
        return np.asarray(answered**2 / np.maximum(self.squares[answered], 1))  # 0 of none

    def worth(self, answered: IntArray, tail: float) -> Array:
        """What one of so many answers counts for in a test at the level `tail`, from 0 to 1."""
        from scipy.special import ndtri, stdtrit

        every = self.correlation(np.array([len(self.confidence)]))
        surely = np.maximum(self.correlation(answered), every)
        rho = np.where(self.with_wrong[answered] > 1, surely, every)
        size = self.squares[answered] / np.maximum(answered, 1)
        degrees = np.maximum(self.groups(answered) - 1, 0.1)
        shrunk = np.where(size <= 1, 1.0, (ndtri(tail) / stdtrit(degrees, tail)) ** 2)
        return np.asarray(shrunk / (1 + np.maximum(size - 1, 0) * rho))


def _before(cluster: IntArray, counted: IntArray) -> IntArray:
    """For each row the sum of `counted` over earlier rows of its cluster."""
    rows = pl.DataFrame({"cluster": cluster, "n": counted})
    return rows.select((pl.col("n").cum_sum() - pl.col("n")).over("cluster"))["n"].to_numpy()


@dataclass(frozen=True, slots=True)
class KeepClusters(KeepRisk):
    """As for independent questions, with as many answers as the clustered ones are worth."""

    def units(self, curve: Curve, ahead: Clustered) -> IntArray:
        worth = curve.answered * ahead.worth(curve.answered, self.delta)
        return np.maximum.accumulate(np.floor(worth + 1e-9).astype(np.int64))

    def passes(self, curve: Curve, tried: IntArray, ahead: Clustered) -> BoolArray:
        answered, wrong = curve.answered[tried], curve.wrong[tried]
        worth = ahead.worth(answered, self.delta)
        chance = chance_of_at_most(wrong * worth, answered * worth, np.asarray(self.alpha))
        return np.asarray(chance <= self.delta)

    def spoken_against(self, answers: Clustered, threshold: float) -> bool:
        answered = np.array([np.count_nonzero(answers.confidence >= threshold)])
        worth = answers.worth(answered, SIGNIFICANT)
        wrong, number = answers.wrong[answered] * worth, answered * worth
        right = chance_of_at_most(number - wrong, number, np.asarray(1 - self.alpha))
        return bool(answered[0] and right[0] <= SIGNIFICANT)
