"""The page of a result of `abstain curve`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, nan
from typing import Any

from abstain.analyses.curve.decision import crossings
from abstain.errors import plural
from abstain.report.charts import chart, lines
from abstain.report.curve_layers import (
    PENALISED,
    decision_band,
    measure_line,
    reliability_lines,
    risk_line,
    roc_line,
)
from abstain.report.curves import COUNTS, TEXTS, TITLES, threshold_text
from abstain.report.grid import UNDEFINED, Cell, Column, Grid
from abstain.report.pieces import Figure, Page, PageTable, Section
from abstain.report.results.common import again, blanks_table, facts, higher_is_better, number
from abstain.report.results.saved import Cells, Curve, Decision

MOST_RUNS = 8
MOST_T = 0.8
NAMES = tuple(name for name in TEXTS if name != "threshold")
EVEN = "even_without_confidence"
"""What tells the threshold that answers all from the one that answers nothing."""


def curve_page(result: Curve) -> Page:
    """The summary or a view, and every curve that the result holds."""
    drawn = {name: rows for name, rows in result.curves.items() if rows}
    if result.view not in ("summary", "decision", "parts", "blanks"):
        drawn[result.view] = result.results
    sections = []
    if result.results:
        title = "Summary" if result.view == "summary" else _title(result.view, result.along)
        said = [
            f"{run}: {name} is undefined (–), {why}."
            for run, own in result.undefined.items()
            for name, why in own.items()
        ]
        tables = [rows_table("results", title, result.results)]
        sections.append(Section("leaderboard", title, said=said, tables=tables))
    sections += curve_sections(_in_order(drawn, result.results), result.along)
    if result.decision is not None:
        sections.append(_banded(result.decision))
    more = [(name, text) for name, text in result.conventions.items()]
    return Page(
        title=f"When should it have stayed silent? {_runs(result)}",
        lead=_lead(result),
        sections=sections,
        again=again(result),
        again_facts=facts(result, ("questions", f"{result.questions:,}"), *more),
        again_tables=blanks_table(result),
        command=result.command,
    )


def _in_order(drawn: dict[str, list[Cells]], rows: Sequence[Cells]) -> dict[str, list[Cells]]:
    """The curves in the order of the table above them."""
    place = {run: n for n, run in enumerate(dict.fromkeys(str(row.get("run")) for row in rows))}
    return {
        name: sorted(own, key=lambda row: place.get(str(row.get("run")), len(place)))
        for name, own in drawn.items()
    }


def _runs(result: Curve) -> str:
    rows = [*result.results, *(row for own in result.curves.values() for row in own)]
    names = dict.fromkeys(str(row.get("run")) for row in rows)
    if result.decision is not None:
        names |= dict.fromkeys(result.decision.curves)
    return plural(len(names), "run")


def _lead(result: Curve) -> str:
    best = f"best {result.along}"
    there = [row for row in result.results if isinstance(row.get(best), float)]
    if there:
        top = there[0]
        stands = top.get(f"{result.along} as submitted")
        text = (
            f"{top['run']} could have had a {result.along} of {number(_float(top[best]))}, "
            f"answering {100 * (_float(top.get('coverage')) or 0):.0f} % of the questions"
        )
        if isinstance(stands, float):
            text += f"; as submitted it has {number(stands)}"
        return text + "."
    if result.decision is not None and result.decision.comparisons:
        return result.decision.comparisons[0].sentence
    return f"{_title(result.view, result.along)} of {_runs(result)}."


def _title(view: str, along: str) -> str:
    """The name of a view on a page, whose charts have no dot and no cross."""
    return f"{along} and coverage" if view == "measure" else TITLES.get(view, view)


def _float(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def rows_table(name: str, title: str, rows: Sequence[Cells]) -> PageTable:
    """Rows of any view as a table."""
    names = list(dict.fromkeys(key for row in rows for key in row if key != EVEN))
    columns = [
        Column(key, "count" if key in COUNTS else "text" if key in NAMES else "score")
        for key in names
    ]
    cells: list[list[Cell]] = [[_cell(key, row) for key in names] for row in rows]
    return PageTable(name, title, "", Grid(columns, cells), filters=("run", "judged against"))


def _cell(name: str, row: Cells) -> Cell:
    value = row.get(name)
    if name != "threshold":
        return value
    if isinstance(value, float):
        return threshold_text(value)
    if value is not None:
        return value
    coverage = row.get("coverage", 0.0)
    if coverage is None:
        return UNDEFINED
    even = row.get(EVEN, bool(coverage))
    return f"{threshold_text(nan)}, even without confidence" if even else threshold_text(inf)


# ------------------------------------------------------------------------------------ charts


def curve_sections(drawn: dict[str, list[Cells]], along: str) -> list[Section]:
    """Risk and coverage, calibration, decisions: a section for what there is."""
    made = {name: [*_DRAW[name](rows, along)] for name, rows in drawn.items() if name in _DRAW}
    plan = [
        ("confidence", "Risk, coverage and calibration", ("risk", "measure", "reliability", "roc")),
        ("decisions", "Decisions", ("decision",)),
    ]
    sections = []
    for name, title, parts in plan:
        figures = [figure for part in parts for figure in made.get(part, [])]
        titles = [(part, _title(part, along)) for part in parts if drawn.get(part)]
        folded = [rows_table(f"{p}_points", f"{text}: the points", drawn[p]) for p, text in titles]
        short = "Confidence" if name == "confidence" else title
        sections.append(Section(name, title, short=short, figures=figures, folded=folded))
    return sections


def _few(rows: Sequence[Cells]) -> tuple[list[Cells], list[str]]:
    runs = list(dict.fromkeys(str(row.get("run")) for row in rows))[:MOST_RUNS]
    return [row for row in rows if str(row.get("run")) in runs], runs


def _legend(layer: dict[str, Any]) -> dict[str, Any]:
    layer["encoding"]["color"] |= {"sort": None, "title": None}
    return layer


def _risk(rows: Sequence[Cells], along: str) -> Iterator[Figure]:
    shown, runs = _few([row for row in rows if row.get("answered") and row.get("risk") is not None])
    if not shown:
        return
    layer = _legend(risk_line(zero=True))
    last = {str(row["run"]): row for row in shown}
    words = "; ".join(
        f"{run} has a risk of {number(_float(last[run]['risk']), 3)} where it answers "
        f"{100 * (_float(last[run]['coverage']) or 0):.0f} %"
        for run in runs[:3]
    )
    caption = f"Lower is better: answering only where sure should leave few errors. {words}."
    yield Figure("risk", caption, chart("", shown, [layer], height=320), title="Risk and coverage")


def _measure(rows: Sequence[Cells], along: str) -> Iterator[Figure]:
    shown, runs = _few([row for row in rows if row.get(along) is not None])
    if not shown:
        return
    layer = _legend(measure_line(along))
    words = []
    best = max if higher_is_better(along) else min
    for run in runs[:3]:
        top = best((r for r in shown if r["run"] == run), key=lambda r: _float(r[along]) or 0.0)
        share = 100 * (_float(top["coverage"]) or 0)
        words.append(f"{run} is best, {number(_float(top[along]), 3)}, at {share:.0f} %")
    caption = f"{along} as more and more is answered, the surest first: {'; '.join(words)}."
    title = _title("measure", along)
    yield Figure("along", caption, chart("", shown, [layer], height=320), title=title)


def _reliability(rows: Sequence[Cells], along: str) -> Iterator[Figure]:
    shown, runs = _few([row for row in rows if row.get("accuracy") is not None])
    if not shown:
        return
    line, dots = map(_legend, reliability_lines())
    dots["encoding"]["tooltip"] = [
        {"field": name, "type": kind}
        for name, kind in (
            ("run", "nominal"),
            ("confidence", "quantitative"),
            ("accuracy", "quantitative"),
            ("answers", "quantitative"),
        )
    ]
    perfect = {
        "data": {"values": [{"p": 0, "q": 0}, {"p": 1, "q": 1}]},
        "mark": {"type": "line", "strokeDash": [4, 4], "color": "#7f7f7f"},
        "encoding": {
            "x": {"field": "p", "type": "quantitative"},
            "y": {"field": "q", "type": "quantitative"},
        },
    }
    words = []
    for run in runs[:3]:
        own = [row for row in shown if row["run"] == run]
        total = sum(_float(r["answers"]) or 0 for r in own) or 1
        gap = (
            sum(
                (_float(r["answers"]) or 0)
                * ((_float(r["confidence"]) or 0) - (_float(r["accuracy"]) or 0))
                for r in own
            )
            / total
        )
        words.append(f"{run} promises {abs(gap):.3f} too {'much' if gap > 0 else 'little'}")
    caption = (
        "What was promised and what came true; on the dashed line both are the same. On average "
        f"{'; '.join(words)}."
    )
    spec = chart("", shown, [perfect, line, dots], height=340)
    yield Figure("reliability", caption, spec, title="Reliability")


def _roc(rows: Sequence[Cells], along: str) -> Iterator[Figure]:
    shown, runs = _few(rows)
    layer = _legend(roc_line())
    caption = (
        f"Giving an answer where sure, for {plural(len(runs), 'run')}: the further up the better."
    )
    yield Figure("roc", caption, chart("", shown, [layer], height=320), title=TITLES["roc"])


def _decision(rows: Sequence[Cells], along: str) -> Iterator[Figure]:
    shown, runs = _few([row for row in rows if (_float(row.get("t")) or 0) <= MOST_T])
    if not shown:
        return
    titles = {"x_title": "t: answering pays above this chance", "y_title": PENALISED}
    layer = _legend(lines("t", "S", colour="run", **titles))
    caption = (
        "Every run answers where it is at least t sure; at t a wrong answer costs t/(1−t) right "
        f"ones. {_crossing_words(shown, runs)}"
    )
    spec = chart("", shown, [layer], height=320)
    yield Figure(
        "decisions", caption, spec, title="If a wrong answer cost more, answering only where sure"
    )


def _crossing_words(rows: Sequence[Cells], runs: Sequence[str]) -> str:
    import numpy as np

    if len(runs) < 2:
        return ""
    values = [[_float(r["S"]) or 0.0 for r in rows if r["run"] == run] for run in runs[:2]]
    t = [_float(r["t"]) or 0.0 for r in rows if r["run"] == runs[0]]
    if len(values[0]) != len(values[1]):
        return ""
    found = crossings(np.array(t), np.array(values[0]) - np.array(values[1]))
    where = ", ".join(dict.fromkeys(f"{at:.2f}" for at in found[:3]))
    where += ", …" if found[3:] else ""
    names = f"{runs[0]} and {runs[1]}"
    return (
        f"{names} cross at t = {where}." if found else f"{names} do not cross up to t = {MOST_T}."
    )


_DRAW: dict[str, Any] = {
    "risk": _risk,
    "measure": _measure,
    "reliability": _reliability,
    "roc": _roc,
    "decision": _decision,
}


def _banded(found: Decision) -> Section:
    rows = [
        {"run": run, "t": t, "S": s, "low": low, "high": high}
        for run, own in list(found.curves.items())[:MOST_RUNS]
        for t, s, low, high in zip(found.t, own.S, own.low, own.high, strict=True)
        if t <= MOST_T
    ]
    layers = [_legend(layer) for layer in decision_band()]
    acts = "answers where it is at least t sure" if found.way == "confidence" else "is as given"
    said = [c.sentence for c in found.comparisons]
    caption = (
        f"Each run {acts}; the band holds at every t at once with confidence "
        f"{found.confidence:g}. {' '.join(said)}"
    )
    changes: list[list[Cell]] = [
        [c.first, c.second, ", ".join(f"{t:.3f}" for t in c.crossings) or "nowhere", c.sentence]
        for c in found.comparisons
    ]
    columns = [Column("first"), Column("second"), Column("cross at t"), Column("in words")]
    spec = chart("", rows, layers, height=340)
    return Section(
        "decision",
        "Decisions",
        said=said,
        figures=[Figure("decision", caption, spec, title="Decision curve")],
        tables=[PageTable("crossings", "Crossings", "", Grid(columns, changes))] if changes else [],
    )
