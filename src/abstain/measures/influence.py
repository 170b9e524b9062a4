"""How much one more answer would move a measure of confidence, in many resamples at once.

Of each resample, answer by answer: the derivative of the measure by how often the answer is there.
Their differences make the standard error of a difference of two runs. Where a sum over answers is
not smooth (harmonic numbers, the point that reaches a coverage) it is taken as an integral or as
fixed: the test is exact for runs that are alike whatever it divides by. E-AURC and PRR bend so much
that a derivative says too little of few answers: there it is what leaving the answer out does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, TypeAlias

from abstain.errors import UsageError
from abstain.measures.answers import Groups, harmonic_numbers, least_area
from abstain.measures.kinds import Measure
from abstain.measures.lazy import numpy as np

if TYPE_CHECKING:
    from abstain.measures.answers import BoolArray, Resamples
    from abstain.measures.definition import Influence
    from abstain.outcomes import Array, IntArray

Slopes: TypeAlias = "tuple[Array, Array]"
"""By one more right answer of each group, and by one more wrong one: (groups, resamples)."""


def influence_of(measure: Measure, a: Resamples, value: Array) -> tuple[Array, Array | float]:
    """By one more of each answer (answers, resamples), and by one more question (resamples)."""
    influence = measure.definition.influence
    if influence is None:
        raise UsageError(f"how much one answer moves {measure} is not known")
    with np.errstate(divide="ignore", invalid="ignore"):
        return influence(a, value, **measure.arguments)


def by_group(slopes: Callable[..., Slopes]) -> Influence:
    """The influence of each answer from that of its group of equally sure ones."""

    @wraps(slopes)
    def influence(a: Resamples, value: Array, **arguments: float) -> tuple[Array, float]:
        return _by_answer(a, slopes(a, value, **arguments)), 0.0

    return influence


def _among(a: Resamples, where: BoolArray, found: Array) -> Array:
    """What was found of some answers, 0 for the others."""
    if where.all():
        return found
    all_of_them = np.zeros(a.numbers.shape)
    all_of_them[where] = found
    return all_of_them


def _by_answer(a: Resamples, slopes: Slopes) -> Array:
    return np.concatenate(slopes)[np.where(a.right, 0, len(slopes[0])) + a.group]


def _from_here(added: Array) -> Array:
    """The sum over a group and all less sure ones."""
    return np.cumsum(added[::-1], axis=0)[::-1]


def _mean_share(g: Groups, cumulated: IntArray, size: Array) -> Slopes:
    """Of Σ_i X(i)/i divided by a size that stays: by an answer that is not X, and by one that is.

    One more at i adds X(i)/i itself and takes X(j)/j² from every later j; if it is X it adds 1/j.
    """
    sizes, added = g.each(g.answered), g.each(cumulated)
    middle = np.maximum(g.answered - sizes / 2, 0.5)
    share, step = (cumulated - added / 2) / middle, sizes / middle
    lost = _from_here(step * share) - step * share / 2
    without = (share - lost) / size
    return without, without + (_from_here(step) - step / 2) / size


@by_group
def aurc(a: Resamples, value: Array) -> Slopes:
    without, with_one = _mean_share(a.groups, a.groups.wrong, a.size)
    return without - value / a.size, with_one - value / a.size


def cws(a: Resamples, value: Array) -> tuple[Array, Array]:
    """Of the answers given; one more question lowers it too."""
    own = a.shown
    slopes = _mean_share(own.groups, own.groups.right, a.questions)
    given = np.ones(len(a.right), bool) if a.given is None else a.given
    return _among(a, given, _by_answer(own, slopes[::-1])), -value / a.questions


def _areas_without_one(a: Resamples) -> Slopes:
    """AURC when an answer of each group is left out, a right one and a wrong one.

    The groups before it stay. Those after it begin one answer earlier: W wrong in the first s, of
    m answers x = q·m wrong, make x + (W − s·q)·(H(s + m) − H(s)), tied ones in every order.
    """
    g = a.groups
    harmonic = np.append(harmonic_numbers(int(np.max(a.size, initial=0))), 0.0)  # H(−1): not used
    sizes, added = g.each(g.answered), g.each(g.wrong)
    start, before = g.answered - sizes, g.wrong - added
    share = added / np.maximum(sizes, 1)
    stays = added + (before - start * share) * (harmonic[g.answered] - harmonic[start])
    earlier = harmonic[g.answered - 1] - harmonic[start - 1]
    moves = added + (before - (start - 1) * share) * earlier
    found = []
    for gone in (0, 1):
        left = (added - gone) / np.maximum(sizes - 1, 1)
        own = added - gone + (before - start * left) * (harmonic[g.answered - 1] - harmonic[start])
        own = np.where(sizes > 1, own, 0.0)
        after = _from_here(moves) - moves - gone * (_from_here(earlier) - earlier)
        found.append((np.cumsum(stays, axis=0) - stays + own + after) / np.maximum(a.size - 1, 1))
    return found[0], found[1]


def _without_one(a: Resamples, value: Array, of: Callable[[Array, Array, Array], Array]) -> Slopes:
    """What leaving an answer out takes from a function of AURC, AURC* and the share wrong."""
    right, others = np.asarray(a.count(a.right)), np.maximum(a.size - 1, 0)
    found = []
    for area, gone in zip(_areas_without_one(a), (1, 0), strict=True):
        rest = np.clip(right - gone, 0, others)
        without = of(area, least_area(rest, others), 1 - rest / np.maximum(others, 1))
        lost = (value - without) * others / a.size
        found.append(np.where(np.isfinite(lost), lost, 0.0))
    return found[0], found[1]


@by_group
def excess_aurc(a: Resamples, value: Array) -> Slopes:
    return _without_one(a, value, lambda area, least, _: area - least)


@by_group
def rejection_ratio(a: Resamples, value: Array) -> Slopes:
    return _without_one(a, value, lambda area, least, wrong: (wrong - area) / (wrong - least))


@by_group
def augrc(a: Resamples, value: Array) -> Slopes:
    g = a.groups
    sizes, wrong = g.each(g.answered), g.each(g.wrong)
    by_right = (g.wrong - wrong / 2) / a.size**2 - 2 * value / a.size
    return by_right, by_right + (g.size - g.answered + sizes / 2) / a.size**2


@by_group
def risk_at_coverage(a: Resamples, value: Array, *, c: float) -> Slopes:
    at, _ = a.first_covering(c)
    answered = np.take_along_axis(a.groups.answered, at[None], 0)
    inside = (np.arange(len(a.groups.answered))[:, None] <= at) / answered
    return inside * -value, inside * (1 - value)


def accuracy_at_coverage(a: Resamples, value: Array, *, c: float) -> tuple[Array, float]:
    by_answer, _ = risk_at_coverage(a, 1 - value, c=c)
    return -by_answer, 0.0


@by_group
def auroc(a: Resamples, value: Array) -> Slopes:
    g = a.groups
    right, wrong = g.each(g.right), g.each(g.wrong)
    pairs = g.right[-1] * g.wrong[-1]
    return (
        (g.wrong[-1] - g.wrong + wrong / 2) / pairs - value / g.right[-1],
        (g.right - right / 2) / pairs - value / g.wrong[-1],
    )


def _average_precision(answered: IntArray, found: IntArray, value: Array) -> Slopes:
    """By one more of what is looked for, and by one more of the others."""
    added = np.diff(found, prepend=0, axis=0)
    answered = np.maximum(answered, 1)
    precision = found / answered
    gain = precision + _from_here(added * (1 - precision) / answered) - value
    return gain / found[-1], -_from_here(added * precision / answered) / found[-1]


@by_group
def aupr_success(a: Resamples, value: Array) -> Slopes:
    return _average_precision(a.groups.answered, a.groups.right, value)


@by_group
def aupr_error(a: Resamples, value: Array) -> Slopes:
    g = a.groups
    answered, wrong = g.answered - g.each(g.answered), g.wrong - g.each(g.wrong)
    up = _average_precision(g.size - answered[::-1], g.wrong[-1] - wrong[::-1], value)
    return up[1][::-1], up[0][::-1]


def pearson(a: Resamples, value: Array) -> tuple[Array, float]:
    """(z_s z_e − r (z_s² + z_e²)/2)/N of the answers with a confidence."""
    own = a.calibrated
    sure = own.confidence - own.confidence.mean()
    mean, right = own.total(sure) / own.size, own.count(own.right) / own.size
    spread = own.total(sure**2) / own.size - mean**2
    z = (sure[:, None] - mean) / np.sqrt(spread)
    e = (own.right[:, None] - right) / np.sqrt(right * (1 - right))
    return _among(a, a.stated, (z * e - value * (z**2 + e**2) / 2) / own.size), 0.0
