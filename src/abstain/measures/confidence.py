"""Measures of confidence: does it separate right from wrong answers, and is it calibrated?

They take answers that are right or wrong, each with a confidence s from 0 to 1. N answers, n
questions, C(i) right among the i surest. Candidates behind blanks are answers too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from abstain.measures import influence
from abstain.measures.answers import Answers, least_area
from abstain.measures.definition import (
    ALL_RIGHT,
    ALL_WRONG,
    MISSING_LAST,
    NO_ANSWERS,
    NO_CONFIDENCE,
    ONE_POINT,
    TIES,
    WITHOUT_LEFT_OUT,
    Array,
    IntArray,
    MeanOf,
    Numeric,
    Parameter,
    np,
)
from abstain.measures.kinds import confident
from abstain.outcomes import Undefined

COVERAGE = Parameter("c", "the share of the questions to answer", low=0, high=1, low_open=True)
RISK = Parameter("r", "the largest share of the answers that may be wrong", low=0, high=1)
ONE_SIDED = (ALL_RIGHT, ALL_WRONG)


@confident(
    "AURC",
    formula="(1/N) Σ_i (i − C(i))/i",
    source="Geifman, Uziel & El-Yaniv 2019, Bias-Reduced Uncertainty Estimation",
    convention=f"a sum over answers (rectangle rule); {TIES}; {MISSING_LAST}",
    higher_is_better=False,
    influence=influence.aurc,
    note="It mixes accuracy with ranking: a more accurate system can win with a worse order.",
)
def aurc(a: Answers) -> Numeric:
    """Area under the risk–coverage curve: the error rate of the i surest, averaged over i."""
    return a.groups.mean_share(a.groups.wrong) / a.size


confident(
    "E-AURC",
    "What the order of the answers costs: how much larger AURC is than with the best order.",
    lambda a: np.maximum(0.0, aurc(a) - least_area(a.count(a.right), a.size)),
    formula="AURC − AURC*",
    source="Geifman, Uziel & El-Yaniv 2019, Bias-Reduced Uncertainty Estimation",
    aliases=("excess-aurc",),
    convention="AURC*, the best order: every right answer first, summed exactly; otherwise as AURC",
    higher_is_better=False,
    influence=influence.jackknifed(lambda area, least, _: area - least),
    note="It is near 0 for systems that are nearly always (or never) right, whatever their order.",
)
confident(
    "AUGRC",
    "The share of all answers that are submitted and wrong, averaged over coverage.",
    lambda a: (
        (a.groups.each(a.groups.answered) * a.groups.halved(a.groups.wrong)).sum(axis=0) / a.size**2
    ),
    formula="∫ W/N d coverage",
    source="Traub et al. 2024, Overcoming Common Flaws in Selective Classification",
    convention=f"{ONE_POINT}; starts where nothing is answered; trapezoid rule; {MISSING_LAST}",
    bounds=(0.0, 0.5),
    higher_is_better=False,
    influence=influence.augrc,
    note="It mixes accuracy with ranking: at accuracy a it is (1 − AUROC)·a·(1 − a) + (1 − a)²/2.",
)


@confident(
    "PRR",
    formula="(W/N − AURC)/(W/N − AURC*)",
    source="Malinin & Gales 2021; of the answers kept, as LM-Polygraph (Fadeeva et al. 2023)",
    aliases=("prediction-rejection-ratio",),
    convention="AURC*: every right answer first; a random order has an AURC of W/N",
    undefined=(NO_ANSWERS, NO_CONFIDENCE, *ONE_SIDED),
    bounds=(float("-inf"), 1.0),
    influence=influence.jackknifed(
        lambda area, least, wrong: (wrong - area) / (wrong - least),
    ),
    note="It does not measure accuracy, only the order of the answers.",
)
def rejection_ratio(a: Answers) -> Numeric:
    """How far the confidence improves on a random order: 0 is a random order, 1 the best one."""
    share_wrong = 1 - a.count(a.right) / a.size
    return (share_wrong - aurc(a)) / (share_wrong - least_area(a.count(a.right), a.size))


def _share_at(a: Answers, c: float, cumulated: IntArray) -> Numeric:
    at, there = a.first_covering(c)
    if a.times is None and not there:
        reach = a.size / a.questions
        return Undefined(f"the run's answers reach no more than {reach:.2%} of the questions")
    place = np.asarray(at)[None]
    part, answered = (np.take_along_axis(x, place, 0)[0] for x in (cumulated, a.groups.answered))
    return np.where(there, part / answered, np.nan)


at_coverage = partial(
    confident,
    parameters=(COVERAGE,),
    convention=f"{ONE_POINT}; the first point at or above c; {MISSING_LAST}",
    gaming="Be right where you are surest; what lies beyond c does not count.",
)


at_coverage(
    "risk@coverage",
    "The share of wrong answers among the surest ones that cover a share c of the questions.",
    lambda a, c: _share_at(a, c, a.groups.wrong),
    formula="W/(R + W) at coverage c",
    source="El-Yaniv & Wiener 2010, On the Foundations of Noise-free Selective Classification",
    higher_is_better=False,
    influence=influence.risk_at_coverage,
)
at_coverage(
    "accuracy@coverage",
    "The share of right answers among the surest ones that cover a share c of the questions.",
    lambda a, c: _share_at(a, c, a.groups.right),
    formula="R/(R + W) at coverage c",
    source="selective accuracy: 1 − risk@coverage",
    aliases=("selective-accuracy@coverage",),
    influence=influence.accuracy_at_coverage,
)


@confident(
    "coverage@risk",
    formula="max coverage with W/(R + W) ≤ r",
    source="Geifman & El-Yaniv 2017, Selective Classification for Deep Neural Networks",
    parameters=(RISK,),
    convention=f"{ONE_POINT}; 0 where no point is that safe; {MISSING_LAST}",
    note="Optimistic: the threshold is chosen in hindsight. `abstain tune --risk` bounds the risk.",
)
def coverage_at_risk(a: Answers, *, r: float) -> Numeric:
    """The largest coverage at which at most a share r of the answers is wrong."""
    g = a.groups
    safe = g.wrong <= r * g.answered * (1 + 1e-12)
    return np.where(safe, g.answered, 0).max(axis=0) / a.questions


@confident(
    "AUROC",
    formula="P(s right > s wrong) + P(equal)/2",
    source="Hanley & McNeil 1982; the ROC of the decision to validate an answer",
    convention=f"a tie counts a half (trapezoid rule); {MISSING_LAST}",
    undefined=(NO_ANSWERS, NO_CONFIDENCE, *ONE_SIDED),
    influence=influence.auroc,
    note="Only the order counts; wrong answers that are easy to recognise raise it.",
)
def auroc(a: Answers) -> Numeric:
    """How often a right answer is surer than a wrong one."""
    g = a.groups
    below = g.wrong[-1] - g.halved(g.wrong)
    return (g.each(g.right) * below).sum(axis=0) / (g.right[-1] * g.wrong[-1])


def _average_precision(answered: IntArray, hits: IntArray) -> Numeric:
    precision = hits / np.maximum(answered, 1)
    return (np.diff(hits, prepend=0, axis=0) * precision).sum(axis=0) / hits[-1]


confident(
    "AUPR-success",
    "Precision averaged over recall, for finding right answers from the surest down.",
    lambda a: _average_precision(a.groups.answered, a.groups.right),
    formula="Σ Δrecall·precision, of right answers",
    source="Hendrycks & Gimpel 2017, A Baseline for Detecting Misclassified Examples",
    aliases=("AUPR", "AP-success"),
    convention=f"average precision (step rule, as scikit-learn); {ONE_POINT}; {MISSING_LAST}",
    undefined=(NO_ANSWERS, NO_CONFIDENCE, ALL_WRONG),
    influence=influence.aupr_success,
    note="A random order scores about the accuracy: compare only systems with the same accuracy.",
)
confident(
    "AUPR-error",
    "Precision averaged over recall, for finding wrong answers from the least sure up.",
    lambda a: _average_precision(*a.groups.errors_first),
    formula="Σ Δrecall·precision, of wrong answers",
    source="Hendrycks & Gimpel 2017, A Baseline for Detecting Misclassified Examples",
    convention=f"average precision (step rule), least sure first; {ONE_POINT}; {MISSING_LAST}",
    undefined=(NO_ANSWERS, NO_CONFIDENCE, ALL_RIGHT),
    influence=influence.aupr_error,
    note="A random order scores about the share wrong: more errors start higher.",
)


EPSILON = 2.0**-52
WORST_LOG = 36.04365338911715
BINS = Parameter("bins", "how many bins", low=1, high=10_000, default=15, whole=True)


calibrating = partial(confident, higher_is_better=False, uses="stated")
binning = partial(
    calibrating,
    gaming="Always state your overall accuracy as the confidence: that is calibrated and useless.",
    formula="Σ_b (N_b/N)·|share right − mean s|",
    parameters=(BINS,),
    bootstrap_biased=True,
)


def width_bins(confidence: Array, bins: int) -> IntArray:
    """The bin of each confidence among equally wide ones: (0, 1/b], (1/b, 2/b], …"""
    edges = np.arange(1, bins) / bins
    return np.searchsorted(edges, confidence, side="left")


def mass_bins(confidence: Array, bins: int) -> IntArray:
    """The bin of each confidence among equally full ones; ties share that of their middle."""
    _, group, sizes = np.unique(confidence, return_inverse=True, return_counts=True)
    return _filled(sizes, bins)[group]


def _filled(sizes: IntArray, bins: int) -> IntArray:
    upto = np.cumsum(sizes, axis=0)
    middle = (2 * upto - sizes) * bins // np.maximum(2 * upto[-1:], 1)
    return np.asarray(np.minimum(middle, bins - 1), np.int64)


def residuals(a: Answers) -> tuple[Array, IntArray, Array]:
    """Of each distinct confidence, the least sure first, and each resample (or the one sample):
    the confidence, the number of answers, the sum of right − s."""
    g = a.calibrated.groups
    columns = (len(g.level), -1)
    sizes, right = (g.each(x)[::-1].reshape(columns) for x in (g.answered, g.right))
    level = g.level[::-1]
    return level, sizes, right - sizes * level[:, None]


def of_each(a: Answers, values: Array) -> Numeric:
    """A number of each resample, or the one number."""
    return values if a.times is not None else float(values[0])


def calibration_error(
    a: Answers, bins: int, bin_of: Callable[[Array, IntArray], IntArray]
) -> Numeric:
    """Σ_b |Σ (right − s)| / N; `bin_of` takes the distinct confidences and how many have each."""
    level, sizes, off = residuals(a)
    resamples = sizes.shape[1]
    place = bin_of(level, sizes) * resamples + np.arange(resamples)
    sums = np.bincount(place.ravel(), off.ravel(), minlength=bins * resamples)
    with np.errstate(invalid="ignore", divide="ignore"):
        return of_each(a, np.abs(sums.reshape(-1, resamples)).sum(axis=0) / sizes.sum(axis=0))


binning(
    "ECE",
    "How far confidence is from the share of right answers, on average, in bins of equal width.",
    lambda a, bins: calibration_error(
        a, int(bins), lambda level, _: width_bins(level, int(bins))[:, None]
    ),
    source="Naeini, Cooper & Hauskrecht 2015; Guo et al. 2017, On Calibration of Neural Networks",
    convention=f"equally wide bins, closed on the right; {WITHOUT_LEFT_OUT}",
    gaming="Always state your accuracy: calibrated, and useless. Few bins hide errors.",
)
binning(
    "ECE-mass",
    "How far confidence is from the share of right answers, on average, in bins of equal size.",
    lambda a, bins: calibration_error(a, int(bins), lambda _, sizes: _filled(sizes, int(bins))),
    source="Nixon et al. 2019, Measuring Calibration in Deep Learning (adaptive bins)",
    aliases=("equal-mass-ECE", "ECE-equal-mass"),
    convention=f"equally full bins, tied answers in one; {WITHOUT_LEFT_OUT}",
    note="Nixon et al. average over classes too; of the confidence in one answer their ACE is this "
    "where no confidence is tied and bins can be equal. uncertainty-calibration has it as "
    "`get_ece_em`.",
)


def squares(a: Answers) -> Array:
    """(s − right)² of each answer."""
    return (a.confidence - a.right) ** 2


def surprises(a: Answers) -> Array:
    """−ln p(outcome) of each answer."""
    sure = np.clip(a.confidence, EPSILON, 1 - EPSILON)
    return np.asarray(-np.log(np.where(a.right, sure, 1 - sure)))


def mean_of(each: Callable[[Answers], Array]) -> Callable[[Answers], Numeric]:
    """The mean over the answers that have a confidence."""
    return lambda a: a.calibrated.total(each(a.calibrated)) / a.calibrated.size


calibrating(
    "Brier",
    "The mean squared distance of the confidence from the outcome (1 right, 0 wrong).",
    mean_of(squares),
    formula="(1/N) Σ (s − right)²",
    source="Brier 1950, Verification of Forecasts Expressed in Terms of Probability",
    convention=f"uses only the probability that the answer is right; {WITHOUT_LEFT_OUT}",
    mean=MeanOf(squares, "answers"),
    studentised=True,
    note="Proper: the honest chance of being right scores best.",
)
calibrating(
    "log-score",
    "The mean negative log-probability of the outcome, in nats.",
    mean_of(surprises),
    formula="−(1/N) Σ ln p(outcome)",
    source="Good 1952, Rational Decisions",
    aliases=("log-loss", "cross-entropy"),
    convention=f"natural logarithm; confidences stay 2.2e−16 away from 0 and 1; {WITHOUT_LEFT_OUT}",
    bounds=(0.0, WORST_LOG),
    mean=MeanOf(surprises, "answers"),
    studentised=True,
    note="Proper; a wrong answer with confidence 1 costs 36, so systems avoid stating 1.",
)
