"""Runs compared with partial credit: each question is a small cluster of shares right and wrong.

The joint counts of a question are the product of what it adds to each run. A difference depends on
the counts of each run alone, so its influence is exact; swapping whole questions tests it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from abstain.errors import UsageError, option
from abstain.features.compare.comparison import Common, Options
from abstain.features.compare.outcomes import OutcomeComparison
from abstain.features.compare.result import CompareResult
from abstain.features.compare.scores import HALL
from abstain.measures import Measure
from abstain.measures.definition import Array
from abstain.runs.partial import check_interval, summed_by
from abstain.stats import intervals
from abstain.stats.delta_method import influence
from abstain.stats.hypotheses import Paired
from abstain.stats.intervals import DEFAULT, SMOOTH, Interval

TIE = 1e-8
"""What numerical derivatives leave of a question that both runs answer alike."""


class PartialComparison(OutcomeComparison):
    """Runs by the sums of their shares, pairs by question or by cluster."""

    def __init__(
        self,
        common: Common,
        chosen: Measure,
        options: Options,
        by: Sequence[str] = (),
        judge_error: Any = None,
        judge_drawn: Any = None,
    ) -> None:
        refused = {
            "by": bool(by),
            "judge_error": judge_error is not None or judge_drawn is not None,
            "test": options.test == "mcnemar",
        }
        for name, asked in refused.items():
            if asked:
                raise UsageError(
                    f"{option(name)} needs answers that are right or wrong, and "
                    f"{option('partial')} makes shares of them"
                )
        check_interval(options.method)
        super().__init__(common, chosen, options)
        self.of_questions = self.cluster_of is None
        if self.cluster_of is None:
            self.cluster_of, self.clusters = np.arange(self.questions), self.questions
        data = common.evaluation.data
        self.every = np.stack([data.each(run) for run in range(len(self.runs))])
        self.shares = self.cells.merge(self.every)

    @cached_property
    def joint(self) -> Array:  # type: ignore[override]
        """Joint sums (pairs, k, k): rows the other run's outcome, columns the run's."""
        return np.stack([self.shares[other].T @ self.shares[run] for run, other in self.wanted])

    def by_unit(self, run: int) -> Array:
        return self._in_clusters(self.shares[run])

    def clustered_joint(self, run: int, other: int) -> Array:
        both = self.shares[other][:, :, None] * self.shares[run][:, None, :]
        return self._in_clusters(both.reshape(self.questions, -1))

    def _in_clusters(self, table: Array) -> Array:
        assert self.cluster_of is not None
        return table if self.of_questions else summed_by(self.cluster_of, table)

    def interval(self, run: int) -> Interval:
        """The interval of a run's score from what each question or cluster adds to its counts."""
        return intervals.interval(
            self.chosen,
            self.counts[run],
            clusters=self._in_clusters(self.every[run]),
            method=self.options.method,
            **self.drawing,
        )

    def _limits(
        self, method: str, some: Sequence[int], cells: Array, groups: Array | None, level: float
    ) -> tuple[Array, Array]:
        """The ends of the intervals of some pairs; the default is that of means of scores."""
        assert groups is not None
        if method != DEFAULT:
            return SMOOTH[method](self.difference, cells, groups, level=level)
        gaps, psi = self.difference.value(cells), influence(self.difference, cells)
        ends = []
        for gap, slopes, table in zip(gaps, psi, groups, strict=True):
            sizes = table.sum(axis=-1)
            scores = gap * sizes + table @ slopes  # a mean of these is the difference
            differs = np.abs(scores) > TIE
            ends.append(Paired.of(np.where(differs, scores, 0), sizes, differs).limits(level))
        low, high = np.array(ends).T
        return np.maximum(low, -self.widest), np.minimum(high, self.widest)

    def intervals(self) -> tuple[list[Interval], Array]:
        spans, errors = super().intervals()
        by_scores = (DEFAULT, "mover")
        named = [replace(s, method=HALL) if s.method in by_scores else s for s in spans]
        return named, errors

    def row(self, run: int) -> dict[str, Any]:
        return {"numbers": self.counts[run].to_dict()}

    def facts(self) -> dict[str, Any]:
        return {**self.common.facts(), "studentised": self.chosen.definition.studentised}

    def result(self, adjusted: Array, plain: Array) -> CompareResult:
        result = super().result(adjusted, plain)
        return msgspec.structs.replace(result, clusters=None) if self.of_questions else result
