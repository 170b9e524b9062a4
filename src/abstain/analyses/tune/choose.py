"""A threshold, and the ways to choose one: the best score, or a risk that is kept surely enough.

To keep a risk thresholds are tried from the surest down, in an order fixed before any verdict is
looked at; each passes with few enough wrong answers, the first that fails ends it (fixed-sequence
testing).

Where to begin is a matter of power alone. Few answers must all be right to pass, so a sequence
begins with three times the fewest that could, with a tenth of all answers if these are more, and
with half of them at most. Where there are few answers that may be deep in the wrong ones, so a
tenth of δ goes to a second sequence that begins as early as it can; with both the chance of a
broken promise is at most δ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from abstain.analyses.curve.curves import Curve, top
from abstain.analyses.result import finite
from abstain.errors import UsageError, option
from abstain.measures import Measure
from abstain.measures.arrays import Array, BoolArray, IntArray
from abstain.outcomes import CountsArray

SHRINK = 50.0
SILENCE = math.inf
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
class Threshold:
    """Answer where confidence is at least `value`; ∞ answers nothing.

    Slices of `per` may have values of their own; one that is not among them takes `value`.
    A response without a confidence is left blank.
    """

    value: float
    per: str | None = None
    values: Mapping[str, float] = field(default_factory=dict)

    def answered(self, confidence: Array, slices: Any = None) -> BoolArray:
        """Which responses are sure enough."""
        limit: Any = self.value
        if self.per is not None:
            limit = np.array([self.values.get(str(s), self.value) for s in slices], np.float64)
        with np.errstate(invalid="ignore"):
            return np.asarray(confidence >= limit)

    def to_dict(self) -> dict[str, Any]:
        """As plain data; null answers nothing."""
        plain = self.facts
        if self.per is None:
            return {"threshold": plain["threshold"]}
        return {"threshold": plain["threshold"], "per": self.per, "thresholds": plain["thresholds"]}

    @property
    def facts(self) -> dict[str, Any]:
        """As results hold it, who say elsewhere whose slices these are."""
        values = {name: finite(value) for name, value in self.values.items()}
        return {"threshold": finite(self.value), "thresholds": values}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Threshold:
        """What `to_dict` made."""

        def number(value: Any) -> float:
            if value is None:
                return SILENCE
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise UsageError(f"a threshold is a number or null (got {value!r})")
            if not 0 <= value <= 1:
                raise UsageError(f"a threshold is from 0 to 1 (got {_short(value)})")
            return float(value)

        if "threshold" not in plain:
            raise UsageError(
                "a run has no 'threshold' (expected a number, or null to answer nothing)"
            )
        per, values = plain.get("per"), plain.get("thresholds", {})
        if per is not None and (not isinstance(per, str) or not per.strip()):
            raise UsageError(f"'per' must name an attribute (got {per!r})")
        if not isinstance(values, Mapping):
            raise UsageError("'thresholds' must map slices to numbers")
        return cls(number(plain["threshold"]), per, {str(k): number(v) for k, v in values.items()})


def _short(number: float) -> str:
    """A number as people read it; a whole one may have any number of digits."""
    return f"{number:g}" if abs(number) < 1e300 else f"{'-' if number < 0 else ''}1e300 or more"


@dataclass(frozen=True, slots=True)
class Maximise:
    """The threshold with the best score; of several equal ones that which answers most.

    It lies midway to the next less sure answer, so that new answers between the two are not all
    left blank; 0 where everything is answered.
    """

    measure: Measure

    def choose(self, curve: Curve, ahead: Curve | int = 0) -> float:
        """The best threshold of a curve, in hindsight; what is ahead has no say."""
        reached = curve.reached()
        best = top(self.measure(reached.counts), self.measure)
        return SILENCE if best is None else _midway(reached.thresholds, best)

    def hindsight(self, curve: Curve) -> float:
        """The best threshold, verdicts known."""
        return self.choose(curve)

    def choose_with(self, own: Curve, everything: Curve, shrink: float) -> float:
        """The best threshold for a slice that borrows `shrink` questions' worth from the whole.

        Counts of the slice and of the whole are added before they are scored, so a large slice
        follows its own questions and a small one the common threshold.
        """
        own, everything = own.reached(), everything.reached()
        levels = np.unique(np.concatenate([own.thresholds, everything.thresholds]))[::-1]
        weight = shrink / everything.questions
        table = _at(own, levels) + weight * _at(everything, levels)
        best = top(self.measure(CountsArray(table)), self.measure)
        return SILENCE if best is None else _midway(levels, best)


def _midway(levels: Array, at: int) -> float:
    """Between a level and the next lower one; silence stays silence.

    >>> _midway(np.array([math.inf, 0.9, 0.5]), 1), _midway(np.array([math.inf, 0.9]), 1)
    (0.7, 0.0)
    """
    if math.isinf(levels[at]):
        return SILENCE
    return float((levels[at] + levels[at + 1]) / 2) if at + 1 < len(levels) else 0.0


def _at(curve: Curve, levels: Array) -> Array:
    return curve.counts.table[curve.points_at(levels)].astype(np.float64)


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

    def _lowest(self, curve: Curve, tried: IntArray, ahead: Curve | int) -> float:
        """The last threshold of a sequence before one fails."""
        return self.last_before_failing(curve, tried, self._passes(curve, tried, ahead))

    @staticmethod
    def last_before_failing(curve: Curve, tried: IntArray, passes: BoolArray) -> float:
        """The last threshold of those tried before one fails: 0 of all, ∞ of none."""
        failed = np.flatnonzero(~passes)
        passed = int(failed[0]) if len(failed) else len(tried)
        if passed == len(tried):
            return 0.0
        return float(curve.thresholds[tried[passed - 1]]) if passed else SILENCE

    def _passes(self, curve: Curve, tried: IntArray, ahead: Curve | int) -> BoolArray:
        wrong, answered = curve.wrong[tried], curve.answered[tried]
        return chance_of_at_most(wrong, answered, np.asarray(self.alpha)) <= self.delta

    def sequences(
        self, curve: Curve, units: IntArray | None = None
    ) -> list[tuple[float, IntArray]]:
        """The points to try, evenly over coverage, and the δ for them; verdicts have no say.

        `units` is what the answers at each point are worth, where questions are clustered.
        """
        counted = curve.answered if units is None else units
        total = int(counted[-1])
        if total < self.least:
            return []
        start = min(max(FEWEST * self.least, total // 10), max(self.least, total // 2))
        early = max(replace(self, delta=EARLY * self.delta).least, total // 10)
        begins = [(self.delta, start)]
        if EARLIER * early <= start:
            begins = [(EARLY * self.delta, early), ((1 - EARLY) * self.delta, start)]
        if units is not None:
            begins = [(d, int(curve.answered[np.searchsorted(units, k)])) for d, k in begins]
        return [(delta, _evenly(curve, first)) for delta, first in begins]

    def hindsight(self, curve: Curve) -> float:
        """The threshold that answers most with a share wrong of at most α, verdicts known."""
        reached = curve.reached()
        within = reached.wrong <= self.alpha * reached.answered + 1e-9
        return float(reached.thresholds[np.flatnonzero(within)[-1]])

    def refuted(self, wrong: float, answered: float) -> bool:
        """Whether so many wrong answers speak against a risk of α (exact binomial test, 5 %)."""
        return self.chance(wrong, answered) <= SIGNIFICANT

    def chance(self, wrong: float, answered: float) -> float:
        """The chance of so many wrong answers or more where the risk is α."""
        below = chance_of_at_most(
            np.array([wrong - 1]), np.array([answered]), np.asarray(self.alpha)
        )
        return 1 - float(below[0])


@dataclass(frozen=True, slots=True)
class KeepNext(KeepRisk):
    """The smallest threshold that keeps the share wrong *seen* on the next questions at most α.

    A sample has noise of its own, so this asks for more than a risk of at most α. `allowed_wrong`
    says how many wrong answers a threshold may have had.
    """

    def _passes(self, curve: Curve, tried: IntArray, ahead: Curve | int) -> BoolArray:
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


def _evenly(curve: Curve, start: int) -> IntArray:
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
        chance = chance_of_at_most(most[:, None], answered[:, None], risk)
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


def chance_of_at_most(wrong: Array | IntArray, answered: Array | IntArray, risk: Array) -> Array:
    """The chance of at most so many wrong answers: the binomial distribution."""
    from scipy.special import betainc

    inside = betainc(np.maximum(answered - wrong, 1), np.maximum(wrong, 0) + 1.0, 1 - risk)
    chance = np.where(wrong >= answered, 1.0, inside)
    return np.where(wrong < 0, 0.0, chance)
