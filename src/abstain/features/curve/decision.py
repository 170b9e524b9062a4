"""The decision curve: how runs compare as a wrong answer costs more and more.

S_t = c − t/(1−t)·w: at t a wrong answer costs t/(1−t) right ones, so answering pays for a chance
of being right above t. Inside, V_t = (1−t)·S_t = (1−t)·c − t·w is used: it is bounded, has the same
sign of any difference, and is a mean over questions.

Bands are simultaneous (sup-t of the Gaussian limit: one covariance over t, then draws of its
maximum). Where t is high few answers are left, which show too little of the variance; so its
estimate has three right and three wrong answers more, given at every t, much as Agresti and Coull
do for a proportion.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from abstain.errors import UsageError, check_name, option
from abstain.features.curve.result import Band, Comparison, Decision, Way
from abstain.measures.definition import Array
from abstain.outcomes import EXCLUDED
from abstain.report.result import finite
from abstain.runs.evaluation import Evaluation
from abstain.runs.sources import count_stated, has_answer

GRID = 100
DRAWS = 2000
ADDED = 3.0
"""Answers of each kind that are added before a variance is estimated."""
SAME = 1e-12


class _Banded(NamedTuple):
    """A mean over questions at every t, with its simultaneous band."""

    value: Array
    low: Array
    high: Array

    def side(self, at: int) -> Array:
        """The limit that keeps 0 out at this place."""
        return self.low if self.low[at] > 0 else self.high


def decision(
    evaluation: Evaluation, way: Way | None = None, *, level: float = 0.95, seed: int = 0
) -> Decision:
    """Decision curves of all runs; they act on their confidence where one has some."""
    if way is not None:
        check_name("decision", way, ("confidence", "given"))
    data, runs = evaluation.data, evaluation.runs
    able = [n for n in range(len(runs)) if count_stated(data.codes[n], data.confidence[n])[0]]
    chosen: Way = way or ("confidence" if able else "given")
    numbers = able if chosen == "confidence" else list(range(len(runs)))
    if not numbers:
        raise UsageError(
            f"no run has a confidence to act on: {option('decision', 'given')} compares the "
            "answers as they were given"
        )
    t = np.arange(GRID) / GRID
    curves, means = {}, {}
    for number in numbers:
        values = _contributions(evaluation, number, t, chosen)
        band = _band(values, (1 - t, -t), level, seed)
        means[number] = band.value
        held = [tuple(map(finite, (line * (1 / (1 - t))).tolist())) for line in band]
        curves[runs[number]] = Band(S=held[0], low=held[1], high=held[2])
    compared = []
    for first, second in _leaders(means, runs):
        one, other = (_contributions(evaluation, n, t, chosen) for n in (first, second))
        band = _band(one - other, (np.ones(GRID), -np.ones(GRID)), level, seed)
        live, gap = np.flatnonzero(np.abs(band.value) > SAME).tolist(), band.value
        ahead = [runs[first if gap[at] > 0 else second] for at in live]
        turns = [_root(t, gap, i, j) for i, j in pairwise(live) if gap[i] * gap[j] < 0]
        compared.append(
            Comparison(
                first=runs[first],
                second=runs[second],
                leader=ahead[0] if ahead else None,
                crossings=tuple(turns),
                undecided=_undecided(t, band),
            )
        )
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


def _band(values: Array, extremes: tuple[Array, Array], level: float, seed: int) -> _Banded:
    """The mean over questions with a band that holds for all t at once.

    `extremes` are the highest and the lowest that a question can add at each t.
    """
    kept = values[~np.isnan(values[:, 0])]
    size = len(kept)
    mean = kept.mean(axis=0) if size else np.full(GRID, np.nan)
    if size < 2:
        return _Banded(mean, np.full(GRID, -np.inf), np.full(GRID, np.inf))
    added = np.sqrt(ADDED) * (np.stack(extremes) - mean)
    centred = np.concatenate([kept - mean, added])
    covariance = centred.T @ centred / (size - 1) / size
    error, half = np.sqrt(np.diag(covariance)), 0.0
    live = error > 1e-12
    if live.any():  # the quantile of the largest |z| over t
        correlation = covariance[np.ix_(live, live)] / np.outer(error[live], error[live])
        values, vectors = np.linalg.eigh(correlation)
        root = vectors * np.sqrt(np.clip(values, 0, None))
        draws = np.random.default_rng(seed).standard_normal((DRAWS, root.shape[1])) @ root.T
        half = np.quantile(np.abs(draws).max(axis=1), level) * error
    return _Banded(mean, mean - half, mean + half)


def _root(t: Array, line: Array, i: int, j: int) -> float:
    share = min(line[i] / (line[i] - line[j]), 1.0)
    return float(t[i] + share * (t[j] - t[i]))


def _undecided(t: Array, band: _Banded) -> tuple[tuple[float, float], ...]:
    inside = (band.low <= SAME) & (band.high >= -SAME)
    spans: list[tuple[float, float]] = []
    edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
    for start, stop in edges.reshape(-1, 2).tolist():
        low, high = 0.0, 1.0
        if start:
            low = _root(t, band.side(start - 1), start - 1, start)
        if stop < len(t):
            high = _root(t, band.side(stop), stop, stop - 1)
        spans.append((low, high))
    return tuple(spans)


def _leaders(means: dict[int, Array], runs: Sequence[str]) -> list[tuple[int, int]]:
    """The pairs of runs that follow each other in the lead; a run that always leads: the next."""
    if len(means) < 2:
        return []
    numbers = sorted(means, key=lambda n: runs[n])
    table = np.stack([means[n] for n in numbers])
    first = table.argmax(axis=0).tolist()
    pairs: dict[frozenset[int], tuple[int, int]] = {}
    for a, b in pairwise(first):
        if a != b:
            pairs.setdefault(frozenset((a, b)), (numbers[a], numbers[b]))
    second = max(set(range(len(numbers))) - {first[0]}, key=lambda i: (table[i].mean(), -i))
    return list(pairs.values()) or [(numbers[first[0]], numbers[second])]
