"""`compare`: are the differences between runs real, and where do they come from?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from abstain.analyses.compare.common import common_questions
from abstain.analyses.compare.confident import compare_confidence
from abstain.analyses.compare.options import Correction, Options, Progress, Test
from abstain.analyses.compare.outcomes import compare_outcomes
from abstain.analyses.compare.scores import compare_scores
from abstain.errors import UsageError, option
from abstain.judging.evaluation import Evaluation
from abstain.measures import Measure, count_measure
from abstain.measures import measure as named
from abstain.rankings.scores import ScoreMatrix
from abstain.stats.intervals import check_method

if TYPE_CHECKING:
    from abstain.analyses.compare.result import CompareResult
    from abstain.stats.intervals import IntervalMethod

DEFAULT_MEASURE = "c@1"


def compare(
    asked: Evaluation | ScoreMatrix,
    measure: str | Measure | None = None,
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
) -> CompareResult:
    """Compare runs, paired by question on those that all of them have; or by per-topic scores.

    A missing response excludes its question, unless the policy says what it counts as.
    """
    by = (by,) if isinstance(by, str) else tuple(dict.fromkeys(by))
    options = Options(
        against=against,
        test=test,
        correction=correction,
        method=interval or "",
        level=level,
        trials=trials,
        seed=seed,
        detect=detect,
        power=power,
        progress=progress or (lambda _, __: None),
    )
    options.check()
    if isinstance(asked, ScoreMatrix):
        if by or judge_error is not None:
            raise UsageError(
                f"{option('by')} and {option('judge_error')} look at outcomes, "
                "which scores do not have"
            )
        return compare_scores(asked.single(None if measure is None else str(measure)), options)
    chosen = named(measure or DEFAULT_MEASURE)
    confident = chosen.definition.takes == "confidence"
    chosen = chosen if confident else count_measure(chosen)
    options = options.with_method(check_method(options.method))
    rules = asked.reading.rules(missing="excluded")
    common = common_questions(asked, rules, attributes=by, confident=confident)
    if not confident:
        return compare_outcomes(common, chosen, options, by=by, judge_error=judge_error)
    of_confidence = f"{chosen} is a measure of confidence"
    if judge_error is not None:
        raise UsageError(f"{option('judge_error')} corrects counts, and {of_confidence}")
    if by:
        raise UsageError(
            f"{option('by')} divides the difference of a measure of counts; {of_confidence}"
        )
    return compare_confidence(common, chosen, options)
