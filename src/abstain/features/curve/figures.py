"""Curves as charts: the same ones for a file and for a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from abstain.features.curve.result import PENALISED_AT, Comparison, CurveResult, RunCurve
from abstain.report.charts import bands, chart, lines, points, tips
from abstain.report.page import Figure
from abstain.report.view import listed

ANSWERED = "share of questions answered"
PENALISED = "S = c − t/(1−t)·w"
ON_PAGE, IN_FILE = 101, 500
"""Points of a curve that are drawn."""
SQUARE = 400
"""Pixels of a side where both axes are the same kind of share."""
STEP = 0.01
"""Between two t of a decision curve."""

Rows = list[dict[str, Any]]
Layer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Drawing:
    """The charts of a result: of so many runs and so many points each."""

    result: CurveResult
    points: int
    most_runs: int | None = None

    @property
    def runs(self) -> list[RunCurve]:
        """The runs that are drawn, in the order of the table."""
        return [run for run in self.result.runs if run.points is not None][: self.most_runs]

    def figures(self) -> dict[str, Figure]:
        """Every chart that there is something to draw for, by the name of what it shows."""
        made = {
            "risk": self._risk(),
            "measure": self._along(),
            "reliability": self._reliability(),
            "roc": self._roc(),
            "penalised": self._penalised(),
            "decision": self._decision(),
        }
        return {name: figure for name, figure in made.items() if figure.spec["data"]["values"]}

    def _rows(self, table: str) -> Rows:
        """The rows of a table of curves, those of the first run first."""
        place = {run.run: n for n, run in enumerate(self.runs)}
        rows = self.result.thinned(table, self.points).rows(named=True)
        drawn = [row for row in rows if row["run"] in place]
        return sorted(drawn, key=lambda row: place[row["run"]])

    def _risk(self) -> Figure:
        rows = [row for row in self._rows("risk") if row["answered"]]
        caption = "Lower is better: a run that answers only where it is sure should err seldom."
        return Figure("risk", caption, chart("", rows, [risk_line()]), title="Risk and coverage")

    def _along(self) -> Figure:
        """The measure over coverage; a dot at the top, a cross at the run as submitted."""
        name = self.result.along
        rows = [row for row in self._rows("measure") if row[name] is not None]
        tops = [(run.run, run.coverage, run.best) for run in self.runs if run.best is not None]
        submitted = [(r.run, r.counts.answered / r.counts.n, r.as_submitted) for r in self.runs]
        layers = [over_coverage(name, name)]
        for shape, places in (({}, tops), ({"shape": "cross", "filled": False}, submitted)):
            values = [dict(zip(("run", "coverage", name), place, strict=True)) for place in places]
            layer = _in_order(points("coverage", name, colour="run", x_title=ANSWERED))
            layer["mark"] = {**layer["mark"], **shape}
            layers.append({"data": {"values": values}, **layer})
        caption = (
            f"{name} as more questions are answered, the surest first; a dot at the best value, a "
            "cross at the run as submitted."
        )
        return Figure("along", caption, chart("", rows, layers), title=f"{name} and coverage")

    def _reliability(self) -> Figure:
        titles: dict[str, Any] = {"colour": "run", "y_title": "share right"}
        line = lines("confidence", "accuracy", x_domain=(0, 1), y_domain=(0, 1), **titles)
        dots = _in_order(points("confidence", "accuracy", **titles))
        dots["encoding"]["tooltip"] = tips(("run",), ("confidence", "accuracy", "answers"))
        perfect = {
            "data": {"values": [{"p": 0, "q": 0}, {"p": 1, "q": 1}]},
            "mark": {"type": "line", "strokeDash": [4, 4], "color": "#7f7f7f"},
            "encoding": {
                "x": {"field": "p", "type": "quantitative"},
                "y": {"field": "q", "type": "quantitative"},
            },
        }
        caption = "The stated confidence and the share that is right; equal on the dashed line."
        layers = [perfect, _in_order(line), dots]
        spec = chart("", self._rows("reliability"), layers, width=SQUARE, height=SQUARE)
        spec["usermeta"] = {"square": True}
        return Figure("reliability", caption, spec, title="Reliability")

    def _roc(self) -> Figure:
        titles = {
            "x_title": "share of all wrong answers that are given",
            "y_title": "share of all right answers that are given",
        }
        layer = lines("wrong given", "right given", colour="run", x_domain=(0, 1), **titles)
        caption = "Which answers are given as the threshold falls: a higher curve is better."
        title = "ROC of the decision to give an answer"
        return Figure("roc", caption, chart("", self._rows("roc"), [_in_order(layer)]), title=title)

    def _penalised(self) -> Figure:
        rows = [
            {"run": run.run, "t": t, "S": value}
            for run in self.runs
            for t, value in zip(PENALISED_AT, run.penalised, strict=True)
        ]
        titles = {"x_title": "t: answering pays above this chance", "y_title": PENALISED}
        layer = _in_order(lines("t", "S", colour="run", **titles))
        caption = "Every run answers where it is at least t sure."
        title = "Score by the cost of a wrong answer, if runs answer only where they are sure"
        return Figure("decisions", caption, chart("", rows, [layer]), title=title)

    def _decision(self) -> Figure:
        """S over t: a band that holds at every t, and the line in it."""
        decision = self.result.decision
        if decision is None:
            return Figure("decision", "", chart("", [], []))
        rows = [
            {"run": run, "t": t, "S": s, "low": low, "high": high}
            for run, band in list(decision.curves.items())[: self.most_runs]
            for t, s, low, high in zip(decision.t, band.S, band.low, band.high, strict=True)
            if t <= PENALISED_AT[-1]  # beyond it S runs off the page
        ]
        titles: dict[str, Any] = {"colour": "run", "y_title": PENALISED}
        layers = [bands("t", "low", "high", **titles), lines("t", "S", **titles)]
        caption = (
            f"Each run {acts(decision.way)}; the band holds at every t at once with confidence "
            f"{decision.level:g}."
        )
        spec = chart("", rows, [_in_order(layer) for layer in layers])
        return Figure("decision", caption, spec, title="Decision curve")


def over_coverage(field: str, title: str, **more: Any) -> Layer:
    """A line a run over the share that it answers."""
    titles = {"x_title": ANSWERED, "y_title": title}
    return _in_order(lines("coverage", field, colour="run", x_domain=(0, 1), **titles, **more))


def risk_line() -> Layer:
    """Risk over coverage."""
    return over_coverage("risk", "share of the given answers that are wrong", zero=True)


def _in_order(layer: Layer) -> Layer:
    """Colours in the order of the rows."""
    layer["encoding"]["color"] |= {"sort": None, "title": None}
    return layer


def acts(way: str) -> str:
    """How runs act in a decision curve."""
    sure = "answers where it is at least t sure"
    return sure if way == "confidence" else "keeps the answers that it gave"


def decision_words(c: Comparison) -> str:
    """Who is better where, and where the data cannot tell."""
    if c.leader is None:
        return f"{c.first} and {c.second} score the same at every t."
    if c.undecided == ((0.0, 1.0),):
        return f"The data cannot tell {c.first} and {c.second} apart at any t."
    other = c.second if c.leader == c.first else c.first
    turns = list(dict.fromkeys(f"{at:.2f}" for at in c.crossings))
    where = f"at t = 0, and the lead changes at t = {listed(turns)}" if turns else "at every t"
    if len(turns) == 1:
        where = f"below t = {turns[0]}, lower above"
    spans = [f"{low:.2f} to {high:.2f}" for low, high in c.undecided if high - low >= STEP]
    unsure = f"; the data do not tell for t from {listed(spans)}" if spans else ""
    return f"{c.leader} scores higher than {other} {where}{unsure}."
