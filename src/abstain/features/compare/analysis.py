"""`compare`: are the differences between runs real, and where do they come from?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from abstain.errors import UsageError, option
from abstain.features.compare import comparison
from abstain.features.compare.comparison import Correction, Options, Progress, Test
from abstain.features.compare.confidence import ConfidenceComparison
from abstain.features.compare.outcomes import OutcomeComparison
from abstain.features.compare.scores import compare_scores
from abstain.measures import Measure, count_measure
from abstain.measures import measure as measure_of
from abstain.rankings.rankings import Rankings
from abstain.rankings.scores import ScoreMatrix
from abstain.runs.evaluation import Evaluation
from abstain.stats.intervals import check_method
from abstain.stats.planning import check_plan

if TYPE_CHECKING:
    from abstain.features.compare.judge_errors import JudgeDrawn
    from abstain.features.compare.result import CompareResult
    from abstain.stats.intervals import IntervalMethod

DEFAULT_MEASURE = "c@1"


def compare(
    asked: Evaluation | Rankings | ScoreMatrix,
    measure: str | Measure | None = None,
    *,
    against: str | None = None,
    by: Sequence[str] | str = (),
    test: Test | None = None,
    correction: Correction | None = None,
    interval: IntervalMethod | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    detect: float | None = None,
    power: float = 0.8,
    judge_error: Any = None,
    judge_drawn: JudgeDrawn | None = None,
    progress: Progress | None = None,
) -> CompareResult:
    """Which differences between runs are real, and where they come from.

    Runs are paired by question on those that all of them have. A missing response excludes its
    question, unless the policy says what it counts as. Rankings and scores are compared by the
    means of a measure over queries or topics.

    Args:
        asked: What was read.
        measure: What runs are compared by: c@1 by default; AP for rankings; of scores, one of
            them.
        against: The run that each other one is compared with.
        by: Attributes; for two runs with outcomes, which slices carry the difference.
        test: How p is computed. Of scores t (the paired t-test, the default), randomisation,
            bootstrap, wilcoxon or sign; of outcomes randomisation (the default), bootstrap or
            mcnemar.
        correction: For many pairs, or many runs against one; Holm's by default.
        interval: The method of intervals; None takes the measure's default, for scores Student's t
            widened where they are skewed (hall).
        level: The level of intervals; what it leaves is the error of tests.
        resamples: Random swaps or resamples, where a test or an interval is not exact.
        seed: The seed of the resamples.
        detect: A difference to plan for: the power to find it, the questions that takes.
        power: The power that a plan asks for.
        judge_error: A judge's verdicts on a sample of outcomes that was checked by hand.
        judge_drawn: How that sample was drawn: at random (the default), a fixed number of each
            true outcome, or a fixed number of each verdict of the judge.
        progress: Called with how much of the work is done, and how much there is.
    """
    by = (by,) if isinstance(by, str) else tuple(dict.fromkeys(by))
    of_scores = isinstance(asked, (Rankings, ScoreMatrix))
    options = Options(
        against=against,
        test=test or ("t" if of_scores else "randomisation"),
        correction=correction or "holm",
        method=interval or "",
        level=level,
        resamples=resamples,
        seed=seed,
        detect=detect,
        power=power,
        progress=progress or (lambda _, __: None),
    )
    if judge_drawn is not None and judge_error is None:
        raise UsageError(f"{option('judge_drawn')} needs {option('judge_error')}")
    needs_counts = f"{option('by')} and {option('judge_error')} need a measure of counts"
    if of_scores and (by or judge_error is not None):
        raise UsageError(f"{needs_counts}; these are scores")
    if isinstance(asked, Rankings):
        asked, measure = asked.scores(measure or "AP"), None
    if isinstance(asked, ScoreMatrix):
        return compare_scores(asked.single(None if measure is None else str(measure)), options)
    chosen = measure_of(measure or DEFAULT_MEASURE)
    confident = chosen.definition.takes == "confidence"
    if confident and (by or judge_error is not None):
        raise UsageError(f"{needs_counts}; {chosen} is a measure of confidence")
    chosen = chosen if confident else count_measure(chosen)
    options = replace(options, method=check_method(options.method))
    policy = asked.reading.rules(missing="excluded")
    common = comparison.common_questions(asked, policy, attributes=by, confident=confident)
    low, high = chosen.bounds
    check_plan(detect=detect, power=power, level=level, widest=high - low)
    if test in ("t", "wilcoxon", "sign"):
        raise UsageError(f"{test} is for per-query scores; use randomisation here")
    if confident:
        return ConfidenceComparison(common, chosen, options).result()
    if asked.data.source.shares is not None:
        from abstain.features.compare.partial import PartialComparison

        refused = {"by": by, "judge_error": judge_error}
        return PartialComparison(common, chosen, options, **refused).result()
    return OutcomeComparison(common, chosen, options, by, judge_error, judge_drawn).result()
