"""Measures of rankings: how they are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from abstain.errors import UsageError
from abstain.measures.of_counts import Measure
from abstain.outcomes import Counts, CountsArray, Undefined

if TYPE_CHECKING:
    from abstain.measures.ranked_lists import Floats, RankedLists


class RankingMeasure(Measure):
    """A measure of rankings: a pure function of the gains listed and of what there was to find.

    >>> from abstain.measures import measure
    >>> round(measure("NDCG'")([1, 0, 1], pool=3), 3)
    0.698
    >>> measure("AP")([0, 0], pool=0)
    undefined (the query has no relevant document)
    """

    def __call__(  # type: ignore[override]
        self,
        gains: Sequence[float],
        *,
        pool: int | Sequence[float] | None = None,
        top: float | None = None,
    ) -> float:
        """The score of one ranking, given by its gains in order.

        `pool` is how many documents there were to find, or their gains; `top` is the grade
        that counts as a gain of 1 (default: the largest, if above 1).
        """
        if isinstance(gains, (Counts, CountsArray)):
            raise UsageError(f"{self} is a measure of rankings, not of counts: see `abstain rank`")
        if pool is None:
            raise UsageError(
                f"{self} needs to know what there was to find: pool=3, or the gains, pool=[1, 1, 1]"
            )
        from abstain.measures.ranked_lists import one

        rankings = one(gains, pool, top=top)
        reason = self.reasons(rankings)[0]
        return float(self.values(rankings)[0]) if reason is None else Undefined(reason)

    def values(self, rankings: RankedLists) -> Floats:
        """The score of each row of some rankings; nan where it does not exist."""
        values: Floats = self.definition.function(rankings, **self.arguments)
        return values

    def reasons(self, rankings: RankedLists) -> list[str | None]:
        """Why the score of each row does not exist; None where it does."""
        reasons: list[str | None] = [None] * rankings.size
        for rule in self.definition.undefined:
            for row in rule.when(rankings, **self.arguments).nonzero()[0]:
                reasons[row] = rule.reason
        return reasons
