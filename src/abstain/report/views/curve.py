"""How curves look."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl
from msgspec.structs import replace

from abstain.analyses.curve.result import CurveResult
from abstain.errors import check_name, plural
from abstain.report import view, words
from abstain.report.campaign.headings import explained_on
from abstain.report.charts import coloured
from abstain.report.curve_figures import IN_FILE, ON_PAGE, Drawing, acts, decision_words
from abstain.report.grid import UNDEFINED, Cell, Column, Grid, Kind
from abstain.report.page import Figure, Page, PageTable, Section
from abstain.report.shared import known_measure, page_of

SHOWN = ("summary", *CurveResult.TABLES[1:])
"""What `--show` knows."""
TITLES = {
    "summary": "Summary",
    "risk": "Risk and coverage",
    "measure": "{measure} over coverage (dot: best value, cross: the run as submitted)",
    "reliability": "Reliability",
    "penalised": "Score by the cost of a wrong answer, if runs answer only where they are sure",
    "decision": "Decision curve",
    "roc": "ROC of the decision to give an answer",
}
"""Of the charts in files."""
POINTS = (
    "There is one point for each distinct confidence; long curves are thinned. The column "
    'threshold: answers with at least this confidence are given. "nothing": no answer is given. '
    '"none": there is no threshold, so all answers are given, even those without a confidence.'
)
NOTES = {
    **dict.fromkeys(("risk", "roc", "measure"), POINTS),
    "parts": "{along} = knowing + silence + choosing. knowing: the score if everything is "
    "answered. silence: what the same number of random blanks would add. choosing: what the actual "
    "blanks add beyond that. left: what would still be added by an oracle that answers exactly "
    "the questions that the run gets right.",
    "blanks": "precision: the share of the blanks that were due; recall: the share of the due "
    "blanks that the run left blank; F1: their harmonic mean. over-abstention: the share left "
    "blank where an answer was due; under-abstention: the share answered where a blank was due. If "
    "a run is judged against its own candidates, a blank is due where its answer is wrong, or "
    "where it gave no answer and its candidate is wrong or missing.",
}
"""What it takes to read a table, whatever is in it."""
TOGETHER = {"summary": ("threshold", "coverage", " as submitted"), "parts": ("oracle",)}
"""Columns that stay beside the one before them: the best with its threshold."""
CURVES = ("risk", "measure", "reliability", "roc")
MOST_RUNS = 8
"""Runs that a page draws."""


class View(view.View[CurveResult]):
    """A line for each run, or the points of its curves."""

    def tables(self, *, show: str = "summary", points: int = 21, **options: Any) -> list[Grid]:
        """One table: the summary, or what `show` names, with so many points of each curve."""
        check_name("view", show, SHOWN)
        frame = self.result.thinned("main" if show == "summary" else show, points)
        grid = frame_grid(frame, apart=show != "summary")
        together = TOGETHER.get(show, ())
        grid.columns = [replace(c, joined=c.name.endswith(together)) for c in grid.columns]
        grid.notes = self._notes(show)
        return [grid]

    def line(self) -> str:
        result = self.result
        return f"<CurveResult: {plural(len(result.runs), 'run')}, {result.along} along the curve>"

    def _notes(self, show: str) -> list[str]:
        result = self.result
        runs = plural(len(result.runs), "run")
        said = [f"{runs}, {plural(result.questions, 'question')}."]
        missing = missing_notes((own.run, own.stated, own.answers) for own in result.by_name)
        said += [words.sentence(note) for note in words.few([*result.notes, *missing])]
        said += [NOTES[show].format(along=result.along)] if show in NOTES else []
        said += getattr(self, f"_{show}_notes", list)()
        return said + words.policy_words(result.policy, result.touched)

    def _summary_notes(self) -> list[str]:
        result = self.result
        said = [
            f"best {result.along}: the best value in hindsight, if only answers with at least the "
            "confidence of the threshold are given; `abstain tune` estimates what holds on new "
            "questions."
        ]
        if any(own.even_without_confidence for own in result.runs):
            said.append(
                'threshold "none": it is best to answer everything, even without a confidence; '
                "`abstain tune` cannot choose that."
            )
        said += [f"{_named(name)}: {text}." for name, text in result.conventions.items()]
        reasons: dict[str, list[str]] = {}
        for own in result.runs:
            for name, reason in own.undefined.items():
                reasons.setdefault(f"{reason}: {own.run}", []).append(name)
        return [
            *said,
            *(f"undefined (–) where {why}: {', '.join(m)}." for why, m in reasons.items()),
        ]

    def _measure_notes(self) -> list[str]:
        return [
            f"{own.run}: {self.result.along} is best, {own.best:.4f}, at coverage "
            f"{own.coverage:.3f} (threshold {words.threshold_text(own.best_threshold)}); as "
            f"submitted it is {math.nan if own.as_submitted is None else own.as_submitted:.4f} at "
            f"coverage {own.counts.answered / max(own.counts.n, 1):.3f}."
            for own in self.result.runs
            if own.best is not None and own.coverage is not None
        ]

    def _reliability_notes(self) -> list[str]:
        result = self.result
        how = "equally full" if result.equal_mass else "equally wide"
        theirs = f"ECE{'-mass' if result.equal_mass else ''}(bins={result.bins})"
        return [
            f"{plural(result.bins, 'bin')}, {how}; empty bins are left out. The weighted gaps of "
            f"these bins add up to {theirs}; {_named('ECE')} uses other bins."
        ]

    def _decision_notes(self) -> list[str]:
        found = self.result.decision
        if found is None:
            return []
        said = (
            f"S = c − t/(1−t)·w: each run {acts(found.way)}. low and high: a band that holds at "
            f"every t at once with confidence of about {found.level:g} (seed {found.seed})."
        )
        return [said, *(decision_words(c) for c in found.comparisons)]

    def charts(self) -> dict[str, dict[str, Any]]:
        """Risk and coverage, the measure, calibration, decisions."""
        drawn = Drawing(self.result, IN_FILE).figures()
        return coloured(
            {
                name: {
                    **own.spec,
                    "title": {"text": TITLES[name].format(measure=self.result.along)},
                }
                for name, own in drawn.items()
            }
        )

    def main_first(self, *, show: str = "summary", **options: Any) -> dict[str, dict[str, Any]]:
        """The chart of what is shown first; risk and coverage where that has none."""
        charts = self.charts()
        return {show: charts[show], **charts} if show in charts else charts

    def page(self) -> Page:
        """The summary, and every curve."""
        result = self.result
        said = [
            f"{own.run}: {name} is undefined (–), {why}."
            for own in result.runs
            for name, why in own.undefined.items()
        ]
        summary = Section("leaderboard", "Summary", said=said, tables=[self.table("main")])
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
        figures = self._on_page()
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
        figures = self._on_page()
        found = Section("decisions", "Decisions")
        found.figures = [figures[name] for name in ("penalised", "decision") if name in figures]
        if self.result.decision is not None:
            compared = self.result.decision.comparisons
            found.said = [decision_words(c) for c in compared]
            columns = [Column("first"), Column("second"), Column("cross at t"), Column("in words")]
            cells: list[list[Cell]] = [
                [c.first, c.second, ", ".join(f"{t:.3f}" for t in c.crossings) or "nowhere", text]
                for c, text in zip(compared, found.said, strict=True)
            ]
            if cells:
                grid = explained_on("crossings", Grid(columns, cells), self.result.along)
                found.tables = [PageTable("crossings", "Crossings", "", grid)]
        return found

    def _on_page(self) -> dict[str, Figure]:
        return Drawing(self.result, ON_PAGE, MOST_RUNS).figures()

    def table(self, name: str) -> PageTable:
        """A table of the page."""
        frame = self.result.thinned(name, ON_PAGE)
        grid = explained_on(name, frame_grid(frame, on_page=True), self.result.along)
        titles = {
            "main": ("results", "Summary"),
            "measure": ("measure_points", f"{self.result.along} and coverage: the points"),
            "parts": ("parts", "Knowing and choosing"),
            "blanks": ("blank_quality", "How good the blanks are"),
        }
        heading = f"{TITLES.get(name, name)}: the points"
        key, title = titles.get(name, (f"{name}_points", heading))
        return PageTable(key, title, "", grid, filters=("run", "judged against"))

    def _lead(self) -> str:
        result = self.result
        top = result.runs[0]
        if top.best is None or top.coverage is None:
            decision = result.decision
            if decision is not None and decision.comparisons:
                return decision_words(decision.comparisons[0])
            return f"Summary of {plural(len(result.runs), 'run')}."
        text = (
            f"In hindsight the best run is {top.run}: if it answered only the "
            f"{100 * top.coverage:.0f} % of the questions where it is surest, its "
            f"{result.along} would be {words.number(top.best)}"
        )
        if top.as_submitted is not None:
            text += f" (as submitted: {words.number(top.as_submitted)})"
        return f"{text}. This was not tested; `abstain tune` tests a threshold."


def _named(name: str) -> str:
    """A measure with the parameters that its name leaves out."""
    item = known_measure(name)
    if item is None:
        return name
    unsaid = [f"{k}={v:g}" for k, v in item.arguments.items() if f"{k}=" not in name]
    return f"{name} ({', '.join(unsaid)})" if unsaid else name


def frame_grid(frame: pl.DataFrame, *, apart: bool = False, on_page: bool = False) -> Grid:
    """A table of curves: the types of its columns say what they are.

    With `apart` every run is a block. A page has thresholds among the numbers, to sort by, and
    tells what no threshold reaches from what does not exist.
    """
    kinds: dict[Any, Kind] = {pl.String(): "text", pl.Int64(): "count"}
    if frame.is_empty():
        frame = frame.select("run")
    columns = [Column(name, kinds.get(kind, "score")) for name, kind in frame.schema.items()]
    if not on_page:
        columns = [Column("threshold") if c.name == "threshold" else c for c in columns]
    rows = frame.rows(named=True)
    return Grid(
        columns,
        [[_cell(name, row, on_page=on_page) for name in row] for row in rows],
        breaks={n for n in range(1, len(rows)) if apart and rows[n]["run"] != rows[n - 1]["run"]},
    )


def _cell(name: str, row: Mapping[str, Any], *, on_page: bool) -> Cell:
    value: Cell = row[name]
    if name != "threshold":
        return value
    if not on_page:
        return words.threshold_cell(row[name])
    if value is not None:
        return words.threshold_text(row[name])
    return (
        UNDEFINED
        if row.get("coverage", 0.0) is None
        else f"{words.NONE} (answers without confidence too)"
    )


def missing_notes(stated: Iterable[tuple[str, int, int]]) -> list[str]:
    """What to know of answers without a confidence: run, how many have one, how many there are.

    >>> missing_notes([("a", 2, 2), ("b", 1, 2), ("c", 0, 2)])[1]
    "run 'c' has no confidence, so it has no curve"
    """
    said = []
    for run, some, have in stated:
        if 0 < some < have:
            said.append(
                f"run '{run}': {plural(have - some, 'answer')} without a confidence, taken "
                "as the least sure"
            )
        elif not some:
            what = "confidence" if have else "answer"
            said.append(f"run '{run}' has no {what}, so it has no curve")
    return said
