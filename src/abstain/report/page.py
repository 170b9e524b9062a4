"""Pages: what every page is made of, and how it becomes one file of HTML.

The file works from disk, asks no network, and keeps every name text: what comes from strangers
reaches it through autoescaping or through JSON that no parser takes for markup.
"""

import base64
import functools
import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from abstain import __version__
from abstain.report.charts import chart_library, in_run_colours, interactive, run_colours
from abstain.report.grid import Column, Grid, cell_texts, clean, legend, name_parts
from abstain.report.result import Result
from abstain.report.view import Charts, policy_words, sentence

MOST_ROWS, MOST_COLUMNS = 2_000, 70
"""Rows and columns that a page holds of a table that lies in a file beside it."""

MOST_CELLS = 600_000
"""Cells that a page holds of a table that lies nowhere else: about 5 MB."""

FEW = 12
"""Rows that need no filter."""


class Figure(Struct, frozen=True):
    """A chart, and what it says in words for those who do not see it."""

    name: str
    caption: str
    spec: dict[str, Any]
    title: str = ""


class Variant(Struct, frozen=True):
    """A table once more for a part of the data: the cells that change, by column."""

    group: str
    name: str
    cells: dict[int, list[Any]]


class PageTable(Struct, frozen=True):
    """A table with a name that is unique on its page."""

    name: str
    title: str
    reading: str
    grid: Grid
    filters: tuple[str, ...] = ()
    """Columns to choose from, besides those that always are."""
    variants: tuple[Variant, ...] = ()
    ordered_by: int | None = None
    """The column that a variant is ordered by."""
    best_is_low: bool = False
    """Whether that column has its best value where it is lowest."""
    late: tuple[str, ...] = ()
    """Columns that show when asked for."""
    beneath: tuple[str, ...] = ()
    """Columns that a phone shows beneath the name of the row, where two have no room abreast."""
    page_size: int = 25
    hides_dim: bool = True
    """Whether many rows in a dim style, such as references, show when asked for."""
    filed: tuple[str, ...] = ()
    """Endings of its files in the folder beside the page."""

    @property
    def columns_kept(self) -> int:
        return min(len(self.grid.columns), MOST_COLUMNS)

    @property
    def rows_kept(self) -> int:
        most = MOST_ROWS if self.filed else MOST_CELLS // max(1, self.columns_kept)
        return min(len(self.grid.rows), most)

    @property
    def legend(self) -> list[tuple[str, str]]:
        """What the headings mean that do not speak for themselves."""
        return legend(self.grid.columns[: self.columns_kept])

    @property
    def cut(self) -> str:
        """What the page holds of it, in words; empty where that is all."""
        parts = (
            (self.rows_kept, len(self.grid.rows), "rows"),
            (self.columns_kept, len(self.grid.columns), "columns"),
        )
        held = " and ".join(f"{few:,} of {n:,} {what}" for few, n, what in parts if few < n)
        use = "sorting, searching and saving use only these"
        return f"This page holds only the first {held}: {use}." if held else ""


class Choice(Struct, frozen=True):
    """An option of a question and how many runs chose it."""

    label: str
    text: str
    count: int
    share: float
    right: bool


class Card(Struct, frozen=True):
    """A question with what the runs made of it."""

    heading: str
    about: str
    text: str
    outcomes: str
    choices: tuple[Choice, ...]


class Deck(Struct, frozen=True):
    """Questions of one kind: the hardest, the easiest, the most blanked."""

    title: str
    cards: tuple[Card, ...]


class Section(Struct):
    """A part of a page under its own heading; an empty one is left out."""

    name: str
    title: str
    sentences: Sequence[str] = ()
    more: Sequence[str] = ()
    """Sentences that are folded away."""
    facts: Sequence[tuple[str, str]] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[PageTable] = ()
    folded: Sequence[PageTable] = ()
    decks: Sequence[Deck] = ()
    short: str = ""
    """Its name in the navigation, where the title is too long for that."""
    key: bool = False
    """Whether to explain the colours of right, wrong and blank."""

    @property
    def filled(self) -> bool:
        return any((self.sentences, self.facts, self.figures, self.tables, self.folded, self.decks))


class Page(Struct):
    """A page before it has a look."""

    title: str
    lead: str
    sections: list[Section]
    about: str = ""
    tiles: Sequence[tuple[str, str]] = ()
    """A few numbers in large type: value, label."""
    how: Sequence[str] = ()
    """Sentences on how it was made."""
    how_facts: Sequence[tuple[str, str]] = ()
    command: str = ""
    digits: int = 4
    in_folder: bool = False
    """Whether the tables lie beside the page, in a folder of their own."""


def policy_and_notes(result: Result) -> list[str]:
    """The policy and the notes of a result, as sentences."""
    rows: Any = getattr(result, "rows", ())
    names = {str(row.run) for row in rows if hasattr(row, "run")}
    notes = (sentence(note, names) for note in result.notes)
    return [*policy_words(result.policy, result.touched), *notes]


def page_of(
    result: Result,
    title: str,
    lead: str,
    sections: Iterable[Section],
    *settings: tuple[str, Any],
    how: Sequence[str] | None = None,
    **more: Any,
) -> Page:
    """The page of a result; `how` says how it was made, `settings` what was asked for."""
    lists = {} if result.settings is None else asdict(result.settings)
    shown = ", ".join(
        f"{name} {value}" for name, value in lists.items() if value not in (None, False)
    )
    facts = [("written by", f"abstain {result.abstain}"), *settings]
    facts += [("settings", shown), ("seed", getattr(result, "seed", None))]
    return Page(
        title=title,
        lead=lead,
        sections=list(sections),
        how=policy_and_notes(result) if how is None else how,
        how_facts=[(name, str(value)) for name, value in facts if value not in (None, "")],
        command=result.command,
        **more,
    )


FILTERS = ("team", "language", "topic", "test", "type", "slice", "reference")
MOST_CHOICES = 60
"""Values of a column that may be chosen from a list."""

CHART_FRAME = 52
"""Pixels that axes and their titles take besides a chart's own height."""


def render(page: Page) -> str:
    from markupsafe import Markup

    sections = [section for section in page.sections if section.filled]
    figures = [figure for section in sections for figure in section.figures]
    tables = [t for section in sections for t in (*section.tables, *section.folded)]
    colours = run_colours(figure.spec for figure in figures)
    data = {
        "digits": page.digits,
        "colours": {clean(run): colour for run, colour in colours.items()},
        "tables": {t.name: table_data(t) for t in tables},
        "charts": {
            figure.name: interactive(in_run_colours(figure.spec, colours))
            | {"width": "container", "title": None}
            for figure in figures
        },
    }
    script = _asset("assets/theme.js") + _asset("assets/report.js")
    library = chart_library() if figures else ""
    return from_template(
        "templates/page.html",
        page=page,
        data_of=data["tables"],
        cell_texts=cell_texts,
        sections=sections,
        frame=CHART_FRAME,
        versions=versions(),
        style=Markup(_asset("assets/report.css")),
        allowed=Markup(" ".join(map(_allowed, filter(None, (script, library))))),
        script=Markup(script),
        library=Markup(library),
        data=Markup(_harmless_json(data)),
    )


def render_chart(spec: Mapping[str, Any]) -> str:
    """A chart as a page of its own."""
    from markupsafe import Markup

    first = spec["vconcat"][0] if "vconcat" in spec else spec
    script, library = _asset("assets/chart.js"), chart_library()
    return from_template(
        "templates/chart.html",
        title=str(first["title"]["text"]),
        spec=Markup(_harmless_json(spec)),
        allowed=Markup(" ".join(map(_allowed, (script, library)))),
        script=Markup(script),
        library=Markup(library),
    )


def from_template(template: str, *, escaped: bool = True, **values: Any) -> str:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: clean(value) if type(value) is str else value,
    )
    environment.filters |= {"commands": _with_commands, "parts": name_parts}
    return environment.from_string(_asset(template)).render(**values)


def _with_commands(sentence: str) -> Any:
    """A sentence whose commands look like commands."""
    from markupsafe import Markup, escape

    safe = str(escape(clean(sentence)))
    return Markup(re.sub(r"`(abstain [a-z]+(?: --[a-z-]+)?)`", r"<code>\1</code>", safe))


def versions() -> str:
    """What a result depends on, with its version."""
    from platform import python_version

    import numpy
    import polars

    others = f"numpy {numpy.__version__}, polars {polars.__version__}"
    return f"abstain {__version__}, Python {python_version()}, {others}"


@functools.cache
def _asset(name: str) -> str:
    return (files("abstain.report") / name).read_text("utf-8")


def _allowed(script: str) -> str:
    """A script as a page's policy names it: no other runs, whatever slipped into the markup."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _harmless_json(data: Any) -> str:
    """JSON that no HTML parser takes for markup."""
    text = msgspec.json.encode(data).decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def table_data(table: PageTable) -> dict[str, Any]:
    """A table as the page's script takes it."""
    grid = table.grid
    kept = grid.chosen(range(table.columns_kept))
    names = [column.name for column in kept.columns]
    rows = kept.rows[: table.rows_kept]
    return {
        "title": clean(table.title),
        "columns": [_column(column) for column in kept.columns],
        "rows": [[_cell(cell) for cell in row] for row in rows],
        "total": len(grid.rows),
        "cut": bool(table.cut),
        "dim": sorted(n for n in grid.dim if n < len(rows)),
        "breaks": sorted(n for n in grid.breaks if n < len(rows)),
        "filters": [
            i
            for i, name in enumerate(names)
            if name in (*FILTERS, *table.filters)
            and len(rows) > FEW
            and 1 < len({row[i] for row in rows if row[i]}) <= MOST_CHOICES
        ],
        "variants": [
            {
                "group": clean(v.group),
                "name": clean(v.name),
                "cells": {str(i): [_cell(cell) for cell in item] for i, item in v.cells.items()},
            }
            for v in table.variants
        ],
        "late": [i for i, name in enumerate(names) if name in table.late],
        "beneath": [i for i, name in enumerate(names) if name in table.beneath],
        "ordered": table.ordered_by,
        "rising": table.best_is_low,
        "size": table.page_size,
        "quiet": table.hides_dim,
    }


def _column(column: Column) -> dict[str, str]:
    facts = {"name": column.name, "kind": column.kind, "means": column.meaning}
    return {name: clean(text) for name, text in facts.items() if text or name in ("name", "kind")}


def _cell(cell: Any) -> Any:
    if isinstance(cell, str):
        return clean(cell)
    if isinstance(cell, float):
        return round(cell, 6) if math.isfinite(cell) else None
    return [_cell(part) for part in cell] if isinstance(cell, tuple) else cell


NOTEBOOK_ROWS = 60
"""Rows that a notebook shows of a table."""


def notebook(grids: Iterable[Grid], charts: Charts) -> str:
    """The tables as HTML without a script, and the main chart as a picture."""
    parts = []
    for grid in (grid.without_bars() for grid in grids):
        shown = replace(grid, rows=grid.rows[:NOTEBOOK_ROWS])
        columns = list(zip(shown.columns, shown.texts(4), strict=True))
        more = len(grid.rows) - len(shown.rows)
        parts.append(from_template("templates/table.html", grid=shown, columns=columns, more=more))
    if charts:
        import vl_convert

        parts.append(_numbered(str(vl_convert.vegalite_to_svg(next(iter(charts.values()))))))
    return "\n".join(parts)


def _numbered(svg: str) -> str:
    """A picture whose ids count from its own beginning, not from that of the process."""
    ids: dict[str, str] = {}
    return re.sub(
        r"\b(gradient_|clip)(\d+)",
        lambda result: ids.setdefault(result[0], f"{result[1]}{len(ids)}"),
        svg,
    )
