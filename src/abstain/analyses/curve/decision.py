"""The decision curve: how runs compare as a wrong answer costs more and more.

S_t = c − t/(1−t)·w: at t a wrong answer costs t/(1−t) right ones, so answering pays for a chance
of being right above t. A run with confidence acts on it, answering where it is at least t sure;
as given, its answers stay what they are. Inside, V_t = (1−t)·S_t = (1−t)·c − t·w is used, which is
bounded, has the same sign of any difference, and is a mean over questions.

Bands are simultaneous: with about the confidence asked for, the whole curve lies inside (sup-t of
the Gaussian limit: one covariance over t, then draws of its maximum). Where t is high few answers
are left, or none, and what they show of the variance is too little; so to its estimate three right
and three wrong answers are added that are given at every t, much as Agresti and Coull do for a
proportion (for a difference: three questions that one run gets right and the other wrong, and
three the other way round). The curve itself stays what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.errors import UsageError, option

if TYPE_CHECKING:
    from abstain.analyses.curve.matrix import ConfidenceMatrix
    from abstain.outcomes import Array

GRID = 100
DRAWS = 2000
ADDED = 3.0
"""Answers of each kind that are added before a variance is estimated."""


@dataclass(frozen=True, eq=False)
class Band:
    """A curve over t with its simultaneous band."""

    t: Array
    value: Array
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two runs over all of t: their difference in V_t, where they cross, what the data can tell."""

    first: str
    second: str
    difference: Band
    crossings: tuple[float, ...]
    undecided: tuple[tuple[float, float], ...]

    def sentence(self) -> str:
        """The comparison in words."""
        return _words(self)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data."""
        return {
            "first": self.first,
            "second": self.second,
            "crossings": list(self.crossings),
            "undecided": [list(pair) for pair in self.undecided],
            "sentence": self.sentence(),
        }


@dataclass(frozen=True, eq=False)
class Decision:
    """The decision curves of runs, and the comparisons that matter: of those that lead in turn."""

    way: str
    t: Array
    curves: dict[str, Band]
    comparisons: list[Comparison]
    confidence: float

    def to_dict(self) -> dict[str, Any]:
        """S_t of every run with its band, and the comparisons."""
        return {
            "way": self.way,
            "confidence": self.confidence,
            "t": self.t.tolist(),
            "curves": {
                run: {"S": b.value.tolist(), "low": b.low.tolist(), "high": b.high.tolist()}
                for run, b in self.curves.items()
            },
            "comparisons": [c.to_dict() for c in self.comparisons],
        }


def decision(
    matrix: ConfidenceMatrix,
    *,
    way: str | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> Decision:
    """Decision curves of all runs; `way` is `confidence` (they act on it) or `given`."""
    if way not in (None, "confidence", "given"):
        raise UsageError(f"{option('decision')} is confidence or given (got '{way}')")
    check_level(confidence)
    able = [n for n in range(len(matrix.runs)) if matrix.stated(n)[0]]
    chosen = way or ("confidence" if able else "given")
    numbers = able if chosen == "confidence" else list(range(len(matrix.runs)))
    if not numbers:
        raise UsageError(
            f"no run has a confidence to act on: {option('decision', 'given')} compares them as is"
        )
    t = np.arange(GRID) / GRID
    bands, sums = {}, {}
    for number in numbers:
        values = _contributions(matrix, number, t, chosen)
        run = matrix.runs[number]
        band = _band(t, values, (1 - t, -t), confidence, seed)
        sums[run] = band.value
        scale = 1 / (1 - t)
        bands[run] = Band(t, band.value * scale, band.low * scale, band.high * scale)
    by_name = {matrix.runs[n]: n for n in numbers}
    compared = [
        _compare(matrix, by_name[a], by_name[b], t, chosen, confidence, seed)
        for a, b in _leaders(sums)
    ]
    return Decision(chosen, t, bands, compared, confidence)


def check_level(confidence: float) -> None:
    """Refuse a confidence that no band can have."""
    if not 0 < confidence < 1:
        raise UsageError(f"the confidence of a band is between 0 and 1 (got {confidence:g})")


def _contributions(matrix: ConfidenceMatrix, run: int, t: Array, way: str) -> Array:
    """Questions × t: what each question adds to V_t; excluded questions are left out as NaN."""
    outcomes = matrix.outcomes[run]
    has = (outcomes >= 0) & (outcomes < 4)
    right = has & ((outcomes & 1) == 0)
    if way == "given":
        answered = ((outcomes == 0) | (outcomes == 1))[:, None]
    else:
        sure = np.where(has, matrix.confidence[run], np.nan)
        with np.errstate(invalid="ignore"):
            answered = sure[:, None] >= t
    value: Array = np.where(right[:, None], 1 - t, -t) * answered
    if (outcomes < 0).any():
        value[outcomes < 0] = np.nan
    return value


def _band(
    t: Array, values: Array, extremes: tuple[Array, Array], confidence: float, seed: int
) -> Band:
    """The mean over questions with a band that holds for all t at once.

    `extremes` are the highest and the lowest that a question can add at each t.
    """
    kept = values[~np.isnan(values[:, 0])]
    size = len(kept)
    mean = kept.mean(axis=0) if size else np.full(len(t), np.nan)
    if size < 2:
        return Band(t, mean, np.full(len(t), -np.inf), np.full(len(t), np.inf))
    added = np.sqrt(ADDED) * (np.stack(extremes) - mean)
    centred = np.concatenate([kept - mean, added])
    covariance = centred.T @ centred / (size - 1) / size
    error = np.sqrt(np.diag(covariance))
    half = _critical(covariance, error, confidence, seed) * error
    return Band(t, mean, mean - half, mean + half)


def _critical(covariance: Array, error: Array, confidence: float, seed: int) -> float:
    """The quantile of the largest |z| over t."""
    live = error > 1e-12
    if not live.any():
        return 0.0
    correlation = covariance[np.ix_(live, live)] / np.outer(error[live], error[live])
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.clip(values, 0, None))
    draws = np.random.default_rng(seed).standard_normal((DRAWS, root.shape[1])) @ root.T
    return float(np.quantile(np.abs(draws).max(axis=1), confidence))


def _compare(
    matrix: ConfidenceMatrix,
    a: int,
    b: int,
    t: Array,
    way: str,
    confidence: float,
    seed: int,
) -> Comparison:
    values = _contributions(matrix, a, t, way) - _contributions(matrix, b, t, way)
    band = _band(t, values, (np.ones_like(t), -np.ones_like(t)), confidence, seed)
    names = matrix.runs[a], matrix.runs[b]
    return Comparison(*names, band, crossings(t, band.value), _undecided(band))


def crossings(t: Array, difference: Array) -> tuple[float, ...]:
    """Where a difference changes its sign, between two points by the straight line.

    >>> crossings(np.array([0, 0.5, 1]), np.array([0.1, 0.1, -0.1]))
    (0.75,)
    """
    live = np.flatnonzero(np.abs(difference) > 1e-12)
    found = []
    for i, j in pairwise(live):
        if difference[i] * difference[j] < 0:
            share = difference[i] / (difference[i] - difference[j])
            found.append(float(t[i] + share * (t[j] - t[i])))
    return tuple(found)


def _undecided(band: Band) -> tuple[tuple[float, float], ...]:
    """Stretches of t where the band holds 0, their ends between two points by the straight line."""
    inside = (band.low <= 1e-12) & (band.high >= -1e-12)
    found: list[tuple[float, float]] = []
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    for start, stop in edges.reshape(-1, 2):
        low = _edge(band, start - 1, start) if start else 0.0
        high = _edge(band, stop, stop - 1) if stop < len(band.t) else 1.0
        found.append((low, high))
    return tuple(found)


def _edge(band: Band, outside: int, inside: int) -> float:
    side = band.low if band.low[outside] > 0 else band.high
    gap = side[outside] - side[inside]
    share = side[outside] / gap if gap else 0.0
    start, stop = float(band.t[outside]), float(band.t[inside])
    return start + float(np.clip(share, 0, 1)) * (stop - start)


def _leaders(curves: dict[str, Array]) -> list[tuple[str, str]]:
    """The pairs of runs that follow each other in the lead; a run that always leads: the next."""
    if len(curves) < 2:
        return []
    names = sorted(curves)
    table = np.stack([curves[name] for name in names])
    first = table.argmax(axis=0)
    pairs: list[tuple[str, str]] = []
    for a, b in pairwise(first):
        if a != b and (names[a], names[b]) not in pairs and (names[b], names[a]) not in pairs:
            pairs.append((names[a], names[b]))
    if pairs:
        return pairs
    others = [i for i in range(len(names)) if i != first[0]]
    second = max(others, key=lambda i: float(table[i].mean()))
    return [(names[first[0]], names[second])]


# ---------------------------------------------------------------------------------- in words


def _words(c: Comparison) -> str:
    value = c.difference.value
    if not (np.abs(value) > 1e-12).any():
        return f"{c.first} and {c.second} score the same at every t."
    if c.undecided == ((0.0, 1.0),):
        return f"The data cannot tell {c.first} and {c.second} apart at any t."
    told = _told(c)
    unsure = _unsure(c)
    return f"{told}; {unsure}." if unsure else f"{told}."


def _told(c: Comparison) -> str:
    """Who is better where."""
    value = c.difference.value
    live = value[np.abs(value) > 1e-12]
    leads = [c.first if live[0] > 0 else c.second]
    other = {c.first: c.second, c.second: c.first}
    crossings = _wide(c.crossings)
    for _ in crossings:
        leads.append(other[leads[-1]])
    if len(leads) == 1:
        return f"{leads[0]} is better than {other[leads[0]]} at every t"
    if len(leads) == 2:
        return f"{leads[0]} is better below t = {crossings[0]:.2f}, {leads[1]} above"
    edges = [0.0, *crossings, 1.0]
    where: dict[str, list[str]] = {}
    for lead, low, high in zip(leads, edges[:-1], edges[1:], strict=True):
        span = (
            f"below t = {high:.2f}"
            if low == 0
            else f"above {low:.2f}"
            if high == 1
            else f"from {low:.2f} to {high:.2f}"
        )
        where.setdefault(lead, []).append(span)
    one, two = where.items()
    return f"{one[0]} is better {_listed(one[1])}, {two[0]} {_listed(two[1])}"


def _wide(crossings: Sequence[float]) -> list[float]:
    """Without the pairs of crossings between which hardly anything lies."""
    kept: list[float] = []
    for crossing in crossings:
        if kept and crossing - kept[-1] < 2 / GRID:
            kept.pop()
        else:
            kept.append(crossing)
    return kept


def _unsure(c: Comparison) -> str:
    if not c.undecided:
        return "the data can tell at every t"
    merged: list[tuple[float, float]] = []
    for low, high in c.undecided:
        if merged and low - merged[-1][1] < 2 / GRID:
            merged[-1] = (merged[-1][0], high)
        elif high - low >= 1 / GRID:
            merged.append((low, high))
    if not merged:
        return "the data can tell at every t"
    spans = [
        f"below {high:.2f}"
        if low == 0
        else f"above {low:.2f}"
        if high == 1
        else f"between {low:.2f} and {high:.2f}"
        for low, high in merged
    ]
    return f"{_listed(spans)} the data cannot tell"


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]
