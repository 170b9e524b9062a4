"""What a comparison comes out as: runs, pairs, where a difference comes from."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from abstain import __version__
from abstain.analyses.compare.bounds import Corrected
from abstain.analyses.compare.transitions import Origin
from abstain.errors import UnknownNameError, UsageError, option
from abstain.outcomes import Counts, Policy, Undefined
from abstain.stats.functional import THREE
from abstain.stats.intervals import DEFAULT, Interval, check_level, check_method
from abstain.stats.multiplicity import adjust
from abstain.stats.planning import Plan

TESTS = {
    "randomisation": "paired randomisation",
    "bootstrap": "paired bootstrap",
    "mcnemar": "McNemar's exact test of right against not right",
    "wilcoxon": "Wilcoxon's signed-rank test",
}
Progress = Callable[[int, int], None]
DEFAULT_CORRECTION = "holm"
LEAST_TRIALS, MOST_TRIALS = 100, 1_000_000


@dataclass(frozen=True, slots=True)
class Settings:
    """How a comparison is made."""

    reference: str | None = None
    test: str = "randomisation"
    correction: str = ""
    """For all pairs: holm (the default), bh or none; a reference has max-T."""
    method: str = DEFAULT
    level: float = 0.95
    trials: int = 10_000
    seed: int = 0
    detect: float | None = None
    power: float = 0.8
    cluster: str | None = None
    judge_error: Any = None

    @property
    def alpha(self) -> float:
        """The error that the level leaves."""
        return 1 - self.level

    def finds(self, p: float) -> bool:
        """Whether a p, corrected, says that there is a difference."""
        return p <= self.alpha + 1e-12

    def checked(self) -> Settings:
        """The settings with the names that stand for them, or an error that lists what there is."""
        if self.test not in TESTS:
            raise UnknownNameError("test", self.test, TESTS, hint=f"there are {', '.join(TESTS)}")
        correction = self.correction or DEFAULT_CORRECTION
        adjust(np.array([]), correction)
        if self.reference is not None and self.correction:
            raise UsageError(
                f"{option('correction', self.correction)} is for all pairs; {option('against')} "
                "has max-T, leave one of them out"
            )
        if not LEAST_TRIALS <= self.trials <= MOST_TRIALS:
            raise UsageError(
                f"trials are between {LEAST_TRIALS:,} and {MOST_TRIALS:,} (got {self.trials:,})"
            )
        check_level(self.level)
        return replace(self, method=check_method(self.method), correction=correction)


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run with its score, an interval, and the letters of its groups."""

    run: str
    score: float
    interval: Interval
    counts: Counts | None = None
    letters: str = ""
    bounds: tuple[float, float] | None = None
    """Worst and best, where responses are unknown."""
    unknown: int = 0
    all_ways: bool = True
    """Whether the bounds are over every way the unknown could have gone."""
    corrected: Corrected | None = None

    def to_dict(self, name: str) -> dict[str, Any]:
        """The row as plain data."""
        plain: dict[str, Any] = {"run": self.run}
        if self.counts is not None:
            plain["counts"] = self.counts.to_dict()
        plain["scores"] = {name: _plain(self.score)}
        reason = self.score.reason if isinstance(self.score, Undefined) else None
        plain["undefined"] = {name: reason} if reason else {}
        plain["intervals"] = {name: _ends(self.interval)}
        if self.letters:
            plain["group"] = self.letters
        if self.bounds is not None:
            plain["unknown"] = self.unknown
            plain["bounds"] = {name: [_plain(x) for x in self.bounds]}
        if self.corrected is not None:
            c = self.corrected
            plain["corrected"] = {name: _plain(c.score)}
            plain["corrected_intervals"] = {name: [_plain(c.low), _plain(c.high)]}
        return plain


@dataclass(frozen=True, slots=True)
class Pair:
    """A run against another: the difference of their scores."""

    run: str
    against: str
    difference: float
    interval: Interval
    error: float
    p: float
    adjusted: float
    exact: bool
    questions: int

    def to_dict(self) -> dict[str, Any]:
        """The pair as plain data."""
        return {
            "run": self.run,
            "against": self.against,
            "difference": _plain(self.difference),
            "interval": _ends(self.interval),
            "standard_error": _plain(self.error),
            "p": _plain(self.p),
            "p_adjusted": _plain(self.adjusted),
            "exact": self.exact,
            "questions": self.questions,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs, their pairs, and what follows from them."""

    measure: str
    settings: Settings
    rows: tuple[RunRow, ...]
    """From the best to the worst."""
    pairs: tuple[Pair, ...]
    questions: int
    in_all: int
    absent: dict[str, int] = field(default_factory=dict)
    clusters: int | None = None
    origin: Origin | None = None
    question_ids: tuple[str, ...] = ()
    plan: Plan | None = None
    policy: Policy | None = None
    touched: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    grouped: bool = False
    """Whether letters could be given."""
    widest: float | None = None
    """The largest difference that there can be; None where scores may have any size."""
    judge_sample: int = 0
    """Responses of which a judge's verdict was checked by hand."""
    never_checked: tuple[str, ...] = ()
    """Verdicts that no checked response should have had."""
    higher_is_better: bool = True
    unit: str = "question"
    """What runs are paired by: questions, or the topics or queries that they have scores on."""
    studentised: bool = False
    """Whether randomisation compares differences over their standard errors."""

    @property
    def alpha(self) -> float:
        """The error that the level leaves."""
        return self.settings.alpha

    @property
    def has_intervals(self) -> bool:
        """Whether any score or difference has an interval."""
        spans = [row.interval for row in self.rows] + [pair.interval for pair in self.pairs]
        return any(not math.isnan(span.low) for span in spans)

    @property
    def difference_method(self) -> str | None:
        """The method of the intervals of differences, where there are some."""
        there = (p.interval.method for p in self.pairs if not math.isnan(p.interval.low))
        return next(there, None)

    @property
    def is_tested(self) -> bool:
        """Whether any pair has a p."""
        return any(not math.isnan(pair.p) for pair in self.pairs)

    def differs(self, pair: Pair) -> bool:
        """Whether a pair was found different, after correction."""
        return self.settings.finds(pair.adjusted)

    def neighbours(self) -> list[Pair]:
        """The pairs of runs that stand next to each other."""
        place = {row.run: i for i, row in enumerate(self.rows)}
        return [p for p in self.pairs if abs(place[p.run] - place[p.against]) == 1]

    def separated(self) -> list[str]:
        """Runs that were found different from every other that has a score."""
        found = {row.run: [0, 0] for row in self.rows}
        for pair in self.pairs:
            if math.isnan(pair.adjusted):
                continue
            for run in (pair.run, pair.against):
                found[run][0] += 1
                found[run][1] += self.differs(pair)
        return [run for run, (all_, yes) in found.items() if all_ and all_ == yes]

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data: what `--format json` prints."""
        from abstain.report.compare_words import sentences, verdict

        s = self.settings
        plain: dict[str, Any] = {
            "abstain": __version__,
            "kind": "compare",
            "measure": self.measure,
            "questions": self.questions,
            "questions_in_all": self.in_all,
            "interval_method": s.method if self.has_intervals else None,
            "level": s.level,
            "test": s.test,
            "correction": "max-T" if s.reference else s.correction,
            "trials": s.trials,
            "seed": s.seed,
        }
        if self.difference_method not in (None, s.method):
            plain["interval_method_of_differences"] = self.difference_method
        if s.reference:
            plain["reference"] = s.reference
        if self.clusters is not None:
            plain["cluster"] = s.cluster
            plain["clusters"] = self.clusters
        if self.policy is not None:
            plain["policy"] = self.policy.to_dict()
            plain["touched"] = self.touched
        plain["verdict"] = verdict(self)
        plain["notes"] = sentences(self)
        plain["results"] = [row.to_dict(self.measure) for row in self.rows]
        plain["pairs"] = [pair.to_dict() for pair in self.pairs]
        if self.origin is not None:
            plain["origin"] = _origin_dict(self.origin, self.question_ids)
        if self.plan is not None:
            plain["plan"] = {
                k: getattr(self.plan, k) for k in self.plan.__slots__ if k != "questions"
            }
        return plain


def _origin_dict(o: Origin, questions: Sequence[str]) -> dict[str, Any]:
    table = {
        f"{a} → {b}": {"questions": int(o.transitions[i, j]), "worth": _plain(o.worth[i, j])}
        for i, a in enumerate(THREE.names)
        for j, b in enumerate(THREE.names)
    }
    moved = np.flatnonzero(np.abs(o.contributions) > 0)
    order = moved[np.argsort(-np.abs(o.contributions[moved]), kind="stable")]
    return {
        "transitions": table,
        "knowing": _plain(o.knowing),
        "abstaining": _plain(o.abstaining),
        "slices": [
            {
                "slice": {s.attribute: s.name},
                "questions": s.questions,
                "difference": _plain(s.difference),
                "contribution": _plain(s.contribution),
            }
            for s in o.slices
        ],
        "reversals": list(o.reversals),
        "contributions": {questions[i]: _plain(o.contributions[i]) for i in order},
    }


def _plain(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _ends(found: Interval) -> list[float | None]:
    return [_plain(found.low), _plain(found.high)]
