"""Influence functions of the measures of confidence, for many resamples at once.

For each resample and answer: the derivative of the measure by the multiplicity of the answer. Their
differences give the standard error of a difference of two runs. Sums that are not smooth (harmonic
numbers, the point that reaches a coverage) are taken as integrals or as fixed; the permutation test
is exact under exchangeability whatever the denominator. E-AURC and PRR are so curved that a
derivative is a poor guide for few answers: theirs is the jackknife influence.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeAlias

from abstain.errors import UsageError
from abstain.measures.answers import Groups, Resamples, harmonic_numbers, least_area
from abstain.measures.definition import Array, BoolArray, Influence, IntArray, np
from abstain.measures.kinds import Measure

Slopes: TypeAlias = "tuple[Array, Array]"
"""The derivatives by a right and by a wrong answer of each group: (groups, resamples)."""


def influence_of(measure: Measure, a: Resamples, value: Array) -> tuple[Array, Array | float]:
    """The derivatives by each answer (answers, resamples) and by the questions (resamples)."""
    influence = measure.definition.influence
    if influence is None:
        raise UsageError(f"{measure} has no influence function")
    with np.errstate(divide="ignore", invalid="ignore"):
        return influence(a, value, **measure.arguments)


def by_group(slopes: Callable[..., Slopes]) -> Influence:
    """The influence of each answer, from that of its group of equal confidence."""

    @wraps(slopes)
    def influence(a: Resamples, value: Array, **arguments: float) -> tuple[Array, float]:
        return _by_answer(a, slopes(a, value, **arguments)), 0.0

    return influence


def _scattered(a: Resamples, where: BoolArray, values: Array) -> Array:
    if where.all():
        return values
    every = np.zeros(a.numbers.shape)
    every[where] = values
    return every


def _by_answer(a: Resamples, slopes: Slopes) -> Array:
    return np.concatenate(slopes)[np.where(a.right, 0, len(slopes[0])) + a.group]


def _from_here(added: Array) -> Array:
    """The sum over a group and all of lower confidence."""
    return np.cumsum(added[::-1], axis=0)[::-1]


def _mean_share(g: Groups, cumulated: IntArray, size: Array) -> Slopes:
    """The slopes of Σ_i X(i)/i over a fixed size: by an answer that is not X, and by one that is.

    An answer at i adds X(i)/i and takes X(j)/j² from every later j; if it is X it adds 1/j.
    """
    middle = np.maximum(g.halved(g.answered), 0.5)
    share, step = g.halved(cumulated) / middle, g.each(g.answered) / middle
    lost = _from_here(step * share) - step * share / 2
    without = (share - lost) / size
    return without, without + (_from_here(step) - step / 2) / size


@by_group
def aurc(a: Resamples, value: Array) -> Slopes:
    without, with_one = _mean_share(a.groups, a.groups.wrong, a.size)
    return without - value / a.size, with_one - value / a.size


def cws(a: Resamples, value: Array) -> tuple[Array, Array]:
    """Of the submitted answers; one more question lowers it too."""
    answers = a.submissions
    slopes = _mean_share(answers.groups, answers.groups.right, a.questions)
    submitted = np.ones(len(a.right), bool) if a.submitted is None else a.submitted
    return _scattered(a, submitted, _by_answer(answers, slopes[::-1])), -value / a.questions


def _areas_without_one(a: Resamples) -> Slopes:
    """AURC without one answer of each group, a right one and a wrong one.

    The groups before it stay; those after it begin one answer earlier. A group of m answers, x =
    q·m of them wrong, after s answers with W wrong adds x + (W − s·q)·(H(s + m) − H(s)).
    """
    g = a.groups
    harmonic = np.append(harmonic_numbers(int(np.max(a.size, initial=0))), 0.0)  # H(−1): not used
    sizes, added = g.each(g.answered), g.each(g.wrong)
    start, before = g.answered - sizes, g.wrong - added
    share = added / np.maximum(sizes, 1)
    stays = added + (before - start * share) * (harmonic[g.answered] - harmonic[start])
    earlier = harmonic[g.answered - 1] - harmonic[start - 1]
    moves = added + (before - (start - 1) * share) * earlier
    areas = []
    for gone in (0, 1):
        left = (added - gone) / np.maximum(sizes - 1, 1)
        inside = harmonic[g.answered - 1] - harmonic[start]
        group = np.where(sizes > 1, added - gone + (before - start * left) * inside, 0.0)
        after = _from_here(moves) - moves - gone * (_from_here(earlier) - earlier)
        total = np.cumsum(stays, axis=0) - stays + group + after
        areas.append(total / np.maximum(a.size - 1, 1))
    return areas[0], areas[1]


def jackknifed(of: Callable[[Array, Array, Array], Array]) -> Influence:
    """The jackknife influence of a function of AURC, AURC* and the share wrong."""

    @by_group
    def slopes(a: Resamples, value: Array) -> Slopes:
        right, others = np.asarray(a.count(a.right)), np.maximum(a.size - 1, 0)
        each = []
        for area, gone in zip(_areas_without_one(a), (1, 0), strict=True):
            rest = np.clip(right - gone, 0, others)
            without = of(area, least_area(rest, others), 1 - rest / np.maximum(others, 1))
            lost = (value - without) * others / a.size
            each.append(np.where(np.isfinite(lost), lost, 0.0))
        return each[0], each[1]

    return slopes


@by_group
def augrc(a: Resamples, value: Array) -> Slopes:
    g = a.groups
    by_right = g.halved(g.wrong) / a.size**2 - 2 * value / a.size
    return by_right, by_right + (g.size - g.halved(g.answered)) / a.size**2


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
    pairs = g.right[-1] * g.wrong[-1]
    by_right = (g.wrong[-1] - g.halved(g.wrong)) / pairs - value / g.right[-1]
    return by_right, g.halved(g.right) / pairs - value / g.wrong[-1]


def _average_precision(answered: IntArray, hits: IntArray, value: Array) -> Slopes:
    """By a hit, and by any other answer."""
    added = np.diff(hits, prepend=0, axis=0)
    answered = np.maximum(answered, 1)
    precision = hits / answered
    gain = precision + _from_here(added * (1 - precision) / answered) - value
    return gain / hits[-1], -_from_here(added * precision / answered) / hits[-1]


aupr_success = by_group(
    lambda a, value: _average_precision(a.groups.answered, a.groups.right, value)
)


@by_group
def aupr_error(a: Resamples, value: Array) -> Slopes:
    by_wrong, by_right = _average_precision(*a.groups.errors_first, value)
    return by_right[::-1], by_wrong[::-1]


def pearson(a: Resamples, value: Array) -> tuple[Array, float]:
    """(z_s z_e − r (z_s² + z_e²)/2)/N of the answers with a confidence."""
    some = a.calibrated
    sure = some.confidence - some.confidence.mean()
    mean, right = some.total(sure) / some.size, some.count(some.right) / some.size
    spread = some.total(sure**2) / some.size - mean**2
    z = (sure[:, None] - mean) / np.sqrt(spread)
    e = (some.right[:, None] - right) / np.sqrt(right * (1 - right))
    return _scattered(a, a.stated, (z * e - value * (z**2 + e**2) / 2) / some.size), 0.0
