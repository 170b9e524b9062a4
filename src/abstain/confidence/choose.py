"""Choosing a threshold: the one that maximises a measure, or the smallest that keeps a risk."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.confidence.curve import Curve
from abstain.errors import UsageError
from abstain.outcomes import CountsArray

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.measures import Measure
    from abstain.outcomes import Array

STEPS = 100
SHRINK = 50.0
SILENCE = math.inf


@dataclass(frozen=True, slots=True)
class Threshold:
    """Answer where confidence is at least `value`; ∞ answers nothing.

    Slices of `per` may have values of their own; one that is not among them takes `value`.
    A response without a confidence is left blank.
    """

    value: float
    per: str | None = None
    values: Mapping[str, float] = field(default_factory=dict)

    def answered(self, confidence: Array, slices: Any = None) -> npt.NDArray[np.bool_]:
        """Which responses are sure enough."""
        limit: Any = self.value
        if self.per is not None:
            limit = np.array([self.values.get(str(s), self.value) for s in slices], np.float64)
        with np.errstate(invalid="ignore"):
            return np.asarray(confidence >= limit)

    def to_dict(self) -> dict[str, Any]:
        """As plain data; null answers nothing."""
        plain: dict[str, Any] = {"threshold": _finite(self.value)}
        if self.per is not None:
            plain |= {
                "per": self.per,
                "thresholds": {k: _finite(v) for k, v in self.values.items()},
            }
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Threshold:
        """What `to_dict` made."""

        def number(value: Any) -> float:
            if value is None:
                return SILENCE
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise UsageError(f"a threshold is a number or null (got {value!r})")
            if not 0 <= value <= 1:
                raise UsageError(f"a threshold is from 0 to 1 (got {value:g})")
            return float(value)

        values = plain.get("thresholds") or {}
        if not isinstance(values, Mapping):
            raise UsageError("'thresholds' must map slices to numbers")
        return cls(
            number(plain.get("threshold")),
            plain.get("per"),
            {str(k): number(v) for k, v in values.items()},
        )

    def __str__(self) -> str:
        return "answer nothing" if math.isinf(self.value) else f"{self.value:.4g}"


def _finite(value: float) -> float | None:
    return None if math.isinf(value) else value


@dataclass(frozen=True, slots=True)
class Maximise:
    """The threshold with the best score; of several equal ones that which answers most.

    It lies midway to the next less sure answer, so that new answers between the two are not all
    left blank; 0 where everything is answered.
    """

    measure: Measure

    def choose(self, curve: Curve) -> float:
        """The best threshold of a curve, in hindsight."""
        stated = _stated(curve)
        best = stated.best(self.measure)
        return SILENCE if best is None else _midway(stated.thresholds, best)

    def choose_with(self, own: Curve, everything: Curve, shrink: float) -> float:
        """The best threshold for a slice that borrows `shrink` questions' worth from the whole.

        Counts of the slice and of the whole are added before they are scored, so a large slice
        follows its own questions and a small one the common threshold.
        """
        own, everything = _stated(own), _stated(everything)
        levels = np.unique(np.concatenate([own.thresholds, everything.thresholds]))[::-1]
        weight = shrink / max(everything.questions, 1)
        table = _at(own, levels) + weight * _at(everything, levels)
        scores = self.measure(CountsArray(table)) * (1 if self.measure.higher_is_better else -1)
        if np.isnan(scores).all():
            return SILENCE
        top = np.nanmax(scores)
        best = int(np.flatnonzero(scores >= top - 1e-12 * max(1.0, abs(top)))[-1])
        return _midway(levels, best)

    def to_dict(self) -> dict[str, Any]:
        """What was sought."""
        return {"maximise": str(self.measure)}

    def __str__(self) -> str:
        return f"maximise {self.measure}"


@dataclass(frozen=True, slots=True)
class KeepRisk:
    """The smallest threshold that keeps the share of wrong answers at most α, surely enough.

    Thresholds are tried from the surest down in an order fixed before any verdict is looked at.
    Each is kept while the exact binomial test says that a risk above α would have shown no more
    than so many wrong answers with a chance of at most δ; the first that fails ends it. So the
    chance that the chosen one has a risk above α is at most δ (fixed-sequence testing).
    """

    alpha: float
    delta: float = 0.1

    def __post_init__(self) -> None:
        for name, value in (("--risk", self.alpha), ("--delta", self.delta)):
            if not 0 < value < 1:
                raise UsageError(f"{name} must be between 0 and 1 (got {value:g})")

    @property
    def least(self) -> int:
        """The fewest answers that could pass: all right, (1 − α)^a ≤ δ."""
        return math.ceil(math.log(self.delta) / math.log1p(-self.alpha) - 1e-9)

    def choose(self, curve: Curve) -> float:
        """The smallest threshold that passes; ∞ (answer nothing) where none does."""
        from scipy.stats import binom

        stated = _stated(curve)
        tried = self.sequence(stated)
        if not len(tried):
            return SILENCE
        chance = binom.cdf(stated.wrong[tried], stated.answered[tried], self.alpha)
        failed = np.flatnonzero(chance > self.delta)
        passed = int(failed[0]) if len(failed) else len(tried)
        return float(stated.thresholds[tried[passed - 1]]) if passed else SILENCE

    def sequence(self, curve: Curve) -> npt.NDArray[np.int64]:
        """The points to try: evenly over coverage, from where a few wrong answers may pass."""
        total = int(curve.answered[-1])
        if total < self.least:
            return np.empty(0, np.int64)
        start = min(total, max(3 * self.least, total // 10))
        wanted = np.unique(np.linspace(start, total, STEPS).astype(np.int64))
        return np.unique(np.searchsorted(curve.answered, wanted))

    def to_dict(self) -> dict[str, Any]:
        """What was sought."""
        return {"risk": self.alpha, "delta": self.delta}

    def __str__(self) -> str:
        return f"risk ≤ {self.alpha:g} with confidence {1 - self.delta:g}"


Aim = Maximise | KeepRisk


def _midway(levels: Array, at: int) -> float:
    """Between a level and the next lower one; silence stays silence.

    >>> _midway(np.array([math.inf, 0.9, 0.5]), 1), _midway(np.array([math.inf, 0.9]), 1)
    (0.7, 0.0)
    """
    if math.isinf(levels[at]):
        return SILENCE
    return float((levels[at] + levels[at + 1]) / 2) if at + 1 < len(levels) else 0.0


def _stated(curve: Curve) -> Curve:
    """Without the point that answers even what has no confidence: no threshold reaches it."""
    if not math.isnan(curve.thresholds[-1]):
        return curve
    # The answers without a confidence stay in the counts, as blanks.
    return _Unreached(
        curve.run,
        curve.questions,
        curve.thresholds[:-1],
        curve.answered[:-1],
        curve.right[:-1],
        curve.system,
        all_answered=int(curve.answered[-1]),
        all_right=int(curve.right[-1]),
    )


@dataclass(frozen=True, eq=False)
class _Unreached(Curve):
    """A curve some of whose answers no threshold reaches."""

    all_answered: int = 0
    all_right: int = 0

    @property
    def counts(self) -> CountsArray:
        table = np.array(Curve.counts.fget(self).table)  # type: ignore[attr-defined]
        right, wrong = self.all_right, self.all_answered - self.all_right
        table[:, 2] = right - self.right
        table[:, 3] = wrong - self.wrong
        table[:, 4] = self.questions - self.all_answered
        return CountsArray(table)


def _at(curve: Curve, levels: Array) -> Array:
    """The counts of a curve at any thresholds, falling."""
    place = np.searchsorted(-curve.thresholds, -levels, side="right") - 1
    return curve.counts.table[np.maximum(place, 0)].astype(np.float64)  # type: ignore[no-any-return]
