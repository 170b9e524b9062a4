"""What resampling says of measures, as charts: the papers' figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from abstain.analyses.meta.agreement import COEFFICIENTS, LABELS
from abstain.analyses.meta.bins import edge
from abstain.analyses.meta.result import MetaResult
from abstain.report.charts import CONFIG, SCHEMA, bands, cells, chart, lines, points
from abstain.report.meta import how_drawn

OPEN = "swap rate from here on"
"""What the last bin holds, which has no end: no point of the curve."""

MOST_PAIRS = 15
"""Pairs of measures that are easier to read one below another than in a square."""


def meta_charts(result: MetaResult) -> list[tuple[str, dict[str, Any]]]:
    """Every chart by its name: the paper's figures, and heat maps of the agreement."""
    charts = []
    if result.stability:
        charts.append(("stability", _stability_chart(result)))
    if result.swap:
        charts += [("swap", _swap_chart(result)), ("required", _required_chart(result))]
    if result.power:
        charts.append(("power", _asl_chart(result)))
    if result.agreement:
        names = [f"agreement_{name}" for name in COEFFICIENTS]
        charts += zip(names, _heat_maps(result), strict=True)
    return charts


def meta_chart(result: MetaResult) -> dict[str, Any]:
    """All parts below one another."""
    charts = [spec for _, spec in meta_charts(result)]
    if not charts:
        charts.append(chart("Nothing to show", [], []))
    for own in charts:
        own.pop("$schema")
        own.pop("config")
    if len(charts) == 1:
        return {"$schema": SCHEMA, **charts[0], "config": CONFIG}
    joined = {"vconcat": charts, "resolve": {"scale": {"color": "independent"}}}
    return {"$schema": SCHEMA, **joined, "config": CONFIG}


def _stability_chart(result: MetaResult) -> dict[str, Any]:
    rows = [
        {
            "measure": item.measure,
            "fuzziness": level,
            "ties": ties,
            "error": error,
            "low": max(0.0, error - 2 * (se or 0)),
            "high": min(1.0, error + 2 * (se or 0)),
        }
        for item in result.stability
        for level, ties, error, se in zip(
            item.fuzziness, item.ties, item.error, item.error_se, strict=True
        )
        if error is not None
    ]
    titles = {"x_title": "proportion of ties", "y_title": "error rate"}
    return chart(
        "Stability",
        rows,
        [
            bands("ties", "low", "high", colour="measure", **titles),
            lines("ties", "error", colour="measure", **titles),
        ],
        subtitle=f"{how_drawn(result)}; one point a fuzziness, band: two Monte Carlo errors",
    )


def _swap_chart(result: MetaResult) -> dict[str, Any]:
    units, unit = _units(result)
    level = round(1 - result.confidence / 100, 12)
    rows = [
        {
            "measure": row.measure,
            "difference": edge(k, row.width) / units[row.measure],
            OPEN if k == len(row.rates) - 1 else "swap rate": rate,
        }
        for row in result.swap
        for k, rate in enumerate(row.rates)
        if rate is not None
    ]
    rows += [
        {
            "measure": row.measure,
            "difference": row.required / units[row.measure],
            "required": level,
        }
        for row in result.swap
        if row.required is not None
    ]
    limit = {
        "mark": {"type": "rule", "strokeDash": [4, 4], "color": "#7f7f7f"},
        "encoding": {"y": {"datum": level}},
    }
    titles = {"colour": "measure", "x_title": f"difference{unit}", "y_title": "swap rate"}
    shapes: dict[str, dict[str, Any]] = {
        "swap rate": {},
        OPEN: {"shape": "square", "filled": False, "size": 60, "opacity": 1},
        "required": {"shape": "diamond", "size": 110, "opacity": 1},
    }
    layers: list[dict[str, Any]] = [limit]
    for name, shape in shapes.items():
        if any(name in row for row in rows):
            draw = points if shape else lines
            layers.append(_only(name, draw("difference", name, **titles)))
            layers[-1]["mark"] |= shape
    subtitle = (
        f"dashed: {100 - result.confidence:g} %; diamond: the difference required; "
        "square: all differences from there on together"
    )
    return chart("Swap rates", rows, layers, subtitle=subtitle)


def _only(name: str, layer: dict[str, Any]) -> dict[str, Any]:
    """A layer of the rows that have a value."""
    return {**layer, "transform": [{"filter": f"isValid(datum['{name}'])"}]}


def _units(result: MetaResult) -> tuple[dict[str, float], str]:
    """What differences are counted in: themselves, or bins where measures have their own scales."""
    widths = {row.measure: row.width for row in result.swap}
    if len(set(widths.values())) == 1:
        return dict.fromkeys(widths, 1.0), ""
    return widths, ", in bins"


def _required_chart(result: MetaResult) -> dict[str, Any]:
    units, unit = _units(result)
    rows = [
        {"measure": p.measure, "questions": p.questions, "required": p.required / units[p.measure]}
        for p in result.requirements
        if p.required is not None
    ]
    layer = lines("questions", "required", colour="measure", y_title=f"required difference{unit}")
    layer["mark"] |= {"point": True}  # one size alone makes no line
    return chart("The difference required, by the number of questions", rows, [layer])


def _asl_chart(result: MetaResult) -> dict[str, Any]:
    rows = [
        {"measure": item.measure, "pair": pair, "ASL": level}
        for item in result.power
        for pair, level in item.curve
    ]
    layer = lines("pair", "ASL", colour="measure", x_title="pairs of runs, the surest first")
    return chart("Achieved significance levels", rows, [layer])


def _heat_maps(result: MetaResult) -> list[dict[str, Any]]:
    maps = []
    for name in COEFFICIENTS:
        rows = _square(result, name)
        layer = cells("measure", "and", "value")
        for axis in ("x", "y"):
            layer["encoding"][axis]["sort"] = list(result.measures)
        layer["encoding"]["color"]["scale"]["domain"] = [0 if name == "rbo" else -1, 1]
        text = {
            "mark": {"type": "text", "fontSize": 11, "color": "white", "stroke": "none"},
            "encoding": {
                **{axis: dict(layer["encoding"][axis]) for axis in ("x", "y")},
                "text": {"field": "value", "type": "quantitative", "format": ".2f"},
                "color": {
                    "condition": {"test": "datum.value > 0.6", "value": "black"},
                    "value": "white",
                },
            },
        }
        side = max(160, 48 * len(result.measures))
        maps.append(
            chart(f"Agreement: {LABELS[name]}", rows, [layer, text], width=side, height=side)
        )
    return maps


def agreement_chart(result: MetaResult) -> dict[str, Any] | None:
    """All coefficients of a few pairs of measures, one below another."""
    if not 0 < len(result.agreement) <= MOST_PAIRS:
        return None
    rows = [
        {
            "measures": f"{item.first} and {item.second}",
            "coefficient": LABELS[name],
            "value": getattr(item, name),
        }
        for item in result.agreement
        for name in COEFFICIENTS
    ]
    there = [row["value"] for row in rows if row["value"] is not None]
    names = list(dict.fromkeys(row["measures"] for row in rows))
    layer = points(
        "value",
        "measures",
        colour="coefficient",
        y_type="nominal",
        x_title="agreement (1: same order)",
        y_title=" ",
        x_domain=(min([0, *there]), 1),
        sort=names,
    )
    labels = [LABELS[name] for name in COEFFICIENTS]
    layer["mark"] |= {"size": 80, "opacity": 1}
    layer["encoding"]["color"] |= {"title": None, "sort": labels}
    layer["encoding"]["yOffset"] = {"field": "coefficient", "sort": labels}
    return chart("Agreement", rows, [layer], height=64 * len(names))


def _square(result: MetaResult, name: str) -> Sequence[dict[str, Any]]:
    rows = [{"measure": m, "and": m, "value": 1.0} for m in result.measures]
    for item in result.agreement:
        value = getattr(item, name)
        rows.append({"measure": item.first, "and": item.second, "value": value})
        rows.append({"measure": item.second, "and": item.first, "value": value})
    return rows
