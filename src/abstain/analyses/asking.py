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
    from abstain.analyses.meta.result import MetaResult, Part
    from abstain.analyses.rank.result import RankResult
    from abstain.analyses.score.result import ScoreResult
    from abstain.measures import Measure
    from abstain.stats.intervals import IntervalMethod
    from abstain.stats.resampling.draws import Draws, Progress


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


def meta(
    gold: Any,
    runs: Any,
    measures: Sequence[str | Measure] | str | Measure = (),
    *,
    parts: Sequence[Part] | Part = (),
    trials: int = 100,
    size: int | None = None,
    fuzziness: Sequence[float] | None = None,
    draws: Draws = "paired",
    level: float = 0.95,
    width: float | None = None,
    bins: int = 21,
    sizes: Sequence[int] | None = None,
    resamples: int = 1000,
    difference: float | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
    **reading: Unpack[ReadingOptions],
) -> MetaResult:
    """Judge measures by how they order the runs; `reading` is as for `read`.

    Args:
        gold: As for `read`.
        runs: As for `read`, two or more.
        measures: Measures of counts; c@1, accuracy and UF unless said.
        parts: What to find out: stability, sensitivity, power, agreement; all unless said.
        trials: Random subsets for each pair of runs.
        size: Questions in a subset; half of them unless said.
        fuzziness: Scores that differ by less than such a share of the larger one tie.
        draws: Whether each pair draws its own subsets, as in the papers, or all share them.
        level: How sure a conclusion has to be.
        width: Of a bin of differences; 0.01 unless said.
        bins: How many are listed, the last of them open.
        sizes: For the curve of required differences; six, up to half the questions, unless said.
        resamples: Resamples and permutations of the tests of power.
        difference: To say how many questions it needs; five bins unless said.
        seed: For all draws.
        threads: As many as there are processors unless said; they change no number.
        progress: Told what is being done and which share of it is.
        reading: As for `read`.
    """
    return evaluate(gold, runs, reading_of(reading)).meta(
        measures,
        parts=parts,
        trials=trials,
        size=size,
        fuzziness=fuzziness,
        draws=draws,
        level=level,
        width=width,
        bins=bins,
        sizes=sizes,
        resamples=resamples,
        difference=difference,
        seed=seed,
        threads=threads,
        progress=progress,
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
