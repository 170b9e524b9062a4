"""The page of a result of `abstain score`."""

from __future__ import annotations

from abstain.errors import plural
from abstain.measures import Measure
from abstain.outcomes import Counts, CountsArray
from abstain.report.grid import Cell, Column, Grid
from abstain.report.pieces import Page, PageTable, Section
from abstain.report.results.common import (
    again,
    blanks_table,
    counts_of,
    facts,
    known_measure,
    slice_text,
)
from abstain.report.results.rows import (
    dot_figures,
    lead_words,
    ranks_of,
    slice_figures,
    undefined_words,
)
from abstain.report.results.saved import Row, Score
from abstain.report.rewards import decision_figure, leads_table, measure_facts, rewards_table
from abstain.report.undefined import label

ENDS = ("low", "high")


def score_page(result: Score) -> Page:
    """Scores: the runs, what the measures reward, the slices."""
    rows = result.results
    names = list(rows[0].scores)
    real = [row for row in rows if not row.reference]
    whole = [row for row in real if not row.slice]
    counted = [(row, k) for row in (whole or real) if (k := counts_of(row.counts))]
    sections = [
        Section(
            "leaderboard",
            "Leaderboard",
            key=True,
            said=undefined_words(rows),
            tables=[_table(result, names)],
            figures=[*slice_figures(real, names), *dot_figures(whole, names)],
        ),
    ]
    if names and (item := known_measure(names[0])) is not None:
        rewarded = Section("measure", "What is rewarded", facts=measure_facts(item))
        if whole and counted:
            _rewards(rewarded, counted, [m for n in names if (m := known_measure(n))])
        sections.append(rewarded)
    settings = [("questions", f"{result.questions:,}")] if result.questions is not None else []
    if result.interval_method:
        level = "" if result.level is None else f"{100 * result.level:g} %, "
        settings.append(("intervals", f"{level}{result.interval_method}"))
    return Page(
        title=f"{names[0]} of {plural(len({row.run for row in real}), 'run')}",
        lead=lead_words(real, names),
        sections=sections,
        again=again(result),
        again_facts=facts(result, ("measures", ", ".join(names)), *settings),
        again_tables=blanks_table(result),
        command=result.command,
    )


def _rewards(section: Section, counted: list[tuple[Row, Counts]], measures: list[Measure]) -> None:
    counts = CountsArray.of(k for _, k in counted)
    runs = [row.run for row, _ in counted]
    if not all(k.n for _, k in counted):
        return
    section.figures = [decision_figure(runs, counts, range(len(runs)))]
    section.tables = [leads_table(runs, counts)]
    section.folded = [rewards_table(runs, counts, measures)]


def _table(result: Score, names: list[str]) -> PageTable:
    rows = result.results
    parts = list(rows[0].slice)
    ends = {name: any(name in row.intervals for row in rows) for name in names}
    pays = {name: any(name in row.break_even for row in rows) for name in names}
    columns = [Column("#"), Column("run"), *(Column(part) for part in parts)]
    columns += [Column(name, "score") for name in names[:1]]
    columns.append(Column("outcomes", "bar"))
    columns += [Column(f"{name} {e}", "score") for name in names[:1] if ends[name] for e in ENDS]
    columns += [Column(name, "score") for name in names[1:]]
    columns += [Column(n, "count") for n in ("right", "wrong", "blank")]
    late = [f"{name} {e}" for name in names[1:] if ends[name] for e in ENDS]
    late += [f"p* {name}" for name in names if pays[name]]
    columns += [Column(name, "score") for name in late]
    grid = Grid(columns, [])
    ranks = ranks_of(rows, names[0]) if names else [""] * len(rows)
    last = None
    for n, row in enumerate(rows):
        here: list[Cell] = [
            ranks[n],
            label(row.run, row.reference),
            *(row.slice[p] or "–" for p in parts),
        ]
        intervals = {
            name: row.intervals.get(name, (None, None)) if ends[name] else () for name in names
        }
        k = counts_of(row.counts)
        here += [row.scores[name] for name in names[:1]]
        here.append((k.right, k.wrong, k.unanswered) if k is not None else None)
        here += [end for name in names[:1] for end in intervals[name]]
        here += [row.scores[name] for name in names[1:]]
        here += [k.right, k.wrong, k.unanswered] if k is not None else [None, None, None]
        here += [end for name in names[1:] for end in intervals[name]]
        here += [row.break_even.get(name) for name in names if pays[name]]
        if row.reference:
            grid.dim.add(n)
        if parts and slice_text(row) != last:
            grid.breaks.add(n)
            last = slice_text(row)
        grid.rows.append(here)
    reading = "Rows in italics are references to read scores by." if grid.dim else ""
    return PageTable(
        "runs",
        "Runs",
        reading,
        grid,
        filters=tuple(parts),
        late=tuple(late),
        beneath=tuple(parts),
        ordered_by=None,
    )
