"""A campaign in sentences and charts, each computed from its numbers."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from abstain.errors import plural, some_of
from abstain.features.campaign.overview import ALL_RUNS, ROLE, Overview
from abstain.features.campaign.result import LEFT_OUT, YARDSTICKS, Stability
from abstain.features.campaign.tables import tests_passed
from abstain.features.compare.words import distinct_from, verdict
from abstain.report.charts import (
    OUTCOME_COLOURS,
    bars,
    chart,
    dots_and_spans,
    heat_map,
    points,
    tips,
)
from abstain.report.leaderboard import decision_figure
from abstain.report.page import Figure
from abstain.report.result import places
from abstain.report.view import first_few, listed
from abstain.runs.run_names import WITHDRAWN
from abstain.stats.orderings import above, at_least, over_runs, same

MOST_RUNS, MOST_TESTS, MOST_TOPICS = 60, 80, 30
WHOLE = {"tickMinStep": 1, "format": "d"}


def sentences(c: Overview) -> Iterator[str]:
    """What a reader should know first, in the order of an overview."""
    yield _what_was_run(c)
    yield _best(c)
    yield from _set_apart(c)
    yield from _corrections(c)
    if c.result.comparison is not None:
        yield from verdict(c.result.comparison)
    elif len(c.runs) > 1 and not c.result.blind:
        yield "Which runs can be told apart was not tested: `abstain compare --against` tests it."
    yield from _spread(c)
    yield from _references(c)
    yield from _tests(c)
    yield from _slices(c)
    if not c.result.blind:
        yield c.hardness
    yield _blanks(c)
    yield from _pairs(c)


def _what_was_run(c: Overview) -> str:
    text = plural(len(c.runs), c.what)
    if teams := len({*c.info.get("team", ())} - {None}):
        text += f" of {plural(teams, 'team')}"
    text += f" responded to {plural(c.questions.height, 'question')}"
    if c.result.test_by:
        text += f" in {plural(len(c.slices[c.result.test_by].names), 'reading test')}"
    if c.result.topic_by:
        text += f" on {plural(len(c.slices[c.result.topic_by].names), 'topic')}"
    return text + "."


def _best(c: Overview) -> str:
    k, score = c.overall[0], c.scores[0]
    if np.isnan(score):
        return f"No {c.what} has a {c.measure}: {c.measure.why_undefined(k)}."
    text = (
        f"The best run is {c.runs[0]} with a {c.measure} of {score:.2f} ({k.right:,} right, "
        f"{k.wrong:,} wrong, {k.unanswered:,} blank)"
    )
    level = int(same(c.scores[1:], score).sum())
    if level:
        text += f", level with {c.runs[1] if level == 1 else f'{level} others'}"
    if c.runs[1:]:
        test = c.result.comparison and distinct_from(c.result.comparison, c.runs[0])
        text += test or ", but this was not tested for significance"
    rest = c.scores[1 + level :]
    if rest.size and not np.isnan(rest[0]):
        tied = int(same(rest, rest[0]).sum())
        text += f"; the next is {first_few(c.runs[1 + level :][:tied])} with {rest[0]:.2f}"
    return text + "."


def _set_apart(c: Overview) -> Iterator[str]:
    result = c.result
    names: dict[str, Sequence[str]] = {}
    for run in result.unranked:
        names[run.status] = [*names.get(run.status, ()), run.name]
    names |= {WITHDRAWN: result.withdrawn, LEFT_OUT: result.skipped}
    counts = Counter(dict.fromkeys(names, 0))
    for reasons in result.apart.values():
        counts.update(reasons)
    kinds = [
        f"{n or ''} {why}{f' ({some_of(names[why])})' if names.get(why) else ''}".strip()
        for why, n in counts.items()
        if n or names.get(why)
    ]
    if kinds:
        yield f"Runs without a rank, which are in no pair, group or average: {listed(kinds)}."
    for team, reasons in result.apart.items():
        if team and team not in c.teams:
            whys = [f"{n or ''} {why}".strip() for why, n in reasons.items()]
            yield f"Team {team} has no ranked run ({listed(whys)})."
    for warning in result.warnings:
        yield f"{warning.message[:1].upper()}{warning.message[1:]}."


def _corrections(c: Overview) -> Iterator[str]:
    if c.result.moved:
        runs = plural(len(c.result.moved), "ranked run")
        first = [run.run for run in c.result.moved if run.rank_before in ("1", "1=")]
        now = [run.run for run in c.result.moved if run.rank in ("1", "1=")]
        then = "" if {*first} == {*now} else f"; without them {some_of(first)} came first"
        yield (
            f"Corrections after submission changed the rank of {len(c.reranked)} of {runs}{then}."
        )


def _spread(c: Overview) -> Iterator[str]:
    lacking = [run for run, gone in zip(c.runs, np.isnan(c.scores).tolist(), strict=True) if gone]
    if len(lacking) == len(c.runs):
        return
    if lacking:
        why = c.measure.why_undefined(c.overall[c.runs.index(lacking[0])])
        whom = f"{plural(len(lacking), 'run')} ({some_of(lacking)})"
        yield f"{c.measure} is undefined for {whom}: {why}."
    mean, median, deviation = over_runs(c.scores).values()
    yield (
        f"Over {'the other' if lacking else 'all'} {c.what}s the mean {c.measure} is {mean:.2f}, "
        f"the median {median:.2f}, the standard deviation {deviation:.2f}."
    )


def _references(c: Overview) -> Iterator[str]:
    ways = "Answering at random", "Always answering “none of the above”"
    for name, what in zip(YARDSTICKS, ways, strict=True):
        if name in c.baselines and not np.isnan(value := c.measure(c.baselines[name][0])):
            beat = int(above(c.scores, value).sum())
            yield f"{what} would give {value:.2f}: {beat} of {plural(len(c.runs), c.what)} beat it."


def _tests(c: Overview) -> Iterator[str]:
    passed = [count for count in tests_passed(c) if count is not None]
    if c.result.test_by is None or len(passed) < len(c.runs):
        return  # there are no tests, or a blind phase hides some scores
    tests, best = plural(len(c.slices[c.result.test_by].names), "test"), max(passed)
    runs = [run for run, count in zip(c.runs, passed, strict=True) if count == best]
    whom = listed(runs) if len(runs) <= 3 else some_of(runs)
    most = f", and {whom} passed the most ({best})" if best else ""
    yield (
        f"A test is passed with a {c.measure} of {c.result.pass_mark:g}: "
        f"{plural(passed.count(0), c.what)} passed none of the {tests}{most}."
    )


def _slices(c: Overview) -> Iterator[str]:
    for attribute, s in c.slices.items():
        means = over_runs(c.slice_scores[attribute])["mean"]
        if attribute == c.result.test_by or len(s.names) < 2 or np.isnan(means).all():
            continue
        if c.whom(attribute) != ALL_RUNS:
            continue  # means over different runs say nothing of the slices
        high, low = int(np.nanargmax(means)), int(np.nanargmin(means))
        if means[high] > means[low]:
            yield (
                f"By {attribute}, the mean {c.measure} is highest for "
                f"{s.names[high]} ({means[high]:.2f}) and lowest for {s.names[low]} "
                f"({means[low]:.2f})."
            )


def _blanks(c: Overview) -> str:
    total = c.total
    if not total.unanswered:
        return f"No {c.what} left a question blank."
    text = (
        f"{plural(int((c.overall.unanswered > 0).sum()), c.what)} left questions blank, "
        f"{plural(int(total.unanswered), 'response')} in all "
        f"({100 * total.unanswered / total.n:.1f} %)"
    )
    if candidates := total.unanswered_right + total.unanswered_wrong:
        text += (
            f"; of the {candidates:,.0f} that came with a candidate, "
            f"{100 * total.unanswered_wrong / candidates:.1f} % were rightly held back"
        )
    return text + "."


def _pairs(c: Overview) -> Iterator[str]:
    if c.pairs is None:
        return
    t = c.pairs.counts(c.pairs.everything)
    change = "" if t.change is None else f" ({t.change:+.0f} %)"
    yield (
        f"In {plural(t.pairs, 'pair')} of a main and an auxiliary question, the main question "
        f"was answered right {t.main_right:,} times and the auxiliary one {t.auxiliary_right:,} "
        f"times{change}; in {plural(t.better, 'pair')}, more runs got the auxiliary question right."
    )
    more = (c.pairs.auxiliary_right - c.pairs.main_right).mean()
    yield (
        f"On average, {abs(more):.2f} {'fewer' if more < 0 else 'more'} runs get the auxiliary "
        f"question right than its main question ({100 * abs(more) / len(c.runs):.2f} % of the "
        f"{plural(len(c.runs), c.what)})."
    )
    parts = {"": c.pairs.everything, **c.pairs.levels("simplified")}
    rises = {name: c.pairs.mean_increase(inside) for name, inside in parts.items()}
    if (rise := rises.pop("")) is not None:
        each = [f"{name} {more:.2f} %" for name, more in rises.items() if more is not None]
        by = f" ({', '.join(each)})" if each else ""
        yield f"Over the pairs where it increased, the mean increase is {rise:.2f} %{by}."
    if ROLE in c.slices:
        means = over_runs(c.slice_scores[ROLE])["mean"].tolist()
        mean = dict(zip(c.slices[ROLE].names, means, strict=True))
        change = mean.get("auxiliary", np.nan) - mean.get("main", np.nan)
        if not np.isnan(change):
            yield (
                f"Over all {c.what}s the mean {c.measure} is {mean['main']:.2f} on main questions "
                f"and {mean['auxiliary']:.2f} on auxiliary ones, a change of {change:+.2f}."
            )


def campaign_figures(c: Overview) -> dict[str, Figure]:
    figures = [
        decision_figure(c.runs, c.overall),
        *_tests_chart(c),
        *_topics_chart(c),
        *_kinds_chart(c),
        *_pairs_chart(c),
        *([] if c.result.blind else [_questions_chart(c)]),
    ]
    return {figure.name: figure for figure in figures}


def _coloured(field: str, colours: dict[str, str]) -> dict[str, Any]:
    scale = {"domain": list(colours), "range": list(colours.values())}
    return {"field": field, "type": "nominal", "title": None, "scale": scale}


def _tests_chart(c: Overview) -> Iterator[Figure]:
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
    heat = heat_map("test", "run", measure, names, runs, "reading test")
    look = {"color": "#ffb000", "stroke": "#3a2600", "strokeWidth": 0.8, "size": 32, "opacity": 1}
    dot: dict[str, Any] = {
        "mark": {"type": "point", "filled": True, "tooltip": True, **look},
        "encoding": {axis: heat["encoding"][axis] for axis in ("x", "y")},
        "transform": [{"filter": "datum.passed === 'passed'"}],
    }
    for layer in (heat, dot):  # a dot lies on its cell and says the same
        layer["encoding"]["tooltip"] = tips(("run", "test"), (measure,))
    shown = np.isfinite(scores).sum() if c.result.blind else scores.size
    caption = (
        f"{measure} of every reading test. A dot marks a test that was passed "
        f"({c.result.pass_mark:g} or more): {int(passed.sum()):,} of {shown:,}, counting "
        f"every run and test{' whose score is shown' if shown < scores.size else ''}."
    )
    spec = chart("", rows, [heat, dot], height=max(160, 15 * len(runs)))
    yield Figure("tests", caption, spec, title=f"{measure} of runs on reading tests")


def _topics_chart(c: Overview) -> Iterator[Figure]:
    if c.result.topic_by is None or not 1 < len(c.slices[c.result.topic_by].names) <= MOST_TOPICS:
        return
    names, scores = c.slices[c.result.topic_by].names, c.slice_scores[c.result.topic_by]
    rows: list[dict[str, Any]] = [
        {"topic": name, "score": round(float(scores[i, part]), 4), "run": run}
        for part, name in enumerate(names)
        for i, run in enumerate(c.runs)
    ]
    means = over_runs(scores)["mean"].tolist()
    rows += [{"topic": name, "mean": mean} for name, mean in zip(names, means, strict=True)]
    dots = points("score", "topic", y_type="nominal", x_title=str(c.measure), y_title=" ")
    dots["encoding"]["x"]["axis"] = {"tickCount": 6}
    dots["mark"] |= {"opacity": 0.45, "size": 40}
    score = {"field": "score", "type": "quantitative", "title": str(c.measure)}
    dots["transform"] = [{"filter": "isValid(datum.score)"}]
    mean = {
        "mark": {"type": "tick", "thickness": 3, "size": 26, "color": "#d55e00", "opacity": 1},
        "encoding": {**dots["encoding"], "x": {**dots["encoding"]["x"], "field": "mean"}},
        "transform": [{"filter": "isValid(datum.mean)"}],
    }
    dots["encoding"]["tooltip"] = [*tips(("run",), ()), score]
    caption = f"Each dot is a run; the bar is the mean of {c.whom(c.result.topic_by)}."
    spec = chart("", rows, [dots, mean], height=44 * len(names))
    yield Figure("topics", caption, spec, title="Runs on topics")


def _kinds_chart(c: Overview) -> Iterator[Figure]:
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
    caption = f"Responses of {c.whom('type')} by question type."
    yield Figure("types", caption, spec, title="Outcomes by kind of question")


def _pairs_chart(c: Overview) -> Iterator[Figure]:
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


def _questions_chart(c: Overview) -> Figure:
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
    layers = dots_and_spans("rank", "run", names, x_title="rank")
    domain = {"domain": [0.5, len(c.runs) + 0.5], "nice": False}
    for layer in layers:
        layer["encoding"]["tooltip"] = tips(("run",), ("rank", "low", "high", "first %"))
        layer["encoding"]["x"] |= {"axis": WHOLE, "scale": domain}
    which = "all" if len(names) == len(c.runs) else f"the {len(names)} best"
    caption = (
        f"The rank of each run ({which} of {plural(len(c.runs), 'run')}) and where it lies in 95 % "
        "of the resamples: the longer a bar, the more the rank depends on this choice of questions."
    )
    spec = chart("", rows, layers, height=max(90, 16 * len(names)))
    return Figure("ranks", caption, spec, title="Ranks over resamples of the questions")
