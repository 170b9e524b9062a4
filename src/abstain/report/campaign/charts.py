"""The charts of a campaign's page, each with a sentence that says what it shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from abstain.errors import plural
from abstain.report.campaign.headings import kinds_of_simplification
from abstain.report.charts import OUTCOME_COLOURS, bars, cells, chart, points, tips
from abstain.report.page import Figure
from abstain.report.rewards import MOST_LINES, decision_figure
from abstain.stats.standings import at_least, over_runs

if TYPE_CHECKING:
    from abstain.analyses.campaign.overview import Overview

MOST_RUNS = 60
MOST_DOTS = 300
FLAT = 120
"""Letters that the names below a chart have in all where they need not be turned."""

FEW_RUNS = 10
"""Runs that each get a tick."""


def campaign_figures(c: Overview) -> dict[str, Figure]:
    """Every chart that the data allow, by name."""
    figures = [
        decision_figure(c.runs, c.overall, c.order[:MOST_LINES]),
        *_tests(c),
        *_topics(c),
        *_kinds(c),
        *_pairs(c),
        *([] if c.result.blind else [question_curve(c)]),
    ]
    return {figure.name: figure for figure in figures}


def _tests(c: Overview) -> Iterator[Figure]:
    if c.result.test_by is None or len(c.slices[c.result.test_by].names) > 80:
        return
    names = c.slices[c.result.test_by].names
    scores = c.slice_scores[c.result.test_by]
    passed = at_least(scores, c.result.pass_mark)
    chosen = c.order[:MOST_RUNS]
    rows = [
        {
            "run": c.runs[i],
            "test": name,
            str(c.measure): round(float(scores[i, part]), 4),
            "passed": "passed" if passed[i, part] else "",
        }
        for i in chosen
        for part, name in enumerate(names)
    ]
    heat = cells("test", "run", str(c.measure))
    heat["encoding"]["x"] |= {"sort": names, "title": "reading test"}
    flat = {"labelAngle": 0} if sum(map(len, names)) + len(names) <= FLAT else {}
    heat["encoding"]["x"]["axis"] = {"labelOverlap": True, **flat}
    heat["encoding"]["y"] |= {"sort": [c.runs[i] for i in chosen], "title": None}
    heat["encoding"]["color"] |= {"title": str(c.measure), "scale": {"scheme": "blues"}}
    mark = points("test", "run", x_type="nominal", y_type="nominal")
    mark["mark"] |= {
        "color": "#ffb000",
        "stroke": "#3a2600",
        "strokeWidth": 0.8,
        "size": 32,
        "opacity": 1,
    }
    mark["transform"] = [{"filter": "datum.passed === 'passed'"}]
    for axis in ("x", "y"):
        mark["encoding"][axis] = {k: heat["encoding"][axis][k] for k in ("field", "type", "sort")}
    for layer in (heat, mark):  # a dot lies on its cell and says the same
        layer["encoding"]["tooltip"] = tips(("run", "test"), (str(c.measure),))
    caption = (
        f"{c.measure} of every reading test. A dot marks a test that was passed "
        f"({c.result.pass_mark:g} or more): {int(passed.sum()):,} of {scores.size:,}, counting "
        "every run and test."
    )
    spec = chart("", rows, [heat, mark], height=max(160, 15 * len(chosen)))
    yield Figure("tests", caption, spec, title=f"{c.measure} of runs on reading tests")


def _topics(c: Overview) -> Iterator[Figure]:
    if c.result.topic_by is None or not 1 < len(c.slices[c.result.topic_by].names) <= 30:
        return
    names = c.slices[c.result.topic_by].names
    scores = c.slice_scores[c.result.topic_by]
    rows = [
        {"topic": name, "score": round(float(scores[i, part]), 4), "run": c.runs[i]}
        for part, name in enumerate(names)
        for i in c.order[:MOST_DOTS]
    ]
    means = over_runs(scores)["mean"]
    rows += [{"topic": name, "mean": float(m)} for name, m in zip(names, means, strict=True)]
    layer = points("score", "topic", y_type="nominal", x_title=str(c.measure), y_title=" ")
    layer["encoding"]["x"]["axis"] = {"tickCount": 6}
    layer["mark"] |= {"opacity": 0.45, "size": 40}
    layer["encoding"]["tooltip"] = [
        *tips(("run",), ()),
        {"field": "score", "type": "quantitative", "title": str(c.measure)},
    ]
    layer["transform"] = [{"filter": "isValid(datum.score)"}]
    mean = {
        "transform": [{"filter": "isValid(datum.mean)"}],
        "mark": {"type": "tick", "thickness": 3, "size": 26, "color": "#d55e00", "opacity": 1},
        "encoding": {
            "x": {"field": "mean", "type": "quantitative", "title": str(c.measure)},
            "y": {"field": "topic", "type": "nominal"},
        },
    }
    drawn = f"one of the {MOST_DOTS} best runs" if len(c.runs) > MOST_DOTS else "a run"
    caption = f"Each dot is {drawn}; the bar is the mean of all runs"
    if not np.isnan(means).all():
        high, low = int(np.nanargmax(means)), int(np.nanargmin(means))
        caption += f". The mean is highest for {names[high]} ({means[high]:.2f}) and lowest for "
        caption += f"{names[low]} ({means[low]:.2f})"
    spec = chart("", rows, [layer, mean], height=44 * len(names))
    yield Figure("topics", f"{caption}.", spec, title="Runs on topics")


def _kinds(c: Overview) -> Iterator[Figure]:
    if "type" not in c.slices:
        return
    s = c.slices["type"]
    total = c.sliced["type"].table.sum(axis=0)
    rows = []
    for part, name in enumerate(s.names):
        n = total[part].sum() or 1
        parts = {"right": total[part][0], "wrong": total[part][1], "blank": total[part][2:].sum()}
        rows += [
            {"type": name, "outcome": outcome, "percent": float(100 * count / n), "place": place}
            for place, (outcome, count) in enumerate(parts.items())
        ]
    layer = bars("percent", "type", y_type="nominal", y_title="", x_title="percent of responses")
    layer["encoding"]["color"] = {
        "field": "outcome",
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(OUTCOME_COLOURS), "range": list(OUTCOME_COLOURS.values())},
    }
    layer["encoding"]["order"] = {"field": "place", "type": "quantitative"}
    layer["encoding"]["tooltip"] = [
        *tips(("type", "outcome"), ()),
        {"field": "percent", "type": "quantitative", "format": ".1f"},
    ]
    shares = total[:, 0] / np.maximum(1, total.sum(axis=1))
    high, low = int(np.argmax(shares)), int(np.argmin(shares))
    caption = (
        f"Responses of all runs by question type: {s.names[high]} was most often right "
        f"({100 * shares[high]:.1f} %), {s.names[low]} least ({100 * shares[low]:.1f} %)."
    )
    spec = chart("", rows, [layer], height=34 * len(s.names))
    yield Figure("types", caption, spec, title="Outcomes by kind of question")


def _pairs(c: Overview) -> Iterator[Figure]:
    if c.pairs is None:
        return
    kinds, rows = c.pairs.levels("simplification"), []
    for kind, inside in [("all", c.pairs.everything), *kinds.items()]:
        t = c.pairs.counts(inside)
        rows += [
            {"pairs": f"{kind} ({t.pairs})", "question": "main", "right": t.main_right},
            {"pairs": f"{kind} ({t.pairs})", "question": "auxiliary", "right": t.auxiliary_right},
        ]
    layer = bars(
        "right", "pairs", y_type="nominal", x_title="right responses of all runs", zero=True
    )
    layer["encoding"]["yOffset"] = {"field": "question", "sort": ["main", "auxiliary"]}
    layer["encoding"]["color"] = {
        "field": "question",
        "type": "nominal",
        "title": None,
        "scale": {"domain": ["main", "auxiliary"], "range": ["#7f7f7f", "#0072b2"]},
    }
    layer["encoding"]["y"]["sort"] = None
    t = c.pairs.counts(c.pairs.everything)
    caption = (
        f"Right responses on main questions ({t.main_right:,}) and on their simplified twins "
        f"({t.auxiliary_right:,})." + kinds_of_simplification(kinds)
    )
    spec = chart("", rows, [layer], height=52 * (len(rows) // 2))
    yield Figure("pairs", caption, spec, title="Right on main and auxiliary questions")


def question_curve(c: Overview) -> Figure:
    """How many questions were right in how many runs."""
    right, _, _ = c.tried
    counts = np.bincount(right, minlength=len(c.runs) + 1)
    rows = [
        {"runs": k, "questions": int(n), "from": k - 0.4, "to": k + 0.4}
        for k, n in enumerate(counts)
        if n
    ]
    layer = bars("from", "questions", x_title="runs that had the question right", zero=True)
    layer["encoding"]["x"]["scale"] = {"domain": [-0.5, len(c.runs) + 0.5], "nice": False}
    layer["encoding"]["x"]["axis"] = {"tickMinStep": 1, "format": "d"}
    if len(c.runs) <= FEW_RUNS:  # where ticks of their own would fall beside whole numbers
        layer["encoding"]["x"]["axis"]["values"] = list(range(len(c.runs) + 1))
    layer["mark"] = {"type": "rect", "tooltip": True}
    layer["encoding"]["x2"], layer["encoding"]["y2"] = {"field": "to"}, {"datum": 0}
    layer["encoding"]["tooltip"] = tips((), ("runs", "questions"))
    caption = (
        f"{plural(int(counts[0]), 'question was', 'questions were')} right in no run, and "
        f"the median question was right in {np.median(right):g} of {plural(len(c.runs), 'run')}."
    )
    spec = chart("", rows, [layer], height=220)
    return Figure("questions", caption, spec, title="How hard the questions were")
