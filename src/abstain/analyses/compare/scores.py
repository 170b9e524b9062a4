"""Runs compared by their mean scores on common topics.

A mean of paired differences is the difference of two means, under any flip or resample: those are
made once for all runs, and each pair reads two columns.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.analyses.compare.result import Effect
from abstain.analyses.compare.work import Options, Work, compared
from abstain.analyses.result import finite, read_as
from abstain.errors import UsageError, plural
from abstain.measures import measure
from abstain.rankings.scores import ScoreMatrix
from abstain.stats.hypotheses import (
    Flips,
    bootstrap_p,
    counted_scores,
    sign_test,
    signed_gaps,
    wilcoxon,
)
from abstain.stats.intervals import Interval, between, levels_from_jackknife, resampled
from abstain.stats.means import LEAST_DIFFERING, Mean, Paired
from abstain.stats.planning import check_plan
from abstain.stats.randomisation import PValue

if TYPE_CHECKING:
    from abstain.analyses.compare.result import CompareResult
    from abstain.outcomes import Array

HALL = "hall"
"""The default interval: Student's t, widened where scores are skewed, as the test is."""
METHODS = ("delta", "percentile", "bca")
"""Other intervals; delta is Student's t alone."""
RESAMPLED = METHODS[1:]
DRAWN = ("randomisation", "bootstrap")
"""Tests by random trials."""
OF_MEANS = ("t", "bootstrap")
"""Tests whose null hypothesis is that the means are equal, and no more."""
ALONE = ("wilcoxon", "sign")
"""Tests that know no clusters."""
DIGITS = 44
"""Binary digits that count, of the largest score; further ones are rounding."""


def compare_scores(matrix: ScoreMatrix, options: Options) -> CompareResult:
    """Compare runs by one measure on the topics that all of them have a score on."""
    method = HALL if options.method in ("", "default", "auto") else options.method
    check_plan(detect=options.detect, power=options.power, level=options.level)
    if method not in (HALL, *METHODS):
        known = ", ".join((HALL, *METHODS))
        raise UsageError(f"scores take the interval methods {known} (got '{method}')")
    if options.test == "mcnemar":
        raise UsageError(
            "McNemar's test is for right and wrong; for scores use t, wilcoxon or sign"
        )
    if options.test in ALONE and matrix.cluster is not None:
        name = "Wilcoxon's test" if options.test == "wilcoxon" else "the sign test"
        raise UsageError(f"{name} does not support clusters; use t or randomisation")
    return compared(ScoreWork(matrix, replace(options, method=method)))


def settled(scores: Array) -> Array:
    """Without what rounding makes of equal scores: 0.1 + 0.2 is 0.3."""
    _, exponent = math.frexp(float(np.abs(scores).max(initial=0.0)))
    step = math.ldexp(1.0, max(exponent, -900) - DIGITS)
    return np.asarray(np.round(scores / step) * step)


class ScoreWork(Work):
    """Scores of runs, summed by cluster where there are some."""

    def __init__(self, matrix: ScoreMatrix, options: Options) -> None:
        self.matrix, self.options = matrix, options
        complete = matrix.complete()
        self.measure, self.unit = f"mean {matrix.measures[0]}", matrix.unit
        self.higher_is_better = matrix.higher_is_better[0]
        self.runs = list(complete.runs)
        self.each = scores = settled(complete.scores())
        self.scores = scores.mean(axis=1)
        self.questions = scores.shape[1]
        self.bounds = _bounds(matrix.measures[0], scores)
        self.widest = self.bounds[1] - self.bounds[0]
        clusters = complete.clusters()
        if clusters is None:
            self.totals, self.sizes = scores, np.ones(scores.shape[1])
        else:
            self.sizes = np.bincount(clusters).astype(np.float64)
            self.totals = np.stack([np.bincount(clusters, own) for own in scores])
        self.groups = len(self.sizes)
        self.of_topic = clusters
        self.clusters = None if clusters is None else self.groups
        self._paired: dict[tuple[int, int], Paired] = {}
        self.flips = Flips(self.groups, trials=options.trials, seed=options.seed)
        if options.test in DRAWN or options.method in RESAMPLED:
            options.check_held(len(scores), "systems")

    @cached_property
    def flipped(self) -> Array:
        """Sums of all runs (trials, runs) under each row of signs."""
        return self.flips @ self.totals.T

    @cached_property
    def resampled(self) -> Array:
        """Means of all runs (trials, runs) in each resample of topics or clusters."""
        table = np.vstack([self.totals, self.sizes]).T
        return resampled(
            lambda sums: sums[:, :-1] / sums[:, -1:],
            table.sum(axis=0),
            table,
            trials=self.options.trials,
            generator=np.random.default_rng(self.options.seed),
        )

    def intervals(self) -> tuple[list[Interval], Array]:
        """Of the mean of each pair's differences."""
        found = [self._interval(i, j) for i, j in self.wanted]
        return [span for span, _ in found], np.array([error for _, error in found])

    def interval(self, run: int) -> Interval:
        """Of a run's mean."""
        return self._interval(run, None)[0]

    def _interval(self, i: int, j: int | None) -> tuple[Interval, float]:
        method, level = self.options.method, self.options.level
        if self.groups < 2:
            what = "topic" if self.clusters is None else "cluster"
            return Interval.none(method, f"there is only one {what}"), math.nan
        found = self.paired(i, j)
        whole = found.whole
        if method not in RESAMPLED:
            low, high = found.limits(level) if method == HALL else whole.limits(level)
            least, most = self.bounds if j is None else (-self.widest, self.widest)
            return Interval(max(low, least), min(high, most), method), whole.error
        drawn = self.resampled
        values = drawn[:, i] if j is None else drawn[:, i] - drawn[:, j]
        tails = (1 - level) / 2, (1 + level) / 2
        if method == "bca":
            totals = self.totals[i] if j is None else self.totals[i] - self.totals[j]
            left = (totals.sum() - totals) / (self.sizes.sum() - self.sizes)
            tails = levels_from_jackknife(
                whole.value, values, left, np.ones(self.groups), level=level
            )
        return between(values, tails, method), whole.error

    def paired(self, i: int, j: int | None) -> Paired:
        """The mean of a pair's differences, over all topics and over those that differ."""
        if j is None:
            return Paired.of(self.totals[i], self.sizes, np.ones(self.groups, np.bool_))
        if (i, j) not in self._paired:
            differs = signed_gaps(self.each[i] - self.each[j]) != 0
            if self.of_topic is not None:
                differs = np.bincount(self.of_topic, differs) > 0
            self._paired[i, j] = Paired.of(self.totals[i] - self.totals[j], self.sizes, differs)
        return self._paired[i, j]

    def tested(self) -> list[PValue]:
        """All pairs share flips and resamples."""
        found = []
        for number, pair in enumerate(self.wanted, 1):
            found.append(self._p(*pair))
            self.options.progress(number, len(self.wanted))
        return found

    def _p(self, i: int, j: int) -> PValue:
        match self.options.test:
            case "bootstrap":
                return self._bootstrapped(i, j)
            case "randomisation":
                drawn, own = self.flipped, self.totals[i] - self.totals[j]
                return counted_scores(drawn[:, i] - drawn[:, j], own, exact=self.flips.exact)
            case "t":
                return PValue(self.paired(i, j).p(), exact=False, why_not=self._too_few(i, j))
            case "sign":
                return PValue(sign_test(self.each[i] - self.each[j]), exact=True)
            case _:
                return wilcoxon(self.each[i] - self.each[j])

    def _too_few(self, i: int, j: int) -> str:
        """Why a test of means would not hold its level, or cannot be; nothing where it does.

        Runs that differ nowhere need no test.
        """
        found = self.paired(i, j)
        if not found.whole.varies:
            alike = "Student's t needs differences that vary, but they are all equal: use the "
            return f"{alike}randomisation test" if found.whole.value and self.groups > 1 else ""
        if found.differing >= LEAST_DIFFERING:
            return ""
        one = "cluster of equal size" if self.clusters is not None else self.unit
        what = {"query": "queries", "cluster of equal size": "clusters of equal size"}.get(one)
        return (
            f"the scores differ on fewer than {plural(LEAST_DIFFERING, one, what)}: too few to "
            "show whether the differences are skewed, and if they are, a test or an interval of "
            "the means finds differences too often; the randomisation test can be used instead, "
            "but it tests whether the two runs could be exchanged, not whether their means differ"
        )

    def _bootstrapped(self, i: int, j: int) -> PValue:
        """By resamples; by Student's t, as the interval, where that shows no difference.

        Where most topics tie, or differences are skewed, resamples alone err too often.
        """
        drawn, why_not = self.resampled, self._too_few(i, j)
        p, by_t = bootstrap_p(drawn[:, i] - drawn[:, j]), self.paired(i, j).p()
        if p <= self.options.alpha and by_t > max(p, self.aim):
            return PValue(by_t, exact=False, of_interval=True, why_not=why_not)
        return PValue(p, exact=False, why_not=why_not)

    def effect(self, i: int, j: int) -> Effect:
        """How large the difference is beside the spread of the topics' differences."""
        gaps = self.each[i] - self.each[j]
        own = signed_gaps(gaps)
        better, worse = int((own > 0).sum()), int((own < 0).sum())
        wins, losses = (better, worse) if self.higher_is_better else (worse, better)
        mean, root = Mean.of(gaps, np.ones(len(gaps))), math.sqrt(len(gaps))
        varies = len(distinct := np.unique(own)) > 1 and mean.error > 0
        return Effect(
            standardised=finite(mean.value / (mean.error * root)) if varies else None,
            wins=wins,
            ties=len(own) - wins - losses,
            losses=losses,
            skewness=finite(mean.skewness * root) if varies else None,
            distinct=len(distinct),
        )

    # ------------------------------------------------------------------------ what is said

    def facts(self) -> dict[str, Any]:
        """What was there before topics that not all runs have were left out."""
        return {
            **read_as(self.matrix),
            "questions_in_all": len(self.matrix.topics),
            "absent": self.matrix.absent,
            "undefined_on": self.matrix.undefined_on,
            "unit": self.matrix.unit,
            "cluster": self.matrix.cluster,
        }


def _bounds(name: str, scores: Array) -> tuple[float, float]:
    """The range of a measure that we know by its name, if the scores lie in it."""
    try:
        low, high = measure(name).bounds
    except UsageError:
        return -math.inf, math.inf
    inside = bool((scores >= low).all() and (scores <= high).all())
    return (float(low), float(high)) if inside else (-math.inf, math.inf)
