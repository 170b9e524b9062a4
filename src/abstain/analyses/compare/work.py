"""What all comparisons do, whatever they are made from: pairs, corrections, groups, a plan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.analyses.compare.options import Options
from abstain.analyses.compare.pairs import (
    adjusted_pairs,
    best_first,
    letters_of,
    made_pairs,
    plan_of,
    wanted_pairs,
)
from abstain.analyses.compare.result import CompareResult, RunRow, ends, number
from abstain.outcomes import Undefined
from abstain.stats.intervals import Interval
from abstain.stats.randomisation import PValue

if TYPE_CHECKING:
    from abstain.outcomes import Array, IntArray


class Work:
    """Runs with their scores; each kind of input knows how to test and bound differences."""

    measure: str
    options: Options
    runs: list[str]
    scores: Sequence[float] | Array
    higher_is_better: bool = True
    widest: float = math.inf
    """The largest difference that there can be."""
    questions: int
    clusters: int | None = None

    @cached_property
    def order(self) -> list[int]:
        """The runs by position, from the best to the worst."""
        return best_first(self.scores, self.runs, higher=self.higher_is_better)

    @cached_property
    def wanted(self) -> list[tuple[int, int]]:
        """The pairs by position: a run, and the one that it is held against."""
        return wanted_pairs(self.runs, self.order, self.options.against)

    @cached_property
    def differences(self) -> Array:
        """The difference of each pair."""
        return np.array([self.scores[i] - self.scores[j] for i, j in self.wanted], np.float64)

    def intervals(self) -> tuple[list[Interval], Array]:
        """An interval and a standard error of each difference."""
        raise NotImplementedError

    def tested(self) -> list[PValue]:
        """The p of each pair by the test that is asked for."""
        raise NotImplementedError

    def by_max_t(self) -> Array:
        """The p of each run against the one that all are held against, adjusted by max-T."""
        raise NotImplementedError

    def errors_to_plan_with(self, errors: Array) -> Array:
        """The standard errors of differences as the test sees them."""
        return errors

    def undefined_swaps(self) -> Sequence[int] | IntArray | None:
        """For each pair, how many swaps left a run without a value, where that can be."""
        return None

    def score(self, run: int) -> float:
        """A run's score, with a reason where it does not exist."""
        return float(self.scores[run])

    def interval(self, run: int) -> Interval:
        """An interval of a run's score."""
        raise NotImplementedError

    def row(self, run: int) -> dict[str, Any]:
        """What else a result says of a run."""
        raise NotImplementedError

    def facts(self) -> dict[str, Any]:
        """What else a result says."""
        raise NotImplementedError


def compared(work: Work) -> CompareResult:
    """Compare runs: all pairs, or each run against one."""
    options = work.options
    spans, errors = work.intervals()
    tested = work.tested()
    if options.against is not None:
        adjusted = work.by_max_t()
    else:
        adjusted = adjusted_pairs(work.differences, tested, options)
    pairs = made_pairs(
        work.runs,
        work.wanted,
        options,
        differences=work.differences,
        spans=spans,
        errors=errors,
        tested=tested,
        adjusted=adjusted,
        questions=work.questions,
        undefined_swaps=work.undefined_swaps(),
    )
    scored = [work.runs[i] for i in work.order if not np.isnan(work.scores[i])]
    groups = letters_of(pairs, scored, options)
    rows = tuple(_row(work, i, groups or {}) for i in work.order)
    there = next((span.method for span in spans if not math.isnan(span.low)), None)
    has_intervals = there is not None or any(row.interval[0] is not None for row in rows)
    planned = work.errors_to_plan_with(errors)
    return CompareResult(
        **work.facts(),
        measure=work.measure,
        questions=work.questions,
        clusters=work.clusters,
        against=options.against,
        test=options.test,
        correction=options.corrected_by,
        interval_method=options.method if has_intervals else None,
        interval_method_of_differences=None if there == options.method else there,
        level=options.level,
        trials=options.trials,
        seed=options.seed,
        higher_is_better=work.higher_is_better,
        widest=number(work.widest),
        grouped=groups is not None,
        rows=rows,
        pairs=pairs,
        plan=plan_of(planned, work.questions, options, work.clusters),
    )


def _row(work: Work, run: int, groups: dict[str, str]) -> RunRow:
    score, span, name = work.score(run), work.interval(run), work.measure
    undefined = {name: score.reason} if isinstance(score, Undefined) else {}
    return RunRow(
        run=work.runs[run],
        scores={name: number(score)},
        undefined=undefined,
        intervals={name: ends(span)},
        no_interval={name: span.why_not} if span.why_not and not math.isnan(score) else {},
        group=groups.get(work.runs[run], ""),
        **work.row(run),
    )
