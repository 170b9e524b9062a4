"""A chart on a page: what a pointer finds there, in numbers that people read.

A line answers from anywhere near it: a layer of points, unseen until one is the nearest, holds what
there is to say. Pictures that are saved leave that layer out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

NEAREST = "nearest"
"""How the names of the layers begin that only a pointer needs."""

READABLE = ",.4~f"

Layer = dict[str, Any]


def interactive(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The chart with a tooltip on everything that stands for data.

    >>> from abstain.report.charts import chart, lines
    >>> made = interactive(chart("", [{"t": 0, "S": 1}], [lines("t", "S")]))
    >>> [layer.get("name", "") for layer in made["layer"]]
    ['', 'nearest_0']
    >>> [tip["field"] for tip in made["layer"][1]["encoding"]["tooltip"]]
    ['t', 'S']
    """
    given: list[Layer] = [
        {**layer, "encoding": dict(layer.get("encoding", {}))} for layer in spec.get("layer", ())
    ]
    spans = [end for layer in given for end in _ends(layer)]
    said = [_tooltip(layer, spans) for layer in given]
    layers: list[Layer] = []
    for n, layer in enumerate(given):
        spans_data = _ends(layer) and _kind(layer) == "rule"
        tips = said[n] or (next(filter(None, said), []) if spans_data else [])
        if tips:
            layer["encoding"]["tooltip"] = tips
        layers.append(layer)
        if tips and _kind(layer) == "line":
            layers.append(_nearest(layer, f"{NEAREST}_{n}", _fullest(layer, given, said)))
    return {**spec, **({"layer": layers} if layers else {})}


def _kind(layer: Layer) -> str:
    mark = layer["mark"]
    return str(mark["type"] if isinstance(mark, Mapping) else mark)


def _ends(layer: Layer) -> list[str]:
    """The two ends of what a layer spans, as an interval or a band does."""
    encoding = layer["encoding"]
    if _kind(layer) not in ("rule", "area"):
        return []
    for axis in ("x", "y"):
        start, stop = encoding.get(axis, {}), encoding.get(f"{axis}2", {})
        if "field" in start and "field" in stop:
            return [start["field"], stop["field"]]
    return []


def _tooltip(layer: Layer, spans: Sequence[str]) -> list[dict[str, Any]]:
    """What a mark has to say: what it was given, or its names first and then its numbers."""
    encoding = layer["encoding"]
    if "tooltip" in encoding:
        return [_readable(tip) for tip in encoding["tooltip"]]
    mark = layer["mark"]
    if not (isinstance(mark, Mapping) and mark.get("tooltip")):
        return []
    shown = [encoding[name] for name in ("color", "y", "x") if "field" in encoding.get(name, {})]
    names = [own for own in shown if own.get("type") == "nominal"]
    numbers = [own for own in reversed(shown) if own.get("type") != "nominal"]
    found = {own["field"]: own.get("type", "quantitative") for own in (*names, *numbers)}
    found |= dict.fromkeys(spans, "quantitative")
    return [_readable({"field": field, "type": kind}) for field, kind in found.items()]


def _readable(tip: Mapping[str, Any]) -> dict[str, Any]:
    heading = re.sub(r"\\(.)", r"\1", str(tip["field"]))
    number = {"format": READABLE} if tip.get("type") == "quantitative" else {}
    return {"title": heading, **number, **tip}


def _fullest(
    line: Layer, layers: Sequence[Layer], said: Sequence[list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Of layers that draw the same points, what the one with most to say says."""

    def place(layer: Layer) -> list[Any]:
        return [layer["encoding"].get(axis, {}).get("field") for axis in ("x", "y")]

    same = [tips for own, tips in zip(layers, said, strict=True) if place(own) == place(line)]
    return max(same, key=len)


def _nearest(line: Layer, name: str, tips: list[dict[str, Any]]) -> Layer:
    seen = {"condition": {"param": name, "empty": False, "value": 1}, "value": 0}
    clip = {"clip": True} if line["mark"].get("clip") else {}
    return {
        **{key: line[key] for key in ("data", "transform") if key in line},
        "name": name,
        "params": [
            {
                "name": name,
                "select": {
                    "type": "point",
                    "nearest": True,
                    "on": "pointerover",
                    "clear": "pointerout",
                },
            }
        ],
        "mark": {"type": "point", "filled": True, "size": 70, **clip},
        "encoding": {**line["encoding"], "tooltip": tips, "opacity": seen},
    }
