"""The page of a result of `abstain rank`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from abstain.errors import plural
from abstain.report.charts import chart, points
from abstain.report.grid import Cell, Column, Grid
from abstain.report.pieces import Figure, Page, PageTable, Section
from abstain.report.results.common import again, facts, known_measure, number
from abstain.report.results.rows import (
    dot_figures,
    lead_words,
    ranks_of,
    slice_figures,
    undefined_words,
)
from abstain.report.results.saved import Rank, Row, Truncation

MOST_STRIPS = 25
MOST_QUERY_DOTS = 5_000


def rank_page(result: Rank) -> Page:
    """Rankings: the runs, their queries, what truncation does."""
    names = list(result.results[0].scores)
    whole = [row for row in result.results if row.query is None]
    single = [row for row in result.results if row.query is not None]
    unsliced = [row for row in whole if not row.slice]
    sections = [
        Section(
            "leaderboard",
            "Leaderboard",
            said=undefined_words(whole),
            tables=[_table("runs", "Runs", whole, names)],
            figures=[*slice_figures(whole, names), *dot_figures(unsliced, names)],
        )
    ]
    if single:
        sections.append(
            Section(
                "queries",
                "Queries",
                figures=list(_strips(single, unsliced or whole, names[0])),
                tables=[_table("queries", "Every query", single, names)],
            )
        )
    if result.truncation is not None:
        sections.append(_truncation(result.truncation))
    settings = ", ".join(f"{k} {v}" for k, v in result.settings.items() if v not in (None, False))
    queries = f"{result.queries:,}, {result.nil_queries:,} of them with nothing relevant"
    return Page(
        title=f"{names[0]} of {plural(len({row.run for row in whole}), 'run')}",
        lead=lead_words(whole, names),
        sections=sections,
        again=again(result),
        again_facts=facts(
            result,
            ("measures", ", ".join(names)),
            ("queries", queries),
            ("settings", settings),
            ("a gain of 1 is grade", f"{result.top_grade:g}"),
        ),
        command=result.command,
    )


def _is_total(name: str) -> bool:
    """Whether a measure counts documents."""
    item = known_measure(name)
    return item is not None and item.definition.total


def _table(name: str, title: str, rows: list[Row], names: list[str]) -> PageTable:
    parts = list(rows[0].slice) if rows else []
    by_query = name == "queries"
    columns = [] if by_query else [Column("#")]
    columns += [Column("run"), *(Column(part) for part in parts)]
    columns += [Column("query")] if by_query else []
    columns += [Column(n, "count" if _is_total(n) else "score") for n in names]
    if not by_query:
        columns += [Column(n, "count") for n in ("queries", "nil", "missing", "truncated")]
    ranks = [] if by_query else ranks_of(rows, names[0])
    grid = Grid(columns, [])
    for n, row in enumerate(rows):
        cells: list[Cell] = [] if by_query else [ranks[n]]
        cells += [row.run, *(row.slice[p] or "–" for p in parts)]
        cells += [row.query] if by_query else []
        cells += [row.scores[m] for m in names]
        if not by_query:
            cells += [row.queries, row.nil_queries, int(row.missing), int(row.truncated)]
        grid.rows.append(cells)
    reading = "" if by_query else "Scores are means over the queries for which they exist."
    return PageTable(name, title, reading, grid, filters=(*parts, *(["run"] if by_query else [])))


def _strips(rows: list[Row], whole: list[Row], name: str) -> Iterator[Figure]:
    runs, queries = _drawn(rows, whole, name)
    if not runs:
        return
    data = [
        {"run": run, "query": r.query, name: r.scores[name]}
        for run in runs
        for r in queries[run][:MOST_QUERY_DOTS]
    ]
    cut = (
        f", its first {MOST_QUERY_DOTS:,} queries"
        if len(queries[runs[0]]) > MOST_QUERY_DOTS
        else ""
    )
    layer = points(name, "run", y_type="nominal", y_title=" ", sort=runs)
    layer["mark"] |= {"type": "tick", "thickness": 2, "opacity": 0.6}
    layer["encoding"]["tooltip"] = [
        {"field": "run", "type": "nominal"},
        {"field": "query", "type": "nominal"},
        {"field": layer["encoding"]["x"]["field"], "type": "quantitative"},
    ]
    yield Figure(
        "strips",
        f"{name} of each query: a tick is a query, {plural(len(runs), 'run')} shown{cut}.",
        chart("", data, [layer], height=max(80, 24 * len(runs))),
        title=f"{name} by query",
    )


def _drawn(rows: list[Row], whole: list[Row], name: str) -> tuple[list[str], dict[str, list[Row]]]:
    """As many of the first runs as there is room for with all of their queries, one at least."""
    queries: dict[str, list[Row]] = {row.run: [] for row in whole}
    for row in rows:
        if row.scores[name] is not None and row.run in queries:
            queries[row.run].append(row)
    there = [run for run, own in queries.items() if own][:MOST_STRIPS]
    room = list(accumulate(len(queries[run]) for run in there))
    fitting = sum(taken <= MOST_QUERY_DOTS for taken in room)
    return there[: max(1, fitting)], queries


def _truncation(t: Truncation) -> Section:
    columns = [Column("run"), Column("lists", "count"), Column("mean length before", "score")]
    columns += [Column("after", "score"), Column("empty", "count"), Column("ended by NIL", "count")]
    columns.append(Column("truncated", "count"))
    lengths: list[list[Cell]] = [
        [run, k.lists, k.mean_before, k.mean_after, k.empty, k.by_nil, k.truncated]
        for run, k in t.lengths.items()
    ]
    names = [Column("measure"), Column("run"), Column("original", "score")]
    names += [Column("primed", "score"), Column("difference", "score")]
    data: list[dict[str, Any]] = []
    scores: list[list[Cell]] = []
    for pair in t.measures:
        for run, own in pair.scores.items():
            a, b = own.get("original"), own.get("primed")
            gap = b - a if a is not None and b is not None else None
            scores.append([pair.primed, run, a, b, gap])
            data.append({"measure": pair.primed, "run": run, "original": a, "primed": b})
    layer = points("original", "primed", colour="measure")
    layer["encoding"]["tooltip"] = [
        {"field": n, "type": k}
        for n, k in (
            ("run", "nominal"),
            ("measure", "nominal"),
            ("original", "quantitative"),
            ("primed", "quantitative"),
        )
    ]
    words = "; ".join(
        f"{p.original} and {p.primed}: Kendall's τ {number(p.kendall_tau, 3)}, "
        f"{plural(len(p.inverted), 'pair')} of runs turned round"
        for p in t.measures
    )
    figure = Figure("primed", f"{words}.", chart("", data, [layer]), title="Original and primed")
    return Section(
        "truncation",
        "Truncation",
        figures=[figure] if data else [],
        tables=[PageTable("lengths", "Lengths of lists", "", Grid(columns, lengths))],
        folded=[
            PageTable("primed", "Original and primed scores", "", Grid(names, scores), ("measure",))
        ],
    )
