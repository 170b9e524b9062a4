"""A campaign as data: all that the tables, sentences and the page of an overview are made of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from abstain.features.compare.result import CompareResult
from abstain.features.curve.result import CurveResult
from abstain.features.score.result import Row
from abstain.outcomes import COUNTED, MOST
from abstain.registry import view_of
from abstain.report.grid import Column
from abstain.report.result import Facts, Number, Result
from abstain.runs.corrections import Correction
from abstain.runs.faults import Problem

if TYPE_CHECKING:
    import polars as pl

LUCK = "random (expected)"
"""The one baseline that the test set itself gives."""
YARDSTICKS = (LUCK, "none of the above")
"""References that sentences and editions compare with."""
MAIN = "on main questions, or on all questions if none are auxiliary"
ENDS = "the ends of a {level:.4g} % interval"


class CampaignRow(Row, frozen=True, kw_only=True, omit_defaults=True):
    """A run of a campaign."""

    group: str = ""
    """Letters of the groups of runs that cannot be told apart."""
    info: dict[str, str | None] = {}
    """What is known of the run: team, language, …"""
    pairs: tuple[int, int, int, int] | None = None
    """Main and auxiliary questions: both right, main only, auxiliary only, neither."""

    @property
    def team(self) -> str:
        """The team; a run without one is a team by itself."""
        return self.info.get("team") or self.run


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
    unsplit: list[list[Number]]
    """Blanks whose candidate is unknown."""

    @property
    def outcomes(self) -> list[list[list[Number]]]:
        return [getattr(self, name) for name in COUNTED]


class ReferenceRun(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A run that needs no system: its counts over all questions, and by slices."""

    name: str
    counts: list[Number]
    """By outcome; last the blanks whose candidate is unknown."""
    slices: list[list[list[Number]]]
    """Breakdowns × outcomes × slices."""


NO_ANSWERS, LEFT_OUT = "without answers", "left out for problems"
"""Why a run has no rank, beside the statuses of the table of runs."""


class UnrankedRun(ReferenceRun, frozen=True, kw_only=True, omit_defaults=True):
    """A run that is scored but neither ranked nor averaged: late, unofficial, without answers."""

    status: str
    info: dict[str, str | None] = {}
    """What is known of the run: team, language, …"""

    @property
    def team(self) -> str:
        """The team; a run without one is a team by itself."""
        return self.info.get("team") or self.name


class FirstRun(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A team's run 01 against the best of its other runs, on the same questions."""

    team: Annotated[str, Column(means="who handed the run in")]
    first: Annotated[str, Column("run 01", means="the team's first run")]
    first_score: Annotated[float | None, Column("{measure} of run 01", "score", means=MAIN)]
    other: Annotated[str, Column("best other run", means="the best of the team's other runs")]
    other_score: Annotated[float | None, Column("{measure} of the other", "score", means=MAIN)]
    difference: Annotated[
        float | None, Column(kind="score", means="the first score less the second")
    ]
    """Of the first to the other."""
    low: Annotated[float | None, Column(kind="score", means=ENDS)]
    high: Annotated[float | None, Column(kind="score", means=ENDS)]


class Moved(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A run with the corrections and without them."""

    run: Annotated[str, Column(means="a run that is ranked")]
    rank_before: Annotated[str, Column("# before", means="its rank without the corrections")]
    rank: Annotated[str, Column("#", means="its rank with them")]
    score_before: Annotated[
        float | None, Column("{measure} before", "score", means="{measure} without them")
    ]
    score: Annotated[float | None, Column("{measure}", "score", means="{measure} with them")]


class Questions(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Every question: its attributes, and in how many runs it was right, wrong, left blank."""

    attributes: dict[str, list[str | None]]
    """`question` and whatever else the gold says, a column each."""
    right: list[int] = []
    wrong: list[int] = []
    blank: list[int] = []
    accepted: list[list[str]] = []
    nothing_right: list[bool] = []
    options: list[list[str] | None] = []
    option_texts: list[list[str] | None] = []
    choices: list[list[tuple[str, int]]] = []
    """The answers and how many runs gave them; empty where there are too many responses."""

    @property
    def outcomes(self) -> tuple[list[Any], ...]:
        """What a blind result leaves out of every question."""
        return self.right, self.wrong, self.blank, self.accepted, self.nothing_right

    @property
    def correct(self) -> list[str]:
        return [
            "none" if nothing else " | ".join(texts)
            for nothing, texts in zip(self.nothing_right, self.accepted, strict=True)
        ]


class Stability(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """The ranks of each run over resamples of the questions, drawn with replacement."""

    trials: int
    seed: int
    low: list[int]
    """The 2.5 % quantile of each run's rank, in the order of the results."""
    high: list[int]
    first: list[float]
    """The share of resamples in which a run is first, alone or with others."""


class CampaignResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="campaign"):
    """Runs over one gold, with everything that an overview is made of."""

    title: str = "Campaign"
    about: str = ""
    secret: tuple[str, ...] = ()
    """Attributes whose slices a blind phase hides."""
    sha256: dict[str, str] = {}
    """Of the file of each run, and of the gold."""
    languages: tuple[str, ...] = ()
    """Languages that the campaign offered, even if no run used them."""
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
    """All, or only those that sentences and editions compare with."""
    with_references: bool = False
    """Whether tables list reference runs."""
    unranked: tuple[UnrankedRun, ...] = ()
    """Late and unofficial runs, and those without an answer: outside of ranks and averages."""
    apart: dict[str, dict[str, int]] = {}
    """For each team (empty where unknown) how many of its runs have no rank, by reason."""
    withdrawn: tuple[str, ...] = ()
    """Runs that were taken back: they are not scored."""
    over_limit: tuple[tuple[str, str], ...] = ()
    """Runs over a limit, each after its team: they are not scored."""
    corrections: tuple[Correction, ...] = ()
    """Questions that were corrected after submission."""
    moved: tuple[Moved, ...] = ()
    """The ranked runs with and without these corrections."""
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
        return ("main", *view_of(self).by_name)

    def _frame(self, table: str) -> pl.DataFrame:
        frame: pl.DataFrame = view_of(self).frame(table)
        return frame

    def save(self, path: str | os.PathLike[str], *, organiser: bool = False) -> None:
        """As every result; a name without an ending is a folder to publish, or the organiser's."""
        view_of(self).save(Path(path), organiser=organiser)

    def letters(self) -> dict[str, str]:
        """A text for each team: what was received, what is wrong, how to mend it."""
        from abstain.features.campaign.participants import letters

        return letters(self)

    def check(self) -> None:
        """Every list has a place for each run, slice or question; a page can be made of them."""
        q, lists = self.questions, [*self.questions.attributes.values()]
        if self.blind and any((*q.outcomes, q.options, q.option_texts, q.choices)):
            raise ValueError("is blind, but holds outcomes or answers of questions")
        lists += () if self.blind else q.outcomes
        whole = {len(each) for each in lists} == {len(q.attributes["question"])} != {0}
        whole = whole and {each.attribute for each in self.breakdowns} <= {*q.attributes}
        if not (whole and self.rows and all(self._fits())):
            raise ValueError("its runs, its questions and its breakdowns do not fit each other")
        super().check()
        if self.comparison is not None:
            self.comparison.check()

    def _fits(self) -> Iterator[bool]:
        from abstain.features.campaign.overview import Overview

        c, runs = Overview(self), len(self.rows)
        yield from (bool(((n >= 0) & (n <= runs)).all()) for n in c.tried)
        for each in self.breakdowns:
            yield c.slices[each.attribute].names == each.slices
            table = c.sliced[each.attribute].table
            yield table.shape == (runs, len(each.slices), len(COUNTED))
            yield bool(((table >= 0) & (table <= MOST)).all())
