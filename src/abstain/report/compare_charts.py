"""Charts of a comparison: scores with intervals, differences, moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from abstain.analyses.compare.result import CompareResult, Pair
from abstain.errors import plural
from abstain.report.charts import cells, chart, points
from abstain.report.compare_words import p_text, units
from abstain.report.pieces import Figure
from abstain.report.shared import MOST_DOTS, score_figure
from abstain.report.words import count_text, number
from abstain.stats.functional import THREE

MOST_PAIRS, MOST_SQUARE = 60, 60


def scores_figure(c: CompareResult, *, most: int = MOST_DOTS) -> list[Figure]:
    """Scores as dots with their intervals, where two runs have one."""
    rows = [(row.run, row.score, *row.interval) for row in c.rows]
    return score_figure("scores", rows, c.measure, most=most)


def scores_chart(c: CompareResult) -> dict[str, dict[str, Any]]:
    """The scores of all runs as a chart that stands alone: with a title and the runs' groups."""
    figures = scores_figure(c, most=len(c.rows))
    if not figures:
        return {}
    spec, spanned = figures[0].spec, c.interval_method is not None
    spec["title"] = {
        "text": c.measure + (f" with {100 * c.level:g} % intervals" if spanned else ""),
        "subtitle": units(c.questions, c.unit) + (f"; {c.interval_method}" if spanned else ""),
    }
    if c.grouped and spanned:
        groups = {row.run: row.group for row in c.rows}
        for row in spec["data"]["values"]:
            row["group"] = groups.get(row["run"], "")
        dots = spec["layer"][-1]["encoding"]
        letters = {"x": {**dots["x"], "field": "high"}, "y": dots["y"], "text": {"field": "group"}}
        mark = {"type": "text", "align": "left", "dx": 6, "fontSize": 9}
        spec["layer"].append({"mark": mark, "encoding": letters})
    return {"scores": spec}


def differences_figure(c: CompareResult) -> Iterator[Figure]:
    """Every pair with its interval; of many pairs the square of all runs."""
    if len(c.pairs) > MOST_PAIRS:
        yield from _square(c)
        return
    drawn = [p for p in c.pairs if p.difference is not None]
    if not drawn:
        return
    data = [
        {
            "pair": f"{p.run} − {p.against}",
            "difference": p.difference,
            "low": p.interval[0],
            "high": p.interval[1],
            "p": p.p_adjusted,
        }
        for p in drawn
    ]
    names = [str(row["pair"]) for row in data]
    dots = points("difference", "pair", y_type="nominal", y_title=" ", sort=names)
    span = points("low", "pair", y_type="nominal", y_title=" ", sort=names)
    span["encoding"]["x"]["title"] = dots["encoding"]["x"]["title"] = "difference"
    span["mark"] = {"type": "rule", "strokeWidth": 3, "color": "#56b4e9"}
    span["encoding"]["x2"] = {"field": "high"}
    zero = {
        "mark": {"type": "rule", "strokeDash": [4, 4], "color": "#7f7f7f"},
        "encoding": {"x": {"datum": 0}},
    }
    dots["mark"] |= {"size": 55, "opacity": 1}
    dots["encoding"]["y"]["axis"] = span["encoding"]["y"]["axis"] = {"labelLimit": 260}
    spec = chart("", data, [span, zero, dots], height=max(80, 22 * len(data)))
    title = f"Differences in {c.measure}"
    yield Figure("differences", _caption(drawn), spec, title=title)


def _caption(drawn: list[Pair]) -> str:
    """Of one difference its numbers, of several how many there are."""
    spanned = any(p.interval[0] is not None for p in drawn)
    if len(drawn) > 1:
        rest = " with intervals; those across 0 may be chance." if spanned else "."
        return plural(len(drawn), "difference") + rest
    (one,) = drawn
    low, high = (number(end) for end in one.interval)
    span = f"interval {low} to {high}, " if spanned else ""
    return f"{one.run} minus {one.against}: {number(one.difference)}, {span}p {p_text(one.p)}."


def _square(c: CompareResult) -> Iterator[Figure]:
    """Runs against runs, coloured where they differ."""
    runs = [row.run for row in c.rows]
    if len(runs) > MOST_SQUARE:
        return
    square = [
        {"run": a, "against": b, "difference": sign * p.difference, "p": p.p_adjusted}
        for p in c.pairs
        if p.difference is not None and p.differs
        for a, b, sign in ((p.run, p.against, 1), (p.against, p.run, -1))
    ]
    layer = cells("against", "run", "difference")
    layer["encoding"]["x"] |= {"sort": runs, "scale": {"domain": runs}, "title": "against"}
    layer["encoding"]["x"]["axis"] = {"labelOverlap": True}
    layer["encoding"]["y"] |= {"sort": runs, "scale": {"domain": runs}, "title": None}
    layer["encoding"]["color"]["scale"] = {"scheme": "blueorange", "domainMid": 0}
    caption = (
        f"Coloured: the {len(square) // 2:,} of {plural(len(c.pairs), 'pair')} that differ at the "
        f"{100 * c.alpha:.3g} % level, by their difference; blank ones cannot be told apart."
    )
    spec = chart("", square, [layer], height=max(160, 15 * len(runs)))
    yield Figure("differences", caption, spec, title="Which runs can be told apart")


def moves_figure(c: CompareResult) -> Iterator[Figure]:
    """How many questions went from which outcome to which, of two runs."""
    o = c.origin
    if o is None:
        return
    data = [
        {"was": was, "is": now, "questions": own.questions}
        for (was, now), own in ((name.split(" → "), own) for name, own in o.transitions.items())
    ]
    layer = cells("is", "was", "questions", sort=THREE.names)
    layer["encoding"]["x"]["axis"] = {"labelAngle": 0}
    layer["encoding"]["color"]["scale"] = {"scheme": "blues"}
    total = [own.questions for own in o.transitions.values()]
    text = {
        "mark": {"type": "text", "fontSize": 13},
        "encoding": {
            **{axis: dict(layer["encoding"][axis]) for axis in ("x", "y")},
            "text": {"field": "questions", "type": "quantitative"},
            "color": {
                "condition": {
                    "test": f"datum.questions > {max(total, default=0) / 2}",
                    "value": "white",
                },
                "value": "#17202b",
            },
        },
    }
    caption = (
        f"{count_text(o.same)} of {count_text(sum(total))} questions kept their outcome. "
        f"Knowing more is worth {number(o.knowing)}, choosing blanks {number(o.abstaining)}."
    )
    yield Figure("moves", caption, chart("", data, [layer, text], height=180), title="Moves")
