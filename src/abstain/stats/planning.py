"""Power analysis: power, the smallest detectable difference, the number of questions needed.

A paired difference x with standard error SE has power by the noncentral t of x/SE, whose degrees of
freedom are the questions, or clusters, less one; SE falls with the square root of their number.
"""

import math

import msgspec

from abstain.errors import UsageError

MANY = 1_000
"""Degrees of freedom from which t is normal."""
ROUNDS = 50


class Plan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What it takes to find a difference, by the standard error observed."""

    visible: float | None
    """The smallest detectable difference at the power asked for; None: too few units for any."""
    power_asked: float
    detect: float | None = None
    power: float | None = None
    needed: int | None = None
    """The questions that find `detect` with the power asked for."""
    visible_range: tuple[float, float] | None = None
    """With clusters: the range of `visible`, by the χ² interval of the standard error."""
    needed_range: tuple[int, int] | None = None


def least_units(alpha: float) -> int:
    """The questions or clusters with which a test by signs can have a p of alpha: 2^(1 − G)."""
    return max(2, math.ceil(1 - math.log2(alpha) - 1e-9))


def check_plan(
    *, detect: float | None, power: float, level: float, widest: float = math.inf
) -> None:
    alpha = 1 - level
    if not alpha + 1e-12 < power < 1:
        raise UsageError(
            f"the power must be above {alpha:.4g}, which a test at this level reaches by chance, "
            f"and below 1 (got {power:g})"
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
    clusters: int | None = None,
    least_units: int = 2,
    detect: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> Plan | None:
    """A plan from the standard error of a paired difference; None where it is 0 or undefined.

    With fewer than `least_units` questions or clusters nothing is detectable.
    """
    from scipy.special import chdtri

    if not math.isfinite(error) or error <= 0:
        return None
    units = questions if clusters is None else clusters
    enough, factors = units >= least_units, [1.0]
    if clusters is not None and clusters > 1:
        tails = (1 - level) / 2, (1 + level) / 2
        factors += [math.sqrt((clusters - 1) / chdtri(clusters - 1, tail)) for tail in tails]
    visible = [_reach(units, power, level) * (error * factor) for factor in factors]
    needed = [
        _needed(error * factor / detect, questions, units, least_units, power, level)
        for factor in factors
        if detect is not None
    ]
    chance = None if detect is None else _power(units, detect / error, level) if enough else 0.0
    return Plan(
        visible=visible[0] if enough else None,
        power_asked=power,
        detect=detect,
        power=chance,
        needed=needed[0] if needed else None,
        visible_range=(visible[1], visible[2]) if enough and len(visible) > 1 else None,
        needed_range=(needed[1], needed[2]) if len(needed) > 1 else None,
    )


def _needed(
    relative_error: float, questions: int, units: int, least_units: int, power: float, level: float
) -> int:
    needed = float(questions)
    for _ in range(ROUNDS):
        before = needed
        then = max(needed * units / questions, least_units)
        needed = questions * (_reach(then, power, level) * relative_error) ** 2
        needed = max(needed, questions * least_units / units)
        if abs(needed - before) < 1e-6 * needed:
            break
    return math.ceil(needed - 1e-9)


def _reach(units: float, power: float, level: float) -> float:
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
