"""What is to be known of lists and judgments before scores are read, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from abstain.analyses.rank.result import Lists, Unjudged
from abstain.analyses.truncation import ends_of
from abstain.measures.kinds import RankingMeasure

if TYPE_CHECKING:
    from abstain.measures.ranked_lists import Bools, RankedLists
    from abstain.rankings.rankings import Rankings

FIRST = 4
"""Names of unjudged queries that a result keeps."""


def lists_of(rankings: Rankings) -> tuple[Lists, ...]:
    """How each run's lists end."""
    missing = rankings.lists.by_run(rankings.lists.missing).sum(axis=1).tolist()
    ends = zip(rankings.runs, missing, ends_of(rankings), strict=True)
    return tuple(Lists(run=run, missing=gone, **own) for run, gone, own in ends)


def nothing_relevant(lists: RankedLists, measures: Sequence[RankingMeasure]) -> dict[str, int]:
    """For each measure, how many queries have no document that is relevant to it."""
    return {str(item): int(_nothing(lists, item).sum()) for item in measures}


def full_for_nothing(lists: RankedLists, measures: Sequence[RankingMeasure]) -> dict[str, int]:
    """Lists at the limit where nothing is relevant: they found nothing and did not stop either."""
    full = ~lists.by_run(lists.stopped)
    primed = [m for m in measures if m.definition.knows_end]
    found = {str(m): int((full & _nothing(lists, m)).sum()) for m in primed}
    return {name: count for name, count in found.items() if count}


def _nothing(lists: RankedLists, item: RankingMeasure) -> Bools:
    """The queries for which no judged document counts."""
    return lists.pool.nothing(lowest_grade(item))


def lowest_grade(item: RankingMeasure) -> float | None:
    """The lowest grade that counts for a measure; None if every one above 0 does."""
    return item.arguments.get("rel")


def graded(lists: RankedLists) -> bool:
    """Whether something relevant is judged below the top grade."""
    grade = lists.pool.grade
    return bool(((grade > 0) & (grade < lists.pool.top)).any())


def unjudged(lists: RankedLists) -> Unjudged | None:
    """Queries of the runs that the judgments do not have."""
    names = list(dict.fromkeys(name for run in lists.unjudged for name in run))
    if not names:
        return None
    place = "" if lists.unjudged_at is None else str(lists.unjudged_at)
    return Unjudged(queries=len(names), first=tuple(names[:FIRST]), place=place)
