"""A threshold, and the one that maximises a measure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.analyses.curve.curves import Curve, top
from abstain.errors import UsageError
from abstain.outcomes import CountsArray

if TYPE_CHECKING:
    import numpy.typing as npt

    from abstain.measures import Measure
    from abstain.outcomes import Array

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
                raise UsageError(f"a threshold is from 0 to 1 (got {_short(value)})")
            return float(value)

        if "threshold" not in plain:
            raise UsageError("a run has no 'threshold': a number, or null to answer nothing")
        per, values = plain.get("per"), plain.get("thresholds", {})
        if per is not None and (not isinstance(per, str) or not per.strip()):
            raise UsageError(f"'per' must name an attribute (got {per!r})")
        if not isinstance(values, Mapping):
            raise UsageError("'thresholds' must map slices to numbers")
        return cls(number(plain["threshold"]), per, {str(k): number(v) for k, v in values.items()})


def _short(number: float) -> str:
    """A number as people read it; a whole one may have any number of digits."""
    return f"{number:g}" if abs(number) < 1e300 else f"{'-' if number < 0 else ''}1e300 or more"


def _finite(value: float) -> float | None:
    return None if math.isinf(value) else value


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
        best = reached.best(self.measure)
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
        weight = shrink / max(everything.questions, 1)
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
    """The counts of a curve at any thresholds."""
    return curve.counts.table[curve.points_at(levels)].astype(np.float64)
