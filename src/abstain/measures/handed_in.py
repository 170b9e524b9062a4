"""Measures of the answers that were handed in, each weighed by its confidence.

s is the confidence of an answer, n the number of questions, C(i) how many of the i surest answers
are right. Candidates behind blanks have no part here, except in Pearson's r.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from abstain.measures.registry import Undefinedness
from abstain.measures.sequences import (
    ALL_RIGHT,
    ALL_WRONG,
    MISSING_LAST,
    NO_ANSWERS,
    NO_CONFIDENCE,
    SOME_WITHOUT,
    TIES,
    WITHOUT_LEFT_OUT,
    Answers,
    confident,
)

if TYPE_CHECKING:
    from abstain.outcomes import IntArray

ALL_EQUAL = Undefinedness(
    lambda a: (a.calibrated.confidence == a.calibrated.confidence[:1]).all(),
    "every confidence is the same",
)


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
    convention="by rank where there is one, otherwise by confidence; tied answers all take the "
    f"last rank of theirs; {MISSING_LAST}",
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
    sure = np.where(own.stated, own.confidence, -1.0) if own.rank is None else -own.rank
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


def _question(a: Answers) -> IntArray:
    import numpy as np

    return np.arange(a.size) if a.question is None else a.question
