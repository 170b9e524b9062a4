"""Charts: Vega-Lite specifications as data, drawn without a network or a browser."""

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import cycle
from pathlib import Path
from typing import Any

import msgspec

from abstain.errors import AbstainError, UsageError
from abstain.io.output import whole
from abstain.report.grid import clean

PALETTE = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#000000"),
)
"""Okabe and Ito's colours, told apart with any kind of colour vision."""

RUN_COLOURS = (
    *("#332288", "#44aa99", "#aa4499", "#999933", "#882255", "#88ccee", "#cc6677", "#117733"),
)
"""Paul Tol's muted colours: for runs, so that none has the colour of an outcome."""
NOT_A_RUN = "answering nothing"
"""What a chart draws beside runs, in grey."""
NO_RUN = "#7f7f7f"
"""For a run without a colour of its own, and for what is no run."""

OUTCOME_COLOURS = {"right": "#0072b2", "wrong": "#d55e00", "blank": "#c9ced6"}
ENDINGS = (".svg", ".png", ".html", ".json")
Layer = dict[str, Any]
Draw = Callable[..., Layer]
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

TEXT = {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal"}
CONFIG: dict[str, Any] = {
    "font": "system-ui, Segoe UI, Roboto, DejaVu Sans, sans-serif",
    "background": "white",
    "axis": {"gridColor": "#e6e9ed", "domainColor": "#9aa5b3", "tickColor": "#9aa5b3", **TEXT},
    "legend": {**TEXT, "symbolOpacity": 1},  # not that of a band
    "axisX": {"tickCount": 8},
    "axisY": {"titlePadding": 8, "tickCount": 7},
    "title": {"anchor": "start", "fontSize": 14, "subtitleColor": "#5b6675"},
    "mark": {"color": PALETTE[0]},
    "tooltipFormat": {"numberFormat": ",.4~f"},
    "range": {"category": list(PALETTE)},
    "view": {"stroke": None},
}


def chart(
    title: str,
    rows: Iterable[Mapping[str, Any]],
    layers: Sequence[Mapping[str, Any]],
    *,
    subtitle: str = "",
    width: int = 640,
    height: int = 360,
) -> dict[str, Any]:
    """A chart of rows of data; each layer is a Vega-Lite mark with its encoding.

    >>> spec = chart("One point", [{"x": 1, "y": 2}], [points("x", "y")])
    >>> spec["data"]["values"], spec["layer"][0]["mark"]["type"]
    ([{'x': 1, 'y': 2}], 'point')
    """
    heading = {"text": title} | ({"subtitle": subtitle} if subtitle else {})
    data = {"values": list(rows)}
    drawn = _cleaned({"title": heading, "width": width, "height": height, "data": data})
    return {"$schema": SCHEMA, **drawn, "layer": _cleaned(layers), "config": CONFIG}


def _cleaned(item: Any) -> Any:
    """Names without control characters, and null for a number that JSON does not have.

    >>> _cleaned({"y": {"field": "run", "sort": ["a\\nb", 1, math.nan]}})
    {'y': {'field': 'run', 'sort': ['a b', 1, None]}}
    """
    if isinstance(item, Mapping):
        return {clean(name): _cleaned(each) for name, each in item.items()}
    if isinstance(item, list | tuple):
        return [_cleaned(each) for each in item]
    if isinstance(item, str):
        return clean(item)
    return None if isinstance(item, float) and not math.isfinite(item) else item


def bands(x: str, low: str, high: str, **more: Any) -> dict[str, Any]:
    """A band between two values."""
    layer = _layer({"type": "area", "opacity": 0.2}, x, low, **more)
    layer["encoding"]["y2"] = {"field": _field(high)}
    return layer


def tips(names: Sequence[str], numbers: Sequence[str]) -> list[dict[str, Any]]:
    """The tooltip of a mark: columns of names, then columns of numbers."""
    kinds = dict.fromkeys(names, "nominal") | dict.fromkeys(numbers, "quantitative")
    return [{"field": _field(name), "title": name, "type": kind} for name, kind in kinds.items()]


def _layer(
    mark: Mapping[str, Any],
    x: str,
    y: str,
    *,
    colour: str | None = None,
    x_title: str | None = None,
    y_title: str | None = None,
    x_type: str = "quantitative",
    y_type: str = "quantitative",
    x_domain: Sequence[float] | None = None,
    y_domain: Sequence[float] | None = None,
    sort: Sequence[str] | None = None,
    zero: bool = False,
) -> dict[str, Any]:
    encoding: dict[str, Any] = {
        "x": {"field": _field(x), "type": x_type, "title": x_title or x},
        "y": {"field": _field(y), "type": y_type, "title": y_title or y},
    }
    for axis, domain in (("x", x_domain), ("y", y_domain)):
        if encoding[axis]["type"] == "quantitative":
            limits = {} if domain is None else {"domain": list(domain)}
            encoding[axis]["scale"] = {"zero": zero} | limits
        if encoding[axis]["type"] == "nominal" and sort is not None:
            encoding[axis]["sort"] = list(sort)
    if colour is not None:
        encoding["color"] = {"field": _field(colour), "type": "nominal", "title": colour}
    return {"mark": dict(mark), "encoding": encoding}


lines: Draw = partial(_layer, {"type": "line", "tooltip": True, "interpolate": "linear"})
"""A line a group: `colour="run"`, titles with `x_title` and `y_title`."""
steps: Draw = partial(_layer, {"type": "line", "tooltip": True, "interpolate": "step-after"})
"""A line that stays until the next point."""
points: Draw = partial(_layer, {"type": "point", "tooltip": True, "filled": True})
bars: Draw = partial(_layer, {"type": "bar", "tooltip": True})


def heat_map(
    x: str, y: str, value: str, columns: Sequence[str], rows: Sequence[str], title: str | None
) -> Layer:
    """Cells in blue with the columns and the rows in order; the title is that of the columns."""
    layer = _layer({"type": "rect", "tooltip": True}, x, y, x_type="nominal", y_type="nominal")
    axis = {**({"labelAngle": 0} if len(columns) <= 6 else {}), "labelOverlap": True}
    layer["encoding"]["x"] |= {"sort": list(columns), "title": title, "axis": axis}
    layer["encoding"]["y"] |= {"sort": list(rows), "title": None}
    colour = {"field": _field(value), "type": "quantitative", "title": value}
    layer["encoding"]["color"] = {**colour, "scale": {"scheme": "blues"}}
    return layer


def dots_and_spans(value: str, name: str, names: Sequence[str], **titles: Any) -> list[Layer]:
    """A line from `low` to `high` for each name, in order, and a dot on it."""
    titles |= {"sort": names, "y_type": "nominal", "y_title": " "}
    span, dots = points("low", name, **titles), points(value, name, **titles)
    span["mark"] = {"type": "rule", "strokeWidth": 3, "opacity": 0.5}
    span["encoding"]["x2"] = {"field": "high"}
    dots["mark"] |= {"size": 55, "opacity": 1}
    return [span, dots]


def _field(name: str) -> str:
    """A column's name where Vega-Lite would take a dot, a bracket or a quote for a path.

    >>> _field("AP'@1.5")
    "AP\\\\'@1\\\\.5"
    """
    return re.sub(r"""([\\.\[\]'"])""", r"\\\1", name)


def run_colours(specs: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """A colour for each run that some chart draws as a line, or as dots where none has lines."""
    kinds: dict[str, list[str]] = {"line": [], "point": []}
    for spec in specs:
        for layer, runs in _by_run(spec):
            kinds.get(layer["mark"]["type"], []).extend(runs)
    drawn = dict.fromkeys(kinds["line"] or kinds["point"])
    drawn.pop(NOT_A_RUN, None)
    return dict(zip(drawn, cycle(RUN_COLOURS), strict=False))


def in_run_colours(spec: Mapping[str, Any], colours: Mapping[str, str]) -> dict[str, Any]:
    """The chart with each run in its colour, those without one in grey."""
    result = dict(msgspec.to_builtins(spec))
    layers = list(_by_run(result))
    names = list(dict.fromkeys(run for _, runs in layers for run in runs))
    scale = {"domain": names, "range": [colours.get(name, NO_RUN) for name in names]}
    for layer, _ in layers:
        layer["encoding"]["color"]["scale"] = scale
    return result


def coloured(charts: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Charts of one result, each run in the same colour in all of them."""
    colours = run_colours(charts.values())
    return {name: in_run_colours(spec, colours) for name, spec in charts.items()}


def _by_run(spec: Mapping[str, Any]) -> Iterator[tuple[Layer, list[str]]]:
    for layer in spec.get("layer", ()):
        colour = layer.get("encoding", {}).get("color", {})
        if colour.get("field") == "run" and colour.get("type") == "nominal":
            rows = layer.get("data", spec["data"])["values"]
            yield layer, [row["run"] for row in rows if row.get("run") is not None]


def check_ending(path: Path) -> None:
    """Refuse a name that does not say how a chart is drawn."""
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"a chart's file ends in {', '.join(ENDINGS)} (got '{path}')")


def write_charts(charts: Mapping[str, Mapping[str, Any]], path: str | Path) -> None:
    """Draw the first chart into a file; a name without an ending is a folder for all of them."""
    target = Path(path)
    if target.suffix:
        check_ending(target)
        drawn = {target: drawn_chart(next(iter(charts.values())), target.suffix.lower())}
    else:
        drawn = {target / f"{name}.svg": drawn_chart(spec, ".svg") for name, spec in charts.items()}
        target.mkdir(parents=True, exist_ok=True)
    for file, picture in drawn.items():
        with whole(file) as draft:
            draft.write_bytes(picture)


ADDRESS_SPACE = 80 << 30


def drawn_chart(spec: Mapping[str, Any], ending: str) -> bytes:
    if ending == ".json":
        return msgspec.json.format(msgspec.json.encode(spec), indent=2) + b"\n"
    if ending == ".html":
        from abstain.report.page import render_chart

        return render_chart(spec).encode()
    _refuse_little_space()
    import vl_convert

    if ending == ".svg":
        return str(vl_convert.vegalite_to_svg(dict(spec))).encode()
    return bytes(vl_convert.vegalite_to_png(dict(spec), scale=2))


def _refuse_little_space() -> None:
    """Raise if the limit on address space is so low that the drawing library would abort."""
    with suppress(ImportError):  # Windows has no such limit
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY and limit < ADDRESS_SPACE:
            raise UsageError(
                f"a picture needs {ADDRESS_SPACE >> 30} GiB of address space, more than "
                "`ulimit -v` allows (a chart as .json or .html needs none)"
            )


NEAREST = "nearest"
"""How the names of the layers begin that only a pointer needs: saved pictures leave them out."""


def interactive(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The chart with invisible points on its lines: the tooltip shows the one nearest the pointer.

    >>> made = interactive(chart("", [{"t": 0, "S": 1}], [lines("t", "S")]))
    >>> [layer.get("name", "") for layer in made["layer"]]
    ['', 'nearest_0']
    """
    if "layer" not in spec:
        return dict(spec)
    layers: list[Layer] = []
    for n, layer in enumerate(spec["layer"]):
        layers.append(layer)
        if layer["mark"]["type"] == "line" and layer["mark"].get("tooltip"):
            layers.append(_nearest(layer, f"{NEAREST}_{n}"))
    return {**spec, "layer": layers}


def _nearest(line: Layer, name: str) -> Layer:
    seen = {"condition": {"param": name, "empty": False, "value": 1}, "value": 0}
    clip = {"clip": True} if line["mark"].get("clip") else {}
    select = {"type": "point", "nearest": True, "on": "pointerover", "clear": "pointerout"}
    return {
        **{key: line[key] for key in ("data", "transform") if key in line},
        "name": name,
        "params": [{"name": name, "select": select}],
        "mark": {"type": "point", "filled": True, "size": 70, "tooltip": True, **clip},
        "encoding": {**line["encoding"], "opacity": seen},
    }


@cache
def chart_library() -> str:
    """Vega, Vega-Lite and Vega-Embed as a script; the user's cache keeps it: it takes a second."""
    from importlib.metadata import version

    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    kept = Path(base) / "abstain" / f"vega-{version('vl-convert-python')}.js"
    try:
        script = kept.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        script = ""
    if not script.endswith(SNIPPET_ENDS):
        import vl_convert

        script = f"{vl_convert.javascript_bundle(SNIPPET)}{SNIPPET_ENDS}"
        with suppress(OSError, AbstainError):
            kept.parent.mkdir(parents=True, exist_ok=True)
            with whole(kept) as draft:
                draft.write_text(script, "utf-8")
    return script.replace("</script", "<\\/script")


SNIPPET = "window.vegaEmbed = vegaEmbed; dispatchEvent(new Event('charts'));"
SNIPPET_ENDS = "/* whole */"
"""The end of a kept script that was written whole."""
