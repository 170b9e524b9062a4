"""Runs compared by their mean scores on common topics.

A mean of paired differences is the difference of two means, under any flip or resample: those are
made once for all runs, and each pair reads two columns.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from abstain.errors import UsageError, check_name, plural
from abstain.features.compare.comparison import Comparison, Options, too_few
from abstain.features.compare.result import Effect, units_text
from abstain.measures import measure
from abstain.measures.definition import Array
from abstain.rankings.scores import ScoreMatrix
from abstain.report.result import finite, read_as
from abstain.stats import hypotheses, intervals
from abstain.stats.intervals import Interval
from abstain.stats.planning import check_plan
from abstain.stats.randomisation import PValue

HALL = "hall"
"""The default interval: Student's t, widened where scores are skewed, as the test is."""
RESAMPLED = ("percentile", "bca")
METHODS = (HALL, "delta", *RESAMPLED)
"""The intervals that scores have; delta is Student's t alone."""
DIGITS = 44
"""Binary digits that count, of the largest score; further ones are rounding."""


def settled(scores: Array) -> Array:
    """Without what rounding makes of equal scores: 0.1 + 0.2 is 0.3."""
    _, exponent = math.frexp(float(np.abs(scores).max(initial=0.0)))
    step = math.ldexp(1.0, max(exponent, -900) - DIGITS)
    return np.asarray(np.round(scores / step) * step)


class ScoreComparison(Comparison):
    """Scores of runs by one measure on the topics that all of them have, summed by cluster."""

    def __init__(self, matrix: ScoreMatrix, options: Options) -> None:
        check_plan(detect=options.detect, power=options.power, level=options.level)
        usual = "delta" if options.test == "student" else HALL
        method = usual if options.method in ("", "default", "auto") else options.method
        check_name("interval method of scores", method, METHODS)
        if len(matrix.runs) < 2:
            raise UsageError(f"a comparison needs two runs (got {plural(len(matrix.runs), 'run')})")
        if options.test == "mcnemar":
            raise UsageError("McNemar's test is for right and wrong; use t, wilcoxon or sign")
        if options.test in ("wilcoxon", "sign") and matrix.cluster is not None:
            raise UsageError(f"{options.test} does not support clusters; use t or randomisation")
        options = replace(options, method=method)
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
        self.totals, self.sizes = scores, np.ones(scores.shape[1])
        self.of_topic = clusters = complete.clusters()
        if clusters is not None:
            self.sizes = np.bincount(clusters).astype(np.float64)
            self.totals = np.stack([np.bincount(clusters, row) for row in scores])
        self.groups = len(self.sizes)
        self.clusters = None if clusters is None else self.groups
        self._paired: dict[tuple[int, int], hypotheses.Paired] = {}
        self.flips = hypotheses.Flips(self.groups, trials=options.resamples, seed=options.seed)
        if options.test in ("randomisation", "bootstrap") or options.method in RESAMPLED:
            options.check_held(len(scores))

    @cached_property
    def flipped(self) -> Array:
        return self.flips @ self.totals.T

    @cached_property
    def resampled(self) -> Array:
        table = np.vstack([self.totals, self.sizes]).T
        return intervals.resampled(
            lambda sums: sums[:, :-1] / sums[:, -1:],
            table.sum(axis=0),
            table,
            trials=self.options.resamples,
            generator=np.random.default_rng(self.options.seed),
        )

    def intervals(self) -> tuple[list[Interval], Array]:
        pairs = [self._interval(i, j) for i, j in self.wanted]
        return [span for span, _ in pairs], np.array([error for _, error in pairs])

    def interval(self, run: int) -> Interval:
        return self._interval(run, None)[0]

    def _interval(self, i: int, j: int | None) -> tuple[Interval, float]:
        method, level = self.options.method, self.options.level
        if self.groups < 2:
            what = self.unit if self.clusters is None else "cluster"
            return Interval.none(method, f"there is only one {what}"), math.nan
        pair = self.paired(i, j)
        whole = pair.whole
        if method not in RESAMPLED:
            low, high = pair.limits(level) if method == HALL else whole.limits(level)
            least, most = self.bounds if j is None else (-self.widest, self.widest)
            return Interval(max(low, least), min(high, most), method), whole.error
        values, totals = self.resampled[:, i], self.totals[i]
        if j is not None:
            values, totals = values - self.resampled[:, j], totals - self.totals[j]
        tails = (1 - level) / 2, (1 + level) / 2
        if method == "bca":
            left = (totals.sum() - totals) / (self.sizes.sum() - self.sizes)
            ones = np.ones(self.groups)
            tails = intervals.levels_from_jackknife(whole.value, values, left, ones, level=level)
        return intervals.between(values, tails, method), whole.error

    def paired(self, i: int, j: int | None) -> hypotheses.Paired:
        if j is None:
            return hypotheses.Paired.of(self.totals[i], self.sizes, np.ones(self.groups, np.bool_))
        if (i, j) not in self._paired:
            differs = hypotheses.signed_gaps(self.each[i] - self.each[j]) != 0
            if self.of_topic is not None:
                differs = np.bincount(self.of_topic, differs) > 0
            totals = self.totals[i] - self.totals[j]
            self._paired[i, j] = hypotheses.Paired.of(totals, self.sizes, differs)
        return self._paired[i, j]

    def tested(self) -> list[PValue]:
        return [self._p(i, j) for i, j in self.wanted]

    def _p(self, i: int, j: int) -> PValue:
        self.step()
        gaps = self.each[i] - self.each[j]
        match self.options.test:
            case "sign":
                signed = hypotheses.signed_gaps(gaps)
                won, lost = int((signed > 0).sum()), int((signed < 0).sum())
                return PValue(hypotheses.mcnemar(won, lost), exact=True)
            case "wilcoxon":
                return hypotheses.wilcoxon(gaps)
            case "randomisation":
                drawn = self.flipped[:, i] - self.flipped[:, j]
                totals = self.totals[i] - self.totals[j]
                return hypotheses.counted_scores(drawn, totals, exact=self.flips.exact)
            case "student":
                return PValue(self._student(i, j), exact=False, why_not=self._all_equal(i, j))
        why_not, by_t = self._too_few(i, j), self.paired(i, j).p()
        if self.options.test == "t":
            return PValue(by_t, exact=False, why_not=why_not)
        # where most topics tie, or differences are skewed, resamples alone err too often
        p = hypotheses.bootstrap_p(self.resampled[:, i] - self.resampled[:, j])
        by_interval = p <= self.options.alpha and by_t > max(p, self.aim)
        p = by_t if by_interval else p
        return PValue(p, exact=False, of_interval=by_interval, why_not=why_not)

    def _student(self, i: int, j: int) -> float:
        """The plain paired t-test's p; NaN where the differences show no spread."""
        pair = self.paired(i, j).whole
        return pair.p() if self.groups > 1 or not pair.value else math.nan

    def plain(self) -> Array:
        by_t = self.options.test == "t"
        return np.array([self._student(i, j) if by_t else math.nan for i, j in self.wanted])

    def _all_equal(self, i: int, j: int) -> str:
        pair = self.paired(i, j).whole
        if pair.varies or not pair.value:
            return ""
        equal = "the differences are all equal: use the randomisation test"
        return "a t-test needs two or more" if self.groups < 2 else equal

    def _too_few(self, i: int, j: int) -> str:
        pair = self.paired(i, j)
        if not pair.whole.varies:
            return self._all_equal(i, j) if self.groups > 1 else ""
        what = units_text(2, self.unit if self.clusters is None else "cluster")[2:]
        seen = f"the scores differ on too few {what} to show whether differences are skewed"
        return too_few("a test of means", seen, pair.differing, hypotheses.LEAST_DIFFERING)

    def effect(self, i: int, j: int) -> Effect:
        gaps = self.each[i] - self.each[j]
        signed = hypotheses.signed_gaps(gaps) * (1 if self.higher_is_better else -1)
        wins, losses = int((signed > 0).sum()), int((signed < 0).sum())
        mean, root = hypotheses.Mean.of(gaps, np.ones(len(gaps))), math.sqrt(len(gaps))
        distinct = len(np.unique(signed))
        varies = distinct > 1 and mean.error > 0
        return Effect(
            standardised=finite(mean.value / (mean.error * root)) if varies else None,
            wins=wins,
            ties=len(signed) - wins - losses,
            losses=losses,
            skewness=finite(mean.skewness * root) if varies else None,
            distinct=distinct,
        )

    def facts(self) -> dict[str, Any]:
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
