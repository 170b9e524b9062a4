"""What all comparisons share, whatever they are made from: options, pairs, groups, a plan."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from abstain import outcomes
from abstain.errors import InputError, UsageError, check_name, option, plural
from abstain.features.compare.result import CompareResult, Effect, Pair, RunRow, units_text
from abstain.io.frames import require
from abstain.measures import Measure
from abstain.measures.definition import Array, IntArray
from abstain.outcomes import EXCLUDED, Policy, Undefined, Why
from abstain.reading import Reading
from abstain.report.result import ends, finite, read_as
from abstain.report.view import first_few
from abstain.runs.evaluation import Evaluation, part_of
from abstain.stats.delta_method import few_clusters
from abstain.stats.hypotheses import LEAST_DIFFERING
from abstain.stats.intervals import Interval, check_level
from abstain.stats.orderings import letter_groups, letters
from abstain.stats.planning import least_units, plan
from abstain.stats.randomisation import PValue

Test: TypeAlias = Literal[
    "randomisation", "bootstrap", "mcnemar", "t", "student", "wilcoxon", "sign"
]
Correction: TypeAlias = Literal["holm", "bonferroni", "bh", "none"]
Family: TypeAlias = Literal["all", "measure"]
Progress: TypeAlias = Callable[[int, int], None]

LEAST_RESAMPLES, MOST_RESAMPLES = 100, 1_000_000
MOST_PAIRS = 20_000
MOST_DRAWN = 50_000_000
CLOSE = 1e-12
LEAST_RESAMPLED = 40
"""Questions, topics or clusters that a bootstrap needs (benchmarks/errors.py)."""
LEAST_OF_TEST = {"bootstrap": LEAST_RESAMPLED, "t": LEAST_DIFFERING}
LEAST_DETECTED = 1e-6
OPEN = (Why.UNPARSEABLE, Why.ERROR, Why.MISSING, Why.LIMIT, Why.UNSCORED)
UNKNOWN = [outcomes.blank_kind(*kind) for kind in product(OPEN, outcomes.CANDIDATES)]
OF_RESULT = ("against", "test", "correction", "family", "level", "resamples", "seed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a comparison is made; see `compare` for what each is."""

    against: str | None = None
    test: Test = "randomisation"
    correction: Correction = "holm"
    family: Family = "all"
    measures: int = 1
    order: tuple[str, ...] = ()
    """The runs as another measure orders them; empty: as this one does."""
    method: str = ""
    """Of intervals; what is empty stands for the default of the measure."""
    level: float = 0.95
    resamples: int = 10_000
    seed: int = 0
    detect: float | None = None
    power: float = 0.8
    progress: Progress = lambda _, __: None

    @property
    def alpha(self) -> float:
        return 1 - self.level

    def __post_init__(self) -> None:
        check_name("test", self.test, get_args(Test))
        check_name("correction", self.correction, get_args(Correction))
        check_name("family", self.family, get_args(Family))
        if not LEAST_RESAMPLES <= self.resamples <= MOST_RESAMPLES:
            known = f"between {LEAST_RESAMPLES:,} and {MOST_RESAMPLES:,}"
            raise UsageError(f"resamples are {known} (got {self.resamples:,})")
        check_level(self.level)

    def check_held(self, runs: int) -> None:
        if self.resamples * runs > MOST_DRAWN:
            fewer = f"use {option('resamples', MOST_DRAWN // runs)} or fewer"
            what = f"{self.resamples:,} resamples of {runs:,} runs"
            raise UsageError(f"{what} do not fit in memory; {fewer}")


class Comparison(ABC):
    """Runs with their scores; a subclass tests and bounds differences."""

    measure: str
    options: Options
    runs: list[str]
    scores: Sequence[float] | Array
    higher_is_better: bool = True
    widest: float = math.inf
    questions: int
    unit: str = "question"
    clusters: int | None = None
    done = 0

    @property
    def steps(self) -> int:
        return len(self.wanted)

    def step(self, more: int = 1) -> None:
        self.done += more
        self.options.progress(self.done, self.steps)

    @cached_property
    def order(self) -> list[int]:
        if self.options.order:
            return list(map(self.runs.index, self.options.order))
        sign = -1 if self.higher_is_better else 1
        scores = np.nan_to_num(sign * np.asarray(self.scores), nan=math.inf)
        return sorted(range(len(self.runs)), key=lambda run: (scores[run], self.runs[run]))

    @cached_property
    def wanted(self) -> list[tuple[int, int]]:
        """The pairs by position: all of them, the better run first; or each run against one."""
        runs, order, against = self.runs, self.order, self.options.against
        if against is not None:
            check_name("run", against, runs)
            at = runs.index(against)
            return [(i, at) for i in order if i != at]
        if len(runs) == 2:
            return [(1, 0)]
        if len(runs) * (len(runs) - 1) // 2 > MOST_PAIRS:
            instead = f"compare all with one: {option('against', 'RUN')}"
            raise UsageError(f"{len(runs):,} runs make more than {MOST_PAIRS:,} pairs; {instead}")
        return [(i, j) for at, i in enumerate(order) for j in order[at + 1 :]]

    @cached_property
    def differences(self) -> Array:
        return np.array([self.scores[i] - self.scores[j] for i, j in self.wanted], np.float64)

    @property
    def aim(self) -> float:
        """The p that the first of all pairs needs after correction."""
        together = self.options.measures if self.options.family == "all" else 1
        return self.options.alpha / (together * len(self.wanted))

    @abstractmethod
    def intervals(self) -> tuple[list[Interval], Array]:
        """An interval and a standard error of each difference."""

    @abstractmethod
    def tested(self) -> list[PValue]:
        """The p of each pair by the test that is asked for."""

    @abstractmethod
    def interval(self, run: int) -> Interval:
        """An interval of a run's score."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Further fields of the result."""

    def row(self, run: int) -> dict[str, Any]:
        return {}

    def effect(self, i: int, j: int) -> Effect | None:
        return None

    def errors_to_plan_with(self, errors: Array) -> Array:
        return errors

    def too_few(self, run: int) -> str:
        """Why a test of this run's score would not keep its level, else empty."""
        return ""

    def result(self, adjusted: Array, plain: Array) -> CompareResult:
        """All of it, with the p of each pair after correction, and those of the plain test."""
        options = self.options
        spans, errors = self.intervals()
        pairs = self.pairs(spans, errors, adjusted, plain)
        groups = self._groups(pairs)
        rows = tuple(self._row(i, groups or {}) for i in self.order)
        of_pairs = next((span.method for span in spans if not math.isnan(span.low)), None)
        known = self.errors_to_plan_with(errors)
        known = known[~np.isnan(known) & (known > 0)]
        error = float(np.median(known)) if len(known) else math.nan
        if options.detect is not None and options.detect < error * LEAST_DETECTED:
            raise UsageError(f"a difference of {options.detect:g} is too small to plan for")
        has_intervals = of_pairs is not None or any(row.interval != (None, None) for row in rows)
        return CompareResult(
            **self.facts(),
            measure=self.measure,
            questions=self.questions,
            clusters=self.clusters,
            **{name: getattr(options, name) for name in OF_RESULT},
            together=options.measures,
            interval_method=options.method if has_intervals else None,
            interval_method_of_differences=None if of_pairs == options.method else of_pairs,
            higher_is_better=self.higher_is_better,
            widest=finite(self.widest),
            grouped=groups is not None,
            rows=rows,
            pairs=pairs,
            plan=plan(
                error,
                self.questions,
                clusters=self.clusters,
                least_units=LEAST_OF_TEST.get(options.test) or least_units(options.alpha),
                detect=options.detect,
                power=options.power,
                level=options.level,
            ),
        )

    @cached_property
    def p_values(self) -> list[PValue]:
        """The p of each pair; NaN, perhaps with a reason, where there is nothing to test."""
        tested, options, gaps = self.tested(), self.options, self.differences
        few, units = list(map(self.too_few, range(len(self.runs)))), self.clusters or self.questions
        seen = f"there are only {units_text(units, 'cluster' if self.clusters else self.unit)}"
        least = LEAST_RESAMPLED if options.test == "bootstrap" else 0
        few_units = too_few("a bootstrap", seen, units, least)
        no_test = [
            "" if np.isnan(gap) else few_units or few[i] or few[j] or one.why_not
            for (i, j), gap, one in zip(self.wanted, gaps, tested, strict=True)
        ]
        return [
            replace(one, p=math.nan if np.isnan(gap) or why else one.p, why_not=why)
            for gap, one, why in zip(gaps, tested, no_test, strict=True)
        ]

    def plain(self) -> Array:
        return np.full(len(self.wanted), np.nan)

    def pairs(
        self, spans: Sequence[Interval], errors: Array, adjusted: Array, plain: Array
    ) -> tuple[Pair, ...]:
        tested, gaps, alpha = self.p_values, self.differences, self.options.alpha + CLOSE

        def verdict(p: float) -> bool | None:
            return None if math.isnan(p) else bool(p <= alpha)

        return tuple(
            Pair(
                run=self.runs[i],
                against=self.runs[j],
                difference=finite(gaps[k]),
                interval=(None, None) if np.isnan(gaps[k]) else ends(spans[k]),
                no_interval="" if np.isnan(gaps[k]) else spans[k].why_not,
                no_test=tested[k].why_not,
                standard_error=finite(errors[k]),
                p=finite(tested[k].p),
                p_adjusted=finite(adjusted[k]),
                differs=(differs := verdict(adjusted[k])),
                plain_p=None if verdict(plain[k]) in (None, differs) else float(plain[k]),
                exact=bool(tested[k].exact),
                by_interval=tested[k].of_interval and differs is not None,
                questions=self.questions,
                undefined_swaps=tested[k].undefined,
                effect=self.effect(i, j),
            )
            for k, (i, j) in enumerate(self.wanted)
        )

    def _groups(self, pairs: Sequence[Pair]) -> dict[str, str] | None:
        ordered = [self.runs[i] for i in self.order if not math.isnan(self.scores[i])]
        if self.options.against is not None or len(ordered) < 3:
            return None
        different = [(ordered.index(p.run), ordered.index(p.against)) for p in pairs if p.differs]
        groups = letter_groups(len(ordered), different)
        if groups is None:
            return None
        return dict(zip(ordered, letters(len(ordered), groups), strict=True))

    def _row(self, run: int, groups: dict[str, str]) -> RunRow:
        score, span, name = self.scores[run], self.interval(run), self.measure
        return RunRow(
            run=self.runs[run],
            scores={name: finite(score)},
            undefined={name: score.reason} if isinstance(score, Undefined) else {},
            intervals={name: ends(span)},
            no_interval={name: span.why_not} if span.why_not and not math.isnan(score) else {},
            group=groups.get(self.runs[run], ""),
            **self.row(run),
        )


def too_few(test: str, seen: str, has: float, least: int) -> str:
    """Why a test has no verdict, where it needs more than there are; else empty."""
    return "" if has >= least else f"{seen}; {test} needs {least:,} to keep its significance level"


@dataclass(frozen=True, slots=True)
class Common:
    """The questions that all runs have."""

    evaluation: Evaluation
    """The runs on those questions alone: no response is excluded."""
    whole: Evaluation
    """The runs on all questions, under the same policy."""
    reading: Reading
    absent: dict[str, int]

    def unknown(self) -> tuple[Array, IntArray]:
        """Over all questions: six counts of the responses that are known, and how many are not."""
        table = self.whole.data.source.count_kinds(()).table
        unknown = np.isin(np.arange(outcomes.CODES) % outcomes.KINDS, UNKNOWN)
        known = self.whole.policy.apply(np.where(unknown, 0, table)).astype(np.float64)
        return known, table[:, unknown].sum(axis=1)

    def facts(self) -> dict[str, Any]:
        return {
            **read_as(self.whole, *few_clusters(self.evaluation.data.clusters())),
            "reading": self.reading,
            "policy": self.whole.policy.to_dict(),
            "touched": self.whole.data.touched,
            "questions_in_all": len(self.whole),
            "absent": self.absent,
            "cluster": self.whole.data.cluster,
        }


def common_questions(
    evaluation: Evaluation,
    policy: Policy,
    *,
    attributes: Sequence[str] = (),
    confident: bool = False,
) -> Common:
    data = evaluation.data
    if data.kind == "judged":
        for responses in data.source.responses:
            require(responses.table, {"question": "which names each question"})
    if data.kind != "counts":
        data.with_attributes(list(dict.fromkeys([*attributes, *filter(None, [data.cluster])])))
    size = (data.confidence if confident else data.kinds).shape[1]
    names, runs = list(evaluation.runs), list(data.runs_as_listed)
    if len(runs) < 2:
        raise UsageError(f"a comparison needs two runs (got {plural(len(runs), 'run')})")
    if names != runs:
        rows = [names.index(run) for run in runs]
        evaluation = part_of(evaluation, np.ones(size, bool), rows)
    reading, whole = evaluation.reading, evaluation.with_policy(policy)
    usable = whole.data.ends != EXCLUDED
    inside = usable.all(axis=0)
    if not inside.any():
        raise InputError(f"there is no question that all runs have: {first_few(runs)}")
    gone = (~usable).sum(axis=1)
    absent = {run: int(n) for run, n in zip(runs, gone, strict=True) if n}
    return Common(whole if inside.all() else part_of(whole, inside), whole, reading, absent)


class OfQuestions(Comparison):
    def __init__(self, common: Common, chosen: Measure, options: Options) -> None:
        view = common.evaluation
        self.common, self.chosen, self.options = common, chosen, options
        self.measure, self.runs, self.questions = str(chosen), list(view.runs), len(view)
        self.higher_is_better = chosen.higher_is_better
        self.widest = chosen.bounds[1] - chosen.bounds[0]
        self.counts, self.cluster_of = view.data.overall(), view.data.clusters()
        self.known, self.unknown = common.unknown()
