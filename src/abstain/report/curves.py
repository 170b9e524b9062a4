"""Curves as tables and charts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from abstain.analyses.curve.histogram import HistogramResult
from abstain.analyses.curve.result import CurveResult
from abstain.errors import plural
from abstain.measures import Measure, measure
from abstain.report.charts import chart, points
from abstain.report.curve_layers import (
    ANSWERED,
    decision_band,
    measure_line,
    reliability_lines,
    risk_line,
    roc_line,
)
from abstain.report.grid import Cell, Column, Grid, Kind
from abstain.report.scores import policy_sentence, sentence

COUNTS = ("answered", "right", "wrong", "answers", "blank")
TEXTS = ("run", "where", "judged against", "threshold")
TITLES = {
    "risk": "Risk and coverage",
    "measure": "{measure} over coverage (dot: its top, cross: where the run stands)",
    "reliability": "Reliability",
    "decision": "Decision curve",
    "roc": "ROC of the decision to give an answer",
}


def curve_grid(result: CurveResult, view: str, *, most: int = 21) -> Grid:
    """A view of curves as a table; a long curve is thinned."""
    rows = result.rows(view, most)
    names = list(rows[0]) if rows else ["run"]
    columns = [Column(name, _kind(name)) for name in names]
    cells: list[list[Cell]] = [[_cell(name, row[name]) for name in names] for row in rows]
    starts = {
        i for i in range(1, len(rows)) if view != "summary" and rows[i]["run"] != rows[i - 1]["run"]
    }
    return Grid(columns, cells, notes=curve_notes(result, view), breaks=starts)


def histogram_grid(result: HistogramResult, view: str, *, most: int = 21) -> Grid:
    """Curves that were counted in bins, as a table: a summary, or their points."""
    rows = result.summaries() if view == "summary" else result.rows(most)
    dropped = {"risk": str(result.along), "measure": "risk"}.get(view)
    names = [name for name in rows[0] if name != dropped]
    columns = [Column(name, _kind(name)) for name in names]
    cells: list[list[Cell]] = [[_cell(name, row[name]) for name in names] for row in rows]
    starts = {
        i for i in range(1, len(rows)) if view != "summary" and rows[i]["run"] != rows[i - 1]["run"]
    }
    said = [
        f"{plural(len(result.runs), 'run')}, {plural(result.questions, 'question')}.",
        *(sentence(note) for note in result.notes),
        f"Confidences were counted in bins of 1/{result.bins:,}: counts at their edges are exact, "
        "thresholds between them are not shown.",
    ]
    if view == "summary":
        said.append(
            "AURC takes the answers of a bin as tied; the exact value lies between that of the "
            "best and of the worst order inside the bins."
        )
    said.append(policy_sentence(result.policy, result.touched))
    return Grid(columns, cells, notes=said, breaks=starts)


def _kind(name: str) -> Kind:
    if name in COUNTS:
        return "count"
    return "text" if name in TEXTS else "score"


def _cell(name: str, value: Any) -> Cell:
    if name == "threshold":
        return threshold_cell(value)
    if isinstance(value, float) and math.isinf(value):
        return None
    cell: Cell = value
    return cell


class _Level(float):
    """A threshold: in full where machines read it, short where people do."""

    def __str__(self) -> str:
        return threshold_text(self)


def threshold_cell(value: float) -> Cell:
    """A threshold in a table."""
    return _Level(value) if math.isfinite(value) else threshold_text(value)


def threshold_text(value: float) -> str:
    """A threshold as people read it."""
    if math.isnan(value):
        return "none"
    if math.isinf(value):
        return "nothing"
    # 0.999998 is not 1: a run may give most of its answers between the two.
    digits = 4 if value <= 0.999 or value >= 1 else max(4, 1 - math.floor(math.log10(1 - value)))
    return f"{value:.{digits}g}"


def curve_notes(result: CurveResult, view: str) -> list[str]:
    """What it takes to read a view."""
    matrix, along = result.matrix, result.along
    runs = plural(len(matrix.runs), "run")
    said = [f"{runs}, {plural(matrix.questions.height, 'question')}."]
    said += [sentence(note) for note in few(result.notes)]
    if view == "summary":
        said.append(
            f"best {along}: in hindsight, answering where confidence is at least the threshold; "
            "what will hold on new questions is for `abstain tune`."
        )
        if any(math.isnan(s.threshold) and not math.isnan(s.best) for s in result.summaries):
            said.append(
                "threshold none: the best is to answer everything, even what has no confidence; "
                "that no threshold of `abstain tune` does."
            )
        said += _conventions(result)
        reasons: dict[str, list[str]] = {}
        for own in result.summaries:
            for name, reason in own.undefined.items():
                reasons.setdefault(f"{reason}: {own.run}", []).append(name)
        said += [f"undefined (–) where {why}: {', '.join(m)}." for why, m in reasons.items()]
    if view in ("risk", "measure", "roc"):
        said.append(
            "One point for each distinct confidence, thinned to show; threshold: answer where at "
            "least so sure (nothing: no answer is; none: even without a confidence)."
        )
    if view == "measure":
        for own in result.summaries:
            if not math.isnan(own.best):
                said.append(_top(own, str(along)))
    if view == "reliability":
        how = "equally full" if result.equal_mass else "equally wide"
        theirs = f"ECE{'-mass' if result.equal_mass else ''}(bins={result.bins})"
        said.append(
            f"{plural(result.bins, 'bin')}, {how}; empty ones are left out. Their gaps sum up to "
            f"{theirs}; {_named(measure('ECE'))} has bins of its own."
        )
    if view == "decision":
        found = result.decision
        acts = "answers where it is at least t sure" if found.way == "confidence" else "is as given"
        said.append(
            f"S = c − t/(1−t)·w: each run {acts}. low and high: a band that holds at every t at "
            f"once with confidence of about {found.confidence:g} (seed {result.seed})."
        )
        said += [c.sentence() for c in found.comparisons]
    if view == "parts":
        said.append(
            f"{along} = knowing (everything answered) + silence (as many blanks, blindly) + "
            "choosing (these blanks); left: up to the oracle, which answers what it gets right."
        )
    if view == "blanks":
        said.append(
            "precision: blanks that were due, of the blanks; recall: of those due; F1: their "
            "harmonic mean. over-abstention: blank where an answer was due; under-abstention: "
            "answered where a blank was. Against its own candidates a blank is due where the "
            "answer or candidate is wrong or there is none."
        )
    if matrix.touched:
        said.append(policy_sentence(matrix.policy, matrix.touched))
    return said


def _top(own: Any, along: str) -> str:
    return (
        f"{own.run}: {along} has its top, {own.best:.4f}, at coverage {own.coverage:.3f} "
        f"(threshold {threshold_text(own.threshold)}); it stands at {own.stands:.4f} with "
        f"coverage {own.system.answered / max(own.system.n, 1):.3f}."
    )


def few(notes: Sequence[str], most: int = 5) -> list[str]:
    """The first notes, and how many more there are."""
    more = len(notes) - most
    return [*notes[:most], *([f"and {plural(more, 'note')} more"] if more > 0 else [])]


def _conventions(result: CurveResult) -> list[str]:
    return [f"{_named(m)}: {m.definition.convention}." for m in result.measures]


def _named(item: Measure) -> str:
    """A measure with the parameters that its name leaves out."""
    unsaid = [f"{k}={v:g}" for k, v in item.arguments.items() if f"{k}=" not in str(item)]
    return f"{item} ({', '.join(unsaid)})" if unsaid else str(item)


# ----------------------------------------------------------------------------------- charts


def curve_chart(result: CurveResult, view: str, *, most: int = 500) -> dict[str, Any]:
    """The chart of a view; the summary's is risk over coverage."""
    chosen = "risk" if view in ("summary", "parts", "blanks") else view
    rows, layers = _CHARTS[chosen](result, result.rows(chosen, most))
    title = TITLES[chosen].format(measure=result.along)
    return chart(title, rows, layers)


Rows = list[dict[str, Any]]
Layers = list[dict[str, Any]]


def _risk_chart(result: CurveResult, rows: Rows) -> tuple[Rows, Layers]:
    return [row for row in rows if row["answered"]], [risk_line()]


def _measure_chart(result: CurveResult, rows: Rows) -> tuple[Rows, Layers]:
    """The measure over coverage; a dot at the top, a cross where the run stands."""
    name = str(result.along)
    titles: dict[str, Any] = {"colour": "run", "x_title": ANSWERED, "y_title": name}
    for own in result.summaries:
        if not math.isnan(own.best):
            rows.append({"run": own.run, "coverage": own.coverage, "top": own.best})
        stands = own.system.answered / max(own.system.n, 1)
        rows.append({"run": own.run, "coverage": stands, "stands": own.stands})
    cross = points("coverage", "stands", **titles)
    cross["mark"] = {**cross["mark"], "shape": "cross", "filled": False}
    return rows, [measure_line(name), points("coverage", "top", **titles), cross]


def _reliability_chart(result: CurveResult, rows: Rows) -> tuple[Rows, Layers]:
    perfect = [{"run": "(perfect)", "confidence": v, "accuracy": v} for v in (0.0, 1.0)]
    return [*perfect, *rows], [*reliability_lines()]


def _decision_chart(result: CurveResult, rows: Rows) -> tuple[Rows, Layers]:
    return [row for row in rows if row["t"] <= MOST_T], [*decision_band()]


def _roc_chart(result: CurveResult, rows: Rows) -> tuple[Rows, Layers]:
    return rows, [roc_line()]


MOST_T = 0.9
"""Beyond it a wrong answer costs more than nine right ones and S runs off the page."""

_CHARTS: dict[str, Callable[[CurveResult, Rows], tuple[Rows, Layers]]] = {
    "risk": _risk_chart,
    "measure": _measure_chart,
    "reliability": _reliability_chart,
    "decision": _decision_chart,
    "roc": _roc_chart,
}
