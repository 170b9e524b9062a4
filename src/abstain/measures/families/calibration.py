"""Measures of calibration: is a confidence the chance of being right?

N answers with a confidence s each; candidates behind blanks are answers too.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from abstain.measures.answers import Answers
from abstain.measures.declare import confident
from abstain.measures.definition import WITHOUT_LEFT_OUT, MeanOf, Numeric, Parameter
from abstain.measures.lazy import numpy as np

if TYPE_CHECKING:
    from abstain.outcomes import Array, IntArray

EPSILON = 2.0**-52
WORST_LOG = 36.04365338911715
BINS = Parameter("bins", "how many bins", low=1, high=10_000, default=15, whole=True)


calibrating = partial(confident, higher_is_better=False, uses="stated")
binning = partial(
    calibrating,
    formula="Σ_b (N_b/N)·|share right − mean s|",
    latex=r"\sum_b \frac{N_b}{N}\,|\bar e_b-\bar s_b|",
    parameters=(BINS,),
    bootstrap_biased=True,
)


def width_bins(confidence: Array, bins: int) -> IntArray:
    """The bin of each confidence among equally wide ones: (0, 1/b], (1/b, 2/b], …"""
    edges = np.arange(1, bins) / bins
    return np.searchsorted(edges, confidence, side="left")


def mass_bins(confidence: Array, bins: int, times: IntArray | None = None) -> IntArray:
    """The bin of each confidence among equally full ones; tied ones stay together.

    A group of tied answers goes into the bin of its middle: nothing depends on the order of rows.
    `times` says how often each resample contains each answer; every resample has its own bins.
    """
    _, group, sizes = np.unique(confidence, return_inverse=True, return_counts=True)
    if times is not None:
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        sizes = np.add.reduceat(times[np.argsort(group, kind="stable")], starts, axis=0)
    upto = np.cumsum(sizes, axis=0)
    middle = (2 * upto - sizes) * bins // np.maximum(2 * upto[-1], 1)
    return np.asarray(np.minimum(middle, bins - 1)[group], np.int64)


def _calibration_error(a: Answers, bin_of: IntArray, bins: int) -> Numeric:
    return np.abs(a.binned(a.right - a.confidence, bin_of, bins)).sum(axis=0) / a.size


@binning(
    "ECE",
    source="Naeini, Cooper & Hauskrecht 2015; Guo et al. 2017, On Calibration of Modern "
    "Neural Networks",
    convention=f"equally wide bins, closed on the right; {WITHOUT_LEFT_OUT}",
    gaming="Always state your overall accuracy as the confidence: that is calibrated and useless. "
    "With few bins, over- and underconfidence inside a bin cancel out.",
)
def ece(a: Answers, *, bins: float) -> Numeric:
    """How far confidence is from the share of right answers, on average, in bins of equal width."""
    own = a.calibrated
    return _calibration_error(own, width_bins(own.confidence, int(bins)), int(bins))


@binning(
    "ECE-mass",
    source="Nixon et al. 2019, Measuring Calibration in Deep Learning (adaptive bins)",
    convention=f"equally full bins, tied answers in one; {WITHOUT_LEFT_OUT}",
    gaming="Always state your overall accuracy as the confidence: that is calibrated and useless.",
)
def ece_mass(a: Answers, *, bins: float) -> Numeric:
    """How far confidence is from the share of right answers, on average, in bins of equal size."""
    own = a.calibrated
    return _calibration_error(own, mass_bins(own.confidence, int(bins), own.times), int(bins))


def squares(a: Answers) -> Array:
    """(s − right)² of each answer."""
    return (a.confidence - a.right) ** 2


def surprises(a: Answers) -> Array:
    """−ln p(outcome) of each answer."""
    sure = np.clip(a.confidence, EPSILON, 1 - EPSILON)
    return np.asarray(-np.log(np.where(a.right, sure, 1 - sure)))


@calibrating(
    "Brier",
    formula="(1/N) Σ (s − right)²",
    latex=r"\frac{1}{N}\sum (s-e)^2",
    source="Brier 1950, Verification of Forecasts Expressed in Terms of Probability",
    convention=f"uses only the probability that the answer is right; {WITHOUT_LEFT_OUT}",
    mean=MeanOf(squares, "answers"),
    studentised=True,
    note="Proper: the honest chance of being right scores best.",
)
def brier(a: Answers) -> Numeric:
    """The mean squared distance of the confidence from the outcome (1 right, 0 wrong)."""
    own = a.calibrated
    return own.total(squares(own)) / own.size


@calibrating(
    "log-score",
    formula="−(1/N) Σ ln p(outcome)",
    latex=r"-\frac{1}{N}\sum \ln p",
    source="Good 1952, Rational Decisions",
    aliases=("log-loss", "cross-entropy"),
    convention=f"natural logarithm; confidences are kept 2.2e−16 away from 0 and 1, as in "
    f"scikit-learn; {WITHOUT_LEFT_OUT}",
    bounds=(0.0, WORST_LOG),
    mean=MeanOf(surprises, "answers"),
    studentised=True,
    note="Proper; a wrong answer with confidence 1 costs 36, so systems avoid stating 1.",
)
def log_score(a: Answers) -> Numeric:
    """The mean negative log-probability of the outcome, in nats."""
    own = a.calibrated
    return own.total(surprises(own)) / own.size
