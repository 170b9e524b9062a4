"""Runs compared by what is not counted: mean scores on topics, measures of confidence.

All runs share their resamples of units, and all pairs their swaps. A mean of paired differences is
the difference of two means, under any flip or resample: each pair reads two columns.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from abstain.errors import UsageError, check_name, option, plural
from abstain.features.compare.comparison import Common, Comparison, OfQuestions, Options, too_few
from abstain.features.compare.result import Effect, units_text
from abstain.measures import Measure, measure
from abstain.measures.definition import Array, BoolArray, IntArray
from abstain.rankings.scores import ScoreMatrix
from abstain.report.result import finite, read_as
from abstain.stats import confidence_intervals, hypotheses, intervals
from abstain.stats.confidence_intervals import BLOCK, OF_INFLUENCE, Scale
from abstain.stats.hypotheses import Flips, bootstrap_p
from abstain.stats.intervals import DEFAULT, Interval
from abstain.stats.planning import check_plan
from abstain.stats.randomisation import PValue, extreme, p_of
from abstain.stats.swapped_answers import answers_of, used_by

HALL = "hall"
"""The default interval: Student's t, widened where scores are skewed, as the test is."""
RESAMPLED = ("percentile", "bca")
METHODS = (HALL, "delta", *RESAMPLED)
DIGITS = 44
"""Binary digits that count, of the largest score; further ones are rounding."""
CLOSE = 1e-9
"""As a share of what was seen: statistics nearer than this are equal."""
NO_SPREAD = 1e-12
RARER = 0.25
"""Of the answers that a test needs, right ones and wrong ones alike."""
ALIKE = 0.9
"""Of the answers of the run that has most: so many make biased measures comparable."""
MOST_SORTED = 1 << 22


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
        self.flips = Flips(self.groups, trials=options.resamples, seed=options.seed)
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
        spans, errors = zip(*(self._interval(i, j) for i, j in self.wanted), strict=True)
        return list(spans), np.array(errors)

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
        p = bootstrap_p(self.resampled[:, i] - self.resampled[:, j])
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
    try:
        low, high = measure(name).bounds
    except UsageError:
        return -math.inf, math.inf
    inside = bool((scores >= low).all() and (scores <= high).all())
    return (float(low), float(high)) if inside else (-math.inf, math.inf)


class ConfidenceComparison(OfQuestions):
    """Runs as sequences of answers, the surest first, and what is made of them."""

    def __init__(self, common: Common, chosen: Measure, options: Options) -> None:
        if options.test == "mcnemar":
            raise UsageError("McNemar's test is for right and wrong; use randomisation")
        resampled = options.test == "bootstrap" or options.detect is not None
        if chosen.definition.bootstrap_biased and resampled:
            raise UsageError(
                f"{chosen.name} is biased upwards in any sample: it takes neither "
                f"{option('test', 'bootstrap')} nor {option('detect')}"
            )
        self.smooth = options.method in (DEFAULT, OF_INFLUENCE)
        options = replace(options, method=confidence_intervals.method_of(chosen, options.method))
        super().__init__(common, chosen, options)
        data, score = common.evaluation.data, cast("Callable[..., float]", chosen)
        self.samples = [
            confidence_intervals.sample_of(codes, sure, self.cluster_of)
            for codes, sure in zip(data.codes, data.confidence, strict=True)
        ]
        self.scores = [score(sample.answers) for sample in self.samples]
        self.units = self.samples[0].size
        self.clusters = None if self.cluster_of is None else self.units
        self.answers = answers_of(chosen, self.samples)
        options.check_held(len(self.runs))
        self.flips = Flips(self.units, trials=options.resamples, seed=options.seed)
        self.can_resample = self.units > 1 and not chosen.definition.bootstrap_biased
        gaps = super().differences
        gaps[np.abs(gaps) < NO_SPREAD] = 0.0  # scores that are equal but for the order of a sum
        is_swapped = options.test == "randomisation"
        self.swappable = np.flatnonzero(~np.isnan(gaps)).tolist() if is_swapped else []

    @property
    def steps(self) -> int:
        resamples = self.options.resamples * len(self.runs) * self.can_resample
        return resamples + self.flips.trials * len(self.swappable)

    @cached_property
    def values(self) -> Array | None:
        if not self.can_resample:
            return None
        total, seed = self.options.resamples, self.options.seed
        values = np.empty((total, len(self.samples)))
        for some, times in confidence_intervals.draws(self.units, trials=total, seed=seed):
            values[some] = self.answers.resampled(times)
            self.step(len(times.T) * len(self.samples))
        return values

    @cached_property
    def left(self) -> Array:
        parts = confidence_intervals.left_out(self.units)
        return np.concatenate([self.answers.resampled(times) for times in parts])

    def intervals(self) -> tuple[list[Interval], Array]:
        values = self.values
        spans = self._by_influence() if self.smooth and values is not None else []
        spans = spans or [self.interval(i, j) for i, j in self.wanted]
        if values is None:
            return spans, np.full(len(self.wanted), np.nan)
        known = [d[~np.isnan(d)] for d in (values[:, i] - values[:, j] for i, j in self.wanted)]
        errors = [np.std(d, ddof=1) if len(d) > 1 else math.nan for d in known]
        return spans, np.array([0.0 if error < NO_SPREAD else error for error in errors])

    def interval(self, i: int, j: int | None = None) -> Interval:
        o, values = self.options, self.values
        observed = self.scores[i] - (0.0 if j is None else self.scores[j])
        clustered = self.clusters is not None
        why = confidence_intervals.why_none(self.chosen, self.units, observed, clustered=clustered)
        if why or values is None:
            return Interval.none(o.method, why)
        tables = [values, self.left] if o.method == "bca" else [values]
        drawn = [t[:, i] if j is None else t[:, i] - t[:, j] for t in tables]
        made: Any = {"method": o.method, "level": o.level}
        return confidence_intervals.resampled_interval(observed, *drawn, **made)

    def _by_influence(self) -> list[Interval]:
        if not self.answers.has_influence:
            return []
        scale, known = Scale(*self.chosen.bounds), ~np.isnan(self.scores)
        moved = {i: self.answers.moved(i) for i in np.flatnonzero(known).tolist()}
        both = zip(self.samples, self.used, strict=True)
        units = [len(np.unique(sample.unit[used])) for sample, used in both]

        def span(i: int, j: int) -> Interval:
            if not (known[i] and known[j]):
                return Interval.none(OF_INFLUENCE, "the value is undefined")
            values, pair = (self.scores[i], self.scores[j]), np.stack([moved[i], moved[j]])
            many, level = (units[i], units[j]), self.options.level
            return confidence_intervals.difference_interval(scale, values, pair, many, level=level)

        return [span(i, j) for i, j in self.wanted]

    def _swapped(self) -> tuple[IntArray, IntArray]:
        """For each pair, how many swaps show as large a difference, and how many have no value."""
        hits, lost = np.zeros((2, len(self.wanted)), np.int64)
        straight, size = np.ones((1, self.units)), max(1, 16 * BLOCK // self.units)
        at_once = max(1, MOST_SORTED // (2 * self.questions))
        for start in range(0, len(self.swappable), at_once):
            some = self.swappable[start : start + at_once]
            pairs = {k: self.answers.pair(*self.wanted[k]) for k in some}
            seen = {k: two.swapped(straight)[0] for k, two in pairs.items()}
            for block in self.flips.blocks():
                for signs in (block[at : at + size] for at in range(0, len(block), size)):
                    for k, two in pairs.items():
                        swapped = two.swapped(signs)
                        close = CLOSE * max(1.0, abs(seen[k]))
                        hits[k] += np.count_nonzero(extreme(swapped, seen[k], close))
                        lost[k] += np.count_nonzero(np.isnan(swapped))
                        self.step(len(signs))
        return hits, lost

    def tested(self) -> list[PValue]:
        if self.options.test != "bootstrap":
            exact, (hits, lost) = self.flips.exact, self._swapped()
            p = np.asarray(p_of(hits.astype(np.float64), self.flips.trials, exact=exact))
            both = zip(p.tolist(), lost.tolist(), strict=True)
            return [PValue(value, exact=exact, undefined=gone) for value, gone in both]
        values = self.values
        return [
            PValue(1.0 if values is None else bootstrap_p(values[:, i] - values[:, j]), exact=False)
            for i, j in self.wanted
        ]

    @cached_property
    def used(self) -> list[BoolArray]:
        return [used_by(self.chosen, sample.answers) for sample in self.samples]

    def too_few(self, run: int) -> str:
        known, sizes = self.chosen.definition, [int(used.sum()) for used in self.used]
        name, size = self.runs[run], sizes[run]
        right = int(np.count_nonzero(self.samples[run].answers.right & self.used[run]))
        kind, test = "right" if 2 * right < size else "wrong", f"a test by {self.measure}"
        fewer, least = min(right, size - right), math.ceil(RARER * known.least)
        like_most = math.ceil(ALIKE * max(sizes)) if known.bootstrap_biased else 0
        seen = f"{name} has only {size:,} answers"
        return (
            too_few(test, seen, size, known.least)
            or too_few(test, f"{name} has only {fewer:,} {kind} answers", fewer, least)
            or too_few(test, f"{seen}, another run {max(sizes):,}", size, like_most)
        )

    def row(self, run: int) -> dict[str, Any]:
        answers = self.samples[run].answers
        gone = answers.count(~answers.stated)
        return {
            "numbers": self.counts[run].to_dict(),
            "unknown": int(self.unknown[run]),
            "unstated": int(gone) if gone < answers.size else 0,
        }

    def facts(self) -> dict[str, Any]:
        return {
            **self.common.facts(),
            "studentised": self.answers.studentised,
            "biased": self.chosen.definition.bootstrap_biased,
            "swaps": self.flips.trials if self.swappable else None,
        }
