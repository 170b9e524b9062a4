"""How much of a score is knowing, how much is choosing well when to answer.

    score = knowing + silence + choosing,   oracle = score + left

knowing: the score if every answer and candidate were given; silence: what leaving as many blank
as the run did, but blindly, changes; choosing: what choosing them as the run did adds; left: what
answering exactly what it gets right would add.
"""

from __future__ import annotations

from dataclasses import dataclass

from abstain.measures import Measure
from abstain.outcomes import Counts


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A score taken apart."""

    score: float
    knowing: float
    silence: float
    choosing: float
    left: float

    @property
    def oracle(self) -> float:
        """The score of answering exactly what it gets right."""
        return self.score + self.left


def decompose(counts: Counts, measure: Measure) -> Decomposition:
    """Take a score apart. Questions without answer or candidate are blank in every part.

    Blind blanking is by expected counts, which for every credit measure is the expected score.

    >>> from abstain.measures import measure
    >>> parts = decompose(Counts(right=3, unanswered_right=1, unanswered_wrong=1), measure("c@1"))
    >>> round(parts.knowing, 2), round(parts.silence, 3), round(parts.choosing, 3)
    (0.8, -0.128, 0.168)
    """
    k = counts
    empty = k.unanswered_empty + k.unsplit
    right = k.right + k.unanswered_right
    wrong = k.wrong + k.unanswered_wrong
    has = right + wrong
    share = right / has if has else 0.0
    answered = k.answered
    forced = measure(Counts(right=right, wrong=wrong, unanswered_empty=empty))
    blind = measure(
        Counts(
            right=share * answered,
            wrong=(1 - share) * answered,
            unanswered_right=share * (has - answered),
            unanswered_wrong=(1 - share) * (has - answered),
            unanswered_empty=empty,
        )
    )
    oracle = measure(Counts(right=right, unanswered_wrong=wrong, unanswered_empty=empty))
    score = measure(k)
    return Decomposition(score, forced, blind - forced, score - blind, oracle - score)
