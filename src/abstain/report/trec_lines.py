"""Scores of rankings as trec_eval prints them: measure, query, value; `all` last."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from abstain.errors import UsageError, option
from abstain.measures.trec_names import RUN_ID, printed_name
from abstain.report.shared import known_measure

if TYPE_CHECKING:
    from abstain.analyses.rank import RankResult
    from abstain.measures import Measure

ALL = "all"


def trec_lines(result: RankResult) -> str:
    """The scores of each query, where they were asked for, and of all; nan where there is none.

    Measures have trec_eval's names where it has them. Of several runs each begins with its name.
    """
    if result.by:
        raise UsageError(f"trec_eval has no slices: leave out {option('by')}")
    return "".join(f"{name:<22}\t{query}\t{value}\n" for name, query, value in _cells(result))


def _cells(result: RankResult) -> Iterator[tuple[str, str, str]]:
    measures = {name: known_measure(name) for name in result.measures}
    level = result.settings.relevance_level or 1
    names = {n: n if m is None else printed_name(m, level) for n, m in measures.items()}
    each = {n for n, m in measures.items() if m is None or _of_queries(m)}
    for row in result.rows:
        if len(result.rows) > 1:
            yield RUN_ID, ALL, row.run
        own = sorted((q.query, q.scores) for q in result.per_query if q.run == row.run)
        for query, scores in own:
            few = {name: scores[name] for name in result.measures if name in each}
            yield from ((names[n], query, _text(measures[n], v)) for n, v in few.items())
        yield from ((names[n], ALL, _text(measures[n], v)) for n, v in row.scores.items())


def _of_queries(item: Measure) -> bool:
    """Whether a query has a score of its own there."""
    return all(own.per_query for own in item.definition.trec)


def _text(item: Measure | None, value: float | None) -> str:
    if value is not None and item is not None and item.definition.total:
        return str(int(value))
    return f"{math.nan if value is None else value:6.4f}"
