"""One line for one question: each function reads and asks what an object would be asked.

`score(gold, runs, by="topic", match="text")` is `read(gold, runs, match="text").score(by="topic")`.
Who asks more than one question of the same runs reads them once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from abstain.errors import UsageError, checked, option
from abstain.judging.reading import Reading, ReadingOptions, reading_of
from abstain.judging.sources import evaluate
from abstain.rankings.settings import RankingsOptions

if TYPE_CHECKING:
    import polars as pl

    from abstain.analyses.baselines import BaselineKind
    from abstain.analyses.campaign.result import CampaignResult
    from abstain.analyses.compare.bounds import JudgeDrawn
    from abstain.analyses.compare.result import CompareResult
    from abstain.analyses.compare.work import Correction, Progress, Test
    from abstain.analyses.curve.histogram import HistogramResult
    from abstain.analyses.curve.result import CurveResult, Way
    from abstain.analyses.cut.result import CutResult
    from abstain.analyses.cut.rules import RuleName
    from abstain.analyses.meta.result import MetaResult, Part
    from abstain.analyses.rank import RankResult
    from abstain.analyses.score.result import ScoreResult
    from abstain.analyses.score.several import SeveralResult
    from abstain.analyses.tune.result import TuneResult
    from abstain.analyses.validate.result import ValidateResult
    from abstain.judging.evaluation import Evaluation
    from abstain.measures import Measure
    from abstain.stats.intervals import IntervalMethod
    from abstain.stats.resampling.draws import Draws, ResamplingProgress


@checked
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


@checked
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
    skip_invalid: bool = False,
    max_runs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    **reading: Unpack[ReadingOptions],
) -> CampaignResult:
    """Everything that an overview of runs needs; `campaign(gold, runs).save("overview")`.

    With `skip_invalid` runs that are not valid are left out and listed; `max_runs` is how many a
    team may send.
    """
    found, checked_runs = opened_campaign(
        gold,
        runs,
        reading_of(reading),
        runs_info=runs_info,
        skip_invalid=skip_invalid,
        max_runs=max_runs,
    )
    return found.campaign(
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
        checked=checked_runs,
        progress=progress,
    )


def opened_campaign(
    gold: Any,
    runs: Any,
    reading: Reading,
    *,
    runs_info: Any = None,
    skip_invalid: bool = False,
    max_runs: int | None = None,
) -> tuple[Evaluation, ValidateResult | None]:
    """The runs of a campaign, with what is wrong with those that are left out."""
    if not skip_invalid:
        if max_runs is not None:
            raise UsageError(
                f"{option('max_runs')} needs {option('skip_invalid', value=True)}: runs "
                "beyond the limit are left out"
            )
        from abstain.analyses.runs_info import read_info, repaired

        return repaired(evaluate(gold, runs, reading), read_info(runs_info)), None
    from abstain.analyses.validate.validation import valid_runs

    return valid_runs(gold, runs, reading, max_runs=max_runs, runs_info=runs_info)


@checked
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


@checked
def rank(
    qrels: Any,
    runs: Any,
    measures: Sequence[str | Measure] | str | Measure = (),
    *,
    by: Sequence[str] | str = (),
    per_query: bool = False,
    truncation: bool = False,
    same_lists: bool = False,
    **reading: Unpack[RankingsOptions],
) -> RankResult:
    """Score rankings against relevance judgments; `reading` is as for `read_rankings`.

    >>> rank({"q": {"d1": 1}}, {"q": {"d1": 2.0, "d2": 3.0}}, "RR").rows[0].scores
    {'RR': 0.5}
    """
    from abstain.rankings.read import read_rankings

    return read_rankings(qrels, runs, **reading).score(
        measures, by=by, per_query=per_query, truncation=truncation, same_lists=same_lists
    )


@checked
def cut(
    qrels: Any,
    runs: Any,
    *,
    maximise: str | Measure = "AP'",
    rule: RuleName = "auto",
    keep: float | None = None,
    delta: float = 0.1,
    next_queries: bool = False,
    budget: float | None = None,
    folds: int | None = None,
    repeats: int = 1,
    run: str | None = None,
    level: float = 0.95,
    seed: int = 0,
    **reading: Unpack[RankingsOptions],
) -> CutResult:
    """Choose where rankings stop, on some queries; `reading` is as for `read_rankings`.

    >>> qrels = {f"q{i}": {"a": 1} for i in range(4)}
    >>> run = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    >>> cut(qrels, run, maximise="SetF", rule="k").cut([5.0, 3.0])
    1
    """
    from abstain.rankings.read import read_rankings

    return read_rankings(qrels, runs, **reading).cut(
        maximise=maximise,
        rule=rule,
        keep=keep,
        delta=delta,
        next_queries=next_queries,
        budget=budget,
        folds=folds,
        repeats=repeats,
        run=run,
        level=level,
        seed=seed,
    )


@checked
def several(
    gold: Any,
    runs: Any,
    measures: Sequence[str | Measure] | str | Measure = ("K", "MRR"),
    *,
    by: Sequence[str] | str = (),
    **reading: Unpack[ReadingOptions],
) -> SeveralResult:
    """Score runs with several answers a question; `reading` is as for `read`.

    >>> import polars as pl
    >>> gold = pl.DataFrame({"question": ["q1"], "correct": ["A"]})
    >>> lists = pl.DataFrame({"question": ["q1"] * 2, "answer": ["B", "A"], "rank": [1, 2]})
    >>> several(gold, lists, "MRR").rows[0].scores
    {'MRR': 0.5}
    """
    return evaluate(gold, runs, reading_of(reading)).several(measures, by=by)


@checked
def curve(
    gold: Any,
    runs: Any,
    measures: Sequence[str | Measure] | str | Measure = (),
    *,
    should_abstain: str | None = None,
    bins: int = 10,
    equal_mass: bool = False,
    decision: Way | bool = False,
    level: float = 0.95,
    points: int = 500,
    seed: int = 0,
    **reading: Unpack[ReadingOptions],
) -> CurveResult:
    """Show how runs score at every threshold of their confidence; `reading` is as for `read`.

    >>> import polars as pl
    >>> gold = pl.DataFrame({"question": ["q1", "q2"], "correct": ["A", "B"]})
    >>> run = pl.DataFrame({"question": ["q1", "q2"], "answer": ["A", "A"]})
    >>> run = run.with_columns(confidence=pl.Series([0.9, 0.4]))
    >>> best = curve(gold, run, "c@1").runs[0]
    >>> best.best, best.threshold, best.as_submitted
    (0.75, 0.9, 0.5)
    """
    return evaluate(gold, runs, reading_of(reading)).curve(
        measures,
        should_abstain=should_abstain,
        bins=bins,
        equal_mass=equal_mass,
        decision=decision,
        level=level,
        points=points,
        seed=seed,
    )


@checked
def histogram(
    gold: Any,
    runs: Any,
    measure: str | Measure = "c@1",
    *,
    bins: int = 1024,
    points: int = 500,
    **reading: Unpack[ReadingOptions],
) -> HistogramResult:
    """Follow runs that no memory holds, their confidences counted in bins."""
    found = evaluate(gold, runs, reading_of(reading))
    return found.histogram(measure, bins=bins, points=points)


@checked
def tune(
    gold: Any,
    runs: Any,
    *,
    maximise: str | Measure | None = None,
    risk: float | None = None,
    next_questions: bool = False,
    level: float = 0.9,
    tune_on: Mapping[str, str] | None = None,
    test_gold: Any = None,
    folds: int | None = None,
    repeats: int = 1,
    by: str | None = None,
    shrink: float = 50.0,
    run: str | None = None,
    seed: int = 0,
    **reading: Unpack[ReadingOptions],
) -> TuneResult:
    """Choose the threshold to abstain at on some questions and judge it on others.

    `test_gold` holds other questions to judge on, answered in the same runs: it is read beside the
    gold. The rest of `reading` is as for `read`.
    """
    golds = both_golds(gold, test_gold, tune_on, folds)
    return evaluate(golds, runs, reading_of(reading)).tune(
        maximise=maximise,
        risk=risk,
        next_questions=next_questions,
        level=level,
        tune_on=tune_on,
        folds=folds,
        repeats=repeats,
        by=by,
        shrink=shrink,
        run=run,
        seed=seed,
    )


@checked
def both_golds(
    gold: Any, test_gold: Any, tune_on: Mapping[str, str] | None, folds: int | None
) -> Any:
    """The golds to read: that to tune on, and that to judge on where there is one of its own."""
    if test_gold is None:
        return gold
    for name, value in (("tune_on", tune_on), ("folds", folds)):
        if value is not None:
            raise UsageError(f"{option('test_gold')} and {option(name)} exclude each other")
    return [gold, test_gold]


@checked
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
    judge_drawn: JudgeDrawn | None = None,
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
        judge_drawn=judge_drawn,
        progress=progress,
    )


@checked
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
    progress: ResamplingProgress | None = None,
    **reading: Unpack[ReadingOptions],
) -> MetaResult:
    """Judge measures by how they order two or more runs.

    `reading` is as for `read`, everything else as for `Evaluation.meta`.
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


@checked
def validate(
    gold: Any,
    runs: Any,
    *,
    max_runs: int | None = None,
    runs_info: Any = None,
    **reading: Unpack[ReadingOptions],
) -> ValidateResult:
    """Everything that is wrong with runs; one that cannot be read is a problem of its own.

    The gold may lack `correct`: participants check against the test set. `max_runs` is how many
    runs a team may send; teams are known by `runs_info`, by folders, or by ids such as
    jucs1302enen.

    >>> import polars as pl
    >>> gold = pl.DataFrame({"question": ["q1", "q2"], "correct": ["A", "B"]})
    >>> run = pl.DataFrame({"question": ["q1", "q3"], "answer": ["A", "B"]})
    >>> [problem.kind for problem in validate(gold, run).problems]
    ['unknown question', 'missing question']
    """
    from abstain.analyses.validate import validate_runs

    return validate_runs(gold, runs, reading_of(reading), max_runs=max_runs, runs_info=runs_info)
