"""The family of M = c + κ·u: the measures differ only in κ, what they credit a blank.

c, w and u are the shares right, wrong and unanswered. The functions take them as counts of n
questions and divide once, so that a score is the double nearest to its exact value wherever the
numbers are whole: 9 right and 20 blank of 30 are a c@1 of 0.5, not of a little less.
p* follows from the formula: moving a little weight from u to right with chance p and to wrong
with chance 1−p leaves M unchanged at p* = (∂M/∂u − ∂M/∂w) / (∂M/∂c − ∂M/∂w).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from abstain.measures.definition import (
    NOTHING_ANSWERED,
    Parameter,
    Proportion,
    Shares,
    Undefinedness,
    f1,
    number_text,
    summed,
    without,
)
from abstain.measures.kinds import counting, credit, proportional

PENAS_RODRIGO = "Peñas & Rodrigo 2011, A Simple Measure to Assess Non-response"

T = Parameter("t", "what a blank is worth in right answers", low=0, high=1)
T_BELOW_1 = Parameter(
    "t", "the chance of being right that makes answering pay", low=0, high=1, high_open=True
)
BETA = Parameter(
    "beta", "how much more recall counts than precision", low=1e-6, high=1e6, default=1
)


LIKE_CREDIT = {
    0.0: ("accuracy", "qa-accuracy"),
    0.5: ("UF", "UF-scaled"),
    1.0: ("answer-all-bound",),
}
"""By credit: the measures that order runs as that fixed credit does."""


def worth(text: str, share: Shares) -> dict[str, Any]:
    """The declaration of κ and p* where both are the same."""
    return {"kappa": share, "kappa_text": text, "break_even": share, "break_even_text": text}


credit(
    "accuracy",
    "Right answers over all questions; a blank is worth nothing.",
    lambda c, w, u, n: c / n,
    formula="c",
    source=f"{PENAS_RODRIGO}, §3.1",
    proportion=Proportion("R"),
    **worth("0", lambda c, w, u: 0 * u),
    ranks_like=lambda: ("credit(t=0)", "S(t=0)", "qa-accuracy"),
    gaming="Never leave a blank: a guess is free, so knowing and guessing score alike.",
)
credit(
    "c@1",
    "Accuracy, with each blank credited at the accuracy shown over all questions.",
    lambda c, w, u, n: c * (n + u) / (n * n),
    formula="c·(1 + u)",
    source=f"{PENAS_RODRIGO}, formula 4",
    aliases=("c_at_1",),
    kappa=lambda c, w, u: c,
    kappa_text="c",
    break_even=lambda c, w, u: c / (1 + u),
    break_even_text="c/(1 + u)",
    gaming="Leave blank what you are least sure of: a blank pays if the chance of being right is "
    "below p*, which never exceeds your accuracy. Blanking everything gives 0, so silence "
    "alone wins nothing.",
)
credit(
    "F",
    "Harmonic mean of the shares of right answers over all questions and over the answered.",
    lambda c, w, u, n, *, beta: (1 + beta**2) * c / ((1 + beta**2) * n - u),
    formula="(1 + β²)·c / (β² + 1 − u)",
    source="harmonic mean of c and c/(1 − u); with β = 1 the F of SimpleQA "
    "(Wei et al. 2024, Measuring short-form factuality)",
    aliases=("F1", "simpleqa-f"),
    parameters=(BETA,),
    **worth("F/(1 + β²)", lambda c, w, u, beta: c / (beta**2 + 1 - u)),
    gaming="With β = 1 answering pays above F/2: a system that scores 0.3 gains by every guess "
    "that has a chance above 0.15.",
)
credit(
    "precision",
    "Right answers over the questions answered; blanks are ignored.",
    lambda c, w, u, n: c / (c + w),
    formula="c/(1 − u)",
    source=f"{PENAS_RODRIGO}, §3.4, formula 5",
    aliases=("selective-accuracy", "correct-given-attempted"),
    undefined=(NOTHING_ANSWERED,),
    proportion=Proportion("R", "R + W"),
    kappa=lambda c, w, u: c / (c + w),
    kappa_text="c/(1 − u)",
    break_even=lambda c, w, u: c / (c + w),
    break_even_text="precision",
    ranks_like=lambda: ("validation-precision",),
    gaming="Answer one question that you are sure of and leave the rest blank: it gives 1.",
)
credit(
    "UF",
    "Right minus wrong answers: a wrong answer costs what a right one earns.",
    lambda c, w, u, n: (c - w) / n,
    formula="c − w",
    source=f"{PENAS_RODRIGO}, §2, formula 1 (utility function)",
    bounds=(-1.0, 1.0),
    kappa=None,
    break_even=lambda c, w, u: 0 * u + 0.5,
    break_even_text="1/2",
    ranks_like=lambda: ("UF-scaled", "credit(t=0.5)", "S(t=0.5)"),
    aliases=("omniscience-index",),
    note="Artificial Analysis' Omniscience Index is 100 times this.",
    gaming="Blank whatever has less than an even chance, however weak the system is.",
)
credit(
    "UF-scaled",
    "Right answers plus half a point for each blank: UF moved to the range 0 to 1.",
    lambda c, w, u, n: (2 * c + u) / (2 * n),
    formula="c + u/2",
    source=f"{PENAS_RODRIGO}, §2, formula 2",
    **worth("1/2", lambda c, w, u: 0 * u + 0.5),
    ranks_like=lambda: ("UF", "credit(t=0.5)", "S(t=0.5)"),
    gaming="Answer nothing: it gives 0.5, more than most systems reach on hard questions.",
)
credit(
    "answer-all-bound",
    "The accuracy if every blank had been answered right: a blank counts as a right answer.",
    lambda c, w, u, n: (c + u) / n,
    formula="c + u",
    source=f"{PENAS_RODRIGO}, §3.2",
    aliases=("truthfulness",),
    proportion=Proportion("R + U"),
    **worth("1", lambda c, w, u: 0 * u + 1),
    ranks_like=lambda: ("credit(t=1)",),
    gaming="Answer nothing: it gives 1. It is a bound, not a score to compare systems by.",
)
credit(
    "wrong-rate-credit",
    "Each blank is credited at the rate of wrong answers, as if it avoided that many errors.",
    lambda c, w, u, n: (c * (c + w) + u * w) / ((c + w) * n),
    formula="c + u·w/(c + w)",
    source=f"{PENAS_RODRIGO}, §3.5, formula 6",
    undefined=(NOTHING_ANSWERED,),
    divides_by="R + W",
    kappa=lambda c, w, u: w / (c + w),
    kappa_text="w/(c + w)",
    break_even=None,
    monotone="if more than half the questions are blank, turning a wrong answer into a right one "
    "lowers the score: every blank loses credit",
    gaming="Answer one question wrong and leave the rest blank: nearly 1. The more of a run's "
    "answers are wrong, the more each blank earns; the paper rejects it for that reason, and so "
    "should you.",
)
credit(
    "credit",
    "Right answers plus a fixed credit t for each blank.",
    lambda c, w, u, n, *, t: (c + t * u) / n,
    formula="c + t·u",
    source=f"{PENAS_RODRIGO}, §3; Chow 1970; formula scoring with k options is t = 1/k",
    parameters=(T,),
    **worth("t", lambda c, w, u, t: 0 * u + t),
    ranks_like=lambda t: (*((f"S(t={number_text(t)})",) if t < 1 else ()), *LIKE_CREDIT.get(t, ())),
    gaming="Answer nothing: it gives t, more than any system whose precision is below t.",
)
credit(
    "S",
    "Right answers minus a penalty per wrong one, such that answering pays above a chance of t.",
    lambda c, w, u, n, *, t: (c - t / (1 - t) * w) / n,
    formula="c − t/(1 − t)·w",
    source="penalised score; net benefit of decision curves (Vickers & Elkin 2006)",
    aliases=("penalised", "net-benefit"),
    parameters=(T_BELOW_1,),
    bounds=lambda t: (0.0 - t / (1 - t), 1.0),
    kappa=None,
    break_even=lambda c, w, u, t: 0 * u + t,
    break_even_text="t",
    ranks_like=lambda t: (f"credit(t={number_text(t)})", *LIKE_CREDIT.get(t, ())),
    gaming="Blank whatever has a chance below t; that is its purpose. Silence gives exactly 0.",
)


validation = partial(counting, family="validation")
by_candidates = partial(validation, needs_candidates=True)


REASONS = {
    "R + W": NOTHING_ANSWERED.reason,
    "W + U": "every question was answered, and rightly",
    "U": "no question was left unanswered",
    "R + UR": "no answer and no candidate is right",
    "UW + UE + W": "every answer and every candidate is right",
    "W + UW + UE": "every answer and every candidate is right",
}
"""By the trials of a proportion: why it is undefined without any."""


def share(name: str, summary: str, proportion: Proportion, **facts: Any) -> None:
    """Declare a proportion, which says when it is undefined and whether it needs candidates."""
    trials = proportion.trials
    reason = REASONS.get(trials)
    rules = () if reason is None else (Undefinedness(lambda k: summed(k, trials) == 0, reason),)
    split = bool({"UR", "UW", "UE"} & set(f"{proportion.successes} {trials}".split()))
    facts |= {"undefined": rules, "needs_candidates": split, "home": __name__}
    proportional(validation, name, summary, proportion, **facts)


QA4MRE = "Sutcliffe et al. 2013, Overview of QA4MRE Main Task at CLEF 2013"
AVE_2008 = "Rodrigo, Peñas & Verdejo 2008, Overview of the Answer Validation Exercise 2008"
AVE_2006 = "Peñas, Rodrigo, Sama & Verdejo 2006, Overview of the Answer Validation Exercise 2006"
ABSTENTION = "Wen et al. 2025, Know Your Limits: A Survey of Abstention in Large Language Models"
BY_MARKS = (
    "It asks whether the candidate behind each blank was right. Where the data mark which "
    "questions can be answered, {} asks that, and needs no candidates."
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
share(
    "hallucination-rate",
    "Of the questions that were not answered right, the share that was answered wrong.",
    Proportion("W", "W + U"),
    source="AA-Omniscience (Artificial Analysis 2025): W/(n − R)",
    higher_is_better=False,
    gaming="Blank everything: it gives 0.",
    note="1 − the share left blank of what was not answered right; under-abstention where no "
    "blank hides a right candidate. Others call the share of all questions that were answered "
    "wrong by this name: wrong-rate.",
)
share(
    "forced-accuracy",
    "The accuracy if every candidate behind a blank had been submitted.",
    Proportion("R + UR"),
    source=f"{QA4MRE} (there called accuracy)",
    gaming="Give a candidate with every blank: it costs nothing here.",
)
share(
    "correctly-discarded",
    "Of the blanks, the share whose candidate was not right (rightly left blank).",
    Proportion("UW + UE", "U"),
    source=QA4MRE,
    aliases=("discard-precision",),
    gaming="Give no candidate with a blank: an empty one counts as rightly discarded.",
    note=BY_MARKS.format("abstention-precision"),
)
share(
    "discard-recall",
    "Of the questions that the system could not get right, the share that was left blank.",
    Proportion("UW + UE", "UW + UE + W"),
    source=f"{ABSTENTION}, judged against the candidates",
    gaming="Blank everything: it gives 1.",
    note=BY_MARKS.format("abstention-recall"),
)
by_candidates(
    "discard-F",
    "Harmonic mean of the precision and the recall of leaving blank what would be wrong.",
    lambda k: f1(k.unanswered_wrong + k.unanswered_empty, k.unanswered_right + k.wrong),
    formula="2(UW + UE)/(2(UW + UE) + UR + W)",
    source=f"{ABSTENTION}, judged against the candidates",
    aliases=("discard-F1",),
    undefined=(without("W + U", REASONS["W + U"]),),
    divides_by="UW + UE + UR + W",
    note="Right answers have no influence: only the decision to abstain is judged. "
    + BY_MARKS.format("abstention-F1"),
)
share(
    "over-abstention",
    "Of the questions that the system would have got right, the share that was left blank.",
    Proportion("UR", "R + UR"),
    source=f"{ABSTENTION}; 1 − validation-recall",
    higher_is_better=False,
    gaming="Never leave a blank: it gives 0.",
    note=BY_MARKS.format("over-refusal"),
)
share(
    "under-abstention",
    "Of the questions that the system could not get right, the share that it still answered.",
    Proportion("W", "W + UW + UE"),
    source=f"{ABSTENTION}; 1 − discard-recall",
    higher_is_better=False,
    gaming="Blank everything: it gives 0.",
    note=BY_MARKS.format("under-refusal"),
)
share(
    "qa-accuracy",
    "Questions with a right answer selected, over all questions.",
    Proportion("R"),
    source=AVE_2008,
    ranks_like=lambda: ("accuracy", "credit(t=0)", "S(t=0)"),
    gaming="Never leave a blank.",
)
share(
    "qa-rej-accuracy",
    "Questions correctly rejected (no right candidate, left blank), over all questions.",
    Proportion("UW + UE"),
    source=AVE_2008,
    gaming="Reject everything: it gives the share of questions that cannot be answered right.",
)
share(
    "qa-performance",
    "Right decisions over all questions: right answers plus wrong candidates rejected.",
    Proportion("R + UW + UE"),
    source=AVE_2008,
    gaming="Hand in candidates that are surely wrong and reject them: each counts as a success.",
)
by_candidates(
    "estimated-qa-performance",
    "Accuracy, with a credit equal to the accuracy for each correct rejection.",
    lambda k: k.right / k.n * (1 + (k.unanswered_wrong + k.unanswered_empty) / k.n),
    formula="R/n · (1 + (UW + UE)/n)",
    source=f"{AVE_2008}; c@1 grew out of it",
    gaming="As for c@1, but only blanks whose candidate is not right earn credit.",
)
share(
    "validation-precision",
    "Of the candidates validated (submitted), the share that is right.",
    Proportion("R", "R + W"),
    source=AVE_2006,
    ranks_like=lambda: ("precision",),
    gaming="Validate the one candidate that you are sure of.",
)
share(
    "validation-recall",
    "Of the right candidates, the share that was validated (submitted).",
    Proportion("R", "R + UR"),
    source=AVE_2006,
    gaming="Validate everything: it gives 1.",
)
by_candidates(
    "validation-F",
    "Harmonic mean of precision and recall of the decision to validate a candidate.",
    lambda k: f1(k.right, k.wrong + k.unanswered_right),
    formula="2R/(2R + W + UR)",
    source=AVE_2006,
    undefined=(without("R + W + UR", "no question was answered and no candidate is right"),),
    divides_by="R + W + UR",
    note="Rejected wrong candidates have no influence: only finding the right ones counts.",
)
