from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import polars as pl
from msgspec.structs import replace

from abstain.errors import plural
from abstain.features.curve import result as facts_of
from abstain.features.curve.result import CurveResult, Followed, HistogramResult, RunCurve
from abstain.report import view
from abstain.report.charts import bands, chart, coloured, lines, points, tips
from abstain.report.grid import UNDEFINED, CellKind, Column, Grid
from abstain.report.page import Figure, Page, PageTable, Section, page_of

MEANINGS = {
    "run": "a system's responses to all questions",
    "threshold": "answers are given where confidence is at least this",
    "coverage": "the share of questions answered",
    "risk": "the share of answers that are wrong",
    "answered": "right and wrong together",
    "right": "answered right",
    "wrong": "answered wrong",
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
}
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
TOGETHER = {"summary": ("threshold", "coverage", " as submitted"), "parts": ("oracle",)}
"""Columns that stay beside the one before them: the best with its threshold."""
TABLES = {
    "main": ("results", "Summary"),
    "risk": ("risk_points", "Risk and coverage: the points"),
    "measure": ("measure_points", "{along} and coverage: the points"),
    "reliability": ("reliability_points", "Reliability: the points"),
    "roc": ("roc_points", "ROC of the decision to give an answer: the points"),
    "parts": ("parts", "Knowing and choosing"),
}
CURVES = ("risk", "measure", "reliability", "roc")
MOST_RUNS = 8
ANSWERED = "share of questions answered"
PENALISED = "S = c − t/(1−t)·w"
ON_PAGE, IN_FILE = 101, 500
"""Points of a curve that are drawn."""
SQUARE = 400
STEP = 0.01

Rows = list[dict[str, Any]]
Layer = dict[str, Any]

C = TypeVar("C", CurveResult, HistogramResult)


class Curves(view.View[C]):
    def charts(self) -> dict[str, dict[str, Any]]:
        figures = drawn(self.result, IN_FILE).items()
        return coloured({name: {**f.spec, "title": {"text": f.title}} for name, f in figures})

    def tables(self, *, show: str = "summary", points: int = 21, **options: Any) -> list[Grid]:
        frame = self.result._frame("main" if show == "summary" else show, points)
        grid = frame_grid(frame, apart=show != "summary")
        together = TOGETHER.get(show, ())
        grid.columns = [replace(c, joined=c.name.endswith(together)) for c in grid.columns]
        grid.notes = self.notes(*self.reading(show, grid))
        return [grid]

    def reading(self, show: str, grid: Grid) -> list[str]:
        raise NotImplementedError

    def notes(self, *notes: str) -> list[str]:
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
    def reading(self, show: str, grid: Grid) -> list[str]:
        decision, names = self.result.decision, [column.name for column in grid.columns[1:]]
        notes = [NOTES[show].format(along=self.result.along)] if show in NOTES else []
        if show == "summary":
            notes += view.undefined_sentences((r.run, r.undefined) for r in self.result.runs)
        if show == "parts":
            notes += [f"{name}: {MEANINGS[name]}." for name in names if name in MEANINGS]
        if show != "decision" or decision is None:
            return notes
        return [
            f"S = c − t/(1−t)·w: each run {acts(decision.way)}. low and high: a band that holds at "
            f"every t at once with confidence of about {decision.level:g} (seed {decision.seed}).",
            *map(decision_words, decision.comparisons),
        ]

    def main_first(self, *, show: str = "summary", **options: Any) -> dict[str, dict[str, Any]]:
        charts = self.charts()
        return {show: charts[show], **charts} if show in charts else charts

    def page(self) -> Page:
        result, main = self.result, [self.table("main")]
        undefined = view.undefined_sentences((run.run, run.undefined) for run in result.runs)
        summary = Section("leaderboard", "Summary", sentences=undefined, tables=main)
        blanks = Section("abstaining", "Abstaining", tables=[self.table("parts")])
        return page_of(
            result,
            f"When should it have stayed silent? {plural(len(result.runs), 'run')}",
            self._lead(),
            [summary, self.confidence(), self.decisions(), blanks],
            ("questions", f"{result.questions:,}"),
            *result.conventions.items(),
        )

    def confidence(self, names: Sequence[str] = CURVES) -> Section:
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
        grid = frame_grid(self.result._frame(name, ON_PAGE))
        grid.columns = [
            replace(c, means=meanings.get(c.name) or view.measure_summary(c.name))
            for c in grid.columns
        ]
        return PageTable(key, title.format(along=along), "", grid, filters=("run",))

    def _lead(self) -> str:
        result, top = self.result, self.result.runs[0]
        if top.best is None or top.coverage is None:
            return f"Summary of {plural(len(result.runs), 'run')}."
        best = f"{result.along} {view.score_text(top.best)}"
        if len(tied := [run.run for run in result.runs if run.best == top.best]) > 1:
            return f"In hindsight {view.first_few(tied)} share the best {best}."
        where = f"a share of {view.score_text(top.coverage)} of the questions, where it is surest"
        return (
            f"In hindsight the best run is {top.run}: {best}, if it answered "
            f"{where if top.coverage < 1 else 'all questions'} "
            f"(as submitted: {view.score_text(top.as_submitted)})."
        )


class HistogramView(Curves[HistogramResult]):
    def title(self) -> str:
        return "Risk and coverage, counted in bins"

    def reading(self, show: str, grid: Grid) -> list[str]:
        tied = "AURC: the answers in a bin are tied, or in their best or worst order."
        return [
            f"Confidences were counted in bins of 1/{self.result.bins:,}: counts at their edges "
            "are exact, thresholds between them are not shown.",
            *([tied] if show == "summary" else []),
        ]


def frame_grid(frame: pl.DataFrame, *, apart: bool = False) -> Grid:
    kinds: dict[Any, CellKind] = {pl.String(): "text", pl.Int64(): "count"}
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
            row["threshold"] = UNDEFINED if no_curve else view.threshold_cell(row["threshold"])
        grid.rows.append(list(row.values()))
    return grid


def drawn(
    result: CurveResult | HistogramResult, most: int, most_runs: int | None = None
) -> dict[str, Figure]:
    with_curve = [run for run in result.runs if run.points is not None][:most_runs]
    place = {run.run: n for n, run in enumerate(with_curve)}

    def rows(table: str) -> Rows:
        every = result._frame(table, most).rows(named=True)
        return sorted((r for r in every if r["run"] in place), key=lambda r: place[r["run"]])

    made = {"risk": _risk(rows("risk")), "measure": _along(result.along, with_curve, rows)}
    if isinstance(result, CurveResult):
        made |= {
            "reliability": _reliability(rows("reliability")),
            "roc": _roc(rows("roc")),
            "penalised": _penalised(result.runs[:most_runs]),
            "decision": _decision(result, most_runs),
        }
    return {name: figure for name, figure in made.items() if figure.spec["data"]["values"]}


def _risk(rows: Rows) -> Figure:
    layer = over_coverage("risk", "share of the given answers that are wrong", zero=True)
    caption = "Lower is better: a run that answers only where it is sure should err seldom."
    spec = chart("", [row for row in rows if row["answered"]], [layer])
    return Figure("risk", caption, spec, title="Risk and coverage")


def _along(name: str, runs: Sequence[Followed], rows: Callable[[str], Rows]) -> Figure:
    tops = [(run.run, run.coverage, run.best) for run in runs if run.best is not None]
    submitted = [
        (run.run, run.counts.answered / run.counts.n, run.as_submitted)
        for run in runs
        if isinstance(run, RunCurve)
    ]
    layers = [over_coverage(name, name)]
    for shape, places in (({}, tops), ({"shape": "cross", "filled": False}, submitted)):
        values = [dict(zip(("run", "coverage", name), place, strict=True)) for place in places]
        layer = _in_order(points("coverage", name, colour="run", x_title=ANSWERED))
        layer["mark"] |= shape
        layers += [{"data": {"values": values}, **layer}] if values else []
    cross = ", a cross at the run as submitted" if submitted else ""
    caption = (
        f"{name} as more questions are answered, the surest first; a dot at the best value{cross}."
    )
    spec = chart("", [row for row in rows("measure") if row[name] is not None], layers)
    return Figure("along", caption, spec, title=f"{name} and coverage")


def _reliability(rows: Rows) -> Figure:
    titles: dict[str, Any] = {"colour": "run", "y_title": "share right"}
    line = lines("confidence", "accuracy", x_domain=(0, 1), y_domain=(0, 1), **titles)
    dots = _in_order(points("confidence", "accuracy", **titles))
    dots["encoding"]["tooltip"] = tips(("run",), ("confidence", "accuracy", "answers"))
    perfect = lines("p", "q", x_title="confidence", y_title="share right")
    perfect["data"] = {"values": [{"p": 0, "q": 0}, {"p": 1, "q": 1}]}
    perfect["mark"] = {"type": "line", "strokeDash": [4, 4], "color": "#7f7f7f"}
    caption = "The stated confidence and the share that is right; equal on the dashed line."
    spec = chart("", rows, [perfect, _in_order(line), dots], width=SQUARE, height=SQUARE)
    return Figure(
        "reliability", caption, spec | {"usermeta": {"square": True}}, title="Reliability"
    )


def _roc(rows: Rows) -> Figure:
    titles = {
        "x_title": "share of all wrong answers that are given",
        "y_title": "share of all right answers that are given",
    }
    layer = lines("wrong given", "right given", colour="run", x_domain=(0, 1), **titles)
    caption = "Which answers are given as the threshold falls: a higher curve is better."
    title = "ROC of the decision to give an answer"
    return Figure("roc", caption, chart("", rows, [_in_order(layer)]), title=title)


def _penalised(runs: Sequence[RunCurve]) -> Figure:
    rows = [
        {"run": run.run, "t": t, "S": value}
        for run in runs
        for t, value in zip(facts_of.PENALISED_AT, run.penalised, strict=False)
    ]
    titles = {"x_title": "t: answering pays above this chance", "y_title": PENALISED}
    layer = _in_order(lines("t", "S", colour="run", **titles))
    caption = "Every run answers where it is at least t sure."
    title = "Score by the cost of a wrong answer, if runs answer only where they are sure"
    return Figure("decisions", caption, chart("", rows, [layer]), title=title)


def _decision(result: CurveResult, most_runs: int | None) -> Figure:
    decision = result.decision
    if decision is None:
        return Figure("decision", "", chart("", [], []))
    shown = list(decision.curves)[:most_runs]
    # beyond the last of facts_of.PENALISED_AT S runs off the page
    table = [row for row in result._frame("decision").rows(named=True) if row["run"] in shown]
    rows = [row for row in table if row["t"] <= facts_of.PENALISED_AT[-1]]
    titles: dict[str, Any] = {"colour": "run", "y_title": PENALISED}
    layers = [bands("t", "low", "high", **titles), lines("t", "S", **titles)]
    caption = (
        f"Each run {acts(decision.way)}; the band holds at every t at once with confidence "
        f"{decision.level:g}."
    )
    spec = chart("", rows, [_in_order(layer) for layer in layers])
    return Figure("decision", caption, spec, title="Decision curve")


def over_coverage(field: str, title: str, **more: Any) -> Layer:
    titles = {"x_title": ANSWERED, "y_title": title}
    return _in_order(lines("coverage", field, colour="run", x_domain=(0, 1), **titles, **more))


def _in_order(layer: Layer) -> Layer:
    layer["encoding"]["color"] |= {"sort": None, "title": None}
    return layer


def acts(way: str) -> str:
    sure = "answers where it is at least t sure"
    return sure if way == "confidence" else "keeps the answers that it gave"


def decision_words(c: facts_of.Comparison) -> str:
    if c.leader is None:
        return f"{c.first} and {c.second} score the same at every t."
    if c.undecided == ((0.0, 1.0),):
        return f"The data cannot tell {c.first} and {c.second} apart at any t."
    other = c.second if c.leader == c.first else c.first
    turns = list(dict.fromkeys(f"{at:.2f}" for at in c.crossings))
    where = f"at t = 0, and the lead changes at t = {view.listed(turns)}" if turns else "at every t"
    if len(turns) == 1:
        where = f"below t = {turns[0]}, lower above"
    spans = [f"{low:.2f} to {high:.2f}" for low, high in c.undecided if high - low >= STEP]
    unsure = f"; the data do not tell for t from {view.listed(spans)}" if spans else ""
    return f"{c.leader} scores higher than {other} {where}{unsure}."
