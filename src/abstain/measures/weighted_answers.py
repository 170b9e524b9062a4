"""Measures of submitted answers, weighted by confidence or rank: CWS, K1, K, MRR, Pearson's r.

s is the confidence of an answer, n the number of questions, C(i) how many of the i surest answers
are right. Candidates behind blanks do not count here, except in Pearson's r.
"""

from __future__ import annotations

from abstain.measures import influence
from abstain.measures.answers import Answers
from abstain.measures.definition import (
    ALL_RIGHT,
    ALL_WRONG,
    MISSING_LAST,
    NO_ANSWERS,
    NO_CONFIDENCE,
    SOME_WITHOUT,
    TIES,
    WITHOUT_LEFT_OUT,
    Array,
    BoolArray,
    IntArray,
    MeanOf,
    Numeric,
    Undefinedness,
    np,
)
from abstain.measures.kinds import confident

ALL_EQUAL = Undefinedness(lambda a: a.calibrated.all_alike(), "every confidence is the same")


def earnings(a: Answers) -> Array:
    """s of each right answer, −s of each wrong one."""
    return a.confidence * (2.0 * a.right - 1)


confident(
    "CWS",
    "The precision of the i surest answers, averaged over i.",
    lambda a: a.submissions.groups.mean_share(a.submissions.groups.right) / a.questions,
    formula="(1/n) Σ_i C(i)/i",
    source="Voorhees 2002, Overview of the TREC 2002 Question Answering Track",
    aliases=("confidence-weighted-score",),
    convention=f"submitted answers, surest first; {TIES}; {MISSING_LAST}; a blank adds nothing",
    undefined=(NO_CONFIDENCE,),
    uses="submitted",
    influence=influence.cws,
    gaming="Only the order counts, not whether you state 0.9 or 0.1: put the surest answers first.",
)


@confident(
    "K1",
    formula="(Σ s of right − Σ s of wrong)/n",
    source="Herrera, Peñas & Verdejo 2005, Question Answering Pilot Task at CLEF 2004",
    convention="submitted answers; one answer per question; a blank has confidence 0",
    undefined=(SOME_WITHOUT,),
    bounds=(-1.0, 1.0),
    uses="submitted",
    mean=MeanOf(earnings, "questions"),
    gaming="State only 1 or 0: above a chance of one half, full confidence pays.",
)
def k1(a: Answers) -> Numeric:
    """Right answers earn their confidence, wrong ones pay it."""
    return a.submissions.total(earnings(a.submissions)) / a.questions


@confident(
    "K",
    formula="(1/n) Σ_q Σ_a s(a)·e(a) / max(known, submitted)",
    source="Herrera, Peñas & Verdejo 2005, Question Answering Pilot Task at CLEF 2004",
    convention="e = 1 for a right answer, −1 for a wrong one, 0 for a repeated one; if a "
    "question gets more right answers than are known for it, the least sure of these right answers "
    "count as repeated; an unknown number of known answers is taken to be 1",
    undefined=(SOME_WITHOUT,),
    bounds=(-1.0, 1.0),
    uses="submitted",
    several=True,
    mean=MeanOf(earnings, "questions"),
    gaming="As for K1. Giving more answers than are known only lowers the worth of each.",
)
def k_measure(a: Answers) -> Numeric:
    """K1 for several answers per question."""
    if a.question is None and a.known is None and a.repeat is None:
        return k1(a)
    answers = a.submissions
    question = _question(answers)
    effect = np.where(is_repeat(answers, question), 0.0, 2.0 * answers.right - 1)
    known = np.ones(1, np.int64) if answers.known is None else answers.known
    earned = np.bincount(question, answers.confidence * effect, minlength=len(known))
    submitted = np.bincount(question, minlength=len(known))
    return float((earned / np.maximum(known, submitted)).sum() / a.questions)


@confident(
    "MRR",
    formula="(1/n) Σ_q 1/rank of the first right",
    source="Voorhees 1999, The TREC-8 Question Answering Track Report",
    convention="answers are ordered by rank; answers without a rank follow, ordered by confidence; "
    f"tied answers all take the last of the ranks that they share; {MISSING_LAST}",
    undefined=(),
    uses="submitted",
    several=True,
    mean=MeanOf(lambda a: a.right.astype(np.float64), "questions"),
    gaming="Hand in many answers: a wrong one costs nothing once the right one is above it.",
)
def mean_reciprocal_rank(a: Answers) -> Numeric:
    """The mean of 1 / rank of the first right answer to a question (0 if there is none)."""
    if a.question is None:
        return a.submissions.count(a.submissions.right) / a.questions
    answers = a.submissions
    if not answers.size:
        return 0.0
    question = _question(answers)
    place = _places(answers)
    nowhere = answers.size
    best = np.full(int(question.max()) + 1, nowhere)
    np.minimum.at(best, question[answers.right], place[answers.right])
    rank = np.bincount(question[place <= best[question]], minlength=len(best))
    return float((1 / rank[best < nowhere]).sum() / a.questions)


@confident(
    "Pearson-r",
    formula="correlation of s and right",
    source="Herrera, Peñas & Verdejo 2005, Question Answering Pilot Task at CLEF 2004",
    aliases=("correlation",),
    convention=f"right is 1, wrong is 0; {WITHOUT_LEFT_OUT}",
    undefined=(
        NO_ANSWERS,
        NO_CONFIDENCE,
        Undefinedness(lambda a: ALL_RIGHT.when(a.calibrated), ALL_RIGHT.reason),
        Undefinedness(lambda a: ALL_WRONG.when(a.calibrated), ALL_WRONG.reason),
        ALL_EQUAL,
    ),
    bounds=(-1.0, 1.0),
    uses="stated",
    influence=influence.pearson,
    gaming="State only 0 and 1; calibrated confidences that are well spread may score lower.",
)
def pearson(a: Answers) -> Numeric:
    """The correlation of confidence with being right."""
    a = a.calibrated
    sure = a.confidence - a.confidence.mean()
    mean, right = a.total(sure) / a.size, a.count(a.right) / a.size
    covariance = a.total(sure * a.right) / a.size - mean * right
    spread = (a.total(sure**2) / a.size - mean**2) * right * (1 - right)
    return np.clip(covariance / np.sqrt(np.maximum(spread, 0)), -1, 1)


def is_repeat(a: Answers, question: IntArray) -> BoolArray:
    """Which answers are repeats: those marked, and the least sure beyond the known answers."""
    marked = np.zeros(a.size, np.bool_) if a.repeat is None else a.repeat.astype(np.bool_)
    if a.known is None or not a.size:
        return marked
    order = np.lexsort((-a.confidence, question))
    counts = (a.right & ~marked)[order]
    so_far = np.cumsum(counts)
    starts = np.flatnonzero(np.diff(question[order], prepend=-1))
    before: IntArray = np.repeat(so_far[starts] - counts[starts], np.diff(starts, append=a.size))
    beyond = np.zeros(a.size, np.bool_)
    beyond[order] = counts & (so_far - before > a.known[question[order]])
    return marked | beyond


def _places(a: Answers) -> IntArray:
    """The place of each answer among all, shared by ties: by rank, then by confidence."""
    unsure = np.where(a.stated, -a.confidence, 1.0)
    rank = np.full(a.size, np.inf) if a.rank is None else np.asarray(a.rank, np.float64)
    ranked = np.isfinite(rank)
    rank, unsure = np.where(ranked, rank, np.inf), np.where(ranked, 0.0, unsure)
    order = np.lexsort((unsure, rank))
    is_new = (np.diff(unsure[order]) != 0) | (rank[order][1:] != rank[order][:-1])
    place = np.empty(a.size, np.int64)
    place[order] = np.concatenate([[0], np.cumsum(is_new)])
    return place


def _question(a: Answers) -> IntArray:
    return np.arange(a.size) if a.question is None else a.question
