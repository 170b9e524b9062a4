"""Runs compared by a measure of confidence: its answers in sequence, resampled and swapped.

All runs share their resamples, and all pairs their swaps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.analyses.compare.work import Options, Progress, Work, compared, too_few
from abstain.errors import UsageError, option, plural
from abstain.measures import Measure
from abstain.stats.functional import few_clusters
from abstain.stats.hypotheses import Flips, bootstrap_p
from abstain.stats.intervals import DEFAULT, Interval
from abstain.stats.of_confidence import (
    BLOCK,
    OF_INFLUENCE,
    Scale,
    difference_interval,
    draws,
    left_out,
    method_of,
    resampled_interval,
    sample_of,
    why_none,
)
from abstain.stats.randomisation import PValue, extreme, p_of
from abstain.stats.swapped_answers import answers_of, used_by

if TYPE_CHECKING:
    from abstain.analyses.compare.comparing import Common
    from abstain.analyses.compare.result import CompareResult
    from abstain.outcomes import Array, IntArray
    from abstain.stats.swapped_answers import MeansOfTwo, TwoRuns

CLOSE = 1e-9
"""As a share of what was seen: statistics nearer than this are equal."""
NO_SPREAD = 1e-12
RARER = 0.25
"""Of the answers that a test needs, right ones and wrong ones alike."""
ALIKE = 0.9
"""Of the answers of the run that has most: so many make biased measures comparable."""
MOST_SORTED = 1 << 22
"""Answers of pairs sorted at once."""


def compare_confidence(common: Common, chosen: Measure, options: Options) -> CompareResult:
    """Compare paired runs by a measure of confidence; what it cannot do is refused in one line."""
    if options.test == "mcnemar":
        raise UsageError(
            f"McNemar's test compares right and wrong, but {chosen} is a measure of confidence; "
            "use randomisation"
        )
    if chosen.definition.bootstrap_biased:
        biased = f"{chosen.name} is biased upwards in any sample, and a bootstrap adds to the bias"
        if options.test == "bootstrap":
            raise UsageError(f"{biased}; take randomisation")
        if options.detect is not None:
            raise UsageError(
                f"{biased}: there is no standard error to plan with ({option('detect')})"
            )
    return compared(ConfidentWork(common, chosen, options))


class _Steps:
    """Progress in runs resampled and pairs swapped, by their share of the trials."""

    def __init__(self, progress: Progress, total: int) -> None:
        self.progress, self.total, self.before = progress, total, 0

    def __call__(self, steps: int, share: float) -> None:
        """So many steps are under way, of which a share is done."""
        self.progress(min(self.total, self.before + int(steps * share)), self.total)
        if share >= 1:
            self.before += steps


class ConfidentWork(Work):
    """Runs as sequences of answers, the surest first, and what is made of them."""

    def __init__(self, common: Common, chosen: Measure, options: Options) -> None:
        self.common, self.chosen, self.measure = common, chosen, str(chosen)
        self.smooth = options.method in (DEFAULT, OF_INFLUENCE)
        self.options = options = replace(options, method=method_of(chosen, options.method))
        view = common.evaluation
        clusters = view.clusters()
        self.samples = [
            sample_of(own, sure, clusters)
            for own, sure in zip(view.codes, view.confidence, strict=True)
        ]
        self.runs, self.questions = list(view.runs), len(view)
        self.counts, (_, self.unknown) = view.overall(), common.unknown()
        score: Callable[..., float] = chosen
        self.scores = [score(sample.answers) for sample in self.samples]
        self.higher_is_better = chosen.higher_is_better
        self.widest = chosen.bounds[1] - chosen.bounds[0]
        self.units = self.samples[0].size
        self.clusters = None if clusters is None else self.units
        self.answers = answers_of(chosen, self.samples)
        options.check_held(len(self.runs), "runs")
        steps = (len(self.runs) if self.resamples else 0) + len(self.swappable)
        self.done = _Steps(options.progress, steps)

    @cached_property
    def differences(self) -> Array:
        """The difference of each pair; none where scores are equal but for the order of a sum."""
        found = np.array([self.scores[i] - self.scores[j] for i, j in self.wanted])
        found[np.abs(found) < NO_SPREAD] = 0.0
        return found

    @property
    def resamples(self) -> bool:
        """Whether resamples show anything."""
        return self.units > 1 and not self.chosen.definition.bootstrap_biased

    @cached_property
    def values(self) -> Array | None:
        """The scores of all runs in the same resamples (trials, runs); None: they show nothing."""
        if not self.resamples:
            return None
        trials = self.options.trials
        values = np.empty((trials, len(self.samples)))
        for some, times in draws(
            self.units, trials=trials, width=self.units, seed=self.options.seed
        ):
            values[some] = self.answers.resampled(times)
            self.done(len(self.samples), some.stop / trials)
        return values

    @cached_property
    def left(self) -> Array:
        """The scores of all runs without each part of the units in turn (parts, runs)."""
        parts = left_out(self.units, width=self.units)
        return np.concatenate([self.answers.resampled(times) for times in parts])

    def intervals(self) -> tuple[list[Interval], Array]:
        """By influence where that is known and nothing else is asked for, or by resamples."""
        values = self.values
        spans = self._by_influence() if self.smooth and values is not None else []
        spans = spans or [self.interval(i, j) for i, j in self.wanted]
        if values is None:
            return spans, np.full(len(self.wanted), np.nan)
        drawn = (values[:, i] - values[:, j] for i, j in self.wanted)
        found = [
            float(np.std(known, ddof=1)) if len(known := d[~np.isnan(d)]) > 1 else math.nan
            for d in drawn
        ]
        return spans, np.array([0.0 if error < NO_SPREAD else error for error in found])

    def interval(self, i: int, j: int | None = None) -> Interval:
        """An interval of a run's score, or of the difference from another's, by resamples."""
        o, values = self.options, self.values
        observed = self.scores[i] - (0.0 if j is None else self.scores[j])
        clustered = self.clusters is not None
        why = why_none(self.chosen, self.units, observed, clustered=clustered)
        if why or values is None:
            return Interval.none(o.method, why)
        tables = [values, self.left] if o.method == "bca" else [values]
        drawn = [t[:, i] if j is None else t[:, i] - t[:, j] for t in tables]
        left = drawn[1] if len(drawn) > 1 else None
        return resampled_interval(observed, drawn[0], left, method=o.method, level=o.level)

    def _by_influence(self) -> list[Interval]:
        """Intervals of differences from the influence of each answer; nothing where not known."""
        if not self.answers.has_influence:
            return []
        scale = Scale.of(self.chosen)
        known = ~np.isnan(self.scores)
        moved = [self.answers.moved(i) if ok else None for i, ok in enumerate(known)]
        there = [
            len(np.unique(sample.unit[used_by(self.chosen, sample.answers)]))
            for sample in self.samples
        ]
        found = []
        for i, j in self.wanted:
            one, two = moved[i], moved[j]
            if one is None or two is None:
                found.append(Interval.none(OF_INFLUENCE, "the value is undefined"))
                continue
            values, units = (self.scores[i], self.scores[j]), (there[i], there[j])
            both = np.stack([one, two])
            found.append(difference_interval(scale, values, both, units, level=self.options.level))
        return found

    @cached_property
    def swappable(self) -> list[int]:
        """The pairs that are swapped: those with a difference, where swaps are asked for."""
        if self.options.test != "randomisation":
            return []
        return np.flatnonzero(~np.isnan(self.differences)).tolist()

    @cached_property
    def swaps(self) -> _Swaps:
        """What swapping units makes of the pairs."""
        o = self.options
        flips = Flips(self.units, trials=o.trials, seed=o.seed)
        found = _Swaps(flips, len(self.wanted))
        at_once = max(1, MOST_SORTED // (2 * self.questions))
        for start in range(0, len(self.swappable), at_once):
            some = self.swappable[start : start + at_once]
            found.add({k: self.answers.pair(*self.wanted[k]) for k in some}, self.done)
        return found

    def tested(self) -> list[PValue]:
        """By swaps; or by resamples, where one unit shows no spread and has a p of 1."""
        if self.options.test != "bootstrap":
            return self.swaps.p_values
        values = self.values
        return [
            PValue(1.0 if values is None else bootstrap_p(values[:, i] - values[:, j]), exact=False)
            for i, j in self.wanted
        ]

    def undefined_swaps(self) -> IntArray:
        """Those that leave a run without a value."""
        return self.swaps.lost

    def clusters_note(self) -> str:
        of = self.common.evaluation.clusters()
        return "" if of is None else few_clusters(np.bincount(of).astype(np.float64))

    def too_few(self, run: int) -> str:
        """By the answers that the measure takes; a biased one needs as many of each run."""
        known, sizes = self.chosen.definition, self.sizes
        name, answers = self.runs[run], self.samples[run].answers
        used = used_by(self.chosen, answers)
        right = int(np.count_nonzero(answers.right & used))
        rarer = "right" if 2 * right < sizes[run] else "wrong"
        fewer, least = min(right, sizes[run] - right), math.ceil(RARER * known.least)
        why = too_few(self.measure, name, sizes[run], known.least) or too_few(
            self.measure, name, fewer, least, f"{rarer} answers"
        )
        if why or not known.bootstrap_biased or sizes[run] >= ALIKE * max(sizes):
            return why
        return (
            f"{self.runs[run]} has {plural(sizes[run], 'answer')}, but another run has "
            f"{max(sizes):,}: with fewer answers {self.measure} is larger by chance"
        )

    @cached_property
    def sizes(self) -> list[int]:
        """The answers of each run that the measure takes."""
        used = (used_by(self.chosen, sample.answers) for sample in self.samples)
        return [int(np.count_nonzero(own)) for own in used]

    # ------------------------------------------------------------------------ what is said

    def row(self, run: int) -> dict[str, Any]:
        """Its counts, and its answers that say nothing of how sure they are."""
        answers = self.samples[run].answers
        gone = answers.count(~answers.stated)
        return {
            "numbers": self.counts[run].to_dict(),
            "unknown": int(self.unknown[run]),
            "unstated": int(gone) if gone < answers.size else 0,
        }

    def facts(self) -> dict[str, Any]:
        """What a result says of how a sequence was tested."""
        return {
            **self.common.facts(self.clusters_note()),
            "studentised": self.answers.studentised,
            "biased": self.chosen.definition.bootstrap_biased,
            "swaps": self.swaps.flips.trials if self.swappable else None,
        }


@dataclass
class _Swaps:
    """The statistics of pairs under common swaps, counted."""

    flips: Flips
    pairs: int

    def __post_init__(self) -> None:
        self.seen = np.full(self.pairs, np.nan)
        self.hits = np.zeros(self.pairs, np.int64)
        self.lost = np.zeros(self.pairs, np.int64)

    def add(self, some: dict[int, MeansOfTwo | TwoRuns], done: _Steps) -> None:
        """Swap the units of some pairs."""
        straight = np.ones((1, self.flips.groups))
        for k, two in some.items():
            self.seen[k] = two.swapped(straight)[0]
        start, trials = 0, self.flips.trials
        for signs in self._blocks():
            stop = start + len(signs)
            for number, (k, two) in enumerate(some.items(), 1):
                found = two.swapped(signs)
                close = CLOSE * max(1.0, abs(self.seen[k]))
                self.hits[k] += np.count_nonzero(extreme(found, self.seen[k], close))
                self.lost[k] += np.count_nonzero(np.isnan(found))
                share = (start + (stop - start) * number / len(some)) / trials
                done(len(some), min(share, 0.999_999))
            start = stop
        done(len(some), 1.0)

    def _blocks(self) -> Iterator[Array]:
        size = max(1, 16 * BLOCK // self.flips.groups)
        for signs in self.flips.blocks():
            yield from (signs[at : at + size] for at in range(0, len(signs), size))

    @property
    def p_values(self) -> list[PValue]:
        """The p of each pair."""
        exact = self.flips.exact
        p = np.asarray(p_of(self.hits.astype(np.float64), self.flips.trials, exact=exact))
        return [PValue(own, exact=exact) for own in p.tolist()]
