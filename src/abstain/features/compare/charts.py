"""The charts of a comparison: scores, differences, moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from abstain.errors import plural
from abstain.features.compare.result import CompareResult
from abstain.report.charts import cells, chart, points
from abstain.report.leaderboard import dot_figure
from abstain.report.page import Figure
from abstain.report.view import count_text
from abstain.stats.delta_method import THREE

MOST_PAIRS = 60


def scores_chart(c: CompareResult) -> dict[str, dict[str, Any]]:
    """The scores of all runs as a chart that stands alone."""
    rows = [(row.run, row.score, *row.interval) for row in c.rows]
    specs = {f.name: f.spec for f in dot_figure("scores", rows, c.measure, most=len(rows))}
    for spec in specs.values():
        spanned = c.interval_method is not None
        spec["title"] = c.measure + (f" with {100 * c.level:g} % intervals" if spanned else "")
    return specs


def differences_figure(c: CompareResult) -> Iterator[Figure]:
    """Every pair with its interval, unless there are too many to read."""
    data = [
        {
            "pair": f"{p.run} − {p.against}",
            "difference": p.difference,
            "low": p.interval[0],
            "high": p.interval[1],
            "p": p.p_adjusted,
        }
        for p in c.pairs
        if p.difference is not None
    ]
    if not 0 < len(data) <= MOST_PAIRS:
        return
    pairs = [str(row["pair"]) for row in data]
    dots = points("difference", "pair", y_type="nominal", y_title=" ", sort=pairs)
    span = points("low", "pair", y_type="nominal", y_title=" ", sort=pairs)
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
    caption = f"{plural(len(data), 'difference')}, with intervals where there are some."
    yield Figure("differences", caption, spec, title=f"Differences in {c.measure}")


def moves_figure(c: CompareResult) -> Iterator[Figure]:
    """How many questions went from which outcome to which, of two runs."""
    o = c.origin
    if o is None:
        return
    data = [
        dict(zip(("was", "is"), name.split(" → "), strict=True)) | {"questions": move.questions}
        for name, move in o.transitions.items()
    ]
    pair, total = c.pairs[0], [move.questions for move in o.transitions.values()]
    titles = {"x_title": f"outcome of {pair.run}", "y_title": f"outcome of {pair.against}"}
    layer = cells("is", "was", "questions", sort=THREE.names, **titles)
    layer["encoding"]["x"]["axis"] = {"labelAngle": 0}
    layer["encoding"]["color"]["scale"] = {"scheme": "blues"}
    dark = {"test": f"datum.questions > {max(total, default=0) / 2}", "value": "white"}
    text = {
        "mark": {"type": "text", "fontSize": 13},
        "encoding": {
            **{axis: dict(layer["encoding"][axis]) for axis in ("x", "y")},
            "text": {"field": "questions", "type": "quantitative"},
            "color": {"condition": dark, "value": "#17202b"},
        },
    }
    caption = (
        f"From {pair.against} to {pair.run}, {count_text(o.same)} of {count_text(sum(total))} "
        "questions keep their outcome."
    )
    yield Figure("moves", caption, chart("", data, [layer, text], height=180), title="Moves")
