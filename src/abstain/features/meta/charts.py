"""What resampling says of measures, as charts: the papers' figures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from abstain.errors import plural
from abstain.features.meta.result import MetaResult, Sensitivity
from abstain.report.charts import CONFIG, SCHEMA, bands, cells, chart, lines, points

COEFFICIENT = {"tau_b": "Kendall τ-b", "tau_ap": "τ_AP", "spearman": "Spearman ρ", "rbo": "RBO"}


def meta_charts(result: MetaResult) -> dict[str, dict[str, Any]]:
    """Every chart by its name: the papers' figures, and heat maps of the agreement."""
    charts = {
        "stability": (_stability_chart, result.stability),
        "swap": (_swap_chart, result.sensitivity),
        "required": (_required_chart, result.sensitivity),
        "power": (_asl_chart, result.power),
    }
    specs = {name: draw(result) for name, (draw, part) in charts.items() if part}
    maps = COEFFICIENT if result.agreement else ()
    return specs | {f"agreement_{name}": _heat_map(result, name) for name in maps}


def one_below_another(charts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    outside = ("$schema", "config")
    bare = [{key: spec[key] for key in spec if key not in outside} for spec in charts]
    resolve = {"scale": {"color": "independent"}}
    inside = bare[0] if len(bare) == 1 else {"vconcat": bare, "resolve": resolve}
    return {"$schema": SCHEMA, **inside, "config": CONFIG}


def _stability_chart(result: MetaResult) -> dict[str, Any]:
    rows = [
        {
            "measure": item.measure,
            "fuzziness": point.fuzziness,
            "ties": point.ties,
            "error": point.error,
            "low": max(0.0, point.error - 2 * (point.error_se or 0)),
            "high": min(1.0, point.error + 2 * (point.error_se or 0)),
        }
        for item in result.stability
        for point in item.curve
        if point.error is not None
    ]
    titles = {"colour": "measure", "x_title": "proportion of ties", "y_title": "error rate"}
    layers = [bands("ties", "low", "high", **titles), lines("ties", "error", **titles)]
    subtitle = f"{how_drawn(result)}; one point per fuzziness, band: two Monte Carlo errors"
    return chart("Stability", rows, layers, subtitle=subtitle)


def _swap_chart(result: MetaResult) -> dict[str, Any]:
    units, unit = _units(result)
    limit = round(1 - result.level, 12)

    def dot(row: Sensitivity, difference: float, rate: float) -> dict[str, Any]:
        at = difference / units[row.measure]
        return {"measure": row.measure, "difference": at, "swap rate": rate}

    rates = [
        dot(row, each.start, each.swap_rate)
        for row in result.sensitivity
        for each in row.bins[:-1]  # the last one is open: no point of the curve
        if each.swap_rate is not None
    ]
    known = [row for row in result.sensitivity if row.required is not None]
    required = [dot(row, row.required or 0, limit) for row in known]
    mark = {"type": "rule", "strokeDash": [4, 4], "color": "#7f7f7f"}
    layers: list[dict[str, Any]] = [{"mark": mark, "encoding": {"y": {"datum": limit}}}]
    titles = {"colour": "measure", "x_title": f"difference{unit}", "y_title": "swap rate"}
    diamonds = points("difference", "swap rate", **titles)
    diamonds["mark"] |= {"shape": "diamond", "size": 110, "opacity": 1}
    layers += [lines("difference", "swap rate", **titles)] if rates else []
    layers += [{"data": {"values": required}, **diamonds}] if required else []
    subtitle = f"dashed: {percent(1 - result.level)} %; diamond: the difference required"
    return chart("Swap rates", rates, layers, subtitle=subtitle)


def _units(result: MetaResult) -> tuple[dict[str, float], str]:
    """What differences are counted in: themselves, or bins where the scales of measures differ."""
    widths = {row.measure: row.width for row in result.sensitivity}
    alike = len(set(widths.values())) == 1
    return (dict.fromkeys(widths, 1.0), "") if alike else (widths, ", in bins")


def _required_chart(result: MetaResult) -> dict[str, Any]:
    units, unit = _units(result)
    rows = [
        {"measure": p.measure, "questions": p.questions, "required": p.required / units[p.measure]}
        for p in result.required_by_questions
        if p.required is not None
    ]
    layer = lines("questions", "required", colour="measure", y_title=f"required difference{unit}")
    layer["mark"] |= {"point": True}  # one size alone makes no line
    return chart("The difference required, by the number of questions", rows, [layer])


def _asl_chart(result: MetaResult) -> dict[str, Any]:
    rows = [
        {"measure": item.measure, "pair": point["pair"], "ASL": point["asl"]}
        for item in result.power
        for point in item.curve
    ]
    layer = lines("pair", "ASL", colour="measure", x_title="pairs of runs, the surest first")
    return chart("Achieved significance levels", rows, [layer])


def _heat_map(result: MetaResult, name: str) -> dict[str, Any]:
    rows = [{"measure": m, "and": m, "value": 1.0} for m in result.measures]
    for item in result.agreement:
        value = getattr(item, name)
        for one, other in (item.measures, item.measures[::-1]):
            rows.append({"measure": one, "and": other, "value": value})
    layer = cells("measure", "and", "value")
    for axis in ("x", "y"):
        layer["encoding"][axis]["sort"] = list(result.measures)
    layer["encoding"]["color"]["scale"]["domain"] = [0 if name == "rbo" else -1, 1]
    shade = {"condition": {"test": "datum.value > 0.6", "value": "black"}, "value": "white"}
    shown = {"field": "value", "type": "quantitative", "format": ".2f"}
    text = {
        "mark": {"type": "text", "fontSize": 11, "color": "white", "stroke": "none"},
        "encoding": {**layer["encoding"], "text": shown, "color": shade},
    }
    side = max(160, 48 * len(result.measures))
    title = f"Agreement: {COEFFICIENT[name]}"
    return chart(title, rows, [layer, text], width=side, height=side)


def percent(share: float) -> str:
    """A share as a percentage, without rounding error: 1 − 0.95 is 5 %."""
    return f"{100 * share:g}"


def how_drawn(result: MetaResult) -> str:
    how = "drawn for each pair" if result.draws == "paired" else "the same for all pairs"
    return (
        f"{plural(result.subsets, 'subset')} of {result.size:,} of "
        f"{plural(result.questions, 'question')}, {how}, seed {result.seed}"
    )
