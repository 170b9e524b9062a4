"""What the pages of several results share."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import structs
from msgspec.structs import replace

from abstain.analyses.result import Result
from abstain.errors import AbstainError, plural
from abstain.measures import Measure, measure
from abstain.outcomes import Counts
from abstain.report import words
from abstain.report.charts import cells, chart, points
from abstain.report.grid import Cell, Column, Grid
from abstain.report.page import Figure, Page, PageTable, Section
from abstain.report.view import Charts
from abstain.stats.standings import following, same

if TYPE_CHECKING:
    from abstain.analyses.rank import RankRow
    from abstain.analyses.score.result import Row

MOST_DOTS, MOST_CELLS = 60, 3_000


def known_measure(name: str) -> Measure | None:
    """A measure by its name, where this version has it."""
    try:
        return measure(name)
    except AbstainError:
        return None


def higher_is_better(name: str) -> bool:
    """Whether more of a measure is better; of one nobody knows it is assumed."""
    item = known_measure(name)
    return item is None or item.higher_is_better


ScoredRow: TypeAlias = "Row | RankRow"
"""A run with scores, in a slice or on all questions."""


def slice_text(row: ScoredRow) -> str:
    """The slice of a row in words."""
    return ", ".join(f"{name} {value or '–'}" for name, value in row.slice.items())


def again(saved: Result) -> list[str]:
    """The policy and the notes of a result, as sentences."""
    said = words.policy_words(saved.policy, saved.touched)
    rows: Any = getattr(saved, "rows", ())
    names = {str(row.run) for row in rows if hasattr(row, "run")}
    return [*said, *(words.sentence(note, names) for note in saved.notes)]


def page_of(
    saved: Result,
    title: str,
    lead: str,
    sections: Iterable[Section],
    *settings: tuple[str, Any],
    said: Sequence[str] | None = None,
) -> Page:
    """The page of a result: what it tells, and how it was made.

    `said` are sentences on how it was made, `settings` what was asked for; one that says nothing is
    left out.
    """
    given = [("written by", f"abstain {saved.abstain}"), *settings]
    given.append(("settings", _settings_words(saved)))
    given.append(("seed", getattr(saved, "seed", None)))
    return Page(
        title=title,
        lead=lead,
        sections=list(sections),
        again=again(saved) if said is None else said,
        again_facts=[(name, str(value)) for name, value in given if value not in (None, "")],
        again_tables=blanks_table(saved),
        command=saved.command,
    )


def _settings_words(saved: Result) -> str:
    """How lists were read, where scores come from rankings."""
    asked = {} if saved.settings is None else structs.asdict(saved.settings)
    return ", ".join(f"{k} {v}" for k, v in asked.items() if v not in (None, False))


def blanks_table(saved: Result, runs: Sequence[int] = ()) -> list[PageTable]:
    """How many blanks of each kind, and what became of them; perhaps in how many runs."""
    if not saved.policy:
        return []
    columns = [
        Column("kind of blank", means="why there is no answer"),
        Column("counts as", means="what the policy makes of it; unanswered: it stays blank"),
        Column("responses", "count", means="how many there are", plain=True),
    ]
    cells: list[list[Cell]] = [[k, e, saved.touched.get(k, 0)] for k, e in saved.policy.items()]
    if runs:
        columns.append(Column("runs that have some", "count", means="how many runs", plain=True))
        cells = [[*row, count] for row, count in zip(cells, runs, strict=True)]
    return [PageTable("blanks", "Blanks", "Every kind of blank.", Grid(columns, cells))]


def score_figure(
    name: str,
    rows: Sequence[tuple[str, float | None, float | None, float | None]],
    measure: str,
    *,
    most: int = MOST_DOTS,
) -> list[Figure]:
    """Scores as dots with their intervals, the best on top; none where fewer than two have one."""
    there = [row for row in rows if row[1] is not None]
    if len(there) < 2:
        return []
    shown = there[:most]
    ends = any(low is not None for _, _, low, _ in shown)
    data = [
        {"run": run, measure: score, **({"low": low, "high": high} if ends else {})}
        for run, score, low, high in shown
    ]
    names = [run for run, *_ in shown]
    titles: dict[str, Any] = {"x_title": measure, "y_title": " ", "y_type": "nominal"}
    dots = points(measure, "run", sort=names, **titles)
    dots["mark"] |= {"size": 55, "opacity": 1}
    layers = [dots]
    if ends:
        span = points("low", "run", sort=names, **titles)
        span["mark"] = {"type": "rule", "strokeWidth": 3, "opacity": 0.5}
        span["encoding"]["x2"] = {"field": "high"}
        layers.insert(0, span)
    for layer in layers:
        layer["encoding"]["color"] = {"field": "run", "type": "nominal", "legend": None}
    scores = [score for _, score, _, _ in shown if score is not None]
    drawn = (
        "All runs"
        if len(there) == len(rows)
        else f"The {len(there)} of {len(rows)} runs that have a score"
    )
    if len(there) > len(shown):
        drawn = f"The {len(shown)} best of {len(there)} runs"
    caption = f"{drawn}: {measure} from {min(scores):.3f} to {max(scores):.3f}" + (
        ", each with its interval." if ends else "."
    )
    height = max(80, (20 if len(shown) <= 25 else 16) * len(shown))
    spec = chart("", data, layers, height=height)
    return [Figure(name, caption, spec, title=f"{measure} by run")]


def best_first(rows: Sequence[ScoredRow], name: str) -> list[ScoredRow]:
    """Rows from the best score to the worst."""
    sign = -1 if higher_is_better(name) else 1

    def key(row: ScoredRow) -> tuple[bool, float]:
        score = row.scores[name]
        return score is None, sign * (score or 0.0)

    return sorted(rows, key=key)


def lead_words(
    rows: Sequence[ScoredRow],
    names: list[str],
    *,
    level: float | None = None,
    test: str = "`abstain compare`",
) -> str:
    """Who is best and whether that is sure; `test` is the command that tests it."""
    if not names or not rows:
        return "There is nothing to rank."
    name = names[0]
    parts: dict[str, list[ScoredRow]] = {}
    for row in rows:
        parts.setdefault(slice_text(row), []).append(row)
    first = {part: best_first(own, name)[0] for part, own in parts.items()}
    if len(parts) > 1:
        wins: dict[str, int] = {}
        for row in first.values():
            wins[row.run] = wins.get(row.run, 0) + (row.scores[name] is not None)
        run, most = max(wins.items(), key=lambda item: item[1])
        first_in = f"{run} is first by {name} in {most} of {plural(len(parts), 'slice')}"
        return f"{first_in}{_unsure(rows, name, test)}."
    ordered = best_first(rows, name)
    best = ordered[0]
    if best.scores[name] is None:
        return f"No run has a {name}: {best.undefined.get(name, 'it is undefined')}."
    k: Counts | None = getattr(best, "counts", None)
    text = f"{name} {words.number(best.scores[name])}"
    if k is not None and getattr(best, "numbers", None):
        three = (("right", k.right), ("wrong", k.wrong), ("blank", k.unanswered))
        text += ": " + ", ".join(f"{words.count_text(n)} {word}" for word, n in three)
    others = [row for row in ordered[1:] if row.scores[name] is not None]
    if not others:
        return f"{best.run} has {text}."
    alike = _tied(others, best, name)
    rest = others[len(alike) :]
    text = f"The best run is {best.run} ({text})"
    if alike:
        whom = alike[0] if len(alike) == 1 else f"{len(alike)} others"
        text = text.replace("The best run is", "At the top is", 1) + f", level with {whom}"
    text += _sure(best, others, name, level, test)
    if not rest:
        return f"{text}."
    next_ones = following(_tied(rest, rest[0], name))
    return f"{text}; {next_ones} ({words.number(rest[0].scores[name])})."


def _sure(
    best: ScoredRow, others: Sequence[ScoredRow], name: str, level: float | None, test: str
) -> str:
    """Whether the best run's interval overlaps that of another, or who would know."""
    low, high = best.intervals.get(name, (None, None))
    spans = [(row.run, *row.intervals.get(name, (None, None))) for row in others]
    if low is None or high is None or any(a is None or b is None for _, a, b in spans):
        return _unsure([best, *others], name, test)
    shared = [
        run for run, a, b in spans if a is not None and b is not None and a <= high and low <= b
    ]
    own = "its interval" if level is None else f"its {100 * level:g} % interval"
    if not shared:
        return f", and {own} overlaps that of no other run"
    whom = f"that of {shared[0]}" if len(shared) == 1 else f"those of {len(shared)} other runs"
    return f", but {own} overlaps {whom} ({test} tests the difference)"


def _unsure(rows: Sequence[ScoredRow], name: str, test: str) -> str:
    """That nothing says whether the first is really first; of one run there is nothing to say."""
    if len({row.run for row in rows if row.scores[name] is not None}) < 2:
        return ""
    return f", but this was not tested for significance ({test} tests it)"


def _tied(rows: Sequence[ScoredRow], one: ScoredRow, name: str) -> list[str]:
    """Runs that have the same score as one of them."""
    value = one.scores[name]
    if value is None:
        return []
    scores = [math.nan if (own := row.scores[name]) is None else own for row in rows]
    return [row.run for row, tied in zip(rows, same(scores, value), strict=True) if tied]


def undefined_words(rows: Sequence[ScoredRow]) -> list[str]:
    """Which scores do not exist, and why."""
    return words.undefined_sentences(
        (words.label(row.run, row.reference), row.undefined) for row in rows
    )


def dot_figures(rows: Sequence[ScoredRow], names: list[str]) -> Iterator[Figure]:
    """The runs by their first score."""
    if not rows or not names:
        return
    name = names[0]
    ends = [(row, row.intervals.get(name, (None, None))) for row in best_first(rows, name)]
    yield from score_figure("scores", [(r.run, r.scores[name], *e) for r, e in ends], name)


def slice_figures(rows: Sequence[ScoredRow], names: list[str]) -> Iterator[Figure]:
    """Runs × slices as a heat map."""
    attributes = list(rows[0].slice) if rows else []
    alone = attributes[0] if len(attributes) == 1 else None

    def text(row: ScoredRow) -> str:
        return (row.slice[alone] or "–") if alone is not None else slice_text(row)

    parts = list(dict.fromkeys(text(row) for row in rows))
    runs = list(dict.fromkeys(row.run for row in rows))
    if not names or len(parts) < 2 or len(parts) * len(runs) > MOST_CELLS:
        return
    name = names[0]
    data = [{"run": r.run, "slice": text(r), name: r.scores[name]} for r in rows]
    layer = cells("slice", "run", name)
    flat = {"labelAngle": 0} if len(parts) <= 6 else {}
    axis = {**flat, "labelOverlap": True}
    layer["encoding"]["x"] |= {"sort": parts, "title": alone, "axis": axis}
    layer["encoding"]["y"] |= {"sort": runs, "title": None}
    layer["encoding"]["color"] |= {"title": name, "scale": {"scheme": "blues"}}
    scores = [row.scores[name] for row in rows]
    there = [s for s in scores if s is not None]
    span = f" from {min(there):.3f} to {max(there):.3f}" if there else ""
    yield Figure(
        "slices",
        f"{name} of {plural(len(runs), 'run')} in {plural(len(parts), 'slice')},{span}.",
        chart("", data, [layer], height=max(120, 22 * len(runs))),
        title=f"{name} by slice",
    )


MOST_ROWS = 60
"""Rows that a notebook shows of a table."""

STYLE = (
    "border-collapse:collapse;font-variant-numeric:tabular-nums",
    "text-align:left;padding:2px 8px;border-bottom:1px solid currentColor",
    "padding:2px 8px",
)


def notebook(grids: Iterable[Grid], charts: Charts) -> str:
    """The tables as HTML without a script, and the main chart as a picture."""
    parts = [_table(grid) for grid in grids]
    if charts:
        import vl_convert

        parts.append(_numbered(str(vl_convert.vegalite_to_svg(next(iter(charts.values()))))))
    return "\n".join(parts)


def _numbered(svg: str) -> str:
    """A picture whose ids count from its own beginning, not from that of the process."""
    ids: dict[str, str] = {}
    return re.sub(
        r"\b(gradient_|clip)(\d+)",
        lambda found: ids.setdefault(found[0], f"{found[1]}{len(ids)}"),
        svg,
    )


def _table(grid: Grid) -> str:
    bare = grid.without_bars()
    shown = replace(bare, rows=bare.rows[:MOST_ROWS])
    head = "".join(f'<th style="{STYLE[1]}">{html.escape(c.heading)}</th>' for c in shown.columns)
    rows = []
    for row in shown.texts(4):
        cells = [
            f'<td style="{STYLE[2]};text-align:{"left" if c.kind == "text" else "right"}">'
            f"{html.escape(text)}</td>"
            for text, c in zip(row, shown.columns, strict=True)
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    notes = list(grid.notes)
    if len(grid.rows) > MOST_ROWS:
        notes.insert(0, f"{len(grid.rows) - MOST_ROWS:,} more rows.")
    title = f"<h4>{html.escape(grid.title)}</h4>" if grid.title else ""
    below = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    body = "".join(rows)
    return (
        f'<div>{title}<table style="{STYLE[0]}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>{below}</div>"
    )
