"""How curves look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import polars as pl
from msgspec.structs import replace

from abstain.errors import plural
from abstain.features.curve.charts import IN_FILE, ON_PAGE, acts, decision_words, drawn
from abstain.features.curve.result import CurveResult, HistogramResult
from abstain.report import view
from abstain.report.charts import coloured
from abstain.report.grid import UNDEFINED, Cell, Column, Grid, Kind
from abstain.report.page import Page, PageTable, Section, page_of

MEANINGS = {
    "run": "a system's responses to all questions",
    "threshold": "answers are given where confidence is at least this",
    "coverage": "the share of questions answered",
    "risk": "the share of answers that are wrong",
    "answered": "right and wrong together",
    "right": "answered right",
    "wrong": "answered wrong",
    "blank": "left without an answer",
    "from": "the lower end of the bin of confidences",
    "to": "its upper end",
    "answers": "how many answers fall into the bin",
    "confidence": "their mean confidence",
    "accuracy": "the share of them that is right",
    "wrong given": "the share of all wrong answers that are given",
    "right given": "the share of all right answers that are given",
    "where": "the run as submitted, or at its best threshold",
    "score": "what the measure is there",
    "knowing": "the score if everything were answered",
    "silence": "what the same number of random blanks would gain",
    "choosing": "what these blanks gain beyond random ones",
    "left": "what an oracle would still gain",
    "oracle": "the score if the right answers were kept and everything else left blank",
    "judged against": "what decides whether a question should have been left blank",
    "precision": "the share of blanks that were due",
    "recall": "of the questions that should be blank, the share that is blank",
    "F1": "the harmonic mean of the two",
    "over-abstention": "the share left blank where an answer was due",
    "under-abstention": "the share answered where a blank was due",
}
"""What the columns of the tables mean."""
POINTS = (
    "One point for each distinct confidence; long curves are thinned. Answers with at least the "
    "confidence of the threshold are given (nothing: none is; none: all are, even those without a "
    "confidence)."
)
NOTES = {
    "summary": "best {along}: the best value in hindsight, if only answers with at least the "
    "confidence of the threshold are given; `abstain tune` estimates what holds on new questions.",
    "parts": "{along} = knowing + silence + choosing.",
    "reliability": "Empty bins are left out.",
    **dict.fromkeys(("risk", "roc", "measure"), POINTS),
}
"""What it takes to read a table, whatever is in it."""
TOGETHER = {"summary": ("threshold", "coverage", " as submitted"), "parts": ("oracle",)}
"""Columns that stay beside the one before them: the best with its threshold."""
TABLES = {
    "main": ("results", "Summary"),
    "risk": ("risk_points", "Risk and coverage: the points"),
    "measure": ("measure_points", "{along} and coverage: the points"),
    "reliability": ("reliability_points", "Reliability: the points"),
    "roc": ("roc_points", "ROC of the decision to give an answer: the points"),
    "parts": ("parts", "Knowing and choosing"),
    "blanks": ("blank_quality", "How good the blanks are"),
}
"""The key and title of each table of a page."""
CURVES = ("risk", "measure", "reliability", "roc")
MOST_RUNS = 8
"""Runs that a page draws."""
C = TypeVar("C", CurveResult, HistogramResult)


class Curves(view.View[C]):
    """What is alike for exact curves and for those at the edges of bins."""

    def charts(self) -> dict[str, dict[str, Any]]:
        figures = drawn(self.result, IN_FILE).items()
        return coloured({name: {**f.spec, "title": {"text": f.title}} for name, f in figures})

    def grid(self, show: str, points: int) -> Grid:
        """What a command shows: a line for each run, or a block of points for each."""
        frame = self.result.thinned("main" if show == "summary" else show, points)
        grid = frame_grid(frame, apart=show != "summary")
        together = TOGETHER.get(show, ())
        grid.columns = [replace(c, joined=c.name.endswith(together)) for c in grid.columns]
        return grid

    def notes(self, *notes: str) -> list[str]:
        """What stands below: what was read, answers without a confidence, notes, the policy."""
        result: CurveResult | HistogramResult = self.result
        reading: list[str] = []
        for run in sorted(result.runs, key=lambda run: run.run):
            if not run.stated:
                what = "confidence" if run.answers else "answer"
                reading.append(f"run '{run.run}' has no {what}, so it has no curve")
            elif run.stated < run.answers:
                without = plural(run.answers - run.stated, "answer")
                lacks = f"{without} without a confidence, taken as the least sure"
                reading.append(f"run '{run.run}': {lacks}")
        return [
            f"{plural(len(result.runs), 'run')}, {plural(result.questions, 'question')}.",
            *map(view.sentence, view.few([*result.notes, *reading])),
            *notes,
            *view.policy_words(result.policy, result.touched),
        ]


class View(Curves[CurveResult]):
    """A line for each run, or the points of its curves."""

    def tables(self, *, show: str = "summary", points: int = 21, **options: Any) -> list[Grid]:
        """One table: the summary, or what `show` names, with so many points of each curve."""
        result = self.result
        grid = self.grid(show, points)
        notes = [NOTES[show].format(along=result.along)] if show in NOTES else []
        grid.notes = self.notes(*notes, *self._notes(show, grid))
        return [grid]

    def _notes(self, show: str, grid: Grid) -> list[str]:
        """What is in a table, beyond how to read it."""
        decision, names = self.result.decision, [column.name for column in grid.columns[1:]]
        if show == "summary":
            return view.undefined_sentences((run.run, run.undefined) for run in self.result.runs)
        if show in ("parts", "blanks"):
            return [f"{name}: {MEANINGS[name]}." for name in names if name in MEANINGS]
        if show != "decision" or decision is None:
            return []
        return [
            f"S = c − t/(1−t)·w: each run {acts(decision.way)}. low and high: a band that holds at "
            f"every t at once with confidence of about {decision.level:g} (seed {decision.seed}).",
            *map(decision_words, decision.comparisons),
        ]

    def main_first(self, *, show: str = "summary", **options: Any) -> dict[str, dict[str, Any]]:
        """The chart of what is shown first; risk and coverage where that has none."""
        charts = self.charts()
        return {show: charts[show], **charts} if show in charts else charts

    def page(self) -> Page:
        result, main = self.result, self.table("main")
        undefined = self._notes("summary", main.grid)
        summary = Section("leaderboard", "Summary", sentences=undefined, tables=[main])
        tables = [self.table("parts"), self.table("blanks")]
        blanks = Section("abstaining", "Abstaining", tables=tables)
        return page_of(
            result,
            f"When should it have stayed silent? {plural(len(result.runs), 'run')}",
            self._lead(),
            [summary, self.confidence(), self.decisions(), blanks],
            ("questions", f"{result.questions:,}"),
            *result.conventions.items(),
        )

    def confidence(self, names: Sequence[str] = CURVES) -> Section:
        """Risk, coverage and calibration: the charts, and their points folded away."""
        figures = drawn(self.result, ON_PAGE, MOST_RUNS)
        there = [name for name in names if name in figures]
        return Section(
            "confidence",
            "Risk, coverage and calibration",
            short="Confidence",
            figures=[figures[name] for name in there],
            folded=[self.table(name) for name in there],
        )

    def decisions(self) -> Section:
        """What runs are worth as a wrong answer costs more."""
        figures = drawn(self.result, ON_PAGE, MOST_RUNS)
        both = [figures[name] for name in ("penalised", "decision") if name in figures]
        compared = self.result.decision.comparisons if self.result.decision else ()
        words = [decision_words(each) for each in compared]
        return Section("decisions", "Decisions", sentences=words, figures=both)

    def table(self, name: str) -> PageTable:
        along, (key, title) = self.result.along, TABLES[name]
        meanings = {
            **MEANINGS,
            f"best {along}": f"the best {along} that a threshold gives, in hindsight",
            f"{along} as submitted": "of the run as it is",
        }
        grid = frame_grid(self.result.thinned(name, ON_PAGE))
        grid.columns = [
            replace(c, means=meanings.get(c.name) or view.measure_summary(c.name))
            for c in grid.columns
        ]
        filters = ("run", "judged against")
        return PageTable(key, title.format(along=along), "", grid, filters=filters)

    def _lead(self) -> str:
        result, top = self.result, self.result.runs[0]
        if top.best is None or top.coverage is None:
            return f"Summary of {plural(len(result.runs), 'run')}."
        return (
            f"In hindsight the best run is {top.run}: {result.along} {view.number(top.best)}, if "
            f"it answered only the {100 * top.coverage:.0f} % of the questions where it is surest "
            f"(as submitted: {view.number(top.as_submitted)})."
        )


class HistogramView(Curves[HistogramResult]):
    """The area under each curve, or its points."""

    def title(self) -> str:
        return "Risk and coverage, counted in bins"

    def tables(self, *, show: str = "summary", points: int = 21, **options: Any) -> list[Grid]:
        """One table: a summary, or the points of risk or of a measure."""
        tied = "AURC: the answers in a bin are tied, or in their best or worst order."
        grid = self.grid(show, points)
        grid.notes = self.notes(
            f"Confidences were counted in bins of 1/{self.result.bins:,}: counts at their edges "
            "are exact, thresholds between them are not shown.",
            *([tied] if show == "summary" else []),
        )
        return [grid]


def frame_grid(frame: pl.DataFrame, *, apart: bool = False) -> Grid:
    """A table of curves: the types of its columns say what they are.

    With `apart` every run is a block.
    """
    kinds: dict[Any, Kind] = {pl.String(): "text", pl.Int64(): "count"}
    if frame.is_empty():
        frame = frame.select("run")
    columns = [
        Column(name, "text" if name == "threshold" else kinds.get(kind, "score"))
        for name, kind in frame.schema.items()
    ]
    grid = Grid(columns, [])
    for n, row in enumerate(frame.rows(named=True)):
        if apart and n and row["run"] != grid.rows[-1][0]:
            grid.breaks.add(n)
        if "threshold" in row:
            no_curve = row["threshold"] is None and row.get("coverage", 0.0) is None
            cell: Cell = view.threshold_cell(row["threshold"])
            row["threshold"] = UNDEFINED if no_curve else cell
        grid.rows.append(list(row.values()))
    return grid
