"""What resampling says of measures, as tables and charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from abstain.errors import plural
from abstain.outcomes import Policy
from abstain.report.charts import CONFIG, SCHEMA, bands, cells, chart, lines
from abstain.report.grid import Cell, Column, Grid
from abstain.report.scores import policy_sentence
from abstain.resample.agreement import COEFFICIENTS, LABELS
from abstain.resample.evaluation import MetaResult


def meta_grids(result: MetaResult) -> list[Grid]:
    """A table for each part, with what it takes to read it below."""
    grids = []
    if "stability" in result.parts:
        grids.append(_stability(result))
    if "sensitivity" in result.parts:
        grids += [_sensitivity(result), _required(result)]
    if "power" in result.parts:
        grids.append(_power(result))
    if "agreement" in result.parts and result.agreement:
        grids.append(_agreement(result))
    if grids:
        grids[-1].notes += _notes(result)
    else:
        grids = [Grid([], [], notes=_notes(result))]
    return grids


def tidy_grid(result: MetaResult) -> Grid:
    """Every number in one long table: what CSV holds."""
    columns = [Column(name) for name in ("part", "measure", "other")]
    columns += [Column("at", "score"), Column("quantity"), Column("value", "score")]
    rows: list[list[Cell]] = [[row[c.name] for c in columns] for row in result.records()]
    return Grid(columns, rows)


def _drawn(result: MetaResult) -> str:
    plan = result.plan
    whose = "each pair its own" if plan.draws == "paired" else "one for all pairs"
    return (
        f"{plural(plan.trials, 'trial')}, subsets of {plan.size:,} of "
        f"{plural(result.questions, 'question')}, {whose}, seed {plan.seed}"
    )


def _stability(result: MetaResult) -> Grid:
    columns = [Column("fuzziness", "score")]
    for item in result.stability:
        columns += [Column(f"{item.measure} error", "percent"), Column("ties", "percent")]
    rows: list[list[Cell]] = []
    for k, level in enumerate(result.stability[0].fuzziness):
        row: list[Cell] = [f"{level:g}"]
        for item in result.stability:
            row += [_percent(item.error[k], item.error_se[k]), _percent(item.ties[k])]
        rows.append(row)
    return Grid(
        columns,
        rows,
        title="Stability: how often another sample reverses two runs, in percent",
        notes=[f"{_drawn(result)}; ± is the Monte Carlo error."],
    )


def _percent(value: float | None, error: float | None = None) -> Cell:
    if value is None:
        return None
    text = f"{100 * value:.2f}"
    return f"{text} ± {100 * error:.2f}" if error is not None else text


def _sensitivity(result: MetaResult) -> Grid:
    columns = [
        Column("measure"),
        Column("required", "score"),
        Column("range", "score"),
        Column("highest", "score"),
        Column("relative %", "percent"),
        Column("sensitivity %", "percent"),
    ]
    rows: list[list[Cell]] = [
        [
            row.measure,
            None if row.required is None else f"{row.required:.{_digits(row.width)}f}",
            _range(row.required_range, row.width),
            None if row.highest is None else f"{row.highest:.2f}".replace("-", "−"),
            None if row.relative is None else 100 * row.relative,
            None if row.sensitivity is None else 100 * row.sensitivity,
        ]
        for row in result.swap
    ]
    notes = [f"{row.measure}: {row.reason}." for row in result.swap if row.reason]
    notes.append(
        f"{_drawn(result)} and disjoint. The required difference is where at most "
        f"{100 - result.confidence:g} % of the comparisons swap; the range allows two Monte Carlo "
        "errors. Relative: over the highest score seen. Sensitivity: the share that reaches it."
    )
    title = f"Sensitivity: the difference required at {result.confidence:g} %"
    return Grid(columns, rows, title=title, notes=notes)


def _digits(width: float) -> int:
    return max(2, len(f"{width:g}".partition(".")[2]))


def _range(bounds: tuple[float | None, float | None], width: float) -> Cell:
    digits = _digits(width)
    if bounds == (None, None):
        return None
    low, high = ("" if b is None else f"{b:.{digits}f}" for b in bounds)
    return f"{low} to {high}" if high else f"above {low}"


def _required(result: MetaResult) -> Grid:
    sizes = sorted({item.questions for item in result.requirements})
    columns = [Column("questions", "count"), *(Column(name, "score") for name in result.measures)]
    known = {(item.questions, item.measure): item.required for item in result.requirements}
    digits = _digits(result.swap[0].width)
    rows: list[list[Cell]] = []
    for size in sizes:
        row: list[Cell] = [size]
        for name in result.measures:
            value = known[size, name]
            row.append(None if value is None else f"{value:.{digits}f}")
        rows.append(row)
    return Grid(
        columns,
        rows,
        title="The difference required, by the number of questions",
        notes=[result.advice] if result.advice else [],
    )


def _power(result: MetaResult) -> Grid:
    level = 100 * result.power[0].alpha
    columns = [
        Column("measure"),
        Column("pairs", "count"),
        Column("bootstrap", "count"),
        Column("power %", "percent"),
        Column("Tukey HSD", "count"),
        Column("honest difference", "score"),
    ]
    rows: list[list[Cell]] = [
        [
            item.measure,
            item.pairs,
            item.bootstrap,
            None if item.discriminative_power is None else 100 * item.discriminative_power,
            item.tukey,
            item.honest_difference,
        ]
        for item in result.power
    ]
    note = (
        f"{plural(result.resamples, 'resample')} and as many permutations, seed "
        f"{result.plan.seed}. The bootstrap tests pair by pair, Tukey's test all pairs together."
    )
    return Grid(
        columns, rows, title=f"Power: pairs of runs told apart at {level:g} %", notes=[note]
    )


def _agreement(result: MetaResult) -> Grid:
    columns = [
        Column("measure"),
        Column("and"),
        *(Column(LABELS[c], "score") for c in COEFFICIENTS),
    ]
    rows: list[list[Cell]] = [
        [item.first, item.second, *(getattr(item, c) for c in COEFFICIENTS)]
        for item in result.agreement
    ]
    notes = [
        f"{item.first} and {item.second}: {item.reason}."
        for item in result.agreement
        if item.reason
    ]
    title = f"Agreement: how far two measures order the {plural(len(result.runs), 'run')} alike"
    return Grid(columns, rows, title=title, notes=notes)


def _notes(result: MetaResult) -> list[str]:
    said = [f"{plural(len(result.runs), 'run')}, {plural(result.questions, 'question')}."]
    for note in result.notes:
        text = note if "@" in note.split(" ", 1)[0] else note[:1].upper() + note[1:]
        said.append(text if text.endswith(".") else text + ".")
    if result.policy is not None:
        rules = Policy.of(result.policy)
        said.append(policy_sentence(rules, dict(result.touched or {})))
    return said


# ---------------------------------------------------------------------------------- charts


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
            "low": error - 2 * (se or 0),
            "high": error + 2 * (se or 0),
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
        subtitle=f"{_drawn(result)}; one point a fuzziness, band: two Monte Carlo errors",
    )


def _swap_chart(result: MetaResult) -> dict[str, Any]:
    rows = [
        {"measure": row.measure, "difference": k * row.width, "swap rate": rate}
        for row in result.swap
        for k, rate in enumerate(row.rates)
        if rate is not None
    ]
    limit = {
        "mark": {"type": "rule", "strokeDash": [4, 4], "color": "#7f7f7f"},
        "encoding": {"y": {"datum": round(1 - result.confidence / 100, 12)}},
    }
    layer = lines("difference", "swap rate", colour="measure", x_title="difference (bin)")
    subtitle = f"dashed: {100 - result.confidence:g} %"
    return chart("Swap rates", rows, [layer, limit], subtitle=subtitle)


def _required_chart(result: MetaResult) -> dict[str, Any]:
    rows = [
        {"measure": p.measure, "questions": p.questions, "required": p.required}
        for p in result.requirements
        if p.required is not None
    ]
    layer = lines("questions", "required", colour="measure", y_title="required difference")
    return chart("The difference required, by the number of questions", rows, [layer])


def _asl_chart(result: MetaResult) -> dict[str, Any]:
    rows = [
        {
            "measure": item.measure,
            "pair": round(k * (item.pairs - 1) / max(1, len(item.asl) - 1)) + 1,
            "ASL": level,
        }
        for item in result.power
        for k, level in enumerate(item.asl)
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


def _square(result: MetaResult, name: str) -> Sequence[dict[str, Any]]:
    rows = [{"measure": m, "and": m, "value": 1.0} for m in result.measures]
    for item in result.agreement:
        value = getattr(item, name)
        rows.append({"measure": item.first, "and": item.second, "value": value})
        rows.append({"measure": item.second, "and": item.first, "value": value})
    return rows
