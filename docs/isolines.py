"""Lines of equal score over the shares right and unanswered, as a small picture.

The shares fill a triangle: c right along, u unanswered up, what is left is wrong. It is cut into
small triangles; where a level lies between the scores of a small triangle's corners, a piece of a
line crosses it. Pieces that meet are joined, and points that a straight line needs not are dropped.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from abstain.measures import Measure
from abstain.outcomes import CountsArray
from abstain.report.charts import chart, lines

STEPS = 60
LEVELS = 9
FLAT = 1e-9
CLOSE = 0.0008
"""How far a dropped point may lie from the line that replaces it."""

Point = tuple[float, float]
Line = list[Point]


def isolines(measure: Measure) -> list[tuple[float, Line]]:
    """Each line of equal score with its level; none where the score is the same everywhere."""
    corners, right, blank = _triangles()
    wrong, none = 2 * (STEPS - right - blank), 0 * blank
    scores = measure(CountsArray(np.stack([2 * right, wrong, blank, blank, none, none], axis=1)))
    if np.nanmax(scores) - np.nanmin(scores) < FLAT:
        return []
    low, high = measure.bounds
    places = np.stack([right / STEPS, blank / STEPS], axis=1)
    levels = [low + (high - low) * k / (LEVELS + 1) for k in range(1, LEVELS + 1)]
    return [
        (round(level, 6), line)
        for level in levels
        for line in _joined(_pieces(corners, places, scores, level))
    ]


def _triangles() -> tuple[Any, Any, Any]:
    """The corners of every small triangle, and the right and unanswered of every corner."""
    grid = [(i, j) for j in range(STEPS + 1) for i in range(STEPS + 1 - j)]
    number = {place: k for k, place in enumerate(grid)}
    up = [(number[i, j], number[i + 1, j], number[i, j + 1]) for i, j in grid if i + j < STEPS]
    down = [
        (number[i + 1, j], number[i + 1, j + 1], number[i, j + 1])
        for i, j in grid
        if i + j < STEPS - 1
    ]
    places = np.array(grid)
    return np.array(up + down), places[:, 0], places[:, 1]


def _pieces(corners: Any, places: Any, scores: Any, level: float) -> list[tuple[Point, Point]]:
    """Where a level crosses the small triangles, as pieces from one side to another."""
    level -= FLAT
    corners = corners[np.isfinite(scores[corners]).all(axis=1)]
    above = scores[corners] >= level
    found: list[list[Point]] = [[] for _ in corners]
    for a, b in ((0, 1), (1, 2), (2, 0)):
        for row in np.nonzero(above[:, a] != above[:, b])[0]:
            one, two = sorted((corners[row, a], corners[row, b]))
            part = (level - scores[one]) / (scores[two] - scores[one])
            place = places[one] + part * (places[two] - places[one])
            found[row].append((round(float(place[0]), 6), round(float(place[1]), 6)))
    return [(ends[0], ends[1]) for ends in found if len(ends) == 2 and ends[0] != ends[1]]


def _joined(pieces: list[tuple[Point, Point]]) -> list[Line]:
    """Pieces that meet, as long lines."""
    beside: dict[Point, list[Point]] = defaultdict(list)
    for one, two in pieces:
        beside[one].append(two)
        beside[two].append(one)
    joined = []
    for start in sorted(beside, key=lambda place: (len(beside[place]) != 1, place)):
        while beside[start]:
            line = [start]
            while beside[line[-1]]:
                step = beside[line[-1]].pop()
                beside[step].remove(line[-1])
                line.append(step)
            joined.append(_thinned(line))
    return joined


def _thinned(line: Line) -> Line:
    """A line without the points that lie close to a straight way between others."""
    if len(line) < 3:
        return line
    points = np.array(line)
    way = points[-1] - points[0]
    off = points - points[0]
    far = np.abs(way[0] * off[:, 1] - way[1] * off[:, 0]) / max(float(np.hypot(*way)), FLAT)
    if float(np.hypot(*way)) < FLAT:
        far = np.hypot(off[:, 0], off[:, 1])
    k = int(far.argmax())
    if far[k] <= CLOSE:
        return [line[0], line[-1]]
    return _thinned(line[: k + 1])[:-1] + _thinned(line[k:])


def picture(measure: Measure) -> dict[str, Any] | None:
    """The chart of a measure's lines; None where the score is the same everywhere."""
    found = isolines(measure)
    if not found:
        return None
    rows: list[dict[str, Any]] = [
        {"what": "line", "line": name, "level": level, "at": k, "c": x, "u": y}
        for name, (level, line) in enumerate(found)
        for k, (x, y) in enumerate(line)
    ]
    rows += [
        {"what": "label", "c": round(x, 4), "u": round(y, 4), "text": f"{level:.1f}"}
        for level, (x, y) in _labels(found)
    ]
    rows += [
        {"what": "edge", "at": k, "c": x, "u": y}
        for k, (x, y) in enumerate([(0, 0), (1, 0), (0, 1), (0, 0)])
    ]
    rows += [
        {"what": "corner", "c": 0.012, "u": 0.02, "text": "all wrong"},
        {"what": "corner", "c": 0.92, "u": 0.085, "text": "all right"},
        {"what": "corner", "c": 0.045, "u": 0.975, "text": "all blank"},
    ]
    return _chart(rows, measure)


def _labels(found: list[tuple[float, Line]]) -> list[tuple[float, Point]]:
    """A place for each level's number on its longest line, as far from each other as may be."""
    longest: dict[float, Line] = {}
    for level, line in found:
        if level not in longest or _length(line) > _length(longest[level]):
            longest[level] = sorted((line, line[::-1]), key=lambda way: way[0][::-1])[0]
    choices = [
        [(level, _along(line, part)) for level, line in longest.items()]
        for part in (0.5, 0.35, 0.65, 0.2, 0.8)
    ]
    return max(choices, key=_room)


def _room(labels: list[tuple[float, Point]]) -> float:
    """The least distance between two labels; more than enough is enough."""
    places = np.array([place for _, place in labels])
    apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    return round(min(float((apart + 2 * np.eye(len(places))).min()), 0.09), 6)


def _length(line: Line) -> float:
    return float(np.hypot(*np.diff(np.array(line), axis=0).T).sum())


def _along(line: Line, part: float) -> Point:
    """The point that lies so far along a line."""
    points = np.array(line)
    run = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    x, y = (float(np.interp(part * run[-1], run, points[:, k])) for k in (0, 1))
    return x, y


def _chart(rows: list[dict[str, Any]], measure: Measure) -> dict[str, Any]:
    contour = _of("line", order=True)
    low, high = measure.bounds
    contour["encoding"] |= {
        "detail": {"field": "line", "type": "nominal"},
        "color": {
            "field": "level",
            "type": "quantitative",
            "legend": None,
            "scale": {"domain": [low, high], "range": ["#9ecae1", "#08306b"]},
        },
    }
    edge = _of("edge", order=True)
    edge["mark"] |= {"color": "#9aa5b3", "strokeWidth": 1}
    halo, label, corner = _of("label"), _of("label"), _of("corner")
    halo["mark"] = {"type": "text", "fontSize": 12, "stroke": "white", "strokeWidth": 4}
    label["mark"] = {"type": "text", "fontSize": 12, "color": "#1c2733"}
    corner["mark"] = {
        "type": "text",
        "fontSize": 11,
        "align": "left",
        "baseline": "bottom",
        "color": "#5b6675",
        "fontStyle": "italic",
    }
    under = corner | {"mark": corner["mark"] | {"stroke": "white", "strokeWidth": 4}}
    for layer in (halo, label, under, corner):
        layer["encoding"]["text"] = {"field": "text", "type": "nominal"}
    spec = chart(f"Lines of equal {measure}", rows, [edge, contour, halo, label, under, corner])
    # Room for titles and labels is given, not measured, so that fonts change nothing.
    spec |= {
        "width": 420,
        "height": 420,
        "autosize": {"type": "none"},
        "padding": {"left": 60, "right": 20, "top": 36, "bottom": 52},
    }
    return spec


def _of(what: str, *, order: bool = False) -> dict[str, Any]:
    layer = lines(
        "c",
        "u",
        x_title="c, the share right",
        y_title="u, the share unanswered",
        x_domain=(0, 1),
        y_domain=(0, 1),
    )
    for axis in ("x", "y"):
        layer["encoding"][axis]["axis"] = {
            "values": [0, 0.2, 0.4, 0.6, 0.8, 1],
            "format": ".1f",
            "grid": False,
            "minExtent": 30,
            "maxExtent": 30,
        }
    layer["mark"].pop("tooltip")
    layer["transform"] = [{"filter": f"datum.what == '{what}'"}]
    if order:
        layer["encoding"]["order"] = {"field": "at", "type": "quantitative"}
    return layer
