"""A comparison as tables and a chart."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from abstain.analyses.compare.result import Comparison, Pair
from abstain.analyses.compare.transitions import Origin
from abstain.report.charts import chart, points
from abstain.report.compare_words import p_text, sentences, units
from abstain.report.grid import Cell, Column, Grid
from abstain.stats.functional import THREE

MOST_SLICES = 12


def compare_grids(c: Comparison) -> list[Grid]:
    """Everything that a reader sees, in order; the sentences stand below the last table."""
    grids = [run_grid(c), pair_grid(c, _shown_pairs(c))]
    if c.origin is not None:
        if not math.isnan(c.pairs[0].difference):
            grids.append(transition_grid(c.origin, c.pairs[0]))
        if c.origin.slices:
            grids.append(slice_grid(c.origin, c.pairs[0]))
    grids[-1].notes = sentences(c)
    return grids


def run_grid(c: Comparison) -> Grid:
    """The runs with their intervals and groups."""
    columns = [Column("run"), Column(c.measure, "score")]
    spanned = c.has_intervals
    columns += [Column("low", "score"), Column("high", "score")] if spanned else []
    groups = c.grouped
    counted = all(row.counts is not None for row in c.rows)
    bounded = any(row.bounds is not None for row in c.rows)
    corrected = any(row.corrected is not None for row in c.rows)
    if groups:
        columns.append(Column("group"))
    if counted:
        columns += [Column(name, "count") for name in THREE.names]
    if bounded:
        columns += [Column("unknown", "count"), Column("worst", "score"), Column("best", "score")]
    if corrected:
        columns.append(Column("corrected", "score"))
        columns += [Column(n, "score", joined=True) for n in ("its low", "its high")]
    rows: list[list[Cell]] = []
    for row in c.rows:
        cells: list[Cell] = [row.run, row.score]
        cells += [row.interval.low, row.interval.high] if spanned else []
        if groups:
            cells.append(row.letters)
        if row.counts is not None:
            cells += [row.counts.right, row.counts.wrong, row.counts.unanswered]
        if bounded:
            ends = row.bounds or (math.nan, math.nan)
            cells += [row.unknown, *(ends if c.higher_is_better else ends[::-1])]
        if corrected:
            k = row.corrected
            cells += [k.score, k.low, k.high] if k is not None else [None, None, None]
        rows.append(cells)
    return Grid(columns, rows)


def _shown_pairs(c: Comparison) -> list[Pair]:
    return list(c.pairs) if c.settings.reference or len(c.rows) == 2 else c.neighbours()


def pair_grid(c: Comparison, pairs: list[Pair], *, full: bool = False) -> Grid:
    """Differences with intervals and p-values; `full` keeps every digit."""
    many = len(c.pairs) > 1
    columns = [Column("run"), Column("against"), Column("difference", "score")]
    ends = full or c.has_intervals
    columns += [Column("low", "score"), Column("high", "score")] if ends else []
    columns.append(Column("p", "score"))
    if many:
        columns.append(Column("p, corrected", "score"))
    rows: list[list[Cell]] = []
    for pair in pairs:
        cells: list[Cell] = [pair.run, pair.against, pair.difference]
        cells += [pair.interval.low, pair.interval.high] if ends else []
        p = [pair.p, pair.adjusted] if many else [pair.p]
        cells += p if full else [p_text(x) for x in p]
        rows.append(cells)
    title = "" if full or not many or c.settings.reference else "Neighbours"
    return Grid(columns, rows, title=title)


def transition_grid(origin: Origin, pair: Pair) -> Grid:
    """Each kind of move, how many questions made it, what it is worth."""
    columns = [Column(f"{pair.against} → {pair.run}"), Column("questions", "count")]
    columns.append(Column("worth", "score"))
    moves = [
        (f"{a} → {b}", float(origin.transitions[i, j]), float(origin.worth[i, j]))
        for i, a in enumerate(THREE.names)
        for j, b in enumerate(THREE.names)
        if origin.transitions[i, j] and i != j
    ]
    moves.sort(key=lambda move: -abs(move[2]))
    same = float(np.trace(origin.transitions))
    rows: list[list[Cell]] = [list(move) for move in moves]
    return Grid(columns, [*rows, ["the same", same, 0.0]], title="Where it comes from")


def slice_grid(origin: Origin, pair: Pair) -> Grid:
    """The parts of the questions by what they contribute; of each attribute the largest."""
    columns = [Column("slice"), Column("part"), Column("questions", "count")]
    columns += [Column(pair.run, "score"), Column(pair.against, "score")]
    columns += [Column("difference", "score"), Column("contributes", "score")]
    rows: list[list[Cell]] = []
    title = "Slices"
    for attribute in dict.fromkeys(s.attribute for s in origin.slices):
        parts = [s for s in origin.slices if s.attribute == attribute]
        rows += [
            [s.attribute, s.name, s.questions, s.own, s.other, s.difference, s.contribution]
            for s in parts[:MOST_SLICES]
        ]
        if len(parts) > MOST_SLICES:
            title += f"; {MOST_SLICES} of {len(parts)} parts by {attribute}"
    return Grid(columns, rows, title=title)


# --------------------------------------------------------------------------------------- chart


def compare_chart(c: Comparison) -> dict[str, Any]:
    """Scores with their intervals, the best on top."""
    rows = [
        {
            "run": row.run,
            "score": float(row.score),
            "low": row.interval.low,
            "high": row.interval.high,
            "group": row.letters,
        }
        for row in c.rows
    ]
    names = [row.run for row in c.rows]
    titles: dict[str, Any] = {"x_title": c.measure, "y_title": "", "y_type": "nominal"}
    span = points("low", "run", sort=names, **titles)
    span["mark"] = {"type": "rule", "strokeWidth": 2, "color": "#56b4e9"}
    span["encoding"]["x2"] = {"field": "high"}
    dots = points("score", "run", sort=names, **titles)
    layers = [span, dots]
    if any(row.letters for row in c.rows):
        text = points("high", "run", sort=names, **titles)
        text["mark"] = {"type": "text", "align": "left", "dx": 6, "fontSize": 9}
        text["encoding"]["text"] = {"field": "group"}
        layers.append(text)
    return chart(
        c.measure + (f" with {100 * c.settings.level:g} % intervals" if c.has_intervals else ""),
        rows,
        layers,
        subtitle=units(c.questions, c.unit) + (f"; {c.settings.method}" if c.has_intervals else ""),
        height=max(80, 18 * len(rows)),
    )
