"""Runs compared by a measure of confidence: its answers in sequence, resampled and swapped.

All runs share their resamples, and all pairs their swaps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from abstain.errors import UsageError, option
from abstain.features.compare.comparison import Common, OfQuestions, Options, too_few
from abstain.measures import Measure
from abstain.measures.definition import Array, BoolArray, IntArray
from abstain.stats import confidence_intervals
from abstain.stats.confidence_intervals import BLOCK, OF_INFLUENCE, Scale
from abstain.stats.hypotheses import Flips, bootstrap_p
from abstain.stats.intervals import DEFAULT, Interval
from abstain.stats.randomisation import PValue, extreme, p_of
from abstain.stats.swapped_answers import answers_of, used_by

CLOSE = 1e-9
"""As a share of what was seen: statistics nearer than this are equal."""
NO_SPREAD = 1e-12
RARER = 0.25
"""Of the answers that a test needs, right ones and wrong ones alike."""
ALIKE = 0.9
"""Of the answers of the run that has most: so many make biased measures comparable."""
MOST_SORTED = 1 << 22
"""Answers of pairs sorted at once."""


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
        """Scores of all runs in the same resamples (resamples, runs); None: they show nothing."""
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
