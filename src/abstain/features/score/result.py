"""Scores of runs as data, a row for each run and slice, and how they look."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import msgspec
import polars as pl

from abstain.errors import UsageError, check_name, plural
from abstain.measures import Measure
from abstain.outcomes import Counts, CountsArray, Decisions, Undefined
from abstain.report import view
from abstain.report.grid import Column, Fields, Grid, frame_of_rows
from abstain.report.result import Ends, Facts, Number, Result, check_rows, written

if TYPE_CHECKING:
    from abstain.report.page import Figure, Page, PageTable, Section

Reference: TypeAlias = Literal["answer nothing", "random blanking", "best blanking"]
ENDS = "the ends of a {level:.4g} % interval of {key}"
BREAK_EVEN = "the chance of being right above which answering pays"
RANK = Column("#", means="rank; = where several share it", plain=True)
SLICE = Column(empty="–", means="an attribute of the questions", plain=True)
RIGHT = Column("right", "count", means="answered right", plain=True)
WRONG = Column("wrong", "count", joined=True, means="answered wrong", plain=True)
BLANK = Column("blank", "count", joined=True, means="left without an answer")
SHARES = "the shares right, wrong and blank"
BAR = Column("outcomes", "bar", short="right▕wrong▕blank", means=SHARES)
BLANKS = tuple(
    Column(f"blank, {kind}", "count", joined=kind != "right")
    for kind in ("right", "wrong", "empty")
)


class Row(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """One run in one slice."""

    run: str
    slice: Annotated[dict[str, str | None], SLICE] = msgspec.field(default_factory=written)
    numbers: Annotated[dict[str, Number | None], Column(kind="count")] = msgspec.field(
        name="counts", default_factory=written
    )
    """The counts by outcome; where the split of the blanks is unknown, nulls and their sum."""
    scores: Annotated[dict[str, float | None], Column(kind="score", means=view.measure_summary)]
    undefined: dict[str, str] = msgspec.field(default_factory=written)
    rank: Annotated[str, RANK] = ""
    intervals: Annotated[
        dict[str, Ends],
        Column("{key} low", "score", joined=True, short="low", means=ENDS),
        Column("{key} high", "score", joined=True, short="high", means=ENDS),
    ] = {}
    no_interval: dict[str, str] = {}
    break_even: Annotated[
        dict[str, float | None], Column("p* {key}", "score", means=BREAK_EVEN)
    ] = {}
    decisions: dict[str, Number] = {}
    """The number of each decision, where a measure takes them."""
    blanks: dict[str, int] = {}
    """Blanks by their reason, before the policy."""
    excluded: int = 0
    reference: Reference | None = None

    @property
    def counts(self) -> Counts:
        return Counts.from_dict(self.numbers)

    @property
    def decided(self) -> Decisions:
        return Decisions(**self.decisions)

    @property
    def label(self) -> Annotated[str, Column("run", means="the run or reference", plain=True)]:
        return view.label(self.run, self.reference)

    @property
    def outcomes(self) -> Annotated[tuple[float, float, float], RIGHT, WRONG, BLANK]:
        k = self.counts
        return k.right, k.wrong, k.unanswered

    @property
    def bar(self) -> Annotated[tuple[float, float, float], BAR]:
        return self.outcomes

    @property
    def candidates(self) -> Annotated[tuple[Number | None, Number | None, Number | None], *BLANKS]:
        names = ("unanswered_right", "unanswered_wrong", "unanswered_empty")
        right, wrong, empty = (None if self.counts.unsplit else self.numbers[k] for k in names)
        return right, wrong, empty

    def score(self, name: str) -> float:
        """A score; where it does not exist a NaN that knows why."""
        result = self.scores[name]
        return Undefined(self.undefined.get(name, "undefined")) if result is None else result


class ScoreResult(Result, frozen=True, kw_only=True, omit_defaults=True, tag="score"):
    """Scores of runs, with all that it takes to read them."""

    measures: tuple[str, ...]
    by: tuple[str, ...] = ()
    questions: int | None = None
    samples: int | None = None
    """How many different questions there are, where they were asked repeatedly."""
    interval_method: str | None = None
    resampled_method: str | None = None
    trials: int | None = None
    level: float | None = None
    cluster: str | None = None
    """The attribute by which questions are clustered, as the intervals took them."""
    seed: int | None = None
    rows: tuple[Row, ...] = msgspec.field(name="results")

    @property
    def percent(self) -> float:
        return 100 * (self.level or 0)

    def check(self) -> None:
        check_rows(self.rows, self.measures, self.by)
        for row in self.rows:
            _ = row.counts, row.decided

    def _frame(self, table: str) -> pl.DataFrame:
        names = ("rank", "run", "slice", ("scores", "intervals"), "numbers")
        more = ("reference",) if any(row.reference for row in self.rows) else ()
        frame = frame_of_rows(Row, self.rows, *names, *more, level=self.percent)
        blanks = pl.Series("blank", [row.counts.unanswered for row in self.rows], strict=False)
        frame = frame.drop("unanswered", strict=False)
        at = frame.columns.index("wrong") + 1 if "wrong" in frame.columns else frame.width
        return frame.insert_column(at, blanks) if "blank" not in frame.columns else frame

    def __getitem__(self, name: str | tuple[str | None, ...]) -> Row:
        """The row of a run: `result["a"]`; with slices also their values: `result["a", "x"]`."""
        run, *values = (name,) if isinstance(name, str) else name
        rows = [row for row in self.rows if row.reference is None]
        check_name("run", str(run), {row.run: None for row in rows})
        some = [row for row in rows if row.run == run]
        found = [row for row in some if [*row.slice.values()] == values]
        if not found:
            known = ", ".join(repr((run, *row.slice.values())) for row in some[:3])
            raise UsageError(f"there is no row {name!r}; name a run and its slice, such as {known}")
        return found[0]


class View(view.View[ScoreResult]):
    @property
    def _real(self) -> list[Row]:
        return [row for row in self.result.rows if not row.reference]

    @property
    def _runs(self) -> str:
        return plural(len({row.run for row in self._real}), "run")

    @property
    def _measures(self) -> list[Measure]:
        return [m for name in self.result.measures if (m := view.known_measure(name))]

    def tables(self, *, candidates: bool = False, **options: Any) -> list[Grid]:
        grid = self._grid("candidates") if candidates else self._grid()
        grid.notes = self._notes()
        return [grid]

    def _grid(self, *more: str) -> Grid:
        result, rows = self.result, self.result.rows
        of_measures = ("scores", "intervals", "break_even")
        head: tuple[Fields, ...] = ("rank", "label", "slice", of_measures, "outcomes")
        grid = Grid.of_rows(Row, rows, *head, *more, "bar", level=result.percent)
        grid.dim = {n for n, row in enumerate(rows) if row.reference}
        slices = [row.slice for row in rows]
        if len(rows) > len(set(map(view.slice_text, rows))):
            grid.breaks = {n for n in range(1, len(rows)) if slices[n] != slices[n - 1]}
        return grid

    def _notes(self) -> list[str]:
        result, sizes = self.result, [row.counts.n for row in self._real]
        names, counted = {row.run for row in result.rows}, []
        if result.questions is not None:
            asked = plural(result.samples or result.questions, "question")
            repeats = f" ({result.questions:,} with repeats)" if result.samples else ""
            counted = [f"{self._runs}, {asked}{repeats}."]
        elif not result.by:
            counted = [f"The runs cover from {min(sizes):,.0f} to {max(sizes):,.0f} questions."]
        return [
            *counted,
            *(view.sentence(note, names) for note in result.notes),
            *self._disagreeing(),
            *self._interval_words(),
            *view.policy_words(result.policy, result.touched),
            *view.undefined_words(result.rows),
        ]

    def _disagreeing(self) -> list[str]:
        if self.result.by or len(self._real) < 2:
            return []
        credits = [m for m in self._measures if m.definition.kappa is not None]
        names = {row.run for row in self.result.rows}
        return [view.sentence(text, names) for text in _disagreements(self._real, credits)]

    def _interval_words(self) -> list[str]:
        result, used = self.result, self.result.interval_method
        if used is None:
            return []
        from abstain.stats.intervals import METHODS

        other = result.resampled_method if result.resampled_method != used else None
        parts: list[Any] = [
            f"Intervals: {result.percent:g} %, {METHODS.get(used, used)} ({used})",
            result.cluster and f"questions clustered by {result.cluster}",
            other and f"for measures of confidence {other}",
            result.trials and f"{result.trials:,} trials",
            "" if result.seed is None else f"seed {result.seed}",
        ]
        reasons = Counter(why for row in result.rows for why in row.no_interval.values())
        missing = (f"{plural(n, 'interval')}: {why}." for why, n in reasons.items())
        return [f"{', '.join(filter(None, parts))}.", *missing]

    def line(self) -> str:
        return f"<ScoreResult: {self._runs}, {', '.join(self.result.measures)}>"

    def charts(self) -> view.Charts:
        from abstain.report.charts import coloured

        return coloured({figure.name: figure.spec for figure in self._figures()})

    def _figures(self) -> list[Figure]:
        from abstain.report.leaderboard import score_figures

        return list(score_figures(self._real, self.result.measures[0]))

    def page(self) -> Page:
        from abstain.report.leaderboard import first_sentence
        from abstain.report.page import page_of, policy_and_notes

        result = self.result
        first, method = result.measures[0], result.interval_method
        return page_of(
            result,
            f"{first} of {self._runs}",
            first_sentence(self._real, first),
            self._sections(),
            ("measures", ", ".join(result.measures)),
            ("questions", "" if result.questions is None else f"{result.questions:,}"),
            ("intervals", f"{result.percent:g} %, {method}" if method else ""),
            how=[*policy_and_notes(result), *self._interval_words()],
        )

    def _sections(self) -> Iterator[Section]:
        from abstain.report.leaderboard import rewards_section
        from abstain.report.page import Section

        yield Section(
            "leaderboard",
            "Leaderboard",
            key=True,
            sentences=[*self._disagreeing(), *view.undefined_words(self.result.rows)],
            tables=[self._page_table()],
            figures=self._figures(),
        )
        if known := self._measures:
            whole = [row for row in self._real if not row.slice and row.counts.n]
            counts = CountsArray.of(row.counts for row in whole)
            yield rewards_section([row.run for row in whole], counts, known)

    def _page_table(self) -> PageTable:
        """The first measure and the outcomes first; intervals of the others when asked."""
        from abstain.report.page import PageTable

        first, *others = self.result.measures
        grid = self._grid()
        names = [column.name for column in grid.columns]
        slices = tuple(names[2 : 2 + len(self.result.by)])
        late = [f"{name} {end}" for name in others for end in ("low", "high")]
        late = [name for name in names if name in late or name.startswith("p* ")]
        head = ["#", "run", *slices, first, "outcomes"]
        about = "Rows in italics are reference runs for comparison." if grid.dim else ""
        grid = grid.in_order(
            [*head, *(name for name in names if name not in (*head, *late)), *late]
        )
        return PageTable(
            "runs", "Runs", about, grid, filters=slices, late=tuple(late), beneath=slices
        )


def _disagreements(rows: Sequence[Row], measures: Sequence[Measure]) -> Iterator[str]:
    """A sentence for each run that some measure puts first where the first measure does not."""
    winners = [_winner(rows, item) for item in measures]
    rivals: dict[str, tuple[Row, list[Measure]]] = {}
    for other, rival in zip(measures[1:], winners[1:], strict=True):
        if not (winners[0] and rival):
            continue
        pairs = ((rival.score(str(m)), winners[0].score(str(m))) for m in (measures[0], other))
        if not any(math.isclose(x, y, rel_tol=1e-12, abs_tol=1e-12) for x, y in pairs):
            rivals.setdefault(rival.run, (rival, []))[1].append(other)
    for rival, others in rivals.values():
        if winners[0] and _blank_share(rival) != _blank_share(winners[0]):
            yield _disagreement(measures[0], winners[0], others, rival)


def _winner(rows: Sequence[Row], item: Measure) -> Row | None:
    scored = [row for row in rows if row.scores[str(item)] is not None]
    best = max if item.higher_is_better else min
    return best(scored, key=lambda row: row.score(str(item)), default=None)


def _disagreement(first: Measure, a: Row, others: Sequence[Measure], b: Row) -> str:
    """Which run is ahead depends on the credit of a blank.

    Two runs with c₁ + κu₁ and c₂ + κu₂ change places at κ = (c₁ − c₂)/(u₂ − u₁): the one with
    more blanks is ahead wherever a blank is worth more than that.
    """
    bold, silent = sorted((a, b), key=_blank_share)
    k, s = bold.counts, silent.counts
    worth = (k.right / k.n - s.right / s.n) / (_blank_share(silent) - _blank_share(bold))
    more = ""
    if k.n == s.n:
        right, few = k.right - s.right, "fewer" if k.right >= s.right else "more"
        blanks = view.count_text(s.unanswered - k.unanswered)
        more = f"has {blanks} more blank and {view.count_text(abs(right))} {few} right, so it "
    put = f"{view.listed([str(m) for m in others])} {'puts' if len(others) == 1 else 'put'}"
    values = ", ".join(f"{m} at {_range(m, a, b)}" for m in others)
    return (
        f"{first} puts {a.run} first, {put} {b.run} first: {silent.run} {more}"
        f"is ahead if a blank is worth more than {worth:.3f} right answers; "
        f"{first} values a blank at {_range(first, a, b)}, {values}"
    )


def _blank_share(row: Row) -> float:
    return row.counts.unanswered / row.counts.n


def _range(item: Measure, a: Row, b: Row) -> str:
    low, high = sorted(f"{item.kappa(row.counts):.3f}" for row in (a, b))
    return low if low == high else f"{low} to {high}"
