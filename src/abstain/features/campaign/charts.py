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

MOST_RUNS = 60
MOST_DOTS = 300


def campaign_figures(c: Overview) -> dict[str, Figure]:
    """Every chart that the data allow, by name."""
    figures = [
        decision_figure(c.runs, c.overall, range(len(c.runs))[:MOST_LINES]),
        *_tests(c),
        *_topics(c),
        *_kinds(c),
        *_pairs(c),
        *([] if c.result.blind else [question_curve(c)]),
    ]
    return {figure.name: figure for figure in figures}


def _coloured(field: str, colours: dict[str, str]) -> dict[str, Any]:
    """The colour of a mark by its value in a field."""
    scale = {"domain": list(colours), "range": list(colours.values())}
    return {"field": field, "type": "nominal", "title": None, "scale": scale}


def _tests(c: Overview) -> Iterator[Figure]:
    if c.result.test_by is None or len(c.slices[c.result.test_by].names) > 80:
        return
    names, scores = c.slices[c.result.test_by].names, c.slice_scores[c.result.test_by]
    passed = at_least(scores, c.result.pass_mark)
    chosen, measure = range(len(c.runs))[:MOST_RUNS], str(c.measure)
    rows = [
        {
            "run": c.runs[i],
            "test": name,
            measure: round(float(scores[i, part]), 4),
            "passed": "passed" if passed[i, part] else "",
        }
        for i in chosen
        for part, name in enumerate(names)
    ]
    heat = cells("test", "run", measure, x_title="reading test")
    x, y = heat["encoding"]["x"], heat["encoding"]["y"]
    x |= {"sort": names, "axis": {"labelOverlap": True}}
    y |= {"sort": [c.runs[i] for i in chosen], "title": None}
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
    spec = chart("", rows, [heat, dot], height=max(160, 15 * len(chosen)))
    yield Figure("tests", caption, spec, title=f"{measure} of runs on reading tests")


def _topics(c: Overview) -> Iterator[Figure]:
    if c.result.topic_by is None or not 1 < len(c.slices[c.result.topic_by].names) <= 30:
        return
    names, scores = c.slices[c.result.topic_by].names, c.slice_scores[c.result.topic_by]
    rows: list[dict[str, Any]] = [
        {"topic": name, "score": round(float(scores[i, part]), 4), "run": c.runs[i]}
        for part, name in enumerate(names)
        for i in range(len(c.runs))[:MOST_DOTS]
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
        n = (right + wrong + sum(blank)) or 1
        counts = {"right": right, "wrong": wrong, "blank": sum(blank)}
        rows += [
            {"type": name, "outcome": outcome, "percent": 100 * count / n, "place": place}
            for place, (outcome, count) in enumerate(counts.items())
        ]
    layer = bars("percent", "type", y_type="nominal", y_title="", x_title="percent of responses")
    layer["encoding"]["color"] = _coloured("outcome", OUTCOME_COLOURS)
    layer["encoding"]["order"] = {"field": "place", "type": "quantitative"}
    percent = {"field": "percent", "type": "quantitative", "format": ".1f"}
    layer["encoding"]["tooltip"] = [*tips(("type", "outcome"), ()), percent]
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
    layer = bars(
        "right", "pairs", y_type="nominal", x_title="right responses of all runs", zero=True
    )
    layer["encoding"]["yOffset"] = {"field": "question", "sort": ["main", "auxiliary"]}
    layer["encoding"]["color"] = _coloured("question", {"main": "#7f7f7f", "auxiliary": "#0072b2"})
    layer["encoding"]["y"]["sort"] = None
    caption = "Right responses on main questions and on their simplified twins."
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
    x = layer["encoding"]["x"]
    x["scale"] = {"domain": [-0.5, len(c.runs) + 0.5], "nice": False}
    x["axis"] = {"tickMinStep": 1, "format": "d"}
    layer["mark"] = {"type": "rect", "tooltip": True}
    layer["encoding"]["x2"], layer["encoding"]["y2"] = {"field": "to"}, {"datum": 0}
    layer["encoding"]["tooltip"] = tips((), ("runs", "questions"))
    caption = (
        f"{plural(int(counts[0]), 'question was', 'questions were')} right in no run, and "
        f"the median question was right in {np.median(right):g} of {plural(len(c.runs), 'run')}."
    )
    spec = chart("", rows, [layer], height=220)
    return Figure("questions", caption, spec, title="How hard the questions were")


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
    for layer in (span, dots):
        layer["encoding"]["tooltip"] = tips(("run",), ("rank", "low", "high", "first %"))
        layer["encoding"]["x"]["axis"] = {"tickMinStep": 1, "format": "d"}
        layer["encoding"]["x"]["scale"] = {"domain": [0.5, len(c.runs) + 0.5], "nice": False}
    which = "all" if len(names) == len(c.runs) else f"the {len(names)} best"
    caption = (
        f"The rank of each run ({which} of {plural(len(c.runs), 'run')}) and where it lies in 95 % "
        "of the resamples: the longer a bar, the more the rank depends on this choice of questions."
    )
    spec = chart("", rows, [span, dots], height=max(90, 16 * len(names)))
    return Figure("ranks", caption, spec, title="Ranks over resamples of the questions")
