"""Scores of runs as data: a row for each run and slice, with all that it takes to read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import msgspec

from abstain.outcomes import OUTCOMES, Counts, Undefined
from abstain.report.grid import Column, frame_of_rows
from abstain.report.result import Ends, Facts, Number, Result, check_rows, written
from abstain.report.view import label, measure_summary

if TYPE_CHECKING:
    import polars as pl

Reference: TypeAlias = Literal["answer nothing", "random blanking", "best blanking"]
ENDS = "the ends of a {level:.4g} % interval of {key}"
BREAK_EVEN = "the chance of being right above which answering pays"
RANK = Column("#", means="rank; = where several share it", plain=True)
SLICE = Column(empty="–", means="an attribute of the questions", plain=True)
RIGHT = Column("right", "count", means="answered right", plain=True)
WRONG = Column("wrong", "count", joined=True, means="answered wrong", plain=True)
BLANK = Column("blank", "count", joined=True, means="left without an answer")


class Row(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One run in one slice."""

    run: str
    slice: Annotated[dict[str, str | None], SLICE] = msgspec.field(default_factory=written)
    numbers: Annotated[dict[str, Number | None], Column(kind="count")] = msgspec.field(
        name="counts", default_factory=written
    )
    """The counts by outcome; where the split of the blanks is unknown, nulls and their sum."""
    scores: Annotated[dict[str, float | None], Column(kind="score", means=measure_summary)]
    undefined: dict[str, str] = msgspec.field(default_factory=written)
    """Why the scores that do not exist do not."""
    rank: Annotated[str, RANK] = ""
    intervals: Annotated[
        dict[str, Ends],
        Column("{key} low", "score", joined=True, short="low", means=ENDS),
        Column("{key} high", "score", joined=True, short="high", means=ENDS),
    ] = {}
    no_interval: dict[str, str] = {}
    """Why intervals that do not exist do not."""
    break_even: Annotated[
        dict[str, float | None], Column("p* {key}", "score", means=BREAK_EVEN)
    ] = {}
    blanks: dict[str, int] = {}
    """Blanks by their reason, before the policy."""
    excluded: int = 0
    """Responses that the policy excludes."""
    reference: Annotated[Reference | None, Column(if_any=True)] = None

    @property
    def counts(self) -> Counts:
        """The counts, as measures take them."""
        return Counts.from_dict(self.numbers)

    @property
    def label(self) -> Annotated[str, Column("run", means="the run or reference", plain=True)]:
        """The run, or the reference beside it."""
        return label(self.run, self.reference)

    @property
    def outcomes(self) -> Annotated[tuple[float, float, float], RIGHT, WRONG, BLANK]:
        """Right, wrong and blank."""
        k = self.counts
        return k.right, k.wrong, k.unanswered

    @property
    def bar(
        self,
    ) -> Annotated[
        tuple[float, float, float],
        Column(
            "outcomes",
            "bar",
            short="right▕wrong▕blank",
            means="the shares right, wrong and blank",
        ),
    ]:
        """The outcomes as one cell."""
        return self.outcomes

    @property
    def candidates(
        self,
    ) -> Annotated[
        tuple[float | None, float | None, float | None],
        Column("blank, right", "count"),
        Column("blank, wrong", "count", joined=True),
        Column("blank, empty", "count", joined=True),
    ]:
        """Blanks by their candidate, where the split is known."""
        k = self.counts
        if k.unsplit:
            return None, None, None
        return k.unanswered_right, k.unanswered_wrong, k.unanswered_empty

    def score(self, name: str) -> float:
        """A score; where it does not exist a NaN that knows why."""
        result = self.scores[name]
        return Undefined(self.undefined.get(name, "undefined")) if result is None else result


class ScoreResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="score"):
    """Scores of runs, with all that it takes to read them."""

    measures: tuple[str, ...]
    by: tuple[str, ...] = ()
    questions: int | None = None
    interval_method: str | None = None
    """How the intervals were made, where there are some."""
    resampled_method: str | None = None
    """How those of measures of confidence were made."""
    trials: int | None = None
    level: float | None = None
    cluster: str | None = None
    """The attribute by which questions are clustered, as the intervals took them."""
    seed: int | None = None
    rows: tuple[Row, ...] = msgspec.field(name="results")

    @property
    def percent(self) -> float:
        """The level of the intervals in percent."""
        return 100 * (self.level or 0)

    def check(self) -> None:
        """Every row has the scores and slices of the first."""
        check_rows(self.rows, self.measures, self.by)
        for row in self.rows:
            _ = row.counts

    def _frame(self, table: str) -> pl.DataFrame:
        """One row a run and slice: rank, run, slice attributes, scores, counts."""
        import polars as pl

        frame = frame_of_rows(
            Row,
            self.rows,
            *("rank", "run", "slice", ("scores", "intervals"), "numbers", "reference"),
            level=self.percent,
        )
        if "unanswered" not in frame.columns:
            return frame
        blanks = pl.sum_horizontal(OUTCOMES[2:], ignore_nulls=False)
        return frame.with_columns(pl.col("unanswered").fill_null(blanks))
