"""One line for one question: each function reads and asks what an object would be asked.

`score(gold, runs, by="topic", match="text")` is `read(gold, runs, match="text").score(by="topic")`.
Who asks more than one question of the same runs reads them once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from abstain.judging.reading import Reading, ReadingOptions, reading_of
from abstain.judging.sources import evaluate
from abstain.rankings.settings import RankingsOptions

if TYPE_CHECKING:
    import polars as pl

    from abstain.analyses.baselines import BaselineKind
    from abstain.analyses.campaign.result import CampaignResult
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


def campaign(
    gold: Any,
    runs: Any,
    *,
    measure: str | Measure = "c@1",
    by: Sequence[str] | str | None = None,
    topic_by: str = "topic",
    test_by: str = "test",
    pass_mark: float = 0.5,
    runs_info: Any = None,
    references: bool = True,
    interval: IntervalMethod | None = None,
    level: float = 0.95,
    seed: int = 0,
    title: str = "Campaign",
    about: str = "",
    progress: Callable[[int, int], None] | None = None,
    **reading: Unpack[ReadingOptions],
) -> CampaignResult:
    """Everything that an overview of runs needs; `campaign(gold, runs).save("overview")`."""
    return evaluate(gold, runs, reading_of(reading)).campaign(
        measure=measure,
        by=by,
        topic_by=topic_by,
        test_by=test_by,
        pass_mark=pass_mark,
        runs_info=runs_info,
        references=references,
        interval=interval,
        level=level,
        seed=seed,
        title=title,
        about=about,
        progress=progress,
    )


def baseline(
    gold: Any,
    kind: BaselineKind,
    *,
    seed: int = 0,
    format: str | None = None,
    pick: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """The responses of a run that needs no system: what luck, habit or silence would answer.

    >>> import polars as pl
    >>> gold = pl.DataFrame({"question": ["q1"], "correct": ["A"], "options": ["A|B"]})
    >>> baseline(gold, "first")["answer"].to_list()
    ['A']
    """
    from abstain.analyses.baselines import baseline as made
    from abstain.judging.gold import read_gold

    reading = Reading.of(format=format, pick=pick, columns=columns)
    return made(read_gold(gold, reading), kind, seed=seed).responses
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
    from abstain.rankings.read import read_rankings

    return read_rankings(qrels, runs, **reading).score(
        measures, by=by, per_query=per_query, truncation=truncation
    )
