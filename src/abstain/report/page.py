"""A campaign as one HTML file: works from disk, asks no network, keeps every name text."""

from __future__ import annotations

import functools
import math
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from abstain import __version__
from abstain.report.campaign_charts import Figure, campaign_figures
from abstain.report.cards import signature
from abstain.report.grid import clean
from abstain.report.library import chart_library
from abstain.report.scores import policy_sentence

if TYPE_CHECKING:
    from abstain.campaign.campaign import Campaign
    from abstain.campaign.tables import Table

LONGEST = 2_000
WIDEST = 70
FILTERS = ("team", "language", "topic", "test")


def campaign_page(
    c: Campaign, tables: list[Table], said: list[str], *, title: str, about: str
) -> str:
    """The page of a campaign."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    figures = campaign_figures(c)
    shown = {table.name: _table_data(table) for table in tables}
    data = {
        "digits": 2,
        "tables": shown,
        "charts": {name: _fluid(figure) for name, figure in figures.items()},
    }
    return environment.from_string(_asset("templates/campaign.html")).render(
        title=clean(title),
        about=clean(about),
        lead=clean(said[1]),
        first=[clean(text) for text in (said[0], *said[2:5])],
        sentences=[clean(text) for text in said[5:]],
        sections=_sections(c, tables, figures),
        policy=policy_sentence(c.policy, c.touched),
        notes=[clean(note) for note in c.notes],
        measure=_measure_facts(c),
        version=__version__,
        style=Markup(_asset("assets/report.css")),
        script=Markup(_asset("assets/report.js")),
        library=Markup(chart_library()),
        data=Markup(_harmless_json(data)),
    )


@functools.cache
def _asset(name: str) -> str:
    return (files("abstain.report") / name).read_text("utf-8")


def _harmless_json(data: Any) -> str:
    """JSON that no HTML parser takes for markup."""
    import msgspec

    text = msgspec.json.encode(data).decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _fluid(figure: Figure) -> dict[str, Any]:
    return figure.spec | {"width": "container", "title": None}


def _table_data(table: Table) -> dict[str, Any]:
    grid = table.grid
    keep = list(range(min(len(grid.columns), WIDEST)))
    names = [grid.columns[i].name for i in keep]
    return {
        "title": clean(table.title),
        "columns": [
            {"name": clean(grid.columns[i].name), "kind": grid.columns[i].kind} for i in keep
        ],
        "rows": [[_cell(row[i]) for i in keep] for row in grid.rows[:LONGEST]],
        "total": len(grid.rows),
        "dim": sorted(n for n in grid.dim if n < LONGEST),
        "breaks": sorted(n for n in grid.breaks if n < LONGEST),
        "filters": [names.index(n) for n in FILTERS if n in names],
    }


def _cell(cell: Any) -> Any:
    if isinstance(cell, str):
        return clean(cell)
    if isinstance(cell, float):
        return None if math.isnan(cell) else round(cell, 4)
    return list(cell) if isinstance(cell, tuple) else cell


def _measure_facts(c: Campaign) -> list[tuple[str, str]]:
    d = c.measure.definition
    facts = [("measure", f"{signature(d)}: {d.summary}"), ("formula", d.formula)]
    if d.kappa is not None:
        facts.append(("a blank is credited", f"κ = {d.kappa_text} right answers"))
    if d.break_even is not None:
        best = c.overall[c.order[0]]
        pays = f"p* = {d.break_even_text}; for the best run {c.measure.break_even(best):.2f}"
        facts.append(("answering pays above", pays))
    return [*facts, ("to game it", d.gaming), ("source", d.source)]


def _sections(c: Campaign, tables: list[Table], figures: dict[str, Figure]) -> list[dict[str, Any]]:
    """What the page tells, in its order; a table that no section names comes last, folded."""
    plan: list[tuple[str, str, list[str], list[str], list[str]]] = [
        ("leaderboard", "Leaderboard", [], ["leaderboard"], ["teams"]),
        ("measure", "What is rewarded", ["decision"], [], []),
        ("reading", "Reading tests", ["tests"], ["reading"], ["tests"]),
        ("topics", "Topics", ["topics"], ["over_topic"], ["topics"]),
        ("types", "Kinds of question", ["types"], ["subsets"], ["over_type", "by_type"]),
        (
            "pairs",
            "Main and auxiliary questions",
            ["pairs"],
            ["pairs_runs"],
            ["pairs_question", "pairs_answer", "pairs"],
        ),
        ("questions", "Questions", ["questions"], ["questions"], []),
    ]
    known = {table.name: table for table in tables}
    named = {n for _, _, _, open_, folded in plan for n in (*open_, *folded)}
    rest = [table.name for table in tables if table.name not in named]
    plan.append(("more", "More tables", [], [], rest))
    sections = []
    for name, title, charts, opened, folded in plan:
        section = {
            "name": name,
            "title": title,
            "figures": [
                {"name": n, "caption": clean(figures[n].caption)} for n in charts if n in figures
            ],
            "tables": [_entry(known[n]) for n in opened if n in known],
            "folded": [_entry(known[n]) for n in folded if n in known],
        }
        if section["figures"] or section["tables"] or section["folded"]:
            sections.append(section)
    return sections


def _entry(table: Table) -> dict[str, Any]:
    cut = len(table.grid.rows) > LONGEST or len(table.grid.columns) > WIDEST
    return {
        "name": table.name,
        "title": clean(table.title),
        "reading": clean(table.reading),
        "cut": cut,
    }
