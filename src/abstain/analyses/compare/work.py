"""What all comparisons share, whatever they are made from: options, pairs, groups, a plan."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from abstain.analyses.compare.result import CompareResult, Effect, Pair, RunRow, ends
from abstain.analyses.result import finite
from abstain.errors import UnknownNameError, UsageError, option, plural
from abstain.outcomes import Undefined
from abstain.stats.hypotheses import adjust
from abstain.stats.intervals import Interval, check_level
from abstain.stats.means import LEAST_DIFFERING
from abstain.stats.planning import Plan, least_units, plan, plan_range
from abstain.stats.randomisation import PValue
from abstain.stats.standings import letter_groups, letters

if TYPE_CHECKING:
    from abstain.outcomes import Array, IntArray

Test: TypeAlias = Literal["randomisation", "bootstrap", "mcnemar", "t", "wilcoxon", "sign"]
Correction: TypeAlias = Literal["holm", "bh", "none"]
Progress: TypeAlias = Callable[[int, int], None]
"""Told how much of the work is done, and how much there is."""

LEAST_TRIALS, MOST_TRIALS = 100, 1_000_000
MOST_PAIRS = 20_000
MOST_NAMED = 6
MOST_DRAWN = 50_000_000
"""Scores or differences held at once, in trials times runs."""
CLOSE = 1e-12
LEAST_RESAMPLED = 40
"""Questions, topics or clusters that a bootstrap needs (benchmarks/errors.py)."""
LEAST_OF_TEST = {"bootstrap": LEAST_RESAMPLED, "t": LEAST_DIFFERING}
LEAST_DETECTED = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a comparison is made."""

    against: str | None = None
    """The run that all others are compared with; None: all pairs."""
    test: Test = "randomisation"
    correction: Correction | None = None
    """Holm's unless said."""
    method: str = ""
    """Of intervals; what is empty stands for the default of the measure."""
    level: float = 0.95
    trials: int = 10_000
    seed: int = 0
    detect: float | None = None
    power: float = 0.8
    progress: Progress = lambda _, __: None

    @property
    def alpha(self) -> float:
        """The error that the level leaves."""
        return 1 - self.level

    def check(self) -> None:
        """Refuse names that nobody knows, with those that there are, and numbers out of range."""
        _one_of("test", self.test, get_args(Test))
        if self.correction is not None:
            _one_of("correction", self.correction, get_args(Correction))
        if not LEAST_TRIALS <= self.trials <= MOST_TRIALS:
            raise UsageError(
                f"trials are between {LEAST_TRIALS:,} and {MOST_TRIALS:,} (got {self.trials:,})"
            )
        check_level(self.level)

    def check_held(self, columns: int, what: str) -> None:
        """Refuse more trials than can be held at once, each with so many columns."""
        if self.trials * columns > MOST_DRAWN:
            raise UsageError(
                f"{self.trials:,} trials of {columns:,} {what} do not fit in memory; use "
                f"{option('trials', MOST_DRAWN // columns)} or fewer"
            )


def _one_of(what: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        raise UnknownNameError(what, name, known, hint=f"there are {', '.join(known)}")


class Work(ABC):
    """Runs with their scores; each kind of input knows how to test and bound differences."""

    measure: str
    options: Options
    runs: list[str]
    scores: Sequence[float] | Array
    higher_is_better: bool = True
    widest: float = math.inf
    """The largest difference that there can be."""
    questions: int
    unit: str = "question"
    clusters: int | None = None

    @cached_property
    def order(self) -> list[int]:
        """The runs by position, from the best to the worst, the undefined last."""
        sign = -1 if self.higher_is_better else 1

        def place(run: int) -> tuple[bool, float, str]:
            score = float(self.scores[run])
            undefined = math.isnan(score)
            return undefined, 0.0 if undefined else sign * score, self.runs[run]

        return sorted(range(len(self.runs)), key=place)

    @cached_property
    def wanted(self) -> list[tuple[int, int]]:
        """The pairs by position: all of them, the better run first; or each run against one."""
        runs, order, against = self.runs, self.order, self.options.against
        if against is not None:
            if against not in runs:
                more = ", …" if len(runs) > MOST_NAMED else ""
                there_are = f"there are {', '.join(runs[:MOST_NAMED])}{more}"
                raise UnknownNameError("run", against, runs, hint=there_are)
            at = runs.index(against)
            return [(i, at) for i in order if i != at]
        if len(runs) == 2:
            return [(1, 0)]
        if len(runs) * (len(runs) - 1) // 2 > MOST_PAIRS:
            raise UsageError(
                f"{len(runs):,} runs make more than {MOST_PAIRS:,} pairs; compare all with one: "
                f"{option('against', 'RUN')}"
            )
        return [(i, j) for at, i in enumerate(order) for j in order[at + 1 :]]

    @cached_property
    def differences(self) -> Array:
        """The difference of each pair."""
        return np.array([self.scores[i] - self.scores[j] for i, j in self.wanted], np.float64)

    @property
    def corrected_by(self) -> str:
        """What p-values are corrected by."""
        return self.options.correction or "holm"

    @abstractmethod
    def intervals(self) -> tuple[list[Interval], Array]:
        """An interval and a standard error of each difference."""

    @abstractmethod
    def tested(self) -> list[PValue]:
        """The p of each pair by the test that is asked for."""

    def errors_to_plan_with(self, errors: Array) -> Array:
        """The standard errors of differences as the test sees them."""
        return errors

    def too_few(self, run: int) -> str:
        """Why a test of this run's score would not hold its level; nothing where it does."""
        return ""

    @property
    def aim(self) -> float:
        """The p that the first of all pairs needs after correction."""
        return self.options.alpha / max(1, len(self.wanted))

    @property
    def too_few_units(self) -> str:
        """Why a bootstrap would not hold its level; nothing where it does, or for other tests."""
        units = self.clusters or self.questions
        if self.options.test != "bootstrap" or units >= LEAST_RESAMPLED:
            return ""
        what = "cluster" if self.clusters else self.unit
        number = plural(units, what, "queries" if what == "query" else None)
        return (
            f"with {number} a bootstrap does not keep its significance level; with "
            f"{LEAST_RESAMPLED} or more it does"
        )

    def undefined_swaps(self) -> IntArray:
        """For each pair, how many swaps left a run without a value."""
        return np.zeros(len(self.wanted), np.int64)

    def clusters_note(self) -> str:
        """What is to be said of clusters that are few; nothing where they are enough or none."""
        return ""

    def score(self, run: int) -> float:
        """A run's score, with a reason where it does not exist."""
        return self.scores[run]

    @abstractmethod
    def interval(self, run: int) -> Interval:
        """An interval of a run's score."""

    def row(self, run: int) -> dict[str, Any]:
        """What else a result says of a run."""
        return {}

    def effect(self, i: int, j: int) -> Effect | None:
        """How large a difference is beside the spread of the topics', where they have scores."""
        return None

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What else a result says."""


def too_few(measure: str, run: str, has: int, least: int, what: str = "answers") -> str:
    """Why there is no verdict on a run that has fewer than a test needs; nothing where it has."""
    if has >= least:
        return ""
    return (
        f"{run} has only {has:,} {what}; a test by {measure} keeps its significance level only if "
        f"each run has at least {least:,}"
    )


def compared(work: Work) -> CompareResult:
    """Compare runs: all pairs, or each run against one."""
    options = work.options
    spans, errors = work.intervals()
    pairs = pairs_of(work, spans, errors)
    groups = _groups(work, pairs)
    rows = tuple(_row(work, i, groups or {}) for i in work.order)
    there = next((span.method for span in spans if not math.isnan(span.low)), None)
    has_intervals = there is not None or any(row.interval[0] is not None for row in rows)
    return CompareResult(
        **work.facts(),
        measure=work.measure,
        questions=work.questions,
        clusters=work.clusters,
        against=options.against,
        test=options.test,
        correction=work.corrected_by,
        interval_method=options.method if has_intervals else None,
        interval_method_of_differences=None if there == options.method else there,
        level=options.level,
        trials=options.trials,
        seed=options.seed,
        higher_is_better=work.higher_is_better,
        widest=finite(work.widest),
        grouped=groups is not None,
        rows=rows,
        pairs=pairs,
        plan=_plan(work, work.errors_to_plan_with(errors)),
    )


def pairs_of(work: Work, spans: Sequence[Interval], errors: Array) -> tuple[Pair, ...]:
    """What was found of each pair; where there is no difference there is no p."""
    tested, options = work.tested(), work.options
    undefined = np.isnan(work.differences)
    few = [work.too_few(run) for run in range(len(work.runs))]
    no_test = [
        "" if undefined[k] else work.too_few_units or few[i] or few[j] or tested[k].why_not
        for k, (i, j) in enumerate(work.wanted)
    ]
    silent = undefined | np.array([bool(why) for why in no_test])
    p = np.where(silent, np.nan, [own.p for own in tested])
    adjusted = adjust(p, work.corrected_by)
    lost = work.undefined_swaps()
    found = []
    for k, (i, j) in enumerate(work.wanted):
        corrected = finite(adjusted[k])
        found.append(
            Pair(
                run=work.runs[i],
                against=work.runs[j],
                difference=finite(work.differences[k]),
                interval=ends(spans[k]),
                no_interval="" if undefined[k] else spans[k].why_not,
                no_test=no_test[k],
                standard_error=finite(errors[k]),
                p=finite(p[k]),
                p_adjusted=corrected,
                differs=None if corrected is None else corrected <= options.alpha + CLOSE,
                exact=bool(tested[k].exact),
                by_interval=tested[k].of_interval and corrected is not None,
                questions=work.questions,
                undefined_swaps=int(lost[k]),
                effect=work.effect(i, j),
            )
        )
    return tuple(found)


def _groups(work: Work, pairs: Sequence[Pair]) -> dict[str, str] | None:
    """The letters of runs that have a score, by the pairs found different; None: none to show."""
    ordered = [work.runs[i] for i in work.order if not math.isnan(work.scores[i])]
    if work.options.against is not None or len(ordered) < 3:
        return None
    place = {run: i for i, run in enumerate(ordered)}
    different = [(place[p.run], place[p.against]) for p in pairs if p.differs]
    groups = letter_groups(len(ordered), different)
    if groups is None:
        return None
    return dict(zip(ordered, letters(len(ordered), groups), strict=True))


def _row(work: Work, run: int, groups: dict[str, str]) -> RunRow:
    score, span, name = work.score(run), work.interval(run), work.measure
    undefined = {name: score.reason} if isinstance(score, Undefined) else {}
    return RunRow(
        run=work.runs[run],
        scores={name: finite(score)},
        undefined=undefined,
        intervals={name: ends(span)},
        no_interval={name: span.why_not} if span.why_not and not math.isnan(score) else {},
        group=groups.get(work.runs[run], ""),
        **work.row(run),
    )


def _plan(work: Work, errors: Array) -> Plan | None:
    """A plan from the middle standard error of all pairs."""
    options = work.options
    known = errors[~np.isnan(errors) & (errors > 0)]
    error = float(np.median(known)) if len(known) else math.nan
    if options.detect is not None and options.detect < error * LEAST_DETECTED:
        raise UsageError(
            f"a difference of {options.detect:g} is too small to plan for, compared with a "
            f"standard error of {error:.2g}"
        )
    make: Any = plan if work.clusters is None else plan_range
    found: Plan | None = make(
        error,
        work.questions,
        units=work.clusters,
        least_units=LEAST_OF_TEST.get(options.test) or least_units(options.alpha),
        detect=options.detect,
        power=options.power,
        level=options.level,
    )
    return found
