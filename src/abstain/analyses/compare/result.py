"""A comparison as data: runs, pairs, where a difference comes from, what it takes to see one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import polars as pl
from msgspec.structs import astuple

from abstain.analyses.result import Facts, Result, finite, written
from abstain.analyses.score.result import Ends, Number
from abstain.outcomes import Counts
from abstain.stats.planning import Plan

if TYPE_CHECKING:
    from abstain.stats.intervals import Interval


class RunRow(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A run with its score, an interval, and the letters of its groups."""

    run: str
    numbers: dict[str, Number | None] = msgspec.field(name="counts", default_factory=dict)
    """The counts by outcome on the common questions; none of per-topic scores."""
    scores: dict[str, float | None]
    undefined: dict[str, str] = msgspec.field(default_factory=written)
    """Why a score that does not exist does not."""
    intervals: dict[str, Ends]
    no_interval: dict[str, str] = {}
    """Why an interval does not exist, or what is odd about it."""
    group: str = ""
    """Runs that share a letter were not found different."""
    unknown: int = 0
    """Responses that were unparseable, failed or missing, over all questions."""
    bounds: dict[str, Ends] = {}
    """The lowest and the highest score over all ways in which they could have gone."""
    all_ways: bool = True
    """Whether every way was looked at, or an even sample of them."""
    corrected: dict[str, float | None] = {}
    """The score if the judge had not erred."""
    corrected_intervals: dict[str, Ends] = {}
    unstated: int = 0
    """Answers without a confidence, where others have one."""

    @property
    def counts(self) -> Counts | None:
        """The counts, as measures take them."""
        return Counts.from_dict(self.numbers) if self.numbers else None

    @property
    def score(self) -> float | None:
        """Its score by the one measure there is."""
        return next(iter(self.scores.values()))

    @property
    def interval(self) -> Ends:
        """The interval of its score."""
        return next(iter(self.intervals.values()))


class Effect(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """How large a difference of two means is, and how the differences by topic are distributed."""

    standardised: float | None
    """The mean difference over the standard deviation of the topics' differences."""
    wins: int
    """Topics on which the run is better."""
    ties: int
    losses: int
    skewness: float | None
    """Of the topics' differences; None where they do not vary."""
    distinct: int
    """How many different differences there are."""


class Pair(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A run against another: the difference of their scores."""

    run: str
    against: str
    difference: float | None
    interval: Ends
    standard_error: float | None
    p: float | None
    p_adjusted: float | None
    exact: bool
    """Whether p counts every way of swapping, or trials."""
    questions: int
    differs: bool | None
    """Whether it was found different, after correction; None: there was nothing to test."""
    no_interval: str = ""
    """Why the interval does not exist, or what is odd about it."""
    no_test: str = ""
    """Why there is no p although there is a difference."""
    by_interval: bool = False
    """Whether p is that of the interval, because the test found a difference that it does not."""
    undefined_swaps: int = 0
    """Swaps that left a run without a value."""
    effect: Effect | None = None
    """How large the difference is, where runs have scores by topic."""


class Move(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Questions that went from one outcome to another, and what that is worth."""

    questions: int
    worth: float | None


class SliceShare(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One slice: how both runs did in it, and what it contributes to the difference."""

    slice: dict[str, str]
    questions: int
    score: float | None
    score_against: float | None
    difference: float | None
    contribution: float | None

    @property
    def attribute(self) -> str:
        """What it slices by."""
        return next(iter(self.slice))

    @property
    def name(self) -> str:
        """Which slice it is."""
        return self.slice[self.attribute]


class Origin(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Where a difference comes from; each sum of contributions is the difference."""

    transitions: dict[str, Move]
    """By outcome of the other run and of the run itself: `wrong → right`."""
    knowing: float | None
    abstaining: float | None
    """None where there is no difference, or where one outcome of most questions that differ is a
    blank without a candidate: then nobody knows what is which."""
    without_candidate: int
    """Questions whose outcomes differ, one of them a blank whose candidate nobody knows."""
    slices: tuple[SliceShare, ...]
    reversals: tuple[str, ...]
    """Attributes whose slices, where they show a difference, all show it the other way."""
    contributions: dict[str, float]
    """What each question contributes that contributes something, the largest first."""

    @property
    def same(self) -> int:
        """Questions with the same outcome in both runs."""
        return sum(own.questions for name, own in self.transitions.items() if _stays(name))

    @property
    def moves(self) -> dict[str, Move]:
        """The transitions that are one and that some question made."""
        return {
            name: own
            for name, own in self.transitions.items()
            if own.questions and not _stays(name)
        }


def _stays(transition: str) -> bool:
    before, _, after = transition.partition(" → ")
    return before == after


class CompareResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="compare"):
    """Runs, their pairs, and what follows from them."""

    measure: str
    questions: int
    """Those that all runs have, on which they are compared."""
    questions_in_all: int
    absent: dict[str, int] = {}
    """For each run that lacks some, how many questions it has no usable response to."""
    undefined_on: dict[str, int] = {}
    """For each run, on how many topics that it has its score is undefined."""
    unit: str = "question"
    """What runs are paired by: questions, or the topics or queries that they have scores on."""
    against: str | None = None
    """The run that all others are compared with."""
    test: str
    correction: str
    interval_method: str | None
    """How the intervals were made, where there are some."""
    interval_method_of_differences: str | None = None
    """How those of differences were made, where that is another method."""
    level: float
    trials: int
    seed: int
    swaps: int | None = None
    """How often answers were swapped, for a measure of confidence."""
    cluster: str | None = None
    clusters: int | None = None
    higher_is_better: bool = True
    widest: float | None = None
    """The largest difference that there can be; None where scores may have any size."""
    studentised: bool = False
    """Whether randomisation compares differences over their standard errors."""
    biased: bool = False
    """Whether the measure is too large in any sample, so that a bootstrap shows nothing."""
    grouped: bool = False
    """Whether letters could be given."""
    judge_sample: int = 0
    """Responses of which a judge's verdict was checked by hand."""
    judge_drawn: str = ""
    """How those were drawn: random, truth or verdict."""
    never_checked: tuple[str, ...] = ()
    """Verdicts that no checked response should have had, or had where they were drawn by it."""
    rows: tuple[RunRow, ...] = msgspec.field(name="results")
    """From the best to the worst."""
    pairs: tuple[Pair, ...]
    origin: Origin | None = None
    plan: Plan | None = None

    TABLES: ClassVar[tuple[str, ...]] = (
        "main",
        *("pairs", "runs", "transitions", "slices", "contributions"),
    )

    def check(self) -> None:
        """Runs have a score by the measure, and pairs are of them."""
        if not self.rows or not self.pairs:
            raise ValueError("has no pair of runs, expected at least one")
        for number, row in enumerate(self.rows, 1):
            if list(row.scores) != [self.measure] or list(row.intervals) != [self.measure]:
                raise ValueError(f"result {number} has no score by {self.measure}")
            _ = row.counts
            if list(row.numbers) != list(self.rows[0].numbers):
                raise ValueError(f"result {number} does not name the same counts as the first")
        known = {row.run for row in self.rows}
        for number, pair in enumerate(self.pairs, 1):
            if not {pair.run, pair.against} <= known:
                raise ValueError(f"pair {number} names a run that has no result")
        if not 0 < self.level < 1:
            raise ValueError(f"has a level of {self.level:g}, expected one between 0 and 1")

    # ------------------------------------------------------------------------- what it says

    @property
    def alpha(self) -> float:
        """The error that the level leaves."""
        return 1 - self.level

    @property
    def is_tested(self) -> bool:
        """Whether any pair has a p."""
        return any(pair.p is not None for pair in self.pairs)

    @property
    def of_scores(self) -> bool:
        """Whether runs are compared by the means of their scores by topic."""
        return any(pair.effect is not None for pair in self.pairs)

    def neighbours(self) -> list[Pair]:
        """The pairs of runs that stand next to each other."""
        place = {row.run: i for i, row in enumerate(self.rows)}
        return [p for p in self.pairs if abs(place[p.run] - place[p.against]) == 1]

    def separated(self) -> list[str]:
        """Runs that were found different from every other that has a score."""
        found: dict[str, list[bool]] = {row.run: [] for row in self.rows}
        for pair in self.pairs:
            if pair.differs is not None:
                found[pair.run].append(pair.differs)
                found[pair.against].append(pair.differs)
        return [run for run, own in found.items() if own and all(own)]

    def _frame(self, table: str) -> pl.DataFrame:
        """A row a pair; or a run, a transition, a slice, a question that contributes."""
        schema: dict[str, Any]
        rows: list[tuple[Any, ...]]
        found = self.origin
        match table:
            case "runs":
                schema = {"run": str, **dict.fromkeys((self.measure, "low", "high"), float)}
                schema |= {"group": str, **dict.fromkeys(self.rows[0].numbers, int)}
                rows = [
                    (r.run, r.score, *r.interval, r.group, *r.numbers.values()) for r in self.rows
                ]
            case "transitions":
                schema = {"from": str, "to": str, "questions": int, "worth": float}
                every = found.transitions.items() if found else ()
                rows = [(*name.split(" → "), own.questions, own.worth) for name, own in every]
            case "slices":
                names = ["score", "score_against", "difference", "contribution"]
                schema = {"attribute": str, "slice": str, "questions": int}
                schema |= dict.fromkeys(names, float)
                rows = [
                    (s.attribute, s.name, s.questions, *(getattr(s, name) for name in names))
                    for s in (found.slices if found else ())
                ]
            case "contributions":
                schema = {"question": str, "contribution": float}
                rows = list(found.contributions.items()) if found else []
            case _:
                names = ["difference", "low", "high", "standard_error", "p", "p_adjusted"]
                schema = {"run": str, "against": str, **dict.fromkeys(names, float)}
                schema["differs"] = bool
                rows = [
                    (
                        *(p.run, p.against, p.difference, *p.interval),
                        *(p.standard_error, p.p, p.p_adjusted, p.differs),
                    )
                    for p in self.pairs
                ]
                if self.of_scores:
                    schema |= {"standardised": float, "wins": int, "ties": int, "losses": int}
                    rows = [
                        (*row, *(astuple(p.effect)[:4] if p.effect else [None] * 4))
                        for row, p in zip(rows, self.pairs, strict=True)
                    ]
        return pl.DataFrame(rows, schema=schema, orient="row")


def ends(found: Interval) -> Ends:
    """An interval as results hold it."""
    return finite(found.low), finite(found.high)
