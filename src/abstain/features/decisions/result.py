"""Decisions to answer, as data, and how they look: counts, rates, pairs, and a mosaic a run."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, get_args

import msgspec
import polars as pl
from msgspec import Meta
from msgspec.structs import replace

from abstain.errors import plural
from abstain.outcomes import DECISIONS, Decisions
from abstain.report import view
from abstain.report.charts import PALETTE, chart, tips
from abstain.report.grid import Column, Grid, frame_of_rows
from abstain.report.page import Page, PageTable, page_of
from abstain.report.result import Ends, Facts, Number, Result, written
from abstain.stats.intervals import DEFAULT, METHODS

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
MOST_BLOCKS = 3
"""Runs whose rates stand one below the other, beside those of runs without judgement."""
MOST_DRAWN, ABREAST = 24, 3
"""Runs that have a mosaic, and how many stand side by side."""
ACROSS, DOWN = 1.15, 1.25
"""From one mosaic to the next, in sides of one."""
ABOUT = "Left: questions that can be answered; right: those that cannot. Areas show how many."
COLOURS = (PALETTE[0], PALETTE[4], "#c9ced6", PALETTE[1], PALETTE[2])
VERBS = {"refuses": "refuse", "answers": "answer", "errs": "err"}
EVERYTHING: tuple[Leaning, ...] = ("refuses everything", "answers everything")
LEANINGS: tuple[Leaning, ...] = get_args(Leaning)
"""In the order in which the first sentence names them."""


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
        return view.p_text(self.p_adjusted)


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


class View(view.View[DecisionsResult]):
    def title(self) -> str:
        return f"Should it have answered? {plural(len(self.result.leanings), 'run')}"

    def tables(self, **options: Any) -> list[Grid]:
        rows, words = self.result.rows, {"level": 100 * self.result.level}
        counts = Grid.of_rows(Row, rows, "run", "slice", "cells")
        grids = [replace(counts, title="Decisions")]
        for row in rows if len(rows) <= MOST_BLOCKS else ():
            grid = Grid.of_rows(Rate, list(row.rates), *self._of_a_rate, **words)
            grids.append(replace(grid, title=_name(row)))
        if len(rows) > MOST_BLOCKS:
            asked = self.result.measures
            shown = DEFAULT_MEASURES[:2] if asked == DEFAULT_MEASURES else asked
            some = [replace(row, scores={k: row.scores[k] for k in shown}) for row in rows]
            grid = Grid.of_rows(Row, some, "run", "slice", ("scores", "intervals"), **words)
            grids.append(replace(grid, title="Rates"))
        if pairs := self.result.pairs:
            names = ("measure", "run", "against", "difference", "interval", "shown_p_adjusted")
            grids.append(replace(Grid.of_rows(Pair, pairs, *names, **words), title="Differences"))
        grids[-1].notes = self.sentences()
        return grids

    def on_terminal(self, **options: Any) -> list[Grid]:
        """The first sentence may have several lines, so it is no title."""
        counts, *others = self.tables()
        return [Grid([], [], notes=[self.lead()]), replace(counts, title=""), *others]

    def whole(self, **options: Any) -> Grid:
        words = {"level": 100 * self.result.level}
        return Grid.of_rows(Rate, self.result.rates, "run", "slice", *self._of_a_rate, **words)

    def page(self) -> Page:
        (section,) = super().page().sections
        rates = PageTable("rates", "Rates", "", self.whole(), filters=("run", "measure"))
        pairs = section.tables[-1:] if self.result.pairs else []
        section = replace(section, tables=[section.tables[0], rates, *pairs])
        return page_of(self.result, self.title(), self.lead(), [section])

    @property
    def _of_a_rate(self) -> list[str]:
        names = ["measure", "value", "interval", "coin", "refuse", "answer"]
        return names + ["bounds"] * any(row.undecided for row in self.result.rows)

    def lead(self) -> str:
        """In which direction each run errs, those that refuse or answer everything first."""
        runs, row = self.result.leanings, self.result.rows[0]
        if len(runs) == 1 and row.leaning is not None and not row.slice:
            return _alone(row, row.leaning)
        groups: dict[str, list[str]] = {leaning: [] for leaning in LEANINGS}
        for run, leaning in runs.items():
            groups[leaning or LEANINGS[-1]].append(run)
        parts = [_together(names, leaning) for leaning, names in groups.items() if names]
        can = any(any(row.cells[:3]) for row in self.result.rows)
        return "; ".join(parts) + ("." if can else ": no question can be answered.")

    def sentences(self) -> list[str]:
        result, names = self.result, [row.run for row in self.result.rows]
        clustered = f", questions clustered by {result.cluster}" if result.cluster else ""
        return [
            f"{plural(len(result.leanings), 'run')}, {plural(result.questions, 'question')}.",
            *self._coins(),
            *self._undecided(),
            *self._tested(),
            *(view.sentence(note, names) for note in result.notes),
            *view.undefined_sentences((row.run, row.undefined) for row in result.rows),
            f"Intervals: {100 * result.level:g} %, {METHODS[DEFAULT]} ({DEFAULT}){clustered}.",
            *view.policy_words(result.policy, result.touched),
        ]

    def _coins(self) -> Iterator[str]:
        known = [row for row in self.result.rows if row.leaning not in (*EVERYTHING, None)]
        if runs := [_name(row) for row in known if not row.beats_coin]:
            what = "telling which questions can be answered"
            yield f"Not surely better than a coin at {what}: {view.first_few(runs)}."

    def _undecided(self) -> Iterator[str]:
        name = "abstention-recall"
        for row in self.result.rows:
            if (open_ := row.undecided) is None:
                continue
            n = plural(open_.answerable + open_.unanswerable, "response")
            text = f"{n} without a verdict, {open_.unanswerable:,} where no answer was due"
            recall, (low, high) = row.scores.get(name), open_.bounds.get(name, (None, None))
            if recall is not None and low is not None:
                flattered = view.score_text(max(recall - low, 0.0))
                text += f"; {name} may be {view.score_text(low)} to {view.score_text(high)}, so "
                text += f"{view.score_text(recall)} is flattered by up to {flattered}"
            yield f"{_name(row)}: {text}."

    def _tested(self) -> Iterator[str]:
        pairs = self.result.pairs
        if pairs:
            differ = sum(bool(pair.differs) for pair in pairs)
            yield (
                f"{differ} of {plural(len(pairs), 'difference')} are significant at the "
                f"{100 * (1 - self.result.level):.3g} % level, corrected for all of them (Holm); "
                f"paired by question on {plural(pairs[0].questions, 'question')}, seed "
                f"{self.result.seed}. Intervals are not corrected."
            )
        reasons = dict.fromkeys(pair.no_test for pair in pairs if pair.no_test)
        yield from (f"No test: {reason}." for reason in view.few(list(reasons), 2))

    def charts(self) -> view.Charts:
        rows = [row for row in self.result.rows if row.decided.n][:MOST_DRAWN]
        return {"decisions": mosaic(rows)} if rows else {}


def _name(row: Row) -> str:
    slices = [f"{name} {value or '–'}" for name, value in row.slice.items()]
    return ", ".join([row.run, *slices])


def _together(names: list[str], leaning: str) -> str:
    verb, _, rest = leaning.partition(" ")
    return f"{view.first_few(names)} {verb if len(names) == 1 else VERBS[verb]} {rest}"


def _alone(row: Row, leaning: Leaning) -> str:
    d, count = row.decided, view.count_text
    cannot = d.wrongly_answered + d.rightly_declined
    can = d.n - cannot
    if not can:
        return f"{row.run} {leaning} ({count(d.n)} of {count(d.n)} that cannot be answered)."
    return (
        f"{row.run} {leaning}: it declines {count(d.wrongly_declined)} of {count(can)} questions "
        f"that can be answered, and answers {count(d.wrongly_answered)} of {count(cannot)} that "
        "cannot."
    )


def mosaic(rows: list[Row]) -> dict[str, Any]:
    tiles: list[dict[str, Any]] = []
    names: list[dict[str, Any]] = []
    for at, row in enumerate(rows):
        d, of_run = row.decided, {"run": _name(row)}
        left, top = ACROSS * (at % ABREAST), -DOWN * (at // ABREAST)
        names.append({**of_run, "x": left, "y": top + 0.02})
        for due, words in (("an answer", DECISIONS[:3]), ("declining", DECISIONS[3:])):
            parts = {word: getattr(d, word) for word in words}
            questions, y = sum(parts.values()), top - 1
            for word, n in parts.items() if questions else ():
                what = {"due": due, "decision": word.replace("_", " "), "questions": n}
                ends = {"x": left, "x2": left + questions / d.n, "y": y, "y2": y + n / questions}
                tiles.append(of_run | what | ends)
                y = ends["y2"]
            left += questions / d.n
    axis = {"type": "quantitative", "axis": None, "scale": {"zero": False, "nice": False}}
    place = {"x": {"field": "x", **axis}, "y": {"field": "y", **axis}}
    colours = {"domain": [name.replace("_", " ") for name in DECISIONS], "range": list(COLOURS)}
    colour = {"field": "decision", "type": "nominal", "title": None, "scale": colours}
    squares = {
        "mark": {"type": "rect", "stroke": "white", "tooltip": True},
        "encoding": {
            **place,
            "x2": {"field": "x2"},
            "y2": {"field": "y2"},
            "color": colour | {"legend": {"orient": "bottom", "columns": 3}},
            "tooltip": tips(("run", "due", "decision"), ("questions",)),
        },
    }
    labels = {
        "data": {"values": names},
        "mark": {"type": "text", "align": "left", "baseline": "bottom", "limit": 110},
        "encoding": {**place, "text": {"field": "run", "type": "nominal"}},
    }
    height = 200 * -(-len(rows) // ABREAST)
    return chart("Decisions", tiles, [squares, labels], subtitle=ABOUT, width=600, height=height)
