"""Curves as charts: the same ones for a file and for a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from abstain.analyses.curve.decision import crossings
from abstain.analyses.curve.result import PENALISED_AT, Comparison, CurveResult, RunCurve
from abstain.errors import plural
from abstain.report.charts import bands, chart, lines, points, tips
from abstain.report.page import Figure
from abstain.report.shared import higher_is_better
from abstain.report.words import listed, number

ANSWERED = "share of questions answered"
PENALISED = "S = c − t/(1−t)·w"
ON_PAGE, IN_FILE = 101, 500
"""Points of a curve that are drawn."""
SQUARE = 400
"""Pixels of a side where both axes are the same kind of share."""
MOST_T = PENALISED_AT[-1]
"""Beyond it a wrong answer costs more than four right ones and S runs off the page."""

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
        return [own for own in self.result.runs if own.points is not None][: self.most_runs]

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
        return {name: figure for name, figure in made.items() if figure is not None}

    def _rows(self, table: str) -> Rows:
        """The rows of a table of curves, those of the first run first."""
        place = {own.run: n for n, own in enumerate(self.runs)}
        rows = self.result.thinned(table, self.points).rows(named=True)
        return sorted(
            (row for row in rows if row["run"] in place), key=lambda row: place[row["run"]]
        )

    def _risk(self) -> Figure | None:
        rows = [row for row in self._rows("risk") if row["answered"]]
        if not rows:
            return None
        layer = over_coverage("risk", "share of the given answers that are wrong", zero=True)
        last = {row["run"]: row for row in rows}
        words = "; ".join(
            f"{own.run} has a risk of {number(last[own.run]['risk'], 3)} where it answers "
            f"{100 * last[own.run]['coverage']:.0f} %"
            for own in self.runs[:3]
        )
        rule = "Lower is better: a run that answers only where it is sure should make few errors."
        caption = f"{rule} {words}."
        return Figure("risk", caption, chart("", rows, [layer]), title="Risk and coverage")

    def _along(self) -> Figure | None:
        """The measure over coverage; a dot at the top, a cross where the run stands."""
        name = self.result.along
        rows = [row for row in self._rows("measure") if row[name] is not None]
        if not rows:
            return None
        words = []
        best = max if higher_is_better(name) else min
        for own in self.runs[:3]:
            top = best((r for r in rows if r["run"] == own.run), key=lambda r: r[name])
            words.append(
                f"{own.run} has its best value, {number(top[name], 3)}, at a coverage of "
                f"{100 * top['coverage']:.0f} %"
            )
        caption = f"{name} as more questions are answered, the surest first: {'; '.join(words)}."
        spec = chart("", rows, [over_coverage(name, name), *self._marks(name)])
        return Figure("along", caption, spec, title=f"{name} and coverage")

    def _marks(self, name: str) -> list[Layer]:
        tops = [
            {"run": own.run, "coverage": own.coverage, name: own.best}
            for own in self.runs
            if own.best is not None
        ]
        stands = [
            {"run": own.run, "coverage": own.counts.answered / own.counts.n, name: own.as_submitted}
            for own in self.runs
        ]
        dot, cross = (
            {
                "data": {"values": rows},
                **_legend(points("coverage", name, colour="run", x_title=ANSWERED)),
            }
            for rows in (tops, stands)
        )
        cross["mark"] = {**cross["mark"], "shape": "cross", "filled": False}
        return [dot, cross]

    def _reliability(self) -> Figure | None:
        rows = self._rows("reliability")
        if not rows:
            return None
        titles: dict[str, Any] = {"colour": "run", "y_title": "share right"}
        line = lines("confidence", "accuracy", x_domain=(0, 1), y_domain=(0, 1), **titles)
        dots = _legend(points("confidence", "accuracy", **titles))
        dots["encoding"]["tooltip"] = tips(("run",), ("confidence", "accuracy", "answers"))
        perfect = {
            "data": {"values": [{"p": 0, "q": 0}, {"p": 1, "q": 1}]},
            "mark": {"type": "line", "strokeDash": [4, 4], "color": "#7f7f7f"},
            "encoding": {
                "x": {"field": "p", "type": "quantitative"},
                "y": {"field": "q", "type": "quantitative"},
            },
        }
        words = [f"{own.run} is {_promise(own)}" for own in self.runs[:3]]
        caption = (
            "The stated confidence and the share that is right; on the dashed line both are equal. "
            f"On average {'; '.join(words)}."
        )
        spec = chart("", rows, [perfect, _legend(line), dots], width=SQUARE, height=SQUARE)
        spec["usermeta"] = {"square": True}
        return Figure("reliability", caption, spec, title="Reliability")

    def _roc(self) -> Figure | None:
        rows = self._rows("roc")
        if not rows:
            return None
        titles = {
            "x_title": "share of all wrong answers that are given",
            "y_title": "share of all right answers that are given",
        }
        layer = _legend(
            lines("wrong given", "right given", colour="run", x_domain=(0, 1), **titles)
        )
        runs = plural(len({row["run"] for row in rows}), "run")
        caption = (
            f"Which answers are given as the threshold falls, for {runs}: a higher curve is better."
        )
        title = "ROC of the decision to give an answer"
        return Figure("roc", caption, chart("", rows, [layer]), title=title)

    def _penalised(self) -> Figure | None:
        rows = [
            {"run": own.run, "t": t, "S": value}
            for own in self.runs
            for t, value in zip(PENALISED_AT, own.penalised, strict=True)
        ]
        if not rows:
            return None
        titles = {"x_title": "t: answering pays above this chance", "y_title": PENALISED}
        layer = _legend(lines("t", "S", colour="run", **titles))
        caption = (
            "Every run answers where it is at least t sure; at t a wrong answer costs t/(1−t) "
            f"right ones. {crossing_words(self.runs)}"
        )
        title = "Score by the cost of a wrong answer, if runs answer only where they are sure"
        return Figure("decisions", caption, chart("", rows, [layer]), title=title)

    def _decision(self) -> Figure | None:
        """S over t: a band that holds at every t, and the line in it."""
        found = self.result.decision
        if found is None:
            return None
        rows = [
            {"run": run, "t": t, "S": s, "low": low, "high": high}
            for run, own in list(found.curves.items())[: self.most_runs]
            for t, s, low, high in zip(found.t, own.S, own.low, own.high, strict=True)
            if t <= MOST_T
        ]
        titles: dict[str, Any] = {"colour": "run", "y_title": PENALISED}
        layers = [_legend(bands("t", "low", "high", **titles)), _legend(lines("t", "S", **titles))]
        said = " ".join(decision_words(c) for c in found.comparisons)
        caption = (
            f"Each run {acts(found.way)}; the band holds at every t at once with confidence "
            f"{found.level:g}. {said}"
        )
        return Figure("decision", caption, chart("", rows, layers), title="Decision curve")


def acts(way: str) -> str:
    """How runs act in a decision curve."""
    return (
        "answers where it is at least t sure"
        if way == "confidence"
        else "keeps the answers that it gave"
    )


def crossing_words(runs: Sequence[RunCurve]) -> str:
    """Where the first two runs cross as a wrong answer costs more."""
    if len(runs) < 2:
        return ""
    first, second = runs[:2]
    difference = np.array(first.penalised) - np.array(second.penalised)
    found = crossings(np.array(PENALISED_AT), difference)
    where = ", ".join(dict.fromkeys(f"{at:.2f}" for at in found[:3]))
    where += ", …" if found[3:] else ""
    names = f"{first.run} and {second.run}"
    return (
        f"{names} cross at t = {where}." if found else f"{names} do not cross up to t = {MOST_T}."
    )


def _promise(own: RunCurve) -> str:
    """By how much a run's confidence is too high or too low on average."""
    total = sum(b.answers for b in own.reliability) or 1
    gap = sum(b.answers * (b.confidence - b.accuracy) for b in own.reliability) / total
    return f"{'over' if gap > 0 else 'under'}confident by {abs(gap):.3f}"


def over_coverage(field: str, title: str, **more: Any) -> Layer:
    """A line a run over the share that it answers."""
    titles = {"x_title": ANSWERED, "y_title": title}
    return _legend(lines("coverage", field, colour="run", x_domain=(0, 1), **titles, **more))


def _legend(layer: Layer) -> Layer:
    """Colours in the order of the rows."""
    layer["encoding"]["color"] |= {"sort": None, "title": None}
    return layer


STEP = 0.01
"""Between two t of a decision curve."""


def decision_words(c: Comparison) -> str:
    """Who is better where, and where the data cannot tell."""
    if c.leader is None:
        return f"{c.first} and {c.second} score the same at every t."
    if c.undecided == ((0.0, 1.0),):
        return f"The data cannot tell {c.first} and {c.second} apart at any t."
    return f"{_told(c, c.leader)}; {_unsure(c)}."


def _told(c: Comparison, leader: str) -> str:
    leads = [leader]
    other = {c.first: c.second, c.second: c.first}
    turns = _wide(c.crossings)
    for _ in turns:
        leads.append(other[leads[-1]])
    if len(leads) == 1:
        return f"{leads[0]} scores higher than {other[leads[0]]} at every t"
    if len(leads) == 2:
        return f"{leads[0]} scores higher below t = {turns[0]:.2f}, {leads[1]} above"
    edges = [0.0, *turns, 1.0]
    where: dict[str, list[str]] = {}
    for lead, low, high in zip(leads, edges[:-1], edges[1:], strict=True):
        where.setdefault(lead, []).append(_span(low, high, "below t =", "from", "to"))
    one, two = where.items()
    return f"{one[0]} scores higher {listed(one[1])}, {two[0]} {listed(two[1])}"


def _span(low: float, high: float, below: str, start: str, stop: str) -> str:
    """A span of t in words; one that reaches an end of the scale has one bound."""
    if low == 0:
        return f"{below} {high:.2f}"
    return f"above {low:.2f}" if high == 1 else f"{start} {low:.2f} {stop} {high:.2f}"


def _wide(found: Sequence[float]) -> list[float]:
    """Without the pairs of crossings between which hardly anything lies."""
    kept: list[float] = []
    for crossing in found:
        if kept and crossing - kept[-1] < 2 * STEP:
            kept.pop()
        else:
            kept.append(crossing)
    return kept


def _unsure(c: Comparison) -> str:
    merged: list[tuple[float, float]] = []
    for low, high in c.undecided:
        if merged and low - merged[-1][1] < 2 * STEP:
            merged[-1] = (merged[-1][0], high)
        elif high - low >= STEP:
            merged.append((low, high))
    if not merged:
        return "the data show which one is better at every t"
    spans = [_span(low, high, "below", "between", "and") for low, high in merged]
    return f"the data do not show which one is better {listed(spans)}"
