"""Measures of confidence: does a system know what it knows?

They take answers that are right or wrong, each with a confidence from 0 to 1. N answers, n
questions, C(i) right among the i surest. Candidates behind blanks are answers too, except where
a measure scores what was handed in (CWS, K1, K, MRR).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from abstain.measures.registry import Parameter, Undefinedness
from abstain.measures.sequences import (
    ALL_RIGHT,
    ALL_WRONG,
    NO_ANSWERS,
    NO_CONFIDENCE,
    SOME_WITHOUT,
    Answers,
    confident,
)
from abstain.outcomes import Undefined

if TYPE_CHECKING:
    from abstain.outcomes import Array, IntArray

TIES = "tied answers: the mean over every order of them"
ONE_POINT = "one point for each distinct confidence: tied answers are answered together"
MISSING_LAST = "answers without a confidence are the least sure"
WITHOUT_LEFT_OUT = "answers without a confidence are left out"
EPSILON = 2.0**-52
WORST_LOG = 36.04365338911715

COVERAGE = Parameter("c", "the share of the questions to answer", low=0, high=1, low_open=True)
RISK = Parameter("r", "the share of wrong answers to allow", low=0, high=1)
BINS = Parameter("bins", "how many bins", low=1, high=10_000, default=15, whole=True)

ALL_EQUAL = Undefinedness(
    lambda a: (a.calibrated.confidence == a.calibrated.confidence[:1]).all(),
    "every confidence is the same",
)
ONE_SIDED = (ALL_RIGHT, ALL_WRONG)


# --------------------------------------------------------------- what was handed in, weighted


@confident(
    "CWS",
    formula="(1/n) Σ_i C(i)/i",
    latex=r"\frac{1}{n}\sum_i \frac{C(i)}{i}",
    source="Voorhees 2002, Overview of the TREC 2002 Question Answering Track",
    aliases=("confidence-weighted-score",),
    convention=f"answers given, surest first; {TIES}; {MISSING_LAST}; a blank adds nothing",
    undefined=(NO_CONFIDENCE,),
    gaming="Only the order counts: put the surest first, call them 0.9 or 0.1 alike.",
)
def cws(a: Answers) -> float:
    """The mean precision of the surest answers, from the first alone to all of them."""
    groups = a.shown.groups
    return groups.mean_share(groups.right) / a.questions


@confident(
    "K1",
    formula="(Σ s of right − Σ s of wrong)/n",
    latex=r"\frac{1}{n}\left(\sum_{\mathrm{right}} s - \sum_{\mathrm{wrong}} s\right)",
    source="Herrera, Peñas & Verdejo 2005, Question Answering Pilot Task at CLEF 2004",
    convention="answers given; one answer a question; a blank has confidence 0",
    undefined=(SOME_WITHOUT,),
    bounds=(-1.0, 1.0),
    gaming="Say 1 or 0: where the chance of being right is above a half, full confidence pays.",
)
def k1(a: Answers) -> float:
    """Right answers earn their confidence, wrong ones pay it."""
    own = a.shown
    return float((own.confidence * (2.0 * own.right - 1)).sum() / a.questions)


@confident(
    "K",
    formula="(1/n) Σ_q Σ_a s(a)·e(a) / max(known, given)",
    latex=r"\frac{1}{n}\sum_q \frac{\sum_a s(a)\,e(a)}{\max(R_q, A_q)}",
    source="Herrera, Peñas & Verdejo 2005, Question Answering Pilot Task at CLEF 2004",
    convention="e = 1 right, 0 said before, −1 wrong; one known answer where none is named",
    undefined=(SOME_WITHOUT,),
    bounds=(-1.0, 1.0),
    gaming="As K1, and answers beyond the known ones only lower what each is worth.",
)
def k_measure(a: Answers) -> float:
    """K1 for several answers a question."""
    import numpy as np

    own = a if a.question is not None else a.shown
    question = _question(own)
    effect = 2.0 * own.right - 1
    if own.repeat is not None:
        effect = np.where(own.repeat.astype(bool), 0.0, effect)
    asked = int(question.max()) + 1 if own.size else 0
    earned = np.bincount(question, own.confidence * effect, minlength=asked)
    given = np.bincount(question, minlength=asked)
    known = np.ones(asked, np.int64) if own.known is None else own.known
    return float((earned / np.maximum(known, given)).sum() / a.questions)


@confident(
    "MRR",
    formula="(1/n) Σ_q 1/rank of the first right",
    latex=r"\frac{1}{n}\sum_q \frac{1}{r_q}",
    source="Voorhees 1999, The TREC-8 Question Answering Track Report",
    convention=f"by confidence; tied answers all take the last rank of theirs; {MISSING_LAST}",
    undefined=(),
    gaming="Hand in many answers: a wrong one costs nothing once the right one stands above it.",
)
def mean_reciprocal_rank(a: Answers) -> float:
    """How far down the list of answers to a question the first right one stands."""
    import numpy as np

    own = a if a.question is not None else a.shown
    if not own.size:
        return 0.0
    question = _question(own)
    sure = np.where(own.stated, own.confidence, -1.0)
    best = np.full(int(question.max()) + 1, -np.inf)
    np.maximum.at(best, question[own.right], sure[own.right])
    rank = np.bincount(question[sure >= best[question]], minlength=len(best))
    found = np.isfinite(best)
    return float((1 / rank[found]).sum() / a.questions)


@confident(
    "Pearson-r",
    formula="correlation of s and right",
    latex=r"\frac{\mathrm{cov}(s, e)}{\sigma_s\,\sigma_e}",
    source="Herrera, Peñas & Verdejo 2005, Question Answering Pilot Task at CLEF 2004",
    aliases=("correlation",),
    convention=f"right is 1, wrong is 0; {WITHOUT_LEFT_OUT}",
    undefined=(
        NO_ANSWERS,
        NO_CONFIDENCE,
        Undefinedness(lambda a: a.calibrated.right.all(), ALL_RIGHT.reason),
        Undefinedness(lambda a: not a.calibrated.right.any(), ALL_WRONG.reason),
        ALL_EQUAL,
    ),
    bounds=(-1.0, 1.0),
    gaming="Confidences of 0 and 1 alone lift it; a well-spread calibrated one may score lower.",
)
def pearson(a: Answers) -> float:
    """The correlation of confidence with being right."""
    import numpy as np

    own = a.calibrated
    return float(np.clip(np.corrcoef(own.confidence, own.right.astype(np.float64))[0, 1], -1, 1))


# ------------------------------------------------------------------------- risk and coverage


@confident(
    "AURC",
    formula="(1/N) Σ_i (i − C(i))/i",
    latex=r"\frac{1}{N}\sum_i \frac{i-C(i)}{i}",
    source="Geifman, Uziel & El-Yaniv 2019, Bias-Reduced Uncertainty Estimation",
    convention=f"a sum over answers (rectangle rule); {TIES}; {MISSING_LAST}",
    higher_is_better=False,
    gaming="It mixes knowing with ordering: a more accurate system wins with a worse order.",
)
def aurc(a: Answers) -> float:
    """The area under the risk–coverage curve: the mean share wrong among the surest answers."""
    return a.groups.mean_share(a.groups.wrong) / a.size


def _least_aurc(a: Answers) -> float:
    """The AURC of the best order of the same answers: every right one before every wrong one."""
    import numpy as np

    right = int(a.right.sum())
    after = np.arange(right + 1, a.size + 1)
    return float(((after - right) / after).sum() / a.size)


@confident(
    "E-AURC",
    formula="AURC − AURC*",
    latex=r"\mathrm{AURC}-\mathrm{AURC}^{*}",
    source="Geifman, Uziel & El-Yaniv 2019, Bias-Reduced Uncertainty Estimation",
    aliases=("excess-aurc",),
    convention="AURC*, the best order, puts every right answer first (an exact sum); otherwise "
    "as AURC",
    higher_is_better=False,
    gaming="Near 0 for systems that are nearly always (or never) right, whatever their order.",
)
def excess_aurc(a: Answers) -> float:
    """What the order of the answers costs: the area above that of the best order."""
    return max(0.0, float(aurc(a)) - _least_aurc(a))


@confident(
    "AUGRC",
    formula="∫ W/N d coverage",
    latex=r"\int \frac{W(v)}{N}\,dv",
    source="Traub et al. 2024, Overcoming Common Flaws in the Evaluation of Selective "
    "Classification Systems",
    convention=f"{ONE_POINT}; from nothing answered, trapezoid rule; {MISSING_LAST}",
    bounds=(0.0, 0.5),
    higher_is_better=False,
    gaming="It mixes knowing with ordering: (1 − AUROC)·a·(1 − a) + (1 − a)²/2 at accuracy a.",
)
def augrc(a: Answers) -> float:
    """The area under the generalised risk: the mean share of all that is answered wrongly."""
    g = a.groups
    sizes, wrong = g.each(g.answered), g.each(g.wrong)
    return float((sizes * (g.wrong - wrong / 2)).sum() / a.size**2)


@confident(
    "PRR",
    formula="(W/N − AURC)/(W/N − AURC*)",
    latex=r"\frac{\bar w-\mathrm{AURC}}{\bar w-\mathrm{AURC}^{*}}",
    source="Malinin & Gales 2021; with the risk of what is kept, as in LM-Polygraph "
    "(Fadeeva et al. 2023)",
    aliases=("prediction-rejection-ratio",),
    convention="AURC*: every right answer first; a random order has AURC W/N; were rejected "
    "answers put right instead of left out, it would be 2·AUROC − 1",
    undefined=(NO_ANSWERS, NO_CONFIDENCE, *ONE_SIDED),
    bounds=(float("-inf"), 1.0),
    gaming="1 is the best order, 0 a random one; it says nothing of how much is known.",
)
def rejection_ratio(a: Answers) -> float:
    """How much of the way from a random to the best order the confidence goes."""
    share_wrong = 1 - a.right.mean()
    return float((share_wrong - aurc(a)) / (share_wrong - _least_aurc(a)))


def _at_coverage(a: Answers, c: float) -> int | None:
    """The first point that answers a share c of the questions."""
    import numpy as np

    reached = a.groups.answered >= c * a.questions * (1 - 1e-12)
    return int(np.argmax(reached)) if reached.any() else None


def _unreached(a: Answers) -> Undefined:
    return Undefined(f"its answers reach no more than {a.size / a.questions:.2%} of the questions")


@confident(
    "risk@coverage",
    formula="W/(R + W) at coverage c",
    latex=r"\frac{W(c)}{A(c)}",
    source="El-Yaniv & Wiener 2010, On the Foundations of Noise-free Selective Classification",
    parameters=(COVERAGE,),
    convention=f"{ONE_POINT}; the first point at or above c; {MISSING_LAST}",
    higher_is_better=False,
    gaming="Be right where you are surest; what lies beyond c does not count.",
)
def risk_at_coverage(a: Answers, *, c: float) -> float:
    """The share wrong of the surest answers, enough of them to cover a share of the questions."""
    at = _at_coverage(a, c)
    return _unreached(a) if at is None else float(a.groups.wrong[at] / a.groups.answered[at])


@confident(
    "accuracy@coverage",
    formula="R/(R + W) at coverage c",
    latex=r"\frac{R(c)}{A(c)}",
    source="selective accuracy: 1 − risk@coverage",
    parameters=(COVERAGE,),
    aliases=("selective-accuracy@coverage",),
    convention=f"{ONE_POINT}; the first point at or above c; {MISSING_LAST}",
    gaming="Be right where you are surest; what lies beyond c does not count.",
)
def accuracy_at_coverage(a: Answers, *, c: float) -> float:
    """The share right of the surest answers, enough of them to cover a share of the questions."""
    at = _at_coverage(a, c)
    return _unreached(a) if at is None else float(a.groups.right[at] / a.groups.answered[at])


@confident(
    "coverage@risk",
    formula="max coverage with W/(R + W) ≤ r",
    latex=r"\max\{A/n : W/A \le r\}",
    source="Geifman & El-Yaniv 2017, Selective Classification for Deep Neural Networks",
    parameters=(RISK,),
    convention=f"{ONE_POINT}; 0 where no point is that safe; {MISSING_LAST}",
    gaming="It is chosen in hindsight, so it flatters: `abstain tune --risk` finds what will hold.",
)
def coverage_at_risk(a: Answers, *, r: float) -> float:
    """How much can be answered with a share wrong of at most r."""
    g = a.groups
    safe = g.answered[g.wrong <= r * g.answered * (1 + 1e-12)]
    return float(safe.max() / a.questions) if len(safe) else 0.0


# ------------------------------------------------------------------------ telling them apart


@confident(
    "AUROC",
    formula="P(s right > s wrong) + P(equal)/2",
    latex=r"P(s_r > s_w) + \tfrac12 P(s_r = s_w)",
    source="Hanley & McNeil 1982; the ROC of the decision to validate an answer",
    convention=f"a tie counts a half (trapezoid rule); {MISSING_LAST}",
    undefined=(NO_ANSWERS, NO_CONFIDENCE, *ONE_SIDED),
    gaming="Only the order counts, and easy wrong answers lift it.",
)
def auroc(a: Answers) -> float:
    """How often a right answer is surer than a wrong one."""
    g = a.groups
    right, wrong = g.each(g.right), g.each(g.wrong)
    below = g.wrong[-1] - g.wrong
    return float((right * (below + wrong / 2)).sum() / (g.right[-1] * g.wrong[-1]))


def _average_precision(answered: IntArray, found: IntArray) -> float:
    import numpy as np

    return float((np.diff(found, prepend=0) * (found / answered)).sum() / found[-1])


@confident(
    "AUPR-success",
    formula="Σ Δrecall·precision, of right answers",
    latex=r"\sum_k (R_k-R_{k-1})\,P_k",
    source="Hendrycks & Gimpel 2017, A Baseline for Detecting Misclassified Examples",
    aliases=("AUPR", "AP-success"),
    convention=f"average precision (step rule, as scikit-learn); {ONE_POINT}; {MISSING_LAST}",
    undefined=(NO_ANSWERS, NO_CONFIDENCE, ALL_WRONG),
    gaming="It begins at the accuracy: compare only systems over the same share right.",
)
def aupr_success(a: Answers) -> float:
    """Precision over recall of right answers, from the surest down."""
    return _average_precision(a.groups.answered, a.groups.right)


@confident(
    "AUPR-error",
    formula="Σ Δrecall·precision, of wrong answers",
    latex=r"\sum_k (R_k-R_{k-1})\,P_k",
    source="Hendrycks & Gimpel 2017, A Baseline for Detecting Misclassified Examples",
    convention=f"average precision (step rule, as scikit-learn), from the least sure up; "
    f"{ONE_POINT}; {MISSING_LAST}",
    undefined=(NO_ANSWERS, NO_CONFIDENCE, ALL_RIGHT),
    gaming="It begins at the share wrong: a system that errs more starts higher.",
)
def aupr_error(a: Answers) -> float:
    """Precision over recall of wrong answers, from the least sure up."""
    import numpy as np

    g = a.groups
    before = np.concatenate([[0], g.answered[:-1]])[::-1], np.concatenate([[0], g.wrong[:-1]])[::-1]
    return _average_precision(g.size - before[0], g.wrong[-1] - before[1])


# ------------------------------------------------------------------------------- calibration


def width_bins(confidence: Array, bins: int) -> IntArray:
    """The bin of each confidence among equally wide ones: (0, 1/b], (1/b, 2/b], …"""
    import numpy as np

    edges = np.arange(1, bins) / bins
    return np.searchsorted(edges, confidence, side="left")


def mass_bins(confidence: Array, bins: int) -> IntArray:
    """The bin of each confidence among equally full ones; tied ones stay together.

    A group of tied answers goes where its middle would: nothing depends on the order of rows.
    """
    import numpy as np

    _, group, sizes = np.unique(confidence, return_inverse=True, return_counts=True)
    upto = np.cumsum(sizes)
    middle = (2 * upto - sizes) * bins // (2 * int(upto[-1]))
    return middle[group].astype(np.int64)


def _calibration_error(a: Answers, bin_of: IntArray, bins: int) -> float:
    import numpy as np

    gap = np.bincount(bin_of, a.right - a.confidence, minlength=bins)
    return float(np.abs(gap).sum() / a.size)


@confident(
    "ECE",
    formula="Σ_b (N_b/N)·|share right − mean s|",
    latex=r"\sum_b \frac{N_b}{N}\,|\bar e_b-\bar s_b|",
    source="Naeini, Cooper & Hauskrecht 2015; Guo et al. 2017, On Calibration of Modern "
    "Neural Networks",
    parameters=(BINS,),
    convention=f"equally wide bins, closed on the right; {WITHOUT_LEFT_OUT}",
    higher_is_better=False,
    gaming="Always say your accuracy: calibrated, and useless. Few bins hide what they mix.",
)
def ece(a: Answers, *, bins: float) -> float:
    """How far confidence is from the share right, on average, in bins of equal width."""
    own = a.calibrated
    return _calibration_error(own, width_bins(own.confidence, int(bins)), int(bins))


@confident(
    "ECE-mass",
    formula="Σ_b (N_b/N)·|share right − mean s|",
    latex=r"\sum_b \frac{N_b}{N}\,|\bar e_b-\bar s_b|",
    source="Nixon et al. 2019, Measuring Calibration in Deep Learning (adaptive bins)",
    parameters=(BINS,),
    convention=f"equally full bins, tied answers in one; {WITHOUT_LEFT_OUT}",
    higher_is_better=False,
    gaming="Always say your accuracy: calibrated, and useless.",
)
def ece_mass(a: Answers, *, bins: float) -> float:
    """How far confidence is from the share right, on average, in bins of equal size."""
    own = a.calibrated
    return _calibration_error(own, mass_bins(own.confidence, int(bins)), int(bins))


@confident(
    "Brier",
    formula="(1/N) Σ (s − right)²",
    latex=r"\frac{1}{N}\sum (s-e)^2",
    source="Brier 1950, Verification of Forecasts Expressed in Terms of Probability",
    convention=f"one probability, that the answer is right: from 0 to 1; {WITHOUT_LEFT_OUT}",
    higher_is_better=False,
    gaming="Proper: the honest chance of being right scores best.",
)
def brier(a: Answers) -> float:
    """The squared distance of confidence from what came true."""
    own = a.calibrated
    return float(((own.confidence - own.right) ** 2).mean())


@confident(
    "log-score",
    formula="−(1/N) Σ ln p(what came true)",
    latex=r"-\frac{1}{N}\sum \ln p",
    source="Good 1952, Rational Decisions",
    aliases=("log-loss", "cross-entropy"),
    convention=f"natural logarithm; confidences are kept 2.2e−16 away from 0 and 1, as in "
    f"scikit-learn; {WITHOUT_LEFT_OUT}",
    bounds=(0.0, WORST_LOG),
    higher_is_better=False,
    gaming="Proper; one certainty that fails costs up to 36, so systems avoid saying 1.",
)
def log_score(a: Answers) -> float:
    """The surprise at what came true, in nats."""
    import numpy as np

    own = a.calibrated
    sure = np.clip(own.confidence, EPSILON, 1 - EPSILON)
    return float(-np.log(np.where(own.right, sure, 1 - sure)).mean())


def _question(a: Answers) -> IntArray:
    import numpy as np

    return np.arange(a.size) if a.question is None else a.question
