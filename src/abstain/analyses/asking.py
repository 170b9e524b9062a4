"""One line for one question: each function reads and asks what an object would be asked.

`score(gold, runs, by="topic", match="text")` is `read(gold, runs, match="text").score(by="topic")`.
Who asks more than one question of the same runs reads them once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from abstain.judging.reading import ReadingOptions, reading_of
from abstain.judging.sources import evaluate
from abstain.rankings.settings import RankingsOptions

if TYPE_CHECKING:
    from abstain.analyses.rank.result import RankResult
    from abstain.analyses.score.result import ScoreResult
    from abstain.measures import Measure
    from abstain.stats.intervals import IntervalMethod


def score(
    gold: Any,
    runs: Any,
    measures: Sequence[str | Measure] | str | Measure = (),
    *,
    by: Sequence[str] | str = (),
    interval: IntervalMethod | bool = False,
    level: float = 0.95,
    references: bool = False,
    break_even: bool = False,
    seed: int = 0,
    **reading: Unpack[ReadingOptions],
) -> ScoreResult:
    """Score runs against a gold; `reading` is as for `read`.

    >>> import polars as pl
    >>> gold = pl.DataFrame({"question": ["q1", "q2"], "correct": ["A", "B"]})
    >>> run = pl.DataFrame({"question": ["q1", "q2"], "answer": ["A", ""]})
    >>> score(gold, run, "c@1").rows[0].scores
    {'c@1': 0.75}
    """
    return evaluate(gold, runs, reading_of(reading)).score(
        measures,
        by=by,
        interval=interval,
        level=level,
        references=references,
        break_even=break_even,
        seed=seed,
    )


def rank(
    qrels: Any,
    runs: Any,
    measures: Sequence[str | Measure] | str | Measure = (),
    *,
    by: Sequence[str] | str = (),
    per_query: bool = False,
    truncation: bool = False,
    **reading: Unpack[RankingsOptions],
) -> RankResult:
    """Score rankings against relevance judgments; `reading` is as for `read_rankings`.

    >>> rank({"q": {"d1": 1}}, {"q": {"d1": 2.0, "d2": 3.0}}, "RR").rows[0].scores
    {'RR': 0.5}
    """
    from abstain.rankings.read import read_rankings

    return read_rankings(qrels, runs, **reading).score(
        measures, by=by, per_query=per_query, truncation=truncation
    )
