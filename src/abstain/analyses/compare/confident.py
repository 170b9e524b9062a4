"""Runs compared by a measure of confidence: its answers in sequence, resampled and swapped.

All runs share their resamples, and all pairs their swaps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from abstain.analyses.compare.inputs import Paired
from abstain.analyses.compare.pairs import (
    adjusted_pairs,
    best_first,
    bootstrap_p,
    letters_of,
    made_pairs,
    plan_of,
    wanted_pairs,
)
from abstain.analyses.compare.result import Comparison, Progress, RunRow, Settings
from abstain.errors import UsageError, option, plural
from abstain.measures import Measure
from abstain.outcomes import Counts
from abstain.stats.intervals import DEFAULT, Interval
from abstain.stats.means_of_answers import used_by
from abstain.stats.of_confidence import (
    BLOCK,
    draws,
    left_out,
    method_of,
    resampled_interval,
    sample_of,
    why_none,
)
from abstain.stats.planning import check_plan
from abstain.stats.randomisation import PValue, extreme
from abstain.stats.swapped_answers import answers_of
from abstain.stats.swaps import Flips, max_t
from abstain.stats.unbounded import Scale, difference_interval

if TYPE_CHECKING:
    from abstain.outcomes import Array
    from abstain.stats.means_of_answers import MeansOfTwo
    from abstain.stats.swapped_answers import TwoRuns

    Wanted = Sequence[tuple[int, int]]

CLOSE = 1e-9
"""As a share of what was seen: statistics nearer than this are equal."""
NO_SPREAD = 1e-12
MOST_DRAWN = 50_000_000
"""Scores held at once, in trials times runs."""
MOST_SORTED = 1 << 22
"""Answers of pairs sorted at once."""


def compare_confidence(
    paired: Paired,
    chosen: Measure,
    settings: Settings,
    *,
    progress: Progress = lambda _, __: None,
) -> Comparison:
    """Compare runs that are paired already by a measure of confidence."""
    _refuse(paired, chosen, settings)
    smooth = settings.method == DEFAULT
    settings = replace(settings, method=method_of(chosen, settings.method))
    work = _Work(paired, chosen, settings)
    order = best_first(work.scores, paired.runs, higher=chosen.higher_is_better)
    wanted = wanted_pairs(paired.runs, order, settings.reference)
    _refuse_too_many(settings, max(len(paired.runs), len(wanted) if settings.reference else 0))
    differences = np.array([work.scores[i] - work.scores[j] for i, j in wanted])
    differences[np.abs(differences) < NO_SPREAD] = 0.0  # equal but for the order of a sum
    swapping = settings.test == "randomisation" or settings.reference is not None
    known = np.flatnonzero(~np.isnan(differences)).tolist() if swapping else []
    done = _Steps(progress, (len(paired.runs) if work.resamples else 0) + len(known))
    values = work.resampled(done)
    spans = work.smooth_intervals(wanted) if smooth and values is not None else []
    spans = spans or [work.interval(values, i, j) for i, j in wanted]
    swaps = work.swapped(wanted, known, done)
    tested = swaps.p_values
    if settings.test == "bootstrap":
        tested = [work.bootstrap_p(values, i, j) for i, j in wanted]
    if settings.reference is not None:
        adjusted = swaps.against_reference()
    else:
        adjusted = adjusted_pairs(differences, tested, settings)
    errors = work.errors(values, wanted)
    pairs = made_pairs(
        paired.runs,
        wanted,
        differences=differences,
        spans=spans,
        errors=errors,
        tested=tested,
        adjusted=adjusted,
        questions=len(paired.questions),
    )
    scored = [paired.runs[i] for i in order if not math.isnan(work.scores[i])]
    marks = letters_of(pairs, scored, settings)
    clusters = None if paired.clusters is None else work.units
    low, high = chosen.bounds
    return Comparison(
        measure=str(chosen),
        settings=settings,
        rows=tuple(work.rows(values, order, marks)),
        pairs=pairs,
        questions=len(paired.questions),
        in_all=paired.in_all,
        absent=paired.absent,
        clusters=clusters,
        question_ids=tuple(paired.questions),
        plan=plan_of(errors, len(paired.questions), settings, clusters),
        policy=paired.policy,
        touched=paired.touched,
        notes=(*work.notes(), *swaps.notes(), *paired.notes),
        grouped=marks is not None,
        widest=high - low,
        higher_is_better=chosen.higher_is_better,
        studentised=work.answers.studentised,
    )


def _refuse(paired: Paired, chosen: Measure, settings: Settings) -> None:
    """What a sequence cannot be asked for, each in one line."""
    low, high = chosen.bounds
    check_plan(
        detect=settings.detect, power=settings.power, level=settings.level, widest=high - low
    )
    of_confidence = f"{chosen} is a measure of confidence"
    if settings.test == "wilcoxon":
        raise UsageError("wilcoxon is for per-query scores; take randomisation here")
    if settings.test == "mcnemar":
        raise UsageError(
            f"McNemar's test looks at right and wrong, and {of_confidence}; take randomisation"
        )
    if settings.judge_error is not None:
        raise UsageError(f"{option('judge_error')} corrects counts, and {of_confidence}")
    if paired.parts:
        raise UsageError(
            f"{option('by')} divides the difference of a measure of counts; {of_confidence}"
        )
    if chosen.definition.bootstrap_biased:
        biased = f"{chosen.name} is too large in any sample, and a bootstrap adds to that"
        if settings.test == "bootstrap":
            raise UsageError(f"{biased}; take randomisation")
        if settings.detect is not None:
            raise UsageError(
                f"{biased}: there is no standard error to plan with ({option('detect')})"
            )


def _refuse_too_many(settings: Settings, runs: int) -> None:
    if settings.trials * runs > MOST_DRAWN:
        raise UsageError(
            f"{settings.trials:,} trials of {runs:,} runs are too many to hold; take "
            f"{option('trials', MOST_DRAWN // runs)} or fewer"
        )


class _Steps:
    """Progress in runs resampled and pairs swapped, by their share of the trials."""

    def __init__(self, progress: Progress, total: int) -> None:
        self.progress, self.total, self.before = progress, total, 0

    def __call__(self, steps: int, share: float) -> None:
        """So many steps are under way, of which a share is done."""
        self.progress(min(self.total, self.before + int(steps * share)), self.total)
        if share >= 1:
            self.before += steps


class _Work:
    """Runs as sequences, and what is made of them."""

    def __init__(self, paired: Paired, chosen: Measure, settings: Settings) -> None:
        assert paired.confidence is not None
        self.paired, self.measure, self.settings = paired, chosen, settings
        outcomes = paired.outcomes.astype(np.int8)
        self.samples = [
            sample_of(own, sure, paired.clusters)
            for own, sure in zip(outcomes, paired.confidence, strict=True)
        ]
        score: Callable[..., float] = chosen
        self.scores = [score(sample.answers) for sample in self.samples]
        self.units = self.samples[0].size
        self.answers = answers_of(chosen, self.samples)

    # ------------------------------------------------------------------------- resamples

    @property
    def resamples(self) -> bool:
        """Whether resamples show anything."""
        return self.units > 1 and not self.measure.definition.bootstrap_biased

    def resampled(self, done: _Steps) -> Array | None:
        """The scores of all runs in the same resamples (trials, runs); None: they show nothing."""
        if not self.resamples:
            return None
        trials = self.settings.trials
        values = np.empty((trials, len(self.samples)))
        for some, times in draws(
            self.units, trials=trials, width=self.units, seed=self.settings.seed
        ):
            values[some] = self.answers.resampled(times)
            done(len(self.samples), some.stop / trials)
        return values

    @cached_property
    def left(self) -> Array:
        """The scores of all runs without each part of the units in turn (parts, runs)."""
        parts = left_out(self.units, width=self.units)
        return np.concatenate([self.answers.resampled(times) for times in parts])

    def interval(self, values: Array | None, i: int, j: int | None = None) -> Interval:
        """An interval of a run's score, or of the difference from another's."""
        s = self.settings
        observed = self.scores[i] - (0.0 if j is None else self.scores[j])
        clustered = self.paired.clusters is not None
        why = why_none(self.measure, self.units, observed, clustered=clustered)
        if why or values is None:
            return Interval(math.nan, math.nan, s.method, why)
        tables = [values, self.left] if s.method == "bca" else [values]
        drawn = [t[:, i] if j is None else t[:, i] - t[:, j] for t in tables]
        left = drawn[1] if len(drawn) > 1 else None
        return resampled_interval(observed, drawn[0], left, method=s.method, level=s.level)

    def smooth_intervals(self, wanted: Wanted) -> list[Interval]:
        """Intervals of differences from the influence of each answer; nothing where not known."""
        if not self.answers.has_influence:
            return []
        scale = Scale.of(self.measure)
        known = ~np.isnan(self.scores)
        moved = [self.answers.moved(i) if ok else None for i, ok in enumerate(known)]
        there = [
            len(np.unique(sample.unit[used_by(self.measure, sample.answers)]))
            for sample in self.samples
        ]
        found = []
        for i, j in wanted:
            one, two = moved[i], moved[j]
            if one is None or two is None:
                found.append(Interval(math.nan, math.nan, DEFAULT, "the value is undefined"))
                continue
            values, units = (self.scores[i], self.scores[j]), (there[i], there[j])
            both = np.stack([one, two])
            found.append(difference_interval(scale, values, both, units, level=self.settings.level))
        return found

    def errors(self, values: Array | None, wanted: Wanted) -> Array:
        """The standard error of each difference: how much it varies over the resamples."""
        if values is None:
            return np.full(len(wanted), np.nan)
        drawn = (values[:, i] - values[:, j] for i, j in wanted)
        found = [
            float(np.std(known, ddof=1)) if len(known := d[~np.isnan(d)]) > 1 else math.nan
            for d in drawn
        ]
        return np.array([0.0 if error < NO_SPREAD else error for error in found])

    def bootstrap_p(self, values: Array | None, i: int, j: int) -> PValue:
        """The p of a pair by resamples; of one unit, which shows no spread, 1."""
        p = 1.0 if values is None else bootstrap_p(values[:, i] - values[:, j])
        return PValue(p, exact=False)

    # ----------------------------------------------------------------------------- swaps

    def swapped(self, wanted: Wanted, known: Sequence[int], done: _Steps) -> _Swaps:
        """What swapping units makes of some of the pairs."""
        s = self.settings
        flips = Flips(self.units, trials=s.trials, seed=s.seed)
        found = _Swaps(self.measure, flips, len(wanted), keep=s.reference is not None)
        at_once = max(1, MOST_SORTED // (2 * len(self.paired.questions)))
        for start in range(0, len(known), at_once):
            some = known[start : start + at_once]
            found.add({k: self.answers.pair(*wanted[k]) for k in some}, done)
        return found

    # ------------------------------------------------------------------------ what is said

    def rows(
        self, values: Array | None, order: Sequence[int], marks: Sequence[str] | None
    ) -> Iterator[RunRow]:
        """The runs from the best to the worst."""
        for at, i in enumerate(order):
            counts = np.bincount(self.paired.outcomes[i], minlength=6)
            yield RunRow(
                self.paired.runs[i],
                self.scores[i],
                self.interval(values, i),
                Counts(*(int(x) for x in counts)),
                marks[at] if marks is not None and at < len(marks) else "",
            )

    def notes(self) -> Iterator[str]:
        """What a reader should know of answers without a confidence, and of the unknown."""
        how = "left out" if self.measure.definition.uses == "stated" else "taken as the least sure"
        for run, sample in zip(self.paired.runs, self.samples, strict=True):
            gone = sample.answers.count(~sample.answers.stated)
            if 0 < gone < sample.answers.size:
                yield f"run '{run}': {plural(gone, 'answer')} without a confidence, {how}"
        unknown = int(self.paired.unknown.sum())
        if unknown:
            yield (
                f"{plural(unknown, 'response is', 'responses are')} unknown (unparseable, failed "
                "or missing); what they could have done to a measure of confidence is not bounded"
            )
        if self.measure.definition.bootstrap_biased:
            yield (
                f"{self.measure.name} is too large in any sample, the more so the fewer answers a "
                "run has: p is of runs that are alike in everything, and there is no interval"
            )


@dataclass
class _Swaps:
    """The statistics of pairs under common swaps, counted or kept."""

    measure: Measure
    flips: Flips
    pairs: int
    keep: bool

    def __post_init__(self) -> None:
        self.seen = np.full(self.pairs, np.nan)
        self.hits = np.zeros(self.pairs, np.int64)
        self.lost = np.zeros(self.pairs, np.int64)
        self.drawn = np.full((self.flips.trials, self.pairs if self.keep else 0), np.nan)

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
                if self.keep:
                    self.drawn[start:stop, k] = found
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
        exact, trials = self.flips.exact, self.flips.trials
        p = self.hits / trials if exact else (self.hits + 1) / (trials + 1)
        return [PValue(float(own), exact=exact) for own in p]

    def against_reference(self) -> Array:
        """The p of each pair adjusted by max-T."""
        return max_t(self.drawn, self.seen, exact=self.flips.exact, close=CLOSE)

    def notes(self) -> Iterator[str]:
        """Swaps that leave a run without a value."""
        pairs = int(np.count_nonzero(self.lost))
        if not pairs:
            return
        most = f"{'up to ' if pairs > 1 else ''}{int(self.lost.max()):,}"
        yield (
            f"{self.measure} has no value in {most} of {self.flips.trials:,} swaps of "
            f"{plural(pairs, 'pair')}: they count as if they showed at least what was seen"
        )
