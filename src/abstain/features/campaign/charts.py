"""The charts of a campaign's page, each with a sentence that says what it shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.errors import plural
from abstain.report.charts import OUTCOME_COLOURS, bars, cells, chart, points, tips
from abstain.report.leaderboard import MOST_LINES, decision_figure
from abstain.report.page import Figure
from abstain.report.result import places
from abstain.stats.orderings import at_least, over_runs

if TYPE_CHECKING:
    from abstain.features.campaign.overview import Overview
    from abstain.features.campaign.result import Stability

MOST_RUNS, MOST_DOTS, MOST_TESTS, MOST_TOPICS = 60, 300, 80, 30
WHOLE = {"tickMinStep": 1, "format": "d"}
"""An axis of whole numbers."""


def campaign_figures(c: Overview) -> dict[str, Figure]:
    figures = [
        decision_figure(c.runs, c.overall, range(len(c.runs))[:MOST_LINES]),
        *_tests(c),
        *_topics(c),
        *_kinds(c),
        *_pairs(c),
        *([] if c.result.blind else [_questions(c)]),
    ]
    return {figure.name: figure for figure in figures}


def _coloured(field: str, colours: dict[str, str]) -> dict[str, Any]:
    scale = {"domain": list(colours), "range": list(colours.values())}
    return {"field": field, "type": "nominal", "title": None, "scale": scale}


def _tests(c: Overview) -> Iterator[Figure]:
    if c.result.test_by is None or len(c.slices[c.result.test_by].names) > MOST_TESTS:
        return
    names, scores = c.slices[c.result.test_by].names, c.slice_scores[c.result.test_by]
    passed = at_least(scores, c.result.pass_mark)
    runs, measure = c.runs[:MOST_RUNS], str(c.measure)
    rows = [
        {
            "run": run,
            "test": name,
            measure: round(float(scores[i, part]), 4),
            "passed": "passed" if passed[i, part] else "",
        }
        for i, run in enumerate(runs)
        for part, name in enumerate(names)
    ]
    heat = cells("test", "run", measure, x_title="reading test")
    x, y = heat["encoding"]["x"], heat["encoding"]["y"]
    x |= {"sort": names, "axis": {"labelOverlap": True}}
    y |= {"sort": runs, "title": None}
    heat["encoding"]["color"] |= {"title": measure, "scale": {"scheme": "blues"}}
    dot = points("test", "run", x_type="nominal", y_type="nominal")
    dot["mark"] |= {"color": "#ffb000", "stroke": "#3a2600", "strokeWidth": 0.8, "size": 32}
    dot["mark"]["opacity"] = 1
    dot["transform"] = [{"filter": "datum.passed === 'passed'"}]
    for name, axis in (("x", x), ("y", y)):
        dot["encoding"][name] = {key: axis[key] for key in ("field", "type", "sort")}
    for layer in (heat, dot):  # a dot lies on its cell and says the same
        layer["encoding"]["tooltip"] = tips(("run", "test"), (measure,))
    caption = (
        f"{measure} of every reading test. A dot marks a test that was passed "
        f"({c.result.pass_mark:g} or more): {int(passed.sum()):,} of {scores.size:,}, counting "
        "every run and test."
    )
    spec = chart("", rows, [heat, dot], height=max(160, 15 * len(runs)))
    yield Figure("tests", caption, spec, title=f"{measure} of runs on reading tests")


def _topics(c: Overview) -> Iterator[Figure]:
    if c.result.topic_by is None or not 1 < len(c.slices[c.result.topic_by].names) <= MOST_TOPICS:
        return
    names, scores = c.slices[c.result.topic_by].names, c.slice_scores[c.result.topic_by]
    rows: list[dict[str, Any]] = [
        {"topic": name, "score": round(float(scores[i, part]), 4), "run": run}
        for part, name in enumerate(names)
        for i, run in enumerate(c.runs[:MOST_DOTS])
    ]
    means = over_runs(scores)["mean"].tolist()
    rows += [{"topic": name, "mean": mean} for name, mean in zip(names, means, strict=True)]
    dots = points("score", "topic", y_type="nominal", x_title=str(c.measure), y_title=" ")
    dots["encoding"]["x"]["axis"] = {"tickCount": 6}
    dots["mark"] |= {"opacity": 0.45, "size": 40}
    score = {"field": "score", "type": "quantitative", "title": str(c.measure)}
    dots["encoding"]["tooltip"] = [*tips(("run",), ()), score]
    dots["transform"] = [{"filter": "isValid(datum.score)"}]
    mean = points("mean", "topic", y_type="nominal", x_title=str(c.measure))
    mean["transform"] = [{"filter": "isValid(datum.mean)"}]
    mean["mark"] = {"type": "tick", "thickness": 3, "size": 26, "color": "#d55e00", "opacity": 1}
    del mean["encoding"]["y"]["title"]
    drawn = f"one of the {MOST_DOTS} best runs" if len(c.runs) > MOST_DOTS else "a run"
    caption = f"Each dot is {drawn}; the bar is the mean of all runs."
    spec = chart("", rows, [dots, mean], height=44 * len(names))
    yield Figure("topics", caption, spec, title="Runs on topics")


def _kinds(c: Overview) -> Iterator[Figure]:
    if "type" not in c.slices:
        return
    names, total = c.slices["type"].names, c.sliced["type"].table.sum(axis=0)
    rows = []
    for (right, wrong, *blank), name in zip(total.tolist(), names, strict=True):
        counts = {"right": right, "wrong": wrong, "blank": sum(blank)}
        n = sum(counts.values()) or 1
        rows += [
            {"type": name, "outcome": outcome, "percent": 100 * count / n, "place": place}
            for place, (outcome, count) in enumerate(counts.items())
        ]
    layer = bars("percent", "type", y_type="nominal", y_title="", x_title="percent of responses")
    percent = {"field": "percent", "type": "quantitative", "format": ".1f"}
    layer["encoding"] |= {
        "color": _coloured("outcome", OUTCOME_COLOURS),
        "order": {"field": "place", "type": "quantitative"},
        "tooltip": [*tips(("type", "outcome"), ()), percent],
    }
    spec = chart("", rows, [layer], height=34 * len(names))
    caption = "Responses of all runs by question type."
    yield Figure("types", caption, spec, title="Outcomes by kind of question")


def _pairs(c: Overview) -> Iterator[Figure]:
    if c.pairs is None:
        return
    rows = []
    for kind, inside in {"all": c.pairs.everything, **c.pairs.levels("simplification")}.items():
        t = c.pairs.counts(inside)
        for question, right in (("main", t.main_right), ("auxiliary", t.auxiliary_right)):
            rows.append({"pairs": f"{kind} ({t.pairs})", "question": question, "right": right})
    title = "right responses of all runs"
    layer = bars("right", "pairs", y_type="nominal", x_title=title, zero=True)
    layer["encoding"]["yOffset"] = {"field": "question", "sort": ["main", "auxiliary"]}
    layer["encoding"]["color"] = _coloured("question", {"main": "#7f7f7f", "auxiliary": "#0072b2"})
    layer["encoding"]["y"]["sort"] = None
    caption = "Right responses on main questions and on their simplified twins."
    spec = chart("", rows, [layer], height=52 * (len(rows) // 2))
    yield Figure("pairs", caption, spec, title="Right on main and auxiliary questions")


def _questions(c: Overview) -> Figure:
    """How many questions were right in how many runs."""
    rows = [
        {"runs": k, "questions": n, "from": k - 0.4, "to": k + 0.4}
        for k, n in enumerate(np.bincount(c.tried[0]).tolist())
        if n
    ]
    layer = bars("from", "questions", x_title="runs that had the question right", zero=True)
    domain = {"domain": [-0.5, len(c.runs) + 0.5], "nice": False}
    layer["encoding"]["x"] |= {"scale": domain, "axis": WHOLE}
    layer["mark"] = {"type": "rect", "tooltip": True}
    layer["encoding"]["x2"], layer["encoding"]["y2"] = {"field": "to"}, {"datum": 0}
    layer["encoding"]["tooltip"] = tips((), ("runs", "questions"))
    spec = chart("", rows, [layer], height=220)
    return Figure("questions", c.hardness, spec, title="How hard the questions were")


def rank_figure(c: Overview, s: Stability) -> Figure:
    """The rank of each run, and where it lies in 95 % of the resamples."""
    names = c.runs[:MOST_RUNS]
    ranks = places(c.scores, higher_is_better=c.measure.higher_is_better)
    rows = [
        {
            "run": run,
            "rank": int(ranks[i].rstrip("=")) if ranks[i] else None,
            "low": s.low[i],
            "high": s.high[i],
            "first %": round(100 * s.first[i], 2),
        }
        for i, run in enumerate(names)
    ]
    titles = {"x_title": "rank", "y_title": " ", "y_type": "nominal"}
    span = points("low", "run", sort=names, **titles)
    span["mark"] = {"type": "rule", "strokeWidth": 5, "color": "#56b4e9", "opacity": 0.7}
    span["encoding"]["x2"] = {"field": "high"}
    dots = points("rank", "run", sort=names, **titles)
    dots["mark"] |= {"size": 45, "opacity": 1}
    domain = {"domain": [0.5, len(c.runs) + 0.5], "nice": False}
    for layer in (span, dots):
        layer["encoding"]["tooltip"] = tips(("run",), ("rank", "low", "high", "first %"))
        layer["encoding"]["x"] |= {"axis": WHOLE, "scale": domain}
    which = "all" if len(names) == len(c.runs) else f"the {len(names)} best"
    caption = (
        f"The rank of each run ({which} of {plural(len(c.runs), 'run')}) and where it lies in 95 % "
        "of the resamples: the longer a bar, the more the rank depends on this choice of questions."
    )
    spec = chart("", rows, [span, dots], height=max(90, 16 * len(names)))
    return Figure("ranks", caption, spec, title="Ranks over resamples of the questions")
