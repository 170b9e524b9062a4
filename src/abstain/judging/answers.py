"""One run's codes and confidences as what measures of confidence take."""

from __future__ import annotations

import numpy as np

from abstain.measures.answers import Answers
from abstain.measures.arrays import Array, BoolArray, Codes, IntArray
from abstain.outcomes import EXCLUDED

EMPTY = EXCLUDED - 1


def has_answer(codes: Codes) -> BoolArray:
    """Which responses have an answer or a candidate."""
    found: BoolArray = codes < EMPTY
    return found


def answers_of(
    codes: Codes,
    confidence: Array,
    where: BoolArray | IntArray | None = None,
) -> Answers:
    """The answers and candidates of a run, over all or some of the questions."""
    if where is not None:
        codes, confidence = codes[where], confidence[where]
    has = has_answer(codes)
    asked = len(codes)
    if not has.all():
        asked = int(np.count_nonzero(codes < EXCLUDED))
        codes, confidence = codes[has], confidence[has]
    return Answers((codes & 1) == 0, confidence, asked, codes < 2)


def stated(codes: Codes, confidence: Array) -> tuple[int, int]:
    """How many answers and candidates of a run have a confidence, and how many there are."""
    has = has_answer(codes)
    return int(np.count_nonzero(has & ~np.isnan(confidence))), int(has.sum())
