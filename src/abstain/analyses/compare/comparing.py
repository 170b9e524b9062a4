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
from abstain.rankings.rankings import Rankings
from abstain.rankings.scores import ScoreMatrix
from abstain.stats.intervals import check_method

if TYPE_CHECKING:
    from abstain.analyses.compare.result import CompareResult
    from abstain.stats.intervals import IntervalMethod

DEFAULT_MEASURE = "c@1"


def compare(
    asked: Evaluation | Rankings | ScoreMatrix,
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
    """Which differences between runs are real, and where they come from.

    Runs are paired by question on those that all of them have. A missing response excludes its
    question, unless the policy says what it counts as. Rankings and scores are compared by the
    means of a measure over queries or topics.

    Args:
        asked: What was read.
        measure: What runs are compared by: c@1 unless said; AP for rankings; of scores, one of
            them.
        against: The run that each other one is compared with, corrected by max-T.
        by: Attributes; for two runs with outcomes, which slices carry the difference.
        test: How p is found; for scores randomisation, bootstrap or wilcoxon.
        correction: For many pairs; Holm's unless said.
        interval: The method of intervals; None takes the measure's default, bca for scores.
        level: The level of intervals; what it leaves is the error of tests.
        trials: Random trials, where a test is not exact.
        seed: The seed of the trials.
        detect: A difference to plan for: the power to find it, the questions that takes.
        power: The power that a plan asks for.
        judge_error: A judge's verdicts on a sample of outcomes that was checked by hand.
        progress: Told how much of the work is done, and how much there is.
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
    if isinstance(asked, Rankings):
        asked, measure = asked.scores(measure or "AP"), None
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
