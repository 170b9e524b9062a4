"""Measures of the decision itself: how much was answered, and what the blanks would have been.

The Answer Validation Exercise (AVE) and QA4MRE look at the candidate behind a blank:
UR and UW are blanks whose candidate was right and wrong, UE blanks without one.
"""

from __future__ import annotations

from functools import partial
from typing import Any

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


def share(name: str, summary: str, proportion: Proportion, **facts: Any) -> None:
    """Declare a proportion, which says how it is computed."""

    def function(k: CountsLike) -> Numeric:
        successes, trials = proportion.of(k)
        return successes / trials

    function.__doc__, function.__qualname__ = summary, name
    validation(name, proportion=proportion, **facts)(function)


share_by_candidates = partial(share, needs_candidates=True)

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
share(
    "coverage",
    "The share of the questions that were answered, right or wrong.",
    Proportion("R + W"),
    source="share of the questions answered; attempted, in SimpleQA",
    aliases=("attempted",),
    gaming="Answer everything. The measure says how much was answered, not how well.",
)
share(
    "selective-risk",
    "Of the answers, the share that is wrong.",
    Proportion("W", "R + W"),
    source="selective risk (El-Yaniv and Wiener 2010); 1 − precision",
    undefined=(NOTHING_ANSWERED,),
    studentised=True,
    higher_is_better=False,
    gaming="Answer only the surest question: what was left out costs nothing.",
)
share(
    "wrong-rate",
    "The share of the questions that were answered wrongly.",
    Proportion("W"),
    source="share of the questions answered wrongly; hallucination rate of SimpleQA's users",
    higher_is_better=False,
    gaming="Blank everything: it gives 0.",
)
share_by_candidates(
    "forced-accuracy",
    "The accuracy if every candidate behind a blank had been submitted.",
    Proportion("R + UR"),
    source=f"{QA4MRE} (there called accuracy)",
    gaming="Give a candidate with every blank: it costs nothing here.",
)
share_by_candidates(
    "correctly-discarded",
    "Of the blanks, the share whose candidate was not right (rightly left blank).",
    Proportion("UW + UE", "U"),
    source=QA4MRE,
    aliases=("abstention-precision",),
    undefined=(NOTHING_BLANK, SPLIT_UNKNOWN),
    gaming="Give no candidate with a blank: an empty one counts as rightly discarded.",
)
share_by_candidates(
    "abstention-recall",
    "Of the questions that the system could not get right, the share that was left blank.",
    Proportion("UW + UE", "UW + UE + W"),
    source=f"{ABSTENTION}, judged against the candidates",
    undefined=(NOTHING_TO_DISCARD,),
    gaming="Blank everything: it gives 1.",
)


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


share_by_candidates(
    "over-abstention",
    "Of the questions that the system would have got right, the share that was left blank.",
    Proportion("UR", "R + UR"),
    source=f"{ABSTENTION}; 1 − validation-recall",
    undefined=(NOTHING_RIGHT_TO_FIND,),
    higher_is_better=False,
    gaming="Never leave a blank: it gives 0.",
)
share_by_candidates(
    "under-abstention",
    "Of the questions that the system could not get right, the share that it still answered.",
    Proportion("W", "W + UW + UE"),
    source=f"{ABSTENTION}; 1 − abstention-recall",
    undefined=(NOTHING_TO_DISCARD,),
    higher_is_better=False,
    gaming="Blank everything: it gives 0.",
)
share(
    "qa-accuracy",
    "Questions with a right answer selected, over all questions.",
    Proportion("R"),
    source=AVE_2008,
    ranks_like=lambda: ("accuracy", "credit(t=0)", "S(t=0)"),
    gaming="Never leave a blank.",
)
share_by_candidates(
    "qa-rej-accuracy",
    "Questions correctly rejected (no right candidate, left blank), over all questions.",
    Proportion("UW + UE"),
    source=AVE_2008,
    gaming="Reject everything: it gives the share of questions that cannot be answered right.",
)
share_by_candidates(
    "qa-performance",
    "Right decisions over all questions: right answers plus wrong candidates rejected.",
    Proportion("R + UW + UE"),
    source=AVE_2008,
    gaming="Hand in candidates that are surely wrong and reject them: each counts as a success.",
)


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


share(
    "validation-precision",
    "Of the candidates validated (submitted), the share that is right.",
    Proportion("R", "R + W"),
    source=AVE_2006,
    undefined=(NOTHING_ANSWERED,),
    ranks_like=lambda: ("precision",),
    gaming="Validate the one candidate that you are sure of.",
)
share_by_candidates(
    "validation-recall",
    "Of the right candidates, the share that was validated (submitted).",
    Proportion("R", "R + UR"),
    source=AVE_2006,
    undefined=(NOTHING_RIGHT_TO_FIND,),
    gaming="Validate everything: it gives 1.",
)


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
