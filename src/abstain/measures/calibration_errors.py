"""Calibration errors beside ECE, by the names under which papers and tools report them.

All of them compare confidence with the share of right answers. They differ in what they average
over: bins of so many answers, bins between quantiles, or a kernel whose width the data choose.
"""

from __future__ import annotations

from functools import partial

from abstain.measures.answers import Answers
from abstain.measures.confidence import (
    binning,
    calibrating,
    calibration_error,
    of_each,
    residuals,
)
from abstain.measures.definition import WITHOUT_LEFT_OUT, Array, IntArray, Numeric, Parameter, np
from abstain.outcomes import Undefined

SIZE = Parameter(
    "size", "how many answers a bin holds", low=1, high=1_000_000, default=100, whole=True
)
GRID = 512
"""Intervals of equal width on which residuals are smoothed."""
HALVINGS = 42
SHARED = "tied answers are alike: bins that part them share them evenly"


def _by_count(a: Answers, size: int, *, last: bool) -> Numeric:
    """√ Σ_b (N_b/N)·(share right − mean s)², bins of so many; the last one has what is left too."""
    _, sizes, off = residuals(a)
    resamples = np.arange(sizes.shape[1])
    upto = np.cumsum(np.vstack([0 * sizes[:1], sizes]), axis=0)
    summed: Array = np.cumsum(np.vstack([0 * off[:1], off]), axis=0)
    total = upto[-1]
    bins = np.maximum(total // size, 1)
    number = np.arange(int(bins.max(initial=1)) + 1)[:, None]
    edges = np.where(number < bins, number * size, total)
    apart = resamples * (int(total.max(initial=0)) + 1)  # all resamples on one line
    at: Array = (edges + apart).T.ravel().astype(float)
    knots: Array = (upto + apart).T.ravel().astype(float)
    sums = np.interp(at, knots, summed.T.ravel()).reshape(len(resamples), -1).T
    held, gaps = np.diff(edges, axis=0), np.diff(sums, axis=0)
    counted = (held > 0) & (number[:-1] < bins - (not last))
    squares = np.where(counted, gaps**2 / np.maximum(held, 1), 0.0).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.sqrt(squares / total)
    return of_each(a, values if last else np.where(bins > 1, values, np.nan))


counting_bins = partial(
    binning,
    formula="√ Σ_b (N_b/N)·(share right − mean s)²",
    parameters=(SIZE,),
)


counting_bins(
    "RMSCE",
    "Root mean square distance of confidence from the share right, in sorted bins of 100.",
    lambda a, size: _by_count(a, int(size), last=True),
    source="Hendrycks, Mazeika & Dietterich 2019, Deep Anomaly Detection with Outlier Exposure",
    aliases=("RMS-calibration-error", "RMS-CE"),
    convention=f"sorted bins of `size` answers, the last with the rest too; {SHARED}; "
    f"{WITHOUT_LEFT_OUT}",
    note="As the papers define it, all bins count. The code that Humanity's Last Exam and others "
    "run leaves out the surest bin: that is RMSCE-HLE.",
)


@counting_bins(
    "RMSCE-HLE",
    formula="as RMSCE, without the surest bin",
    source="`calib_err` in the code of Humanity's Last Exam (Phan et al. 2025), after Hendrycks et "
    "al. 2019",
    aliases=("HLE-calibration-error",),
    convention=f"as RMSCE, but the bin of the surest 100 to 199 answers counts as 0; {SHARED} (the "
    f"code leaves it to the order of rows); {WITHOUT_LEFT_OUT}",
    gaming="Be overconfident where you are surest: those answers do not count.",
    note="To compare with numbers that were published with this code; otherwise take RMSCE. With "
    "one bin alone the code returns 0 (or fails), which says nothing: here it is undefined.",
)
def rmsce_hle(a: Answers, *, size: float) -> Numeric:
    """RMS calibration error as Humanity's Last Exam computes it: the surest bin is left out."""
    value = _by_count(a, int(size), last=False)
    if a.times is None and np.isnan(value):
        least = 2 * int(size)
        return Undefined(f"fewer than {least:,} answers make one bin, and the last is left out")
    return value


@binning(
    "adaptive-ECE",
    source="Mukhoti et al. 2020, Calibrating Deep Neural Networks using Focal Loss; after Nguyen & "
    "O'Connor 2015",
    aliases=("AdaECE", "aECE"),
    convention="bins between quantiles of the confidence (numpy's linear interpolation of ranks), "
    f"closed on the right, so that ties are never parted; {WITHOUT_LEFT_OUT}",
    note="AdaptiveECELoss of the authors leaves out the least sure answers, since its first bin is "
    "open there; here they count. ECE-mass fills its bins by rank instead of by quantiles.",
)
def adaptive_ece(a: Answers, *, bins: float) -> Numeric:
    """ECE in bins whose edges are quantiles of the confidence."""

    def quantiles(level: Array, sizes: IntArray) -> IntArray:
        upto = np.cumsum(sizes, axis=0)
        total = upto[-1]
        inside = np.zeros(sizes.shape, np.int64)
        for edge in range(1, int(bins)):
            rank = np.minimum(edge * total / int(bins), np.maximum(total - 1, 0))
            below = np.floor(rank)
            one, two = (
                level[np.minimum((upto <= at).sum(axis=0), len(level) - 1)]
                for at in (below, np.minimum(below + 1, total - 1))
            )
            inside += level[:, None] > one + (rank - below) * (two - one)
        return inside

    return calibration_error(a, int(bins), quantiles)


def smoothed(a: Answers) -> tuple[Array, Array]:
    """The cosine transform of right − s on the grid, over N, of each resample; frequencies."""
    from scipy.fft import dct

    level, sizes, off = residuals(a)
    at = level * GRID
    left = np.minimum(at.astype(np.int64), GRID - 1)
    share = (at - left)[:, None]
    grid = np.zeros((GRID + 1, sizes.shape[1]))
    np.add.at(grid, left, (1 - share) * off)
    np.add.at(grid, left + 1, share * off)
    grid[[0, -1]] *= 2  # an end stands for half an interval
    with np.errstate(invalid="ignore", divide="ignore"):
        grid *= GRID / sizes.sum(axis=0)
    frequencies: Array = np.pi * np.arange(GRID + 1.0)
    return dct(grid, type=1, axis=0), frequencies


def width_of(cosines: Array, frequencies: Array) -> Array:
    """The width σ at which the error after smoothing is σ itself, by halving."""
    from scipy.fft import idct

    low, high = np.zeros((2, cosines.shape[1]))
    high = high + 1
    for _ in range(HALVINGS):
        width = (low + high) / 2
        damped = cosines * np.exp(-((frequencies[:, None] * width) ** 2) / 2)
        off = np.abs(idct(damped, type=1, axis=0))
        error = (off.sum(axis=0) - (off[0] + off[-1]) / 2) / GRID
        low, high = np.where(error > width, width, low), np.where(error > width, high, width)
    return np.asarray((low + high) / 2)


calibrating(
    "smooth-ECE",
    "How far confidence is from the share right, smoothed by as much as the error itself.",
    lambda a: of_each(a, width_of(*smoothed(a))),
    formula="σ where ∫ |(1/N) Σ K_σ(t, s)·(right − s)| dt = σ",
    source="Błasiok & Nakkiran 2023, Smooth ECE (their package: relplot)",
    aliases=("smECE", "smoothECE"),
    bootstrap_biased=True,
    convention="a Gaussian kernel reflected at 0 and 1, whose width is the error itself; on a grid "
    f"of 1/{GRID}; {WITHOUT_LEFT_OUT}",
    gaming="Always state your overall accuracy as the confidence: that is calibrated and useless.",
    note="No bins to choose. relplot's smECE searches the width in steps of 1/1024, so it differs "
    "by up to 0.002; its kernel ends at a distance of ½, so it gives more above 0.3.",
)
