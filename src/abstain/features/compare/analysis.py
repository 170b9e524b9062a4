"""`compare`: are the differences between runs real, and where do they come from?"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from msgspec import structs

from abstain.errors import UsageError, option
from abstain.features.compare import comparison
from abstain.features.compare.comparison import Comparison, Options
from abstain.features.compare.judge_errors import JudgeDrawn
from abstain.features.compare.outcomes import OutcomeComparison, PartialComparison
from abstain.features.compare.resampled import ConfidenceComparison, ScoreComparison
from abstain.features.compare.result import CompareResult
from abstain.measures import Measure, count_measure
from abstain.rankings.rankings import Rankings
from abstain.rankings.scores import ScoreMatrix
from abstain.runs.evaluation import Evaluation
from abstain.stats.hypotheses import adjust
from abstain.stats.intervals import IntervalMethod, check_method
from abstain.stats.planning import check_plan

DEFAULT_MEASURE = "c@1"
OF_THE_WHOLE: dict[str, Any] = {"reading": None, "settings": None, "subset": None, "policy": {}}
"""What a result says of its input, and the further measures in it need not."""


def compare(
    asked: Evaluation | Rankings | ScoreMatrix,
    measures: str | Measure | Sequence[str | Measure] | None = None,
    *,
    against: str | None = None,
    by: Sequence[str] | str = (),
    test: comparison.Test | None = None,
    correction: comparison.Correction | None = None,
    family: comparison.Family = "all",
    interval: IntervalMethod | None = None,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    detect: float | None = None,
    power: float = 0.8,
    judge_error: Any = None,
    judge_drawn: JudgeDrawn | None = None,
    progress: comparison.Progress | None = None,
) -> CompareResult:
    """Which differences between runs are real, and where they come from.

    Runs are paired by question on those that all of them have. A missing response excludes its
    question, unless the policy says what it counts as. Rankings and scores are compared by the
    means of a measure over queries or topics.

    Args:
        asked: What was read.
        measures: What runs are compared by, one or several: c@1 by default; AP for rankings; of
            scores all that there are. The first one orders the runs.
        against: The run that each other one is compared with.
        by: Attributes; for two runs with outcomes, which slices carry the difference.
        test: How p is computed. Of scores t (the larger p of Student's and Hall's, the default),
            student (the plain paired t-test), randomisation, bootstrap, wilcoxon or sign; of
            outcomes randomisation (the default), bootstrap or mcnemar.
        correction: For many pairs or measures: holm (the default), bonferroni, bh or none.
        family: What is corrected for: all pairs by all measures, or the pairs of each measure.
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
    listed = [measures] if isinstance(measures, (str, Measure)) else list(measures or ())
    options = Options(
        against=against,
        test=test or ("randomisation" if isinstance(asked, Evaluation) else "t"),
        correction=correction or "holm",
        family=family,
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
    refuses = needs_counts if by or judge_error is not None else ""
    if not isinstance(asked, Evaluation):
        if refuses:
            raise UsageError(f"{needs_counts}; these are scores")
        if isinstance(asked, Rankings):
            matrix = asked.scores(listed or "AP")
        else:
            matrix = asked.only(measures=list(map(str, listed)) or None)
        single = [matrix.only(measures=[name]) for name in matrix.measures]
        return _each(options, [partial(ScoreComparison, one) for one in single])
    named = listed or [DEFAULT_MEASURE]
    chosen = list(dict.fromkeys(count_measure(n, "confidence", "decisions") for n in named))
    confident = [m for m in chosen if m.definition.takes == "confidence"]
    if confident and refuses:
        raise UsageError(f"{needs_counts}; {confident[0]} is a measure of confidence")
    for item in chosen if judge_error is not None else ():
        if item.definition.takes == "decisions":
            raise UsageError(f"{option('judge_error')} needs a measure of counts; {item} is none")
    if test == "mcnemar" and len(chosen) > 1:
        raise UsageError("McNemar's test is the same by any measure: name one")
    options = replace(options, method=check_method(options.method))
    policy = asked.reading.rules(missing="excluded")
    common = comparison.common_questions(asked, policy, attributes=by, confident=bool(confident))
    for low, high in (item.bounds for item in chosen):
        check_plan(detect=detect, power=power, level=level, widest=high - low)
    if test in ("t", "student", "wilcoxon", "sign"):
        raise UsageError(f"{test} is for per-query scores; use randomisation here")

    def made(item: Measure, how: Options) -> Comparison:
        if item in confident:
            return ConfidenceComparison(common, item, how)
        kind = OutcomeComparison if asked.data.source.shares is None else PartialComparison
        return kind(common, item, how, by, judge_error, judge_drawn)

    return _each(options, [partial(made, item) for item in chosen])


def _each(options: Options, makers: Sequence[Callable[[Options], Comparison]]) -> CompareResult:
    """The comparison by the first measure; it holds those by the others, in its order of runs."""
    comparisons: list[Comparison] = []
    order: tuple[str, ...] = ()
    for number, make in enumerate(makers):

        def progress(done: int, total: int, before: int = number) -> None:
            options.progress(before * total + done, len(makers) * total)

        how = replace(options, measures=len(makers), order=order, progress=progress)
        comparisons.append(make(how))
        order = tuple(comparisons[0].runs[i] for i in comparisons[0].order)
    p = np.array([[pair.p for pair in each.p_values] for each in comparisons])
    plain = np.array([each.plain() for each in comparisons])
    families = (1, -1) if options.family == "all" else p.shape
    corrected, plain = (
        np.reshape([adjust(row, options.correction) for row in table.reshape(families)], p.shape)
        for table in (p, plain)
    )
    first, *more = (
        each.result(*both) for each, *both in zip(comparisons, corrected, plain, strict=True)
    )
    return structs.replace(first, more=tuple(structs.replace(r, **OF_THE_WHOLE) for r in more))
