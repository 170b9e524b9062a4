"""Orderings of runs: places and ties, averages, who leads, letter displays, agreement of orderings.

Scores are compared up to rounding: different counts may give one score (c@1 is 1/2 of 15 right of
30, and of 9 right with 20 blank) while their doubles differ in the last digit.
"""

import string
import warnings
from collections.abc import Sequence
from itertools import groupby

import numpy as np
from msgspec import Struct

from abstain.measures.definition import Array, BoolArray

Marks = BoolArray
PERSISTENCE = 0.9
DECIMALS = 12
"""Scores that agree so far, as shares of the largest, are equal."""
MOST_COLUMNS = 2_000


def same(scores: Array | Sequence[float], value: float) -> BoolArray:
    """Which scores equal a value; NaN equals none."""
    return _close(np.asarray(scores, np.float64), value)


def at_least(scores: Array | Sequence[float], value: float) -> BoolArray:
    return (np.asarray(scores, np.float64) >= value) | same(scores, value)


def above(scores: Array | Sequence[float], value: float) -> BoolArray:
    return (np.asarray(scores, np.float64) > value) & ~same(scores, value)


def _close(a: Array, b: Array | float) -> BoolArray:
    return np.isclose(a, b, rtol=1e-12, atol=1e-15)


def over_runs(scores: Array) -> dict[str, Array]:
    """Mean, median and population standard deviation over the first axis, without NaN."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a column without a number has none
        return {
            "mean": np.nanmean(scores, axis=0),
            "median": np.nanmedian(scores, axis=0),
            "standard deviation": np.nanstd(scores, axis=0),
        }


class Lead(Struct, frozen=True):
    """A stretch of t over which one run is ahead; `run` is None where silence is."""

    start: float
    stop: float
    run: int | None


def leads(right: Array | Sequence[float], wrong: Array | Sequence[float]) -> list[Lead]:
    """Who leads from t = 0 to 1, by the shares right and wrong; of equals the first.

    With o = t/(1−t), the penalised score S = c − o·w of a run is a straight line in o: the best is
    the upper hull of these lines and of that of answering nothing, which stays at 0.
    """
    c, w = (np.append(np.asarray(share, np.float64), 0.0) for share in (right, wrong))
    silence = len(c) - 1
    exists = ~(np.isnan(c) | np.isnan(w))
    c, w = np.where(exists, c, -1.0), np.where(exists, w, 2.0)
    odds, best = 0.0, int(np.lexsort((w, -c))[0])
    stretches: list[Lead] = []
    while True:
        gentler = w < w[best] - 1e-15
        stop, follows = np.inf, best
        if gentler.any():
            meets = np.where(gentler, (c[best] - c) / np.where(gentler, w[best] - w, 1.0), np.inf)
            stop = max(odds, float(meets.min()))
            at = np.flatnonzero(_close(meets, stop) | (meets <= stop))
            follows = int(at[np.argsort(w[at], kind="stable")[0]])
        ends = 1.0 if np.isinf(stop) else stop / (1 + stop)
        if ends > odds / (1 + odds):
            stretches.append(Lead(odds / (1 + odds), ends, None if best == silence else best))
        if np.isinf(stop):
            return stretches
        odds, best = stop, follows


def letter_groups(size: int, different: Sequence[tuple[int, int]]) -> list[list[int]] | None:
    """A compact letter display: columns of runs; two share one exactly if they do not differ.

    Piepho (2004), insert and absorb: every difference splits each column that holds both runs;
    columns inside others are absorbed. None: too many to show.
    """
    columns = [(1 << size) - 1] if size else []
    for a, b in different:
        both = 1 << a | 1 << b
        kept = [c for c in columns if c & both != both]
        made = {c & ~(1 << x) for c in columns if c & both == both for x in (a, b)}
        for column in sorted(made, key=int.bit_count, reverse=True):
            if not any(column & ~other == 0 for other in kept):
                kept.append(column)
        columns = kept
        if len(columns) > MOST_COLUMNS:
            return None
    members = [[i for i in range(size) if column >> i & 1] for column in columns]
    return sorted(members)


def letters(size: int, groups: Sequence[Sequence[int]]) -> list[str]:
    """The letters of each run; four and more in a row are written as a range."""
    names = [f"{string.ascii_letters[n % 52]}{n // 52 or ''}" for n in range(len(groups))]
    by_run: list[list[int]] = [[] for _ in range(size)]
    for number, group in enumerate(groups):
        for member in group:
            by_run[member].append(number)
    texts = [""] * size
    for member, numbers in enumerate(by_run):
        for _, run in groupby(enumerate(numbers), key=lambda item: item[1] - item[0]):
            row = [names[number] for _, number in run]
            texts[member] += f"{row[0]}–{row[-1]}" if len(row) > 3 else "".join(row)
    return texts


def rounded(scores: Array, decimals: int = DECIMALS) -> Array:
    """Scores as shares of the largest, in which ties are equal: 0.7 − 0.5 and 0.3 − 0.1."""
    scale = float(np.abs(scores).max(initial=0)) or 1.0
    return np.asarray(np.round(scores / scale, decimals))


def kendall_tau_b(x: Array, y: Array) -> float:
    """(concordant − discordant) / sqrt(pairs not tied in x · pairs not tied in y)."""
    a, b = (np.sign(v[:, None] - v[None, :]) for v in (x, y))
    below = np.sqrt(float(np.abs(a).sum()) * float(np.abs(b).sum()))
    return float((a * b).sum() / below)  # exactly 1 for equal orderings, unlike scipy's


def tau_ap(x: Array, y: Array) -> float:
    """AP correlation of two orderings with ties: 2·mean − 1, the mean of both directions.

    The mean is of the share of the items above each that the other ordering has above it too.
    """

    def one_way(x: Array, y: Array) -> float:
        above = y[None, :] > y[:, None]
        concordant = (above & (x[None, :] > x[:, None])).sum(axis=1)
        higher = above.sum(axis=1)
        below = higher > 0
        return float(2 * (concordant[below] / higher[below]).mean() - 1)

    return (one_way(x, y) + one_way(y, x)) / 2


def spearman_rho(x: Array, y: Array) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(x, y).statistic)


def rank_biased_overlap(x: Array, y: Array, *, p: float = PERSISTENCE) -> float:
    """Rank-biased overlap (Webber, Moffat and Zobel 2010), extrapolated from the whole lists.

    Tied items share a rank: the agreement at depth d is 2·overlap / (items of both lists to d).
    """
    n = len(x)
    depth = np.arange(n)
    to_depth = [(v[None, :] > v[:, None]).sum(axis=1)[None, :] <= depth[:, None] for v in (x, y)]
    overlap = (to_depth[0] & to_depth[1]).sum(axis=1)
    agreement = 2 * overlap / (to_depth[0].sum(axis=1) + to_depth[1].sum(axis=1))
    weights = (1 - p) * p**depth
    return float((weights * agreement).sum() + agreement[-1] * p**n)


COEFFICIENTS = {
    "tau_b": kendall_tau_b,
    "tau_ap": tau_ap,
    "spearman": spearman_rho,
    "rbo": rank_biased_overlap,
}
