"""What a test set can show: power, the smallest visible difference, the questions it takes.

With the standard error that the paired differences have here, x/SE is held against a quantile of t
whose degrees of freedom are the questions, or clusters, less one; SE falls with the square root of
their number.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from abstain.errors import UsageError

MANY = 1_000
"""Degrees of freedom from which t is normal."""
ROUNDS = 50


class Plan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What it takes to find a difference, with the standard error that was seen."""

    visible: float | None
    """The smallest difference that the test set shows with the power asked for; None: so few
    questions or clusters that no difference would."""
    power_asked: float
    detect: float | None = None
    power: float | None = None
    """The chance to find `detect` on this test set."""
    needed: int | None = None
    """The questions that find `detect` with the power asked for."""
    visible_range: tuple[float, float] | None = None
    """Of clusters: between which `visible` lies, as sure as they make the standard error."""
    needed_range: tuple[int, int] | None = None
    """The same of `needed`."""


def least_units(alpha: float) -> int:
    """The questions or clusters with which a test by signs can have a p of alpha: 2^(1 − G)."""
    return max(2, math.ceil(1 - math.log2(alpha) - 1e-9))


def check_plan(
    *, detect: float | None, power: float, level: float, widest: float = math.inf
) -> None:
    """Refuse a power that chance has, and a difference that there cannot be."""
    alpha = 1 - level
    if power <= alpha + 1e-12:
        raise UsageError(
            f"the power must be above {alpha:.4g}, which a test at this level reaches by chance "
            f"(got {power:g})"
        )
    if detect is not None and not (0 < detect <= widest and math.isfinite(detect)):
        most = f" and at most {widest:g}" if math.isfinite(widest) else ""
        raise UsageError(
            f"the difference to detect must be above 0{most}, such as 0.02 (got {detect:g})"
        )


def plan(
    error: float,
    questions: int,
    *,
    units: int | None = None,
    least_units: int = 2,
    detect: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> Plan | None:
    """A plan from the standard error of a paired difference; None where it has none.

    `units` are the clusters, or the questions where there are none; with fewer than `least_units`
    nothing shows.

    >>> round(plan(0.02, 300).visible, 3)
    0.056
    """
    if not 0 < power < 1:
        raise UsageError(f"a power lies between 0 and 1, such as 0.8 (got {power:g})")
    if not math.isfinite(error) or error <= 0:
        return None
    units = questions if units is None else units
    enough = units >= least_units
    visible = _reach(units, power, level) * error if enough else None
    if detect is None:
        return Plan(visible=visible, power_asked=power)
    chance = _power(units, detect / error, level) if enough else 0.0
    needed = float(questions)
    for _ in range(ROUNDS):
        then = max(needed * units / questions, least_units)
        before = needed
        needed = questions * (_reach(then, power, level) * error / detect) ** 2
        needed = max(needed, questions * least_units / units)
        if abs(needed - before) < 1e-6 * needed:
            break
    return Plan(
        visible=visible,
        power_asked=power,
        detect=detect,
        power=chance,
        needed=math.ceil(needed - 1e-9),
    )


def plan_range(
    error: float,
    questions: int,
    *,
    units: int,
    least_units: int = 2,
    detect: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> Plan | None:
    """A plan with the range that a standard error from few clusters leaves (χ², at the level)."""
    from scipy.special import chdtri

    given: Any = {
        "units": units,
        "least_units": least_units,
        "detect": detect,
        "power": power,
        "level": level,
    }
    whole = plan(error, questions, **given)
    if whole is None or units < 2:
        return whole
    scales = (math.sqrt((units - 1) / chdtri(units - 1, tail)) for tail in _tails(level))
    low, high = (plan(error * scale, questions, **given) for scale in scales)
    if low is None or high is None:
        return whole
    seen = None if low.visible is None or high.visible is None else (low.visible, high.visible)
    needed = None if low.needed is None or high.needed is None else (low.needed, high.needed)
    return msgspec.structs.replace(whole, visible_range=seen, needed_range=needed)


def _tails(level: float) -> tuple[float, float]:
    """The upper tails at which the smallest and the largest standard error are read."""
    return (1 - level) / 2, (1 + level) / 2


def _reach(units: float, power: float, level: float) -> float:
    """How many standard errors a difference must be to be found with a power."""
    from scipy.special import nctdtrinc, ndtri, stdtrit

    tail = (1 + level) / 2
    if units > MANY:
        return float(ndtri(tail) + ndtri(power))
    return float(nctdtrinc(units - 1, 1 - power, stdtrit(units - 1, tail)))


def _power(units: float, size: float, level: float) -> float:
    from scipy.special import nctdtr, ndtr, ndtri, stdtrit

    tail = (1 + level) / 2
    if units > MANY:
        z = float(ndtri(tail))
        return float(ndtr(size - z) + ndtr(-size - z))
    t = float(stdtrit(units - 1, tail))
    below, above = float(nctdtr(units - 1, size, t)), float(nctdtr(units - 1, size, -t))
    if math.isnan(below):  # so far in a tail that scipy gives up
        below = float(size < t)
    return 1 - below + (0.0 if math.isnan(above) else above)
