"""One line for one question: each function reads and asks what an object would be asked.

`score(gold, runs, by="topic", match="text")` is `read(gold, runs, match="text").score(by="topic")`.
Who asks more than one question of the same runs reads them once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from abstain.judging.reading import ReadingOptions, reading_of
from abstain.judging.sources import evaluate

if TYPE_CHECKING:
    from abstain.analyses.compare.options import Correction, Progress, Test
    from abstain.analyses.compare.result import CompareResult
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


def compare(
    gold: Any,
    runs: Any,
    measure: str | Measure = "c@1",
    *,
    against: str | None = None,
    by: Sequence[str] | str = (),
    test: Test = "randomisation",
    correction: Correction | None = None,
    interval: IntervalMethod | None = None,
    level: float = 0.95,
    trials: int = 10_000,
    seed: int = 0,
    detect: float | None = None,
    power: float = 0.8,
    judge_error: Any = None,
    progress: Progress | None = None,
    **reading: Unpack[ReadingOptions],
) -> CompareResult:
    """Compare runs against a gold, paired by question; `reading` is as for `read`.

    >>> import polars as pl
    >>> gold = pl.DataFrame({"question": ["q1", "q2"], "correct": ["A", "B"]})
    >>> one = pl.DataFrame({"question": ["q1", "q2"], "answer": ["A", "A"]})
    >>> two = pl.DataFrame({"question": ["q1", "q2"], "answer": ["A", "B"]})
    >>> compare(gold, {"one": one, "two": two}).pairs[0].difference
    0.5
    """
    return evaluate(gold, runs, reading_of(reading)).compare(
        measure,
        against=against,
        by=by,
        test=test,
        correction=correction,
        interval=interval,
        level=level,
        trials=trials,
        seed=seed,
        detect=detect,
        power=power,
        judge_error=judge_error,
        progress=progress,
    )
