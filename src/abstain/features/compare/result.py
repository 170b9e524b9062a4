"""A comparison as data: runs, pairs, where a difference comes from, what it takes to see one."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec
import polars as pl
from msgspec import Meta, structs

from abstain.errors import plural
from abstain.outcomes import Counts
from abstain.report.grid import Column, frame_of_rows
from abstain.report.result import Ends, Facts, Number, Result, written
from abstain.report.view import measure_summary, p_text
from abstain.stats.planning import Plan

RUN = Column("run", means="a system's responses to all questions", plain=True)
COUNT = Column(kind="count", plain=True)
SPAN = "the ends of a {level:.4g} % interval"
LOW, HIGH = Column("low", "score", means=SPAN), Column("high", "score", means=SPAN)
RIGHT = Column("right", "count", means="answered right", plain=True)
WRONG = Column("wrong", "count", means="answered wrong", plain=True)
BLANK = Column("blank", "count", means="left without an answer")
BAR = Column("outcomes", "bar", means="the shares right, wrong and blank")
GROUP = Column("group", means="runs that share a letter cannot be told apart")
POSSIBLE = "the {} score if unknown responses could have been anything"
BOUNDS = [Column(end, "score", means=POSSIBLE.format(end)) for end in ("{low}", "{high}")]
CORRECTED = Column("corrected", "score", means="the score corrected for the judge's errors")
OF_CORRECTED = "the ends of the corrected score's interval"
CORRECTED_ENDS = [
    Column(f"its {end}", "score", joined=True, means=OF_CORRECTED) for end in ("low", "high")
]
DIFFERENCE = Column("difference", "score", means="the first score minus the second")
CONTRIBUTES = Column("contributes", "score", means="to the whole difference")
LARGE = "the chance of a difference this large if the two runs were equally good"
P = Column("p", "score", means=LARGE)
DECIDES = "p corrected for the number of pairs; the verdict is based on it"
P_ADJUSTED = Column("p, corrected", "score", means=DECIDES)
VERDICTS = {None: "not tested", True: "differ", False: "not told apart"}


def units_text(count: int, unit: str) -> str:
    return plural(count, unit, "queries" if unit == "query" else None)


class RunRow(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A run with its score, an interval, and the letters of its groups."""

    run: Annotated[str, RUN]
    numbers: Annotated[dict[str, Number | None], COUNT] = msgspec.field(
        name="counts", default_factory=dict
    )
    scores: Annotated[dict[str, float | None], Column(kind="score", means=measure_summary)]
    undefined: dict[str, str] = msgspec.field(default_factory=written)
    intervals: dict[str, Ends]
    no_interval: dict[str, str] = {}
    """Why an interval does not exist, or what is odd about it."""
    group: Annotated[str, GROUP] = ""
    unknown: Annotated[int, Column("unknown", "count", means="whose outcome is not known")] = 0
    """Responses that were unparseable, failed or missing, over all questions."""
    bounds: Annotated[dict[str, Ends], *BOUNDS] = {}
    """The lowest and the highest score over all ways in which they could have gone."""
    corrected: Annotated[dict[str, float | None], CORRECTED] = {}
    corrected_intervals: Annotated[dict[str, Ends], *CORRECTED_ENDS] = {}
    unstated: int = 0
    """Answers without a confidence, where others have one."""

    @property
    def counts(self) -> Counts | None:
        return Counts.from_dict(self.numbers) if self.numbers else None

    @property
    def score(self) -> float | None:
        return next(iter(self.scores.values()))

    @property
    def interval(self) -> Annotated[Ends, LOW, HIGH]:
        return next(iter(self.intervals.values()))

    @property
    def outcomes(self) -> Annotated[tuple[float, float, float], RIGHT, WRONG, BLANK]:
        k = Counts.from_dict(self.numbers)
        return k.right, k.wrong, k.unanswered

    @property
    def bar(self) -> Annotated[tuple[float, float, float], BAR]:
        return self.outcomes


class Effect(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """How large a difference of two means is, and how the differences by topic are distributed."""

    standardised: Annotated[float | None, Column("d", "score", means="difference / deviation")]
    wins: Annotated[int, Column("won", "count")]
    ties: Annotated[int, Column("tied", "count")]
    losses: Annotated[int, Column("lost", "count")]
    skewness: float | None
    """Of the topics' differences; None where they do not vary."""
    distinct: int

    @property
    def record(self) -> Annotated[str, Column("W/T/L", means="topics won, tied and lost")]:
        return f"{self.wins}/{self.ties}/{self.losses}"


class Pair(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """A run against another: the difference of their scores."""

    run: Annotated[str, Column("run", means="the first run of the pair", plain=True)]
    against: Annotated[str, Column("against", means="the second run of the pair")]
    difference: Annotated[float | None, DIFFERENCE]
    interval: Annotated[Ends, LOW, HIGH]
    standard_error: Annotated[float | None, Column("standard_error", "score")]
    p: Annotated[float | None, P]
    p_adjusted: Annotated[float | None, P_ADJUSTED]
    exact: bool
    """Whether p counts every way of swapping, or random ones."""
    questions: int
    differs: Annotated[bool | None, Column("differs")]
    """Whether the difference is significant after correction; None: there was nothing to test."""
    no_interval: str = ""
    """Why the interval does not exist, or what is odd about it."""
    no_test: str = ""
    by_interval: bool = False
    """Whether p is that of the interval, because only the test shows a difference."""
    undefined_swaps: int = 0
    effect: Effect | None = None
    plain_p: float | None = None
    """The corrected p of the plain paired t-test, where it leads to another verdict."""

    @property
    def verdict(self) -> Annotated[str, Column("verdict", means="what the test says")]:
        return VERDICTS[self.differs]

    @property
    def shown_p(self) -> Annotated[str, P]:
        return p_text(self.p)

    @property
    def shown_p_adjusted(self) -> Annotated[str, P_ADJUSTED]:
        return p_text(self.p_adjusted)


class Corrected(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """The difference of two runs without the judge's errors."""

    run: str
    against: str
    difference: float | None
    interval: Ends


class Move(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Questions that went from one outcome to another, and what that is worth."""

    questions: int
    worth: float | None


class SliceShare(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One slice: how both runs did in it, and what it contributes to the difference."""

    slice: dict[str, str]
    questions: Annotated[int, Column("questions", "count", plain=True)]
    score: Annotated[float | None, Column("{run}", "score", means="its {measure}")]
    score_against: Annotated[float | None, Column("{against}", "score", means="its {measure}")]
    difference: Annotated[float | None, DIFFERENCE]
    contribution: Annotated[float | None, CONTRIBUTES]

    @property
    def attribute(self) -> Annotated[str, Column("slice", means="the attribute of questions")]:
        return next(iter(self.slice))

    @property
    def name(self) -> Annotated[str, Column("part", means="its value")]:
        return self.slice[self.attribute]


class Origin(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Where a difference comes from; each sum of contributions is the difference."""

    transitions: dict[str, Move]
    """By outcome of the other run and of the run itself: `wrong → right`."""
    knowing: float | None
    abstaining: float | None
    """None where there is no difference, or where most questions that differ lack a candidate."""
    decisions: dict[str, float | None] = {}
    """Where the data mark what can be answered: what comes from refusing, answering, knowing."""
    without_candidate: int
    """Questions whose outcomes differ, one of them a blank whose candidate nobody knows."""
    slices: tuple[SliceShare, ...]
    reversals: tuple[str, ...]
    """Attributes whose slices, where they show a difference, all show it the other way."""
    contributions: dict[str, float]
    """What each question contributes that contributes something, the largest first."""

    @property
    def same(self) -> int:
        everything = sum(move.questions for move in self.transitions.values())
        return everything - sum(move.questions for move in self.moves.values())

    @property
    def moves(self) -> dict[str, Move]:
        changed = {k: m for k, m in self.transitions.items() if len({*k.split(" → ")}) > 1}
        made = {k: m for k, m in changed.items() if m.questions}
        return dict(sorted(made.items(), key=lambda item: -abs(item[1].worth or 0)))


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
    against: str | None = None
    test: str
    correction: str
    family: str = "all"
    together: int = 1
    """By how many measures runs are compared at once."""
    interval_method: str | None
    interval_method_of_differences: str | None = None
    """How those of differences were made, where that is another method."""
    level: Annotated[float, Meta(gt=0, lt=1)]
    resamples: int = msgspec.field(name="trials")
    seed: int
    swaps: int | None = None
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
    judge_sample: int = 0
    judge_drawn: str = ""
    corrected: tuple[Corrected, ...] = ()
    """Differences without the judge's errors; `pairs` and their tests are of its verdicts."""
    never_checked: tuple[str, ...] = ()
    """Verdicts that no checked response should have had, or had where they were drawn by it."""
    rows: Annotated[tuple[RunRow, ...], Meta(min_length=1)] = msgspec.field(name="results")
    """From the best to the worst."""
    pairs: Annotated[tuple[Pair, ...], Meta(min_length=1)]
    origin: Origin | None = None
    plan: Plan | None = None
    more: tuple[CompareResult, ...] = ()
    """The same by the other measures; their runs and pairs stand in the same order."""

    TABLES: ClassVar = ("main", "pairs", "runs", "transitions", "slices", "contributions")

    @property
    def parts(self) -> tuple[CompareResult, ...]:
        return self, *self.more

    @property
    def alpha(self) -> float:
        return 1 - self.level

    @property
    def of_scores(self) -> bool:
        return any(pair.effect is not None for pair in self.pairs)

    def neighbours(self) -> list[Pair]:
        place = {row.run: i for i, row in enumerate(self.rows)}
        return [p for p in self.pairs if abs(place[p.run] - place[p.against]) == 1]

    def separated(self) -> list[str]:
        """Runs that differ significantly from every other that has a score."""
        tested = [pair for pair in self.pairs if pair.differs is not None]
        apart = {run for pair in tested for run in (pair.run, pair.against)}
        for pair in tested:
            apart -= set() if pair.differs else {pair.run, pair.against}
        return [row.run for row in self.rows if row.run in apart]

    def _frame(self, table: str) -> pl.DataFrame:
        """A row a pair; or a run, a transition, a slice, a question that contributes.

        By several measures these stand below each other, and a column says which it is.
        """
        if self.more:
            frames = []
            for part in self.parts:
                frame = structs.replace(part, more=())._frame(table)
                frame = frame.rename({part.measure: "score"}, strict=False)
                frames.append(frame.insert_column(0, pl.lit(part.measure).alias("measure")))
            return pl.concat(frames, how="diagonal_relaxed")
        origin, words = self.origin, {"run": "", "against": "", "measure": self.measure}
        match table:
            case "runs":
                names = ("run", "scores", "interval", "group", "numbers")
                return frame_of_rows(RunRow, self.rows, *names, level=100 * self.level)
            case "slices":
                slices = origin.slices if origin else ()
                frame = frame_of_rows(SliceShare, slices, "attribute", "name", *OF_SLICES, **words)
                return frame.rename({"name": "slice"})
            case "transitions":
                moves = origin.transitions.items() if origin else ()
                rows = [(*name.split(" → "), move.questions, move.worth) for name, move in moves]
                columns = {"from": str, "to": str, "questions": int, "worth": float}
                return pl.DataFrame(rows, schema=columns, orient="row")
            case "contributions":
                items = list(origin.contributions.items()) if origin else []
                columns = {"question": str, "contribution": float}
                return pl.DataFrame(items, schema=columns, orient="row")
        names = ("run", "against", "difference", "interval", "standard_error")
        p = ("p", "p_adjusted", "differs")
        frame = frame_of_rows(Pair, self.pairs, *names, *p, level=100 * self.level)
        effects = [pair.effect for pair in self.pairs if pair.effect is not None]
        counts = ("standardised", "wins", "ties", "losses")
        return frame.hstack(frame_of_rows(Effect, effects, *counts)) if effects else frame


OF_SLICES = ("questions", "score", "score_against", "difference", "contribution")
