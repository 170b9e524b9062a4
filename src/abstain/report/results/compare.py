"""The page of a result of `abstain compare`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from abstain.errors import plural
from abstain.report.charts import cells, chart, points
from abstain.report.compare_words import p_text
from abstain.report.grid import Cell, Column, Grid
from abstain.report.pieces import Figure, Page, PageTable, Section
from abstain.report.results.common import (
    again,
    blanks_table,
    count_text,
    counts_of,
    facts,
    higher_is_better,
    known_measure,
    number,
    score_figure,
)
from abstain.report.results.saved import Compare, Ends, Origin
from abstain.report.rewards import measure_facts

THREE = ("right", "wrong", "blank")
MOST_PAIRS, MOST_SQUARE = 60, 60


def compare_page(result: Compare) -> Page:
    """Runs with intervals and groups, their pairs, where a difference comes from."""
    name = result.measure
    rows = result.results
    ends = [(row, row.intervals.get(name, (None, None))) for row in rows]
    dots = score_figure("scores", [(r.run, r.scores.get(name), *e) for r, e in ends], name)
    verdict = result.verdict or [_verdict(result)]
    sections = [
        Section(
            "leaderboard",
            "Runs",
            said=verdict[1:],
            key=True,
            tables=[_runs(result)],
            figures=[dots] if dots else [],
        ),
        Section("pairs", "Pairs", figures=list(_differences(result)), tables=[_pairs(result)]),
    ]
    if result.origin is not None:
        sections.append(_origin(result.origin))
    item = known_measure(name)
    if item is not None:
        sections.append(Section("measure", "What is rewarded", facts=measure_facts(item)))
    said = [note for note in again(result) if note not in verdict]
    return Page(
        title=f"{plural(len(rows), 'run')} compared by {name}",
        lead=verdict[0],
        sections=sections,
        again=said,
        again_facts=facts(
            result,
            ("measure", name),
            ("questions", f"{result.questions:,}"),
            ("intervals", _method(result)),
            ("test", f"{result.test}, {_drawn(result)}"),
            ("correction", result.correction),
            ("reference", result.reference),
            ("cluster", result.cluster),
        ),
        again_tables=blanks_table(result),
        command=result.command,
    )


def _method(result: Compare) -> str | None:
    """The method of the intervals, where there are some."""
    if not result.interval_method:
        return None
    return f"{100 * result.level:g} %, {result.interval_method}"


def _drawn(result: Compare) -> str:
    """How p-values were counted."""
    exact = result.pairs and all(pair.exact for pair in result.pairs)
    return "exact" if exact else f"{result.trials:,} trials"


def _verdict(result: Compare) -> str:
    there = [pair for pair in result.pairs if pair.p_adjusted is not None]
    real = [pair for pair in there if (pair.p_adjusted or 0) <= 1 - result.level + 1e-12]
    level = f"{100 * (1 - result.level):.3g} %"
    return f"Of {plural(len(there), 'pair')}, {len(real)} differ at the {level} level."


def _runs(result: Compare) -> PageTable:
    name = result.measure
    grouped = any(row.group for row in result.results)
    counted = any(row.counts for row in result.results)
    columns = [Column("run"), Column(name, "score")]
    columns += [Column("outcomes", "bar")] if counted else []
    ends = _has_ends(row.intervals.get(name) for row in result.results)
    columns += [Column("low", "score"), Column("high", "score")] if ends else []
    columns += [Column("group")] if grouped else []
    if counted:
        columns += [Column(n, "count") for n in ("right", "wrong", "blank")]
    further = _further(result)
    columns += [column for column, _ in further]
    rows: list[list[Cell]] = []
    for n, row in enumerate(result.results):
        k = counts_of(row.counts)
        here: list[Cell] = [row.run, row.scores.get(name)]
        if counted:
            here.append((k.right, k.wrong, k.unanswered) if k is not None else None)
        here += row.intervals.get(name, (None, None)) if ends else ()
        here += [row.group] if grouped else []
        if counted:
            here += [k.right, k.wrong, k.unanswered] if k is not None else [None, None, None]
        rows.append([*here, *(cells[n] for _, cells in further)])
    reading = ["Low and high are the ends of an interval."] if ends else []
    reading += ["Runs that share a group cannot be told apart."] if grouped else []
    return PageTable("runs", "Runs", " ".join(reading), Grid(columns, rows))


def _has_ends(intervals: Iterable[Ends | None]) -> bool:
    """Whether there is an interval among these."""
    return any(own is not None and own[0] is not None for own in intervals)


def _further(result: Compare) -> list[tuple[Column, list[Cell]]]:
    """Columns of what unknown responses leave open and of what a judge's errors hide."""
    name, rows = result.measure, result.results
    found: list[tuple[Column, list[Cell]]] = []
    if any(row.bounds for row in rows):
        ends = [row.bounds.get(name, (None, None)) for row in rows]
        worst = 0 if higher_is_better(name) else 1
        found.append((Column("unknown", "count"), [row.unknown for row in rows]))
        found.append((Column("worst", "score"), [own[worst] for own in ends]))
        found.append((Column("best", "score"), [own[1 - worst] for own in ends]))
    if any(row.corrected for row in rows):
        ends = [row.corrected_intervals.get(name, (None, None)) for row in rows]
        found.append((Column("corrected", "score"), [row.corrected.get(name) for row in rows]))
        found.append((Column("its low", "score"), [low for low, _ in ends]))
        found.append((Column("its high", "score"), [high for _, high in ends]))
    return found


def _pairs(result: Compare) -> PageTable:
    many = len(result.pairs) > 1
    columns = [Column("run"), Column("against"), Column("difference", "score")]
    ends = _has_ends(pair.interval for pair in result.pairs)
    columns += [Column("low", "score"), Column("high", "score")] if ends else []
    columns += [Column("p", "score")]
    columns += [Column("p, corrected", "score")] if many else []
    columns.append(Column("verdict"))
    rows: list[list[Cell]] = []
    for pair in result.pairs:
        p = pair.p if pair.p_adjusted is None else pair.p_adjusted
        here: list[Cell] = [pair.run, pair.against, pair.difference]
        here += pair.interval if ends else ()
        here += [_p(pair.p), *([_p(pair.p_adjusted)] if many else [])]
        rows.append([*here, _told(p, 1 - result.level)])
    return PageTable(
        "pairs",
        "All pairs",
        "The score of the first run minus that of the second"
        + (", with its interval." if ends else "."),
        Grid(columns, rows),
        filters=("run", "against", "verdict"),
    )


def _p(value: float | None) -> str:
    return p_text(math.nan if value is None else value)


def _told(p: float | None, alpha: float) -> str:
    if p is None:
        return "not tested"
    return "differ" if p <= alpha + 1e-12 else "not told apart"


def _differences(result: Compare) -> Iterator[Figure]:
    """Every pair with its interval; of many pairs the square of all runs."""
    alpha = 1 - result.level
    if len(result.pairs) <= MOST_PAIRS:
        drawn = [p for p in result.pairs if p.difference is not None]
        data = [
            {
                "pair": f"{p.run} − {p.against}",
                "difference": p.difference,
                "low": p.interval[0],
                "high": p.interval[1],
                "p": p.p_adjusted,
            }
            for p in drawn
        ]
        if not data:
            return
        names = [str(row["pair"]) for row in data]
        dots = points("difference", "pair", y_type="nominal", y_title=" ", sort=names)
        span = points("low", "pair", y_type="nominal", y_title=" ", sort=names)
        span["encoding"]["x"]["title"] = dots["encoding"]["x"]["title"] = "difference"
        span["mark"] = {"type": "rule", "strokeWidth": 3, "color": "#56b4e9"}
        span["encoding"]["x2"] = {"field": "high"}
        zero = {
            "mark": {"type": "rule", "strokeDash": [4, 4], "color": "#7f7f7f"},
            "encoding": {"x": {"datum": 0}},
        }
        dots["mark"] |= {"size": 55, "opacity": 1}
        dots["encoding"]["y"]["axis"] = span["encoding"]["y"]["axis"] = {"labelLimit": 260}
        one = drawn[0]
        span_text, many_text = "", "."
        if _has_ends(p.interval for p in drawn):
            span_text = f"interval {number(one.interval[0])} to {number(one.interval[1])}, "
            many_text = " with intervals; those across 0 may be chance."
        caption = (
            f"{one.run} minus {one.against}: {number(one.difference)}, {span_text}p {_p(one.p)}."
            if len(data) == 1
            else plural(len(data), "difference") + many_text
        )
        height = max(80, 22 * len(data))
        spec = chart("", data, [span, zero, dots], height=height)
        yield Figure("differences", caption, spec, title=f"Differences in {result.measure}")
        return
    runs = [row.run for row in result.results]
    if len(runs) > MOST_SQUARE:
        return
    square = [
        {"run": a, "against": b, "difference": sign * p.difference, "p": p.p_adjusted}
        for p in result.pairs
        if p.difference is not None and p.p_adjusted is not None and p.p_adjusted <= alpha + 1e-12
        for a, b, sign in ((p.run, p.against, 1), (p.against, p.run, -1))
    ]
    layer = cells("against", "run", "difference")
    layer["encoding"]["x"] |= {"sort": runs, "scale": {"domain": runs}, "title": "against"}
    layer["encoding"]["x"]["axis"] = {"labelOverlap": True}
    layer["encoding"]["y"] |= {"sort": runs, "scale": {"domain": runs}, "title": None}
    layer["encoding"]["color"]["scale"] = {"scheme": "blueorange", "domainMid": 0}
    found = len(square) // 2
    caption = (
        f"Coloured: the {found:,} of {plural(len(result.pairs), 'pair')} that differ at the "
        f"{100 * alpha:.3g} % level, by their difference; blank ones cannot be told apart."
    )
    spec = chart("", square, [layer], height=max(160, 15 * len(runs)))
    yield Figure("differences", caption, spec, title="Which runs can be told apart")


def _origin(o: Origin) -> Section:
    columns = [Column("from → to"), Column("questions", "count"), Column("worth", "score")]
    moves: list[list[Cell]] = [
        [name, move.questions, move.worth] for name, move in o.transitions.items()
    ]
    data = [
        {"was": name.split(" → ")[0], "is": name.split(" → ")[-1], "questions": move.questions}
        for name, move in o.transitions.items()
    ]
    layer = cells("is", "was", "questions", sort=THREE)
    layer["encoding"]["x"]["axis"] = {"labelAngle": 0}
    layer["encoding"]["color"]["scale"] = {"scheme": "blues"}
    most = max((move.questions for move in o.transitions.values()), default=0)
    text = {
        "mark": {"type": "text", "fontSize": 13},
        "encoding": {
            **{axis: dict(layer["encoding"][axis]) for axis in ("x", "y")},
            "text": {"field": "questions", "type": "quantitative"},
            "color": {
                "condition": {"test": f"datum.questions > {most / 2}", "value": "white"},
                "value": "#17202b",
            },
        },
    }
    stayed = sum(m.questions for n, m in o.transitions.items() if len(set(n.split(" → "))) == 1)
    total = sum(m.questions for m in o.transitions.values())
    caption = (
        f"{count_text(stayed)} of {count_text(total)} questions kept their outcome. "
        f"Knowing more is worth {number(o.knowing)}, choosing blanks {number(o.abstaining)}."
    )
    slices: list[list[Cell]] = [
        [
            ", ".join(f"{k} {v or '–'}" for k, v in s.slice.items()),
            *(s.questions, s.difference, s.contribution),
        ]
        for s in o.slices
    ]
    parts = [Column("part"), Column("questions", "count")]
    parts += [Column("difference", "score"), Column("contributes", "score")]
    each: list[list[Cell]] = [[q, value] for q, value in o.contributions.items()]
    tables = [PageTable("moves", "Moves", "What each kind of move is worth.", Grid(columns, moves))]
    if slices:
        tables.append(PageTable("parts", "Slices", "", Grid(parts, slices)))
    one = [Column("question"), Column("contributes", "score")]
    return Section(
        "origin",
        "Where the difference comes from",
        figures=[
            Figure("moves", caption, chart("", data, [layer, text], height=180), title="Moves")
        ],
        tables=tables,
        folded=[PageTable("contributions", "Every question", "", Grid(one, each))] if each else [],
    )
