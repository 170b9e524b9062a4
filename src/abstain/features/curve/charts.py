"""Curves as charts: the same ones for a file and for a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from abstain.features.curve.result import (
    PENALISED_AT,
    Comparison,
    CurveResult,
    Followed,
    HistogramResult,
    RunCurve,
)
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


def drawn(
    result: CurveResult | HistogramResult, most: int, most_runs: int | None = None
) -> dict[str, Figure]:
    """Every chart that there is something to draw for, by the name of what it shows.

    Of so many points and so many runs each.
    """
    with_curve = [run for run in result.runs if run.points is not None][:most_runs]
    place = {run.run: n for n, run in enumerate(with_curve)}

    def rows(table: str) -> Rows:
        """The rows of a table of curves, those of the first run first."""
        every = result.thinned(table, most).rows(named=True)
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
    """The measure over coverage; a dot at the top, a cross at the run as submitted."""
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
        for t, value in zip(PENALISED_AT, run.penalised, strict=False)
    ]
    titles = {"x_title": "t: answering pays above this chance", "y_title": PENALISED}
    layer = _in_order(lines("t", "S", colour="run", **titles))
    caption = "Every run answers where it is at least t sure."
    title = "Score by the cost of a wrong answer, if runs answer only where they are sure"
    return Figure("decisions", caption, chart("", rows, [layer]), title=title)


def _decision(result: CurveResult, most_runs: int | None) -> Figure:
    """S over t: a band that holds at every t, and the line in it."""
    decision = result.decision
    if decision is None:
        return Figure("decision", "", chart("", [], []))
    shown = list(decision.curves)[:most_runs]
    # beyond the last of PENALISED_AT S runs off the page
    table = [row for row in result.thinned("decision").rows(named=True) if row["run"] in shown]
    rows = [row for row in table if row["t"] <= PENALISED_AT[-1]]
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
    """Colours in the order of the rows."""
    layer["encoding"]["color"] |= {"sort": None, "title": None}
    return layer


def acts(way: str) -> str:
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
