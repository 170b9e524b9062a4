"""Runs compared by a measure of counts: from the outcomes of paired questions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from abstain.analyses.compare.bounds import (
    all_ways,
    bounds_of,
    correct_for_judge,
    never_checked,
    read_confusion,
)
from abstain.analyses.compare.common import Common
from abstain.analyses.compare.options import Options
from abstain.analyses.compare.outcome_pairs import (
    against_one,
    difference_intervals,
    errors_to_plan_with,
    tested_pairs,
)
from abstain.analyses.compare.result import CompareResult, number
from abstain.analyses.compare.table import OutcomeTable
from abstain.analyses.compare.transitions import origin_of
from abstain.analyses.compare.work import Work, compared
from abstain.errors import UsageError, option
from abstain.measures import Measure
from abstain.stats.functional import THREE
from abstain.stats.intervals import Interval, interval
from abstain.stats.planning import check_plan

if TYPE_CHECKING:
    from abstain.outcomes import Array, IntArray
    from abstain.stats.randomisation import PValue


def compare_outcomes(
    common: Common,
    chosen: Measure,
    options: Options,
    *,
    by: Sequence[str] = (),
    judge_error: Any = None,
    bounded: bool = True,
) -> CompareResult:
    """Compare paired runs; `bounded`: with what unknown responses could have done to scores."""
    widest = chosen.bounds[1] - chosen.bounds[0]
    check_plan(detect=options.detect, power=options.power, level=options.level, widest=widest)
    runs = common.evaluation.runs
    if options.test == "wilcoxon":
        raise UsageError("wilcoxon is for per-query scores; take randomisation here")
    if options.test == "mcnemar" and common.whole.cluster is not None:
        raise UsageError("McNemar's test knows no clusters; take randomisation")
    if by and len(runs) != 2:
        raise UsageError(
            f"{option('by')} shows which slices carry the difference of two runs (got {len(runs)})"
        )
    confusion = None if judge_error is None else read_confusion(judge_error)
    return compared(_Outcomes(common, chosen, options, by, confusion, bounded=bounded))


class _Outcomes(Work):
    """Runs by the counts of their outcomes, pairs by their joint counts."""

    def __init__(
        self,
        common: Common,
        chosen: Measure,
        options: Options,
        by: Sequence[str],
        confusion: Array | None,
        *,
        bounded: bool,
    ) -> None:
        self.common, self.chosen, self.options = common, chosen, options
        self.by, self.confusion = by, confusion
        self.table = table = OutcomeTable(common.evaluation, chosen)
        self.measure, self.runs, self.scores = str(chosen), table.runs, table.scores
        self.higher_is_better = chosen.higher_is_better
        self.widest = chosen.bounds[1] - chosen.bounds[0]
        self.questions = table.size
        self.clusters = None if table.of is None else table.groups
        self.known, self.unknown = common.unknown()
        self.bounded = bounded and bool(self.unknown.any())

    @cached_property
    def joint(self) -> IntArray:
        """The joint counts of each pair."""
        return self.table.joint(self.wanted)

    def intervals(self) -> tuple[list[Interval], Array]:
        return difference_intervals(self.table, self.wanted, self.joint, self.options)

    def tested(self) -> list[PValue]:
        return tested_pairs(self.table, self.wanted, self.joint, self.options)

    def by_max_t(self) -> Array:
        return against_one(self.table, self.wanted, self.differences, self.options)

    def errors_to_plan_with(self, errors: Array) -> Array:
        return errors_to_plan_with(self.chosen, self.joint, errors)

    def score(self, run: int) -> float:
        return self.chosen(self.table.counts[run])

    def interval(self, run: int) -> Interval:
        return interval(
            self.chosen,
            self.table.counts[run],
            clusters=self.table.six_by_cluster(run),
            method=self.options.method,
            level=self.options.level,
            trials=self.options.trials,
            seed=self.options.seed,
        )

    def row(self, run: int) -> dict[str, Any]:
        found: dict[str, Any] = {"numbers": self.table.counts[run].to_dict()}
        if self.bounded:
            unknown = int(self.unknown[run])
            low, high = bounds_of(self.chosen, self.known[run], unknown)
            found |= {"unknown": unknown, "all_ways": all_ways(self.chosen, unknown)}
            found["bounds"] = {self.measure: (number(low), number(high))}
        if self.confusion is not None:
            corrected = correct_for_judge(
                self.chosen,
                THREE.merge(self.table.counts.table[run]),
                self.confusion,
                clusters=self.table.clustered(run),
                level=self.options.level,
                seed=self.options.seed,
            )
            ends = number(corrected.low), number(corrected.high)
            found["corrected"] = {self.measure: number(corrected.score)}
            found["corrected_intervals"] = {self.measure: ends}
        return found

    def facts(self) -> dict[str, Any]:
        found = {**self.common.facts(), "studentised": self.chosen.definition.studentised}
        if len(self.runs) == 2:
            found["origin"] = origin_of(
                self.chosen, self.common.evaluation, self.wanted[0], self.by
            )
        if self.confusion is not None:
            found["judge_sample"] = int(self.confusion.sum())
            found["never_checked"] = never_checked(self.confusion)
        return found
