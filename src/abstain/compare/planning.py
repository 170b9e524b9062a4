"""What a test set can show: power, the smallest visible difference, the questions it takes.

With the standard error that the paired differences have here, a difference x is found with power
Φ(x/SE − z) + Φ(−x/SE − z), and SE falls with the square root of the number of questions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from abstain.errors import UsageError


@dataclass(frozen=True, slots=True)
class Plan:
    """What it takes to find a difference at the disagreement seen."""

    questions: int
    visible: float
    """The smallest difference that this many questions show with the power asked for."""
    power_asked: float
    detect: float | None = None
    power: float | None = None
    """The chance to find `detect` with this many questions."""
    needed: int | None = None
    """The questions that find `detect` with the power asked for."""


def check_plan(
    *, detect: float | None, power: float, level: float, widest: float = math.inf
) -> None:
    """Refuse a power that chance has, and a difference that there cannot be."""
    alpha = 1 - level
    if power <= alpha + 1e-12:
        raise UsageError(
            f"a power is more than the {alpha:.4g} that a test at this level has by chance "
            f"(got {power:g})"
        )
    if detect is not None and not (0 < detect <= widest and math.isfinite(detect)):
        most = f" and at most {widest:g}" if math.isfinite(widest) else ""
        raise UsageError(
            f"a difference to detect is more than 0{most}, such as 0.02 (got {detect:g})"
        )


def plan(
    error: float,
    questions: int,
    *,
    detect: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> Plan | None:
    """A plan from the standard error of a paired difference; None where it has none.

    >>> round(plan(0.02, 300).visible, 3)
    0.056
    """
    from scipy.special import ndtr, ndtri

    if not 0 < power < 1:
        raise UsageError(f"a power lies between 0 and 1, such as 0.8 (got {power:g})")
    if detect is not None and not detect > 0:
        raise UsageError(f"a difference to detect is more than 0, such as 0.02 (got {detect:g})")
    if not math.isfinite(error) or error <= 0:
        return None
    z, reach = float(ndtri((1 + level) / 2)), float(ndtri(power))
    visible = (z + reach) * error
    if detect is None:
        return Plan(questions, visible, power)
    chance = float(ndtr(detect / error - z) + ndtr(-detect / error - z))
    needed = math.ceil(questions * (visible / detect) ** 2 - 1e-9)
    return Plan(questions, visible, power, detect, chance, needed)
