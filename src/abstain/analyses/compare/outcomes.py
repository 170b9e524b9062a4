"""Runs compared by a measure of counts: from the outcomes of paired questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.analyses.compare.bounds import (
    all_ways,
    bounds_of,
    check_drawn,
    correct_for_judge,
    never_checked,
    read_confusion,
)
from abstain.analyses.compare.joint import JointOutcomes
from abstain.analyses.compare.result import CompareResult, ends
from abstain.analyses.compare.transitions import origin_of
from abstain.analyses.compare.work import CLOSE, LEAST_RESAMPLED, Options, compared, too_few
from abstain.analyses.result import finite
from abstain.errors import UsageError, option
from abstain.measures import Measure
from abstain.measures.definition import summed
from abstain.stats import proportions
from abstain.stats.functional import (
    THREE,
    beta,
    difference,
    standard_error,
)
from abstain.stats.hypotheses import (
    bootstrap_p,
    interval_p,
    mcnemar,
    randomise_clusters,
)
from abstain.stats.intervals import (
    DEFAULT,
    OF_ONE_PROPORTION,
    SMOOTH,
    Interval,
    cell_interval,
    interval,
    resampled,
)
from abstain.stats.randomisation import PValue, randomise

if TYPE_CHECKING:
    from abstain.analyses.compare.bounds import JudgeDrawn
    from abstain.analyses.compare.comparing import Common
    from abstain.outcomes import Array

LEAST_RARER = 10
"""Of the responses that a ratio divides by, rarer ones that a bootstrap needs of a run."""
NO_SPREAD = 1e-9
"""Standard errors below this are what numerical derivatives leave of none."""


def compare_outcomes(
    common: Common,
    chosen: Measure,
    options: Options,
    *,
    by: Sequence[str] = (),
    judge_error: Any = None,
    judge_drawn: JudgeDrawn | None = None,
) -> CompareResult:
    """Compare paired runs."""
    runs = common.evaluation.runs
    if options.test == "mcnemar" and common.whole.cluster is not None:
        raise UsageError("McNemar's test does not support clusters; use randomisation")
    if by and len(runs) != 2:
        raise UsageError(
            f"{option('by')} needs exactly two runs, whose difference it splits by slice "
            f"(got {len(runs)})"
        )
    if judge_error is None:
        return compared(OutcomeWork(common, chosen, options, by))
    confusion = read_confusion(judge_error)
    drawn = check_drawn(judge_drawn, confusion)
    return compared(OutcomeWork(common, chosen, options, by, confusion, drawn))


class OutcomeWork(JointOutcomes):
    """Intervals and tests of them, and what is said."""

    def __init__(
        self,
        common: Common,
        chosen: Measure,
        options: Options,
        by: Sequence[str],
        confusion: Array | None = None,
        drawn: JudgeDrawn = "random",
    ) -> None:
        super().__init__(common, chosen, options)
        self.by, self.confusion, self.drawn = by, confusion, drawn
        self.made: Any = {name: getattr(options, name) for name in ("level", "trials", "seed")}
        self.known, self.unknown = common.unknown()

    def intervals(self) -> tuple[list[Interval], Array]:
        """An interval and a standard error for each pair's difference, many pairs at a time."""
        options, f, enough = self.options, difference(self.chosen), self.shows_spread
        spans: list[Interval] = []
        errors: list[float] = []
        for some, cells, groups in self.joint_cells(range(len(self.joint))):
            error = standard_error(f, cells, groups) if enough else np.full(len(cells), np.nan)
            errors += [0.0 if e < NO_SPREAD else float(e) for e in error]
            if enough and options.method in SMOOTH:
                method = options.method
                if method == DEFAULT:
                    method = "mover" if self.of_two_trials else method
                    low, high = self._default_limits(some, cells, groups, options.level)
                else:
                    low, high = SMOOTH[method](f, cells, groups, level=options.level)
                spans += [
                    Interval(float(a), float(b), method) for a, b in zip(low, high, strict=True)
                ]
                continue
            method = DEFAULT if options.method in OF_ONE_PROPORTION else options.method
            spans += [
                cell_interval(
                    f,
                    own,
                    clusters=None if groups is None else groups[k],
                    method=method,
                    **self.made,
                )
                for k, own in enumerate(cells)
            ]
        return spans, np.array(errors)

    @property
    def of_two_trials(self) -> bool:
        """Whether the measure is a proportion of which each run has trials of its own."""
        known = self.chosen.definition
        return known.studentised and known.proportion is not None

    def _mover(
        self, cells: Array, groups: Array | None, wanted: Sequence[tuple[int, int]], level: float
    ) -> tuple[Array, Array]:
        """Intervals of differences of proportions, from one of each."""
        k = len(self.cells)
        own, clustered = (
            None
            if of is None
            else proportions.tables(self.chosen, of.reshape(*of.shape[:-1], k, k))
            for of in (cells, groups)
        )
        assert own is not None
        worth = [np.array([self.worth[pair[side]] for pair in wanted]) for side in (0, 1)]
        together = proportions.correlation(own, clustered)
        return proportions.mover(own, (worth[0], worth[1]), together, level=level)

    def too_few(self, run: int) -> str:
        known, test = self.chosen.definition, self.options.test
        if not known.divides_by or test == "mcnemar":
            return ""
        name, of = self.runs[run], "responses that the measure counts"
        has, least = int(summed(self.counts, known.divides_by)[run]), known.least
        if test != "bootstrap":
            return too_few(self.measure, name, has, least, of)
        least, fewer = max(least, LEAST_RESAMPLED), has
        if known.proportion is not None:
            right = int(summed(self.counts, known.proportion.successes)[run])
            fewer = min(right, has - right)
        return too_few(f"a bootstrap of {self.measure}", name, has, least, of) or too_few(
            f"a bootstrap of {self.measure}",
            name,
            fewer,
            LEAST_RARER,
            "responses with the rarer outcome",
        )

    def interval(self, run: int) -> Interval:
        return interval(
            self.chosen,
            self.counts[run],
            clusters=self._by_cluster(self.codes[run], 6),
            method=self.options.method,
            **self.made,
        )

    def errors_to_plan_with(self, errors: Array) -> Array:
        """Of a ratio, not below those with pseudo-counts."""
        if not self.chosen.definition.studentised:
            return errors
        f = difference(self.chosen)
        cells = self.joint.reshape(len(self.joint), -1).astype(np.float64) + f.prior
        padded = standard_error(f, cells, None)
        return np.asarray(np.where(errors > 0, np.maximum(errors, padded), errors))

    @cached_property
    def found(self) -> list[PValue]:
        """The p of each pair; not below that of its interval where that shows no difference.

        Swaps and resamples err where runs of equal score answer unlike parts of few questions or
        clusters, or where an outcome that was not seen would weigh much. The interval allows for
        both. Of many pairs it is looked at where their correction does, far out.
        """
        tested, options = self._tested(), self.options
        sound = options.test == "mcnemar" or (self.of_two_trials and self.of is None)
        if sound or not self.shows_spread:
            return tested
        loud = [k for k, own in enumerate(tested) if own.p <= options.alpha + CLOSE]
        for some, cells, groups in self.joint_cells(loud):
            low, high = self._default_limits(some, cells, groups, 1 - self.aim)
            for at in np.flatnonzero((low <= 0) & (high >= 0)):
                one = slice(at, at + 1)
                own = some[one], cells[one], None if groups is None else groups[one]
                p = max(tested[some[at]].p, interval_p(partial(self._default_limits, *own)))
                tested[some[at]] = replace(tested[some[at]], p=p, of_interval=True)
        return tested

    def _default_limits(
        self, some: Sequence[int], cells: Array, groups: Array | None, level: float
    ) -> tuple[Array, Array]:
        """The ends of the default interval of some pairs."""
        if self.of_two_trials:
            return self._mover(cells, groups, [self.wanted[k] for k in some], level)
        return beta(difference(self.chosen), cells, groups, level=level)

    def tested(self) -> list[PValue]:
        return self.found

    def _tested(self) -> list[PValue]:
        options, wanted, joint = self.options, self.wanted, self.joint
        done = 0

        def step(more: int) -> None:
            nonlocal done
            done += more
            options.progress(done, len(wanted))

        if options.test == "mcnemar":
            step(len(wanted))
            only_own, only_other = joint[:, 1:, 0].sum(axis=1), joint[:, 0, 1:].sum(axis=1)
            return [
                PValue(mcnemar(int(a), int(b)), exact=True)
                for a, b in zip(only_own, only_other, strict=True)
            ]
        if options.test == "bootstrap":
            return self._bootstrapped(step)
        made: Any = {"trials": options.trials, "seed": options.seed, "progress": step}
        if self.of is not None:
            tables = np.stack([self.by_unit(run) for run in range(len(self.runs))])
            return randomise_clusters(self.chosen, tables, wanted, self.flips, step)
        if self.of_two_trials:
            return proportions.p_values(proportions.tables(self.chosen, joint), **made)
        return randomise(self.chosen, joint, **made)

    def _bootstrapped(self, step: Callable[[int], None]) -> list[PValue]:
        f = difference(self.chosen)
        found = []
        for pair, joint in zip(self.wanted, self.joint, strict=True):
            values = resampled(
                f.value,
                joint.ravel().astype(np.float64),
                self.clustered_joint(*pair),
                trials=self.options.trials,
                generator=np.random.default_rng(self.options.seed),
            )
            found.append(PValue(bootstrap_p(values), exact=False))
            step(1)
        return found

    # ------------------------------------------------------------------------ what is said

    def score(self, run: int) -> float:
        return self.chosen(self.counts[run])

    def row(self, run: int) -> dict[str, Any]:
        found: dict[str, Any] = {"numbers": self.counts[run].to_dict()}
        if self.unknown.any():
            unknown = int(self.unknown[run])
            low, high = bounds_of(self.chosen, self.known[run], unknown)
            found |= {"unknown": unknown, "all_ways": all_ways(self.chosen, unknown)}
            found["bounds"] = {self.measure: (finite(low), finite(high))}
        if self.confusion is not None:
            score, span = correct_for_judge(
                self.chosen,
                THREE.merge(self.counts.table[run]),
                self.confusion,
                drawn=self.drawn,
                clusters=self._by_cluster(self.cells_of(run), len(self.cells)),
                level=self.options.level,
                seed=self.options.seed,
            )
            found["corrected"] = {self.measure: finite(score)}
            found["corrected_intervals"] = {self.measure: ends(span)}
        return found

    def facts(self) -> dict[str, Any]:
        found = {
            **self.common.facts(self.clusters_note()),
            "studentised": self.chosen.definition.studentised,
        }
        if len(self.runs) == 2:
            found["origin"] = origin_of(
                self.chosen, self.common.evaluation, self.wanted[0], self.by
            )
        if self.confusion is not None:
            found["judge_sample"] = int(self.confusion.sum())
            found["judge_drawn"] = self.drawn
            found["never_checked"] = never_checked(self.confusion, self.drawn)
        return found
