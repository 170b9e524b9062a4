"""Every rule of a cascade at once, and whether confidence is a guide to what to send on.

A stage keeps the questions that it is sure enough of and sends the others on; the last one answers
what it answers. The counts of all rules are cumulative sums of one histogram for each stage.

With M the score of a mix of two stages, the performance gap recovered is
(M − small) / (large − small). APGR is its mean over all shares sent on, by the trapezoidal rule,
and CPT(x) the smallest share that recovers x, as RouteLLM's code has them (Ong et al. 2024,
arXiv 2406.18665; routellm/evals/evaluate.py), but at every threshold. Random routing has APGR ½.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from abstain.features.cascade.result import LEVEL, Routing
from abstain.features.tune.analysis import counted, thresholded
from abstain.measures import Measure
from abstain.measures.definition import Array, BoolArray, Codes, IntArray
from abstain.outcomes import CountsArray
from abstain.report.result import finite, number
from abstain.runs.sources import has_answer
from abstain.stats.delta_method import cells_of, influence, one_run

MOST_RULES = 4_000
"""About so many rules are tried: of two stages every threshold unless there are more of them, of
several a grid over all combinations of thresholds."""
UNSURE = -1.0
"""Sorts before every confidence: no answer, or none that says how sure it is."""
SHARES = (0.2, 0.5, 0.8)
"""Of the gap, with a CPT each."""


@dataclass(frozen=True, eq=False)
class Frontier:
    thresholds: tuple[Array, ...]
    """Of each stage but the last: 0 keeps every answer with a confidence, ∞ sends all on."""
    counts: CountsArray
    calls: Array
    """Rules × stages: the share of questions that each stage is asked."""
    cost: Array

    def rule(self, number: int) -> tuple[float, ...]:
        places = np.unravel_index(number, [len(each) for each in self.thresholds])
        return tuple(float(t[at]) for t, at in zip(self.thresholds, places, strict=True))


@dataclass(frozen=True, eq=False)
class Stages:
    names: tuple[str, ...]
    codes: Codes
    confidence: Array
    cost: Array
    measure: Measure
    clusters: IntArray | None = None

    def of(self, where: BoolArray) -> Stages:
        clusters = self.clusters
        if clusters is not None:
            clusters = np.unique(clusters[where], return_inverse=True)[1]
        codes, confidence = self.codes[:, where], self.confidence[:, where]
        return replace(self, codes=codes, confidence=confidence, clusters=clusters)

    def pair(self, first: int) -> Stages:
        names = ("names", "codes", "confidence", "cost")
        return replace(self, **{name: getattr(self, name)[first : first + 2] for name in names})

    @property
    def sign(self) -> int:
        return 1 if self.measure.higher_is_better else -1

    def score(self, counts: CountsArray | Array | IntArray) -> Array:
        table = counts if isinstance(counts, CountsArray) else CountsArray(counts)
        return np.asarray(self.sign * self.measure(table), np.float64)

    @property
    def counts(self) -> IntArray:
        return np.stack([counted(codes) for codes in self.codes])

    def alone(self) -> list[float]:
        """The score of the first and of the last stage, as they were submitted."""
        return [float(score) for score in self.score(self.counts)[[0, -1]]]

    def gains(self) -> Array:
        """What each question adds to the score if the last stage gets it, to first order."""
        kinds = cells_of(self.measure)
        first, last = (kinds.of(codes) for codes in self.codes[[0, -1]])
        both = np.bincount(np.concatenate([first, last]), minlength=len(kinds))
        slopes = influence(one_run(self.measure), both / 2)
        return np.asarray(self.sign * (slopes[last] - slopes[first]))

    def sure(self, stage: int) -> Array:
        sure = self.confidence[stage]
        return np.where(has_answer(self.codes[stage]) & (sure >= 0), sure, UNSURE)

    def asked(self, rule: tuple[float, ...]) -> BoolArray:
        """Stages × questions: which questions each stage is asked."""
        sent = [self.sure(stage) < rule[stage] for stage in range(len(self.names) - 1)]
        passed = np.stack([np.ones(self.codes.shape[1], bool), *sent])
        return np.logical_and.accumulate(passed)

    def decided(self, rule: tuple[float, ...]) -> Codes:
        """The outcomes of a rule; a threshold of the last stage makes it abstain below."""
        final = self.codes[-1]
        if len(rule) == len(self.names):
            final = thresholded(final, self.confidence[-1] >= rule[-1])
        kept = [*(self.codes[:-1] & 1), final]
        return np.asarray(np.choose(self.asked(rule).sum(axis=0) - 1, kept), np.uint8)

    def frontier(self) -> Frontier:
        last, n = len(self.names) - 1, self.codes.shape[1]
        most = int(MOST_RULES ** (1 / last))
        placed = [_placed(self.sure(stage), most) for stage in range(last)]
        sizes = [len(thresholds) for thresholds, _ in placed]
        kinds = cells_of(self.measure)
        total = np.zeros((len(kinds), *sizes), np.int64)
        calls, place = np.empty((last + 1, *sizes)), np.zeros(1, np.int64)
        for stage, codes in enumerate(self.codes):
            if stage < last:
                codes, place = codes & 1, place * sizes[stage] + placed[stage][1]
            shape = (len(kinds), *sizes[: stage + 1])
            bins = kinds.of(codes) * np.int64(math.prod(shape[1:])) + place
            table = np.bincount(bins, minlength=math.prod(shape)).reshape(shape)
            for axis in range(1, stage + 1):
                np.cumsum(table, axis=axis, out=table)  # those that the stages before send on
            asked, wide = table.sum(axis=0), [1] * (last - stage)
            if stage < last:
                asked, sent = asked.sum(axis=-1), np.cumsum(table, axis=-1)
                table = sent[..., -1:] - sent
            calls[stage] = asked.reshape(*asked.shape, *wide) / n
            total += table.reshape(*table.shape, *wide[1:])
        calls = calls.reshape(last + 1, -1).T
        counts = kinds.counts(total.reshape(len(kinds), -1).T.astype(np.float64))
        return Frontier(tuple(t for t, _ in placed), counts, calls, calls @ self.cost)


def _placed(sure: Array, most: int) -> tuple[Array, IntArray]:
    """At most so many thresholds, and the first of them, by its place, that sends each answer on.

    They lie midway between two confidences, so that new answers between them are not all sent on;
    of too many those are kept that lie evenly over the answers.
    """
    order = np.argsort(sure)
    ordered = sure[order]
    unsure, size = int(np.searchsorted(ordered, UNSURE, side="right")), len(sure)
    wanted = np.linspace(unsure, size, min(most, size - unsure), endpoint=False).astype(np.int64)
    starts = np.searchsorted(ordered, ordered[wanted])  # of ties the first
    higher = starts[np.diff(starts, prepend=unsure) > 0]
    place = np.empty(size, np.int64)
    sent = np.diff(np.concatenate([[0, unsure], higher, [size]]))
    place[order] = np.repeat(np.arange(len(sent)), sent)
    return np.concatenate([[0.0], (ordered[higher] + ordered[higher - 1]) / 2, [np.inf]]), place


def routing(pair: Stages) -> Routing:
    every, (small, large) = pair.frontier(), pair.alone()
    sent = np.append(0.0, every.calls[:, 1])
    recovered = np.append(small, pair.score(every.counts)) - small
    gap, why = large - small, ""
    if np.isnan([gap, *recovered]).any():
        why = "a mix has no score"
    elif gap <= 1e-12:
        why = f"{pair.names[1]} does not score better than {pair.names[0]}"
    recovered /= math.nan if why else gap
    middle, (low, high), informative = linear(pair)
    apgr = float(np.trapezoid(recovered, sent))
    return Routing(
        run=pair.names[0],
        next=pair.names[1],
        gap=number(gap),
        apgr=number(apgr),
        interval=(finite(low + apgr - middle), finite(high + apgr - middle)),
        cpt={} if why else {f"{x:g}": first_reaching(recovered, sent, x) for x in SHARES},
        informative=informative,
        undefined=why,
    )


def first_reaching(recovered: Array, sent: Array, x: float) -> float | None:
    """The share sent on where so much of the gap is first recovered, on lines between points."""
    reached = np.flatnonzero(recovered >= x - 1e-12)
    if not len(reached):
        return None
    two = slice(max(int(reached[0]) - 1, 0), int(reached[0]) + 1)
    return float(np.interp(x, recovered[two], sent[two]))


def linear(pair: Stages) -> tuple[float, tuple[float, float], bool]:
    """APGR where scores are means over questions, its interval, and whether it is above ½.

    With d what a question gains by being sent on (its influence, for a measure that is no mean) and
    S the share of questions that are surer, APGR − ½ is T / γ, T = mean d·(S − ½), γ = mean d. The
    interval is Fieller's: it holds ½ where a test of T = 0 does not reject. None where γ may be 0.
    """
    from scipy.special import stdtrit

    gain, sure = pair.gains(), pair.sure(0)
    _, place, size = np.unique(sure, return_inverse=True, return_counts=True)
    n, sums = len(gain), np.bincount(place, gain)
    surer = (1 - (np.cumsum(size) - size / 2) / n)[place]
    less_sure = ((np.cumsum(sums) - sums / 2) / n)[place]
    area = gain * (surer - 0.5)
    t, slope = float(area.mean()), float(gain.mean())
    psi = np.stack([area - t + less_sure - less_sure.mean(), gain - slope])
    if pair.clusters is not None:
        psi = np.stack([np.bincount(pair.clusters, each) for each in psi])
    free = psi.shape[1] - 1
    reach = stdtrit(free, (1 + LEVEL) / 2) ** 2 * (1 + 1 / free) / n**2 if free else math.nan
    (tt, tg), (_, gg) = np.outer([t, slope], [t, slope]) - reach * (psi @ psi.T)
    middle = 0.5 + t / slope if slope else math.nan
    wide = math.sqrt(max(tg * tg - gg * tt, 0.0)) if gg > 0 else math.nan
    ends = [0.5 + (tg + reached) / gg if gg > 0 else math.nan for reached in (-wide, wide)]
    return middle, (ends[0], ends[1]), bool(t > 0 and tt > 0)
