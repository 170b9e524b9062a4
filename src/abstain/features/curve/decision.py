"""The decision curve: how runs compare as a wrong answer costs more and more.

S_t = c − t/(1−t)·w: at t a wrong answer costs t/(1−t) right ones, so answering pays for a chance
of being right above t. A run with confidence acts on it, answering where it is at least t sure;
as submitted, its answers stay what they are. Inside, V_t = (1−t)·S_t = (1−t)·c − t·w is used: it is
bounded, has the same sign of any difference, and is a mean over questions.

Bands are simultaneous: with about the confidence asked for, the whole curve lies inside (sup-t of
the Gaussian limit: one covariance over t, then draws of its maximum). Where t is high few answers
are left, or none, and what they show of the variance is too little; so to its estimate three right
and three wrong answers are added that are given at every t, much as Agresti and Coull do for a
proportion (for a difference: three questions that one run gets right and the other wrong, and
three the other way round). The curve itself stays what it is.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from abstain.errors import UsageError, check_name, option
from abstain.features.curve.result import Band, Comparison, Decision, Way
from abstain.measures.definition import Array
from abstain.outcomes import EXCLUDED
from abstain.report.result import finite
from abstain.runs.matrix import has_answer, stated
from abstain.stats.intervals import check_level

if TYPE_CHECKING:
    from abstain.runs.evaluation import Evaluation

GRID = 100
DRAWS = 2000
ADDED = 3.0
"""Answers of each kind that are added before a variance is estimated."""
SAME = 1e-12
"""Differences up to this are rounding."""


class _Banded(NamedTuple):
    """A mean over questions at every t, with its simultaneous band."""

    value: Array
    low: Array
    high: Array


def decision(
    evaluation: Evaluation, way: Way | None = None, *, level: float = 0.95, seed: int = 0
) -> Decision:
    """Decision curves of all runs; they act on their confidence where one has some."""
    if way is not None:
        check_name("decision", way, ("confidence", "given"))
    check_level(level)
    data, runs = evaluation.data, evaluation.runs
    able = [n for n in range(len(runs)) if stated(data.codes[n], data.confidence[n])[0]]
    chosen: Way = way or ("confidence" if able else "given")
    numbers = able if chosen == "confidence" else list(range(len(runs)))
    if not numbers:
        raise UsageError(
            f"no run has a confidence to act on: {option('decision', 'given')} compares the "
            "answers as they were given"
        )
    t = np.arange(GRID) / GRID
    scale = 1 / (1 - t)
    curves, sums = {}, {}
    for number in numbers:
        values = _contributions(evaluation, number, t, chosen)
        band = _band(t, values, (1 - t, -t), level, seed)
        sums[runs[number]] = band.value
        held = (tuple(finite(value) for value in (line * scale).tolist()) for line in band)
        curves[runs[number]] = Band(**dict(zip(("S", "low", "high"), held, strict=True)))
    by_name = {runs[n]: n for n in numbers}
    compared = []
    for a, b in _leaders(sums):
        pair = (_contributions(evaluation, by_name[run], t, chosen) for run in (a, b))
        compared.append(_compare(a, b, t, next(pair) - next(pair), level, seed))
    return Decision(
        way=chosen,
        level=level,
        seed=seed,
        t=tuple(t.tolist()),
        curves=curves,
        comparisons=tuple(compared),
    )


def _contributions(evaluation: Evaluation, run: int, t: Array, way: Way) -> Array:
    """Questions × t: what each question adds to V_t; excluded questions are left out as NaN."""
    codes = evaluation.data.codes[run]
    has = has_answer(codes)
    right = has & ((codes & 1) == 0)
    if way == "given":
        answered = (codes < 2)[:, None]
    else:
        sure = np.where(has, evaluation.data.confidence[run], np.nan)
        with np.errstate(invalid="ignore"):
            answered = sure[:, None] >= t
    value: Array = np.where(right[:, None], 1 - t, -t) * answered
    if (codes == EXCLUDED).any():
        value[codes == EXCLUDED] = np.nan
    return value


def _band(
    t: Array, values: Array, extremes: tuple[Array, Array], level: float, seed: int
) -> _Banded:
    """The mean over questions with a band that holds for all t at once.

    `extremes` are the highest and the lowest that a question can add at each t.
    """
    kept = values[~np.isnan(values[:, 0])]
    size = len(kept)
    mean = kept.mean(axis=0) if size else np.full(len(t), np.nan)
    if size < 2:
        return _Banded(mean, np.full(len(t), -np.inf), np.full(len(t), np.inf))
    added = np.sqrt(ADDED) * (np.stack(extremes) - mean)
    centred = np.concatenate([kept - mean, added])
    covariance = centred.T @ centred / (size - 1) / size
    error = np.sqrt(np.diag(covariance))
    half = _critical(covariance, error, level, seed) * error
    return _Banded(mean, mean - half, mean + half)


def _critical(covariance: Array, error: Array, level: float, seed: int) -> float:
    """The quantile of the largest |z| over t."""
    live = error > 1e-12
    if not live.any():
        return 0.0
    correlation = covariance[np.ix_(live, live)] / np.outer(error[live], error[live])
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.clip(values, 0, None))
    draws = np.random.default_rng(seed).standard_normal((DRAWS, root.shape[1])) @ root.T
    return float(np.quantile(np.abs(draws).max(axis=1), level))


def _compare(
    first: str, second: str, t: Array, values: Array, level: float, seed: int
) -> Comparison:
    """Two runs, from what each question adds to the one more than to the other."""
    band = _band(t, values, (np.ones_like(t), -np.ones_like(t)), level, seed)
    live = band.value[np.abs(band.value) > SAME]
    leader = None
    if len(live):
        leader = first if live[0] > 0 else second
    return Comparison(
        first=first,
        second=second,
        leader=leader,
        crossings=crossings(t, band.value),
        undecided=_undecided(t, band),
    )


def crossings(t: Array, difference: Array) -> tuple[float, ...]:
    """Where a difference changes its sign, between two points by the straight line.

    >>> crossings(np.array([0, 0.5, 1]), np.array([0.1, 0.1, -0.1]))
    (0.75,)
    """
    live = np.flatnonzero(np.abs(difference) > SAME)
    places = []
    for i, j in pairwise(live):
        if difference[i] * difference[j] < 0:
            share = difference[i] / (difference[i] - difference[j])
            places.append(float(t[i] + share * (t[j] - t[i])))
    return tuple(places)


def _undecided(t: Array, band: _Banded) -> tuple[tuple[float, float], ...]:
    """Stretches of t where the band holds 0, their ends between two points by the straight line."""
    inside = (band.low <= SAME) & (band.high >= -SAME)
    spans: list[tuple[float, float]] = []
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    for start, stop in edges.reshape(-1, 2):
        low = _edge(t, band, start - 1, start) if start else 0.0
        high = _edge(t, band, stop, stop - 1) if stop < len(t) else 1.0
        spans.append((low, high))
    return tuple(spans)


def _edge(t: Array, band: _Banded, outside: int, inside: int) -> float:
    side = band.low if band.low[outside] > 0 else band.high
    gap = side[outside] - side[inside]
    share = side[outside] / gap if gap else 0.0
    start, stop = float(t[outside]), float(t[inside])
    return start + float(np.clip(share, 0, 1)) * (stop - start)


def _leaders(curves: dict[str, Array]) -> list[tuple[str, str]]:
    """The pairs of runs that follow each other in the lead; a run that always leads: the next."""
    if len(curves) < 2:
        return []
    names = sorted(curves)
    table = np.stack([curves[name] for name in names])
    first = table.argmax(axis=0).tolist()
    pairs: dict[frozenset[int], tuple[str, str]] = {}
    for a, b in pairwise(first):
        if a != b:
            pairs.setdefault(frozenset((a, b)), (names[a], names[b]))
    others = [i for i in range(len(names)) if i != first[0]]
    second = max(others, key=lambda i: float(table[i].mean()))
    return list(pairs.values()) or [(names[first[0]], names[second])]
