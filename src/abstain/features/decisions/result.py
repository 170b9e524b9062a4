"""Decisions to answer, as data: a row for each run and slice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal, TypeAlias

import msgspec
import polars as pl
from msgspec import Meta

from abstain.outcomes import Decisions
from abstain.report.grid import Column, frame_of_rows
from abstain.report.result import Ends, Facts, Number, Result, check_rows, written
from abstain.report.view import p_text

Leaning: TypeAlias = Literal[
    "refuses everything",
    "answers everything",
    "errs towards declining",
    "errs towards answering",
    "errs in no clear direction",
]
Scores: TypeAlias = dict[str, float | None]

DEFAULT_MEASURES: tuple[str, ...] = (
    *("over-refusal", "under-refusal", "abstention-precision", "abstention-recall"),
    *("abstention-F1", "grounded-refusal-F1", "decision-accuracy", "balanced-accuracy"),
    *("decision-J", "hallucination-rate"),
)

RUN = Column("run", means="a system's responses", plain=True)
SLICE = Column(empty="–", means="an attribute of the questions", plain=True)
RIGHT = Column("right", "count", means="answered right where an answer was due")
WRONG = Column("wrong", "count", joined=True, means="answered wrong where an answer was due")
OVER = Column("wrongly declined", "count", joined=True, means="declined where an answer was due")
UNDER = Column("wrongly answered", "count", means="answered where no answer was due")
REFUSED = Column("rightly declined", "count", joined=True, means="declined where none was due")
LOW = Column("low", "score", joined=True, means="the lower end of a {level:.4g} % interval")
HIGH = Column("high", "score", joined=True, means="the upper end of a {level:.4g} % interval")
COIN = Column("coin", "score", means="a coin that declines as often as the run")
REFUSE = Column("refuse", "score", means="a run that refuses everything")
ANSWER = Column("answer", "score", means="a run that answers everything")
LOWEST = Column("lowest", "score", means="the lowest value, whatever the undecided responses were")
P_ADJUSTED = Column("p, corrected", "score", means="for all pairs of both measures (Holm)")
HIGHEST = Column("highest", "score", joined=True, means="the highest value, likewise")


class Undecided(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Responses for which a judge gave no verdict, and between what scores they leave open."""

    answerable: int
    """How many are to questions that can be answered."""
    unanswerable: int
    bounds: dict[str, Ends]
    """The lowest and the highest score, by measure, over all that they may have been."""


class Rate(Facts, frozen=True, kw_only=True):
    """One measure of one run in one slice, beside runs without judgement."""

    run: Annotated[str, RUN]
    slice: Annotated[dict[str, str | None], SLICE]
    measure: Annotated[str, Column("measure", plain=True)]
    value: Annotated[float | None, Column("value", "score", plain=True)]
    interval: Annotated[Ends, LOW, HIGH]
    coin: Annotated[float | None, COIN]
    refuse: Annotated[float | None, REFUSE]
    answer: Annotated[float | None, ANSWER]
    bounds: Annotated[Ends, LOWEST, HIGHEST]


class Row(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """What one run did in one slice."""

    run: Annotated[str, RUN]
    slice: Annotated[dict[str, str | None], SLICE] = msgspec.field(default_factory=written)
    numbers: dict[str, Number] = msgspec.field(name="decisions")
    scores: Annotated[Scores, Column(kind="score")]
    undefined: dict[str, str] = msgspec.field(default_factory=written)
    intervals: Annotated[
        dict[str, Ends],
        Column("{key} low", "score", joined=True, short="low", means="the ends of an interval"),
        Column("{key} high", "score", joined=True, short="high", means="the ends of an interval"),
    ]
    coin: Scores
    """By measure of decisions: a coin that declines as often as the run."""
    refuse: Scores
    """A run that refuses everything."""
    answer: Scores
    """A run that answers everything."""
    leaning: Leaning | None = None
    """In which direction it errs; None where it answers some of questions of one kind."""
    beats_coin: bool | None = None
    """Whether it surely declines what cannot be answered more often than what can."""
    undecided: Undecided | None = None

    @property
    def decided(self) -> Decisions:
        return Decisions(**self.numbers)

    @property
    def cells(
        self,
    ) -> Annotated[
        tuple[Number, Number, Number, Number, Number], RIGHT, WRONG, OVER, UNDER, REFUSED
    ]:
        d = self.decided
        return d.right, d.wrong, d.wrongly_declined, d.wrongly_answered, d.rightly_declined

    @property
    def rates(self) -> Iterator[Rate]:
        bounds = {} if self.undecided is None else self.undecided.bounds
        for name, value in self.scores.items():
            yield Rate(
                run=self.run,
                slice=self.slice,
                measure=name,
                value=value,
                interval=self.intervals[name],
                coin=self.coin.get(name),
                refuse=self.refuse.get(name),
                answer=self.answer.get(name),
                bounds=bounds.get(name, (None, None)),
            )


class Pair(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Two runs by one measure, on the questions that all runs have."""

    measure: Annotated[str, Column("measure", plain=True)]
    run: Annotated[str, RUN]
    against: Annotated[str, Column("against", means="the other run")]
    difference: Annotated[float | None, Column("difference", "score", means="run minus against")]
    interval: Annotated[Ends, LOW, HIGH]
    p: float | None
    p_adjusted: Annotated[float | None, P_ADJUSTED] = None
    differs: bool | None = None
    no_test: str = ""
    questions: int

    @property
    def shown_p_adjusted(self) -> Annotated[str, P_ADJUSTED]:
        return p_text(self.p_adjusted)


class DecisionsResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="decisions"):
    """Decisions of runs, their rates, and how runs differ in them."""

    measures: tuple[str, ...]
    by: tuple[str, ...] = ()
    questions: int
    level: Annotated[float, Meta(gt=0, lt=1)]
    cluster: str | None = None
    seed: int | None = None
    rows: Annotated[tuple[Row, ...], Meta(min_length=1)] = msgspec.field(name="results")
    leanings: dict[str, Leaning | None]
    """In which direction each run errs over all questions."""
    pairs: tuple[Pair, ...] = ()

    TABLES: ClassVar = ("main", "decisions", "pairs")

    def check(self) -> None:
        check_rows(self.rows, self.measures, self.by)
        for row in self.rows:
            if not row.intervals.keys() >= row.scores.keys():
                raise ValueError(f"an interval of {row.run} is missing")
            _ = row.decided

    @property
    def rates(self) -> list[Rate]:
        return [rate for row in self.rows for rate in row.rates]

    def _frame(self, table: str) -> pl.DataFrame:
        words = {"level": 100 * self.level}
        if table == "pairs":
            tests = ("difference", "interval", "p", "p_adjusted", "differs")
            return frame_of_rows(Pair, self.pairs, "measure", "run", "against", *tests, **words)
        if table == "decisions":
            return frame_of_rows(Row, self.rows, "run", "slice", "cells")
        names = ("run", "slice", "measure", "value", "interval", "coin", "refuse", "answer")
        return frame_of_rows(Rate, self.rates, *names, "bounds", **words)
