"""A campaign as data: all that the tables, sentences and the page of an overview are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

import abstain
from abstain.analyses.compare.result import CompareResult
from abstain.analyses.curve.result import CurveResult
from abstain.analyses.result import Facts, Result
from abstain.analyses.score.result import Number, Row
from abstain.analyses.validate.result import Problem
from abstain.errors import shown
from abstain.outcomes import MOST, OUTCOMES, CountsArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl


class CampaignRow(Row, frozen=True, kw_only=True, omit_defaults=True):
    """A run of a campaign."""

    group: str = ""
    """Letters of the groups of runs that cannot be told apart."""
    info: dict[str, str | None] = {}
    """What is known of the run: team, language, …"""
    pairs: tuple[int, int, int, int] | None = None
    """Main and auxiliary questions: both right, main only, auxiliary only, neither."""


class Breakdown(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """The slices that an attribute makes, with the outcomes of every run in each.

    Each matrix is runs (as the results have them) × slices.
    """

    attribute: str
    slices: list[str]
    right: list[list[Number]]
    wrong: list[list[Number]]
    unanswered_right: list[list[Number]]
    unanswered_wrong: list[list[Number]]
    unanswered_empty: list[list[Number]]

    @property
    def outcomes(self) -> list[list[list[Number]]]:
        """Outcomes × runs × slices."""
        return [getattr(self, name) for name in OUTCOMES]


class ReferenceRun(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A run that needs no system: its counts over all questions, and by slices."""

    name: str
    counts: list[Number]
    """By outcome."""
    slices: list[list[list[Number]]]
    """Breakdowns × outcomes × slices."""


class UnrankedRun(ReferenceRun, frozen=True, kw_only=True, omit_defaults=True):
    """A run that is scored but neither ranked nor averaged: late or unofficial."""

    status: str
    info: dict[str, str | None] = {}
    """What is known of the run: team, language, …"""


class FirstRun(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A team's run 01 against the best of its other runs, on the same questions."""

    team: str
    first: str
    first_score: float | None
    other: str
    other_score: float | None
    difference: float | None
    """Of the first to the other."""
    low: float | None
    high: float | None


class Questions(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Every question: its attributes, and in how many runs it was right, wrong, left blank."""

    attributes: dict[str, list[str | None]]
    """`question` and whatever else the gold says, a column each."""
    right: list[int]
    wrong: list[int]
    blank: list[int]
    accepted: list[list[str]]
    nothing_right: list[bool]
    options: list[list[str] | None] = []
    option_texts: list[list[str] | None] = []
    choices: list[list[tuple[str, int]]] = []
    """The answers given and how many runs gave them; empty where there are too many responses."""


class Stability(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """The ranks of each run over resamples of the questions, drawn with replacement."""

    trials: int
    seed: int
    low: list[int]
    """The 2.5 % quantile of each run's rank, in the order of the results."""
    high: list[int]
    first: list[float]
    """The share of resamples in which a run is first, alone or with others."""


LEAST = 1e-9
"""A run that guesses has parts of a question right, but not less of one than this."""


class CampaignResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="campaign"):
    """Runs over one gold, with everything that an overview is made of."""

    title: str = "Campaign"
    about: str = ""
    measure: str
    pass_mark: float
    seed: int = 0
    level: float = 0.95
    topic_by: str | None = None
    test_by: str | None = None
    rows: tuple[CampaignRow, ...] = msgspec.field(name="results")
    """From the best to the worst."""
    questions: Questions
    breakdowns: tuple[Breakdown, ...] = ()
    references: tuple[ReferenceRun, ...] = ()
    unranked: tuple[UnrankedRun, ...] = ()
    """Late and unofficial runs, which are scored but stand outside of ranks and averages."""
    withdrawn: tuple[str, ...] = ()
    """Runs that were taken back: they are not scored."""
    first_runs: tuple[FirstRun, ...] = ()
    """Each team's run 01 against its best other run, on main questions."""
    problems: tuple[Problem, ...] = ()
    """What is wrong with runs that were handed in."""
    warnings: tuple[Problem, ...] = ()
    """What is odd about runs, though they are scored."""
    skipped: tuple[str, ...] = ()
    """Runs that were left out for their problems."""
    blind: bool = False
    """Whether everything is left out that gives answers away; blanks are counted as empty then."""
    comparison: CompareResult | None = None
    """All pairs of runs, where there are not too many."""
    stability: Stability | None = None
    """Where there are not too many responses."""
    curves: CurveResult | None = None
    """Of the best runs that state a confidence."""

    @property
    def TABLES(self) -> tuple[str, ...]:  # type: ignore[override]  # noqa: N802
        """The leaderboard, and the tables of the overview that the data allow."""
        return abstain.view_of(self).frame_names()

    def to_frame(self, table: str = "main") -> pl.DataFrame:
        """A table of the overview by the name of its file; the leaderboard is the main one."""
        return abstain.view_of(self).frame(table)

    def check(self) -> None:
        """Every list has a place for each run, slice or question that it speaks of."""
        q = self.questions
        runs, asked = len(self.rows), len(q.attributes.get("question", ()))
        if not runs or not asked:
            raise ValueError("has no runs or no questions")
        lists: list[Sequence[object]] = [q.right, q.wrong, q.blank, q.accepted, q.nothing_right]
        if self.blind:
            if any(map(bool, (*lists, q.choices, q.options, q.option_texts))):
                raise ValueError("is blind, but holds outcomes or answers of questions")
            lists = []
        lists += q.attributes.values()
        lists += [own for own in (q.options, q.option_texts, q.choices) if own]
        if "question" not in q.attributes or {len(own) for own in lists} != {asked}:
            raise ValueError(
                "the lists of question data differ in length, or the question ids are missing"
            )
        for own in self.breakdowns:
            if own.attribute not in q.attributes:
                raise ValueError(
                    f"the breakdown is by {shown(own.attribute)}, which no question has"
                )
            sizes = {(len(matrix), *{len(row) for row in matrix}) for matrix in own.outcomes}
            if sizes != {(runs, len(own.slices))}:
                raise ValueError(f"the breakdown by {shown(own.attribute)} is incomplete")
        for reference in (*self.references, *self.unranked):
            tall = [(len(part), *{len(row) for row in part}) for part in reference.slices]
            wide = [(len(OUTCOMES), len(own.slices)) for own in self.breakdowns]
            if tall != wide or len(reference.counts) != len(OUTCOMES):
                raise ValueError(f"the reference {shown(reference.name)} is incomplete")
        if self.stability is not None:
            s = self.stability
            if {len(s.low), len(s.high), len(s.first)} != {runs}:
                raise ValueError("the stability does not cover all runs")
        known = {row.run for row in self.rows}
        parts = [own for own in (self.comparison, self.curves) if own is not None]
        for part in parts:
            part.check()
            rows = part.rows if isinstance(part, CompareResult) else part.runs
            if not known.issuperset(row.run for row in rows):
                raise ValueError(f"its part of kind '{part.kind}' names a run that has no result")
        self._check_counts()

    def _check_counts(self) -> None:
        """Counts are numbers, and slices those that the questions make."""
        from abstain.analyses.campaign.overview import Overview

        c = Overview(self)
        for own in self.breakdowns:
            if c.slices[own.attribute].names != own.slices:
                raise ValueError(
                    f"the slices by {shown(own.attribute)} are not those of the questions"
                )
        for name in (self.test_by, self.topic_by):
            if name is not None and name not in c.slices:
                raise ValueError(f"has no breakdown by {shown(name)}")
        for tried in c.tried:
            if tried.size and not 0 <= tried.min() <= tried.max() <= len(self.rows):
                raise ValueError(
                    "the runs that are counted for a question are fewer than 0 or more than all"
                )
        overall, parts = zip(*c.baselines.values(), strict=True) if c.baselines else ((), ())
        sliced = [own for each in parts for own in each.values()]
        for counts in (c.overall, CountsArray.of(overall), *c.sliced.values(), *sliced):
            some = counts.table[counts.table != 0]
            if some.size and not LEAST <= some.min() <= some.max() <= MOST:
                raise ValueError("has a count that is below 0, nearly 0 or above 2^53")
