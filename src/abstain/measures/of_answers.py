"""Measures of answers with a confidence: how they are called, and what several of them share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from abstain.errors import UsageError
from abstain.measures.answers import Answers
from abstain.measures.definition import NO_QUESTIONS, Numeric, Undefinedness
from abstain.measures.lazy import numpy as np
from abstain.measures.of_counts import Measure

if TYPE_CHECKING:
    pass

TIES = "tied answers: the mean over every order of them"
ONE_POINT = "one point for each distinct confidence: tied answers are answered together"
MISSING_LAST = "answers without a confidence are the least sure"
WITHOUT_LEFT_OUT = "answers without a confidence are left out"
"""What the conventions of several measures say."""

NO_ANSWERS = Undefinedness(lambda a: a.size == 0, "there is no answer")
NO_CONFIDENCE = Undefinedness(lambda a: a.count(a.stated) == 0, "no answer has a confidence")
SOME_WITHOUT = Undefinedness(
    lambda a: a.shown.count(~a.shown.stated) > 0, "some answers have no confidence to weigh them by"
)
ALL_RIGHT = Undefinedness(lambda a: a.count(a.right) == a.size, "every answer is right")
ALL_WRONG = Undefinedness(lambda a: a.count(a.right) == 0, "every answer is wrong")
NONE_ASKED = Undefinedness(lambda a: a.questions == 0, NO_QUESTIONS.reason)


class ConfidenceMeasure(Measure):
    """A measure of answers with a confidence: a function of two sequences.

    >>> from abstain.measures import measure
    >>> measure("AUROC")([1, 1, 0, 0], [0.9, 0.6, 0.6, 0.2])
    0.875
    >>> measure("AUROC")([1, 1], [0.9, 0.6])
    undefined (every answer is right)
    """

    def __call__(  # type: ignore[override]
        self, right: Any, confidence: Any = None, **more: Any
    ) -> Numeric:
        """The score of `Answers`, or of right (1, 0) and confidence; rows of a matrix each."""
        if isinstance(right, Answers):
            return self._of_answers(right)
        if confidence is None:
            raise UsageError(
                f"{self} takes whether each answer is right and the confidence of each "
                f"(got {type(right).__name__} alone); for files there is `abstain curve`"
            )
        if np.ndim(right) == 2:
            if np.shape(right) != np.shape(confidence):
                raise UsageError("expected as many confidences as answers")
            rows = zip(right, confidence, strict=True)
            return np.array([self._of_answers(Answers.of(r, c, **more)) for r, c in rows])
        return self._of_answers(Answers.of(right, confidence, **more))

    def _of_answers(self, answers: Answers) -> Numeric:
        if answers.times is None:
            return self._one(self.definition.function, answers)
        return self._many(self.definition.function, answers, np.shape(answers.questions))
