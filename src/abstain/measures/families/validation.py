"""Measures of the decision itself: how much was answered, and what the blanks would have been.

The Answer Validation Exercise (AVE) and QA4MRE look at the candidate behind a blank:
UR and UW are blanks whose candidate was right and wrong, UE blanks without one.
"""

from __future__ import annotations

from functools import partial

from abstain.measures.declare import counting
from abstain.measures.definition import (
    NOTHING_ANSWERED,
    NOTHING_BLANK,
    SPLIT_UNKNOWN,
    CountsLike,
    Numeric,
    Proportion,
    Undefinedness,
)

validation = partial(counting, family="validation")
by_candidates = partial(validation, needs_candidates=True)

QA4MRE = "Sutcliffe et al. 2013, Overview of QA4MRE Main Task at CLEF 2013"
AVE_2008 = "Rodrigo, Peñas & Verdejo 2008, Overview of the Answer Validation Exercise 2008"
AVE_2006 = "Peñas, Rodrigo, Sama & Verdejo 2006, Overview of the Answer Validation Exercise 2006"
ABSTENTION = "Wen et al. 2025, Know Your Limits: A Survey of Abstention in Large Language Models"

NOTHING_RIGHT_TO_FIND = Undefinedness(
    lambda k: k.right + k.unanswered_right == 0, "no answer and no candidate is right"
)
NOTHING_TO_DISCARD = Undefinedness(
    lambda k: k.wrong + k.unanswered_wrong + k.unanswered_empty == 0,
    "every answer and every candidate is right",
)
NOTHING_TO_ABSTAIN = Undefinedness(
    lambda k: k.wrong + k.unanswered == 0, "every question was answered, and rightly"
)
NOTHING_TO_VALIDATE = Undefinedness(
    lambda k: k.answered + k.unanswered_right == 0,
    "no question was answered and no candidate is right",
)


@validation(
    "coverage",
    source="share of the questions answered; attempted, in SimpleQA",
    proportion=Proportion("R + W"),
    aliases=("attempted",),
    gaming="Answer everything. The measure says how much was answered, not how well.",
)
def coverage(k: CountsLike) -> Numeric:
    """The share of the questions that were answered, right or wrong."""
    return k.answered / k.n


@validation(
    "selective-risk",
    source="selective risk (El-Yaniv and Wiener 2010); 1 − precision",
    proportion=Proportion("W", "R + W"),
    undefined=(NOTHING_ANSWERED,),
    studentised=True,
    higher_is_better=False,
    gaming="Answer only the surest question: what was left out costs nothing.",
)
def selective_risk(k: CountsLike) -> Numeric:
    """Of the answers given, the share that is wrong."""
    return k.wrong / k.answered


@validation(
    "wrong-rate",
    source="share of the questions answered wrongly; called hallucination rate by users of "
    "SimpleQA",
    proportion=Proportion("W"),
    higher_is_better=False,
    gaming="Blank everything: it gives 0.",
)
def wrong_share(k: CountsLike) -> Numeric:
    """The share of the questions that were answered wrongly."""
    return k.wrong / k.n


@by_candidates(
    "forced-accuracy",
    source=f"{QA4MRE} (there called accuracy)",
    proportion=Proportion("R + UR"),
    gaming="Give a candidate with every blank: it costs nothing here.",
)
def forced_accuracy(k: CountsLike) -> Numeric:
    """The accuracy if every candidate behind a blank had been given as the answer."""
    return (k.right + k.unanswered_right) / k.n


@by_candidates(
    "correctly-discarded",
    source=QA4MRE,
    proportion=Proportion("UW + UE", "U"),
    aliases=("abstention-precision",),
    undefined=(NOTHING_BLANK, SPLIT_UNKNOWN),
    gaming="Give no candidate with a blank: an empty one counts as rightly discarded.",
)
def correctly_discarded(k: CountsLike) -> Numeric:
    """Of the blanks, the share whose candidate was not right (rightly left blank)."""
    return (k.unanswered_wrong + k.unanswered_empty) / k.unanswered


@by_candidates(
    "abstention-recall",
    source=f"{ABSTENTION}, judged against the candidates",
    proportion=Proportion("UW + UE", "UW + UE + W"),
    undefined=(NOTHING_TO_DISCARD,),
    gaming="Blank everything: it gives 1.",
)
def abstention_recall(k: CountsLike) -> Numeric:
    """Of the questions that the system could not get right, the share that was left blank."""
    discarded = k.unanswered_wrong + k.unanswered_empty
    return discarded / (discarded + k.wrong)


@by_candidates(
    "abstention-F",
    formula="2(UW + UE)/(2(UW + UE) + UR + W)",
    latex=r"\frac{2(U_W+U_E)}{2(U_W+U_E)+U_R+W}",
    source=f"{ABSTENTION}, judged against the candidates",
    aliases=("abstention-F1",),
    undefined=(NOTHING_TO_ABSTAIN,),
    studentised=True,
    divides_by="UW + UE + UR + W",
    least=40,
    note="Right answers have no influence: only the decision to abstain is judged.",
)
def abstention_f(k: CountsLike) -> Numeric:
    """Harmonic mean of the precision and the recall of leaving blank what would be wrong."""
    discarded = k.unanswered_wrong + k.unanswered_empty
    return 2 * discarded / (2 * discarded + k.unanswered_right + k.wrong)


@by_candidates(
    "over-abstention",
    source=f"{ABSTENTION}; 1 − validation-recall",
    proportion=Proportion("UR", "R + UR"),
    undefined=(NOTHING_RIGHT_TO_FIND,),
    higher_is_better=False,
    gaming="Never leave a blank: it gives 0.",
)
def over_abstention(k: CountsLike) -> Numeric:
    """Of the questions that the system would have got right, the share that was left blank."""
    return k.unanswered_right / (k.right + k.unanswered_right)


@by_candidates(
    "under-abstention",
    source=f"{ABSTENTION}; 1 − abstention-recall",
    proportion=Proportion("W", "W + UW + UE"),
    undefined=(NOTHING_TO_DISCARD,),
    higher_is_better=False,
    gaming="Blank everything: it gives 0.",
)
def under_abstention(k: CountsLike) -> Numeric:
    """Of the questions that the system could not get right, the share that it still answered."""
    return k.wrong / (k.wrong + k.unanswered_wrong + k.unanswered_empty)


@validation(
    "qa-accuracy",
    source=AVE_2008,
    proportion=Proportion("R"),
    ranks_like=lambda: ("accuracy", "credit(t=0)", "S(t=0)"),
    gaming="Never leave a blank.",
)
def qa_accuracy(k: CountsLike) -> Numeric:
    """Questions with a right answer selected, over all questions."""
    return k.right / k.n


@by_candidates(
    "qa-rej-accuracy",
    source=AVE_2008,
    proportion=Proportion("UW + UE"),
    gaming="Reject everything: it gives the share of questions that cannot be answered right.",
)
def qa_rej_accuracy(k: CountsLike) -> Numeric:
    """Questions correctly rejected (no right candidate, left blank), over all questions."""
    return (k.unanswered_wrong + k.unanswered_empty) / k.n


@by_candidates(
    "qa-performance",
    source=AVE_2008,
    proportion=Proportion("R + UW + UE"),
    gaming="Hand in candidates that are surely wrong and reject them: each counts as a success.",
)
def qa_performance(k: CountsLike) -> Numeric:
    """Right decisions over all questions: right answers given plus wrong candidates rejected."""
    return (k.right + k.unanswered_wrong + k.unanswered_empty) / k.n


@by_candidates(
    "estimated-qa-performance",
    formula="R/n · (1 + (UW + UE)/n)",
    latex=r"\frac{R}{n}\left(1+\frac{U_W+U_E}{n}\right)",
    source=f"{AVE_2008}; c@1 grew out of it",
    gaming="As for c@1, but only blanks whose candidate is not right earn credit.",
)
def estimated_qa_performance(k: CountsLike) -> Numeric:
    """Accuracy, with a credit equal to the accuracy for each correct rejection."""
    return k.right / k.n * (1 + (k.unanswered_wrong + k.unanswered_empty) / k.n)


@validation(
    "validation-precision",
    source=AVE_2006,
    proportion=Proportion("R", "R + W"),
    undefined=(NOTHING_ANSWERED,),
    ranks_like=lambda: ("precision",),
    gaming="Validate the one candidate that you are sure of.",
)
def validation_precision(k: CountsLike) -> Numeric:
    """Of the candidates validated (given as answers), the share that is right."""
    return k.right / k.answered


@by_candidates(
    "validation-recall",
    source=AVE_2006,
    proportion=Proportion("R", "R + UR"),
    undefined=(NOTHING_RIGHT_TO_FIND,),
    gaming="Validate everything: it gives 1.",
)
def validation_recall(k: CountsLike) -> Numeric:
    """Of the right candidates, the share that was validated (given as an answer)."""
    return k.right / (k.right + k.unanswered_right)


@by_candidates(
    "validation-F",
    formula="2R/(2R + W + UR)",
    latex=r"\frac{2R}{2R+W+U_R}",
    source=AVE_2006,
    undefined=(NOTHING_TO_VALIDATE,),
    studentised=True,
    divides_by="R + W + UR",
    least=40,
    note="Rejected wrong candidates have no influence: only finding the right ones counts.",
)
def validation_f(k: CountsLike) -> Numeric:
    """Harmonic mean of precision and recall of the decision to validate a candidate."""
    return 2 * k.right / (2 * k.right + k.wrong + k.unanswered_right)
